//! Step 9: what the vault signed is compared with what was judged, field by field, before a byte is sent.
//!
//! The vault is trusted with the key and is still checked: the digest is derived again from our own terms and the
//! payer's address is recovered from the signature. A difference is loud and sends nothing; the row stays exposed.

use bursar_policy::{Address, Authorization, Domain, Rules, Terms, validity};
use bursar_vault::protocol::Signed;
use bursar_vault::sign::{Signature, recover};

/// How far ledger time may be from our wall clock, in seconds. The ledger goes on for two minutes against a clock that
/// was set before it asks for a person; beyond that it signs nothing.
const CLOCK_SLACK_S: u64 = 180;

/// The field in which the signed payment differs from the judged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signed payment differs from the judged one in `{0}`; nothing was sent, and the amount counts as spent")]
pub(super) struct Mismatch(pub(super) &'static str);

/// Compares every signed field but the validity window with the judged terms, and recovers the payer.
///
/// # Errors
///
/// [`Mismatch`] names the first field that differs. An answer of unknown shape is a mismatch, never a pass.
pub(super) fn signed_as_judged(
    signed: &Signed,
    terms: &Terms,
    rules: &Rules,
    payer: Option<Address>,
) -> Result<(), Mismatch> {
    let Signed { authorization, domain, .. } = signed;
    let same = |holds: bool, field: &'static str| if holds { Ok(()) } else { Err(Mismatch(field)) };
    same(signed.terms == *terms, "terms")?;
    same(signed.version == terms.version, "version")?;
    same(payer == Some(authorization.from) && signed.payer == authorization.from, "from")?;
    same(authorization.to == terms.payee, "to")?;
    same(authorization.value == terms.amount, "value")?;
    same(*domain == known_domain(rules, terms).ok_or(Mismatch("domain"))?, "domain")?;
    let signature: Signature = signed.signature.parse().map_err(|_| Mismatch("signature"))?;
    same(recover(&authorization.digest(domain), &signature) == Some(authorization.from), "signature")
}

/// Compares the validity window of a payment that was signed just now with what the rules allow from now on.
///
/// The moment at which it was counted is the end of the window less the life it was given; both ends follow from it.
///
/// # Errors
///
/// [`Mismatch`] names the end that differs.
pub(super) fn window_as_judged(
    authorization: &Authorization,
    terms: &Terms,
    rules: &Rules,
    now_s: u64,
) -> Result<(), Mismatch> {
    let life_s = terms.max_timeout_s.min(rules.max_lifetime_s());
    let counted_s = authorization.valid_before.checked_sub(life_s).ok_or(Mismatch("valid_before"))?;
    if counted_s.abs_diff(now_s) > CLOCK_SLACK_S {
        return Err(Mismatch("valid_before"));
    }
    match validity(terms.version, counted_s, terms.max_timeout_s, rules.max_lifetime_s()) {
        Some(window) if window == (authorization.valid_after, authorization.valid_before) => Ok(()),
        _ => Err(Mismatch("valid_after")),
    }
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

#[cfg(test)]
mod tests;
