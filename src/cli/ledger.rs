//! `bursar ledger verify` and `recover`: what is wrong with the books, and the rebuilding by hand. `verify` only looks.

use bursar_vault::by_hand::{self, ByHandFault};
use bursar_vault::keystore::Keystore;
use bursar_vault::ledger::{Begun, Inspector, Kept};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::Passphrase;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::exit::{Exit, Stop};
use super::{audit, table, terminal};

/// Check the ledger, and rebuild a damaged one by hand.
#[derive(Debug, Subcommand)]
pub(super) enum Ledger {
    /// Make every check of a vault's start, and say what each found (exit code 3 when something is wrong)
    Verify(Verify),
    /// Rebuild a damaged ledger from what can be read of it. Needs your passphrase, and no vault may run
    Recover(Recover),
}

/// Make every check of a vault's start, also while one runs. Changes nothing.
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Rebuild a damaged ledger.
#[derive(Debug, Args)]
pub(super) struct Recover {}

impl Ledger {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        match self {
            Self::Verify(command) => command.run(profile),
            Self::Recover(command) => command.run(profile),
        }
    }
}

/// One check and what it found.
#[derive(Debug, Serialize)]
struct Checked {
    check: &'static str,
    in_order: bool,
    found: String,
}

impl Verify {
    fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        profile.check_vault()?;
        let checks = checks(profile);
        let whole = checks.iter().all(|checked| checked.in_order);
        if self.json {
            table::say_json(&checks)?;
        } else {
            for Checked { check, in_order, found } in &checks {
                table::say(&format!("{check:<10}{}  {found}", if *in_order { "ok   " } else { "WRONG" }))?;
            }
            if !whole {
                table::say("Nothing was changed. docs/ledger.md says for each what to do.")?;
            }
        }
        Ok(if whole { Exit::Done } else { Exit::Refused })
    }
}

/// Each check, as far as the ones before it let it be made.
fn checks(profile: &Profile) -> Vec<Checked> {
    let mut checks = Vec::new();
    let mut note = |check, found: Result<String, String>| {
        let in_order = found.is_ok();
        checks.push(Checked { check, in_order, found: found.unwrap_or_else(|wrong| wrong) });
        in_order
    };
    let inspector = match Inspector::open(&profile.ledger_place()) {
        Ok(inspector) => inspector,
        Err(fault) => {
            note("file", Err(fault.to_string()));
            return checks;
        }
    };
    let known = inspector.identity();
    let file = profile.ledger();
    note("file", Ok(format!("{}, ledger {}, for {}", file.display(), known.ledger, known.setting)));
    note("schema", Ok("every table, index and trigger is as this program makes it".to_owned()));
    let pages = inspector.pages().map(|()| "every page can be read, and indexes agree with tables".to_owned());
    note("pages", pages.map_err(|fault| fault.to_string()));
    let books = inspector.verify(Kept::default(), &mut audit::told);
    note(
        "books",
        books
            .map(|books| {
                let (events, payments, epoch) = (books.events, books.payments, books.epoch);
                format!(
                    "{events} events follow one another, {payments} payments and every total agree, epoch {epoch}, {} checkpoints",
                    books.checkpoints
                )
            })
            .map_err(|fault| fault.to_string()),
    );
    let set_back = inspector.set_back().map(|why| {
        format!(
            "{why}; if you know why, `bursar ledger recover` or `bursar unlatch` goes on from it and closes all budgets"
        )
    });
    note("mark", set_back.map_or_else(|| Ok("nothing that was here is missing".to_owned()), Err));
    let shut = known.latched.as_ref().map(|why| format!("payments are shut: {why}; `bursar unlatch` checks and opens"));
    note("latch", shut.map_or_else(|| Ok("payments are not shut".to_owned()), Err));
    let key = Keystore::open(&profile.keystore(), profile.setting(), &known.ledger).map_err(|fault| fault.to_string());
    let key = key.and_then(|keystore| match known.account {
        Some(account) if account != keystore.address() => {
            Err(format!("the ledger counts for {account} and the key is for {}", keystore.address()))
        }
        _ => Ok(format!("the keystore names this ledger and {}", keystore.address())),
    });
    note("key", key);
    checks
}

impl Recover {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        profile.is_the_vaults()?;
        let told = "This rebuilds the ledger from what can be read of it. All budgets are closed, and every open payment counts \
                    as spent. The damaged files are kept.";
        table::complain(told);
        terminal::typed_back("Type `recover` to go on:", "recover", profile.setting())?;
        let passphrase = terminal::secret("Operator passphrase", profile.setting()).map(Passphrase::new)?;
        let begun = by_hand::recover(profile, &passphrase)?;
        say_begun("Rebuilt", &begun)?;
        Ok(Exit::Done)
    }
}

/// What was begun anew, for a person.
pub(super) fn say_begun(how: &str, begun: &Begun) -> Result<(), Stop> {
    let Begun { epoch, payments, events, counted, missing, kept } = begun;
    table::say(&format!("{how}: {payments} payments and {events} events; epoch {epoch} begins."))?;
    table::say(&format!("{counted} open payments count as spent, and every budget is closed."))?;
    if *missing != 0 {
        table::say(&format!(
            "{missing} events that were here after that are not in it, and payments may be among them."
        ))?;
    }
    if let Some(kept) = kept {
        table::say(&format!("What was here is kept as {}.", kept.display()))?;
    }
    table::say("What was signed after that state is not in it: wait an hour before you open a new budget.")
}

impl From<ByHandFault> for Stop {
    fn from(fault: ByHandFault) -> Self {
        let exit = match &fault {
            ByHandFault::Profile(_) => Exit::NotReady,
            ByHandFault::Passphrase(_) => Exit::Refused,
            ByHandFault::Keystore(_) => Exit::NotReady,
            ByHandFault::Ledger(fault) => return Self::from(fault.clone()),
        };
        Self::new(exit, fault.to_string())
    }
}
