//! The sentences and warnings about chains that are asked. Shows nothing of an endpoint's URL but its origin.

use bursar_policy::rules::BalanceNeed;
use bursar_vault::rules_file::Table;

use super::sentences::{joined, span};
use super::{Reading, Told};

/// Whom a chain is asked through, and what its answers decide.
pub(super) fn of(read: &Reading<'_>, told: &mut Vec<Told>) {
    for (row, draft) in read.draft.chains.iter().enumerate() {
        let Some(rule) = read.rules.chain_rule(draft.network) else { continue };
        let mut tell = |says: String, key: &str| {
            told.push(Told { about: "a chain", says, place: Some(read.lines.place(Table::Chain(row), key)) });
        };
        let endpoints = joined(rule.endpoints().iter().map(|url| url.origin().to_string()), "nobody");
        let every = span(rule.poll_s());
        tell(format!("{} is asked through {endpoints}, every {every} while there is need", draft.network), "rpc");
        let (agree, all) = (rule.agree(), rule.endpoints().len());
        tell(format!("{} is believed what {agree} of {all} endpoints say at a final block", draft.network), "agree");
        let balance = match rule.balance() {
            BalanceNeed::Off => "decides nothing by what the wallet holds",
            BalanceNeed::WhenKnown => "pays nothing that the wallet is known not to hold",
            BalanceNeed::Required => "pays nothing unless the wallet is known to hold it",
        };
        tell(format!("{} {balance}", draft.network), "balance");
    }
}

/// One endpoint whose word is enough to free money.
pub(super) fn warn(read: &Reading<'_>, told: &mut Vec<Told>) {
    for (row, draft) in read.draft.chains.iter().enumerate() {
        let one = read.rules.chain_rule(draft.network).filter(|rule| rule.agree() == 1);
        if one.is_some() && !draft.network.is_testnet() {
            let says = format!(
                "one endpoint of {} is believed that a payment never moved, and its money can then be spent again; \
                 name two that have nothing to do with each other, and let both agree",
                draft.network
            );
            let place = Some(read.lines.place(Table::Chain(row), "agree"));
            told.push(Told { about: "one_endpoint", says, place });
        }
    }
}
