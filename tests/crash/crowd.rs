//! A crowd at one vault: sixty-four clients at once, several budgets, several limits. Nobody gets more than there is,
//! nobody is left without an answer, and what a client had begun that was killed comes to its end.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use bursar_policy::{Errand, Method, Refusal, SessionName, Site};
use bursar_vault::client::AgentClient;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{
    AgentAsk, AgentReply, Claimed, Delivery, PaymentDetail, Report, RowState, SettlementClaim, Signed,
};
use serde_json::Value;

use crate::books::{Books, money};
use crate::client::Client;
use crate::seller::{HOST, Hold, PAYEE, PRICE_UNITS, page_terms};
use crate::stand::{Stand, write};

/// Real `serve` processes, each with several calls in flight.
const SERVES: usize = 8;
/// Calls in flight of each of them.
const CALLS: usize = 4;
/// Clients that speak with the vault themselves, half of them about each of two more hosts.
const AGENTS: usize = 32;

const _SIXTY_FOUR: () = assert!(SERVES * CALLS + AGENTS == 64, "clients at once");

/// The sessions that they buy from, in turn.
const SESSIONS: [&str; 3] = ["one", "two", "three"];
/// How many purchases each of them makes: twice as many as there are clients, in all.
const EACH: usize = 2;
/// More than all of them buy together.
const PLENTY: u128 = 1_000;

/// How many purchases there is room for.
#[derive(Clone, Copy, Debug)]
struct Room {
    all: u128,
    host: u128,
    sessions: [u128; 3],
}

/// What one client was told, in the order of its purchases.
type Told = Vec<Outcome>;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Paid,
    Refused(String),
}

/// Rules for the shop and two hosts beside it, under these limits.
fn rules(port: u16, limits: &str) -> String {
    format!(
        r#"
        [payment]
        max_per_payment = "0.25 USD"
        networks = ["eip155:84532"]
        assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
        recipients = ["{PAYEE}"]
        max_unresolved = 1000

        {limits}

        [[host]]
        origin = "https://{HOST}:{port}"
        [[host]]
        origin = "https://left.crowd.test"
        [[host]]
        origin = "https://right.crowd.test"

        [sandbox]
        ca = "ca.pem"
        hosts = {{ "{HOST}" = "127.0.0.1" }}
        "#
    )
}

/// A vault that has this much room, with its sessions open.
async fn stand(room: Room) -> Stand {
    let amount = |purchases| money(purchases * PRICE_UNITS);
    let limit = |scope, most| format!("[[limit]]\nscope = \"{scope}\"\nwindow = \"24h\"\nmax = \"{}\"\n", amount(most));
    let mut stand = Stand::without_vault().await;
    let limits = format!("{}{}", limit("all", room.all), limit("host", room.host));
    write(&stand.profile.rules(), &rules(stand.seller.port, &limits));
    stand.start_vault().await;
    for (name, purchases) in SESSIONS.into_iter().zip(room.sessions) {
        stand.open_session_for(name, &amount(purchases).to_string(), None);
    }
    stand
}

/// Buys one page after another.
fn buy_by_hand(profile: &Profile, session: &str, host: &str, pages: impl Iterator<Item = String>) -> Told {
    pages.map(|page| purchase(profile, session, &format!("https://{host}/{page}"), Then::Report).0).collect()
}

/// What becomes of the connection after the signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Report,
    HangUp,
}

/// One purchase over a connection of its own.
fn purchase(profile: &Profile, session: &str, url: &str, then: Then) -> (Outcome, Option<Signed>) {
    let (agent, welcome) = AgentClient::connect(profile, Some(name(session))).unwrap();
    let refused = |reasons: &[Refusal]| (Outcome::Refused(reasons[0].code().to_owned()), None);
    match agent.ask(&AgentAsk::Claim { errand: errand(url) }).unwrap() {
        AgentReply::Claimed(Claimed::New) => {}
        AgentReply::Refused(reasons) => return refused(&reasons),
        other => panic!("not claimed: {other:?}"),
    }
    let ask = AgentAsk::Authorize { terms: page_terms(), envelope: "{}".to_owned(), rules: welcome.rules_digest };
    match agent.ask(&ask).unwrap() {
        AgentReply::Authorized(signed) => {
            if then == Then::Report {
                agent.ask(&AgentAsk::Report(delivered(&signed))).unwrap();
            }
            (Outcome::Paid, Some(*signed))
        }
        AgentReply::Refused(reasons) => refused(&reasons),
        other => panic!("neither signed nor refused: {other:?}"),
    }
}

fn delivered(signed: &Signed) -> Report {
    let settlement = SettlementClaim {
        success: true,
        transaction: Some(format!("0x{}", hex::encode(signed.authorization.nonce))),
        network: None,
        payer: None,
        amount: None,
        reason: None,
    };
    let delivery = Delivery::Answer { status: 200, content: None, content_error: None };
    Report { delivery, settlement: Some(settlement) }
}

fn name(text: &str) -> SessionName {
    text.parse().unwrap()
}

fn errand(url: &str) -> Errand {
    Errand::new(Site::parse(url).unwrap(), Method::Get)
}

/// Every client buys pages of its own at the same time as all the others. What those of each host were told, each beside
/// its session.
async fn everybody_buys(stand: &Stand) -> BTreeMap<String, Vec<(&'static str, Told)>> {
    let by_hand: Vec<_> = (0..AGENTS)
        .map(|which| {
            let (profile, session) = (stand.profile.clone(), SESSIONS[which % SESSIONS.len()]);
            let host = if which < AGENTS / 2 { "left.crowd.test" } else { "right.crowd.test" };
            thread::spawn(move || {
                let pages = (0..EACH).map(|page| format!("{which}/{page}"));
                (host, session, buy_by_hand(&profile, session, host, pages))
            })
        })
        .collect();
    let mut serves: Vec<Client> = (0..SERVES).map(|which| stand.serve_from(SESSIONS[which % SESSIONS.len()])).collect();
    let mut asked = Vec::new();
    for (which, serve) in serves.iter_mut().enumerate() {
        for page in 0..CALLS * EACH {
            asked.push((which, serve.fetch(&stand.seller.url(&format!("/{which}/{page}")), None).await));
        }
    }
    let mut told: BTreeMap<String, Vec<(&str, Told)>> = BTreeMap::new();
    for (which, call) in asked {
        let outcome = outcome(&serves[which].told(call).await.unwrap());
        told.entry(HOST.to_owned()).or_default().push((SESSIONS[which % SESSIONS.len()], vec![outcome]));
    }
    for client in by_hand {
        let (host, session, outcomes) = client.join().unwrap();
        told.entry(host.to_owned()).or_default().push((session, outcomes));
    }
    told
}

fn outcome(told: &Value) -> Outcome {
    match (told["outcome"].as_str().unwrap(), told["code"].as_str().unwrap()) {
        ("paid", _) => Outcome::Paid,
        ("refused", code) => Outcome::Refused(code.to_owned()),
        _ => panic!("neither paid nor refused: {told}"),
    }
}

/// How many of `rows` are of `host`.
fn of_host(rows: &[PaymentDetail], host: &str) -> u128 {
    let rows = rows.iter().filter(|row| row.site.origin().to_string().contains(host));
    u128::try_from(rows.count()).unwrap()
}

/// Lets the crowd race for what there is in `room` and fails where anybody got more, or was refused although there was
/// some. What was bought.
async fn race(room: Room) -> Books {
    let mut stand = stand(room).await;
    let told = everybody_buys(&stand).await;
    let books = stand.close().await;
    books.hold_against(&stand.seller);
    let answers = || told.values().flatten().flat_map(|(_, told)| told);
    assert_eq!(answers().count(), EACH * (SERVES * CALLS + AGENTS), "everybody was answered");
    let paid = answers().filter(|told| **told == Outcome::Paid).count();
    assert_eq!(paid, books.rows.len(), "everyone who was told that it is paid has a row, and nobody else");
    let bought = u128::try_from(books.rows.len()).unwrap();
    assert!(bought <= room.all, "{bought} purchases: {room:?}");
    for session in &books.sessions {
        assert!(session.spent.atto() <= session.budget.atto(), "{session:?}");
    }
    for (host, clients) in &told {
        let of_host = of_host(&books.rows, host);
        assert!(of_host <= room.host, "{of_host} purchases at {host}: {room:?}");
        for (session, told) in clients {
            let session = books.sessions.iter().find(|known| known.name.as_str() == *session).unwrap();
            // Nothing is given back here, so whatever was full for one who was refused is full at the end.
            let is_full = |code: &str| match code {
                "over_session_budget" => session.spent == session.budget,
                "over_limit" | "spending_limit" => bought == room.all || of_host == room.host,
                _ => false,
            };
            for outcome in told {
                assert!(
                    !matches!(outcome, Outcome::Refused(code) if !is_full(code)),
                    "{host}, {session:?}: {outcome:?}"
                );
            }
        }
    }
    books
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_clients_race_for_one_budget_each_host_and_each_session() {
    let plenty = Room { all: PLENTY, host: PLENTY, sessions: [PLENTY; 3] };
    let served = race(plenty).await;
    assert_eq!(served.rows.len(), EACH * (SERVES * CALLS + AGENTS), "nobody is left out while there is enough");
    assert!(served.states().iter().all(|state| *state == RowState::Settled));

    let one_limit = race(Room { all: 40, ..plenty }).await;
    assert_eq!(one_limit.rows.len(), 40);
    let by_host = race(Room { host: 15, ..plenty }).await;
    assert_eq!(by_host.rows.len(), 3 * 15);
    let by_session = race(Room { sessions: [5, 10, 20], ..plenty }).await;
    assert_eq!(by_session.rows.len(), 5 + 10 + 20);
    // All of it at once: who is stopped by what is up to the race.
    race(Room { all: 80, host: 30, sessions: [20, 30, 50] }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_clients_of_a_crowd_had_begun_that_were_killed_comes_to_its_end() {
    let mut stand = stand(Room { all: PLENTY, host: PLENTY, sessions: [PLENTY; 3] }).await;
    stand.seller.hold(Hold::Goods);
    let mut serves: Vec<Client> = (0..SERVES).map(|_| stand.serve_from("one")).collect();
    let mut urls = Vec::new();
    let mut calls = Vec::new();
    for (which, serve) in serves.iter_mut().enumerate() {
        for page in 0..CALLS {
            let url = stand.seller.url(&format!("/{which}/{page}"));
            calls.push((which, serve.fetch(&url, None).await));
            urls.push(url);
        }
    }
    // Clients that speak with the vault themselves and hang up with the signature in their hands, as a killed one does.
    let profile = stand.profile.clone();
    let by_hand: Vec<_> = (0..AGENTS)
        .map(|which| {
            let profile = profile.clone();
            let url = format!("https://left.crowd.test/{which}");
            thread::spawn(move || (url.clone(), purchase(&profile, "one", &url, Then::HangUp).1.unwrap()))
        })
        .collect();
    let signed: Vec<(String, Signed)> = by_hand.into_iter().map(|client| client.join().unwrap()).collect();

    // Every other one is killed, one after another, while its calls are anywhere on their way.
    let (mut dead, mut alive) = (BTreeSet::new(), BTreeMap::new());
    for (which, serve) in serves.into_iter().enumerate() {
        if which % 2 == 0 {
            stand.seller.was_paid(1 + 2 * which).await;
            serve.kill().await;
            dead.insert(which);
        } else {
            alive.insert(which, serve);
        }
    }
    Books::of_the_vault(&stand.profile).hold_against(&stand.seller);
    stand.seller.hold(Hold::Nothing);
    for (which, call) in calls.into_iter().filter(|(which, _)| !dead.contains(which)) {
        let told = alive.get_mut(&which).unwrap().told(call).await.unwrap();
        assert_eq!(outcome(&told), Outcome::Paid, "somebody else's death is nothing to it: {told}");
    }
    // Whoever makes the same calls again collects what was paid for, and pays nothing twice.
    let mut heir = stand.serve_from("one");
    for url in &urls {
        let told = heir.buy(url, None).await;
        assert_eq!(outcome(&told), Outcome::Paid, "{told}");
    }
    for (url, first) in &signed {
        let (agent, _) = AgentClient::connect(&stand.profile, Some(name("one"))).unwrap();
        match agent.ask(&AgentAsk::Claim { errand: errand(url) }).unwrap() {
            AgentReply::Claimed(Claimed::Resend(again)) => assert_eq!(again.signature, first.signature, "{url}"),
            other => panic!("not the same bytes again: {other:?}"),
        }
        agent.ask(&AgentAsk::Report(delivered(first))).unwrap();
    }
    let books = stand.close().await;
    books.hold_against(&stand.seller);
    assert_eq!(books.rows.len(), SERVES * CALLS + AGENTS, "one purchase, one row");
    assert!(books.states().iter().all(|state| *state == RowState::Settled), "{:?}", books.states());
    assert_eq!(stand.seller.nonces().len(), SERVES * CALLS);
}
