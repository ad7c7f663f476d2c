//! The corpus's reference policy as rules of ours, with the changes that a row makes to it.

use bursar_policy::Site;
use bursar_policy::errand::{Errand, Method};
use bursar_policy::money::{Currency, Money};
use bursar_policy::rules::{Rules, Setting};

use super::row::Row;

/// The host that rows ask where they name none.
pub(crate) const HOST: &str = "api.merchant.test";
/// The URL that rows ask where they name none.
pub(crate) const URL: &str = "https://api.merchant.test/v1/data";
/// The address that the resolver of the corpus gives for [`HOST`].
pub(crate) const ADDRESS: &str = "93.184.216.34";
/// The token of Base.
pub(crate) const USDC: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
/// The token of Base Sepolia.
pub(crate) const TEST_USDC: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

const CAP_UNITS: u128 = 50_000;
/// 10^18 of a dollar to 10^6 units of its token.
const ATTO_OF_A_UNIT: u128 = 1_000_000_000_000;

/// `units` of a token with six decimals as money.
pub(crate) fn dollars(units: u128) -> Money {
    Money::new(Currency::USD, units * ATTO_OF_A_UNIT)
}

/// A GET of `url`, and nothing further said about it.
pub(crate) fn get(url: &str) -> Errand {
    let site = Site::parse(url).unwrap();
    Errand::new(site, Method::Get)
}

/// The rules of `row`.
pub(crate) fn rules(row: &Row) -> Rules {
    let cap = row.text("/policy/call_cap").map_or(CAP_UNITS, |text| text.parse().unwrap());
    let life_s = row.input.pointer("/policy/max_lifetime").and_then(serde_json::Value::as_u64).unwrap_or(300);
    let mut networks = row.texts("/policy/networks");
    if row.text("/network").is_some_and(|network| networks.is_empty() && network == "eip155:84532") {
        networks.push("eip155:84532".to_owned());
    }
    if networks.is_empty() {
        networks.push("eip155:8453".to_owned());
    }
    let assets: Vec<String> = networks.iter().map(|network| format!("{network}/erc20:{}", token(network))).collect();
    let text = format!(
        "[payment]\nmax_per_payment = \"{}\"\nmax_lifetime = \"{life_s}s\"\nnetworks = {networks:?}\nassets = {assets:?}\n\
         allow_any_recipient = true\n{}",
        dollars(cap),
        hosts(row)
    );
    bursar_vault::rules_file::parse(&text, Setting::Real).unwrap_or_else(|fault| panic!("{}: {fault}\n{text}", row.id))
}

/// The hosts of `row`: listed ones by name, or any.
fn hosts(row: &Row) -> String {
    let mut names = row.texts("/policy/hosts");
    if names.iter().any(|name| name == "*") {
        return "allow_any_host = true\n".to_owned();
    }
    if names.is_empty() {
        names.push(HOST.to_owned());
    }
    let host = |name: &String| {
        // There are no wildcards here: such an entry becomes the name behind it.
        let name = name.trim_start_matches("*.");
        let payees = row.texts(&format!("/policy/host_rules/{name}/payee"));
        let payees = if payees.is_empty() { String::new() } else { format!("recipients = {payees:?}\n") };
        format!("[[host]]\norigin = \"https://{name}\"\nmethods = [\"GET\", \"POST\"]\n{payees}")
    };
    names.iter().map(host).collect()
}

/// The dollar token of a network.
fn token(network: &str) -> &'static str {
    match network {
        "eip155:8453" => USDC,
        "eip155:84532" => TEST_USDC,
        other => panic!("the corpus has no token for {other}"),
    }
}
