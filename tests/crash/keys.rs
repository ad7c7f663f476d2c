//! A vault that is killed while the operator moves money out or changes the key: nothing is lost, nothing is signed twice,
//! and one whole key pays.

use std::collections::BTreeSet;

use bursar_policy::{Address, Amount, AssetId, ChainId};
use bursar_vault::client::OperatorClient;
use bursar_vault::failpoint::KEY_FAILPOINTS;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, OperatorStatus, SecretValue, SweepSigned};

use crate::stand::{Stand, passphrase};

const USDC: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const TO: Address = Address::from_bytes([0x44; 20]);

/// The steps of each kind, and whether what was wanted is there after a kill at it.
const SWEEPS: [(&str, bool); 3] =
    [("vault-sweep-ordered-uncommitted", false), ("vault-sweep-ordered-committed", true), ("vault-sweep-signed", true)];
const ROTATIONS: [(&str, bool); 8] = [
    ("vault-rotation-sealed", false),
    ("vault-rotation-staged", false),
    ("vault-rotation-uncommitted", false),
    ("vault-rotation-committed", true),
    ("vault-rotation-kept", true),
    ("vault-rotation-secrets", true),
    ("vault-rotation-moved", true),
    ("vault-rotation-cleared", true),
];

fn status(stand: &Stand) -> OperatorStatus {
    match stand.ask(OperatorAsk::Status) {
        OperatorReply::Status(status) => *status,
        other => panic!("{other:?}"),
    }
}

fn sweep(account: Address) -> OperatorAsk {
    let asset = AssetId { chain: ChainId::BASE_SEPOLIA, contract: USDC.parse().unwrap() };
    OperatorAsk::Sweep {
        account,
        to: TO,
        asset,
        amount: Amount::new(7).unwrap(),
        minutes: 60,
        passphrase: passphrase(),
    }
}

fn swept(reply: OperatorReply) -> SweepSigned {
    match reply {
        OperatorReply::Swept(signed) => *signed,
        other => panic!("{other:?}"),
    }
}

/// Asks a vault that dies of it, and starts the next one.
async fn killed_at(stand: &mut Stand, step: &str, ask: &OperatorAsk) {
    stand.arm(step);
    let (operator, _) = OperatorClient::connect(&stand.profile).unwrap();
    assert!(operator.ask(ask).is_err(), "nobody was answered");
    let ended = stand.vault_ended().await;
    stand.was_killed_at(step, ended);
    stand.start_vault().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_anywhere_a_sweep_is_there_whole_or_not_at_all_and_is_one_signature() {
    for (step, is_there) in SWEEPS {
        let mut stand = Stand::without_vault().await;
        stand.start_vault().await;
        let account = status(&stand).payer.unwrap();
        killed_at(&mut stand, step, &sweep(account)).await;
        let after = status(&stand);
        assert_eq!((after.sweeps.len(), after.frozen.is_some()), (usize::from(is_there), is_there), "{step}");
        if let [live] = &after.sweeps[..] {
            let again = || stand.ask(OperatorAsk::SweepAgain { id: live.id.clone(), passphrase: passphrase() });
            let (first, second) = (swept(again()), swept(again()));
            assert_eq!((&first.signature, &first.sweep), (&second.signature, live), "{step}");
        } else {
            swept(stand.ask(sweep(account)));
        }
        assert_eq!(status(&stand).sweeps.len(), 1, "{step}: one, whoever was killed");
        stand.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_anywhere_in_a_change_of_the_key_one_whole_key_pays_and_the_other_is_kept() {
    for (step, is_there) in ROTATIONS {
        let mut stand = Stand::without_vault().await;
        stand.start_vault().await;
        stand.open_session("0.10 USD");
        let value = SecretValue::new("sk-shop-0123456789".to_owned().into()).unwrap();
        stand.ask(OperatorAsk::SecretSet { name: "shop".parse().unwrap(), value, passphrase: passphrase() });
        let old = status(&stand).payer.unwrap();
        killed_at(&mut stand, step, &OperatorAsk::Rotate { passphrase: passphrase() }).await;
        let after = status(&stand);
        let pays = after.payer.unwrap();
        assert_eq!((pays != old, after.former.len()), (is_there, usize::from(is_there)), "{step}");
        // The secrets open with the key in its place, or there would be no list, and they open with it alone.
        let OperatorReply::Secrets(secrets) = stand.ask(OperatorAsk::SecretList) else { panic!("{step}: no list") };
        assert_eq!(secrets.secrets.len(), 1, "{step}");
        let OperatorReply::Log(log) = stand.ask(OperatorAsk::Log { limit: 50, after: Some(0) }) else {
            panic!("no log")
        };
        assert!(
            log.iter().all(|entry| !entry.detail.contains("sealed under a key that does not pay")),
            "{step}: {log:?}"
        );
        // The vault is unlocked, so the key in its place opened; it pays.
        let mut serve = stand.serve();
        let bought = serve.buy(&stand.seller.url("/one"), None).await;
        assert_eq!(bought["outcome"], "paid", "{step}: {bought}");
        if is_there {
            assert_eq!(swept(stand.ask(sweep(old))).authorization.from, old, "{step}: the old key is whole");
        } else {
            let OperatorReply::Rotated { from, to } = stand.ask(OperatorAsk::Rotate { passphrase: passphrase() })
            else {
                panic!("{step}: not changed")
            };
            assert!(from == old && to != old, "{step}");
        }
        stand.close().await.hold_against(&stand.seller);
    }
}

#[test]
fn these_are_every_step_with_keys() {
    let here: BTreeSet<&str> = SWEEPS.into_iter().chain(ROTATIONS).map(|(step, _)| step).collect();
    assert_eq!(here, KEY_FAILPOINTS.into_iter().collect());
}
