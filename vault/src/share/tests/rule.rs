//! The one rule, on whatever numbers.

use bursar_policy::{Digest, TallyKey};
use proptest::prelude::*;

use crate::ledger::Line;
use crate::share::{Asked, Known, settle};

fn asked(counted: u128, need: u128, want: u128, max: u128) -> Asked {
    let Ok(key) = "all|USD".parse::<TallyKey>();
    Asked { line: Line { limit: Digest::of(b"one"), key }, counted, need, want, max, lasts_s: None }
}

proptest! {
    #[test]
    fn a_part_fits_beside_the_others_and_covers_what_is_counted(
        mine in 0_u128..200, others in 0_u128..200, vaults in 0_u64..5, declared: bool,
        counted in 0_u128..200, need in 0_u128..200, want in 0_u128..400, max in 0_u128..200,
    ) {
        let part = settle(Known { mine, others, vaults, declared }, &asked(counted, need, want, max));
        prop_assert!(counted <= part, "what is counted is held");
        prop_assert!(part == counted || part.saturating_add(others) <= max, "{part} beside {others} is over {max}");
        prop_assert!(declared || part <= mine.max(counted), "nothing new before everybody has told");
    }
}

#[test]
fn what_is_needed_is_given_and_of_the_rest_a_part() {
    let known = |others| Known { mine: 0, others, vaults: 0, declared: true };
    assert_eq!(settle(known(0), &asked(0, 10, 100, 100)), 55, "10, and half of the other 90");
    let crowded = Known { vaults: 8, ..known(0) };
    assert_eq!(settle(crowded, &asked(0, 10, 100, 100)), 19, "a tenth, where eight others may come, and a ninth");
    assert_eq!(settle(known(0), &asked(0, 10, 20, 100)), 20, "no more than is wanted");
    assert_eq!(settle(known(90), &asked(0, 10, 20, 100)), 10, "all that there is");
    assert_eq!(settle(known(95), &asked(0, 10, 20, 100)), 0, "a part that is of no use is not taken");
    assert_eq!(
        settle(Known { mine: 8, others: 90, vaults: 1, declared: true }, &asked(6, 12, 20, 100)),
        8,
        "what it has, it keeps"
    );
    assert_eq!(
        settle(Known { mine: 30, others: 0, vaults: 1, declared: true }, &asked(6, 6, 6, 100)),
        6,
        "what it gives back is free"
    );
}
