//! Where in the text of the rules each key stands. Must never decide anything, and reads no value but to find it.

use std::fmt;

use bursar_policy::{AssetFault, AssetId, Money, Origin, RuleFault, Scope, Window};
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
    /// `[sandbox]`
    Sandbox,
    /// One `[[limit]]`
    Limit(usize),
    /// One `[[host]]`
    Host(usize),
    /// One `[[asset]]`
    Asset(usize),
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
            Self::Sandbox => "sandbox",
            Self::Limit(_) => "limit",
            Self::Host(_) => "host",
            Self::Asset(_) => "asset",
        }
    }

    const fn row(self) -> Option<usize> {
        match self {
            Self::Payment | Self::Sandbox => None,
            Self::Limit(row) | Self::Host(row) | Self::Asset(row) => Some(row),
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

    /// Like [`Lines::place`], but the line of `item` where the value is a list that holds it.
    ///
    /// Letter case is not compared: addresses have several spellings.
    #[must_use]
    pub fn item(&self, table: Table, key: &str, item: &str) -> Place {
        let place = self.place(table, key);
        let list = self.entry(table, key).and_then(|(_, value)| value.get_ref().as_array());
        let same =
            |one: &&Spanned<DeValue<'_>>| one.get_ref().as_str().is_some_and(|text| text.eq_ignore_ascii_case(item));
        match list.and_then(|list| list.iter().find(same)) {
            Some(found) => Place { line: Some(super::line_of(self.text, found.span().start)), ..place },
            None => place,
        }
    }

    /// The first of `keys` that `table` writes down, or else the last of them as left out.
    #[must_use]
    pub fn first(&self, table: Table, keys: &[&str]) -> Option<Place> {
        let places = keys.iter().map(|key| self.place(table, key));
        places.reduce(|found, next| if found.line.is_some() { found } else { next })
    }

    /// The place of the `[[host]]` for `origin`.
    #[must_use]
    pub fn host(&self, origin: &Origin) -> Option<Table> {
        let is_it = |row: &usize| {
            let written = self.entry(Table::Host(*row), "origin").and_then(|(_, value)| value.get_ref().as_str());
            written.and_then(|text| text.parse::<Origin>().ok()).as_ref() == Some(origin)
        };
        (0..self.rows("host")).find(is_it).map(Table::Host)
    }

    /// The place of the `[[asset]]` that describes `id`; `None` for what is built in.
    #[must_use]
    pub fn asset(&self, id: &AssetId) -> Option<Table> {
        let is_it = |row: &usize| {
            let written = self.entry(Table::Asset(*row), "id").and_then(|(_, value)| value.get_ref().as_str());
            written.and_then(|text| text.parse::<AssetId>().ok()).as_ref() == Some(id)
        };
        (0..self.rows("asset")).find(is_it).map(Table::Asset)
    }

    /// What a contradiction of the rules is about: the line where a person would begin to mend it.
    #[must_use]
    pub fn of_fault(&self, fault: &RuleFault) -> Option<usize> {
        use RuleFault as Fault;
        let payment = |key: &str| self.place(Table::Payment, key);
        let listed = |key: &str, item: &str| self.item(Table::Payment, key, item);
        let of_host = |origin: &Origin, keys: &[&str]| {
            self.host(origin).and_then(|host| self.first(host, keys).and_then(|place| place.line))
        };
        match fault {
            Fault::Recipients => payment("allow_any_recipient").line.or_else(|| self.header("payment")),
            Fault::HostRecipients(origin) => of_host(origin, &["allow_any_recipient", "origin"]),
            Fault::RecipientNotInPayment { origin, payee } => {
                self.host(origin).and_then(|host| self.item(host, "recipients", &payee.to_string()).line)
            }
            Fault::Hosts => payment("allow_any_host").line,
            Fault::MixedNetworks { test, .. } => listed("networks", &test.to_string()).line,
            Fault::UnknownNetwork(chain) | Fault::NotASandboxNetwork(chain) | Fault::SandboxNetwork(chain) => {
                listed("networks", &chain.to_string()).line
            }
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
            Fault::EmptyLimit { scope, window }
            | Fault::ZeroCount { scope, window }
            | Fault::LimitTwice { scope, window } => self.limit(*scope, *window),
            Fault::Twice { value, .. } | Fault::Wildcard(value) => {
                self.last_text(&|text| text.eq_ignore_ascii_case(value))
            }
            Fault::PlainHttp(origin) => of_host(origin, &["origin"]),
            Fault::BodyLimitWithoutPost(origin) => of_host(origin, &["body_limit", "origin"]),
            Fault::OutOfRange { what, .. } => payment(what).line.or_else(|| self.any_host(what)),
            Fault::MethodTwice { origin, .. } => of_host(origin, &["methods", "origin"]),
        }
    }

    /// The line of the last limit of this scope and window: where there are two, the second is the one too many.
    fn limit(&self, scope: Scope, window: Window) -> Option<usize> {
        let word = |row: usize, key: &str| {
            self.entry(Table::Limit(row), key).and_then(|(_, value)| value.get_ref().as_str()).unwrap_or_default()
        };
        let is_it = |row: &usize| word(*row, "scope") == scope.name() && word(*row, "window").parse() == Ok(window);
        let last = (0..self.rows("limit")).rfind(is_it);
        last.and_then(|row| self.place(Table::Limit(row), "scope").line)
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
