//! The user guide in docs/: its form, its tables, and every command in it, run as a reader would run it.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so and stops"
)]

#[path = "guide/block.rs"]
mod block;
#[path = "guide/codes.rs"]
mod codes;
#[path = "guide/commands.rs"]
mod commands;
#[path = "guide/cookbook.rs"]
mod cookbook;
#[path = "guide/form.rs"]
mod form;
#[path = "guide/machine.rs"]
mod machine;
#[path = "guide/page.rs"]
mod page;
#[path = "guide/play.rs"]
mod play;
#[path = "guide/reader.rs"]
mod reader;
#[path = "guide/screen.rs"]
mod screen;
#[path = "guide/terminal.rs"]
mod terminal;
#[path = "guide/unrun.rs"]
mod unrun;
