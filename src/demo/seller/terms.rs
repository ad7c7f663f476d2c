//! Writes the demo seller's 402 answers, version 1 and version 2, honest and crooked.
//!
//! It must never look at a payment: what is asked depends on the ware alone.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar_policy::chain::Address;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use super::shelf::{Edition, FIVE_CENTS, Manner, NINE_DOLLARS, TWENTY_CENTS, Ware};
use super::world;

/// One offer as the seller means it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The item of `accepts` as sent.
    pub(crate) requirement: Value,
    /// Who is to be paid.
    pub(crate) payee: Address,
    /// How much, in atomic units.
    pub(crate) units: u128,
}

/// Every offer made for `ware` at `url`, in the order sent.
pub(crate) fn offers(ware: Ware, url: &str) -> Vec<Asked> {
    match (ware.manner, ware.edition) {
        (Manner::SwappedPayee, _) => vec![offer(ware, url, world::stranger(), ware.units)],
        (Manner::DearFirst, Edition::V2) => {
            vec![offer(ware, url, world::merchant(), TWENTY_CENTS), offer(ware, url, world::merchant(), ware.units)]
        }
        (Manner::DearFirst, Edition::V1) => {
            vec![offer(ware, url, world::merchant(), NINE_DOLLARS), offer(ware, url, world::merchant(), ware.units)]
        }
        _ => vec![offer(ware, url, world::merchant(), ware.units)],
    }
}

fn offer(ware: Ware, url: &str, payee: Address, units: u128) -> Asked {
    let domain = if ware.manner == Manner::OtherNetwork { world::main_domain() } else { world::test_domain() };
    let amount = if ware.manner == Manner::DecimalAmount { "0.05".to_owned() } else { units.to_string() };
    let extra = json!({"name": domain.name, "version": domain.version});
    let requirement = match ware.edition {
        Edition::V1 => json!({
            "scheme": "exact", "network": "base-sepolia", "maxAmountRequired": amount,
            "asset": domain.contract.to_string(), "payTo": payee.to_string(), "resource": url,
            "description": "a page from the demo seller", "mimeType": "application/json", "outputSchema": null,
            "maxTimeoutSeconds": 60, "extra": extra,
        }),
        // `shelfMark` is no member of x402: a buyer that drops what it does not know fails the echo.
        Edition::V2 => json!({
            "scheme": "exact", "network": domain.chain.to_string(), "amount": amount,
            "asset": domain.contract.to_string(), "payTo": payee.to_string(),
            "maxTimeoutSeconds": 60, "extra": extra, "shelfMark": ware.path,
        }),
    };
    Asked { requirement, payee, units }
}

/// The 402 answer for `ware`, saying `error`.
pub(crate) fn challenge(ware: Ware, url: &str, error: &str) -> Response<Full<Bytes>> {
    let accepts: Vec<Value> = offers(ware, url).into_iter().map(|asked| asked.requirement).collect();
    demand(ware, url, error, &accepts)
}

/// A 402 answer that asks for more than the first one did.
pub(crate) fn dearer_challenge(ware: Ware, url: &str) -> Response<Full<Bytes>> {
    let asked = offer(ware, url, world::merchant(), TWENTY_CENTS);
    demand(ware, url, "that was not enough", &[asked.requirement])
}

fn demand(ware: Ware, url: &str, error: &str, accepts: &[Value]) -> Response<Full<Bytes>> {
    match ware.edition {
        Edition::V1 => {
            let body = json!({"x402Version": 1, "error": error, "accepts": accepts});
            reply(StatusCode::PAYMENT_REQUIRED, &body)
        }
        Edition::V2 => {
            let body = if ware.manner == Manner::HeaderAgainstBody { cheap_body(ware, url) } else { json!({}) };
            let terms = json!({
                "x402Version": 2, "error": error, "accepts": accepts, "extensions": {},
                "resource": {"url": url, "description": "a page from the demo seller", "mimeType": "application/json"},
            });
            let mut response = reply(StatusCode::PAYMENT_REQUIRED, &body);
            attach(&mut response, HeaderName::from_static("payment-required"), &terms);
            response
        }
    }
}

fn cheap_body(ware: Ware, url: &str) -> Value {
    let bait = Ware { edition: Edition::V1, manner: Manner::Honest, ..ware };
    let asked = offer(bait, url, world::merchant(), FIVE_CENTS);
    json!({"x402Version": 1, "error": "X-PAYMENT header is required", "accepts": [asked.requirement]})
}

/// What the seller says about a settlement.
#[derive(Debug)]
pub(crate) struct Settlement<'a> {
    /// Transaction id.
    pub(crate) transaction: &'a str,
    /// Network in the words of the version.
    pub(crate) network: &'a str,
    /// Who paid.
    pub(crate) payer: Address,
}

/// The goods, with the settlement header of the ware's version.
pub(crate) fn goods(ware: Ware, body: &Value, settlement: &Settlement<'_>) -> Response<Full<Bytes>> {
    let mut response = reply(StatusCode::OK, body);
    let name = match ware.edition {
        Edition::V1 => HeaderName::from_static("x-payment-response"),
        Edition::V2 => HeaderName::from_static("payment-response"),
    };
    let claim = json!({
        "success": true, "transaction": settlement.transaction,
        "network": settlement.network, "payer": settlement.payer.to_string(),
    });
    attach(&mut response, name, &claim);
    response
}

/// An answer with a JSON body that no cache may keep.
pub(crate) fn reply(status: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn attach(response: &mut Response<Full<Bytes>>, name: HeaderName, document: &Value) {
    // Base64 is always a legal header value, so nothing is ever left out here.
    if let Ok(value) = HeaderValue::from_str(&STANDARD.encode(document.to_string())) {
        response.headers_mut().insert(name, value);
    }
}
