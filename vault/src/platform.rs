//! What systems do differently, under one name each: `unix` is Linux and its relatives, `windows` is Windows. Must never
//! decide anything.
//!
//! No other file of this crate names a system's own calls, but for what only Linux has (`confine`) and its account database
//! (`accounts`). Each function is told of once, where Unix has it; where Windows has less, its own file says so.

#[cfg(any(windows, test))]
mod access;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use self::unix::*;
#[cfg(windows)]
pub use self::windows::*;

use std::io;

/// What is checked about a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What it is.
    pub kind: Kind,
    /// Whose it is.
    pub owner: u32,
    /// Who may do what with it, as mode bits.
    pub mode: u32,
    /// How many names it has.
    pub links: u64,
    /// How long it is, bytes.
    pub bytes: u64,
}

/// What lies under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// Anything else.
    Other,
}

/// Why a file was not opened.
#[derive(Debug)]
pub enum Unopened {
    /// It is not there.
    Missing,
    /// It is a link.
    Link,
    /// It is something that nobody answers at.
    Special,
    /// The system said no.
    System(io::Error),
}
