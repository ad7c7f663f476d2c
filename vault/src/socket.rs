//! Sockets that only one user, or the users whom root listed, can reach. Must never speak before both ends know whose
//! process is at the other end.
//!
//! The directory of a user's own vault is private before a socket exists in it, so there is no moment between bind and chmod
//! in which somebody else could connect. The machine's vault has an access list on each socket that names its guests.
//! Owner and mode are verified after the bind, and the peer's uid on every connection.

use crate::guarded::{self, GuardFault};
use crate::platform::{self, AsEnd, Facts, Kind, Listener, Stream};
use std::collections::BTreeSet;
use std::fs;
use std::io;
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
    /// The process at the other end belongs to somebody who is not listed.
    #[error("a process of user id {theirs} came to a socket that is not for it; nothing was said to it")]
    Stranger {
        /// Whose it is.
        theirs: u32,
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

/// Whose vault a socket leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// One of our own user.
    Ourselves,
    /// The machine's, which runs as this user id.
    Machine(u32),
}

/// Who may come in by a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guests {
    /// Our own user alone.
    Ourselves,
    /// These user ids and nobody else: neither ours nor root.
    Listed(BTreeSet<u32>),
}

impl Keeper {
    /// The user id of the vault.
    #[must_use]
    pub fn uid(self) -> u32 {
        match self {
            Self::Ourselves => guarded::our_uid(),
            Self::Machine(uid) => uid,
        }
    }
}

impl Guests {
    /// Says whether a process of user `theirs` may be spoken to.
    ///
    /// # Errors
    ///
    /// [`SocketFault::Peer`] or [`SocketFault::Stranger`]; root is no exception.
    pub fn admit(&self, theirs: u32) -> Result<(), SocketFault> {
        match self {
            Self::Ourselves => may_speak(theirs, guarded::our_uid()),
            Self::Listed(uids) if uids.contains(&theirs) => Ok(()),
            Self::Listed(_) => Err(SocketFault::Stranger { theirs }),
        }
    }
}

/// Says whether a process of user `theirs` may be spoken to when only `ours` may.
///
/// # Errors
///
/// [`SocketFault::Peer`]; root is no exception.
pub const fn may_speak(theirs: u32, ours: u32) -> Result<(), SocketFault> {
    if theirs == ours { Ok(()) } else { Err(SocketFault::Peer { theirs, ours }) }
}

/// The user of the process at the other end, as the kernel recorded it when the connection was made.
///
/// # Errors
///
/// [`SocketFault::System`] when the kernel does not say.
pub fn peer_of(stream: impl AsEnd) -> Result<u32, SocketFault> {
    platform::peer_uid(stream).map_err(|source| SocketFault::System {
        doing: "ask who is at the other end of",
        path: PathBuf::from("socket"),
        source,
    })
}

/// Binds a socket that `guests` can reach. A socket file left by a vault that died is replaced: call this only while
/// holding the ledger's exclusive lock, which says that no other vault of this profile lives.
///
/// # Errors
///
/// [`SocketFault`]; anything that is not a socket of ours is left where it is.
pub fn bind(path: &Path, guests: &Guests) -> Result<Listener, SocketFault> {
    let system = |doing, source| SocketFault::System { doing, path: path.to_owned(), source };
    if let Some(directory) = path.parent() {
        match guests {
            Guests::Ourselves => guarded::make_directory(directory)?,
            Guests::Listed(_) => guarded::passage(directory, guarded::our_uid())?,
        }
    }
    match platform::facts_at(path) {
        Ok(facts) if is_our_socket(path, facts) => fs::remove_file(path).map_err(|fault| system("replace", fault))?,
        Ok(_) => return Err(SocketFault::Occupied { path: path.to_owned() }),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => {}
        Err(fault) => return Err(system("examine", fault)),
    }
    let listener = platform::listen(path).map_err(|fault| system("bind", fault))?;
    let (listed, doing) = match guests {
        Guests::Ourselves => (None, "close to others"),
        Guests::Listed(uids) => (Some(uids), "name the users of"),
    };
    let wanted = platform::admit_to_socket(path, listed).map_err(|fault| system(doing, fault))?;
    let facts = platform::facts_at(path).map_err(|fault| system("examine", fault))?;
    if !is_our_socket(path, facts) || facts.mode != wanted {
        return Err(SocketFault::Occupied { path: path.to_owned() });
    }
    Ok(listener)
}

/// Checks the directory of a socket before anything in it is believed.
///
/// # Errors
///
/// [`GuardFault`]; whoever could write there could put a socket of their own in the vault's place.
pub fn check_folder(path: &Path, keeper: Keeper) -> Result<(), GuardFault> {
    match (path.parent(), keeper) {
        (None, _) => Ok(()),
        (Some(folder), Keeper::Ourselves) => guarded::directory(folder),
        (Some(folder), Keeper::Machine(uid)) => guarded::passage(folder, uid),
    }
}

/// Connects to a socket after checking its directory, and checks whose process answers.
///
/// # Errors
///
/// [`SocketFault`]; [`SocketFault::System`] with `NotFound` or `ConnectionRefused` means that no vault lives there.
pub fn connect(path: &Path, keeper: Keeper) -> Result<Stream, SocketFault> {
    let system = |source| SocketFault::System { doing: "connect to", path: path.to_owned(), source };
    match check_folder(path, keeper) {
        Err(GuardFault::Missing { .. }) => return Err(system(io::ErrorKind::NotFound.into())),
        checked => checked?,
    }
    let stream = platform::connect(path).map_err(system)?;
    may_speak(peer_of(&stream)?, keeper.uid())?;
    Ok(stream)
}

fn is_our_socket(path: &Path, facts: Facts) -> bool {
    let is_socket = platform::is_socket(path).unwrap_or_default();
    facts.kind == Kind::Other && is_socket && facts.owner == guarded::our_uid()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::{ACCESS_LIST, access_list};
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

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
        let listener = bind(&path, &Guests::Ourselves).unwrap();
        let us = guarded::our_uid();
        let near = connect(&path, Keeper::Ourselves).unwrap();
        let (far, _) = listener.accept().unwrap();
        assert_eq!(peer_of(&near).unwrap(), us);
        assert_eq!(peer_of(&far).unwrap(), us);
        assert!(Guests::Ourselves.admit(us).is_ok());
        assert!(matches!(Guests::Ourselves.admit(us.wrapping_add(1)), Err(SocketFault::Peer { .. })));
        let planted = connect(&path, Keeper::Machine(us.wrapping_add(1)));
        assert!(matches!(planted, Err(SocketFault::Guard(_))), "{planted:?}");
    }

    #[test]
    fn a_guest_is_who_is_listed_and_neither_root_nor_the_vault() {
        let guests = Guests::Listed(BTreeSet::from([1000, 1002]));
        for uid in [1000, 1002] {
            assert!(guests.admit(uid).is_ok(), "{uid}");
        }
        for uid in [0, 1001, guarded::our_uid(), u32::MAX] {
            assert!(matches!(guests.admit(uid), Err(SocketFault::Stranger { theirs }) if theirs == uid), "{uid}");
        }
    }

    #[test]
    fn the_kernel_knows_the_guests_of_a_socket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sock");
        let guests = Guests::Listed(BTreeSet::from([1000, 1002]));
        let _listener = bind(&path, &guests).unwrap();
        let mut list = [0_u8; 256];
        let length = rustix::fs::lgetxattr(&path, ACCESS_LIST, &mut list).unwrap();
        assert_eq!(list[..length], access_list(&BTreeSet::from([1000, 1002])));
        assert_eq!(fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777, 0o660);

        fs::set_permissions(folder.path(), Permissions::from_mode(0o711)).unwrap();
        drop(bind(&path, &guests).unwrap());
        fs::set_permissions(folder.path(), Permissions::from_mode(0o731)).unwrap();
        assert!(matches!(bind(&path, &guests), Err(SocketFault::Guard(GuardFault::Writable { .. }))));
    }

    #[test]
    fn a_socket_is_private_and_replaces_a_dead_one_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/agent.sock");
        drop(bind(&path, &Guests::Ourselves).unwrap());
        let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&folder.path().join("run")), 0o700);
        drop(bind(&path, &Guests::Ourselves).unwrap());
        for plant in ["file", "directory", "link"] {
            fs::remove_file(&path).unwrap();
            match plant {
                "file" => fs::write(&path, b"").unwrap(),
                "directory" => fs::create_dir(&path).unwrap(),
                _ => std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap(),
            }
            assert!(matches!(bind(&path, &Guests::Ourselves), Err(SocketFault::Occupied { .. })), "{plant}");
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
        let _listener = bind(&path, &Guests::Ourselves).unwrap();
        fs::set_permissions(folder.path().join("run"), Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(connect(&path, Keeper::Ourselves), Err(SocketFault::Guard(GuardFault::Mode { .. }))));
        assert!(matches!(bind(&path, &Guests::Ourselves), Err(SocketFault::Guard(GuardFault::Mode { .. }))));
    }
}
