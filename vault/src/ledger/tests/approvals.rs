//! A person's word: asked for once, bound to everything, used once, over in time, and no more than a word.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use bursar_policy::chain::{Address, ChainId};
use bursar_policy::errand::{ApprovalId, Body, BodyType, Errand, Method, SessionId};
use bursar_policy::money::Amount;
use bursar_policy::offer::Version;
use bursar_policy::quoted::Quoted;
use bursar_policy::refusal::Refusal;
use bursar_policy::terms::Terms;
use bursar_policy::{Concern, Digest};

use super::world::{CENT, START, World, errand, money, named, rules_with, terms};
use crate::ledger::store::bound;
use crate::ledger::{APPROVALS_WAITING_MAX, Claim, Counted, Decided, SessionOpened};
use crate::protocol::{ApprovalState, ApprovalView};

/// How long a question waits under the test rules, in seconds.
const LIFE_S: u64 = 600;

const CAUTIOUS: &str = "allow_any_host = true\nmax_unresolved = 1000000\napprove_over = \"0.02 USD\"\n\
                        approval_lifetime = \"10m\"";

/// A world in which a person looks at everything above two cents.
pub(super) fn world() -> World {
    world_with("", "10 USD")
}

fn world_with(limits: &str, budget: &str) -> World {
    let mut world = World::new("", budget);
    world.rules = rules_with(CAUTIOUS, limits);
    world
}

/// The question of a refusal that is one, and when it is over.
pub(super) fn asked(refused: Result<impl std::fmt::Debug, Vec<Refusal>>) -> (ApprovalId, u64) {
    match refused.unwrap_err().as_slice() {
        [Refusal::NeedsApproval { approval: Some(question), concerns }] => {
            assert!(!concerns.is_empty());
            (question.id.clone(), question.expires_s)
        }
        other => panic!("nothing was asked: {other:?}"),
    }
}

fn codes(refused: Result<impl std::fmt::Debug, Vec<Refusal>>) -> Vec<&'static str> {
    refused.unwrap_err().iter().map(Refusal::code).collect()
}

impl World {
    pub(super) fn asks(&self, errand: Errand, units: u128) -> ApprovalId {
        asked(self.authorize(errand, units)).0
    }

    pub(super) fn shown(&self, id: &ApprovalId) -> ApprovalView {
        let open = self.ledger().approvals().unwrap();
        open.into_iter().find(|view| view.id == *id).unwrap()
    }

    fn approve(&self, id: &ApprovalId) -> Decided {
        self.ledger().approve(id.clone(), self.shown(id).binding, self.rules.approval_life_s()).unwrap()
    }

    pub(super) fn says_yes(&self, id: &ApprovalId) {
        assert!(matches!(self.approve(id), Decided::Done(view) if view.state == ApprovalState::Approved));
    }

    pub(super) fn says_no(&self, id: &ApprovalId) {
        let decided = self.ledger().deny(id.clone(), self.rules.approval_life_s()).unwrap();
        assert!(matches!(decided, Decided::Done(view) if view.state == ApprovalState::Denied));
    }

    pub(super) fn waiting(&self) -> u32 {
        self.ledger().overview(Some(&self.session), &self.rules).unwrap().approvals_waiting
    }
}

#[test]
fn it_is_asked_shown_approved_and_bought_once() {
    let world = world();
    world.buy(errand("cheap"), 2 * CENT);
    let (id, expires_s) = asked(world.authorize(errand("dear"), 3 * CENT));
    assert_eq!(expires_s, START + LIFE_S);
    assert_eq!((world.spent(), world.waiting()), (money("0.02 USD"), 1), "a question sets nothing aside");
    let shown = world.shown(&id);
    assert_eq!(
        (shown.state, shown.terms.clone(), shown.money),
        (ApprovalState::Waiting, terms(3 * CENT), money("0.03 USD"))
    );
    assert_eq!((shown.site, shown.method, shown.body), (errand("dear").site, Method::Get, None));
    assert_eq!((shown.symbol.as_str(), shown.session.as_str()), ("USDC", "default"));
    assert_eq!(shown.concerns, ["the price `0.03 USD` is above `0.02 USD`, from where on a person looks"]);
    assert_eq!(shown.binding, errand("dear").binding(&world.session, &terms(3 * CENT)));

    world.says_yes(&id);
    assert_eq!(world.waiting(), 0);
    world.buy(errand("dear"), 3 * CENT);
    assert_eq!(world.spent(), money("0.05 USD"));
    assert_eq!(world.ledger().approvals().unwrap(), []);
    assert_ne!(world.asks(named("dear", "again"), 3 * CENT), id, "a yes is for one payment");
    let kinds = world.kinds();
    assert_eq!((kinds["approval_asked"], kinds["approved"], kinds.get("refused")), (2, 1, None));
    let log = world.ledger().log(500, Some(0)).unwrap();
    assert!(log.iter().any(|entry| entry.kind == "exposed" && entry.detail.contains(id.as_str())), "{log:?}");
    world.ledger().verify().unwrap();
}

#[test]
fn equal_questions_are_one_whatever_the_caller_calls_them() {
    let world = world();
    let (id, expires_s) = asked(world.authorize(errand("dear"), 3 * CENT));
    world.time.pass(60);
    assert_eq!(
        asked(world.authorize(errand("dear"), 3 * CENT)),
        (id.clone(), expires_s),
        "it does not wait for longer"
    );
    assert_eq!(world.asks(named("dear", "another"), 3 * CENT), id);
    assert_eq!((world.waiting(), world.kinds()["approval_asked"]), (1, 1));
}

#[test]
fn five_wait_for_one_session_and_a_place_is_free_when_one_is_decided_or_over() {
    let world = world();
    let ids: Vec<_> = (0..APPROVALS_WAITING_MAX).map(|n| world.asks(errand(&format!("n-{n}")), 3 * CENT)).collect();
    assert_eq!(world.authorize(errand("more"), 3 * CENT).unwrap_err(), [Refusal::TooManyApprovals { max: 5 }]);
    assert_eq!(world.kinds()["refused"], 1, "that is a refusal like any other");
    assert_eq!(world.asks(errand("n-0"), 3 * CENT), ids[0], "what waits is found, not asked again");
    world.buy(errand("cheap"), CENT);

    let other = SessionId::from_random([2; 16]);
    let opened =
        world.ledger().open_session(other.clone(), "other".parse().unwrap(), money("1 USD"), 10_000, None).unwrap();
    assert!(matches!(opened, SessionOpened::Opened(_)));
    let claim = world.ledger().claim(&other, errand("n-0"), &world.rules, Duration::ZERO).unwrap();
    let Claim::New(guard) = claim else { panic!("{claim:?}") };
    let counted = world.ledger().authorize(guard, world.ask(terms(3 * CENT)), &world.rules).unwrap();
    let Counted::No { claim, reasons } = counted else { panic!("{counted:?}") };
    drop(claim);
    assert_ne!(asked(Err::<(), _>(reasons)).0, ids[0], "another session asks for itself");

    world.says_no(&ids[1]);
    world.asks(errand("more"), 3 * CENT);
    assert_eq!(codes(world.authorize(errand("most"), 3 * CENT)), ["too_many_approvals"]);
    world.time.pass(LIFE_S);
    world.asks(errand("most"), 3 * CENT);
    assert_eq!(world.waiting(), 1);
}

#[test]
fn a_yes_is_for_exactly_what_was_shown() {
    let mut world = world();
    let body = Body { digest: Digest::of(b"{}"), bytes: 2, kind: BodyType::Json };
    let asked_for = || Errand { method: Method::Post, body: Some(body), ..errand("dear") };
    let rules = "[[host]]\norigin = \"https://api.example.com\"\nmethods = [\"GET\", \"HEAD\", \"POST\"]\nheaders = [\"accept\"]";
    let cautious = CAUTIOUS.replace("allow_any_host = true", "");
    world.rules = rules_with(&cautious, rules);
    let yes = world.asks(asked_for(), 3 * CENT);
    world.says_yes(&yes);

    let errands = [
        Errand { method: Method::Get, body: None, ..asked_for() },
        Errand { site: "https://api.example.com/dear?q=1".parse().unwrap(), ..asked_for() },
        Errand { body: Some(Body { digest: Digest::of(b"[]"), ..body }), ..asked_for() },
        Errand { body: Some(Body { kind: BodyType::Text, ..body }), ..asked_for() },
        Errand { headers: serde_json::from_str("{\"accept\":\"text/plain\"}").unwrap(), ..asked_for() },
    ];
    let others = [
        Terms { amount: Amount::new(3 * CENT - 1).unwrap(), ..terms(CENT) },
        Terms { amount: Amount::new(3 * CENT + 1).unwrap(), ..terms(CENT) },
        Terms { payee: Address::from_bytes([0x33; 20]), ..terms(3 * CENT) },
        Terms { max_timeout_s: 599, ..terms(3 * CENT) },
        Terms { version: Version::V1, ..terms(3 * CENT) },
    ];
    let each = errands.map(|errand| (errand, terms(3 * CENT))).into_iter();
    for (errand, terms) in each.chain(others.map(|terms| (asked_for(), terms))) {
        let told = format!("{errand:?} {terms:?}");
        let (id, _) = asked(world.authorize_terms(errand, terms));
        assert_ne!(id, yes, "{told}");
        world.says_no(&id);
    }
    assert_eq!(world.spent(), money("0.00 USD"));
    // Another chain, asset or domain is none that these rules pay; the binding of each differs all the same.
    let elsewhere = Terms { chain: ChainId::BASE, ..terms(3 * CENT) };
    assert_ne!(asked_for().binding(&world.session, &elsewhere), world.shown(&yes).binding);
    let moved = Terms { offer: 4, ..terms(3 * CENT) };
    drop(world.authorize_terms(asked_for(), moved).unwrap());
    assert_eq!(world.spent(), money("0.03 USD"), "the offer's place in the list is nothing that is paid");
}

#[test]
fn a_yes_of_another_session_is_none() {
    let mut world = world();
    let first = world.session.clone();
    let id = world.asks(errand("dear"), 3 * CENT);
    world.says_yes(&id);
    world.session = SessionId::from_random([2; 16]);
    let opened =
        world.ledger().open_session(world.session.clone(), "other".parse().unwrap(), money("1 USD"), 10_000, None);
    assert!(matches!(opened.unwrap(), SessionOpened::Opened(_)));
    assert_ne!(world.asks(errand("dear"), 3 * CENT), id);
    world.session = first;
    world.buy(errand("dear"), 3 * CENT);
}

#[test]
fn what_a_person_was_not_shown_is_not_approved() {
    let world = world();
    let (one, two) = (world.asks(errand("one"), 3 * CENT), world.asks(errand("two"), 3 * CENT));
    let approve = |id: &ApprovalId, binding| world.ledger().approve(id.clone(), binding, LIFE_S).unwrap();
    assert_eq!(approve(&one, world.shown(&two).binding), Decided::Differs);
    assert_eq!(approve(&ApprovalId::from_random([9; 16]), world.shown(&one).binding), Decided::Unknown);
    assert_eq!(world.waiting(), 2);
    assert_eq!(world.kinds().get("approved"), None);
}

#[test]
fn a_question_is_over_in_time_and_so_is_a_yes_and_a_no() {
    let world = world();
    let id = world.asks(errand("dear"), 3 * CENT);
    let binding = world.shown(&id).binding;
    world.time.pass(LIFE_S - 1);
    assert_eq!(world.waiting(), 1);
    world.time.pass(1);
    assert_eq!(world.waiting(), 0, "nobody has to sweep first");
    assert_eq!(world.ledger().approvals().unwrap(), []);
    assert_eq!(world.ledger().approve(id.clone(), binding, LIFE_S).unwrap(), Decided::Expired);
    assert_eq!(world.ledger().deny(id.clone(), LIFE_S).unwrap(), Decided::Expired);

    let again = world.asks(errand("dear"), 3 * CENT);
    assert_ne!(again, id);
    world.time.pass(LIFE_S - 1);
    world.says_yes(&again);
    assert_eq!(world.shown(&again).expires_s, world.time.now_s() + LIFE_S, "a yes has its own time");
    world.time.pass(LIFE_S);
    let third = world.asks(errand("dear"), 3 * CENT);
    world.says_no(&third);
    world.time.pass(LIFE_S - 1);
    assert_eq!(codes(world.authorize(errand("dear"), 3 * CENT)), ["approval_denied"]);
    world.time.pass(1);
    world.asks(errand("dear"), 3 * CENT);
    world.ledger().sweep().unwrap();
    let states = world.ledger().writer.ask(|tx| {
        let states = tx.conn.every("SELECT state FROM approval ORDER BY seq", bound![], |row| row.get::<String>(0))?;
        Ok(crate::ledger::Answer::AtOnce(states))
    });
    assert_eq!(states.unwrap(), ["expired", "expired", "expired", "waiting"]);
}

#[test]
fn nothing_waits_or_stands_for_longer_than_its_session() {
    let mut world = world();
    let short = SessionId::from_random([4; 16]);
    world.ledger().open_session(short.clone(), "short".parse().unwrap(), money("1 USD"), 100, None).unwrap();
    world.session = short;
    let (id, expires_s) = asked(world.authorize(errand("dear"), 3 * CENT));
    assert_eq!(expires_s, START + 100);
    world.says_yes(&id);
    assert_eq!(world.shown(&id).expires_s, START + 100);
    let other = world.asks(errand("other"), 3 * CENT);
    world.ledger().close_session("short".parse().unwrap()).unwrap();
    assert_eq!(world.ledger().approvals().unwrap(), []);
    assert_eq!(world.ledger().deny(other, LIFE_S).unwrap(), Decided::Expired);
}

#[test]
fn what_is_approved_late_lives_from_when_it_is_made() {
    let world = world();
    let id = world.asks(errand("dear"), 3 * CENT);
    world.time.pass(LIFE_S - 1);
    world.says_yes(&id);
    world.time.pass(240);
    let exposed = world.authorize(errand("dear"), 3 * CENT).unwrap();
    let authorization = world.sign(&exposed).authorization;
    assert_eq!(authorization.valid_before, world.time.now_s() + super::world::LIFE_S);
}

#[test]
fn a_word_is_given_once_and_a_yes_can_be_taken_back_while_it_is_not_used() {
    let world = world();
    let id = world.asks(errand("dear"), 3 * CENT);
    world.says_yes(&id);
    assert_eq!(world.approve(&id), Decided::Before(ApprovalState::Approved));
    world.says_no(&id);
    assert_eq!(world.approve(&id), Decided::Before(ApprovalState::Denied), "a no is not turned into a yes");
    assert_eq!(world.ledger().deny(id.clone(), LIFE_S).unwrap(), Decided::Before(ApprovalState::Denied));
    assert_eq!(codes(world.authorize(errand("dear"), 3 * CENT)), ["approval_denied"]);
    assert_eq!(codes(world.authorize(named("dear", "other-words"), 3 * CENT)), ["approval_denied"]);

    let used = world.asks(errand("other"), 3 * CENT);
    let binding = world.shown(&used).binding;
    world.says_yes(&used);
    world.buy(errand("other"), 3 * CENT);
    assert_eq!(world.ledger().deny(used.clone(), LIFE_S).unwrap(), Decided::Before(ApprovalState::Used));
    assert_eq!(world.ledger().approve(used, binding, LIFE_S).unwrap(), Decided::Before(ApprovalState::Used));
}

#[test]
fn questions_and_words_survive_a_restart() {
    let mut world = world();
    let ids: Vec<_> = ["yes", "no", "open"].map(|path| world.asks(errand(path), 3 * CENT)).into();
    world.says_yes(&ids[0]);
    world.says_no(&ids[1]);
    let before = world.ledger().approvals().unwrap();
    world.reopen();
    assert_eq!(world.ledger().approvals().unwrap(), before);
    world.buy(errand("yes"), 3 * CENT);
    assert_eq!(codes(world.authorize(errand("no"), 3 * CENT)), ["approval_denied"]);
    assert_eq!(world.asks(errand("open"), 3 * CENT), ids[2]);
    world.reopen();
    assert_ne!(world.asks(named("yes", "again"), 3 * CENT), ids[0], "what was used stays used");
}

#[test]
fn two_that_want_the_same_yes_at_once_get_one() {
    let world = world();
    let id = world.asks(errand("dear"), 3 * CENT);
    world.says_yes(&id);
    let gate = Barrier::new(8);
    let won = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|n| {
                let (world, gate) = (&world, &gate);
                scope.spawn(move || {
                    gate.wait();
                    world.authorize(named("dear", &format!("n-{n}")), 3 * CENT).is_ok()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won).count()
    });
    assert_eq!((won, world.spent()), (1, money("0.03 USD")));
    assert_eq!(world.waiting(), 1, "the others ask together");
}

#[test]
fn a_yes_takes_the_place_of_no_other_rule() {
    let day = "[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"0.05 USD\"";
    let mut world = world_with(day, "0.10 USD");
    let id = world.asks(errand("dear"), 4 * CENT);
    world.says_yes(&id);
    world.buy(errand("cheap"), 2 * CENT);
    assert_eq!(codes(world.authorize(errand("dear"), 4 * CENT)), ["over_limit"]);
    world.ledger().freeze("odd bills").unwrap();
    let claim = world.claim(errand("dear"));
    assert!(matches!(&claim, Claim::Refused(why) if why[..] == [Refusal::Frozen]), "{claim:?}");
    world.ledger().thaw().unwrap();
    assert_eq!(world.shown(&id).state, ApprovalState::Approved, "what was refused did not use it up");

    let tight = CAUTIOUS
        .replace("allow_any_host = true", "allow_any_host = true\nhours = \"00:00-00:01\"\ntime_zone = \"UTC\"");
    world.rules = rules_with(&tight, day);
    assert_eq!(codes(world.authorize(errand("dear"), 4 * CENT)), ["outside_hours"]);
    assert_eq!(codes(world.authorize(errand("other"), 4 * CENT)), ["outside_hours"], "and nobody is asked");
    assert_eq!(world.kinds()["approval_asked"], 1);
}

#[test]
fn while_the_ledger_is_shut_nothing_is_approved_and_everything_may_be_denied() {
    let world = world();
    let id = world.asks(errand("dear"), 3 * CENT);
    world.ledger().latch("the clock is in doubt");
    assert_eq!(world.approve(&id), Decided::Shut);
    world.says_no(&id);
    world.ledger().unlatch().unwrap();
    assert_eq!(codes(world.authorize(errand("dear"), 3 * CENT)), ["approval_denied"]);
}

#[test]
fn a_person_is_asked_only_where_nothing_else_stands_against_it() {
    let world = world_with("", "0.02 USD");
    assert_eq!(codes(world.authorize(errand("dear"), 3 * CENT)), ["over_session_budget"]);
    assert_eq!(world.ledger().approvals().unwrap(), []);
}

#[test]
fn a_quote_puts_nothing_before_a_person_and_hears_a_word_that_was_given() {
    let world = world();
    let quote = |byte| {
        let id = bursar_policy::QuoteId::from_random([byte; 16]);
        let terms = terms(3 * CENT);
        let payer = super::world::PAYER;
        world.ledger().quote(id, &world.session, &errand("dear"), terms, payer, &world.rules).unwrap()
    };
    assert!(matches!(&quote(1)[..], [Refusal::NeedsApproval { approval: None, .. }]));
    assert_eq!(world.ledger().approvals().unwrap(), []);
    let id = world.asks(errand("dear"), 3 * CENT);
    world.says_yes(&id);
    assert_eq!(quote(2), []);
    assert_eq!(world.shown(&id).state, ApprovalState::Approved, "asking for a price uses nothing up");
    world.says_no(&id);
    assert_eq!(quote(3), [Refusal::ApprovalDenied]);
}

/// A purchase that the caller itself finds odd.
fn doubted(path: &str, why: &str) -> Errand {
    Errand { suspicious: Some(Quoted::of(why)), ..errand(path) }
}

#[test]
fn a_doubt_stands_until_a_person_has_looked_and_no_earlier_yes_covers_it() {
    let world = world();
    let id = world.asks(doubted("cheap", "it begs"), CENT);
    assert_eq!(world.asks(errand("cheap"), CENT), id, "leaving the doubt out buys nothing");
    assert_eq!(world.asks(doubted("cheap", "in other words"), CENT), id);
    assert!(world.shown(&id).concerns.concat().contains("`it begs`"));
    world.says_yes(&id);
    world.buy(doubted("cheap", "it begs"), CENT);

    let yes = world.asks(errand("dear"), 3 * CENT);
    world.says_yes(&yes);
    let doubt = world.asks(doubted("dear", "it begs"), 3 * CENT);
    assert_ne!(doubt, yes);
    assert_eq!(world.shown(&doubt).concerns.len(), 2);
    assert_eq!(world.asks(errand("dear"), 3 * CENT), doubt, "the earlier yes is gone");
}

#[test]
fn a_question_that_needs_no_answer_any_more_is_over_when_it_is_bought() {
    let mut world = world();
    let id = world.asks(errand("dear"), 3 * CENT);
    world.rules = super::world::rules("");
    world.buy(errand("dear"), 3 * CENT);
    assert_eq!(world.ledger().approvals().unwrap(), []);
    assert_eq!(world.ledger().deny(id, LIFE_S).unwrap(), Decided::Expired);
}

#[test]
fn the_log_says_who_is_paid_for_what_and_nothing_that_a_caller_says() {
    let world = world();
    let id = world.asks(doubted("dear", "pay me, says the page"), 3 * CENT);
    world.says_no(&id);
    let log = world.ledger().log(500, Some(0)).unwrap();
    for kind in ["approval_asked", "denied"] {
        let entry = log.iter().find(|entry| entry.kind == kind).unwrap();
        let payee = Address::from_bytes([0x22; 20]);
        let deal = format!("`{id}`: 0.03 USD (30000 USDC) to {payee} on eip155:84532 for GET https://api.example.com");
        assert_eq!(entry.detail, deal);
        assert_eq!(entry.session.as_ref().unwrap().as_str(), "default");
    }
    world.ledger().verify().unwrap();
}

#[test]
fn a_stored_question_is_not_rewritten() {
    let world = world();
    let id = world.asks(doubted("dear", "odd"), 3 * CENT);
    world.ledger().flush().unwrap();
    let other = rusqlite::Connection::open(world.dir.path().join("ledger.sqlite")).unwrap();
    for change in [
        "UPDATE approval SET terms = '{}'",
        "UPDATE approval SET money = printf('%039d', 1)",
        "UPDATE approval SET binding = printf('%064x', 1)",
        "UPDATE approval SET concerns = '[]'",
        "UPDATE approval SET state = 'used'",
        "UPDATE approval SET expires_s = expires_s + 1",
        "DELETE FROM approval",
        "INSERT INTO approval SELECT seq + 1, 'a_' || hex(randomblob(16)), 'approved', session, printf('%064x', 2), method,
            url, body, headers, terms, symbol, money, currency, concerns, asked_s, expires_s, asked_s, 1, NULL FROM approval",
        "UPDATE approval SET headers = '{\"accept\":\"x\"}'",
    ] {
        assert!(other.execute(change, []).is_err(), "{change}");
    }
    drop(other);
    assert!(matches!(
        world.authorize(doubted("dear", "odd"), 3 * CENT).unwrap_err()[..],
        [Refusal::NeedsApproval { ref concerns, .. }] if matches!(concerns[0], Concern::Suspicious { .. })
    ));
    assert_eq!(world.shown(&id).state, ApprovalState::Waiting);
}
