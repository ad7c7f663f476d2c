//! What holds for the settlement claim of any answer: clean short members or nothing, and only from its own headers.

use bursar::wire::claim::MAX_REASON_CHARS;
use bursar::wire::{Claim, Settlement, read_claim};
use serde_json::{Map, Value};

use super::answer::Answer;
use super::base64;

const NAMES: [&str; 2] = ["payment-response", "x-payment-response"];

/// Takes `bytes` as the answer to a payment.
///
/// # Panics
///
/// Where a property does not hold.
pub fn holds(bytes: &[u8]) {
    let answer = Answer::of(bytes);
    let claim = read_claim(answer.view());
    let values: Vec<&[u8]> =
        NAMES.iter().flat_map(|name| answer.view().all(name)).filter(|value| !value.is_empty()).collect();

    assert_eq!(claim == Claim::Silent, values.is_empty(), "silence is where no header speaks, and nowhere else");
    let mut turned = answer.clone();
    turned.headers.reverse();
    assert_eq!(read_claim(turned.view()), claim, "the order of headers decides nothing");
    let alone = Answer { headers: Vec::new(), body: Vec::new() };
    let alone = values.iter().fold(alone, |answer, value| answer.with("X-Payment-Response", *value));
    assert_eq!(read_claim(alone.view()), claim, "the two names mean one thing, and no other header counts");

    match claim {
        Claim::Silent => {}
        Claim::Unclear(why) => assert!(!why.is_empty()),
        Claim::Said(settlement) => {
            is_clean(&settlement);
            comes_back(&answer, &settlement);
        }
    }
}

/// Each of the members is within its cap and of its form.
fn is_clean(settlement: &Settlement) {
    let Settlement { success: _, transaction, network, payer, strange: _, amount: _, reason } = settlement;
    if let Some(transaction) = transaction {
        let digits = transaction.strip_prefix("0x").unwrap();
        assert_eq!(digits.len(), 64);
        assert!(digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')), "{transaction}");
        assert!(digits.bytes().any(|digit| !digits.starts_with(char::from(digit))), "{transaction} is a placeholder");
    }
    if let Some(network) = network {
        assert!((1..=64).contains(&network.len()), "{network}");
        assert!(network.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":._-".contains(&byte)), "{network}");
    }
    if let Some(payer) = payer {
        assert_eq!(payer.to_string().parse(), Ok(*payer));
    }
    if let Some(reason) = reason {
        assert!((1..=MAX_REASON_CHARS).contains(&reason.len()), "{reason}");
        assert!(reason.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{reason}");
    }
}

/// What was kept reads the same when a seller says just that, and does not agree with a seller that says more.
fn comes_back(answer: &Answer, settlement: &Settlement) {
    // Strange words are not kept: the one of the two that is missing had them.
    let strange = |words: &str| settlement.strange.then(|| words.to_owned());
    let network = settlement.network.clone().or_else(|| strange("none at all"));
    let named = settlement.payer.map(|payer| payer.to_string());
    let payer = named.or_else(|| strange("nobody").filter(|_| settlement.network.is_some()));
    let members = [
        ("success", settlement.success.map(Value::from)),
        ("transaction", settlement.transaction.clone().map(Value::from)),
        ("network", network.map(Value::from)),
        ("payer", payer.map(Value::from)),
        ("amount", settlement.amount.map(|amount| Value::from(amount.to_string()))),
        ("errorReason", settlement.reason.clone().map(Value::from)),
    ];
    let said = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let document: Map<String, Value> = said.collect();
    let value = base64::encoded(Value::from(document).to_string().as_bytes());

    let nothing = Answer { headers: Vec::new(), body: Vec::new() };
    let again = nothing.with("payment-response", value.clone());
    assert_eq!(read_claim(again.view()), Claim::Said(settlement.clone()));
    let both = answer.with("payment-response", value);
    assert_eq!(read_claim(both.view()), Claim::Said(settlement.clone()), "the same claim in other words agrees");
    let other = base64::encoded(format!("{{\"success\":{}}}", settlement.success != Some(true)).as_bytes());
    let contradicted = answer.with("x-payment-response", other);
    assert!(matches!(read_claim(contradicted.view()), Claim::Unclear(_)), "two claims that differ are none");
}
