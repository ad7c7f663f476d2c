//! The rules as an operator wrote them: the file `bursar.toml`, field by field. A draft must never
//! decide anything; only [`Rules::new`](super::Rules::new) makes rules of it.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;

pub use super::chains::RpcUrl;
pub use super::ledger::LedgerAddress;
pub use super::metrics::MetricsDraft;
pub use super::notify::NotifyDraft;
use crate::address_block::AddressBlock;
use crate::asset::Asset;
use crate::calendar::Zone;
use crate::chain::{Address, AssetId, ChainId};
use crate::errand::Method;
use crate::hours::{Days, Hours};
use crate::limit::{Limit, OwnLimit};
use crate::money::Money;
use crate::path_prefix::PathPrefix;
use crate::pointer::Pointer;
use crate::quantity::{ByteSize, Percent, Span};
use crate::request_header::HeaderName;
use crate::secret::{SecretHeader, SecretName};
use crate::site::{Host, Origin};
use crate::tag::Tag;

/// Where rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// A profile that may hold real money.
    Real,
    /// A sandbox folder: play money only, and in turn loopback sellers and an extra CA.
    Sandbox,
}

/// The whole file. Unknown keys are refused everywhere, so a typing mistake cannot drop a rule.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// The database that keeps the ledger; a file of the profile where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerAddress>,
    /// `[payment]`
    pub payment: PaymentDraft,
    /// `[[limit]]`
    #[serde(default, rename = "limit")]
    pub limits: Vec<Limit>,
    /// `[[host]]`
    #[serde(default, rename = "host")]
    pub hosts: Vec<HostDraft>,
    /// `[[payee]]`
    #[serde(default, rename = "payee")]
    pub payees: Vec<PayeeDraft>,
    /// `[[asset]]`: additions to the built-in table.
    #[serde(default, rename = "asset")]
    pub assets: Vec<Asset>,
    /// `[[chain]]`
    #[serde(default, rename = "chain")]
    pub chains: Vec<ChainDraft>,
    /// `[network]`
    #[serde(default)]
    pub network: NetworkDraft,
    /// `[shares]`
    #[serde(default)]
    pub shares: Option<SharesDraft>,
    /// `[notify]`
    #[serde(default)]
    pub notify: Option<NotifyDraft>,
    /// `[metrics]`
    #[serde(default)]
    pub metrics: Option<MetricsDraft>,
    /// `[sandbox]`
    #[serde(default)]
    pub sandbox: Option<SandboxDraft>,
}

/// `[payment]`: what holds for every payment.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaymentDraft {
    /// The most that one payment may cost: one money value, or a list with one for each currency.
    pub max_per_payment: Ceilings,
    /// The x402 schemes; only `exact` exists so far.
    #[serde(default = "exact")]
    pub schemes: Vec<String>,
    /// The networks.
    pub networks: Vec<ChainId>,
    /// The assets.
    pub assets: Vec<AssetId>,
    /// Who may be paid; exactly one of this and `allow_any_recipient`.
    #[serde(default)]
    pub recipients: Option<Vec<Address>>,
    /// Whether anybody may be paid.
    #[serde(default)]
    pub allow_any_recipient: bool,
    /// The longest life of a signed payment; 5 minutes by default.
    #[serde(default)]
    pub max_lifetime: Option<Span>,
    /// Whether every https host may be asked; not together with `[[host]]` entries.
    #[serde(default)]
    pub allow_any_host: bool,
    /// How long an identical call gets the first one's result; 2 minutes by default.
    #[serde(default)]
    pub repeat_window: Option<Span>,
    /// The hours of a day in which payments are made; all of them by default.
    #[serde(default)]
    pub hours: Option<Hours>,
    /// The days of a week on which payments are made; all of them by default.
    #[serde(default)]
    pub days: Option<Vec<Days>>,
    /// Where `hours` and `days` are meant.
    #[serde(default)]
    pub time_zone: Option<Zone>,
    /// With how many payments of one host, or to one payee, that ran out unresolved no further one is made; 1 by
    /// default. What is in flight does not count.
    #[serde(default)]
    pub max_unresolved: Option<u32>,
    /// How much of an answer is kept; 256 KiB by default.
    #[serde(default)]
    pub max_body: Option<ByteSize>,
    /// How much is kept of all answers together, before what costs nothing is no longer fetched; no limit by default.
    #[serde(default)]
    pub max_content: Option<ByteSize>,
    /// After what time a stored answer may be pruned; never by default.
    #[serde(default)]
    pub content_age: Option<Span>,
    /// What happens to the first payee of a host whose payees nobody listed; pinned by default.
    #[serde(default)]
    pub first_payee: Option<FirstPayee>,
    /// What happens when a known host names a network or an asset that is new for it; a person looks by default.
    #[serde(default)]
    pub on_change: Option<OnChange>,
    /// How many times the usual price of a host is unusual, so that a person looks; no price is by default.
    #[serde(default)]
    pub unusual_price: Option<u32>,
    /// How far the price of the same request may rise above its first one before a person looks; any far by default.
    #[serde(default)]
    pub price_rise: Option<Percent>,
    /// Above what price a person looks; none by default.
    #[serde(default)]
    pub approve_over: Option<Ceilings>,
    /// The tags of which every payment is looked at by a person.
    #[serde(default)]
    pub approve_tags: Vec<Tag>,
    /// How long a purchase waits for a person, and how long a yes holds; an hour by default.
    #[serde(default)]
    pub approval_lifetime: Option<Span>,
    /// In what time the same request is bought once; any number of times by default.
    #[serde(default)]
    pub no_recurring: Option<Span>,
    /// Whether every session needs a mandate; it does not by default.
    #[serde(default)]
    pub mandate: MandateNeed,
    /// What a security refusal leads to; it counts towards the host's quarantine by default.
    #[serde(default)]
    pub on_security_refusal: OnSecurityRefusal,
    /// After how many failed deliveries in a row, or security refusals, a host is in quarantine; 3 by default.
    #[serde(default)]
    pub quarantine_after: Option<u32>,
    /// How long a quarantine lasts; an hour by default.
    #[serde(default)]
    pub quarantine: Option<Span>,
}

/// What happens to the first payee of a host whose payees nobody listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FirstPayee {
    /// It is paid, and every other one is a change.
    Pin,
    /// A person looks.
    Approve,
}

/// What happens when a known host names a network or an asset that is new for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnChange {
    /// A person looks.
    #[default]
    Approve,
    /// Nothing: it is as good as any other that the rules list.
    Allow,
}

/// Whether every session needs a mandate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MandateNeed {
    /// A session may have one.
    #[default]
    Optional,
    /// A session without one pays nothing.
    Required,
}

/// What a security refusal of a host's terms leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnSecurityRefusal {
    /// It counts towards the host's quarantine.
    #[default]
    Quarantine,
    /// The session that met it is closed, and it counts towards the quarantine as well.
    CloseSession,
}

/// `[[host]]`: what holds for one origin, or for one part of it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostDraft {
    /// Scheme, host and port.
    pub origin: Origin,
    /// The part of the origin, by whole segments; all of it by default. The longest that covers a URL counts.
    #[serde(default = "PathPrefix::root")]
    pub path: PathPrefix,
    /// The methods; GET and HEAD by default.
    #[serde(default)]
    pub methods: Option<Vec<Method>>,
    /// How much of an answer the model sees; nothing by default.
    #[serde(default)]
    pub content: ContentMode,
    /// Which values of a JSON answer the model sees, with the mode `fields`.
    #[serde(default)]
    pub fields: Option<Vec<Pointer>>,
    /// Who may be paid for this host: some of the recipients of `[payment]`.
    #[serde(default)]
    pub recipients: Option<Vec<Address>>,
    /// Whether anybody may be paid for this host, for sellers that rotate payees.
    #[serde(default)]
    pub allow_any_recipient: bool,
    /// A lower ceiling for one payment to this host.
    #[serde(default)]
    pub max_per_payment: Option<Ceilings>,
    /// Other hosts that this seller may name as the resource of its terms.
    #[serde(default)]
    pub resource_hosts: Vec<Host>,
    /// The tags that every payment to this host carries.
    #[serde(default)]
    pub tags: Vec<Tag>,
    /// Limits over the payments under this entry alone.
    #[serde(default, rename = "limit")]
    pub limits: Vec<OwnLimit>,
    /// `max_unresolved` for payments to this host, in place of that of `[payment]`.
    #[serde(default)]
    pub max_unresolved: Option<u32>,
    /// `first_payee` for this host, in place of that of `[payment]`.
    #[serde(default)]
    pub first_payee: Option<FirstPayee>,
    /// `on_change` for this host, in place of that of `[payment]`.
    #[serde(default)]
    pub on_change: Option<OnChange>,
    /// `unusual_price` for this host, in place of that of `[payment]`.
    #[serde(default)]
    pub unusual_price: Option<u32>,
    /// `price_rise` for this host, in place of that of `[payment]`.
    #[serde(default)]
    pub price_rise: Option<Percent>,
    /// `approve_over` for this host, in place of that of `[payment]`.
    #[serde(default)]
    pub approve_over: Option<Ceilings>,
    /// `no_recurring` for this host, in place of that of `[payment]`.
    #[serde(default)]
    pub no_recurring: Option<Span>,
    /// How much of an answer of this host is kept, in place of `max_body` of `[payment]`.
    #[serde(default)]
    pub max_body: Option<ByteSize>,
    /// The headers that the caller may choose; none by default.
    #[serde(default)]
    pub headers: Vec<HeaderName>,
    /// The headers that carry secrets of the operator; none by default.
    #[serde(default)]
    pub secret_headers: Vec<SecretHeader>,
    /// The largest body that may be sent; 64 KiB by default, 1 MiB at most.
    #[serde(default)]
    pub body_limit: Option<ByteSize>,
}

/// `[[payee]]`: what is known of one payee. It does not allow anybody to be paid.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PayeeDraft {
    /// The payee, on every network.
    pub address: Address,
    /// The tags that every payment to it carries.
    pub tags: Vec<Tag>,
}

/// `[[chain]]`: where a network is asked what became of the payments on it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainDraft {
    /// The network, one of `networks`.
    pub network: ChainId,
    /// Its JSON-RPC endpoints, each on a host of its own.
    pub rpc: Vec<RpcUrl>,
    /// How many of them have to say the same before it is believed; all of them by default.
    #[serde(default)]
    pub agree: Option<u32>,
    /// What the wallet's balance decides; a payment that it cannot cover is refused when it is known by default.
    #[serde(default)]
    pub balance: BalanceNeed,
    /// How long to wait between two looks; 30 seconds by default.
    #[serde(default)]
    pub poll: Option<Span>,
}

/// What the wallet's balance on a chain decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BalanceNeed {
    /// Nothing; it is not asked for.
    Off,
    /// A payment that it cannot cover is refused; while it is not known, nothing is.
    #[default]
    WhenKnown,
    /// The same, and while it is not known every payment on the chain is refused.
    Required,
}

/// `[network]`: what holds for every connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkDraft {
    /// Blocks of addresses that are never dialled.
    #[serde(default)]
    pub deny: Vec<AddressBlock>,
    /// Blocks of addresses outside of which nothing is dialled; every public address by default.
    #[serde(default)]
    pub allow: Option<Vec<AddressBlock>>,
    /// The proxy through which sellers are reached, by CONNECT; none by default.
    #[serde(default)]
    pub proxy: Option<Origin>,
    /// The secret that the proxy wants: a user name, a colon and a password.
    #[serde(default)]
    pub proxy_secret: Option<SecretName>,
    /// The file name, inside the profile's folder, of one more certificate authority (PEM) that a corporate network
    /// needs.
    #[serde(default)]
    pub extra_ca: Option<String>,
}

/// `[shares]`: several vaults, each with a ledger of its own, split the limits.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharesDraft {
    /// The PostgreSQL database in which they agree who holds how much.
    pub center: LedgerAddress,
}

/// `[sandbox]`: what only play money allows.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxDraft {
    /// Names and the loopback addresses that stand for them.
    #[serde(default, deserialize_with = "each_host_once")]
    pub hosts: BTreeMap<Host, IpAddr>,
    /// The file name, inside the sandbox folder, of one more certificate authority (PEM).
    #[serde(default)]
    pub ca: Option<String>,
}

/// How much of an answer the model sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentMode {
    /// Nothing but its digest, length and type.
    #[default]
    Withhold,
    /// The values that `fields` names, each capped and marked as untrusted.
    Fields,
    /// A capped prefix, marked as untrusted.
    Text,
    /// The name of the file that it is kept in.
    File,
}

/// One ceiling, or one for each currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ceilings(pub Vec<Money>);

impl serde::Serialize for Ceilings {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [only] => only.serialize(serializer),
            many => many.serialize(serializer),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Ceilings {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CeilingsVisitor)
    }
}

struct CeilingsVisitor;

impl<'de> serde::de::Visitor<'de> for CeilingsVisitor {
    type Value = Ceilings;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("money as a string such as \"0.05 USD\", or a list with one for each currency")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Ceilings, E> {
        text.parse().map(|money| Ceilings([money].into())).map_err(E::custom)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Ceilings, A::Error> {
        let mut ceilings = Vec::new();
        while let Some(money) = list.next_element()? {
            ceilings.push(money);
        }
        Ok(Ceilings(ceilings))
    }
}

/// A table of hosts in which no two keys are one host: a name has several spellings, and TOML compares none of them.
fn each_host_once<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Host, IpAddr>, D::Error> {
    struct Mapped;

    impl<'de> serde::de::Visitor<'de> for Mapped {
        type Value = BTreeMap<Host, IpAddr>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("names and the addresses that stand for them")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut table: A) -> Result<Self::Value, A::Error> {
            let mut hosts = BTreeMap::new();
            while let Some((host, address)) = table.next_entry::<Host, IpAddr>()? {
                if hosts.contains_key(&host) {
                    let fault = format_args!("the host `{host}` is mapped twice; remove one");
                    return Err(serde::de::Error::custom(fault));
                }
                hosts.insert(host, address);
            }
            Ok(hosts)
        }
    }

    deserializer.deserialize_map(Mapped)
}

fn exact() -> Vec<String> {
    [String::from("exact")].into()
}
