//! One vault for the machine, as root sets it up: processes of four real users, none of whom may do more than is listed.
//! Needs root, because only root can start processes of other users; where it is not root, every test here fails and says so.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on says so and stops"
)]

#[path = "crash/client.rs"]
#[expect(dead_code, reason = "the tests of processes that die use more of it")]
mod client;
#[path = "machine/confined.rs"]
mod confined;
#[path = "machine/file.rs"]
mod file;
#[path = "machine/hostile.rs"]
mod hostile;
#[path = "machine/plant.rs"]
mod plant;
#[path = "machine/reach.rs"]
mod reach;
#[path = "crash/seller.rs"]
#[expect(dead_code, reason = "the tests of processes that die use more of it")]
mod seller;
#[path = "stories/tls.rs"]
mod tls;
#[path = "machine/whole.rs"]
mod whole;
