//! The one row about the ledger itself: whose it is, what time it was, whether it is shut. Must never count money.

use bursar_policy::chain::Address;
use bursar_policy::rules::Setting;

use super::events;
use super::fault::LedgerFault;
use super::number::{from_sql, to_sql};
use super::store::{Row, Store, bound};
use crate::clock::ClockMemory;

/// The ledger about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Meta {
    pub(super) ledger_id: String,
    pub(super) setting: String,
    pub(super) key_address: Option<Address>,
    pub(super) clock: ClockMemory,
    pub(super) frozen: Option<String>,
    pub(super) latched: Option<String>,
    pub(super) head: events::Head,
}

pub(super) const META: &str = "SELECT ledger_id, setting, key_address, recorded_s, boot_id, wall_s, boot_ms, frozen, \
                               latched, event_seq, event_hash FROM meta WHERE id = 1";

/// The word a setting is stored as.
pub(super) const fn setting_word(setting: Setting) -> &'static str {
    match setting {
        Setting::Real => "real",
        Setting::Sandbox => "sandbox",
    }
}

/// Writes the row of a new ledger.
pub(super) fn begin(conn: &Store, ledger_id: &str, setting: Setting, clock: &ClockMemory) -> Result<(), LedgerFault> {
    let head = events::head(conn)?;
    conn.execute(
        "INSERT INTO meta (id, ledger_id, setting, created_s, recorded_s, boot_id, wall_s, boot_ms, event_seq, event_hash)
         VALUES (1, ?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8)",
        bound![
            ledger_id,
            setting_word(setting),
            to_sql(clock.recorded_s)?,
            clock.boot_id,
            to_sql(clock.wall_s)?,
            to_sql(clock.boot_ms)?,
            to_sql(head.seq)?,
            head.hash.to_string(),
        ],
    )?;
    Ok(())
}

/// Reads the row.
pub(super) fn read(conn: &Store) -> Result<Meta, LedgerFault> {
    let unreadable = LedgerFault::Unreadable { what: "ledger description" };
    let read = |row: &Row<'_>| {
        let key_address: Option<String> = row.get(2)?;
        Ok(Meta {
            ledger_id: row.get(0)?,
            setting: row.get(1)?,
            key_address: key_address.map(|text| text.parse()).transpose().map_err(|_fault| unreadable.clone())?,
            clock: ClockMemory {
                recorded_s: from_sql(row.get(3)?)?,
                boot_id: row.get(4)?,
                wall_s: from_sql(row.get(5)?)?,
                boot_ms: from_sql(row.get(6)?)?,
            },
            frozen: row.get(7)?,
            latched: row.get(8)?,
            head: events::Head {
                seq: from_sql(row.get(9)?)?,
                hash: row.get::<String>(10)?.parse().map_err(|_fault| unreadable.clone())?,
            },
        })
    };
    conn.first(META, bound![], read)?.ok_or_else(|| unreadable.clone())
}

/// Writes down what time it is and where the log ends; goes into every commit. Where it ends.
pub(super) fn stamp(conn: &Store, clock: &ClockMemory) -> Result<events::Head, LedgerFault> {
    let head = events::head(conn)?;
    conn.execute(
        "UPDATE meta SET recorded_s = ?1, boot_id = ?2, wall_s = ?3, boot_ms = ?4, event_seq = ?5, event_hash = ?6
         WHERE id = 1",
        bound![
            to_sql(clock.recorded_s)?,
            clock.boot_id,
            to_sql(clock.wall_s)?,
            to_sql(clock.boot_ms)?,
            to_sql(head.seq)?,
            head.hash.to_string(),
        ],
    )?;
    Ok(head)
}

/// Writes down that the ledger is shut and why, or that it is open.
pub(super) fn set_latched(conn: &Store, reason: Option<&str>) -> Result<(), LedgerFault> {
    conn.execute("UPDATE meta SET latched = ?1 WHERE id = 1", bound![reason])?;
    Ok(())
}

/// Writes down that a person stopped all spending and why, or that it goes on.
pub(super) fn set_frozen(conn: &Store, reason: Option<&str>) -> Result<(), LedgerFault> {
    conn.execute("UPDATE meta SET frozen = ?1 WHERE id = 1", bound![reason])?;
    Ok(())
}

/// Writes down whose key the ledger counts for; the database lets another one in by way of a rotation only.
pub(super) fn bind_key(conn: &Store, address: Address) -> Result<(), LedgerFault> {
    conn.execute("UPDATE meta SET key_address = ?1 WHERE id = 1", bound![address.to_string()])?;
    Ok(())
}

pub(super) const ACCOUNT: &str = "SELECT key_address FROM meta WHERE id = 1";

/// Refuses what another account than the one that the ledger counts for would sign. A ledger that counts for none yet
/// refuses nothing: no vault serves on it.
pub(super) fn is_paid_by(conn: &Store, payer: Address) -> Result<(), LedgerFault> {
    match conn.one(ACCOUNT, bound![], |row| row.get::<Option<String>>(0))? {
        Some(known) if known != payer.to_string() => {
            Err(LedgerFault::OtherKey { ledger: known, key: payer.to_string() })
        }
        _ => Ok(()),
    }
}

pub(super) const FROZEN: &str = "SELECT frozen FROM meta WHERE id = 1";

/// Why a person stopped all spending; `None` while nobody did.
pub(super) fn frozen(conn: &Store) -> Result<Option<String>, LedgerFault> {
    conn.one(FROZEN, bound![], |row| row.get(0))
}
