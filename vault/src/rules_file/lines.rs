//! Where in the text of the rules each key stands. Must never decide anything, and reads no value but to find it.

use std::fmt;

use bursar_policy::{
    Address, AddressBlock, AssetFault, AssetId, ChainId, Limit, Money, Origin, PathPrefix, RuleFault, Scope, Site,
    Window,
};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The text of rules, ready to be asked where a key is.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    root: DeTable<'t>,
}

/// A table of the file; rows are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// `[payment]`
    Payment,
    /// `[network]`
    Network,
    /// `[notify]`
    Notify,
    /// `[metrics]`
    Metrics,
    /// `[sandbox]`
    Sandbox,
    /// One `[[limit]]`
    Limit(usize),
    /// One `[[host]]`
    Host(usize),
    /// One `[[payee]]`
    Payee(usize),
    /// One `[[asset]]`
    Asset(usize),
    /// One `[[chain]]`
    Chain(usize),
}

/// A key of the rules and where it is written.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Place {
    /// The table and the key, as in `payment.max_lifetime`.
    pub key: String,
    /// The line, from 1; absent where the file leaves the key out, so that its default holds.
    pub line: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "line {line}: {}", self.key),
            None => write!(out, "{}, left out", self.key),
        }
    }
}

impl Table {
    const fn name(self) -> &'static str {
        match self {
            Self::Payment => "payment",
            Self::Network => "network",
            Self::Notify => "notify",
            Self::Metrics => "metrics",
            Self::Sandbox => "sandbox",
            Self::Limit(_) => "limit",
            Self::Host(_) => "host",
            Self::Payee(_) => "payee",
            Self::Asset(_) => "asset",
            Self::Chain(_) => "chain",
        }
    }

    const fn row(self) -> Option<usize> {
        match self {
            Self::Payment | Self::Network | Self::Notify | Self::Metrics | Self::Sandbox => None,
            Self::Limit(row) | Self::Host(row) | Self::Payee(row) | Self::Asset(row) | Self::Chain(row) => Some(row),
        }
    }
}

impl<'t> Lines<'t> {
    /// Takes `text`; `None` when it is not TOML.
    #[must_use]
    pub fn of(text: &'t str) -> Option<Self> {
        DeTable::parse(text).ok().map(|root| Self { text, root: root.into_inner() })
    }

    /// The key `key` of `table`.
    #[must_use]
    pub fn place(&self, table: Table, key: &str) -> Place {
        let at = self.entry(table, key).map(|(written, _)| written.span().start);
        Place { key: format!("{}.{key}", table.name()), line: at.map(|at| super::line_of(self.text, at)) }
    }

    /// Where a key stands that is in no table.
    #[must_use]
    pub fn root(&self, key: &str) -> Place {
        Place { key: key.to_owned(), line: self.header(key) }
    }

    /// Like [`Lines::place`], but the line of `item` where the value is a list that holds it.
    ///
    /// Letter case is not compared: addresses have several spellings.
    #[must_use]
    pub fn item(&self, table: Table, key: &str, item: &str) -> Place {
        let place = self.place(table, key);
        Place { line: self.listed_at(table, key, item).or(place.line), ..place }
    }

    /// The line of `item` in the list `key` of `table`.
    fn listed_at(&self, table: Table, key: &str, item: &str) -> Option<usize> {
        let (_, value) = self.entry(table, key)?;
        let same =
            |one: &&Spanned<DeValue<'_>>| one.get_ref().as_str().is_some_and(|text| text.eq_ignore_ascii_case(item));
        let found = value.get_ref().as_array()?.iter().find(same)?;
        Some(super::line_of(self.text, found.span().start))
    }

    /// The first of `keys` that `table` writes down, or else the last of them as left out.
    #[must_use]
    pub fn first(&self, table: Table, keys: &[&str]) -> Option<Place> {
        let places = keys.iter().map(|key| self.place(table, key));
        places.reduce(|found, next| if found.line.is_some() { found } else { next })
    }

    /// The place of the `[[host]]` for `path` of `origin`.
    #[must_use]
    pub fn host(&self, origin: &Origin, path: &PathPrefix) -> Option<Table> {
        let is_it = |host: &Table| {
            let written = self.text_at(*host, "path").map_or(Some(PathPrefix::root()), |text| text.parse().ok());
            written.as_ref() == Some(path)
        };
        self.hosts(origin).find(is_it)
    }

    /// Every `[[host]]` of `origin`.
    fn hosts(&self, origin: &Origin) -> impl Iterator<Item = Table> {
        let of_it = |host: &Table| {
            self.text_at(*host, "origin").and_then(|text| text.parse::<Origin>().ok()).as_ref() == Some(origin)
        };
        (0..self.rows("host")).map(Table::Host).filter(of_it)
    }

    /// The place of the `[[asset]]` that describes `id`; `None` for what is built in.
    #[must_use]
    pub fn asset(&self, id: &AssetId) -> Option<Table> {
        let is_it = |row: &usize| {
            let written = self.text_at(Table::Asset(*row), "id");
            written.and_then(|text| text.parse::<AssetId>().ok()).as_ref() == Some(id)
        };
        (0..self.rows("asset")).find(is_it).map(Table::Asset)
    }

    /// The line of `key` of the last `[[chain]]` about `chain`.
    fn chain(&self, chain: &ChainId, key: &str) -> Option<usize> {
        let is_it = |row: &usize| {
            let written = self.text_at(Table::Chain(*row), "network");
            written.and_then(|text| text.parse().ok()).as_ref() == Some(chain)
        };
        let row = (0..self.rows("chain")).rfind(is_it)?;
        self.place(Table::Chain(row), key).line
    }

    /// What a contradiction of the rules is about: the line where a person would begin to mend it.
    #[must_use]
    pub fn of_fault(&self, fault: &RuleFault) -> Option<usize> {
        use RuleFault as Fault;
        let payment = |key: &str| self.place(Table::Payment, key);
        let listed = |key: &str, item: &str| self.item(Table::Payment, key, item);
        // Of several entries of one origin, the one that writes the earliest of the keys is meant.
        let of_host = |origin: &Origin, keys: &[&str]| {
            keys.iter().find_map(|key| self.hosts(origin).find_map(|host| self.place(host, key).line))
        };
        match fault {
            Fault::Recipients => payment("allow_any_recipient").line.or_else(|| self.header("payment")),
            Fault::ZeroRecipient => self.last_text(&|text| text.parse::<Address>().is_ok_and(|payee| payee.is_zero())),
            Fault::HostRecipients(origin) => of_host(origin, &["allow_any_recipient", "origin"]),
            Fault::RecipientNotInPayment { origin, payee } => {
                let payee = payee.to_string();
                self.hosts(origin).find_map(|host| self.listed_at(host, "recipients", &payee))
            }
            Fault::Hosts => payment("allow_any_host").line,
            Fault::MixedNetworks { test, .. } => listed("networks", &test.to_string()).line,
            Fault::UnknownNetwork(chain) | Fault::NotASandboxNetwork(chain) | Fault::SandboxNetwork(chain) => {
                listed("networks", &chain.to_string()).line
            }
            Fault::AllowedNotPublic(block) => {
                self.last_text(&|text| text.parse::<AddressBlock>().as_ref() == Ok(block))
            }
            Fault::Proxy(_) => self.place(Table::Network, "proxy").line,
            Fault::IdleProxySecret => self.place(Table::Network, "proxy_secret").line,
            Fault::MetricsNowhere | Fault::MetricsToken => self.header("metrics"),
            Fault::MetricsCollector(_) => self.place(Table::Metrics, "otlp").line,
            Fault::MetricsTraces => self.place(Table::Metrics, "traces").line,
            Fault::SharesOfOne => self.header("shares"),
            Fault::ExtraCaFile(_) => self.place(Table::Network, "extra_ca").line,
            Fault::IdleChain(chain) => self.chain(chain, "network"),
            Fault::Endpoints(chain) => self.chain(chain, "rpc"),
            Fault::Agree { chain, .. } => self.chain(chain, "agree"),
            Fault::SandboxTable => self.header("sandbox"),
            Fault::NotLoopback { .. } | Fault::MappedAddress(_) => self.place(Table::Sandbox, "hosts").line,
            Fault::CaFile(_) => self.place(Table::Sandbox, "ca").line,
            Fault::UnknownScheme(scheme) => listed("schemes", scheme).line,
            Fault::UnknownAsset(id) | Fault::AssetWithoutNetwork(id) => listed("assets", &id.to_string()).line,
            Fault::Asset(
                AssetFault::DiffersFromBuiltin(id)
                | AssetFault::OtherChain { id, .. }
                | AssetFault::NotEip3009(id)
                | AssetFault::Twice(id)
                | AssetFault::Decimals(id)
                | AssetFault::Empty(id),
            ) => self.asset(id).and_then(|asset| self.place(asset, "id").line),
            Fault::CurrencyWithoutCeiling { asset, .. } => listed("assets", &asset.to_string()).line,
            Fault::CurrencyWithoutAsset(money) | Fault::ZeroMoney(money) | Fault::TooFine { money, .. } => {
                self.last_text(&|text| text.parse::<Money>().as_ref() == Ok(money))
            }
            Fault::NoCeiling => payment("max_per_payment").line,
            Fault::HostCeiling { origin, .. } => of_host(origin, &["max_per_payment", "origin"]),
            Fault::EmptyLimit { scope, window } | Fault::ZeroCount { scope, window } => self.limit(*scope, *window),
            Fault::LimitTwice { scope, window } => self.limit_again(*scope, *window),
            Fault::Zone(zone) => self.last_text(&|text| text == zone.name()),
            Fault::HoursWithoutZone => payment("hours").line.or_else(|| payment("days").line),
            Fault::ZoneWithoutHours => payment("time_zone").line,
            Fault::NoDay => payment("days").line,
            Fault::IdleTag(tag) => self.last_text(&|text| text == tag.as_str()),
            Fault::IdleApproveTag(tag) => listed("approve_tags", tag.as_str()).line,
            Fault::IdleFirstPayee(origin) => of_host(origin, &["first_payee", "origin"]),
            Fault::IdlePayee(payee) => self.last_text(&|text| text.eq_ignore_ascii_case(&payee.to_string())),
            Fault::Twice { what: "[[host]]", value } => self.last_host(value),
            Fault::Twice { value, .. } | Fault::Wildcard(value) | Fault::ManyTags(value) => {
                self.last_text(&|text| text.eq_ignore_ascii_case(value))
            }
            Fault::PlainHttp(origin) => {
                let endpoint = |text: &str| text.parse::<Site>().is_ok_and(|site| site.origin() == origin);
                of_host(origin, &["origin"]).or_else(|| self.last_text(&endpoint))
            }
            Fault::NoFields(origin) => of_host(origin, &["content", "origin"]),
            Fault::SecretInTheClear(origin) | Fault::ManySecretHeaders(origin) => {
                of_host(origin, &["secret_headers", "origin"])
            }
            Fault::IdleFields(origin) | Fault::ManyFields(origin) => of_host(origin, &["fields", "origin"]),
            Fault::BodyLimitWithoutPost(origin) => of_host(origin, &["body_limit", "origin"]),
            Fault::OutOfRange { what, value, .. } => {
                self.place_of(what, value).or_else(|| payment(what).line.or_else(|| self.any_host(what)))
            }
            Fault::MethodTwice { origin, .. } => of_host(origin, &["methods", "origin"]),
        }
    }

    /// The line of the last `[[host]]` that is told as `value`: its origin, and its path where it has one.
    fn last_host(&self, value: &str) -> Option<usize> {
        let told = |host: &Table| {
            let origin: Origin = self.text_at(*host, "origin")?.parse().ok()?;
            let path: PathPrefix = self.text_at(*host, "path").unwrap_or(PathPrefix::ROOT).parse().ok()?;
            Some(format!("{origin}{}", path.after_origin()))
        };
        let is_it = |host: &Table| told(host).is_some_and(|told| told.eq_ignore_ascii_case(value));
        let last = (0..self.rows("host")).map(Table::Host).rfind(is_it)?;
        self.place(last, "origin").line
    }

    /// The line of the last limit of this scope and window.
    fn limit(&self, scope: Scope, window: Window) -> Option<usize> {
        self.place(Table::Limit(self.limits(scope, window).last()?), "scope").line
    }

    /// The line of the first limit that says what another one of the same tag, if any, said before it.
    fn limit_again(&self, scope: Scope, window: Window) -> Option<usize> {
        let tag = |row: usize| self.text_at(Table::Limit(row), "tag");
        let is_second = |row: &usize| self.limits(scope, window).any(|other| other < *row && tag(other) == tag(*row));
        let row = self.limits(scope, window).find(is_second)?;
        self.place(Table::Limit(row), "scope").line
    }

    fn limits(&self, scope: Scope, window: Window) -> impl Iterator<Item = usize> {
        let word = |row: usize, key: &str| self.text_at(Table::Limit(row), key);
        let written = move |row: usize| match (word(row, "window"), word(row, "time_zone")) {
            (Some(unit), Some(zone)) => format!("{unit} in {zone}").parse(),
            (window, _) => window.unwrap_or_default().parse(),
        };
        let is_it = move |row: &usize| word(*row, "scope") == Some(scope.name()) && written(*row) == Ok(window);
        (0..self.rows("limit")).filter(is_it)
    }

    /// The line of the first limit that is refused with this message.
    pub(super) fn of_limit_refused_for(&self, message: &str) -> Option<usize> {
        let table: toml::Table = self.text.parse().ok()?;
        let rows = table.get("limit")?.as_array()?;
        let is_it = |row: &toml::Value| row.clone().try_into::<Limit>().is_err_and(|fault| fault.message() == message);
        self.place(Table::Limit(rows.iter().position(is_it)?), "scope").line
    }

    /// The line of `key` where `[payment]` or a `[[host]]` gives it as `value`.
    fn place_of(&self, key: &str, value: &str) -> Option<usize> {
        let hosts = (0..self.rows("host")).map(Table::Host);
        let chains = (0..self.rows("chain")).map(Table::Chain);
        let is_it = |table: &Table| {
            let written = self.entry(*table, key).map(|(_, written)| written.get_ref());
            let number = |written: &DeValue<'_>| written.as_integer().is_some_and(|number| number.as_str() == value);
            written.is_some_and(|written| written.as_str() == Some(value) || number(written))
        };
        let table = [Table::Payment, Table::Metrics].into_iter().chain(hosts).chain(chains).find(is_it)?;
        self.place(table, key).line
    }

    fn any_host(&self, key: &str) -> Option<usize> {
        (0..self.rows("host")).find_map(|row| self.place(Table::Host(row), key).line)
    }

    /// The last line with a text that `is_it`.
    fn last_text(&self, is_it: &dyn Fn(&str) -> bool) -> Option<usize> {
        let last = self.root.values().filter_map(|value| last_text_in(value, is_it)).max();
        last.map(|at| super::line_of(self.text, at))
    }

    fn header(&self, table: &str) -> Option<usize> {
        self.root.get_key_value(table).map(|(name, _)| super::line_of(self.text, name.span().start))
    }

    fn rows(&self, table: &str) -> usize {
        self.root.get(table).and_then(|rows| rows.get_ref().as_array()).map_or(0, |rows| rows.len())
    }

    fn text_at(&self, table: Table, key: &str) -> Option<&str> {
        self.entry(table, key).and_then(|(_, value)| value.get_ref().as_str())
    }

    fn entry(&self, table: Table, key: &str) -> Option<(&Spanned<std::borrow::Cow<'t, str>>, &Spanned<DeValue<'t>>)> {
        let value = self.root.get(table.name())?.get_ref();
        let value = match table.row() {
            None => value,
            Some(row) => value.as_array()?.get(row)?.get_ref(),
        };
        value.as_table()?.get_key_value(key)
    }
}

/// Where the last text in `value` that `is_it` begins.
fn last_text_in(value: &Spanned<DeValue<'_>>, is_it: &dyn Fn(&str) -> bool) -> Option<usize> {
    match value.get_ref() {
        DeValue::String(text) => is_it(text).then(|| value.span().start),
        DeValue::Array(list) => list.iter().filter_map(|one| last_text_in(one, is_it)).max(),
        DeValue::Table(table) => table.values().filter_map(|one| last_text_in(one, is_it)).max(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
