//! A vault in this process on a profile that is there, and agents that buy from it over its socket.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use bursar_policy::{Amount, Digest, Errand, Method, SessionName, Site, Terms, Version};
use bursar_vault::chain::NoChains;
use bursar_vault::client::{AgentClient, OperatorClient};
use bursar_vault::clock::{MachineTime, TimeSource};
use bursar_vault::process::{self, Running};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{
    AgentAsk, AgentReply, ContentRef, Delivery, LogEntry, OperatorAsk, OperatorReply, Passphrase, Report,
    SettlementClaim,
};
use bursar_vault::setup::{self, NewKey, Unlocking};

const RULES: &str = r#"
[payment]
max_per_payment = "0.05 USD"
networks = ["eip155:84532"]
assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
recipients = ["0x1111111111111111111111111111111111111111"]
max_unresolved = 1000

[[limit]]
scope = "all"
window = "24h"
max = "1000000.00 USD"

[[host]]
origin = "https://api.merchant.test"
"#;

/// A vault with an open budget.
pub(crate) struct Stage {
    profile: Profile,
    session: SessionName,
    page: AtomicU64,
    running: Running,
}

impl Stage {
    /// Makes a profile in `home`.
    pub(crate) fn initialise(home: &Path) {
        let profile = Profile::locate_sandbox(home).unwrap();
        setup::initialise(&profile, RULES, NewKey::Generated, &passphrase(), Unlocking::ByFile).unwrap();
    }

    /// Starts a vault on `home` and ends it; how long it took until its sockets accepted.
    pub(crate) fn start(home: &Path) -> Duration {
        let profile = Profile::locate_sandbox(home).unwrap();
        let begun = Instant::now();
        let running = process::start(&profile, None, Box::new(MachineTime), Arc::new(NoChains)).unwrap();
        let took = begun.elapsed();
        running.stop();
        took
    }

    /// Starts a vault on `home` and opens a budget; how long it took until its sockets accepted.
    pub(crate) fn open(home: &Path, time: Box<dyn TimeSource>) -> (Self, Duration) {
        let profile = Profile::locate_sandbox(home).unwrap();
        let drawn = time.wall_s().unwrap();
        let begun = Instant::now();
        let running = process::start(&profile, None, time, Arc::new(NoChains)).unwrap();
        let took = begun.elapsed();
        let (operator, welcome) = OperatorClient::connect(&profile).unwrap();
        assert!(!welcome.locked, "the passphrase file unlocks");
        let session: SessionName = format!("bench-{drawn}").parse().unwrap();
        let opened = operator.ask(&OperatorAsk::SessionNew {
            name: session.clone(),
            budget: "1000000.00 USD".parse().unwrap(),
            minutes: 60,
            mandate: None,
            passphrase: passphrase(),
        });
        assert!(matches!(opened, Ok(OperatorReply::Session(_))), "{opened:?}");
        (Self { profile, session, page: AtomicU64::new(drawn << 24), running }, took)
    }

    /// Ends the vault in order.
    pub(crate) fn close(self) {
        self.running.stop();
    }

    /// Waits until the whole ledger was checked, where the vault does that beside its work; how long it took.
    pub(crate) fn wait_for_the_check(&self, rows: u64) -> Option<Duration> {
        // Two or three events a row: more than 20,000 are not all looked at before the vault serves.
        (10_000 < rows).then(|| {
            let begun = Instant::now();
            while !self.is_checked() {
                thread::sleep(Duration::from_secs(1));
            }
            begun.elapsed()
        })
    }

    fn is_checked(&self) -> bool {
        let (operator, _) = OperatorClient::connect(&self.profile).unwrap();
        let Ok(OperatorReply::Log(entries)) = operator.ask(&OperatorAsk::Log { limit: 500, after: None }) else {
            panic!("the vault does not tell its log")
        };
        let opened = entries.iter().filter(|entry| entry.kind == "opened").map(|entry| entry.seq).max();
        let since = |entry: &&LogEntry| opened.is_none_or(|opened| opened < entry.seq);
        entries.iter().filter(since).any(|entry| entry.detail.starts_with("the whole ledger is in order"))
    }

    /// Buys one page after another. What each waited between asking for a payment and having it signed.
    pub(crate) fn buy_alone(&self, times: usize) -> Vec<Duration> {
        (0..times).map(|_| self.buy()).collect()
    }

    /// The same of many callers at once, and how many purchases a second they make together.
    pub(crate) fn buy_in_a_crowd(&self, callers: usize, each: usize) -> (Vec<Duration>, f64) {
        let gate = Barrier::new(callers + 1);
        let (waits, begun) = thread::scope(|scope| {
            let crowd: Vec<_> = (0..callers)
                .map(|_| {
                    scope.spawn(|| {
                        gate.wait();
                        (0..each).map(|_| self.buy()).collect::<Vec<_>>()
                    })
                })
                .collect();
            gate.wait();
            let begun = Instant::now();
            (crowd.into_iter().flat_map(|caller| caller.join().unwrap()).collect::<Vec<_>>(), begun)
        });
        let rate = waits.len() as f64 / begun.elapsed().as_secs_f64();
        (waits, rate)
    }

    /// One purchase over a connection of its own: claimed, authorized, reported.
    fn buy(&self) -> Duration {
        let (agent, welcome) = AgentClient::connect(&self.profile, Some(self.session.clone())).unwrap();
        let page = self.page.fetch_add(1, Ordering::Relaxed);
        let site = Site::parse(&format!("https://api.merchant.test/v1/data/{page}")).unwrap();
        let claimed = agent.ask(&AgentAsk::Claim { errand: Errand::new(site, Method::Get) }).unwrap();
        assert!(matches!(claimed, AgentReply::Claimed(_)), "{claimed:?}");
        let ask = AgentAsk::Authorize { terms: terms(), envelope: envelope(), rules: welcome.rules_digest };
        let begun = Instant::now();
        let signed = match agent.ask(&ask).unwrap() {
            AgentReply::Authorized(signed) => signed,
            other => panic!("not signed: {other:?}"),
        };
        let waited = begun.elapsed();
        agent.ask(&AgentAsk::Report(delivered(&signed.authorization.nonce))).unwrap();
        waited
    }
}

fn passphrase() -> Passphrase {
    Passphrase::new("a bench needs no secret".to_owned().into())
}

fn terms() -> Terms {
    Terms {
        version: Version::V2,
        offer: 0,
        chain: "eip155:84532".parse().unwrap(),
        asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e".parse().unwrap(),
        payee: "0x1111111111111111111111111111111111111111".parse().unwrap(),
        amount: Amount::new(1_000).unwrap(),
        max_timeout_s: 60,
        domain_name: "USDC".to_owned(),
        domain_version: "2".to_owned(),
    }
}

/// What is kept of a seller's words: about as much as a seller says.
fn envelope() -> String {
    format!("{{\"version\":2,\"offer\":{{\"description\":\"{}\"}}}}", "word ".repeat(60))
}

/// A good answer with a settlement that fits; the nonce serves as the transaction.
fn delivered(nonce: &[u8; 32]) -> Report {
    let content = ContentRef { digest: Digest::of(nonce), bytes: 4, kind: "text".to_owned(), truncated: false };
    let settlement = SettlementClaim {
        success: true,
        transaction: Some(format!("0x{}", Digest::of(nonce))),
        network: Some("eip155:84532".to_owned()),
        payer: None,
        amount: None,
        reason: None,
    };
    let delivery = Delivery::Answer { status: 200, content: Some(content), content_error: None };
    Report { delivery, settlement: Some(settlement) }
}
