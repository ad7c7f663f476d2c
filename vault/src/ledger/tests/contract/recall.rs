//! Reading again what was delivered: by its digest, and by the request.

use bursar_policy::digest::Digest;
use bursar_policy::errand::Errand;

use super::world::{CENT, World, answer, answered, errand, named, settled, silence};
use crate::protocol::{ContentRef, Delivery, Recalled, Report, Wanted};

fn body(text: &str) -> Report {
    let digest = Digest::of(text.as_bytes());
    let content = Some(ContentRef { digest, bytes: 4, kind: "json".to_owned(), truncated: false });
    let delivery = Delivery::Answer { status: 200, content, content_error: None };
    Report { delivery, settlement: Some(settled()) }
}

fn buy(world: &World, errand: Errand, report: Report) {
    let exposed = world.authorize(errand, CENT).unwrap();
    world.sign(&exposed);
    world.ledger().report(&exposed, report, world.rules.breaker()).unwrap();
}

fn by_digest(world: &World, text: &str) -> Option<Recalled> {
    world.ledger().recall(Wanted::Content(Digest::of(text.as_bytes()))).unwrap()
}

fn by_request(world: &World, errand: &Errand, max_age_s: u64) -> Option<Recalled> {
    world.ledger().recall(Wanted::Request { subject: errand.subject(), max_age_s }).unwrap()
}

#[test]
fn a_body_is_known_by_its_digest_with_the_site_it_came_from_last() {
    let mut world = World::new("", "10 USD");
    buy(&world, errand("a"), body("one"));
    buy(&world, errand("b"), body("two"));
    world.time.pass(7);
    buy(&world, errand("c"), body("one"));
    world.reopen();
    let found = by_digest(&world, "one").unwrap();
    assert_eq!((&found.site, found.status, found.content.bytes), (&errand("c").site, 200, 4));
    assert_eq!(by_digest(&world, "two").unwrap().site, errand("b").site);
    assert_eq!(by_digest(&world, "three"), None);
    let failed = world.authorize(errand("d"), CENT).unwrap();
    world.sign(&failed);
    world.ledger().report(&failed, Report { delivery: answer(500), settlement: None }, world.rules.breaker()).unwrap();
    assert_eq!(by_digest(&world, "body").unwrap().status, 500, "what came with an error is kept too");
}

#[test]
fn a_request_finds_its_last_good_delivery_while_it_is_young_enough() {
    let world = World::new("", "10 USD");
    buy(&world, named("a", "first"), body("old"));
    world.time.pass(100);
    buy(&world, named("a", "second"), body("new"));
    let later = world.authorize(named("a", "third"), CENT).unwrap();
    world.sign(&later);
    world.ledger().report(&later, silence(), world.rules.breaker()).unwrap();
    let lost = world.authorize(named("a", "fourth"), CENT).unwrap();
    world.sign(&lost);
    let gone = Delivery::Answer { status: 200, content: None, content_error: Some("no disk".to_owned()) };
    world.ledger().report(&lost, Report { delivery: gone, settlement: None }, world.rules.breaker()).unwrap();

    world.time.pass(60);
    let young = by_request(&world, &errand("a"), 60).unwrap();
    assert_eq!(young.content.digest, Digest::of(b"new"));
    assert_eq!(by_request(&world, &errand("a"), 59), None, "it is a second too old");
    assert_eq!(by_request(&world, &errand("a"), u64::MAX).unwrap(), young, "the newest of all");
    assert_eq!(by_request(&world, &errand("a?q=1"), 600), None, "another request");
    world.ledger().freeze("a person looks").unwrap();
    assert_eq!(by_request(&world, &errand("a"), 600).unwrap(), young, "reading again moves no money");
}

#[test]
fn looking_changes_nothing() {
    let world = World::new("", "10 USD");
    buy(&world, errand("a"), answered(Some(settled())));
    let before = (world.kinds(), world.spent());
    by_digest(&world, "body").unwrap();
    by_request(&world, &errand("a"), 60).unwrap();
    assert_eq!((world.kinds(), world.spent()), before);
}
