//! Money that is moved out and another account that pays: each done on the real ledger and in the books. Must never let one
//! go on where the other said no.

use bursar_policy::chain::Address;
use bursar_policy::errand::SweepId;
use bursar_policy::money::Amount;

use super::super::checkpoints::key;
use super::super::world::{CENT, PAYER, terms};
use super::books::Books;
use super::form::proof;
use super::life::Life;
use crate::ledger::{EXPIRY_MARGIN_S, Handover, LedgerFault, Ordering, Refused, Rotated, RowState};
use crate::protocol::{ChainVerdict, SweepState};

const TO: Address = Address::from_bytes([0x44; 20]);

/// Whose money it is: which account pays, by how often it was changed, and what was moved out.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    pub(super) pays: u8,
    pub(super) swept: Vec<Swept>,
}

/// One sweep.
#[derive(Clone, Debug)]
pub(super) struct Swept {
    pub(super) id: SweepId,
    account: u8,
    over_s: u64,
    pub(super) state: SweepState,
}

/// The account that pays after so many changes.
pub(super) const fn account(changes: u8) -> Address {
    match changes {
        0 => PAYER,
        changes => Address::from_bytes([changes; 20]),
    }
}

/// What becomes of the wish to move money out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Ordered,
    Shut,
    Live,
    Unseen,
    Short,
}

impl Books {
    /// What time does to sweeps, whenever the ledger looks at them.
    pub(super) fn end_sweeps(&mut self, now_s: u64) {
        let due = |swept: &&mut Swept| swept.state == SweepState::Ordered && swept.over_s <= now_s;
        self.keys.swept.iter_mut().filter(due).for_each(|swept| swept.state = SweepState::Presumed);
    }

    fn is_swept(&self, account: u8, now_s: u64) -> bool {
        let live = |swept: &Swept| swept.state == SweepState::Ordered && now_s < swept.over_s;
        self.keys.swept.iter().any(|swept| swept.account == account && live(swept))
    }

    /// What payments may still take out of an account, in cents.
    fn reserved(&self, account: u8, now_s: u64) -> u128 {
        let takes = self.lines.iter().filter(|line| {
            let alive = now_s < line.ends_s + EXPIRY_MARGIN_S && line.state != RowState::Voided && !line.proved;
            alive && line.payer == account
        });
        takes.map(|line| line.cents).sum()
    }

    fn order(&mut self, account: u8, cents: u128, seen: Option<u128>, now_s: u64) -> Said {
        if self.latched {
            return Said::Shut;
        }
        self.end_sweeps(now_s);
        let reserved = self.reserved(account, now_s);
        match seen {
            _ if self.is_swept(account, now_s) => Said::Live,
            None if reserved != 0 => Said::Unseen,
            Some(seen) if seen.saturating_sub(reserved) < cents => Said::Short,
            _ => Said::Ordered,
        }
    }
}

impl Life {
    /// A person has so many cents moved out of the account that pays, or of the one before.
    pub(super) fn move_out(&mut self, former: bool, cents: u128, seen: Option<u128>, life_s: u64, now_s: u64) {
        let pays = self.books.keys.pays;
        let of = pays.saturating_sub(u8::from(former));
        let (id, mut nonce) = (SweepId::from_random(self.random()), [0; 32]);
        nonce[16..].copy_from_slice(&self.random());
        let wanted = Ordering {
            id: id.clone(),
            account: account(of),
            to: TO,
            asset: self.rules().asset(&terms(1).asset_id()).unwrap().clone(),
            amount: Amount::new(cents * CENT).unwrap(),
            nonce,
            life_s,
            balance: seen.map(|seen| seen * CENT),
        };
        let expected = self.books.order(of, cents, seen, now_s);
        let said = match self.ledger().order(wanted).unwrap() {
            Err(Refused::Shut) => Said::Shut,
            Err(Refused::Live(_)) => Said::Live,
            Err(Refused::Unseen { .. }) => Said::Unseen,
            Err(Refused::Short { .. }) => Said::Short,
            Err(other) => panic!("{other:?}"),
            Ok(ordered) => {
                let there = "SELECT 1 FROM sweep WHERE id = ?1";
                let found = self.witness.as_ref().unwrap().query_row(there, [id.as_str()], |_row| Ok(()));
                assert_eq!(found, Ok(()), "may be signed before it is on the disk");
                assert_eq!(self.ledger().ordered(&id).unwrap(), ordered, "the same to be signed again");
                Said::Ordered
            }
        };
        assert_eq!(said, expected, "{cents} of account {of}, seen {seen:?} at {now_s}");
        if said == Said::Ordered {
            let over_s = now_s + life_s + EXPIRY_MARGIN_S;
            self.books.keys.swept.push(Swept { id, account: of, over_s, state: SweepState::Ordered });
            self.books.frozen |= of == pays;
        }
        self.saw(match said {
            Said::Ordered => "a sweep",
            Said::Live => "a sweep beside one that is live",
            Said::Unseen | Said::Short => "a sweep of what payments may take",
            Said::Shut => "a sweep out of a ledger that is shut",
        });
    }

    /// A person lets another account pay.
    pub(super) fn rotate(&mut self, now_s: u64) {
        let pays = self.books.keys.pays;
        let (from, to) = (account(pays), account(pays + 1));
        let rotated = self.ledger().rotate(Handover { from, to, key: key(pays + 1), next: key(pays + 2) }).unwrap();
        if self.books.latched {
            assert_eq!(rotated, Rotated::Shut);
            return;
        }
        self.books.pass(now_s);
        if self.books.lines.iter().any(|line| line.is_pending()) {
            assert!(matches!(rotated, Rotated::Open { .. }), "{rotated:?}");
            return self.saw("an account that stays while a payment is open");
        }
        assert_eq!(rotated, Rotated::Done);
        self.books.keys.pays += 1;
        self.saw("another account");
    }

    /// What a chain shows of a sweep ends it once, and nothing says before its end that it was not used.
    pub(super) fn prove_sweep(&mut self, which: usize, verdict: ChainVerdict, early: bool) {
        let Some(at) = which.checked_rem(self.books.keys.swept.len()) else { return };
        let Swept { id, over_s, state, .. } = self.books.keys.swept[at].clone();
        let proved = self.ledger().prove_sweep(&id, proof(verdict, if early { over_s - 1 } else { over_s }));
        let is_over = matches!(state, SweepState::Moved | SweepState::Unmoved);
        if self.books.latched || is_over {
            assert_eq!(proved, Ok(false));
            return;
        }
        if early && verdict == ChainVerdict::Unused {
            assert!(matches!(proved, Err(LedgerFault::Rule { .. })), "{proved:?}");
            return;
        }
        assert_eq!(proved, Ok(true));
        let moved = verdict == ChainVerdict::Paid;
        self.books.keys.swept[at].state = if moved { SweepState::Moved } else { SweepState::Unmoved };
        self.saw("a sweep that a chain shows");
    }

    /// Allows spending, where no sweep may take the money.
    pub(super) fn thaw(&mut self, now_s: u64) {
        let thawed = self.ledger().thaw();
        if !self.books.frozen {
            return assert_eq!(thawed, Ok(()));
        }
        if self.books.is_swept(self.books.keys.pays, now_s) {
            assert!(matches!(thawed, Err(LedgerFault::SweepLive { .. })), "{thawed:?}");
            return self.saw("a thaw that a sweep holds back");
        }
        assert_eq!(thawed, Ok(()));
        self.books.end_sweeps(now_s);
        self.books.frozen = false;
    }

    /// The account and every sweep are as the books have them.
    pub(super) fn check_keys(&self) {
        assert_eq!(self.ledger().key_address().unwrap(), Some(account(self.books.keys.pays)));
        let newest = self.books.keys.swept.len().saturating_sub(50);
        let expected = self.books.keys.swept[newest..].iter().map(|swept| (swept.id.clone(), swept.state));
        let found = self.ledger().sweeps().unwrap().into_iter().map(|found| (found.id, found.state));
        assert!(found.eq(expected), "{:?}", self.books.keys.swept);
    }
}
