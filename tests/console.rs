//! The doors of `bursar console`: a real server on a real port, raw bytes of whoever finds it, and a real vault behind it. What a
//! browser does with the page is in `tests/browser`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on says so and stops"
)]

#[path = "console/codes.rs"]
mod codes;
#[path = "console/foreign.rs"]
mod foreign;
#[path = "console/house.rs"]
mod house;
#[path = "console/logins.rs"]
mod logins;
#[path = "console/mute.rs"]
mod mute;
#[path = "console/past.rs"]
mod past;
#[path = "console/raw.rs"]
mod raw;
#[path = "console/room.rs"]
mod room;
