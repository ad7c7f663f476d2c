//! The steps of one purchase, each done on the real ledger and in the books. Must never let one go on where the other said
//! no.

use std::time::Duration;

use bursar_policy::errand::{ApprovalId, Errand, PaymentId, QuoteId};
use bursar_policy::refusal::Refusal;

use super::super::world::{LIFE_S, drawn};
use super::act::Word;
use super::books::{Found, Purchase, Verdict};
use super::form::{codes, errand, name, proof, report, signature, terms_of};
use super::keys::account;
use super::life::{Life, Slot};
use crate::ledger::claim::Taken;
use crate::ledger::{
    Ask, Claim, ClaimGuard, Counted, EXPIRY_MARGIN_S, HANDLE_LIFE_S, Held, LedgerFault, Moved, NotSigned, Redeemed,
    Redeemer, RowState, Unredeemable,
};
use crate::protocol::{ChainOutcome, ChainVerdict};

/// What is known of a payment when it is counted.
#[derive(Clone, Debug)]
pub(super) struct NewLine {
    pub(super) purchase: Purchase,
    pub(super) cents: u128,
    pub(super) id: PaymentId,
    pub(super) nonce: [u8; 32],
    pub(super) life_s: u64,
}

impl Life {
    pub(super) fn claim(&mut self, purchase: Purchase, now_s: u64) {
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

    pub(super) fn take_claimed(&mut self, slot: usize) -> Option<(Purchase, ClaimGuard)> {
        let claimed: Vec<usize> =
            (0..self.slots.len()).filter(|at| matches!(self.slots[*at], Slot::Claimed(..))).collect();
        match self.slots.remove(claimed[slot.checked_rem(claimed.len())?]) {
            Slot::Claimed(purchase, guard) => Some((purchase, guard)),
            Slot::Exposed(..) => None,
        }
    }

    /// The place of a payment in somebody's hands: in the slots, and in the books.
    pub(super) fn exposed(&self, slot: usize) -> Option<(usize, usize)> {
        let exposed = |at: &usize| match self.slots[*at] {
            Slot::Exposed(line, _) => Some((*at, line)),
            Slot::Claimed(..) => None,
        };
        let found: Vec<_> = (0..self.slots.len()).filter_map(|at| exposed(&at)).collect();
        Some(found[slot.checked_rem(found.len())?])
    }

    pub(super) fn new_ask(&mut self, purchase: Purchase, cents: u128) -> (Ask, NewLine) {
        let (random, approval) = (self.random(), self.random());
        let mut nonce = [0; 32];
        nonce[..16].copy_from_slice(&random);
        let (terms, id) = (terms_of(purchase, cents), PaymentId::from_random(random));
        let life_s = terms.max_timeout_s.min(LIFE_S);
        let line = NewLine { purchase, cents, id: id.clone(), nonce, life_s };
        let approval = ApprovalId::from_random(approval);
        let payer = account(self.books.keys.pays);
        (Ask { terms, envelope: "{}".to_owned(), payer, payment: id, approval, nonce }, line)
    }

    pub(super) fn authorize(&mut self, slot: usize, cents: u128, quoted: bool, now_s: u64) {
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
    pub(super) fn claim_with(&self, guard: ClaimGuard, purchase: Purchase, quote: Option<QuoteId>) -> ClaimGuard {
        drop(guard);
        let errand = Errand { quote, ..errand(purchase) };
        let claim = self.ledger().claims.take(&self.session(purchase.session), errand, Duration::ZERO);
        match claim {
            Taken::Mine(guard) => guard,
            _ => panic!("the claim was just given up"),
        }
    }

    pub(super) fn authorized(
        &mut self,
        purchase: Purchase,
        line: NewLine,
        counted: Counted,
        expected: &Verdict,
        now_s: u64,
    ) {
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
    pub(super) fn counted(&mut self, line: NewLine, hold: bool, now_s: u64) {
        let on_disk = self.on_disk(&line.id);
        assert_eq!(on_disk.map(|(nonce, _)| nonce), Some(hex::encode(line.nonce)), "answered before it was counted");
        self.books.count(line, hold, now_s);
        self.saw(if hold { "money held" } else { "money exposed" });
    }

    pub(super) fn refused(&mut self, reasons: &[Refusal]) {
        reasons.iter().for_each(|reason| self.saw(reason.code()));
    }

    /// The nonce and the signature of a payment, as another process finds them.
    pub(super) fn on_disk(&self, id: &PaymentId) -> Option<(String, Option<String>)> {
        let mut found =
            self.witness.as_ref()?.prepare_cached("SELECT nonce, signature FROM payment WHERE id = ?1").unwrap();
        let mut rows = found.query([id.as_str()]).unwrap();
        rows.next().unwrap().map(|row| (row.get(0).unwrap(), row.get(1).unwrap()))
    }

    pub(super) fn same_nonce(&mut self, slot: usize, cents: u128, now_s: u64) {
        // Another account may draw the same.
        let last = self.books.lines.last().filter(|line| line.payer == self.books.keys.pays);
        let Some(nonce) = last.map(|line| line.nonce) else { return };
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

    pub(super) fn hold(&mut self, slot: usize, cents: u128, now_s: u64) {
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

    pub(super) fn redeem(&mut self, which: usize, right: bool, now_s: u64) {
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

    pub(super) fn sign(&mut self, slot: usize, other: bool) {
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

    pub(super) fn void(&mut self, slot: usize, now_s: u64) {
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

    pub(super) fn report(&mut self, slot: usize, word: Word, now_s: u64) {
        let Some((slot, at)) = self.exposed(slot) else { return };
        let Slot::Exposed(_, reservation) = &self.slots[slot] else { return };
        let said = report(word, account(self.books.lines[at].payer));
        let receipt = self.ledger().report(reservation, said, self.rules().breaker()).unwrap();
        self.books.report(at, word, now_s);
        assert_eq!(receipt.state, self.books.lines[at].state);
        self.saw(if receipt.state == RowState::Settled { "a settlement" } else { "a report" });
    }

    /// What a chain shows moves a payment once, and frees only what had its whole life.
    pub(super) fn prove(&mut self, which: usize, verdict: ChainVerdict, early: bool, now_s: u64) {
        let newest = self.books.lines.len().saturating_sub(8);
        let Some(at) = which.checked_rem(self.books.lines.len() - newest).map(|which| newest + which) else { return };
        let line = self.books.lines[at].clone();
        let over_s = line.ends_s + EXPIRY_MARGIN_S;
        let proof = proof(verdict, if early { over_s - 1 } else { over_s });
        let moved = self.ledger().prove(&line.id, proof, self.rules().breaker());
        if early && verdict == ChainVerdict::Unused && !line.proved && !self.books.latched {
            assert!(matches!(moved, Err(LedgerFault::Rule { .. })), "{moved:?}: {line:?}");
            return self.saw("a proof that came too early");
        }
        let outcome = self.books.prove(at, verdict, now_s);
        assert_eq!(moved.unwrap(), outcome.map_or(Moved::Nothing, Moved::Now), "{verdict:?}: {line:?}");
        self.saw(match outcome {
            None => "a proof that moves nothing",
            Some(ChainOutcome::Confirmed) => "a proof that a settled payment is",
            Some(ChainOutcome::Settled) => "a proof that settles",
            Some(ChainOutcome::Denied) => "a proof that a seller lied",
            Some(ChainOutcome::Lapsed) => "a proof that frees",
        });
    }
}
