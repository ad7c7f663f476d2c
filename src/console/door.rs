//! The first look at a request: what it carries, before anything is done for it. Must never let in a page of another place, under
//! whatever name it found this port.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode, Version};

use super::files::{FILES, File};
use super::reply;
use super::visitor::Carried;

/// The name of the cookie.
pub(super) const COOKIE: &str = "bursar_console";
/// The header that our page puts the token into. A page elsewhere cannot send it without asking first, and is never allowed to.
const TOKEN: HeaderName = HeaderName::from_static("x-bursar-token");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Where this console is.
#[derive(Debug)]
pub(super) struct Place {
    /// `127.0.0.1:PORT`.
    pub(super) host: String,
    /// `http://127.0.0.1:PORT`.
    pub(super) origin: String,
    /// `/…/`, drawn at the start. It lets nobody in; it keeps the cookie from servers on other ports, which a browser does not.
    pub(super) base: String,
}

/// What a request is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// A file of the page: nobody's secret.
    File(&'static File),
    /// A code is typed.
    Login,
    /// How everything stands; for who is logged in.
    State,
    /// Something is done; for who is logged in.
    Do(Deed),
}

/// What can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// A person is there still.
    Here,
    /// Log out.
    Leave,
    /// Stop all payments.
    Freeze,
    /// Allow them again.
    Thaw,
    /// Say yes to one purchase.
    Approve,
    /// Say no to one purchase.
    Deny,
    /// Check the ledger.
    Check,
}

const DEEDS: [(&str, Deed); 7] = [
    ("here", Deed::Here),
    ("leave", Deed::Leave),
    ("freeze", Deed::Freeze),
    ("thaw", Deed::Thaw),
    ("approve", Deed::Approve),
    ("deny", Deed::Deny),
    ("check", Deed::Check),
];

/// Why a request is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turned {
    /// Not HTTP/1.1 in the form that browsers speak with a server.
    Form,
    /// Another name than the one address, or several (DNS rebinding).
    Host,
    /// A page of another place asks.
    Foreign,
    /// There is nothing at that path.
    Path,
    /// Not so.
    Method,
    /// Something other than JSON.
    Kind,
    /// Not logged in.
    Stranger,
    /// Too many requests.
    Pace,
    /// A body over the cap.
    Large,
    /// A body that does not come.
    Late,
    /// A body that is not what is asked for.
    Unread,
}

impl Turned {
    /// The answer, which ends the connection. It tells nothing that the asker does not know.
    pub(super) fn reply(self) -> Response<Full<Bytes>> {
        let (status, code, message) = match self {
            Self::Form => (StatusCode::BAD_REQUEST, "malformed", "this is not a request that a browser makes"),
            Self::Host => (
                StatusCode::MISDIRECTED_REQUEST,
                "wrong_host",
                "this page has one address; open the one that the terminal shows",
            ),
            Self::Foreign => (
                StatusCode::FORBIDDEN,
                "foreign_page",
                "another page asked for this; open the address that the terminal shows by hand",
            ),
            Self::Path => (
                StatusCode::NOT_FOUND,
                "no_such_page",
                "there is nothing here; open the address that the terminal shows",
            ),
            Self::Method => (StatusCode::METHOD_NOT_ALLOWED, "wrong_method", "this cannot be asked for in this way"),
            Self::Kind => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", "what is sent here has to be JSON"),
            Self::Stranger => {
                (StatusCode::UNAUTHORIZED, "not_logged_in", "you are not logged in any more; log in with a fresh code")
            }
            Self::Pace => (StatusCode::TOO_MANY_REQUESTS, "too_many_requests", "too many requests; wait a moment"),
            Self::Large => (StatusCode::PAYLOAD_TOO_LARGE, "too_large", "more was sent than anything here needs"),
            Self::Late => (StatusCode::REQUEST_TIMEOUT, "too_late", "the rest of the request did not come in time"),
            Self::Unread => (StatusCode::BAD_REQUEST, "malformed", "what was sent is not what is asked for here"),
        };
        reply::last(reply::told(status, code, message))
    }
}

/// What `head` asks for, if a person's browser asks for it from our own page, by its address or by a link to it.
pub(super) fn way(head: &Parts, place: &Place) -> Result<Way, Turned> {
    if head.version != Version::HTTP_11 || head.uri.authority().is_some() || head.uri.query().is_some() {
        return Err(Turned::Form);
    }
    if only(&head.headers, &header::HOST) != Only::One(&place.host) {
        return Err(Turned::Host);
    }
    let origin = match only(&head.headers, &header::ORIGIN) {
        Only::None => None,
        Only::One(origin) if origin == place.origin => Some(()),
        _ => return Err(Turned::Foreign),
    };
    let site = match only(&head.headers, &FETCH_SITE) {
        Only::None => None,
        Only::One(site) => Some(site),
        Only::Odd => return Err(Turned::Foreign),
    };
    let name = head.uri.path().strip_prefix(&place.base).ok_or(Turned::Path)?;
    if head.method == Method::GET {
        let file = FILES.iter().find(|file| file.name == name);
        // By hand, or by a link from anywhere, only the page itself is opened; whatever it loads, it asks for.
        let opened =
            file.is_some_and(|file| file.name.is_empty()) && (site == Some("none") || is_opening(&head.headers));
        return match (file, site) {
            (Some(file), None | Some("same-origin")) => Ok(Way::File(file)),
            (Some(file), Some(_)) if opened => Ok(Way::File(file)),
            (None, None | Some("same-origin")) if name == "state" => Ok(Way::State),
            (None, _) if name != "state" => Err(if is_deed(name) { Turned::Method } else { Turned::Path }),
            _ => Err(Turned::Foreign),
        };
    }
    if head.method != Method::POST {
        return Err(Turned::Method);
    }
    let way = match DEEDS.iter().find(|(deed, _)| *deed == name) {
        Some((_, deed)) => Way::Do(*deed),
        None if name == "login" => Way::Login,
        None if name == "state" || FILES.iter().any(|file| file.name == name) => return Err(Turned::Method),
        None => return Err(Turned::Path),
    };
    // Every browser says where a POST comes from.
    if origin.is_none() || !matches!(site, None | Some("same-origin")) {
        return Err(Turned::Foreign);
    }
    if only(&head.headers, &header::CONTENT_TYPE) != Only::One("application/json") {
        return Err(Turned::Kind);
    }
    Ok(way)
}

/// Whether a browser asks for a whole page of its own, in no frame: what whoever asked for it neither reads nor moves.
fn is_opening(headers: &HeaderMap) -> bool {
    only(headers, &FETCH_MODE) == Only::One("navigate") && only(headers, &FETCH_DEST) == Only::One("document")
}

fn is_deed(name: &str) -> bool {
    name == "login" || DEEDS.iter().any(|(deed, _)| *deed == name)
}

/// The cookie and the token, where there is one of each.
pub(super) fn carried(headers: &HeaderMap) -> Option<Carried<'_>> {
    let (Only::One(cookies), Only::One(token)) = (only(headers, &header::COOKIE), only(headers, &TOKEN)) else {
        return None;
    };
    let mut ours =
        cookies.split(';').filter_map(|pair| pair.trim().split_once('=')).filter(|(name, _)| *name == COOKIE);
    match (ours.next(), ours.next()) {
        (Some((_, cookie)), None) => Some(Carried { cookie, token }),
        _ => None,
    }
}

/// A header that may be there once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Only<'a> {
    None,
    One(&'a str),
    /// Several, or one that is not text.
    Odd,
}

fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Only<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Only::None,
        (Some(value), None) => value.to_str().map_or(Only::Odd, Only::One),
        (Some(_), Some(_)) => Only::Odd,
    }
}
