//! `bursar resume`: what stands against a host or a payee is shown, and forgiven when a person says so. The vault decides,
//! and says what it lifted.

use bursar_policy::limit::Scope;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, Passphrase, Resumable, Resumed};
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{status, table, terminal};
use crate::clock;
use crate::spelling;

/// Lift a host's quarantine, and put up with payments that a host or a payee lost.
#[derive(Debug, Args)]
pub(super) struct Resume {
    /// A host (`https://api.example.com`, or its name alone) or a payee, as `bursar status` lists it
    #[arg(value_name = "HOST")]
    whom: String,
}

impl Resume {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let operator = Operator::connect_or_start(profile)?;
        let OperatorReply::Resumable(standing) = operator.ask(&OperatorAsk::Resumable { whom: self.whom.clone() })?
        else {
            return Err(out_of_turn());
        };
        let against = against(&standing);
        if against.is_empty() {
            table::say(&format!("Nothing stands against `{}`.", standing.of))?;
            return Ok(Exit::Done);
        }
        for line in against {
            table::say(&line)?;
        }
        if !standing.newest.is_empty() {
            let rows = status::unresolved(&standing.newest, clock::now_s());
            table::say(&table::table(status::UNRESOLVED, &[1], rows))?;
        }
        table::say("To forgive this, type the operator's passphrase.")?;
        let passphrase = terminal::secret("Operator passphrase", profile.setting()).map(Passphrase::new)?;
        // The one that was shown, whatever else has the name by now.
        match operator.ask(&OperatorAsk::Resume { whom: standing.of, passphrase })? {
            OperatorReply::Resumed(resumed) => {
                for line in lines(&resumed) {
                    table::say(&spelling::advice(profile, &line))?;
                }
                Ok(Exit::Done)
            }
            _ => Err(out_of_turn()),
        }
    }
}

/// What would be lifted; empty when nothing would be.
fn against(standing: &Resumable) -> Vec<String> {
    let Resumable { of, failures, strikes, lost, money, .. } = standing;
    let mut told = Vec::new();
    if let Some(until_s) = standing.quarantined_until_s {
        told.push(format!("`{of}` is in quarantine until {}.", table::time(until_s)));
    }
    if (*failures, *strikes) != (0, 0) {
        let failures = counted(*failures, "failed delivery", "failed deliveries");
        let strikes = counted(*strikes, "security refusal", "security refusals");
        told.push(format!("Counted against `{of}`: {failures}, {strikes}."));
    }
    if *lost != 0 {
        let sums: Vec<String> = money.iter().map(ToString::to_string).collect();
        let lost = counted(*lost, "lost payment", "lost payments");
        told.push(format!("`max_unresolved` counts {lost} of `{of}`, {} together.", sums.join(" and ")));
    }
    told
}

/// What was lifted, and what still stands in the way.
fn lines(resumed: &Resumed) -> Vec<String> {
    let of = &resumed.of;
    let mut told = Vec::new();
    if resumed.quarantined_until_s.is_some() {
        told.push(format!("The quarantine of `{of}` is over."));
    }
    if resumed.failures != 0 || resumed.strikes != 0 {
        let failures = counted(resumed.failures, "failed delivery", "failed deliveries");
        let strikes = counted(resumed.strikes, "security refusal", "security refusals");
        told.push(format!("Forgotten of `{of}`: {failures}, {strikes}."));
    }
    if resumed.pardoned != 0 {
        let lost = counted(resumed.pardoned, "lost payment", "lost payments");
        told.push(format!("`max_unresolved` no longer counts {lost} of `{of}`; the money still counts as spent."));
    }
    if told.is_empty() {
        told.push(format!("Nothing stood against `{of}`."));
    }
    for shut in &resumed.still_shut {
        let what = if shut.scope == Scope::Payee { "payee" } else { "host" };
        let lost = counted(shut.count, "lost payment", "lost payments");
        told.push(format!("The {what} `{0}` is still shut by {lost}: `bursar resume {0}`.", shut.of));
    }
    told
}

fn counted(number: u32, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use bursar_vault::protocol::Lost;

    use super::*;

    #[test]
    fn it_says_what_stands_against_whom_before_it_asks() {
        let nothing = Resumable {
            scope: Scope::Payee,
            of: "eip155:1:0x12".to_owned(),
            quarantined_until_s: None,
            failures: 0,
            strikes: 0,
            lost: 0,
            money: Vec::new(),
            newest: Vec::new(),
        };
        assert!(against(&nothing).is_empty());
        let money = ["0.30 USD", "1.00 EUR"].map(|text| text.parse().unwrap()).to_vec();
        let much = Resumable { failures: 1, strikes: 2, lost: 3, money, ..nothing };
        assert_eq!(
            against(&much),
            [
                "Counted against `eip155:1:0x12`: 1 failed delivery, 2 security refusals.",
                "`max_unresolved` counts 3 lost payments of `eip155:1:0x12`, 0.30 USD and 1.00 EUR together.",
            ]
        );
    }

    #[test]
    fn it_says_what_was_lifted_and_who_is_still_shut() {
        let nothing = Resumed {
            scope: Scope::Host,
            of: "https://api.example.com".to_owned(),
            quarantined_until_s: None,
            failures: 0,
            strikes: 0,
            pardoned: 0,
            still_shut: Vec::new(),
        };
        assert_eq!(lines(&nothing), ["Nothing stood against `https://api.example.com`."]);
        let shut = Lost { scope: Scope::Payee, of: "eip155:1:0x12".to_owned(), count: 2 };
        let much = Resumed {
            quarantined_until_s: Some(7),
            failures: 3,
            strikes: 1,
            pardoned: 1,
            still_shut: vec![shut],
            ..nothing
        };
        assert_eq!(
            lines(&much),
            [
                "The quarantine of `https://api.example.com` is over.",
                "Forgotten of `https://api.example.com`: 3 failed deliveries, 1 security refusal.",
                "`max_unresolved` no longer counts 1 lost payment of `https://api.example.com`; the money still counts as spent.",
                "The payee `eip155:1:0x12` is still shut by 2 lost payments: `bursar resume eip155:1:0x12`.",
            ]
        );
    }
}
