//! The seller of the x402-rs family, x402-axum on axum, as a part of the lab: settings as one JSON line on standard input, one line
//! on standard output when every shop listens, and the end of standard input ends it.

mod offers;
mod secured;
mod shop;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::task::JoinSet;

use crate::offers::Offers;

type Fault = Box<dyn Error + Send + Sync>;

/// What the lab tells a part that sells.
#[derive(Deserialize)]
struct Settings {
    /// The facilitator of each shop, by the shop's temper.
    facilitators: BTreeMap<String, String>,
    tls: secured::Identity,
    #[serde(flatten)]
    offers: Offers,
}

#[tokio::main]
async fn main() -> Result<(), Fault> {
    let mut input = BufReader::new(tokio::io::stdin());
    let mut line = String::new();
    input.read_line(&mut line).await?;
    let settings: Settings = serde_json::from_str(&line)?;
    let (mut shops, mut ports) = (JoinSet::new(), BTreeMap::new());
    for (temper, facilitator) in &settings.facilitators {
        let listener = secured::Listener::bind(&settings.tls).await?;
        ports.insert(temper, listener.port()?);
        let app = shop::open(&settings.offers, facilitator)?;
        shops.spawn(async move { axum::serve(listener, app).await });
    }
    writeln!(std::io::stdout(), "{}", serde_json::json!({ "ports": ports }))?;
    let mut nowhere = tokio::io::sink();
    tokio::select! {
        ended = shops.join_next() => Err(format!("a shop ended: {ended:?}").into()),
        closed = tokio::io::copy(&mut input, &mut nowhere) => Ok(closed.map(|_| ())?),
    }
}
