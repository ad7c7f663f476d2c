//! Stories that failed once, cut down to the acts that they need. Must never be drawn again: a seed means another story as
//! soon as the drawing changes, a story stays.

use super::act::{Act, Want};

const WANT: Want = Want { session: 0, host: 0, path: 0, order: Some(1) };

/// Each with what went wrong.
pub(super) fn saved() -> Vec<(&'static str, Vec<Act>)> {
    let open = || Act::Open { cents: 85, life_s: 15_549 };
    let claim = || Act::Claim { want: WANT };
    let buy = || Act::Authorize { slot: 0, cents: 30, quoted: false };
    vec![
        (
            "a ledger that is shut only reads, and asks nobody for the lock",
            vec![open(), claim(), Act::Leap { on: true, seconds: 2_853 }, Act::Locked { slot: 0, cents: 1 }],
        ),
        (
            "what was signed in a mistaken future is good until it comes",
            vec![open(), claim(), buy(), Act::Leap { on: false, seconds: 2_096 }, Act::Unlatch],
        ),
        (
            "a clock that was set back a little lags until time has caught up",
            vec![open(), claim(), Act::Leap { on: false, seconds: 25 }, buy()],
        ),
        (
            "a ledger that is shut gives back nothing that is held",
            vec![open(), claim(), Act::Hold { slot: 0, cents: 8 }, claim(), Act::Latch, buy()],
        ),
        (
            "a ledger that is shut ends no handle",
            vec![open(), claim(), Act::Hold { slot: 0, cents: 8 }, Act::Latch, Act::Pass { seconds: 90 }, Act::Sweep],
        ),
    ]
}
