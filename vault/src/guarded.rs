//! Files and directories that only their owner can touch. Must never follow a link to a file or trust a name twice.
//!
//! A file is opened once, without following a link, and everything is checked on the open descriptor; the bytes that
//! were checked are the bytes that are used. A directory is checked with all its parents, because whoever can write a
//! parent can put another file under the same name.

use crate::platform::{self, Facts, Kind, Unopened};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;
use zeroize::Zeroizing;

/// The most that is read from any file of a profile, bytes.
pub const FILE_MAX_BYTES: u64 = 256 * 1024;

/// Why a file or directory is not used.
#[derive(Debug, Error)]
pub enum GuardFault {
    /// It is not there.
    #[error("`{}` does not exist; create it with `bursar init`", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// It is there already and must not be replaced.
    #[error("`{}` exists already and is never overwritten; move it away first if you mean to start anew", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// It is a symbolic link.
    #[error("`{}` is a symbolic link; put the real file or directory there", path.display())]
    Link {
        /// The path.
        path: PathBuf,
    },
    /// It is not a directory.
    #[error("`{}` is not a directory; choose another place", path.display())]
    NotDirectory {
        /// The path.
        path: PathBuf,
    },
    /// It is a pipe, a device, a directory, or anything else that is not a plain file.
    #[error("`{}` is not a regular file; put a regular file there", path.display())]
    NotFile {
        /// The path.
        path: PathBuf,
    },
    /// Somebody else owns it.
    #[error("`{}` belongs to {}, not to {}; give it to the user who runs bursar", path.display(), platform::user(*owner), platform::user(*us))]
    Owner {
        /// The path.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// Our user id.
        us: u32,
    },
    /// Others may read or write it.
    #[error("`{}` is open to others ({}); {}", path.display(), platform::rights(*mode), platform::closing(path, *want))]
    Mode {
        /// The path.
        path: PathBuf,
        /// Its mode bits.
        mode: u32,
        /// The mode it should have.
        want: u32,
    },
    /// It should be root's and is not.
    #[error("`{}` belongs to user id {owner}; only root may say what it says: `chown root:root` it after a look into it", path.display())]
    NotRoots {
        /// The path.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// Others than its owner may write to it.
    #[error("`{}` can be written by others than its owner (mode {mode:04o}); run `chmod go-w` on it after a look into it", path.display())]
    Writable {
        /// The path.
        path: PathBuf,
        /// Its mode bits.
        mode: u32,
    },
    /// Others may replace what lies in a parent.
    #[error("`{}` can be written by others ({}), so anyone could swap what lies in it; {} or choose another place", path.display(), platform::rights(*mode), platform::narrowing(path))]
    Parent {
        /// The parent directory.
        path: PathBuf,
        /// Its mode bits.
        mode: u32,
    },
    /// A parent belongs to another user.
    #[error("`{}` belongs to {}, who could swap what lies in it; choose a place under a directory of your own", path.display(), platform::user(*owner))]
    ParentOwner {
        /// The parent directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// The file has a second name.
    #[error("`{}` has {count} hard links; copy it to a new file so that it has only one name", path.display())]
    Linked {
        /// The path.
        path: PathBuf,
        /// How many names it has.
        count: u64,
    },
    /// The file is too large.
    #[error("`{}` is larger than {cap} bytes; shorten it", path.display())]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// The cap, bytes.
        cap: u64,
    },
    /// The system said no.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    System {
        /// What was tried.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Our user id; files of anyone else are refused.
#[must_use]
pub fn our_uid() -> u32 {
    platform::our_uid()
}

/// Refuses a private file that others could have written, read or linked.
pub(crate) fn check_file(path: &Path, facts: Facts, us: u32, cap: u64) -> Result<(), GuardFault> {
    let path = || path.to_owned();
    match facts.kind {
        Kind::File => {}
        Kind::Link => return Err(GuardFault::Link { path: path() }),
        Kind::Directory | Kind::Other => return Err(GuardFault::NotFile { path: path() }),
    }
    if facts.owner != us {
        return Err(GuardFault::Owner { path: path(), owner: facts.owner, us });
    }
    if facts.mode & 0o077 != 0 {
        return Err(GuardFault::Mode { path: path(), mode: facts.mode, want: 0o600 });
    }
    if facts.links != 1 {
        return Err(GuardFault::Linked { path: path(), count: facts.links });
    }
    if cap < facts.bytes {
        return Err(GuardFault::TooLarge { path: path(), cap });
    }
    Ok(())
}

/// Refuses a file that anybody but root could have written. Everybody may read it.
pub(crate) fn check_roots_file(path: &Path, facts: Facts, cap: u64) -> Result<(), GuardFault> {
    let path = || path.to_owned();
    match facts.kind {
        Kind::File => {}
        Kind::Link => return Err(GuardFault::Link { path: path() }),
        Kind::Directory | Kind::Other => return Err(GuardFault::NotFile { path: path() }),
    }
    if facts.owner != 0 {
        return Err(GuardFault::NotRoots { path: path(), owner: facts.owner });
    }
    if facts.mode & 0o022 != 0 {
        return Err(GuardFault::Writable { path: path(), mode: facts.mode });
    }
    if facts.links != 1 {
        return Err(GuardFault::Linked { path: path(), count: facts.links });
    }
    if cap < facts.bytes {
        return Err(GuardFault::TooLarge { path: path(), cap });
    }
    Ok(())
}

/// Refuses a secret file that somebody else than `us` and root could read or write. Where root lends it by an access list,
/// as systemd lends credentials, the list's mask stands where the group's rights would.
pub(crate) fn check_lent_file(path: &Path, facts: Facts, us: u32, cap: u64) -> Result<(), GuardFault> {
    if facts.owner == 0 && us != 0 && facts.mode & 0o037 == 0 {
        return check_file(path, Facts { owner: us, mode: facts.mode & 0o700, ..facts }, us, cap);
    }
    check_file(path, facts, us, cap)
}

/// Refuses a directory of `owner`'s that others may pass through, if they may do more than that or it is somebody else's.
pub(crate) fn check_passage(path: &Path, facts: Facts, owner: u32) -> Result<(), GuardFault> {
    let path = || path.to_owned();
    match facts.kind {
        Kind::Directory => {}
        Kind::Link => return Err(GuardFault::Link { path: path() }),
        Kind::File | Kind::Other => return Err(GuardFault::NotDirectory { path: path() }),
    }
    if facts.owner != owner {
        return Err(GuardFault::Owner { path: path(), owner: facts.owner, us: owner });
    }
    if facts.mode & 0o022 != 0 {
        return Err(GuardFault::Writable { path: path(), mode: facts.mode });
    }
    Ok(())
}

/// Refuses a private directory that others may enter.
pub(crate) fn check_private_directory(path: &Path, facts: Facts, us: u32) -> Result<(), GuardFault> {
    let path = || path.to_owned();
    match facts.kind {
        Kind::Directory => {}
        Kind::Link => return Err(GuardFault::Link { path: path() }),
        Kind::File | Kind::Other => return Err(GuardFault::NotDirectory { path: path() }),
    }
    if facts.owner != us {
        return Err(GuardFault::Owner { path: path(), owner: facts.owner, us });
    }
    if facts.mode & 0o077 != 0 {
        return Err(GuardFault::Mode { path: path(), mode: facts.mode, want: 0o700 });
    }
    Ok(())
}

/// Refuses a parent through which others could swap what lies below. A link counts by its owner: its own parent is
/// checked as well, and so is what it leads to.
pub(crate) fn check_parent(path: &Path, facts: Facts, us: u32) -> Result<(), GuardFault> {
    let path = || path.to_owned();
    if facts.owner != us && facts.owner != 0 {
        return Err(GuardFault::ParentOwner { path: path(), owner: facts.owner });
    }
    match facts.kind {
        Kind::Link => Ok(()),
        Kind::File | Kind::Other => Err(GuardFault::NotDirectory { path: path() }),
        Kind::Directory => {
            let sticky_root = facts.owner == 0 && facts.mode & 0o1000 != 0;
            if facts.mode & 0o022 != 0 && !sticky_root {
                return Err(GuardFault::Parent { path: path(), mode: facts.mode });
            }
            Ok(())
        }
    }
}

/// Checks a private directory and every parent of it, as named and as resolved.
///
/// # Errors
///
/// The first [`GuardFault`] from the root downwards.
pub fn directory(path: &Path) -> Result<(), GuardFault> {
    let us = our_uid();
    parents(path)?;
    check_private_directory(path, facts_of(path)?, us)
}

/// Checks a directory that belongs to `owner`, a user of the machine that need not be ours, and that others may pass
/// through; with every parent of it, which has to be root's or that user's.
///
/// # Errors
///
/// As [`directory`].
pub fn passage(path: &Path, owner: u32) -> Result<(), GuardFault> {
    parents_of(path, owner)?;
    check_passage(path, facts_of(path)?, owner)
}

/// Checks the parents of a path that need not exist itself.
///
/// # Errors
///
/// As [`directory`].
pub fn parents(path: &Path) -> Result<(), GuardFault> {
    parents_of(path, our_uid())
}

/// [`parents`], where what is root's or `us`'s is out of others' reach.
fn parents_of(path: &Path, us: u32) -> Result<(), GuardFault> {
    let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else {
        return Ok(());
    };
    let resolved = fs::canonicalize(parent).map_err(|fault| system("resolve", parent, fault))?;
    for chain in [parent, resolved.as_path()] {
        let mut above: Vec<&Path> = chain.ancestors().collect();
        above.reverse();
        for step in above {
            check_parent(step, facts_of(step)?, us)?;
        }
    }
    Ok(())
}

/// Makes a private directory (mode 0700), or checks the one that is there. Its parent must exist. Durable on return.
///
/// # Errors
///
/// As [`directory`], and [`GuardFault::System`].
pub fn make_directory(path: &Path) -> Result<(), GuardFault> {
    parents(path)?;
    match platform::make_private_directory(path) {
        Ok(()) => sync_parent(path)?,
        Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => {}
        Err(fault) => return Err(system("create", path, fault)),
    }
    check_private_directory(path, facts_of(path)?, our_uid())
}

/// Opens a private file once and returns its bytes, wiped when dropped.
///
/// # Errors
///
/// [`GuardFault`] when it is missing, a link, not a regular file, not ours, open to others, linked twice or over `cap`.
pub fn read(path: &Path, cap: u64) -> Result<Zeroizing<Vec<u8>>, GuardFault> {
    read_checked(path, cap, |facts| check_file(path, facts, our_uid(), cap))
}

/// [`read`] for a file of root's that everybody may read and nobody else may write, at a place that nobody else can write.
///
/// # Errors
///
/// As [`read`].
pub fn read_roots(path: &Path, cap: u64) -> Result<Zeroizing<Vec<u8>>, GuardFault> {
    let bytes = read_checked(path, cap, |facts| check_roots_file(path, facts, cap))?;
    parents_of(path, 0)?;
    Ok(bytes)
}

/// [`read`] for a secret that is ours, or that root lends to us alone; a missing file is `None`.
///
/// # Errors
///
/// As [`read`].
pub fn read_lent_if_there(path: &Path, cap: u64) -> Result<Option<Zeroizing<Vec<u8>>>, GuardFault> {
    there(read_checked(path, cap, |facts| check_lent_file(path, facts, our_uid(), cap)))
}

fn read_checked(
    path: &Path,
    cap: u64,
    check: impl FnOnce(Facts) -> Result<(), GuardFault>,
) -> Result<Zeroizing<Vec<u8>>, GuardFault> {
    let file = open(path)?;
    let facts = platform::facts(&file).map_err(|fault| system("examine", path, fault))?;
    check(facts)?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(facts.bytes).unwrap_or(0).saturating_add(1)));
    file.take(cap.saturating_add(1)).read_to_end(&mut bytes).map_err(|fault| system("read", path, fault))?;
    if u64::try_from(bytes.len()).map_or(true, |length| cap < length) {
        return Err(GuardFault::TooLarge { path: path.to_owned(), cap });
    }
    Ok(bytes)
}

/// [`read`] for a file that may be absent.
///
/// # Errors
///
/// As [`read`], except that a missing file is `None`.
pub fn read_if_there(path: &Path, cap: u64) -> Result<Option<Zeroizing<Vec<u8>>>, GuardFault> {
    there(read(path, cap))
}

fn there<T>(read: Result<T, GuardFault>) -> Result<Option<T>, GuardFault> {
    match read {
        Ok(bytes) => Ok(Some(bytes)),
        Err(GuardFault::Missing { .. }) => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Writes a new private file (mode 0600) that appears whole or not at all, and is durable on return.
///
/// # Errors
///
/// [`GuardFault::Exists`] when the name is taken: this never overwrites.
pub fn create(path: &Path, bytes: &[u8]) -> Result<(), GuardFault> {
    let beside = write_beside(path, bytes)?;
    match platform::rename_to_new(&beside, path) {
        Ok(()) => sync_parent(path),
        Err(fault) => {
            discard(&beside);
            match fault.kind() {
                io::ErrorKind::AlreadyExists => Err(GuardFault::Exists { path: path.to_owned() }),
                _ => Err(system("create", path, fault)),
            }
        }
    }
}

/// Replaces a private file in one step: a reader sees the old bytes or the new ones. Durable on return.
///
/// # Errors
///
/// [`GuardFault::System`].
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), GuardFault> {
    let beside = write_beside(path, bytes)?;
    if let Err(fault) = fs::rename(&beside, path) {
        discard(&beside);
        return Err(system("replace", path, fault));
    }
    sync_parent(path)
}

fn open(path: &Path) -> Result<File, GuardFault> {
    platform::open_to_read(path).map_err(|unopened| match unopened {
        Unopened::Missing => GuardFault::Missing { path: path.to_owned() },
        Unopened::Link => GuardFault::Link { path: path.to_owned() },
        Unopened::Special => GuardFault::NotFile { path: path.to_owned() },
        Unopened::System(fault) => system("open", path, fault),
    })
}

fn write_beside(path: &Path, bytes: &[u8]) -> Result<PathBuf, GuardFault> {
    let mut salt = [0_u8; 8];
    getrandom::fill(&mut salt).map_err(|_fault| system("name a file beside", path, io::ErrorKind::Other.into()))?;
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_else(|| OsStr::new("file")));
    name.push(format!(".{}", hex::encode(salt)));
    let beside = path.with_file_name(name);
    let written = platform::private_file().write(true).create_new(true).open(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    match written {
        Ok(()) => Ok(beside),
        Err(fault) => {
            discard(&beside);
            Err(system("write", &beside, fault))
        }
    }
}

/// Takes away a file that did not become what it was made for; that it stays is no worse than that it was there.
fn discard(beside: &Path) {
    if let Err(fault) = fs::remove_file(beside) {
        tracing::debug!(%fault, "a half-made file is left");
    }
}

fn sync_parent(path: &Path) -> Result<(), GuardFault> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    platform::sync_directory(parent).map_err(|fault| system("sync", parent, fault))
}

fn facts_of(path: &Path) -> Result<Facts, GuardFault> {
    match platform::facts_at(path) {
        Ok(facts) => Ok(facts),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Err(GuardFault::Missing { path: path.to_owned() }),
        Err(fault) => Err(system("examine", path, fault)),
    }
}

fn system(doing: &'static str, path: &Path, source: io::Error) -> GuardFault {
    GuardFault::System { doing, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
