//! How the chains stand, in lines. Says what the vault says; shows nothing of an endpoint's URL but its origin.

use bursar_policy::quantity::Moment;
use bursar_vault::protocol::ChainView;

use crate::standing;

/// A few lines for each chain.
pub(super) fn lines(chains: &[ChainView]) -> Vec<String> {
    chains.iter().flat_map(of_one).collect()
}

fn of_one(view: &ChainView) -> Vec<String> {
    let name = standing::chain_name(view);
    let last = match view.final_block {
        Some((number, time_s)) => format!("block {number} of {} is final", Moment(time_s)),
        None => "not asked yet".to_owned(),
    };
    let waits = match view.unproved {
        0 => "nothing waits for a proof".to_owned(),
        1 => "1 payment waits for a proof".to_owned(),
        many => format!("{many} payments wait for a proof"),
    };
    let mut told = vec![format!("chain       {name}: {last}; {waits}")];
    if let Some(trouble) = &view.trouble {
        told.push(format!("TROUBLE     {trouble}"));
    }
    for endpoint in &view.endpoints {
        if let Some(trouble) = &endpoint.trouble {
            told.push(format!("endpoint    {}: {trouble}", endpoint.origin));
        }
    }
    for held in &view.balances {
        let says = match (held.money, held.read_s) {
            (Some(money), Some(read_s)) => format!("{money} in {}, read at {}", held.symbol, Moment(read_s)),
            _ => format!("what there is in {} is not known", held.symbol),
        };
        told.push(format!("balance     {says}"));
    }
    told
}
