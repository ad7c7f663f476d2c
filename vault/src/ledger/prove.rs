//! What a chain proves of a payment, and what that moves. Must never free money on less than a proof, nor take a settled
//! row back.
//!
//! A proof is applied in one transaction that looks at the row again, whatever happened while the chain was asked. What
//! never moved is freed: pending money leaves every total, spent money is returned to the windows that counted it. A row
//! that is settled on the seller's word stays so when the chain denies it: the money stays counted, the log says so, and it
//! is a strike against the seller, who named a transaction that never was.

use bursar_policy::authorization::Authorization;
use bursar_policy::chain::{AssetId, ChainId};
use bursar_policy::errand::PaymentId;
use bursar_policy::rules::Breaker;

use super::events::EventKind;
use super::fault::LedgerFault;
use super::number::to_sql;
use super::rows::{self, Payment, tagged};
use super::states::{EXPIRY_MARGIN_S, RowState};
use super::store::{Cell, Row, Store, bound};
use super::writer::{Answer, Tx};
use super::{Ledger, breaker, overdue, report, returned, sweep, tally};
use crate::protocol::{ChainOutcome, ChainProof, ChainVerdict};

/// How long after a payment was counted a chain is first asked about it, in seconds of the chain's time: a seller takes
/// its time to settle, and each time of asking costs the operator's endpoints something.
const SETTLES_WITHIN_S: u64 = 60;

/// The most unproved payments that are counted for a view.
const COUNTED_MAX: u32 = 1_000;

/// The most payments that a view shows of which a chain denies the settlement.
const DENIED_MAX: u32 = 20;

const REMEMBER: &str =
    "INSERT INTO unproved (payment, chain, from_s) VALUES (?1, ?2, ?3) ON CONFLICT (payment) DO NOTHING";
const FORGET: &str = "DELETE FROM unproved WHERE payment = ?1";
const LATER: &str = "UPDATE unproved SET from_s = ?1 WHERE payment = ?2";
pub(super) const DUE: &str =
    "SELECT payment FROM unproved WHERE chain = ?1 AND from_s <= ?2 ORDER BY from_s, payment LIMIT ?3";
const COUNT: &str = "SELECT count(*) FROM (SELECT 1 FROM unproved WHERE chain = ?1 AND from_s <= ?2 LIMIT ?3) AS due";
const INSERT: &str = "INSERT INTO proof (payment, verdict, block, hash, block_s, tx, witnesses, denies, proved_s)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
const OF_PAYMENT: &str = "SELECT * FROM proof WHERE payment = ?1";
pub(super) const DENIED: &str = "SELECT payment FROM proof WHERE denies = 1 ORDER BY proved_s DESC LIMIT ?1";
const MISFIT: &str = "SELECT payment.id FROM payment LEFT JOIN proof ON proof.payment = payment.id
     WHERE (payment.state = 'lapsed' AND coalesce(proof.verdict, 'paid') = 'paid')
        OR (proof.verdict = 'paid' AND payment.state <> 'settled')
        OR (proof.verdict <> 'paid'
            AND payment.state <> CASE WHEN proof.denies = 1 THEN 'settled' ELSE 'lapsed' END) LIMIT 1";

/// A signed authorization of which no chain has shown yet how it ended: a payment's, where nothing else is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt<Of = PaymentId> {
    /// Whose it is.
    pub of: Of,
    /// The asset, and the chain to ask.
    pub asset: AssetId,
    /// What was signed.
    pub authorization: Authorization,
    /// When it was written down, Unix seconds: nobody could use it before.
    pub created_s: u64,
    /// The transaction that the seller names, `0x` and 64 lower-case hex digits.
    pub claimed: Option<String>,
}

/// What became of a row that a proof was brought for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// This.
    Now(ChainOutcome),
    /// Nothing: it was proved before, or the ledger is shut.
    Nothing,
}

impl Ledger {
    /// At most `most` payments on `chain` that are worth asking about when the chain's own time is `chain_s`.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn doubts(&self, chain: ChainId, chain_s: u64, most: u32) -> Result<Vec<Doubt>, LedgerFault> {
        self.writer.ask(move |tx| {
            let (chain, chain_s) = (chain.to_string(), to_sql(chain_s)?);
            let due = tx.conn.every(DUE, bound![chain, chain_s, most], |row| row.get::<String>(0))?;
            let mut found = Vec::with_capacity(due.len());
            for id in due {
                let id = id.parse().map_err(|_fault| LedgerFault::Unreadable { what: "payment" })?;
                found.push(doubt(rows::by_id(tx.conn, &id)?));
            }
            Ok(Answer::AtOnce(found))
        })
    }

    /// Leaves `payment` alone until the chain's own time is `from_s`.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn doubt_later(&self, payment: &PaymentId, from_s: u64) -> Result<(), LedgerFault> {
        let id = payment.clone();
        self.writer.ask(move |tx| {
            tx.conn.execute(LATER, bound![to_sql(from_s)?, id.as_str()])?;
            Ok(Answer::AtOnce(()))
        })
    }

    /// Writes `proof` down for `payment` and moves its row as the proof says; a row that was proved before stays as it
    /// is, and while the ledger is shut nothing is proved. Returns when it is on the disk.
    ///
    /// The caller answers for the proof; `denies` and `proved_s` in it are of no account, this fills them in.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::Rule`] for a proof that an authorization was not used, read before it had run out; or a fault of
    /// the ledger. Then nothing is moved.
    pub fn prove(&self, payment: &PaymentId, proof: ChainProof, breaker: &Breaker) -> Result<Moved, LedgerFault> {
        let (id, rule) = (payment.clone(), breaker.clone());
        self.writer.ask(move |tx| {
            let before = rows::by_id(tx.conn, &id)?;
            if tx.latched || before.proof.is_some() {
                return Ok(Answer::AtOnce(Moved::Nothing));
            }
            forget(tx.conn, &id)?;
            let early = proof.block_s < before.valid_before.saturating_add(EXPIRY_MARGIN_S);
            if proof.verdict == ChainVerdict::Unused && early {
                return Err(LedgerFault::Rule { detail: "the authorization could still be used".to_owned() });
            }
            let moved = apply(tx, &before, &proof, &rule)?;
            overdue::changed(tx.conn, &before, &rows::by_id(tx.conn, &id)?)?;
            Ok(Answer::Durable(moved))
        })
    }

    /// How many payments on `chain` could be asked about at the chain's own time `chain_s`; counted up to 1000.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn unproved(&self, chain: ChainId, chain_s: u64) -> Result<u32, LedgerFault> {
        self.writer.ask(move |tx| {
            let chain = chain.to_string();
            Ok(Answer::AtOnce(tx.conn.one(COUNT, bound![chain, to_sql(chain_s)?, COUNTED_MAX], |row| row.get(0))?))
        })
    }
}

fn doubt(row: Payment) -> Doubt {
    let named = row.claim.as_ref().and_then(|claim| report::transaction_id(claim.transaction.as_deref()?));
    Doubt {
        of: row.id.clone(),
        asset: row.terms.asset_id(),
        authorization: row.authorization(),
        created_s: row.created_s,
        claimed: row.transaction.or(named),
    }
}

fn apply(tx: &Tx<'_>, before: &Payment, proof: &ChainProof, rule: &Breaker) -> Result<Moved, LedgerFault> {
    let outcome = match (proof.verdict, before.state) {
        (_, RowState::Held | RowState::Voided | RowState::Lapsed) => return Ok(Moved::Nothing),
        (ChainVerdict::Paid, RowState::Settled) => ChainOutcome::Confirmed,
        (ChainVerdict::Paid, RowState::Exposed | RowState::PresumedSpent) => ChainOutcome::Settled,
        (ChainVerdict::Unused | ChainVerdict::Cancelled, RowState::Settled) => ChainOutcome::Denied,
        (ChainVerdict::Unused | ChainVerdict::Cancelled, _) => ChainOutcome::Lapsed,
    };
    // First: no row lapses before its proof is there.
    write(tx, before, proof, outcome)?;
    let (kind, told) = match outcome {
        ChainOutcome::Confirmed => (EventKind::Proved, "the chain shows it paid"),
        ChainOutcome::Settled => {
            report::settle(tx, before)?;
            (EventKind::Settled, "the chain shows it paid")
        }
        ChainOutcome::Denied => {
            breaker::lied(tx, rule, before)?;
            (EventKind::ChainDisagrees, "the seller said that it was settled; it stays counted")
        }
        ChainOutcome::Lapsed => {
            lapse(tx, before)?;
            (EventKind::Lapsed, "its money never moved and is back")
        }
    };
    sweep::written(tx, before, kind, format!("{told}; {}", in_words(proof)))?;
    Ok(Moved::Now(outcome))
}

/// Takes a payment whose money never moved out of every total that counts it.
fn lapse(tx: &Tx<'_>, before: &Payment) -> Result<(), LedgerFault> {
    sweep::end(tx, before, RowState::Lapsed, tx.now_s)?;
    match before.ended_s {
        Some(ended_s) => returned::give_back(tx.conn, &before.facts(), before.id.as_str(), ended_s),
        None => tally::release(tx.conn, &before.facts()),
    }
}

pub(super) fn in_words(proof: &ChainProof) -> String {
    let ChainProof { block, hash, transaction, witnesses, .. } = proof;
    let how = match (proof.verdict, transaction) {
        (ChainVerdict::Paid, Some(tx)) => format!("transaction {tx}"),
        (_, Some(tx)) => format!("the authorization was cancelled by transaction {tx}"),
        (_, None) => "the authorization was not used before its end".to_owned(),
    };
    let by = if *witnesses == 1 { "1 endpoint".to_owned() } else { format!("{witnesses} endpoints") };
    format!("{how}, block {block} {hash}, by {by}")
}

fn write(tx: &Tx<'_>, payment: &Payment, proof: &ChainProof, outcome: ChainOutcome) -> Result<(), LedgerFault> {
    let verdict = match proof.verdict {
        ChainVerdict::Paid => "paid",
        ChainVerdict::Unused => "unused",
        ChainVerdict::Cancelled => "cancelled",
    };
    tx.conn.execute(
        INSERT,
        bound![
            payment.id.as_str(),
            verdict,
            to_sql(proof.block)?,
            proof.hash,
            to_sql(proof.block_s)?,
            proof.transaction,
            proof.witnesses,
            outcome == ChainOutcome::Denied,
            to_sql(tx.now_s)?
        ],
    )?;
    Ok(())
}

/// Puts a payment on the list of what is to be proved, where anything is to be.
pub(super) fn remember(conn: &Store, payment: &Payment) -> Result<(), LedgerFault> {
    let open = matches!(payment.state, RowState::Exposed | RowState::PresumedSpent | RowState::Settled);
    if open && payment.proof.is_none() {
        let from_s = to_sql(payment.created_s.saturating_add(SETTLES_WITHIN_S))?;
        conn.execute(REMEMBER, bound![payment.id.as_str(), payment.terms.chain.to_string(), from_s])?;
    }
    Ok(())
}

/// Takes a payment off that list.
pub(super) fn forget(conn: &Store, payment: &PaymentId) -> Result<(), LedgerFault> {
    conn.execute(FORGET, bound![payment.as_str()])?;
    Ok(())
}

/// The newest payments, at most 20, that are settled on the word of a seller which a chain denies.
pub(super) fn denied(conn: &Store) -> Result<Vec<PaymentId>, LedgerFault> {
    conn.every(DENIED, bound![DENIED_MAX], |row| {
        row.get::<String>(0)?.parse().map_err(|_fault| LedgerFault::Unreadable { what: "proof" })
    })
}

/// What a proof adds to the digest of its row; nothing where there is none.
pub(super) fn fact(conn: &Store, payment: &PaymentId) -> Result<Vec<Vec<u8>>, LedgerFault> {
    let read = |row: &Row<'_>| {
        let part = |column| {
            Ok(match row.cell(column)? {
                Cell::Null => tagged(b'n', b""),
                Cell::Number(number) => tagged(b'p', &number.to_be_bytes()),
                Cell::Text(text) => tagged(b'q', text.as_bytes()),
            })
        };
        (0..row.width()).map(part).collect()
    };
    Ok(conn.first(OF_PAYMENT, bound![payment.as_str()], read)?.unwrap_or_default())
}

/// A payment that is not as its proof says, or lapsed without one.
pub(super) fn misfit(conn: &Store) -> Result<Option<String>, LedgerFault> {
    conn.first(MISFIT, bound![], |row| row.get(0))
}
