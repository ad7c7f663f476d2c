//! `bursar init`: commented rules, an encrypted key, an empty ledger, and how to fund the account.

mod template;

use bursar_policy::rules::LedgerAddress;
use bursar_policy::{Address, Asset, AssetTable, ChainId, Money, Origin, Setting};
use bursar_vault::guarded;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::Passphrase;
use bursar_vault::rules_file;
use bursar_vault::setup::{self, NewKey, Typed, Unlocking};
use clap::Args;
use serde::Serialize;

use super::exit::{Exit, Stop};
use super::{check, connect, table, terminal};

/// Set bursar up: write commented rules, make or import a key, show how to fund it.
#[derive(Debug, Args)]
pub(super) struct Init {
    /// The network to pay on: `base-sepolia` (a test network, its money is free) or `base`, or a CAIP-2 id
    #[arg(long, default_value = "base-sepolia", value_name = "NETWORK")]
    network: String,
    /// The most that one payment may cost
    #[arg(long, default_value = "0.05 USD", value_name = "AMOUNT")]
    max_per_payment: String,
    /// The most that may be spent in any 24 hours
    #[arg(long, default_value = "1.00 USD", value_name = "AMOUNT")]
    daily: String,
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
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was set up.
#[derive(Debug, Serialize)]
struct SetUp {
    payer: Address,
    network: ChainId,
    asset: String,
    symbol: String,
    home: String,
    rules: String,
}

impl Init {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        profile.is_the_vaults()?;
        let asset = self.asset()?;
        let text = self.rules(profile, &asset)?;
        // Looked at before a person types anything: what is there already is never replaced.
        if profile.keystore().symlink_metadata().is_ok() {
            return Err(Stop::usage(format!(
                "`{}` is set up already; use it, or another profile with `--profile NAME`",
                profile.home().display()
            )));
        }
        rules_file::parse(&text, profile.setting()).map_err(|fault| Stop::usage(fault.to_string()))?;
        let operator = Passphrase::new(terminal::new_passphrase("New operator passphrase", profile.setting())?);
        let key = if self.import {
            NewKey::Imported(Typed::new(terminal::secret("Private key (64 hex digits, not shown)", profile.setting())?))
        } else {
            NewKey::Generated
        };
        if let Some(ledger) = self.ledger.as_ref().filter(|ledger| !ledger.is_by_socket()) {
            let asked = format!("Password of `{}` for the ledger", ledger.role());
            let typed = terminal::secret(&asked, profile.setting())?;
            profile.create().map_err(|fault| Stop::not_ready(fault.to_string()))?;
            guarded::replace(&profile.ledger_password(), typed.as_bytes())
                .map_err(|fault| Stop::new(Exit::Failed, fault.to_string()))?;
        }
        let unlocking = if self.unlock_by_file { Unlocking::ByFile } else { Unlocking::ByPerson };
        let payer = setup::initialise(profile, &text, key, &operator, unlocking)
            .map_err(|fault| Stop::usage(fault.to_string()))?;
        // What the first line of the rules points at, so that editors complete and check them offline.
        guarded::replace(&profile.rules_schema(), check::SCHEMA.as_bytes())
            .map_err(|fault| Stop::new(Exit::Failed, fault.to_string()))?;
        self.told(profile, &asset, payer)?;
        Ok(Exit::Done)
    }

    /// The asset of the chosen network, from the built-in table.
    fn asset(&self) -> Result<Asset, Stop> {
        let chain = match self.network.as_str() {
            "base-sepolia" => ChainId::new(84_532),
            "base" => ChainId::new(8453),
            other => other.parse().map_err(|fault| {
                Stop::usage(format!(
                    "`--network {}`: {fault}; use `base-sepolia`, `base` or an id like `eip155:8453`",
                    other.escape_debug()
                ))
            })?,
        };
        AssetTable::builtin().iter().find(|asset| asset.id.chain == chain).cloned().ok_or_else(|| {
            Stop::usage(format!(
                "no asset of {chain} is built in; use `base-sepolia` or `base` here and add yours to the rules"
            ))
        })
    }

    fn rules(&self, profile: &Profile, asset: &Asset) -> Result<String, Stop> {
        let money = |flag: &str, typed: &str| -> Result<Money, Stop> {
            typed.parse().map_err(|fault| Stop::usage(format!("`{flag} {}`: {fault}", typed.escape_debug())))
        };
        let mut origins = Vec::new();
        for typed in &self.allow {
            let origin: Origin =
                typed.parse().map_err(|fault| Stop::usage(format!("`--allow {}`: {fault}", typed.escape_debug())))?;
            origins.push(origin);
        }
        let mut recipients = Vec::new();
        for typed in &self.recipient {
            let address: Address = typed
                .parse()
                .map_err(|fault| Stop::usage(format!("`--recipient {}`: {fault}", typed.escape_debug())))?;
            recipients.push(address);
        }
        Ok(template::rules(&template::Choices {
            setting: profile.setting(),
            asset,
            max_per_payment: money("--max-per-payment", &self.max_per_payment)?,
            daily: money("--daily", &self.daily)?,
            origins: &origins,
            ledger: self.ledger.as_ref(),
            recipients: (!self.any_recipient).then_some(recipients.as_slice()),
        }))
    }

    fn told(&self, profile: &Profile, asset: &Asset, payer: Address) -> Result<(), Stop> {
        let rules = profile.rules().display().to_string();
        if self.json {
            return table::say_json(&SetUp {
                payer,
                network: asset.id.chain,
                asset: asset.id.to_string(),
                symbol: asset.symbol.clone(),
                home: profile.home().display().to_string(),
                rules,
            });
        }
        let network = asset.id.chain.name().unwrap_or("a network without a name here");
        let fund = match (profile.setting(), asset.id.chain.is_testnet()) {
            (Setting::Sandbox, _) => "this is a sandbox: its money is play money",
            (Setting::Real, true) => "a test network: its faucets give free test money (for USDC: faucet.circle.com)",
            (Setting::Real, false) => "REAL MONEY: send only what you are ready to lose, a few days of budget",
        };
        table::say(&format!("account  {payer}"))?;
        table::say(&format!("network  {} ({network})", asset.id.chain))?;
        table::say(&format!("asset    {} {}", asset.symbol, asset.id.contract))?;
        table::say(&format!("fund it  {fund}; no other coin is needed, sellers pay the network's fee"))?;
        table::say(&format!("rules    {rules}"))?;
        let bursar = connect::spelled(profile);
        table::say(&format!(
            "next     look through the rules (`{bursar} check` says them in sentences), then `{bursar} unlock` and `{bursar} session new --budget \"1.00 USD\"`"
        ))?;
        table::say(&format!(
            "         `{bursar} install --print claude-desktop` shows how to register it with a client"
        ))
    }
}
