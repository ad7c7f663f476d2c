//! What the operator has moved out of an account: each sweep is on the disk before it may be signed. Must never be asked for
//! by an agent, nor make one signature out of two sweeps.
//!
//! A sweep is no payment: no rule judges it and no limit counts it, because the operator orders it in person. What it has
//! in common with one is the order of things: the row first, then the signature. The signature is not kept, since the same
//! row always gives the same bytes (RFC 6979). While a sweep of the account that pays is live, spending is frozen, so that
//! nothing is signed for money that is about to leave; what was signed before is left where it is.

use std::collections::BTreeMap;

use bursar_policy::asset::Asset;
use bursar_policy::authorization::Authorization;
use bursar_policy::chain::{Address, AssetId, ChainId};
use bursar_policy::digest::Digest;
use bursar_policy::errand::SweepId;
use bursar_policy::money::{Amount, Money};
use bursar_policy::quantity::Moment;

use super::audit::chain::books;
use super::events::{Event, EventKind};
use super::fault::LedgerFault;
use super::number::{from_sql, narrow, to_sql, wide};
use super::prove::{Doubt, in_words};
use super::rows;
use super::states::EXPIRY_MARGIN_S;
use super::store::{Row, Store, Value, bound};
use super::writer::{Answer, Tx};
use super::{Ledger, meta, rotation};
use crate::failpoint;
use crate::protocol::{ChainProof, ChainVerdict, SweepState, SweepView};

/// The most sweeps that are told at once, the newest.
const TOLD_MAX: u32 = 50;
/// The most sweeps of one chain that are asked about at once.
const DOUBTS_MAX: u32 = 16;
/// How long after its end a chain is asked about a sweep, in seconds of the chain's time.
const ASKED_S: u64 = 7 * 24 * 3_600;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, state, account, destination, chain, asset, symbol, amount, money, currency, nonce, valid_before, \
             created_s, ended_s, proof FROM sweep ",
            $rest
        )
    };
}

const BY_ID: &str = select!("WHERE id = ?1");
const LIVE: &str = select!("WHERE state = 'ordered' ORDER BY seq");
const LIVE_OF: &str = select!("WHERE state = 'ordered' AND account = ?1 AND chain = ?2 AND asset = ?3");
const NEWEST: &str = select!("ORDER BY seq DESC LIMIT ?1");
const ASKED: &str =
    select!("WHERE chain = ?1 AND state IN ('ordered', 'presumed') AND valid_before > ?2 ORDER BY seq LIMIT ?3");
const INSERT: &str =
    "INSERT INTO sweep (id, state, account, destination, chain, asset, symbol, amount, money, currency,
        nonce, valid_before, created_s)
     VALUES (?1, 'ordered', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
/// Payments whose signature a token may still take: what was never signed is over, and what is proved is done.
pub(super) const TAKEABLE: &str =
    "SELECT amount, valid_before FROM payment WHERE chain = ?1 AND asset = ?2 AND payer = ?3
     AND valid_before > ?4 AND state <> 'voided' AND NOT EXISTS (SELECT 1 FROM proof WHERE proof.payment = payment.id)";
/// The id is what the words of such an event begin with.
const TOLD: &str = "SELECT substr(detail, 1, 34), fact FROM event WHERE kind IN ('sweep_ordered', 'sweep_ended')
     ORDER BY substr(detail, 1, 34), seq";
pub(super) const TOLD_LAST: &str = "SELECT fact FROM event WHERE kind IN ('sweep_ordered', 'sweep_ended')
     AND substr(detail, 1, 34) = ?1 ORDER BY seq DESC LIMIT 1";

/// What the operator wants moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordering {
    /// The id of the row, from fresh random bytes.
    pub id: SweepId,
    /// The account that the money leaves.
    pub account: Address,
    /// Who gets it.
    pub to: Address,
    /// The token, from the operator's table.
    pub asset: Asset,
    /// How much.
    pub amount: Amount,
    /// 32 fresh random bytes.
    pub nonce: [u8; 32],
    /// How long it may be used, in seconds.
    pub life_s: u64,
    /// What the account holds by now in atomic units, where somebody says it.
    pub balance: Option<u128>,
}

/// A sweep that is on the disk and may be signed. Only the ledger makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    view: SweepView,
    nonce: [u8; 32],
}

/// Why a sweep was not written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The ledger is shut, and a person has to look first.
    Shut,
    /// The ledger never counted for that account.
    Stranger,
    /// The money cannot go there: to nobody, to the token itself, or to where it is.
    Destination,
    /// This one is live, of the same token out of the same account.
    Live(Box<SweepView>),
    /// Nobody says what the account holds, and payments may still take so much of it, in atomic units, until then.
    Unseen {
        /// What may be taken.
        reserved: u128,
        /// Unix seconds.
        until_s: u64,
    },
    /// There is less: so much is free, in atomic units, and so much may still be taken by payments.
    Short {
        /// What is free.
        free: u128,
        /// What is not.
        reserved: u128,
    },
}

/// A sweep of which no chain has shown yet how it ended.
pub type SweepDoubt = Doubt<SweepId>;

impl Ordered {
    /// How it stands.
    #[must_use]
    pub const fn view(&self) -> &SweepView {
        &self.view
    }

    /// What is to be signed, field by field, as it stands in the ledger.
    #[must_use]
    pub const fn authorization(&self) -> Authorization {
        let SweepView { account, to, amount, valid_before, .. } = &self.view;
        Authorization {
            from: *account,
            to: *to,
            value: *amount,
            valid_after: 0,
            valid_before: *valid_before,
            nonce: self.nonce,
        }
    }

    const fn is_live(&self) -> bool {
        matches!(self.view.state, SweepState::Ordered)
    }

    const fn over_s(&self) -> u64 {
        self.view.valid_before.saturating_add(EXPIRY_MARGIN_S)
    }
}

impl Ledger {
    /// Writes down what the operator wants moved, after everything that could stand against it, and freezes spending where
    /// the account is the one that pays. Returns when that is on the disk: from here on a signature may exist.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; then nothing may be signed.
    pub fn order(&self, wanted: Ordering) -> Result<Result<Ordered, Refused>, LedgerFault> {
        let ordered = self.writer.ask(move |tx| {
            if tx.latched {
                return Ok(Answer::AtOnce(Err(Refused::Shut)));
            }
            due(tx)?;
            if let Err(refused) = may_order(tx, &wanted)? {
                return Ok(Answer::AtOnce(Err(refused)));
            }
            let ordered = insert(tx, &wanted)?;
            told(tx, &ordered, EventKind::SweepOrdered, &in_full(&ordered))?;
            if meta::read(tx.conn)?.key_address == Some(wanted.account) && meta::frozen(tx.conn)?.is_none() {
                let reason = format!("the sweep {} moves the money out of the account", wanted.id);
                meta::set_frozen(tx.conn, Some(&reason))?;
                tx.event(&Event::new(EventKind::Frozen, reason))?;
            }
            failpoint::reach("vault-sweep-ordered-uncommitted");
            Ok(Answer::Durable(Ok(ordered)))
        })?;
        failpoint::reach("vault-sweep-ordered-committed");
        Ok(ordered)
    }

    /// A sweep that was written down and may still be used, to be signed again: the same bytes. Its row has to be as the log
    /// told of it last.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::NoSuchSweep`] where there is none or it is over, [`LedgerFault::Books`] where the log tells of another
    /// row or of none, or a fault of the ledger.
    pub fn ordered(&self, id: &SweepId) -> Result<Ordered, LedgerFault> {
        let id = id.clone();
        self.writer.ask(move |tx| {
            due(tx)?;
            let live = by_id(tx.conn, &id)?.filter(|found| found.is_live() && tx.now_s < found.view.valid_before);
            let live = live.ok_or_else(|| LedgerFault::NoSuchSweep { id: id.to_string() })?;
            let told = tx.conn.first(TOLD_LAST, bound![id.as_str()], |row| row.get::<Option<String>>(0))?.flatten();
            as_told(tx.conn, id.as_str(), told)?;
            Ok(Answer::AtOnce(live))
        })
    }

    /// What payments could still take of `asset` out of `account`, in atomic units, until when (Unix seconds), and the sweep
    /// that is live there.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn spoken_for(&self, account: Address, asset: AssetId) -> Result<(u128, u64, Option<SweepView>), LedgerFault> {
        self.writer.ask(move |tx| {
            due(tx)?;
            let (reserved, until_s) = reserved(tx, account, &asset)?;
            Ok(Answer::AtOnce((reserved, until_s, live_of(tx.conn, account, &asset)?.map(|live| live.view))))
        })
    }

    /// The newest sweeps, at most 50, oldest first.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn sweeps(&self) -> Result<Vec<SweepView>, LedgerFault> {
        self.writer.ask(|tx| {
            let mut found = list(tx.conn, NEWEST, bound![TOLD_MAX])?;
            found.reverse();
            Ok(Answer::AtOnce(found.into_iter().map(|ordered| ordered.view).collect()))
        })
    }

    /// Ends every sweep whose time is over: nobody knows then how it ended, until a chain shows it.
    pub(super) fn end_sweeps(&self) -> Result<(), LedgerFault> {
        self.writer.ask(|tx| due(tx).map(Answer::AtOnce))
    }

    /// At most 16 sweeps on `chain` that are worth asking about when the chain's own time is `chain_s`.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn sweep_doubts(&self, chain: ChainId, chain_s: u64) -> Result<Vec<SweepDoubt>, LedgerFault> {
        self.writer.ask(move |tx| {
            let since_s = to_sql(chain_s.saturating_sub(ASKED_S))?;
            let found = list(tx.conn, ASKED, bound![chain.to_string(), since_s, DOUBTS_MAX])?;
            let doubt = |ordered: Ordered| SweepDoubt {
                authorization: ordered.authorization(),
                asset: ordered.view.asset,
                created_s: ordered.view.created_s,
                claimed: None,
                of: ordered.view.id,
            };
            Ok(Answer::AtOnce(found.into_iter().map(doubt).collect()))
        })
    }

    /// Writes down what a chain shows of a sweep; one that was proved before stays as it is, and while the ledger is shut
    /// nothing is proved. Whether anything was written. Spending stays frozen until a person thaws it.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::Rule`] for a proof that it was not used, read before it had run out; or a fault of the ledger.
    pub fn prove_sweep(&self, id: &SweepId, proof: ChainProof) -> Result<bool, LedgerFault> {
        let id = id.clone();
        self.writer.ask(move |tx| {
            let found = by_id(tx.conn, &id)?.ok_or_else(|| LedgerFault::NoSuchSweep { id: id.to_string() })?;
            if tx.latched || found.view.proof.is_some() {
                return Ok(Answer::AtOnce(false));
            }
            if proof.verdict == ChainVerdict::Unused && proof.block_s < found.over_s() {
                return Err(LedgerFault::Rule { detail: "the sweep could still be used".to_owned() });
            }
            let (state, says) = match proof.verdict {
                ChainVerdict::Paid => (SweepState::Moved, "the chain shows that the money moved"),
                ChainVerdict::Unused | ChainVerdict::Cancelled => (SweepState::Unmoved, "its money never moved"),
            };
            let proof = ChainProof { denies: false, proved_s: tx.now_s, ..proof };
            let says = format!("{says}; {}", in_words(&proof));
            end(tx, &found, state, found.view.ended_s.unwrap_or(tx.now_s), Some(&proof))?;
            told(tx, &found, EventKind::SweepEnded, &says)?;
            Ok(Answer::Durable(true))
        })
    }
}

/// Refuses to let spending go on while a sweep may take the money of the account that pays.
pub(super) fn may_thaw(tx: &Tx<'_>) -> Result<(), LedgerFault> {
    due(tx)?;
    let pays = meta::read(tx.conn)?.key_address;
    match list(tx.conn, LIVE, bound![])?.into_iter().find(|live| Some(live.view.account) == pays) {
        None => Ok(()),
        Some(live) => Err(LedgerFault::SweepLive { until_s: live.over_s(), id: live.view.id.to_string() }),
    }
}

fn may_order(tx: &Tx<'_>, wanted: &Ordering) -> Result<Result<(), Refused>, LedgerFault> {
    let Ordering { account, to, asset, amount, balance, .. } = wanted;
    if !rotation::is_ours(tx.conn, *account)? {
        return Ok(Err(Refused::Stranger));
    }
    if to.is_zero() || to == account || *to == asset.id.contract {
        return Ok(Err(Refused::Destination));
    }
    if let Some(live) = live_of(tx.conn, *account, &asset.id)? {
        return Ok(Err(Refused::Live(Box::new(live.view))));
    }
    let (reserved, until_s) = reserved(tx, *account, &asset.id)?;
    let free = balance.map(|balance| balance.saturating_sub(reserved));
    Ok(match free {
        // No amount can be said to leave what payments may take.
        None if reserved != 0 => Err(Refused::Unseen { reserved, until_s }),
        Some(free) if free < amount.units() => Err(Refused::Short { free, reserved }),
        _ => Ok(()),
    })
}

/// Moves every sweep that has run out to where nobody knows how it ended.
fn due(tx: &Tx<'_>) -> Result<(), LedgerFault> {
    for live in list(tx.conn, LIVE, bound![])?.into_iter().filter(|live| live.over_s() <= tx.now_s) {
        end(tx, &live, SweepState::Presumed, live.over_s(), None)?;
        let says = format!("nobody showed how it ended before {}", Moment(live.over_s()));
        told(tx, &live, EventKind::SweepEnded, &says)?;
    }
    Ok(())
}

/// What payments could still take, and until when.
fn reserved(tx: &Tx<'_>, account: Address, asset: &AssetId) -> Result<(u128, u64), LedgerFault> {
    let since_s = to_sql(tx.now_s.saturating_sub(EXPIRY_MARGIN_S))?;
    let (chain, token, payer) = (asset.chain.to_string(), asset.contract.to_string(), account.to_string());
    let found = tx.conn.every(TAKEABLE, bound![chain, token, payer, since_s], |row| {
        Ok((narrow(&row.get::<String>(0)?)?, from_sql(row.get::<i64>(1)?)?))
    })?;
    let add = |(sum, until_s): (u128, u64), (units, valid_before): (u128, u64)| {
        (sum.saturating_add(units), until_s.max(valid_before.saturating_add(EXPIRY_MARGIN_S)))
    };
    Ok(found.into_iter().fold((0, 0), add))
}

fn insert(tx: &Tx<'_>, wanted: &Ordering) -> Result<Ordered, LedgerFault> {
    let Ordering { id, account, to, asset, amount, nonce, life_s, .. } = wanted;
    let unpriced = || LedgerFault::Rule { detail: "the amount is beyond what can be counted".to_owned() };
    let money = Money::of(*amount, asset).ok_or_else(unpriced)?;
    tx.conn.execute(
        INSERT,
        bound![
            id.as_str(),
            account.to_string(),
            to.to_string(),
            asset.id.chain.to_string(),
            asset.id.contract.to_string(),
            asset.symbol,
            wide(amount.units()),
            wide(money.atto()),
            money.currency().letters(),
            hex::encode(nonce),
            to_sql(tx.now_s.saturating_add(*life_s))?,
            to_sql(tx.now_s)?,
        ],
    )?;
    by_id(tx.conn, id)?.ok_or_else(unreadable)
}

fn end(
    tx: &Tx<'_>,
    of: &Ordered,
    state: SweepState,
    ended_s: u64,
    proof: Option<&ChainProof>,
) -> Result<(), LedgerFault> {
    let proof = proof.map(rows::json).transpose()?;
    let sql = "UPDATE sweep SET state = ?1, ended_s = ?2, proof = ?3 WHERE id = ?4";
    tx.conn.execute(sql, bound![state.word(), to_sql(ended_s)?, proof, of.view.id.as_str()])?;
    Ok(())
}

/// Writes an event about a sweep, with the digest of the row as it is now.
fn told(tx: &Tx<'_>, of: &Ordered, kind: EventKind, says: &str) -> Result<(), LedgerFault> {
    let fact = fact(tx.conn, of.view.id.as_str())?.ok_or_else(unreadable)?;
    tx.event(&Event::new(kind, format!("{} {says}", of.view.id)).fact(fact))
}

fn in_full(ordered: &Ordered) -> String {
    let SweepView { account, to, asset, symbol, amount, money, nonce, valid_before, .. } = &ordered.view;
    let (chain, until) = (asset.chain, Moment(*valid_before));
    format!("{money} ({amount} {symbol}) out of {account} to {to} on {chain}, valid before {until}, nonce {nonce}")
}

fn by_id(conn: &Store, id: &SweepId) -> Result<Option<Ordered>, LedgerFault> {
    Ok(list(conn, BY_ID, bound![id.as_str()])?.into_iter().next())
}

fn live_of(conn: &Store, account: Address, asset: &AssetId) -> Result<Option<Ordered>, LedgerFault> {
    let (account, chain, token) = (account.to_string(), asset.chain.to_string(), asset.contract.to_string());
    Ok(list(conn, LIVE_OF, bound![account, chain, token])?.into_iter().next())
}

fn list(conn: &Store, sql: &str, bound: &[Value<'_>]) -> Result<Vec<Ordered>, LedgerFault> {
    conn.every(sql, bound, |row| read(row)?.ok_or_else(unreadable))
}

/// Reads a row of one of the queries above; `None` where it makes no sense.
fn read(row: &Row<'_>) -> Result<Option<Ordered>, LedgerFault> {
    let text = |column| row.get::<String>(column);
    let (state, chain, contract) = (text(1)?, text(4)?.parse().ok(), text(5)?.parse().ok());
    let (digits, currency, proof) = (text(10)?, text(9)?.parse().ok(), row.get::<Option<String>>(14)?);
    let mut nonce = [0; 32];
    let proof = match proof.as_deref().map(serde_json::from_str).transpose() {
        Ok(proof) => proof,
        Err(_fault) => return Ok(None),
    };
    if hex::decode_to_slice(&digits, &mut nonce).is_err() {
        return Ok(None);
    }
    let (id, account, to) = (text(0)?.parse().ok(), text(2)?.parse().ok(), text(3)?.parse().ok());
    let (amount, atto) = (Amount::new(narrow(&text(7)?)?), narrow(&text(8)?)?);
    let (symbol, valid_before, created_s) = (text(6)?, from_sql(row.get(11)?)?, from_sql(row.get(12)?)?);
    let ended_s = row.get::<Option<i64>>(13)?.map(from_sql).transpose()?;
    let state = SweepState::EVERY.into_iter().find(|known| known.word() == state);
    let whole = || {
        let view = SweepView {
            id: id?,
            state: state?,
            account: account?,
            to: to?,
            asset: AssetId { chain: chain?, contract: contract? },
            symbol,
            amount: amount?,
            money: Money::new(currency?, atto),
            nonce: format!("0x{digits}"),
            valid_before,
            created_s,
            ended_s,
            proof,
        };
        Some(Ordered { view, nonce })
    };
    Ok(whole())
}

/// The digest of everything a row says now.
fn fact(conn: &Store, id: &str) -> Result<Option<Digest>, LedgerFault> {
    let parts = conn.first("SELECT * FROM sweep WHERE id = ?1", bound![id], rows::cells)?;
    Ok(parts.map(|parts| Digest::of_parts(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>())))
}

/// The sweep `id` is as its last event says, which has the digest `told`.
fn as_told(conn: &Store, id: &str, told: Option<String>) -> Result<(), LedgerFault> {
    if told.is_none() || told != fact(conn, id)?.map(|fact| fact.to_string()) {
        return Err(books(&format!("the sweep `{id}` is not as the log says")));
    }
    Ok(())
}

/// Every sweep is as its last event says, and none is missing that the log tells of.
pub(super) fn hold(conn: &Store) -> Result<(), LedgerFault> {
    let mut said: BTreeMap<String, Option<String>> = BTreeMap::new();
    conn.each(TOLD, bound![], |row| {
        said.insert(row.get(0)?, row.get(1)?);
        Ok(())
    })?;
    for id in conn.every("SELECT id FROM sweep", bound![], |row| row.get::<String>(0))? {
        as_told(conn, &id, said.remove(&id).flatten())?;
    }
    match said.into_keys().next() {
        None => Ok(()),
        Some(id) => Err(books(&format!("the sweep `{id}` is missing, by the log"))),
    }
}

fn unreadable() -> LedgerFault {
    LedgerFault::Unreadable { what: "sweep" }
}
