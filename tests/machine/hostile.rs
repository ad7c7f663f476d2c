//! A replacement of `serve` that an attacker wrote: it speaks to the agent's socket directly, lies about hosts, floods, and
//! asks for everything. It gets what the rules, the limits and the session allow to the listed payee, and nothing else.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use bursar_policy::{Address, Amount, ChainId, Digest, Errand, Method, Money, SessionName, Site, Terms, Version};
use bursar_vault::blank::{Blank, Piece};
use bursar_vault::client::{AgentClient, ClientFault, OperatorClient};
use bursar_vault::protocol::frame::{self, ASK_MAX_BYTES, REPLY_MAX_BYTES};
use bursar_vault::protocol::{
    AgentAsk, AgentReply, Claimed, Delivery, OperatorAsk, OperatorReply, OperatorStatus, Report, SettlementClaim,
    Signed,
};
use bursar_vault::sign::{Signature, recover};
use serde_json::{Value, json};

use crate::plant::{AGENT, Machine, OPERATOR, OTHER, PASSPHRASE, as_user, rules};
use crate::seller::PAYEE;

const USDC: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const EVIL: &str = "0x2222222222222222222222222222222222222222";
const CENT: u128 = 10_000;

/// Whatever was signed for the attacker.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// An address on a listed host that nobody asked for before: the host is the attacker's word.
fn errand() -> Errand {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    Errand::new(Site::parse(&format!("{OTHER}/{number}")).unwrap(), Method::Get)
}

fn terms(payee: &str, cents: u128) -> Terms {
    Terms {
        version: Version::V2,
        offer: 0,
        chain: ChainId::BASE_SEPOLIA,
        asset: USDC.parse().unwrap(),
        payee: payee.parse().unwrap(),
        amount: Amount::new(cents * CENT).unwrap(),
        max_timeout_s: 60,
        domain_name: "USDC".to_owned(),
        domain_version: "2".to_owned(),
    }
}

/// Claims and asks for a signature: what was signed, or what was said instead.
fn taken(agent: &AgentClient, errand: Errand, terms: Terms, rules: Digest) -> Result<Signed, String> {
    let ask = |ask| agent.ask(&ask).map_err(|fault| fault.to_string());
    match ask(AgentAsk::Claim { errand })? {
        AgentReply::Claimed(Claimed::New) => {}
        AgentReply::Claimed(Claimed::Resend(signed)) => return Ok(*signed),
        other => return Err(format!("{other:?}")),
    }
    match ask(AgentAsk::Authorize { terms, envelope: "{}".to_owned(), rules })? {
        AgentReply::Authorized(signed) => Ok(*signed),
        other => Err(format!("{other:?}")),
    }
}

fn status(machine: &Machine) -> OperatorStatus {
    let profile = machine.profile(OPERATOR);
    let asked = as_user(OPERATOR, || OperatorClient::connect(&profile).unwrap().0.ask(&OperatorAsk::Status).unwrap());
    let OperatorReply::Status(status) = asked else { panic!("out of turn") };
    *status
}

fn spent(machine: &Machine, session: &str) -> Money {
    let status = status(machine);
    status.sessions.iter().find(|view| view.name.to_string() == session).unwrap().spent
}

fn dollars(cents: u128) -> Money {
    format!("{}.{:02} USD", cents / 100, cents % 100).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn however_many_ask_at_once_nobody_gets_more_than_the_session() {
    let machine = Machine::with_a_dollar(&rules(1, "")).await;
    let profile = machine.profile(AGENT);
    let got: Mutex<Vec<Signed>> = Mutex::default();
    as_user(AGENT, || {
        std::thread::scope(|scope| {
            for caller in 0..16_u128 {
                let (profile, got) = (&profile, &got);
                scope.spawn(move || {
                    // A thread begins with the rights of the one that started it.
                    let (agent, welcome) = AgentClient::connect(profile, None).unwrap();
                    for round in 0..12_u128 {
                        let cents = 1 + (caller + round) % 25;
                        if let Ok(signed) = taken(&agent, errand(), terms(PAYEE, cents), welcome.rules_digest) {
                            got.lock().unwrap().push(signed);
                        }
                        if round % 3 == 0 {
                            // A settlement and a delivery that never were free nothing.
                            drop(agent.ask(&AgentAsk::Report(Report {
                                delivery: Delivery::Answer { status: 200, content: None, content_error: None },
                                settlement: Some(SettlementClaim {
                                    success: round % 2 == 0,
                                    transaction: Some(format!("0x{}", "5a".repeat(32))),
                                    network: Some("eip155:84532".to_owned()),
                                    payer: None,
                                    amount: None,
                                    reason: Some("it never happened".to_owned()),
                                }),
                            })));
                        }
                    }
                });
            }
        });
    });
    let got = got.into_inner().unwrap();
    let units: u128 = got.iter().map(|signed| signed.authorization.value.units()).sum();
    assert!(75 * CENT < units && units <= 100 * CENT, "{units} of a dollar were signed away");
    assert_eq!(spent(&machine, "default"), dollars(units / CENT), "whatever was signed is counted");
    let nonces: BTreeSet<[u8; 32]> = got.iter().map(|signed| signed.authorization.nonce).collect();
    assert_eq!(nonces.len(), got.len(), "each signature is its own");
    for signed in &got {
        assert_eq!(signed.authorization.to, PAYEE.parse::<Address>().unwrap());
        let life = signed.authorization.valid_before - signed.signed_at_s;
        assert!(life <= 300, "a signature lives as long as the rules say at the most: {life}");
        let digest = signed.authorization.digest(&signed.domain);
        assert_eq!(recover(&digest, &signed.signature.parse::<Signature>().unwrap()).unwrap(), signed.payer);
    }
}

#[tokio::test]
async fn what_the_rules_forbid_is_signed_for_no_lie_about_the_host() {
    let machine = Machine::with_a_dollar(&rules(1, "")).await;
    let profile = machine.profile(AGENT);
    // A conversation of its own for each, since some of these words end one.
    let enter = || as_user(AGENT, || AgentClient::connect(&profile, None).unwrap());
    let rules = enter().1.rules_digest;
    let good = || terms(PAYEE, 5);
    let other_site = |url: &str| Errand::new(Site::parse(url).unwrap(), Method::Get);
    let mut post = errand();
    post.method = Method::Post;
    for (what, errand, terms) in [
        ("an unlisted payee", errand(), terms(EVIL, 5)),
        ("a token as payee", errand(), terms(USDC, 5)),
        ("too much", errand(), terms(PAYEE, 26)),
        ("all there is", errand(), Terms { amount: Amount::new(u128::MAX).unwrap(), ..good() }),
        ("another network", errand(), Terms { chain: ChainId::new(8453), ..good() }),
        ("another token", errand(), Terms { asset: EVIL.parse().unwrap(), ..good() }),
        ("another domain", errand(), Terms { domain_name: "USD Coin".to_owned(), ..good() }),
        ("an unlisted host", other_site("https://evil.test/"), good()),
        ("another port", other_site(&format!("{OTHER}:8443/")), good()),
        ("plain text", other_site("http://other.crash.test/"), good()),
        ("an address", other_site("https://93.184.216.34/"), good()),
        ("another method", post, good()),
    ] {
        let said = taken(&enter().0, errand, terms, rules).expect_err(what);
        assert!(!said.contains("Quarantined"), "{what} was refused for something else: {said}");
    }
    assert!(
        taken(&enter().0, errand(), good(), Digest::of(b"rules of my own")).is_err(),
        "rules of its own were believed"
    );
    // What a person never opened is no budget, and a handle is for a socket that the agent cannot reach.
    for name in ["second", "operator", "a-b"] {
        let (agent, welcome) =
            as_user(AGENT, || AgentClient::connect(&profile, Some(name.parse::<SessionName>().unwrap())).unwrap());
        assert!(taken(&agent, errand(), good(), welcome.rules_digest).is_err(), "{name} is open");
    }
    assert_eq!(spent(&machine, "default"), dollars(0));
    let (agent, _) = enter();
    let allowed = taken(&agent, errand(), good(), rules);
    assert!(allowed.is_ok(), "the same attacker can do what the rules allow: {allowed:?}");

    let text = |words: &str| Piece::Text(words.to_owned());
    let blank =
        Blank::new(vec![text("{\"id\":"), Piece::Payment, text(",\"payload\":"), Piece::Payload, text("}")]).unwrap();
    assert!(matches!(agent.ask(&AgentAsk::Claim { errand: errand() }), Ok(AgentReply::Claimed(Claimed::New))));
    let held = agent.ask(&AgentAsk::Hold { terms: good(), envelope: String::new(), blank, rules });
    assert!(matches!(held, Ok(AgentReply::Held { .. })), "{held:?}");
    let glue = machine.path("sockets/glue.sock");
    let redeemed = as_user(AGENT, || UnixStream::connect(glue)).unwrap_err();
    assert_eq!(redeemed.kind(), std::io::ErrorKind::PermissionDenied);
    assert_eq!(spent(&machine, "default"), dollars(10), "what is held counts");
}

#[tokio::test]
async fn the_operators_words_mean_nothing_on_the_agents_socket() {
    let machine = Machine::with_a_dollar(&rules(1, "")).await;
    let socket = machine.path("sockets/agent.sock");
    let passphrase = json!(PASSPHRASE);
    let before = status(&machine);
    for ask in [
        json!({"session_new": {"name": "mine", "budget": "100.00 USD", "minutes": 600, "mandate": null, "passphrase": passphrase}}),
        json!({"unlock": {"passphrase": passphrase, "rules": null}}),
        json!({"approve": {"id": "a_1", "binding": "0".repeat(64), "passphrase": passphrase}}),
        json!({"thaw": {"passphrase": passphrase}}),
        json!({"reload": {"passphrase": passphrase}}),
        json!("shutdown"),
        json!("session_list"),
        json!("secret_list"),
        json!({"redeem": {"handle": "x", "url": OTHER}}),
        json!({"sign": "0".repeat(64)}),
        json!({"claim": {"errand": {"site": OTHER, "method": "GET", "payee": EVIL}}}),
    ] {
        let stream = as_user(AGENT, || UnixStream::connect(&socket)).unwrap();
        frame::write(
            &stream,
            &json!({"hello": {"protocol": bursar_vault::protocol::PROTOCOL, "session": null}}),
            ASK_MAX_BYTES,
        )
        .unwrap();
        frame::read(&stream, REPLY_MAX_BYTES, None).unwrap().unwrap();
        frame::write(&stream, &ask, ASK_MAX_BYTES).unwrap();
        let reply: Value = frame::decode(&frame::read(&stream, REPLY_MAX_BYTES, None).unwrap().unwrap()).unwrap();
        assert_eq!(reply["fault"]["code"], "bad_frame", "{ask}: {reply}");
    }
    let after = status(&machine);
    assert_eq!(
        (after.sessions.len(), after.locked, after.frozen),
        (before.sessions.len(), before.locked, before.frozen)
    );
}

#[tokio::test]
async fn a_flood_on_the_agents_socket_leaves_the_operators_door_open() {
    let machine = Machine::with_a_dollar(&rules(1, "")).await;
    let (socket, profile) = (machine.path("sockets/agent.sock"), machine.profile(AGENT));
    let mut held = Vec::new();
    as_user(AGENT, || {
        for number in 0..400_usize {
            let Ok(mut stream) = UnixStream::connect(&socket) else { continue };
            // Some say nothing, some nonsense, some announce more than anybody may send.
            let said: &[u8] = match number % 3 {
                0 => b"",
                1 => b"\x00\x00\x00\x04nope",
                _ => b"\xff\xff\xff\xff",
            };
            stream.write_all(said).unwrap_or_default();
            held.push(stream);
        }
        let full = AgentClient::connect(&profile, None);
        assert!(
            matches!(full, Ok(_) | Err(ClientFault::Said { .. } | ClientFault::Closed | ClientFault::Frame(_))),
            "{full:?}"
        );
    });
    let said = machine.run(OPERATOR, &["status"]).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let said = machine.run(OPERATOR, &["freeze"]).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    drop(held);
    assert!(status(&machine).frozen.is_some());
}
