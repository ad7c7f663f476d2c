//! Rows that are a 402 answer: read by `wire`, judged by the gate, and no byte sent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar::wire::{Demand, Found, HeaderView, payment_header, read};
use bursar_policy::authorization::validity;
use bursar_policy::errand::{Errand, Method, PaymentId};
use bursar_policy::gate::judge;
use bursar_policy::money::Money;
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Rules;
use bursar_policy::terms::Terms;
use bursar_policy::{Authorization, Site};
use bursar_vault::clock::{MachineTime, TimeSource as _};
use serde_json::Value;

use super::policy::{self, URL};
use super::row::Row;

/// One 402 answer.
pub(crate) struct Answer {
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Terms in the header, `{}` in the body.
    pub(crate) fn in_header(document: &str) -> Self {
        Self::of_header(STANDARD.encode(document).into_bytes())
    }

    fn of_header(value: Vec<u8>) -> Self {
        Self { headers: vec![("payment-required".to_owned(), value)], body: b"{}".to_vec() }
    }

    fn of_body(body: Vec<u8>) -> Self {
        Self { headers: Vec::new(), body }
    }
}

/// From a text of the corpus to the answer that carries it.
type Carried = fn(&str) -> Answer;

/// Runs a row that is about documents; `None` for any other row.
pub(crate) fn run(row: &Row) -> Option<Result<(), String>> {
    // What the wallet holds is nothing that a document says.
    let answers = answers(row).filter(|_| row.input.get("balance").is_none())?;
    let rules = policy::rules(row);
    let errand = errand(row);
    let results = answers.iter().map(|answer| compare(row, &rules, &errand, answer));
    Some(results.enumerate().try_for_each(|(number, result)| result.map_err(|why| format!("document {number}: {why}"))))
}

/// What `answer` comes to under `rules`: terms to pay, or codes, worst first.
pub(crate) fn outcome(rules: &Rules, errand: &Errand, answer: &Answer) -> Result<(Demand, Terms), Vec<&'static str>> {
    let codes = |refusals: Vec<Refusal>| refusals.iter().map(Refusal::code).collect::<Vec<_>>();
    match read(HeaderView::new(&answer.headers), &answer.body) {
        Err(unreadable) => Err(vec![unreadable.code()]),
        Ok(Found::NotX402(rail)) => Err(vec![rail.code()]),
        Ok(Found::Demand(demand)) => {
            let now_s = MachineTime.wall_s().unwrap();
            match judge(rules, errand, demand.challenge(), None, now_s) {
                Ok(terms) => Ok((demand, terms.into_inner())),
                Err(refusals) => Err(codes(refusals)),
            }
        }
    }
}

fn compare(row: &Row, rules: &Rules, errand: &Errand, answer: &Answer) -> Result<(), String> {
    match outcome(rules, errand, answer) {
        Err(codes) => row.refused_with(&codes),
        Ok((demand, terms)) if row.expected.act == "pay" => pay(rules, &demand, &terms),
        Ok((_, terms)) => Err(format!("want {}, got terms for {} to {}", row.expected.act, terms.amount, terms.payee)),
    }
}

/// Every document that is to be paid asks for one cent in the offer that counts, and gets a header that repeats it.
fn pay(rules: &Rules, demand: &Demand, terms: &Terms) -> Result<(), String> {
    if terms.amount.units() != 10_000 {
        return Err(format!("another offer was chosen: {}", terms.amount));
    }
    let now_s = MachineTime.wall_s().unwrap();
    let life = validity(terms.version, now_s, terms.max_timeout_s, rules.max_lifetime_s());
    let (valid_after, valid_before) = life.ok_or("it has no life")?;
    if valid_before - now_s > 300 {
        return Err(format!("it lives {} s", valid_before - now_s));
    }
    let authorization = Authorization {
        from: "0x3333333333333333333333333333333333333333".parse().unwrap(),
        to: terms.payee,
        value: terms.amount,
        valid_after,
        valid_before,
        nonce: [1; 32],
    };
    let envelope = demand.envelope(terms.offer).ok_or("it has no envelope")?;
    let signature = format!("0x{}1b", "11".repeat(64));
    payment_header(&envelope, &PaymentId::from_random([1; 16]), &authorization, &signature)
        .map(drop)
        .map_err(|fault| fault.to_string())
}

/// The 402 answers of a row.
fn answers(row: &Row) -> Option<Vec<Answer>> {
    let input = &row.input;
    if let Some(answers) = by_hand(row) {
        return Some(answers);
    }
    if let Some(challenge) = input.get("challenge") {
        return Some(vec![Answer::in_header(&challenge.to_string())]);
    }
    // Documents, one after another.
    for name in ["challenges", "challenge_each", "each"] {
        if let Some(challenges) = input.get(name).and_then(Value::as_array) {
            return Some(challenges.iter().map(|challenge| Answer::in_header(&challenge.to_string())).collect());
        }
    }
    // Exact bytes, as text or in hex, each alone or several.
    let exact: [(&str, Carried); 5] = [
        ("challenge_raw", Answer::in_header),
        ("challenge_hex", |digits| Answer::of_header(STANDARD.encode(hex::decode(digits).unwrap()).into_bytes())),
        ("headers_raw", |value| Answer::of_header(value.as_bytes().to_vec())),
        ("body_raw", |text| Answer::of_body(text.as_bytes().to_vec())),
        ("body_hex", |digits| Answer::of_body(hex::decode(digits).unwrap())),
    ];
    for (name, answer) in exact {
        let mut values = row.texts(&format!("/{name}_each"));
        values.extend(row.text(&format!("/{name}")).map(str::to_owned));
        if !values.is_empty() {
            return Some(values.iter().map(|value| answer(value)).collect());
        }
    }
    if let Some(document) = input.pointer("/headers/payment-required") {
        let body = input.get("body").map_or_else(|| "{}".to_owned(), Value::to_string);
        return Some(vec![Answer { body: body.into_bytes(), ..Answer::in_header(&document.to_string()) }]);
    }
    let body = input.get("body").filter(|body| body.get("x402Version").is_some());
    body.map(|body| vec![Answer::of_body(body.to_string().into_bytes())])
}

/// Rows that tell their document in words.
fn by_hand(row: &Row) -> Option<Vec<Answer>> {
    let offer = |amount: &str| {
        format!(
            r#"{{"scheme":"exact","network":"eip155:8453","amount":"{amount}","asset":"{}","payTo":"0x1111111111111111111111111111111111111111","maxTimeoutSeconds":60,"extra":{{"name":"USD Coin","version":"2"}}}}"#,
            policy::USDC
        )
    };
    let document = |offers: &[String]| format!(r#"{{"x402Version":2,"accepts":[{}]}}"#, offers.join(","));
    match row.id.as_str() {
        // A flood of offers: one more than are read, and as many as told, in a body that is over its cap.
        "CH-076" => {
            let many = Answer::in_header(&document(&vec![offer("10000"); 33]));
            Some(vec![many, Answer::of_body(document(&vec![offer("10000"); 2_000]).into_bytes())])
        }
        "SG-016" => {
            let token = offer("10000").replace(policy::USDC, policy::TEST_USDC).replace("eip155:8453", "eip155:84532");
            Some(vec![Answer::in_header(&document(&[token]))])
        }
        "LG-042" => Some(vec![Answer::in_header(&document(&[offer("50001")]))]),
        // Our clock is five minutes behind the seller's.
        "OP-015" => {
            let theirs = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(300);
            let date = theirs.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
            let mut answer = Answer::in_header(&document(&[offer("10000")]));
            answer.headers.push(("date".to_owned(), date.into_bytes()));
            Some(vec![answer])
        }
        _ => None,
    }
}

/// What the caller of a row wants: its URL and its own ceiling.
fn errand(row: &Row) -> Errand {
    let asked = row.text("/request").or_else(|| row.text("/tool_args/url")).unwrap_or(URL);
    let site = Site::parse(asked.trim_start_matches("GET ")).unwrap_or_else(|fault| panic!("{}: {fault}", row.id));
    let stated = row.text("/advertised_usd").or_else(|| row.text("/tool_args/max_usd"));
    let ceiling: Option<Money> = stated.map(|text| format!("{text} USD").parse().unwrap());
    Errand { ceiling, ..Errand::new(site, Method::Get) }
}
