//! The port on 127.0.0.1: takes connections of our own user's programs, so many at once and so long, and carries requests to the
//! desk. Must never listen on another address.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;

use bursar_vault::guarded::our_uid;
use bursar_vault::profile::Profile;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::bounds::Bounds;
pub use super::code::Code;
use super::desk::Desk;
use super::door::Place;
use crate::browser::neighbour;
use crate::doorway;

/// Random bytes in the console's path.
const PATH_BYTES: usize = 12;

/// A console that listens.
#[derive(Debug)]
pub struct Console {
    listener: TcpListener,
    port: u16,
    desk: Arc<Desk>,
    news: UnboundedReceiver<News>,
}

/// Where codes for logging in come from; for the terminal.
#[derive(Clone, Debug)]
pub struct CodeDesk(Arc<Desk>);

/// What the terminal should hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// Somebody logged in with the code, which is used up.
    LoggedIn,
    /// Somebody logged out.
    LoggedOut,
    /// The code was tried too often and is good for nothing.
    CodeSpent,
}

/// Why there is no console.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleFault {
    /// No port.
    #[error("the console cannot listen on 127.0.0.1: {0}")]
    Listen(#[from] io::Error),
    /// No random bytes.
    #[error("the system gives no random bytes; try again later")]
    Randomness(getrandom::Error),
}

impl Console {
    /// Takes a free port on 127.0.0.1 and draws a path. Nothing is answered yet.
    ///
    /// # Errors
    ///
    /// [`ConsoleFault`].
    pub fn open(profile: &Profile, bounds: Bounds) -> Result<Self, ConsoleFault> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let mut drawn = [0_u8; PATH_BYTES];
        getrandom::fill(&mut drawn).map_err(ConsoleFault::Randomness)?;
        let address = listener.local_addr()?;
        let host = address.to_string();
        let place = Place { origin: format!("http://{host}"), base: format!("/{}/", hex::encode(drawn)), host };
        let (teller, news) = unbounded_channel();
        Ok(Self { listener, port: address.port(), desk: Arc::new(Desk::new(profile, place, bounds, teller)), news })
    }

    /// The address to open. It lets nobody in.
    #[must_use]
    pub fn address(&self) -> String {
        format!("{}{}", self.desk.place.origin, self.desk.place.base)
    }

    /// The port on 127.0.0.1.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The path that everything is below: `/`, 24 hexadecimal digits, `/`.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.desk.place.base
    }

    /// Where codes come from.
    #[must_use]
    pub fn codes(&self) -> CodeDesk {
        CodeDesk(Arc::clone(&self.desk))
    }

    /// Serves until `stop` is over; `told` hears the news.
    ///
    /// # Errors
    ///
    /// Where the port cannot be listened on any more.
    pub async fn serve(mut self, stop: impl Future<Output = ()>, mut told: impl FnMut(News)) -> io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let connections = self.desk.bounds.connections;
        let (porch, room) = (Arc::new(Semaphore::new(connections)), Arc::new(Semaphore::new(connections)));
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                () = stop.as_mut() => return Ok(()),
                Some(news) = self.news.recv() => told(news),
                (place, stream, theirs) = arrival(&listener, &porch) => {
                    let (desk, room) = (Arc::clone(&self.desk), Arc::clone(&room));
                    tokio::spawn(async move {
                        let ours = is_ours(&stream, theirs).await;
                        drop(place);
                        // A seat is for our own user's programs. Without one it is closed at once, before anything is read.
                        if ours && let Ok(_seat) = room.try_acquire_owned() {
                            converse(stream, desk).await;
                        }
                    });
                }
            }
        }
    }
}

impl CodeDesk {
    /// A fresh code, in place of the one before.
    ///
    /// # Errors
    ///
    /// Where the system gives no random bytes.
    pub fn issue(&self) -> Result<Code, ConsoleFault> {
        self.0.issue().map_err(ConsoleFault::Randomness)
    }
}

/// The next connection, once there is room to look at whose it is.
async fn arrival(
    listener: &tokio::net::TcpListener,
    porch: &Arc<Semaphore>,
) -> (Option<OwnedSemaphorePermit>, TcpStream, SocketAddr) {
    // It is never closed, so there is a place sooner or later.
    let place = Arc::clone(porch).acquire_owned().await.ok();
    let (stream, theirs) = doorway::next(listener).await;
    (place, stream, theirs)
}

/// Whether the program at the other end is our own user's, as the kernel tells. Elsewhere than on Linux it does not tell.
async fn is_ours(stream: &TcpStream, theirs: SocketAddr) -> bool {
    if !cfg!(target_os = "linux") {
        return true;
    }
    let Ok(ours) = stream.local_addr() else { return false };
    let found = tokio::task::spawn_blocking(move || neighbour::uid_behind(theirs, ours)).await;
    let uid = found.unwrap_or_default();
    if uid.is_some_and(|uid| uid != our_uid()) {
        tracing::warn!("a program of another user found the console's port, and was sent away");
    }
    uid == Some(our_uid())
}

/// One connection, request after request, until its time is over.
async fn converse(stream: TcpStream, desk: Arc<Desk>) {
    let bounds = desk.bounds;
    let service = service_fn(move |request| {
        let desk = Arc::clone(&desk);
        async move { Ok::<_, Infallible>(desk.answer(request).await) }
    });
    let mut carrying = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(bounds.head)
            .max_headers(bounds.head_fields)
            .max_buf_size(bounds.head_bytes)
            .serve_connection(TokioIo::new(stream), service)
    );
    let ended = tokio::select! {
        ended = carrying.as_mut() => Some(ended),
        () = sleep(bounds.connection) => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            // What is being answered is answered first, if the other end takes it.
            carrying.as_mut().graceful_shutdown();
            timeout(bounds.connection, carrying).await.unwrap_or(Ok(()))
        }
    };
    if let Err(fault) = ended {
        tracing::debug!(%fault, "a connection to the console ended early");
    }
}
