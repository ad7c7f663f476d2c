//! Refusals without end: what the log keeps of them, and that it says how many it left out.

use bursar_policy::refusal::Refusal;

use super::world::{World, errand};
use crate::ledger::{REFUSED_A_MINUTE_MAX, Source};
use crate::protocol::LogEntry;

fn refuse(world: &World, times: u32) {
    for _ in 0..times {
        world.ledger().note_refused(Source::Serve, Some(&world.session), &errand("a"), &[Refusal::Frozen]);
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
    ledger.note_refused(Source::Serve, Some(&world.session), &errand("b"), &[Refusal::NoOffers]);
    ledger.note_refused(Source::Vault, Some(&world.session), &errand("c"), &[Refusal::Frozen]);
    ledger.flush().unwrap();
    let log = log(&world);
    let [.., of_another_kind, of_another_source] = &log[..] else { panic!("{log:?}") };
    assert!(of_another_kind.detail.contains("no_offers"), "{}", of_another_kind.detail);
    assert!(!of_another_source.detail.starts_with("as reported by serve"), "{}", of_another_source.detail);
}
