//! Killed with -9 between every two effects: what may have been signed is counted, once, and nothing else is.
//!
//! The child is this very test binary, started in a folder that names the step to die at.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use bursar_policy::errand::{ApprovalId, Errand, SessionId, SessionName};
use bursar_policy::money::Money;
use bursar_policy::rules::draft::Setting;

use super::world::{self, CENT, Fake, LIFE_S, PAYER, money, named, place, terms};
use crate::failpoint::{self, FAILPOINTS};
use crate::ledger::{Ask, Claim, Counted, EXPIRY_MARGIN_S, KeyFile, Ledger, Redeemed, RowState};

const STEP_FILE: &str = "failpoint";

fn session() -> SessionId {
    SessionId::from_random([3; 16])
}

fn errand() -> Errand {
    named("page", "order")
}

fn open(dir: &Path, time: &Fake) -> Ledger {
    Ledger::open(&place(dir), Box::new(time.clone())).unwrap()
}

fn open_session(ledger: &Ledger) {
    ledger.open_session(session(), SessionName::default(), money("1.00 USD"), 86_400, None).unwrap();
}

fn ask(byte: u8) -> Ask {
    let payment = bursar_policy::PaymentId::from_random([byte; 16]);
    let approval = ApprovalId::from_random([byte; 16]);
    Ask { terms: terms(10 * CENT), envelope: String::new(), payer: PAYER, payment, approval, nonce: [byte; 32] }
}

/// Everything from a new session to a swept row, in order.
fn live(dir: &Path) -> Money {
    let time = Fake::new();
    let rules = world::rules("");
    let ledger = open(dir, &time);
    open_session(&ledger);
    let claim = |errand| match ledger.claim(&session(), errand, &rules, Duration::ZERO).unwrap() {
        Claim::New(guard) => guard,
        other => panic!("{other:?}"),
    };
    let Counted::Yes(exposed) = ledger.authorize(claim(errand()), ask(1), &rules).unwrap() else { panic!("refused") };
    ledger.store_signature(&exposed, &world::signature()).unwrap();
    ledger.report(&exposed, world::answered(Some(world::settled())), rules.breaker()).unwrap();
    let browser = world::drawn(&ask(3).payment);
    let handle = browser.digest;
    ledger.hold(claim(named("page", "browser")), ask(3), browser, &rules).unwrap();
    let who = world::redeemer(handle, "page");
    let Redeemed::First { reservation, .. } = ledger.redeem(&who, &rules, Duration::ZERO).unwrap() else {
        panic!("not redeemed")
    };
    ledger.store_signature(&reservation, &world::signature()).unwrap();
    drop(reservation);
    let Counted::Yes(second) = ledger.authorize(claim(named("page", "second")), ask(2), &rules).unwrap() else {
        panic!("refused")
    };
    time.pass(LIFE_S + EXPIRY_MARGIN_S);
    ledger.sweep().unwrap();
    drop(second);
    ledger.overview(Some(&session()), &rules).unwrap().session.unwrap().spent
}

/// The child's life. Without a parent it lives it to its end.
#[test]
fn the_child() {
    let here = std::env::current_dir().unwrap();
    if here.join(STEP_FILE).exists() {
        failpoint::arm(&here.join(STEP_FILE), Setting::Sandbox);
        live(&here);
        panic!("the step was never reached");
    }
    let home = tempfile::tempdir().unwrap();
    Ledger::create(&place(home.path()), KeyFile::Absent, [7; 16], Box::new(Fake::new())).unwrap();
    assert_eq!(live(home.path()), money("0.30 USD"));
    assert_eq!(open(home.path(), &Fake::new()).verify().unwrap().payments, 3);
}

fn die_at(dir: &Path, step: &str) -> ExitStatus {
    fs::write(dir.join(STEP_FILE), step).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "ledger::tests::crash::the_child", "--test-threads", "1"]).current_dir(dir);
    child.output().unwrap().status
}

/// What an identical call finds after the crash.
#[derive(Debug, PartialEq)]
enum Finds {
    New,
    Resend,
    Unresolved,
    Paid,
    NoSession,
}

#[test]
fn no_step_can_be_killed_so_that_money_leaves_uncounted() {
    // What an identical call finds, and what is counted: never less than what was signed.
    let table = [
        ("vault-session-committed", &[Finds::New][..], "0.00 USD"),
        ("vault-claim-bound", &[Finds::New], "0.00 USD"),
        ("vault-exposed-uncommitted", &[Finds::New], "0.00 USD"),
        ("vault-exposed-committed", &[Finds::Unresolved], "0.10 USD"),
        ("vault-signed", &[Finds::Unresolved], "0.10 USD"),
        ("vault-signature-uncommitted", &[Finds::Unresolved], "0.10 USD"),
        ("vault-signature-committed", &[Finds::Resend], "0.10 USD"),
        ("vault-report-uncommitted", &[Finds::Resend], "0.10 USD"),
        // Nobody waits for a report to reach the disk, so it may or may not have.
        ("vault-reported", &[Finds::Resend, Finds::Paid], "0.10 USD"),
        // What a browser waits for is given back by the restart: nobody has the handle, and nothing was signed.
        ("vault-held-uncommitted", &[Finds::Resend, Finds::Paid], "0.10 USD"),
        ("vault-held-committed", &[Finds::Paid], "0.10 USD"),
        ("vault-redeemed-uncommitted", &[Finds::Paid], "0.10 USD"),
        ("vault-redeemed-committed", &[Finds::Paid], "0.20 USD"),
        ("vault-sweep-uncommitted", &[Finds::Paid], "0.30 USD"),
    ];
    let steps: Vec<_> = FAILPOINTS.iter().filter(|step| step.starts_with("vault-")).collect();
    assert_eq!(steps.len(), table.len(), "every step of the vault is in the table");
    for (step, finds, counted) in table {
        let home = tempfile::tempdir().unwrap();
        let time = Fake::new();
        Ledger::create(&place(home.path()), KeyFile::Absent, [7; 16], Box::new(time.clone())).unwrap();
        let status = die_at(home.path(), step);
        assert_eq!(status.signal(), Some(9), "{step}: {status:?}");
        assert!(!home.path().join(STEP_FILE).exists(), "{step}: one file is one crash");

        let ledger = open(home.path(), &time);
        ledger.verify().unwrap_or_else(|fault| panic!("{step}: {fault}"));
        let found = match ledger.claim(&session(), errand(), &world::rules(""), Duration::ZERO).unwrap() {
            Claim::New(_) => Finds::New,
            Claim::Resend { .. } => Finds::Resend,
            Claim::Repeat(past) if past.receipt.state == RowState::Settled => Finds::Paid,
            Claim::Repeat(past) if past.receipt.state == RowState::Exposed => Finds::Unresolved,
            Claim::Refused(_) => Finds::NoSession,
            other => panic!("{step}: {other:?}"),
        };
        assert!(finds.contains(&found), "{step}: {found:?}");
        let seen = ledger.overview(Some(&session()), &world::rules("")).unwrap().session.unwrap();
        assert_eq!(seen.spent, money(counted), "{step}");

        time.pass(LIFE_S + EXPIRY_MARGIN_S);
        ledger.sweep().unwrap();
        let later = ledger.overview(Some(&session()), &world::rules("")).unwrap().session.unwrap();
        assert_eq!(later.spent, money(counted), "{step}: time alone frees nothing");
        ledger.verify().unwrap();
    }
}
