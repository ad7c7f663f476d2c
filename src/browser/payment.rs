//! One payment in the browser: the header goes onto one request, is asked for when that request is in hand, and what
//! comes back is reported. It must never put the header onto a second request, and never keep it.

use std::time::Duration;

use bursar_policy::{PageOpening, Setting};
use bursar_vault::client::ClientFault;
use bursar_vault::protocol::{Attach, Delivery, GlueRefusal, PaymentHeader, Receipt, Report};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::cdp::{Cdp, CdpFault, Session};
use super::event::{Answer, Event, Held, RequestId};
use super::pages::Pages;
use super::till::Till;
use super::wanted::{Match, Wanted};
use crate::wire::{HeaderView, read_claim};

/// How long a page that we open may take to ask for its URL.
const OPENING: Duration = Duration::from_secs(20);

/// How long the seller may take to answer a payment; with [`OPENING`] less than whoever asked for it waits.
const ANSWER: Duration = Duration::from_secs(30);

/// The browser's word for a request that we stop, as Chromium shows it to a person.
const STOPPED: &str = "BlockedByClient";

/// How a payment ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// The header was redeemed, and what became of it is reported.
    Reported(Box<Receipt>),
    /// The vault gave no header, for this reason; the request went on without one.
    Withheld(String),
    /// Nothing was redeemed.
    Refused(GlueRefusal),
}

/// Why the glue cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The browser.
    #[error(transparent)]
    Browser(#[from] CdpFault),
    /// The vault.
    #[error(transparent)]
    Vault(#[from] ClientFault),
}

/// A payment that is being made.
struct Payment<'a> {
    cdp: &'a Cdp,
    events: &'a mut mpsc::UnboundedReceiver<Event>,
    till: &'a Till,
    attach: &'a Attach,
    wanted: Wanted,
}

/// A request that carries the header.
struct Paid {
    session: Session,
    request: RequestId,
}

/// Makes one payment.
///
/// # Errors
///
/// [`Broken`]: the vault or the browser has gone. What was redeemed by then counts as spent.
pub(super) async fn make(
    cdp: &Cdp,
    events: &mut mpsc::UnboundedReceiver<Event>,
    till: &Till,
    attach: &Attach,
    setting: Setting,
) -> Result<Ended, Broken> {
    let Some(wanted) = Wanted::of(attach, setting) else {
        return refuse(till, attach, GlueRefusal::PageGone).await;
    };
    // What an earlier payment left behind concerns nobody.
    while events.try_recv().is_ok() {}
    let mut pages = Pages::for_one(cdp, &wanted);
    let mut payment = Payment { cdp, events, till, attach, wanted };
    let ended = payment.run(&mut pages).await;
    pages.let_go().await;
    ended
}

async fn refuse(till: &Till, attach: &Attach, why: GlueRefusal) -> Result<Ended, Broken> {
    let handle = attach.handle.clone();
    till.ask(move |vault| vault.refuse(&handle, why)).await?;
    Ok(Ended::Refused(why))
}

impl Payment<'_> {
    async fn run(&mut self, pages: &mut Pages<'_>) -> Result<Ended, Broken> {
        let most = Duration::from_secs(self.attach.expires_in_s);
        let opened = match self.wanted.open() {
            PageOpening::Navigate => self.open(pages).await.map(|()| OPENING.min(most)),
            PageOpening::Wait => self.await_somebody(pages).await.map(|()| most),
        };
        let held = match opened {
            Ok(wait) => self.until_asked(pages, Instant::now().checked_add(wait)).await,
            Err(Broken::Browser(CdpFault::Refused { .. } | CdpFault::Silent { .. })) => Err(GlueRefusal::PageGone),
            Err(broken) => return Err(broken),
        };
        match held {
            Ok(held) => self.pay(pages, *held).await,
            Err(why) => refuse(self.till, self.attach, why).await,
        }
    }

    /// Opens the page: from here on its request can come at any moment.
    async fn open(&mut self, pages: &mut Pages<'_>) -> Result<(), Broken> {
        let session = pages.attach_one(&self.wanted).await?;
        self.armed().await?;
        self.cdp.call(Some(&session), "Page.bringToFront", json!({})).await?;
        // Answered when the page has come or failed, which is later than its request: nobody waits for it.
        drop(self.cdp.call(Some(&session), "Page.navigate", json!({ "url": self.wanted.url() })));
        Ok(())
    }

    /// Watches all pages, and says so once those that are open are watched.
    async fn await_somebody(&mut self, pages: &mut Pages<'_>) -> Result<(), Broken> {
        pages.attach_all().await?;
        // The browser has told of every open page before it answered.
        while let Ok(event) = self.events.try_recv() {
            if let Event::Attached { session, page, state } = event {
                // A page that goes in this moment is no reason to give up the others.
                drop(pages.watch(session, page, state).await);
            }
        }
        self.armed().await
    }

    async fn armed(&self) -> Result<(), Broken> {
        let handle = self.attach.handle.clone();
        Ok(self.till.ask(move |vault| vault.armed(&handle)).await?)
    }

    /// Waits for the one request, and lets all others pass as they are.
    async fn until_asked(&mut self, pages: &mut Pages<'_>, end: Option<Instant>) -> Result<Box<Held>, GlueRefusal> {
        loop {
            match self.next(end).await? {
                Event::Attached { session, page, state } if self.wanted.open() == PageOpening::Wait => {
                    drop(pages.watch(session, page, state).await);
                }
                Event::Attached { .. } => {}
                Event::Detached { session } => {
                    let ours = pages.forget(&session).is_some();
                    if ours && self.wanted.open() == PageOpening::Navigate {
                        return Err(GlueRefusal::PageGone);
                    }
                }
                Event::Held(held) => {
                    if self.is_the_one(pages, &held).await {
                        return Ok(held);
                    }
                    self.pass(&held);
                }
                Event::Challenged { session, request } => self.decide(&session, &request, "Default"),
            }
        }
    }

    async fn is_the_one(&self, pages: &Pages<'_>, held: &Held) -> bool {
        let Some(page) = pages.page(&held.session) else { return false };
        match self.wanted.matches(held, page) {
            Match::Page => true,
            Match::Script => pages.asks_its_own_seller(held, &self.wanted).await,
            Match::Other => false,
        }
    }

    /// Redeems the handle for the request in hand, sends it, and waits for its answer.
    async fn pay(&mut self, pages: &mut Pages<'_>, held: Held) -> Result<Ended, Broken> {
        let (handle, url) = (self.attach.handle.clone(), held.url.clone());
        let header = match self.till.ask(move |vault| vault.redeem(&handle, &url)).await {
            Ok(header) => header,
            Err(fault) => {
                self.pass(&held);
                return match fault {
                    ClientFault::Said { message, .. } => Ok(Ended::Withheld(message)),
                    fault => Err(fault.into()),
                };
            }
        };
        let paid = Paid { session: held.session.clone(), request: held.id.clone() };
        let report = match self.send(&held, header).await {
            Ok(()) => self.until_answered(pages, &paid).await,
            Err(_) => silence("page_gone"),
        };
        let handle = self.attach.handle.clone();
        let receipt = self.till.ask(move |vault| vault.report(&handle, report)).await?;
        Ok(Ended::Reported(Box::new(receipt)))
    }

    /// Lets the request go with the header on it. The browser does not take it along to where an answer leads.
    async fn send(&self, held: &Held, header: PaymentHeader) -> Result<(), CdpFault> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Continue<'a> {
            request_id: &'a RequestId,
            headers: Vec<Entry<'a>>,
        }
        #[derive(Serialize)]
        struct Entry<'a> {
            name: &'a str,
            value: &'a str,
        }
        let ours = Entry { name: header.name().as_str(), value: header.value() };
        let others = held.headers.iter().map(|(name, value)| Entry { name, value });
        let headers = others.chain(std::iter::once(ours)).collect();
        let order = Continue { request_id: &held.id, headers };
        self.cdp.call(Some(&held.session), "Fetch.continueRequest", order).await.map(drop)
    }

    /// Waits for the answer to the payment. A redirect ends here: it is told and not followed.
    async fn until_answered(&mut self, pages: &mut Pages<'_>, paid: &Paid) -> Report {
        let end = Instant::now().checked_add(ANSWER);
        loop {
            match self.next(end).await {
                Ok(Event::Held(held)) if held.session == paid.session && held.id == paid.request => match held.answer {
                    Some(Answer::Head { status, ref headers }) => {
                        let report = answered(status, headers);
                        if (300..400).contains(&status) {
                            self.stop(&held).await
                        } else {
                            self.release(&held).await
                        }
                        return report;
                    }
                    Some(Answer::Failed) => {
                        self.release(&held).await;
                        return silence("browser_failed");
                    }
                    None => self.pass(&held),
                },
                Ok(Event::Held(held)) => self.pass(&held),
                // The same request would be sent a second time, with the header on it.
                Ok(Event::Challenged { session, request }) if session == paid.session && request == paid.request => {
                    self.decide(&session, &request, "CancelAuth");
                }
                Ok(Event::Challenged { session, request }) => self.decide(&session, &request, "Default"),
                Ok(Event::Attached { session, page, state }) => drop(pages.watch(session, page, state).await),
                Ok(Event::Detached { session }) => {
                    pages.forget(&session);
                    if session == paid.session {
                        return silence("page_gone");
                    }
                }
                Err(why) => {
                    // Nobody looks at where it leads from here on, so it leads nowhere.
                    drop(self.cdp.call(Some(&paid.session), "Page.stopLoading", json!({})).await);
                    return silence(if why == GlueRefusal::Timeout { "timeout_first_byte" } else { "page_gone" });
                }
            }
        }
    }

    async fn next(&mut self, end: Option<Instant>) -> Result<Event, GlueRefusal> {
        let end = end.ok_or(GlueRefusal::Timeout)?;
        match timeout_at(end, self.events.recv()).await {
            Ok(Some(event)) => Ok(event),
            Ok(None) => Err(GlueRefusal::NoBrowser),
            Err(_) => Err(GlueRefusal::Timeout),
        }
    }

    /// Lets a request or its answer go on as it is.
    fn pass(&self, held: &Held) {
        drop(self.goes_on(held));
    }

    async fn release(&self, held: &Held) {
        drop(self.goes_on(held).await);
    }

    fn goes_on(&self, held: &Held) -> impl Future<Output = Result<Value, CdpFault>> + use<> {
        self.cdp.call(Some(&held.session), "Fetch.continueRequest", json!({ "requestId": held.id }))
    }

    async fn stop(&self, held: &Held) {
        let order = json!({ "requestId": held.id, "errorReason": STOPPED });
        drop(self.cdp.call(Some(&held.session), "Fetch.failRequest", order).await);
    }

    fn decide(&self, session: &Session, request: &RequestId, response: &str) {
        let order = json!({ "requestId": request, "authChallengeResponse": { "response": response } });
        drop(self.cdp.call(Some(session), "Fetch.continueWithAuth", order));
    }
}

/// The head of an answer as the vault hears of it. The body is the browser's.
fn answered(status: u16, headers: &[(String, Vec<u8>)]) -> Report {
    let delivery = Delivery::Answer { status, content: None, content_error: None };
    Report { delivery, settlement: read_claim(HeaderView::new(headers)).for_the_ledger() }
}

fn silence(why: &str) -> Report {
    Report { delivery: Delivery::Silence { why: why.to_owned() }, settlement: None }
}
