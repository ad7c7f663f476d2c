//! Step 9: what the vault signed is compared with what was judged, field by field, before a byte is sent.
//!
//! The vault is trusted with the key and is still checked: the digest is derived again from our own terms and the
//! payer's address is recovered from the signature. A difference is loud and sends nothing; the row stays exposed.

use bursar_policy::{Address, Authorization, Domain, Rules, Terms, Version};
use bursar_vault::protocol::Signed;
use bursar_vault::sign::{Signature, recover};

/// How far the vault's clock may be from ours when the validity window is checked, in seconds.
const CLOCK_SLACK_S: u64 = 60;

/// The field in which the signed payment differs from the judged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signed payment differs from the judged one in `{0}`; nothing was sent, and the amount counts as spent")]
pub(super) struct Mismatch(pub(super) &'static str);

/// Compares every signed field with the judged terms and recovers the payer.
///
/// # Errors
///
/// [`Mismatch`] names the first field that differs. An answer of unknown shape is a mismatch, never a pass.
pub(super) fn signed_as_judged(
    signed: &Signed,
    terms: &Terms,
    rules: &Rules,
    payer: Option<Address>,
    now_s: u64,
) -> Result<(), Mismatch> {
    let Signed { authorization, domain, .. } = signed;
    let same = |holds: bool, field: &'static str| if holds { Ok(()) } else { Err(Mismatch(field)) };
    same(signed.terms == *terms, "terms")?;
    same(signed.version == terms.version, "version")?;
    same(payer == Some(authorization.from) && signed.payer == authorization.from, "from")?;
    same(authorization.to == terms.payee, "to")?;
    same(authorization.value == terms.amount, "value")?;
    same(*domain == known_domain(rules, terms).ok_or(Mismatch("domain"))?, "domain")?;
    in_time(authorization, terms, rules, signed.signed_at_s, now_s)?;
    let signature: Signature = signed.signature.parse().map_err(|_| Mismatch("signature"))?;
    same(recover(&authorization.digest(domain), &signature) == Some(authorization.from), "signature")
}

/// The domain of the operator's own asset table.
fn known_domain(rules: &Rules, terms: &Terms) -> Option<Domain> {
    let asset = rules.asset(&terms.asset_id())?;
    Some(Domain {
        name: asset.eip712_name.clone(),
        version: asset.eip712_version.clone(),
        chain: terms.chain,
        contract: terms.asset,
    })
}

fn in_time(
    authorization: &Authorization,
    terms: &Terms,
    rules: &Rules,
    signed_at_s: u64,
    now_s: u64,
) -> Result<(), Mismatch> {
    let lifetime_s = terms.max_timeout_s.min(rules.max_lifetime_s());
    let latest = signed_at_s.saturating_add(lifetime_s);
    if authorization.valid_before > latest || authorization.valid_before.saturating_add(CLOCK_SLACK_S) < now_s {
        return Err(Mismatch("valid_before"));
    }
    if signed_at_s > now_s.saturating_add(CLOCK_SLACK_S) {
        return Err(Mismatch("signed_at"));
    }
    let after = match terms.version {
        Version::V1 => signed_at_s.saturating_sub(600),
        Version::V2 => 0,
    };
    if authorization.valid_after == after { Ok(()) } else { Err(Mismatch("valid_after")) }
}
