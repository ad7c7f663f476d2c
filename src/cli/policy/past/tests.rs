//! Pasts of a few payments under rules that let them through, or not.

use bursar_policy::{ChainId, Digest, Method, PaymentId, SessionId, Setting, Site, Terms, Version};
use bursar_vault::protocol::Receipt;
use bursar_vault::rules_file;

use super::*;

const START: u64 = 1_900_000_000;
const HOUR: u64 = 3_600;

const TEXT: &str = r#"[payment]
max_per_payment = "0.10 USD"
networks = ["eip155:84532"]
assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
recipients = ["0x209693Bc6afc0C5328bA36FaF03C514EF312287C"]
{limits}
[[host]]
origin = "https://one.example"
[[host]]
origin = "https://two.example"
"#;

fn rules(limits: &str) -> Rules {
    let text = TEXT.replace("{limits}", limits);
    rules_file::parse(&text, Setting::Real).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

fn limit(scope: &str, window: &str, most: &str) -> Rules {
    rules(&format!("[[limit]]\nscope = \"{scope}\"\nwindow = \"{window}\"\n{most}\n"))
}

/// A settled payment of 0.05 USD to `host`, `at_s` seconds after the start.
fn paid(host: &str, at_s: u64) -> PastPayment {
    PastPayment {
        payment: PaymentId::from_random([1; 16]),
        state: RowState::Settled,
        session: SessionId::from_random([1; 16]),
        budget: "1.00 USD".parse().unwrap(),
        session_expires_s: START + 1_000 * HOUR,
        mandate: None,
        site: Site::parse(&format!("https://{host}/page?x=1")).unwrap(),
        method: Method::Get,
        body: None,
        subject: Digest::of(host.as_bytes()),
        terms: Terms {
            version: Version::V2,
            offer: 0,
            chain: ChainId::new(84_532),
            asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e".parse().unwrap(),
            payee: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C".parse().unwrap(),
            amount: "50000".parse().unwrap(),
            max_timeout_s: 60,
            domain_name: "USDC".to_owned(),
            domain_version: "2".to_owned(),
        },
        payer: "0x5e11e4000000000000000000000000000000beeF".parse().unwrap(),
        money: "0.05 USD".parse().unwrap(),
        created_s: START.saturating_add(at_s),
        ended_s: Some(START.saturating_add(at_s).saturating_add(10)),
        unresolved: false,
        session_name: "default".parse().unwrap(),
        receipt: Receipt {
            payment: PaymentId::from_random([1; 16]),
            state: RowState::Settled,
            amount: "50000".parse().unwrap(),
            money: "0.05 USD".parse().unwrap(),
            symbol: "USDC".to_owned(),
            chain: ChainId::new(84_532),
            payee: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C".parse().unwrap(),
            transaction: None,
            outcome: "paid".to_owned(),
            created_s: START.saturating_add(at_s),
            valid_before: START.saturating_add(at_s).saturating_add(60),
            identical_repeat: false,
        },
        terms_digest: Digest::of(b"terms"),
        nonce: format!("0x{}", "0".repeat(64)),
        proof: None,
        content: None,
        waiting: false,
    }
}

fn in_state(state: RowState, ended_s: Option<u64>, payment: PastPayment) -> PastPayment {
    PastPayment { state, ended_s: ended_s.map(|at_s| START.saturating_add(at_s)), ..payment }
}

/// The first code of each payment, `ok` for those that are let through.
fn replayed(rules: &Rules, payments: &[PastPayment]) -> Vec<&'static str> {
    let mut past = Past::under(rules);
    let verdict = |payment| past.admit(payment).err().map_or("ok", |reasons| reasons[0].code());
    payments.iter().map(verdict).collect()
}

#[test]
fn without_limits_everything_that_the_gate_passes_is_allowed() {
    let payments: Vec<PastPayment> = (0..10).map(|at| paid("one.example", at)).collect();
    assert_eq!(replayed(&rules(""), &payments), ["ok"; 10]);
}

#[test]
fn the_gate_judges_terms_site_and_method_again() {
    let rules = rules("");
    let post = PastPayment { method: Method::Post, ..paid("one.example", 1) };
    let mut dear = paid("one.example", 2);
    dear.terms.amount = "100001".parse().unwrap();
    let mut stranger = paid("one.example", 3);
    stranger.terms.payee = "0x036CbD53842c5426634e7929541eC2318f3dCF7f".to_ascii_lowercase().parse().unwrap();
    let past = [paid("three.example", 0), post, dear, stranger];
    assert_eq!(
        replayed(&rules, &past),
        ["host_not_allowed", "method_not_allowed", "over_payment_cap", "payee_not_allowed"]
    );
}

#[test]
fn a_rolling_limit_counts_what_was_allowed_and_lets_go_of_it_after_its_length() {
    let rules = limit("all", "24h", "max = \"0.10 USD\"");
    let hours = |hours: u64| paid("one.example", hours * HOUR);
    let past = [hours(0), hours(1), hours(2), hours(23), hours(25), hours(26)];
    // What was blocked at 2 and 23 hours does not count; the first two slide out one after the other.
    assert_eq!(replayed(&rules, &past), ["ok", "ok", "over_limit", "over_limit", "ok", "ok"]);
    // To the second: what was spent at 10 s counts for one day, and no second longer.
    let day = 24 * HOUR + 10;
    let past = [paid("one.example", 0), paid("one.example", 0), paid("one.example", day - 1), paid("one.example", day)];
    assert_eq!(replayed(&rules, &past), ["ok", "ok", "over_limit", "ok"]);
}

#[test]
fn a_window_of_the_calendar_is_full_again_at_its_midnight() {
    let rules = limit("all", "day", "time_zone = \"UTC\"\ncount = 1");
    // START is 17:46:40 of its day, so the next one begins 22400 seconds later.
    let past = [0, 1, 22_389, 22_390, 22_400].map(|at_s| paid("one.example", at_s));
    assert_eq!(replayed(&rules, &past), ["ok", "over_limit", "over_limit", "over_limit", "ok"]);
}

#[test]
fn a_limit_of_a_tag_is_about_what_carries_it() {
    let tagged = "[[payee]]\naddress = \"0x209693Bc6afc0C5328bA36FaF03C514EF312287C\"\ntags = [\"data\"]";
    let of = |tag: &str| format!("[[limit]]\nscope = \"tag\"\ntag = \"{tag}\"\nwindow = \"24h\"\ncount = 1\n{tagged}");
    let past = [paid("one.example", 0), paid("two.example", 1)];
    assert_eq!(replayed(&rules(&of("data")), &past), ["ok", "over_limit"]);
    let other =
        of("other").replace("[\"data\"]", "[\"data\"]\n[[host]]\norigin = \"https://six.example\"\ntags = [\"other\"]");
    assert_eq!(replayed(&rules(&other), &past), ["ok", "ok"]);
}

#[test]
fn what_ran_out_unresolved_stops_later_payments_and_not_those_before() {
    let lost = PastPayment { unresolved: true, ..in_state(RowState::PresumedSpent, Some(100), paid("one.example", 0)) };
    let past = [lost, paid("one.example", 99), paid("one.example", 100), paid("two.example", 101)];
    // The payee is the same, whatever the host.
    assert_eq!(replayed(&rules(""), &past), ["ok", "ok", "too_many_unresolved", "too_many_unresolved"]);
    let many = rules("max_unresolved = 2");
    assert_eq!(replayed(&many, &past), ["ok", "ok", "ok", "ok"]);
}

#[test]
fn what_is_pending_counts_at_any_age_and_what_was_freed_counts_until_then() {
    let rules = limit("all", "24h", "count = 1");
    let first = paid("one.example", 0);
    let later = paid("one.example", 100 * HOUR);
    let under = |first: PastPayment| replayed(&rules, &[first, paid("one.example", 5), later.clone()])[1..].to_vec();
    assert_eq!(under(in_state(RowState::Exposed, None, first.clone())), ["over_limit", "over_limit"]);
    assert_eq!(under(in_state(RowState::Held, None, first.clone())), ["over_limit", "over_limit"]);
    assert_eq!(under(in_state(RowState::PresumedSpent, Some(90 * HOUR), first.clone())), ["over_limit", "over_limit"]);
    assert_eq!(under(in_state(RowState::PresumedSpent, Some(2 * HOUR), first.clone())), ["over_limit", "ok"]);
    assert_eq!(under(in_state(RowState::Voided, Some(6), first.clone())), ["over_limit", "ok"]);
    assert_eq!(under(in_state(RowState::Voided, Some(5), first.clone())), ["ok", "ok"]);
    assert_eq!(under(in_state(RowState::Lapsed, Some(5), first)), ["ok", "ok"]);
}

#[test]
fn a_limit_for_ever_never_lets_go() {
    let rules = limit("all", "lifetime", "max = \"0.10 USD\"");
    let past: Vec<PastPayment> = (0..4).map(|at| paid("one.example", at * 1_000 * HOUR)).collect();
    let past: Vec<PastPayment> =
        past.into_iter().map(|payment| PastPayment { session_expires_s: u64::MAX, ..payment }).collect();
    assert_eq!(replayed(&rules, &past), ["ok", "ok", "over_limit", "over_limit"]);
}

#[test]
fn each_scope_counts_for_itself() {
    let past = [paid("one.example", 0), paid("two.example", 1), paid("one.example", 2), paid("two.example", 3)];
    assert_eq!(replayed(&limit("host", "24h", "count = 1"), &past), ["ok", "ok", "over_limit", "over_limit"]);
    assert_eq!(replayed(&limit("payee", "24h", "count = 1"), &past), ["ok", "over_limit", "over_limit", "over_limit"]);
    let other = |payment| PastPayment { session: SessionId::from_random([2; 16]), ..payment };
    let past = [paid("one.example", 0), other(paid("one.example", 1)), paid("one.example", 2)];
    assert_eq!(replayed(&limit("session", "24h", "count = 1"), &past), ["ok", "ok", "over_limit"]);
}

#[test]
fn the_budget_of_the_session_holds_even_beside_a_limit_that_looks_like_it() {
    let budget = |payment| PastPayment { budget: "0.10 USD".parse().unwrap(), ..payment };
    let past: Vec<PastPayment> = (0..3).map(|at| budget(paid("one.example", at))).collect();
    assert_eq!(replayed(&rules(""), &past), ["ok", "ok", "over_session_budget"]);
    let twin = limit("session", "lifetime", "max = \"0.10 USD\"");
    assert_eq!(replayed(&twin, &past), ["ok", "ok", "over_session_budget"]);
    let over = PastPayment { session_expires_s: START, ..paid("one.example", 1) };
    assert_eq!(replayed(&rules(""), &[over]), ["session_expired"]);
}

/// A payment as a law needs it: seconds since the one before, host, how it ended, how long it took.
type Drawn = (u64, bool, u8, u64);

#[test]
fn a_mandate_goes_along_and_the_gate_hides_nothing_of_what_the_budget_says() {
    use bursar_policy::{Mandate, Payees};
    let origins = vec!["https://one.example".parse().unwrap()];
    let for_one = Mandate::new("one".to_owned(), origins, Payees::Any, "0.05 USD".parse().unwrap()).unwrap();
    let under = |payment| PastPayment { mandate: Some(for_one.clone()), ..payment };
    let past = [under(paid("one.example", 0)), under(paid("two.example", 1)), paid("two.example", 2)];
    assert_eq!(replayed(&rules(""), &past), ["ok", "outside_mandate", "ok"]);
    let wanting = rules_file::parse(
        &TEXT.replace("{limits}", "").replace("[payment]", "[payment]\nmandate = \"required\""),
        Setting::Real,
    )
    .unwrap();
    assert_eq!(replayed(&wanting, &past), ["ok", "outside_mandate", "mandate_missing"]);

    let stranger = PastPayment { budget: "0.01 USD".parse().unwrap(), ..under(paid("three.example", 3)) };
    let rules = limit("all", "24h", "max = \"0.02 USD\"");
    let reasons = Past::under(&rules).admit(&stranger).unwrap_err();
    let codes: Vec<&str> = reasons.iter().map(Refusal::code).collect();
    assert_eq!(codes, ["outside_mandate", "over_session_budget", "host_not_allowed", "over_limit"]);
}

fn drawn(at_s: u64, (_, one, state, after_s): Drawn) -> PastPayment {
    let host = if one { "one.example" } else { "two.example" };
    let (state, ended_s) = match state {
        0 => (RowState::Exposed, None),
        1 => (RowState::Voided, Some(at_s.saturating_add(after_s))),
        2 => (RowState::PresumedSpent, Some(at_s.saturating_add(after_s))),
        _ => (RowState::Settled, Some(at_s.saturating_add(after_s))),
    };
    in_state(state, ended_s, paid(host, at_s))
}

/// What the limit adds up to, by looking at everything that was let through each time.
fn dumb_count(allowed: &[PastPayment], one: &PastPayment, of_host: bool, length_s: Option<u64>) -> usize {
    let counts = |other: &&PastPayment| {
        let same = !of_host || other.site == one.site;
        let freed = matches!(other.state, RowState::Voided | RowState::Lapsed);
        let still = match other.ended_s {
            None => true,
            Some(at_s) if one.created_s < at_s => true,
            Some(at_s) => !freed && length_s.is_none_or(|length_s| one.created_s.saturating_sub(at_s) < length_s),
        };
        same && still
    };
    allowed.iter().filter(counts).count()
}

proptest::proptest! {
    #[test]
    fn a_dumber_count_agrees(
        past in proptest::collection::vec((0_u64..40, proptest::bool::ANY, 0_u8..6, 0_u64..60), 0..40),
        most in 1_usize..5,
        of_host in proptest::bool::ANY,
        length_s in proptest::option::of(1_u64..90),
    ) {
        let window = length_s.map_or_else(|| "lifetime".to_owned(), |length_s| format!("{length_s}s"));
        let scope = if of_host { "host" } else { "all" };
        let rules = limit(scope, &window, &format!("count = {most}"));
        let mut at_s = 0_u64;
        let mut payments = Vec::new();
        for one in past {
            at_s = at_s.saturating_add(one.0);
            payments.push(PastPayment { budget: "1000 USD".parse().unwrap(), ..drawn(at_s, one) });
        }
        let mut allowed: Vec<PastPayment> = Vec::new();
        for (one, verdict) in payments.iter().zip(replayed(&rules, &payments)) {
            let fits = dumb_count(&allowed, one, of_host, length_s) < most;
            proptest::prop_assert_eq!(verdict, if fits { "ok" } else { "over_limit" });
            if fits {
                allowed.push(one.clone());
            }
        }
    }
}

#[test]
fn what_the_rules_would_have_put_before_a_person_is_not_allowed() {
    let free = |line: &str| {
        let text = format!(
            "[payment]\nmax_per_payment = \"0.10 USD\"\nnetworks = [\"eip155:84532\"]
             assets = [\"eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e\"]
             allow_any_recipient = true\nallow_any_host = true\n{line}"
        );
        rules_file::parse(&text, Setting::Real).unwrap()
    };
    let code = |rules: &Rules, pasts: &[PastPayment]| {
        let mut past = Past::under(rules);
        let last = pasts.iter().map(|one| past.admit(one)).last().unwrap();
        last.err().map(|reasons| reasons[0].code())
    };
    let other = PastPayment {
        terms: Terms {
            payee: "0x5e11e4000000000000000000000000000000cafe".parse().unwrap(),
            ..paid("one.example", 0).terms
        },
        ..paid("one.example", 9)
    };
    let dear = PastPayment {
        terms: Terms { amount: "100000".parse().unwrap(), ..paid("one.example", 0).terms },
        money: "0.10 USD".parse().unwrap(),
        ..paid("one.example", 9)
    };
    let three = [0, 1, 2].map(|at_s| paid("one.example", at_s));
    let after = |last: PastPayment| [three.as_slice(), &[last]].concat();
    assert_eq!(code(&free(""), &after(paid("one.example", 9))), None);
    assert_eq!(code(&free(""), &after(other)), Some("needs_approval"));
    assert_eq!(code(&free(""), &after(dear.clone())), None);
    assert_eq!(code(&free("unusual_price = 2"), &after(dear.clone())), None, "twice the usual is not above it");
    assert_eq!(code(&free("price_rise = \"99%\""), &after(dear.clone())), Some("needs_approval"));
    assert_eq!(code(&free("price_rise = \"100%\""), &after(dear.clone())), None);
    assert_eq!(code(&free("approve_over = \"0.09 USD\""), &after(dear)), Some("needs_approval"));
    assert_eq!(code(&free(""), &after(paid("0ne.example", 9))), Some("needs_approval"));
    assert_eq!(code(&free(""), &after(paid("two.example", 9))), None);
}

#[test]
fn the_same_again_too_soon_would_not_have_been_allowed() {
    let rules = rules("no_recurring = \"1h\"\n");
    let mut past = Past::under(&rules);
    past.admit(&paid("one.example", 0)).unwrap();
    let again = past.admit(&paid("one.example", HOUR - 1)).unwrap_err();
    assert_eq!(again[0].code(), "recurring");
    // With other headers it is another request.
    let other = PastPayment { subject: Digest::of(b"other headers"), ..paid("one.example", HOUR - 1) };
    past.admit(&other).unwrap();
    // What was not allowed is not known either.
    past.admit(&paid("one.example", HOUR)).unwrap();
}
