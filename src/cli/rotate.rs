//! `bursar rotate`: another key pays from now on. The vault makes it and hands over; this asks, and shows the new account.

use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, Passphrase, WhichRules};
use bursar_vault::rules_file;
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::init::account::Account;
use super::{table, terminal};
use crate::spelling;

/// Let a new key pay from now on. The old one stays sealed in the profile, for what is left on its account.
///
/// Refused while a payment is open: set aside for a browser, or counted and without an end. What ended by its seller's word
/// may still be taken out of the old account. Budgets, limits, rules, secrets and the whole ledger go on as they are. Needs
/// your passphrase, which opens the new key as well.
#[derive(Debug, Args)]
pub(super) struct Rotate {}

impl Rotate {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let operator = Operator::connect_or_start(profile)?;
        let OperatorReply::Status(status) = operator.ask(&OperatorAsk::Status)? else { return Err(out_of_turn()) };
        let payer = status.payer.ok_or_else(|| Stop::not_ready("there is no key yet; run `bursar init`"))?;
        table::complain(&format!("{payer} pays now. A new key takes its place; the money stays where it is."));
        terminal::typed_back("Type `rotate` to make it:", "rotate", profile.setting())?;
        let passphrase = Passphrase::new(terminal::secret("Operator passphrase", profile.setting())?);
        let ask = OperatorAsk::Rotate { passphrase };
        let OperatorReply::Rotated { from, to } = operator.ask(&ask)? else { return Err(out_of_turn()) };
        let rules = OperatorAsk::Rules { which: WhichRules::InForce };
        let OperatorReply::Rules { text, .. } = operator.ask(&rules)? else { return Err(out_of_turn()) };
        let rules = rules_file::parse(&text, profile.setting());
        match rules.ok().and_then(|rules| rules.assets().next().cloned()) {
            Some(asset) => Account::new(profile, &asset, to).show()?,
            None => table::say(&format!("account  {to}"))?,
        }
        table::say(&format!("before   {from}; its key stays in {}", profile.keys().display()))?;
        let next = format!("`bursar sweep --from {from} --to {to}` moves what is left there to the new account");
        table::say(&format!("next     {}", spelling::advice(profile, &next)))?;
        table::say("         keep a copy of the profile's folder elsewhere: a backup of the ledger holds no key")?;
        Ok(Exit::Done)
    }
}
