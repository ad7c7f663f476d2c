//! The Chrome DevTools Protocol, as little of it as is needed: calls with an answer, and four kinds of events.
//!
//! Must never log a message: one of them carries a payment header.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::event::Event;
use super::line::{Ear, Mouth};

/// How long the browser may take for an answer.
const ANSWER: Duration = Duration::from_secs(15);

/// A conversation with one page; without one, the browser itself is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Session(String);

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CdpFault {
    /// The browser was closed, or the connection to it was.
    #[error("the browser was closed; start `bursar browser` again")]
    Gone,
    /// The browser takes too long.
    #[error("the browser does not answer `{method}`; close it and start `bursar browser` again")]
    Silent {
        /// What was called.
        method: &'static str,
    },
    /// The browser cannot do it, which is usual where a page has just gone.
    #[error("the browser refused `{method}` (code {code}); it may be too old, or the page is gone")]
    Refused {
        /// What was called.
        method: &'static str,
        /// Its code (JSON-RPC).
        code: i64,
    },
}

/// A connection to one browser. It ends when it is dropped.
pub struct Cdp {
    outgoing: mpsc::UnboundedSender<Zeroizing<String>>,
    waiting: Arc<Waiting>,
    last: AtomicU64,
    gone: watch::Receiver<bool>,
}

type Answer = Result<Value, i64>;

/// Who waits for an answer; nothing once the browser has gone.
struct Waiting(Mutex<Option<HashMap<u64, oneshot::Sender<Answer>>>>);

impl fmt::Debug for Cdp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cdp").field("gone", &*self.gone.borrow()).finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct Call<'a, P> {
    id: u64,
    method: &'a str,
    params: P,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    session: Option<&'a Session>,
}

/// One message of the browser's: an answer when it has an id, else an event.
#[derive(Deserialize)]
struct Heard {
    id: Option<u64>,
    #[serde(default)]
    result: Value,
    error: Option<Refusal>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(rename = "sessionId")]
    session: Option<Session>,
}

#[derive(Deserialize)]
struct Refusal {
    code: i64,
}

impl Cdp {
    /// Speaks over a line. Needs a runtime, on which two tasks carry the messages.
    pub(super) fn over(mouth: Mouth, ear: Ear) -> (Self, mpsc::UnboundedReceiver<Event>) {
        let (outgoing, messages) = mpsc::unbounded_channel();
        let (events, heard) = mpsc::unbounded_channel();
        let (ended, gone) = watch::channel(false);
        let waiting = Arc::new(Waiting(Mutex::new(Some(HashMap::new()))));
        tokio::spawn(carry_out(mouth, messages));
        tokio::spawn(carry_in(ear, Arc::clone(&waiting), events, ended));
        (Self { outgoing, waiting, last: AtomicU64::new(0), gone }, heard)
    }

    /// Calls a method. It is sent at once, in the order of the calls, whether or not the answer is waited for.
    ///
    /// # Errors
    ///
    /// The future's: [`CdpFault`].
    pub fn call<P: Serialize>(
        &self,
        session: Option<&Session>,
        method: &'static str,
        params: P,
    ) -> impl Future<Output = Result<Value, CdpFault>> + use<P> {
        let id = self.last.fetch_add(1, Ordering::Relaxed);
        let answer = self.waiting.expect(id);
        let call = Call { id, method, params, session };
        let sent = serde_json::to_string(&call).is_ok_and(|text| self.outgoing.send(Zeroizing::new(text)).is_ok());
        async move {
            let Some(answer) = answer.filter(|_| sent) else { return Err(CdpFault::Gone) };
            match timeout(ANSWER, answer).await {
                Err(_) => Err(CdpFault::Silent { method }),
                Ok(Err(_)) => Err(CdpFault::Gone),
                Ok(Ok(Err(code))) => Err(CdpFault::Refused { method, code }),
                Ok(Ok(Ok(result))) => Ok(result),
            }
        }
    }

    /// Ends when the browser has gone.
    pub fn gone(&self) -> impl Future<Output = ()> + use<> {
        let mut gone = self.gone.clone();
        async move {
            // The sender goes with the task that reads, which is as good as its word.
            drop(gone.wait_for(|gone| *gone).await);
        }
    }
}

impl Waiting {
    fn expect(&self, id: u64) -> Option<oneshot::Receiver<Answer>> {
        let (tell, answer) = oneshot::channel();
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.as_mut()?.insert(id, tell);
        Some(answer)
    }

    fn tell(&self, id: u64, answer: Answer) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tell) = waiting.as_mut().and_then(|waiting| waiting.remove(&id)) {
            // Whoever asked may not want to know any more.
            drop(tell.send(answer));
        }
    }

    fn give_up(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

async fn carry_out(mut mouth: Mouth, mut messages: mpsc::UnboundedReceiver<Zeroizing<String>>) {
    while let Some(message) = messages.recv().await {
        if mouth.say(&message).await.is_none() {
            return;
        }
    }
}

async fn carry_in(
    mut ear: Ear,
    waiting: Arc<Waiting>,
    events: mpsc::UnboundedSender<Event>,
    ended: watch::Sender<bool>,
) {
    while let Some(message) = ear.hear().await {
        let Ok(heard) = serde_json::from_slice::<Heard>(&message) else { continue };
        match heard {
            Heard { id: Some(id), error: Some(refusal), .. } => waiting.tell(id, Err(refusal.code)),
            Heard { id: Some(id), result, .. } => waiting.tell(id, Ok(result)),
            Heard { method: Some(method), params, session, .. } => {
                if let Some(event) = Event::read(&method, params, session) {
                    drop(events.send(event));
                }
            }
            Heard { .. } => {}
        }
    }
    waiting.give_up();
    ended.send_replace(true);
}
