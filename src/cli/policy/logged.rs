//! Refusals of the log under other rules, as far as the log keeps what they were about. Must never guess.

use bursar_policy::{Errand, Method, Origin, Refusal, Rules, Site, may_visit};
use bursar_vault::protocol::LogEntry;

/// What `serve` refused is marked so in the log.
const REPORTED: &str = "as reported by serve: ";

/// The codes that are about where and how, which is what the log keeps of a refused call.
const VISIT_CODES: [&str; 3] = ["https_required", "host_not_allowed", "method_not_allowed"];

/// A refusal of the log, judged again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Again {
    /// The method and the origin.
    pub(super) errand: String,
    /// The first reason of then.
    pub(super) then: String,
    /// The first reason of now; `None` when the seller may be asked by now.
    pub(super) now: Option<String>,
}

/// Judges a `refused` event again. `None` when the log does not keep enough: its terms are not there.
pub(super) fn again(rules: &Rules, entry: &LogEntry) -> Option<Again> {
    let detail = entry.detail.strip_prefix(REPORTED).unwrap_or(&entry.detail);
    let mut parts = detail.split("; ");
    let errand = parts.next()?;
    let (method, origin) = errand.split_once(' ')?;
    let method: Method = method.parse().ok()?;
    let origin: Origin = origin.parse().ok()?;
    let then = parts.next()?.split(':').next()?;
    let then = Refusal::CODES.into_iter().find(|code| *code == then)?;
    // The log has no path: where the rules are about paths of this seller, it does not keep enough.
    if rules.host_rules().any(|(listed, rule)| *listed == origin && !rule.path().is_root()) {
        return None;
    }
    let site = Site::parse(&format!("{origin}/")).ok()?;
    let bare = Errand::new(site, method);
    let now = may_visit(rules, &bare).err().and_then(|reasons| reasons.first().map(Refusal::code));
    // Where the seller may be asked, only a refusal to ask it is taken back; of any other the terms are not known.
    if now.is_none() && !VISIT_CODES.contains(&then) {
        return None;
    }
    Some(Again { errand: errand.to_owned(), then: then.to_owned(), now: now.map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use bursar_policy::Setting;
    use bursar_vault::rules_file;

    use super::*;

    const TEXT: &str = r#"[payment]
max_per_payment = "0.05 USD"
networks = ["eip155:84532"]
assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
allow_any_recipient = true
[[host]]
origin = "https://known.example"
"#;

    fn judged(detail: &str) -> Option<(String, Option<String>)> {
        judged_by(TEXT, detail)
    }

    fn judged_by(text: &str, detail: &str) -> Option<(String, Option<String>)> {
        let rules = rules_file::parse(text, Setting::Real).unwrap();
        let entry = LogEntry {
            seq: 1,
            at_s: 1,
            kind: "refused".to_owned(),
            payment: None,
            session: None,
            detail: detail.to_owned(),
        };
        again(&rules, &entry).map(|again| (again.then, again.now))
    }

    #[test]
    fn a_refusal_is_judged_again_as_far_as_the_log_keeps_it() {
        let told = |then: &str, now: Option<&str>| Some((then.to_owned(), now.map(str::to_owned)));
        assert_eq!(
            judged("as reported by serve: GET https://known.example; host_not_allowed: x"),
            told("host_not_allowed", None)
        );
        assert_eq!(
            judged("GET https://other.example; host_not_allowed: x"),
            told("host_not_allowed", Some("host_not_allowed"))
        );
        assert_eq!(
            judged("POST https://known.example; host_not_allowed: x; no_offers: y"),
            told("host_not_allowed", Some("method_not_allowed"))
        );
        assert_eq!(
            judged("GET https://other.example; payee_not_allowed: x"),
            told("payee_not_allowed", Some("host_not_allowed"))
        );
        for unknown in [
            "GET https://known.example; payee_not_allowed: the terms are not in the log",
            "GET https://known.example",
            "GET nonsense; host_not_allowed: x",
            "BUY https://known.example; host_not_allowed: x",
            "GET https://known.example; no_such_code: x",
            "",
        ] {
            assert_eq!(judged(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn where_rules_are_about_paths_the_log_does_not_keep_enough() {
        let of_a_path = TEXT.replace("[[host]]", "[[host]]\npath = \"/v1\"");
        assert_eq!(judged_by(&of_a_path, "GET https://known.example; host_not_allowed: x"), None);
        assert!(judged_by(&of_a_path, "GET https://other.example; host_not_allowed: x").is_some());
    }
}
