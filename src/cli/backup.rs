//! `bursar backup` and `bursar restore`: the ledger in a file under a passphrase, and back.

use std::path::PathBuf;

use bursar_vault::by_hand;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::Passphrase;
use clap::Args;

use super::exit::{Exit, Stop};
use super::{ledger, table, terminal};

/// Write the ledger, without any key, to a file under a passphrase. A vault may go on running.
///
/// The file is an age file (age-encryption.org/v1): `age -d FILE` opens it as well. Keep `keystore.json`, `operator.json`
/// and `secrets.json` elsewhere yourself: they are not in it.
#[derive(Debug, Args)]
pub(super) struct Backup {
    /// The file to make, for you alone; one that is there already is left alone
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Put a backup in the place of a lost ledger. Needs your passphrase, and no vault may run.
///
/// Every budget is closed and every open payment counts as spent. What was signed after the backup is not known: wait an
/// hour, so that it has run out, and take limits for what they are.
#[derive(Debug, Args)]
pub(super) struct Restore {
    /// What `bursar backup` made
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Backup {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        profile.is_the_vaults()?;
        let mut out = table::new_file(&self.file)?;
        let typed = terminal::new_passphrase("Passphrase for the backup", profile.setting()).map_err(Stop::from);
        let written = typed.and_then(|typed| Ok(by_hand::back_up(profile, &Passphrase::new(typed), &mut out)?));
        match written {
            Ok(books) => {
                let (payments, events) = (books.payments, books.events);
                let file = self.file.display();
                table::say(&format!("Wrote {file}: {payments} payments and {events} events, head {}.", books.head))?;
                table::say(
                    "It holds no key. Keep `keystore.json`, `keys`, `operator.json` and `secrets.json` elsewhere yourself.",
                )?;
                Ok(Exit::Done)
            }
            Err(stop) => {
                // Half a backup is none.
                std::fs::remove_file(&self.file)?;
                Err(stop)
            }
        }
    }
}

impl Restore {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        profile.is_the_vaults()?;
        let told = "This makes the backup the ledger. All budgets are closed, and every payment that was open in it counts as \
                    spent.";
        table::complain(told);
        terminal::typed_back("Type `restore` to go on:", "restore", profile.setting())?;
        let sealed_with = terminal::secret("Passphrase of the backup", profile.setting()).map(Passphrase::new)?;
        let operator = terminal::secret("Operator passphrase", profile.setting()).map(Passphrase::new)?;
        let begun = by_hand::restore(profile, &operator, &self.file, &sealed_with)?;
        ledger::say_begun("Restored", &begun)?;
        Ok(Exit::Done)
    }
}
