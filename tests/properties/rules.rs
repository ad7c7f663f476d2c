//! What holds for any text as rules: it means one thing, also when written again, or is refused with a line and a word.

use bursar_policy::{ChainId, Rules, Scheme, Setting};
use bursar_vault::rules_file::{TextFault, draft, parse};

use super::toml;

/// A moment to ask limits about, Unix seconds.
const NOW_S: u64 = 1_796_000_000;

/// Takes `bytes` as the text of `bursar.toml`, in both settings.
///
/// # Panics
///
/// Where a property does not hold.
pub fn holds(bytes: &[u8]) {
    // What is not UTF-8 is refused before there is a text.
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read = [Setting::Real, Setting::Sandbox].map(|setting| read_alone(text, setting));
    match draft(text) {
        Ok(written) => {
            let again = toml::document(&serde_json::to_value(&written).unwrap());
            assert_eq!(draft(&again).ok(), Some(written), "{again}");
            for rules in read.iter().flatten() {
                assert_eq!(parse(&again, rules.setting()).ok().as_ref(), Some(rules), "{again}");
            }
        }
        Err(_) => assert!(read.iter().all(Option::is_none), "rules came from no draft"),
    }
    if let [Some(real), Some(_)] = &read {
        // A profile may be for a public test network without being a sandbox; real money is never in one.
        assert!(real.chains().iter().all(|chain| chain.is_testnet()), "one network is real money and play money");
    }
}

fn read_alone(text: &str, setting: Setting) -> Option<Rules> {
    let rules = parse(text, setting).map_err(|fault| is_told(text, &fault)).ok()?;
    assert_eq!(rules.setting(), setting);
    is_free_of_contradictions(&rules);
    // A byte order mark may stand in front of everything and nowhere else.
    let bare = text.trim_start_matches('\u{feff}');
    for other in [text.to_owned(), format!("{text}\n# a remark"), format!("# a remark\n{bare}")] {
        assert_eq!(parse(&other, setting).ok().as_ref(), Some(&rules), "remarks mean something");
    }
    Some(rules)
}

/// A fault is one line that a terminal can show, and its place is in the text.
fn is_told(text: &str, fault: &TextFault) {
    let line = match fault {
        TextFault::Toml { line, .. } => Some(*line),
        TextFault::Rule { line, .. } => *line,
    };
    let lines = text.matches('\n').count() + 1;
    assert!(line.is_none_or(|line| (1..=lines).contains(&line)), "line {line:?} of {lines}");
    let told = fault.to_string();
    assert!(!told.is_empty() && !told.contains(char::is_control), "{told:?}");
}

/// What [`Rules::new`] promises.
fn is_free_of_contradictions(rules: &Rules) {
    let sandbox = rules.setting() == Setting::Sandbox;
    let chains = rules.chains();
    assert!(chains.iter().all(|chain| chain.is_testnet()) || !chains.iter().any(|chain| chain.is_testnet()));
    if sandbox {
        assert!(chains.iter().all(|chain| chain.is_testnet()), "real money in a sandbox");
    } else {
        assert!(!chains.contains(&ChainId::LOCAL) && rules.loopback_map().is_empty() && rules.ca_file().is_none());
    }
    assert!(rules.loopback_map().values().all(|address| address.is_loopback()));
    assert!(rules.schemes().iter().all(|scheme| scheme == "exact"));
    for asset in rules.assets() {
        assert!(chains.contains(&asset.id.chain), "{} is on no listed network", asset.id);
        let ceiling = rules.ceiling(asset.currency).unwrap();
        assert!(ceiling.to_units(asset).is_some_and(|units| units > 0), "{ceiling} is nothing of {}", asset.id);
    }
    for limit in rules.limits() {
        assert!(limit.max.is_some() != limit.count.is_some(), "{limit:?}");
        assert!(limit.max.is_none_or(|max| !max.is_zero()) && limit.count != Some(0), "{limit:?}");
        assert!(rules.window_begins_s(limit.window, NOW_S).is_none_or(|begins_s| begins_s <= NOW_S), "{limit:?}");
    }
    for (origin, host) in rules.host_rules() {
        assert!(origin.scheme == Scheme::Https || (sandbox && rules.allow_http_loopback(&origin.host)), "{origin}");
        let fits = |general| {
            host.ceiling(general).is_none_or(|own| rules.ceiling(general).is_none_or(|most| own.is_within(most)))
        };
        assert!(rules.assets().all(|asset| fits(asset.currency)), "{origin} may take more than a payment may cost");
        assert!((1..=1 << 20).contains(&host.body_limit_bytes()) && host.max_unresolved() > 0, "{origin}");
    }
    assert!((10..=3_600).contains(&rules.max_lifetime_s()) && (1..=86_400).contains(&rules.repeat_window_s()));
    assert!((1..=64 << 20).contains(&rules.body_cap_bytes()) && rules.max_unresolved() > 0);
}
