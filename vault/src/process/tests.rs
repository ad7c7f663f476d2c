//! What only real money has: full key derivation cost, import, and rules that the operator agreed to.

use super::*;
use crate::client::{AgentClient, ClientFault, OperatorClient};
use crate::protocol::Passphrase;
use crate::protocol::{OperatorAsk, OperatorReply};
use crate::rotate::RotateFault;
use crate::setup;
use crate::setup::{NewKey, SetupFault, Typed, Unlocking};
use bursar_policy::{Digest, Setting};
use std::path::Path;
use zeroize::Zeroizing;

const RULES: &str = r#"
[payment]
max_per_payment = "0.05 USD"
networks = ["eip155:8453"]
assets = ["eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"]
recipients = ["0x209693Bc6afc0C5328bA36FaF03C514EF312287C"]
allow_any_host = true
"#;

fn said(text: &str) -> Passphrase {
    Passphrase::new(Zeroizing::new(text.to_owned()))
}

fn make(profile: &Profile, passphrase: &str) -> Result<bursar_policy::Address, SetupFault> {
    let key = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318";
    let typed = NewKey::Imported(Typed::new(Zeroizing::new(format!("0x{key}\n"))));
    setup::initialise(profile, RULES, typed, &said(passphrase), Unlocking::ByFile)
}

fn starts(profile: &Profile) -> Running {
    start(profile, None, Box::new(MachineTime), Arc::new(crate::chain::NoChains)).unwrap()
}

fn home(folder: &Path) -> Profile {
    Profile::at(&folder.join("home"), Setting::Real)
}

#[test]
fn real_money_unlocks_by_file_only_under_rules_that_the_operator_agreed_to() {
    let folder = tempfile::tempdir().unwrap();
    let profile = home(folder.path());
    assert!(matches!(make(&profile, "short"), Err(SetupFault::Passphrase(PassphraseFault::Length { least: 8 }))));
    let payer = make(&profile, "long enough").unwrap();
    assert_eq!(payer.to_string(), "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23");
    assert!(std::fs::read_to_string(profile.keystore()).unwrap().contains("\"n\": 262144"));

    let running = starts(&profile);
    assert!(!running.vault.wallet.is_locked());
    running.stop();

    std::fs::write(profile.rules(), RULES.replace("0.05 USD", "50.00 USD")).unwrap();
    let running = starts(&profile);
    assert!(running.vault.wallet.is_locked(), "rules that were edited while no vault ran need the operator's word");
    let operator = OperatorClient::connect(&profile).unwrap().0;
    let (old, new) = (Digest::of(RULES.as_bytes()), running.vault.rules().digest);
    let code = |passphrase, rules| match operator.ask(&OperatorAsk::Unlock { passphrase: said(passphrase), rules }) {
        Err(ClientFault::Said { code, .. }) => code,
        other => panic!("{other:?}"),
    };
    assert_eq!(code("just a guess", None), "passphrase_wrong", "nothing is told to whoever does not know it");
    assert_eq!(code("long enough", None), "rules_changed");
    assert_eq!(code("long enough", Some(old)), "rules_changed");
    assert!(running.vault.wallet.is_locked(), "the right passphrase alone unlocks nothing");
    let agreed = OperatorAsk::Unlock { passphrase: said("long enough"), rules: Some(new) };
    assert!(matches!(operator.ask(&agreed), Ok(OperatorReply::Unlocked { .. })));
    assert!(!running.vault.wallet.is_locked());
    running.stop();
    let running = starts(&profile);
    assert!(!running.vault.wallet.is_locked());
    running.vault.wallet.lock();
    let operator = OperatorClient::connect(&profile).unwrap().0;
    let again = OperatorAsk::Unlock { passphrase: said("long enough"), rules: None };
    assert!(
        matches!(operator.ask(&again), Ok(OperatorReply::Unlocked { .. })),
        "what was agreed to is not asked again"
    );

    let play = Profile::at(profile.home(), Setting::Sandbox);
    let mixed_up = |fault| matches!(fault, ClientFault::OtherSetting { vault: Setting::Real, asked: Setting::Sandbox });
    assert!(mixed_up(OperatorClient::connect(&play).unwrap_err()), "a sandbox's words never reach real money");
    assert!(mixed_up(AgentClient::connect(&play, None).unwrap_err()));
    running.stop();

    let fault = start(&play, None, Box::new(MachineTime), Arc::new(crate::chain::NoChains)).map(drop).unwrap_err();
    assert!(matches!(fault, StartFault::Ledger(LedgerFault::Setting { .. })), "{fault}");
}

/// A profile of play money, set up and not started.
fn set_up_in_a_sandbox(folder: &Path, unlocking: Unlocking) -> Profile {
    let play = Profile::at(&folder.join("home"), Setting::Sandbox);
    let rules = RULES
        .replace("8453", "84532")
        .replace("833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "036CbD53842c5426634e7929541eC2318f3dCF7e");
    setup::initialise(&play, &rules, NewKey::Generated, &said("x"), unlocking).unwrap();
    play
}

fn in_a_sandbox(folder: &Path) -> (Profile, Running) {
    let play = set_up_in_a_sandbox(folder, Unlocking::ByFile);
    let running = starts(&play);
    (play, running)
}

fn keys_beside(profile: &Profile) -> usize {
    std::fs::read_dir(profile.keys()).unwrap().count()
}

#[test]
fn a_vault_that_does_not_hear_whether_its_account_was_changed_ends_and_keeps_both_keys() {
    let folder = tempfile::tempdir().unwrap();
    let (profile, running) = in_a_sandbox(folder.path());
    let opened = running.vault.wallet.open(&said("x"), Instant::now()).unwrap();
    running.vault.ledger.close();
    let fault = running.vault.rotate(&opened, &said("x")).unwrap_err();
    assert!(matches!(&fault, RotateFault::Unknown { fault: LedgerFault::Closed }), "{fault}");
    assert_eq!((fault.code(), running.vault.is_ending()), ("rotation_unfinished", Some(Ended::Asked)));
    assert!(running.vault.wallet.is_locked());
    assert_eq!(keys_beside(&profile), 1, "the new one, should the ledger count for it");
    running.stop();
    // It does not.
    let running = starts(&profile);
    assert_eq!(running.vault.wallet.address(), opened.key().address());
    running.stop();
}

#[test]
fn a_change_that_the_ledger_refused_leaves_the_vault_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (profile, running) = in_a_sandbox(folder.path());
    let opened = running.vault.wallet.open(&said("x"), Instant::now()).unwrap();
    let hand = rusqlite::Connection::open(profile.ledger()).unwrap();
    hand.execute_batch("DROP TRIGGER audit_story; UPDATE audit SET key = '02' || lower(hex(zeroblob(31))) || '02'")
        .unwrap();
    let fault = running.vault.rotate(&opened, &said("x")).unwrap_err();
    assert!(matches!(&fault, RotateFault::Ledger(LedgerFault::OtherAuditKey)), "{fault}");
    assert_eq!((running.vault.is_ending(), keys_beside(&profile)), (None, 0));
    assert!(!running.vault.wallet.is_locked());
    running.stop();
}

#[test]
fn a_sandbox_is_nothing_to_real_money() {
    let folder = tempfile::tempdir().unwrap();
    set_up_in_a_sandbox(folder.path(), Unlocking::ByPerson);
    let fault = start(&home(folder.path()), None, Box::new(MachineTime), Arc::new(crate::chain::NoChains))
        .map(drop)
        .unwrap_err();
    assert!(matches!(fault, StartFault::Ledger(LedgerFault::Setting { .. })), "{fault}");
}

#[test]
fn an_ask_keeps_an_idle_vault_and_waiting_for_events_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let play = set_up_in_a_sandbox(folder.path(), Unlocking::ByPerson);
    let running = starts(&play);
    let operator = OperatorClient::connect(&play).unwrap().0;
    let began = std::time::Instant::now();
    operator.ask(&OperatorAsk::Status).unwrap();
    let quiet = running.vault.quiet_for();
    assert!(quiet < began.elapsed());
    let began = std::time::Instant::now();
    operator.ask(&OperatorAsk::Next { after: 0 }).unwrap();
    let passed = began.elapsed();
    assert!(passed <= running.vault.quiet_for(), "a watcher keeps the vault alive");
    running.stop();
}
