//! The rules about one offer. They must never let a value through that they did not parse.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};

use super::Asked;
use super::document;
use super::notes::{Notes, Watched};
use crate::authorization::{LIFE_MIN_S, validity};
use crate::chain::{Address, AddressFault, AssetId, ChainId};
use crate::errand::Errand;
use crate::money::{Amount, AmountFault, Money};
use crate::network_name::v1_chain;
use crate::offer::{Challenge, Offer, Said, Version};
use crate::quoted::Quoted;
use crate::refusal::{AddressMember, DomainMember, ForbiddenPayee, Refusal};
use crate::rules::{AllowedAsset, HostRule, Rules};
use crate::terms::Terms;

/// The longest timeout that is believed, in seconds: a day. Longer ones are escrows or mistakes.
const TIMEOUT_MAX_S: u64 = 86_400;

/// What an offer is judged by.
pub(super) struct Case<'a> {
    pub(super) rules: &'a Rules,
    pub(super) host: Option<&'a HostRule>,
    pub(super) errand: &'a Errand,
    pub(super) challenge: &'a Challenge,
    pub(super) payer: Option<Address>,
    pub(super) now_s: u64,
}

impl<'a> Case<'a> {
    pub(super) fn new(
        rules: &'a Rules,
        errand: &'a Errand,
        challenge: &'a Challenge,
        payer: Option<Address>,
        now_s: u64,
    ) -> Self {
        let host = rules.host_rule(&errand.site);
        Self { rules, host, errand, challenge, payer, now_s }
    }
}

/// What came of one offer.
pub(super) enum Weighed {
    /// Of a kind that bursar does not pay: passed over.
    Unsupported,
    /// Of a supported kind, and refused; with what it asks for, as far as it can be read.
    Refused(Option<Asked>),
    /// Payable: the terms and their price.
    Passed(Terms, Money),
}

/// Looks at every rule about `offer`.
pub(super) fn weigh(case: &Case<'_>, offer: &Offer, notes: &mut impl Notes) -> Weighed {
    let scheme = notes.check("scheme", scheme(case, offer));
    let chain = notes.check("network", network(case, offer));
    let method = notes.check("transfer_method", transfer_method(offer));
    let flow = notes.check("payment_flow", payment_flow(offer));
    let (Some(_), Some(chain), Some(_), Some(_)) = (scheme, chain, method, flow) else {
        return Weighed::Unsupported;
    };
    match weigh_supported(case, offer, chain, &mut Watched::new(notes)) {
        Ok((terms, money)) => Weighed::Passed(terms, money),
        Err(asked) => Weighed::Refused(asked),
    }
}

/// [`weigh`] once the kind of offer is known. Every rule is looked at before the answer is given;
/// a rule that needs a value which another rule refused is not, and the answer is no already.
fn weigh_supported<N: Notes>(
    case: &Case<'_>,
    offer: &Offer,
    chain: ChainId,
    notes: &mut Watched<'_, N>,
) -> Result<(Terms, Money), Option<Asked>> {
    notes.check("first_of_pair", first_of_pair(case, offer));
    notes.check("one_meaning", one_meaning(offer));
    notes.check("offer_resource", document::resource(case, &offer.resource));
    let price = notes.check("amount", price(offer));
    let asset = notes.check("asset_address", address(AddressMember::Asset, &offer.asset));
    let payee = notes.check("payee_address", address(AddressMember::PayTo, &offer.pay_to));
    let timeout = notes.check("timeout", timeout(offer));
    let allowed = asset.and_then(|contract| {
        let id = AssetId { chain, contract };
        let allowed = case.rules.allowed_asset(&id);
        notes.check("asset", allowed.map(|_| id).ok_or(Refusal::AssetNotAllowed { asset: id }));
        allowed
    });
    if let Some(allowed) = allowed {
        domain(offer, allowed, notes);
    }
    if let Some(payee) = payee {
        notes.check("payee_sense", payee_sense(case, payee, asset));
        notes.check("payee", payee_listed(case, payee, chain));
    }
    if let Some(price) = &price {
        notes.check("payment_cap", cap(case, price, allowed));
    }
    if let (Some(price), Some(allowed)) = (&price, allowed) {
        notes.check("own_ceiling", own_ceiling(case, price, allowed));
    }
    if let Some(Timeout(seconds)) = timeout {
        notes.check("lifetime", lifetime(case, seconds));
    }
    let (Some(Price::Units(amount)), Some(allowed), Some(contract), Some(payee)) = (price, allowed, asset, payee)
    else {
        return Err(None);
    };
    let Some(money) = Money::of(amount, &allowed.asset) else { return Err(None) };
    let (Some(Timeout(max_timeout_s)), false) = (timeout, notes.failed()) else {
        return Err(Some(Asked { payee, asset: AssetId { chain, contract }, money }));
    };
    let terms = Terms {
        version: case.challenge.version,
        offer: offer.index,
        chain,
        asset: contract,
        payee,
        amount,
        max_timeout_s,
        domain_name: allowed.asset.eip712_name.clone(),
        domain_version: allowed.asset.eip712_version.clone(),
    };
    Ok((terms, money))
}

fn scheme(case: &Case<'_>, offer: &Offer) -> Result<&'static str, Refusal> {
    let listed = |text: &String| text == "exact" && case.rules.schemes().contains(text);
    match &offer.scheme {
        Said::Text(text) if listed(text) => Ok("exact"),
        other => Err(Refusal::UnsupportedScheme { scheme: said(other) }),
    }
}

/// v2 names networks by CAIP-2 ids; v1 by short names, and by CAIP-2 ids where sellers mix the two.
fn network(case: &Case<'_>, offer: &Offer) -> Result<ChainId, Refusal> {
    let chain = match (&offer.network, case.challenge.version) {
        (Said::Text(text), Version::V2) => text.parse().ok(),
        (Said::Text(text), Version::V1) => v1_chain(text).or_else(|| text.parse().ok()),
        _ => None,
    };
    chain
        .filter(|chain| case.rules.chains().contains(chain))
        .ok_or_else(|| Refusal::UnsupportedNetwork { network: said(&offer.network) })
}

fn transfer_method(offer: &Offer) -> Result<&'static str, Refusal> {
    match &offer.transfer_method {
        Said::Absent | Said::Null => Ok("eip3009"),
        Said::Text(text) if text == "eip3009" => Ok("eip3009"),
        other => Err(Refusal::UnsupportedTransferMethod { method: said(other) }),
    }
}

fn payment_flow(offer: &Offer) -> Result<&'static str, Refusal> {
    match &offer.payment_flow {
        Said::Absent | Said::Null => Ok("authorization"),
        Said::Text(text) if text == "authorization" => Ok("authorization"),
        other => Err(Refusal::UnsupportedPaymentFlow { flow: said(other) }),
    }
}

/// A v1 payment names only scheme and network, so a seller takes it for its first such offer.
fn first_of_pair(case: &Case<'_>, offer: &Offer) -> Result<&'static str, Refusal> {
    if case.challenge.version == Version::V2 {
        return Ok("not asked of v2");
    }
    let pair = |other: &&Offer| other.scheme == offer.scheme && other.network == offer.network;
    match case.challenge.offers.iter().find(pair) {
        Some(first) if !core::ptr::eq(first, offer) => Err(Refusal::ShadowedOffer { first: first.index }),
        _ => Ok("yes"),
    }
}

fn one_meaning(offer: &Offer) -> Result<&'static str, Refusal> {
    match offer.conflicts.first() {
        None => Ok("yes"),
        Some(members) => Err(Refusal::OfferConflict { members: Quoted::of(members) }),
    }
}

/// A readable amount.
enum Price<'a> {
    /// One that can be counted.
    Units(Amount),
    /// One above `u128::MAX`: over every cap.
    BeyondCounting(&'a str),
}

impl core::fmt::Display for Price<'_> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Units(amount) => amount.fmt(out),
            Self::BeyondCounting(digits) => out.write_str(digits),
        }
    }
}

fn price(offer: &Offer) -> Result<Price<'_>, Refusal> {
    let why = match &offer.amount {
        Said::Text(text) => match Amount::parse(text) {
            Ok(amount) => return Ok(Price::Units(amount)),
            Err(AmountFault::TooLarge) => return Ok(Price::BeyondCounting(text)),
            Err(fault) => fault.to_string(),
        },
        Said::Number(_) => "it is a JSON number where x402 has a string of digits".to_owned(),
        Said::Absent | Said::Null => "there is none".to_owned(),
        Said::Other(kind) => format!("it is {kind} where x402 has a string of digits"),
    };
    Err(Refusal::AmountInvalid { said: said(&offer.amount), why })
}

fn address(member: AddressMember, text: &Said) -> Result<Address, Refusal> {
    let why = match text {
        Said::Text(text) => match text.parse() {
            Ok(address) => return Ok(address),
            Err(fault) => AddressFault::to_string(&fault),
        },
        Said::Absent | Said::Null => "there is none".to_owned(),
        Said::Number(_) | Said::Other(_) => "it is not a string".to_owned(),
    };
    Err(Refusal::AddressInvalid { member, said: said(text), why })
}

/// A timeout that was read.
#[derive(Clone, Copy)]
struct Timeout(u64);

impl core::fmt::Display for Timeout {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "{} s", self.0)
    }
}

fn timeout(offer: &Offer) -> Result<Timeout, Refusal> {
    let whole = match &offer.max_timeout {
        Said::Number(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    };
    whole
        .filter(|seconds| (1..=TIMEOUT_MAX_S).contains(seconds))
        .map(Timeout)
        .ok_or_else(|| Refusal::TimeoutInvalid { said: said(&offer.max_timeout) })
}

/// The seller's words about the EIP-712 domain agree with the asset table.
fn domain(offer: &Offer, allowed: &AllowedAsset, notes: &mut impl Notes) {
    let asset = &allowed.asset;
    let same_text = |member, words: &Said, known: &String| match words {
        Said::Text(text) if text == known => Ok("as in the asset table"),
        // A number looks like the text that the table has.
        Said::Number(text) => Err(mismatch(member, &Said::Text(format!("(the number {text})")), known.clone())),
        other => Err(mismatch(member, other, known.clone())),
    };
    let name = same_text(DomainMember::Name, &offer.domain_name, &asset.eip712_name);
    notes.check("domain_name", name);
    let version = same_text(DomainMember::Version, &offer.domain_version, &asset.eip712_version);
    notes.check("domain_version", version);
    notes.check("domain_contract", domain_contract(offer, asset.id.contract));
    notes.check("domain_chain", domain_chain(offer, asset.id.chain));
}

/// Nobody has to state the contract, but whoever does must mean the asset.
fn domain_contract(offer: &Offer, known: Address) -> Result<&'static str, Refusal> {
    match &offer.verifying_contract {
        Said::Absent | Said::Null => Ok("not stated"),
        Said::Text(text) if text.parse() == Ok(known) => Ok("the asset"),
        other => Err(mismatch(DomainMember::VerifyingContract, other, known.to_string())),
    }
}

/// Nobody has to state the chain id, as a number or as the network's name, but whoever does must mean the network.
fn domain_chain(offer: &Offer, known: ChainId) -> Result<&'static str, Refusal> {
    match &offer.chain_id {
        Said::Absent | Said::Null => Ok("not stated"),
        Said::Text(text) | Said::Number(text) if *text == known.number().to_string() => Ok("the network"),
        Said::Text(text) if *text == known.to_string() => Ok("the network"),
        other => Err(mismatch(DomainMember::ChainId, other, known.number().to_string())),
    }
}

fn mismatch(member: DomainMember, words: &Said, known: String) -> Refusal {
    Refusal::DomainMismatch { member, said: said(words), known }
}

fn payee_sense(case: &Case<'_>, payee: Address, asset: Option<Address>) -> Result<&'static str, Refusal> {
    let why = if payee.is_zero() {
        ForbiddenPayee::Zero
    } else if asset == Some(payee) {
        ForbiddenPayee::TokenContract
    } else if case.payer == Some(payee) {
        ForbiddenPayee::Payer
    } else {
        return Ok("neither zero, token nor payer");
    };
    Err(Refusal::PayeeForbidden { payee, why })
}

fn payee_listed(case: &Case<'_>, payee: Address, chain: ChainId) -> Result<&'static str, Refusal> {
    // A seller that no rule covers is refused for that; its payee is still held against the general list.
    let is_listed = case.host.map_or_else(
        || case.rules.recipients().is_none_or(|listed| listed.contains(&payee)),
        |rule| rule.allows_payee(&payee),
    );
    if is_listed { Ok("may be paid") } else { Err(Refusal::PayeeNotAllowed { payee, chain }) }
}

/// The ceilings of the rules for one payment: the general one and the host's own.
fn cap(case: &Case<'_>, price: &Price<'_>, allowed: Option<&AllowedAsset>) -> Result<&'static str, Refusal> {
    let amount = match (price, allowed) {
        (Price::BeyondCounting(digits), _) => {
            let asked = Quoted::of(digits);
            return Err(Refusal::OverPaymentCap { asked, cap: allowed.map(|allowed| allowed.cap) });
        }
        // The asset is refused already; without one there is no ceiling to compare with.
        (Price::Units(_), None) => return Ok("not asked without an allowed asset"),
        (Price::Units(amount), Some(_)) => *amount,
    };
    let Some(allowed) = allowed else { return Ok("not asked without an allowed asset") };
    let money = Money::of(amount, &allowed.asset);
    let host_cap = case.host.and_then(|rule| rule.ceiling(allowed.asset.currency));
    let over = if !allowed.covers(amount) {
        allowed.cap
    } else {
        match (host_cap, money) {
            (None, Some(_)) => return Ok("within"),
            (Some(cap), Some(money)) if money.is_within(cap) => return Ok("within"),
            (cap, _) => cap.unwrap_or(allowed.cap),
        }
    };
    let asked = match money {
        Some(money) => Quoted::of(&money.to_string()),
        None => Quoted::of(&format!("{amount} atomic units")),
    };
    Err(Refusal::OverPaymentCap { asked, cap: Some(over) })
}

/// What the caller itself was ready to pay.
fn own_ceiling(case: &Case<'_>, price: &Price<'_>, allowed: &AllowedAsset) -> Result<&'static str, Refusal> {
    let Some(ceiling) = case.errand.ceiling else { return Ok("none given") };
    let currency = allowed.asset.currency;
    if ceiling.currency() != currency {
        return Err(Refusal::CurrencyWithoutCap { currency });
    }
    let asked = match price {
        Price::Units(amount) => Money::of(*amount, &allowed.asset),
        Price::BeyondCounting(_) => None,
    };
    match asked {
        Some(asked) if !asked.is_within(ceiling) => Err(Refusal::PriceAboveCeiling { asked, ceiling }),
        Some(_) => Ok("within"),
        None => Ok("not asked of a price over every cap"),
    }
}

fn lifetime(case: &Case<'_>, timeout_s: u64) -> Result<&'static str, Refusal> {
    let max_s = case.rules.max_lifetime_s();
    match validity(case.challenge.version, case.now_s, timeout_s, max_s) {
        Some(_) => Ok("long enough"),
        None => Err(Refusal::LifetimeTooShort { life_s: timeout_s.min(max_s).min(LIFE_MIN_S) }),
    }
}

/// A member as said, safe to show.
fn said(member: &Said) -> Quoted {
    match member {
        Said::Absent => Quoted::of("(absent)"),
        Said::Null => Quoted::of("(null)"),
        Said::Text(text) | Said::Number(text) => Quoted::of(text),
        Said::Other(kind) => Quoted::of(&format!("({kind})")),
    }
}
