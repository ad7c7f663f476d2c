//! What the demo seller has on its shelf: one row for each path, honest or hostile.
//!
//! Data only: it must never decide about a payment.

/// Which x402 version a ware is sold under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edition {
    /// Terms in the body, payment in `X-PAYMENT`.
    V1,
    /// Terms in `PAYMENT-REQUIRED`, payment in `PAYMENT-SIGNATURE`.
    V2,
}

impl Edition {
    /// The number on the wire.
    pub(crate) const fn number(self) -> u64 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }
}

/// How the seller behaves on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Asks, checks, settles, delivers.
    Honest,
    /// Asks for the money to go to somebody the operator never listed.
    SwappedPayee,
    /// Asks on Base mainnet instead of the test network.
    OtherNetwork,
    /// Asks for `"0.05"` where atomic units belong.
    DecimalAmount,
    /// A version 1 body names a small price, the version 2 header a large one.
    HeaderAgainstBody,
    /// Two offers that differ in price only, the dear one first (in version 1 beyond any ceiling).
    DearFirst,
    /// Sends the buyer to a cloud metadata address.
    Redirect,
    /// Takes the signature, moves nothing, and claims a settlement on another chain by another payer.
    FalseReceipt,
    /// Takes the signature, and asks for more.
    AskAgain,
    /// Settles, then hangs up without a word; delivers when the same payment is shown again.
    HangUp,
    /// Settles, then holds the answer back until the demo lets it go.
    HoldBack,
}

/// One thing for sale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ware {
    /// Path on every host of the seller.
    pub(crate) path: &'static str,
    /// Protocol version it is sold under.
    pub(crate) edition: Edition,
    /// Price in atomic units of a token with six decimals.
    pub(crate) units: u128,
    /// How the seller behaves.
    pub(crate) manner: Manner,
}

/// Five cents.
pub(crate) const FIVE_CENTS: u128 = 50_000;
/// Twenty cents.
pub(crate) const TWENTY_CENTS: u128 = 200_000;
/// Nine dollars: more than any ceiling of the demo.
pub(crate) const NINE_DOLLARS: u128 = 9_000_000;

/// Everything the seller offers.
pub(crate) const SHELF: [Ware; 16] = [
    ware("/v2/report", Edition::V2, FIVE_CENTS, Manner::Honest),
    ware("/v1/report", Edition::V1, FIVE_CENTS, Manner::Honest),
    ware("/v2/atlas", Edition::V2, TWENTY_CENTS, Manner::Honest),
    ware("/v2/yacht", Edition::V2, NINE_DOLLARS, Manner::Honest),
    ware("/v2/swapped-payee", Edition::V2, FIVE_CENTS, Manner::SwappedPayee),
    ware("/v1/swapped-payee", Edition::V1, FIVE_CENTS, Manner::SwappedPayee),
    ware("/v2/other-network", Edition::V2, FIVE_CENTS, Manner::OtherNetwork),
    ware("/v2/decimal-amount", Edition::V2, FIVE_CENTS, Manner::DecimalAmount),
    ware("/v2/header-against-body", Edition::V2, NINE_DOLLARS, Manner::HeaderAgainstBody),
    ware("/v2/dear-first", Edition::V2, FIVE_CENTS, Manner::DearFirst),
    ware("/v1/dear-first", Edition::V1, FIVE_CENTS, Manner::DearFirst),
    ware("/v2/redirect", Edition::V2, FIVE_CENTS, Manner::Redirect),
    ware("/v2/false-receipt", Edition::V2, FIVE_CENTS, Manner::FalseReceipt),
    ware("/v2/ask-again", Edition::V2, FIVE_CENTS, Manner::AskAgain),
    ware("/v2/hang-up", Edition::V2, FIVE_CENTS, Manner::HangUp),
    ware("/v2/hold-back", Edition::V2, FIVE_CENTS, Manner::HoldBack),
];

const fn ware(path: &'static str, edition: Edition, units: u128, manner: Manner) -> Ware {
    Ware { path, edition, units, manner }
}

/// The ware sold under `path`.
pub(crate) fn find(path: &str) -> Option<Ware> {
    SHELF.iter().copied().find(|ware| ware.path == path)
}
