//! The plain business: a quote, and a purchase in each version by each method.

use serde_json::{Value, json};

use super::ScriptFault;
use super::account::Account;
use super::measure::Scribe;
use crate::demo::client::{ClientFault, McpClient};
use crate::demo::seller::FIVE_CENTS;
use crate::demo::seller::world::host;
use crate::demo::stage::Stage;

/// What a POST carries.
const ORDER_FORM: &str = r#"{"pages":3}"#;

/// The tools of a wallet without browser glue: none of them can raise a limit or name a payee.
const TOOLS: &str = "x402_fetch, x402_quote, prepare_browser_payment, attach_browser_payment, payment_session_status";

/// Something to buy.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    arguments: Value,
}

impl Order {
    /// A GET of `path` on `host`.
    pub(crate) fn get(stage: &Stage, host: &str, path: &str) -> Self {
        Self { arguments: json!({"url": stage.seller().url(host, path)}) }
    }

    /// A POST with a small JSON body.
    pub(crate) fn post(stage: &Stage, host: &str, path: &str) -> Self {
        let url = stage.seller().url(host, path);
        Self { arguments: json!({"url": url, "method": "POST", "body": ORDER_FORM, "body_type": "json"}) }
    }

    /// The same, as a purchase of its own.
    pub(crate) fn with_id(mut self, id: String) -> Self {
        if let Some(members) = self.arguments.as_object_mut() {
            members.insert("purchase_id".to_owned(), id.into());
        }
        self
    }

    /// Buys it.
    pub(crate) async fn buy(&self, client: &McpClient) -> Result<Value, ClientFault> {
        client.call("x402_fetch", self.arguments.clone()).await
    }

    /// Asks what it costs.
    pub(crate) async fn quote(&self, client: &McpClient) -> Result<Value, ClientFault> {
        client.call("x402_quote", self.arguments.clone()).await
    }
}

/// Plays the steps.
pub(crate) async fn play(stage: &Stage, scribe: &mut Scribe<'_, '_>, client: &McpClient) -> Result<(), ScriptFault> {
    let tools = client.tools().await?.join(", ");
    scribe.note("everything the model can call", TOOLS.to_owned(), tools);

    let begun = scribe.begin(stage, "ask for a price (x402_quote)")?;
    let quote = Order::get(stage, host::SHOP, "/v2/report").quote(client).await;
    scribe.end(stage, begun, &Account::of("payable at 0.05 USD", 1), &[quote]).await?;

    for (name, order) in [
        ("buy with x402 v2, GET", Order::get(stage, host::SHOP, "/v2/report")),
        ("buy with x402 v1, GET", Order::get(stage, host::SHOP, "/v1/report")),
        ("buy with x402 v2, POST", Order::post(stage, host::SHOP, "/v2/report")),
        ("buy with x402 v1, POST", Order::post(stage, host::SHOP, "/v1/report")),
    ] {
        let begun = scribe.begin(stage, name)?;
        let answer = order.buy(client).await;
        scribe.end(stage, begun, &Account::of("paid", 1).paying(1, FIVE_CENTS), &[answer]).await?;
    }
    Ok(())
}
