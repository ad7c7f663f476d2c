//! The part of an origin that a host rule covers. It must never match half a segment, nor a path with two readings.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use crate::site::Site;
use crate::text_form::text_form;

/// A path and everything below it, by whole segments: `/v1/` covers `/v1`, `/v1/` and `/v1/data`, not `/v10`.
///
/// Kept in its one form: with a `/` at both ends, and with no percent-encoding where none is needed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathPrefix(String);

impl PathPrefix {
    /// The whole of an origin.
    pub const ROOT: &'static str = "/";

    /// The whole of an origin.
    #[must_use]
    pub fn root() -> Self {
        Self(Self::ROOT.to_owned())
    }

    /// Its text: a `/` at both ends.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What it is told as behind its origin: nothing for the whole of one.
    #[must_use]
    pub fn after_origin(&self) -> &str {
        if self.is_root() { "" } else { &self.0 }
    }

    /// Whether it is the whole of an origin.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0 == Self::ROOT
    }
}

/// Why a text is not a [`PathPrefix`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a path begins with `/`, is plain ASCII without `?`, `#`, `;`, `*`, `//` or dot segments, and encodes nothing it need not; \
     it covers everything below it, so `/v1` says what `/v1/*` would"
)]
pub struct PathPrefixFault;

impl FromStr for PathPrefix {
    type Err = PathPrefixFault;

    /// Reads a path as an operator writes it: it has to be in its normal form already, so that what looks listed is.
    fn from_str(text: &str) -> Result<Self, PathPrefixFault> {
        let written = text.strip_suffix('/').unwrap_or(text);
        let site = Site::parse(&format!("https://path.test{text}")).map_err(|_fault| PathPrefixFault)?;
        // Without a `/` in front, or with a query or a fragment behind, it is not the path that was read.
        if text.contains('*') || site.path() != text {
            return Err(PathPrefixFault);
        }
        match one_meaning(site.path()) {
            Some(path) if path.strip_suffix('/') == Some(written) => Ok(Self(path)),
            _ => Err(PathPrefixFault),
        }
    }
}

impl fmt::Display for PathPrefix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

text_form!(PathPrefix, "a path such as \"/v1/\"");

/// A space, as it stays in a path.
const SPACE: &str = "%20";

/// The path of a [`Site`] in the one form that prefixes are compared in: whatever is percent-encoded without need is
/// decoded, what stays encoded is in capitals, and a `/` ends it.
///
/// `None` where servers are known to disagree about what is meant: an encoded `/`, `\\`, `%`, `?`, `#` or control
/// character, a letter beyond ASCII (which some fold and some do not), a broken percent sign, an empty segment, a `;`, a
/// dot segment that the URL Standard left, and a segment with a dot at its end or a space at either (which some cut off).
pub(crate) fn one_meaning(path: &str) -> Option<String> {
    let mut form = String::with_capacity(path.len().saturating_add(1));
    let mut letters = path.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            form.push(letter);
            continue;
        }
        let (high, low) = (letters.next()?, letters.next()?);
        let code = high.to_digit(16)?.checked_mul(16)?.checked_add(low.to_digit(16)?)?;
        match char::from_u32(code)? {
            '/' | '\\' | '%' | ';' | '?' | '#' => return None,
            other if other.is_ascii_control() || !other.is_ascii() => return None,
            ' ' => form.push_str(SPACE),
            plain => form.push(plain),
        }
    }
    if !form.ends_with('/') {
        form.push('/');
    }
    let inside = form.strip_prefix('/')?.strip_suffix('/').unwrap_or_default();
    let plain = |segment: &str| {
        !segment.is_empty() && !segment.ends_with(['.']) && !segment.starts_with(SPACE) && !segment.ends_with(SPACE)
    };
    let one = !form.contains([';', '\\']) && (inside.is_empty() && form.len() == 1 || inside.split('/').all(plain));
    one.then_some(form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_written_in_its_normal_form_only() {
        for (text, form) in
            [("/", "/"), ("/v1", "/v1/"), ("/v1/", "/v1/"), ("/a/B~c/", "/a/B~c/"), ("/a%20b", "/a%20b/")]
        {
            let prefix: PathPrefix = text.parse().unwrap();
            assert_eq!(prefix.as_str(), form);
            assert_eq!(prefix.is_root(), form == "/");
            assert_eq!(format!("{prefix}"), form);
            assert_eq!(prefix.after_origin(), if form == "/" { "" } else { form });
        }
        for text in [
            "", "v1", "/v1//", "//", "/v1/../x", "/./v1", "/v1?x", "/v1#x", "/v1;x", "/%76", "/a%2fb", "/a%2Fb",
            "/a%5Cb", "/a%25b", "/é", "/a b", "/a\\b", "/%zz", "/%", "/%00", "/*", "/%2e%2e/", "/v1/*", "/v1.",
            "/v1%20/x", "/%C3%A9",
        ] {
            let refused = text.parse::<PathPrefix>();
            assert!(refused.is_err(), "{text}: {refused:?}");
        }
    }

    #[test]
    fn what_would_move_the_host_or_the_port_is_no_path() {
        for text in [":443/v1", ".evil.test/v1", "@evil.test/v1", "?/", "#/", "/v1/?", "/v1/#/"] {
            assert_eq!(text.parse::<PathPrefix>(), Err(PathPrefixFault), "{text}");
        }
    }

    #[test]
    fn one_path_has_one_form_and_two_readings_have_none() {
        for (path, form) in
            [("/", "/"), ("/v1", "/v1/"), ("/%76%31/x", "/v1/x/"), ("/a%20b", "/a%20b/"), ("/%24", "/$/")]
        {
            assert_eq!(one_meaning(path).as_deref(), Some(form), "{path}");
        }
        for path in [
            "//", "/a//b", "/a/..", "/a/.", "/%2e/a", "/%2E%2e", "/a;b", "/a%3bb", "/a%3Fb", "/a%23b", "/a./b",
            "/a%20/b", "/a/%20b", "/a%2e", "/a%c3%a9", "/a%2fb", "/a%252fb", "/%", "/%4", "/%0a",
        ] {
            assert_eq!(one_meaning(path), None, "{path}");
        }
    }
}
