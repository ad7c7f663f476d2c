//! The shell of bursar: one purchase from top to bottom, the network, the bytes of x402, stored content, the command
//! line. What may be paid is decided in `bursar_policy`, money and keys are in `bursar_vault`, what the model sees is
//! in `bursar_tools`.

pub mod browser;
pub mod console;
pub mod flow;

mod authorities;
mod books;
mod chain;
mod clock;
pub mod console_note;
pub mod content;
mod doorway;
mod facilitator;
mod metrics;
pub mod net;
mod pace;
mod platform;
mod spelling;
mod standing;
mod terms_shown;
pub mod wallet;
mod webhook;
pub mod wire;

pub mod cli;
#[cfg(feature = "demo")]
pub mod demo;
