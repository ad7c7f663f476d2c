//! Which request is paid for: one URL, asked for by the page that a person sees, and by nothing inside it.

use bursar_policy::{Method, PageOpening, Scheme, Setting, Site};
use bursar_vault::protocol::Attach;

use super::event::{Held, Kind, PageId};

/// The one request that a payment is for.
#[derive(Debug)]
pub(super) struct Wanted {
    site: Site,
    open: PageOpening,
}

/// What a held request is to a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// The page itself, in a window of its own.
    Page,
    /// A script's request. It counts only where the document that asks is the page of this same origin.
    Script,
    /// Something else, or the same URL asked for in another way.
    Other,
}

impl Wanted {
    /// What `attach` asks for; nothing where no header may ever go: in plain text but in a sandbox, and with another
    /// method than `GET`.
    pub(super) fn of(attach: &Attach, setting: Setting) -> Option<Self> {
        let site = Site::parse(&attach.url).ok()?;
        let safe = match (site.scheme(), setting) {
            (Scheme::Https, _) | (Scheme::Http, Setting::Sandbox) => true,
            (Scheme::Http, Setting::Real) => false,
        };
        (safe && attach.method == Method::Get).then_some(Self { site, open: attach.open })
    }

    /// The whole URL, as the browser spells it too: both follow the URL Standard.
    pub(super) fn url(&self) -> String {
        self.site.url()
    }

    /// Who makes the browser ask.
    pub(super) const fn open(&self) -> PageOpening {
        self.open
    }

    /// For people: without the query, which may hold anything.
    pub(super) fn shown(&self) -> String {
        format!("{}{}", self.site.origin(), self.site.path())
    }

    /// Whether an address or an origin belongs to the same origin.
    pub(super) fn same_origin(&self, url: &str) -> bool {
        Site::parse(url).is_ok_and(|site| site.origin() == self.site.origin())
    }

    /// The URL as a pattern of the protocol's that no other URL fits (`Fetch.RequestPattern`).
    pub(super) fn pattern(&self) -> String {
        let mut pattern = String::new();
        for letter in self.url().chars() {
            if matches!(letter, '*' | '?' | '\\') {
                pattern.push('\\');
            }
            pattern.push(letter);
        }
        pattern
    }

    /// Judges a request that is not yet sent, on `page`.
    pub(super) fn matches(&self, held: &Held, page: &PageId) -> Match {
        let exact = held.url == self.url() && held.method == "GET" && !held.redirected;
        if !exact
            || held.answer.is_some()
            || !page.is_main_frame(&held.frame)
            || held.headers.keys().any(|name| foreign(name))
        {
            return Match::Other;
        }
        match (held.kind, self.open) {
            (Kind::Document, _) => Match::Page,
            (Kind::Fetch, PageOpening::Wait) => Match::Script,
            _ => Match::Other,
        }
    }
}

/// Whether a header says that the request is no visit, or that somebody else pays for it.
fn foreign(name: &str) -> bool {
    let names = ["purpose", "sec-purpose", "payment-signature", "x-payment"];
    names.iter().any(|foreign| name.eq_ignore_ascii_case(foreign))
}

#[cfg(test)]
mod tests;
