//! One call of one tool, from raw arguments to the answer as JSON. Knows no transport.
//!
//! Must never start a purchase without a place for it: the places are also what the end of the process waits for.

use std::sync::Arc;

use bursar_policy::Refusal;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use crate::attach::{AttachAnswer, AttachOutcome};
use crate::catalog::Which;
use crate::fetch::{FetchAnswer, Outcome};
use crate::payments::{Payments, Recall, Wanted};
use crate::prepare::{PrepareAnswer, PrepareOutcome};
use crate::progress::Progress;
use crate::quote::{QuoteAnswer, QuoteOutcome};
use crate::status::StatusAnswer;
use crate::stored::{self, Asked, Young};
use crate::{attach, prepare, quote, status};

/// What the model is told, and the little that a log may say about it.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// The answer; fits the output schema of the tool.
    pub(crate) answer: Value,
    /// Whether the client should treat it as a failed call.
    pub(crate) is_error: bool,
    /// The code in the answer.
    pub(crate) code: String,
}

/// Runs a call to its end.
pub(crate) async fn run<P: Payments>(
    payments: Arc<P>,
    which: Which,
    arguments: Map<String, Value>,
    progress: Progress,
    places: Arc<Semaphore>,
) -> Told {
    match which {
        Which::Fetch => {
            let asked = match stored::read(arguments) {
                Ok(asked) => asked,
                Err(words) => return Told::new(&FetchAnswer::unusable(*words), true),
            };
            let Ok(_place) = places.try_acquire() else {
                return Told::new(&FetchAnswer::refused(&[Refusal::TooManyInFlight]), false);
            };
            let (order, young) = match asked {
                Asked::Errand { order, young } => (*order, young),
                Asked::Stored { digest, view } => {
                    let answer = FetchAnswer::recalled(&payments.recall(Wanted::Content { digest, view }).await);
                    return Told::new(&answer, answer.outcome == Outcome::Failed);
                }
            };
            if let Some(Young { max_age_s, view }) = young {
                let wanted = Wanted::Request { errand: Box::new(order.errand.clone()), max_age_s, view };
                let found = payments.recall(wanted).await;
                // Without a copy the call goes on as if none had been asked for.
                if !matches!(found, Recall::Not(_)) {
                    let answer = FetchAnswer::recalled(&found);
                    return Told::new(&answer, answer.outcome == Outcome::Failed);
                }
            }
            let site = order.errand.site.clone();
            let purchase = payments.fetch(order.errand, order.body, progress).await;
            let answer = FetchAnswer::new(&purchase, &site);
            let is_error = answer.outcome == Outcome::Failed;
            Told::new(&answer, is_error)
        }
        Which::Quote => {
            let order = match quote::read(arguments) {
                Ok(order) => order,
                Err(words) => return Told::new(&QuoteAnswer::unusable(*words), true),
            };
            let Ok(_place) = places.try_acquire() else {
                return Told::new(&QuoteAnswer::refused(&[Refusal::TooManyInFlight]), false);
            };
            let site = order.errand.site.clone();
            let answer = QuoteAnswer::new(&payments.quote(order.errand, order.body).await, &site);
            let is_error = answer.outcome == QuoteOutcome::Failed;
            Told::new(&answer, is_error)
        }
        Which::Prepare => {
            let errand = match prepare::read(arguments) {
                Ok(errand) => errand,
                Err(words) => return Told::new(&PrepareAnswer::unusable(*words), true),
            };
            let Ok(_place) = places.try_acquire() else {
                return Told::new(&PrepareAnswer::refused(&[Refusal::TooManyInFlight]), false);
            };
            let site = errand.site.clone();
            let answer = PrepareAnswer::new(&payments.prepare(errand, progress).await, &site);
            let is_error = answer.outcome == PrepareOutcome::Failed;
            Told::new(&answer, is_error)
        }
        Which::Attach => {
            let (handle, open) = match attach::read(arguments) {
                Ok(asked) => asked,
                Err(words) => return Told::new(&AttachAnswer::unusable(*words), true),
            };
            let Ok(_place) = places.try_acquire() else {
                return Told::new(&AttachAnswer::refused(&[Refusal::TooManyInFlight]), false);
            };
            let answer = AttachAnswer::new(&payments.attach(handle, open).await);
            let is_error = answer.outcome == AttachOutcome::Failed;
            Told::new(&answer, is_error)
        }
        Which::Status => {
            if let Err(words) = status::read(arguments) {
                return Told::new(&StatusAnswer::unusable(*words), true);
            }
            Told::new(&StatusAnswer::new(&payments.status().await), false)
        }
    }
}

/// The answer to a call whose work broke down.
pub(crate) fn broken(which: Which) -> Told {
    match which {
        Which::Fetch => Told::new(&FetchAnswer::broken(), true),
        Which::Quote => Told::new(&QuoteAnswer::broken(), true),
        Which::Prepare => Told::new(&PrepareAnswer::broken(), true),
        Which::Attach => Told::new(&AttachAnswer::broken(), true),
        Which::Status => Told::new(&StatusAnswer::broken(), true),
    }
}

impl Told {
    fn new<T: Serialize>(answer: &T, is_error: bool) -> Self {
        // None of the answer types has a key that is not a text or a number that is not finite.
        let answer = serde_json::to_value(answer).unwrap_or_default();
        let code = answer.get("code").and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { answer, is_error, code }
    }
}
