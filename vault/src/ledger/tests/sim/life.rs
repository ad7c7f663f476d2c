//! One life of a ledger: acts on the real one and in the second bookkeeping, compared after each. Must never read a clock,
//! nor wait for one.

use std::collections::BTreeMap;
use std::sync::Arc;

use bursar_policy::errand::{QuoteId, SessionId};
use bursar_policy::rules::Rules;
use rusqlite::Connection;

use super::super::world::money;
use super::act::{Act, Want};
use super::books::{Books, Law, Opened, Purchase, Verdict};
use super::form::{codes, errand, name, terms_of};
use super::keys::account;
use super::law::{self, LAWS};
use super::place::{Disk, Wall};
use super::word::Said;
use crate::clock::Trust;
use crate::ledger::{Answer, Ask, ClaimGuard, Decided, Ledger, LedgerFault, Reservation, SessionOpened};

/// What a client has in its hands.
#[derive(Debug)]
pub(super) enum Slot {
    Claimed(Purchase, ClaimGuard),
    Exposed(usize, Box<Reservation>),
}

/// How often each thing happened: a simulation in which nothing happens proves nothing.
pub(super) type Seen = BTreeMap<&'static str, u64>;

/// The life so far.
#[derive(Debug)]
pub(super) struct Life {
    disk: Disk,
    wall: Wall,
    ledger: Option<Ledger>,
    pub(super) witness: Option<Connection>,
    laws: Vec<Arc<Rules>>,
    law: usize,
    pub(super) books: Books,
    pub(super) slots: Vec<Slot>,
    drawn: u64,
    pub(super) seen: Seen,
}

impl Life {
    pub(super) fn new() -> Self {
        let wall = Wall::new();
        let disk = Disk::new(&wall);
        let mut life = Self {
            disk,
            wall,
            ledger: None,
            witness: None,
            laws: law::rules(),
            law: 0,
            books: Books::default(),
            slots: Vec::new(),
            drawn: 0,
            seen: Seen::new(),
        };
        life.open();
        life.ledger().bind_key(account(0)).unwrap();
        life
    }

    pub(super) fn ledger(&self) -> &Ledger {
        self.ledger.as_ref().unwrap()
    }

    pub(super) fn rules(&self) -> &Arc<Rules> {
        &self.laws[self.law]
    }

    pub(super) fn law(&self) -> &'static Law {
        &LAWS[self.law]
    }

    pub(super) fn saw(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    /// One act, and everything that must hold after it.
    pub(super) fn step(&mut self, act: &Act) {
        let now_s = self.now();
        self.act(act, now_s);
        self.check();
    }

    /// Ledger time. A clock that jumped shuts the ledger with the next thing that anybody asks it.
    fn now(&mut self) -> u64 {
        let reading = self.ledger().time();
        if reading.trust != Trust::Steady && !self.books.latched {
            self.saw("a clock that jumped");
            self.books.latched = true;
            self.ledger().flush().unwrap();
        }
        assert_eq!(self.ledger().latched().is_some(), self.books.latched, "{:?}", self.ledger().latched());
        reading.now_s
    }

    fn act(&mut self, act: &Act, now_s: u64) {
        match act {
            Act::Open { cents, life_s } => self.open_session(*cents, *life_s, now_s),
            Act::Close { session } => self.close_session(*session),
            Act::Claim { want } => {
                if let Some(purchase) = self.want(*want) {
                    self.claim(purchase, now_s);
                }
            }
            Act::Again { which } => {
                if let Some(purchase) = self.again(*which) {
                    self.claim(purchase, now_s);
                }
            }
            Act::Insist { which } => self.insist(*which, now_s),
            Act::Authorize { slot, cents, quoted } => self.authorize(*slot, *cents, *quoted, now_s),
            Act::SameNonce { slot, cents } => self.same_nonce(*slot, *cents, now_s),
            Act::Hold { slot, cents } => self.hold(*slot, *cents, now_s),
            Act::Sign { slot, other } => self.sign(*slot, *other),
            Act::Void { slot } => self.void(*slot, now_s),
            Act::Report { slot, word } => self.report(*slot, *word, now_s),
            Act::Prove { which, verdict, early } => self.prove(*which, *verdict, *early, now_s),
            Act::Leave { slot } => {
                if let Some(at) = slot.checked_rem(self.slots.len()) {
                    self.slots.remove(at);
                }
            }
            Act::Redeem { which, right } => self.redeem(*which, *right, now_s),
            Act::Quote { want, cents } => self.quote(*want, *cents, now_s),
            Act::Answer { which, yes, life_s } => self.answer(*which, *yes, *life_s, now_s),
            Act::Pass { seconds } => self.wall.pass(*seconds),
            Act::PassTo { which, early } => {
                let edges = self.books.edges(self.law(), now_s);
                if let Some(which) = which.checked_rem(edges.len()) {
                    self.wall.pass(edges[which] - now_s - u64::from(*early));
                }
            }
            Act::Leap { on, seconds } => self.wall.leap(*on, *seconds),
            Act::Sweep => {
                self.ledger().sweep().unwrap();
                self.books.end_sweeps(now_s);
                self.books.pass(now_s);
            }
            Act::Rules { which } => self.law = which % LAWS.len(),
            Act::Freeze => {
                self.ledger().freeze("a person is worried").unwrap();
                self.books.frozen = true;
            }
            Act::Thaw => self.thaw(now_s),
            Act::MoveOut { former, cents, seen, life_s } => self.move_out(*former, *cents, *seen, *life_s, now_s),
            Act::Rotate => self.rotate(now_s),
            Act::ProveSweep { which, verdict, early } => self.prove_sweep(*which, *verdict, *early),
            Act::Latch => {
                self.ledger().latch("something is off");
                self.books.latched = true;
                self.ledger().flush().unwrap();
            }
            Act::Unlatch => self.unlatch(now_s),
            Act::Restart { reboot } => {
                self.ledger().close();
                self.end();
                if *reboot {
                    self.wall.reboot();
                }
                self.open();
                self.saw("a restart");
            }
            Act::Crash => self.crash(),
            Act::CrashIn { act } => self.crash_in(act, now_s),
            Act::CrashAfter { act } => {
                self.act(act, now_s);
                self.crash();
            }
            Act::Locked { slot, cents } => self.locked(*slot, *cents),
            Act::Full { slot, cents } => self.full(*slot, *cents, now_s),
        }
    }

    // The process.

    pub(super) fn open(&mut self) {
        self.ledger = Some(self.disk.open(&self.wall));
        self.witness = Some(self.disk.witness());
        let now_s = self.ledger().time().now_s;
        self.books.restart(now_s);
    }

    /// Nothing of the process is left but what is on the disk.
    pub(super) fn end(&mut self) {
        (self.ledger, self.witness) = (None, None);
        self.slots.clear();
    }

    pub(super) fn crash(&mut self) {
        self.ledger().flush().unwrap();
        self.end();
        self.open();
        self.saw("a crash");
    }

    /// Killed before the commit: on the disk it never happened, and nobody heard that it did.
    pub(super) fn crash_in(&mut self, act: &Act, now_s: u64) {
        self.ledger().flush().unwrap();
        let (disk, books) = (self.disk.copy(), self.books.clone());
        self.act(act, now_s);
        self.end();
        self.disk.put_back(&disk);
        self.books = books;
        self.open();
        self.saw("a crash in an act");
    }

    pub(super) fn unlatch(&mut self, from_s: u64) {
        if !self.books.latched {
            return;
        }
        self.ledger().unlatch().unwrap();
        let to_s = self.ledger().time().now_s;
        self.books.unlatch(from_s, to_s);
        // What a person opens is on a connection of its own, which waits for the disk: a restart makes it quick again.
        self.crash();
        self.saw("a person who opened the ledger");
    }

    // A purchase.

    pub(super) fn want(&self, want: Want) -> Option<Purchase> {
        let newest = self.books.sessions.len().checked_sub(1)?;
        let session = newest.saturating_sub(want.session);
        Some(Purchase { session, host: want.host, path: want.path, order: want.order })
    }

    fn insist(&mut self, which: usize, now_s: u64) {
        let asked = self.books.questions.len().saturating_sub(4);
        let asked: Vec<_> = self.books.questions[asked..].iter().map(|asked| (asked.purchase, asked.cents)).collect();
        let Some(which) = which.checked_rem(asked.len()) else { return };
        let (purchase, cents) = asked[which];
        self.claim(purchase, now_s);
        if matches!(self.slots.last(), Some(Slot::Claimed(claimed, _)) if *claimed == purchase) {
            let claimed = self.slots.iter().filter(|slot| matches!(slot, Slot::Claimed(..))).count();
            self.authorize(claimed - 1, cents, false, now_s);
        }
    }

    fn again(&self, which: usize) -> Option<Purchase> {
        let bought = self.books.lines.iter().rev().take(4).map(|line| line.purchase);
        let asked = self.books.questions.iter().rev().take(4).map(|question| question.purchase);
        let known: Vec<Purchase> = bought.chain(asked).collect();
        Some(known[which.checked_rem(known.len())?])
    }

    pub(super) fn session(&self, number: usize) -> SessionId {
        self.books.sessions[number].id.clone()
    }

    pub(super) fn random(&mut self) -> [u8; 16] {
        self.drawn += 1;
        u128::from(self.drawn).to_be_bytes()
    }

    pub(super) fn open_session(&mut self, cents: u128, life_s: u64, now_s: u64) {
        let number = self.books.sessions.len();
        let id = SessionId::from_random(self.random());
        let budget = money(&format!("{}.{:02} USD", cents / 100, cents % 100));
        let opened = self.ledger().open_session(id.clone(), name(number), budget, life_s, None).unwrap();
        assert!(matches!(opened, SessionOpened::Opened(_)), "{opened:?}");
        self.books.sessions.push(Opened { id, cents, ends_s: now_s + life_s, closed: false });
        self.saw("a session");
    }

    pub(super) fn close_session(&mut self, back: usize) {
        let Some(number) = self.books.sessions.len().checked_sub(back + 1) else { return };
        let closed = self.ledger().close_session(name(number)).unwrap();
        assert_eq!(closed.is_some(), !self.books.sessions[number].closed);
        if closed.is_some() {
            self.books.close(number);
        }
    }

    pub(super) fn quote(&mut self, want: Want, cents: u128, now_s: u64) {
        let Some(purchase) = self.want(want) else { return };
        let (id, session) = (QuoteId::from_random(self.random()), self.session(purchase.session));
        let reasons = self
            .ledger()
            .quote(
                id.clone(),
                &session,
                &errand(purchase),
                terms_of(purchase, cents),
                account(self.books.keys.pays),
                self.rules(),
            )
            .unwrap();
        let said = if reasons.is_empty() { Verdict::Yes } else { Verdict::No(codes(&reasons)) };
        assert_eq!(said, self.books.quote(purchase, cents, self.law(), now_s), "{purchase:?} for {cents}");
        if said == Verdict::Yes {
            self.books.keep_quote(id, purchase, cents, now_s);
            self.saw("a quote");
        }
    }

    pub(super) fn answer(&mut self, which: usize, yes: bool, life_s: u64, now_s: u64) {
        let waits = |at: &usize| !matches!(self.books.questions[*at].said, Said::Over | Said::Used(_));
        let open: Vec<usize> = (0..self.books.questions.len()).filter(waits).collect();
        let Some(at) = which.checked_rem(open.len()).map(|which| open[which]) else { return };
        let question = self.books.questions[at].clone();
        let Purchase { session, .. } = question.purchase;
        let binding =
            errand(question.purchase).binding(&self.session(session), &terms_of(question.purchase, question.cents));
        let decided = if yes {
            self.ledger().approve(question.id, binding, life_s).unwrap()
        } else {
            self.ledger().deny(question.id, life_s).unwrap()
        };
        let taken = self.books.answer(at, yes, life_s, now_s);
        assert_eq!(matches!(decided, Decided::Done(_)), taken, "{decided:?}");
        if taken {
            self.saw(if yes { "a yes" } else { "a no" });
        }
    }

    pub(super) fn locked(&mut self, slot: usize, cents: u128) {
        if self.books.latched {
            // A ledger that is shut asks for no lock: it only reads.
            return;
        }
        let Some((purchase, guard)) = self.take_claimed(slot) else { return };
        let (ask, _line) = self.new_ask(purchase, cents);
        self.ledger().flush().unwrap();
        let other = self.disk.lock();
        let counted = self.ledger().authorize(guard, ask, self.rules());
        drop(other);
        assert_eq!(counted.map(|_counted| ()), Err(LedgerFault::Busy));
        self.saw("a locked file");
    }

    pub(super) fn full(&mut self, slot: usize, cents: u128, now_s: u64) {
        let Some((purchase, guard)) = self.take_claimed(slot) else { return };
        let (ask, line) = self.new_ask(purchase, cents);
        let ask = Ask { envelope: "x".repeat(60_000), ..ask };
        let approval = ask.approval.clone();
        let before = self.books.clone();
        let law = (self.law(), &approval, self.rules().approval_life_s());
        let expected = self.books.ask(purchase, cents, None, law, now_s);
        self.ledger().flush().unwrap();
        self.room("(SELECT page_count FROM pragma_page_count)");
        let undone = match self.ledger().authorize(guard, ask, self.rules()) {
            Ok(counted) => {
                self.authorized(purchase, line, counted, &expected, now_s);
                // A plain no is answered before its commit: what time did on the way to it may be undone with it.
                matches!(&expected, Verdict::No(codes) if !codes.contains("needs_approval") && !codes.contains("too_many_approvals"))
            }
            Err(fault) => {
                assert!(matches!(fault, LedgerFault::Storage { .. }), "{fault:?}");
                true
            }
        };
        // What nobody waits for may have found no room either.
        let flushed = self.ledger().flush();
        if flushed.is_err() || self.ledger().latched().is_some() {
            if undone {
                self.books = before;
            }
            self.books.latched = true;
        }
        if self.books.latched {
            self.saw("a full disk");
            let from_s = self.ledger().time().now_s;
            self.unlatch(from_s);
        } else {
            self.room("1073741823");
        }
    }

    pub(super) fn room(&self, pages: &'static str) {
        let made = self.ledger().writer.ask(move |tx| {
            let pages: i64 = tx.conn.file()?.query_row(&format!("SELECT {pages}"), [], |row| row.get(0))?;
            tx.conn.file()?.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_row| Ok(()))?;
            Ok(Answer::AtOnce(()))
        });
        made.unwrap();
    }
}
