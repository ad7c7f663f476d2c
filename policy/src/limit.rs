//! Limits over many payments: whom they concern, how far back they look, what they allow. It must
//! never count anything itself; the ledger does.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::calendar::{Unit, Zone};
use crate::chain::{Address, AssetId};
use crate::digest::Digest;
use crate::errand::SessionId;
use crate::money::{Currency, Money};
use crate::quantity::{Span, SpanFault};
use crate::site::Site;
use crate::tag::Tag;
use crate::text_form::text_form;

/// Whose payments a limit adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All payments of this wallet.
    All,
    /// The payments of one session.
    Session,
    /// The payments for one origin.
    Host,
    /// The payments to one payee on one chain.
    Payee,
    /// The payments with one asset.
    Asset,
    /// The payments that carry one tag.
    Tag,
}

impl Scope {
    /// Every scope.
    pub const EVERY: [Self; 6] = [Self::All, Self::Session, Self::Host, Self::Payee, Self::Asset, Self::Tag];

    /// Its name in the rules.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Session => "session",
            Self::Host => "host",
            Self::Payee => "payee",
            Self::Asset => "asset",
            Self::Tag => "tag",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// How far back a limit looks. Written `30s`, `90m`, `24h`, `7d`, `day in Europe/Berlin` or `lifetime`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Window {
    /// The last `secs` seconds, moving with time. A pending payment never slides out.
    Rolling {
        /// Its length in seconds.
        secs: u64,
    },
    /// The day, week or month that it is, in a time zone. Full again when the next one begins, so within any 24 hours
    /// around midnight twice the limit of a day may be spent. A pending payment counts in every one.
    Calendar {
        /// Which.
        unit: Unit,
        /// Where.
        zone: Zone,
    },
    /// Everything that was ever counted.
    Lifetime,
}

impl FromStr for Window {
    type Err = WindowFault;

    fn from_str(text: &str) -> Result<Self, WindowFault> {
        if text == "lifetime" {
            return Ok(Self::Lifetime);
        }
        if let Some((unit, zone)) = text.split_once(" in ") {
            let unit = Unit::named(unit).ok_or(WindowFault)?;
            return Ok(Self::Calendar { unit, zone: zone.parse().map_err(|_fault| WindowFault)? });
        }
        let span: Span = text.parse().map_err(|_fault: SpanFault| WindowFault)?;
        Ok(Self::Rolling { secs: span.secs() })
    }
}

impl fmt::Display for Window {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lifetime => out.write_str("lifetime"),
            Self::Calendar { unit, zone } => write!(out, "{} in {zone}", unit.name()),
            Self::Rolling { secs } => match Span::from_secs(*secs) {
                Some(span) => fmt::Display::fmt(&span, out),
                None => out.write_str("0s"),
            },
        }
    }
}

/// Why a text is not a [`Window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a window is a length of time such as `24h`, or `lifetime`, or `day`, `week` or `month` with a `time_zone`")]
pub struct WindowFault;

text_form!(Window, "a window such as \"24h\" or \"lifetime\"");

/// One limit: the payments of `scope` within `window` add up to at most `max` (equality allowed)
/// and number at most `count`.
///
/// A limit with `max` adds up payments in the currency of `max` only; a limit without it counts
/// the payments of every currency. Rules keep each limit with exactly one of the two, so that
/// adding a `max` to a count never loosens the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Limit {
    /// Whose payments.
    pub scope: Scope,
    /// Which tag, for [`Scope::Tag`]; for [`Scope::Host`] the mark of the one `[[host]]` entry that it is about, if
    /// it is about one.
    pub tag: Option<Tag>,
    /// How far back.
    pub window: Window,
    /// The most money.
    pub max: Option<Money>,
    /// The most payments.
    pub count: Option<u32>,
}

/// `[[limit]]` as it is written: the time zone of a calendar window stands beside it.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag: Option<Tag>,
    window: WrittenWindow,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_zone: Option<Zone>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max: Option<Money>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
}

/// One limit over the payments of the `[[host]]` entry that it is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "WrittenOwn", into = "WrittenOwn")]
pub struct OwnLimit {
    /// How far back.
    pub window: Window,
    /// The most money.
    pub max: Option<Money>,
    /// The most payments.
    pub count: Option<u32>,
}

/// `[[host.limit]]` as it is written.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenOwn {
    window: WrittenWindow,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_zone: Option<Zone>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max: Option<Money>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
}

impl OwnLimit {
    /// As a limit over the payments that carry `mark`, that of the entry.
    #[must_use]
    pub const fn of_entry(self, mark: Tag) -> Limit {
        let Self { window, max, count } = self;
        Limit { scope: Scope::Host, tag: Some(mark), window, max, count }
    }
}

impl TryFrom<WrittenOwn> for OwnLimit {
    type Error = LimitFault;

    fn try_from(written: WrittenOwn) -> Result<Self, LimitFault> {
        let WrittenOwn { window, time_zone, max, count } = written;
        Ok(Self { window: window.in_zone(time_zone)?, max, count })
    }
}

impl From<OwnLimit> for WrittenOwn {
    fn from(limit: OwnLimit) -> Self {
        let (window, time_zone) = WrittenWindow::of(limit.window);
        Self { window, time_zone, max: limit.max, count: limit.count }
    }
}

/// A window without its time zone, which has a place of its own.
#[derive(Clone, Copy)]
enum WrittenWindow {
    Calendar(Unit),
    Whole(Window),
}

impl WrittenWindow {
    fn in_zone(self, zone: Option<Zone>) -> Result<Window, LimitFault> {
        match (self, zone) {
            (Self::Calendar(unit), Some(zone)) => Ok(Window::Calendar { unit, zone }),
            (Self::Calendar(unit), None) => Err(LimitFault::NoZone(unit)),
            (Self::Whole(_), Some(_)) => Err(LimitFault::IdleZone),
            (Self::Whole(window), None) => Ok(window),
        }
    }

    const fn of(window: Window) -> (Self, Option<Zone>) {
        match window {
            Window::Calendar { unit, zone } => (Self::Calendar(unit), Some(zone)),
            Window::Rolling { .. } | Window::Lifetime => (Self::Whole(window), None),
        }
    }
}

impl FromStr for WrittenWindow {
    type Err = WindowFault;

    fn from_str(text: &str) -> Result<Self, WindowFault> {
        match (Unit::named(text), text.parse()) {
            (Some(unit), _) => Ok(Self::Calendar(unit)),
            (None, Ok(Window::Calendar { .. })) => Err(WindowFault),
            (None, window) => window.map(Self::Whole),
        }
    }
}

impl fmt::Display for WrittenWindow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calendar(unit) => out.write_str(unit.name()),
            Self::Whole(window) => window.fmt(out),
        }
    }
}

text_form!(WrittenWindow, "a window such as \"24h\", \"day\" or \"lifetime\"");

/// Why what is written is not a [`Limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum LimitFault {
    #[error("the window `{}` needs a `time_zone` such as `Europe/Berlin`", _0.name())]
    NoZone(Unit),
    #[error("the scope `tag` needs the `tag` that it is about")]
    NoTag,
    #[error("a `tag` belongs to the scope `tag`; change the scope or remove the tag")]
    IdleTag,
    #[error("a `time_zone` belongs to the windows `day`, `week` and `month`; remove it")]
    IdleZone,
}

impl TryFrom<Written> for Limit {
    type Error = LimitFault;

    fn try_from(written: Written) -> Result<Self, LimitFault> {
        let Written { scope, tag, window, time_zone, max, count } = written;
        match (scope, tag) {
            (Scope::Tag, None) => return Err(LimitFault::NoTag),
            (Scope::Tag, Some(_)) | (_, None) => {}
            (_, Some(_)) => return Err(LimitFault::IdleTag),
        }
        Ok(Self { scope, tag, window: window.in_zone(time_zone)?, max, count })
    }
}

impl From<Limit> for Written {
    fn from(limit: Limit) -> Self {
        let Limit { scope, tag, window, max, count } = limit;
        let (window, time_zone) = WrittenWindow::of(window);
        Self { scope, tag, window, time_zone, max, count }
    }
}

impl Limit {
    /// The key of the running total that this limit reads for a payment with `facts`: scope and
    /// subject of the payment (of the limit where it is a tag), currency of the limit (`*` when it only counts).
    #[must_use]
    pub fn key(&self, facts: &PaymentFacts) -> TallyKey {
        TallyKey::new(self.scope, self.tag, facts, self.max.map(Money::currency))
    }

    /// Whether it concerns a payment with `facts`: every payment, or those that carry its tag.
    #[must_use]
    pub fn concerns(&self, facts: &PaymentFacts) -> bool {
        self.tag.is_none_or(|tag| facts.tags.contains(&tag))
    }

    /// What stays the same of it when the operator changes how much it allows: scope, tag, window and currency. Rules hold
    /// each name once.
    #[must_use]
    pub fn name(&self) -> Digest {
        let tag = self.tag.map(|tag| format!("{tag}")).unwrap_or_default();
        let currency = self.max.map_or_else(|| String::from("*"), |max| format!("{}", max.currency()));
        let window = format!("{}", self.window);
        let parts = ["bursar limit 1", self.scope.name(), &tag, &window, &currency];
        Digest::of_parts(&parts.map(str::as_bytes))
    }

    /// What it allows, in steps of 10^-18 of its currency or in payments.
    #[must_use]
    pub fn allows(&self) -> u128 {
        match (self.max, self.count) {
            (Some(max), _) => max.atto(),
            (None, count) => u128::from(count.unwrap_or_default()),
        }
    }

    /// How the keys begin that it reads, whatever the payment.
    #[must_use]
    pub fn key_prefix(&self) -> String {
        match self.tag {
            Some(tag) => format!("{}|{tag}|", Scope::Tag),
            None => format!("{}|", self.scope),
        }
    }

    /// The key that this limit reads for every payment of `session`; `None` when it depends on more than the session.
    #[must_use]
    pub fn key_of_session(&self, session: &SessionId) -> Option<TallyKey> {
        let currency = self.max.map(Money::currency);
        match self.scope {
            Scope::All => Some(TallyKey::named(self.scope, "", currency)),
            Scope::Session => Some(TallyKey::named(self.scope, &format!("|{session}"), currency)),
            Scope::Host | Scope::Payee | Scope::Asset | Scope::Tag => None,
        }
    }
}

/// What a limit may ask about one payment.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaymentFacts {
    /// The session that pays.
    pub session: SessionId,
    /// The URL that is paid for, as far as `serve` is believed. Limits ask about its origin.
    pub site: Site,
    /// The payee.
    pub payee: Address,
    /// The asset.
    pub asset: AssetId,
    /// The price, at par.
    pub money: Money,
    /// The tags of its host rule and of its payee, each once, in order.
    pub tags: Vec<Tag>,
}

impl PaymentFacts {
    /// Every key that this payment counts under: each scope, and each tag that it carries, once for
    /// its currency and once for all currencies. A ledger that adds to exactly these has the total of every possible limit.
    #[must_use]
    pub fn keys(&self) -> Vec<TallyKey> {
        let currencies = [Some(self.money.currency()), None];
        let untagged = Scope::EVERY.into_iter().filter(|scope| *scope != Scope::Tag).map(|scope| (scope, None));
        let tagged = self.tags.iter().map(|tag| (Scope::Tag, Some(*tag)));
        let each = |(scope, tag)| currencies.map(|currency| TallyKey::new(scope, tag, self, currency));
        untagged.chain(tagged).flat_map(each).collect()
    }
}

/// The name of one running total in a ledger: `scope|subject|currency`, as in
/// `host|https://api.example.com|USD` or `all|*`. Canonical: equal totals have equal keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TallyKey(String);

impl TallyKey {
    fn new(scope: Scope, tag: Option<Tag>, facts: &PaymentFacts, currency: Option<Currency>) -> Self {
        // The payments of one entry are found by its mark, as those of a tag are.
        let scope = if tag.is_some() { Scope::Tag } else { scope };
        let subject = match scope {
            Scope::All => String::new(),
            Scope::Session => format!("|{}", facts.session),
            Scope::Host => format!("|{}", facts.site.origin()),
            Scope::Payee => format!("|{}:{}", facts.asset.chain, facts.payee),
            Scope::Asset => format!("|{}", facts.asset),
            Scope::Tag => tag.map(|tag| format!("|{tag}")).unwrap_or_default(),
        };
        Self::named(scope, &subject, currency)
    }

    fn named(scope: Scope, subject: &str, currency: Option<Currency>) -> Self {
        let currency = currency.as_ref().map_or("*", Currency::letters);
        Self(format!("{scope}{subject}|{currency}"))
    }

    /// The key of everything that the host of a payment with `facts` is paid in the currency of that payment.
    #[must_use]
    pub fn of_host(facts: &PaymentFacts) -> Self {
        Self::new(Scope::Host, None, facts, Some(facts.money.currency()))
    }

    /// The key of everything that `session` spends in `currency`.
    #[must_use]
    pub fn of_session(session: &SessionId, currency: Currency) -> Self {
        Self::named(Scope::Session, &format!("|{session}"), Some(currency))
    }

    /// The key of everything that is paid with `asset`, which counts as `currency`.
    #[must_use]
    pub fn of_asset(asset: &AssetId, currency: Currency) -> Self {
        Self::named(Scope::Asset, &format!("|{asset}"), Some(currency))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TallyKey {
    type Err = core::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.into()))
    }
}

impl fmt::Display for TallyKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

text_form!(TallyKey, "the key of a running total");
