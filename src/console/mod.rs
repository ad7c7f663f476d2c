//! `bursar console`: the operator's web page on 127.0.0.1, over `operator.sock`. Must never keep a passphrase, never decide
//! what the vault decides, and never send a stranger's words in a form that a browser would run.
//!
//! A request comes by `server` to `door`, which lets it in or turns it away by what it carries; `desk` answers what was let in.
//! `code` and `visitor` are how a person comes in, `bounds` how much anybody may ask for.

mod books;
mod bounds;
mod burn;
mod code;
mod desk;
mod door;
mod files;
mod past;
mod post;
mod reply;
mod secret;
mod server;
mod shown;
mod view;
mod visitor;
mod word;

pub use bounds::Bounds;
pub use server::{Code, CodeDesk, Console, ConsoleFault, News};
