//! A vault in a sandbox of its own, an operator, and errands to run. Must never assert by itself.

use bursar_policy::{
    Address, Amount, ChainId, Digest, Errand, Handle, Method, Money, PageOpening, PurchaseId, SessionName, Site, Terms,
    Version,
};
use bursar_vault::blank::{Blank, Piece};
use bursar_vault::chain::NoChains;
use bursar_vault::client::{AgentClient, ClientFault, GlueClient, OperatorClient};
use bursar_vault::clock::{MachineTime, TimeSource};
use bursar_vault::process::{self, Running};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{
    AgentAsk, AgentReply, Attached, Claimed, ContentRef, Delivery, OperatorAsk, OperatorReply, OperatorStatus,
    Passphrase, Receipt, Report, SettlementClaim, Signed,
};
use bursar_vault::setup::{self, NewKey, Unlocking};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;
use zeroize::Zeroizing;

/// Base Sepolia USDC.
pub(crate) const USDC: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
pub(crate) const PAYEE: &str = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
pub(crate) const SECRET: &str = "the operator's own words";

pub(crate) const RULES: &str = r#"
[payment]
max_per_payment = "1.00 USD"
networks = ["eip155:84532"]
assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
recipients = ["0x209693Bc6afc0C5328bA36FaF03C514EF312287C"]
allow_any_host = true
quarantine_after = 6

[[limit]]
scope = "all"
window = "24h"
max = "5.00 USD"
"#;

/// One sandbox. Dropping it removes the folder.
pub(crate) struct Sandbox {
    pub(crate) folder: TempDir,
    pub(crate) profile: Profile,
    pub(crate) payer: Address,
}

impl Sandbox {
    pub(crate) fn new(unlocking: Unlocking) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::locate_sandbox(&folder.path().join("play")).unwrap();
        let payer = setup::initialise(&profile, RULES, NewKey::Generated, &said(SECRET), unlocking).unwrap();
        Self { folder, profile, payer }
    }

    pub(crate) fn start(&self) -> Running {
        self.start_at(Box::new(MachineTime))
    }

    pub(crate) fn start_at(&self, time: Box<dyn TimeSource>) -> Running {
        process::start(&self.profile, None, time, Arc::new(NoChains)).unwrap()
    }

    pub(crate) fn operator(&self) -> Operator {
        Operator(OperatorClient::connect(&self.profile).unwrap().0)
    }

    pub(crate) fn agent(&self) -> Agent {
        Agent(AgentClient::connect(&self.profile, None).unwrap().0)
    }

    /// The glue of the session called `default`.
    pub(crate) fn glue(&self) -> GlueClient {
        GlueClient::connect(&self.profile, None).unwrap().0
    }

    /// A started vault whose wallet is unlocked by its file, with one dollar in the session called `default`.
    pub(crate) fn with_a_dollar() -> (Self, Running) {
        let sandbox = Self::new(Unlocking::ByFile);
        let running = sandbox.start();
        sandbox.operator().open_session("default", "1.00 USD");
        (sandbox, running)
    }
}

/// A person at a terminal.
pub(crate) struct Operator(pub(crate) OperatorClient);

impl Operator {
    pub(crate) fn ask(&self, ask: &OperatorAsk) -> OperatorReply {
        self.0.ask(ask).unwrap()
    }

    /// The code of the fault that an ask meets.
    pub(crate) fn code(&self, ask: &OperatorAsk) -> String {
        match self.0.ask(ask) {
            Err(ClientFault::Said { code, .. }) => code,
            other => panic!("a fault was expected: {other:?}"),
        }
    }

    pub(crate) fn open_session(&self, name: &str, budget: &str) {
        let reply = self.ask(&session_new(name, budget, SECRET));
        assert!(matches!(reply, OperatorReply::Session(_)), "{reply:?}");
    }

    pub(crate) fn status(&self) -> OperatorStatus {
        match self.ask(&OperatorAsk::Status) {
            OperatorReply::Status(status) => *status,
            other => panic!("{other:?}"),
        }
    }

    /// What the session called `default` has spent or set aside.
    pub(crate) fn spent(&self) -> String {
        self.status().sessions.first().map(|session| session.spent.to_string()).unwrap()
    }
}

/// A `serve`.
pub(crate) struct Agent(pub(crate) AgentClient);

impl Agent {
    pub(crate) fn ask(&self, ask: &AgentAsk) -> AgentReply {
        self.0.ask(ask).unwrap()
    }

    pub(crate) fn claim(&self, errand: &Errand) -> Claimed {
        match self.ask(&AgentAsk::Claim { errand: errand.clone() }) {
            AgentReply::Claimed(claimed) => claimed,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn authorize(&self, terms: Terms) -> Signed {
        match self.ask(&AgentAsk::Authorize { terms, envelope: "kept".to_owned(), rules: judged_under() }) {
            AgentReply::Authorized(signed) => *signed,
            other => panic!("{other:?}"),
        }
    }

    /// Claims a page and has its money set aside.
    pub(crate) fn prepare(&self, path: &str, cents: u128) -> Handle {
        assert!(matches!(self.claim(&errand(path)), Claimed::New));
        match self.ask(&hold(terms(cents))) {
            AgentReply::Held { handle, .. } => handle,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn attach(&self, handle: &Handle, open: PageOpening) -> Attached {
        match self.ask(&AgentAsk::Attach { handle: handle.clone(), open }) {
            AgentReply::Attached(attached) => *attached,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn report(&self, report: Report) -> Receipt {
        match self.ask(&AgentAsk::Report(report)) {
            AgentReply::Reported { receipt } => receipt,
            other => panic!("{other:?}"),
        }
    }

    /// The codes of the reasons that an ask is refused for.
    pub(crate) fn refused(&self, ask: &AgentAsk) -> Vec<&'static str> {
        match self.ask(ask) {
            AgentReply::Refused(reasons) => reasons.iter().map(bursar_policy::Refusal::code).collect(),
            other => panic!("a refusal was expected: {other:?}"),
        }
    }

    /// The code of the fault that an ask meets.
    pub(crate) fn code(&self, ask: &AgentAsk) -> String {
        match self.0.ask(ask) {
            Err(ClientFault::Said { code, .. }) => code,
            other => panic!("a fault was expected: {other:?}"),
        }
    }
}

pub(crate) fn said(text: &str) -> Passphrase {
    Passphrase::new(Zeroizing::new(text.to_owned()))
}

pub(crate) fn name(text: &str) -> SessionName {
    text.parse().unwrap()
}

pub(crate) fn session_new(session: &str, budget: &str, passphrase: &str) -> OperatorAsk {
    OperatorAsk::SessionNew {
        name: name(session),
        budget: budget.parse::<Money>().unwrap(),
        minutes: 60,
        mandate: None,
        passphrase: said(passphrase),
    }
}

/// Unlocks, without a word about the rules.
pub(crate) fn unlock(passphrase: &str) -> OperatorAsk {
    OperatorAsk::Unlock { passphrase: said(passphrase), rules: None }
}

/// The rules that every agent here judges under.
pub(crate) fn judged_under() -> Digest {
    Digest::of(RULES.as_bytes())
}

/// Asks for a signature under these terms.
pub(crate) fn authorize(terms: Terms) -> AgentAsk {
    AgentAsk::Authorize { terms, envelope: String::new(), rules: judged_under() }
}

/// A payment document that says its payment and its payload.
pub(crate) fn blank() -> Blank {
    let text = |words: &str| Piece::Text(words.to_owned());
    Blank::new(vec![text("{\"id\":"), Piece::Payment, text(",\"payload\":"), Piece::Payload, text("}")]).unwrap()
}

/// Asks for money to be set aside under these terms.
pub(crate) fn hold(terms: Terms) -> AgentAsk {
    AgentAsk::Hold { terms, envelope: "kept".to_owned(), blank: blank(), rules: judged_under() }
}

/// A GET of a path on the test host.
pub(crate) fn errand(path: &str) -> Errand {
    Errand::new(Site::parse(&format!("https://api.example.com/{path}")).unwrap(), Method::Get)
}

pub(crate) fn named(path: &str, id: &str) -> Errand {
    Errand { purchase_id: Some(id.parse::<PurchaseId>().unwrap()), ..errand(path) }
}

/// Terms of this many cents.
pub(crate) fn terms(cents: u128) -> Terms {
    Terms {
        version: Version::V2,
        offer: 0,
        chain: ChainId::BASE_SEPOLIA,
        asset: USDC.parse().unwrap(),
        payee: PAYEE.parse().unwrap(),
        amount: Amount::new(cents.checked_mul(10_000).unwrap()).unwrap(),
        max_timeout_s: 60,
        domain_name: "USDC".to_owned(),
        domain_version: "2".to_owned(),
    }
}

/// A 200 with a body, and a settlement claim that agrees.
pub(crate) fn delivered() -> Report {
    Report {
        delivery: Delivery::Answer {
            status: 200,
            content: Some(ContentRef {
                digest: Digest::of(b"body"),
                bytes: 4,
                kind: "application/json".to_owned(),
                truncated: false,
            }),
            content_error: None,
        },
        settlement: Some(SettlementClaim {
            success: true,
            transaction: Some(format!("0x{}", "5a".repeat(32))),
            network: Some("eip155:84532".to_owned()),
            payer: None,
            amount: None,
            reason: None,
        }),
    }
}

/// A clock that a test moves.
#[derive(Clone, Debug)]
pub(crate) struct Dial(Arc<AtomicU64>);

impl Dial {
    pub(crate) fn at(seconds: u64) -> Self {
        Self(Arc::new(AtomicU64::new(seconds)))
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl TimeSource for Dial {
    fn wall_s(&self) -> Option<u64> {
        Some(self.0.load(Ordering::SeqCst))
    }

    fn boot_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst).saturating_mul(1000)
    }

    fn boot_id(&self) -> String {
        "one boot".to_owned()
    }
}
