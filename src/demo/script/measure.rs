//! Measures a step: what the seller, the ledger and the play chain show afterwards that they did not show before.
//!
//! It must never change anything it measures.

use std::collections::BTreeSet;
use std::io;

use serde_json::Value;

use super::account::{AGAIN, Account, UNPROVEN, Visits};
use crate::demo::client::ClientFault;
use crate::demo::money::dollars;
use crate::demo::show::{Show, Step, Verdict};
use crate::demo::stage::{OperatorFault, Stage};

/// Text in every page the seller delivers.
const GOODS: &str = "the goods that were paid for";

/// Writes steps down as they happen.
pub(crate) struct Scribe<'s, 'o> {
    show: &'s mut Show<'o>,
    steps: Vec<Step>,
    purchases: usize,
    refusals: usize,
    /// What should have left the buyer so far, in atomic units.
    agreed: u128,
    /// The buyer's units when the demo began, on both chains.
    purse: u128,
    /// The last log entry that belongs to a finished step.
    logged: u64,
}

/// A step that has begun.
pub(crate) struct Begun {
    name: &'static str,
    seen: usize,
    purse: u128,
    session: Option<&'static str>,
    place: Option<Place>,
}

/// A path a step watches.
struct Place {
    host: &'static str,
    path: &'static str,
    before: Visits,
}

impl Begun {
    /// Looks at what `session` has used up, too.
    pub(crate) fn watching_session(mut self, session: &'static str) -> Self {
        self.session = Some(session);
        self
    }

    /// Counts what arrives at `path` on `host`, too.
    pub(crate) fn watching_path(mut self, stage: &Stage, host: &'static str, path: &'static str) -> Self {
        self.place = Some(Place { host, path, before: visits(stage, host, path) });
        self
    }
}

impl<'s, 'o> Scribe<'s, 'o> {
    /// A scribe who has read everything that happened before the first step.
    pub(crate) async fn open(stage: &Stage, show: &'s mut Show<'o>) -> Result<Self, OperatorFault> {
        let logged = stage.operator().booked(0).await?.last;
        Ok(Self { show, steps: Vec::new(), purchases: 0, refusals: 0, agreed: 0, purse: purse(stage), logged })
    }

    /// Begins a step.
    pub(crate) fn begin(&mut self, stage: &Stage, name: &'static str) -> io::Result<Begun> {
        self.show.running(name)?;
        let seen = stage.seller().signatures();
        Ok(Begun { name, seen, purse: purse(stage), session: None, place: None })
    }

    /// Ends a step: compares what happened with `expected`.
    pub(crate) async fn end(
        &mut self,
        stage: &Stage,
        begun: Begun,
        expected: &Account,
        answers: &[Result<Value, ClientFault>],
    ) -> Result<(), OperatorFault> {
        let mut got = Account::default();
        for answer in answers {
            let count = got.ends.entry(end_of(answer)).or_default();
            *count = count.saturating_add(1);
        }
        let refused = got.ends.get("refused").copied().unwrap_or(0);
        let booked = stage.operator().booked(self.logged).await?;
        self.logged = booked.last;
        got.reasons = booked.reasons;
        got.seen = stage.seller().signatures().saturating_sub(begun.seen);
        got.signed = booked.signed.len();
        got.settled = booked.settled.len();
        got.counted = booked.counted.len();
        got.moved = begun.purse.saturating_sub(purse(stage));
        got.told = answers.iter().flatten().filter_map(told).collect::<BTreeSet<_>>();
        got.visits = begun.place.map(|place| {
            let now = visits(stage, place.host, place.path);
            Visits {
                requests: now.requests.saturating_sub(place.before.requests),
                payments: now.payments.saturating_sub(place.before.payments),
                signatures: now.signatures.saturating_sub(place.before.signatures),
            }
        });
        if let Some(name) = begun.session {
            got.spent = stage.operator().session(name).await?.map(|session| session.spent.to_string());
        }
        self.purchases = self.purchases.saturating_add(got.signed);
        self.refusals = self.refusals.saturating_add(refused);
        self.agreed = self.agreed.saturating_add(expected.moved);
        self.steps.push(Step {
            name: begun.name.to_owned(),
            expected: expected.to_string(),
            got: got.to_string(),
            ok: got == *expected,
        });
        Ok(())
    }

    /// Adds a step that was measured elsewhere.
    pub(crate) fn note(&mut self, name: &str, expected: String, got: String) {
        let ok = expected == got;
        self.steps.push(Step { name: name.to_owned(), expected, got, ok });
    }

    /// Compares the balances of the whole demo and gives the verdict.
    pub(crate) fn close(mut self, stage: &Stage) -> Verdict {
        let left = self.purse.saturating_sub(purse(stage));
        self.note(
            "the buyer's balance is short of exactly what was bought",
            format!("{} left the buyer", dollars(self.agreed)),
            format!("{} left the buyer", dollars(left)),
        );
        let lost = left.saturating_sub(self.agreed);
        let ok = lost == 0 && self.steps.iter().all(|step| step.ok);
        Verdict {
            steps: self.steps,
            purchases: u32::try_from(self.purchases).unwrap_or(u32::MAX),
            refusals: u32::try_from(self.refusals).unwrap_or(u32::MAX),
            lost_usd: dollars(lost),
            ok,
        }
    }
}

fn visits(stage: &Stage, host: &str, path: &str) -> Visits {
    let tally = stage.seller().tally(host, path);
    Visits { requests: tally.requests, payments: tally.payments, signatures: tally.signatures() }
}

/// What the buyer owns on both chains together.
fn purse(stage: &Stage) -> u128 {
    let (test, main) = stage.seller().balances(stage.buyer());
    test.saturating_add(main)
}

/// How a call ended, in one or two words.
fn end_of(answer: &Result<Value, ClientFault>) -> String {
    let content = match answer {
        Ok(content) => content,
        Err(fault) => return format!("without an answer ({fault})"),
    };
    let outcome = content.get("outcome").and_then(Value::as_str).unwrap_or("without an outcome");
    let repeat = content.get("repeat").and_then(Value::as_bool) == Some(true);
    let goods = content.to_string().contains(GOODS);
    let transaction = content.pointer("/receipt/transaction").is_some();
    match (outcome, goods, transaction, repeat) {
        ("pay", ..) => {
            let price = content.pointer("/price/money").and_then(Value::as_str).unwrap_or("no price");
            format!("payable at {price}")
        }
        ("paid", true, true, false) => "paid".to_owned(),
        ("paid", true, true, true) => AGAIN.to_owned(),
        ("paid", true, false, _) => "paid, with no transaction told".to_owned(),
        ("paid", false, ..) => "paid without the goods".to_owned(),
        ("unresolved", true, false, _) => UNPROVEN.to_owned(),
        ("unresolved", _, true, _) => "unresolved, with a transaction told".to_owned(),
        (other, ..) => other.to_owned(),
    }
}

/// The code a refusal shows to the model.
fn told(content: &Value) -> Option<String> {
    let refused = content.get("outcome").and_then(Value::as_str) == Some("refused");
    refused.then(|| content.get("code").and_then(Value::as_str).unwrap_or("no code").to_owned())
}
