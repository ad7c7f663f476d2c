//! A buyer for the seller's tests: signs by hand, so that every field can be bent.

use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar_policy::authorization::{Authorization, Domain};
use bursar_policy::chain::Address;
use bursar_policy::money::Amount;
use bursar_vault::sign::{Signature, recover};
use k256::ecdsa::SigningKey;
use reqwest::{Client, Method, StatusCode};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};

use crate::demo::seller::clock;
use crate::demo::seller::shelf::Edition;
use crate::demo::seller::world::{self, host};

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
    /// The decoded `PAYMENT-REQUIRED` header.
    pub(crate) terms: Option<Value>,
    /// The decoded settlement header of either version.
    pub(crate) settlement: Option<Value>,
}

impl Answer {
    /// The terms of whichever version, from where that version keeps them.
    pub(crate) fn asked(&self) -> &Value {
        self.terms.as_ref().unwrap_or(&self.body)
    }

    /// The reason given with a 402.
    pub(crate) fn reason(&self) -> &str {
        self.asked()["error"].as_str().unwrap()
    }
}

pub(crate) struct Buyer {
    key: SigningKey,
    address: Address,
    client: Client,
    port: u16,
}

impl Buyer {
    pub(crate) fn trusting(ca_pem: &str, port: u16) -> Self {
        let key = SigningKey::from_slice(&[7; 32]).unwrap();
        let address = account(&key);
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ca_pem.as_bytes()).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let here = SocketAddr::from(([127, 0, 0, 1], port));
        let builder = host::ALL.iter().fold(Client::builder(), |builder, name| builder.resolve(name, here));
        let client =
            builder.tls_backend_preconfigured(config).no_proxy().redirect(reqwest::redirect::Policy::none()).build();
        Self { key, address, client: client.unwrap(), port }
    }

    pub(crate) fn address(&self) -> Address {
        self.address
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://{}:{}{path}", host::SHOP, self.port)
    }

    /// One request; `None` when the seller hung up.
    pub(crate) async fn send(&self, method: Method, path: &str, payment: Option<(Edition, String)>) -> Option<Answer> {
        let mut request = self.client.request(method.clone(), self.url(path));
        if method == Method::POST {
            request = request.body("{\"pages\":3}");
        }
        if let Some((edition, header)) = payment {
            request = request.header(name_of(edition), header);
        }
        let response = request.send().await.ok()?;
        let decoded = |name: &str| {
            let value = response.headers().get(name)?;
            Some(serde_json::from_slice(&STANDARD.decode(value.as_bytes()).unwrap()).unwrap())
        };
        let terms = decoded("payment-required");
        let settlement = decoded("payment-response").or_else(|| decoded("x-payment-response"));
        let status = response.status();
        let body = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
        Some(Answer { status, body, terms, settlement })
    }

    pub(crate) async fn get(&self, path: &str, payment: Option<(Edition, String)>) -> Answer {
        self.send(Method::GET, path, payment).await.unwrap()
    }

    /// An authorization of `units` to the merchant, valid now, with a nonce of `seed`.
    pub(crate) fn authorization(&self, units: u128, seed: u8) -> Authorization {
        Authorization {
            from: self.address,
            to: world::merchant(),
            value: Amount::new(units).unwrap(),
            valid_after: 0,
            valid_before: clock::now_s() + 60,
            nonce: [seed; 32],
        }
    }

    /// Signs `authorization` under `domain`: r, s, v in hexadecimal.
    pub(crate) fn sign(&self, authorization: &Authorization, domain: &Domain) -> String {
        let (pair, recovery) = self.key.sign_prehash_recoverable(&authorization.digest(domain)).unwrap();
        format!("0x{}{:02x}", hex::encode(pair.to_bytes()), recovery.to_byte() + 27)
    }

    /// A payment header for `authorization`, honestly signed, answering `requirement`.
    pub(crate) fn header(&self, edition: Edition, requirement: &Value, authorization: &Authorization) -> String {
        let signature = self.sign(authorization, &world::test_domain());
        encode(edition, requirement, authorization, &signature)
    }
}

/// The header value for one payment.
pub(crate) fn encode(edition: Edition, requirement: &Value, authorization: &Authorization, signature: &str) -> String {
    let payload = json!({
        "signature": signature,
        "authorization": {
            "from": authorization.from.to_string(), "to": authorization.to.to_string(),
            "value": authorization.value.units().to_string(),
            "validAfter": authorization.valid_after.to_string(),
            "validBefore": authorization.valid_before.to_string(),
            "nonce": format!("0x{}", hex::encode(authorization.nonce)),
        },
    });
    let document = match edition {
        Edition::V1 => json!({
            "x402Version": 1, "scheme": requirement["scheme"], "network": requirement["network"], "payload": payload,
        }),
        Edition::V2 => json!({"x402Version": 2, "accepted": requirement, "payload": payload}),
    };
    STANDARD.encode(document.to_string())
}

fn name_of(edition: Edition) -> &'static str {
    match edition {
        Edition::V1 => "X-PAYMENT",
        Edition::V2 => "PAYMENT-SIGNATURE",
    }
}

/// The account of `key`, found as a chain finds it: from a signature over a known digest.
fn account(key: &SigningKey) -> Address {
    let (pair, recovery) = key.sign_prehash_recoverable(&[1; 32]).unwrap();
    let text = format!("0x{}{:02x}", hex::encode(pair.to_bytes()), recovery.to_byte() + 27);
    recover(&[1; 32], &text.parse::<Signature>().ok().unwrap()).unwrap()
}
