//! The one connection that the first leg of a purchase may leave to the second. Must never give one to a third request,
//! to another purchase, or to a request that may not be offered again.
//!
//! A payment on a connection that the seller is just closing is lost with it: nobody knows whether the seller has it, and
//! it counts as spent. So the second leg rides on the first one's connection only where all of this holds, and dials
//! anew otherwise:
//!
//! - the answer was read to the end that the seller declared, over HTTP/1.1 without `Connection: close`, or over HTTP/2,
//!   and a `Keep-Alive` that it names leaves twice the time that is taken here;
//! - it ended less than [`KEPT_FOR`] ago;
//! - the seller has neither hung up nor said GOAWAY, and nothing has come that nobody asked for. That is looked at again
//!   right before the request goes out, also in what the system has received and nobody has read yet;
//! - the request is a GET or HEAD. Should the seller hang up at that very moment all the same, the flow offers the same
//!   payment again, over a new connection. A POST is never offered again, so it takes no such chance.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bursar_policy::Method;
use hyper::header::{CONNECTION, HeaderName};
use hyper::{Response, Version};
use tokio::time::Instant;

use super::carry::Carriage;

/// How long a connection may rest between the legs. Servers close one that rests for 2 seconds at the earliest by default
/// (gunicorn; most wait 5 and more), and theirs run from a moment that is up to one way of the network before ours.
const KEPT_FOR: Duration = Duration::from_secs(1);

/// The place between the legs. It is used once.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Place>);

#[derive(Debug, Default)]
enum Place {
    /// No leg has begun.
    #[default]
    Unused,
    /// The first leg is under way.
    Waiting,
    /// It has left its connection here.
    Taken { carriage: Carriage, since: Instant },
    /// The second leg has begun, or this is a purchase whose legs each have their own.
    Closed,
}

impl Kept {
    /// Begins a leg by `method`: gives what the first one left, to the second and where it is good for it.
    pub(super) fn take(&self, method: Method) -> Option<Carriage> {
        let mut place = self.place();
        let next = match (&*place, method) {
            (Place::Unused, Method::Get | Method::Head) => Place::Waiting,
            _ => Place::Closed,
        };
        match std::mem::replace(&mut *place, next) {
            Place::Taken { carriage, since } => {
                let fits = matches!(method, Method::Get | Method::Head);
                (fits && since.elapsed() < KEPT_FOR && carriage.is_quiet()).then_some(carriage)
            }
            Place::Unused | Place::Waiting | Place::Closed => None,
        }
    }

    /// Leaves the connection of a leg whose answer was read to its end. One that is not the first leg's is hung up.
    pub(super) fn leave(&self, carriage: Carriage) {
        let mut place = self.place();
        if matches!(*place, Place::Waiting) {
            *place = Place::Taken { carriage, since: Instant::now() };
        }
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the seller means to keep the connection after this answer, and long enough (RFC 9112 section 9.3 and appendix
/// C.2.2, RFC 9113 section 9.1).
pub(super) fn may_stay<B>(response: &Response<B>) -> bool {
    let closes = words(response, CONNECTION).any(|word| word.eq_ignore_ascii_case(b"close"));
    let hurries = words(response, HeaderName::from_static("keep-alive")).any(|word| {
        let named = str::from_utf8(word).ok().and_then(|word| word.split_once('='));
        named.is_some_and(|(name, value)| {
            let seconds = value.trim().parse().map_or(Duration::ZERO, Duration::from_secs);
            name.trim().eq_ignore_ascii_case("timeout") && seconds < KEPT_FOR.saturating_mul(2)
        })
    });
    matches!(response.version(), Version::HTTP_11 | Version::HTTP_2) && !closes && !hurries
}

/// What stands between the commas of a header.
fn words<B>(response: &Response<B>, name: HeaderName) -> impl Iterator<Item = &[u8]> {
    let values = response.headers().get_all(name).iter();
    values.flat_map(|value| value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::limits::Limits;
    use crate::net::line::Line;
    use tokio::net::{TcpListener, TcpStream};

    async fn carriage(listener: &TcpListener) -> (Carriage, TcpStream) {
        let address = listener.local_addr().unwrap();
        let line = Line::plain(TcpStream::connect(address).await.unwrap());
        let carriage = Carriage::over(line, address, &Limits::bare()).await.unwrap();
        // It waits for a request as soon as it has run once.
        tokio::task::yield_now().await;
        (carriage, listener.accept().await.unwrap().0)
    }

    #[tokio::test]
    async fn what_rests_for_a_second_is_no_longer_used() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        for (rested, used) in [(Duration::ZERO, true), (KEPT_FOR, false)] {
            let (carriage, _seller) = carriage(&listener).await;
            let since = Instant::now().checked_sub(rested).unwrap();
            let kept = Kept(Mutex::new(Place::Taken { carriage, since }));
            assert_eq!(kept.take(Method::Get).is_some(), used, "{rested:?}");
            assert!(kept.take(Method::Get).is_none(), "once");
        }
    }

    #[tokio::test]
    async fn what_the_seller_took_leave_of_is_not_used() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (carriage, _seller) = carriage(&listener).await;
        carriage.heard().note_end();
        let kept = Kept(Mutex::new(Place::Taken { carriage, since: Instant::now() }));
        assert!(kept.take(Method::Get).is_none());
    }

    /// The runtime does not run between the seller's last act and the next leg, so only the system knows of it.
    #[tokio::test]
    async fn what_has_come_and_nobody_has_read_yet_is_seen() {
        use std::io::Write as _;

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        type Act = fn(std::net::TcpStream);
        let hangs_up: Act = drop;
        let speaks: Act = |mut seller| {
            seller.write_all(b"x").unwrap();
            std::mem::forget(seller);
        };
        for act in [hangs_up, speaks] {
            let (carriage, seller) = carriage(&listener).await;
            let seller = seller.into_std().unwrap();
            assert!(carriage.is_quiet());
            act(seller);
            let kept = Kept(Mutex::new(Place::Taken { carriage, since: Instant::now() }));
            assert!(kept.take(Method::Get).is_none());
        }
    }

    #[tokio::test]
    async fn only_the_first_leg_leaves_anything() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let kept = Kept::default();
        let (unasked, _seller) = carriage(&listener).await;
        kept.leave(unasked);
        assert!(matches!(*kept.place(), Place::Unused), "no leg has begun");
        for _later in 0..2 {
            assert!(kept.take(Method::Get).is_none());
        }
        let (late, _seller) = carriage(&listener).await;
        kept.leave(late);
        assert!(kept.take(Method::Get).is_none(), "that was the second leg's");
    }
}
