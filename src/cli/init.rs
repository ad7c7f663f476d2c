//! `bursar init`: commented rules, an encrypted key, an empty ledger, how to fund the account, and the first steps.
//!
//! At a terminal it is a conversation. Nothing is made before its last question, what is made is made in one go, and
//! where there is something already it goes on from there and replaces nothing.

pub(super) mod account;
mod chosen;
mod conversation;
mod onward;
mod template;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use bursar_policy::rules::LedgerAddress;
use bursar_policy::{Asset, Setting};
use bursar_vault::guarded;
use bursar_vault::keystore::Keystore;
use bursar_vault::ledger::Inspector;
use bursar_vault::ledger_place;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::Passphrase;
use bursar_vault::rules_file;
use bursar_vault::setup::{self, NewKey, Typed, Unlocking};
use clap::Args;
use zeroize::Zeroizing;

use self::account::Account;
use self::chosen::Chosen;
use self::conversation::{Said, Whose};
use super::exit::{Exit, Stop};
use super::install::Global;
use super::{check, table, terminal};

/// Set bursar up: write commented rules, make or import a key, show how to fund it, open a first budget, register clients.
///
/// At a terminal it asks for what the command line does not say; run it again to go on where you stopped.
#[derive(Debug, Args)]
pub(super) struct Init {
    /// The network to pay on: `base-sepolia` (the default, a test network: its money is free) or `base`, or a CAIP-2 id
    #[arg(long, value_name = "NETWORK")]
    network: Option<String>,
    /// The most that one payment may cost (`0.05 USD` by default)
    #[arg(long, value_name = "AMOUNT")]
    max_per_payment: Option<String>,
    /// The most that may be spent in any 24 hours (`1.00 USD` by default)
    #[arg(long, value_name = "AMOUNT")]
    daily: Option<String>,
    /// A seller the agent may ask, for example `https://api.example.com`; repeat for more
    #[arg(long, value_name = "ORIGIN")]
    allow: Vec<String>,
    /// An address that may be paid; repeat for more
    #[arg(long, value_name = "ADDRESS")]
    recipient: Vec<String>,
    /// Let the listed sellers name any payee
    #[arg(long, conflicts_with = "recipient")]
    any_recipient: bool,
    /// Keep the ledger in this database, as `postgres://ROLE@HOST/DATABASE`, which several machines may share; its tables are
    /// made before by `bursar ledger migrate`
    #[arg(long, value_name = "LEDGER")]
    ledger: Option<LedgerAddress>,
    /// Import a private key, typed at the terminal, instead of making a new one
    #[arg(long)]
    import: bool,
    /// Let the vault unlock itself after a start from a private file; a seat belt, not a lock
    #[arg(long)]
    unlock_by_file: bool,
    /// Ask nothing but the passphrase: take the defaults for what is not said
    #[arg(long)]
    defaults: bool,
    /// Write the rules in FILE, for a fleet of machines, and nothing else: no key is made, no budget opened
    #[arg(long, value_name = "FILE", conflicts_with_all = ["network", "max_per_payment", "daily", "allow", "recipient", "any_recipient", "ledger", "import", "unlock_by_file", "defaults"])]
    from: Option<PathBuf>,
    /// Print JSON, and ask nothing but the passphrase
    #[arg(long)]
    json: bool,
    /// The folder that stands for your home; only in a sandbox
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

/// Whether there is a person to talk to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Asking,
    Silent,
}

impl Init {
    pub(super) fn run(&self, profile: &Profile, global: Global<'_>) -> Result<Exit, Stop> {
        profile.is_the_vaults()?;
        if let Some(file) = &self.from {
            return self.rules_alone(profile, file);
        }
        let manner = self.manner();
        if profile.keystore().symlink_metadata().is_ok() {
            return self.again(profile, manner, global);
        }
        let there = rules_there(profile)?;
        let text = match (&there, manner) {
            (Some(text), _) if !self.has_choices() => text.clone(),
            (_, Manner::Asking) => {
                table::say(&format!("Setting bursar up in {}.", profile.home().display()))?;
                table::say(
                    "Enter takes what is in brackets. Ctrl-C leaves; nothing is made before the last question.",
                )?;
                self.with_ledger(conversation::rules(&self.said(), profile.setting())?).rules(profile.setting())
            }
            (_, Manner::Silent) => self.with_ledger(self.chosen()?).rules(profile.setting()),
        };
        if there.as_ref().is_some_and(|there| *there != text) {
            return Err(Stop::usage(format!(
                "there are other rules in `{}` already; leave the choices out to go on with them, or move that file away",
                profile.rules().display()
            )));
        }
        rules_file::parse(&text, profile.setting()).map_err(|fault| Stop::usage(fault.to_string()))?;
        let (whose, unlocking) = self.key(profile, manner)?;
        if manner == Manner::Asking {
            let question = "Write these rules and make the key?";
            conversation::agreed(&text, profile.setting(), question)?;
        }
        let typed = passphrase(profile.setting(), manner)?;
        if let Some(ledger) = self.ledger.as_ref().filter(|ledger| !ledger.is_by_socket()) {
            let asked = format!("Password of `{}` for the ledger", ledger.role());
            let typed = terminal::secret(&asked, profile.setting())?;
            profile.create()?;
            guarded::replace(&profile.ledger_password(), typed.as_bytes())
                .map_err(|fault| Stop::new(Exit::Failed, fault.to_string()))?;
        }
        let payer = made(profile, &text, whose, &typed, unlocking)?;
        let account = Account::new(profile, &asset_of(&text, profile.setting())?, payer);
        if self.json {
            table::say_json(&account)?;
            return Ok(Exit::Done);
        }
        account.show()?;
        match manner {
            Manner::Asking => onward::go(profile, global, self.home.as_deref(), Some(typed))?,
            Manner::Silent => onward::told(profile)?,
        }
        Ok(Exit::Done)
    }

    fn manner(&self) -> Manner {
        let is_seen = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if is_seen && !self.json && !self.defaults { Manner::Asking } else { Manner::Silent }
    }

    const fn has_choices(&self) -> bool {
        self.network.is_some()
            || self.max_per_payment.is_some()
            || self.daily.is_some()
            || !self.allow.is_empty()
            || !self.recipient.is_empty()
            || self.any_recipient
            || self.ledger.is_some()
    }

    fn said(&self) -> Said<'_> {
        Said {
            network: self.network.as_deref(),
            max_per_payment: self.max_per_payment.as_deref(),
            daily: self.daily.as_deref(),
            allow: &self.allow,
            recipient: &self.recipient,
            any_recipient: self.any_recipient,
        }
    }

    /// What the command line says, with the defaults for the rest.
    fn chosen(&self) -> Result<Chosen, Stop> {
        let network = self.network.as_deref().unwrap_or(chosen::NETWORK);
        let ceiling = self.max_per_payment.as_deref().unwrap_or(chosen::CEILING);
        let daily = self.daily.as_deref().unwrap_or(chosen::DAILY);
        let recipients = conversation::all(&self.recipient, "--recipient")?;
        Ok(Chosen {
            asset: chosen::asset(network).map_err(|fault| chosen::behind("--network", network, &fault))?,
            max_per_payment: chosen::read(ceiling)
                .map_err(|fault| chosen::behind("--max-per-payment", ceiling, &fault))?,
            daily: chosen::read(daily).map_err(|fault| chosen::behind("--daily", daily, &fault))?,
            origins: conversation::all(&self.allow, "--allow")?,
            recipients: (!self.any_recipient).then_some(recipients),
            ledger: None,
        })
    }

    /// Where the ledger is to be is said on the command line alone: most have no server for it.
    fn with_ledger(&self, chosen: Chosen) -> Chosen {
        Chosen { ledger: self.ledger.clone(), ..chosen }
    }

    fn key(&self, profile: &Profile, manner: Manner) -> Result<(Whose, Unlocking), Stop> {
        let whose = match manner {
            _ if self.import => Whose::Imported,
            Manner::Asking => conversation::key(profile.setting())?,
            Manner::Silent => Whose::New,
        };
        let unlocking = match manner {
            _ if self.unlock_by_file => Unlocking::ByFile,
            Manner::Asking => conversation::unlocking()?,
            Manner::Silent => Unlocking::ByPerson,
        };
        Ok((whose, unlocking))
    }

    /// The profile has a key: nothing of it is replaced.
    fn again(&self, profile: &Profile, manner: Manner, global: Global<'_>) -> Result<Exit, Stop> {
        if manner == Manner::Silent || self.has_choices() || self.import || self.unlock_by_file {
            return Err(Stop::usage(format!(
                "`{}` is set up already; use it, or another profile with `--profile NAME`",
                profile.home().display()
            )));
        }
        table::say(&format!("`{}` is set up already; nothing of it is replaced.", profile.home().display()))?;
        let text = check::text_of_profile(profile)?;
        let (identity, _) = Inspector::glance(&ledger_place::of(profile)?)?;
        let keystore = Keystore::open(&profile.keystore(), profile.setting(), &identity.ledger)
            .map_err(|fault| Stop::not_ready(fault.to_string()))?;
        Account::new(profile, &asset_of(&text, profile.setting())?, keystore.address()).show()?;
        onward::go(profile, global, self.home.as_deref(), None)?;
        Ok(Exit::Done)
    }

    /// `--from`: the rules, where there are none yet or the same.
    fn rules_alone(&self, profile: &Profile, file: &Path) -> Result<Exit, Stop> {
        let text = check::text_of(file)?;
        rules_file::parse(&text, profile.setting()).map_err(|fault| check::refused(file, &fault))?;
        let there = rules_there(profile)?;
        if there.as_ref().is_some_and(|there| *there != text) {
            return Err(Stop::refused(format!(
                "there are other rules in `{}` already, which are never replaced; change them there, then run `bursar reload`",
                profile.rules().display()
            )));
        }
        profile.create()?;
        for (path, bytes) in [(profile.rules_schema(), check::SCHEMA.as_bytes()), (profile.rules(), text.as_bytes())] {
            guarded::replace(&path, bytes).map_err(|fault| Stop::new(Exit::Failed, fault.to_string()))?;
        }
        let rules = profile.rules().display().to_string();
        if self.json {
            table::say_json(&serde_json::json!({ "rules": rules }))?;
        } else {
            table::say(&format!("Written: {rules}. `bursar init` goes on from there: it makes the key."))?;
        }
        Ok(Exit::Done)
    }
}

/// The rules that are there although no key is: of `--from`, or of a set-up that was cut off.
fn rules_there(profile: &Profile) -> Result<Option<String>, Stop> {
    if profile.rules().symlink_metadata().is_err() {
        return Ok(None);
    }
    check::text_of_profile(profile).map(Some)
}

fn passphrase(setting: Setting, manner: Manner) -> Result<Zeroizing<String>, Stop> {
    if manner == Manner::Asking {
        conversation::said_first(
            "Your passphrase. It encrypts the key, and every widening of what an agent may do asks for it. Nobody can bring it back.",
        )?;
    }
    loop {
        match terminal::new_passphrase("New operator passphrase", setting) {
            // A slip is no reason to begin anew; who leaves has left.
            Err(terminal::Mistyped::Again(stop)) if manner == Manner::Asking => table::say(&format!("    {stop}"))?,
            Err(terminal::Mistyped::Again(stop) | terminal::Mistyped::Left(stop)) => return Err(stop),
            Ok(typed) => return Ok(typed),
        }
    }
}

/// Makes the profile. Keys on the keyboard cannot stop it half-way.
fn made(
    profile: &Profile,
    text: &str,
    whose: Whose,
    typed: &Zeroizing<String>,
    unlocking: Unlocking,
) -> Result<bursar_policy::Address, Stop> {
    let key = match whose {
        Whose::New => NewKey::Generated,
        Whose::Imported => {
            NewKey::Imported(Typed::new(terminal::secret("Private key (64 hex digits, not shown)", profile.setting())?))
        }
    };
    let operator = Passphrase::new(typed.clone());
    terminal::undisturbed(|| {
        let payer = setup::initialise(profile, text, key, &operator, unlocking)
            .map_err(|fault| Stop::usage(fault.to_string()))?;
        // What the first line of the rules points at, so that editors complete and check them offline.
        guarded::replace(&profile.rules_schema(), check::SCHEMA.as_bytes())
            .map_err(|fault| Stop::new(Exit::Failed, fault.to_string()))?;
        Ok(payer)
    })
}

/// The asset that rules are about: the first that they allow.
fn asset_of(text: &str, setting: Setting) -> Result<Asset, Stop> {
    let rules = rules_file::parse(text, setting).map_err(|fault| Stop::usage(fault.to_string()))?;
    let first = rules.assets().next().cloned();
    first.ok_or_else(|| Stop::usage("the rules allow no asset, so there is nothing to pay with; add one to `assets`"))
}
