//! A center in memory that does what one in a database does, with a clock of its own and faults on order.

use std::collections::BTreeMap;
use std::sync::Mutex;

use bursar_policy::Digest;

use crate::ledger::Line;
use crate::share::{Asked, Center, CenterFault, Declared, Known, LEASE_S, Settled, Who, settle};

/// How long a line stays wanted.
const WANTED_S: u64 = 60;

#[derive(Clone, Debug)]
struct Vault {
    life: [u8; 16],
    turn: u64,
    seen_s: u64,
}

#[derive(Debug, Default)]
struct Rows {
    now_s: u64,
    vaults: BTreeMap<String, Vault>,
    parts: BTreeMap<(Line, String), (u128, Option<u64>)>,
    declared: BTreeMap<(Digest, String), ()>,
    wanted: BTreeMap<Line, (String, u64)>,
    asks: u64,
}

/// What befalls one ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weather {
    Fair,
    /// The ask is lost.
    Lost,
    /// The answer is.
    Unanswered,
}

/// The table.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Mutex<Rows>,
    weather: Mutex<Weather>,
}

impl Table {
    pub(crate) fn new(now_s: u64) -> Self {
        Self { rows: Mutex::new(Rows { now_s, ..Rows::default() }), weather: Mutex::new(Weather::Fair) }
    }

    pub(crate) fn pass(&self, seconds: u64) {
        let mut rows = self.rows.lock().unwrap();
        rows.now_s = rows.now_s.saturating_add(seconds);
    }

    pub(crate) fn weather(&self, weather: Weather) {
        *self.weather.lock().unwrap() = weather;
    }

    /// How often it was asked.
    pub(crate) fn asks(&self) -> u64 {
        self.rows.lock().unwrap().asks
    }

    /// The parts of one line that count, together.
    pub(crate) fn given(&self, line: &Line) -> u128 {
        let rows = self.rows.lock().unwrap();
        rows.parts_of(line, None)
    }
}

impl Rows {
    fn matters(&self, ledger: &str, lasts_s: Option<u64>) -> bool {
        let seen_s = self.vaults.get(ledger).map_or(0, |vault| vault.seen_s);
        lasts_s.is_none_or(|lasts_s| self.now_s < seen_s.saturating_add(lasts_s))
    }

    fn parts_of(&self, line: &Line, but: Option<&str>) -> u128 {
        let of_line = self.parts.iter().filter(|((of, ledger), _)| of == line && Some(ledger.as_str()) != but);
        of_line.filter(|((_, ledger), (_, lasts_s))| self.matters(ledger, *lasts_s)).map(|(_, (part, _))| part).sum()
    }

    fn one(&mut self, who: &Who, asked: &Asked) -> u128 {
        let known = Known {
            mine: self.parts.get(&(asked.line.clone(), who.ledger.clone())).map_or(0, |(part, _)| *part),
            others: self.parts_of(&asked.line, Some(&who.ledger)),
            vaults: u64::try_from(self.vaults.len().saturating_sub(1)).unwrap(),
            declared: self.vaults.keys().filter(|ledger| **ledger != who.ledger).all(|ledger| {
                !self.matters(ledger, asked.lasts_s) || self.declared.contains_key(&(asked.line.limit, ledger.clone()))
            }),
        };
        let part = settle(known, asked);
        if part < asked.need {
            self.wanted.insert(asked.line.clone(), (who.ledger.clone(), self.now_s));
        }
        self.parts.insert((asked.line.clone(), who.ledger.clone()), (part, asked.lasts_s));
        part
    }
}

impl Center for Table {
    fn settle(&self, who: &Who, asked: &[Asked], declared: &[Declared]) -> Result<Settled, CenterFault> {
        let weather = *self.weather.lock().unwrap();
        let silent = || CenterFault::Unreachable("no answer".to_owned());
        if weather == Weather::Lost {
            return Err(silent());
        }
        let mut rows = self.rows.lock().unwrap();
        rows.asks = rows.asks.saturating_add(1);
        let now_s = rows.now_s;
        if let Some(known) = rows.vaults.get(&who.ledger) {
            if known.life != who.life && now_s < known.seen_s.saturating_add(LEASE_S) {
                return Err(CenterFault::Elsewhere(who.ledger.clone()));
            }
            if known.life == who.life && who.turn <= known.turn {
                return Err(CenterFault::Overtaken);
            }
        }
        // What did not matter any more does not come back with its vault: others may have it.
        let seen_s = rows.vaults.get(&who.ledger).map_or(0, |vault| vault.seen_s);
        rows.parts.retain(|(_, ledger), (_, lasts_s)| {
            *ledger != who.ledger || lasts_s.is_none_or(|lasts_s| now_s < seen_s.saturating_add(lasts_s))
        });
        rows.vaults.insert(who.ledger.clone(), Vault { life: who.life, turn: who.turn, seen_s: now_s });
        for Declared { limit, .. } in declared {
            rows.declared.insert((*limit, who.ledger.clone()), ());
        }
        let parts = asked.iter().map(|asked| rows.one(who, asked)).collect();
        let mine =
            |line: &Line| rows.parts.get(&(line.clone(), who.ledger.clone())).is_some_and(|(part, _)| *part != 0);
        let wanted = rows
            .wanted
            .iter()
            .filter(|(line, (by, at_s))| *by != who.ledger && now_s < at_s.saturating_add(WANTED_S) && mine(line));
        let wanted = wanted.map(|(line, _)| line.clone()).collect();
        if weather == Weather::Unanswered { Err(silent()) } else { Ok(Settled { parts, wanted }) }
    }
}
