//! What a seller says about the settlement of a payment: a claim, never a fact.
//!
//! It changes no money: the ledger counted the payment before it was sent, and a claim of failure frees nothing. So a
//! claim is read leniently, and whatever is not plainly what it should be is dropped rather than shown.

use bursar_policy::{Address, Amount, Said};
use bursar_vault::protocol::SettlementClaim;

use super::header::{self, HeaderView};
use super::json::{self, Members};

/// The longest settlement document that is looked at, in decoded bytes.
pub const MAX_CLAIM_BYTES: usize = 16 * 1024;

/// The longest reason that is kept, in characters.
pub const MAX_REASON_CHARS: usize = 140;

/// The longest network name that is kept, in characters; CAIP-2 allows 41.
const MAX_NETWORK_CHARS: usize = 64;

/// What the headers of a paid answer say about the settlement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Neither settlement header is there. Many honest sellers leave it out.
    Silent,
    /// Headers are there that cannot be read or that contradict each other; the text says which, for the operator.
    Unclear(&'static str),
    /// The seller claims this.
    Said(Settlement),
}

impl Claim {
    /// What the ledger is told of it; `None` when the seller said nothing, or not whether it settled. What is unclear fits no payment: it is kept as a
    /// claim that does not agree with ours.
    #[must_use]
    pub fn for_the_ledger(self) -> Option<SettlementClaim> {
        match self {
            Self::Silent => None,
            Self::Unclear(why) => {
                let reason = Some(why.to_owned());
                let (transaction, network, payer, amount) = (None, None, None, None);
                Some(SettlementClaim { success: false, transaction, network, payer, amount, reason })
            }
            // Whether it settled is all that a claim is about.
            Self::Said(Settlement { success: None, reason: None, strange: false, .. }) => None,
            Self::Said(said) => Some(SettlementClaim {
                success: said.success == Some(true) && !said.strange,
                transaction: said.transaction,
                network: said.network,
                payer: said.payer.map(|payer| payer.to_string()),
                amount: said.amount.map(|amount| amount.to_string()),
                reason: said.reason,
            }),
        }
    }
}

/// A settlement as the seller tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Whether it claims success; `None` when it does not say.
    pub success: Option<bool>,
    /// A transaction id: `0x` and 64 hexadecimal digits in lower case, not all alike. Any other text is dropped.
    pub transaction: Option<String>,
    /// The network it names, when that is a short word of letters, digits and `:._-`.
    pub network: Option<String>,
    /// The payer it names, when that is an EVM address.
    pub payer: Option<Address>,
    /// Whether it names a network or a payer in words that are none: it fits no payment.
    pub strange: bool,
    /// The atomic units that it says it took, as a text or a number of digits.
    pub amount: Option<Amount>,
    /// Why it failed, in printable ASCII and at most [`MAX_REASON_CHARS`] characters. A model sees it only
    /// framed as a seller's words.
    pub reason: Option<String>,
}

/// Reads the settlement claim of an answer, from `PAYMENT-RESPONSE` and `X-PAYMENT-RESPONSE`.
///
/// Guarantees: of each member only text of the expected shape comes through. Does not compare the claim with what was
/// paid; whoever records it does.
#[must_use]
pub fn read_claim(headers: HeaderView<'_>) -> Claim {
    let values = headers.all("payment-response").chain(headers.all("x-payment-response"));
    let mut claims = values.filter(|value| !value.is_empty()).map(read_value);
    let Some(first) = claims.next() else {
        return Claim::Silent;
    };
    if claims.any(|claim| claim != first) {
        return Claim::Unclear("the answer carries two settlement headers that differ");
    }
    match first {
        Ok(settlement) => Claim::Said(settlement),
        Err(why) => Claim::Unclear(why),
    }
}

fn read_value(value: &[u8]) -> Result<Settlement, &'static str> {
    const LONG: &str = "the settlement header is too long";
    // Four letters of base64 are three bytes: a value this long is over the cap without being decoded.
    if value.len() > MAX_CLAIM_BYTES.saturating_mul(2) {
        return Err(LONG);
    }
    let bytes = header::decode(value).map_err(|_| "the settlement header is not standard base64")?;
    if bytes.len() > MAX_CLAIM_BYTES {
        return Err(LONG);
    }
    // Old sellers encoded text as Latin-1; a damaged character in a reason must not hide a transaction id.
    let text = String::from_utf8_lossy(&bytes);
    let text = json::check(text.as_bytes()).map_err(|_| "the settlement header holds no readable json")?;
    let members = Members::of(text).ok_or("the settlement header holds no object")?;
    let (network, payer) = (word(&members, "network"), word(&members, "payer"));
    Ok(Settlement {
        success: match members.text("success") {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        },
        transaction: word(&members, "transaction").and_then(|text| transaction(&text)),
        network: network.clone().filter(|text| is_network(text)),
        payer: payer.as_deref().and_then(address),
        strange: network.is_some_and(|text| !is_network(&text)) || payer.is_some_and(|text| address(&text).is_none()),
        amount: match members.said("amount") {
            Said::Text(digits) | Said::Number(digits) => digits.parse().ok(),
            _ => None,
        },
        reason: ["errorReason", "errorMessage", "error"]
            .into_iter()
            .find_map(|name| word(&members, name))
            .map(|text| plain(&text)),
    })
}

/// A member that is a text and not empty.
fn word(members: &Members<'_>, name: &str) -> Option<String> {
    match members.said(name) {
        Said::Text(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// A payer. A wrong checksum is a slip and no other payer.
fn address(text: &str) -> Option<Address> {
    text.to_ascii_lowercase().parse().ok()
}

fn transaction(text: &str) -> Option<String> {
    let digits = text.strip_prefix("0x")?.to_ascii_lowercase();
    let hexadecimal = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let placeholder = digits.bytes().zip(digits.bytes().skip(1)).all(|(one, next)| one == next);
    (hexadecimal && !placeholder).then(|| format!("0x{digits}"))
}

fn is_network(text: &str) -> bool {
    text.len() <= MAX_NETWORK_CHARS && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":._-".contains(&byte))
}

/// The text without anything that could steer a terminal, break a line or hide.
fn plain(text: &str) -> String {
    let shown = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '?' };
    text.chars().take(MAX_REASON_CHARS).map(shown).collect()
}

#[cfg(test)]
mod tests;
