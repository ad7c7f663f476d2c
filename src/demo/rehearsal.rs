//! Two purchases to look at: one that the rules pay, one that they refuse. Says what the seller and the play chain saw.

use serde_json::{Value, json};
use tokio::runtime;

use super::DemoFault;
use super::client::Era;
use super::money::dollars;
use super::script::ScriptFault;
use super::seller::world::host;
use super::stage::Stage;

const BUDGET: &str = "1.00 USD";
const SESSION: &str = "rehearsal";
/// What costs five cents.
const FAIR: &str = "/v2/report";
/// What costs nine dollars.
const DEAR: &str = "/v2/yacht";

/// Plays it and tells it, a sentence each. Blocks; must not be called from inside an async runtime.
///
/// Everything happens in a temporary sandbox, with play money, on this machine; nothing of it is left.
///
/// # Errors
///
/// [`DemoFault`] when it could not be played to its end.
pub fn rehearse() -> Result<Vec<String>, DemoFault> {
    let broken = |fault: &dyn std::fmt::Display| DemoFault::Broken(fault.to_string());
    let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|fault| broken(&fault))?.block_on(play()).map_err(|fault| broken(&fault))
}

async fn play() -> Result<Vec<String>, ScriptFault> {
    let stage = Stage::set(None).await?;
    stage.operator().open_session(SESSION, BUDGET).await?;
    let agent = stage.client(SESSION, Era::Stateless).await?;
    let mut told = vec![format!("a budget of {BUDGET} is open, and the rules pay at most 0.25 USD at once")];
    for path in [FAIR, DEAR] {
        let url = stage.seller().url(host::SHOP, path);
        let (seen, purse) = (stage.seller().signatures(), stage.seller().balances(stage.buyer()).0);
        let answer = agent.call("x402_fetch", json!({ "url": url })).await?;
        let seen = stage.seller().signatures().saturating_sub(seen);
        let moved = purse.saturating_sub(stage.seller().balances(stage.buyer()).0);
        told.push(format!("the agent asks for {url}"));
        told.push(ending(&answer, seen, moved));
    }
    let spent = stage.operator().session(SESSION).await?.map(|session| session.spent.to_string());
    told.push(format!("of the budget {} is spent", spent.unwrap_or_default()));
    agent.close().await?;
    Ok(told)
}

/// What the agent heard, beside what the seller and the play chain saw.
fn ending(answer: &Value, seen: usize, moved: u128) -> String {
    let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let signatures = if seen == 1 { "1 signature".to_owned() } else { format!("{seen} signatures") };
    match text("outcome").as_str() {
        "paid" => format!("it is paid: the seller saw {signatures}, and {} left the wallet", dollars(moved)),
        other => format!(
            "it is {other} ({}), because the price is over the ceiling: the seller saw {signatures}, and {} left the wallet",
            text("code"),
            dollars(moved)
        ),
    }
}
