//! What somebody with the file in hand can do to sweeps, to the account that pays and to the key of the log, and where it is
//! found: by the whole check, and at the start of a large ledger.

use rusqlite::Connection;

use super::checkpoints::{checkpoint, key, rewrite};
use super::on_a_file::keys::{bound, hand_over, order};
use super::tamper::forge;
use super::world::{CENT, PAYER, World, place};
use crate::ledger::audit::living::FEW_EVENTS;
use crate::ledger::{Event, EventKind, Ledger, LedgerFault, Looked, Rotated, SignedRotation};
use bursar_policy::chain::Address;

const NEW: Address = Address::from_bytes([0x55; 20]);

/// A ledger whose account was changed twice, from the one of the tests, with a checkpoint before.
fn handed_on_twice() -> World {
    let world = bound();
    checkpoint(&world);
    assert_eq!(world.ledger().rotate(hand_over(0x55, PAYER, 7, 8)).unwrap(), Rotated::Done);
    assert_eq!(world.ledger().rotate(hand_over(0x66, NEW, 8, 9)).unwrap(), Rotated::Done);
    world.ledger().verify().unwrap();
    world
}

fn hand(world: &World) -> Connection {
    world.ledger().flush().unwrap();
    Connection::open(place(world.dir.path()).file).unwrap()
}

fn found(world: &World) -> String {
    match world.ledger().verify() {
        Err(fault @ LedgerFault::Books { .. }) => fault.to_string(),
        other => panic!("not found: {other:?}"),
    }
}

#[test]
fn a_sweep_that_was_removed_is_found_and_one_that_the_log_does_not_tell_is_not_signed() {
    let world = bound();
    order(&world, 1, CENT);
    forge(&hand(&world), &["sweep_stays"], "DELETE FROM sweep");
    assert!(found(&world).contains("is missing, by the log"));

    let world = bound();
    let id = order(&world, 1, CENT).view().id.clone();
    assert!(world.ledger().ordered(&id).is_ok());
    let elsewhere = "UPDATE sweep SET destination = '0x' || substr(nonce, 1, 40)";
    forge(&hand(&world), &["sweep_story"], elsewhere);
    let refused = world.ledger().ordered(&id);
    assert!(
        matches!(&refused, Err(LedgerFault::Books { detail }) if detail.contains("is not as the log says")),
        "{refused:?}"
    );
    assert!(world.ledger().latched().is_some());

    // Nor one that was only put into the table, which its guards let in.
    let world = bound();
    order(&world, 1, CENT);
    let columns = "account, destination, symbol, amount, money, currency, nonce, valid_before, created_s";
    hand(&world)
        .execute_batch(&format!(
            "INSERT INTO sweep (id, state, chain, asset, {columns})
             SELECT 'w_' || printf('%032x', 77), 'ordered', 'eip155:1', asset, {columns} FROM sweep"
        ))
        .unwrap();
    let id = format!("w_{:032x}", 77).parse().unwrap();
    assert!(matches!(world.ledger().ordered(&id), Err(LedgerFault::Books { .. })));
}

#[test]
fn another_account_or_key_than_the_log_names_last_is_found() {
    for (guards, sql, says) in [
        (
            &["meta_story"][..],
            format!("UPDATE meta SET key_address = '{NEW}'"),
            "is not the one that the log names last",
        ),
        (&["meta_story"], "UPDATE meta SET key_address = NULL".to_owned(), "is not the one that the log names last"),
        (
            &["audit_story"],
            format!("UPDATE audit SET key = '{}'", key(8).public()),
            "the checkpoints and epochs are not",
        ),
        (&["rotation_stays"], "DELETE FROM rotation WHERE seq = 2".to_owned(), "the changes of the account that pays"),
        (&["rotation_story"], "UPDATE rotation SET at_s = at_s + 1".to_owned(), "the changes of the account that pays"),
        (
            &["rotation_story"],
            format!("UPDATE rotation SET audit_key = '{}'", key(7).public()),
            "the changes of the account",
        ),
    ] {
        let world = handed_on_twice();
        forge(&hand(&world), guards, &sql);
        let said = found(&world);
        assert!(said.contains(says), "{sql}: {said}");
    }
}

/// The last change that the log tells of, and its place.
fn last_told(conn: &Connection) -> (u64, SignedRotation) {
    let sql = "SELECT seq, detail FROM event WHERE kind = 'key_rotated' ORDER BY seq DESC LIMIT 1";
    let (seq, line): (i64, String) = conn.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    (seq.cast_unsigned(), SignedRotation::read(&line).unwrap())
}

#[test]
fn a_change_in_the_log_that_both_keys_did_not_sign_or_that_is_from_another_account_is_found() {
    let told = |bend: &dyn Fn(&mut SignedRotation)| {
        let world = handed_on_twice();
        let conn = hand(&world);
        let (seq, mut signed) = last_told(&conn);
        bend(&mut signed);
        rewrite(&conn, seq, &signed.line());
        found(&world)
    };
    let said = told(&|signed| signed.by_next = signed.by_key);
    assert!(said.contains("is not signed by both of its keys"), "{said}");
    // Whoever has both keys signs what they like, and still cannot hand on what did not pay.
    let anew = |signed: &mut SignedRotation| {
        let statement = signed.rotation.statement();
        (signed.by_key, signed.by_next) = (key(8).sign(&statement), key(9).sign(&statement));
    };
    let said = told(&|signed| {
        signed.rotation.from = PAYER;
        anew(signed);
    });
    assert!(said.contains("is not from the one that paid"), "{said}");
    let said = told(&|signed| {
        signed.rotation.hash = bursar_policy::Digest::of(b"another log");
        anew(signed);
    });
    assert!(said.contains("is of another log than this one"), "{said}");
    let said = told(&|signed| {
        signed.rotation.at_s += 1;
        anew(signed);
    });
    assert!(said.contains("the changes of the account that pays are not those"), "{said}");
}

/// What a start says of a large ledger with two changes of the account long ago, after `change`.
fn looked(change: impl Fn(&Connection)) -> Result<Looked, LedgerFault> {
    let mut world = handed_on_twice();
    for _ in 0..FEW_EVENTS {
        world.ledger().note(Event::new(EventKind::Note, "time goes by"));
    }
    world.ledger().flush().unwrap();
    world.close();
    let file = place(world.dir.path()).file;
    change(&Connection::open(&file).unwrap());
    Ledger::open(&place(world.dir.path()), Box::new(world.time.clone())).and_then(|ledger| ledger.look())
}

#[test]
fn a_start_of_a_large_ledger_sees_another_account_or_key_than_the_log_names_last() {
    assert_eq!(looked(|_conn| ()), Ok(Looked::Living));
    let other = format!(
        "INSERT INTO rotation (from_account, to_account, audit_key, at_s)
         SELECT key_address, '{PAYER}', '{}', 1 FROM meta; UPDATE meta SET key_address = '{PAYER}'",
        key(7).public()
    );
    for (guards, sql) in [
        // What no guard stands against, on a file as on a server.
        (&[][..], other),
        (&["meta_story"], format!("UPDATE meta SET key_address = '{NEW}'")),
        (&["audit_story"], format!("UPDATE audit SET key = '{}'", key(7).public())),
        (&["rotation_stays"], "DELETE FROM rotation".to_owned()),
        (&["event_story"], "UPDATE event SET detail = detail || ' ' WHERE kind = 'key_rotated'".to_owned()),
        (
            &["event_story"],
            "UPDATE event SET hash = prev WHERE seq = (SELECT min(seq) - 1 FROM event WHERE kind = 'key_rotated')"
                .to_owned(),
        ),
    ] {
        let seen = looked(|conn| forge(conn, guards, &sql));
        assert!(matches!(seen, Err(LedgerFault::Books { .. })), "not seen: {sql}: {seen:?}");
    }
}
