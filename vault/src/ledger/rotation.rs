//! The account that pays, handed on to another key, which the log says and both audit keys sign. Must never happen while a
//! payment is open, nor touch a row: each keeps who paid it.
//!
//! Like a checkpoint the event signs the one right before it, so that whoever trusts either key trusts the log up to there,
//! and the other key from there on.

use bursar_policy::chain::Address;
use bursar_policy::digest::Digest;
use bursar_policy::errand::PaymentId;

use super::audit::chain::books;
use super::events::{self, Event, EventKind, Head};
use super::fault::LedgerFault;
use super::number::{from_sql, to_sql};
use super::rows;
use super::states::EXPIRY_MARGIN_S;
use super::store::{Store, bound};
use super::writer::Answer;
use super::{Ledger, checkpoint, meta, sweep};
use crate::audit_key::{AuditKey, AuditPublic, AuditSignature};
use crate::failpoint;

const INSERT: &str = "INSERT INTO rotation (from_account, to_account, audit_key, at_s) VALUES (?1, ?2, ?3, ?4)";
const ALL: &str = "SELECT from_account, to_account, audit_key, at_s FROM rotation ORDER BY seq";
/// The changes as the log tells of them.
const TOLD: &str = "SELECT seq, detail FROM event WHERE kind = 'key_rotated' ORDER BY seq";

/// What the log says of one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The ledger's id.
    pub ledger: String,
    /// The event up to which the log is signed.
    pub seq: u64,
    /// The hash of that event, which covers every event before it.
    pub hash: Digest,
    /// Ledger time, Unix seconds.
    pub at_s: u64,
    /// The account that paid until then.
    pub from: Address,
    /// The account that pays from then on.
    pub to: Address,
    /// The key that signed checkpoints until then.
    pub key: AuditPublic,
    /// The key that signs them from then on.
    pub next: AuditPublic,
}

/// A change and its two signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedRotation {
    /// What is signed.
    pub rotation: Rotation,
    /// By the key that signed until then.
    pub by_key: AuditSignature,
    /// By the next one.
    pub by_next: AuditSignature,
}

/// Both accounts, with the keys that sign for them.
pub(crate) struct Handover {
    /// The account that pays now.
    pub(crate) from: Address,
    /// The account that shall pay.
    pub(crate) to: Address,
    /// The audit key of the first.
    pub(crate) key: AuditKey,
    /// The audit key of the second.
    pub(crate) next: AuditKey,
}

/// What became of the wish for another account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rotated {
    /// It is on the disk.
    Done,
    /// This payment is open, and whoever has its signature may use it until then (Unix seconds).
    Open {
        /// The one that lives longest.
        payment: PaymentId,
        /// From this second on it is over.
        until_s: u64,
    },
    /// The ledger is shut, and a person has to look first.
    Shut,
}

impl Rotation {
    /// The text that is signed, one line without its end.
    #[must_use]
    pub fn statement(&self) -> String {
        let Self { ledger, seq, hash, at_s, from, to, key, next } = self;
        format!(
            "bursar rotation 1: ledger {ledger} event {seq} hash {hash} at {at_s} from {from} to {to} key {key} next {next}"
        )
    }
}

impl SignedRotation {
    /// The text of its event.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} signed {} and {}", self.rotation.statement(), self.by_key, self.by_next)
    }

    /// Reads [`SignedRotation::line`]; `None` for anything else. Does not say whether the signatures hold.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("bursar rotation 1: ")?.split(' ');
        let mut after = |name: &str| words.next().filter(|word| *word == name).and_then(|_name| words.next());
        let rotation = Rotation {
            ledger: after("ledger")?.to_owned(),
            seq: after("event")?.parse().ok()?,
            hash: after("hash")?.parse().ok()?,
            at_s: after("at")?.parse().ok()?,
            from: after("from")?.parse().ok()?,
            to: after("to")?.parse().ok()?,
            key: after("key")?.parse().ok()?,
            next: after("next")?.parse().ok()?,
        };
        let signed = Self { rotation, by_key: after("signed")?.parse().ok()?, by_next: after("and")?.parse().ok()? };
        // One text for one change.
        (signed.line() == line).then_some(signed)
    }

    /// Whether both keys that it names made the signatures, and are two.
    #[must_use]
    pub fn holds(&self) -> bool {
        let Rotation { key, next, .. } = &self.rotation;
        let statement = self.rotation.statement();
        key != next && key.made(&self.by_key, &statement) && next.made(&self.by_next, &statement)
    }
}

impl Ledger {
    /// Lets the ledger count for another account from now on, in one transaction: the change is in the log, signed by both
    /// audit keys, or nothing of it is. What the first account paid stays under its name.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::OtherKey`] when the ledger counts for another account than the first, [`LedgerFault::OtherAuditKey`]
    /// when another key signed it, or a fault of the ledger; then whether it happened is read from the ledger.
    pub(crate) fn rotate(&self, handover: Handover) -> Result<Rotated, LedgerFault> {
        let ledger = self.id.clone();
        self.writer.ask(move |tx| {
            if tx.latched {
                return Ok(Answer::AtOnce(Rotated::Shut));
            }
            while sweep::due(tx)? != 0 {}
            if let Some(open) = rows::list(tx.conn, rows::OPEN, bound![1_u32])?.into_iter().next() {
                let until_s = open.valid_before.saturating_add(EXPIRY_MARGIN_S);
                return Ok(Answer::AtOnce(Rotated::Open { payment: open.id, until_s }));
            }
            let Handover { from, to, key, next } = &handover;
            let known = meta::read(tx.conn)?.key_address;
            if known != Some(*from) {
                let ledger = known.map_or_else(|| "no account".to_owned(), |known| known.to_string());
                return Err(LedgerFault::OtherKey { ledger, key: from.to_string() });
            }
            if checkpoint::vouched(tx.conn)?.key.is_some_and(|known| known != key.public()) {
                return Err(LedgerFault::OtherAuditKey);
            }
            let Head { seq, hash } = events::head(tx.conn)?;
            let (from, to, at_s) = (*from, *to, tx.now_s);
            let rotation = Rotation { ledger, seq, hash, at_s, from, to, key: key.public(), next: next.public() };
            let statement = rotation.statement();
            let (by_key, by_next) = (key.sign(&statement), next.sign(&statement));
            let signed = SignedRotation { rotation, by_key, by_next };
            tx.event(&Event::new(EventKind::KeyRotated, signed.line()))?;
            let public = next.public().to_string();
            tx.conn.execute(INSERT, bound![from.to_string(), to.to_string(), public, to_sql(at_s)?])?;
            meta::bind_key(tx.conn, to)?;
            tx.conn.execute("UPDATE audit SET key = ?1 WHERE id = 1", bound![public])?;
            failpoint::reach("vault-rotation-uncommitted");
            Ok(Answer::Durable(Rotated::Done))
        })
    }

    /// Every account that the ledger counted for, the one that pays now last.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn accounts(&self) -> Result<Vec<Address>, LedgerFault> {
        self.writer.ask(|tx| {
            let mut accounts: Vec<Address> = handed_on(tx.conn)?.into_iter().map(|(from, ..)| from).collect();
            accounts.extend(meta::read(tx.conn)?.key_address);
            Ok(Answer::AtOnce(accounts))
        })
    }
}

/// Whether the ledger counts for `account`, or did.
pub(super) fn is_ours(conn: &Store, account: Address) -> Result<bool, LedgerFault> {
    Ok(meta::read(conn)?.key_address == Some(account) || handed_on(conn)?.iter().any(|(from, ..)| *from == account))
}

/// A change as the table has it: from, to, the key that signs after it, when.
type Row = (Address, Address, AuditPublic, u64);

/// The changes as the table has them.
fn handed_on(conn: &Store) -> Result<Vec<Row>, LedgerFault> {
    let unreadable = LedgerFault::Unreadable { what: "change of the account" };
    let text = conn.every(ALL, bound![], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, from_sql(row.get(3)?)?)))?;
    let read = |(from, to, key, at_s): (String, String, String, u64)| {
        Some((from.parse().ok()?, to.parse().ok()?, key.parse().ok()?, at_s))
    };
    text.into_iter().map(|row| read(row).ok_or_else(|| unreadable.clone())).collect()
}

/// The changes are those that the log tells of, and the last of them says which account pays.
pub(super) fn hold(conn: &Store, told: &[Rotation], pays: Option<Address>) -> Result<(), LedgerFault> {
    let found = handed_on(conn)?;
    let told: Vec<Row> = told.iter().map(|said| (said.from, said.to, said.next, said.at_s)).collect();
    if found != told {
        return Err(books("the changes of the account that pays are not those that the log tells of"));
    }
    match found.last() {
        Some((_, to, ..)) if pays != Some(*to) => {
            Err(books("the account that pays is not the one that the log names last"))
        }
        _ => Ok(()),
    }
}

/// [`hold`] without the rest of the log: each change that it tells of follows the one before, in this `ledger`, and is signed
/// by both of its keys; `key` signs after the last.
pub(super) fn hold_alone(
    conn: &Store,
    ledger: &str,
    pays: Option<Address>,
    key: Option<AuditPublic>,
) -> Result<(), LedgerFault> {
    let mut told: Vec<Rotation> = Vec::new();
    for (seq, detail) in conn.every(TOLD, bound![], |row| Ok((from_sql(row.get(0)?)?, row.get::<String>(1)?)))? {
        let wrong = || books(&format!("the change of the account in event {seq} is none that anybody signed here"));
        let signed = SignedRotation::read(&detail).filter(SignedRotation::holds).ok_or_else(wrong)?;
        let said = signed.rotation;
        let follows = told.last().is_none_or(|before| (before.to, before.next) == (said.from, said.key));
        let here = said.ledger == ledger && said.seq.checked_add(1) == Some(seq);
        if !follows || !here || events::hash_at(conn, said.seq)? != Some(said.hash) {
            return Err(wrong());
        }
        told.push(said);
    }
    hold(conn, &told, pays)?;
    match told.last() {
        Some(last) if key != Some(last.next) => {
            Err(books("the key that signs the log is not the one that the log names last"))
        }
        _ => Ok(()),
    }
}
