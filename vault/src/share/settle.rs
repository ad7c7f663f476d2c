//! The one rule of a center. Must never give a part that does not fit beside the others'.

use super::Asked;

/// What a center knows of a line when one vault asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The part that this vault holds.
    pub mine: u128,
    /// The parts of all others that may still matter, together.
    pub others: u128,
    /// How many other vaults there are.
    pub vaults: u64,
    /// Whether every other vault that may still matter has said what it counted under this limit.
    pub declared: bool,
}

/// The part of the vault that asks from now on.
///
/// It fits beside those of the others, except that it is never less than what is counted already: that is spent whatever
/// anybody says, and keeps everybody else from more. While somebody has not said what they counted, nobody gets more than
/// they hold. Of what is free beyond the need each vault is given its share at most, and a newcomer finds one as well.
#[must_use]
pub fn settle(known: Known, asked: &Asked) -> u128 {
    let Known { mine, others, vaults, declared } = known;
    let free = asked.max.saturating_sub(others);
    let fits = if declared { free } else { free.min(mine) };
    let need = asked.need.max(asked.counted);
    let beyond = fits.saturating_sub(need).div_euclid(u128::from(vaults).saturating_add(2));
    let given = if need <= fits { asked.want.clamp(need, need.saturating_add(beyond)) } else { mine.min(fits) };
    given.max(asked.counted)
}
