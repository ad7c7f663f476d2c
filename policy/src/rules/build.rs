//! From a draft to rules, contradiction by contradiction. It must never repair what it could refuse.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;
use core::net::IpAddr;

use super::chains::chains_of;
use super::content::{Keeping, body_cap_of, fields_of};
use super::draft::{Ceilings, Draft, HostDraft, PayeeDraft, PaymentDraft, SandboxDraft, Setting};
use super::hosts::{HostRule, Hosts, Paths};
use super::limits::{check_tags_of_limits, limits_of, opening_of, zones_of};
use super::{AllowedAsset, Breaker, Caution, Metrics, Network, Recipients, RuleFault, Rules, secrets};
use crate::address_class::{AddressClass, classify};
use crate::asset::{Asset, AssetTable};
use crate::chain::{Address, AssetId, ChainId};
use crate::errand::Method;
use crate::money::{Currency, Money};
use crate::path_prefix::PathPrefix;
use crate::quantity::{ByteSize, Span};
use crate::site::{Host, Origin, Scheme};
use crate::tag::Tag;

/// The only chains of a sandbox: play money that everybody knows to be play money.
const SANDBOX_CHAINS: [ChainId; 3] = [ChainId::BASE_SEPOLIA, ChainId::SEPOLIA, ChainId::LOCAL];

/// `max_lifetime`, in seconds: default, least and most.
const LIFETIME_S: Range = Range { default: 300, least: 10, most: 3_600 };
/// `repeat_window`, in seconds: default, least and most.
const REPEAT_S: Range = Range { default: 120, least: 1, most: 86_400 };
/// `max_body`, in bytes: default, least and most.
const BODY_BYTES: Range = Range { default: 256 << 10, least: 1, most: 64 << 20 };
/// `body_limit`, in bytes: default, least and most.
const SENT_BYTES: Range = Range { default: 64 << 10, least: 1, most: 1 << 20 };

/// `approval_lifetime`, in seconds: default, least and most.
const APPROVAL_S: Range = Range { default: 3_600, least: 60, most: 604_800 };
/// `no_recurring`, in seconds: least and most.
const RECURRING_S: Range = Range { default: 0, least: 1, most: 366 * 86_400 };
/// `max_unresolved`: default, least and most.
const UNRESOLVED: Range = Range { default: 1, least: 1, most: 1_000_000 };

pub(super) struct Range {
    pub(super) default: u64,
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Rules {
    /// Makes rules of a draft.
    ///
    /// Guarantees: nothing listed twice, no wildcard, one of mainnet and testnet, a ceiling above
    /// zero for the currency of every allowed asset, every money value exact in the units of every
    /// asset of its currency, and in a sandbox nothing but its test chains.
    ///
    /// # Errors
    ///
    /// The first [`RuleFault`] found; fixing it may uncover another.
    pub fn new(draft: Draft, setting: Setting) -> Result<Self, RuleFault> {
        let Draft { ledger, payment, limits, hosts, payees, assets, chains, network, shares, notify, metrics, sandbox } =
            draft;
        if ledger.is_some() && shares.is_some() {
            return Err(RuleFault::SharesOfOne);
        }
        check_schemes(&payment.schemes)?;
        check_networks(&payment.networks, setting)?;
        let (loopback, ca_file) = sandbox_of(sandbox, setting)?;
        let ceilings = ceilings_of(&payment.max_per_payment)?;
        let assets = assets_of(&payment, assets, &ceilings)?;
        check_money(ceilings.values().copied(), &assets)?;
        let own = hosts.iter().flat_map(|host| {
            let mark = Tag::of_entry(&host.origin, &host.path);
            host.limits.iter().map(move |limit| limit.of_entry(mark))
        });
        let limits = limits_of(limits.into_iter().chain(own).collect())?;
        check_money(limits.iter().filter_map(|limit| limit.max), &assets)?;
        let recipients = recipients_of(&payment)?;
        let any_of_its_own = hosts.iter().any(|host| host.allow_any_recipient);
        let payee_tags = payee_tags_of(payees, |payee| any_of_its_own || recipients.allow(payee))?;
        let carried: BTreeSet<Tag> =
            hosts.iter().map(|host| &host.tags).chain(payee_tags.values()).flatten().copied().collect();
        check_tags_of_limits(&limits, &carried)?;
        let general = Caution::general(&payment)?;
        check_money(general.thresholds(), &assets)?;
        let keeping = Keeping::new(&payment)?;
        let no_recurring_s = recurring(payment.no_recurring)?;
        let chains_asked = chains_of(chains, &payment.networks)?;
        let mut rules = Self {
            setting,
            ledger,
            ceilings,
            schemes: payment.schemes,
            chains: payment.networks,
            assets,
            recipients,
            payee_tags,
            hosts: Hosts::Listed(BTreeMap::new()),
            opening: opening_of(payment.hours, payment.days, payment.time_zone)?,
            zones: zones_of(&limits)?,
            limits,
            max_unresolved: unresolved(payment.max_unresolved)?,
            approve_tags: approve_tags_of(payment.approve_tags, &carried)?,
            approval_life_s: span("approval_lifetime", payment.approval_lifetime, APPROVAL_S)?,
            mandate: payment.mandate,
            breaker: Breaker::new(payment.on_security_refusal, payment.quarantine_after, payment.quarantine)?,
            max_lifetime_s: span("max_lifetime", payment.max_lifetime, LIFETIME_S)?,
            repeat_window_s: span("repeat_window", payment.repeat_window, REPEAT_S)?,
            keeping,
            body_cap_bytes: size("max_body", payment.max_body, BODY_BYTES)?,
            chains_asked,
            network: Network::new(network)?,
            shares: shares.map(|shares| shares.center),
            notify: notify.map(Into::into),
            metrics: metrics.map(Metrics::new).transpose()?,
            loopback,
            ca_file,
        };
        rules.check_endpoints()?;
        rules.check_webhook()?;
        rules.hosts = match (payment.allow_any_host, hosts.is_empty()) {
            (true, true) => Hosts::Any(Box::new(rules.rule_for_any_host(general, no_recurring_s))),
            (true, false) => return Err(RuleFault::Hosts),
            (false, _) => Hosts::Listed(rules.listed_hosts(hosts, &general, no_recurring_s)?),
        };
        Ok(rules)
    }

    fn rule_for_any_host(&self, caution: Caution, no_recurring_s: Option<u64>) -> HostRule {
        HostRule {
            path: PathPrefix::root(),
            methods: default_methods(),
            content: super::ContentMode::Withhold,
            fields: Vec::new(),
            recipients: self.recipients.clone(),
            ceilings: BTreeMap::new(),
            resource_hosts: Vec::new(),
            body_limit_bytes: SENT_BYTES.default,
            body_cap_bytes: self.body_cap_bytes,
            headers: Vec::new(),
            secret_headers: Vec::new(),
            max_unresolved: self.max_unresolved,
            tags: Vec::new(),
            caution,
            no_recurring_s,
        }
    }

    fn listed_hosts(
        &self,
        hosts: Vec<HostDraft>,
        general: &Caution,
        no_recurring_s: Option<u64>,
    ) -> Result<BTreeMap<Origin, Paths>, RuleFault> {
        let mut listed: BTreeMap<Origin, Paths> = BTreeMap::new();
        for host in hosts {
            let origin = host.origin.clone();
            let rule = self.host_rule_of(host, general, no_recurring_s)?;
            listed.entry(origin.clone()).or_insert_with(Paths::new).add(rule).map_err(|path| {
                let value = alloc::format!("{origin}{}", path.after_origin());
                RuleFault::Twice { what: "[[host]]", value }
            })?;
        }
        Ok(listed)
    }

    fn host_rule_of(
        &self,
        host: HostDraft,
        general: &Caution,
        no_recurring_s: Option<u64>,
    ) -> Result<HostRule, RuleFault> {
        let origin = &host.origin;
        if origin.scheme == Scheme::Http && !self.allow_http_loopback(&origin.host) {
            return Err(RuleFault::PlainHttp(host.origin));
        }
        let methods = host.methods.clone().unwrap_or_else(default_methods);
        if let Some(method) = first_twice(methods.iter()) {
            return Err(RuleFault::MethodTwice { origin: origin.clone(), method: *method });
        }
        if host.body_limit.is_some() && !methods.contains(&Method::Post) {
            return Err(RuleFault::BodyLimitWithoutPost(host.origin));
        }
        check_twice("resource_hosts", host.resource_hosts.iter())?;
        check_twice("headers", host.headers.iter())?;
        check_tags(&host.tags, origin)?;
        Ok(HostRule {
            methods,
            content: host.content,
            fields: fields_of(&host)?,
            recipients: self.host_recipients(&host)?,
            caution: self.host_caution(&host, general)?,
            no_recurring_s: recurring(host.no_recurring)?.or(no_recurring_s),
            ceilings: self.host_ceilings(&host)?,
            max_unresolved: host.max_unresolved.map_or(Ok(self.max_unresolved), |own| unresolved(Some(own)))?,
            body_limit_bytes: size("body_limit", host.body_limit, SENT_BYTES)?,
            body_cap_bytes: body_cap_of(&host, self.body_cap_bytes)?,
            tags: marked(&host),
            secret_headers: secrets::headers_of(&host)?,
            headers: host.headers,
            path: host.path,
            resource_hosts: host.resource_hosts,
        })
    }

    fn host_recipients(&self, host: &HostDraft) -> Result<Recipients, RuleFault> {
        let listed = match (&host.recipients, host.allow_any_recipient) {
            (Some(_), true) => return Err(RuleFault::HostRecipients(host.origin.clone())),
            (None, true) => return Ok(Recipients::Any),
            (None, false) => return Ok(self.recipients.clone()),
            (Some(listed), false) => listed_once(listed)?,
        };
        match listed.iter().find(|payee| !self.recipients.allow(payee)) {
            None => Ok(Recipients::Listed(listed)),
            Some(payee) => Err(RuleFault::RecipientNotInPayment { origin: host.origin.clone(), payee: *payee }),
        }
    }

    fn host_caution(&self, host: &HostDraft, general: &Caution) -> Result<Caution, RuleFault> {
        let caution = general.of_host(host)?;
        check_money(caution.thresholds(), &self.assets)?;
        Ok(caution)
    }

    fn host_ceilings(&self, host: &HostDraft) -> Result<BTreeMap<Currency, Money>, RuleFault> {
        let Some(ceilings) = &host.max_per_payment else { return Ok(BTreeMap::new()) };
        let ceilings = ceilings_of(ceilings)?;
        check_money(ceilings.values().copied(), &self.assets)?;
        for ceiling in ceilings.values().copied() {
            match self.ceiling(ceiling.currency()) {
                Some(general) if !ceiling.is_within(general) => {
                    return Err(RuleFault::HostCeiling { origin: host.origin.clone(), ceiling, general });
                }
                _ => {}
            }
        }
        Ok(ceilings)
    }
}

/// The tags of an entry, and its mark where it has limits of its own.
fn marked(host: &HostDraft) -> Vec<Tag> {
    let mark = (!host.limits.is_empty()).then(|| Tag::of_entry(&host.origin, &host.path));
    host.tags.iter().copied().chain(mark).collect()
}

fn default_methods() -> Vec<Method> {
    [Method::Get, Method::Head].into()
}

fn check_schemes(schemes: &[String]) -> Result<(), RuleFault> {
    check_twice("schemes", schemes.iter())?;
    if let Some(wild) = schemes.iter().find(|scheme| scheme.contains('*')) {
        return Err(RuleFault::Wildcard(wild.clone()));
    }
    match schemes.iter().find(|scheme| *scheme != "exact") {
        None => Ok(()),
        Some(other) => Err(RuleFault::UnknownScheme(other.clone())),
    }
}

fn check_networks(networks: &[ChainId], setting: Setting) -> Result<(), RuleFault> {
    check_twice("networks", networks.iter())?;
    if let Some(unknown) = networks.iter().find(|chain| chain.name().is_none()) {
        return Err(RuleFault::UnknownNetwork(*unknown));
    }
    for chain in networks {
        match setting {
            Setting::Sandbox if !SANDBOX_CHAINS.contains(chain) => {
                return Err(RuleFault::NotASandboxNetwork(*chain));
            }
            Setting::Real if *chain == ChainId::LOCAL => return Err(RuleFault::SandboxNetwork(*chain)),
            _ => {}
        }
    }
    let test = networks.iter().find(|chain| chain.is_testnet());
    let real = networks.iter().find(|chain| !chain.is_testnet());
    match (real, test) {
        (Some(real), Some(test)) => Err(RuleFault::MixedNetworks { real: *real, test: *test }),
        _ => Ok(()),
    }
}

type Loopback = (BTreeMap<Host, IpAddr>, Option<String>);

fn sandbox_of(sandbox: Option<SandboxDraft>, setting: Setting) -> Result<Loopback, RuleFault> {
    let SandboxDraft { hosts, ca } = match (sandbox, setting) {
        (None, _) => return Ok(Loopback::default()),
        (Some(_), Setting::Real) => return Err(RuleFault::SandboxTable),
        (Some(sandbox), Setting::Sandbox) => sandbox,
    };
    if let Some(host) = hosts.keys().find(|host| host.ip().is_some()) {
        return Err(RuleFault::MappedAddress(host.clone()));
    }
    let outside = |address: &IpAddr| classify(*address) != AddressClass::Loopback;
    if let Some((host, address)) = hosts.iter().find(|(_, address)| outside(address)) {
        return Err(RuleFault::NotLoopback { host: host.clone(), address: *address });
    }
    match ca {
        Some(name) if !is_plain_file_name(&name) => Err(RuleFault::CaFile(name)),
        ca => Ok((hosts, ca)),
    }
}

/// Whether `name` can only be a file right inside a folder.
pub(super) fn is_plain_file_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !name.is_empty() && !name.starts_with('.') && name.bytes().all(plain)
}

pub(super) fn ceilings_of(ceilings: &Ceilings) -> Result<BTreeMap<Currency, Money>, RuleFault> {
    if ceilings.0.is_empty() {
        return Err(RuleFault::NoCeiling);
    }
    check_twice("max_per_payment", ceilings.0.iter().map(|money| money.currency()))?;
    Ok(ceilings.0.iter().map(|money| (money.currency(), *money)).collect())
}

fn assets_of(
    payment: &PaymentDraft,
    added: Vec<Asset>,
    ceilings: &BTreeMap<Currency, Money>,
) -> Result<BTreeMap<AssetId, AllowedAsset>, RuleFault> {
    check_twice("[[asset]]", added.iter().map(|asset| asset.id))?;
    check_twice("assets", payment.assets.iter())?;
    let table = added.into_iter().try_fold(AssetTable::builtin(), AssetTable::with)?;
    let allow = |id: &AssetId| {
        let asset = table.find(id).ok_or(RuleFault::UnknownAsset(*id))?.clone();
        if !payment.networks.contains(&id.chain) {
            return Err(RuleFault::AssetWithoutNetwork(*id));
        }
        let currency = asset.currency;
        let cap = ceilings.get(&currency).copied();
        let cap = cap.ok_or(RuleFault::CurrencyWithoutCeiling { asset: *id, currency })?;
        let too_fine = RuleFault::TooFine { money: cap, asset: *id };
        let cap_units = cap.to_units(&asset).ok_or(too_fine)?;
        Ok((*id, AllowedAsset { asset, cap, cap_units }))
    };
    payment.assets.iter().map(allow).collect()
}

/// Refuses money of nothing, in a currency nobody pays in, or finer than an asset can pay.
fn check_money(values: impl Iterator<Item = Money>, assets: &BTreeMap<AssetId, AllowedAsset>) -> Result<(), RuleFault> {
    for money in values {
        if money.is_zero() {
            return Err(RuleFault::ZeroMoney(money));
        }
        let of_its_currency = || assets.values().filter(|one| one.asset.currency == money.currency());
        if of_its_currency().next().is_none() && !assets.is_empty() {
            return Err(RuleFault::CurrencyWithoutAsset(money));
        }
        if let Some(one) = of_its_currency().find(|one| money.to_units(&one.asset).is_none()) {
            return Err(RuleFault::TooFine { money, asset: one.asset.id });
        }
    }
    Ok(())
}

/// The most tags of one host or payee.
const TAGS_MAX: usize = 8;

fn check_tags(tags: &[Tag], carrier: impl Display) -> Result<(), RuleFault> {
    check_twice("tags", tags.iter())?;
    if TAGS_MAX < tags.len() { Err(RuleFault::ManyTags(carrier.to_string())) } else { Ok(()) }
}

fn payee_tags_of(
    payees: Vec<PayeeDraft>,
    may_be_paid: impl Fn(&Address) -> bool,
) -> Result<BTreeMap<Address, Vec<Tag>>, RuleFault> {
    check_twice("[[payee]]", payees.iter().map(|payee| payee.address))?;
    let known = |payee: PayeeDraft| {
        check_tags(&payee.tags, payee.address)?;
        may_be_paid(&payee.address).then_some((payee.address, payee.tags)).ok_or(RuleFault::IdlePayee(payee.address))
    };
    payees.into_iter().map(known).collect()
}

fn recipients_of(payment: &PaymentDraft) -> Result<Recipients, RuleFault> {
    match (&payment.recipients, payment.allow_any_recipient) {
        (Some(listed), false) => Ok(Recipients::Listed(listed_once(listed)?)),
        (None, true) => Ok(Recipients::Any),
        (Some(_), true) | (None, false) => Err(RuleFault::Recipients),
    }
}

fn listed_once(listed: &[Address]) -> Result<BTreeSet<Address>, RuleFault> {
    check_twice("recipients", listed.iter())?;
    if listed.iter().any(Address::is_zero) {
        return Err(RuleFault::ZeroRecipient);
    }
    Ok(listed.iter().copied().collect())
}

pub(super) fn span(what: &'static str, given: Option<Span>, range: Range) -> Result<u64, RuleFault> {
    let text = |secs| Span::from_secs(secs).map(|span| span.to_string()).unwrap_or_default();
    within(what, given.map(Span::secs), range, text)
}

fn recurring(given: Option<Span>) -> Result<Option<u64>, RuleFault> {
    given.map(|given| span("no_recurring", Some(given), RECURRING_S)).transpose()
}

/// A tag that nothing carries would send nothing to a person.
fn approve_tags_of(tags: Vec<Tag>, carried: &BTreeSet<Tag>) -> Result<Vec<Tag>, RuleFault> {
    check_twice("approve_tags", tags.iter())?;
    match tags.iter().find(|tag| !carried.contains(tag)) {
        None => Ok(tags),
        Some(idle) => Err(RuleFault::IdleApproveTag(*idle)),
    }
}

fn unresolved(given: Option<u32>) -> Result<u32, RuleFault> {
    let value = within("max_unresolved", given.map(u64::from), UNRESOLVED, |number| number.to_string())?;
    Ok(u32::try_from(value).unwrap_or(1))
}

pub(super) fn size(what: &'static str, given: Option<ByteSize>, range: Range) -> Result<u64, RuleFault> {
    let text = |bytes| ByteSize::from_bytes(bytes).map(|size| size.to_string()).unwrap_or_default();
    within(what, given.map(ByteSize::bytes), range, text)
}

pub(super) fn within(
    what: &'static str,
    given: Option<u64>,
    range: Range,
    text: impl Fn(u64) -> String,
) -> Result<u64, RuleFault> {
    let value = given.unwrap_or(range.default);
    if (range.least..=range.most).contains(&value) {
        return Ok(value);
    }
    Err(RuleFault::OutOfRange { what, value: text(value), least: text(range.least), most: text(range.most) })
}

pub(super) fn check_twice<T: Ord + Display>(
    what: &'static str,
    values: impl Iterator<Item = T>,
) -> Result<(), RuleFault> {
    match first_twice(values) {
        None => Ok(()),
        Some(value) => Err(RuleFault::Twice { what, value: value.to_string() }),
    }
}

fn first_twice<T: Ord>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut seen = BTreeSet::new();
    for value in values {
        if seen.contains(&value) {
            return Some(value);
        }
        seen.insert(value);
    }
    None
}
