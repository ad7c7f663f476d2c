//! Sockets that only one user can reach. Must never speak before both ends know whose process is at the other end.
//!
//! The directory is private before a socket exists in it, so there is no moment between bind and chmod in which
//! somebody else could connect; owner and mode are verified after the bind, and the peer's uid on every connection.

use crate::guarded::{self, Facts, GuardFault, Kind};
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a socket is not used.
#[derive(Debug, Error)]
pub enum SocketFault {
    /// The process at the other end belongs to somebody else.
    #[error("the process at the other end of the socket runs as user id {theirs}, not {ours}; nothing was said to it")]
    Peer {
        /// Whose it is.
        theirs: u32,
        /// Whose it should be.
        ours: u32,
    },
    /// Something else lies where the socket should be.
    #[error("`{}` is not a socket of ours; remove it and start the vault again", path.display())]
    Occupied {
        /// Its path.
        path: PathBuf,
    },
    /// The path cannot be used.
    #[error(transparent)]
    Guard(#[from] GuardFault),
    /// The system said no.
    #[error("cannot {doing} the socket `{}`: {source}", path.display())]
    System {
        /// What was tried.
        doing: &'static str,
        /// Its path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Says whether a process of user `theirs` may be spoken to when only `ours` may.
///
/// # Errors
///
/// [`SocketFault::Peer`]; root is no exception.
pub const fn may_speak(theirs: u32, ours: u32) -> Result<(), SocketFault> {
    if theirs == ours { Ok(()) } else { Err(SocketFault::Peer { theirs, ours }) }
}

/// Checks the user of the process at the other end, as the kernel recorded it when the connection was made.
///
/// # Errors
///
/// [`SocketFault::Peer`], or [`SocketFault::System`] when the kernel does not say.
pub fn check_peer(stream: impl AsFd, ours: u32) -> Result<(), SocketFault> {
    let credentials = rustix::net::sockopt::socket_peercred(stream).map_err(|errno| SocketFault::System {
        doing: "ask who is at the other end of",
        path: PathBuf::from("socket"),
        source: errno.into(),
    })?;
    may_speak(credentials.uid.as_raw(), ours)
}

/// Binds a socket in a private directory. A socket file left by a vault that died is replaced: call this only while
/// holding the ledger's exclusive lock, which says that no other vault of this profile lives.
///
/// # Errors
///
/// [`SocketFault`]; anything that is not a socket of ours is left where it is.
pub fn bind(path: &Path) -> Result<UnixListener, SocketFault> {
    let system = |doing, source| SocketFault::System { doing, path: path.to_owned(), source };
    if let Some(directory) = path.parent() {
        guarded::make_directory(directory)?;
    }
    match fs::symlink_metadata(path) {
        Ok(meta) if is_our_socket(&meta) => fs::remove_file(path).map_err(|fault| system("replace", fault))?,
        Ok(_) => return Err(SocketFault::Occupied { path: path.to_owned() }),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => {}
        Err(fault) => return Err(system("examine", fault)),
    }
    let listener = UnixListener::bind(path).map_err(|fault| system("bind", fault))?;
    fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(|fault| system("close to others", fault))?;
    let meta = fs::symlink_metadata(path).map_err(|fault| system("examine", fault))?;
    if !is_our_socket(&meta) || Facts::from(&meta).mode != 0o600 {
        return Err(SocketFault::Occupied { path: path.to_owned() });
    }
    Ok(listener)
}

/// Connects to a socket after checking its directory, and checks whose process answers.
///
/// # Errors
///
/// [`SocketFault`]; [`SocketFault::System`] with `NotFound` or `ConnectionRefused` means that no vault lives there.
pub fn connect(path: &Path, ours: u32) -> Result<UnixStream, SocketFault> {
    let system = |source| SocketFault::System { doing: "connect to", path: path.to_owned(), source };
    match path.parent().map(guarded::directory) {
        Some(Err(GuardFault::Missing { .. })) => return Err(system(io::ErrorKind::NotFound.into())),
        Some(Err(fault)) => return Err(fault.into()),
        Some(Ok(())) | None => {}
    }
    let stream = UnixStream::connect(path).map_err(system)?;
    check_peer(&stream, ours)?;
    Ok(stream)
}

fn is_our_socket(meta: &fs::Metadata) -> bool {
    let facts = Facts::from(meta);
    facts.kind == Kind::Other && meta.file_type().is_socket() && facts.owner == guarded::our_uid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_user_is_spoken_to() {
        assert!(may_speak(1000, 1000).is_ok());
        for (theirs, ours) in [(1001, 1000), (0, 1000), (1000, 0), (u32::MAX, 0)] {
            assert!(matches!(may_speak(theirs, ours), Err(SocketFault::Peer { .. })), "{theirs} {ours}");
        }
    }

    #[test]
    fn both_ends_check_and_a_foreign_expectation_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/agent.sock");
        let listener = bind(&path).unwrap();
        let us = guarded::our_uid();
        let near = connect(&path, us).unwrap();
        let (far, _) = listener.accept().unwrap();
        check_peer(&near, us).unwrap();
        check_peer(&far, us).unwrap();
        assert!(matches!(check_peer(&far, us.wrapping_add(1)), Err(SocketFault::Peer { .. })));
        assert!(matches!(connect(&path, us.wrapping_add(1)), Err(SocketFault::Peer { .. })));
    }

    #[test]
    fn a_socket_is_private_and_replaces_a_dead_one_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/agent.sock");
        drop(bind(&path).unwrap());
        let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&folder.path().join("run")), 0o700);
        drop(bind(&path).unwrap());
        for plant in ["file", "directory", "link"] {
            fs::remove_file(&path).unwrap();
            match plant {
                "file" => fs::write(&path, b"").unwrap(),
                "directory" => fs::create_dir(&path).unwrap(),
                _ => std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap(),
            }
            assert!(matches!(bind(&path), Err(SocketFault::Occupied { .. })), "{plant}");
            if plant == "directory" {
                fs::remove_dir(&path).unwrap();
                fs::write(&path, b"").unwrap();
            }
        }
    }

    #[test]
    fn a_socket_in_an_open_directory_is_not_connected_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/agent.sock");
        let _listener = bind(&path).unwrap();
        fs::set_permissions(folder.path().join("run"), Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(connect(&path, guarded::our_uid()), Err(SocketFault::Guard(GuardFault::Mode { .. }))));
        assert!(matches!(bind(&path), Err(SocketFault::Guard(GuardFault::Mode { .. }))));
    }
}
