//! The two fail points that no purchase passes: what time does to a payment, and what the operator opens.

use std::time::Duration;

use bursar_policy::Address;
use bursar_policy::errand::{ApprovalId, Errand, Method, PaymentId, SessionId};
use bursar_policy::rules::Setting;
use bursar_policy::site::Site;

use bursar_vault::client::{AgentClient, ClientFault, OperatorClient};
use bursar_vault::clock::{MachineTime, TimeSource};
use bursar_vault::ledger::{Ask, Claim, Counted, KeyFile, Ledger};
use bursar_vault::protocol::{AgentAsk, OperatorAsk, RowState};
use bursar_vault::rules_file;

use crate::books::{Books, money};
use crate::seller::{PRICE_UNITS, page_terms};
use crate::stand::{LOOK_AGAIN, Stand, passphrase};

const SWEEP: &str = "vault-sweep-uncommitted";
const SESSION: &str = "vault-session-committed";

/// The steps of this file.
pub(crate) const STEPS: [&str; 2] = [SWEEP, SESSION];

/// The machine's clock, an hour ago, before the machine was started anew: what is written by it has run out since.
#[derive(Debug)]
struct HourAgo;

impl TimeSource for HourAgo {
    fn wall_s(&self) -> Option<u64> {
        MachineTime.wall_s()?.checked_sub(3_600)
    }

    fn boot_ms(&self) -> u64 {
        MachineTime.boot_ms()
    }

    fn boot_id(&self) -> String {
        "an earlier boot".to_owned()
    }
}

fn errand(url: &str) -> Errand {
    let site = Site::parse(url).unwrap();
    Errand::new(site, Method::Get)
}

/// One purchase of `url`, signed and never answered, in a ledger that is an hour old.
fn bought_an_hour_ago(stand: &Stand, url: &str) {
    let ledger = Ledger::open(&stand.profile.ledger_place(), Box::new(HourAgo)).unwrap();
    let session = SessionId::from_random([1; 16]);
    ledger
        .open_session(session.clone(), "default".parse().unwrap(), "1.00 USD".parse().unwrap(), 86_400, None)
        .unwrap();
    let rules = rules_file::load(&stand.profile.rules(), Setting::Sandbox).unwrap().rules;
    let Claim::New(claim) = ledger.claim(&session, errand(url), &rules, Duration::ZERO).unwrap() else {
        panic!("the ledger is new");
    };
    let terms = page_terms();
    let payment = PaymentId::from_random([2; 16]);
    let approval = ApprovalId::from_random([2; 16]);
    let payer = Address::from_bytes([0x11; 20]);
    let ask = Ask { terms, envelope: "{}".to_owned(), payer, payment, approval, nonce: [3; 32] };
    let Counted::Yes(exposed) = ledger.authorize(claim, ask, &rules).unwrap() else { panic!("not admitted") };
    ledger.store_signature(&exposed, &format!("0x{}1b", "ab".repeat(64))).unwrap();
    drop(exposed);
    ledger.close();
}

/// Puts a ledger that was made an hour ago in the place of the one that was just made, under the same id.
fn backdate(stand: &Stand) {
    let place = stand.profile.ledger_place();
    let ledger = Ledger::open(&place, Box::new(MachineTime)).unwrap();
    let created = ledger.log(1, Some(0)).unwrap().remove(0).detail;
    drop(ledger);
    std::fs::remove_file(&place.file).unwrap();
    let mut id = [0; 16];
    hex::decode_to_slice(created.strip_prefix("ledger ").unwrap(), &mut id).unwrap();
    Ledger::create(&place, KeyFile::Absent, id, Box::new(HourAgo)).unwrap();
}

/// Unlocks the vault and claims a purchase, which makes it look for payments that ran out. It may die at any moment.
fn provoke(stand: &Stand, url: &str) -> Result<(), ClientFault> {
    let (operator, _) = OperatorClient::connect(&stand.profile)?;
    operator.ask(&OperatorAsk::Unlock { passphrase: passphrase(), rules: None })?;
    let (agent, _) = AgentClient::connect(&stand.profile, None)?;
    agent.ask(&AgentAsk::Claim { errand: errand(url) }).map(drop)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_when_a_payment_that_ran_out_is_presumed_spent() {
    let mut stand = Stand::without_vault().await;
    backdate(&stand);
    let url = stand.seller.url("/page");
    bought_an_hour_ago(&stand, &url);
    stand.arm(SWEEP);
    stand.spawn_vault();
    // The vault also looks by itself now and then: whatever makes it look first, that is where it dies.
    let mut tick = tokio::time::interval(LOOK_AGAIN);
    while stand.vault_lives() {
        tick.tick().await;
        assert!(provoke(&stand, &url).is_err(), "the vault looked for payments that ran out and lived");
    }
    let ended = stand.vault_ended().await;
    stand.was_killed_at(SWEEP, ended);
    let left = Books::of_the_disk(&stand.profile);
    left.hold_against(&stand.seller);
    assert_eq!(left.states(), [RowState::Exposed], "what was not committed is not there");

    stand.start_vault().await;
    let mut serve = stand.serve();
    let again = serve.buy(&url, None).await;
    assert_eq!((&again["outcome"], &again["repeat"]), (&"unresolved".into(), &true.into()), "{again}");
    let meant = serve.buy(&url, Some("a-second-one")).await;
    assert_eq!((&meant["outcome"], &meant["repeat"]), (&"paid".into(), &false.into()), "{meant}");
    let books = Books::of_the_vault(&stand.profile);
    books.hold_against(&stand.seller);
    assert_eq!(books.states(), [RowState::PresumedSpent, RowState::Settled]);
    assert_eq!(books.session().spent, money(2 * PRICE_UNITS), "time alone frees nothing");
    stand.close().await.hold_against(&stand.seller);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_when_a_session_is_on_the_disk() {
    let mut stand = Stand::without_vault().await;
    stand.start_vault().await;
    stand.arm(SESSION);
    let (operator, _) = OperatorClient::connect(&stand.profile).unwrap();
    let ask = || OperatorAsk::SessionNew {
        name: "default".parse().unwrap(),
        budget: "0.05 USD".parse().unwrap(),
        minutes: 60,
        mandate: None,
        passphrase: passphrase(),
    };
    assert!(operator.ask(&ask()).is_err(), "nobody was answered");
    let ended = stand.vault_ended().await;
    stand.was_killed_at(SESSION, ended);
    assert_eq!(Books::of_the_disk(&stand.profile).session().budget, money(PRICE_UNITS));

    stand.start_vault().await;
    let (operator, _) = OperatorClient::connect(&stand.profile).unwrap();
    let again = operator.ask(&ask());
    assert!(matches!(&again, Err(ClientFault::Said { code, .. }) if code == "session_exists"), "{again:?}");
    let mut serve = stand.serve();
    assert_eq!(serve.buy(&stand.seller.url("/one"), None).await["outcome"], "paid");
    let refused = serve.buy(&stand.seller.url("/two"), None).await;
    assert_eq!(refused["code"], "over_session_budget", "one session, not two: {refused}");
    stand.close().await.hold_against(&stand.seller);
}
