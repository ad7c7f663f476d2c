//! Which requests of the client are being worked on, and whether the client still waits for them.
//!
//! Must never end anything: it only keeps count. A cancelled request stays in the air until its work is done, so
//! that its id cannot be given to another request meanwhile and two answers cannot be mixed up.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::Notify;

/// The most requests in the air; beyond it no further line is read until one lands.
const IN_THE_AIR_MAX: usize = 256;

/// Requests that have arrived and are not answered yet.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    open: Mutex<HashMap<RequestId, Wanted>>,
    /// Those of ours that the client has not answered.
    asked: Mutex<HashSet<RequestId>>,
    leaving: Arc<AtomicBool>,
    deaf: Arc<AtomicBool>,
    landed: Notify,
}

/// Whether somebody still waits for an answer, and whether this is still the time to begin something. Shared with the
/// work.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    asked: Arc<AtomicBool>,
    leaving: Arc<AtomicBool>,
    deaf: Arc<AtomicBool>,
}

impl Wanted {
    /// A work that nobody can cancel.
    pub(crate) fn always() -> Self {
        Self::beside(&Arc::default(), &Arc::default())
    }

    fn beside(leaving: &Arc<AtomicBool>, deaf: &Arc<AtomicBool>) -> Self {
        Self { asked: Arc::new(AtomicBool::new(true)), leaving: Arc::clone(leaving), deaf: Arc::clone(deaf) }
    }

    /// False once the client has cancelled the request.
    pub(crate) fn still(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// False also once this server was told to leave: what has not been signed then never will be.
    pub(crate) fn worth_beginning(&self) -> bool {
        self.still() && !self.leaving.load(Ordering::Acquire)
    }

    /// False once the client waits no more, or can say nothing more: then no answer of its own is worth waiting for.
    pub(crate) fn is_heard(&self) -> bool {
        self.worth_beginning() && !self.deaf.load(Ordering::Acquire)
    }

    fn no_more(&self) {
        self.asked.store(false, Ordering::Release);
    }
}

impl Flights {
    /// Notes a request; false when its id is in the air already.
    pub(crate) fn depart(&self, id: &RequestId) -> bool {
        match self.lock().entry(id.clone()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(free) => {
                free.insert(Wanted::beside(&self.leaving, &self.deaf));
                true
            }
        }
    }

    /// Notes that the client does not wait any more. An unknown id is nothing.
    pub(crate) fn cancel(&self, id: &RequestId) {
        if let Some(wanted) = self.lock().get(id) {
            wanted.no_more();
        }
    }

    /// Notes that nothing new is to be begun. What has begun goes on.
    pub(crate) fn leave(&self) {
        self.leaving.store(true, Ordering::Release);
    }

    /// Notes that nothing more is heard of the client.
    pub(crate) fn deafen(&self) {
        self.deaf.store(true, Ordering::Release);
    }

    /// Notes that the client was asked something.
    pub(crate) fn ask(&self, id: &RequestId) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
    }

    /// Notes an answer of the client's; false when it was asked nothing under this id, or has answered.
    pub(crate) fn answered(&self, id: &RequestId) -> bool {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }

    /// The flag that goes with the work of this request.
    pub(crate) fn wanted(&self, id: &RequestId) -> Wanted {
        self.lock().get(id).cloned().unwrap_or_else(|| Wanted::beside(&self.leaving, &self.deaf))
    }

    /// Notes that a request is answered and frees its id; false when the client does not want the answer.
    pub(crate) fn land(&self, id: &RequestId) -> bool {
        let wanted = self.lock().remove(id).is_none_or(|wanted| wanted.still());
        self.landed.notify_waiters();
        wanted
    }

    /// Whether the client waits for this answer; changes nothing.
    pub(crate) fn is_wanted(&self, id: &RequestId) -> bool {
        self.lock().get(id).is_none_or(Wanted::still)
    }

    /// Waits until nothing is in the air.
    pub(crate) async fn all_landed(&self) {
        self.at_most(0).await;
    }

    /// Waits until another request may be taken in.
    pub(crate) async fn room(&self) {
        self.at_most(IN_THE_AIR_MAX.saturating_sub(1)).await;
    }

    async fn at_most(&self, count: usize) {
        loop {
            // Listening starts here, before the count is read, so that a landing between the two is not missed.
            let landed = self.landed.notified();
            if self.lock().len() <= count {
                return;
            }
            landed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Wanted>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rmcp::model::RequestId;

    use super::Flights;

    #[test]
    fn an_id_is_taken_until_it_lands_even_if_cancelled() {
        let flights = Flights::default();
        let id = RequestId::Number(1);
        assert!(flights.depart(&id));
        let wanted = flights.wanted(&id);
        assert!(!flights.depart(&id));
        flights.cancel(&id);
        assert!(!wanted.still());
        assert!(!flights.depart(&id));
        assert!(!flights.land(&id));
        assert!(flights.depart(&id));
        assert!(flights.wanted(&id).still());
        assert!(flights.land(&id));
        flights.cancel(&RequestId::Number(5));
    }

    #[tokio::test]
    async fn waiting_ends_with_the_last_landing() {
        let flights = Arc::new(Flights::default());
        flights.all_landed().await;
        for id in 0..3 {
            assert!(flights.depart(&RequestId::Number(id)));
        }
        let waiting = tokio::spawn({
            let flights = Arc::clone(&flights);
            async move { flights.all_landed().await }
        });
        for id in 0..3 {
            tokio::task::yield_now().await;
            assert!(!waiting.is_finished());
            assert!(flights.land(&RequestId::Number(id)));
        }
        waiting.await.unwrap();
    }

    #[test]
    fn leaving_begins_nothing_new_and_still_answers() {
        let flights = Flights::default();
        let id = RequestId::Number(1);
        assert!(flights.depart(&id));
        let wanted = flights.wanted(&id);
        assert!(wanted.worth_beginning());
        flights.leave();
        assert!(!wanted.worth_beginning() && wanted.still());
        assert!(flights.land(&id), "the answer is still told");
    }
}
