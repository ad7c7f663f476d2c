//! Processes that die: at every step of a purchase, and from outside at any moment. Money never leaves uncounted, and
//! one purchase is signed once, whatever is killed and however often the same call is made again.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on says so and stops"
)]

#[path = "crash/aside.rs"]
mod aside;
#[path = "crash/books.rs"]
mod books;
#[path = "crash/browser.rs"]
mod browser;
#[path = "crash/client.rs"]
mod client;
#[path = "postgres/cluster.rs"]
mod cluster;
#[path = "crash/crowd.rs"]
mod crowd;
#[path = "crash/endings.rs"]
mod endings;
#[path = "crash/farewell.rs"]
mod farewell;
#[path = "crash/keys.rs"]
mod keys;
#[path = "crash/outside.rs"]
mod outside;
#[path = "crash/seller.rs"]
mod seller;
#[path = "crash/server.rs"]
mod server;
#[path = "crash/shared.rs"]
mod shared;
#[path = "crash/stand.rs"]
mod stand;
#[path = "crash/starved.rs"]
mod starved;
#[path = "stories/tls.rs"]
mod tls;
#[path = "crash/walk.rs"]
mod walk;
