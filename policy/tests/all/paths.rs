//! Host rules for parts of an origin: the longest path counts, and no spelling of a path gets another one's rule.

use bursar_policy::rules::draft::{Ceilings, HostDraft};
use bursar_policy::*;
use proptest::prelude::*;

use crate::builders::*;

fn part(path: &str, ceiling: &str, content: ContentMode) -> HostDraft {
    let max_per_payment = Some(Ceilings(vec![money(ceiling)]));
    HostDraft { path: path.parse().unwrap(), max_per_payment, content, ..host(ORIGIN) }
}

/// The whole origin widely, one part of it narrowly, and a part of that part.
fn parts() -> Rules {
    let hosts = vec![
        part("/", "0.05 USD", ContentMode::Text),
        part("/Admin/", "0.01 USD", ContentMode::Withhold),
        part("/Admin/reports", "0.02 USD", ContentMode::File),
    ];
    rules(Draft { hosts, ..draft() })
}

fn only(path: &str) -> Rules {
    rules(Draft { hosts: vec![part(path, "0.05 USD", ContentMode::Text)], ..draft() })
}

/// The ceiling of the rule that covers `path`, and what the model sees there.
fn rule(rules: &Rules, path: &str) -> Option<(String, ContentMode)> {
    let site: Site = format!("{ORIGIN}{path}").parse().unwrap();
    let rule = rules.host_rule(&site)?;
    assert_eq!(rules.content_mode(&site), rule.content());
    Some((rule.ceiling(Currency::USD).unwrap().to_string(), rule.content()))
}

#[test]
fn the_longest_path_counts_by_whole_segments() {
    let rules = parts();
    for path in ["/", "/v1/data", "/Administrator", "/Admin-x/reports", "/x/Admin/reports"] {
        assert_eq!(rule(&rules, path), Some(("0.05 USD".to_owned(), ContentMode::Text)), "{path}");
    }
    for path in ["/Admin", "/Admin/", "/Admin?x=/reports", "/Admin/users", "/Admin/reportsx", "/Admin/x/../users"] {
        assert_eq!(rule(&rules, path), Some(("0.01 USD".to_owned(), ContentMode::Withhold)), "{path}");
    }
    for path in ["/Admin/reports", "/Admin/reports/7", "/v1/../Admin/reports"] {
        assert_eq!(rule(&rules, path), Some(("0.02 USD".to_owned(), ContentMode::File)), "{path}");
    }
}

#[test]
fn no_spelling_of_a_narrow_path_gets_the_wide_rule() {
    let rules = parts();
    for path in ["/%41dmin/users", "/v1/%2e%2e/Admin/users", "/%2e/Admin/users", "/Admi%6E"] {
        assert_eq!(rule(&rules, path), Some(("0.01 USD".to_owned(), ContentMode::Withhold)), "{path}");
    }
    // What servers read in several ways has no rule at all.
    for path in [
        "//Admin/users",
        "/Admin;x/users",
        "/Admin%3Bx/users",
        "/v1%2F..%2FAdmin/users",
        "/v1/..%2fAdmin/users",
        "/v1/%252e%252e/Admin",
        "/v1/..%5CAdmin",
        "/admin/users",
        "/ADMIN",
        "/Admin%00/users",
        "/Admin%3Fx/users",
        "/Admin%23x",
        "/Admin./users",
        "/Admin%20/users",
        "/%20Admin/users",
        "/Ädmin/users",
        "/%",
    ] {
        assert_eq!(rule(&rules, path), None, "{path}");
    }
}

#[test]
fn where_only_a_part_is_listed_the_rest_is_refused_by_its_path() {
    let rules = only("/v1/");
    assert!(may_visit(&rules, &errand_to("https://api.merchant.test/v1/data")).is_ok());
    for path in ["/", "/v2/data", "/v10", "/v1/../secret", "/v1/%2e%2e/secret", "/v1/..%2fsecret"] {
        let reasons = may_visit(&rules, &errand_to(&format!("{ORIGIN}{path}"))).unwrap_err();
        assert_eq!(codes(&reasons), ["host_not_allowed"], "{path}");
        assert!(reasons[0].to_string().contains(&format!("`{ORIGIN}/")), "{path}: {}", reasons[0]);
    }
}

#[test]
fn an_origin_that_is_listed_whole_takes_every_path() {
    let rules = only("/");
    for path in ["/", "//x", "/a%2fb", "/a;b", "/%"] {
        assert!(rule(&rules, path).is_some(), "{path}");
    }
}

#[test]
fn the_rule_of_the_part_judges_the_offer() {
    let rules = parts();
    let judged_at = |path: &str| judged(&rules, &errand_to(&format!("{ORIGIN}{path}")), &challenge(vec![dear()]));
    assert!(judged_at("/v1/data").is_ok());
    for path in ["/Admin/users", "/%41dmin/users"] {
        assert_eq!(codes(&judged_at(path).unwrap_err()), ["over_payment_cap"], "{path}");
    }
}

/// An offer of three cents.
fn dear() -> Offer {
    Offer { amount: Said::text("30000"), ..offer() }
}

#[test]
fn every_entry_is_told_with_its_path() {
    let rules = parts();
    let told: Vec<String> = rules.host_rules().map(|(origin, rule)| format!("{origin}{}", rule.path())).collect();
    assert_eq!(told, ["/", "/Admin/", "/Admin/reports/"].map(|path| format!("{ORIGIN}{path}")));
    assert_eq!(rules.origins().count(), 1);
}

#[test]
fn the_entry_that_covered_an_errand_is_noted_with_its_path() {
    let note = |path: &str| {
        let errand = Errand { site: format!("{ORIGIN}{path}").parse().unwrap(), ..errand() };
        let seen = inspect(&parts(), &errand, &challenge(vec![offer()]), None, NOW_S);
        seen.document.into_iter().find(|finding| finding.rule == "host").unwrap().note
    };
    assert_eq!(note("/v1/data"), ORIGIN);
    assert_eq!(note("/Admin/users"), format!("{ORIGIN}/Admin/"));
    assert_eq!(note("/Admin/reports/7"), format!("{ORIGIN}/Admin/reports/"));
}

/// Pieces that paths are made of, plain and disguised.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "/", "Admin", "admin", "%41dmin", "reports", "..", "%2e%2e", ".", "%2F", "%2f", ";x", "%3b", "v1", "%25", "//",
        "?", "x",
    ])
}

proptest! {
    /// What a server sees that decodes everything twice, folds case, merges slashes and drops parameters.
    #[test]
    fn whoever_could_reach_the_narrow_part_gets_its_rule_or_none(pieces in prop::collection::vec(piece(), 0..8)) {
        let path = format!("/{}", pieces.concat());
        let Ok(site) = format!("{ORIGIN}{path}").parse::<Site>() else { return Ok(()) };
        let mut seen = site.path().to_ascii_lowercase();
        for _ in 0..2 {
            for (from, to) in [("%25", "%"), ("%41", "a"), ("%2e", "."), ("%2f", "/"), ("%3b", ";")] {
                seen = seen.replace(from, to);
            }
        }
        let mut segments: Vec<&str> = Vec::new();
        for segment in seen.split('/') {
            match segment.split(';').next().unwrap() {
                "" | "." => {}
                ".." => _ = segments.pop(),
                plain => segments.push(plain),
            }
        }
        if segments.first() == Some(&"admin") {
            let found = rule(&parts(), &path);
            prop_assert!(found.as_ref().is_none_or(|rule| rule.1 != ContentMode::Text), "{path}: {found:?}");
        }
    }
}
