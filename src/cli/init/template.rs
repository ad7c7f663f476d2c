//! The rules file that `init` writes: every choice with a comment that says what it does. Text only.

use std::fmt::Display;

use bursar_policy::rules::LedgerAddress;
use bursar_policy::{Address, Asset, Money, Origin, Setting};
use bursar_vault::profile::SCHEMA_FILE;

/// What was chosen on the command line.
#[derive(Debug)]
pub(super) struct Choices<'a> {
    pub(super) setting: Setting,
    pub(super) asset: &'a Asset,
    pub(super) max_per_payment: Money,
    pub(super) daily: Money,
    pub(super) origins: &'a [Origin],
    /// `None`: a file of the profile.
    pub(super) ledger: Option<&'a LedgerAddress>,
    /// `None`: the listed sellers may name any payee.
    pub(super) recipients: Option<&'a [Address]>,
}

/// The text of a `bursar.toml`.
pub(super) fn rules(choices: &Choices<'_>) -> String {
    let Choices { asset, max_per_payment, daily, .. } = choices;
    let payees = match choices.recipients {
        Some(recipients) => format!(
            "# Who may be paid, on every host that has no list of its own. An empty list: nobody yet.\n\
             # The other way, `allow_any_recipient = true`, trusts each listed seller to name its payee.\n\
             recipients = [{}]",
            quoted(recipients)
        ),
        None => "# Each listed seller names its payee. Stricter: replace this line by `recipients = [\"0x…\"]`.\n\
                 allow_any_recipient = true"
            .to_owned(),
    };
    let hosts = if choices.origins.is_empty() {
        HOST_EXAMPLE.to_owned()
    } else {
        choices
            .origins
            .iter()
            .map(|origin| format!("[[host]]\norigin = \"{origin}\"\n{HOST_CHOICES}"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let ledger = choices.ledger.map_or_else(String::new, |ledger| {
        format!("# The database that keeps the ledger, which several machines may share. Read when the vault starts.\nledger = \"{ledger}\"\n\n")
    });
    let sandbox = match choices.setting {
        Setting::Real => String::new(),
        Setting::Sandbox => SANDBOX.to_owned(),
    };
    format!(
        "#:schema ./{SCHEMA_FILE}\n\
         # The rules of bursar. What is not allowed here is refused; an unknown word is an error.\n\
         # `bursar check` says what these rules come to, in sentences, and where they are wide.\n\
         # The vault reads this file when it starts and on `bursar reload`, which asks for your passphrase.\n\
         \n\
         {ledger}[payment]\n\
         # The most that one payment may cost. Money is written like this: \"0.05 USD\".\n\
         max_per_payment = \"{max_per_payment}\"\n\
         # The ways of paying: `exact` is the one there is.\n\
         schemes = [\"exact\"]\n\
         # The networks (CAIP-2) and assets (CAIP-19) that may be used: here {symbol} on {network}.\n\
         networks = [\"{chain}\"]\n\
         assets = [\"{id}\"]\n\
         {payees}\n\
         # How long a signed payment may stay valid. A seller that asks for longer gets this.\n\
         max_lifetime = \"5m\"\n\
         # When payments are made; at any time when left out.\n\
         # hours = \"08:00-18:00\"\n\
         # days = [\"mon-fri\"]\n\
         # time_zone = \"Europe/Berlin\"\n\
         # With this many payments of one host, or to one payee, that ran out with nothing delivered and nothing settled,\n\
         # no further one is made. A host may have a number of its own. What is in flight does not count.\n\
         max_unresolved = 1\n\
         # Whether every budget has to be for a purpose: `bursar session new --purpose …`.\n\
         # mandate = \"required\"\n\
         \n\
         # Limits: scope all, session, host, payee, asset or tag (with `tag = \"data\"`); window like \"90m\", \"24h\", \"7d\" or \"lifetime\",\n\
         # or \"day\", \"week\", \"month\" with `time_zone = \"Europe/Berlin\"` (around midnight that allows twice as much);\n\
         # `max` is an amount, `count` a number of payments; either or both. All of them hold at once.\n\
         [[limit]]\n\
         scope = \"all\"\n\
         window = \"24h\"\n\
         max = \"{daily}\"\n\
         \n\
         # Where a chain is asked what became of payments, so that what never moved can be spent again, and a seller that\n\
         # lied is told. All the endpoints have to agree; name two that have nothing to do with each other.\n\
         # [[chain]]\n\
         # network = \"{chain}\"\n\
         # rpc = [\"https://rpc.one.example\", \"https://rpc.two.example\"]\n\
         \n\
         # The sellers the agent may ask. None at all: every URL is refused.\n\
         {hosts}{sandbox}",
        symbol = asset.symbol,
        network = asset.id.chain.name().unwrap_or("the network below"),
        chain = asset.id.chain,
        id = asset.id,
    )
}

fn quoted<T: Display>(items: &[T]) -> String {
    items.iter().map(|item| format!("\"{item}\"")).collect::<Vec<_>>().join(", ")
}

const HOST_CHOICES: &str = "\
# Only this part of the site, by whole segments; all of it when left out. Of several entries the longest path counts.
# path = \"/v1/\"
# The methods that may be used there; GET and HEAD when left out.
# methods = [\"GET\", \"HEAD\", \"POST\"]
# What the model sees of an answer: `withhold` (status, type, size and hash) or `text` (up to 10 KiB, marked untrusted).
# content = \"text\"
# Tags that payments there carry, for limits of the scope `tag`; [[payee]] with `address` and `tags` does it for a payee.
# tags = [\"data\"]
# An API key that it wants, kept with `bursar secret set shop-key`:
# secret_headers = [\"x-api-key: {shop-key}\"]
# Payees of this seller alone:
# recipients = [\"0x…\"]
";

const HOST_EXAMPLE: &str = "\
# [[host]]
# origin = \"https://api.example.com\"
# path = \"/v1/\"
# methods = [\"GET\", \"HEAD\", \"POST\"]
# content = \"text\"
# recipients = [\"0x…\"]
";

const SANDBOX: &str = "
# A sandbox may put names on this machine and trust an authority of its own.
[sandbox]
# hosts = { \"shop.test\" = \"127.0.0.1\" }
# ca = \"ca.pem\"
";

#[cfg(test)]
mod tests {
    use bursar_policy::AssetTable;
    use bursar_vault::rules_file;

    use super::*;

    fn written(setting: Setting, origins: &[Origin], recipients: Option<&[Address]>) -> String {
        let table = AssetTable::builtin();
        let asset = table.iter().find(|asset| asset.id.chain.number() == 84_532).unwrap();
        let money = |text: &str| text.parse().unwrap();
        let (max_per_payment, daily) = (money("0.05 USD"), money("1.00 USD"));
        rules(&Choices { setting, asset, max_per_payment, daily, origins, ledger: None, recipients })
    }

    #[test]
    fn every_combination_is_accepted_by_the_one_reader_of_rules() {
        let origins: Vec<Origin> =
            vec!["https://api.example.com".parse().unwrap(), "https://b.example:8443".parse().unwrap()];
        let payees: Vec<Address> = vec!["0x209693Bc6afc0C5328bA36FaF03C514EF312287C".parse().unwrap()];
        for setting in [Setting::Real, Setting::Sandbox] {
            for origins in [&[][..], &origins] {
                for recipients in [None, Some(&[][..]), Some(payees.as_slice())] {
                    let text = written(setting, origins, recipients);
                    let rules = rules_file::parse(&text, setting).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
                    assert_eq!(rules.origins().count(), origins.len());
                }
            }
        }
    }

    #[test]
    fn without_choices_nobody_is_paid_and_no_host_is_asked() {
        let rules = rules_file::parse(&written(Setting::Real, &[], Some(&[])), Setting::Real).unwrap();
        assert!(!rules.allow_any_host());
        assert_eq!(rules.recipients().map(std::collections::BTreeSet::len), Some(0));
    }
}
