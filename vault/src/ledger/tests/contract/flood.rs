//! Refusals without end: what the log keeps of them, and that it says how many it left out.

use bursar_policy::quoted::Quoted;
use bursar_policy::refusal::Refusal;

use super::world::{CENT, World, errand, money};
use crate::ledger::{DETAIL_MAX_BYTES, Price, REFUSED_A_MINUTE_MAX, Source};
use crate::protocol::{LogEntry, Sought};

fn refuse(world: &World, times: u32) {
    for _ in 0..times {
        world.ledger().note_refused(
            Source::Serve,
            Some(&world.session),
            &errand("a"),
            Price::Unsaid,
            &[Refusal::Frozen],
        );
    }
}

fn log(world: &World) -> Vec<LogEntry> {
    let (mut all, mut last) = (Vec::new(), 0);
    loop {
        let page = world.ledger().log(500, Some(last)).unwrap();
        let Some(end) = page.last() else { return all };
        last = end.seq;
        all.extend(page);
    }
}

fn refused(world: &World) -> usize {
    log(world).iter().filter(|entry| entry.kind == "refused").count()
}

fn notes(world: &World) -> Vec<String> {
    log(world).into_iter().filter(|entry| entry.kind == "note").map(|entry| entry.detail).collect()
}

#[test]
fn a_flood_of_refusals_fills_no_disk_and_is_told_by_one_event_when_the_minute_is_over() {
    let world = World::new("", "10 USD");
    refuse(&world, REFUSED_A_MINUTE_MAX + 250);
    assert_eq!(refused(&world), 600);
    world.time.pass(59);
    refuse(&world, 7);
    world.ledger().sweep().unwrap();
    assert_eq!((refused(&world), notes(&world).len()), (600, 0), "the minute is not over");
    world.time.pass(1);
    world.ledger().sweep().unwrap();
    assert_eq!(notes(&world), ["257 further refusals were not written down (frozen 257)"]);
    refuse(&world, 1);
    world.ledger().sweep().unwrap();
    assert_eq!((refused(&world), notes(&world).len()), (601, 1), "a new minute has room, and nothing is told twice");
}

#[test]
fn the_next_refusal_tells_of_the_earlier_minute_first() {
    let world = World::new("", "10 USD");
    refuse(&world, REFUSED_A_MINUTE_MAX + 1);
    world.time.pass(60);
    refuse(&world, 1);
    let log = log(&world);
    let [.., told, newest] = &log[..] else { panic!("{log:?}") };
    assert_eq!(told.detail, "1 further refusals were not written down (frozen 1)");
    assert_eq!(newest.kind, "refused");
}

#[test]
fn closing_in_order_tells_what_was_left_out() {
    let mut world = World::new("", "10 USD");
    refuse(&world, REFUSED_A_MINUTE_MAX + 3);
    world.ledger().close();
    world.reopen();
    assert_eq!(notes(&world), ["3 further refusals were not written down (frozen 3)"]);
    world.ledger().verify().unwrap();
}

#[test]
fn a_flood_of_one_kind_hides_no_refusal_of_another_kind_or_source() {
    let world = World::new("", "10 USD");
    refuse(&world, REFUSED_A_MINUTE_MAX + 250);
    let ledger = world.ledger();
    ledger.note_refused(Source::Serve, Some(&world.session), &errand("b"), Price::Unsaid, &[Refusal::NoOffers]);
    ledger.note_refused(Source::Vault, Some(&world.session), &errand("c"), Price::Unsaid, &[Refusal::Frozen]);
    ledger.flush().unwrap();
    let log = log(&world);
    let [.., of_another_kind, of_another_source] = &log[..] else { panic!("{log:?}") };
    assert!(of_another_kind.detail.contains("no_offers"), "{}", of_another_kind.detail);
    assert!(!of_another_source.detail.starts_with("as reported by serve"), "{}", of_another_source.detail);
}

/// A refusal as hostile as its types let it be: every reason as long as it gets, offers in characters that are spelt out.
#[test]
fn whatever_is_refused_takes_a_bounded_part_of_the_disk() {
    let world = World::new("", "10 USD");
    let why = Quoted::of(&"\u{202e}".repeat(80));
    let sought = Sought { amount: why.clone(), asset: why.clone(), network: why.clone(), payee: why.clone() };
    let sought = vec![sought; 500];
    let reasons = vec![Refusal::TermsTooLarge { why }; 500];
    let before = world.by_hand().bytes();
    for _ in 0..5000 {
        world.ledger().note_refused(Source::Serve, None, &errand("a"), Price::Said(&sought), &reasons);
    }
    world.ledger().flush().unwrap();
    let log = log(&world);
    let written: Vec<&LogEntry> = log.iter().filter(|entry| entry.kind == "refused").collect();
    assert_eq!(written.len(), 600);
    assert!(written.iter().all(|entry| entry.detail.len() <= DETAIL_MAX_BYTES));
    let grown = world.by_hand().bytes() - before;
    assert!(grown < 600 * 2 * 16 * 1024, "600 events took {grown} bytes of file and journal");
}

#[test]
fn a_flood_of_refusals_takes_nothing_from_a_payment() {
    let world = World::new("", "10 USD");
    std::thread::scope(|scope| {
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let world = &world;
        scope.spawn(move || {
            while matches!(wait.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty)) {
                refuse(world, 50);
            }
        });
        for number in 0..40 {
            world.buy(errand(&format!("paid-{number}")), CENT);
        }
        drop(done);
    });
    world.ledger().flush().unwrap();
    assert_eq!(world.spent(), money("0.40 USD"));
    assert_eq!(log(&world).iter().filter(|entry| entry.kind == "settled").count(), 40);
    world.ledger().verify().unwrap();
}

#[test]
fn a_refusal_tells_what_was_asked_and_whose_word_that_is() {
    let world = World::new("", "10 USD");
    let reasons = world.authorize(errand("dear"), 500 * CENT).unwrap_err();
    assert!(!reasons.is_empty());
    let said = |text: &str| Quoted::of(text);
    let sought = Sought { amount: said("5000000"), asset: said("0xA"), network: said("base"), payee: said("a`\nb") };
    world.ledger().note_refused(Source::Serve, None, &errand("a"), Price::Said(&[sought]), &[Refusal::NoOffers]);
    world.ledger().flush().unwrap();
    let log = log(&world);
    let [.., judged, heard] = &log[..] else { panic!("{log:?}") };
    let asked = "; asked was 5000000 of eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e to \
                 0x2222222222222222222222222222222222222222";
    assert!(judged.detail.starts_with("GET https://api.example.com; over_payment_cap: "), "{}", judged.detail);
    assert!(judged.detail.ends_with(asked), "{}", judged.detail);
    assert!(heard.detail.starts_with("as reported by serve: GET "), "{}", heard.detail);
    let words = r"; asked, in the seller's words, was `5000000` of `0xA` on `base` to `a\u{60}\u{a}b`";
    assert!(heard.detail.ends_with(words), "{}", heard.detail);
}

/// Nobody waits for a refusal: it is in the log once its half-tenth of a second is over, without any further ask.
#[test]
fn a_refusal_reaches_the_disk_by_itself() {
    let world = World::new("", "10 USD");
    let other = world.by_hand();
    refuse(&world, 3);
    let begun = std::time::Instant::now();
    while other.events("refused") < 3 {
        assert!(begun.elapsed().as_secs() < 20, "nothing came");
        std::thread::yield_now();
    }
}
