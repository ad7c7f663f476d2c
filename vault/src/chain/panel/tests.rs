//! Several endpoints: how many have to say the same, and what a silent, late, foreign or lying one changes.

use bursar_policy::chain::ChainId;
use bursar_policy::rules::draft::{Draft, Setting};
use bursar_policy::rules::{ChainRule, Rules};

use super::super::inquiry::Finding;
use super::super::script::{FINAL, PAYER, Scene, Script, TOKEN, doubt};
use super::super::{Endpoint, EndpointFault};
use super::{Panel, Said, Trouble};

fn rule(endpoints: usize, agree: Option<usize>) -> ChainRule {
    let urls: Vec<String> = (0..endpoints).map(|number| format!("\"https://rpc{number}.example.com/key\"")).collect();
    let agree = agree.map(|agree| format!("agree = {agree}")).unwrap_or_default();
    let text = format!(
        r#"
        [payment]
        max_per_payment = "1.00 USD"
        networks = ["eip155:84532"]
        assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
        allow_any_recipient = true
        [[chain]]
        network = "eip155:84532"
        rpc = [{}]
        {agree}
        "#,
        urls.join(", ")
    );
    let rules = Rules::new(toml::from_str::<Draft>(&text).unwrap(), Setting::Real).unwrap();
    rules.chain_rule(ChainId::BASE_SEPOLIA).unwrap().clone()
}

fn panel(scripts: &[Script], agree: Option<usize>) -> Panel {
    let endpoint = |script: &Script| -> Box<dyn Endpoint> { Box::new(script.clone()) };
    let endpoints = scripts.iter().map(endpoint).collect();
    Panel::new(ChainId::BASE_SEPOLIA, &rule(scripts.len(), agree), endpoints)
}

fn silent(scene: &mut Scene) {
    scene.fault = Some(EndpointFault::Silent("it does not answer".to_owned()));
}

/// What a panel makes of it: the number of its head, and what it says at that.
fn said(scripts: &[Script], agree: Option<usize>) -> Result<(u64, Option<Said>), Trouble> {
    let mut panel = panel(scripts, agree);
    let head = panel.head()?;
    Ok((head.number, panel.ask(&doubt(), &head)?))
}

fn unused(witnesses: u32) -> Option<Said> {
    Some(Said { finding: Finding::Unused, witnesses })
}

#[test]
fn all_have_to_agree_unless_the_rules_say_otherwise() {
    let fine = || Script::new(|_| {});
    assert_eq!(said(&[fine()], None), Ok((FINAL, unused(1))));
    assert_eq!(said(&[fine(), fine(), fine()], None), Ok((FINAL, unused(3))));
    assert_eq!(said(&[fine(), Script::new(silent)], None), Err(Trouble::Few { answered: 1, wanted: 2 }));
    assert_eq!(said(&[fine(), Script::new(silent)], Some(1)), Ok((FINAL, unused(1))));
    assert_eq!(said(&[Script::new(silent)], None), Err(Trouble::Few { answered: 0, wanted: 1 }));
}

#[test]
fn the_head_is_the_newest_block_that_enough_of_them_call_final() {
    let at = |last| Script::new(|scene| scene.last = last);
    // Blocks from 5180 on are after the end of the authorization.
    assert_eq!(said(&[at(9_000), at(5_100)], None).unwrap().0, 5_100);
    assert_eq!(said(&[at(9_000), at(5_100)], None).unwrap().1.unwrap().finding, Finding::Open, "one is behind");
    assert_eq!(said(&[at(9_000), at(5_100)], Some(1)), Ok((9_000, unused(1))));
    assert_eq!(said(&[at(9_000), at(8_000), at(5_100)], Some(2)), Ok((8_000, unused(2))));
    assert_eq!(said(&[at(0)], None).unwrap().1.unwrap().finding, Finding::Open, "a chain that only begins");
}

#[test]
fn an_endpoint_of_another_chain_is_none() {
    let foreign = Script::new(|scene| scene.id = 1);
    assert_eq!(said(std::slice::from_ref(&foreign), None), Err(Trouble::Few { answered: 0, wanted: 1 }));
    assert_eq!(foreign.asked("call"), 0);
    let mut two = panel(&[Script::new(|_| {}), foreign], Some(1));
    two.head().unwrap();
    let [None, Some(trouble)] = &two.troubles()[..] else { panic!("{:?}", two.troubles()) };
    assert!(trouble.contains("chain 1 and not for `eip155:84532`"), "{trouble}");
}

#[test]
fn endpoints_on_two_forks_prove_nothing() {
    let forked = Script::new(|scene| scene.fork_from = Some(5_050));
    assert_eq!(said(&[Script::new(|_| {}), forked.clone()], None), Err(Trouble::Fork { number: FINAL }));
    assert_eq!(said(&[Script::new(|_| {}), forked.clone()], Some(1)), Err(Trouble::Fork { number: FINAL }));
    assert_eq!(forked.asked("call"), 0, "nobody is asked about a payment");
}

#[test]
fn two_that_differ_prove_nothing_however_few_have_to_agree() {
    let paid = || Script::new(|scene| scene.pays(9, 5_003));
    let elsewhere = || Script::new(|scene| scene.pays(8, 5_004));
    let unused = || Script::new(|_| {});
    let unclear = || Script::new(|scene| scene.used_from = Some(5_003));
    let cancelled = || Script::new(|scene| scene.cancels(9, 5_003));
    for (one, other) in [
        (paid(), unused()),
        (unused(), paid()),
        (paid(), elsewhere()),
        (paid(), cancelled()),
        (unused(), unclear()),
        (cancelled(), unused()),
    ] {
        for agree in [None, Some(1)] {
            let trouble = said(&[one.clone(), other.clone()], agree).unwrap_err();
            assert!(matches!(trouble, Trouble::Disagree { .. }), "{trouble}");
        }
    }
}

#[test]
fn one_that_cannot_find_the_use_is_no_witness_of_it() {
    let paid = || Script::new(|scene| scene.pays(9, 5_003));
    let unclear = || Script::new(|scene| scene.used_from = Some(5_003));
    assert_eq!(said(&[paid(), unclear()], None), Ok((FINAL, None)));
    let (_, found) = said(&[unclear(), paid()], Some(1)).unwrap();
    assert!(matches!(found, Some(Said { finding: Finding::Paid(_), witnesses: 1 })), "{found:?}");
}

#[test]
fn the_balance_is_the_least_that_enough_of_them_say() {
    let has = |balance| Script::new(move |scene| scene.balance = balance);
    let mut two = panel(&[has(7), has(5)], None);
    assert_eq!(two.balance(TOKEN, PAYER), Ok(5));
    let mut one = panel(&[has(7), Script::new(silent)], None);
    assert_eq!(one.balance(TOKEN, PAYER), Err(Trouble::Few { answered: 1, wanted: 2 }));
    let mut enough = panel(&[has(7), Script::new(silent)], Some(1));
    assert_eq!(enough.balance(TOKEN, PAYER), Ok(7));
    let mut foreign = panel(&[Script::new(|scene| (scene.id, scene.balance) = (1, 7))], None);
    assert_eq!(foreign.balance(TOKEN, PAYER), Err(Trouble::Few { answered: 0, wanted: 1 }));
}
