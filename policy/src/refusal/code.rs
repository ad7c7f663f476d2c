//! The stable names of refusals and what hangs on them. A name must never be changed or reused.

use super::{Audience, Refusal, Severity};

/// What is fixed about one kind of refusal.
struct Kind {
    rank: usize,
    code: &'static str,
    severity: Severity,
    audience: Audience,
    next_step: &'static str,
}

/// What is fixed about one code, apart from any refusal that was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The stable code, as [`Refusal::code`] tells it.
    pub code: &'static str,
    /// The code that a model hears in its place, as [`Refusal::shown`] tells it.
    pub shown: &'static str,
    /// What a person can do, as [`Refusal::next_step`] tells it.
    pub next_step: &'static str,
}

/// From one table: [`Refusal::CODES`] in precedence order, and the kind of every variant.
macro_rules! kinds {
    ($($variant:ident $code:literal $severity:ident $audience:ident $next_step:literal;)+) => {
        impl Refusal {
            /// Every code, in precedence order.
            pub const CODES: [&'static str; [$($code),+].len()] = [$($code),+];

            /// What is fixed about every code, in the same order, for whoever writes about them.
            pub const ADVICE: [Advice; [$($code),+].len()] = [$(Advice {
                code: $code,
                shown: Audience::$audience.shown($code),
                next_step: $next_step,
            }),+];

            fn kind(&self) -> Kind {
                // Codes are unique, so the place in the list is the rank.
                let rank = |code: &str| Self::CODES.iter().position(|known| *known == code);
                match self {
                    $(Self::$variant { .. } => Kind {
                        rank: rank($code).unwrap_or(usize::MAX),
                        code: $code,
                        severity: Severity::$severity,
                        audience: Audience::$audience,
                        next_step: $next_step,
                    },)+
                }
            }
        }
    };
}

#[rustfmt::skip]
kinds! {
    WalletLocked "wallet_locked" Validation Own
        "run `bursar unlock` at a terminal";
    Frozen "frozen" Security Own
        "run `bursar thaw` once the reason for the freeze is settled";
    LedgerLatched "ledger_latched" Security Own
        "run `bursar status` to see the fault and confirm the ledger";
    NoSession "no_session" Validation Own
        "run `bursar session new` to open a budget";
    SessionExpired "session_expired" Validation Own
        "run `bursar session new` to open another budget";
    MandateMissing "mandate_missing" Validation Own
        "run `bursar session new` with a mandate, which the rules want";
    OutsideMandate "outside_mandate" Security Own
        "open a session whose mandate covers it with `bursar session new`";
    IdempotencyConflict "idempotency_conflict" Security Own
        "use a new purchase_id for a different request";
    OverSessionBudget "over_session_budget" Security Own
        "run `bursar session close`, then `bursar session new` with a budget that covers the price";
    QuoteUnknown "quote_unknown" Validation Own
        "ask for a new quote";
    QuoteChanged "quote_changed" Security Own
        "ask for a new quote and look at its terms";
    PriceAboveCeiling "price_above_ceiling" Security Own
        "raise the ceiling of the call only if the user agrees to the price";
    TooManyInFlight "too_many_in_flight" Validation Own
        "wait for the running purchases to end";
    OutsideHours "outside_hours" Validation Own
        "wait for the hours in which payments are made, or change hours and days in the rules";
    SecretMissing "secret_missing" Validation Own
        "store it with `bursar secret set`, or take it out of the rules";
    UrlInvalid "url_invalid" Validation Own
        "correct the URL";
    HttpsRequired "https_required" Security Own
        "use the https URL";
    HostNotAllowed "host_not_allowed" Security Own
        "add a [[host]] entry to the rules if the site is trusted";
    HostQuarantined "host_quarantined" Security Own
        "wait until the quarantine ends, or look with `bursar log` and lift it with `bursar resume`";
    MethodNotAllowed "method_not_allowed" Security Own
        "list the method in the host's entry if it is wanted";
    BodyNotAllowed "body_not_allowed" Validation Own
        "send no body, or a smaller one with POST";
    HeaderNotAllowed "header_not_allowed" Security Own
        "leave the header out, or list it under headers in the host's entry if it is wanted";
    AddressNotPublic "address_not_public" Security Own
        "find out why the name leads to such an address";
    AddressDenied "address_denied" Security Own
        "change deny or allow under [network] in the rules if the seller is trusted";
    RedirectRefused "redirect_refused" Security Own
        "ask for the final URL directly if it is trusted";
    TermsUnreadable "terms_unreadable" Validation Offer
        "tell the seller, or look at its answer with `bursar explain`";
    TermsConflicting "terms_conflicting" Security Offer
        "look at the seller's answer with `bursar explain`";
    TermsTooLarge "terms_too_large" Validation Offer
        "tell the seller that its terms are over the caps";
    UnsupportedVersion "unsupported_version" Validation Offer
        "use a seller that speaks x402 version 1 or 2";
    NoOffers "no_offers" Validation Offer
        "tell the seller that its terms list no offer";
    ResourceMismatch "resource_mismatch" Security Offer
        "list the other host under resource_hosts if it belongs to the seller";
    ClockInvalid "clock_invalid" Validation Offer
        "check this machine's clock; if it is right, the seller's is not";
    UnsupportedScheme "unsupported_scheme" Validation Offer
        "use a seller that offers the scheme `exact`";
    UnsupportedNetwork "unsupported_network" Validation Offer
        "list the network in the rules if it is wanted";
    UnsupportedTransferMethod "unsupported_transfer_method" Validation Offer
        "use a seller that takes EIP-3009 payments";
    UnsupportedPaymentFlow "unsupported_payment_flow" Validation Offer
        "use a seller that settles after delivery";
    ShadowedOffer "shadowed_offer" Security Offer
        "tell the seller to list one offer for each scheme and network";
    OfferConflict "offer_conflict" Security Offer
        "look at the seller's offer with `bursar explain`";
    AmountInvalid "amount_invalid" Validation Offer
        "tell the seller that its amount is malformed";
    AddressInvalid "address_invalid" Validation Offer
        "tell the seller that its address is malformed";
    TimeoutInvalid "timeout_invalid" Validation Offer
        "tell the seller that its maxTimeoutSeconds is unusable";
    AssetNotAllowed "asset_not_allowed" Security Offer
        "list the asset in the rules if it is wanted";
    DomainMismatch "domain_mismatch" Security Offer
        "tell the seller that its EIP-712 domain is not the token's";
    PayeeForbidden "payee_forbidden" Security Offer
        "do not pay this offer; tell the seller";
    PayeeNotAllowed "payee_not_allowed" Security Offer
        "list the payee in the rules if it is the seller's";
    OverPaymentCap "over_payment_cap" Security Offer
        "raise max_per_payment in the rules if such prices are wanted";
    CurrencyWithoutCap "currency_without_cap" Security Own
        "give the ceiling in the currency of the price";
    LifetimeTooShort "lifetime_too_short" Validation Offer
        "tell the seller to leave at least 10 seconds to pay";
    OverLimit "over_limit" Security Limit
        "wait, or raise the [[limit]] in the rules";
    TooManyUnresolved "too_many_unresolved" Security Limit
        "find out with `bursar log` what became of them; `bursar resume` puts up with them";
    Recurring "recurring" Security Own
        "wait, or change no_recurring in the rules";
    InsufficientBalance "insufficient_balance" Validation Own
        "send more of the asset to the paying account, which `bursar status` shows";
    BalanceUnknown "balance_unknown" Validation Own
        "look at `bursar status`: the chain's endpoint has to answer, or change balance in the rules";
    ApprovalDenied "approval_denied" Security Own
        "do not ask again; talk to the person who said no";
    TooManyApprovals "too_many_approvals" Validation Own
        "decide about those that wait with `bursar approvals`";
    NeedsApproval "needs_approval" Validation Own
        "look at it with `bursar approvals`, then `bursar approve` or `bursar deny`";
}

const _: () = assert!(all_differ(&Refusal::CODES), "a refusal code is used twice");

const fn all_differ(codes: &[&str]) -> bool {
    match codes {
        [] => true,
        [first, rest @ ..] => !is_among(first, rest) && all_differ(rest),
    }
}

const fn is_among(code: &str, codes: &[&str]) -> bool {
    match codes {
        [] => false,
        [first, rest @ ..] => same(code.as_bytes(), first.as_bytes()) || is_among(code, rest),
    }
}

const fn same(one: &[u8], other: &[u8]) -> bool {
    match (one, other) {
        ([], []) => true,
        ([a, one @ ..], [b, other @ ..]) => *a == *b && same(one, other),
        _ => false,
    }
}

impl Refusal {
    /// What the model is told where the seller's offer is at fault: one code for all of it.
    pub const OFFER_REFUSED: &'static str = "offer_refused";
    /// What the model is told where a limit over many payments is.
    pub const SPENDING_LIMIT: &'static str = "spending_limit";

    /// The stable code for logs, rules and people. Never renamed, never reused.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind().code
    }

    /// Its place in the order of precedence; the smallest is the answer.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.kind().rank
    }

    /// Whether it tells of a mistake or of a danger.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.kind().severity
    }

    /// Whose business it is.
    #[must_use]
    pub fn audience(&self) -> Audience {
        self.kind().audience
    }

    /// The code that the model may see: its own code only where it concerns our own side.
    #[must_use]
    pub fn shown(&self) -> &'static str {
        self.audience().shown(self.code())
    }

    /// What a person can do about it: an instruction without a full stop.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        self.kind().next_step
    }
}

impl Audience {
    /// The code that a model hears where a refusal of this audience has `code`.
    const fn shown(self, code: &'static str) -> &'static str {
        match self {
            Self::Offer => Refusal::OFFER_REFUSED,
            Self::Limit => Refusal::SPENDING_LIMIT,
            Self::Own => code,
        }
    }
}

/// Sorts reasons by precedence and drops repetitions: the first one is the answer.
#[must_use]
pub fn in_order(mut reasons: alloc::vec::Vec<Refusal>) -> alloc::vec::Vec<Refusal> {
    reasons.sort_by_key(Refusal::rank);
    let mut kept: alloc::vec::Vec<Refusal> = alloc::vec::Vec::with_capacity(reasons.len());
    for reason in reasons {
        if !kept.contains(&reason) {
            kept.push(reason);
        }
    }
    kept
}
