//! Where an agent that wants a page paid for and the glue that holds the browser meet. Must never hold money, and decides
//! nothing: what became of a payment is the ledger's to say.
//!
//! In memory only: after a restart there is no glue, and every handle is over.

use crate::protocol::{Attach, GlueRefusal};
use bursar_policy::{Digest, Refusal, SessionName};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The most payments that one glue is given and that are remembered; the oldest is forgotten first.
const TASKS_MAX: usize = 64;

/// Every session's glue.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    seats: Mutex<HashMap<SessionName, Seat>>,
    changed: Condvar,
}

/// How far a glue is with one payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It was not told yet.
    Posted,
    /// It was told.
    Given,
    /// It is ready for the browser's request.
    Armed,
    /// It cannot make it.
    Declined(GlueRefusal),
    /// The vault did not let it go.
    Refused(Vec<Refusal>),
    /// The header is with the glue.
    Redeemed,
    /// It said what came back, or went on to something else.
    Over,
}

/// The glue's place; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Chair {
    desk: Arc<Desk>,
    session: SessionName,
}

#[derive(Debug, Default)]
struct Seat {
    tasks: VecDeque<Task>,
}

#[derive(Debug)]
struct Task {
    digest: Digest,
    attach: Attach,
    stage: Stage,
}

impl Seat {
    fn find(&mut self, handle: &Digest) -> Option<&mut Task> {
        self.tasks.iter_mut().find(|task| task.digest == *handle)
    }
}

impl Desk {
    /// Takes the place of the session's glue, waiting up to `patience` for it to be free; `None` when another keeps it.
    pub(crate) fn sit(self: &Arc<Self>, session: &SessionName, patience: Duration) -> Option<Chair> {
        let seats = self.lock();
        let taken = |seats: &mut HashMap<SessionName, Seat>| seats.contains_key(session);
        let waited = self.changed.wait_timeout_while(seats, patience, taken);
        let (mut seats, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if seats.contains_key(session) {
            return None;
        }
        seats.insert(session.clone(), Seat::default());
        Some(Chair { desk: Arc::clone(self), session: session.clone() })
    }

    /// Gives the session's glue a payment to make, unless it has it already. Whether there is a glue.
    pub(crate) fn post(&self, session: &SessionName, attach: Attach) -> bool {
        let mut seats = self.lock();
        let Some(seat) = seats.get_mut(session) else { return false };
        let digest = attach.handle.digest();
        let under_way =
            |task: &Task| matches!(task.stage, Stage::Posted | Stage::Given | Stage::Armed | Stage::Redeemed);
        if seat.find(&digest).is_some_and(|task| under_way(task)) {
            return true;
        }
        seat.tasks.retain(|task| task.digest != digest);
        if TASKS_MAX <= seat.tasks.len() {
            seat.tasks.pop_front();
        }
        seat.tasks.push_back(Task { digest, attach, stage: Stage::Posted });
        drop(seats);
        self.changed.notify_all();
        true
    }

    /// Takes back a payment that the glue was not told of yet.
    pub(crate) fn withdraw(&self, session: &SessionName, handle: &Digest) {
        if let Some(seat) = self.lock().get_mut(session) {
            seat.tasks.retain(|task| task.digest != *handle || task.stage != Stage::Posted);
        }
    }

    /// Where the glue is with a payment, as soon as it is somewhere that `enough` takes, or after `patience` wherever it
    /// is then. `None` when the glue is gone, or does not know of it.
    pub(crate) fn wait(
        &self,
        session: &SessionName,
        handle: &Digest,
        enough: impl Fn(&Stage) -> bool,
        patience: Duration,
    ) -> Option<Stage> {
        let until = Instant::now().checked_add(patience);
        let mut seats = self.lock();
        loop {
            let stage = seats.get_mut(session)?.find(handle)?.stage.clone();
            let left = until.map_or(patience, |until| until.saturating_duration_since(Instant::now()));
            if enough(&stage) || left.is_zero() {
                return Some(stage);
            }
            (seats, _) = self.changed.wait_timeout(seats, left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionName, Seat>> {
        // Each change is one statement on the map.
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Chair {
    /// Whose payments are made here.
    pub(crate) const fn session(&self) -> &SessionName {
        &self.session
    }

    /// Goes on to something else: what it was given before it does not make any more.
    pub(crate) fn go_on(&self) {
        let mut seats = self.desk.lock();
        let tasks = seats.get_mut(&self.session).into_iter().flat_map(|seat| seat.tasks.iter_mut());
        for task in tasks.filter(|task| matches!(task.stage, Stage::Given | Stage::Armed | Stage::Redeemed)) {
            task.stage = Stage::Over;
        }
        drop(seats);
        self.desk.changed.notify_all();
    }

    /// The next payment to make, waiting up to `patience` for one.
    pub(crate) fn next(&self, patience: Duration) -> Option<Attach> {
        let until = Instant::now().checked_add(patience);
        let mut seats = self.desk.lock();
        loop {
            let seat = seats.get_mut(&self.session)?;
            if let Some(task) = seat.tasks.iter_mut().find(|task| task.stage == Stage::Posted) {
                task.stage = Stage::Given;
                return Some(task.attach.clone());
            }
            let left = until.map_or(patience, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return None;
            }
            (seats, _) = self.desk.changed.wait_timeout(seats, left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says how far it is with a payment that it was given. Whether it was.
    pub(crate) fn say(&self, handle: &Digest, stage: Stage) -> bool {
        let mut seats = self.desk.lock();
        let Some(task) = seats.get_mut(&self.session).and_then(|seat| seat.find(handle)) else { return false };
        task.stage = stage;
        drop(seats);
        self.desk.changed.notify_all();
        true
    }
}

impl Drop for Chair {
    fn drop(&mut self) {
        self.desk.lock().remove(&self.session);
        self.desk.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bursar_policy::{Handle, Method, PageOpening};

    fn attach(byte: u8) -> Attach {
        Attach {
            handle: Handle::from_random([byte; 24]),
            url: "https://api.example.com/".to_owned(),
            method: Method::Get,
            open: PageOpening::Navigate,
            expires_in_s: 90,
        }
    }

    #[test]
    fn one_glue_serves_a_session_and_its_place_is_free_when_it_leaves() {
        let desk = Arc::new(Desk::default());
        let (here, there) = (SessionName::default(), "other".parse().unwrap());
        assert!(!desk.post(&here, attach(1)), "there is no glue");
        let chair = desk.sit(&here, Duration::ZERO).unwrap();
        assert!(desk.sit(&here, Duration::ZERO).is_none());
        assert!(desk.sit(&there, Duration::ZERO).is_some());
        assert!(desk.post(&here, attach(1)));
        drop(chair);
        assert_eq!(desk.wait(&here, &attach(1).handle.digest(), |_| true, Duration::ZERO), None);
        let chair = desk.sit(&here, Duration::ZERO).unwrap();
        assert_eq!(chair.next(Duration::ZERO), None, "what the first was given is not the second's");
    }

    #[test]
    fn a_place_that_is_just_being_left_is_waited_for() {
        let desk = Arc::new(Desk::default());
        let session = SessionName::default();
        let first = desk.sit(&session, Duration::ZERO).unwrap();
        let second = {
            let (desk, session) = (Arc::clone(&desk), session.clone());
            std::thread::spawn(move || desk.sit(&session, Duration::MAX).is_some())
        };
        drop(first);
        assert!(second.join().unwrap());
    }

    #[test]
    fn a_payment_is_given_once_and_again_after_it_was_declined() {
        let desk = Arc::new(Desk::default());
        let session = SessionName::default();
        let chair = desk.sit(&session, Duration::ZERO).unwrap();
        let digest = attach(1).handle.digest();
        for _twice in 0..2 {
            assert!(desk.post(&session, attach(1)));
        }
        assert_eq!(chair.next(Duration::ZERO), Some(attach(1)));
        assert_eq!(chair.next(Duration::ZERO), None);
        assert!(chair.say(&digest, Stage::Declined(GlueRefusal::PageGone)));
        let seen = desk.wait(&session, &digest, |stage| matches!(stage, Stage::Declined(_)), Duration::ZERO);
        assert_eq!(seen, Some(Stage::Declined(GlueRefusal::PageGone)));
        assert!(desk.post(&session, attach(1)));
        desk.withdraw(&session, &digest);
        assert_eq!(chair.next(Duration::ZERO), None);
        assert!(!chair.say(&digest, Stage::Armed), "withdrawn");
        for byte in 0..=u8::try_from(TASKS_MAX).unwrap() {
            assert!(desk.post(&session, attach(byte)));
        }
        assert_eq!(chair.next(Duration::ZERO), Some(attach(1)), "the oldest is forgotten");
    }

    #[test]
    fn a_glue_that_goes_on_makes_no_longer_what_it_was_given_and_may_be_given_it_again() {
        let desk = Arc::new(Desk::default());
        let session = SessionName::default();
        let chair = desk.sit(&session, Duration::ZERO).unwrap();
        let digest = attach(1).handle.digest();
        for stage in [Stage::Given, Stage::Armed, Stage::Redeemed] {
            assert!(desk.post(&session, attach(1)));
            assert!(chair.next(Duration::ZERO).is_some(), "{stage:?}");
            assert!(chair.say(&digest, stage));
            chair.go_on();
            assert_eq!(desk.wait(&session, &digest, |_| true, Duration::ZERO), Some(Stage::Over));
        }
        assert!(desk.post(&session, attach(1)));
        chair.go_on();
        assert!(chair.next(Duration::ZERO).is_some(), "what it was not told of yet is still to be made");
    }

    #[test]
    fn whoever_waits_hears_of_it_at_once() {
        let desk = Arc::new(Desk::default());
        let session = SessionName::default();
        let chair = desk.sit(&session, Duration::ZERO).unwrap();
        let digest = attach(1).handle.digest();
        assert!(desk.post(&session, attach(1)));
        let waiting = {
            let (desk, session) = (Arc::clone(&desk), session.clone());
            std::thread::spawn(move || desk.wait(&session, &digest, |stage| *stage == Stage::Armed, Duration::MAX))
        };
        assert_eq!(chair.next(Duration::MAX), Some(attach(1)));
        assert!(chair.say(&digest, Stage::Armed));
        assert_eq!(waiting.join().unwrap(), Some(Stage::Armed));
    }
}
