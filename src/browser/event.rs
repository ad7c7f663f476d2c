//! What a browser tells unasked, parsed once. Of everything it says, only what concerns a held request is kept.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cdp::Session;

/// Something happened.
#[derive(Debug)]
pub enum Event {
    /// A page that we are attached to from now on.
    Attached {
        /// The conversation with it.
        session: Session,
        /// The page.
        page: PageId,
        /// What it does meanwhile.
        state: State,
    },
    /// A page is no longer ours to see: it was closed, or it crashed.
    Detached {
        /// The conversation with it.
        session: Session,
    },
    /// A request is held, before it is sent or before its answer is used.
    Held(Box<Held>),
    /// A held request was asked for a name and a password.
    Challenged {
        /// The conversation with its page.
        session: Session,
        /// The request.
        request: RequestId,
    },
}

/// What a page does while we attach to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Whatever it did before.
    Runs,
    /// Nothing: it was just made, and waits to be told to go on.
    Waits,
}

/// A page: the DevTools protocol's target id, which is also the id of its main frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PageId(String);

/// A held request: the same before it is sent and when its answer has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(String);

/// A request in our hands. `Debug` shows no header and no query.
pub struct Held {
    /// The conversation with its page.
    pub(super) session: Session,
    /// To go on with it.
    pub(super) id: RequestId,
    /// The frame that asks.
    pub(super) frame: String,
    /// Whole, without the fragment.
    pub(super) url: String,
    pub(super) method: String,
    /// What it is for.
    pub(super) kind: Kind,
    /// Another answer led here.
    pub(super) redirected: bool,
    /// Its headers, of the page's and the browser's making; cookies come later.
    pub(super) headers: BTreeMap<String, String>,
    /// What came back, once something did.
    pub(super) answer: Option<Answer>,
}

/// What a request is for (`Network.ResourceType`), as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Kind {
    /// The document of a frame.
    Document,
    /// A script's own: `fetch`, or `XMLHttpRequest`.
    #[serde(alias = "XHR")]
    Fetch,
    /// Anything else: images, scripts, prefetches and the like.
    #[serde(other)]
    Other,
}

/// The head of an answer, or that there is none.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// Status and headers.
    Head { status: u16, headers: Vec<(String, Vec<u8>)> },
    /// The browser got no answer.
    Failed,
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answered = self.answer.is_some();
        f.debug_struct("Held").field("id", &self.id).field("kind", &self.kind).field("answered", &answered).finish()
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head { status, .. } => write!(f, "Head({status})"),
            Self::Failed => f.write_str("Failed"),
        }
    }
}

impl PageId {
    /// Whether `frame` is the page's main frame.
    pub(super) fn is_main_frame(&self, frame: &str) -> bool {
        self.0 == frame
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttachedToTarget {
    session_id: Session,
    target_info: TargetInfo,
    waiting_for_debugger: bool,
}

/// `Target.TargetInfo`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TargetInfo {
    pub(super) target_id: PageId,
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// `prerender`, and what else is no page that a person sees.
    pub(super) subtype: Option<String>,
    pub(super) url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DetachedFromTarget {
    session_id: Session,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestPaused {
    request_id: RequestId,
    request: Request,
    frame_id: String,
    resource_type: Kind,
    redirected_request_id: Option<RequestId>,
    response_error_reason: Option<String>,
    response_status_code: Option<u16>,
    #[serde(default)]
    response_headers: Vec<Header>,
}

#[derive(Deserialize)]
struct Request {
    url: String,
    method: String,
    headers: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuthRequired {
    request_id: RequestId,
}

/// `Fetch.HeaderEntry`.
#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) name: String,
    pub(super) value: String,
}

impl Event {
    /// Reads an event; nothing when it is none that matters here.
    pub(super) fn read(method: &str, params: Value, session: Option<Session>) -> Option<Self> {
        match method {
            "Target.attachedToTarget" => {
                let AttachedToTarget { session_id, target_info, waiting_for_debugger } = parsed(params)?;
                let state = if waiting_for_debugger { State::Waits } else { State::Runs };
                Some(Self::Attached { session: session_id, page: target_info.target_id, state })
            }
            "Target.detachedFromTarget" => {
                let DetachedFromTarget { session_id } = parsed(params)?;
                Some(Self::Detached { session: session_id })
            }
            "Fetch.requestPaused" => Some(Self::Held(Box::new(Held::of(parsed(params)?, session?)))),
            "Fetch.authRequired" => {
                let AuthRequired { request_id } = parsed(params)?;
                Some(Self::Challenged { session: session?, request: request_id })
            }
            _ => None,
        }
    }
}

impl Held {
    fn of(paused: RequestPaused, session: Session) -> Self {
        let answer = match (paused.response_status_code, paused.response_error_reason) {
            (Some(status), _) => {
                let headers = paused.response_headers.into_iter();
                let headers = headers.map(|Header { name, value }| (name, value.into_bytes())).collect();
                Some(Answer::Head { status, headers })
            }
            (None, Some(_)) => Some(Answer::Failed),
            (None, None) => None,
        };
        let Request { url, method, headers } = paused.request;
        Self {
            session,
            id: paused.request_id,
            frame: paused.frame_id,
            url,
            method,
            kind: paused.resource_type,
            redirected: paused.redirected_request_id.is_some(),
            headers,
            answer,
        }
    }
}

fn parsed<T: for<'de> Deserialize<'de>>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}
