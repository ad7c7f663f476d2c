//! One shop: the goods as axum serves them, each behind the library under test.

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Json};
use axum::routing::{MethodRouter, get, post};
use serde_json::json;
use x402_axum::X402Middleware;
use x402_chain_eip155::{V1Eip155Exact, V2Eip155Exact};

use crate::Fault;
use crate::offers::{Generation, Method, Offers};

/// The shop of these offers that trusts this facilitator.
pub fn open(offers: &Offers, facilitator: &str) -> Result<Router, Fault> {
    let x402 = X402Middleware::try_new(facilitator).map_err(|fault| fault.to_string())?;
    let mut app = Router::new().route("/free", sells(&offers.seller, "/free"));
    for good in &offers.goods {
        let handler = match good.method {
            Method::Get => sells(&offers.seller, &good.path),
            Method::Post => post(echo),
        };
        let (payee, amount) = (offers.payee_of(good), offers.token_of(good).parse(good.price.as_str())?);
        let described = format!("goods at {}", good.path);
        app = app.route(
            &good.path,
            match offers.version {
                Generation::V1 => handler
                    .layer(x402.with_price_tag(V1Eip155Exact::price_tag(payee, amount)).with_description(described)),
                Generation::V2 => handler
                    .layer(x402.with_price_tag(V2Eip155Exact::price_tag(payee, amount)).with_description(described)),
            },
        );
    }
    Ok(app)
}

/// Sells the word that tests look for.
fn sells(seller: &str, path: &str) -> MethodRouter {
    let goods = json!({ "seller": seller, "path": path, "goods": format!("goods-{seller}-{}", &path[1..]) });
    get(move || async { Json(goods) })
}

/// Sells back what was sent.
async fn echo(headers: HeaderMap, body: Bytes) -> impl IntoResponse {
    let kind = headers.get(CONTENT_TYPE).cloned();
    let kind = kind.unwrap_or_else(|| HeaderValue::from_static("application/octet-stream"));
    ([(CONTENT_TYPE, kind)], body)
}
