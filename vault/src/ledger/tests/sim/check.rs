//! What must hold after every act, and once more at the end of a life. Must never change what it looks at.

use std::collections::BTreeMap;

use super::act::Act;
use super::books::{Back, Line, Most, Whose};
use super::keys::account;
use super::law::ALWAYS;
use super::life::Life;
use crate::clock::JUMP_S;
use crate::ledger::tally::{self, Used};
use crate::ledger::{Answer, EXPIRY_MARGIN_S, LedgerFault, returned};

/// How many of the newest payments are compared after every act; all are at the end of a life.
const NEWEST: usize = 12;

/// One cent in steps of 10^-18.
const CENT_ATTO: u128 = 10_000_000_000_000_000;

/// One payment, as the books and the file each tell it.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    id: String,
    payer: String,
    state: String,
    nonce: String,
    signature: Option<String>,
    ends_s: Option<u64>,
    ended_s: Option<u64>,
}

impl Life {
    /// The newest payments and the totals are those of the books, and nobody is over what was allowed.
    pub(super) fn check(&self) {
        let lines = self.books.lines.len();
        self.compare(lines.saturating_sub(NEWEST));
        self.totals(self.books.sessions.len().saturating_sub(2));
        self.check_keys();
        self.bounds();
    }

    /// Everything, over a restart, and until every authorization has run out.
    pub(super) fn end_well(&mut self) {
        self.whole();
        self.step(&Act::Restart { reboot: false });
        self.whole();
        let out = self.out();
        // One that was signed in a mistaken future is good until then, and a clock that lags a little catches up first.
        let last_s = self.books.lines.iter().map(|line| line.ends_s).max().unwrap_or_default();
        let left_s = last_s.saturating_sub(self.ledger().time().now_s);
        self.step(&Act::Pass { seconds: left_s + EXPIRY_MARGIN_S + JUMP_S });
        self.step(&Act::Sweep);
        assert!(self.books.lines.iter().all(|line| !line.is_pending()), "something never ends");
        assert_eq!(self.out(), out, "time alone freed something");
        self.whole();
    }

    fn out(&self) -> u128 {
        self.books.lines.iter().filter(|line| line.counts()).map(|line| line.cents).sum()
    }

    fn whole(&self) {
        self.compare(0);
        self.totals(0);
        self.bounds();
        let books = self.ledger().verify().unwrap();
        assert_eq!(usize::try_from(books.payments).unwrap(), self.books.lines.len(), "a payment nobody knows of");
        let mut states: BTreeMap<String, i64> = BTreeMap::new();
        for line in &self.books.lines {
            *states.entry(line.state.word().to_owned()).or_default() += 1;
        }
        assert_eq!(self.states(), states);
    }

    /// The payments from the one numbered `from` on, row by row.
    fn compare(&self, from: usize) {
        let told = |line: &Line| Told {
            id: line.id.as_str().to_owned(),
            payer: account(line.payer).to_string(),
            state: line.state.word().to_owned(),
            nonce: hex::encode(line.nonce),
            signature: line.signature.clone(),
            // What is held has no life yet that anybody could use.
            ends_s: Some(line.ends_s).filter(|_| line.exposed),
            ended_s: line.ended_s,
        };
        let expected: Vec<Told> = self.books.lines[from..].iter().map(told).collect();
        let mut found = self.rows(i64::try_from(from).unwrap());
        for (row, line) in found.iter_mut().zip(&expected) {
            row.ends_s = row.ends_s.filter(|_| line.ends_s.is_some());
        }
        assert_eq!(found, expected);
    }

    fn rows(&self, from: i64) -> Vec<Told> {
        let read = self.ledger().writer.ask(move |tx| {
            let mut statement = tx.conn.file()?.prepare_cached(
                "SELECT id, payer, state, nonce, signature, valid_before, ended_s FROM payment WHERE ?1 < seq ORDER BY seq",
            )?;
            let rows = statement.query_map([from], |row| {
                let number =
                    |at| row.get(at).map(|found: Option<i64>| found.map(|number| u64::try_from(number).unwrap()));
                Ok(Told {
                    id: row.get(0)?,
                    payer: row.get(1)?,
                    state: row.get(2)?,
                    nonce: row.get(3)?,
                    signature: row.get(4)?,
                    ends_s: number(5)?,
                    ended_s: number(6)?,
                })
            })?;
            Ok(Answer::AtOnce(rows.collect::<Result<Vec<_>, _>>()?))
        });
        read.unwrap()
    }

    fn states(&self) -> BTreeMap<String, i64> {
        let read = self.ledger().writer.ask(|tx| {
            let mut statement = tx.conn.file()?.prepare("SELECT state, count(*) FROM payment GROUP BY state")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(Answer::AtOnce(rows.collect::<Result<BTreeMap<_, _>, _>>()?))
        });
        read.unwrap()
    }

    /// The running totals of all, and of the sessions from the one numbered `from` on.
    fn totals(&self, from: usize) {
        let mut expected = vec![("all|USD".to_owned(), self.used(|_line| true))];
        for (number, session) in self.books.sessions.iter().enumerate().skip(from) {
            let key = format!("session|{}|USD", session.id);
            expected.push((key, self.used(|line| line.purchase.session == number)));
        }
        let keys: Vec<String> = expected.iter().map(|(key, _)| key.clone()).collect();
        let read = self.ledger().writer.ask(move |tx| {
            let found = keys.iter().map(|key| {
                let (found, back) = (tally::read(tx.conn, key)?, returned::sum(tx.conn, key, None)?);
                // What was proved not to have moved stays written down as spent, and beside it as returned.
                let spent = Used { atto: found.spent.atto - back.atto, count: found.spent.count - back.count };
                Ok::<_, LedgerFault>((found.pending, spent))
            });
            Ok(Answer::AtOnce(found.collect::<Result<Vec<_>, _>>()?))
        });
        for (found, (key, expected)) in read.unwrap().into_iter().zip(expected) {
            assert_eq!(found, expected, "{key}");
        }
    }

    fn used(&self, whose: impl Fn(&Line) -> bool) -> (Used, Used) {
        let sum = |pending: bool| {
            let counted = self.books.lines.iter().filter(|line| whose(line) && line.counts());
            counted.filter(|line| line.is_pending() == pending).fold(Used::default(), |sum, line| Used {
                atto: sum.atto + line.cents * CENT_ATTO,
                count: sum.count + 1,
            })
        };
        (sum(true), sum(false))
    }

    /// At this instant no session is over its budget, and not more is out than every rules ever allowed.
    fn bounds(&self) {
        let now_s = self.ledger().time().now_s;
        for (number, session) in self.books.sessions.iter().enumerate() {
            let (cents, _) = self.books.sum(Whose::Session, number, Back::Ever, now_s, None);
            assert!(cents <= session.cents, "session {number} is over its budget: {cents} of {}", session.cents);
        }
        let (cents, _) = self.books.sum(Whose::All, 0, ALWAYS.back, now_s, None);
        let within = matches!(ALWAYS.most, Most::Cents(most) if cents <= most);
        assert!(within || self.books.rewound, "{cents} cents are out, which no rules allowed");
    }
}
