//! The buyer x402-reqwest as `benches/dollars` asks it: settings as one JSON line, then one purchase a line.

use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use alloy_signer_local::PrivateKeySigner;
use reqwest::{Certificate, Client, Method};
use reqwest_middleware::ClientWithMiddleware;
use serde_json::{Value, json};
use x402_chain_eip155::V2Eip155ExactClient;
use x402_reqwest::{ReqwestWithPayments as _, ReqwestWithPaymentsBuild as _, X402Client};
use x402_types::scheme::client::{PaymentCandidate, PaymentSelector};

type Fault = Box<dyn Error + Send + Sync>;

/// What the crate's README calls custom selection logic: the cheapest offer within the cap, for a listed payee and token.
struct Strict {
    cap: u128,
    asset: String,
    payees: Vec<String>,
}

impl PaymentSelector for Strict {
    fn select<'a>(&self, candidates: &'a [PaymentCandidate]) -> Option<&'a PaymentCandidate> {
        let price = |offer: &PaymentCandidate| offer.amount.to_string().parse::<u128>().unwrap_or(u128::MAX);
        candidates
            .iter()
            .filter(|offer| offer.asset.eq_ignore_ascii_case(&self.asset))
            .filter(|offer| self.payees.iter().any(|payee| payee.eq_ignore_ascii_case(&offer.pay_to)))
            .filter(|offer| price(offer) <= self.cap)
            .min_by_key(|offer| price(offer))
    }
}

#[tokio::main]
async fn main() -> Result<(), Fault> {
    let mut lines = std::io::stdin().lock().lines();
    let settings: Value = serde_json::from_str(&lines.next().ok_or("no settings came")??)?;
    for line in lines {
        let ask: Value = serde_json::from_str(&line?)?;
        let client = buyer(&settings, &ask)?;
        let answer = match purchase(&client, &ask).await {
            Ok((status, text)) => json!({"status": status, "text": text}),
            Err(fault) => json!({"fault": true, "text": fault.to_string()}),
        };
        writeln!(std::io::stdout(), "{answer}")?;
    }
    Ok(())
}

/// A client under the settings; a caller that knows the price sets the ceiling of its one purchase to it.
fn buyer(settings: &Value, ask: &Value) -> Result<ClientWithMiddleware, Fault> {
    let text = |name: &str| settings[name].as_str().ok_or("a setting is missing");
    let mut builder =
        Client::builder().no_proxy().tls_certs_only([Certificate::from_pem(text("authority")?.as_bytes())?]);
    for host in settings["hosts"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        builder = builder.resolve(host, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    }
    let signer: PrivateKeySigner = text("key")?.parse()?;
    let payer = X402Client::new().register(V2Eip155ExactClient::new(Arc::new(signer)));
    let client = builder.build()?;
    if settings["strict"] != Value::Bool(true) {
        return Ok(client.with_payments(payer).build());
    }
    // Where a person looks above some price and nobody says yes, that price is the ceiling.
    let ceiling = ask["expect"].as_str().or_else(|| settings["approveOver"].as_str());
    let cap = ceiling.map_or_else(|| text("cap"), Ok)?.parse()?;
    let payees = settings["payees"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let strict = Strict { cap, asset: text("usdc")?.to_owned(), payees: payees.collect() };
    Ok(client.with_payments(payer.with_selector(strict)).build())
}

async fn purchase(client: &ClientWithMiddleware, ask: &Value) -> Result<(u16, String), Fault> {
    let method = Method::from_bytes(ask["method"].as_str().unwrap_or("GET").as_bytes())?;
    let mut request = client.request(method, ask["url"].as_str().ok_or("no url was given")?);
    if let Some(body) = ask["body"].as_str() {
        request = request.header("content-type", "application/json").body(body.to_owned());
    }
    let answer = request.send().await?;
    let (status, text) = (answer.status().as_u16(), answer.text().await?);
    // What was sold stands at the beginning; the rest would only be carried over the pipe.
    Ok((status, text.chars().take(65_536).collect()))
}
