//! Inputs that are right, to begin from: the stories' answers and rules, and messages as this version writes them.

use std::fs;
use std::path::{Path, PathBuf};

use bursar_policy::mandate::Payees;
use bursar_policy::{
    Address, Amount, ApprovalId, Authorization, Body, BodyType, Digest, Domain, Errand, Handle, Headers, Mandate,
    Method, PageOpening, PaymentId, QuoteId, Quoted, Refusal, SecretName, SessionName, Setting, Site, SweepId, Terms,
    Version,
};
use bursar_vault::blank::{Blank, Piece};
use bursar_vault::protocol::frame::{REPLY_MAX_BYTES, encode};
use bursar_vault::protocol::{
    AgentAsk, AgentReply, Attach, Attached, AttachedHow, ChainOutcome, ChainVerdict, ContentRef, Delivery, GlueAsk,
    GlueRefusal, GlueReply, GlueWelcome, HeaderName, LogEntry, OperatorAsk, OperatorReply, PROTOCOL, Passphrase, Past,
    PaymentHeader, Receipt, Reconciled, Released, ReleasedHeader, Report, RowState, SecretList, SecretValue,
    SecretView, SessionView, SettlementClaim, Signed, Sought, WhichRules,
};
use serde::Serialize;
use zeroize::Zeroizing;

use super::base64;

/// The names of the fuzz targets.
pub const TARGETS: [&str; 5] = ["challenge", "header", "claim", "rules", "frame"];

/// Every seed of one target, each once.
pub fn of(target: &str) -> Vec<Vec<u8>> {
    let mut seeds = match target {
        "challenge" => replies(|status| status == "402"),
        "claim" => replies(|status| status != "402"),
        "header" => replies(|_| true).iter().flat_map(|reply| values(reply)).collect(),
        "rules" => stories("rules.toml").iter().map(|path| filled(&fs::read(path).unwrap())).collect(),
        "frame" => frames(),
        other => panic!("`{other}` is no target"),
    };
    seeds.sort();
    seeds.dedup();
    seeds
}

/// The files of this name's end in the stories, in order.
fn stories(ending: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut found: Vec<PathBuf> = fs::read_dir(root)
        .unwrap()
        .map(|folder| folder.unwrap().path())
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|file| file.unwrap().path())
        .filter(|file| file.to_string_lossy().ends_with(ending))
        .collect();
    found.sort();
    found
}

/// A story's text with something in the places that it leaves open.
fn filled(text: &[u8]) -> Vec<u8> {
    let text =
        String::from_utf8_lossy(text).replace(":{port}", "").replace("{rpc}", "8545").replace("{other_day}", "sun");
    let text = text.replace("{payer}", "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23");
    text.replace("{date}", "Mon, 30 Nov 2026 00:53:20 GMT").into_bytes()
}

/// Recorded answers in the form that [`Answer`](super::answer::Answer) reads.
fn replies(is_wanted: impl Fn(&str) -> bool) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for path in stories("-reply.http") {
        let text = filled(&fs::read(path).unwrap());
        let mut rest = text.as_slice();
        let mut line = || {
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let (line, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            String::from_utf8(line.trim_ascii_end().to_vec()).unwrap()
        };
        if !line().split(' ').nth(1).is_some_and(&is_wanted) {
            continue;
        }
        let head: String = std::iter::from_fn(|| Some(line()).filter(|line| !line.is_empty())).map(header).collect();
        found.push([head.as_bytes(), b"\n", rest].concat());
    }
    found
}

/// A header line with its document laid open, where it holds one.
fn header(line: String) -> String {
    let (name, value) = line.split_once(": ").unwrap_or((&line, ""));
    let placeholder = value.strip_prefix("{base64 ").and_then(|value| value.strip_suffix('}')).map(str::to_owned);
    let document = placeholder.or_else(|| {
        let is_document = name.to_ascii_lowercase().contains("payment");
        String::from_utf8(base64::decoded(value.as_bytes())?).ok().filter(|text| is_document && text.starts_with('{'))
    });
    document.map_or_else(|| format!("{name}: {value}\n"), |document| format!("{name}= {document}\n"))
}

/// The values of the headers with documents, as they would be sent.
fn values(reply: &[u8]) -> Vec<Vec<u8>> {
    let answer = super::answer::Answer::of(reply);
    let documents = answer.headers.into_iter().filter(|(name, _)| name.contains("payment"));
    documents.map(|(_, value)| value).collect()
}

fn framed(message: &impl Serialize) -> Vec<u8> {
    encode(message, REPLY_MAX_BYTES).unwrap().to_vec()
}

/// A frame with each kind of message, and a conversation.
fn frames() -> Vec<Vec<u8>> {
    let mut frames = messages();
    frames.push(agent_asks().iter().flat_map(framed).collect());
    frames
}

/// One frame for each kind of message.
pub fn messages() -> Vec<Vec<u8>> {
    let asks: Vec<Vec<u8>> = agent_asks().iter().map(framed).chain(operator_asks().iter().map(framed)).collect();
    let glue: Vec<Vec<u8>> = glue_asks().iter().map(framed).chain(glue_replies().iter().map(framed)).collect();
    let replies: Vec<Vec<u8>> =
        agent_replies().iter().map(framed).chain(operator_replies().iter().map(framed)).collect();
    [asks, replies, glue].concat()
}

fn address(last: u8) -> Address {
    let mut bytes = [0x5e; 20];
    bytes[19] = last;
    Address::from_bytes(bytes)
}

fn errand() -> Errand {
    Errand {
        site: Site::parse("https://api.seller.test/weather?of=today").unwrap(),
        method: Method::Post,
        body: Some(Body { digest: Digest::of(b"{}"), bytes: 2, kind: BodyType::Json }),
        headers: Headers::none(),
        ceiling: "0.05 USD".parse().ok(),
        purchase_id: "order-7".parse().ok(),
        quote: Some(QuoteId::from_random([7; 16])),
        suspicious: "the page says hurry".parse().ok(),
    }
}

fn terms() -> Terms {
    Terms {
        version: Version::V2,
        offer: 0,
        chain: "eip155:84532".parse().unwrap(),
        asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e".parse().unwrap(),
        payee: address(1),
        amount: Amount::new(10_000).unwrap(),
        max_timeout_s: 60,
        domain_name: "USDC".to_owned(),
        domain_version: "2".to_owned(),
    }
}

fn name() -> SessionName {
    "spring-7".parse().unwrap()
}

fn passphrase() -> Passphrase {
    Passphrase::new("correct horse".to_owned().into())
}

fn agent_asks() -> Vec<AgentAsk> {
    let content = ContentRef { digest: Digest::of(b"sky"), bytes: 28, kind: "json".to_owned(), truncated: false };
    let settlement = SettlementClaim {
        success: true,
        transaction: Some(format!("0x{}", "5c".repeat(32))),
        network: Some("eip155:84532".to_owned()),
        payer: Some(address(2).to_string()),
        amount: None,
        reason: None,
    };
    let answer = Delivery::Answer { status: 200, content: Some(content), content_error: None };
    let silence = Delivery::Silence { why: "timeout".to_owned() };
    let sought = Sought {
        amount: Quoted::of("10000"),
        asset: Quoted::of("0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
        network: Quoted::of("eip155:84532"),
        payee: Quoted::of("a`\u{202e}b"),
    };
    vec![
        AgentAsk::Hello { protocol: PROTOCOL, session: Some(name()) },
        AgentAsk::Claim { errand: errand() },
        AgentAsk::Authorize { terms: terms(), envelope: "{\"version\":2}".to_owned(), rules: Digest::of(b"rules") },
        AgentAsk::Hold {
            terms: terms(),
            envelope: "{\"version\":2}".to_owned(),
            blank: blank(),
            rules: Digest::of(b"rules"),
        },
        AgentAsk::HoldAgain { blank: blank() },
        AgentAsk::Attach { handle: handle(), open: PageOpening::Wait },
        AgentAsk::Quote { errand: errand(), terms: Some(terms()) },
        AgentAsk::Report(Report { delivery: answer, settlement: Some(settlement) }),
        AgentAsk::Report(Report { delivery: silence, settlement: None }),
        AgentAsk::Decline { errand: errand(), sought: vec![sought], refusals: refusals() },
        AgentAsk::Secrets,
        AgentAsk::Status,
    ]
}

fn handle() -> Handle {
    Handle::from_random([0x5a; 24])
}

fn blank() -> Blank {
    let text = |words: &str| Piece::Text(words.to_owned());
    Blank::new(vec![text("{\"id\":"), Piece::Payment, text(",\"payload\":"), Piece::Payload, text("}")]).unwrap()
}

fn receipt() -> Receipt {
    let terms = terms();
    Receipt {
        payment: PaymentId::from_random([9; 16]),
        state: RowState::Held,
        amount: terms.amount,
        money: "0.01 USD".parse().unwrap(),
        symbol: "USDC".to_owned(),
        chain: terms.chain,
        payee: terms.payee,
        transaction: None,
        outcome: "unresolved".to_owned(),
        created_s: 1_796_000_000,
        valid_before: 1_796_000_060,
        identical_repeat: false,
    }
}

fn attached(how: AttachedHow) -> Attached {
    Attached { site: errand().site, past: Past { receipt: receipt(), delivery: None }, how, expires_in_s: Some(80) }
}

fn glue_asks() -> Vec<GlueAsk> {
    let silence = Delivery::Silence { why: "closed".to_owned() };
    vec![
        GlueAsk::Hello { protocol: PROTOCOL, session: Some(name()) },
        GlueAsk::Next,
        GlueAsk::Armed { handle: handle() },
        GlueAsk::Refuse { handle: handle(), why: GlueRefusal::NoBrowser },
        GlueAsk::Redeem { handle: handle(), url: "https://api.seller.test/weather?of=today".to_owned() },
        GlueAsk::Report { handle: handle(), report: Box::new(Report { delivery: silence, settlement: None }) },
    ]
}

fn glue_replies() -> Vec<GlueReply> {
    let attach = Attach {
        handle: handle(),
        url: errand().site.url(),
        method: Method::Get,
        open: PageOpening::Navigate,
        expires_in_s: 88,
    };
    let header = PaymentHeader::new(HeaderName::PaymentSignature, "e30=".to_owned().into());
    vec![
        GlueReply::Welcome(GlueWelcome { protocol: PROTOCOL, session: name(), setting: Setting::Sandbox }),
        GlueReply::Attach(attach),
        GlueReply::Idle,
        GlueReply::Redeemed { header },
        GlueReply::Reported { receipt: receipt() },
        GlueReply::Fault { code: "wrong_url".to_owned(), message: "ask for the page".to_owned() },
    ]
}

fn refusals() -> Vec<Refusal> {
    let money = |text: &str| text.parse().unwrap();
    vec![
        Refusal::Frozen,
        Refusal::OverSessionBudget { asked: money("0.05 USD"), left: money("0.01 USD") },
        Refusal::TermsUnreadable { why: bursar_policy::Quoted::of("the body is not json") },
    ]
}

fn agent_replies() -> Vec<AgentReply> {
    let terms = terms();
    let authorization = Authorization {
        from: address(2),
        to: terms.payee,
        value: terms.amount,
        valid_after: 0,
        valid_before: 1_796_000_060,
        nonce: [0x11; 32],
    };
    let domain = Domain {
        name: terms.domain_name.clone(),
        version: terms.domain_version.clone(),
        chain: terms.chain,
        contract: terms.asset,
    };
    let signed = Signed {
        payment: PaymentId::from_random([9; 16]),
        authorization,
        signature: format!("0x{}", "1b".repeat(65)),
        payer: address(2),
        domain,
        version: Version::V2,
        envelope: "{\"version\":2}".to_owned(),
        terms,
        signed_at_s: 1_796_000_000,
    };
    vec![
        AgentReply::Authorized(Box::new(signed)),
        AgentReply::Held { handle: handle(), expires_in_s: 90, receipt: receipt() },
        AgentReply::Attached(Box::new(attached(AttachedHow::Declined(GlueRefusal::PageGone)))),
        AgentReply::Attached(Box::new(attached(AttachedHow::Armed))),
        AgentReply::Quoted { quote: Some(QuoteId::from_random([7; 16])), refusals: Vec::new() },
        AgentReply::Noted,
        AgentReply::Secrets(Box::new(released())),
        AgentReply::Refused(refusals()),
        AgentReply::Fault { code: "rules_changed".to_owned(), message: "call again".to_owned() },
    ]
}

fn secret_name() -> SecretName {
    "shop-key".parse().unwrap()
}

fn secret() -> SecretValue {
    SecretValue::new(Zeroizing::new("sk-0123456789".to_owned())).unwrap()
}

fn released() -> Released {
    let header = "authorization: Bearer {shop-key}".parse().unwrap();
    Released { headers: vec![ReleasedHeader { header, secret: secret() }], proxy: Some(secret()) }
}

fn mandate() -> Mandate {
    let origins = vec!["https://api.seller.test".parse().unwrap()];
    let (purpose, most) = ("weather".to_owned(), "0.05 USD".parse().unwrap());
    Mandate::new(purpose, origins, Payees::Listed(vec![address(3)]), most).unwrap()
}

fn operator_asks() -> Vec<OperatorAsk> {
    vec![
        OperatorAsk::Hello { protocol: PROTOCOL },
        OperatorAsk::Unlock { passphrase: passphrase(), rules: Some(Digest::of(b"rules")) },
        OperatorAsk::Lock,
        OperatorAsk::SessionNew {
            name: name(),
            budget: "5.00 USD".parse().unwrap(),
            minutes: 60,
            mandate: Some(mandate()),
            passphrase: passphrase(),
        },
        OperatorAsk::SessionList,
        OperatorAsk::SessionClose { name: name() },
        OperatorAsk::Freeze { reason: "lunch".to_owned() },
        OperatorAsk::Thaw { passphrase: passphrase() },
        OperatorAsk::Status,
        OperatorAsk::Log { limit: 20, after: Some(7) },
        OperatorAsk::Payment { id: PaymentId::from_random([9; 16]) },
        OperatorAsk::Payments { limit: 20, after: None },
        OperatorAsk::Unlatch { passphrase: passphrase() },
        OperatorAsk::Rules { which: WhichRules::OnDisk },
        OperatorAsk::ReloadRules { rules: Digest::of(b"rules"), passphrase: passphrase() },
        OperatorAsk::Approvals,
        OperatorAsk::Approve {
            id: ApprovalId::from_random([6; 16]),
            binding: Digest::of(b"what was shown"),
            passphrase: passphrase(),
        },
        OperatorAsk::Deny { id: ApprovalId::from_random([6; 16]) },
        OperatorAsk::Resume { whom: "https://api.seller.test".to_owned(), passphrase: passphrase() },
        OperatorAsk::Reconcile,
        OperatorAsk::SecretSet { name: secret_name(), value: secret(), passphrase: passphrase() },
        OperatorAsk::SecretList,
        OperatorAsk::SecretRemove { name: secret_name(), passphrase: passphrase() },
        OperatorAsk::Shutdown,
    ]
}

fn operator_replies() -> Vec<OperatorReply> {
    let money = |text: &str| text.parse().unwrap();
    let session = SessionView {
        name: name(),
        budget: money("5.00 USD"),
        spent: money("0.01 USD"),
        created_s: 1_796_000_000,
        expires_s: 1_796_003_600,
        closed: false,
        mandate: Some(mandate()),
    };
    let entry = LogEntry {
        seq: 1,
        at_s: 1_796_000_000,
        kind: "session_opened".to_owned(),
        payment: None,
        session: Some(name()),
        detail: "5.00 USD".to_owned(),
    };
    vec![
        OperatorReply::Done,
        OperatorReply::Secrets(Box::new(SecretList {
            secrets: vec![SecretView {
                name: secret_name(),
                set_at_s: 1_796_000_000,
                used_by: vec!["the proxy".to_owned()],
            }],
            missing: vec![secret_name()],
        })),
        OperatorReply::Unlocked { payer: address(2) },
        OperatorReply::Session(session),
        OperatorReply::Log(vec![entry]),
        OperatorReply::Reconciled(Box::new(Reconciled {
            proved: vec![(PaymentId::from_random([9; 16]), ChainOutcome::Lapsed)],
            swept: vec![(SweepId::from_random([7; 16]), ChainVerdict::Paid)],
            chains: Vec::new(),
        })),
        OperatorReply::Rules { text: "[payment]\n".to_owned(), digest: Digest::of(b"[payment]\n") },
    ]
}
