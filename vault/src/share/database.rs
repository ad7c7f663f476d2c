//! A center in a PostgreSQL database. Must never answer before what it says is committed.
//!
//! Each ask is one transaction under two kinds of locks: on the row of the vault that asks, so that its asks come one after
//! another, and on the row of each line in order, so that parts of one line are settled one after another. Vaults that
//! deal about different lines do not wait for each other. All times are the server's.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bursar_postgres::{Cell, Fault, Line as Wire, Row, Server, Value};

use super::{Asked, Center, CenterFault, Declared, Known, LEASE_S, Settled, Who, settle};
use crate::ledger::{Line, narrow, wide};

/// How long a statement may take before the server is taken for gone.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// How long a line stays wanted, in seconds.
const WANTED_S: i64 = 60;

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = '4s'; SET LOCAL synchronous_commit = on;
    SET LOCAL idle_in_transaction_session_timeout = '10s'";

const NOW: &str = "SELECT CAST(floor(extract(epoch FROM clock_timestamp())) AS bigint)";

const ENTER: &str = "INSERT INTO bursar_share.vault (ledger, life, turn, seen_s) VALUES (?1, ?2, 0, 0)
    ON CONFLICT DO NOTHING";

const WHO: &str = "SELECT life, turn, seen_s FROM bursar_share.vault WHERE ledger = ?1 FOR UPDATE";

const SEEN: &str = "UPDATE bursar_share.vault SET life = ?2, turn = ?3, seen_s = ?4 WHERE ledger = ?1";

/// What did not matter any more when the vault was seen last does not come back with it: others may have it.
const FORGET: &str = "DELETE FROM bursar_share.part WHERE ledger = ?1 AND lasts_s <= ?2";

const DECLARE: &str = "INSERT INTO bursar_share.declared (name, ledger) VALUES (?1, ?2) ON CONFLICT DO NOTHING";

const DRAW_LINE: &str = "INSERT INTO bursar_share.line (name, key) VALUES (?1, ?2) ON CONFLICT DO NOTHING";

const LOCK_LINE: &str = "SELECT id FROM bursar_share.line WHERE name = ?1 AND key = ?2 FOR UPDATE";

/// Every part of a line that may still matter at ?2.
const PARTS: &str = "SELECT part.ledger, part.amount FROM bursar_share.part
    JOIN bursar_share.vault ON vault.ledger = part.ledger
    WHERE part.line = ?1 AND (part.lasts_s IS NULL OR ?2 < vault.seen_s + part.lasts_s)";

/// How many other vaults there are, and how many of them may still matter at ?3 under the limit ?2 and have not told.
const OTHERS: &str = "SELECT count(*), count(*) FILTER (WHERE (CAST(?4 AS bigint) IS NULL OR ?3 < vault.seen_s + ?4)
        AND NOT EXISTS (SELECT 1 FROM bursar_share.declared
                        WHERE declared.name = ?2 AND declared.ledger = vault.ledger))
    FROM bursar_share.vault WHERE vault.ledger <> ?1";

const KEEP: &str = "INSERT INTO bursar_share.part (line, ledger, amount, lasts_s) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (line, ledger) DO UPDATE SET amount = excluded.amount, lasts_s = excluded.lasts_s";

const WANT: &str = "UPDATE bursar_share.line SET wanted = ?2, wanted_s = ?3 WHERE id = ?1";

const WANTED: &str = "SELECT line.name, line.key FROM bursar_share.line
    JOIN bursar_share.part ON part.line = line.id AND part.ledger = ?1
    WHERE line.wanted_s > ?2 AND line.wanted <> ?1 AND part.amount <> ?3 ORDER BY line.id";

/// A center on one server. Connects when it is asked, and again when the connection is lost.
#[derive(Debug)]
pub struct Database {
    server: Server,
    wire: Mutex<Option<Wire>>,
}

impl Database {
    /// Connects to nothing yet.
    #[must_use]
    pub const fn new(server: Server) -> Self {
        Self { server, wire: Mutex::new(None) }
    }
}

impl Center for Database {
    fn settle(&self, who: &Who, asked: &[Asked], declared: &[Declared]) -> Result<Settled, CenterFault> {
        let mut wire = self.wire.lock().unwrap_or_else(PoisonError::into_inner);
        let open = match wire.take().filter(|open| !open.is_lost()) {
            Some(open) => open,
            None => Wire::open(&self.server, PATIENCE)?,
        };
        open.batch(BEGIN)?;
        let settled = within(&open, who, asked, declared);
        // A connection on which anything went wrong is not used again: its end undoes what was begun.
        let settled = settled?;
        open.batch("COMMIT")?;
        *wire = Some(open);
        Ok(settled)
    }
}

fn within(wire: &Wire, who: &Who, asked: &[Asked], declared: &[Declared]) -> Result<Settled, CenterFault> {
    let now_s = number(&one(wire, NOW, &[])?, 0)?;
    let ledger = Value::Text(&who.ledger);
    let seen_s = enter(wire, who, now_s)?;
    wire.execute(FORGET, &[ledger, Value::Number(now_s.saturating_sub(seen_s))])?;
    for Declared { limit, .. } in declared {
        wire.execute(DECLARE, &[Value::Text(&limit.to_string()), ledger])?;
    }
    // In the order of the lines, whatever the order of the asks, so that no two transactions wait for each other.
    let mut in_order: Vec<(usize, &Asked)> = asked.iter().enumerate().collect();
    in_order.sort_by(|(_, one), (_, other)| one.line.cmp(&other.line));
    let mut parts: Vec<(usize, u128)> = Vec::with_capacity(asked.len());
    for (place, asked) in in_order {
        parts.push((place, one_line(wire, who, asked, now_s)?));
    }
    parts.sort_unstable();
    let since = Value::Number(now_s.saturating_sub(WANTED_S));
    let wanted = wire.query(WANTED, &[ledger, since, Value::Text(&wide(0))])?;
    let wanted = wanted.iter().map(line).collect::<Result<_, _>>()?;
    Ok(Settled { parts: parts.into_iter().map(|(_, part)| part).collect(), wanted })
}

/// Takes the ask as a sign of life, if it is one of this vault; when the one before was.
fn enter(wire: &Wire, who: &Who, now_s: i64) -> Result<i64, CenterFault> {
    let (ledger, life) = (Value::Text(&who.ledger), hex::encode(who.life));
    wire.execute(ENTER, &[ledger, Value::Text(&life)])?;
    let known = one(wire, WHO, &[ledger])?;
    let (known_life, turn, seen_s) = (text(&known, 0)?, number(&known, 1)?, number(&known, 2)?);
    let this_turn = i64::try_from(who.turn).unwrap_or(i64::MAX);
    let lease_s = i64::try_from(LEASE_S).unwrap_or(i64::MAX);
    if known_life != life && now_s < seen_s.saturating_add(lease_s) {
        return Err(CenterFault::Elsewhere(who.ledger.clone()));
    }
    if known_life == life && this_turn <= turn {
        return Err(CenterFault::Overtaken);
    }
    // A clock that was set back on the server makes nobody look older than they are.
    let seen = now_s.max(seen_s);
    wire.execute(SEEN, &[ledger, Value::Text(&life), Value::Number(this_turn), Value::Number(seen)])?;
    Ok(seen_s)
}

fn one_line(wire: &Wire, who: &Who, asked: &Asked, now_s: i64) -> Result<u128, CenterFault> {
    let (name, key) = (asked.line.limit.to_string(), asked.line.key.as_str());
    let (now, ledger) = (Value::Number(now_s), Value::Text(&who.ledger));
    wire.execute(DRAW_LINE, &[Value::Text(&name), Value::Text(key)])?;
    let id = Value::Number(number(&one(wire, LOCK_LINE, &[Value::Text(&name), Value::Text(key)])?, 0)?);
    let (mut mine, mut others) = (0_u128, 0_u128);
    for row in wire.query(PARTS, &[id, now])? {
        let amount = amount(&row, 1)?;
        if text(&row, 0)? == who.ledger {
            mine = amount;
        } else {
            others = others.saturating_add(amount);
        }
    }
    let lasts = match asked.lasts_s.map(i64::try_from) {
        None => Value::Null,
        // Longer than any clock goes is for ever.
        Some(lasts_s) => lasts_s.map_or(Value::Null, Value::Number),
    };
    let counted = one(wire, OTHERS, &[ledger, Value::Text(&name), now, lasts])?;
    let vaults = u64::try_from(number(&counted, 0)?).unwrap_or(u64::MAX);
    let declared = number(&counted, 1)? == 0;
    let part = settle(Known { mine, others, vaults, declared }, asked);
    wire.execute(KEEP, &[id, ledger, Value::Text(&wide(part)), lasts])?;
    if part < asked.need {
        wire.execute(WANT, &[id, ledger, now])?;
    }
    Ok(part)
}

fn one(wire: &Wire, sql: &str, values: &[Value<'_>]) -> Result<Row, CenterFault> {
    wire.query(sql, values)?.into_iter().next().ok_or_else(unreadable)
}

fn number(row: &Row, column: usize) -> Result<i64, CenterFault> {
    match row.cell(column)? {
        Cell::Number(number) => Ok(number),
        Cell::Null | Cell::Text(_) => Err(unreadable()),
    }
}

fn text(row: &Row, column: usize) -> Result<&str, CenterFault> {
    match row.cell(column)? {
        Cell::Text(text) => Ok(text),
        Cell::Null | Cell::Number(_) => Err(unreadable()),
    }
}

fn amount(row: &Row, column: usize) -> Result<u128, CenterFault> {
    narrow(text(row, column)?).map_err(|_fault| unreadable())
}

fn line(row: &Row) -> Result<Line, CenterFault> {
    let limit = text(row, 0)?.parse().map_err(|_fault| unreadable())?;
    let Ok(key) = text(row, 1)?.parse();
    Ok(Line { limit, key })
}

fn unreadable() -> CenterFault {
    CenterFault::Unreachable("what is in it makes no sense; look at the tables of `bursar_share`".to_owned())
}

impl From<Fault> for CenterFault {
    fn from(fault: Fault) -> Self {
        Self::Unreachable(fault.to_string())
    }
}
