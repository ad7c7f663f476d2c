//! One life of a ledger: acts on the real one and in the second bookkeeping, compared after each. Must never read a clock,
//! nor wait for one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bursar_policy::errand::{ApprovalId, Errand, PaymentId, PurchaseId, QuoteId, SessionId, SessionName};
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Rules;
use bursar_policy::terms::Terms;
use rusqlite::Connection;

use super::super::world::{self, CENT, LIFE_S, PAYER, drawn, errand_at, money, terms};
use super::act::{Act, Want, Word};
use super::books::{Books, Codes, Found, Law, NewLine, Opened, Purchase, Said, Verdict};
use super::law::{self, LAWS};
use super::place::{Disk, Wall};
use crate::clock::Trust;
use crate::ledger::claim::Taken;
use crate::ledger::{
    Answer, Ask, Claim, ClaimGuard, Counted, Decided, HANDLE_LIFE_S, Held, Ledger, LedgerFault, NotSigned, Redeemed,
    Redeemer, Reservation, RowState, SessionOpened, Unredeemable,
};
use crate::protocol::{Report, SettlementClaim};

/// What a client has in its hands.
#[derive(Debug)]
enum Slot {
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
    witness: Option<Connection>,
    laws: Vec<Arc<Rules>>,
    law: usize,
    pub(super) books: Books,
    slots: Vec<Slot>,
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
        life
    }

    pub(super) fn ledger(&self) -> &Ledger {
        self.ledger.as_ref().unwrap()
    }

    fn rules(&self) -> &Arc<Rules> {
        &self.laws[self.law]
    }

    fn law(&self) -> &'static Law {
        &LAWS[self.law]
    }

    fn saw(&mut self, what: &'static str) {
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
            Act::Claim { want } => self.claim(*want, now_s),
            Act::Authorize { slot, cents, quoted } => self.authorize(*slot, *cents, *quoted, now_s),
            Act::SameNonce { slot, cents } => self.same_nonce(*slot, *cents, now_s),
            Act::Hold { slot, cents } => self.hold(*slot, *cents, now_s),
            Act::Sign { slot, other } => self.sign(*slot, *other),
            Act::Void { slot } => self.void(*slot, now_s),
            Act::Report { slot, word } => self.report(*slot, *word, now_s),
            Act::Leave { slot } => {
                if let Some(at) = slot.checked_rem(self.slots.len()) {
                    self.slots.remove(at);
                }
            }
            Act::Redeem { which, right } => self.redeem(*which, *right, now_s),
            Act::Quote { want, cents } => self.quote(*want, *cents, now_s),
            Act::Answer { which, yes, life_s } => self.answer(*which, *yes, *life_s, now_s),
            Act::Pass { seconds } => self.wall.pass(*seconds),
            Act::Leap { on, seconds } => self.wall.leap(*on, *seconds),
            Act::Sweep => {
                self.ledger().sweep().unwrap();
                self.books.pass(now_s);
            }
            Act::Rules { which } => self.law = which % LAWS.len(),
            Act::Freeze => {
                self.ledger().freeze("a person is worried").unwrap();
                self.books.frozen = true;
            }
            Act::Thaw => {
                self.ledger().thaw().unwrap();
                self.books.frozen = false;
            }
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

    fn open(&mut self) {
        self.ledger = Some(self.disk.open(&self.wall));
        self.witness = Some(self.disk.witness());
        let now_s = self.ledger().time().now_s;
        self.books.restart(now_s);
    }

    /// Nothing of the process is left but what is on the disk.
    fn end(&mut self) {
        (self.ledger, self.witness) = (None, None);
        self.slots.clear();
    }

    fn crash(&mut self) {
        self.ledger().flush().unwrap();
        self.end();
        self.open();
        self.saw("a crash");
    }

    /// Killed before the commit: on the disk it never happened, and nobody heard that it did.
    fn crash_in(&mut self, act: &Act, now_s: u64) {
        self.ledger().flush().unwrap();
        let (disk, books) = (self.disk.copy(), self.books.clone());
        self.act(act, now_s);
        self.end();
        self.disk.put_back(&disk);
        self.books = books;
        self.open();
        self.saw("a crash in an act");
    }

    fn unlatch(&mut self, from_s: u64) {
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

    fn want(&self, want: Want) -> Option<Purchase> {
        let newest = self.books.sessions.len().checked_sub(1)?;
        let session = newest.saturating_sub(want.session);
        Some(Purchase { session, host: want.host, path: want.path, order: want.order })
    }

    fn session(&self, number: usize) -> SessionId {
        self.books.sessions[number].id.clone()
    }

    fn random(&mut self) -> [u8; 16] {
        self.drawn += 1;
        u128::from(self.drawn).to_be_bytes()
    }

    fn open_session(&mut self, cents: u128, life_s: u64, now_s: u64) {
        let number = self.books.sessions.len();
        let id = SessionId::from_random(self.random());
        let budget = money(&format!("{}.{:02} USD", cents / 100, cents % 100));
        let opened = self.ledger().open_session(id.clone(), name(number), budget, life_s, None).unwrap();
        assert!(matches!(opened, SessionOpened::Opened(_)), "{opened:?}");
        self.books.sessions.push(Opened { id, cents, ends_s: now_s + life_s, closed: false });
        self.saw("a session");
    }

    fn close_session(&mut self, back: usize) {
        let Some(number) = self.books.sessions.len().checked_sub(back + 1) else { return };
        let closed = self.ledger().close_session(name(number)).unwrap();
        assert_eq!(closed.is_some(), !self.books.sessions[number].closed);
        if closed.is_some() {
            self.books.close(number);
        }
    }

    fn claim(&mut self, want: Want, now_s: u64) {
        let Some(purchase) = self.want(want) else { return };
        let in_flight = self.slots.iter().any(|slot| match slot {
            Slot::Claimed(other, _) => *other == purchase,
            Slot::Exposed(at, _) => self.books.lines[*at].purchase == purchase,
        });
        let session = self.session(purchase.session);
        let claim = self.ledger().claim(&session, errand(purchase), self.rules(), Duration::ZERO).unwrap();
        let expected = self.books.claim(purchase, in_flight, now_s);
        let found = match claim {
            Claim::New(guard) => {
                self.slots.push(Slot::Claimed(purchase, guard));
                Found::New
            }
            Claim::InFlight => Found::InFlight,
            Claim::Repeat(past) => Found::Repeat(past.receipt.state),
            Claim::Refused(reasons) => Found::Refused(codes(&reasons)),
            Claim::Resend { reservation, signed } => {
                let at = self.books.lines.iter().position(|line| line.id == *reservation.payment()).unwrap();
                assert_eq!(signed.authorization.nonce, self.books.lines[at].nonce);
                self.slots.push(Slot::Exposed(at, reservation));
                Found::Resend(signed.signature)
            }
        };
        self.saw(match &found {
            Found::New => "a claim",
            Found::InFlight => "a purchase in flight",
            Found::Repeat(_) => "a repeat",
            Found::Resend(_) => "the same bytes again",
            Found::Refused(_) => "a claim that was refused",
        });
        assert_eq!(found, expected, "{purchase:?}");
    }

    fn take_claimed(&mut self, slot: usize) -> Option<(Purchase, ClaimGuard)> {
        let claimed: Vec<usize> =
            (0..self.slots.len()).filter(|at| matches!(self.slots[*at], Slot::Claimed(..))).collect();
        match self.slots.remove(claimed[slot.checked_rem(claimed.len())?]) {
            Slot::Claimed(purchase, guard) => Some((purchase, guard)),
            Slot::Exposed(..) => None,
        }
    }

    /// The place of a payment in somebody's hands: in the slots, and in the books.
    fn exposed(&self, slot: usize) -> Option<(usize, usize)> {
        let exposed = |at: &usize| match self.slots[*at] {
            Slot::Exposed(line, _) => Some((*at, line)),
            Slot::Claimed(..) => None,
        };
        let found: Vec<_> = (0..self.slots.len()).filter_map(|at| exposed(&at)).collect();
        Some(found[slot.checked_rem(found.len())?])
    }

    fn new_ask(&mut self, purchase: Purchase, cents: u128) -> (Ask, NewLine) {
        let (random, approval) = (self.random(), self.random());
        let mut nonce = [0; 32];
        nonce[..16].copy_from_slice(&random);
        let (terms, id) = (terms_of(purchase, cents), PaymentId::from_random(random));
        let life_s = terms.max_timeout_s.min(LIFE_S);
        let line = NewLine { purchase, cents, id: id.clone(), nonce, life_s };
        let approval = ApprovalId::from_random(approval);
        (Ask { terms, envelope: "{}".to_owned(), payer: PAYER, payment: id, approval, nonce }, line)
    }

    fn authorize(&mut self, slot: usize, cents: u128, quoted: bool, now_s: u64) {
        let Some((purchase, guard)) = self.take_claimed(slot) else { return };
        let quote = if quoted { self.books.last_quote() } else { None };
        let guard = match &quote {
            None => guard,
            Some(_) => self.claim_with(guard, purchase, quote.clone()),
        };
        let (ask, line) = self.new_ask(purchase, cents);
        let approval = ask.approval.clone();
        let law = (self.law(), &approval, self.rules().approval_life_s());
        let expected = self.books.ask(purchase, cents, quote.as_ref(), law, now_s);
        let counted = self.ledger().authorize(guard, ask, self.rules()).unwrap();
        self.authorized(purchase, line, counted, &expected, now_s);
    }

    /// The same claim again, for the same purchase at a quoted price or at any.
    fn claim_with(&self, guard: ClaimGuard, purchase: Purchase, quote: Option<QuoteId>) -> ClaimGuard {
        drop(guard);
        let errand = Errand { quote, ..errand(purchase) };
        let claim = self.ledger().claims.take(&self.session(purchase.session), errand, Duration::ZERO);
        match claim {
            Taken::Mine(guard) => guard,
            _ => panic!("the claim was just given up"),
        }
    }

    fn authorized(&mut self, purchase: Purchase, line: NewLine, counted: Counted, expected: &Verdict, now_s: u64) {
        match counted {
            Counted::Yes(reservation) => {
                assert_eq!(*expected, Verdict::Yes, "{purchase:?} for {} at {now_s}", line.cents);
                assert_eq!(reservation.exposed().authorization().nonce, line.nonce);
                self.slots.push(Slot::Exposed(self.books.lines.len(), reservation));
                self.counted(line, false, now_s);
            }
            Counted::No { claim, reasons } => {
                assert_eq!(Verdict::No(codes(&reasons)), *expected, "{purchase:?} for {} at {now_s}", line.cents);
                let claim = self.claim_with(claim, purchase, None);
                self.slots.push(Slot::Claimed(purchase, claim));
                self.refused(&reasons);
            }
        }
    }

    /// From here on a signature may exist: it must be on the disk, where another process sees it.
    fn counted(&mut self, line: NewLine, hold: bool, now_s: u64) {
        let on_disk = self.on_disk(&line.id);
        assert_eq!(on_disk.map(|(nonce, _)| nonce), Some(hex::encode(line.nonce)), "answered before it was counted");
        self.books.count(line, hold, now_s);
        self.saw(if hold { "money held" } else { "money exposed" });
    }

    fn refused(&mut self, reasons: &[Refusal]) {
        reasons.iter().for_each(|reason| self.saw(reason.code()));
    }

    /// The nonce and the signature of a payment, as another process finds them.
    fn on_disk(&self, id: &PaymentId) -> Option<(String, Option<String>)> {
        let mut found =
            self.witness.as_ref()?.prepare_cached("SELECT nonce, signature FROM payment WHERE id = ?1").unwrap();
        let mut rows = found.query([id.as_str()]).unwrap();
        rows.next().unwrap().map(|row| (row.get(0).unwrap(), row.get(1).unwrap()))
    }

    fn same_nonce(&mut self, slot: usize, cents: u128, now_s: u64) {
        let Some(nonce) = self.books.lines.last().map(|line| line.nonce) else { return };
        let Some((purchase, guard)) = self.take_claimed(slot) else { return };
        let (ask, line) = self.new_ask(purchase, cents);
        let approval = ask.approval.clone();
        let before = self.books.clone();
        let law = (self.law(), &approval, self.rules().approval_life_s());
        let expected = self.books.ask(purchase, cents, None, law, now_s);
        match self.ledger().authorize(guard, Ask { nonce, ..ask }, self.rules()) {
            Ok(counted) => {
                assert_ne!(expected, Verdict::Yes, "a nonce was counted twice");
                self.authorized(purchase, line, counted, &expected, now_s);
            }
            Err(fault) => {
                assert!(expected == Verdict::Yes && matches!(fault, LedgerFault::Rule { .. }), "{fault:?}");
                self.books = before;
                self.saw("a nonce for the second time");
            }
        }
    }

    fn hold(&mut self, slot: usize, cents: u128, now_s: u64) {
        let Some((purchase, guard)) = self.take_claimed(slot) else { return };
        let (ask, line) = self.new_ask(purchase, cents);
        let approval = ask.approval.clone();
        let law = (self.law(), &approval, self.rules().approval_life_s());
        let expected = self.books.ask(purchase, cents, None, law, now_s);
        let handle = drawn(&ask.payment);
        match self.ledger().hold(guard, ask, handle, self.rules()).unwrap() {
            Held::Yes(_) => {
                assert_eq!(expected, Verdict::Yes, "{purchase:?} for {cents} at {now_s}");
                self.counted(line, true, now_s);
            }
            Held::No { claim, reasons } => {
                assert_eq!(Verdict::No(codes(&reasons)), expected, "{purchase:?} for {cents} at {now_s}");
                self.slots.push(Slot::Claimed(purchase, claim));
                self.refused(&reasons);
            }
        }
    }

    fn redeem(&mut self, which: usize, right: bool, now_s: u64) {
        let handles: Vec<usize> = (0..self.books.lines.len())
            .filter(|at| self.books.lines[*at].drawn_s.is_some() || self.books.lines[*at].redeemed)
            .collect();
        let Some(at) = which.checked_rem(handles.len()).map(|which| handles[which]) else { return };
        let line = self.books.lines[at].clone();
        let page = if right { line.purchase } else { Purchase { path: line.purchase.path + 1, ..line.purchase } };
        let who = Redeemer {
            handle: drawn(&line.id).digest,
            session: name(line.purchase.session),
            site: Some(errand(page).site),
        };
        let in_flight = self.slots.iter().any(|slot| match slot {
            Slot::Claimed(other, _) => *other == line.purchase,
            Slot::Exposed(at, _) => self.books.lines[*at].purchase == line.purchase,
        });
        let good = line.drawn_s.is_some_and(|drawn_s| drawn_s <= now_s && now_s < drawn_s + HANDLE_LIFE_S);
        match self.ledger().redeem(&who, self.rules(), Duration::ZERO).unwrap() {
            Redeemed::Not(Unredeemable::Used) => assert!(line.redeemed, "{line:?}"),
            Redeemed::Not(Unredeemable::Expired) => assert!(!line.redeemed && !good, "{line:?} at {now_s}"),
            Redeemed::Not(Unredeemable::OtherPage) => assert!(good && !right, "{line:?}"),
            Redeemed::InFlight => assert!(good && right && in_flight, "{line:?}"),
            Redeemed::Refused(reasons) => {
                assert!(good && right && !in_flight, "{line:?}");
                assert_eq!(Verdict::No(codes(&reasons)), self.books.redeem(at, self.law(), now_s), "{line:?}");
                self.saw("a handle that was refused");
            }
            Redeemed::First { reservation, .. } => {
                assert!(good && right && !in_flight, "{line:?} at {now_s}");
                assert_eq!(self.books.redeem(at, self.law(), now_s), Verdict::Yes, "{line:?}");
                self.books.expose(at, now_s);
                self.slots.push(Slot::Exposed(at, reservation));
                self.saw("a handle that was redeemed");
            }
            other => panic!("{other:?}"),
        }
    }

    fn sign(&mut self, slot: usize, other: bool) {
        let Some((slot, at)) = self.exposed(slot) else { return };
        let line = self.books.lines[at].clone();
        let signature = signature(&line.nonce, other);
        let Slot::Exposed(_, reservation) = &self.slots[slot] else { return };
        let stored = self.ledger().store_signature(reservation, &signature);
        let expected = match &line.signature {
            Some(known) => *known == signature,
            None => line.state == RowState::Exposed,
        };
        assert_eq!(stored.is_ok(), expected, "{stored:?}: {line:?}");
        if stored.is_err() {
            return self.saw("a signature that came too late or differs");
        }
        assert_eq!(
            self.on_disk(&line.id),
            Some((hex::encode(line.nonce), Some(signature.clone()))),
            "handed out early"
        );
        self.books.sign(at, &signature);
        self.saw("a signature");
    }

    fn void(&mut self, slot: usize, now_s: u64) {
        let Some((slot, at)) = self.exposed(slot) else { return };
        let Slot::Exposed(_, reservation) = self.slots.remove(slot) else { return };
        let voided = self.ledger().void(*reservation, NotSigned::by_the_signer());
        let line = &self.books.lines[at];
        let unsigned = line.state == RowState::Exposed && line.signature.is_none();
        assert_eq!(voided.is_ok(), unsigned, "{voided:?}: {line:?}");
        if voided.is_ok() {
            self.books.void(at, now_s);
            self.saw("money that came back");
        }
    }

    fn report(&mut self, slot: usize, word: Word, now_s: u64) {
        let Some((slot, at)) = self.exposed(slot) else { return };
        let Slot::Exposed(_, reservation) = &self.slots[slot] else { return };
        let receipt = self.ledger().report(reservation, report(word), self.rules().breaker()).unwrap();
        self.books.report(at, word, now_s);
        assert_eq!(receipt.state, self.books.lines[at].state);
        self.saw(if receipt.state == RowState::Settled { "a settlement" } else { "a report" });
    }

    // People.

    fn quote(&mut self, want: Want, cents: u128, now_s: u64) {
        let Some(purchase) = self.want(want) else { return };
        let (id, session) = (QuoteId::from_random(self.random()), self.session(purchase.session));
        let reasons = self
            .ledger()
            .quote(id.clone(), &session, &errand(purchase), terms_of(purchase, cents), PAYER, self.rules())
            .unwrap();
        let said = if reasons.is_empty() { Verdict::Yes } else { Verdict::No(codes(&reasons)) };
        assert_eq!(said, self.books.quote(purchase, cents, self.law(), now_s), "{purchase:?} for {cents}");
        if said == Verdict::Yes {
            self.books.keep_quote(id, purchase, cents, now_s);
            self.saw("a quote");
        }
    }

    fn answer(&mut self, which: usize, yes: bool, life_s: u64, now_s: u64) {
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

    // Trouble.

    fn locked(&mut self, slot: usize, cents: u128) {
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

    fn full(&mut self, slot: usize, cents: u128, now_s: u64) {
        let Some((purchase, guard)) = self.take_claimed(slot) else { return };
        let (ask, line) = self.new_ask(purchase, cents);
        let ask = Ask { envelope: "x".repeat(60_000), ..ask };
        let approval = ask.approval.clone();
        let before = self.books.clone();
        let law = (self.law(), &approval, self.rules().approval_life_s());
        let expected = self.books.ask(purchase, cents, None, law, now_s);
        self.ledger().flush().unwrap();
        self.room("(SELECT page_count FROM pragma_page_count)");
        match self.ledger().authorize(guard, ask, self.rules()) {
            Ok(counted) => self.authorized(purchase, line, counted, &expected, now_s),
            Err(fault) => {
                assert!(matches!(fault, LedgerFault::Storage { .. }), "{fault:?}");
                self.books = before;
            }
        }
        // What nobody waits for may have found no room either.
        let flushed = self.ledger().flush();
        self.books.latched |= flushed.is_err() || self.ledger().latched().is_some();
        if self.books.latched {
            self.saw("a full disk");
            let from_s = self.ledger().time().now_s;
            self.unlatch(from_s);
        } else {
            self.room("1073741823");
        }
    }

    fn room(&self, pages: &'static str) {
        let made = self.ledger().writer.ask(move |tx| {
            let pages: i64 = tx.conn.query_row(&format!("SELECT {pages}"), [], |row| row.get(0))?;
            tx.conn.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_row| Ok(()))?;
            Ok(Answer::AtOnce(()))
        });
        made.unwrap();
    }
}

fn name(session: usize) -> SessionName {
    format!("s{session}").parse().unwrap()
}

fn errand(purchase: Purchase) -> Errand {
    let host = if purchase.host == 0 { "api.example.com" } else { "shop.example.org" };
    let purchase_id = purchase.order.map(|order| format!("order-{order}").parse::<PurchaseId>().unwrap());
    Errand { purchase_id, ..errand_at(&format!("https://{host}/{}", purchase.path)) }
}

/// Terms whose life depends on the page.
fn terms_of(purchase: Purchase, cents: u128) -> Terms {
    Terms { max_timeout_s: if purchase.path == 0 { 600 } else { 90 }, ..terms(cents * CENT) }
}

fn codes(reasons: &[Refusal]) -> Codes {
    reasons.iter().map(Refusal::code).collect::<BTreeSet<_>>()
}

fn signature(nonce: &[u8; 32], other: bool) -> String {
    let nonce = hex::encode(nonce);
    format!("0x{nonce}{nonce}{}", if other { "1c" } else { "1b" })
}

fn report(word: Word) -> Report {
    let settled = world::settled();
    match word {
        Word::Silence => world::silence(),
        Word::Settled => world::answered(Some(settled)),
        Word::Failed => Report { settlement: Some(SettlementClaim { success: false, ..settled }), ..world::silence() },
        Word::Delivered => world::answered(None),
        Word::OtherPayer => {
            world::answered(Some(SettlementClaim { payer: Some(format!("0x{}", "33".repeat(20))), ..settled }))
        }
        Word::NoTransaction => world::answered(Some(SettlementClaim { transaction: None, ..settled })),
    }
}
