//! What a server has to be and what its role may do: a vault that was broken into cannot rewrite the log there.

use super::on_a_server::keys::hand_over;
use super::server::cluster::Cluster;
use super::server::{Database, VAULTS, open};
use super::world::{CENT, Fake, PAYER, World, errand, place};
use crate::ledger::{
    Inspector, Kept, KeyFile, Ledger, LedgerFault, LedgerPlace, Progress, Rotated, ServerPlace, migrate,
};

fn bought() -> (World, Database) {
    let database = Database::new();
    let world = World::begin(Some(database.clone()), "", "1 USD", None);
    world.buy(errand("a"), CENT);
    world.hold(errand("page"), CENT).unwrap();
    (world, database)
}

fn refused(database: &Database, user: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let server = ServerPlace { server: database.server(user), ..database.place_in_earnest() };
    let place = LedgerPlace { server: Some(server), ..place(dir.path()) };
    match Ledger::open(&place, Box::new(crate::clock::MachineTime)) {
        Err(fault @ (LedgerFault::Server { .. } | LedgerFault::NoLedger { .. })) => fault.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_role_of_a_vault_cannot_rewrite_the_log_nor_what_a_payment_is() {
    let (_world, database) = bought();
    let vault = open(&database.server(VAULTS));
    for sql in [
        "UPDATE event SET detail = 'x'",
        "DELETE FROM event",
        "TRUNCATE event",
        "UPDATE payment SET amount = amount",
        "UPDATE payment SET payee = payer",
        "UPDATE payment SET nonce = nonce",
        "DELETE FROM payment",
        "DELETE FROM spent",
        "DELETE FROM sweep",
        "UPDATE sweep SET amount = amount",
        "DELETE FROM rotation",
        "UPDATE rotation SET at_s = 1",
        "UPDATE spent SET total = total",
        "UPDATE session SET budget = budget",
        "UPDATE proof SET witnesses = 1",
        "UPDATE mandate SET mandate = '{}'",
        "UPDATE meta SET ledger_id = ledger_id",
        "DELETE FROM custody",
        "INSERT INTO event_kind VALUES ('x')",
        "INSERT INTO schema_version VALUES (9, 'x')",
        "UPDATE schema_version SET fingerprint = 'x'",
        "ALTER TABLE event DISABLE TRIGGER ALL",
        "DROP TRIGGER event_begins ON event",
        "CREATE TABLE mine (a bigint)",
        "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "SET session_replication_role = replica",
    ] {
        let said = vault.batch(sql).unwrap_err();
        let state = match &said {
            bursar_postgres::Fault::Said { state, .. } => state.as_str().to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(state, "42501", "{sql}: {said}");
    }
    // What it may write, the guards still refuse where it is another story.
    for sql in [
        "UPDATE payment SET state = 'voided', ended_s = 1 WHERE state = 'settled'",
        "UPDATE payment SET signature = '0x' || repeat('a', 130) WHERE signature IS NOT NULL",
        "UPDATE tally SET spent = repeat('0', 39) WHERE key = 'all|USD'",
        "UPDATE meta SET event_seq = 0",
        "INSERT INTO event SELECT seq + 7, at_s, kind, payment, session, detail, fact, prev, hash FROM event WHERE seq = 1",
        "UPDATE vault SET epoch = 0",
    ] {
        let said = vault.batch(sql).unwrap_err();
        assert!(
            matches!(&said, bursar_postgres::Fault::Said { state, .. } if state.class() == "23"),
            "{sql}: {said:?}"
        );
    }
    // Nor do tables of its own come before the ledger's.
    vault.batch("CREATE TEMPORARY TABLE payment (id text, state text)").unwrap_or_default();
    assert!(vault.batch("INSERT INTO bursar.pardon SELECT id, 'host' FROM bursar.payment").is_err());
}

#[test]
fn a_role_that_could_do_more_than_a_vault_needs_is_not_used() {
    let cluster = Cluster::start(&[]);
    let database = Database::on(&cluster);
    let keeper = database.keeper();
    let name = &database.name;
    let is_new =
        !keeper.query("SELECT 1 FROM pg_proc WHERE proname = 'has_parameter_privilege'", &[]).unwrap().is_empty();
    keeper
        .batch("CREATE ROLE writer; GRANT UPDATE (amount) ON payment TO writer; GRANT USAGE ON SCHEMA bursar TO writer")
        .unwrap();
    assert!(refused(&database, "keeper").contains("could change the log"));
    let in_database = format!("ALTER ROLE vaults IN DATABASE {name}");
    let mut rights: Vec<(String, String)> = [
        ("GRANT UPDATE (amount) ON payment TO vaults", "REVOKE UPDATE (amount) ON payment FROM vaults"),
        ("GRANT DELETE ON sweep TO vaults", "REVOKE DELETE ON sweep FROM vaults"),
        ("GRANT UPDATE (destination) ON sweep TO vaults", "REVOKE UPDATE (destination) ON sweep FROM vaults"),
        ("GRANT UPDATE ON rotation TO vaults", "REVOKE UPDATE ON rotation FROM vaults"),
        ("GRANT TRUNCATE ON spent TO vaults", "REVOKE TRUNCATE ON spent FROM vaults"),
        ("GRANT TRIGGER ON event TO vaults", "REVOKE TRIGGER ON event FROM vaults"),
        ("GRANT REFERENCES (id) ON meta TO vaults", "REVOKE REFERENCES (id) ON meta FROM vaults"),
        ("GRANT UPDATE (ledger_id) ON meta TO vaults", "REVOKE UPDATE (ledger_id) ON meta FROM vaults"),
        ("GRANT INSERT ON schema_version TO vaults", "REVOKE INSERT ON schema_version FROM vaults"),
        ("GRANT DELETE ON event TO PUBLIC", "REVOKE DELETE ON event FROM PUBLIC"),
        ("GRANT CREATE ON SCHEMA bursar TO vaults", "REVOKE CREATE ON SCHEMA bursar FROM vaults"),
        ("GRANT writer TO vaults", "REVOKE writer FROM vaults"),
        ("ALTER ROLE vaults NOINHERIT; GRANT writer TO vaults", "REVOKE writer FROM vaults; ALTER ROLE vaults INHERIT"),
        ("ALTER ROLE vaults NOINHERIT; GRANT keeper TO vaults", "REVOKE keeper FROM vaults; ALTER ROLE vaults INHERIT"),
        (
            "ALTER TABLE sweep OWNER TO writer; GRANT writer TO vaults",
            "ALTER TABLE sweep OWNER TO keeper; REVOKE writer FROM vaults",
        ),
        ("GRANT pg_write_server_files TO vaults", "REVOKE pg_write_server_files FROM vaults"),
        ("ALTER ROLE vaults CREATEROLE", "ALTER ROLE vaults NOCREATEROLE"),
        ("ALTER ROLE vaults BYPASSRLS", "ALTER ROLE vaults NOBYPASSRLS"),
        ("ALTER ROLE vaults SUPERUSER", "ALTER ROLE vaults NOSUPERUSER"),
    ]
    .map(|(give, take)| (give.to_owned(), take.to_owned()))
    .into();
    rights.push((format!("ALTER DATABASE {name} OWNER TO vaults"), format!("ALTER DATABASE {name} OWNER TO keeper")));
    let aside = "session_replication_role";
    rights.push((format!("{in_database} SET {aside} = replica"), format!("{in_database} RESET {aside}")));
    if is_new {
        rights.push((
            format!("GRANT SET ON PARAMETER {aside} TO vaults"),
            format!("REVOKE SET ON PARAMETER {aside} FROM vaults"),
        ));
    }
    for (give, take) in rights {
        assert!(refused(&database, VAULTS).contains("there is no ledger in"), "before: {give}");
        keeper.batch(&give).unwrap();
        let said = refused(&database, VAULTS);
        assert!(said.contains("could change the log or the tables"), "{give}: {said}");
        keeper.batch(&take).unwrap();
    }
    // Whoever only looks takes nothing away.
    keeper.batch("CREATE ROLE reader; GRANT SELECT ON ALL TABLES IN SCHEMA bursar TO reader").unwrap();
    assert!(refused(&database, VAULTS).contains("there is no ledger in"));
}

#[test]
fn guards_go_by_the_servers_own_operators_whatever_a_role_puts_before_them() {
    let (_world, database) = bought();
    let keeper = database.keeper();
    let bare = "SELECT 1 FROM pg_proc JOIN pg_language AS l ON l.oid = prolang
        WHERE pronamespace = CAST('bursar' AS regnamespace) AND lanname = 'plpgsql'
        AND proconfig IS DISTINCT FROM ARRAY['search_path=pg_catalog, pg_temp']";
    assert!(keeper.query(bare, &[]).unwrap().is_empty());
    keeper.batch(&format!("GRANT CREATE ON DATABASE {} TO vaults", database.name)).unwrap();
    let vault = open(&database.server(VAULTS));
    vault
        .batch(
            "CREATE SCHEMA mine;
             CREATE FUNCTION mine.never(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
             CREATE OPERATOR mine.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = mine.never);
             SET search_path TO mine, pg_catalog",
        )
        .unwrap();
    let forged =
        "INSERT INTO bursar.event SELECT seq + 1, at_s, kind, payment, session, detail, fact, repeat('a', 64), hash
        FROM bursar.event ORDER BY seq DESC LIMIT 1";
    let said = vault.batch(forged).unwrap_err();
    assert!(matches!(&said, bursar_postgres::Fault::Said { state, .. } if state.class() == "23"), "{said:?}");
    // That it would be a way round, where a guard went by the path of whoever asks:
    keeper.batch("ALTER FUNCTION event_begins() RESET search_path").unwrap();
    vault.batch(forged).unwrap();
    assert!(refused(&database, VAULTS).contains("not as the migration made it"));
}

#[test]
fn tables_that_somebody_changed_are_not_used_until_the_owner_says_so() {
    for change in [
        "ALTER TABLE payment DISABLE TRIGGER payment_story",
        "ALTER TABLE event DISABLE TRIGGER ALL",
        "DROP INDEX payment_live",
        "ALTER TABLE payment DROP CONSTRAINT payment_money_check",
        "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "ALTER TABLE payment ADD COLUMN more text",
        "CREATE RULE never AS ON INSERT TO event DO INSTEAD NOTHING",
    ] {
        let database = Database::new();
        database.keeper().batch(change).unwrap();
        assert!(refused(&database, VAULTS).contains("not as the migration made it"), "{change}");
        migrate(&database.server("keeper"), VAULTS).unwrap();
        assert!(refused(&database, VAULTS).contains("there is no ledger in"), "{change}");
    }
}

#[test]
fn a_server_whose_commits_are_none_is_not_used() {
    let database = Database::new();
    let role = format!("ALTER ROLE vaults IN DATABASE {} SET synchronous_commit", database.name);
    database.keeper().batch(&format!("{role} = off")).unwrap();
    assert!(refused(&database, VAULTS).contains("`synchronous_commit` is off"));
    database.keeper().batch(&format!("{role} = on")).unwrap();
    for (setting, name) in [("fsync = off", "`fsync` is off"), ("full_page_writes = off", "`full_page_writes` is off")]
    {
        let cluster = Cluster::start(&[setting]);
        assert!(refused(&Database::on(&cluster), VAULTS).contains(name));
    }
}

#[test]
fn a_database_without_tables_or_without_a_ledger_says_what_to_run() {
    let database = Database::new();
    assert!(refused(&database, VAULTS).contains("run `bursar init`"));
    let bare = Database { name: "postgres".to_owned(), ..database };
    assert!(refused(&bare, VAULTS).contains("run `bursar ledger migrate`"));
}

#[test]
fn a_migration_is_made_once_and_renewed_without_touching_a_row() {
    let (world, database) = bought();
    let before = world.ledger().verify().unwrap();
    let again = migrate(&database.server("keeper"), VAULTS).unwrap();
    assert_eq!((again.from, again.to, again.made_role), (2, 2, false));
    assert_eq!(world.ledger().verify().unwrap().head, before.head);
    let same = migrate(&database.server("keeper"), "keeper");
    assert!(matches!(same, Err(LedgerFault::Server { .. })), "{same:?}");
    database.keeper().batch("INSERT INTO schema_version VALUES (3, 'x')").unwrap();
    assert!(matches!(migrate(&database.server("keeper"), VAULTS), Err(LedgerFault::Server { .. })));
    assert!(refused(&database, VAULTS).contains("newer than this program"));
}

#[test]
fn tables_of_version_1_become_those_of_version_2_with_everything_in_them() {
    let database = Database::bare();
    let keeper = database.keeper();
    for sql in [
        "CREATE SCHEMA bursar",
        include_str!("../postgres/schema.sql"),
        "SET session_replication_role = replica",
        include_str!("server-version-1.sql"),
        "SET session_replication_role = DEFAULT",
        "INSERT INTO schema_version VALUES (1, 'x')",
        "GRANT USAGE ON SCHEMA bursar TO vaults; GRANT SELECT ON schema_version TO vaults",
    ] {
        keeper.batch(sql).unwrap();
    }
    assert!(refused(&database, VAULTS).contains("of version 1"));
    let made = migrate(&database.server("keeper"), VAULTS).unwrap();
    assert_eq!((made.from, made.to), (1, 2));
    let dir = tempfile::tempdir().unwrap();
    let place = LedgerPlace { server: Some(database.place()), ..place(dir.path()) };
    let ledger = Ledger::open(&place, Box::new(Fake::new())).unwrap();
    let books = ledger.verify().unwrap();
    assert_eq!(books.payments, 2);
    assert!(8 <= books.events, "what was in the log, and that it was opened");
    // And what is new with version 2 works on it.
    ledger.bind_key(PAYER).unwrap();
    assert_eq!(ledger.rotate(hand_over(0x55, PAYER, 7, 8)).unwrap(), Rotated::Done);
    assert_eq!(ledger.sweeps().unwrap(), []);
    ledger.verify().unwrap();
}

#[test]
fn a_database_has_one_ledger_for_real_money_or_for_play() {
    let (world, _database) = bought();
    let taken = Ledger::create(&world.place(), KeyFile::Absent, [8; 16], Box::new(world.time.clone()));
    assert!(matches!(taken, Err(LedgerFault::Taken { .. })), "{taken:?}");
    let dir = tempfile::tempdir().unwrap();
    let real = LedgerPlace { setting: bursar_policy::Setting::Real, lock: dir.path().join("lock"), ..world.place() };
    let other = Ledger::open(&real, Box::new(world.time.clone()));
    assert!(matches!(&other, Err(LedgerFault::Server { detail }) if detail.contains("sandbox")), "{other:?}");
}

#[test]
fn a_ledger_on_a_server_is_looked_at_and_exported_beside_its_vault_and_not_copied() {
    let (world, _database) = bought();
    world.ledger().flush().unwrap();
    let inspector = Inspector::open(&world.place()).unwrap();
    let books = inspector.verify(Kept::default(), &mut |_progress: Progress| ()).unwrap();
    assert_eq!((books.payments, books.head), (2, inspector.identity().head));
    let mut events = 0_u64;
    let count = |_event| -> Result<(), LedgerFault> {
        events += 1;
        Ok(())
    };
    inspector.export(0, count).unwrap();
    assert_eq!(events, books.events);
    assert_eq!(inspector.pages(), Err(LedgerFault::NoFile));
}
