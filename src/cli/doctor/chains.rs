//! The endpoints of the rules, asked here and now, and what the wallet holds. What they say moves nothing.

use std::sync::Arc;

use bursar_policy::limit::{Scope, Window};
use bursar_policy::{Address, Amount, Asset, ChainId, Money, Rules, Unit};
use bursar_vault::chain::{At, Chains as _, Endpoint, EndpointFault, Which, token};
use bursar_vault::profile::Profile;

use super::line::Lines;
use crate::chain::Network;

/// How long a budget may last before the wallet holds more than it needs: a week.
const DAYS: u64 = 7;
const SPAN_S: u64 = DAYS * 86_400;

/// What one endpoint said.
struct Answer {
    block_s: u64,
    balances: Vec<(Asset, u128)>,
}

/// Asks every endpoint of the rules. Gives the newest final block's time, which is over for sure.
pub(super) fn look(lines: &mut Lines, profile: &Profile, rules: &Arc<Rules>, payer: Option<Address>) -> Option<u64> {
    if rules.chain_rules().next().is_none() {
        let says = "the rules name no chain to ask: a payment whose answer is lost counts as spent for good, and nobody sees the balance";
        if rules.chains().iter().all(|chain| chain.is_testnet()) {
            lines.pass("rpc", says);
        } else {
            lines.warn("rpc", says, "add a [[chain]] to the rules (docs/rules.md says how)");
        }
        return None;
    }
    let network = Network::new(profile.home());
    let mut newest = None;
    for (chain, rule) in rules.chain_rules() {
        let assets: Vec<Asset> = rules.assets().filter(|asset| asset.id.chain == chain).cloned().collect();
        let answers = asked(network.endpoints(rules, chain), chain, payer, &assets);
        let named = rule.endpoints().iter().map(|url| url.origin().to_string());
        let wrong: Vec<String> = named
            .zip(&answers)
            .filter_map(|(origin, answer)| answer.as_ref().err().map(|fault| format!("{origin}: {fault}")))
            .collect();
        let good: Vec<&Answer> = answers.iter().filter_map(|answer| answer.as_ref().ok()).collect();
        let fix = "check `rpc` under [[chain]] in the rules";
        if good.len() < rule.agree() {
            lines.fail(
                "rpc",
                format!(
                    "{chain}: {} of {} endpoints answer as they should, and {} have to agree ({})",
                    good.len(),
                    answers.len(),
                    rule.agree(),
                    wrong.join("; ")
                ),
                fix,
            );
        } else if !wrong.is_empty() {
            lines.warn("rpc", format!("{chain}: {}", wrong.join("; ")), fix);
        } else {
            lines.pass("rpc", format!("{chain}: {} of {} endpoints answer", good.len(), answers.len()));
        }
        newest = newest.max(good.iter().map(|answer| answer.block_s).max());
        for asset in &assets {
            let held = good.iter().filter_map(|answer| answer.balances.iter().find(|(of, _)| of.id == asset.id));
            if let (Some(units), Some(payer)) = (held.map(|(_, units)| *units).min(), payer) {
                balance(lines, rules, asset, units, payer);
            }
        }
    }
    newest
}

/// One thread for each endpoint, since each may take its time.
fn asked(
    endpoints: Vec<Box<dyn Endpoint>>,
    chain: ChainId,
    payer: Option<Address>,
    assets: &[Asset],
) -> Vec<Result<Answer, String>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = endpoints
            .into_iter()
            .map(|endpoint| {
                scope.spawn(move || ask(&*endpoint, chain, payer, assets).map_err(|fault| fault.to_string()))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("it could not be asked".to_owned())))
            .collect()
    })
}

fn ask(
    endpoint: &dyn Endpoint,
    chain: ChainId,
    payer: Option<Address>,
    assets: &[Asset],
) -> Result<Answer, EndpointFault> {
    let found = endpoint.chain_id()?;
    if found != chain.number() {
        return Err(EndpointFault::Wrong(format!("it speaks for chain {found}")));
    }
    let block_s = endpoint.block(Which::Final)?.time_s;
    let mut balances = Vec::new();
    for asset in assets {
        let Some(payer) = payer else { continue };
        let answer = endpoint.call(asset.id.contract, &token::balance_of(payer), At::Latest)?;
        let units =
            token::number(&answer).ok_or_else(|| EndpointFault::Wrong("its balance is no number".to_owned()))?;
        balances.push((asset.clone(), units));
    }
    Ok(Answer { block_s, balances })
}

/// What the wallet holds, beside what the rules let an agent spend: a key that leaks takes all of it, whatever the rules say.
fn balance(lines: &mut Lines, rules: &Rules, asset: &Asset, units: u128, payer: Address) {
    let Some(money) = held(units, asset) else {
        return lines.warn(
            "balance",
            format!("more {} than can be counted", asset.symbol),
            "move most of it to another account",
        );
    };
    let told = format!("{money} in {} on {}", asset.symbol, asset.id.chain);
    if money.is_zero() {
        return lines.warn(
            "balance",
            format!("{told}: nothing can be paid"),
            format!("send some {} to {payer}", asset.symbol),
        );
    }
    if asset.id.chain.is_testnet() {
        return lines.pass("balance", told);
    }
    match spendable(rules, money) {
        Some(most) if money.is_within(most) => lines.pass("balance", told),
        Some(most) => lines.warn(
            "balance",
            format!(
                "{told}, and the rules spend at most {most} in {DAYS} days; limits do not hold somebody who has the key"
            ),
            format!("keep about {most} here, and move the rest to another account"),
        ),
        None => lines.warn(
            "balance",
            format!("{told}, and no limit of scope `all` says how much of it is meant to be spent"),
            "add a [[limit]] of scope `all` to the rules",
        ),
    }
}

fn held(units: u128, asset: &Asset) -> Option<Money> {
    match Amount::new(units) {
        Some(amount) => Money::of(amount, asset),
        None => Some(Money::new(asset.currency, 0)),
    }
}

/// The most that the rules let an agent spend in [`DAYS`], in the currency of `like`.
fn spendable(rules: &Rules, like: Money) -> Option<Money> {
    let of_all = rules.limits().iter().filter(|limit| limit.scope == Scope::All);
    let most = of_all.filter_map(|limit| {
        let max = limit.max.filter(|max| max.currency() == like.currency())?;
        max.checked_times(times(limit.window))
    });
    most.min_by_key(|most| most.atto())
}

/// How often a window can be used up within [`DAYS`].
fn times(window: Window) -> u32 {
    match window {
        Window::Lifetime => 1,
        Window::Rolling { secs } => u32::try_from(SPAN_S.div_ceil(secs.max(1))).unwrap_or(u32::MAX),
        Window::Calendar { unit: Unit::Day, .. } => 8,
        Window::Calendar { unit: Unit::Week | Unit::Month, .. } => 2,
    }
}

#[cfg(test)]
mod tests {
    use bursar_policy::Setting;
    use bursar_vault::rules_file;

    use super::super::line::Verdict;
    use super::*;

    const USDC: &str = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

    fn told(limits: &str, units: u128) -> (Verdict, String) {
        let text = format!(
            "[payment]\nmax_per_payment = \"0.05 USD\"\nnetworks = [\"eip155:8453\"]\nassets = [\"{USDC}\"]\n\
             allow_any_recipient = true\n{limits}"
        );
        let rules = rules_file::parse(&text, Setting::Real).unwrap();
        let asset = rules.assets().next().unwrap().clone();
        let mut lines = Lines::default();
        balance(&mut lines, &rules, &asset, units, Address::from_bytes([7; 20]));
        let line = lines.0.pop().unwrap();
        (line.verdict, format!("{} {}", line.says, line.fix.unwrap_or_default()))
    }

    const DAILY: &str = "[[limit]]\nscope = \"all\"\nwindow = \"24h\"\nmax = \"5.00 USD\"\n";

    #[test]
    fn a_balance_beyond_a_week_of_budget_is_warned_of() {
        let (verdict, says) = told(DAILY, 25_000_000_000);
        assert_eq!(verdict, Verdict::Warn);
        assert!(says.contains("25000 USD") || says.contains("25000.00 USD"), "{says}");
        assert!(says.contains("35") && says.contains("7 days"), "{says}");
        assert_eq!(told(DAILY, 35_000_000).0, Verdict::Pass, "seven days of it are fine");
        assert_eq!(told(DAILY, 35_000_001).0, Verdict::Warn);
        assert_eq!(told(DAILY, 0).0, Verdict::Warn, "and nothing is nothing to pay with");
    }

    #[test]
    fn the_tightest_limit_over_everything_counts_and_others_do_not() {
        let lifetime = "[[limit]]\nscope = \"all\"\nwindow = \"lifetime\"\nmax = \"9.00 USD\"\n";
        assert_eq!(told(&format!("{DAILY}{lifetime}"), 9_000_000).0, Verdict::Pass);
        assert_eq!(told(&format!("{DAILY}{lifetime}"), 9_000_001).0, Verdict::Warn);
        let host = "[[limit]]\nscope = \"host\"\nwindow = \"24h\"\nmax = \"5.00 USD\"\n";
        assert!(told(host, 1_000_000).1.contains("[[limit]]"), "a limit of another scope bounds nothing");
        let week = "[[limit]]\nscope = \"all\"\nwindow = \"week\"\ntime_zone = \"UTC\"\nmax = \"5.00 USD\"\n";
        assert_eq!((told(week, 10_000_000).0, told(week, 10_000_001).0), (Verdict::Pass, Verdict::Warn));
    }
}
