//! Answers what the door let in: files to anybody, everything else to who is logged in. Must never do anything for a cookie alone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bursar_vault::profile::Profile;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;

use super::books::Checker;
use super::bounds::Bounds;
use super::code::{Code, Codes, NotLetIn};
use super::door::{self, COOKIE, Deed, Place, Turned, Way};
use super::past::Past;
use super::post::{self, EmptyForm, LoginForm};
use super::reply;
use super::server::News;
use super::view;
use super::visitor::{Admission, By, Visitors};
use super::word::{self, NotDone};
use crate::pace::Pace;
use crate::spelling;

/// What a person does, at once. The vault has room for sixteen operators, and a person at a terminal is one.
const ASKS_MAX: usize = 4;
/// Looks at once: one goes on where the last one ended. However long it takes, no deed waits for it.
const LOOKS_MAX: usize = 1;

/// What every connection shares.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) place: Place,
    pub(super) bounds: Bounds,
    profile: Profile,
    guarded: Mutex<Guarded>,
    past: Arc<Mutex<Past>>,
    checker: Checker,
    asks: Semaphore,
    looks: Semaphore,
    news: UnboundedSender<News>,
}

#[derive(Debug)]
struct Guarded {
    codes: Codes,
    visitors: Visitors,
    /// Of who is logged in.
    known: Pace,
    /// Of who is not: the page's files, and logging in.
    strangers: Pace,
    /// Of what the door turns away: what another page can send takes nothing from a person who logs in.
    turned: Pace,
}

/// What was done, in a sentence.
#[derive(Debug, Serialize)]
struct Did {
    message: String,
}

/// The token of a fresh login; the cookie is in a header, where no script reads it.
#[derive(Debug, Serialize)]
struct In<'a> {
    token: &'a str,
}

impl Desk {
    pub(super) fn new(profile: &Profile, place: Place, bounds: Bounds, news: UnboundedSender<News>) -> Self {
        let now = Instant::now();
        let pace = || Pace::new(bounds.burst, bounds.per_second, now);
        let guarded = Guarded {
            codes: Codes::new(bounds.code),
            visitors: Visitors::new(bounds.idle, bounds.login),
            known: pace(),
            strangers: pace(),
            turned: pace(),
        };
        Self {
            place,
            bounds,
            profile: profile.clone(),
            guarded: Mutex::new(guarded),
            past: Arc::new(Mutex::new(Past::new(profile.setting()))),
            checker: Checker::new(),
            asks: Semaphore::new(ASKS_MAX),
            looks: Semaphore::new(LOOKS_MAX),
            news,
        }
    }

    /// A fresh code for the terminal, in place of the one before.
    pub(super) fn issue(&self) -> Result<Code, getrandom::Error> {
        self.lock().codes.issue(Instant::now())
    }

    /// Answers one request.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        match self.admitted(&head) {
            Ok(way) => match self.done(way, &head, body).await {
                Ok(reply) => reply,
                Err(turned) => turned.reply(),
            },
            Err(turned) => turned.reply(),
        }
    }

    /// Whether `head` may ask for what it asks for, and has asked for little enough.
    fn admitted(&self, head: &Parts) -> Result<Way, Turned> {
        let (way, now) = (door::way(head, &self.place), Instant::now());
        let by = if matches!(way, Ok(Way::State)) { By::Page } else { By::Person };
        let mut guarded = self.lock();
        let known = way.is_ok() && door::carried(&head.headers).is_some_and(|it| guarded.visitors.knows(it, by, now));
        let pace = match &way {
            Ok(_) if known => &mut guarded.known,
            Ok(_) => &mut guarded.strangers,
            Err(_) => &mut guarded.turned,
        };
        if !pace.take(now) {
            return Err(Turned::Pace);
        }
        match way? {
            Way::State | Way::Do(_) if !known => Err(Turned::Stranger),
            way => Ok(way),
        }
    }

    async fn done(&self, way: Way, head: &Parts, body: Incoming) -> Result<Response<Full<Bytes>>, Turned> {
        match way {
            Way::File(file) => Ok(reply::file(file)),
            Way::Login => Ok(self.login(&post::form(body, &self.bounds).await?)),
            Way::State => Ok(self.state().await),
            Way::Do(deed) => self.deed(deed, head, body).await,
        }
    }

    async fn deed(&self, deed: Deed, head: &Parts, body: Incoming) -> Result<Response<Full<Bytes>>, Turned> {
        let bounds = &self.bounds;
        Ok(match deed {
            Deed::Here => {
                let EmptyForm {} = post::form(body, bounds).await?;
                reply::json(StatusCode::OK, &Did { message: String::new() })
            }
            Deed::Leave => {
                let EmptyForm {} = post::form(body, bounds).await?;
                self.leave(head)
            }
            Deed::Check => {
                let EmptyForm {} = post::form(body, bounds).await?;
                self.checker.start(&self.profile);
                reply::json(StatusCode::OK, &Did { message: "The ledger is being checked.".to_owned() })
            }
            Deed::Freeze => {
                let EmptyForm {} = post::form(body, bounds).await?;
                self.asked(word::freeze).await
            }
            Deed::Thaw => {
                let form = post::form(body, bounds).await?;
                self.asked(move |profile| word::thaw(profile, form)).await
            }
            Deed::Approve => {
                let form = post::form(body, bounds).await?;
                self.asked(move |profile| word::approve(profile, form)).await
            }
            Deed::Deny => {
                let form = post::form(body, bounds).await?;
                self.asked(move |profile| word::deny(profile, form)).await
            }
        })
    }

    fn login(&self, form: &LoginForm) -> Response<Full<Bytes>> {
        let (now, mut guarded) = (Instant::now(), self.lock());
        let (code, message) = match guarded.codes.redeem(&form.code, now) {
            Ok(()) => match guarded.visitors.admit(now) {
                Ok(Admission { cookie, token }) => {
                    drop(guarded);
                    self.tell(News::LoggedIn);
                    let base = &self.place.base;
                    let cookie = format!("{COOKIE}={cookie}; Path={base}; HttpOnly; SameSite=Strict");
                    return reply::with_cookie(reply::json(StatusCode::OK, &In { token: &token }), &cookie);
                }
                Err(_none) => ("no_randomness", "the system gives no random bytes; try again later"),
            },
            Err(NotLetIn::Wrong) => ("code_wrong", "this is not the code that the terminal shows; look again"),
            Err(why @ (NotLetIn::None | NotLetIn::Spent)) => {
                if why == NotLetIn::Spent {
                    self.tell(News::CodeSpent);
                }
                ("code_over", "there is no code that is good now; press Enter in the terminal for a fresh one")
            }
        };
        reply::last(reply::told(StatusCode::FORBIDDEN, code, message))
    }

    fn leave(&self, head: &Parts) -> Response<Full<Bytes>> {
        if let Some(carried) = door::carried(&head.headers) {
            self.lock().visitors.leave(carried);
        }
        self.tell(News::LoggedOut);
        let gone = format!("{COOKIE}=; Path={}; HttpOnly; SameSite=Strict; Max-Age=0", self.place.base);
        reply::with_cookie(reply::json(StatusCode::OK, &Did { message: "Logged out.".to_owned() }), &gone)
    }

    async fn state(&self) -> Response<Full<Bytes>> {
        let (past, checker) = (Arc::clone(&self.past), self.checker.clone());
        let state = self.blocking(&self.looks, move |profile| {
            view::state(profile, &mut past.lock().unwrap_or_else(PoisonError::into_inner), &checker)
        });
        match state.await {
            Ok(state) => reply::json(StatusCode::OK, &state),
            Err(not_done) => self.not_done(not_done),
        }
    }

    async fn asked(
        &self,
        work: impl FnOnce(&Profile) -> Result<String, NotDone> + Send + 'static,
    ) -> Response<Full<Bytes>> {
        match self.blocking(&self.asks, work).await {
            Ok(message) => reply::json(StatusCode::OK, &Did { message }),
            Err(not_done) => self.not_done(not_done),
        }
    }

    /// Asks the vault in a thread that may wait.
    async fn blocking<T: Send + 'static>(
        &self,
        turns: &Semaphore,
        work: impl FnOnce(&Profile) -> Result<T, NotDone> + Send + 'static,
    ) -> Result<T, NotDone> {
        let fault = |fault: &dyn std::fmt::Display| NotDone::Fault(fault.to_string());
        let _turn = turns.acquire().await.map_err(|closed| fault(&closed))?;
        let profile = self.profile.clone();
        tokio::task::spawn_blocking(move || work(&profile)).await.map_err(|broken| fault(&broken))?
    }

    /// What the vault says instead of doing it, with every command spelled for this profile.
    fn not_done(&self, not_done: NotDone) -> Response<Full<Bytes>> {
        let told =
            |status, code: &str, message: &str| reply::told(status, code, &spelling::advice(&self.profile, message));
        match not_done {
            NotDone::Refused { code, message } => told(StatusCode::CONFLICT, &code, &message),
            NotDone::Fault(message) => told(StatusCode::BAD_GATEWAY, "vault_away", &message),
        }
    }

    fn tell(&self, news: News) {
        if self.news.send(news).is_err() {
            tracing::debug!("nobody hears the news any more; the console is ending");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Guarded> {
        self.guarded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
