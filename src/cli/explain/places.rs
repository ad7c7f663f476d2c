//! From a rule that the gate looked at to the key of the rules behind it, and its line. Must never decide anything.

use bursar_policy::{Address, AssetId, OfferReport, Refusal, Rules, Setting, Site};
use bursar_vault::rules_file::{self, Lines, Place, Table};

/// What stands behind a rule of the gate.
#[derive(Clone, Copy, Debug)]
enum Behind {
    /// Nothing that an operator can change.
    BuiltIn,
    /// The first of these keys of `[payment]` that is written.
    Payment(&'static [&'static str]),
    /// This key of the seller's `[[host]]`.
    Host(&'static str),
    /// The first of these keys that the seller's `[[host]]` writes, or else that `[payment]` does.
    Both(&'static [&'static str]),
    /// The asset's `[[asset]]`, where it is not built in.
    Asset,
}

use Behind::{Asset, Both, BuiltIn, Host, Payment};

/// Every rule of the gate by its name.
const RULES: &[(&str, Behind)] = &[
    ("https", BuiltIn),
    ("address", BuiltIn),
    ("host", Host("origin")),
    ("method", Host("methods")),
    ("body", Host("body_limit")),
    ("headers", Host("headers")),
    ("offers", BuiltIn),
    ("resource", Host("resource_hosts")),
    ("clock", BuiltIn),
    ("hours", Payment(&["hours", "days", "time_zone"])),
    ("scheme", Payment(&["schemes"])),
    ("network", Payment(&["networks"])),
    ("transfer_method", BuiltIn),
    ("payment_flow", BuiltIn),
    ("first_of_pair", BuiltIn),
    ("one_meaning", BuiltIn),
    ("offer_resource", Host("resource_hosts")),
    ("amount", BuiltIn),
    ("asset_address", BuiltIn),
    ("payee_address", BuiltIn),
    ("timeout", BuiltIn),
    ("asset", Payment(&["assets"])),
    ("domain_name", Asset),
    ("domain_version", Asset),
    ("domain_contract", Asset),
    ("domain_chain", Asset),
    ("payee_sense", BuiltIn),
    ("payee", Both(&["recipients", "allow_any_recipient"])),
    ("payment_cap", Both(&["max_per_payment"])),
    ("own_ceiling", BuiltIn),
    ("lifetime", Payment(&["max_lifetime"])),
];

/// The places of the rules for one errand.
pub(super) struct Places<'t> {
    lines: Option<Lines<'t>>,
    host: Option<Table>,
    /// The key that is missing where no entry covers the site.
    missing: &'static str,
}

/// What the gate understood of the offer that a rule is about.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Understood {
    asset: Option<AssetId>,
    payee: Option<Address>,
}

impl Understood {
    /// Of `offer`.
    pub(super) fn of(offer: &OfferReport) -> Self {
        let noted = offer.findings.iter().find(|finding| finding.rule == "asset" && finding.passed());
        Self {
            asset: noted.and_then(|finding| finding.note.parse().ok()),
            payee: offer.terms.as_ref().map(|terms| terms.payee),
        }
    }
}

impl<'t> Places<'t> {
    /// The places in `text`, the rules that were held against an errand to `site`.
    pub(super) fn of(text: &'t str, setting: Setting, site: &Site) -> Self {
        let lines = Lines::of(text);
        let rules = rules_file::parse(text, setting).ok().filter(|rules| !rules.allow_any_host());
        let rule = rules.as_ref().and_then(|rules: &Rules| rules.host_rule(site));
        let host = rule.zip(lines.as_ref()).and_then(|(rule, lines)| lines.host(site.origin(), rule.path()));
        let is_listed = |rules: &Rules| rules.origins().any(|origin| origin == site.origin());
        let missing = if rules.as_ref().is_some_and(is_listed) { "path" } else { "origin" };
        Self { lines, host, missing }
    }

    /// The key behind `rule`; `seen` is what the gate noted. `None` for what no key changes.
    pub(super) fn place(&self, rule: &str, seen: &str, understood: Understood) -> Option<Place> {
        let lines = self.lines.as_ref()?;
        let payee = understood.payee.filter(|_| rule == "payee").map(|payee| payee.to_string());
        let item = payee.as_deref().unwrap_or(seen);
        let written = |table: Table, keys: &[&str]| {
            let places = keys.iter().map(|key| lines.item(table, key, item));
            places.reduce(|found, next| if found.line.is_some() { found } else { next })
        };
        match RULES.iter().find(|(name, _)| *name == rule)?.1 {
            BuiltIn => None,
            Payment(keys) => written(Table::Payment, keys),
            Host(key) => match self.host {
                Some(host) => written(host, &[key]),
                None => {
                    let any = lines.place(Table::Payment, "allow_any_host");
                    let key = if key == "origin" { self.missing } else { key };
                    Some(if any.line.is_some() { any } else { Place { key: format!("host.{key}"), line: None } })
                }
            },
            Both(keys) => {
                let own = self.host.and_then(|host| written(host, keys)).filter(|place| place.line.is_some());
                own.or_else(|| written(Table::Payment, keys))
            }
            Asset => understood.asset.and_then(|id| lines.asset(&id)).map(|asset| lines.place(asset, "id")),
        }
    }

    /// The key behind a refusal that came before any terms were read.
    pub(super) fn of_refusal(&self, refusal: &Refusal) -> Option<Place> {
        let rule = match refusal {
            Refusal::HostNotAllowed { .. } => "host",
            Refusal::MethodNotAllowed { .. } => "method",
            Refusal::BodyNotAllowed { .. } => "body",
            Refusal::HeaderNotAllowed { .. } => "headers",
            Refusal::AddressDenied { block: Some(block), .. } => {
                return self.lines.as_ref().map(|lines| lines.item(Table::Network, "deny", &block.to_string()));
            }
            Refusal::AddressDenied { block: None, .. } => {
                return self.lines.as_ref().map(|lines| lines.place(Table::Network, "allow"));
            }
            Refusal::MandateMissing => return self.lines.as_ref().map(|lines| lines.place(Table::Payment, "mandate")),
            _ => return None,
        };
        self.place(rule, "", Understood::default())
    }
}

#[cfg(test)]
mod tests {
    use bursar_policy::refusal::Refusal;
    use bursar_policy::{ChainId, Errand, Method, Setting, Site, Terms, Version, inspect};
    use bursar_vault::rules_file;

    use super::*;

    const TEXT: &str = r#"[payment]
max_per_payment = "0.05 USD"
networks = ["eip155:84532"]
assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
recipients = [
    "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
    "0x5e11e4000000000000000000000000000000beeF",
]

[[host]]
origin = "https://one.example"

[[host]]
origin = "https://two.example"
methods = ["GET"]
recipients = ["0x5e11e4000000000000000000000000000000beeF"]
max_per_payment = "0.01 USD"

[[host]]
origin = "https://two.example"
path = "/v1/"
max_per_payment = "0.02 USD"

[[host]]
origin = "https://six.example"
path = "/v1/"
"#;

    fn judged(url: &str) -> Vec<(&'static str, Option<Place>)> {
        let rules = rules_file::parse(TEXT, Setting::Real).unwrap();
        let site = Site::parse(url).unwrap();
        let places = Places::of(TEXT, Setting::Real, &site);
        let errand = Errand::new(site, Method::Get);
        let terms = Terms {
            version: Version::V2,
            offer: 0,
            chain: ChainId::new(84_532),
            asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e".parse().unwrap(),
            payee: "0x5e11e4000000000000000000000000000000beeF".parse().unwrap(),
            amount: "10000".parse().unwrap(),
            max_timeout_s: 60,
            domain_name: "USDC".to_owned(),
            domain_version: "2".to_owned(),
        };
        let judgement = inspect(&rules, &errand, &terms.to_challenge(), None, 1_900_000_000);
        let document = judgement.document.iter().map(|finding| (finding, Understood::default()));
        let understood = |offer| Understood::of(offer);
        let offers = judgement.offers.iter();
        let of_offers = offers.flat_map(|offer| offer.findings.iter().map(move |finding| (finding, understood(offer))));
        document
            .chain(of_offers)
            .map(|(finding, understood)| (finding.rule, places.place(finding.rule, &finding.note, understood)))
            .collect()
    }

    #[test]
    fn every_rule_that_the_gate_looks_at_is_known_here() {
        let looked_at = judged("https://one.example/");
        assert!(20 < looked_at.len(), "{looked_at:?}");
        for (rule, _) in looked_at {
            assert!(RULES.iter().any(|(name, _)| *name == rule), "`{rule}` has no place");
        }
    }

    #[test]
    fn a_rule_is_told_with_the_line_that_decides() {
        let line = |url: &str, rule: &str| {
            let found = judged(url).into_iter().find(|(name, _)| *name == rule).unwrap().1;
            found.map(|place| (place.key, place.line))
        };
        let told = |key: &str, line: Option<usize>| Some((key.to_owned(), line));
        let (one, two, other) = ("https://one.example/", "https://two.example/", "https://other.example/");
        assert_eq!(line(one, "host"), told("host.origin", Some(11)));
        assert_eq!(line(one, "method"), told("host.methods", None));
        assert_eq!(line(two, "method"), told("host.methods", Some(15)));
        assert_eq!(line(other, "host"), told("host.origin", None));
        assert_eq!(line(one, "payee"), told("payment.recipients", Some(7)));
        assert_eq!(line(two, "payee"), told("host.recipients", Some(16)));
        assert_eq!(line(one, "payment_cap"), told("payment.max_per_payment", Some(2)));
        assert_eq!(line(two, "payment_cap"), told("host.max_per_payment", Some(17)));
        assert_eq!(line("https://two.example/v1/data", "payment_cap"), told("host.max_per_payment", Some(22)));
        assert_eq!(line("https://six.example/v2", "host"), told("host.path", None));
        assert_eq!(line(one, "network"), told("payment.networks", Some(3)));
        assert_eq!(line(one, "asset"), told("payment.assets", Some(4)));
        assert_eq!(line(one, "lifetime"), told("payment.max_lifetime", None));
        assert_eq!(line(one, "clock"), None);
        assert_eq!(line(one, "domain_name"), None, "the asset is built in");
    }

    #[test]
    fn a_refusal_before_any_terms_has_its_place_too() {
        let site = Site::parse("https://two.example/page").unwrap();
        let places = Places::of(TEXT, Setting::Real, &site);
        let refused = Refusal::MethodNotAllowed { method: Method::Post };
        assert_eq!(places.of_refusal(&refused).unwrap().line, Some(15));
        assert_eq!(places.of_refusal(&Refusal::HttpsRequired), None);
    }
}
