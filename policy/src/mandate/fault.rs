//! What can be wrong with a mandate, one sentence each. It must never decide.

use crate::chain::Address;
use crate::money::{Currency, Money};
use crate::site::Origin;

/// Why something is no mandate, or none under these rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MandateFault {
    // Not whole.
    /// No purpose, more than 200 characters of it, or more than one line.
    #[error("a purpose has 1 to 200 characters on one line; say in a few words what the session is for")]
    Purpose,
    /// No origin, or more than 32.
    #[error("a mandate names 1 to 32 origins; name each seller that may be asked")]
    Origins,
    /// An origin that stands there already.
    #[error("the origin `{0}` is named twice; name it once")]
    OriginTwice(Origin),
    /// No payee where they are listed, or more than 32.
    #[error("a mandate lists 1 to 32 payees, or says that any payee will do whom the rules allow; do one of the two")]
    Payees,
    /// A payee that stands there already.
    #[error("the payee `{0}` is named twice; name it once")]
    PayeeTwice(Address),
    /// A ceiling of nothing.
    #[error("a mandate's ceiling for one payment is above zero; raise it")]
    Ceiling,

    // Contradictory.
    /// Ceiling and budget cannot be compared.
    #[error("the ceiling `{ceiling}` and the budget `{budget}` are in two currencies; give both in one")]
    Currencies {
        /// The mandate's ceiling for one payment.
        ceiling: Money,
        /// The session's budget.
        budget: Money,
    },
    /// One payment would be more than everything.
    #[error("one payment of `{ceiling}` is over the whole budget, `{budget}`; lower the ceiling or raise the budget")]
    OverBudget {
        /// The mandate's ceiling for one payment.
        ceiling: Money,
        /// The session's budget.
        budget: Money,
    },
    /// An origin where the rules let nothing be asked.
    #[error("the rules let nothing be asked at `{0}`; leave it out, or list it as a [[host]] in the rules")]
    OriginNotAllowed(Origin),
    /// A payee whom the rules let nobody pay there.
    #[error("the rules let `{0}` be paid at none of the origins; leave it out, or list it in the rules")]
    PayeeNotAllowed(Address),
    /// A currency in which the rules let nothing be paid.
    #[error("the rules have no ceiling in `{0}`; give budget and ceiling in a currency that can be paid")]
    CurrencyNotAllowed(Currency),
    /// A payment as dear as the ceiling is refused by the rules at every origin.
    #[error("the rules let no payment there cost more than `{most}`; lower the ceiling `{ceiling}` to that or less")]
    OverRules {
        /// The mandate's ceiling for one payment.
        ceiling: Money,
        /// The highest ceiling that the rules have at the origins.
        most: Money,
    },
}
