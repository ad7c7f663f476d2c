//! The vault is killed (-9), once after a payment went out and once before it was signed, and started again.

use tokio::join;

use super::ScriptFault;
use super::account::{AGAIN, Account, UNPROVEN};
use super::measure::Scribe;
use super::purchases::Order;
use crate::demo::client::Era;
use crate::demo::seller::FIVE_CENTS;
use crate::demo::seller::world::host;
use crate::demo::stage::Stage;

/// The step at which the vault kills itself: the row is durable, nothing is signed.
const BEFORE_SIGNING: &str = "vault-exposed-committed";

/// Plays the steps.
pub(crate) async fn play(stage: &Stage, scribe: &mut Scribe<'_, '_>) -> Result<(), ScriptFault> {
    after_sending(stage, scribe).await?;
    before_signing(stage, scribe).await
}

async fn after_sending(stage: &Stage, scribe: &mut Scribe<'_, '_>) -> Result<(), ScriptFault> {
    stage.operator().open_session("crash", "0.10 USD").await?;
    let client = stage.client("crash", Era::Stateless).await?;
    let order = Order::get(stage, host::ARCHIVE, "/v2/hold-back");

    let begun = scribe
        .begin(stage, "vault killed (-9) while the seller holds the payment, then started again")?
        .watching_session("crash");
    let (answer, killed) = join!(order.buy(&client), async {
        stage.seller().payment_held().await;
        let killed = stage.kill_vault().await;
        stage.seller().release();
        killed
    });
    killed?;
    stage.start_vault().await?;
    let expected = Account::of(UNPROVEN, 1).exposing(1, FIVE_CENTS).leaving_spent("0.05 USD");
    scribe.end(stage, begun, &expected, &[answer]).await?;

    let again = Account { settled: 1, ..Account::of(AGAIN, 1) }.leaving_spent("0.05 USD");
    let begun = scribe.begin(stage, "the same call after the crash")?.watching_session("crash");
    let answer = order.buy(&client).await;
    scribe.end(stage, begun, &again, &[answer]).await?;

    let begun = scribe.begin(stage, "two more purchases of 0.05 from that budget of 0.10")?.watching_session("crash");
    let mut answers = Vec::new();
    for number in 1..=2 {
        let order = Order::get(stage, host::ARCHIVE, "/v2/report").with_id(format!("crash-{number}"));
        answers.push(order.buy(&client).await);
    }
    let expected = Account::of("paid", 1)
        .and("refused", 1)
        .because(&["over_session_budget"], "over_session_budget")
        .paying(1, FIVE_CENTS)
        .leaving_spent("0.10 USD");
    scribe.end(stage, begun, &expected, &answers).await?;
    Ok(client.close().await?)
}

async fn before_signing(stage: &Stage, scribe: &mut Scribe<'_, '_>) -> Result<(), ScriptFault> {
    stage.operator().open_session("edge", "0.05 USD").await?;
    let client = stage.client("edge", Era::Stateless).await?;

    let begun = scribe
        .begin(stage, "vault killed (-9) between counting and signing, then started again")?
        .watching_session("edge");
    stage.arm(BEFORE_SIGNING)?;
    let answer = Order::get(stage, host::ARCHIVE, "/v2/report").with_id("edge-1".to_owned()).buy(&client).await;
    stage.start_vault().await?;
    let expected = Account { counted: 1, ..Account::of("unresolved", 1) }.leaving_spent("0.05 USD");
    scribe.end(stage, begun, &expected, &[answer]).await?;

    let begun = scribe.begin(stage, "another purchase of 0.05 from that budget of 0.05")?.watching_session("edge");
    let answer = Order::get(stage, host::ARCHIVE, "/v2/report").with_id("edge-2".to_owned()).buy(&client).await;
    let expected =
        Account::of("refused", 1).because(&["over_session_budget"], "over_session_budget").leaving_spent("0.05 USD");
    scribe.end(stage, begun, &expected, &[answer]).await?;
    Ok(client.close().await?)
}
