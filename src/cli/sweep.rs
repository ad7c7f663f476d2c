//! `bursar sweep`: moves money out of the paying account, or out of one that paid before. The vault writes it down, freezes
//! spending and signs; this shows, asks, and writes out what anybody with gas can submit.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bursar_policy::{Address, Amount, Asset, AssetId, Money, Rules};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, Passphrase, SweepPlan, SweepSigned, SweepView, WhichRules};
use bursar_vault::rules_file;
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{table, terminal};
use crate::facilitator;
use crate::spelling;
use crate::wire::transfer::Handed;

mod paper;

/// Move money out of the paying account: to your own address, signed once, submitted by anybody with gas.
///
/// Freezes spending. Writes a file with the signed transfer and its call data; whoever has it can have exactly this money
/// moved to exactly this address, once, and nothing else. With `--facilitator` it is handed to one as well, which pays the
/// network's fee. Needs your passphrase.
#[derive(Debug, Args)]
pub(super) struct Sweep {
    /// Where the money goes: an address that you hold the key of
    #[arg(long, value_name = "ADDRESS", required_unless_present = "again", conflicts_with = "again")]
    to: Option<String>,
    /// How much, `1.25 USD`; all that is free where this is left out and the rules name an endpoint that says it
    #[arg(long, value_name = "AMOUNT", conflicts_with = "again")]
    amount: Option<String>,
    /// Which token of the rules, by its symbol or its whole name; needed where they have several
    #[arg(long, value_name = "TOKEN")]
    asset: Option<String>,
    /// Out of this account, one that paid before `bursar rotate`
    #[arg(long, value_name = "ACCOUNT")]
    from: Option<String>,
    /// How long it may be submitted
    #[arg(long, default_value_t = 60, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..=1440))]
    minutes: u32,
    /// Hand it to the x402 facilitator at this address, which submits it and pays the fee
    #[arg(long, value_name = "URL")]
    facilitator: Option<String>,
    /// Write it to this file instead of `sweep-ID.json` in this folder
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Sign and write out the sweep that is live already: the same bytes; its address and amount are typed back
    #[arg(long)]
    again: bool,
}

impl Sweep {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let facilitator = self.facilitator.as_deref().map(facilitator::settle_site).transpose();
        let facilitator = facilitator.map_err(|fault| Stop::usage(format!("`--facilitator`: {fault}")))?;
        let operator = Operator::connect_or_start(profile)?;
        let rules = rules(profile, &operator)?;
        let asset = self.asset(&rules)?;
        let (account, pays) = self.account(&operator)?;
        let OperatorReply::SweepPlan(plan) = operator.ask(&OperatorAsk::SweepPlan { account, asset: asset.id })? else {
            return Err(out_of_turn());
        };
        let ask = match &self.to {
            Some(to) => self.order(profile, asset, &plan, to, pays)?,
            None => again(profile, &plan)?,
        };
        let OperatorReply::Swept(signed) = operator.ask(&ask)? else { return Err(out_of_turn()) };
        let paper = paper::Paper::of(&signed).ok_or_else(out_of_turn)?;
        let file = paper.write(self.out.as_deref())?;
        told(profile, &signed, &file, pays)?;
        match facilitator {
            None => Ok(Exit::Done),
            Some(site) => {
                let request = paper.settle_request(&signed);
                handed(facilitator::hand_over(&rules, profile.home(), &site, request))
            }
        }
    }

    /// The token that is meant.
    fn asset<'r>(&self, rules: &'r Rules) -> Result<&'r Asset, Stop> {
        let named = |asset: &&Asset| {
            self.asset.as_ref().is_none_or(|name| {
                asset.symbol.eq_ignore_ascii_case(name) || asset.id.to_string().eq_ignore_ascii_case(name)
            })
        };
        let found: Vec<&Asset> = rules.assets().filter(named).collect();
        let names = || rules.assets().map(|asset| asset.id.to_string()).collect::<Vec<_>>().join("`, `");
        match found[..] {
            [asset] => Ok(asset),
            _ => Err(Stop::usage(format!("name one token of the rules with `--asset`: `{}`", names()))),
        }
    }

    /// The account that is meant, and whether it is the one that pays.
    fn account(&self, operator: &Operator) -> Result<(Address, bool), Stop> {
        let OperatorReply::Status(status) = operator.ask(&OperatorAsk::Status)? else { return Err(out_of_turn()) };
        let payer = status.payer.ok_or_else(|| Stop::not_ready("there is no key yet; run `bursar init`"))?;
        let Some(from) = &self.from else { return Ok((payer, true)) };
        let from: Address = from.parse().map_err(|fault| Stop::usage(format!("`--from`: {fault}")))?;
        Ok((from, from == payer))
    }

    /// Shows what would be moved, and has it typed back. Where the account pays, spending will be frozen.
    fn order(
        &self,
        profile: &Profile,
        asset: &Asset,
        plan: &SweepPlan,
        to: &str,
        pays: bool,
    ) -> Result<OperatorAsk, Stop> {
        if let Some(live) = &plan.live {
            let told = format!(
                "the sweep `{}` of {} to `{}` is live already; `bursar sweep --again` writes the same one out again",
                live.id, live.money, live.to
            );
            return Err(Stop::refused(told));
        }
        let destination: Address = to.parse().map_err(|fault| Stop::usage(format!("`--to`: {fault}")))?;
        let amount = self.units(asset, plan)?;
        let money =
            Money::of(amount, asset).ok_or_else(|| Stop::usage("that is more than can be counted; sweep less"))?;
        let (left, until) = (told_units(plan.reserved, asset), table::time(plan.reserved_until_s));
        let deal =
            Deal { account: plan.account, to: destination, money, amount, symbol: &asset.symbol, asset: asset.id };
        deal.show(&format!("{} minutes", self.minutes));
        if plan.balance.is_none() {
            let why = unseen(plan);
            if plan.reserved != 0 {
                return Err(Stop::refused(format!(
                    "signed payments may still take {left} until {until}, and nobody says what the account holds ({why}); \
                     sweep after that"
                )));
            }
            table::complain(&format!("{:<10}nobody says what the account holds ({why}); it may be less", "NOT KNOWN"));
        }
        if plan.reserved != 0 {
            table::complain(&format!("{:<10}{left}: signed payments may still take it until {until}", "stays"));
        }
        // Its own checksum, typed or pasted, is proof of a whole address; without it the person types it once more.
        if to != destination.to_string() {
            deal.address_typed(profile)?;
        }
        deal.amount_typed(if pays { "move it there, and to freeze spending" } else { "move it there" }, profile)?;
        let passphrase = Passphrase::new(terminal::secret("Operator passphrase", profile.setting())?);
        let (account, asset, minutes) = (plan.account, asset.id, self.minutes);
        Ok(OperatorAsk::Sweep { account, to: destination, asset, amount, minutes, passphrase })
    }

    /// How much, in atomic units.
    fn units(&self, asset: &Asset, plan: &SweepPlan) -> Result<Amount, Stop> {
        let units = match (&self.amount, plan.balance) {
            (Some(text), _) => {
                let money: Money = text.parse().map_err(|fault| Stop::usage(format!("`--amount`: {fault}")))?;
                money.to_units(asset).ok_or_else(|| {
                    Stop::usage(format!("`--amount`: {money} cannot be paid in {} exactly", asset.symbol))
                })?
            }
            (None, Some(balance)) => balance.saturating_sub(plan.reserved),
            (None, None) => {
                let why = unseen(plan);
                return Err(Stop::usage(format!("nobody says what the account holds ({why}); give `--amount`")));
            }
        };
        Amount::new(units).ok_or_else(|| {
            let stays = told_units(plan.reserved, asset);
            Stop::refused(format!("there is nothing to move; signed payments may still take {stays}"))
        })
    }
}

/// What a person is shown before it is signed, and types back.
struct Deal<'a> {
    account: Address,
    to: Address,
    money: Money,
    amount: Amount,
    symbol: &'a str,
    asset: AssetId,
}

impl Deal<'_> {
    /// All of it, and how long it may be used.
    fn show(&self, life: &str) {
        let Self { account, to, money, amount, symbol, asset } = self;
        for (name, value) in [
            ("out of", account.to_string()),
            ("to", to.to_string()),
            ("amount", format!("{money} ({amount} {symbol})")),
            ("network", format!("{} ({})", asset.chain, asset.chain.name().unwrap_or("no name here"))),
            ("token", asset.contract.to_string()),
            ("for", life.to_owned()),
        ] {
            table::complain(&format!("{name:<10}{value}"));
        }
    }

    fn address_typed(&self, profile: &Profile) -> Result<(), Stop> {
        let agrees = |typed: &str| typed.parse() == Ok(self.to);
        terminal::typed_back_as("Type the address again:", agrees, profile.setting())
    }

    /// `does` says what the amount is typed for.
    fn amount_typed(&self, does: &str, profile: &Profile) -> Result<(), Stop> {
        let question = format!("Type the amount ({}) to {does}:", self.money);
        terminal::typed_back_as(&question, |typed| typed.parse() == Ok(self.money), profile.setting())
    }
}

/// Why nobody says what the account holds.
fn unseen(plan: &SweepPlan) -> &str {
    plan.trouble.as_deref().unwrap_or("the rules name no endpoint of the chain")
}

/// The ask for what is live already. Where it goes and how much it is are typed, as when it was ordered: whoever reaches the
/// ledger's server could have put a sweep of their own there.
fn again(profile: &Profile, plan: &SweepPlan) -> Result<OperatorAsk, Stop> {
    let Some(live) = &plan.live else {
        return Err(Stop::refused(format!("no sweep out of `{}` is live; `bursar receipts` lists them", plan.account)));
    };
    let SweepView { account, to, money, amount, symbol, asset, .. } = live;
    let (account, to, money, amount, asset) = (*account, *to, *money, *amount, *asset);
    let deal = Deal { account, to, money, amount, symbol, asset };
    deal.show(&format!("until {}, as the ledger has it", table::time(live.valid_before)));
    deal.address_typed(profile)?;
    deal.amount_typed("sign it again", profile)?;
    let passphrase = Passphrase::new(terminal::secret("Operator passphrase", profile.setting())?);
    Ok(OperatorAsk::SweepAgain { id: live.id.clone(), passphrase })
}

fn rules(profile: &Profile, operator: &Operator) -> Result<Arc<Rules>, Stop> {
    let ask = OperatorAsk::Rules { which: WhichRules::InForce };
    let OperatorReply::Rules { text, .. } = operator.ask(&ask)? else { return Err(out_of_turn()) };
    let rules = rules_file::parse(&text, profile.setting());
    rules.map(Arc::new).map_err(|fault| Stop::not_ready(format!("the rules are refused: {fault}")))
}

fn told_units(units: u128, asset: &Asset) -> String {
    let money = Amount::new(units).and_then(|amount| Money::of(amount, asset));
    money.unwrap_or(Money::zero(asset.currency)).to_string()
}

fn told(profile: &Profile, signed: &SweepSigned, file: &Path, pays: bool) -> Result<(), Stop> {
    let sweep = &signed.sweep;
    table::say(&format!("sweep    {}", sweep.id))?;
    table::say(&format!("moves    {} to {}", sweep.money, sweep.to))?;
    table::say(&format!("file     {}: any account with gas can submit its `transaction`", file.display()))?;
    let until = table::time(sweep.valid_before);
    let (frozen, next) = if pays {
        (
            "; spending is frozen",
            "`bursar reconcile` asks the chain how it ended, and `bursar thaw` lets the agent pay again after that",
        )
    } else {
        ("", "`bursar reconcile` asks the chain how it ended")
    };
    table::say(&format!("until    {until}{frozen}"))?;
    table::say(&format!("next     {}", spelling::advice(profile, next)))
}

fn handed(answer: Result<Handed, String>) -> Result<Exit, Stop> {
    match answer {
        Ok(Handed::Settled(transaction)) => {
            let said = if transaction.is_empty() { "no transaction".to_owned() } else { table::remark(&transaction) };
            table::say(&format!("settled  the facilitator says so, and names {said}; a chain shows whether it is so"))?;
            Ok(Exit::Done)
        }
        Ok(Handed::Refused(reason)) => {
            let reason = table::remark(&reason);
            let told = format!(
                "the facilitator did not settle it, and says {reason}; the sweep stays live, and the file can be submitted \
                 by others"
            );
            Err(Stop::refused(told))
        }
        Err(fault) => {
            let told = format!(
                "nobody knows whether the facilitator settled it ({fault}); the sweep stays live: try \
                 `bursar sweep --again` with `--facilitator`, which hands in the same bytes"
            );
            Err(Stop::new(Exit::Failed, told))
        }
    }
}
