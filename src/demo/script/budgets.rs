//! Budgets under load: one after another, in parallel over two processes, and the same thing many times at once.

use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinSet;

use super::ScriptFault;
use super::account::{AGAIN, Account};
use super::measure::Scribe;
use super::purchases::Order;
use crate::demo::client::{ClientFault, Era, McpClient};
use crate::demo::seller::FIVE_CENTS;
use crate::demo::seller::world::host;
use crate::demo::stage::Stage;

const ONE_DOLLAR: u128 = 1_000_000;

/// Plays the steps.
pub(crate) async fn play(stage: &Stage, scribe: &mut Scribe<'_, '_>) -> Result<(), ScriptFault> {
    one_after_another(stage, scribe).await?;
    stage.operator().open_session("fair", "1.00 USD").await?;
    stage.operator().open_session("twins", "1.00 USD").await?;
    in_parallel(stage, scribe).await?;
    identical(stage, scribe).await
}

/// The host's daily limit is a dollar; the session would allow two.
async fn one_after_another(stage: &Stage, scribe: &mut Scribe<'_, '_>) -> Result<(), ScriptFault> {
    stage.operator().open_session("market", "2.00 USD").await?;
    let client = stage.client("market", Era::Handshake).await?;
    let begun = scribe.begin(stage, "25 purchases of 0.05 from a shop with 1.00 a day")?.watching_session("market");
    let mut answers = Vec::new();
    for number in 1..=25 {
        let order = Order::get(stage, host::MARKET, "/v2/report").with_id(format!("market-{number}"));
        answers.push(order.buy(&client).await);
    }
    let expected = Account::of("paid", 20)
        .and("refused", 5)
        .because(&["over_limit"], "spending_limit")
        .paying(20, ONE_DOLLAR)
        .leaving_spent("1.00 USD");
    scribe.end(stage, begun, &expected, &answers).await?;
    Ok(client.close().await?)
}

/// The session has a dollar, spread over two shops and two `serve` processes of either era.
async fn in_parallel(stage: &Stage, scribe: &mut Scribe<'_, '_>) -> Result<(), ScriptFault> {
    let clients = pair(stage, "fair").await?;
    let begun = scribe
        .begin(stage, "10 purchases of 0.20 at once, from a budget of 1.00, over two processes")?
        .watching_session("fair");
    let orders = (1..=10).map(|number| {
        let shop = if number <= 5 { host::NORTH } else { host::SOUTH };
        Order::get(stage, shop, "/v2/atlas").with_id(format!("fair-{number}"))
    });
    let answers = at_once(&clients, orders).await;
    let expected = Account::of("paid", 5)
        .and("refused", 5)
        .because(&["over_session_budget"], "over_session_budget")
        .paying(5, ONE_DOLLAR)
        .leaving_spent("1.00 USD");
    scribe.end(stage, begun, &expected, &answers).await?;
    close(clients).await
}

async fn identical(stage: &Stage, scribe: &mut Scribe<'_, '_>) -> Result<(), ScriptFault> {
    let clients = pair(stage, "twins").await?;
    let begun = scribe
        .begin(stage, "the same purchase 10 times at once, over two processes")?
        .watching_session("twins")
        .watching_path(stage, host::TWINS, "/v2/report");
    let orders = (1..=10).map(|_| Order::get(stage, host::TWINS, "/v2/report"));
    let answers = at_once(&clients, orders).await;
    let expected =
        Account::of("paid", 1).and(AGAIN, 9).paying(1, FIVE_CENTS).leaving_spent("0.05 USD").visited(2, 1, 1);
    scribe.end(stage, begun, &expected, &answers).await?;
    close(clients).await
}

type Pair = [Arc<McpClient>; 2];

async fn pair(stage: &Stage, session: &str) -> Result<Pair, ScriptFault> {
    let old = stage.client(session, Era::Handshake).await?;
    let new = stage.client(session, Era::Stateless).await?;
    Ok([Arc::new(old), Arc::new(new)])
}

/// Sends every order without waiting for an answer, to one client and the other in turn.
async fn at_once(clients: &Pair, orders: impl Iterator<Item = Order>) -> Vec<Result<Value, ClientFault>> {
    let mut calls = JoinSet::new();
    for (order, client) in orders.zip(clients.iter().cycle()) {
        let client = Arc::clone(client);
        calls.spawn(async move { order.buy(&client).await });
    }
    calls.join_all().await
}

async fn close(clients: Pair) -> Result<(), ScriptFault> {
    for client in clients {
        if let Some(client) = Arc::into_inner(client) {
            client.close().await?;
        }
    }
    Ok(())
}
