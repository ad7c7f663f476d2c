//! What somebody with the file in hand can and cannot do unnoticed.

use bursar_policy::errand::SessionId;
use rusqlite::Connection;

use super::world::{CENT, World, errand, money, named, place};
use crate::ledger::{Ledger, LedgerFault};

/// A ledger with a settled payment, an exposed one and some refusals, and another connection to its file.
fn written() -> (World, Connection) {
    let world = World::new("", "10 USD");
    world.buy(named("a", "one"), CENT);
    let exposed = world.authorize(errand("b"), 2 * CENT).unwrap();
    world.sign(&exposed);
    drop(exposed);
    world.ledger().verify().unwrap();
    let conn = Connection::open(world.dir.path().join("ledger.sqlite")).unwrap();
    conn.execute_batch("PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON").unwrap();
    (world, conn)
}

#[test]
fn the_database_itself_refuses_another_story() {
    let (_world, conn) = written();
    let settled = "(SELECT id FROM payment WHERE state = 'settled')";
    let exposed = "(SELECT id FROM payment WHERE state = 'exposed')";
    for sql in [
        "DELETE FROM payment".to_owned(),
        "DELETE FROM event".to_owned(),
        "DELETE FROM spent".to_owned(),
        "DELETE FROM tally".to_owned(),
        "DELETE FROM session".to_owned(),
        "DELETE FROM purchase".to_owned(),
        "DELETE FROM meta".to_owned(),
        "UPDATE event SET detail = 'nothing happened'".to_owned(),
        "UPDATE spent SET at_s = 0".to_owned(),
        "UPDATE purchase SET subject = identity FROM payment".to_owned(),
        "UPDATE session SET budget = '9' || substr(budget, 2)".to_owned(),
        "UPDATE session SET expires_s = expires_s + 1".to_owned(),
        "UPDATE tally SET spent = '000000000000000000000000000000000000000'".to_owned(),
        "UPDATE meta SET setting = 'real'".to_owned(),
        "UPDATE meta SET event_seq = event_seq - 1".to_owned(),
        format!("UPDATE payment SET state = 'exposed', ended_s = NULL WHERE id = {settled}"),
        format!("UPDATE payment SET state = 'voided' WHERE id = {settled}"),
        format!("UPDATE payment SET state = 'lapsed' WHERE id = {settled}"),
        format!("UPDATE payment SET state = 'presumed_spent' WHERE id = {settled}"),
        format!("UPDATE payment SET state = 'held' WHERE id = {exposed}"),
        format!("UPDATE payment SET state = 'voided', ended_s = 1 WHERE id = {exposed}"),
        format!("UPDATE payment SET state = 'gone', ended_s = 1 WHERE id = {exposed}"),
        format!("UPDATE payment SET payee = payer WHERE id = {exposed}"),
        format!("UPDATE payment SET amount = '0' || substr(amount, 1, 38) WHERE id = {exposed}"),
        format!("UPDATE payment SET nonce = identity WHERE id = {exposed}"),
        format!("UPDATE payment SET valid_before = valid_before - 1 WHERE id = {exposed}"),
        format!("UPDATE payment SET signature = NULL, signed_s = NULL WHERE id = {exposed}"),
        format!("UPDATE payment SET tx = '0x' || identity WHERE id = {settled}"),
        format!("UPDATE payment SET delivery = '{{}}' WHERE id = {settled}"),
        format!("UPDATE payment SET claim = NULL WHERE id = {settled}"),
        "INSERT INTO event VALUES (1000, 1, 'note', NULL, NULL, '', NULL, (SELECT hash FROM event LIMIT 1), (SELECT hash FROM event LIMIT 1))".to_owned(),
        "INSERT INTO spent SELECT key, seq + 5, at_s, payment, total FROM spent LIMIT 1".to_owned(),
        "INSERT INTO event SELECT seq + 100, at_s, 'no_such_kind', payment, session, detail, fact, prev, hash FROM event".to_owned(),
    ] {
        assert!(conn.execute_batch(&sql).is_err(), "went through: {sql}");
    }
}

#[test]
fn the_database_itself_keeps_sweeps_and_changes_the_account_by_a_rotation_only() {
    let world = super::on_a_file::keys::bound();
    let ordered = super::on_a_file::keys::order(&world, 1, CENT);
    drop(ordered);
    let conn = Connection::open(world.dir.path().join("ledger.sqlite")).unwrap();
    let other = "'0x' || substr(ledger_id || ledger_id, 1, 40)";
    for sql in [
        format!("UPDATE meta SET key_address = {other}"),
        "UPDATE meta SET key_address = NULL".to_owned(),
        "DELETE FROM sweep".to_owned(),
        "UPDATE sweep SET symbol = 'EURC'".to_owned(),
        "UPDATE sweep SET amount = '9' || substr(amount, 2), state = 'presumed', ended_s = 1".to_owned(),
        "UPDATE sweep SET state = 'moved', ended_s = 1".to_owned(),
        "INSERT INTO sweep SELECT seq + 1, 'w_' || substr(nonce, 3, 32), state, account, destination, chain, asset, symbol,
            amount, money, currency, '0' || substr(nonce, 2), valid_before, created_s, proof, ended_s FROM sweep".to_owned(),
        format!("INSERT INTO rotation (from_account, to_account, audit_key, at_s)
            SELECT {other}, key_address, '02' || ledger_id || ledger_id, 1 FROM meta"),
    ] {
        assert!(conn.execute_batch(&sql).is_err(), "went through: {sql}");
    }
    // What nobody guards is found: the row is in its event, and a rotation has to be in the log.
    conn.execute_batch("DROP TRIGGER sweep_story; UPDATE sweep SET symbol = 'EURC'").unwrap();
    let fault = world.ledger().verify().unwrap_err().to_string();
    assert!(fault.contains("is not as the log says"), "{fault}");
    conn.execute_batch(&format!(
        "UPDATE sweep SET symbol = 'USDC'; INSERT INTO rotation (from_account, to_account, audit_key, at_s)
         SELECT key_address, {other}, '02' || ledger_id || ledger_id, 1 FROM meta"
    ))
    .unwrap();
    let fault = world.ledger().verify().unwrap_err().to_string();
    assert!(fault.contains("the changes of the account that pays are not those"), "{fault}");
}

#[test]
fn a_second_live_payment_or_one_that_begins_settled_is_refused() {
    let (_world, conn) = written();
    let columns = "session, identity, subject, purchase_id, origin, url, method, body, terms, version, chain, asset,
        symbol, payee, payer, amount, money, currency";
    let rest = "valid_after, valid_before, envelope, created_s, updated_s";
    let insert = |state: &str, nonce: &str, ended: &str| {
        let sql = format!(
            "INSERT INTO payment (id, state, nonce, ended_s, {columns}, {rest})
             SELECT 'p_' || substr(identity, 1, 32), '{state}', {nonce}, {ended}, {columns}, {rest}
             FROM payment WHERE state = 'exposed' LIMIT 1"
        );
        conn.execute(&sql, [])
    };
    assert!(insert("exposed", "subject", "NULL").is_err(), "one live row for one identity");
    assert!(insert("settled", "subject", "created_s").is_err(), "a payment begins unsettled");
    assert!(insert("voided", "subject", "created_s").is_err());
}

/// Changes the file with the guards taken down and put up again, as somebody would who wants no trace.
pub(super) fn forge(conn: &Connection, triggers: &[&str], sql: &str) {
    let mut script = String::from("BEGIN; PRAGMA defer_foreign_keys = ON;");
    let mut guards = String::new();
    for trigger in triggers {
        let text: String =
            conn.query_row("SELECT sql FROM sqlite_schema WHERE name = ?1", [trigger], |row| row.get(0)).unwrap();
        script.push_str(&format!("DROP TRIGGER {trigger};"));
        guards.push_str(&text);
        guards.push(';');
    }
    conn.execute_batch(&format!("{script}{sql};{guards}COMMIT")).unwrap();
}

#[test]
fn every_forgery_with_the_guards_down_is_found() {
    let forgeries: [(&[&str], &str); 12] = [
        (&["event_story"], "UPDATE event SET detail = 'x' WHERE seq = 2"),
        (&["event_story"], "UPDATE event SET at_s = at_s + 1 WHERE seq = 3"),
        (&["event_story"], "UPDATE event SET kind = 'note' WHERE kind = 'exposed'"),
        (&["event_story"], "UPDATE event SET fact = NULL WHERE fact IS NOT NULL"),
        (&["event_stays"], "DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)"),
        (&["event_stays"], "DELETE FROM event WHERE seq = 2"),
        (&["payment_story"], "UPDATE payment SET payee = payer"),
        (&["payment_story"], "UPDATE payment SET url = 'https://api.example.com/else', origin = origin"),
        (&["payment_moves"], "UPDATE payment SET state = 'voided', ended_s = 1 WHERE state = 'exposed'"),
        (&["payment_added"], "UPDATE payment SET signature = '0x' || substr(signature, 3, 129) || '0'"),
        (&["tally_grows"], "UPDATE tally SET pending = spent, spent = pending WHERE key = 'all|USD'"),
        (&["spent_story"], "UPDATE spent SET at_s = at_s + 86400 WHERE key = 'all|USD'"),
    ];
    for (triggers, sql) in forgeries {
        let (mut world, conn) = written();
        forge(&conn, triggers, sql);
        let found = world.ledger().verify();
        assert!(matches!(found, Err(LedgerFault::Books { .. })), "not found: {sql}: {found:?}");
        drop(conn);
        // Opening looks at the shape of the file and the end of the log; the rest is what the check tells.
        world.close();
        let opened = Ledger::open(&place(world.dir.path()), Box::new(world.time.clone()));
        let noticed = opened.and_then(|ledger| ledger.verify());
        assert!(matches!(noticed, Err(LedgerFault::Corrupt { .. } | LedgerFault::Books { .. })), "{sql}: {noticed:?}");
    }
}

#[test]
fn a_log_that_was_cut_short_does_not_open() {
    let (mut world, conn) = written();
    forge(&conn, &["event_stays"], "DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)");
    drop(conn);
    world.close();
    let opened = Ledger::open(&place(world.dir.path()), Box::new(world.time.clone()));
    assert!(matches!(opened, Err(LedgerFault::Corrupt { .. })), "{opened:?}");
}

#[test]
fn a_budget_that_was_raised_by_hand_does_not_hide_that_it_was() {
    let (world, conn) = written();
    forge(&conn, &["session_story"], "UPDATE session SET budget = '000000000000000000000000000000000000001'");
    assert!(matches!(world.ledger().verify(), Err(LedgerFault::Books { .. })), "spent more than the budget says");
}

#[test]
fn the_head_of_the_log_is_the_same_until_something_happens() {
    let (world, _conn) = written();
    let first = world.ledger().verify().unwrap();
    assert_eq!(world.ledger().verify().unwrap(), first);
    world.ledger().freeze("x").unwrap();
    let next = world.ledger().verify().unwrap();
    assert_ne!(next.head, first.head);
    assert_eq!(next.events, first.events + 1);
    assert_eq!(next.payments, 2);
}

#[test]
fn an_unreadable_row_shuts_the_ledger() {
    let (world, conn) = written();
    forge(&conn, &["payment_story"], "UPDATE payment SET terms = '{}' WHERE state = 'exposed'");
    let fault = world.ledger().claim(&world.session, errand("b"), &world.rules, std::time::Duration::ZERO).unwrap_err();
    assert!(matches!(fault, LedgerFault::Unreadable { .. }), "{fault:?}");
    assert!(world.ledger().latched().is_some());
}

#[test]
fn what_is_known_of_a_host_and_no_payment_says_is_found() {
    let payee = "'payee', 'eip155:84532:0x3333333333333333333333333333333333333333', id FROM payment";
    for (triggers, sql) in [
        (&[][..], format!("INSERT INTO familiar SELECT origin, {payee} LIMIT 1")),
        (&[], "INSERT INTO familiar SELECT 'https://else.where', kind, value, payment FROM familiar".to_owned()),
        (&["familiar_stays"], "DELETE FROM familiar".to_owned()),
        (&["familiar_stays"], "DELETE FROM familiar WHERE kind = 'payee'".to_owned()),
        (&["familiar_story"], "UPDATE familiar SET kind = 'asset' WHERE kind = 'network'".to_owned()),
    ] {
        let (world, conn) = written();
        forge(&conn, triggers, &sql);
        let found = world.ledger().verify();
        assert!(matches!(found, Err(LedgerFault::Books { .. })), "not found: {sql}: {found:?}");
    }
}

#[test]
fn a_session_that_no_person_opened_so_is_found() {
    let budget = "'000000000000000000009000000000000000000'";
    let columns = "name, currency, budget, created_s, expires_s";
    for (triggers, sql) in [
        (&["session_story"][..], format!("UPDATE session SET budget = {budget}")),
        (&["session_story"], "UPDATE session SET expires_s = expires_s + 86400".to_owned()),
        (&["session_story"], "UPDATE session SET closed_s = NULL WHERE name = 'over'".to_owned()),
        (
            &[],
            format!(
                "INSERT INTO session (id, {columns}) SELECT 's_' || hex(zeroblob(16)), 'n', {} FROM session LIMIT 1",
                &columns[6..]
            ),
        ),
    ] {
        let (world, conn) = written();
        let over = SessionId::from_random([6; 16]);
        world.ledger().open_session(over, "over".parse().unwrap(), money("1 USD"), 100, None).unwrap();
        world.ledger().close_session("over".parse().unwrap()).unwrap();
        world.ledger().verify().unwrap();
        forge(&conn, triggers, &sql);
        let found = world.ledger().verify();
        assert!(matches!(found, Err(LedgerFault::Books { .. })), "not found: {sql}: {found:?}");
    }
}

#[test]
fn a_freeze_that_was_lifted_by_hand_is_found() {
    let (world, conn) = written();
    world.ledger().freeze("odd bills").unwrap();
    world.ledger().verify().unwrap();
    conn.execute("UPDATE meta SET frozen = NULL", []).unwrap();
    let found = world.ledger().verify();
    assert!(matches!(found, Err(LedgerFault::Books { .. })), "{found:?}");
    world.ledger().freeze("and again").unwrap();
    world.ledger().thaw().unwrap();
    world.ledger().verify().unwrap();
}
