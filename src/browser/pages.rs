//! The pages of a browser that a payment watches. Nothing is watched between payments.

use std::collections::HashMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::cdp::{Cdp, CdpFault, Session};
use super::event::{Held, PageId, State, TargetInfo};
use super::wanted::Wanted;

/// How long a page may take to say whether it is seen.
const GLANCE: Duration = Duration::from_secs(2);

/// Whether a person sees a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    Shown,
    Hidden,
}

/// Pages under watch, each with the requests for one URL held.
#[derive(Debug)]
pub(super) struct Pages<'a> {
    cdp: &'a Cdp,
    pattern: String,
    watched: HashMap<Session, PageId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Targets {
    target_infos: Vec<TargetInfo>,
}

impl<'a> Pages<'a> {
    /// No page yet, for one payment.
    pub(super) fn for_one(cdp: &'a Cdp, wanted: &Wanted) -> Self {
        Self { cdp, pattern: wanted.pattern(), watched: HashMap::new() }
    }

    /// The page of a session that is watched.
    pub(super) fn page(&self, session: &Session) -> Option<&PageId> {
        self.watched.get(session)
    }

    /// Attaches to every page, and to each one that is opened from now on before it asks for anything. Each is heard of
    /// by an event.
    pub(super) async fn attach_all(&self) -> Result<(), CdpFault> {
        let only_pages = json!([{ "type": "page" }]);
        let all = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": only_pages });
        self.cdp.call(None, "Target.setAutoAttach", all).await.map(drop)
    }

    /// Attaches to the page that is to show what is paid for: the visible one of the same origin, else a hidden one, else
    /// a new one. A page that does not answer, as while it is being left, is left alone.
    pub(super) async fn attach_one(&mut self, wanted: &Wanted) -> Result<Session, CdpFault> {
        let mut hidden = None;
        for page in self.pages_of(wanted).await? {
            let session = self.attach(&page).await?;
            match self.sight(&session).await {
                Some(Sight::Shown) => return self.watch(session, page, State::Runs).await,
                Some(Sight::Hidden) => hidden = Some(page),
                None => {}
            }
            self.detach(&session).await;
        }
        let page = match hidden {
            Some(page) => page,
            None => self.new_page().await?,
        };
        let session = self.attach(&page).await?;
        self.watch(session, page, State::Runs).await
    }

    /// Holds every request for the URL on this page, past the cache and past the page's service worker.
    ///
    /// All calls go out before the first answer. A page that waits answers some of them only when it goes on, and its
    /// first request may be held before that, so it is not waited for.
    pub(super) async fn watch(&mut self, session: Session, page: PageId, state: State) -> Result<Session, CdpFault> {
        let stages = ["Request", "Response"].map(|stage| json!({ "urlPattern": self.pattern, "requestStage": stage }));
        let hold = json!({ "handleAuthRequests": true, "patterns": stages });
        let call = |method, params: Value| self.cdp.call(Some(&session), method, params);
        let held = call("Fetch.enable", hold);
        let settings = [
            call("Network.enable", json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0 })),
            call("Network.setCacheDisabled", json!({ "cacheDisabled": true })),
            call("Network.setBypassServiceWorker", json!({ "bypass": true })),
            call("Runtime.runIfWaitingForDebugger", json!({})),
        ];
        held.await?;
        if state == State::Runs {
            for setting in settings {
                setting.await?;
            }
        }
        self.watched.insert(session.clone(), page);
        Ok(session)
    }

    /// Forgets a page that has gone.
    pub(super) fn forget(&mut self, session: &Session) -> Option<PageId> {
        self.watched.remove(session)
    }

    /// Whether the script that asks runs in the page itself and the page is of the wanted origin. The page's own process
    /// says so; while the page is being left it says nothing, and then the answer is no.
    pub(super) async fn asks_its_own_seller(&self, held: &Held, wanted: &Wanted) -> bool {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Tree {
            frame_tree: Root,
        }
        #[derive(Deserialize)]
        struct Root {
            frame: Frame,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Frame {
            id: String,
            security_origin: String,
        }
        let tree = self.cdp.call(Some(&held.session), "Page.getFrameTree", json!({})).await;
        let tree = tree.ok().and_then(|tree| serde_json::from_value::<Tree>(tree).ok());
        tree.is_some_and(|Tree { frame_tree: Root { frame } }| {
            frame.id == held.frame && wanted.same_origin(&frame.security_origin)
        })
    }

    /// Lets go of every page; what is still held goes on as it was.
    pub(super) async fn let_go(&mut self) {
        let none = json!({ "autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true });
        drop(self.cdp.call(None, "Target.setAutoAttach", none).await);
        for session in std::mem::take(&mut self.watched).into_keys() {
            self.detach(&session).await;
        }
    }

    async fn pages_of(&self, wanted: &Wanted) -> Result<Vec<PageId>, CdpFault> {
        let found = self.cdp.call(None, "Target.getTargets", json!({})).await?;
        let targets = serde_json::from_value::<Targets>(found).map_or_else(|_| Vec::new(), |found| found.target_infos);
        let ours = |info: &TargetInfo| info.kind == "page" && info.subtype.is_none() && wanted.same_origin(&info.url);
        Ok(targets.into_iter().filter(ours).map(|info| info.target_id).collect())
    }

    async fn new_page(&self) -> Result<PageId, CdpFault> {
        let made = self.cdp.call(None, "Target.createTarget", json!({ "url": "about:blank" })).await?;
        member(made, "targetId", "Target.createTarget")
    }

    async fn attach(&self, page: &PageId) -> Result<Session, CdpFault> {
        let how = json!({ "targetId": page, "flatten": true });
        let attached = self.cdp.call(None, "Target.attachToTarget", how).await?;
        member(attached, "sessionId", "Target.attachToTarget")
    }

    async fn detach(&self, session: &Session) {
        drop(self.cdp.call(None, "Target.detachFromTarget", json!({ "sessionId": session })).await);
    }

    /// Whether a person sees the page now. A page that lies about it gains nothing: it is of the seller's own origin.
    async fn sight(&self, session: &Session) -> Option<Sight> {
        let ask = json!({ "expression": "document.visibilityState", "returnByValue": true });
        let told = timeout(GLANCE, self.cdp.call(Some(session), "Runtime.evaluate", ask)).await.ok()?.ok()?;
        let visible = told.pointer("/result/value").and_then(Value::as_str) == Some("visible");
        Some(if visible { Sight::Shown } else { Sight::Hidden })
    }
}

fn member<T: for<'de> Deserialize<'de>>(mut answer: Value, name: &str, method: &'static str) -> Result<T, CdpFault> {
    let found = answer.get_mut(name).map(Value::take).unwrap_or_default();
    serde_json::from_value(found).map_err(|_| CdpFault::Refused { method, code: 0 })
}
