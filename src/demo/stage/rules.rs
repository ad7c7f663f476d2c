//! The operator's rules for the demo, as the text of a `bursar.toml`.
//!
//! Text only: the vault is the one that reads and judges it.

use bursar_policy::chain::AssetId;

use crate::demo::seller::world::{self, host};

/// What else a host's entry says in the demo: its script posts, too.
const POSTS: &str = "methods = [\"GET\", \"POST\"]\n";

/// The demo's rules for a seller on `port`: a quarter a payment, a dollar a day for each host, one payee, one test network.
pub(crate) fn text(port: u16) -> String {
    rules(port, &host::ALL, POSTS)
}

/// The same for a person who looks around: the hosts with something to see, and no POST.
pub(crate) fn few(port: u16) -> String {
    rules(port, &[host::SHOP, host::MALLORY], "")
}

fn rules(port: u16, hosts: &[&str], also: &str) -> String {
    let domain = world::test_domain();
    let asset = AssetId { chain: domain.chain, contract: domain.contract };
    let entries: String = hosts.iter().map(|name| host_rule(name, port, also)).collect();
    let names: Vec<String> = hosts.iter().map(|name| format!("\"{name}\" = \"127.0.0.1\"")).collect();
    format!(
        r#"# written by `bursar demo`: play money, a test network, and sellers on this machine only
[payment]
max_per_payment = "0.25 USD"
schemes = ["exact"]
networks = ["{chain}"]
assets = ["{asset}"]
recipients = ["{payee}"]
max_lifetime = "5m"

[[limit]]
scope = "all"
window = "24h"
max = "10.00 USD"

[[limit]]
scope = "host"
window = "24h"
max = "1.00 USD"
{entries}
[sandbox]
ca = "ca.pem"
hosts = {{ {names} }}
"#,
        chain = domain.chain,
        payee = world::merchant(),
        names = names.join(", "),
    )
}

fn host_rule(name: &str, port: u16, also: &str) -> String {
    format!("\n[[host]]\norigin = \"https://{name}:{port}\"\n{also}content = \"text\"\n")
}

#[cfg(test)]
mod tests {
    use bursar_policy::rules::Rules;
    use bursar_policy::rules::draft::{Draft, Setting};

    use super::*;

    #[test]
    fn the_rules_hold_in_a_sandbox_and_nowhere_else() {
        let draft: Draft = toml::from_str(&text(8443)).unwrap();
        let rules = Rules::new(draft.clone(), Setting::Sandbox).unwrap();
        assert_eq!(rules.limits().len(), 2);
        for name in host::ALL {
            let site = format!("https://{name}:8443/").parse().unwrap();
            assert!(rules.host_rule(&site).is_some(), "{name}");
        }
        assert!(Rules::new(draft, Setting::Real).is_err());
        let few: Draft = toml::from_str(&few(8443)).unwrap();
        assert_eq!(Rules::new(few, Setting::Sandbox).unwrap().host_rules().count(), 2);
    }
}
