//! The second bookkeeping: lists, added up from scratch every time. Must never ask the ledger.

use std::collections::{BTreeMap, BTreeSet};

use bursar_policy::errand::{ApprovalId, PaymentId, QuoteId, SessionId};

use super::act::Word;
use super::deal::NewLine;
use super::keys::Keys;
use super::word::{Question, Quoted, Said};
use crate::ledger::{EXPIRY_MARGIN_S, HANDLE_LIFE_S, RowState};
use crate::protocol::{ChainOutcome, ChainVerdict};

/// How long a finished purchase without a purchase id answers for an identical call.
pub(super) const REPEAT_S: u64 = super::super::world::REPEAT_S;

/// Dhaka is six hours ahead of UTC all year.
const DHAKA_AHEAD_S: u64 = 6 * 3_600;

/// The reasons that a refusal gives, by their codes.
pub(super) type Codes = BTreeSet<&'static str>;

/// A purchase: what one payment may be signed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Purchase {
    pub(super) session: usize,
    pub(super) host: usize,
    pub(super) path: usize,
    pub(super) order: Option<u8>,
}

impl Purchase {
    pub(super) fn is_same_request(&self, other: &Self) -> bool {
        (self.session, self.host, self.path) == (other.session, other.host, other.path)
    }
}

/// Whose payments a cap adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Whose {
    All,
    Session,
    Host,
}

/// How far back a cap looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Back {
    Seconds(u64),
    DayInDhaka,
    Ever,
}

impl Back {
    /// Whether what happened at `at_s` counts at `now_s`. What happened in a mistaken future does.
    const fn reaches(self, at_s: u64, now_s: u64) -> bool {
        match self {
            Self::Seconds(seconds) => now_s < at_s.saturating_add(seconds),
            Self::DayInDhaka => now_s - (now_s + DHAKA_AHEAD_S) % 86_400 <= at_s,
            Self::Ever => true,
        }
    }
}

/// One limit of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cap {
    pub(super) whose: Whose,
    pub(super) back: Back,
    pub(super) most: Most,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Most {
    Cents(u128),
    Payments(usize),
}

/// What the rules of the moment say, as far as they are in the story.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    pub(super) caps: &'static [Cap],
    /// A person looks at what costs more.
    pub(super) ask_over: u128,
}

/// One payment.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) purchase: Purchase,
    /// The account that pays it, by how often that was changed before.
    pub(super) payer: u8,
    pub(super) cents: u128,
    pub(super) id: PaymentId,
    pub(super) nonce: [u8; 32],
    pub(super) life_s: u64,
    pub(super) state: RowState,
    pub(super) ends_s: u64,
    /// When it was over, as the row says.
    pub(super) ended_s: Option<u64>,
    /// When it counts as spent for all, its session, its host: never before what was spent there last.
    at_s: [u64; 3],
    pub(super) signature: Option<String>,
    answered: bool,
    contradicted: bool,
    pub(super) proved: bool,
    /// The handle that is open, and when it was drawn.
    pub(super) drawn_s: Option<u64>,
    pub(super) redeemed: bool,
    /// A signature was allowed to exist, at some time.
    pub(super) exposed: bool,
}

impl Line {
    pub(super) const fn is_pending(&self) -> bool {
        matches!(self.state, RowState::Held | RowState::Exposed)
    }

    pub(super) const fn counts(&self) -> bool {
        !matches!(self.state, RowState::Voided | RowState::Lapsed)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Opened {
    pub(super) id: SessionId,
    pub(super) cents: u128,
    pub(super) ends_s: u64,
    pub(super) closed: bool,
}

/// What an identical call finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    New,
    InFlight,
    Repeat(RowState),
    Resend(String),
    Refused(Codes),
}

/// What an ask to pay comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Yes,
    No(Codes),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Books {
    pub(super) lines: Vec<Line>,
    pub(super) sessions: Vec<Opened>,
    pub(super) questions: Vec<Question>,
    pub(super) quotes: Vec<Quoted>,
    orders: BTreeMap<(usize, u8), (usize, usize)>,
    last_s: BTreeMap<(Whose, usize), u64>,
    pub(super) keys: Keys,
    pub(super) frozen: bool,
    pub(super) latched: bool,
    /// A person set the clock back: more may have been spent in the windows of now than ever was at once.
    pub(super) rewound: bool,
}

impl Books {
    fn spend(&mut self, at: usize, when_s: u64) {
        let Purchase { session, host, .. } = self.lines[at].purchase;
        let keys = [(Whose::All, 0), (Whose::Session, session), (Whose::Host, host)];
        self.lines[at].at_s = keys.map(|key| {
            let last_s = self.last_s.entry(key).or_default();
            *last_s = when_s.max(*last_s);
            *last_s
        });
    }

    /// What time does, whenever the ledger looks at it.
    pub(super) fn pass(&mut self, now_s: u64) {
        for question in self.questions.iter_mut().filter(|question| question.is_open() && question.ends_s <= now_s) {
            question.said = Said::Over;
        }
        let due = |line: &Line| line.state == RowState::Exposed && line.ends_s + EXPIRY_MARGIN_S <= now_s;
        let mut due: Vec<usize> = (0..self.lines.len()).filter(|at| due(&self.lines[*at])).collect();
        due.sort_by_key(|at| self.lines[*at].ends_s);
        for at in due {
            let over_s = self.lines[at].ends_s + EXPIRY_MARGIN_S;
            self.spend(at, over_s);
            (self.lines[at].state, self.lines[at].ended_s) = (RowState::PresumedSpent, Some(over_s));
        }
        // A ledger that is shut gives nothing back.
        if !self.latched {
            self.end_handles(now_s, |line| line.drawn_s.is_some_and(|drawn_s| drawn_s + HANDLE_LIFE_S <= now_s));
        }
    }

    fn end_handles(&mut self, now_s: u64, which: impl Fn(&Line) -> bool) {
        for line in self.lines.iter_mut().filter(|line| which(line)) {
            if line.drawn_s.take().is_some() && line.state == RowState::Held {
                (line.state, line.ended_s) = (RowState::Voided, Some(now_s));
            }
        }
    }

    /// A new process: nobody has the handles, and nobody remembers the quotes.
    pub(super) fn restart(&mut self, now_s: u64) {
        self.end_handles(now_s, |_line| true);
        self.quotes.clear();
    }

    /// A person takes the clock as it is.
    pub(super) fn unlatch(&mut self, from_s: u64, to_s: u64) {
        self.latched = false;
        if to_s < from_s {
            self.rewound = true;
            for question in
                self.questions.iter_mut().filter(|question| matches!(question.said, Said::Nothing | Said::Yes))
            {
                if to_s < question.asked_s.max(question.decided_s) {
                    question.said = Said::Over;
                }
            }
        }
    }

    pub(super) fn close(&mut self, session: usize) {
        self.sessions[session].closed = true;
        for question in self.questions.iter_mut() {
            if question.purchase.session == session && question.is_open() {
                question.said = Said::Over;
            }
        }
    }

    /// The seconds after `now_s` at which something changes for the newest payments: their lives, margins and handles end,
    /// they leave a window.
    pub(super) fn edges(&self, law: &Law, now_s: u64) -> Vec<u64> {
        let mut edges = Vec::new();
        for line in self.lines.iter().rev().take(6).filter(|line| line.counts()) {
            match (line.state, line.drawn_s) {
                (RowState::Held, Some(drawn_s)) => edges.push(drawn_s + HANDLE_LIFE_S),
                (RowState::Exposed, _) => edges.extend([line.ends_s, line.ends_s + EXPIRY_MARGIN_S]),
                _ => edges.extend(law.caps.iter().filter_map(|cap| match cap.back {
                    Back::Seconds(seconds) => Some(line.at_s[0] + seconds),
                    Back::DayInDhaka | Back::Ever => None,
                })),
            }
        }
        edges.retain(|edge| now_s < *edge);
        edges
    }

    /// What counts for whom within `back` of `now_s`, but for one line.
    pub(super) fn sum(&self, whose: Whose, of: usize, back: Back, now_s: u64, own: Option<usize>) -> (u128, usize) {
        let counted = self.lines.iter().enumerate().filter(|(at, line)| {
            let Purchase { session, host, .. } = line.purchase;
            let (mine, slot) = match whose {
                Whose::All => (true, 0),
                Whose::Session => (session == of, 1),
                Whose::Host => (host == of, 2),
            };
            let now = line.is_pending() || (line.counts() && back.reaches(line.at_s[slot], now_s));
            mine && now && own != Some(*at)
        });
        counted.fold((0, 0), |(cents, count), (_, line)| (cents + line.cents, count + 1))
    }

    fn shut(&self, session: usize, now_s: u64) -> Codes {
        let mut codes = Codes::new();
        if self.frozen {
            codes.insert("frozen");
        }
        if self.latched {
            codes.insert("ledger_latched");
        }
        let session = &self.sessions[session];
        if session.closed {
            codes.insert("no_session");
        } else if session.ends_s <= now_s {
            codes.insert("session_expired");
        }
        codes
    }

    /// Everything that stands against a payment; nothing where it may be made.
    pub(super) fn against(&self, purchase: Purchase, cents: u128, law: &Law, now_s: u64, own: Option<usize>) -> Codes {
        let mut codes = self.shut(purchase.session, now_s);
        let (spent, _) = self.sum(Whose::Session, purchase.session, Back::Ever, now_s, own);
        if !codes.contains("no_session") && self.sessions[purchase.session].cents < spent + cents {
            codes.insert("over_session_budget");
        }
        for cap in law.caps {
            let of = match cap.whose {
                Whose::All => 0,
                Whose::Session => purchase.session,
                Whose::Host => purchase.host,
            };
            let (spent, count) = self.sum(cap.whose, of, cap.back, now_s, own);
            let over = match cap.most {
                Most::Cents(most) => most < spent + cents,
                Most::Payments(most) => most <= count,
            };
            if over {
                codes.insert("over_limit");
            }
        }
        let said = self.said(purchase, cents, now_s, own);
        if said == Said::No {
            codes.insert("approval_denied");
        }
        let looked_at = said == Said::Yes || matches!(said, Said::Used(_));
        if codes.is_empty() && law.ask_over < cents && !looked_at {
            codes.insert("needs_approval");
        }
        codes
    }

    pub(super) fn claim(&mut self, purchase: Purchase, in_flight: bool, now_s: u64) -> Found {
        if in_flight {
            return Found::InFlight;
        }
        if !self.latched {
            self.pass(now_s);
        }
        let meant = purchase.order.map(|order| self.orders.get(&(purchase.session, order)).copied());
        if let Some(Some(meant)) = meant
            && meant != (purchase.host, purchase.path)
        {
            return Found::Refused(Codes::from(["idempotency_conflict"]));
        }
        let shut = self.shut(purchase.session, now_s);
        if let Some(line) = self.lines.iter().rev().find(|line| line.purchase == purchase) {
            let recent = |line: &Line| now_s < line.ended_s.unwrap_or(line.ends_s) + REPEAT_S;
            match (line.state, &line.signature) {
                (RowState::Voided | RowState::Held, _) => {}
                (RowState::Lapsed, _) if !line.answered => {}
                (RowState::Exposed, Some(signature)) if now_s < line.ends_s && !line.answered && shut.is_empty() => {
                    return Found::Resend(signature.clone());
                }
                (RowState::Exposed, _) => return Found::Repeat(line.state),
                (RowState::PresumedSpent, _) if !line.answered || line.contradicted => {
                    return Found::Repeat(line.state);
                }
                (state, _) if purchase.order.is_some() || recent(line) => return Found::Repeat(state),
                _ => {}
            }
        }
        if !shut.is_empty() {
            return Found::Refused(shut);
        }
        if let (Some(order), Some(None)) = (purchase.order, meant) {
            self.orders.insert((purchase.session, order), (purchase.host, purchase.path));
        }
        Found::New
    }

    /// What comes of an ask to pay, before anybody answers it. A question that would be asked is written down.
    pub(super) fn ask(
        &mut self,
        purchase: Purchase,
        cents: u128,
        quote: Option<&QuoteId>,
        (law, approval, life_s): (&Law, &ApprovalId, u64),
        now_s: u64,
    ) -> Verdict {
        if !self.latched {
            self.pass(now_s);
            if let Some(before) = self.lines.iter().rposition(|line| line.purchase == purchase) {
                self.end_handle_of(before, now_s);
            }
        }
        if let Some(wrong) = quote.and_then(|quote| self.wrong_quote(quote, purchase, cents, now_s)) {
            return Verdict::No(Codes::from([wrong]));
        }
        let mut codes = self.against(purchase, cents, law, now_s, None);
        if codes.remove("needs_approval") {
            codes.insert(self.question(purchase, cents, approval, life_s, now_s));
        }
        if codes.is_empty() { Verdict::Yes } else { Verdict::No(codes) }
    }

    fn end_handle_of(&mut self, at: usize, now_s: u64) {
        let line = &mut self.lines[at];
        if line.drawn_s.take().is_some() && line.state == RowState::Held {
            (line.state, line.ended_s) = (RowState::Voided, Some(now_s));
        }
    }

    /// A payment is counted, and the word of a person used up.
    pub(super) fn count(&mut self, line: NewLine, hold: bool, now_s: u64) {
        let NewLine { purchase, cents, id, nonce, life_s } = line;
        assert!(!self.lines.iter().any(|line| line.nonce == nonce), "a nonce was counted twice");
        let live = |line: &&Line| line.purchase == purchase && line.is_pending();
        assert!(self.lines.iter().find(live).is_none(), "two live payments for one purchase");
        if let Some(at) = self.open_question(purchase, cents, now_s) {
            let said = &mut self.questions[at].said;
            *said = if *said == Said::Yes { Said::Used(self.lines.len()) } else { Said::Over };
        }
        self.lines.push(Line {
            purchase,
            payer: self.keys.pays,
            cents,
            id,
            nonce,
            life_s,
            state: if hold { RowState::Held } else { RowState::Exposed },
            ends_s: now_s + life_s,
            ended_s: None,
            at_s: [0; 3],
            signature: None,
            answered: false,
            contradicted: false,
            proved: false,
            drawn_s: hold.then_some(now_s),
            redeemed: false,
            exposed: !hold,
        });
    }

    /// A signature exists, on its row. One purchase id has one signature, for ever, but for one that a chain shows unused.
    pub(super) fn sign(&mut self, at: usize, signature: &str) {
        let purchase = self.lines[at].purchase;
        let other = self.lines.iter().enumerate().find(|(other, line)| {
            let named = line.purchase == purchase && purchase.order.is_some();
            *other != at && named && line.signature.is_some() && line.state != RowState::Lapsed
        });
        assert!(other.is_none(), "a purchase was signed twice: {other:?}");
        self.lines[at].signature = Some(signature.to_owned());
    }

    pub(super) fn report(&mut self, at: usize, word: Word, now_s: u64) {
        let open = matches!(self.lines[at].state, RowState::Exposed | RowState::PresumedSpent);
        let line = &mut self.lines[at];
        line.answered |= !matches!(word, Word::Silence | Word::Failed);
        if !open {
            return;
        }
        match word {
            Word::Silence | Word::Delivered => {}
            Word::Failed | Word::OtherPayer => line.contradicted = true,
            Word::NoTransaction => line.contradicted = false,
            Word::Settled => {
                line.contradicted = false;
                self.settle(at, now_s);
            }
        }
    }

    /// What a chain's final word moves; `None` where it moves nothing.
    pub(super) fn prove(&mut self, at: usize, verdict: ChainVerdict, now_s: u64) -> Option<ChainOutcome> {
        let (state, shut) = (self.lines[at].state, self.latched || self.lines[at].proved);
        let outcome = match (verdict, state) {
            (_, RowState::Held | RowState::Voided | RowState::Lapsed) => return None,
            _ if shut => return None,
            (ChainVerdict::Paid, RowState::Settled) => ChainOutcome::Confirmed,
            (ChainVerdict::Paid, _) => ChainOutcome::Settled,
            (_, RowState::Settled) => ChainOutcome::Denied,
            _ => ChainOutcome::Lapsed,
        };
        match outcome {
            ChainOutcome::Settled => self.settle(at, now_s),
            ChainOutcome::Lapsed => {
                (self.lines[at].state, self.lines[at].ended_s) = (RowState::Lapsed, Some(now_s));
            }
            ChainOutcome::Confirmed | ChainOutcome::Denied => {}
        }
        self.lines[at].proved = true;
        Some(outcome)
    }

    fn settle(&mut self, at: usize, now_s: u64) {
        if self.lines[at].state == RowState::Exposed {
            self.lines[at].ended_s = Some(now_s);
            self.spend(at, now_s);
        }
        self.lines[at].state = RowState::Settled;
    }

    pub(super) fn void(&mut self, at: usize, now_s: u64) {
        let line = &mut self.lines[at];
        (line.state, line.ended_s) = (RowState::Voided, Some(now_s));
    }

    /// What redeeming comes to, where the handle is good.
    pub(super) fn redeem(&self, at: usize, law: &Law, now_s: u64) -> Verdict {
        let line = &self.lines[at];
        let codes = self.against(line.purchase, line.cents, law, now_s, Some(at));
        if codes.is_empty() { Verdict::Yes } else { Verdict::No(codes) }
    }

    pub(super) fn expose(&mut self, at: usize, now_s: u64) {
        let line = &mut self.lines[at];
        (line.state, line.ends_s) = (RowState::Exposed, now_s + line.life_s);
        (line.drawn_s, line.redeemed, line.exposed) = (None, true, true);
    }
}
