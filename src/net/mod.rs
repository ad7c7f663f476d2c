//! The pinned fetch: one name resolved once, one judged address dialled, one answer read under hard limits.
//!
//! It must never follow a redirect, use a proxy that the rules do not name, keep a cookie, repeat a request by itself, or dial an address
//! that [`pin()`] did not judge. It knows nothing of payments: a payment header is one more header to it. A secret that
//! went out with a request is taken out of everything that comes back to it, before anybody sees that.
//!
//! Reading order: [`pin()`] turns a vetted site into a [`Pin`]; [`Exchange::open`] takes the pin; each leg of a
//! purchase is one [`Exchange::send`], which gives a [`Reply`] whose [`Body`] is read under a cap.

mod ask;
mod carry;
mod coding;
mod dial;
mod exchange;
mod fault;
mod frames;
mod kept;
mod limits;
mod line;
mod pin;
mod redact;
mod reply;
mod resolve;
mod tls;
mod tunnel;

#[cfg(test)]
mod tests;

pub use ask::{Ask, AskFault};
pub use exchange::Exchange;
pub use fault::{ExchangeFault, FaultCode};
pub use limits::Limits;
pub use pin::{Ground, Pin, PinFault, pin};
pub use reply::{Body, BodyEnd, Reply};
pub use resolve::{LookupFault, Resolver, SystemResolver};
pub use tls::{Tls, TlsFault};
