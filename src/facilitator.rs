//! Hands a signed transfer to a facilitator that the operator named, over the pinned network. It must never follow a
//! redirect, ask twice, or take the answer for proof: a chain shows what moved.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bursar_policy::{BodyType, Method, Rules, Site, may_settle};
use tokio::runtime::Builder;

use crate::authorities;
use crate::net::{Ask, BodyEnd, Exchange, Limits, SystemResolver, Tls, pin};
use crate::wire::transfer::{Handed, settle_answer};

/// The most bytes of its answer.
const ANSWER_MAX_BYTES: u64 = 64 * 1024;

/// How long it may take: it waits for a transaction.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(10),
    tls: Duration::from_secs(10),
    first_byte: Duration::from_secs(90),
    header: Duration::from_secs(90),
    idle: Duration::from_secs(30),
    total: Duration::from_secs(120),
    header_bytes: 32 * 1024,
    header_fields: 100,
};

/// Where transfers are handed in, below the address of a facilitator.
///
/// # Errors
///
/// What is wrong with the address, as a sentence.
pub(crate) fn settle_site(address: &str) -> Result<Site, String> {
    if address.contains(['?', '#']) {
        return Err("a facilitator's address has no query; leave it out".to_owned());
    }
    Site::parse(&format!("{}/settle", address.trim_end_matches('/'))).map_err(|fault| fault.to_string())
}

/// Sends `request` to `site` once and reads the answer.
///
/// # Errors
///
/// A sentence: why it was not sent, or why nobody knows what became of it.
pub(crate) fn hand_over(rules: &Arc<Rules>, home: &Path, site: &Site, request: Vec<u8>) -> Result<Handed, String> {
    let vetted = may_settle(rules, site).map_err(|reasons| {
        let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
        format!("nothing was sent to `{}`: {}", site.origin(), reasons.join("; "))
    })?;
    let pems = authorities::read(rules, home).map_err(|fault| fault.to_string())?;
    let tls = Tls::also_trusting(pems.iter().map(Vec::as_slice)).map_err(|fault| fault.to_string())?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|fault| fault.to_string())?;
    let body = runtime.block_on(async {
        let pin = pin(vetted, &SystemResolver::new(), rules).await.map_err(|fault| fault.to_string())?;
        let ask = Ask::new(Method::Post).with_body(BodyType::Json, request).map_err(|fault| fault.to_string())?;
        let reply = Exchange::open(pin, &tls).send(&ask, &LIMITS).await.map_err(|fault| fault.to_string())?;
        match reply.into_body().collect(ANSWER_MAX_BYTES).await {
            (body, BodyEnd::Complete) => Ok(body),
            (_, BodyEnd::OverCap) => Err(format!("`{}` answered with more than 64 KiB", site.origin())),
            (_, BodyEnd::Cut(fault) | BodyEnd::Encoded(fault)) => Err(fault.to_string()),
        }
    })?;
    settle_answer(&body).map_err(|what| format!("`{}` cannot be believed: {what}", site.origin()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_facilitators_address_is_a_beginning_of_one() {
        for address in ["https://x402.example.org/facilitator", "https://x402.example.org/facilitator/"] {
            assert_eq!(settle_site(address).unwrap().url(), "https://x402.example.org/facilitator/settle");
        }
        for wrong in ["https://x402.example.org/?a=b", "https://x402.example.org/#a", "x402.example.org", ""] {
            assert!(settle_site(wrong).is_err(), "{wrong}");
        }
    }
}
