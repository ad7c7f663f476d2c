//! What the machine has to offer: its environment and its clock, names, the way to sellers, and who vouches for them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use bursar_policy::quantity::Moment;
use bursar_policy::{Errand, Method, Origin, PathPrefix, Rules, Site, may_visit};
use bursar_vault::secrets;
use futures_util::future::join_all;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use super::line::Lines;
use crate::authorities;
use crate::net::{SystemResolver, Tls, pin};

/// The most sellers whose names are looked up.
const SELLERS_MAX: usize = 20;

/// How long the proxy may take to answer.
const PROXY_PATIENCE: Duration = Duration::from_secs(4);

/// What systemd's time service leaves behind once the clock was set from the network.
const SYNCHRONIZED: &str = "/run/systemd/timesync/synchronized";

/// The variables that tell other programs about a proxy.
const PROXY_VARIABLES: [&str; 6] = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];

/// The variables of this process. Wallet keys among them stop `serve` and the vault.
pub(super) fn environment(lines: &mut Lines, variables: impl IntoIterator<Item = (OsString, OsString)>) {
    match secrets::wallet_variable(variables) {
        None => lines.pass("environment", "no variable looks like a wallet key"),
        Some(name) => lines.fail(
            "environment",
            format!("the variable `{name}` looks like a wallet key, so neither `serve` nor the vault starts"),
            format!("unset {name}"),
        ),
    }
}

/// The wall clock, beside the latest moment that is known to be over.
pub(super) fn clock(lines: &mut Lines, now_s: u64, passed: Option<(u64, &str)>) {
    let told = format!("it is {}", Moment(now_s));
    match passed {
        Some((passed_s, whose)) if now_s < passed_s => lines.fail(
            "clock",
            format!("{told}, and {whose} has {} already, so the clock is behind", Moment(passed_s)),
            "set the clock, for example: timedatectl set-ntp true",
        ),
        _ if Path::new(SYNCHRONIZED).exists() => {
            lines.pass("clock", format!("{told}, kept by the system's time service"))
        }
        Some((_, whose)) => lines.pass("clock", format!("{told}, not behind {whose}")),
        None => lines.pass("clock", told),
    }
}

/// Whether the sellers of the rules have addresses that may be dialled.
pub(super) fn names(lines: &mut Lines, rules: &Rules, runtime: &Runtime) {
    let origins: BTreeSet<&Origin> =
        rules.origins().filter(|origin| rules.loopback_of(&origin.host).is_none()).collect();
    if origins.is_empty() {
        return lines.pass("dns", "the rules name no seller to look up");
    }
    let asked = origins
        .iter()
        .take(SELLERS_MAX)
        .map(|origin| async move { looked_up(origin, rules).await.err().map(|fault| format!("{origin}: {fault}")) });
    let wrong: Vec<String> = runtime.block_on(join_all(asked)).into_iter().flatten().collect();
    let looked_at = origins.len().min(SELLERS_MAX);
    if wrong.is_empty() {
        let more = if looked_at < origins.len() { format!(" of {}", origins.len()) } else { String::new() };
        return lines
            .pass("dns", format!("every seller of the rules has public addresses ({looked_at}{more} looked up)"));
    }
    let says = wrong.join("; ");
    let fix = "look up the names by hand (getent hosts NAME), and check the rules";
    if wrong.len() == looked_at { lines.fail("dns", says, fix) } else { lines.warn("dns", says, fix) }
}

async fn looked_up(origin: &Origin, rules: &Rules) -> Result<(), String> {
    // The part of the site that the rules have an entry for, by a method that they allow there.
    let rule = rules.host_rules().find(|(of, _)| *of == origin).map(|(_, rule)| rule);
    let method = rule.and_then(|rule| rule.methods().first().copied()).unwrap_or(Method::Get);
    let path = rule.map_or("/", |rule| PathPrefix::as_str(rule.path()));
    let site = Site::parse(&format!("{origin}{path}")).map_err(|fault| fault.to_string())?;
    let vetted = may_visit(rules, &Errand::new(site, method));
    let vetted = vetted.map_err(|reasons| reasons.first().map_or_else(String::new, ToString::to_string))?;
    let pin = pin(vetted, &SystemResolver::new(), rules).await;
    pin.map(drop).map_err(|fault| fault.to_string())
}

/// The way to sellers: straight, or through the proxy of the rules, and no other.
pub(super) fn proxy(
    lines: &mut Lines,
    rules: Option<&Rules>,
    is_set: impl Fn(&str) -> bool,
    runtime: Option<&Runtime>,
) {
    let named = rules.and_then(|rules| rules.network().proxy());
    match (named, runtime) {
        (Some(proxy), Some(runtime)) => {
            let (host, port) = (proxy.host.to_string(), proxy.port);
            let reached = runtime.block_on(async {
                tokio::time::timeout(PROXY_PATIENCE, TcpStream::connect((host.trim_matches(['[', ']']), port))).await
            });
            match reached {
                Ok(Ok(_)) => lines.pass("proxy", format!("sellers are reached through {proxy}, which answers")),
                Ok(Err(fault)) => lines.fail(
                    "proxy",
                    format!("sellers are reached through {proxy}, which cannot be reached: {fault}"),
                    "check `proxy` under [network] in the rules",
                ),
                Err(_late) => lines.fail(
                    "proxy",
                    format!("sellers are reached through {proxy}, which does not answer"),
                    "check `proxy` under [network] in the rules",
                ),
            }
        }
        (Some(proxy), None) => lines.pass("proxy", format!("sellers are reached through {proxy}")),
        (None, _) => match PROXY_VARIABLES.into_iter().find(|name| is_set(name)) {
            Some(name) => lines.warn(
                "proxy",
                format!("`{name}` is set, and bursar dials sellers without it: no variable chooses a way for money"),
                "where this network has no other way out, name it as `proxy` under [network] in the rules",
            ),
            None => lines.pass("proxy", "sellers are dialled without a proxy"),
        },
    }
}

/// The authorities that vouch for sellers.
pub(super) fn authorities(lines: &mut Lines, rules: Option<&Rules>, home: &Path) {
    let public = webpki_roots::TLS_SERVER_ROOTS.len();
    let Some(rules) = rules else {
        return lines.pass("tls", format!("{public} public authorities, compiled in"));
    };
    let fix = "put a PEM certificate there that is yours alone (chmod 0600), or take it out of the rules";
    match authorities::read(rules, home) {
        Err(fault) => lines.fail("tls", fault.to_string(), fix),
        Ok(pems) => match Tls::also_trusting(pems.iter().map(Vec::as_slice)) {
            Err(fault) => lines.fail("tls", fault.to_string(), fix),
            Ok(_) if pems.is_empty() => lines.pass("tls", format!("{public} public authorities, compiled in")),
            Ok(_) => lines.pass("tls", format!("{public} public authorities, compiled in, and what the rules add")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::Verdict;
    use super::*;

    fn told(look: impl FnOnce(&mut Lines)) -> (Verdict, String) {
        let mut lines = Lines::default();
        look(&mut lines);
        let line = lines.0.pop().unwrap();
        (line.verdict, line.says)
    }

    #[test]
    fn a_wallet_key_in_the_environment_is_named_and_not_shown() {
        let (verdict, says) = told(|lines| environment(lines, [("MY_PRIVATE_KEY".into(), "a-secret".into())]));
        assert_eq!(verdict, Verdict::Fail);
        assert!(says.contains("MY_PRIVATE_KEY") && !says.contains("a-secret"));
        assert_eq!(told(|lines| environment(lines, [("PATH".into(), "/bin".into())])).0, Verdict::Pass);
    }

    #[test]
    fn a_clock_behind_what_is_over_already_fails() {
        assert_eq!(told(|lines| clock(lines, 1_700_000_000, Some((1_700_000_001, "the ledger")))).0, Verdict::Fail);
        assert_eq!(told(|lines| clock(lines, 1_700_000_000, Some((1_700_000_000, "the ledger")))).0, Verdict::Pass);
        assert_eq!(told(|lines| clock(lines, 1_700_000_000, None)).0, Verdict::Pass);
    }

    #[test]
    fn a_proxy_variable_is_told_because_it_is_ignored() {
        let (verdict, says) = told(|lines| proxy(lines, None, |name| name == "HTTPS_PROXY", None));
        assert_eq!(verdict, Verdict::Warn);
        assert!(says.contains("`HTTPS_PROXY`"));
        assert_eq!(told(|lines| proxy(lines, None, |_| false, None)).0, Verdict::Pass);
    }
}
