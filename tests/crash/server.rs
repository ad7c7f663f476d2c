//! A ledger on a PostgreSQL server: the vault is killed at every step, and the server in the middle of a purchase.

use bursar_vault::protocol::RowState;

use crate::books::Books;
use crate::seller::Hold;
use crate::stand::Stand;
use crate::walk::{BUDGET, Dies, ON_THE_PATH};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_vault_that_is_killed_at_any_step_leaves_a_server_what_it_leaves_a_file() {
    let steps: Vec<_> = ON_THE_PATH.iter().filter(|step| step.dies == Dies::Vault).collect();
    assert!(5 < steps.len());
    for step in steps {
        step.play(Stand::on_a_server(BUDGET).await).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_while_the_seller_has_the_payment_has_counted_it() {
    let stand = Stand::on_a_server(BUDGET).await;
    let url = stand.seller.url("/page");
    let mut serve = stand.serve();
    stand.seller.hold(Hold::Goods);
    let call = serve.fetch(&url, None).await;
    stand.seller.was_paid(1).await;
    stand.server().crash();
    stand.seller.hold(Hold::Nothing);
    let told = serve.told(call).await.unwrap();
    assert_eq!((&told["outcome"], &told["receipt"]["state"]), (&"unresolved".into(), &"exposed".into()), "{told}");

    stand.server().start_again();
    let mut again = serve.buy(&url, None).await;
    while again["outcome"] == "failed" {
        again = serve.buy(&url, None).await;
    }
    // On a machine that is slow to start a server the payment may have run out meanwhile; it counts all the same.
    let end = match again["outcome"].as_str().unwrap() {
        "paid" => RowState::Settled,
        "unresolved" => RowState::Exposed,
        _ => panic!("{again}"),
    };
    assert_eq!(again["repeat"], true, "{again}");
    assert_eq!(stand.seller.nonces().len(), 1);
    let books = Books::of_the_vault(&stand.profile);
    books.hold_against(&stand.seller);
    assert!(books.states() == [end] || books.states() == [RowState::PresumedSpent], "{again}: {:?}", books.states());
}
