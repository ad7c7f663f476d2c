//! A real Chromium, with `bursar browser` at its side: the header goes onto the one request that was paid for, whatever
//! pages and sellers do. Where no Chromium is installed these tests fail and say so.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on says so and stops"
)]

#[path = "browser/agent.rs"]
mod agent;
#[path = "browser/chromium.rs"]
mod chromium;
#[path = "browser/console.rs"]
mod console;
#[path = "browser/endings.rs"]
mod endings;
#[path = "crash/farewell.rs"]
mod farewell;
#[path = "browser/glue.rs"]
mod glue;
#[path = "browser/hostile.rs"]
mod hostile;
#[path = "browser/household.rs"]
mod household;
#[path = "browser/one_request.rs"]
mod one_request;
#[path = "browser/operator.rs"]
mod operator;
#[path = "browser/panes.rs"]
mod panes;
#[path = "browser/scripted_vault.rs"]
mod scripted_vault;
#[path = "browser/seller.rs"]
mod seller;
#[path = "browser/stage.rs"]
mod stage;
#[path = "browser/start.rs"]
mod start;
#[path = "browser/whole.rs"]
mod whole;
