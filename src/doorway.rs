//! Takes in connections one after another. Must never spin where the system has no more descriptors: each fault is followed by
//! a pause, as at the vault's doors.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use crate::platform::{self, SocketDoor, Stream};

/// How long nothing is taken in after a fault.
const PAUSE: Duration = Duration::from_millis(100);

/// Something that connections come in by.
pub(crate) trait Doorway {
    /// One connection.
    type Guest;

    /// Waits for the next one.
    async fn accept(&self) -> io::Result<Self::Guest>;
}

impl Doorway for TcpListener {
    type Guest = (TcpStream, SocketAddr);

    async fn accept(&self) -> io::Result<Self::Guest> {
        Self::accept(self).await
    }
}

impl Doorway for SocketDoor {
    type Guest = Stream;

    async fn accept(&self) -> io::Result<Self::Guest> {
        platform::enter(self).await
    }
}

/// The next connection. A fault is told in the log and waited out.
pub(crate) async fn next<D: Doorway>(door: &D) -> D::Guest {
    pausing(door, || sleep(PAUSE)).await
}

async fn pausing<D: Doorway>(door: &D, pause: impl AsyncFn()) -> D::Guest {
    loop {
        match door.accept().await {
            Ok(guest) => return guest,
            Err(fault) => {
                tracing::warn!(%fault, "a connection was not taken in");
                // Out of descriptors, most likely: wait until somebody leaves, or a moment.
                pause().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Has no descriptors a few times.
    struct Full(AtomicU32);

    impl Doorway for Full {
        type Guest = u32;

        async fn accept(&self) -> io::Result<u32> {
            match self.0.fetch_add(1, Ordering::SeqCst) {
                0..3 => Err(io::Error::from_raw_os_error(24)),
                tries => Ok(tries),
            }
        }
    }

    #[tokio::test]
    async fn each_fault_is_followed_by_a_pause_and_the_next_connection_is_taken_in() {
        let pauses = AtomicU32::new(0);
        let pause = async || {
            pauses.fetch_add(1, Ordering::SeqCst);
        };
        assert_eq!(pausing(&Full(AtomicU32::new(0)), pause).await, 3);
        assert_eq!(pauses.load(Ordering::SeqCst), 3);
    }
}
