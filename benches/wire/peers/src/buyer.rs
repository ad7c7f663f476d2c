//! A buyer as x402-reqwest makes one: one client, its connections kept, no rules and no ledger.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use alloy_signer_local::PrivateKeySigner;
use reqwest::{Certificate, Client, StatusCode};
use tokio::task::JoinSet;
use x402_chain_eip155::V2Eip155ExactClient;
use x402_reqwest::{ReqwestWithPayments as _, ReqwestWithPaymentsBuild as _, X402Client};

use crate::{Fault, ms_since};

/// The buyer, and where it buys.
#[derive(Clone)]
pub struct Buyer {
    origin: String,
    client: reqwest_middleware::ClientWithMiddleware,
}

impl Buyer {
    /// A buyer with a fresh key that finds the seller on loopback and trusts `authority` (PEM).
    pub fn new(origin: String, port: u16, authority: &[u8]) -> Result<Self, Fault> {
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let client = Client::builder()
            .tls_certs_only([Certificate::from_pem(authority)?])
            .resolve("shop.test", at)
            .build()?
            .with_payments(X402Client::new().register(V2Eip155ExactClient::new(Arc::new(PrivateKeySigner::random()))))
            .build();
        Ok(Self { origin, client })
    }

    /// One purchase of `path`: its milliseconds.
    pub async fn one(&self, path: String) -> Result<f64, Fault> {
        let begun = Instant::now();
        let mut answer = self.client.get(format!("{}{path}", self.origin)).send().await?;
        if answer.status() != StatusCode::OK || !answer.headers().contains_key("payment-response") {
            return Err(format!("not paid: {}", answer.status()).into());
        }
        while answer.chunk().await?.is_some() {}
        Ok(ms_since(begun))
    }

    /// `count` purchases below `prefix`, at most `flight` at once.
    pub async fn buy(&self, prefix: &str, count: usize, flight: usize) -> Result<Vec<f64>, Fault> {
        let next = Arc::new(AtomicUsize::new(0));
        let mut hands = JoinSet::new();
        for _ in 0..flight {
            let (buyer, next, prefix) = (self.clone(), Arc::clone(&next), prefix.to_owned());
            hands.spawn(async move {
                let mut took = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if count <= number {
                        return Ok::<_, Fault>(took);
                    }
                    took.push(buyer.one(format!("{prefix}{number}")).await?);
                }
            });
        }
        let mut took = Vec::new();
        while let Some(hand) = hands.join_next().await {
            took.extend(hand??);
        }
        Ok(took)
    }
}
