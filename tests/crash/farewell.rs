//! How a test's sandbox is left: the vault that some command started is asked to go, and waited for.

use std::fs::File;
use std::time::Duration;

use bursar_vault::client::OperatorClient;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::OperatorAsk;
use rustix::fs::{FlockOperation, flock};

const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// How often a vault that was asked to go is looked at.
const LOOKS: u32 = 1_000;

/// Ends whatever vault runs in a sandbox, and waits for its end, so that the folder can go.
pub(crate) fn send_away(profile: &Profile) {
    if let Ok((operator, _)) = OperatorClient::connect(profile) {
        drop(operator.ask(&OperatorAsk::Shutdown));
    }
    for _look in 0..LOOKS {
        if nobody_has_the_ledger(profile) {
            return;
        }
        std::thread::park_timeout(LOOK_AGAIN);
    }
}

/// Whether the lock that a vault holds for life is free, or there never was one.
pub(crate) fn nobody_has_the_ledger(profile: &Profile) -> bool {
    File::open(profile.lock()).map_or(true, |lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok())
}
