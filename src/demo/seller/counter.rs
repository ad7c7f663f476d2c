//! The demo seller's counter: answers one request, honestly or not, as the ware's row says.
//!
//! It must never answer about a path that is not on the shelf.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderMap, HeaderValue, LOCATION};
use hyper::{Request, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::books::{Books, Sale};
use super::presented::{Declined, Presented};
use super::shelf::{self, Edition, Manner, Ware};
use super::terms::{self, Asked, Settlement};
use super::{clock, world};

type Answer = Response<Full<Bytes>>;

/// Sixty-four KiB: as much as a buyer may post.
const ORDER_BYTES_MAX: usize = 65_536;

/// The seller closes the connection instead of answering.
#[derive(Debug, thiserror::Error)]
#[error("the demo seller hangs up")]
pub(crate) struct HangUp;

/// What every connection shares.
#[derive(Debug)]
pub(crate) struct Counter {
    books: Mutex<Books>,
    port: u16,
    /// A payment has arrived at a path that holds its answer back.
    pub(crate) arrived: Notify,
    /// The answer held back may go.
    pub(crate) release: Notify,
}

/// One request, taken apart.
struct Order {
    ware: Ware,
    place: String,
    url: String,
    payment: Option<String>,
    body: String,
}

impl Counter {
    /// A counter over `books`, reachable on `port`.
    pub(crate) fn new(books: Books, port: u16) -> Self {
        Self { books: Mutex::new(books), port, arrived: Notify::new(), release: Notify::new() }
    }

    /// The books, one reader or writer at a time.
    pub(crate) fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers one request.
    pub(crate) async fn serve(self: Arc<Self>, request: Request<Incoming>) -> Result<Answer, HangUp> {
        let Some(order) = self.order(request).await? else {
            return Ok(terms::reply(StatusCode::NOT_FOUND, &json!({"error": "not on the shelf"})));
        };
        self.books().count(&order.place, order.payment.as_deref());
        if order.ware.manner == Manner::Redirect {
            return Ok(lure());
        }
        let Some(header) = &order.payment else {
            return Ok(terms::challenge(order.ware, &order.url, "Payment required"));
        };
        match Presented::read(order.ware.edition, header) {
            Ok(payment) => {
                self.books().count_signature(&order.place, &payment.signature);
                self.take(&order, &payment).await
            }
            Err(declined) => {
                self.books().count_signature(&order.place, header);
                Ok(decline(&order, declined))
            }
        }
    }

    async fn order(&self, request: Request<Incoming>) -> Result<Option<Order>, HangUp> {
        let Some(ware) = shelf::find(request.uri().path()) else { return Ok(None) };
        let host = named_host(request.headers());
        let place = format!("{host}{}", ware.path);
        let rest = request.uri().path_and_query().map_or(ware.path, |both| both.as_str());
        let url = format!("https://{host}:{}{rest}", self.port);
        let payment = payment_header(ware.edition, request.headers());
        let body = Limited::new(request.into_body(), ORDER_BYTES_MAX).collect().await.map_err(|_| HangUp)?;
        let body = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        Ok(Some(Order { ware, place, url, payment, body }))
    }

    async fn take(&self, order: &Order, payment: &Presented) -> Result<Answer, HangUp> {
        match order.ware.manner {
            Manner::Honest | Manner::DearFirst | Manner::HeaderAgainstBody => Ok(self.sell(order, payment)),
            Manner::SwappedPayee | Manner::OtherNetwork | Manner::DecimalAmount | Manner::Redirect => {
                Ok(self.steal(order, payment))
            }
            Manner::FalseReceipt => Ok(false_receipt(order)),
            Manner::AskAgain => Ok(terms::dearer_challenge(order.ware, &order.url)),
            Manner::HangUp => self.sell_then_hang_up(order, payment),
            Manner::HoldBack => Ok(self.sell_then_hold_back(order, payment).await),
        }
    }

    fn sell(&self, order: &Order, payment: &Presented) -> Answer {
        match self.books().settle(&order.place, payment, &payable(order), clock::now_s()) {
            Ok(sale) => deliver(order, &sale),
            Err(declined) => decline(order, declined),
        }
    }

    /// The first showing is settled in silence; the same payment shown again gets its goods.
    fn sell_then_hang_up(&self, order: &Order, payment: &Presented) -> Result<Answer, HangUp> {
        if let Some(sale) = self.books().sale(&order.place, payment) {
            return Ok(deliver(order, &sale));
        }
        match self.books().settle(&order.place, payment, &payable(order), clock::now_s()) {
            Ok(_) => Err(HangUp),
            Err(declined) => Ok(decline(order, declined)),
        }
    }

    /// The first showing is settled and answered late; the same payment shown again is answered at once.
    async fn sell_then_hold_back(&self, order: &Order, payment: &Presented) -> Answer {
        let earlier = self.books().sale(&order.place, payment);
        if let Some(sale) = earlier {
            return deliver(order, &sale);
        }
        let answer = self.sell(order, payment);
        self.arrived.notify_one();
        self.release.notified().await;
        answer
    }

    fn steal(&self, order: &Order, payment: &Presented) -> Answer {
        match self.books().cash(payment, clock::now_s()) {
            Ok(transaction) => deliver(order, &Sale { transaction, payer: payment.authorization.from }),
            Err(reverted) => decline(order, Declined(reverted.code())),
        }
    }
}

fn named_host(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    host.split(':').next().unwrap_or_default().to_owned()
}

fn payment_header(edition: Edition, headers: &HeaderMap) -> Option<String> {
    let name = match edition {
        Edition::V1 => "x-payment",
        Edition::V2 => "payment-signature",
    };
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn deliver(order: &Order, sale: &Sale) -> Answer {
    let network = match order.ware.edition {
        Edition::V1 => "base-sepolia",
        Edition::V2 => "eip155:84532",
    };
    let settlement = Settlement { transaction: &sale.transaction, network, payer: sale.payer };
    terms::goods(order.ware, &page(order), &settlement)
}

/// The offers a payment may answer. A version 1 payment cannot say which one it means, so sellers take the first.
fn payable(order: &Order) -> Vec<Asked> {
    let mut offers = terms::offers(order.ware, &order.url);
    if order.ware.edition == Edition::V1 {
        offers.truncate(1);
    }
    offers
}

fn page(order: &Order) -> Value {
    json!({"page": order.ware.path, "text": "the goods that were paid for", "you_sent": order.body})
}

fn decline(order: &Order, declined: Declined) -> Answer {
    terms::challenge(order.ware, &order.url, declined.0)
}

/// Nothing moved, yet the header names a settlement: on another chain, by another payer.
fn false_receipt(order: &Order) -> Answer {
    let transaction = format!("0x{}", "ab".repeat(32));
    let settlement = Settlement { transaction: &transaction, network: "eip155:8453", payer: world::stranger() };
    terms::goods(order.ware, &page(order), &settlement)
}

fn lure() -> Answer {
    let mut answer = terms::reply(StatusCode::FOUND, &json!({}));
    let place = HeaderValue::from_static("http://169.254.169.254/latest/meta-data/iam/security-credentials/");
    answer.headers_mut().insert(LOCATION, place);
    answer
}
