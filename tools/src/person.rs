//! A person is shown the page where they decide, by a client that can. Must never take the answer of a client, or of the
//! model behind it, for the person's: whatever it says, only the waiting goes on or ends, and the call is looked at anew.
//!
//! `accept` says that the person agreed to open the page, which they have not decided on by then: what waits is waited for.
//!
//! What is shown is a URL (MCP elicitation, mode `url`) with the id of what waits. There is no login in it, and no word of a
//! seller's beside it.

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitationAction, InputRequest, InputRequests, InputRequiredResult, MetaObject,
};
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::time::Instant;

use crate::call::Told;
use crate::flights::Wanted;
use crate::payments::Payments;

/// How long a client that shows a page, and then the person, are waited for together.
const SHOWN_WITHIN: Duration = Duration::from_secs(240);
/// How often it is looked whether anybody still waits for the call.
const LOOK: Duration = Duration::from_millis(200);

/// What the page is known by where a client answers without having been waited for.
const KEY: &str = "approval";

/// A page for a person, about one purchase that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    approval: String,
    url: String,
}

impl Page {
    /// The page about what `told` says to wait for, where there is one and the client can show it.
    pub(crate) fn of<P: Payments>(told: &Told, payments: &P, context: &RequestContext<RoleServer>) -> Option<Self> {
        let is_waiting = told.answer.get("outcome").and_then(Value::as_str) == Some("needs_approval");
        let approval = told.answer.get("approval_id").and_then(Value::as_str).filter(|_id| is_waiting)?;
        let shows_pages = context.client_capabilities()?.elicitation.is_some_and(|able| able.url.is_some());
        let url = payments.approval_page(approval).filter(|_url| shows_pages)?;
        Some(Self { approval: approval.to_owned(), url })
    }

    fn request(self) -> ElicitRequestParams {
        ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message: format!("A purchase waits for your decision in bursar's console (approval {}).", self.approval),
            url: self.url,
            elicitation_id: self.approval,
        }
    }

    /// The answer that has a client of the revision without a handshake show the page and call again.
    pub(crate) fn required(self, meta: Option<MetaObject>) -> InputRequiredResult {
        let shown = InputRequest::Elicitation(ElicitRequest::new(self.request()));
        let result = InputRequiredResult::from_input_requests(InputRequests::from([(KEY.to_owned(), shown)]));
        match meta {
            Some(meta) => result.with_meta(meta),
            None => result,
        }
    }

    /// Has an older client show the page, and waits: where it says that the person opens it, for the person.
    pub(crate) async fn shown<P: Payments>(
        self,
        payments: &P,
        context: &RequestContext<RoleServer>,
        wanted: &Wanted,
    ) -> Waited {
        let (approval, shown) = (self.approval.clone(), Instant::now());
        let answered = context.peer.create_elicitation_with_timeout(self.request(), Some(SHOWN_WITHIN));
        let over = async {
            match answered.await {
                Ok(answer) if answer.action == ElicitationAction::Accept => decided(payments, &approval, shown).await,
                Ok(_declined) => Waited::ToAnEnd,
                // It may not have understood: nothing is known that was not known before.
                Err(_unanswered) => Waited::InVain,
            }
        };
        while_wanted(over, wanted).await
    }

    /// Waits for the person where `answers`, which came with a call of a client without a handshake, say that they open the page.
    pub(crate) async fn opened<P: Payments>(
        self,
        payments: &P,
        answers: &BTreeMap<String, Value>,
        wanted: &Wanted,
    ) -> Waited {
        let action = answers.get(KEY).and_then(|answer| answer.get("action")).and_then(Value::as_str);
        if action != Some("accept") {
            // It was looked at after the answer already.
            return Waited::InVain;
        }
        while_wanted(decided(payments, &self.approval, Instant::now()), wanted).await
    }
}

/// Whether the call is worth being looked at anew. What the client said is not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    ToAnEnd,
    InVain,
}

/// Waits until the person has decided, as long as is left of the time since the page was shown.
async fn decided<P: Payments>(payments: &P, approval: &str, shown: Instant) -> Waited {
    let left = SHOWN_WITHIN.saturating_sub(shown.elapsed());
    match tokio::time::timeout(left, payments.decided(approval)).await {
        Ok(()) => Waited::ToAnEnd,
        Err(_late) => Waited::InVain,
    }
}

/// Waits for `over` as long as anybody waits for the call.
async fn while_wanted(over: impl Future<Output = Waited>, wanted: &Wanted) -> Waited {
    tokio::select! {
        biased;
        over = over => over,
        () = unwanted(wanted) => Waited::InVain,
    }
}

/// Ends when nobody waits for the call, or no answer can come any more.
async fn unwanted(wanted: &Wanted) {
    let mut look = tokio::time::interval(LOOK);
    while wanted.is_heard() {
        look.tick().await;
    }
}
