//! Waiting for the next events. Must never hold anything up but the one who asks.

use super::OperatorConversation;
use crate::ledger::LOG_PAGE_MAX;
use crate::protocol::OperatorReply;
use crate::trouble::Trouble;
use std::time::{Duration, Instant};

/// How long an asker is kept waiting for an event.
const WAIT: Duration = Duration::from_secs(20);
/// How long one look lasts before the asker is checked to be still there.
const PATIENCE: Duration = Duration::from_millis(500);

impl OperatorConversation {
    /// The events after number `after` as soon as there are any, or none after a while.
    pub(super) fn next(&self, after: u64) -> Result<OperatorReply, Trouble> {
        let began = Instant::now();
        loop {
            if self.vault.ledger.wait_past(after, PATIENCE) {
                let found = self.log(LOG_PAGE_MAX, Some(after))?;
                if !matches!(&found, OperatorReply::Log(entries) if entries.is_empty()) {
                    return Ok(found);
                }
            }
            if WAIT <= began.elapsed() || self.peer.is_gone() || self.vault.is_ending().is_some() {
                return Ok(OperatorReply::Log(Vec::new()));
            }
        }
    }
}
