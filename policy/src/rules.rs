//! The rules: what an operator allowed, free of contradictions. They must never change once made.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;

use jiff::tz::TimeZone;

use crate::address_class::{AddressClass, classify};
use crate::asset::Asset;
use crate::calendar::Zone;
use crate::chain::{Address, AssetId, ChainId};
use crate::hours::Opening;
use crate::limit::{Limit, Window};
use crate::money::{Amount, Currency, Money};
use crate::site::{Host, Origin, Scheme, Site};
use crate::tag::Tag;

mod breaker;
mod build;
mod caution;
mod chains;
mod content;
pub mod draft;
mod fault;
mod hosts;
mod ledger;
mod limits;
mod metrics;
mod network;
mod notify;
mod secrets;

pub use self::breaker::Breaker;
pub use self::caution::Caution;
pub use self::chains::{ChainRule, RpcUrl};
pub use self::content::Keeping;
pub use self::draft::{BalanceNeed, ContentMode, FirstPayee, MandateNeed, OnChange, OnSecurityRefusal, Setting};
pub use self::fault::RuleFault;
pub use self::hosts::HostRule;
use self::hosts::{Hosts, Paths};
pub use self::ledger::{LedgerAddress, LedgerAddressFault, LedgerHost, LedgerProof};
pub use self::metrics::{Labels, Metrics, MetricsDoor, MetricsDoorFault, Traces};
pub use self::network::Network;
pub use self::notify::{Telling, Webhook, WebhookUrl};

/// What an operator allowed. Made by [`Rules::new`] only, which refuses every contradiction; with
/// nothing listed, nothing is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    setting: Setting,
    ledger: Option<LedgerAddress>,
    ceilings: BTreeMap<Currency, Money>,
    schemes: Vec<String>,
    chains: Vec<ChainId>,
    assets: BTreeMap<AssetId, AllowedAsset>,
    recipients: Recipients,
    payee_tags: BTreeMap<Address, Vec<Tag>>,
    hosts: Hosts,
    limits: Vec<Limit>,
    opening: Option<Opening>,
    zones: BTreeMap<Zone, TimeZone>,
    max_unresolved: u32,
    approve_tags: Vec<Tag>,
    approval_life_s: u64,
    mandate: MandateNeed,
    breaker: Breaker,
    max_lifetime_s: u64,
    repeat_window_s: u64,
    keeping: Keeping,
    body_cap_bytes: u64,
    chains_asked: BTreeMap<ChainId, ChainRule>,
    network: Network,
    shares: Option<LedgerAddress>,
    notify: Option<Webhook>,
    metrics: Option<Metrics>,
    loopback: BTreeMap<Host, IpAddr>,
    ca_file: Option<String>,
}

/// An allowed asset and its ceiling in its own units, worked out once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AllowedAsset {
    pub(crate) asset: Asset,
    pub(crate) cap: Money,
    pub(crate) cap_units: u128,
}

impl AllowedAsset {
    pub(crate) const fn covers(&self, amount: Amount) -> bool {
        amount.units() <= self.cap_units
    }
}

/// Who may be paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Recipients {
    /// Anybody.
    Any,
    /// Whoever is listed.
    Listed(BTreeSet<Address>),
}

impl Recipients {
    pub(crate) fn allow(&self, payee: &Address) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(listed) => listed.contains(payee),
        }
    }
}

impl Rules {
    /// Where they apply.
    #[must_use]
    pub const fn setting(&self) -> Setting {
        self.setting
    }

    /// The ceiling for one payment in `currency`.
    #[must_use]
    pub fn ceiling(&self, currency: Currency) -> Option<Money> {
        self.ceilings.get(&currency).copied()
    }

    /// The ceilings for one payment, one for each currency.
    pub fn ceilings(&self) -> impl Iterator<Item = Money> {
        self.ceilings.values().copied()
    }

    /// The x402 schemes that may be paid; none when the list was empty.
    #[must_use]
    pub fn schemes(&self) -> &[String] {
        &self.schemes
    }

    /// The database that keeps the ledger; `None` where a file of the profile does.
    #[must_use]
    pub const fn ledger(&self) -> Option<&LedgerAddress> {
        self.ledger.as_ref()
    }

    /// The networks that may be paid on: all of them real, or all of them test networks.
    #[must_use]
    pub fn chains(&self) -> &[ChainId] {
        &self.chains
    }

    /// The assets that may be paid with.
    pub fn assets(&self) -> impl Iterator<Item = &Asset> {
        self.assets.values().map(|allowed| &allowed.asset)
    }

    /// The asset with this id, if it may be paid with.
    #[must_use]
    pub fn asset(&self, id: &AssetId) -> Option<&Asset> {
        self.allowed_asset(id).map(|allowed| &allowed.asset)
    }

    pub(crate) fn allowed_asset(&self, id: &AssetId) -> Option<&AllowedAsset> {
        self.assets.get(id)
    }

    /// The listed recipients; `None` when anybody may be paid. A host's own list narrows it.
    #[must_use]
    pub const fn recipients(&self) -> Option<&BTreeSet<Address>> {
        match &self.recipients {
            Recipients::Any => None,
            Recipients::Listed(listed) => Some(listed),
        }
    }

    /// The rule for `site`: of the entries for its origin the one with the longest path that `site` lies under, or
    /// the general rule; `None` means that it may not be asked.
    ///
    /// Costs one look-up among the origins and one for each leading part of the path, however many hosts are listed.
    #[must_use]
    pub fn host_rule(&self, site: &Site) -> Option<&HostRule> {
        match &self.hosts {
            Hosts::Listed(listed) => listed.get(site.origin())?.rule_for(site.path()),
            Hosts::Any(rule) => {
                let usual_port = site.port() == Scheme::Https.default_port();
                (usual_port || self.setting == Setting::Sandbox).then_some(rule)
            }
        }
    }

    /// The tags of a payment to `payee` for `site`: those of the host rule and those of the payee, each once, in order.
    #[must_use]
    pub fn tags(&self, site: &Site, payee: &Address) -> Vec<Tag> {
        let of_host = self.host_rule(site).map(HostRule::tags).unwrap_or_default();
        let of_payee = self.payee_tags.get(payee).map(Vec::as_slice).unwrap_or_default();
        let both: BTreeSet<Tag> = of_host.iter().chain(of_payee).copied().collect();
        both.into_iter().collect()
    }

    /// Whether every https host may be asked.
    #[must_use]
    pub const fn allow_any_host(&self) -> bool {
        matches!(self.hosts, Hosts::Any(_))
    }

    /// The origins that are listed, each once; none when any host may be asked.
    pub fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.listed().map(|(origin, _)| origin)
    }

    /// Every entry with its origin; none when any host may be asked.
    pub fn host_rules(&self) -> impl Iterator<Item = (&Origin, &HostRule)> {
        self.listed().flat_map(|(origin, paths)| paths.iter().map(move |rule| (origin, rule)))
    }

    /// Whether paths of `origin` are listed, but not the whole of it.
    pub(crate) fn lists_paths_of(&self, origin: &Origin) -> bool {
        matches!(&self.hosts, Hosts::Listed(listed) if listed.contains_key(origin))
    }

    fn listed(&self) -> impl Iterator<Item = (&Origin, &Paths)> {
        let listed = match &self.hosts {
            Hosts::Any(_) => None,
            Hosts::Listed(listed) => Some(listed.iter()),
        };
        listed.into_iter().flatten()
    }

    /// The limits over many payments. Each has an amount or a count, never both: what was written
    /// as one entry with both stands here as two.
    #[must_use]
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// With how many unresolved payments of one host or payee no further one is made, where the host has no own number.
    #[must_use]
    pub const fn max_unresolved(&self) -> u32 {
        self.max_unresolved
    }

    /// Whether a person looks at every payment that carries `tag`.
    #[must_use]
    pub fn wants_a_person_for(&self, tag: &Tag) -> bool {
        self.approve_tags.contains(tag)
    }

    /// The tags of which a person looks at every payment.
    #[must_use]
    pub fn approve_tags(&self) -> &[Tag] {
        &self.approve_tags
    }

    /// How long a purchase waits for a person, and how long a yes holds, in seconds.
    #[must_use]
    pub const fn approval_life_s(&self) -> u64 {
        self.approval_life_s
    }

    /// Whether every session needs a mandate.
    #[must_use]
    pub const fn mandate(&self) -> MandateNeed {
        self.mandate
    }

    /// When a host is put in quarantine.
    #[must_use]
    pub const fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    /// When payments are made; `None` when at any time.
    #[must_use]
    pub const fn opening(&self) -> Option<&Opening> {
        self.opening.as_ref()
    }

    /// The first second that counts within `window` at `now_s` (Unix seconds); `None` when everything does.
    ///
    /// A window that cannot be worked out counts everything: it allows less, never more.
    #[must_use]
    pub fn window_begins_s(&self, window: Window, now_s: u64) -> Option<u64> {
        match window {
            Window::Lifetime => None,
            Window::Rolling { secs } => now_s.checked_sub(secs)?.checked_add(1),
            Window::Calendar { unit, zone } => unit.begins_s(self.zones.get(&zone)?, now_s),
        }
    }

    /// The longest life of a signed payment, in seconds.
    #[must_use]
    pub const fn max_lifetime_s(&self) -> u64 {
        self.max_lifetime_s
    }

    /// How long an identical call gets the first one's result, in seconds.
    #[must_use]
    pub const fn repeat_window_s(&self) -> u64 {
        self.repeat_window_s
    }

    /// How much of an answer is kept, in bytes, where the host has no own size.
    #[must_use]
    pub const fn body_cap_bytes(&self) -> u64 {
        self.body_cap_bytes
    }

    /// How much of an answer from `site` is kept, in bytes.
    #[must_use]
    pub fn body_cap_of(&self, site: &Site) -> u64 {
        self.host_rule(site).map_or(self.body_cap_bytes, HostRule::body_cap_bytes)
    }

    /// How much of all answers together is kept, and for how long.
    #[must_use]
    pub const fn keeping(&self) -> Keeping {
        self.keeping
    }

    /// How much of an answer from `site` the model sees; nothing when no rule covers it.
    #[must_use]
    pub fn content_mode(&self, site: &Site) -> ContentMode {
        self.host_rule(site).map_or(ContentMode::Withhold, HostRule::content)
    }

    /// What holds for every connection.
    #[must_use]
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// Where vaults agree who holds how much of the limits; absent where every limit is the one ledger's.
    #[must_use]
    pub const fn shares(&self) -> Option<&LedgerAddress> {
        self.shares.as_ref()
    }

    /// Names and the loopback addresses that stand for them. Empty outside a sandbox.
    #[must_use]
    pub const fn loopback_map(&self) -> &BTreeMap<Host, IpAddr> {
        &self.loopback
    }

    /// The loopback address that stands for `host`: mapped, or the host itself. Always `None`
    /// outside a sandbox.
    #[must_use]
    pub fn loopback_of(&self, host: &Host) -> Option<IpAddr> {
        if self.setting != Setting::Sandbox {
            return None;
        }
        let itself = host.ip().filter(|ip| classify(*ip) == AddressClass::Loopback);
        self.loopback.get(host).copied().or(itself)
    }

    /// Whether plain http is allowed for `host`: only for loopback, only in a sandbox.
    #[must_use]
    pub fn allow_http_loopback(&self, host: &Host) -> bool {
        self.loopback_of(host).is_some()
    }

    /// The file name, inside the sandbox folder, of one more certificate authority. Always `None`
    /// outside a sandbox.
    #[must_use]
    pub fn ca_file(&self) -> Option<&str> {
        self.ca_file.as_deref()
    }
}
