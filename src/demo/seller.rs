//! The demo's seller: real TLS on loopback, real x402 of both versions, real signature checks, play money.
//!
//! It must never listen anywhere but on 127.0.0.1, and never vouch for money that did not move in its own ledger.

mod books;
mod clock;
mod counter;
mod presented;
mod shelf;
mod terms;
mod tls;
mod token;
pub(crate) mod world;

#[cfg(test)]
mod tests;

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use bursar_policy::chain::Address;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use self::books::Books;
pub(crate) use self::books::Tally;
use self::counter::Counter;
pub(crate) use self::shelf::FIVE_CENTS;
use self::tls::{Papers, PapersFault};

/// Papers and a port, before anybody may buy: the buyer's address is not known yet.
pub(crate) struct Stall {
    papers: Papers,
    listener: TcpListener,
    port: u16,
}

/// A seller that is open. Dropping it closes the shop.
#[derive(Debug)]
pub(crate) struct Seller {
    counter: Arc<Counter>,
    port: u16,
    accepting: JoinHandle<()>,
}

/// Why the seller could not open.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SellerFault {
    /// No certificate.
    #[error(transparent)]
    Papers(#[from] PapersFault),
    /// No port.
    #[error("the demo seller could not listen on 127.0.0.1: {0}; a shop takes another port with `--port`")]
    Listen(#[from] io::Error),
}

impl Stall {
    /// Makes a certificate and takes `port` on 127.0.0.1, a free one for 0.
    pub(crate) async fn set_up(port: u16) -> Result<Self, SellerFault> {
        let papers = Papers::issue()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { papers, listener, port })
    }

    /// The certificate a buyer has to trust, PEM.
    pub(crate) fn ca_pem(&self) -> &str {
        &self.papers.ca_pem
    }

    /// The port every host name answers on.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Opens, with `buyer` owning `units` of either token.
    pub(crate) fn open(self, buyer: Address, units: u128) -> Seller {
        let counter = Arc::new(Counter::new(Books::opened(buyer, units), self.port));
        let acceptor = TlsAcceptor::from(self.papers.config);
        let accepting = tokio::spawn(accept(self.listener, acceptor, Arc::clone(&counter)));
        Seller { counter, port: self.port, accepting }
    }
}

impl Seller {
    /// The address of `path` on `host`.
    pub(crate) fn url(&self, host: &str, path: &str) -> String {
        format!("https://{host}:{}{path}", self.port)
    }

    /// What was counted for `path` (no query) on `host`.
    pub(crate) fn tally(&self, host: &str, path: &str) -> Tally {
        self.counter.books().tally(&format!("{host}{path}"))
    }

    /// Different signatures seen anywhere.
    pub(crate) fn signatures(&self) -> usize {
        self.counter.books().signatures()
    }

    /// What `holder` owns on the test network and on the other one, in atomic units.
    pub(crate) fn balances(&self, holder: Address) -> (u128, u128) {
        let books = self.counter.books();
        (books.test_balance(holder), books.main_balance(holder))
    }

    /// Waits until a payment has arrived whose answer is held back.
    pub(crate) async fn payment_held(&self) {
        self.counter.arrived.notified().await;
    }

    /// Lets the answer that is held back go.
    pub(crate) fn release(&self) {
        self.counter.release.notify_one();
    }
}

impl Drop for Seller {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, counter: Arc<Counter>) {
    // A listener that fails for good ends the shop; the steps that follow then say so.
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(converse(stream, acceptor.clone(), Arc::clone(&counter)));
    }
}

/// One connection, request after request. What goes wrong on it concerns nobody else.
async fn converse(stream: TcpStream, acceptor: TlsAcceptor, counter: Arc<Counter>) {
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let service = service_fn(move |request| Arc::clone(&counter).serve(request));
    if let Err(fault) = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%fault, "a connection to the demo seller ended early");
    }
}
