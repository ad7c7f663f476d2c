//! What bursar is held against over the wire: the buyer x402-reqwest, and the floors under every figure. No part of
//! bursar, and nothing of it is shipped.
//!
//! Usage: bursar-wire-peers ORIGIN PORT CA-FILE FOLDER. Each line of standard input is one round; each answer is one line
//! of JSON with the milliseconds of every step and of all of them: `buy PREFIX COUNT FLIGHT`, `legs COUNT`, `commit
//! COUNT`, `sign COUNT`.

mod buyer;
mod floor;

use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::time::Instant;

use serde_json::json;

type Fault = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Fault> {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().ok_or("usage: bursar-wire-peers ORIGIN PORT CA-FILE FOLDER");
    let (origin, port, authority, folder) = (word()?, word()?.parse()?, word()?, word()?);
    let authority = std::fs::read(authority)?;
    let buyer = buyer::Buyer::new(origin, port, &authority)?;
    let seller = floor::Seller::new(port, &authority)?;
    let mut ledger = floor::Ledger::open(&folder)?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let begun = Instant::now();
        let ms = match line.split(' ').collect::<Vec<_>>()[..] {
            ["buy", prefix, count, flight] => buyer.buy(prefix, count.parse()?, flight.parse()?).await?,
            ["legs", count] => seller.legs(count.parse()?).await?,
            ["commit", count] => ledger.commit(count.parse()?)?,
            ["sign", count] => floor::sign(count.parse()?)?,
            _ => return Err(format!("not a round: {line}").into()),
        };
        let answer = json!({"ms": ms, "total": ms_since(begun)});
        writeln!(std::io::stdout(), "{answer}")?;
    }
    Ok(())
}

/// Milliseconds since `begun`.
fn ms_since(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}
