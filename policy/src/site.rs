//! Where a request goes, in one normal form. It must never resolve a name.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

use url::Url;

use crate::text_form::text_form;

/// The longest URL, in bytes, as given and in its normal form.
const URL_BYTES_MAX: usize = 2048;
/// The longest DNS name, in bytes (RFC 1035).
const NAME_BYTES_MAX: usize = 253;
/// The longest label of a DNS name, in bytes (RFC 1035).
const LABEL_BYTES_MAX: usize = 63;

/// How bytes travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// TLS.
    Https,
    /// Plain text: for loopback in a sandbox only.
    Http,
}

impl Scheme {
    /// The scheme as a URL has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
        }
    }

    /// The port that a URL may leave out.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Https => 443,
            Self::Http => 80,
        }
    }
}

/// A host in its one form: a lower-case name of A-labels with a dot in it, or an address.
///
/// IPv4 addresses in odd clothes (`0x7f.1`, `2130706433`, `127.1`) are the address they mean.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// A DNS name, IDNA-encoded.
    Name(String),
    /// An IPv4 address.
    V4(Ipv4Addr),
    /// An IPv6 address.
    V6(Ipv6Addr),
}

impl Host {
    /// The address, where the host is one: nothing is left to resolve.
    #[must_use]
    pub const fn ip(&self) -> Option<IpAddr> {
        match self {
            Self::Name(_) => None,
            Self::V4(ip) => Some(IpAddr::V4(*ip)),
            Self::V6(ip) => Some(IpAddr::V6(*ip)),
        }
    }
}

impl FromStr for Host {
    type Err = SiteFault;

    /// Reads a host as an operator writes it: ASCII only, so that what looks listed is listed.
    fn from_str(text: &str) -> Result<Self, SiteFault> {
        if text.contains(['/', '?', '#', ':']) && !text.starts_with('[') {
            return Err(SiteFault::NotAnOrigin);
        }
        Ok(format!("https://{text}").parse::<Origin>()?.host)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => out.write_str(name),
            Self::V4(ip) => ip.fmt(out),
            Self::V6(ip) => write!(out, "[{ip}]"),
        }
    }
}

text_form!(Host, "a host such as \"api.example.com\"");

/// Scheme, host and port: what a host rule names. Written `https://api.example.com[:port]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The scheme.
    pub scheme: Scheme,
    /// The host.
    pub host: Host,
    /// The port, also where it is the scheme's own.
    pub port: u16,
}

impl Origin {
    /// Host and port as the `Host` header has them: the port is left out where it is the default.
    #[must_use]
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl FromStr for Origin {
    type Err = SiteFault;

    /// Reads an origin as an operator writes it: ASCII only, nothing after the port.
    fn from_str(text: &str) -> Result<Self, SiteFault> {
        if !text.is_ascii() {
            return Err(SiteFault::NotAscii);
        }
        let site = Site::parse(text)?;
        let bare = text.split_once("://").is_some_and(|(_, rest)| !rest.contains(['/', '?', '#']));
        if bare { Ok(site.origin) } else { Err(SiteFault::NotAnOrigin) }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}://{}", self.scheme.as_str(), self.authority())
    }
}

text_form!(Origin, "an origin such as \"https://api.example.com\"");

/// A URL that may be fetched, in its one normal form. Equal resources that differ only in spelling
/// are equal sites; the fragment is dropped, path and query are kept as the URL Standard
/// serialises them.
///
/// It says nothing about whether the rules allow the site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    origin: Origin,
    path: String,
    query: Option<String>,
}

/// Why a text is not a [`Site`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SiteFault {
    /// Over 2048 bytes, as given or when normalised.
    #[error("the URL is longer than 2048 bytes")]
    TooLong,
    /// A space, a control character or another blank.
    #[error("the URL contains a blank or a control character; write it percent-encoded")]
    Blank,
    /// A backslash: parsers disagree about what it means.
    #[error("the URL contains a backslash; use `/` or write it percent-encoded")]
    Backslash,
    /// Neither `https://` nor `http://`.
    #[error("the URL does not start with `https://`")]
    Scheme,
    /// A user name or password.
    #[error("the URL has a user name or password before the host; leave it out")]
    UserInfo,
    /// A percent sign in the host: an encoded name or an IPv6 zone.
    #[error("the host of the URL contains a percent sign; write the plain name without a zone")]
    EncodedHost,
    /// No host, or one that is neither a name nor an address.
    #[error("the host of the URL is neither a DNS name nor an address")]
    Host,
    /// A name without a dot, which search domains could turn into anything.
    #[error("the host `{0}` has no dot; write the full name")]
    SingleLabel(String),
    /// A dot at the end of the name, which would be a second spelling of one host.
    #[error("the host ends in a dot; leave it out")]
    TrailingDot,
    /// A wildcard.
    #[error("the host contains a `*`; every host is listed by its own name")]
    Wildcard,
    /// Port 0, or one that is not a number.
    #[error("the port of the URL is not a number from 1 to 65535")]
    Port,
    /// A path, query or fragment where only an origin may stand.
    #[error("an origin is scheme, host and port only, as in `https://api.example.com`, without a path")]
    NotAnOrigin,
    /// Characters that look like others.
    #[error("an origin is written in ASCII; write an international name in its `xn--` form")]
    NotAscii,
}

impl Site {
    /// Reads a URL and brings it into its normal form (WHATWG URL Standard; IDNA by UTS 46).
    ///
    /// # Errors
    ///
    /// A [`SiteFault`] for whatever parsers are known to disagree about, and for hosts that are
    /// not full names or addresses.
    pub fn parse(text: &str) -> Result<Self, SiteFault> {
        refuse_ambiguity(text)?;
        let url = Url::parse(text).map_err(|fault| match fault {
            url::ParseError::InvalidPort => SiteFault::Port,
            _ => SiteFault::Host,
        })?;
        let scheme = match url.scheme() {
            "https" => Scheme::Https,
            "http" => Scheme::Http,
            _ => return Err(SiteFault::Scheme),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(SiteFault::UserInfo);
        }
        let host = match url.host().ok_or(SiteFault::Host)? {
            url::Host::Domain(name) => Host::Name(full_name(name)?.to_owned()),
            url::Host::Ipv4(ip) => Host::V4(ip),
            url::Host::Ipv6(ip) => Host::V6(ip),
        };
        let port = url.port().unwrap_or_else(|| scheme.default_port());
        if port == 0 {
            return Err(SiteFault::Port);
        }
        let site = Self {
            origin: Origin { scheme, host, port },
            path: url.path().to_owned(),
            query: url.query().map(ToOwned::to_owned),
        };
        if site.url().len() > URL_BYTES_MAX { Err(SiteFault::TooLong) } else { Ok(site) }
    }

    /// Scheme, host and port.
    #[must_use]
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The scheme.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.origin.scheme
    }

    /// The host.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.origin.host
    }

    /// The port, also where it is the scheme's own.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.origin.port
    }

    /// The path; it starts with `/`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The query without its question mark; `Some("")` for a bare one.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    /// The request target (RFC 9112 origin-form).
    #[must_use]
    pub fn path_and_query(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }

    /// The whole URL in its normal form. Parsing it gives this site again.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}{}", self.origin, self.path_and_query())
    }

    /// The value of the `Host` header.
    #[must_use]
    pub fn authority(&self) -> String {
        self.origin.authority()
    }
}

impl FromStr for Site {
    type Err = SiteFault;

    fn from_str(text: &str) -> Result<Self, SiteFault> {
        Self::parse(text)
    }
}

impl fmt::Display for Site {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.url())
    }
}

text_form!(Site, "a URL such as \"https://api.example.com/data\"");

/// Refuses texts that two URL parsers may read in two ways.
fn refuse_ambiguity(text: &str) -> Result<(), SiteFault> {
    if text.len() > URL_BYTES_MAX {
        return Err(SiteFault::TooLong);
    }
    if text.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
        return Err(SiteFault::Blank);
    }
    if text.contains('\\') {
        return Err(SiteFault::Backslash);
    }
    let (scheme, rest) = text.split_once("://").ok_or(SiteFault::Scheme)?;
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return Err(SiteFault::Scheme);
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() {
        return Err(SiteFault::Host);
    }
    if authority.contains('@') {
        return Err(SiteFault::UserInfo);
    }
    if authority.contains('%') {
        return Err(SiteFault::EncodedHost);
    }
    if authority.contains('*') {
        return Err(SiteFault::Wildcard);
    }
    // An address with a dot behind it is a name to some parsers.
    if authority.split(':').next().is_some_and(|host| host.ends_with('.')) {
        return Err(SiteFault::TrailingDot);
    }
    if authority.ends_with(':') { Err(SiteFault::Port) } else { Ok(()) }
}

/// Refuses names that are not full, plain DNS names.
fn full_name(name: &str) -> Result<&str, SiteFault> {
    if name.ends_with('.') {
        return Err(SiteFault::TrailingDot);
    }
    let plain = |label: &str| {
        (1..=LABEL_BYTES_MAX).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'))
    };
    if name.len() > NAME_BYTES_MAX || !name.split('.').all(plain) {
        return Err(SiteFault::Host);
    }
    if name.contains('.') { Ok(name) } else { Err(SiteFault::SingleLabel(name.to_owned())) }
}

/// Whether a seller's text names another host than `site`. What names none (a path, nonsense, an
/// `mcp://` name) does not; scheme, port, path and query are not compared.
pub(crate) fn names_another_host(site: &Site, text: &str) -> bool {
    let Host::Name(own) = site.host() else { return another_host(site, text) };
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let after = rest.and_then(|rest| rest.strip_prefix(own.as_str()));
    let plainly_own = after.is_some_and(|after| after.is_empty() || after.starts_with(['/', '?', '#']));
    !plainly_own && another_host(site, text)
}

/// [`names_another_host`] for texts that need a parser: read like a link on the page of `site`.
fn another_host(site: &Site, text: &str) -> bool {
    named_host(site, text).is_some_and(|host| host != *site.host())
}

/// The host that a seller's text names when it is read like a link on the page of `site`.
pub(crate) fn named_host(site: &Site, text: &str) -> Option<Host> {
    let url = Url::parse(&site.url()).and_then(|base| base.join(text)).ok()?;
    if !matches!(url.scheme(), "https" | "http") {
        return None;
    }
    url.host().map(|host| match host {
        url::Host::Domain(name) => Host::Name(name.trim_end_matches('.').to_owned()),
        url::Host::Ipv4(ip) => Host::V4(ip),
        url::Host::Ipv6(ip) => Host::V6(ip),
    })
}

#[cfg(test)]
mod tests;
