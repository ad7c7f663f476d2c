//! What a call costs that the vault refuses: a real vault, real sockets, a real ledger. `cargo bench --bench refuse`
//!
//! Beside it stand the floors: opening a conversation, and claiming alone.
#![expect(clippy::expect_used, clippy::panic, reason = "a bench may stop")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bursar_policy::{Digest, Errand, Method, Site, Terms, Version};
use bursar_vault::chain::NoChains;
use bursar_vault::client::{AgentClient, OperatorClient};
use bursar_vault::clock::MachineTime;
use bursar_vault::process::{self, Running};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{AgentAsk, AgentReply, OperatorAsk, OperatorReply, Passphrase};
use bursar_vault::setup::{self, NewKey, Unlocking};
use divan::Bencher;
use tempfile::TempDir;

const RULES: &str = r#"
[payment]
max_per_payment = "0.05 USD"
networks = ["eip155:84532"]
assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
recipients = ["0x1111111111111111111111111111111111111111"]

[[limit]]
scope = "all"
window = "24h"
max = "1.00 USD"

[[host]]
origin = "https://api.merchant.test"
"#;

fn main() {
    // Long enough that the first, cold rounds do not make the median.
    divan::Divan::default().min_time(Duration::from_secs(1)).config_with_args().main();
}

/// A vault with a budget of one cent. Ends with the bench.
struct Stage {
    profile: Profile,
    _running: Running,
    _home: TempDir,
}

fn stage() -> Stage {
    let home = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .tempdir()
        .expect("a folder");
    let profile = Profile::locate_sandbox(Path::new(home.path())).expect("a sandbox");
    let passphrase = || Passphrase::new("a bench needs no secret".to_owned().into());
    setup::initialise(&profile, RULES, NewKey::Generated, &passphrase(), Unlocking::ByPerson).expect("a profile");
    let running = process::start(&profile, None, Box::new(MachineTime), Arc::new(NoChains)).expect("a vault");
    let (operator, _) = OperatorClient::connect(&profile).expect("an operator");
    let budget = "0.01 USD".parse().expect("money");
    for ask in [
        OperatorAsk::Unlock { passphrase: passphrase(), rules: None },
        OperatorAsk::SessionNew {
            name: "default".parse().expect("a name"),
            budget,
            minutes: 60,
            mandate: None,
            passphrase: passphrase(),
        },
    ] {
        assert!(!matches!(operator.ask(&ask), Ok(OperatorReply::Fault { .. }) | Err(_)));
    }
    Stage { profile, _running: running, _home: home }
}

fn errand() -> Errand {
    let site = Site::parse("https://api.merchant.test/v1/data").expect("a URL");
    Errand::new(site, Method::Get)
}

/// Two cents, from a budget of one.
fn terms() -> Terms {
    Terms {
        version: Version::V2,
        offer: 0,
        chain: "eip155:84532".parse().expect("a chain"),
        asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e".parse().expect("an address"),
        payee: "0x1111111111111111111111111111111111111111".parse().expect("an address"),
        amount: bursar_policy::Amount::new(20_000).expect("an amount"),
        max_timeout_s: 60,
        domain_name: "USDC".to_owned(),
        domain_version: "2".to_owned(),
    }
}

fn claimed(stage: &Stage) -> AgentClient {
    let (agent, _) = AgentClient::connect(&stage.profile, None).expect("a vault");
    match agent.ask(&AgentAsk::Claim { errand: errand() }) {
        Ok(AgentReply::Claimed(_)) => agent,
        other => panic!("not claimed: {other:?}"),
    }
}

#[divan::bench]
fn refused_by_the_vault(bencher: Bencher<'_, '_>) {
    let stage = stage();
    bencher.bench_local(|| {
        let agent = claimed(&stage);
        match agent.ask(&AgentAsk::Authorize {
            terms: terms(),
            envelope: "{}".to_owned(),
            rules: Digest::of(RULES.as_bytes()),
        }) {
            Ok(AgentReply::Refused(reasons)) => reasons,
            other => panic!("not refused: {other:?}"),
        }
    });
}

#[divan::bench]
fn floor_claim(bencher: Bencher<'_, '_>) {
    let stage = stage();
    bencher.bench_local(|| claimed(&stage));
}

#[divan::bench]
fn floor_hello(bencher: Bencher<'_, '_>) {
    let stage = stage();
    bencher.bench_local(|| AgentClient::connect(&stage.profile, None).expect("a vault"));
}
