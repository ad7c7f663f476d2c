//! The tables of a center and the rights of its vaults, made by the database's owner. Must never touch a row.

use bursar_postgres::{Line as Wire, Server, quoted};

use super::CenterFault;
use super::database::PATIENCE;

const SCHEMA: &str = include_str!("schema.sql");

/// Makes the tables of a center in the database of `owner`, where they are not there yet, and gives the role `vaults` what a
/// vault needs of them and nothing more; all of it or nothing. The role is made without a password where there is none.
/// Whether it was.
///
/// # Errors
///
/// [`CenterFault`]; then nothing was changed.
pub fn migrate(owner: &Server, vaults: &str) -> Result<bool, CenterFault> {
    let wire = Wire::open(owner, PATIENCE)?;
    wire.batch("BEGIN; CREATE SCHEMA IF NOT EXISTS bursar_share")?;
    // A connection on which anything went wrong ends here, and with it what was begun.
    if wire.query("SELECT 1 FROM pg_class WHERE oid = to_regclass('bursar_share.vault')", &[])?.is_empty() {
        wire.batch(SCHEMA)?;
    }
    let made_role = !wire.has_role(vaults)?;
    let role = quoted(vaults);
    if made_role {
        wire.batch(&format!("CREATE ROLE {role} LOGIN"))?;
    }
    wire.batch(&format!(
        "REVOKE ALL ON ALL TABLES IN SCHEMA bursar_share FROM PUBLIC, {role};
         GRANT USAGE ON SCHEMA bursar_share TO {role};
         GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA bursar_share TO {role};
         GRANT UPDATE (life, turn, seen_s) ON bursar_share.vault TO {role};
         GRANT UPDATE (wanted, wanted_s) ON bursar_share.line TO {role};
         GRANT UPDATE (amount, lasts_s), DELETE ON bursar_share.part TO {role};
         COMMIT"
    ))?;
    Ok(made_role)
}
