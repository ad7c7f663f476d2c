//! The rules in force, in the lines a person has to agree to. Shows them; decides nothing and reads no file.

use bursar_policy::{Digest, Limit, Rules, Window};
use bursar_vault::client::AgentClient;
use bursar_vault::profile::Profile;
use bursar_vault::rules_file;

use super::exit::{Exit, Stop};
use super::table;

/// Shows what the running vault goes by, and gives the digest of exactly that.
///
/// # Errors
///
/// A [`Stop`] when the vault cannot be asked or standard output is closed.
pub(super) fn show(profile: &Profile) -> Result<Digest, Stop> {
    let (_, welcome) = AgentClient::connect(profile, None)?;
    let rules = rules_file::parse(&welcome.rules, welcome.setting)
        .map_err(|fault| Stop::new(Exit::Failed, fault.to_string()))?;
    for (name, value) in lines(&rules) {
        table::say(&format!("{name:<12}{value}"))?;
    }
    Ok(welcome.rules_digest)
}

fn lines(rules: &Rules) -> Vec<(&'static str, String)> {
    let joined = |items: Vec<String>| if items.is_empty() { "nobody".to_owned() } else { items.join(", ") };
    let mut lines = vec![("a payment", joined(rules.ceilings().map(|money| format!("at most {money}")).collect()))];
    lines.extend(rules.limits().iter().map(|limit| ("limit", told(limit))));
    if let Some(opening) = rules.opening() {
        lines.push(("hours", opening.to_string()));
    }
    lines.push(("unresolved", format!("no payment after {} of a host or payee", rules.max_unresolved())));
    lines.push((
        "assets",
        joined(rules.assets().map(|asset| format!("{} on {}", asset.symbol, asset.id.chain)).collect()),
    ));
    lines.push((
        "payees",
        rules.recipients().map_or_else(
            || "anybody a listed seller names".to_owned(),
            |payees| joined(payees.iter().map(ToString::to_string).collect()),
        ),
    ));
    let sellers: Vec<String> = rules
        .host_rules()
        .map(|(origin, path, rule)| {
            let methods: Vec<&str> = rule.methods().iter().map(|method| method.as_str()).collect();
            let lost = rule.max_unresolved();
            let own = if lost == rules.max_unresolved() { String::new() } else { format!(", {lost} unresolved") };
            let path = if path.is_root() { "" } else { path.as_str() };
            format!("{origin}{path} ({}{own})", methods.join(" "))
        })
        .collect();
    lines.push(("sellers", if rules.allow_any_host() { "every https host".to_owned() } else { joined(sellers) }));
    lines
}

fn told(limit: &Limit) -> String {
    let most = match (limit.max, limit.count) {
        (Some(max), _) => max.to_string(),
        (None, Some(count)) => format!("{count} payments"),
        (None, None) => "nothing".to_owned(),
    };
    let whose = limit.tag.map_or_else(|| limit.scope.to_string(), |tag| format!("tag {tag}"));
    let each = if matches!(limit.window, Window::Calendar { .. }) { "a " } else { "" };
    format!("{most} for {whose} in {each}{}", limit.window)
}
