//! The operator's sentence for each refusal. It must never show a seller's text unquoted.

use alloc::string::{String, ToString};
use core::fmt::{self, Display as _};

use super::{AddressMember, BodyRefusal, Breach, DomainMember, ForbiddenPayee, MandatePart, Refusal};
use crate::caution::Concern;
use crate::limit::Scope;
use crate::quantity::{Moment, Span};

/// Writes one lower-case sentence without a full stop.
pub(super) fn write(refusal: &Refusal, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    use Refusal as R;
    match refusal {
        R::WalletLocked => out.write_str("the wallet is locked"),
        R::Frozen => out.write_str("all spending is frozen"),
        R::LedgerLatched => out.write_str("the ledger is latched after a fault and takes no payment"),
        R::NoSession => out.write_str("no budget session of that name is open"),
        R::SessionExpired => out.write_str("the time of the budget session is over"),
        R::MandateMissing => out.write_str("the session has no mandate, which the rules want"),
        R::OutsideMandate { part } => write!(out, "the session's mandate does not cover the {}", mandate_part(*part)),
        R::IdempotencyConflict => out.write_str("the purchase id was already used for another URL, method or body"),
        R::OverSessionBudget { asked, left } => {
            write!(out, "the price `{asked}` is over what the session has left, `{left}`")
        }
        R::QuoteUnknown => out.write_str("there is no such quote, or its time is over"),
        R::QuoteChanged => out.write_str("the seller's terms are no longer those of the quote"),
        R::PriceAboveCeiling { asked, ceiling } => {
            write!(out, "the price `{asked}` is above the caller's own ceiling, `{ceiling}`")
        }
        R::TooManyInFlight => out.write_str("too many purchases are running at once"),
        R::OutsideHours { hours } => write!(out, "payments are made {hours} only"),
        R::SecretMissing { name } => {
            write!(out, "the secret `{name}`, which the rules name for this request, is not stored")
        }
        R::UrlInvalid { why } => out.write_str(why),
        R::HttpsRequired => out.write_str("the URL is not https"),
        R::HostNotAllowed { origin } => write!(out, "no host rule covers `{origin}`"),
        R::HostQuarantined { origin, until_s } => {
            write!(out, "`{origin}` is in quarantine until {}", Moment(*until_s))
        }
        R::MethodNotAllowed { method } => write!(out, "the host rule does not list `{method}`"),
        R::BodyNotAllowed { why } => body(*why, out),
        R::HeaderNotAllowed { name } => write!(out, "the host rule does not list the header `{name}`"),
        R::AddressNotPublic { address, block } => {
            write!(out, "the host leads to `{address}`, which is not public: {block}")
        }
        R::AddressDenied { address, block: Some(block) } => {
            write!(out, "the host leads to `{address}`, which the rules deny with `{block}`")
        }
        R::AddressDenied { address, block: None } => {
            write!(out, "the host leads to `{address}`, which is in no block that the rules allow")
        }
        R::RedirectRefused { status, location } => {
            write!(out, "the seller answered {status}, a redirect to `{location}`")
        }
        R::TermsUnreadable { why } => write!(out, "the seller's terms cannot be read: `{why}`"),
        R::TermsConflicting { why } => write!(out, "the seller's terms contradict themselves: `{why}`"),
        R::TermsTooLarge { why } => write!(out, "the seller's terms are over a cap: `{why}`"),
        R::UnsupportedVersion { version } => {
            write!(out, "the x402 version `{version}` is neither 1 nor 2")
        }
        R::NoOffers => out.write_str("the seller's terms list no offer"),
        R::ResourceMismatch { named, asked } => {
            write!(out, "the terms are for `{named}`, but `{asked}` was asked")
        }
        R::ClockInvalid { apart_s } => {
            write!(out, "the seller's clock is {apart_s} seconds from ours, more than 30")
        }
        offer => of_an_offer(offer, out),
    }
}

/// [`write()`] for what can be wrong with one offer, and for limits.
fn of_an_offer(refusal: &Refusal, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    use Refusal as R;
    match refusal {
        R::UnsupportedScheme { scheme } => write!(out, "the scheme `{scheme}` is not supported"),
        R::UnsupportedNetwork { network } => {
            write!(out, "the network `{network}` is not one that the rules list")
        }
        R::UnsupportedTransferMethod { method } => {
            write!(out, "the transfer method `{method}` is not `eip3009`")
        }
        R::UnsupportedPaymentFlow { flow } => {
            write!(out, "the payment flow `{flow}` does not settle after delivery")
        }
        R::ShadowedOffer { first } => {
            write!(out, "the seller would match a payment of this offer with its offer {first}")
        }
        R::OfferConflict { members } => write!(out, "members of the offer disagree: `{members}`"),
        R::AmountInvalid { said, why } => write!(out, "the amount `{said}` is refused: {why}"),
        R::AddressInvalid { member, said, why } => {
            write!(out, "the address `{said}` in `{}` is refused: {why}", address_member(*member))
        }
        R::TimeoutInvalid { said } => {
            write!(out, "`maxTimeoutSeconds` is `{said}`, not a whole JSON number of seconds from 1 to 86400")
        }
        R::AssetNotAllowed { asset } => write!(out, "the asset `{asset}` is not one that the rules list"),
        R::DomainMismatch { member, said, known } => {
            write!(out, "`extra.{}` is `{said}`, but the asset table says `{known}`", domain_member(*member))
        }
        R::PayeeForbidden { payee, why } => {
            write!(out, "the payee `{payee}` is {}", forbidden_payee(*why))
        }
        R::PayeeNotAllowed { payee, chain } => {
            write!(out, "the payee `{payee}` on `{chain}` is not one that the rules list")
        }
        R::OverPaymentCap { asked, cap: Some(cap) } => {
            write!(out, "the price `{asked}` is over the ceiling for one payment, `{cap}`")
        }
        R::OverPaymentCap { asked, cap: None } => {
            write!(out, "the price `{asked}` is over every ceiling for one payment")
        }
        R::CurrencyWithoutCap { currency } => {
            write!(out, "the price is in `{currency}`, for which there is no ceiling")
        }
        R::LifetimeTooShort { life_s } => {
            write!(out, "the payment would be valid for {life_s} seconds, less than 10")
        }
        R::OverLimit { scope, tag, window, breach } => {
            match tag {
                None => write!(out, "the limit `{scope}` over `{window}` would be exceeded: ")?,
                Some(_mark) if *scope == Scope::Host => {
                    write!(out, "the limit of this host entry over `{window}` would be exceeded: ")?;
                }
                Some(tag) => write!(out, "the limit of the tag `{tag}` over `{window}` would be exceeded: ")?,
            }
            limit(breach, out)
        }
        R::TooManyUnresolved { scope, unresolved, max } => {
            write!(out, "payments to this {scope} that ran out unresolved: {unresolved}, and {max} may be")
        }
        R::Recurring { ago_s, within_s } => {
            write!(out, "the same was bought {} ago, and it is bought once in {}", span(*ago_s), span(*within_s))
        }
        R::InsufficientBalance { asked, left, chain } => {
            write!(out, "the price `{asked}` is more than the wallet has left on `{chain}`, `{left}`")
        }
        R::BalanceUnknown { chain } => {
            write!(out, "what the wallet has on `{chain}` is not known, and the rules want it known")
        }
        R::ApprovalDenied => out.write_str("a person looked at exactly this purchase and said no"),
        R::TooManyApprovals { max } => write!(out, "{max} purchases of this session wait for a person already"),
        R::NeedsApproval { concerns, .. } => needs_approval(concerns, out),
        // Everything before an offer is written by `write`.
        _ => out.write_str("refused"),
    }
}

fn body(why: BodyRefusal, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match why {
        BodyRefusal::Method => out.write_str("a body is sent with `POST` only"),
        BodyRefusal::TooLarge { bytes, cap } => {
            write!(out, "the body has {bytes} bytes, more than the {cap} that the host rule allows")
        }
    }
}

fn needs_approval(concerns: &[Concern], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    out.write_str("a person has to look first")?;
    for (place, concern) in concerns.iter().enumerate() {
        out.write_str(if place == 0 { ": " } else { "; " })?;
        concern.fmt(out)?;
    }
    Ok(())
}

fn span(secs: u64) -> impl fmt::Display {
    Span::from_secs(secs).map(|span| span.to_string()).unwrap_or_else(|| String::from("0s"))
}

const fn mandate_part(part: MandatePart) -> &'static str {
    match part {
        MandatePart::Origin => "site",
        MandatePart::Payee => "payee",
        MandatePart::Price => "price",
    }
}

fn limit(breach: &Breach, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match breach {
        Breach::Amount { asked, left } => write!(out, "`{asked}` is more than what is left, `{left}`"),
        Breach::Count { used, max } => write!(out, "one more payment after {used} is over {max}"),
        Breach::Share => {
            out.write_str("what this vault may spend of it by itself is used up, and other vaults hold the rest")
        }
        Breach::Unread => out.write_str("the ledger gave no total for it"),
    }
}

const fn address_member(member: AddressMember) -> &'static str {
    match member {
        AddressMember::Asset => "asset",
        AddressMember::PayTo => "payTo",
    }
}

const fn domain_member(member: DomainMember) -> &'static str {
    match member {
        DomainMember::Name => "name",
        DomainMember::Version => "version",
        DomainMember::VerifyingContract => "verifyingContract",
        DomainMember::ChainId => "chainId",
    }
}

const fn forbidden_payee(why: ForbiddenPayee) -> &'static str {
    match why {
        ForbiddenPayee::Zero => "the zero address, where money is lost",
        ForbiddenPayee::TokenContract => "the token contract itself, where money is lost",
        ForbiddenPayee::Payer => "the payer itself",
    }
}
