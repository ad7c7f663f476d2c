//! What several vaults with ledgers of their own count in a second when they split their limits: real vaults, real sockets,
//! real ledgers on one disk, a real center. `cargo bench --bench shares`
//!
//! First the rates of 1, 2 and 4 vaults beside that of one that splits nothing, then four that race for a limit: what they
//! spent of it together.
#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a bench may stop, and prints")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bursar_policy::{Digest, Errand, Method, PurchaseId, Site, Terms, Version};
use bursar_vault::chain::NoChains;
use bursar_vault::client::{AgentClient, OperatorClient};
use bursar_vault::clock::MachineTime;
use bursar_vault::process::{self, Running};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{AgentAsk, AgentReply, OperatorAsk, OperatorReply, Passphrase};
use bursar_vault::setup::{self, NewKey, Unlocking};
use bursar_vault::{ledger_place, share};
use tempfile::TempDir;

/// How many callers each vault has.
const CALLERS: usize = 8;

/// How long each rate is measured.
const LONG: Duration = Duration::from_secs(5);

/// How long vaults race: long enough for some to hear that another one is short, and give back.
const RACE: Duration = Duration::from_secs(30);

/// A server of its own, which ends with this process.
struct Center {
    address: String,
    _script: Child,
}

impl Center {
    fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        drop(listener);
        let serve = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/postgres/serve");
        let mut script = Command::new(serve)
            .arg(port.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a server");
        let mut told = String::new();
        BufReader::new(script.stdout.take().expect("its word")).read_line(&mut told).expect("its word");
        let folder = told.trim_end().strip_prefix("ready ").expect("a server").to_owned();
        Self { address: format!("postgres://vaults@:{port}/postgres?host={folder}"), _script: script }
    }
}

/// A vault with a budget that nothing here uses up.
struct Stage {
    profile: Profile,
    rules: String,
    _running: Running,
    _home: TempDir,
}

fn stage(max: &str, center: Option<&Center>) -> Stage {
    let home = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .tempdir()
        .expect("a folder");
    let shares = center.map(|center| format!("[shares]\ncenter = \"{}\"\n", center.address)).unwrap_or_default();
    let rules = format!(
        r#"
[payment]
max_per_payment = "0.05 USD"
networks = ["eip155:84532"]
assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
recipients = ["0x1111111111111111111111111111111111111111"]
max_unresolved = 1000000

[[limit]]
scope = "all"
window = "24h"
max = "{max}"

[[host]]
origin = "https://api.merchant.test"

{shares}"#
    );
    let profile = Profile::locate_sandbox(&PathBuf::from(home.path())).expect("a sandbox");
    let passphrase = || Passphrase::new("a bench needs no secret".to_owned().into());
    setup::initialise(&profile, &rules, NewKey::Generated, &passphrase(), Unlocking::ByPerson).expect("a profile");
    if let Some(center) = center {
        let address = center.address.parse().expect("an address");
        let owner = ledger_place::as_role(&profile, &address, "keeper", None).expect("an owner");
        share::migrate(&owner, "vaults").expect("a center");
    }
    let running = process::start(&profile, None, Box::new(MachineTime), Arc::new(NoChains)).expect("a vault");
    let (operator, _) = OperatorClient::connect(&profile).expect("an operator");
    for ask in [
        OperatorAsk::Unlock { passphrase: passphrase(), rules: None },
        OperatorAsk::SessionNew {
            name: "default".parse().expect("a name"),
            budget: "100000 USD".parse().expect("money"),
            minutes: 60,
            mandate: None,
            passphrase: passphrase(),
        },
    ] {
        assert!(!matches!(operator.ask(&ask), Ok(OperatorReply::Fault { .. }) | Err(_)));
    }
    Stage { profile, rules, _running: running, _home: home }
}

fn terms() -> Terms {
    Terms {
        version: Version::V2,
        offer: 0,
        chain: "eip155:84532".parse().expect("a chain"),
        asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e".parse().expect("an address"),
        payee: "0x1111111111111111111111111111111111111111".parse().expect("an address"),
        amount: bursar_policy::Amount::new(10_000).expect("an amount"),
        max_timeout_s: 60,
        domain_name: "USDC".to_owned(),
        domain_version: "2".to_owned(),
    }
}

/// One purchase of a cent, as far as the signature; whether it was allowed.
fn buy(stage: &Stage, name: &str) -> bool {
    let (agent, _) = AgentClient::connect(&stage.profile, None).expect("a vault");
    let site = Site::parse("https://api.merchant.test/v1/data").expect("a URL");
    let purchase_id: Option<PurchaseId> = Some(name.parse().expect("an id"));
    let errand = Errand { purchase_id, ..Errand::new(site, Method::Get) };
    match agent.ask(&AgentAsk::Claim { errand }) {
        Ok(AgentReply::Claimed(_)) => {}
        other => panic!("not claimed: {other:?}"),
    }
    let ask =
        AgentAsk::Authorize { terms: terms(), envelope: "{}".to_owned(), rules: Digest::of(stage.rules.as_bytes()) };
    match agent.ask(&ask) {
        Ok(AgentReply::Authorized(_)) => true,
        Ok(AgentReply::Refused(_)) => false,
        other => panic!("neither allowed nor refused: {other:?}"),
    }
}

/// What all callers of all vaults got, until each has been at it for `long`.
fn run(stages: &[Stage], long: Duration) -> usize {
    let begun = Instant::now();
    thread::scope(|scope| {
        let each = stages.iter().flat_map(|stage| (0..CALLERS).map(move |caller| (stage, caller)));
        let callers: Vec<_> = each
            .map(|(stage, caller)| {
                scope.spawn(move || {
                    let mut bought: usize = 0;
                    for number in 0_usize.. {
                        if long <= begun.elapsed() {
                            break;
                        }
                        bought = bought.saturating_add(usize::from(buy(stage, &format!("{caller}-{number}"))));
                    }
                    bought
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().expect("a caller")).sum()
    })
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--smoke");
    let (long, race) = if quick { (Duration::from_millis(300), Duration::from_secs(1)) } else { (LONG, RACE) };
    let milliseconds = usize::try_from(long.as_millis()).expect("a number");
    let rate = |stages: &[Stage]| run(stages, long).saturating_mul(1_000).div_euclid(milliseconds);
    println!(
        "one vault that splits nothing: {} counted and signed in a second, {CALLERS} callers",
        rate(&[stage("90000 USD", None)])
    );
    for vaults in [1, 2, 4] {
        let center = Center::start();
        let stages: Vec<Stage> = (0..vaults).map(|_| stage("90000 USD", Some(&center))).collect();
        println!("{vaults} that split the limit: {} in a second, {CALLERS} callers each", rate(&stages));
    }
    let center = Center::start();
    let stages: Vec<Stage> = (0..4).map(|_| stage("2.00 USD", Some(&center))).collect();
    let bought = run(&stages, race);
    println!("4 that race for 200 cents: {bought} cents were spent");
    assert!(bought <= 200, "more was spent than the limit allows");
}
