//! Who a vault is among those that share a ledger, and for how long without a word. Must never be believed from memory: each
//! transaction reads it anew.

use std::sync::Arc;

use bursar_postgres::{Cell, Fault, Line, Value};

/// How long a vault may be silent before another may take over what it left, in seconds of the server's clock.
pub(in crate::ledger) const LEASE_S: i64 = 15;

/// A lease that has less than this left is renewed.
const RENEW_S: i64 = 10;

/// One vault in one epoch of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ledger) struct Tenure {
    /// Its id.
    pub(in crate::ledger) vault: Arc<str>,
    /// How often it began, from 1: it begins anew when it was silent for longer than its lease.
    pub(in crate::ledger) epoch: i64,
}

/// What a transaction finds right after it has the ledger for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ledger) struct Seen {
    /// The server's clock, Unix seconds.
    pub(in crate::ledger) now_s: u64,
    /// The last ledger time that any vault wrote down.
    pub(in crate::ledger) recorded_s: u64,
    /// Why payments are shut, if they are.
    pub(in crate::ledger) latched: Option<String>,
}

const LOOK: &str = "SELECT CAST(floor(extract(epoch FROM clock_timestamp())) AS bigint), meta.recorded_s, meta.latched,
        vault.epoch, vault.until_s FROM meta LEFT JOIN vault ON vault.id = ?1 WHERE meta.id = 1";
const REGISTER: &str = "INSERT INTO vault (id, host, epoch, until_s) VALUES (?1, ?2, 1, ?3)";
const RENEW: &str = "UPDATE vault SET epoch = ?1, until_s = ?2 WHERE id = ?3";

/// Looks around in the transaction that is open on `line`, and registers `vault` or renews its lease. What it finds, who
/// the vault is from now on, and whether anything was written.
pub(super) fn hold(line: &Line, vault: &Arc<str>) -> Result<(Seen, Tenure, bool), Fault> {
    let found = line.query(LOOK, &[Value::Text(vault)])?;
    let row = found.first().ok_or_else(nobody)?;
    let (now_s, recorded_s) = (number(row.cell(0)?)?, number(row.cell(1)?)?);
    let latched = match row.cell(2)? {
        Cell::Text(why) => Some(why.to_owned()),
        Cell::Null | Cell::Number(_) => None,
    };
    let until_s = now_s.saturating_add(LEASE_S);
    let (epoch, wrote) = match (row.cell(3)?, row.cell(4)?) {
        (Cell::Number(epoch), Cell::Number(until)) if now_s.saturating_add(RENEW_S) < until => (epoch, false),
        (Cell::Number(epoch), Cell::Number(until)) => {
            // Whatever another vault may have taken over is not this one's any more: it is a new one from here on.
            let epoch = if until <= now_s { epoch.saturating_add(1) } else { epoch };
            line.execute(RENEW, &[Value::Number(epoch), Value::Number(until_s), Value::Text(vault)])?;
            (epoch, true)
        }
        _ => {
            line.execute(REGISTER, &[Value::Text(vault), Value::Text(&host()), Value::Number(until_s)])?;
            (1, true)
        }
    };
    let unsigned = |number: i64| u64::try_from(number).map_err(|_negative| nobody());
    let seen = Seen { now_s: unsigned(now_s)?, recorded_s: unsigned(recorded_s)?, latched };
    Ok((seen, Tenure { vault: Arc::clone(vault), epoch }, wrote))
}

/// Ends a lease before its time, in order: whatever is left may be taken over at once.
pub(super) fn end(line: &Line, tenure: &Tenure) -> Result<(), Fault> {
    line.execute(RENEW, &[Value::Number(tenure.epoch), Value::Number(0), Value::Text(&tenure.vault)])?;
    Ok(())
}

fn number(cell: Cell<'_>) -> Result<i64, Fault> {
    match cell {
        Cell::Number(number) => Ok(number),
        Cell::Null | Cell::Text(_) => Err(nobody()),
    }
}

fn nobody() -> Fault {
    Fault::Kind { detail: "the database does not say what ledger it holds".to_owned() }
}

/// The machine's name, for people who look at the table.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().chars().filter(char::is_ascii_graphic).take(64).collect()
}
