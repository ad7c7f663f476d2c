//! What a person chose for a new profile, on the command line or in the conversation: parsed once, at this door.

use std::fmt::Display;

use bursar_policy::rules::LedgerAddress;
use bursar_policy::{Address, Asset, AssetTable, ChainId, Money, Origin, Setting};

use super::template;
use crate::cli::exit::Stop;

/// The network where nothing can be lost.
pub(super) const NETWORK: &str = "base-sepolia";
/// The ceiling of one payment.
pub(super) const CEILING: &str = "0.05 USD";
/// The limit of a day.
pub(super) const DAILY: &str = "1.00 USD";

/// The choices.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) asset: Asset,
    pub(super) max_per_payment: Money,
    pub(super) daily: Money,
    pub(super) origins: Vec<Origin>,
    /// `None`: the listed sellers may name any payee.
    pub(super) recipients: Option<Vec<Address>>,
    /// `None`: a file of the profile.
    pub(super) ledger: Option<LedgerAddress>,
}

impl Chosen {
    /// The text of the rules that they come to.
    pub(super) fn rules(&self, setting: Setting) -> String {
        template::rules(&template::Choices {
            setting,
            asset: &self.asset,
            max_per_payment: self.max_per_payment,
            daily: self.daily,
            origins: &self.origins,
            ledger: self.ledger.as_ref(),
            recipients: self.recipients.as_deref(),
        })
    }
}

/// The asset of a network, from the built-in table.
///
/// # Errors
///
/// One sentence.
pub(super) fn asset(typed: &str) -> Result<Asset, String> {
    let chain = match typed {
        "base-sepolia" => ChainId::new(84_532),
        "base" => ChainId::new(8453),
        other => {
            other.parse().map_err(|fault| format!("{fault}; use `base-sepolia`, `base` or an id like `eip155:8453`"))?
        }
    };
    AssetTable::builtin().iter().find(|asset| asset.id.chain == chain).cloned().ok_or_else(|| {
        format!("no asset of {chain} is built in; use `base-sepolia` or `base` here and add yours to the rules")
    })
}

/// Reads an amount, an origin or an address.
///
/// # Errors
///
/// One sentence.
pub(super) fn read<T: std::str::FromStr<Err: Display>>(typed: &str) -> Result<T, String> {
    typed.parse().map_err(|fault: T::Err| fault.to_string())
}

/// A fault of what was typed behind a flag.
pub(super) fn behind(flag: &str, typed: &str, fault: &str) -> Stop {
    Stop::usage(format!("`{flag} {}`: {fault}", typed.escape_debug()))
}
