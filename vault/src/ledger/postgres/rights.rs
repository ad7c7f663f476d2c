//! What the role that a vault runs as may do, in one list: for the grants that a migration makes, and for the vault, which
//! looks whether it could do more. Must never let a role through that could.

use std::collections::BTreeSet;

use bursar_postgres::Line;

use super::open::{server, text};
use crate::ledger::fault::LedgerFault;

/// Everything may be read, and rows added to these tables.
const ADDED: &str = "meta, session, purchase, payment, payment_tag, tally, spent, event, mandate, approval, breaker, pardon, \
                     familiar, likeness, handle, proof, returned, unproved, vault, custody, rotation, sweep";

/// Of these tables exactly the columns may be changed that a payment's life changes.
const CHANGED: [(&str, &str); 13] = [
    ("meta", "key_address, recorded_s, boot_id, wall_s, boot_ms, frozen, latched, event_seq, event_hash"),
    ("session", "closed_s"),
    ("payment", "state, valid_after, valid_before, signature, signed_s, delivery, claim, tx, updated_s, ended_s"),
    ("tally", "pending, pending_count, spent, spent_count, spent_last_s"),
    ("approval", "state, expires_s, decided_s, said, payment"),
    ("breaker", "failures, strikes, until_s"),
    ("handle", "state, ended_s"),
    ("audit", "epoch, key, checkpoint_seq, checkpoint_s"),
    ("returned", "total, count"),
    ("unproved", "from_s"),
    ("sweep", "state, proof, ended_s"),
    ("vault", "epoch, until_s"),
    ("custody", "vault, epoch"),
];

/// Rows may be deleted from these: a list of work, in which nothing is believed.
const CLEARED: &str = "unproved";

/// Everything that the role of this line could do there beside looking, by itself or as a role that it may become: one line
/// for each right, as [`expected`] tells them, and what no vault may have.
const FOUND: &str = "WITH mine AS (SELECT * FROM pg_roles WHERE pg_has_role(oid, 'MEMBER')),
    tables AS (SELECT * FROM pg_class WHERE relnamespace = CAST('bursar' AS regnamespace) AND relkind IN ('r', 'p', 'v', 'm', 'f'))
SELECT CAST('is the superuser, or makes roles, or passes by guards of rows, or reaches the files of the server' AS text) FROM mine
    WHERE rolsuper OR rolcreaterole OR rolbypassrls
        OR rolname IN ('pg_write_server_files', 'pg_execute_server_program')
UNION SELECT 'is an owner there' FROM mine WHERE oid IN (SELECT relowner FROM tables
    UNION ALL SELECT nspowner FROM pg_namespace WHERE nspname = 'bursar'
    UNION ALL SELECT proowner FROM pg_proc WHERE pronamespace = CAST('bursar' AS regnamespace)
    UNION ALL SELECT datdba FROM pg_database WHERE datname = current_database())
UNION SELECT 'makes tables' FROM mine WHERE has_schema_privilege(mine.oid, 'bursar', 'CREATE')
UNION SELECT 'goes by no guard' WHERE current_setting('session_replication_role') <> 'origin'
UNION SELECT 'INSERT ' || relname FROM mine, tables WHERE has_any_column_privilege(mine.oid, tables.oid, 'INSERT')
UNION SELECT 'REFERENCES ' || relname FROM mine, tables WHERE has_any_column_privilege(mine.oid, tables.oid, 'REFERENCES')
UNION SELECT wanted || ' ' || relname FROM mine, tables, (VALUES ('DELETE'), ('TRUNCATE'), ('TRIGGER')) AS w (wanted)
    WHERE has_table_privilege(mine.oid, tables.oid, wanted)
UNION SELECT 'UPDATE ' || relname || ' ' || attname FROM mine, tables JOIN pg_attribute ON attrelid = tables.oid
    WHERE attnum > 0 AND NOT attisdropped AND has_column_privilege(mine.oid, tables.oid, attnum, 'UPDATE')";

/// Since version 15 the right to put guards aside can be given by itself.
const PUTS_ASIDE: &str = "SELECT CAST(proname AS text) FROM pg_proc WHERE proname = 'has_parameter_privilege'";
const ASIDE: &str = "SELECT CAST('could put guards aside' AS text) FROM pg_roles
    WHERE pg_has_role(oid, 'MEMBER') AND has_parameter_privilege(oid, 'session_replication_role', 'SET')";

/// The statements that give `role`, a quoted name, what a vault needs and take everything else away that was given to it.
pub(super) fn grants(role: &str) -> String {
    let mut sql = format!(
        "REVOKE ALL ON ALL TABLES IN SCHEMA bursar FROM PUBLIC, {role}; REVOKE ALL ON SCHEMA bursar FROM PUBLIC, {role};
         GRANT USAGE ON SCHEMA bursar TO {role}; GRANT SELECT ON ALL TABLES IN SCHEMA bursar TO {role};
         GRANT INSERT ON {ADDED} TO {role}; GRANT DELETE ON {CLEARED} TO {role};"
    );
    for (table, columns) in CHANGED {
        sql.push_str(&format!("GRANT UPDATE ({columns}) ON {table} TO {role};"));
    }
    sql
}

fn expected() -> BTreeSet<String> {
    let of =
        |right: &'static str, tables: &'static str| tables.split(", ").map(move |table| format!("{right} {table}"));
    let changed = CHANGED
        .iter()
        .flat_map(|(table, columns)| columns.split(", ").map(move |column| format!("UPDATE {table} {column}")));
    of("INSERT", ADDED).chain(of("DELETE", CLEARED)).chain(changed).collect()
}

/// Refuses a role that could do more than a vault needs, `user` on this line.
///
/// # Errors
///
/// [`LedgerFault::Server`] with the first right that is too much, or a fault of the line.
pub(super) fn check(line: &Line, user: &str) -> Result<(), LedgerFault> {
    let mut found = line.query_once(FOUND)?;
    if !line.query_once(PUTS_ASIDE)?.is_empty() {
        found.extend(line.query_once(ASIDE)?);
    }
    let needed = expected();
    for row in &found {
        let right = text(row, 0)?;
        if !needed.contains(&right) {
            return Err(server(format!(
                "the role `{user}` could change the log or the tables (`{right}`); vaults use a lesser one, which \
                 `bursar ledger migrate` makes"
            )));
        }
    }
    Ok(())
}
