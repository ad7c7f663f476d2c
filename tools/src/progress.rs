//! How a running purchase tells where it is, and learns whether anybody still waits for it.
//!
//! Must never block the purchase, and must never carry words: the stages are a closed list.

use tokio::sync::mpsc;

use crate::flights::Wanted;

/// The most stages that wait to be told; further ones are dropped.
const STAGES_WAITING_MAX: usize = 16;

/// Where a purchase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The wallet is asked whether this is a new purchase.
    Claiming,
    /// The seller is asked without money.
    Visiting,
    /// The terms are compared with the rules.
    Judging,
    /// Money is set aside and the payment signed.
    Authorizing,
    /// The payment is with the seller.
    Paying,
    /// The answer is stored.
    Storing,
}

impl Stage {
    /// Every stage, in order.
    pub const EVERY: [Self; 6] =
        [Self::Claiming, Self::Visiting, Self::Judging, Self::Authorizing, Self::Paying, Self::Storing];

    /// Its place, counted from one.
    pub(crate) const fn number(self) -> u32 {
        match self {
            Self::Claiming => 1,
            Self::Visiting => 2,
            Self::Judging => 3,
            Self::Authorizing => 4,
            Self::Paying => 5,
            Self::Storing => 6,
        }
    }

    /// What the user of the client reads.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Claiming => "asking the wallet",
            Self::Visiting => "asking the seller for its price",
            Self::Judging => "comparing the terms with the operator's rules",
            Self::Authorizing => "setting the money aside",
            Self::Paying => "paying; this may take the seller a while",
            Self::Storing => "storing what was bought",
        }
    }
}

/// Given to each purchase. Cloning it costs nothing; it never fails.
#[derive(Clone, Debug)]
pub struct Progress {
    stages: Option<mpsc::Sender<Stage>>,
    wanted: Wanted,
}

impl Progress {
    /// Tells nobody, and is wanted for ever. For tests and for callers without a client.
    #[must_use]
    pub fn silent() -> Self {
        Self { stages: None, wanted: Wanted::always() }
    }

    /// Tells that the purchase has come to `stage`. Never waits.
    pub fn at(&self, stage: Stage) {
        if self.stages.as_ref().is_some_and(|stages| stages.try_send(stage).is_err()) {
            // Full or gone: nobody listens, which is no business of the purchase.
            tracing::trace!(?stage, "a stage was not told");
        }
    }

    /// Whether the client still waits for the result and this server was not told to leave.
    ///
    /// To be asked just before money is set aside: until then a cancelled purchase may be given up as if it had
    /// never been asked for. Afterwards it must be brought to its end.
    #[must_use]
    pub fn wanted(&self) -> bool {
        self.wanted.worth_beginning()
    }

    /// A progress without a listener.
    pub(crate) fn quiet(wanted: Wanted) -> Self {
        Self { stages: None, wanted }
    }

    /// A progress and its listener.
    pub(crate) fn told(wanted: Wanted) -> (Self, mpsc::Receiver<Stage>) {
        let (stages, listener) = mpsc::channel(STAGES_WAITING_MAX);
        (Self { stages: Some(stages), wanted }, listener)
    }
}

#[cfg(test)]
mod tests {
    use super::{Progress, Stage};
    use crate::flights::Wanted;

    #[test]
    fn stages_are_numbered_in_order() {
        for (stage, number) in Stage::EVERY.into_iter().zip(1..) {
            assert_eq!(stage.number(), number);
            assert!(!stage.sentence().is_empty());
        }
    }

    #[test]
    fn a_listener_that_does_not_listen_blocks_nothing() {
        let (progress, listener) = Progress::told(Wanted::always());
        for _ in 0..1000 {
            progress.at(Stage::Paying);
        }
        drop(listener);
        progress.at(Stage::Storing);
        assert!(progress.wanted());
        Progress::silent().at(Stage::Claiming);
    }
}
