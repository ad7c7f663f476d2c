//! Who may be asked, and what holds there: by origin and by path. It must never guess which path a server will see.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Caution, ContentMode, Recipients};
use crate::chain::Address;
use crate::errand::Method;
use crate::money::{Currency, Money};
use crate::path_prefix::{self, PathPrefix};
use crate::pointer::Pointer;
use crate::request_header::HeaderName;
use crate::secret::SecretHeader;
use crate::site::{Host, Origin};
use crate::tag::Tag;

/// Who may be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// Every https host on its default port, by the same rule.
    Any(Box<HostRule>),
    /// Whoever is listed.
    Listed(BTreeMap<Origin, Paths>),
}

/// The entries of one origin, by path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paths {
    /// By the path in lower case, so that no spelling of a narrower path falls through to a wider one.
    by_path: BTreeMap<String, HostRule>,
    /// The length of the longest path, in bytes.
    longest: usize,
}

impl Paths {
    pub(super) const fn new() -> Self {
        Self { by_path: BTreeMap::new(), longest: 0 }
    }

    /// Adds an entry; gives its path back when there is one for it already, upper and lower case apart.
    pub(super) fn add(&mut self, rule: HostRule) -> Result<(), PathPrefix> {
        let key = rule.path.as_str().to_ascii_lowercase();
        if self.by_path.contains_key(&key) {
            return Err(rule.path);
        }
        self.longest = self.longest.max(key.len());
        self.by_path.insert(key, rule);
        Ok(())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &HostRule> {
        self.by_path.values()
    }

    /// The entry with the longest path that `path`, in its normal form, lies under.
    ///
    /// Where nothing but the whole origin is listed, that is the one. Where paths are, a request path that servers
    /// are known to read in several ways lies under none of them.
    pub(super) fn rule_for(&self, path: &str) -> Option<&HostRule> {
        if self.longest <= PathPrefix::ROOT.len() {
            return self.by_path.get(PathPrefix::ROOT);
        }
        let given = path_prefix::one_meaning(path)?;
        let key = given.to_ascii_lowercase();
        let ends = key.match_indices('/').map(|(at, _)| at.saturating_add(1));
        let mut parts: Vec<&str> =
            ends.take_while(|end| *end <= self.longest).filter_map(|end| key.get(..end)).collect();
        let rule = core::iter::from_fn(|| parts.pop()).find_map(|part| self.by_path.get(part))?;
        given.starts_with(rule.path.as_str()).then_some(rule)
    }
}

/// What holds for one origin, or for one part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRule {
    pub(super) path: PathPrefix,
    pub(super) methods: Vec<Method>,
    pub(super) content: ContentMode,
    pub(super) fields: Vec<Pointer>,
    pub(super) recipients: Recipients,
    pub(super) ceilings: BTreeMap<Currency, Money>,
    pub(super) resource_hosts: Vec<Host>,
    pub(super) body_limit_bytes: u64,
    pub(super) body_cap_bytes: u64,
    pub(super) headers: Vec<HeaderName>,
    pub(super) secret_headers: Vec<SecretHeader>,
    pub(super) max_unresolved: u32,
    pub(super) tags: Vec<Tag>,
    pub(super) caution: Caution,
    pub(super) no_recurring_s: Option<u64>,
}

impl HostRule {
    /// The part of its origin that it is for.
    #[must_use]
    pub const fn path(&self) -> &PathPrefix {
        &self.path
    }

    /// Whether it lists `method`.
    #[must_use]
    pub fn allows_method(&self, method: Method) -> bool {
        self.methods.contains(&method)
    }

    /// The methods that it lists.
    #[must_use]
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// How much of an answer the model sees.
    #[must_use]
    pub const fn content(&self) -> ContentMode {
        self.content
    }

    /// The values of a JSON answer that the model sees in the mode [`ContentMode::Fields`]; none in any other.
    #[must_use]
    pub fn fields(&self) -> &[Pointer] {
        &self.fields
    }

    /// Whether `payee` may be paid for this origin.
    #[must_use]
    pub fn allows_payee(&self, payee: &Address) -> bool {
        self.recipients.allow(payee)
    }

    /// Its own ceiling for one payment in `currency`, lower than the general one.
    #[must_use]
    pub fn ceiling(&self, currency: Currency) -> Option<Money> {
        self.ceilings.get(&currency).copied()
    }

    /// Whether the seller may name `host` as the resource of its terms.
    #[must_use]
    pub fn allows_resource_host(&self, host: &Host) -> bool {
        self.resource_hosts.contains(host)
    }

    /// The tags that every payment under this rule carries.
    #[must_use]
    pub fn tags(&self) -> &[Tag] {
        &self.tags
    }

    /// With how many unresolved payments of this origin, or of one payee, no further one is made.
    #[must_use]
    pub const fn max_unresolved(&self) -> u32 {
        self.max_unresolved
    }

    /// When a person looks at a payment for this origin first.
    #[must_use]
    pub const fn caution(&self) -> &Caution {
        &self.caution
    }

    /// In how many seconds the same request is bought once; `None` when as often as it is asked for.
    #[must_use]
    pub const fn no_recurring_s(&self) -> Option<u64> {
        self.no_recurring_s
    }

    /// How much of an answer is kept, in bytes.
    #[must_use]
    pub const fn body_cap_bytes(&self) -> u64 {
        self.body_cap_bytes
    }

    /// The headers that the caller may choose.
    #[must_use]
    pub fn headers(&self) -> &[HeaderName] {
        &self.headers
    }

    /// The headers that carry secrets of the operator. No caller can choose one of them.
    #[must_use]
    pub fn secret_headers(&self) -> &[SecretHeader] {
        &self.secret_headers
    }

    /// The largest body that may be sent, in bytes.
    #[must_use]
    pub const fn body_limit_bytes(&self) -> u64 {
        self.body_limit_bytes
    }
}
