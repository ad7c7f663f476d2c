//! The log on its way out: every event with what its payment was about, and the check of such an export without the
//! ledger. Must never hold a signature, a header or an envelope of a payment.

use std::io::BufRead;

use bursar_policy::chain::{Address, AssetId, ChainId};
use bursar_policy::digest::Digest;
use bursar_policy::errand::{PaymentId, SessionId};
use bursar_policy::money::{Amount, Money};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::audit::chain::{COLUMNS, Chain, Kept, Logged};
use super::checkpoint::SignedCheckpoint;
use super::events::{self, Head};
use super::fault::LedgerFault;
use super::inspect::Inspector;
use super::number::{from_sql, to_sql};
use super::rows;
use super::store::bound;
use crate::protocol::{Delivery, RowState};

/// The longest line of an export, in bytes: a detail, terms, and a URL of 8 KiB each fit many times over.
const LINE_MAX_BYTES: u64 = 256 * 1024;

/// How many events are read at once.
const PAGE: u32 = 256;

/// The first line of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportHead {
    /// The form of this file: 1.
    pub bursar_audit: u32,
    /// The ledger's id.
    pub ledger: String,
    /// `real` or `sandbox`.
    pub setting: String,
    /// The paying account.
    pub account: Option<Address>,
    /// How often the books were begun anew, from 1.
    pub epoch: u64,
    /// The key that signs checkpoints, once there is one.
    pub audit_key: Option<String>,
    /// The events after this one are exported; 0 means all.
    pub after: u64,
    /// Its hash.
    pub after_hash: Digest,
    /// The last event that is exported.
    pub to: u64,
    /// Its hash.
    pub to_hash: Digest,
}

/// One further line: an event, and what its payment is about as it stands now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exported {
    /// The event.
    #[serde(flatten)]
    pub event: Logged,
    /// The name of its session. No hash covers it here.
    pub session_name: Option<String>,
    /// Its payment. No hash covers it here: `fact` is the digest of the whole row, which only the ledger has.
    pub deal: Option<Deal>,
}

/// What a payment is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deal {
    /// Where it stands at the time of the export.
    pub state: RowState,
    /// Atomic units of the asset.
    pub amount: Amount,
    /// The asset's symbol, from the operator's table.
    pub symbol: String,
    /// The same in the asset's currency, at par.
    pub money: Money,
    /// Who is paid.
    pub payee: Address,
    /// Who pays.
    pub payer: Address,
    /// The network.
    pub network: ChainId,
    /// The asset.
    pub asset: AssetId,
    /// The method.
    pub method: String,
    /// The URL, as reported by `serve`.
    pub url: String,
    /// The nonce of the authorization.
    pub nonce: String,
    /// The transaction, where one is known in the form of the chain.
    pub transaction: Option<String>,
    /// SHA-256 of the judged terms as the ledger keeps them.
    pub terms_digest: Digest,
    /// SHA-256 of what was delivered.
    pub content_digest: Option<Digest>,
}

/// Why an export is not in order.
#[derive(Debug, Error)]
pub enum ExportFault {
    /// The file cannot be read.
    #[error("the export cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// It is no export in lines of JSON.
    #[error("line {line} is {what}; `bursar audit export --format jsonl` makes what can be verified")]
    Form {
        /// Which line, from 1.
        line: u64,
        /// What it is instead.
        what: &'static str,
    },
    /// An event is changed, missing or not signed as it should be.
    #[error("the export is not what was written ({0})")]
    Changed(String),
}

impl Inspector {
    /// Where an export after event `after` begins and ends.
    ///
    /// # Errors
    ///
    /// A fault of the storage.
    pub fn export_head(&self, after: u64) -> Result<ExportHead, LedgerFault> {
        let known = self.identity();
        let after = after.min(known.events);
        let after_hash = events::hash_at(&self.conn, after)?.ok_or(LedgerFault::Unreadable { what: "event" })?;
        Ok(ExportHead {
            bursar_audit: 1,
            ledger: known.ledger.clone(),
            setting: known.setting.clone(),
            account: known.account,
            epoch: known.epoch,
            audit_key: known.key.map(|key| key.to_string()),
            after,
            after_hash,
            to: known.events,
            to_hash: known.head,
        })
    }

    /// The last event before the second `since_s`; 0 where there is none.
    ///
    /// # Errors
    ///
    /// A fault of the storage.
    pub fn last_before(&self, since_s: u64) -> Result<u64, LedgerFault> {
        // Ledger time hardly ever goes back; where a person set it back, the export begins early enough.
        let first = "SELECT min(seq) FROM event WHERE at_s >= ?1";
        let first: Option<i64> = self.conn.one(first, bound![to_sql(since_s)?], |row| row.get(0))?;
        first.map_or(Ok(self.identity().events), |first| Ok(from_sql(first)?.saturating_sub(1)))
    }

    /// Hands every event after `after` to `visit`, in order.
    ///
    /// # Errors
    ///
    /// A fault of the storage, or of `visit`.
    pub fn export<F, E>(&self, after: u64, mut visit: F) -> Result<(), E>
    where
        F: FnMut(Exported) -> Result<(), E>,
        E: From<LedgerFault>,
    {
        let sql = format!("SELECT {COLUMNS} FROM event WHERE seq > ?1 ORDER BY seq LIMIT ?2");
        let mut after = after.min(self.identity().events);
        loop {
            let page = self.conn.every(&sql, bound![to_sql(after)?, PAGE], Logged::read)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.seq;
            for event in page {
                let deal = event.payment.as_deref().map(|id| self.deal(id)).transpose()?;
                let session_name = event.session.as_deref().map(|id| self.session_name(id)).transpose()?;
                visit(Exported { event, session_name, deal })?;
            }
        }
    }

    fn session_name(&self, id: &str) -> Result<String, LedgerFault> {
        let id: SessionId = id.parse().map_err(|_fault| LedgerFault::Unreadable { what: "session" })?;
        let sql = "SELECT name FROM session WHERE id = ?1";
        self.conn.one(sql, bound![id.as_str()], |row| row.get(0))
    }

    fn deal(&self, id: &str) -> Result<Deal, LedgerFault> {
        let id: PaymentId = id.parse().map_err(|_fault| LedgerFault::Unreadable { what: "payment" })?;
        let row = rows::by_id(&self.conn, &id)?;
        Ok(Deal {
            state: row.state,
            amount: row.terms.amount,
            money: row.money,
            payee: row.terms.payee,
            payer: row.payer,
            network: row.terms.chain,
            asset: row.terms.asset_id(),
            method: row.method.as_str().to_owned(),
            url: row.site.url(),
            nonce: format!("0x{}", hex::encode(row.nonce)),
            terms_digest: row.terms_digest()?,
            content_digest: match &row.delivery {
                Some(Delivery::Answer { content: Some(content), .. }) => Some(content.digest),
                _ => None,
            },
            transaction: row.transaction,
            symbol: row.symbol,
        })
    }
}

/// What the check of an export found in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportBooks {
    /// Its first line.
    pub head: ExportHead,
    /// Events.
    pub events: u64,
    /// Checkpoints, every one with a signature that holds.
    pub checkpoints: u64,
    /// The last one: what comes after the event that it names is not signed.
    pub signed: Option<SignedCheckpoint>,
}

/// Checks an export in lines of JSON: every hash, every checkpoint, and that nothing is missing from its first event to its
/// last. What is not signed by a checkpoint can be made up whole; a key or a hash that was kept says whose log it is.
///
/// # Errors
///
/// [`ExportFault`] with the first thing that does not fit.
pub fn verify_export(export: &mut impl BufRead, kept: Kept) -> Result<ExportBooks, ExportFault> {
    let mut line = Vec::new();
    let mut number: u64 = 1;
    let form = |line, what| ExportFault::Form { line, what };
    if !read_line(export, &mut line)? {
        return Err(form(1, "not there: the file is empty"));
    }
    let head: ExportHead =
        serde_json::from_slice(&line).map_err(|_fault| form(1, "not the first line of an export in lines of JSON"))?;
    if head.bursar_audit != 1 {
        return Err(form(1, "of a later form than this program knows"));
    }
    let kept = Kept { key: kept.key.or(key_of(&head)?), ..kept };
    let mut chain = Chain::after(Head { seq: head.after, hash: head.after_hash }, &head.ledger, kept);
    let changed = |fault: LedgerFault| match fault {
        LedgerFault::Books { detail } => ExportFault::Changed(detail),
        other => ExportFault::Changed(other.to_string()),
    };
    while read_line(export, &mut line)? {
        number = number.saturating_add(1);
        let exported: Exported = serde_json::from_slice(&line).map_err(|_fault| form(number, "no event"))?;
        chain.next(&exported.event).map_err(changed)?;
    }
    let end = chain.end().map_err(changed)?;
    if (end.seq, end.hash) != (head.to, head.to_hash) {
        let (last, to) = (end.seq, head.to);
        return Err(ExportFault::Changed(format!("it ends at event {last} and should end at event {to}")));
    }
    let events = end.seq.saturating_sub(head.after);
    Ok(ExportBooks { events, checkpoints: chain.checkpoints, signed: chain.last.map(|(_, last)| last), head })
}

fn key_of(head: &ExportHead) -> Result<Option<crate::audit_key::AuditPublic>, ExportFault> {
    let key = head.audit_key.as_ref().map(|key| key.parse()).transpose();
    key.map_err(|_fault| ExportFault::Form { line: 1, what: "without a key that can be read" })
}

/// One line without its end; `false` when there are no more.
fn read_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, std::io::Error> {
    line.clear();
    let read = std::io::Read::take(from, LINE_MAX_BYTES).read_until(b'\n', line)?;
    if line.pop_if(|last| *last == b'\n').is_none() && u64::try_from(read).is_ok_and(|read| LINE_MAX_BYTES <= read) {
        return Err(std::io::Error::other("a line is over 256 KiB"));
    }
    Ok(read != 0)
}
