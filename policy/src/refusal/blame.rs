//! Which refusals are strikes against the seller. It must never list what a caller can bring about at an honest seller
//! whose payees are listed.

use super::Refusal;

/// What a seller's own document says that an honest seller of one payee never does, whatever it is asked.
///
/// A strike is not about danger to the money: that was refused. It is about whom to stop asking, and a page of one
/// seller must not be able to have another one struck by sending a model there. So these security refusals are none:
///
/// - `over_payment_cap`, `asset_not_allowed`: an honest seller has dear things, and things for other money;
/// - `shadowed_offer`: an honest first-generation seller that takes two tokens looks like this when both are too dear;
/// - `quote_changed`: honest prices move, and some honest sellers name a fresh payee for every payment;
/// - `address_not_public`: a captive portal and a broken resolver lead every name into a private network;
/// - `redirect_refused`: a moved page, and the caller chose which one to ask for;
/// - limits, budgets, mandates, methods, hosts and everything else about the caller or about our own side.
const STRIKES: [&str; 6] = [
    // Terms that say one thing twice are written for two readers.
    "terms_conflicting",
    // Terms made for somebody else.
    "resource_mismatch",
    // The same within one offer.
    "offer_conflict",
    // A signature for another contract or another chain.
    "domain_mismatch",
    // Money to nobody, to the token itself, or back to the payer.
    "payee_forbidden",
    // Somebody else is to be paid than the operator said. A marketplace with a payee for each of its shops looks the
    // same where only one is listed, and that is for the operator to say.
    "payee_not_allowed",
];

impl Refusal {
    /// Whether it counts against the seller: its own doing, which no honest seller of listed payees does.
    #[must_use]
    pub fn blames_the_seller(&self) -> bool {
        STRIKES.contains(&self.code())
    }
}
