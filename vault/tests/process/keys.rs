//! Money moved out of an account and another account that pays, over the operator's socket: what is signed, who may ask, and
//! what goes on.

use crate::world::{Dial, PAYEE, SECRET, Sandbox, USDC, delivered, errand, said, terms, unlock};
use bursar_policy::{Address, Amount, AssetId, ChainId, SecretName, SweepId};
use bursar_vault::chain::NoChains;
use bursar_vault::client::{ClientFault, OperatorClient};
use bursar_vault::clock::MachineTime;
use bursar_vault::ledger::LedgerFault;
use bursar_vault::process::{self, StartFault};
use bursar_vault::protocol::{
    AgentAsk, Claimed, OperatorAsk, OperatorReply, SecretValue, SweepPlan, SweepSigned, SweepState,
};
use bursar_vault::setup::Unlocking;
use bursar_vault::sign::{Signature, recover};
use serde_json::json;
use std::fs;
use std::sync::Arc;
use zeroize::Zeroizing;

const NOW_S: u64 = 1_900_000_000;

fn asset() -> AssetId {
    AssetId { chain: ChainId::BASE_SEPOLIA, contract: USDC.parse().unwrap() }
}

fn sweep(account: Address, to: &str, units: u128, passphrase: &str) -> OperatorAsk {
    OperatorAsk::Sweep {
        account,
        to: to.parse().unwrap(),
        asset: asset(),
        amount: Amount::new(units).unwrap(),
        minutes: 60,
        passphrase: said(passphrase),
    }
}

fn swept(sandbox: &Sandbox, ask: &OperatorAsk) -> SweepSigned {
    match sandbox.operator().ask(ask) {
        OperatorReply::Swept(signed) => *signed,
        other => panic!("{other:?}"),
    }
}

fn plan(sandbox: &Sandbox, account: Address) -> SweepPlan {
    match sandbox.operator().ask(&OperatorAsk::SweepPlan { account, asset: asset() }) {
        OperatorReply::SweepPlan(plan) => *plan,
        other => panic!("{other:?}"),
    }
}

fn rotate(sandbox: &Sandbox) -> (Address, Address) {
    match sandbox.operator().ask(&OperatorAsk::Rotate { passphrase: said(SECRET) }) {
        OperatorReply::Rotated { from, to } => (from, to),
        other => panic!("{other:?}"),
    }
}

/// Who signed a sweep, by its signature alone.
fn signer(signed: &SweepSigned) -> Option<Address> {
    recover(&signed.authorization.digest(&signed.domain), &signed.signature.parse::<Signature>().unwrap())
}

#[test]
fn a_sweep_is_signed_by_its_account_freezes_the_agent_and_is_the_same_bytes_again() {
    let (sandbox, running) = Sandbox::with_a_dollar();
    let signed = swept(&sandbox, &sweep(sandbox.payer, PAYEE, 1_250_000, SECRET));
    assert_eq!(signer(&signed), Some(sandbox.payer));
    assert_eq!((signed.authorization.to.to_string().as_str(), signed.authorization.value.units()), (PAYEE, 1_250_000));
    let status = sandbox.operator().status();
    assert_eq!(status.sweeps, std::slice::from_ref(&signed.sweep));
    assert!(status.frozen.is_some());
    let agent = sandbox.agent();
    assert_eq!(agent.refused(&AgentAsk::Claim { errand: errand("a") }), ["frozen"], "the agent buys nothing meanwhile");
    let operator = sandbox.operator();
    assert_eq!(operator.code(&OperatorAsk::Thaw { passphrase: said(SECRET) }), "sweep_live");
    assert_eq!(operator.code(&sweep(sandbox.payer, PAYEE, 1, SECRET)), "sweep_exists");
    assert_eq!(plan(&sandbox, sandbox.payer).live, Some(signed.sweep.clone()));
    // Again, also after a start, with a locked wallet: the same bytes, because nothing else is in the row.
    operator.ask(&OperatorAsk::Lock);
    let id = signed.sweep.id.clone();
    let again = || swept(&sandbox, &OperatorAsk::SweepAgain { id: id.clone(), passphrase: said(SECRET) });
    assert_eq!(again().signature, signed.signature);
    running.stop();
    let running = sandbox.start();
    assert_eq!(again().signature, signed.signature);
    running.stop();
}

#[test]
fn nobody_without_the_passphrase_moves_anything_or_changes_the_key() {
    let (sandbox, _running) = Sandbox::with_a_dollar();
    let operator = sandbox.operator();
    let id = SweepId::from_random([1; 16]);
    for ask in [
        sweep(sandbox.payer, PAYEE, 1, "a guess"),
        sweep(PAYEE.parse().unwrap(), USDC, 1, "a guess"),
        OperatorAsk::Rotate { passphrase: said("a guess") },
    ] {
        assert_eq!(operator.code(&ask), "passphrase_wrong", "{ask:?}");
    }
    assert_eq!(operator.code(&OperatorAsk::SweepAgain { id, passphrase: said("a guess") }), "no_such_sweep");
    assert_eq!((operator.status().sweeps, operator.status().payer), (Vec::new(), Some(sandbox.payer)));
    // With it: what there is not, and where money cannot go.
    assert_eq!(operator.code(&sweep(PAYEE.parse().unwrap(), USDC, 1, SECRET)), "sweep_account");
    assert_eq!(operator.code(&sweep(sandbox.payer, USDC, 1, SECRET)), "sweep_destination");
    assert!(operator.status().frozen.is_none(), "nothing was written down");
}

#[test]
fn the_agents_socket_knows_no_word_of_it() {
    let words = [
        json!({"sweep": {"account": PAYEE, "to": PAYEE, "asset": asset(), "amount": "1", "minutes": 1, "passphrase": SECRET}}),
        json!({"sweep_plan": {"account": PAYEE, "asset": asset()}}),
        json!({"sweep_again": {"id": "w_00000000000000000000000000000000", "passphrase": SECRET}}),
        json!("sweeps"),
        json!({"rotate": {"passphrase": SECRET}}),
    ];
    for word in words {
        assert!(serde_json::from_value::<OperatorAsk>(word.clone()).is_ok(), "{word}");
        assert!(serde_json::from_value::<AgentAsk>(word.clone()).is_err(), "{word}");
        assert!(serde_json::from_value::<bursar_vault::protocol::GlueAsk>(word.clone()).is_err(), "{word}");
    }
}

#[test]
fn another_key_pays_and_the_old_one_only_empties_its_account() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let dial = Dial::at(NOW_S);
    let running = sandbox.start_at(Box::new(dial.clone()));
    let operator = sandbox.operator();
    operator.open_session("default", "1.00 USD");
    let name: SecretName = "shop".parse().unwrap();
    let value = SecretValue::new(Zeroizing::new("sk-shop-0123456789".to_owned())).unwrap();
    operator.ask(&OperatorAsk::SecretSet { name, value, passphrase: said(SECRET) });
    // While a payment may still be taken, nothing is changed.
    let agent = sandbox.agent();
    assert!(matches!(agent.claim(&errand("a")), Claimed::New));
    let paid = agent.authorize(terms(1));
    assert_eq!(operator.code(&OperatorAsk::Rotate { passphrase: said(SECRET) }), "payment_open");
    agent.report(delivered());
    assert!(!sandbox.profile.keys().read_dir().unwrap().any(|_| true), "the key that was made is gone");

    let (from, to) = rotate(&sandbox);
    assert_eq!((from, operator.status().payer, operator.status().former), (sandbox.payer, Some(to), vec![from]));
    let kept = sandbox.profile.keys().join(format!("{}.json", from.to_string().to_lowercase()));
    assert!(kept.exists());
    let buys = |path: &str| {
        let agent = sandbox.agent();
        assert!(matches!(agent.claim(&errand(path)), Claimed::New));
        let signed = agent.authorize(terms(1));
        agent.report(delivered());
        signed.payer
    };
    assert_eq!(buys("b"), to);
    let OperatorReply::Secrets(secrets) = operator.ask(&OperatorAsk::SecretList) else { panic!("no list") };
    assert_eq!(secrets.secrets.len(), 1, "sealed again under the new key, and opened with it");
    // What is left on the old account is moved by its own key, and freezes nobody.
    dial.pass(1_000);
    assert_eq!((plan(&sandbox, from).reserved, plan(&sandbox, to).reserved), (0, 0));
    let signed = swept(&sandbox, &sweep(from, &to.to_string(), 500, SECRET));
    assert_eq!(signer(&signed), Some(from));
    assert!(operator.status().frozen.is_none());
    assert_eq!(buys("c"), to);
    running.stop();

    let running = sandbox.start_at(Box::new(dial.clone()));
    let operator = sandbox.operator();
    assert_eq!(operator.status().payer, Some(to));
    operator.ask(&unlock(SECRET));
    assert_eq!(buys("d"), to);
    dial.pass(10_000);
    let OperatorReply::Sweeps(sweeps) = operator.ask(&OperatorAsk::Sweeps) else { panic!("no list") };
    assert_eq!(sweeps.len(), 1);
    let OperatorReply::Payment(detail) = operator.ask(&OperatorAsk::Payment { id: paid.payment }) else {
        panic!("no payment")
    };
    assert_eq!(detail.payer, from, "a row keeps who paid it");
    running.stop();
    let running = sandbox.start_at(Box::new(dial));
    let status = sandbox.operator().ask(&OperatorAsk::Sweeps);
    assert!(matches!(&status, OperatorReply::Sweeps(sweeps) if sweeps[0].state != SweepState::Moved), "{status:?}");
    running.stop();
}

fn set_a_secret(sandbox: &Sandbox) {
    let value = SecretValue::new(Zeroizing::new("sk-shop-0123456789".to_owned())).unwrap();
    let ask = OperatorAsk::SecretSet { name: "shop".parse().unwrap(), value, passphrase: said(SECRET) };
    assert!(matches!(sandbox.operator().ask(&ask), OperatorReply::Done));
}

#[test]
fn secrets_of_a_machine_that_was_given_the_keys_of_another_are_sealed_under_the_one_that_pays() {
    for unlocking in [Unlocking::ByFile, Unlocking::ByPerson] {
        let sandbox = Sandbox::new(unlocking);
        let running = sandbox.start();
        set_a_secret(&sandbox);
        let as_it_was = fs::read(sandbox.profile.secrets()).unwrap();
        rotate(&sandbox);
        running.stop();
        // As on a further machine, which was given the new keystore and the keys beside it.
        fs::write(sandbox.profile.secrets(), &as_it_was).unwrap();
        let running = sandbox.start();
        let operator = sandbox.operator();
        if unlocking == Unlocking::ByPerson {
            operator.ask(&unlock(SECRET));
        }
        // While the wallet is unlocked a list has to open the file.
        let OperatorReply::Secrets(list) = operator.ask(&OperatorAsk::SecretList) else { panic!("no list") };
        assert_eq!(list.secrets.len(), 1);
        let sealed = fs::read(sandbox.profile.secrets()).unwrap();
        assert_ne!(sealed, as_it_was);
        running.stop();
        let running = sandbox.start();
        assert_eq!(fs::read(sandbox.profile.secrets()).unwrap(), sealed, "once");
        running.stop();
        // Where the key is not beside it, nobody is blamed for it.
        fs::write(sandbox.profile.secrets(), &as_it_was).unwrap();
        fs::remove_dir_all(sandbox.profile.keys()).unwrap();
        let running = sandbox.start();
        let operator = sandbox.operator();
        operator.ask(&unlock(SECRET));
        let said = operator.0.ask(&OperatorAsk::SecretList);
        let Err(ClientFault::Said { code, message, .. }) = said else { panic!("{said:?}") };
        assert_eq!(code, "secrets_damaged");
        assert!(message.contains("it was sealed under another one, or changed"), "{message}");
        assert_eq!(fs::read(sandbox.profile.secrets()).unwrap(), as_it_was, "and nothing is overwritten");
        running.stop();
    }
}

#[test]
fn an_account_that_was_put_into_the_ledger_by_hand_promotes_no_key() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let running = sandbox.start();
    let (old, new) = rotate(&sandbox);
    running.stop();
    let files = || {
        let keys = fs::read_dir(sandbox.profile.keys()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> =
            keys.chain([sandbox.profile.keystore()]).map(|path| (fs::read(&path).unwrap(), path)).collect();
        files.sort();
        files
    };
    let before = files();
    // No guard stands against that: a change of the account, which nobody signed.
    let hand = rusqlite::Connection::open(sandbox.profile.ledger()).unwrap();
    hand.execute_batch(&format!(
        "INSERT INTO rotation (from_account, to_account, audit_key, at_s)
         SELECT '{new}', '{old}', audit_key, at_s FROM rotation; UPDATE meta SET key_address = '{old}'"
    ))
    .unwrap();
    drop(hand);
    let fault =
        process::start(&sandbox.profile, None, Box::new(MachineTime), Arc::new(NoChains)).map(drop).unwrap_err();
    assert!(matches!(fault, StartFault::Ledger(LedgerFault::OtherKey { .. })), "{fault}");
    assert_eq!(files(), before);
}

#[test]
fn a_key_that_is_not_there_moves_nothing_and_a_locked_wallet_stays_locked() {
    let sandbox = Sandbox::new(Unlocking::ByPerson);
    let running = sandbox.start();
    let (from, to) = rotate(&sandbox);
    let operator = sandbox.operator();
    assert!(operator.status().locked);
    operator.ask(&unlock(SECRET));
    assert!(!operator.status().locked);
    assert_eq!(signer(&swept(&sandbox, &sweep(to, PAYEE, 1, SECRET))), Some(to));
    fs::remove_file(sandbox.profile.keys().join(format!("{}.json", from.to_string().to_lowercase()))).unwrap();
    assert_eq!(operator.code(&sweep(from, PAYEE, 1, SECRET)), "sweep_no_key");
    let (client, _) = OperatorClient::connect(&sandbox.profile).unwrap();
    let guessed = client.ask(&sweep(from, PAYEE, 1, "a guess"));
    assert!(matches!(&guessed, Err(ClientFault::Said { code, .. }) if code == "passphrase_wrong"), "{guessed:?}");
    running.stop();
}
