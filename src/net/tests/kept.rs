//! When the second leg goes over the connection of the first, and everything that a seller can do to it meanwhile.

use std::sync::{Arc, Mutex};

use bursar_policy::{BodyType, Method};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::seller::read_request;
use super::{QUICK, plain};
use crate::net::{Ask, BodyEnd, Exchange, FaultCode};

pub(super) const KEEPS: &str = "HTTP/1.1 402 Pay\r\nKeep-Alive: timeout=5\r\nContent-Length: 4\r\n\r\nterm";

/// One thing that a seller does on a connection.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// Reads a request and notes on which connection it came.
    Read,
    /// Writes these bytes.
    Say(&'static str),
    /// Says that it writes no more, and reads on.
    HalfClose,
    /// Hangs up.
    Close,
}
use Step::{Close, HalfClose, Read, Say};

/// A seller that plays a script of its own on each connection, the last one for ever, and then waits for the buyer to
/// hang up.
pub(super) struct Keeper {
    pub(super) port: u16,
    requests: Arc<Mutex<Vec<(usize, String)>>>,
    played: watch::Receiver<usize>,
}

impl Keeper {
    pub(super) async fn start(scripts: &'static [&'static [Step]]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (count, played) = watch::channel(0);
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, count) = (Arc::clone(&requests), Arc::new(count));
        tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                let script = scripts.get(connection).or(scripts.last()).unwrap();
                tokio::spawn(play(stream, connection, script, Arc::clone(&seen), Arc::clone(&count)));
            }
        });
        Self { port, requests, played }
    }

    /// Which connection each request came over, and whether it carried a payment.
    pub(super) fn heard(&self) -> Vec<(usize, bool)> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|(connection, request)| (*connection, request.contains("\r\nx-payment: "))).collect()
    }

    /// Returns when so many steps were taken, on all connections together; a script that has ended is one more.
    pub(super) async fn has_played(&self, steps: usize) {
        self.played.clone().wait_for(|played| steps <= *played).await.unwrap();
    }
}

/// Errors mean that the buyer hung up.
pub(super) async fn play<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    connection: usize,
    script: &'static [Step],
    seen: Arc<Mutex<Vec<(usize, String)>>>,
    count: Arc<watch::Sender<usize>>,
) {
    for step in script {
        match step {
            Read => match read_request(&mut stream).await {
                Some(request) => seen.lock().unwrap().push((connection, request)),
                None => break,
            },
            Say(text) => {
                stream.write_all(text.as_bytes()).await.unwrap_or_default();
                stream.flush().await.unwrap_or_default();
            }
            HalfClose => stream.shutdown().await.unwrap_or_default(),
            Close => {
                drop(stream);
                count.send_modify(|count| *count = count.saturating_add(1));
                return;
            }
        }
        count.send_modify(|count| *count = count.saturating_add(1));
    }
    // Nothing is read here that was not in the script.
    if let Some(request) = read_request(&mut stream).await {
        seen.lock().unwrap().push((connection, request));
    }
    count.send_modify(|count| *count = count.saturating_add(1));
}

pub(super) fn bare() -> Ask {
    Ask::new(Method::Get)
}

pub(super) fn paid() -> Ask {
    bare().with_header("X-PAYMENT", "c2ln").unwrap()
}

/// Sends `ask` and reads its answer whole.
pub(super) async fn leg(exchange: &Exchange, ask: &Ask) -> Result<u16, FaultCode> {
    let reply = exchange.send(ask, &QUICK).await.map_err(|fault| {
        assert!(fault.may_have_been_sent(), "{fault}");
        fault.code()
    })?;
    let status = reply.status();
    assert_eq!(reply.into_body().collect(100).await.1, BodyEnd::Complete);
    Ok(status)
}

#[tokio::test]
async fn the_paid_leg_goes_over_the_connection_of_the_first_and_a_third_request_never_does() {
    let seller = Keeper::start(&[&[Read, Say(KEEPS), Read, Say(KEEPS)]]).await;
    let exchange = plain(seller.port).await;
    for ask in [bare(), paid(), paid(), paid()] {
        assert_eq!(leg(&exchange, &ask).await, Ok(402));
    }
    assert_eq!(seller.heard(), [(0, false), (0, true), (1, true), (2, true)], "no later leg leaves its connection");
}

#[tokio::test]
async fn a_chunked_answer_and_one_to_a_head_have_an_end_too() {
    let chunked = "HTTP/1.1 402 Pay\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nterm\r\n0\r\n\r\n";
    let seller = Keeper::start(Box::leak(Box::new([&*vec![Read, Say(chunked), Read, Say(KEEPS)].leak()]))).await;
    let exchange = plain(seller.port).await;
    assert_eq!((leg(&exchange, &bare()).await, leg(&exchange, &paid()).await), (Ok(402), Ok(402)));
    assert_eq!(seller.heard(), [(0, false), (0, true)]);

    let head = "HTTP/1.1 402 Pay\r\nContent-Length: 4\r\n\r\n";
    let seller = Keeper::start(Box::leak(Box::new([&*vec![Read, Say(head), Read, Say(head)].leak()]))).await;
    let exchange = plain(seller.port).await;
    let ask = Ask::new(Method::Head);
    assert_eq!(leg(&exchange, &ask).await, Ok(402));
    assert_eq!(leg(&exchange, &ask.with_header("X-PAYMENT", "c2ln").unwrap()).await, Ok(402));
    assert_eq!(seller.heard(), [(0, false), (0, true)]);
}

#[tokio::test]
async fn a_connection_that_is_not_surely_alive_is_left_and_nothing_is_sent_over_it() {
    const KEPT: &[Step] = &[Read, Say(KEEPS)];
    const ANSWERS: &[Step] = &[Read, Say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")];
    const SURPLUS: &str = "HTTP/1.1 402 Pay\r\nContent-Length: 4\r\n\r\nterm\
                           HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    const CLOSES: &str = "HTTP/1.1 402 Pay\r\nConnection: x, Close\r\nContent-Length: 4\r\n\r\nterm";
    const HURRIES: &str = "HTTP/1.1 402 Pay\r\nKeep-Alive: max=9, timeout=1\r\nContent-Length: 4\r\n\r\nterm";
    const OLD: &str = "HTTP/1.0 402 Pay\r\nConnection: keep-alive\r\nContent-Length: 4\r\n\r\nterm";
    const ENDLESS: &str = "HTTP/1.1 402 Pay\r\n\r\nterm";
    let scripts: [(&str, &'static [&'static [Step]]); 9] = [
        ("hangs up", &[&[Read, Say(KEEPS), Close], ANSWERS]),
        ("says that it writes no more", &[&[Read, Say(KEEPS), HalfClose], ANSWERS]),
        ("says that it will hang up", &[&[Read, Say(CLOSES)], ANSWERS]),
        ("says that it will soon", &[&[Read, Say(HURRIES)], ANSWERS]),
        ("speaks HTTP/1.0", &[&[Read, Say(OLD)], ANSWERS]),
        ("ends its answer by hanging up", &[&[Read, Say(ENDLESS), Close], ANSWERS]),
        ("answers what nobody asked yet", &[&[Read, Say(SURPLUS)], ANSWERS]),
        ("answers that later", &[&[Read, Say(KEEPS), Say("HTTP/1.1 200 OK\r\n\r\n")], ANSWERS]),
        ("adds a line", &[&[Read, Say(KEEPS), Say("\r\n")], ANSWERS]),
    ];
    for (seller_does, script) in scripts {
        let seller = Keeper::start(script).await;
        let exchange = plain(seller.port).await;
        assert_eq!(leg(&exchange, &bare()).await, Ok(402), "{seller_does}");
        seller.has_played(script[0].len()).await;
        assert_eq!(leg(&exchange, &paid()).await, Ok(200), "{seller_does}");
        assert_eq!(seller.heard(), [(0, false), (1, true)], "{seller_does}");
    }

    let seller = Keeper::start(&[KEPT, ANSWERS]).await;
    let exchange = plain(seller.port).await;
    let reply = exchange.send(&bare(), &QUICK).await.unwrap();
    assert_eq!(reply.into_body().collect(3).await.1, BodyEnd::OverCap);
    assert_eq!(leg(&exchange, &paid()).await, Ok(200));
    assert_eq!(seller.heard(), [(0, false), (1, true)], "the answer was not read to its end");
}

/// The one moment that nobody can see: the request is under way, and the seller hangs up.
#[tokio::test]
async fn a_seller_that_hangs_up_as_the_payment_comes_is_silent_and_hears_it_again_on_a_new_connection() {
    let seller = Keeper::start(&[&[Read, Say(KEEPS), Read, Close], &[Read, Say(KEEPS)]]).await;
    let exchange = plain(seller.port).await;
    assert_eq!(leg(&exchange, &bare()).await, Ok(402));
    assert_eq!(leg(&exchange, &paid()).await, Err(FaultCode::ClosedEarly), "it may have been sent");
    assert_eq!(seller.heard(), [(0, false), (0, true)], "nothing was sent a second time by itself");
    assert_eq!(leg(&exchange, &paid()).await, Ok(402));
    assert_eq!(seller.heard(), [(0, false), (0, true), (1, true)]);
}

/// A POST is not offered again, so it takes no chance with a connection that may be closing.
#[tokio::test]
async fn a_post_takes_a_new_connection_for_each_leg_however_alive_the_first_is() {
    let seller = Keeper::start(&[&[Read, Say(KEEPS)]]).await;
    let exchange = plain(seller.port).await;
    let post = Ask::new(Method::Post).with_body(BodyType::Json, b"{}".to_vec()).unwrap();
    assert_eq!(leg(&exchange, &post).await, Ok(402));
    assert_eq!(leg(&exchange, &post.with_header("X-PAYMENT", "c2ln").unwrap()).await, Ok(402));
    assert_eq!(seller.heard(), [(0, false), (1, true)]);

    let mixed = plain(seller.port).await;
    assert_eq!((leg(&mixed, &bare()).await, leg(&mixed, &Ask::new(Method::Post)).await), (Ok(402), Ok(402)));
    assert_eq!(seller.heard()[2..], [(2, false), (3, false)], "nor does it take what a GET left");
}

#[tokio::test]
async fn another_purchase_never_gets_the_connection_and_it_ends_with_its_own() {
    let seller = Keeper::start(&[&[Read, Say(KEEPS)]]).await;
    let one = plain(seller.port).await;
    assert_eq!(leg(&one, &bare()).await, Ok(402));
    let other = plain(seller.port).await;
    assert_eq!(leg(&other, &bare()).await, Ok(402));
    assert_eq!(seller.heard(), [(0, false), (1, false)]);
    seller.has_played(4).await;
    drop(one);
    seller.has_played(5).await;
    assert_eq!(leg(&other, &paid()).await, Err(FaultCode::ClosedEarly), "the seller's script is over");
    assert_eq!(seller.heard()[2..], [(1, true)]);
}
