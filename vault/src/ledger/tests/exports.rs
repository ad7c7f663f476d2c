//! The log on its way out, and that an export which was touched does not pass.

use bursar_policy::refusal::Refusal;
use proptest::prelude::*;

use super::checkpoints::{checkpoint, key};
use super::world::{CENT, TRANSACTION, World, errand, place, signature};
use crate::ledger::{
    Checkpoint, ExportFault, Exported, Inspector, Kept, LedgerFault, Price, SignedCheckpoint, Source, verify_export,
};

/// Every line of an export, the first one included.
fn lines(world: &World, after: u64) -> Vec<String> {
    world.ledger().flush().unwrap();
    let inspector = Inspector::open(&place(world.dir.path())).unwrap();
    let mut lines = vec![serde_json::to_string(&inspector.export_head(after).unwrap()).unwrap()];
    let done = inspector.export(after, |exported: Exported| {
        lines.push(serde_json::to_string(&exported).unwrap());
        Ok::<_, LedgerFault>(())
    });
    done.unwrap();
    lines
}

fn verified(lines: &[String], kept: Kept) -> Result<crate::ledger::ExportBooks, ExportFault> {
    verify_export(&mut (lines.join("\n") + "\n").as_bytes(), kept)
}

fn lived() -> World {
    let world = World::new("", "10 USD");
    world.buy(errand("a?token=x"), CENT);
    world.ledger().note_refused(Source::Serve, None, &errand("b"), Price::Unsaid, &[Refusal::NoOffers]);
    checkpoint(&world);
    world
}

#[test]
fn an_export_says_what_was_paid_and_holds_no_signature() {
    let world = lived();
    let lines = lines(&world, 0);
    let text = lines.join("\n");
    assert!(!text.contains(&signature()) && !text.contains("opaque"), "{text}");
    let settled: Exported = lines[1..]
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .find(|event: &Exported| event.event.kind == "settled")
        .unwrap();
    assert_eq!(settled.session_name.as_deref(), Some("default"));
    let deal = settled.deal.unwrap();
    assert_eq!(deal.transaction.as_deref(), Some(TRANSACTION));
    assert_eq!(deal.url, "https://api.example.com/a?token=x");
    assert_eq!((deal.money.to_string().as_str(), deal.symbol.as_str()), ("0.01 USD", "USDC"));
    assert_eq!(deal.content_digest, Some(bursar_policy::Digest::of(b"body")));
    let books = verified(&lines, Kept { key: Some(key(7).public()), head: None }).unwrap();
    assert_eq!((books.events, books.checkpoints), (world.ledger().verify().unwrap().events, 1));
}

#[test]
fn a_part_of_the_log_verifies_by_itself() {
    let world = lived();
    world.time.pass(1000);
    world.ledger().freeze("x").unwrap();
    let inspector = Inspector::open(&place(world.dir.path())).unwrap();
    let after = inspector.last_before(world.time.now_s()).unwrap();
    assert_eq!(after + 1, inspector.identity().events);
    assert_eq!(verified(&lines(&world, after), Kept::default()).unwrap().events, 1);
    assert_eq!(verified(&lines(&world, u64::MAX), Kept::default()).unwrap().events, 0);
}

#[test]
fn every_touched_export_is_found() {
    let world = lived();
    let whole = lines(&world, 0);
    for at in 1..whole.len() {
        let mut without = whole.clone();
        without.remove(at);
        assert!(matches!(verified(&without, Kept::default()), Err(ExportFault::Changed(_))), "without line {at}");
        let mut swapped = whole.clone();
        swapped.swap(at, at.saturating_sub(1).max(1));
        let same = at == 1;
        assert_eq!(verified(&swapped, Kept::default()).is_ok(), same, "swapped {at}");
        for (from, to) in
            [("\"at_s\":19", "\"at_s\":18"), ("\"detail\":\"", "\"detail\":\"x"), ("\"kind\":\"", "\"kind\":\"x")]
        {
            let mut changed = whole.clone();
            changed[at] = changed[at].replacen(from, to, 1);
            let found = verified(&changed, Kept::default()).unwrap_err().to_string();
            assert!(found.contains(&format!("event {at} was changed")), "{found}");
        }
    }
    let mut other = whole.clone();
    other[0] = other[0].replace(&"07".repeat(16), &"08".repeat(16));
    assert!(verified(&other, Kept::default()).is_err(), "another ledger's name");
    let head = world.ledger().verify().unwrap().head;
    verified(&whole, Kept { key: None, head: Some(head) }).unwrap();
    let cut = lines(&world, 0);
    let missing = Kept { key: None, head: Some(bursar_policy::Digest::of(b"kept")) };
    assert!(verified(&cut, missing).unwrap_err().to_string().contains("cut off"));
    assert!(verified(&whole, Kept { key: Some(key(8).public()), head: None }).is_err(), "another key");
}

#[test]
fn what_is_no_export_is_told() {
    for text in ["", "\n", "seq,at\n1,2\n", "{}\n", "{\"bursar_audit\":1}\n"] {
        let fault = verify_export(&mut text.as_bytes(), Kept::default()).unwrap_err();
        assert!(matches!(fault, ExportFault::Form { line: 1, .. }), "{text}: {fault}");
    }
    let endless = vec![b'x'; 300 * 1024];
    assert!(matches!(verify_export(&mut &endless[..], Kept::default()), Err(ExportFault::Read(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_no_export_that_passes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(verify_export(&mut &bytes[..], Kept::default()).is_err());
    }

    /// A word for a word: whatever is changed in the line of a checkpoint, it does not read back as one that holds.
    #[test]
    fn no_bent_checkpoint_holds(place in 0_usize..400, letter in "[ -~]") {
        let line = line();
        let place = place.min(line.len().saturating_sub(1));
        let bent = format!("{}{letter}{}", &line[..place], &line[place.saturating_add(1)..]);
        prop_assert!(bent == line || SignedCheckpoint::read(&bent).is_none_or(|signed| !signed.holds()));
    }
}

fn line() -> String {
    use bursar_policy::Digest;
    let (key, hash) = (key(7), Digest::of(b"end"));
    let checkpoint = Checkpoint { ledger: "07".repeat(16), epoch: 1, seq: 9, hash, at_s: 5, key: key.public() };
    SignedCheckpoint { signature: key.sign(&checkpoint.statement()), checkpoint }.line()
}
