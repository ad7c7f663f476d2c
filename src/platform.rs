//! What systems do differently at a terminal, at sockets and in the folder of bodies, under one name each. Must never decide
//! anything. `bursar_vault::platform` has the rest.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use self::unix::*;
#[cfg(windows)]
pub(crate) use self::windows::*;

/// What a terminal leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Without {
    /// Echo, line editing and keys that end processes.
    EchoLinesAndSignals,
    /// Echo and keys that end processes.
    EchoAndSignals,
}

/// What lies under a name in a [`Folder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Whether it is a regular file.
    pub(crate) is_file: bool,
    /// How long it is, bytes.
    pub(crate) bytes: u64,
    /// When it was written last, Unix seconds.
    pub(crate) written_s: u64,
}

/// Why a [`Folder`] is not used.
#[derive(Debug)]
pub(crate) enum NoFolder {
    /// It is a link or no folder, belongs to somebody else, or lets others in.
    NotPrivate,
    /// The system said no.
    System(std::io::Error),
}
