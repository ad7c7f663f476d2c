//! Tables, guards, role and grants, made by the database's owner. Must never touch a row of the ledger.

use bursar_postgres::{Line, Server, Value, quoted};

use super::open::{fingerprint, server};
use super::{PATIENCE, VERSION, rights};
use crate::ledger::events::EventKind;
use crate::ledger::fault::LedgerFault;

/// What each version added to the one before; what is written here once is never changed.
const VERSIONS: [&str; 2] = [include_str!("schema.sql"), include_str!("schema_2.sql")];

/// What a migration came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The version that was there; 0 where there was none.
    pub from: i64,
    /// The version that is there now.
    pub to: i64,
    /// Whether the role of the vaults was made.
    pub made_role: bool,
}

/// Makes the tables of this version in the database of `owner`, and gives the role `vaults` what a vault needs and nothing
/// more; all of it or nothing. Where the tables are there already it only renews the grants and remembers how the tables are
/// now. The role, where it is not there, is made without a password.
///
/// # Errors
///
/// [`LedgerFault`]: what the server says, or a newer version that is there already. Then nothing was changed.
pub fn migrate(owner: &Server, vaults: &str) -> Result<Migrated, LedgerFault> {
    if owner.user == vaults {
        return Err(server(
            "the owner of the tables and the role of the vaults have to be two; name another owner".to_owned(),
        ));
    }
    let line = Line::open(owner, PATIENCE)?;
    line.batch("BEGIN; CREATE SCHEMA IF NOT EXISTS bursar; SET LOCAL search_path TO bursar, pg_catalog, pg_temp")?;
    let migrated = changed(&line, vaults);
    match &migrated {
        Ok(_) => line.batch("COMMIT")?,
        // What was refused is the news, whatever becomes of giving up.
        Err(_) => drop(line.batch("ROLLBACK")),
    }
    migrated
}

fn changed(line: &Line, vaults: &str) -> Result<Migrated, LedgerFault> {
    let is_there =
        !line.query("SELECT 1 FROM pg_class WHERE oid = to_regclass('bursar.schema_version')", &[])?.is_empty();
    let from = if is_there { version(line)? } else { 0 };
    if VERSION < from {
        return Err(server(format!("its tables are of version {from}, newer than this program; use the newer bursar")));
    }
    for (_, added) in (0..).zip(VERSIONS).filter(|(known, _)| from <= *known) {
        line.batch(added)?;
    }
    for kind in EventKind::EVERY {
        line.execute("INSERT INTO event_kind (name) VALUES (?1) ON CONFLICT DO NOTHING", &[Value::Text(kind.name())])?;
    }
    let made_role = !line.has_role(vaults)?;
    let quoted = quoted(vaults);
    if made_role {
        line.batch(&format!("CREATE ROLE {quoted} LOGIN")).map_err(|fault| {
            server(format!("there is no role `{vaults}`, and it cannot be made ({fault}); make it with `createuser`"))
        })?;
    }
    line.batch(&rights::grants(&quoted))?;
    let digest = fingerprint(line)?;
    line.execute(
        "INSERT INTO schema_version (version, fingerprint) VALUES (?1, ?2)
         ON CONFLICT (version) DO UPDATE SET fingerprint = excluded.fingerprint",
        &[Value::Number(VERSION), Value::Text(&digest)],
    )?;
    Ok(Migrated { from, to: VERSION, made_role })
}

fn version(line: &Line) -> Result<i64, LedgerFault> {
    let found = line.query("SELECT coalesce(max(version), 0) FROM schema_version", &[])?;
    match found.first().map(|row| row.cell(0)).transpose()? {
        Some(bursar_postgres::Cell::Number(version)) => Ok(version),
        _ => Err(LedgerFault::Unreadable { what: "schema" }),
    }
}
