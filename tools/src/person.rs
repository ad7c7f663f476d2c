//! A person is shown the page where they decide, by a client that can. Must never take the answer of a client, or of the
//! model behind it, for the person's: whatever it says, only the waiting ends, and the call is looked at anew.
//!
//! What is shown is a URL (MCP elicitation, mode `url`) with the id of what waits. There is no login in it, and no word of a
//! seller's beside it.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ElicitRequest, ElicitRequestParams, InputRequest, InputRequests, InputRequiredResult, MetaObject};
use rmcp::service::RequestContext;
use serde_json::Value;

use crate::call::Told;
use crate::flights::Wanted;
use crate::payments::Payments;

/// How long a client is waited for that shows a page.
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

    /// Has an older client show the page, and waits until it says anything at all, or nobody waits for the call any more.
    pub(crate) async fn shown(self, context: &RequestContext<RoleServer>, wanted: &Wanted) -> Shown {
        let answered = context.peer.create_elicitation_with_timeout(self.request(), Some(SHOWN_WITHIN));
        tokio::select! {
            biased;
            answer = answered => if answer.is_ok() { Shown::Answered } else { Shown::Unanswered },
            () = unwanted(wanted) => Shown::Unanswered,
        }
    }
}

/// Whether the client said anything; what it said is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Answered,
    Unanswered,
}

/// Ends when nobody waits for the call, or no answer can come any more.
async fn unwanted(wanted: &Wanted) {
    let mut look = tokio::time::interval(LOOK);
    while wanted.is_heard() {
        look.tick().await;
    }
}
