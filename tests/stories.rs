//! The stories of `fixtures/`, each played from end to end: a vault process, a seller on loopback, an MCP client.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    reason = "a test that cannot go on says so and stops; its summary goes to the terminal"
)]

#[path = "stories/cases.rs"]
mod cases;
#[path = "stories/check.rs"]
mod check;
#[path = "stories/client.rs"]
mod client;
#[path = "stories/folders.rs"]
mod folders;
#[path = "stories/glue.rs"]
mod glue;
#[path = "stories/payments.rs"]
mod payments;
#[path = "stories/play.rs"]
mod play;
#[path = "stories/resolver.rs"]
mod resolver;
#[path = "stories/rpc.rs"]
mod rpc;
#[path = "stories/run.rs"]
mod run;
#[path = "stories/sandbox.rs"]
mod sandbox;
#[path = "stories/seller.rs"]
mod seller;
#[path = "stories/story.rs"]
mod story;
#[path = "stories/tls.rs"]
mod tls;
