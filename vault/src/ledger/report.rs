//! What came back after a payment. Must never take a seller's word beyond what our own row says, nor free money on it.

use bursar_policy::chain::Address;
use bursar_policy::network_name::v1_chain;
use bursar_policy::rules::Breaker;

use super::events::EventKind;
use super::fault::LedgerFault;
use super::number::to_sql;
use super::rows::{self, Payment, json};
use super::states::{Reservation, RowState};
use super::store::bound;
use super::writer::{Answer, Tx};
use super::{Ledger, breaker, overdue, sweep, tally};
use crate::failpoint;
use crate::protocol::{Delivery, Receipt, Report, SettlementClaim};

/// The longest text of a seller's claim that is kept, in bytes.
const CLAIM_TEXT_MAX_BYTES: usize = 512;

/// The longest word of our own about a delivery that is kept, in bytes.
const WHY_MAX_BYTES: usize = 512;

impl Ledger {
    /// Writes down what came back, and settles the payment when the seller's claim agrees with the row and names a
    /// transaction in the chain's exact form; a claim without one leaves the payment exposed. It is answered
    /// before it is on the disk: a report that is lost in a crash leaves the payment exposed, which counts the same.
    ///
    /// The first answer stays: a later report changes neither it nor a settled row. Silence may be followed by an answer.
    /// A delivery that failed counts towards the quarantine of the host as `breaker` has it, and a good one forgets that.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; the payment stays counted.
    pub fn report(&self, exposed: &Reservation, report: Report, breaker: &Breaker) -> Result<Receipt, LedgerFault> {
        let (id, rule) = (exposed.payment().clone(), breaker.clone());
        let receipt = self.writer.ask(move |tx| {
            let before = rows::by_id(tx.conn, &id)?;
            record(tx, &before, report)?;
            let after = rows::by_id(tx.conn, &id)?;
            overdue::changed(tx.conn, &before, &after)?;
            breaker::reported(tx, &rule, &before, &after)?;
            failpoint::reach("vault-report-uncommitted");
            Ok(Answer::AtOnce(after.receipt(false)))
        })?;
        failpoint::reach("vault-reported");
        Ok(receipt)
    }
}

fn record(tx: &Tx<'_>, before: &Payment, report: Report) -> Result<(), LedgerFault> {
    let told = told(&report.delivery);
    let delivery = (!before.is_answered()).then(|| json(&shortened(report.delivery))).transpose()?;
    let open = matches!(before.state, RowState::Exposed | RowState::PresumedSpent);
    let Some(claim) = report.settlement.filter(|_claim| open) else {
        if delivery.is_none() {
            return Ok(());
        }
        heard(tx, before, &Heard { delivery, ..Heard::default() })?;
        return sweep::written(tx, before, EventKind::Reported, told);
    };
    let kept = SettlementClaim {
        success: claim.success,
        transaction: claim.transaction.clone().map(capped),
        network: claim.network.clone().map(capped),
        payer: claim.payer.clone().map(capped),
        amount: claim.amount.clone().map(capped),
        reason: claim.reason.clone().map(capped),
    };
    let agreed = agrees(&claim, before);
    let transaction = claim.transaction.as_deref().filter(|_said| agreed).and_then(transaction_id);
    let (kind, told) = match &transaction {
        Some(transaction) => (EventKind::Settled, format!("{told}; transaction {transaction}")),
        // Without a transaction to look up, a word that it is settled is no more than that.
        None if agreed => (EventKind::Reported, format!("{told}; the settlement claim names no transaction")),
        None => (EventKind::Reported, format!("{told}; the settlement claim does not agree with the row")),
    };
    let settled_s = transaction.is_some().then(|| counted_as_spent(tx, before)).transpose()?;
    heard(tx, before, &Heard { delivery, claim: Some(json(&kept)?), transaction, settled_s })?;
    sweep::written(tx, before, kind, told)
}

/// What is new on a row.
#[derive(Default)]
struct Heard {
    delivery: Option<String>,
    claim: Option<String>,
    transaction: Option<String>,
    /// When it counts as settled, where it does.
    settled_s: Option<u64>,
}

/// Puts what is new on the row, in one statement: on a server each is a journey.
fn heard(tx: &Tx<'_>, before: &Payment, new: &Heard) -> Result<(), LedgerFault> {
    let state = new.settled_s.map(|_at| RowState::Settled.word());
    let ended_s = new.settled_s.map(to_sql).transpose()?;
    tx.conn.execute(
        "UPDATE payment SET delivery = coalesce(?1, delivery), claim = coalesce(?2, claim), tx = coalesce(tx, ?3), \
         state = coalesce(?4, state), ended_s = coalesce(?5, ended_s), updated_s = ?6 WHERE id = ?7",
        bound![new.delivery, new.claim, new.transaction, state, ended_s, to_sql(tx.now_s)?, before.id.as_str()],
    )?;
    Ok(())
}

/// Moves a payment to settled.
pub(super) fn settle(tx: &Tx<'_>, payment: &Payment) -> Result<(), LedgerFault> {
    let settled_s = counted_as_spent(tx, payment)?;
    sweep::end(tx, payment, RowState::Settled, settled_s)
}

/// Moves what a payment that is settled now set aside to what was spent, and says when it counts as settled. One that was
/// presumed spent is in every total already.
fn counted_as_spent(tx: &Tx<'_>, payment: &Payment) -> Result<u64, LedgerFault> {
    if payment.state == RowState::Exposed {
        tally::spend(tx.conn, &payment.facts(), tx.now_s, payment.id.as_str())?;
    }
    Ok(payment.ended_s.unwrap_or(tx.now_s))
}

/// Whether a seller's claim says nothing else than our row. What it leaves out it does not contradict.
pub(super) fn agrees(claim: &SettlementClaim, row: &Payment) -> bool {
    let payer = claim.payer.as_deref().filter(|text| !text.is_empty());
    let payer_agrees = payer.is_none_or(|text| text.parse::<Address>() == Ok(row.payer));
    let network = claim.network.as_deref().filter(|text| !text.is_empty());
    let network_agrees =
        network.is_none_or(|text| text.parse() == Ok(row.terms.chain) || v1_chain(text) == Some(row.terms.chain));
    let amount_agrees = claim.amount.as_ref().is_none_or(|text| *text == row.terms.amount.to_string());
    claim.success && payer_agrees && network_agrees && amount_agrees
}

/// A transaction id in the chain's exact form, in lower case; `None` for anything else, and for a placeholder of one
/// repeated digit.
pub(super) fn transaction_id(said: &str) -> Option<String> {
    let digits = said.strip_prefix("0x")?;
    let hex = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let first = digits.bytes().next()?;
    let placeholder = digits.bytes().all(|byte| byte == first);
    (hex && !placeholder).then(|| said.to_ascii_lowercase())
}

fn told(delivery: &Delivery) -> String {
    match delivery {
        Delivery::Silence { why } => format!("no answer: {}", bursar_policy::Quoted::of(why)),
        Delivery::Answer { status, content: None, .. } => format!("status {status}, no content kept"),
        Delivery::Answer { status, content: Some(content), .. } => {
            format!("status {status}, {} bytes with digest {}", content.bytes, content.digest)
        }
    }
}

fn shortened(delivery: Delivery) -> Delivery {
    match delivery {
        Delivery::Silence { why } => Delivery::Silence { why: cut(why, WHY_MAX_BYTES) },
        Delivery::Answer { status, content, content_error } => {
            let content_error = content_error.map(|why| cut(why, WHY_MAX_BYTES));
            Delivery::Answer { status, content, content_error }
        }
    }
}

fn capped(text: String) -> String {
    cut(text, CLAIM_TEXT_MAX_BYTES)
}

fn cut(mut text: String, max_bytes: usize) -> String {
    let mut end = text.len().min(max_bytes);
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.truncate(end);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_real_transaction_id_is_kept() {
        let real = "0x5AeC9f0000000000000000000000000000000000000000000000000000000001";
        assert_eq!(transaction_id(real), Some(real.to_ascii_lowercase()));
        let zeros = format!("0x{}", "0".repeat(64));
        let effs = format!("0x{}", "f".repeat(64));
        let short = &real[..65];
        let long = format!("{real}0");
        for said in [zeros.as_str(), &effs, short, &long, "", "0x", "pending", &real[2..], &real.replace("0x", "0X")] {
            assert_eq!(transaction_id(said), None, "{said}");
        }
        assert_eq!(transaction_id(&real.replace('5', "g")), None);
    }

    #[test]
    fn a_cut_never_splits_a_letter() {
        assert_eq!(cut("aé".to_owned(), 2), "a");
        assert_eq!(cut("aé".to_owned(), 3), "aé");
    }
}
