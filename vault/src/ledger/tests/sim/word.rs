//! What people said and what was quoted, in the second bookkeeping. Must never count money.

use bursar_policy::errand::{ApprovalId, QuoteId};

use super::books::{Books, Law, Purchase, Verdict};
use crate::ledger::{APPROVALS_WAITING_MAX, QUOTE_LIFE_S};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    Yes,
    No,
    Used(usize),
    Over,
}

/// A purchase before a person.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) id: ApprovalId,
    pub(super) purchase: Purchase,
    pub(super) cents: u128,
    pub(super) said: Said,
    pub(super) asked_s: u64,
    pub(super) decided_s: u64,
    pub(super) ends_s: u64,
}

impl Question {
    pub(super) const fn is_open(&self) -> bool {
        matches!(self.said, Said::Nothing | Said::Yes | Said::No)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Quoted {
    pub(super) id: QuoteId,
    pub(super) purchase: Purchase,
    pub(super) cents: u128,
    pub(super) ends_s: u64,
}

impl Books {
    pub(super) fn said(&self, purchase: Purchase, cents: u128, now_s: u64, own: Option<usize>) -> Said {
        match self.open_question(purchase, cents, now_s) {
            Some(at) => self.questions[at].said,
            None => {
                let used = |question: &&Question| own.is_some_and(|own| question.said == Said::Used(own));
                self.questions.iter().find(used).map_or(Said::Nothing, |question| question.said)
            }
        }
    }

    pub(super) fn open_question(&self, purchase: Purchase, cents: u128, now_s: u64) -> Option<usize> {
        self.questions.iter().position(|question| {
            let same = question.purchase.is_same_request(&purchase) && question.cents == cents;
            same && question.is_open() && now_s < question.ends_s
        })
    }

    pub(super) fn question(
        &mut self,
        purchase: Purchase,
        cents: u128,
        id: &ApprovalId,
        life_s: u64,
        now_s: u64,
    ) -> &'static str {
        if self.open_question(purchase, cents, now_s).is_some() {
            return "needs_approval";
        }
        for earlier in self.questions.iter_mut().filter(|earlier| earlier.purchase.is_same_request(&purchase)) {
            if earlier.said == Said::Nothing {
                earlier.said = Said::Over;
            }
        }
        let waits = |question: &&Question| {
            let open = question.said == Said::Nothing && now_s < question.ends_s;
            open && question.purchase.session == purchase.session
        };
        if usize::try_from(APPROVALS_WAITING_MAX).unwrap() <= self.questions.iter().filter(waits).count() {
            return "too_many_approvals";
        }
        let ends_s = (now_s + life_s).min(self.sessions[purchase.session].ends_s);
        let said = Said::Nothing;
        self.questions.push(Question { id: id.clone(), purchase, cents, said, asked_s: now_s, decided_s: 0, ends_s });
        "needs_approval"
    }

    pub(super) fn quote(&self, purchase: Purchase, cents: u128, law: &Law, now_s: u64) -> Verdict {
        let codes = self.against(purchase, cents, law, now_s, None);
        if codes.is_empty() { Verdict::Yes } else { Verdict::No(codes) }
    }

    pub(super) fn keep_quote(&mut self, id: QuoteId, purchase: Purchase, cents: u128, now_s: u64) {
        self.quotes.retain(|quote| now_s < quote.ends_s);
        self.quotes.push(Quoted { id, purchase, cents, ends_s: now_s + QUOTE_LIFE_S });
    }

    pub(super) fn last_quote(&self) -> Option<QuoteId> {
        self.quotes.last().map(|quote| quote.id.clone())
    }

    pub(super) fn wrong_quote(
        &self,
        id: &QuoteId,
        purchase: Purchase,
        cents: u128,
        now_s: u64,
    ) -> Option<&'static str> {
        let found = self.quotes.iter().find(|quote| quote.id == *id && now_s < quote.ends_s);
        match found.filter(|quote| quote.purchase.is_same_request(&purchase)) {
            None => Some("quote_unknown"),
            Some(quote) if quote.cents == cents => None,
            Some(_) => Some("quote_changed"),
        }
    }

    /// Whether a person's word is taken; `None` when the question is over.
    pub(super) fn answer(&mut self, at: usize, yes: bool, life_s: u64, now_s: u64) -> bool {
        let session_ends_s = self.sessions[self.questions[at].purchase.session].ends_s;
        let (latched, question) = (self.latched, &mut self.questions[at]);
        let open = question.is_open() && now_s < question.ends_s;
        let taken =
            if yes { open && !latched && question.said == Said::Nothing } else { open && question.said != Said::No };
        if taken {
            if question.said == Said::Nothing {
                (question.decided_s, question.ends_s) = (now_s, (now_s + life_s).min(session_ends_s));
            }
            question.said = if yes { Said::Yes } else { Said::No };
        }
        taken
    }
}
