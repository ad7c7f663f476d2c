//! Rows that are a text of rules in the corpus's own keys: the same is said in ours, written to a private file, and read
//! by the one reader. Must never mend what a row says: a value goes over as it is written.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use bursar_policy::ChainId;
use bursar_policy::gate::may_visit;
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::{Rules, Setting};
use bursar_vault::rules_file::{self, RulesFault};
use serde_json::value::RawValue;
use toml::Value;

use super::policy::{HOST, TEST_USDC, URL, USDC, get};
use super::row::Row;

/// A key of the corpus with its value, as TOML writes it.
type Said = (String, String);

/// A rules file in parts, each as it stands in the text.
struct Text {
    ceiling: String,
    limit: String,
    recipients: String,
    networks: String,
    payment: String,
    rest: String,
    hosts: String,
}

/// Runs a row that is a text of rules; `None` for any other row.
pub(crate) fn run(row: &Row) -> Option<Result<(), String>> {
    let texts = if let Some(text) = row.text("/policy_toml") {
        variants(text)
    } else if let Some(text) = row.text("/policy_json") {
        vec![of_json(text)]
    } else {
        let lines = row.texts("/config");
        lines.iter().flat_map(|line| variants(line)).collect()
    };
    if texts.is_empty() {
        return None;
    }
    Some(texts.iter().try_for_each(|said| ends_as_told(row, said)))
}

fn ends_as_told(row: &Row, said: &[Said]) -> Result<(), String> {
    let text = said.iter().try_fold(Text::good(), |text, (key, value)| text.with(key, value))?.written();
    let names_no_host = said.iter().any(|(key, value)| key.ends_with("hosts") && value == "[]");
    match (row.expected.act.as_str(), read(&text)) {
        ("start_fail", Err(RulesFault::Text { fault, .. })) if !fault.to_string().contains('\n') => Ok(()),
        ("start_fail", Err(fault)) => Err(format!("not refused for its text: {fault}")),
        ("start_fail", Ok(_)) => Err(format!("read as rules:\n{text}")),
        ("continue", Ok(rules)) if names_no_host => match refused(&rules) {
            codes if codes == ["host_not_allowed"] => Ok(()),
            codes => Err(format!("an empty list of hosts lets {URL} through: {codes:?}")),
        },
        ("continue", Ok(_)) => Ok(()),
        ("continue", Err(fault)) => Err(format!("{fault}\n{text}")),
        (other, _) => Err(format!("`{other}` is no end of a text of rules")),
    }
}

/// The text as the vault reads it: from a private file, once.
fn read(text: &str) -> Result<Rules, RulesFault> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bursar.toml");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    rules_file::load(&path, Setting::Real).map(|file| (*file.rules).clone())
}

fn refused(rules: &Rules) -> Vec<&'static str> {
    may_visit(rules, &get(URL)).err().unwrap_or_default().iter().map(Refusal::code).collect()
}

/// The text, and the text with each value that its remark offers instead (`# or "a", "b"`).
fn variants(text: &str) -> Vec<Vec<Said>> {
    let said = of_toml(text);
    let others = text.split_once("# or ").map(|(_, others)| others).unwrap_or_default();
    let offered = others.split('"').skip(1).step_by(2);
    let other = |value: &str| said.iter().map(|(key, _)| (key.clone(), quoted(value))).collect();
    std::iter::once(said.clone()).chain(offered.map(other)).collect()
}

/// The keys of a text; a text that is no TOML goes over whole, under no key.
fn of_toml(text: &str) -> Vec<Said> {
    match toml::from_str::<toml::Table>(text) {
        Ok(table) => table.iter().map(|(key, value)| (key.clone(), literal(value))).collect(),
        Err(_) => vec![(String::new(), text.to_owned())],
    }
}

/// The members of a JSON object; numbers keep their digits.
fn of_json(text: &str) -> Vec<Said> {
    let members: std::collections::BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).unwrap();
    members.into_iter().map(|(key, value)| (key, value.get().to_owned())).collect()
}

impl Text {
    /// The corpus's reference policy.
    fn good() -> Self {
        Self {
            ceiling: "\"0.05 USD\"".to_owned(),
            limit: "max = \"1.00 USD\"".to_owned(),
            recipients: "allow_any_recipient = true".to_owned(),
            networks: "[\"eip155:8453\"]".to_owned(),
            payment: String::new(),
            rest: String::new(),
            hosts: host(HOST),
        }
    }

    /// The same with what `key` says in our keys.
    ///
    /// # Errors
    ///
    /// A key that has no translation: somebody has to look at the row.
    fn with(mut self, key: &str, value: &str) -> Result<Self, String> {
        match key {
            "call_cap_usd" => self.ceiling = in_dollars(value),
            "daily_cap_usd" | "budget_usd" => self.limit = format!("max = {}", in_dollars(value)),
            "payee" => self.recipients = format!("recipients = [{value}]"),
            "payees" | "recipients" => self.recipients = format!("recipients = {value}"),
            "networks" => self.networks = value.to_owned(),
            "max_lifetime" => self.payment = format!("{}max_lifetime = {}\n", self.payment, with_unit(value, "s")),
            "body_cap" => self.payment = format!("{}max_body = {}\n", self.payment, with_unit(value, " B")),
            "allowed_hosts" | "hosts" => self.hosts = list(value).iter().map(|name| host(name)).collect(),
            "asset" => self.rest = assets(value),
            "" => self.payment = format!("{}{value}\n", self.payment),
            // There are no such settings: the key itself is what is wrong.
            "ledger_path" | "signer_socket" => self.payment = format!("{}{key} = {value}\n", self.payment),
            // A slip of the pen in a key of theirs is one in the key of ours that stands for it.
            _ if slips("call_cap", key) => self.ceiling = format!("\"0.05 USD\"\nmax_per_paymentt = {value}"),
            _ if slips("daily_cap", key) => self.limit = format!("maxx = {}", in_dollars(value)),
            _ => return Err(format!("`{key}` has no translation here")),
        }
        Ok(self)
    }

    fn written(&self) -> String {
        let Self { ceiling, limit, recipients, networks, payment, rest, hosts } = self;
        format!(
            "[payment]\nmax_per_payment = {ceiling}\nnetworks = {networks}\n\
             assets = [\"{}/erc20:{USDC}\"]\n{recipients}\n{payment}\n\
             [[limit]]\nscope = \"all\"\nwindow = \"24h\"\n{limit}\n\n{rest}{hosts}",
            ChainId::BASE
        )
    }
}

/// Whether `key` is `known` with something added at its end.
fn slips(known: &str, key: &str) -> bool {
    key.starts_with(known) && key.len() <= known.len() + 2
}

/// A number of dollars as money: text gets the currency behind it, anything else stays what it is.
fn in_dollars(value: &str) -> String {
    match value.strip_suffix(['"', '\'']) {
        Some(text) => format!("{text} USD{}", &value[text.len()..]),
        None => value.to_owned(),
    }
}

/// A whole number gets its unit; anything else stays what it is.
fn with_unit(value: &str, unit: &str) -> String {
    if value.bytes().all(|byte| byte.is_ascii_digit()) { format!("\"{value}{unit}\"") } else { value.to_owned() }
}

fn host(name: &str) -> String {
    format!("[[host]]\norigin = {}\n", quoted(&format!("https://{name}")))
}

fn list(value: &str) -> Vec<String> {
    let table: toml::Table = toml::from_str(&format!("list = {value}")).unwrap();
    table["list"].as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

/// A text as TOML writes it; JSON writes it alike.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A value as TOML writes it on one line.
fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}").to_lowercase(),
        Value::Boolean(word) => word.to_string(),
        Value::Datetime(time) => time.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Table(table) => {
            let members: Vec<String> =
                table.iter().map(|(key, value)| format!("{} = {}", quoted(key), literal(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
    }
}

/// `[[asset]]` entries of theirs as ours; what they leave out is said as it is right for the dollar token.
fn assets(value: &str) -> String {
    let table: toml::Table = toml::from_str(&format!("asset = {value}")).unwrap();
    let one = |asset: &Value| {
        let text = |name: &str, usual: &str| asset.get(name).and_then(Value::as_str).unwrap_or(usual).to_owned();
        format!(
            "[[asset]]\nid = {}\nsymbol = \"USDC\"\ndecimals = {}\ncurrency = \"USD\"\neip712_name = {}\n\
             eip712_version = \"2\"\n\n",
            quoted(&format!("{}/erc20:{}", text("network", "eip155:8453"), text("address", USDC))),
            asset.get("decimals").map_or_else(|| "6".to_owned(), literal),
            quoted(&text("name", "USD Coin")),
        )
    };
    table["asset"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn what_is_changed_for_a_row_is_all_that_can_be_wrong() {
    assert!(read(&Text::good().written()).is_ok());
    let with = |key: &str, value: &str| Text::good().with(key, value).map(|text| read(&text.written()));
    for (key, good) in [
        ("call_cap_usd", "\"0.01\""),
        ("daily_cap_usd", "\"2\""),
        ("payee", "\"0x1111111111111111111111111111111111111111\""),
        ("recipients", "[]"),
        ("max_lifetime", "60"),
        ("body_cap", "1024"),
        ("allowed_hosts", "[\"api.merchant.test\", \"other.test\"]"),
    ] {
        assert!(with(key, good).unwrap().is_ok(), "{key}");
    }
    for (key, bad) in [
        ("call_cap_usd", "\"1abc\""),
        ("call_cap_usd", "0.1"),
        ("call_cap_usd", "1e-1"),
        ("call_cap_usd", "nan"),
        ("call_cap_usd", "5"),
        ("call_cap_usd", "\"0.0000001\""),
        ("daily_cap_usd", "\"1,000\""),
        ("daily_cap_usd", "\"$5\""),
        ("daily_cap_usd", "\" 5 \""),
        ("daily_cap_usd", "\"\""),
        ("daily_capp", "\"1.00\""),
        ("payee", "\"0\u{445}1111111111111111111111111111111111111111\""),
        ("payee", "\"0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913\""),
        ("max_lifetime", "1e3"),
        ("body_cap", "99999999999999999999"),
        ("allowed_hosts", "[\"*\"]"),
        ("allowed_hosts", "[\"*.com\"]"),
        ("allowed_hosts", "[\"*.vercel.app\"]"),
        ("allowed_hosts", "[\"m\u{435}rchant.test*\"]"),
        ("ledger_path", "\":memory:\""),
    ] {
        assert!(matches!(with(key, bad), Ok(Err(RulesFault::Text { .. }))), "{key} = {bad}");
    }
    let elsewhere = format!("[{{ network = \"eip155:8453\", address = \"{TEST_USDC}\" }}]");
    assert!(matches!(with("asset", &elsewhere), Ok(Err(RulesFault::Text { .. }))));
    assert!(with("no_such_key_at_all", "1").is_err());
}
