//! The cost of counting does not grow with the number of payments.

use rusqlite::{Connection, Rows, Statement, StatementStatus, params};

use super::world::{CENT, START, World, errand};
use crate::ledger::{
    Answer, LedgerFault, acquaintance, approval, breaker, claim, events, handle, meta, overdue, prove, returned, rows,
    session, tally, view, withdrawal,
};

/// Every query on the way of a claim, an authorization, a report and a status, with something to bind.
fn hot() -> Vec<(&'static str, Vec<&'static str>)> {
    let id = "s_01010101010101010101010101010101";
    let (usdc, payer) = ("0x036CbD53842c5426634e7929541eC2318f3dCF7e", "0x1111111111111111111111111111111111111111");
    vec![
        (rows::DUE, vec!["1"]),
        (rows::BY_ID, vec!["p_01010101010101010101010101010101"]),
        (rows::BY_IDENTITY, vec!["none"]),
        (rows::OPEN_OF_SESSION, vec![id, "20"]),
        (rows::OPEN, vec!["20"]),
        (rows::AFTER, vec!["p_01010101010101010101010101010101", "20"]),
        (rows::BEFORE, vec!["p_01010101010101010101010101010101", "20"]),
        (rows::BY_CONTENT, vec!["none"]),
        (rows::DELIVERED, vec!["none", "1"]),
        (rows::TAGS, vec!["p_01010101010101010101010101010101"]),
        (claim::MEANING, vec![id, "x"]),
        (session::BY_ID, vec![id]),
        (session::NEWEST_OF_NAME, vec!["default"]),
        (session::NEWEST, vec!["20"]),
        (tally::TALLY, vec!["all|USD"]),
        (tally::SPENT_BEFORE, vec!["all|USD", "1900000100"]),
        (tally::PENDING, vec![]),
        (returned::LAST, vec!["all|USD"]),
        (returned::LAST_BY, vec!["all|USD", "1900000100"]),
        (returned::SPENT_AT, vec!["all|USD", "1900000003", "p_00000000000000000000000000000003"]),
        (prove::DUE, vec!["eip155:84532", "1900000100", "16"]),
        (prove::DENIED, vec!["20"]),
        (overdue::PARDONED, vec!["p_01010101010101010101010101010101", "host"]),
        (breaker::OF_ORIGIN, vec!["https://api.example.com"]),
        (breaker::LIST, vec!["1900000000"]),
        (events::HEAD, vec![]),
        (meta::META, vec![]),
        (meta::FROZEN, vec![]),
        (acquaintance::ANY_FAMILIAR, vec!["https://api.example.com"]),
        (acquaintance::FAMILIAR, vec!["https://api.example.com", "asset", "none"]),
        (acquaintance::ALIKE, vec!["api.example.com", "16"]),
        (acquaintance::LAST_BOUGHT, vec!["none", "none"]),
        (acquaintance::FIRST_BOUGHT, vec!["none", "USD"]),
        (approval::DUE, vec!["1"]),
        (approval::OPEN_OF_BINDING, vec!["none", "1"]),
        (approval::WAITING_OF_SESSION, vec![id, "1"]),
        (approval::USED_BY, vec!["none"]),
        (handle::BY_DIGEST, vec!["none"]),
        (handle::OPEN_OF_PAYMENT, vec!["none"]),
        (handle::DUE, vec!["1"]),
        (approval::OF_REQUEST, vec![id, "GET", "https://api.example.com/", "none"]),
        (withdrawal::TAKEABLE, vec!["eip155:84532", usdc, payer, "1900100000"]),
        (withdrawal::TOLD_LAST, vec!["w_01010101010101010101010101010101"]),
        (view::LOG_NEWEST, vec!["20"]),
        (view::LOG_AFTER, vec!["3", "20"]),
        (view::LOG_OF_PAYMENT, vec!["p_01010101010101010101010101010101"]),
    ]
}

/// Steps of SQLite's machine for one run of `sql`.
fn steps(conn: &Connection, sql: &str, bound: &[&str]) -> Result<i32, LedgerFault> {
    let mut statement = conn.prepare(sql)?;
    let mut rows = run(&mut statement, bound)?;
    while rows.next()?.is_some() {}
    drop(rows);
    Ok(statement.get_status(StatementStatus::VmStep))
}

/// Starts `statement` with `bound`, where what looks like a number is one.
fn run<'s>(statement: &'s mut Statement<'_>, bound: &[&str]) -> Result<Rows<'s>, LedgerFault> {
    for (place, text) in (1..).zip(bound) {
        match text.parse::<i64>() {
            Ok(number) => statement.raw_bind_parameter(place, number)?,
            Err(_) => statement.raw_bind_parameter(place, *text)?,
        }
    }
    Ok(statement.raw_query())
}

#[test]
fn every_query_on_the_way_of_a_payment_uses_an_index() {
    let world = World::new("", "1 USD");
    world.buy(errand("a"), CENT);
    let plans = world.ledger().writer.ask(|tx| {
        let mut plans = Vec::new();
        for (sql, bound) in hot() {
            let mut statement = tx.conn.file()?.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
            let mut rows = run(&mut statement, &bound)?;
            while let Some(row) = rows.next()? {
                plans.push((sql, row.get::<_, String>(3)?));
            }
        }
        Ok(Answer::AtOnce(plans))
    });
    let plans = plans.unwrap();
    assert!(hot().len() < plans.len() + 3, "{plans:?}");
    for (sql, plan) in plans {
        // Walking a rowid backwards or forwards under a LIMIT is a scan that stops at once.
        let bounded = plan.starts_with("SCAN") && sql.contains("LIMIT");
        assert!(bounded || !plan.contains("SCAN"), "{plan}: {sql}");
        assert!(!plan.contains("TEMP B-TREE"), "{plan}: {sql}");
    }
}

#[test]
fn a_cached_query_is_planned_once_however_often_it_is_used() {
    let world = World::new("", "1 USD");
    let anew = world.ledger().writer.ask(|tx| {
        let mut anew = Vec::new();
        for (sql, bound) in hot() {
            for _ in 0..3 {
                let mut statement = tx.conn.file()?.prepare_cached(sql)?;
                let mut rows = run(&mut statement, &bound)?;
                while rows.next()?.is_some() {}
                drop(rows);
                anew.push((sql, statement.get_status(StatementStatus::RePrepare)));
            }
        }
        Ok(Answer::AtOnce(anew))
    });
    for (sql, times) in anew.unwrap() {
        assert_eq!(times, 0, "{sql}");
    }
}

/// Fills the ledger with settled payments up to `count`, with SQL, as if they had been bought one after another.
fn fill(world: &World, count: i64) {
    let filled = world.ledger().writer.ask(move |tx| {
        let have: i64 = tx.conn.file()?.query_row("SELECT max(seq) FROM payment", [], |row| row.get(0))?;
        let columns = "session, subject, purchase_id, origin, url, method, body, terms, version, chain, asset,
            symbol, payee, payer, amount, money, currency, valid_after, valid_before, envelope, created_s, updated_s";
        tx.conn.file()?.execute(
            &format!(
                "WITH RECURSIVE n (i) AS (SELECT ?1 + 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
                 INSERT INTO payment (seq, id, state, nonce, identity, {columns})
                 SELECT i, printf('p_%032x', i), 'exposed', printf('%064x', i), printf('%064x', i), {columns}
                 FROM n, (SELECT {columns} FROM payment WHERE seq = 1)"
            ),
            params![have, count],
        )?;
        tx.conn.file()?.execute(
            "UPDATE payment SET state = 'settled', ended_s = ?1 WHERE seq > ?2",
            params![START.cast_signed(), have],
        )?;
        // The second payment is pending, so the n-th entry is the payment after it.
        tx.conn.file()?.execute(
            "INSERT INTO spent (key, seq, at_s, payment, total)
             SELECT 'all|USD', seq - 1, ?1 + seq, id, printf('%022d%017d', seq, 0)
             FROM payment WHERE seq > ?2 ORDER BY seq",
            params![START.cast_signed(), have],
        )?;
        tx.conn.file()?.execute(
            "UPDATE tally SET spent = last.total, spent_count = last.seq, spent_last_s = last.at_s
             FROM (SELECT * FROM spent WHERE key = 'all|USD' ORDER BY at_s DESC, seq DESC LIMIT 1) AS last WHERE tally.key = 'all|USD'",
            [],
        )?;
        Ok(Answer::AtOnce(()))
    });
    filled.unwrap();
}

/// What a payment writes, with all that its triggers look up.
fn writes() -> [String; 4] {
    let columns =
        "session, subject, purchase_id, origin, url, method, body, terms, version, chain, asset, symbol, payee,
        payer, amount, money, currency, valid_after, valid_before, envelope, created_s, updated_s";
    [
        format!(
            "INSERT INTO payment (id, state, nonce, identity, {columns})
             SELECT 'p_' || substr(subject, 1, 32), 'exposed', subject, subject, {columns} FROM payment WHERE seq = 1"
        ),
        "INSERT INTO spent SELECT key, seq + 1, at_s, (SELECT id FROM payment WHERE seq = 2), total
         FROM spent WHERE key = 'all|USD' ORDER BY at_s DESC, seq DESC LIMIT 1"
            .to_owned(),
        "INSERT INTO event SELECT seq + 1, at_s, kind, payment, session, detail, fact, hash, prev
         FROM event ORDER BY seq DESC LIMIT 1"
            .to_owned(),
        "UPDATE payment SET state = 'presumed_spent', ended_s = 1 WHERE id = (SELECT id FROM payment WHERE seq = 2)"
            .to_owned(),
    ]
}

/// The steps of every query and every write; the writes are taken back.
fn measure(world: &World) -> Vec<(String, i32)> {
    let measured = world.ledger().writer.ask(|tx| {
        let mut each = Vec::new();
        for (sql, bound) in hot() {
            each.push((sql.to_owned(), steps(tx.conn.file()?, sql, &bound)?));
        }
        for sql in writes() {
            tx.conn.file()?.execute_batch("SAVEPOINT measured")?;
            let taken = steps(tx.conn.file()?, &sql, &[])?;
            assert_ne!(tx.conn.changes(), 0, "wrote nothing: {sql}");
            each.push((sql, taken));
            tx.conn.file()?.execute_batch("ROLLBACK TO measured; RELEASE measured")?;
        }
        Ok(Answer::AtOnce(each))
    });
    measured.unwrap()
}

#[test]
fn a_payment_after_fifty_thousand_takes_the_steps_of_one_after_a_hundred() {
    let world = World::new("[[limit]]\nscope = \"all\"\nwindow = \"1h\"\nmax = \"1.00 USD\"", "1000 USD");
    world.buy(errand("a"), CENT);
    drop(world.authorize(errand("b"), CENT).unwrap());
    fill(&world, 100);
    let few = measure(&world);
    fill(&world, 50_000);
    let many = measure(&world);
    for ((sql, few), (_, many)) in few.into_iter().zip(many) {
        assert!(0 < few && many <= few + 8, "{few} steps became {many}: {sql}");
    }
    let reasons = world.authorize(errand("c"), CENT).unwrap_err();
    assert_eq!(reasons[0].code(), "over_limit", "and the total is looked at");
}
