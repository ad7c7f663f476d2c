//! What several vaults with ledgers of their own count in a second when they split their limits: real vaults, real sockets,
//! real ledgers on one disk, a real center. `cargo bench --bench shares`
//!
//! First the rates of 1, 2 and 4 vaults beside that of one that splits nothing, then four that race for a limit: what they
//! spent of it together. `--json FILE` writes the figures into a file too; `--smoke` takes a moment for each.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::float_arithmetic,
    clippy::print_stdout,
    reason = "a bench prints, computes ratios, and stops where it cannot go on"
)]

#[path = "figures/sheet.rs"]
mod sheet;

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
use sheet::{Beside, Figure, Goal, Sheet};
use tempfile::TempDir;

/// How many callers each vault has.
const CALLERS: usize = 8;

/// How long each rate is measured, and how often.
const LONG: Duration = Duration::from_secs(5);
const ROUNDS: usize = 3;

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
fn run(stages: &[Stage], long: Duration, round: usize) -> usize {
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
                        bought = bought.saturating_add(usize::from(buy(stage, &format!("{round}-{caller}-{number}"))));
                    }
                    bought
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().expect("a caller")).sum()
    })
}

/// Buys that no other round makes again: every name has its round in it.
fn rate(stages: &[Stage], long: Duration, round: usize) -> f64 {
    f64::from(u32::try_from(run(stages, long, round)).expect("a number")) / long.as_secs_f64()
}

fn median(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    *rates.get(rates.len().div_euclid(2)).expect("a round")
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_smoke = words.iter().any(|word| word == "--smoke");
    // `cargo test --benches` starts benches too; they have nothing to test.
    if !is_smoke && !words.iter().any(|word| word == "--bench") {
        return;
    }
    let mut sheet = Sheet::new(&words);
    let (long, race, rounds) =
        if is_smoke { (Duration::from_millis(300), Duration::from_secs(1), 1) } else { (LONG, RACE, ROUNDS) };
    rates(long, rounds, &mut sheet);
    races(race, &mut sheet);
    sheet.write();
}

/// 1, 2 and 4 vaults and one that splits nothing, in turn.
fn rates(long: Duration, rounds: usize, sheet: &mut Sheet) {
    let centers: Vec<Center> = (0..3).map(|_| Center::start()).collect();
    let sharing = [1, 2, 4].into_iter().zip(&centers);
    let mut sides: Vec<(Vec<Stage>, Vec<f64>)> = vec![(vec![stage("90000 USD", None)], Vec::new())];
    sides.extend(
        sharing.map(|(vaults, center)| ((0..vaults).map(|_| stage("90000 USD", Some(center))).collect(), Vec::new())),
    );
    for round in 0..rounds {
        for (stages, rates) in &mut sides {
            rates.push(rate(stages, long, round));
        }
    }
    let mut sides = sides.into_iter().map(|(stages, mut rates)| (stages.len(), median(&mut rates)));
    let (_, alone) = sides.next().expect("a vault");
    println!("one vault that splits nothing: {alone:.0} counted and signed in a second, {CALLERS} callers");
    for (vaults, rate) in sides {
        println!("{vaults} that split the limit: {rate:.0} in a second, {CALLERS} callers each");
        sheet.add(Figure {
            id: format!("shares-{vaults}"),
            figure: match vaults {
                1 => format!("one vault, which could split its limits, counts and signs, {CALLERS} callers"),
                _ => format!("{vaults} vaults that split a limit, {CALLERS} callers each"),
            },
            measured: rate,
            unit: "/s",
            beside: vec![Beside { what: "one vault that splits nothing", measured: alone, unit: "/s" }],
            ratio: Some(rate / alone),
            ..Figure::default()
        });
    }
}

/// Four that race for one limit.
fn races(race: Duration, sheet: &mut Sheet) {
    let center = Center::start();
    let stages: Vec<Stage> = (0..4).map(|_| stage("2.00 USD", Some(&center))).collect();
    let bought = run(&stages, race, 0);
    println!("4 that race for 200 cents: {bought} cents were spent");
    assert!(bought <= 200, "more was spent than the limit allows");
    sheet.add(Figure {
        id: "shares-race".to_owned(),
        figure: "4 vaults that race for 200 cents spend of them".to_owned(),
        measured: f64::from(u32::try_from(bought).expect("a number")),
        unit: "cents",
        goal: Some(Goal { words: "at most 200 cents", most: Some(200.0), ..Goal::default() }),
        ..Figure::default()
    });
}
