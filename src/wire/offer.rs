//! One element of `accepts` as the judge takes it: every member as it was said, and which doubled members disagree.
//!
//! Never picks between two members that mean the same thing, and never fills in a missing one.

use bursar_policy::{Offer, Said, Version};

use super::json::{self, Members};

/// The member that carries the price in each generation.
const fn amount_member(version: Version) -> &'static str {
    match version {
        Version::V1 => "maxAmountRequired",
        Version::V2 => "amount",
    }
}

/// Reads the offer at place `index`.
pub(super) fn read_offer(index: u32, version: Version, members: &Members<'_>) -> Offer {
    let extra = Extra::of(members);
    Offer {
        index,
        scheme: members.said("scheme"),
        network: members.said("network"),
        amount: members.said(amount_member(version)),
        asset: members.said("asset"),
        pay_to: members.said("payTo"),
        max_timeout: members.said("maxTimeoutSeconds"),
        transfer_method: first_said(&transfer_methods(members, &extra)),
        payment_flow: first_said(&payment_flows(members, &extra)),
        domain_name: extra.said("name"),
        domain_version: extra.said("version"),
        verifying_contract: extra.said("verifyingContract"),
        chain_id: first_said(&[extra.said("chainId"), plain_number(members.said("chainId"))]),
        resource: resource(members),
        conflicts: conflicts(version, members, &extra),
    }
}

/// What an object says that it sells: `resource.url`, or a bare `resource` text.
pub(super) fn resource(members: &Members<'_>) -> Said {
    members.object("resource").map_or_else(|| members.said("resource"), |resource| resource.said("url"))
}

/// Where a seller may name the transfer method. The first place is the specification's; some sellers shorten it, some put it
/// beside `extra`.
fn transfer_methods(members: &Members<'_>, extra: &Extra<'_>) -> [Said; 3] {
    [extra.said("assetTransferMethod"), extra.said("transferMethod"), members.said("assetTransferMethod")]
}

/// Where a seller may name the payment flow. The first place is the specification's.
fn payment_flows(members: &Members<'_>, extra: &Extra<'_>) -> [Said; 2] {
    [extra.said("paymentFlow"), members.said("paymentFlow")]
}

/// The first of `places` that says something; else what the first one is.
fn first_said(places: &[Said]) -> Said {
    places.iter().find(|said| !said.is_nothing()).or(places.first()).cloned().unwrap_or_default()
}

/// A number of digits, as text or not; anything else is a remark.
fn plain_number(said: Said) -> Said {
    match &said {
        Said::Text(text) | Said::Number(text) if text.parse::<u64>().is_ok() => said,
        _ => Said::Absent,
    }
}

/// The `extra` member: an object, nothing (absent or `null`), or something that cannot be an answer to any question.
enum Extra<'a> {
    Nothing,
    Object(Members<'a>),
    Odd,
}

impl<'a> Extra<'a> {
    fn of(members: &Members<'a>) -> Self {
        match members.present("extra") {
            None => Self::Nothing,
            Some(text) => Members::of(text).map_or(Self::Odd, Self::Object),
        }
    }

    fn said(&self, name: &str) -> Said {
        match self {
            Self::Nothing => Said::Absent,
            Self::Object(members) => members.said(name),
            Self::Odd => Said::Other("inside an extra that is not an object"),
        }
    }
}

/// Members that mean one thing: what a conflict between them is called, their names, and names that some sellers use for
/// the same where they hold an address, and for a remark (a symbol, somebody's name) otherwise.
type Doubles = (&'static str, &'static [&'static str], &'static [&'static str]);

/// All of them. A name stands for itself in every spelling that readers are known to take for it: without regard to case,
/// underscores and hyphens.
const DOUBLES: [Doubles; 6] = [
    ("amount and maxAmountRequired", &["amount", "maxamountrequired"], &[]),
    ("payTo and recipient", &["payto", "recipient"], &["receiver", "payee", "paytoaddress", "recipientaddress"]),
    ("asset and currency", &["asset"], &["currency", "token", "assetaddress", "tokenaddress"]),
    ("the two scheme members", &["scheme"], &[]),
    ("the two network members", &["network"], &[]),
    ("the two maxTimeoutSeconds members", &["maxtimeoutseconds"], &[]),
];

/// The members that say one thing twice and disagree. An alias alone is not a conflict and is not used either: the
/// member of the version is then missing, which the judge refuses where it matters.
fn conflicts(version: Version, members: &Members<'_>, extra: &Extra<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let mut note = |name: &str, disagree: bool| {
        if disagree {
            found.push(name.to_owned());
        }
    };
    let plain: Vec<(String, Said)> = members
        .iter()
        .map(|(name, text)| (plain_name(name), json::said(text)))
        .filter(|(_, said)| !said.is_nothing())
        .collect();
    for (what, names, of_addresses) in DOUBLES {
        let counts = |(name, said): &&(String, Said)| {
            names.contains(&name.as_str()) || of_addresses.contains(&name.as_str()) && is_hex_address(said)
        };
        note(what, disagree(plain.iter().filter(counts).map(|(_, said)| said)));
    }
    let own = members.present("x402Version");
    note("the two x402Version members", own.is_some_and(|text| text != version_token(version)));
    let (methods, flows) = (transfer_methods(members, extra), payment_flows(members, extra));
    let says = |said: &&Said| !said.is_nothing();
    note("extra.assetTransferMethod and extra.transferMethod", disagree(methods.iter().filter(says)));
    note("the two paymentFlow members", disagree(flows.iter().filter(says)));
    found
}

/// A name without what its spellings differ in.
fn plain_name(name: &str) -> String {
    name.chars().filter(|letter| !['_', '-'].contains(letter)).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// `x402Version` as the number must be written.
pub(super) const fn version_token(version: Version) -> &'static str {
    match version {
        Version::V1 => "1",
        Version::V2 => "2",
    }
}

fn disagree<'a>(mut values: impl Iterator<Item = &'a Said>) -> bool {
    values.next().is_some_and(|first| values.any(|other| !same(first, other)))
}

/// Whether two values say the same. Letter case counts except in addresses, where it is only a checksum.
fn same(one: &Said, other: &Said) -> bool {
    match (one, other) {
        (Said::Text(a), Said::Text(b)) if is_hex_address(one) && is_hex_address(other) => a.eq_ignore_ascii_case(b),
        _ => one == other,
    }
}

fn is_hex_address(value: &Said) -> bool {
    matches!(value, Said::Text(text) if text.starts_with("0x") && text.len() == 42)
}
