//! A ledger in a fresh folder, rules, a clock to move, and the steps of a purchase. Must never assert by itself.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bursar_policy::chain::{Address, ChainId};
use bursar_policy::digest::Digest;
use bursar_policy::errand::{ApprovalId, Errand, Method, PaymentId, PurchaseId, SessionId, SessionName};
use bursar_policy::mandate::Mandate;
use bursar_policy::money::{Amount, Money};
use bursar_policy::offer::Version;
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Rules;
use bursar_policy::rules::draft::{Draft, Setting};
use bursar_policy::site::Site;
use bursar_policy::terms::Terms;
use tempfile::TempDir;

use super::server::Database;
use crate::blank::{Blank, Piece};
use crate::clock::TimeSource;
use crate::ledger::{
    Ask, Claim, ClaimGuard, Counted, Drawn, Held, KeyFile, Ledger, LedgerPlace, Prepared, Redeemed, Redeemer,
    Reservation, ServerPlace, SessionOpened,
};
use crate::protocol::{ContentRef, Delivery, Receipt, Report, SettlementClaim, Signed};

/// When every test begins.
pub(super) const START: u64 = 1_900_000_000;

/// The longest life of an authorization under the test rules, in seconds.
pub(super) const LIFE_S: u64 = 300;

/// The repeat window of the test rules, in seconds.
pub(super) const REPEAT_S: u64 = 120;

/// One cent in atomic units of a six-decimal asset.
pub(super) const CENT: u128 = 10_000;

/// Any payer; nothing here signs.
pub(super) const PAYER: Address = Address::from_bytes([0x11; 20]);

/// Both clocks, which move together.
#[derive(Debug)]
struct Dial {
    wall_s: u64,
    boot_ms: u64,
}

/// A clock to move by hand.
#[derive(Clone, Debug)]
pub(super) struct Fake(Arc<Mutex<Dial>>);

impl Fake {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Dial { wall_s: START, boot_ms: 1_000_000 })))
    }

    /// Time passes.
    pub(super) fn pass(&self, seconds: u64) {
        let mut dial = self.dial();
        dial.wall_s = dial.wall_s.saturating_add(seconds);
        dial.boot_ms = dial.boot_ms.saturating_add(seconds.saturating_mul(1000));
    }

    /// Somebody sets the wall clock.
    pub(super) fn set_wall(&self, wall_s: u64) {
        self.dial().wall_s = wall_s;
    }

    pub(super) fn now_s(&self) -> u64 {
        self.dial().wall_s
    }

    fn dial(&self) -> MutexGuard<'_, Dial> {
        self.0.lock().unwrap()
    }
}

impl TimeSource for Fake {
    fn wall_s(&self) -> Option<u64> {
        Some(self.now_s())
    }

    fn boot_ms(&self) -> u64 {
        self.dial().boot_ms
    }

    fn boot_id(&self) -> String {
        "one boot".to_owned()
    }
}

/// Everything a test needs.
pub(super) struct World {
    pub(super) dir: TempDir,
    pub(super) server: Option<Database>,
    pub(super) time: Fake,
    pub(super) rules: Arc<Rules>,
    pub(super) session: SessionId,
    ledger: Option<Ledger>,
    drawn: AtomicU64,
}

/// Rules with these limits on top of a ceiling of one dollar a payment, and any number of unresolved and failed ones.
pub(super) fn rules(limits: &str) -> Arc<Rules> {
    rules_with("allow_any_host = true\nmax_unresolved = 1000000\nquarantine_after = 1000", limits)
}

/// Rules with these lines under `[payment]` and these tables after it.
pub(super) fn rules_with(payment: &str, tables: &str) -> Arc<Rules> {
    let text = format!(
        r#"
        [payment]
        max_per_payment = "1.00 USD"
        networks = ["eip155:84532"]
        assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
        allow_any_recipient = true
        {payment}
        {tables}
        "#
    );
    let draft: Draft = toml::from_str(&text).unwrap();
    Arc::new(Rules::new(draft, Setting::Sandbox).unwrap())
}

pub(super) fn place(dir: &Path) -> LedgerPlace {
    LedgerPlace {
        file: dir.join("ledger.sqlite"),
        lock: dir.join("ledger.lock"),
        setting: Setting::Sandbox,
        server: None,
    }
}

/// How many cases of a property are tried here, of so many.
pub(super) const fn cases(all: u32) -> u32 {
    all
}

fn place_of(dir: &Path, server: Option<&Database>) -> LedgerPlace {
    LedgerPlace { server: server.map(Database::place), ..place(dir) }
}

pub(super) fn money(text: &str) -> Money {
    text.parse().unwrap()
}

/// A GET of a path on the test host, bought without a purchase id.
pub(super) fn errand(path: &str) -> Errand {
    errand_at(&format!("https://api.example.com/{path}"))
}

pub(super) fn errand_at(url: &str) -> Errand {
    Errand::new(Site::parse(url).unwrap(), Method::Get)
}

/// The same with a purchase id.
pub(super) fn named(path: &str, purchase_id: &str) -> Errand {
    Errand { purchase_id: Some(purchase_id.parse::<PurchaseId>().unwrap()), ..errand(path) }
}

/// Terms at `units` atomic units.
pub(super) fn terms(units: u128) -> Terms {
    Terms {
        version: Version::V2,
        offer: 0,
        chain: ChainId::BASE_SEPOLIA,
        asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e".parse().unwrap(),
        payee: Address::from_bytes([0x22; 20]),
        amount: Amount::new(units).unwrap(),
        max_timeout_s: 600,
        domain_name: "USDC".to_owned(),
        domain_version: "2".to_owned(),
    }
}

impl World {
    /// A ledger under `limits` with one session of `budget` for a year.
    pub(super) fn new(limits: &str, budget: &str) -> Self {
        Self::with_mandate(limits, budget, None)
    }

    /// [`World::new`] whose session is for what `mandate` says.
    pub(super) fn with_mandate(limits: &str, budget: &str, mandate: Option<Mandate>) -> Self {
        Self::begin(None, limits, budget, mandate)
    }

    /// [`World::new`] without limits, of a ledger with this id.
    pub(super) fn called(id: [u8; 16], budget: &str) -> Self {
        Self::begin_as(id, None, "", budget, None)
    }

    /// The same on a server, or on a file where there is none.
    pub(super) fn begin(server: Option<Database>, limits: &str, budget: &str, mandate: Option<Mandate>) -> Self {
        Self::begin_as([7; 16], server, limits, budget, mandate)
    }

    fn begin_as(id: [u8; 16], server: Option<Database>, limits: &str, budget: &str, mandate: Option<Mandate>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let time = Fake::new();
        let place = place_of(dir.path(), server.as_ref());
        Ledger::create(&place, KeyFile::Absent, id, Box::new(time.clone())).unwrap();
        let ledger = Ledger::open(&place, Box::new(time.clone())).unwrap();
        let session = SessionId::from_random([1; 16]);
        let opened =
            ledger.open_session(session.clone(), SessionName::default(), money(budget), 31_536_000, mandate).unwrap();
        assert!(matches!(opened, SessionOpened::Opened(_)), "{opened:?}");
        Self { dir, server, time, rules: rules(limits), session, ledger: Some(ledger), drawn: AtomicU64::new(0) }
    }

    pub(super) fn ledger(&self) -> &Ledger {
        self.ledger.as_ref().unwrap()
    }

    /// Closes the ledger; the next one opens it again.
    pub(super) fn close(&mut self) {
        self.ledger = None;
    }

    pub(super) fn reopen(&mut self) {
        self.close();
        self.ledger = Some(Ledger::open(&self.place(), Box::new(self.time.clone())).unwrap());
    }

    /// Another vault on the same ledger, reached as `place` says.
    pub(super) fn beside(&self, server: ServerPlace) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let place = LedgerPlace { server: Some(server), ..place(dir.path()) };
        let ledger = Ledger::open(&place, Box::new(self.time.clone())).unwrap();
        Self {
            dir,
            server: self.server.clone(),
            time: self.time.clone(),
            rules: Arc::clone(&self.rules),
            session: self.session.clone(),
            ledger: Some(ledger),
            // Ids are drawn apart from those of the first.
            drawn: AtomicU64::new(1 << 32),
        }
    }

    /// Where its ledger is, for a vault that begins now.
    pub(super) fn place(&self) -> LedgerPlace {
        place_of(self.dir.path(), self.server.as_ref())
    }

    /// An ask with a fresh id and nonce.
    pub(super) fn ask(&self, terms: Terms) -> Ask {
        let drawn = self.drawn.fetch_add(1, Ordering::SeqCst);
        let mut id = [0; 16];
        id[8..].copy_from_slice(&drawn.to_be_bytes());
        // After a reopen by another world the counter starts again; time keeps the ids apart.
        id[..8].copy_from_slice(&self.time.now_s().to_be_bytes());
        let mut nonce = [0; 32];
        nonce[..16].copy_from_slice(&id);
        Ask {
            terms,
            envelope: "{\"opaque\":true}".to_owned(),
            payer: PAYER,
            payment: PaymentId::from_random(id),
            approval: ApprovalId::from_random(id),
            nonce,
        }
    }

    pub(super) fn claim(&self, errand: Errand) -> Claim {
        self.ledger().claim(&self.session, errand, &self.rules, Duration::ZERO).unwrap()
    }

    pub(super) fn new_claim(&self, errand: Errand) -> ClaimGuard {
        match self.claim(errand) {
            Claim::New(guard) => guard,
            other => panic!("not new: {other:?}"),
        }
    }

    /// Claims and authorizes.
    pub(super) fn authorize(&self, errand: Errand, units: u128) -> Result<Reservation, Vec<Refusal>> {
        self.authorize_terms(errand, terms(units))
    }

    /// Claims and authorizes these terms.
    pub(super) fn authorize_terms(&self, errand: Errand, terms: Terms) -> Result<Reservation, Vec<Refusal>> {
        let guard = self.new_claim(errand);
        match self.ledger().authorize(guard, self.ask(terms), &self.rules).unwrap() {
            Counted::Yes(exposed) => Ok(*exposed),
            Counted::No { reasons, .. } => Err(reasons),
        }
    }

    /// Claims and sets aside; the digest of the handle is of the payment's id.
    pub(super) fn hold(&self, errand: Errand, units: u128) -> Result<(Digest, Prepared), Vec<Refusal>> {
        let (guard, ask) = (self.new_claim(errand), self.ask(terms(units)));
        let drawn = drawn(&ask.payment);
        let handle = drawn.digest;
        match self.ledger().hold(guard, ask, drawn, &self.rules).unwrap() {
            Held::Yes(prepared) => Ok((handle, *prepared)),
            Held::No { reasons, .. } => Err(reasons),
        }
    }

    /// Redeems a handle in the default session for a path on the test host.
    pub(super) fn redeem(&self, handle: Digest, path: &str) -> Redeemed {
        let who = redeemer(handle, path);
        self.ledger().redeem(&who, &self.rules, Duration::ZERO).unwrap()
    }

    pub(super) fn sign(&self, exposed: &Reservation) -> Signed {
        self.ledger().store_signature(exposed, &signature()).unwrap()
    }

    pub(super) fn settle(&self, exposed: &Reservation) -> Receipt {
        self.ledger().report(exposed, answered(Some(settled())), self.rules.breaker()).unwrap()
    }

    /// One whole purchase: claimed, counted, signed, settled.
    pub(super) fn buy(&self, errand: Errand, units: u128) -> Receipt {
        let exposed = self.authorize(errand, units).unwrap();
        self.sign(&exposed);
        self.settle(&exposed)
    }

    pub(super) fn spent(&self) -> Money {
        let overview = self.ledger().overview(Some(&self.session), &self.rules).unwrap();
        overview.session.unwrap().spent
    }

    /// How often each kind of event is in the log.
    pub(super) fn kinds(&self) -> BTreeMap<String, usize> {
        let mut kinds = BTreeMap::new();
        for entry in self.ledger().log(500, Some(0)).unwrap() {
            let count: &mut usize = kinds.entry(entry.kind).or_default();
            *count = count.saturating_add(1);
        }
        kinds
    }
}

/// A handle whose digest is of `payment`.
pub(super) fn drawn(payment: &PaymentId) -> Drawn {
    Drawn { digest: Digest::of(payment.as_str().as_bytes()), blank: Blank::new(vec![Piece::Payload]).unwrap() }
}

/// The glue of the default session, whose browser is at a path on the test host.
pub(super) fn redeemer(handle: Digest, path: &str) -> Redeemer {
    Redeemer { handle, session: SessionName::default(), site: Some(errand(path).site) }
}

pub(super) fn signature() -> String {
    format!("0x{}1b", "ab".repeat(64))
}

pub(super) const TRANSACTION: &str = "0x00000000000000000000000000000000000000000000000000000000deadbeef";

/// A claim that agrees with every test row.
pub(super) fn settled() -> SettlementClaim {
    SettlementClaim {
        success: true,
        transaction: Some(TRANSACTION.to_owned()),
        network: Some("eip155:84532".to_owned()),
        payer: Some(PAYER.to_string()),
        amount: None,
        reason: None,
    }
}

/// A report of a good answer with this settlement claim.
pub(super) fn answered(settlement: Option<SettlementClaim>) -> Report {
    Report { delivery: answer(200), settlement }
}

pub(super) fn answer(status: u16) -> Delivery {
    let digest = bursar_policy::Digest::of(b"body");
    let content = ContentRef { digest, bytes: 4, kind: "text/plain".to_owned(), truncated: false };
    Delivery::Answer { status, content: Some(content), content_error: None }
}

pub(super) fn silence() -> Report {
    Report { delivery: Delivery::Silence { why: "timeout".to_owned() }, settlement: None }
}
