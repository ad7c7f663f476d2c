//! A whole vault behind real sockets: conversations, rights, bad frames, crashes. No test sleeps or leaves loopback.
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up should stop at once")]
#![expect(clippy::panic, reason = "an unexpected reply is told with its content")]

mod approvals;
mod chains;
mod conversation;
mod crash;
mod doors;
mod frames;
mod glue;
mod home;
mod keys;
mod large;
mod mandates;
mod measures;
mod next;
mod rights;
mod second;
mod secrets;
mod world;
