//! The published schema of bursar.toml, held against the types that read the file.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use bursar_policy::limit::{OwnLimit, Scope};
use bursar_policy::quantity::{ByteSize, Percent, Span};
use bursar_policy::rules::draft::{
    BalanceNeed, ChainDraft, ContentMode, Draft, HostDraft, LedgerAddress, MetricsDraft, NetworkDraft, NotifyDraft,
    PayeeDraft, PaymentDraft, SandboxDraft, SharesDraft,
};
use bursar_policy::{
    Address, Asset, AssetId, ChainId, Currency, HeaderName, Limit, Method, Money, PathPrefix, Pointer, Setting, Tag,
};
use bursar_vault::rules_file;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::schema_checker::faults;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Every key of the file, with a value that is right.
const WHOLE: &str = r#"
ledger = "postgres://bursar@db-1.example.com,db-2.example.com:6432/books?sslrootcert=pg.pem"

[payment]
max_per_payment = ["0.05 USD", "5 EUR"]
schemes = ["exact"]
networks = ["eip155:84532"]
assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e", "eip155:84532/erc20:0x808456652fdb597867f38412077A9182bf77359F"]
recipients = ["0x209693Bc6afc0C5328bA36FaF03C514EF312287C"]
allow_any_recipient = false
max_lifetime = "5m"
allow_any_host = false
repeat_window = "2m"
max_body = "256 KiB"
max_content = "1 GiB"
content_age = "90d"
hours = "08:00-18:00"
days = ["mon-fri", "sun"]
time_zone = "Europe/Berlin"
max_unresolved = 2
first_payee = "pin"
on_change = "allow"
unusual_price = 10
price_rise = "20%"
approve_over = ["0.02 USD", "1 EUR"]
approve_tags = ["people"]
approval_lifetime = "30m"
no_recurring = "30d"
on_security_refusal = "close_session"
quarantine_after = 3
quarantine = "1h"
mandate = "required"

[[limit]]
scope = "tag"
tag = "data"
window = "month"
time_zone = "America/Argentina/Buenos_Aires"
max = "5.00 USD"
count = 3

[[limit]]
scope = "all"
window = "24h"
max = "5.00 USD"

[[host]]
origin = "https://api.example.com"
path = "/v1/"
tags = ["data"]
max_unresolved = 3
methods = ["GET", "POST"]
content = "fields"
fields = ["/price", "/items/0/name"]
recipients = ["0x209693Bc6afc0C5328bA36FaF03C514EF312287C"]
allow_any_recipient = false
max_per_payment = "0.01 USD"
resource_hosts = ["cdn.example.com"]
body_limit = "1 KiB"
max_body = "2 MiB"
headers = ["accept", "prefer"]
secret_headers = ["authorization: Bearer {shop-token}", "x-api-key: {shop-key}"]
first_payee = "approve"
on_change = "approve"
unusual_price = 3
price_rise = "100%"
approve_over = "0.01 USD"
no_recurring = "1d"

[[host.limit]]
window = "week"
time_zone = "UTC"
max = "1.00 USD"
count = 9

[[payee]]
address = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
tags = ["people", "data"]

[[asset]]
id = "eip155:84532/erc20:0x5e11e4000000000000000000000000000000beeF"
symbol = "TEST"
decimals = 6
currency = "EUR"
eip712_name = "Test"
eip712_version = "1"

[[chain]]
network = "eip155:84532"
rpc = ["https://rpc.example.com/v2/key", "https://sepolia.example.org"]
agree = 2
balance = "required"
poll = "30s"

[network]
deny = ["203.0.113.0/24", "2606:4700::1111"]
allow = ["93.184.216.34", "2606:4700::/32"]
proxy = "http://proxy.corp.example:3128"
proxy_secret = "corp-proxy"
extra_ca = "corp.pem"

[shares]
center = "postgres://bursar@db.example.com/books"

[notify]
webhook = "https://hook.example.com/k3y?to=me"
secret = "hook"
details = false

[metrics]
listen = "127.0.0.1:9464"
token = "scrape"
otlp = "http://[::1]:4318"
every = "30s"
traces = true
hosts = false

[sandbox]
hosts = { "shop.test" = "127.0.0.1", "six.test" = "::1" }
ca = "ca.pem"
"#;

fn schema() -> Value {
    serde_json::from_str(&fs::read_to_string(Path::new(ROOT).join("schema/bursar.schema.json")).unwrap()).unwrap()
}

/// The file as the checker sees it.
fn document(text: &str) -> Value {
    let table: toml::Table = text.parse().unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    serde_json::to_value(table).unwrap()
}

fn wrong(text: &str) -> Vec<String> {
    let schema = schema();
    faults(&schema, &schema, &document(text))
}

/// The words that a reader lists when it meets one that it does not know.
fn listed<T: DeserializeOwned>(text: &str) -> BTreeSet<String> {
    let fault = toml::from_str::<T>(text).err().unwrap();
    let expected = fault.message().split_once("expected").unwrap().1.to_owned();
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn keys<T: DeserializeOwned>() -> BTreeSet<String> {
    listed::<T>("no-such-key = 1")
}

/// A table of the schema: its name for people, its schema, its reader's keys.
fn tables() -> Vec<(&'static str, Value, BTreeSet<String>)> {
    let schema = schema();
    let at = |pointer: &str| schema.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}")).clone();
    vec![
        ("", schema.clone(), keys::<Draft>()),
        ("payment", at("/properties/payment"), keys::<PaymentDraft>()),
        ("limit", at("/properties/limit/items"), keys::<Limit>()),
        ("host", at("/properties/host/items"), keys::<HostDraft>()),
        ("host.limit", at("/properties/host/items/properties/limit/items"), keys::<OwnLimit>()),
        ("payee", at("/properties/payee/items"), keys::<PayeeDraft>()),
        ("asset", at("/properties/asset/items"), keys::<Asset>()),
        ("chain", at("/properties/chain/items"), keys::<ChainDraft>()),
        ("network", at("/properties/network"), keys::<NetworkDraft>()),
        ("shares", at("/properties/shares"), keys::<SharesDraft>()),
        ("notify", at("/properties/notify"), keys::<NotifyDraft>()),
        ("metrics", at("/properties/metrics"), keys::<MetricsDraft>()),
        ("sandbox", at("/properties/sandbox"), keys::<SandboxDraft>()),
    ]
}

#[test]
fn the_schema_has_exactly_the_keys_of_the_reader_and_says_what_each_is() {
    for (table, schema, keys) in tables() {
        assert_eq!(schema["additionalProperties"], false, "[{table}] takes unknown keys");
        let members = schema["properties"].as_object().unwrap();
        let told: BTreeSet<String> = members.keys().cloned().collect();
        assert_eq!(told, keys, "[{table}]: the schema on the left, the reader on the right");
        for (key, member) in members {
            assert!(
                member["description"].as_str().is_some_and(|text| text.ends_with('.')),
                "{table}.{key} is not told"
            );
        }
    }
}

#[test]
fn the_schema_requires_what_the_reader_misses() {
    let whole: toml::Table = WHOLE.parse().unwrap();
    for (name, schema, keys) in tables() {
        let required: BTreeSet<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for key in &keys {
            let mut file = whole.clone();
            row_of(&mut file, name).remove(key).unwrap_or_else(|| panic!("the sample has no {name}.{key}"));
            let missed = file.try_into::<Draft>().is_err();
            // These two are required by what the sample has beside them.
            let by_another = name.ends_with("limit") && ["tag", "time_zone"].contains(&key.as_str());
            assert_eq!(missed, by_another || required.contains(key.as_str()), "{name}.{key}");
        }
    }
}

/// The table, the first one where there may be several; one inside another is told with a dot.
fn row_of<'a>(file: &'a mut toml::Table, name: &str) -> &'a mut toml::Table {
    let mut row = file;
    for part in name.split('.').filter(|part| !part.is_empty()) {
        row = match row.get_mut(part) {
            Some(toml::Value::Array(rows)) => rows.first_mut().and_then(toml::Value::as_table_mut),
            one => one.and_then(toml::Value::as_table_mut),
        }
        .unwrap_or_else(|| panic!("the sample has no {name}"));
    }
    row
}

#[test]
fn the_schema_offers_exactly_the_words_of_the_reader() {
    let schema = schema();
    let words = |pointer: &str| -> BTreeSet<String> {
        let list = schema.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}"));
        list.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let scopes: BTreeSet<String> = Scope::EVERY.iter().map(|scope| scope.name().to_owned()).collect();
    assert_eq!(words("/properties/limit/items/properties/scope/enum"), scopes);
    let methods = words("/properties/host/items/properties/methods/items/enum");
    assert!(methods.iter().all(|word| word.parse::<Method>().is_ok()) && methods.len() == 3, "{methods:?}");
    let headers = words("/properties/host/items/properties/headers/items/enum");
    assert_eq!(headers, HeaderName::EVERY.iter().map(|name| name.as_str().to_owned()).collect());
    let modes = words("/properties/host/items/properties/content/enum");
    let reader = listed::<Draft>(&WHOLE.replace("content = \"fields\"", "content = \"no-such-word\""));
    assert_eq!(modes, reader);
    let needs = words("/properties/chain/items/properties/balance/enum");
    assert_eq!(needs, listed::<Draft>(&WHOLE.replace("balance = \"required\"", "balance = \"no-such-word\"")));
    assert_eq!(serde_json::to_value(BalanceNeed::default()).unwrap(), "when_known");
    assert_eq!(serde_json::to_value(ContentMode::default()).unwrap(), "withhold");
}

#[test]
fn rules_that_can_be_used_are_right_by_the_schema() {
    assert_eq!(wrong(WHOLE), [""; 0]);
    rules_file::parse(
        &WHOLE
            .replace(", \"eip155:84532/erc20:0x808456652fdb597867f38412077A9182bf77359F\"", "")
            .replace(", \"5 EUR\"", "")
            // Limits are split where each vault has a ledger of its own.
            .replace("[shares]\ncenter = \"postgres://bursar@db.example.com/books\"\n", "")
            .replace(", \"1 EUR\"", "")
            // A first payee is for sellers whose payees are not listed.
            .replace("first_payee = \"approve\"", ""),
        Setting::Sandbox,
    )
    .unwrap();
    let mut seen = 0;
    for entry in fs::read_dir(Path::new(ROOT).join("fixtures")).unwrap() {
        let Ok(text) = fs::read_to_string(entry.unwrap().path().join("rules.toml")) else { continue };
        let text = text.replace("{port}", "8443").replace("{rpc}", "8545").replace("{other_day}", "mon");
        rules_file::parse(&text, Setting::Sandbox).unwrap();
        assert_eq!(wrong(&text), [""; 0], "{text}");
        seen += 1;
    }
    assert!(seen > 100, "only {seen} rules files were found");
}

#[test]
fn what_the_reader_refuses_by_its_form_the_schema_refuses_too() {
    for (from, to) in [
        ("max_lifetime", "max_lifetimes"),
        ("\"5m\"", "5"),
        ("\"5m\"", "\"5 m\""),
        ("\"5m\"", "\"0m\""),
        ("\"256 KiB\"", "\"256KiB\""),
        ("\"1 GiB\"", "\"1 TiB\""),
        ("\"90d\"", "\"90 d\""),
        ("[\"0.05 USD\", \"5 EUR\"]", "[]"),
        ("[\"0.05 USD\", \"5 EUR\"]", "0.05"),
        ("[\"0.05 USD\", \"5 EUR\"]", "\"05 USD\""),
        ("[\"0.05 USD\", \"5 EUR\"]", "\"1,000 USD\""),
        ("[\"0.05 USD\", \"5 EUR\"]", "\"0.05 usd\""),
        ("[\"exact\"]", "[\"upto\"]"),
        ("[\"eip155:84532\"]", "[\"eip155:084532\"]"),
        ("[\"eip155:84532\"]", "\"eip155:84532\""),
        ("[\"eip155:84532\"]", "[\"eip155:84532\", \"eip155:84532\"]"),
        ("recipients = [\"0x209693Bc6afc0C5328bA36FaF03C514EF312287C\"]", ""),
        ("allow_any_recipient = false", "allow_any_recipient = true"),
        ("0x209693Bc", "0x209693B"),
        ("\"all\"", "\"everything\""),
        ("\"08:00-18:00\"", "\"8-18\""),
        ("[\"mon-fri\", \"sun\"]", "[\"monday\"]"),
        ("[\"mon-fri\", \"sun\"]", "[]"),
        ("max_unresolved = 2", "max_unresolved = 0"),
        ("max_unresolved = 3", "max_unresolved = 1000001"),
        ("\"Europe/Berlin\"", "\"berlin\""),
        ("\"/v1/\"", "\"v1\""),
        ("[\"accept\", \"prefer\"]", "[\"cookie\"]"),
        ("[\"accept\", \"prefer\"]", "[\"accept\", \"accept\"]"),
        ("authorization: Bearer {shop-token}", "authorization: Bearer shop-token"),
        ("authorization: Bearer {shop-token}", "authorization: Bearer {Shop}"),
        ("authorization: Bearer {shop-token}", "Authorization: {shop-token}"),
        ("x-api-key: {shop-key}", "cookie: {shop-key}"),
        ("x-api-key: {shop-key}", "host: {shop-key}"),
        ("x-api-key: {shop-key}", "accept: {shop-key}"),
        ("x-api-key: {shop-key}", "content-type: {shop-key}"),
        ("x-api-key: {shop-key}", "x-request-id: {shop-key}"),
        ("x-api-key: {shop-key}", "payment-signature: {shop-key}"),
        ("x-api-key: {shop-key}", "proxy-authorization: {shop-key}"),
        ("x-api-key: {shop-key}", "authorization: Bearer {shop-token}"),
        ("proxy_secret = \"corp-proxy\"", "proxy_secret = \"{corp}\""),
        ("proxy = \"http://proxy.corp.example:3128\"\n", ""),
        ("\"corp.pem\"", "\"../corp.pem\""),
        ("\"http://proxy.corp.example:3128\"", "\"http://user:pw@proxy.corp.example:3128\""),
        ("\"http://proxy.corp.example:3128\"", "\"http://proxy.corp.example:3128/\""),
        ("\"203.0.113.0/24\"", "\"203.0.113.0/024\""),
        ("\"203.0.113.0/24\"", "\"merchant.test\""),
        ("\"93.184.216.34\"", "\"2606:4700::/32\""),
        ("\"/v1/\"", "\"/v1//\""),
        ("tag = \"data\"", "tag = \"Data\""),
        ("\"month\"", "\"year\""),
        ("\"month\"", "\"24h\""),
        ("\"tag\"", "\"host\""),
        ("tag = \"data\"\n", ""),
        ("time_zone = \"America/Argentina/Buenos_Aires\"\n", ""),
        ("tags = [\"people\", \"data\"]", ""),
        ("[\"people\", \"data\"]", "[\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"i\"]"),
        ("\"24h\"", "\"a day\""),
        ("count = 3", "count = 0"),
        ("count = 3", "count = 4294967296"),
        ("https://api.example.com", "https://api.example.com/path"),
        ("https://api.example.com", "api.example.com"),
        ("[\"GET\", \"POST\"]", "[\"get\"]"),
        ("content = \"fields\"", "content = \"all\""),
        ("content = \"fields\"", "content = \"text\""),
        ("fields = [\"/price\", \"/items/0/name\"]\n", ""),
        ("fields = [\"/price\", ", "fields = [\"price\", "),
        ("fields = [\"/price\", ", "fields = [\"/items/0/name\", "),
        ("symbol = \"TEST\"", ""),
        ("decimals = 6", "decimals = 19"),
        ("\"ca.pem\"", "\"../ca.pem\""),
        ("[sandbox]", "[sandbox]\nport = 1"),
        ("[[host]]", "[[hosts]]"),
        ("first_payee = \"pin\"", "first_payee = \"any\""),
        ("mandate = \"required\"", "mandate = true"),
        ("on_change = \"allow\"", "on_change = \"deny\""),
        ("unusual_price = 10", "unusual_price = 1"),
        ("price_rise = \"20%\"", "price_rise = \"20\""),
        ("price_rise = \"100%\"", "price_rise = \"1001%\""),
        ("unusual_price = 3", "unusual_price = \"3\""),
        ("[\"0.02 USD\", \"1 EUR\"]", "[]"),
        ("\"30m\"", "\"30 m\""),
        ("approve_tags = [\"people\"]", "approve_tags = [\"people\", \"people\"]"),
        ("\"30d\"", "\"monthly\""),
        ("window = \"week\"", "scope = \"host\"\nwindow = \"week\""),
        ("count = 9", "count = 0"),
        ("agree = 2", "agree = 0"),
        ("agree = 2", "agree = 6"),
        ("balance = \"required\"", "balance = true"),
        ("poll = \"30s\"", "poll = 30"),
        ("\"https://rpc.example.com/v2/key\", \"https://sepolia.example.org\"", ""),
        ("https://sepolia.example.org", "wss://sepolia.example.org"),
        ("https://sepolia.example.org", "https://user@sepolia.example.org"),
        ("postgres://bursar@", "postgres://bursar:word@"),
        ("postgres://bursar@", "postgres://"),
        ("postgres://bursar@", "postgresql://bursar@"),
        ("/books?", "?"),
        ("?sslrootcert=pg.pem", "?password=x"),
        ("?sslrootcert=pg.pem", "?sslmode=require"),
    ] {
        assert!(WHOLE.contains(from), "{from}");
        let text = WHOLE.replacen(from, to, 1);
        assert!(rules_file::parse(&text, Setting::Sandbox).is_err(), "{from} → {to} can be used");
        assert!(!wrong(&text).is_empty(), "{from} → {to} is right by the schema");
    }
}

#[test]
fn every_text_that_a_pattern_lets_through_is_read() {
    let schema = schema();
    let reads = |pointer: &str, read: &dyn Fn(&str) -> bool| {
        let pattern = schema.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("no {pointer}"));
        let inner = pattern.trim_start_matches('^').trim_end_matches('$');
        // Short ones, since a URL has a longest length and a pattern has none.
        let inner = inner.replace('*', "{0,3}").replace('+', "{1,4}");
        let strategy = proptest::string::string_regex(&inner).unwrap();
        let mut runner = TestRunner::deterministic();
        for _ in 0..200 {
            let text = strategy.new_tree(&mut runner).unwrap().current();
            assert!(read(&text), "{pointer} lets `{text}` through");
        }
    };
    reads("/definitions/money/pattern", &|text| text.parse::<Money>().is_ok());
    reads("/definitions/span/pattern", &|text| text.parse::<Span>().is_ok());
    reads("/definitions/size/pattern", &|text| text.parse::<ByteSize>().is_ok());
    reads("/definitions/percent/pattern", &|text| text.parse::<Percent>().is_ok());
    reads("/definitions/network/pattern", &|text| text.parse::<ChainId>().is_ok());
    reads("/properties/asset/items/properties/currency/pattern", &|text| text.parse::<Currency>().is_ok());
    // A checksum is more than a pattern can ask; the same digits in lower case are always read.
    let lower = |text: &str| text.to_ascii_lowercase();
    reads("/definitions/asset_id/pattern", &|text| lower(text).parse::<AssetId>().is_ok());
    reads("/definitions/pointer/pattern", &|text| text.parse::<Pointer>().is_ok());
    reads("/definitions/tag/pattern", &|text| text.parse::<Tag>().is_ok());
    reads("/properties/host/items/properties/path/pattern", &|text| text.parse::<PathPrefix>().is_ok());
    reads("/properties/ledger/pattern", &|text| text.parse::<LedgerAddress>().is_ok());
    reads("/definitions/account/pattern", &|text| lower(text).parse::<Address>().is_ok());
}

#[test]
fn a_mistyped_key_of_every_table_is_told_with_the_right_one() {
    let whole: toml::Table = WHOLE.parse().unwrap();
    for (table, _, keys) in tables() {
        for key in keys {
            // A letter too many, one too few, two changed places: at the end, where no other key is nearer.
            let swapped = swap(&key);
            for mistyped in [format!("{key}x"), key[..key.len() - 1].to_owned(), swapped] {
                let text = respelt(&whole, table, &key, &mistyped);
                let said = rules_file::draft(&text).unwrap_err().to_string();
                let right = said.contains(&format!("unknown key `{mistyped}`; did you mean `{key}`?"));
                // The last letter of `ca` is half of it, and a swap may be another word's neighbour.
                assert!(right || key.len() < 4, "{table}.{mistyped}: {said}");
                assert!(said.starts_with("line "), "{said}");
            }
        }
    }
}

/// The word with its first two letters in the wrong order.
fn swap(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    letters.swap(0, 1);
    letters.into_iter().collect()
}

/// The whole file with one key of one table spelt otherwise.
fn respelt(whole: &toml::Table, table: &str, key: &str, mistyped: &str) -> String {
    let mut file = whole.clone();
    let row = row_of(&mut file, table);
    let value = row.remove(key).unwrap();
    row.insert(mistyped.to_owned(), value);
    let mut text = String::new();
    // What stands in no table comes before all of them.
    for (name, value) in file.iter().filter(|(_, value)| value.is_str()) {
        text.push_str(&format!("{name} = {}\n", inline(value)));
    }
    for (name, value) in file.iter().filter(|(_, value)| !value.is_str()) {
        let rows = match value {
            toml::Value::Array(rows) => rows.clone(),
            one => vec![one.clone()],
        };
        for row in rows {
            let (open, close) = if value.is_array() { ("[[", "]]") } else { ("[", "]") };
            text.push_str(&format!("{open}{name}{close}\n"));
            for (inner, value) in row.as_table().unwrap() {
                text.push_str(&format!("{inner} = {}\n", inline(value)));
            }
        }
    }
    text
}

fn inline(value: &toml::Value) -> String {
    match value {
        toml::Value::Table(table) => {
            let members: Vec<String> =
                table.iter().map(|(key, value)| format!("{} = {}", json!(key), inline(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        toml::Value::Array(list) => format!("[{}]", list.iter().map(inline).collect::<Vec<_>>().join(", ")),
        one => serde_json::to_string(one).unwrap(),
    }
}
