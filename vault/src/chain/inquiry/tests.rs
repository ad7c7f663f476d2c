//! One payment at one endpoint, whatever that says.

use super::super::script::{FINAL, PAYEE, Scene, Script, UNITS, doubt, time_of};
use super::super::token::USED;
use super::super::{Block, EndpointFault, Word};
use super::{Finding, Place, ask};
use crate::ledger::Doubt;

fn told(script: &Script, doubt: &Doubt, number: u64) -> Result<Finding, EndpointFault> {
    let head = Block { number, hash: script.scene().hash(number), time_s: time_of(number) };
    ask(script, doubt, &head)
}

fn finding(change: impl FnOnce(&mut Scene)) -> Finding {
    told(&Script::new(change), &doubt(), FINAL).unwrap()
}

fn place(named: u8, block: u64) -> Place {
    Place { transaction: Word([named; 32]), block, hash: Script::new(|_| {}).scene().hash(block) }
}

#[test]
fn what_was_not_used_is_open_until_its_end_and_a_margin_have_passed_on_the_chain() {
    let script = Script::new(|_| {});
    // It was counted in block 5000 and ends 300 s, 150 blocks, later; the margin is 60 s.
    for (number, found) in [(5_000, Finding::Open), (5_150, Finding::Open), (5_179, Finding::Open)] {
        assert_eq!(told(&script, &doubt(), number), Ok(found), "{number}");
    }
    for number in [5_180, 5_181, FINAL] {
        assert_eq!(told(&script, &doubt(), number), Ok(Finding::Unused), "{number}");
    }
    assert_eq!(script.asked("logs") + script.asked("receipt"), 0, "nothing else is asked");
}

#[test]
fn a_transaction_is_found_by_its_logs_whether_or_not_a_seller_names_one() {
    assert_eq!(finding(|scene| scene.pays(9, 5_003)), Finding::Paid(place(9, 5_003)));
    // A name that is false, or of a transaction that did something else, is as good as none.
    for named in [[1_u8; 32], [8; 32]] {
        let script = Script::new(|scene| {
            scene.pays(9, 5_003);
            let mut other = scene.receipts[0].clone();
            (other.transaction, other.logs) = (Word([8; 32]), Vec::new());
            scene.receipts.push(other);
        });
        let doubt = Doubt { claimed: Some(Word(named).to_string()), ..doubt() };
        assert_eq!(told(&script, &doubt, FINAL), Ok(Finding::Paid(place(9, 5_003))), "{named:?}");
    }
}

#[test]
fn a_transaction_that_the_seller_names_truly_is_looked_at_alone() {
    let script = Script::new(|scene| scene.pays(9, 5_003));
    let doubt = Doubt { claimed: Some(Word([9; 32]).to_string()), ..doubt() };
    assert_eq!(told(&script, &doubt, FINAL), Ok(Finding::Paid(place(9, 5_003))));
    assert_eq!(script.asked("logs"), 0);
}

#[test]
fn a_use_is_found_wherever_its_block_is_and_nowhere_before_it_is_final() {
    for block in [5_000, 5_001, 5_150, 9_999, FINAL] {
        assert_eq!(finding(|scene| scene.pays(9, block)), Finding::Paid(place(9, block)), "{block}");
    }
    let script = Script::new(|scene| scene.pays(9, 5_100));
    assert_eq!(told(&script, &doubt(), 5_099), Ok(Finding::Open), "the head is before it");
    // The clock here may run ten minutes ahead of the chain's.
    assert_eq!(finding(|scene| scene.pays(9, 4_700)), Finding::Paid(place(9, 4_700)));
}

#[test]
fn a_cancelled_authorization_is_no_payment() {
    assert_eq!(finding(|scene| scene.cancels(9, 5_003)), Finding::Cancelled(place(9, 5_003)));
}

#[test]
fn a_use_without_its_exact_transfer_proves_nothing() {
    for transfer in [None, Some(UNITS - 1), Some(UNITS + 1)] {
        let found = finding(|scene| scene.spends(9, 5_003, USED, transfer));
        assert_eq!(found, Finding::Unclear, "{transfer:?}");
    }
    let bent: [fn(&mut Scene); 6] = [
        |scene| scene.receipts[0].succeeded = false,
        |scene| scene.receipts[0].hash = Word([1; 32]),
        |scene| scene.receipts[0].block = FINAL + 1,
        |scene| scene.receipts[0].logs.truncate(1),
        |scene| scene.receipts.clear(),
        |scene| scene.logs.clear(),
    ];
    for (which, bend) in bent.into_iter().enumerate() {
        let found = finding(|scene| {
            scene.pays(9, 5_003);
            bend(scene);
        });
        assert_eq!(found, Finding::Unclear, "{which}");
    }
}

#[test]
fn a_log_of_another_token_payer_or_nonce_is_a_wrong_answer() {
    let bent: [fn(&mut Scene); 2] =
        [|scene| scene.logs[0].contract = PAYEE, |scene| scene.logs[0].topics.push(Word([0; 32]))];
    for bend in bent {
        let script = Script::new(|scene| {
            scene.pays(9, 5_003);
            bend(scene);
        });
        assert!(matches!(told(&script, &doubt(), FINAL), Err(EndpointFault::Wrong(_))));
    }
}

#[test]
fn a_state_that_is_no_boolean_is_a_wrong_answer() {
    for answer in [Vec::new(), vec![0; 31], vec![0; 33], vec![1; 32], Word::of_number(2).0.to_vec()] {
        let script = Script::new(|scene| scene.answer = Some(answer.clone()));
        assert!(matches!(told(&script, &doubt(), FINAL), Err(EndpointFault::Wrong(_))), "{answer:?}");
    }
}

#[test]
fn the_search_is_bounded() {
    // The use is told by no log; the search gives up after so many blocks and so many questions.
    let script = Script::new(|scene| {
        scene.used_from = Some(5_003);
        scene.last = 1_000_000;
    });
    assert_eq!(told(&script, &doubt(), 1_000_000), Ok(Finding::Unclear));
    assert_eq!(script.asked("logs"), 16);
    assert!(script.asked("block") < 64, "{}", script.asked("block"));
}
