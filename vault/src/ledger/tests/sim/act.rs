//! What may happen in a simulated life of a ledger, and how a seed draws it. Must never look at the ledger: a story is the
//! same whatever it meets, so that acts can be cut out of it.

use crate::protocol::ChainVerdict;

/// How many schedules one life has. Each begins with a new session.
pub(super) const SCHEDULES: usize = 25;

/// How many acts a schedule has after its session was opened, at least and at most.
const ACTS: (u64, u64) = (6, 14);

/// One act. `which` and `slot` count among what fits the act at that moment; where nothing fits, nothing happens.
///
/// What it prints is Rust, so that a printed story can be run again line by line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// A person opens a session and names it after its number.
    Open { cents: u128, life_s: u64 },
    /// A person closes one of the last sessions.
    Close { session: usize },
    /// A client claims a purchase, in a slot of its own if it gets it.
    Claim { want: Want },
    /// Somebody claims what one of the last payments or questions was for.
    Again { which: usize },
    /// Whoever was sent to a person asks again, at the same price.
    Insist { which: usize },
    /// The holder of a claim asks to pay so much; `quoted` with the last quote for it.
    Authorize { slot: usize, cents: u128, quoted: bool },
    /// The same with the nonce of an earlier payment, as no good source of randomness ever draws it.
    SameNonce { slot: usize, cents: u128 },
    /// The holder of a claim has money set aside for a browser.
    Hold { slot: usize, cents: u128 },
    /// The signer signs, or where `other` signs something else than the first time.
    Sign { slot: usize, other: bool },
    /// The signer says that it did not.
    Void { slot: usize },
    /// Something comes back: see [`Word`].
    Report { slot: usize, word: Word },
    /// A chain shows how one of the last payments ended, in a block after its end or where `early` just before.
    Prove { which: usize, verdict: ChainVerdict, early: bool },
    /// The client dies.
    Leave { slot: usize },
    /// A browser redeems a handle, on the page that it is for or on another.
    Redeem { which: usize, right: bool },
    /// Somebody asks what a purchase would cost at this moment.
    Quote { want: Want, cents: u128 },
    /// A person answers a question.
    Answer { which: usize, yes: bool, life_s: u64 },
    /// Time passes.
    Pass { seconds: u64 },
    /// Time passes until something runs out, leaves a window or begins to: to that second, or `early` to the one before.
    PassTo { which: usize, early: bool },
    /// Somebody sets the wall clock, so many seconds on or back.
    Leap { on: bool, seconds: u64 },
    /// The vault's own broom.
    Sweep,
    /// The operator's other rules are read.
    Rules { which: usize },
    /// A person stops and allows spending.
    Freeze,
    /// See [`Act::Freeze`].
    Thaw,
    /// A person has money moved out of the account that pays, or of the one before: so much, of so much as somebody sees.
    MoveOut { former: bool, cents: u128, seen: Option<u128>, life_s: u64 },
    /// A person lets another account pay.
    Rotate,
    /// A chain shows how one of the sweeps ended, in a block after its end or where `early` just before.
    ProveSweep { which: usize, verdict: ChainVerdict, early: bool },
    /// A fault outside shuts the ledger.
    Latch,
    /// A person looks, takes the clock as it is, and opens a ledger that is shut.
    Unlatch,
    /// The vault ends in order and starts again.
    Restart { reboot: bool },
    /// The vault is killed when everything so far is on the disk.
    Crash,
    /// The vault is killed in the middle of an act, before any of it is on the disk.
    CrashIn { act: Box<Act> },
    /// An act, and the vault is killed when it is on the disk and nobody was answered.
    CrashAfter { act: Box<Act> },
    /// Another program holds the file while somebody asks to pay.
    Locked { slot: usize, cents: u128 },
    /// The disk is full while somebody asks to pay. A person makes room and looks.
    Full { slot: usize, cents: u128 },
}

/// A purchase, as a client means it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Want {
    /// Among the last three, the newest first.
    pub(super) session: usize,
    pub(super) host: usize,
    pub(super) path: usize,
    pub(super) order: Option<u8>,
}

/// What comes back from a seller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Silence,
    Settled,
    /// Silence, and yet a settlement that failed.
    Failed,
    Delivered,
    /// Delivered, and settled for another payer.
    OtherPayer,
    /// Delivered, and settled in no transaction that can be looked up.
    NoTransaction,
}

/// Draws from a seed: SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `least` to `most`. That small ones are a little likelier does not matter here.
    fn among(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    fn index(&mut self) -> usize {
        usize::try_from(self.among(0, 1_000)).unwrap()
    }

    fn small(&mut self, below: u64) -> usize {
        usize::try_from(self.among(0, below - 1)).unwrap()
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.among(1, many) == 1
    }

    /// Few prices, so that one that was quoted or approved is asked again.
    fn cents(&mut self) -> u128 {
        const PRICES: [u128; 6] = [1, 4, 8, 12, 18, 30];
        PRICES[self.small(6)]
    }

    fn want(&mut self) -> Want {
        let order = (!self.one_in(3)).then(|| u8::try_from(self.among(0, 3)).unwrap());
        let session = if self.one_in(4) { self.small(3) } else { 0 };
        Want { session, host: self.small(2), path: self.small(2), order }
    }

    fn word(&mut self) -> Word {
        const WORDS: [Word; 8] = [
            Word::Settled,
            Word::Settled,
            Word::Settled,
            Word::Silence,
            Word::Failed,
            Word::Delivered,
            Word::OtherPayer,
            Word::NoTransaction,
        ];
        WORDS[self.small(8)]
    }

    fn verdict(&mut self) -> ChainVerdict {
        [ChainVerdict::Paid, ChainVerdict::Unused, ChainVerdict::Cancelled][self.small(3)]
    }

    /// What makes a step of a purchase or concerns one; nothing that ends the process.
    fn step(&mut self) -> Act {
        let slot = self.index();
        match self.among(0, 77) {
            0..=13 => Act::Claim { want: self.want() },
            14..=19 => Act::Again { which: slot },
            20..=32 => Act::Authorize { slot, cents: self.cents(), quoted: self.one_in(8) },
            33 => Act::SameNonce { slot, cents: self.cents() },
            34..=37 => Act::Hold { slot, cents: self.cents() },
            38..=46 => Act::Sign { slot, other: self.one_in(6) },
            47 => Act::Void { slot },
            48..=53 => Act::Report { slot, word: self.word() },
            54..=57 => Act::Leave { slot },
            58..=61 => Act::Redeem { which: slot, right: !self.one_in(5) },
            62 => Act::Quote { want: self.want(), cents: self.cents() },
            63..=67 => Act::Answer { which: slot, yes: !self.one_in(3), life_s: self.among(30, 900) },
            68 => Act::Sweep,
            69..=71 => Act::Insist { which: slot },
            72..=76 => Act::Prove { which: slot, verdict: self.verdict(), early: self.one_in(5) },
            _ => Act::Close { session: self.small(3) },
        }
    }

    /// A purchase at the second at which something changes.
    fn at_an_edge(&mut self) -> [Act; 3] {
        let (which, early) = (self.index(), self.one_in(2));
        let buy = Act::Authorize { slot: self.index(), cents: self.cents(), quoted: false };
        [Act::PassTo { which, early }, Act::Claim { want: self.want() }, buy]
    }

    /// Money that is set aside under some rules and let go of under others.
    fn held_under_other_rules(&mut self) -> [Act; 4] {
        let slot = self.index();
        let hold = Act::Hold { slot, cents: self.cents() };
        let rules = Act::Rules { which: self.index() };
        [Act::Claim { want: self.want() }, hold, rules, Act::Redeem { which: self.index(), right: true }]
    }

    /// What a person does with keys, and what comes of it.
    fn of_keys(&mut self) -> Act {
        match self.among(0, 6) {
            0..=2 => {
                let (former, cents) = (self.one_in(3), self.cents());
                let seen = (!self.one_in(3)).then(|| u128::from(self.among(0, 60)));
                Act::MoveOut { former, cents, seen, life_s: self.among(10, 300) }
            }
            3..=4 => Act::Rotate,
            _ => Act::ProveSweep { which: self.index(), verdict: self.verdict(), early: self.one_in(4) },
        }
    }

    fn act(&mut self) -> Act {
        match self.among(0, 209) {
            0..=149 => self.step(),
            150..=173 => Act::Pass { seconds: if self.one_in(3) { self.among(60, 1_500) } else { self.among(1, 60) } },
            174..=180 => Act::Rules { which: self.index() },
            181 => Act::Freeze,
            182..=184 => Act::Thaw,
            185 => Act::Latch,
            186..=187 => Act::Leap { on: self.one_in(2), seconds: self.among(1, 20) * self.among(1, 400) },
            188..=190 => Act::Unlatch,
            191 => Act::Restart { reboot: self.one_in(2) },
            192 => Act::Crash,
            193..=194 => Act::CrashIn { act: Box::new(self.step()) },
            195..=196 => Act::CrashAfter { act: Box::new(self.step()) },
            197..=198 => Act::Locked { slot: self.index(), cents: self.cents() },
            199 => Act::Full { slot: self.index(), cents: self.cents() },
            200 => Act::CrashIn { act: Box::new(self.of_keys()) },
            201 => Act::CrashAfter { act: Box::new(self.of_keys()) },
            _ => self.of_keys(),
        }
    }
}

/// The life that belongs to a seed.
pub(super) fn story(seed: u64) -> Vec<Act> {
    let mut dice = Dice::new(seed);
    let mut story = Vec::new();
    for _ in 0..SCHEDULES {
        // What shuts everything does not shut the next schedule, most of the time.
        if !dice.one_in(4) {
            story.extend([Act::Unlatch, Act::Thaw]);
        }
        story.push(Act::Open { cents: u128::from(dice.among(20, 120)), life_s: dice.among(200, 20_000) });
        let acts = dice.among(ACTS.0, ACTS.1);
        for _ in 0..acts {
            story.push(dice.act());
            if dice.one_in(12) {
                story.extend(dice.at_an_edge());
            }
            if dice.one_in(20) {
                story.extend(dice.held_under_other_rules());
            }
        }
        if !dice.one_in(3) {
            story.push(Act::Pass { seconds: dice.among(200, 4_000) });
        }
    }
    story
}
