//! One element of `accepts` as the judge takes it: every member as it was said, and which doubled members disagree.
//!
//! Never picks between two members that mean the same thing, and never fills in a missing one.

use bursar_policy::{Offer, Said, Version};

use super::json::Members;

/// The member that carries the price in each generation.
const fn amount_member(version: Version) -> &'static str {
    match version {
        Version::V1 => "maxAmountRequired",
        Version::V2 => "amount",
    }
}

/// Reads the offer at place `index`. `resource` is what the whole document says it sells.
pub(super) fn read_offer(index: u32, version: Version, members: &Members<'_>, resource: &Said) -> Offer {
    let extra = Extra::of(members);
    Offer {
        index,
        scheme: members.said("scheme"),
        network: members.said("network"),
        amount: members.said(amount_member(version)),
        asset: members.said("asset"),
        pay_to: members.said("payTo"),
        max_timeout: members.said("maxTimeoutSeconds"),
        transfer_method: extra.said("assetTransferMethod"),
        payment_flow: extra.said("paymentFlow"),
        domain_name: extra.said("name"),
        domain_version: extra.said("version"),
        verifying_contract: extra.said("verifyingContract"),
        chain_id: extra.said("chainId"),
        conflicts: conflicts(version, members, &extra, resource),
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
            Self::Odd => Said::Other("inside an `extra` that is not an object"),
        }
    }
}

/// The members that say one thing twice and disagree. An alias alone is not a conflict and is not used either: the
/// member of the version is then missing, which the judge refuses where it matters.
fn conflicts(version: Version, members: &Members<'_>, extra: &Extra<'_>, resource: &Said) -> Vec<String> {
    let mut found = Vec::new();
    let mut note = |name: &str, disagree: bool| {
        if disagree {
            found.push(name.to_owned());
        }
    };
    note("amount and maxAmountRequired", disagree(&values(members, &["amount", "maxAmountRequired"])));
    note("payTo and recipient", disagree(&values(members, &["payTo", "recipient", "pay_to"])));
    // `currency` is a double of `asset` only where it names a contract; "USD" there is a remark.
    let currency = members.said("currency");
    let mut assets = values(members, &["asset"]);
    assets.extend(is_hex_address(&currency).then_some(currency));
    note("asset and currency", disagree(&assets));
    // A path has no host and so contradicts nothing; two full addresses that differ do.
    let places = [resource.clone(), members.said("resource")];
    note("the two resource members", disagree(&places.into_iter().filter(is_full_address).collect::<Vec<_>>()));
    let own = members.present("x402Version");
    note("the two x402Version members", own.is_some_and(|text| text != version_token(version)));
    // Some sellers shorten `assetTransferMethod`.
    let methods = [extra.said("assetTransferMethod"), extra.said("transferMethod")];
    let methods: Vec<Said> = methods.into_iter().filter(|said| !said.is_nothing()).collect();
    note("extra.assetTransferMethod and extra.transferMethod", disagree(&methods));
    found
}

/// `x402Version` as the number must be written.
pub(super) const fn version_token(version: Version) -> &'static str {
    match version {
        Version::V1 => "1",
        Version::V2 => "2",
    }
}

fn values(members: &Members<'_>, names: &[&str]) -> Vec<Said> {
    names.iter().map(|name| members.said(name)).filter(|said| !said.is_nothing()).collect()
}

fn disagree(values: &[Said]) -> bool {
    values.iter().zip(values.iter().skip(1)).any(|(one, other)| !same(one, other))
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

fn is_full_address(value: &Said) -> bool {
    matches!(value, Said::Text(text) if text.contains("://"))
}
