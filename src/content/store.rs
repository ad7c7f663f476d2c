//! The content folder: each body once, named by its SHA-256; a half-written body never has such a name.

use std::collections::hash_map::RandomState;
use std::fs::{File, TryLockError};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bursar_policy::Digest;
use sha2::{Digest as _, Sha256};

use crate::platform::{self, Folder, NoFolder};

/// The start of the name of every file that is still being written. No digest starts like this.
const PARTIAL: &str = ".partial-";

/// How much of the beginning of a body stays at hand while it is written, in bytes.
pub const AT_HAND_BYTES: usize = 10 * 1024;

/// What is left free on the disk, in bytes: the ledger is on the same one, and it must never find it full because of
/// what an agent fetched.
const FREE_BYTES: u64 = 32 * 1024 * 1024;

/// A folder of bodies that only its owner can read (mode 0700, files 0600).
///
/// All file work is relative to the folder as it was opened and checked, so replacing its path later changes nothing.
/// The calls are blocking; a body is at most as long as the cap under which it was read.
#[derive(Clone, Debug)]
pub struct ContentStore {
    folder: Arc<Folder>,
    path: PathBuf,
}

/// A body that is in the store under its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredContent {
    /// SHA-256 of exactly the bytes that are stored.
    pub digest: Digest,
    /// How many bytes are stored.
    pub bytes: u64,
    /// Whether they are known to be only the beginning of what the seller meant to send.
    pub truncated: bool,
}

/// Whether what was written is the whole body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fullness {
    /// The seller ended it.
    Whole,
    /// It was cut at the cap, or broke off.
    Truncated,
}

/// The beginning of a stored body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentHead {
    /// At most as many bytes as were asked for.
    pub bytes: Vec<u8>,
    /// Whether the stored body goes on after them.
    pub more: bool,
}

/// Why content could not be kept or read. The purchase is not undone by it: the caller reports the content as lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentFault {
    /// The folder cannot be opened or made.
    #[error("the content folder `{path}` cannot be opened ({kind}); make sure its parent exists and is yours")]
    NoFolder {
        /// The folder.
        path: String,
        /// What the system said.
        kind: io::ErrorKind,
    },
    /// The folder belongs to somebody else, others may enter it, or it is a link.
    #[error("the content folder `{path}` is not private to you; run `chmod 700` on it or remove it")]
    NotPrivate {
        /// The folder.
        path: String,
    },
    /// The disk or the quota is full.
    #[error("the content folder `{path}` has no space left; free some, then fetch again")]
    Full {
        /// The folder.
        path: String,
    },
    /// Writing failed in another way.
    #[error("the content folder `{path}` cannot be written to ({kind}); check the disk and its permissions")]
    Unwritable {
        /// The folder.
        path: String,
        /// What the system said.
        kind: io::ErrorKind,
    },
    /// Nothing readable is stored under the digest.
    #[error("no content `{digest}` is stored; it may have been deleted")]
    Missing {
        /// The digest that was asked for.
        digest: Digest,
    },
    /// The stored bytes do not have the digest that they are named by.
    #[error("the stored content `{digest}` was changed on disk; delete it")]
    Damaged {
        /// The digest that was asked for.
        digest: Digest,
    },
}

impl ContentStore {
    /// Opens the folder `path`, making it (mode 0700) when it is missing, and sweeps up what crashed writers left.
    ///
    /// # Errors
    ///
    /// [`ContentFault::NoFolder`], or [`ContentFault::NotPrivate`] when it is a link, has another owner, or lets
    /// anybody else in. The mode of an existing folder is never changed here.
    pub fn open(path: &Path) -> Result<Self, ContentFault> {
        let shown = path.display().to_string();
        let folder = Folder::open(path).map_err(|fault| match fault {
            NoFolder::NotPrivate => ContentFault::NotPrivate { path: shown },
            NoFolder::System(fault) => ContentFault::NoFolder { path: shown, kind: fault.kind() },
        })?;
        let store = Self { folder: Arc::new(folder), path: path.to_owned() };
        store.sweep();
        Ok(store)
    }

    /// The folder as it was opened.
    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path at which content with this digest is, if it is stored.
    #[must_use]
    pub fn path_of(&self, digest: &Digest) -> PathBuf {
        self.path.join(digest.to_string())
    }

    /// Starts a body under a generated name that nobody takes for content.
    ///
    /// # Errors
    ///
    /// [`ContentFault::Full`] or [`ContentFault::Unwritable`]. Does not ask [`ContentStore::room`]: what is paid for is
    /// kept as long as it can be.
    pub fn writer(&self) -> Result<Writer, ContentFault> {
        for _ in 0..8 {
            let name = format!("{PARTIAL}{:016x}", RandomState::new().build_hasher().finish());
            let file = match self.folder.make(&name) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(self.unwritable(&error)),
            };
            // The lock says "somebody is writing this" to the sweep of another process. Between making the file and
            // locking it such a sweep can win; then the file is gone, and the next name is tried.
            if file.try_lock().is_ok() && platform::has_a_name(&file) {
                let (store, name, hash) = (self.clone(), Some(name), Sha256::new());
                return Ok(Writer { store, name, file, hash, bytes: 0, beginning: Vec::new() });
            }
        }
        Err(ContentFault::Unwritable { path: self.path.display().to_string(), kind: io::ErrorKind::WouldBlock })
    }

    /// Reads the first `max_bytes` of the content `digest`, after checking that all of it still has that digest.
    ///
    /// # Errors
    ///
    /// [`ContentFault::Missing`] when nothing readable is there, [`ContentFault::Damaged`] when the bytes changed.
    pub fn head(&self, digest: &Digest, max_bytes: usize) -> Result<ContentHead, ContentFault> {
        let mut head = ContentHead { bytes: Vec::new(), more: false };
        self.each_piece(digest, |piece| {
            let room = max_bytes.saturating_sub(head.bytes.len());
            head.bytes.extend_from_slice(piece.get(..room).unwrap_or(piece));
            head.more |= piece.len() > room;
            Ok(())
        })?;
        Ok(head)
    }

    /// Hands the content `digest` to `take`, piece by piece, and says at the end whether it was all of it and unchanged.
    pub(super) fn each_piece(
        &self,
        digest: &Digest,
        mut take: impl FnMut(&[u8]) -> Result<(), ContentFault>,
    ) -> Result<(), ContentFault> {
        let missing = || ContentFault::Missing { digest: *digest };
        let mut file = self.folder.read(&digest.to_string()).map_err(|_| missing())?;
        if !file.metadata().is_ok_and(|facts| facts.is_file()) {
            return Err(missing());
        }
        let mut hash = Sha256::new();
        let mut block = [0_u8; 16 * 1024];
        loop {
            let piece = match file.read(&mut block) {
                Ok(0) => break,
                Ok(read) => block.get(..read).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Err(missing()),
            };
            hash.update(piece);
            take(piece)?;
        }
        if digest_of(hash) != *digest {
            return Err(ContentFault::Damaged { digest: *digest });
        }
        Ok(())
    }

    /// Deletes unfinished files that no process is writing any more. What it cannot see or delete stays; the next
    /// opening tries again.
    fn sweep(&self) {
        let Ok(names) = self.folder.names() else { return };
        for name in names.iter().filter(|name| name.starts_with(PARTIAL)) {
            let Ok(file) = self.folder.write(name) else { continue };
            match file.try_lock() {
                Ok(()) => self.folder.remove(name).unwrap_or_default(),
                Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
            }
        }
    }

    /// Says no while storing more would take the space that the ledger needs. Asked before what costs nothing is kept,
    /// and before a payment, so that nothing is bought that could not be kept.
    ///
    /// # Errors
    ///
    /// [`ContentFault::Full`].
    pub fn room(&self) -> Result<(), ContentFault> {
        if self.folder.free_bytes().map_err(|error| self.unwritable(&error))? < FREE_BYTES {
            return Err(ContentFault::Full { path: self.path.display().to_string() });
        }
        Ok(())
    }

    pub(super) fn unwritable(&self, error: &io::Error) -> ContentFault {
        let path = self.path.display().to_string();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                ContentFault::Full { path }
            }
            kind => ContentFault::Unwritable { path, kind },
        }
    }
}

/// A body on its way into the store. Dropping it unfinished removes what was written.
#[must_use = "a writer that is dropped keeps nothing"]
#[derive(Debug)]
pub struct Writer {
    store: ContentStore,
    name: Option<String>,
    file: File,
    hash: Sha256,
    bytes: u64,
    beginning: Vec<u8>,
}

impl Writer {
    /// Appends `piece`.
    ///
    /// # Errors
    ///
    /// [`ContentFault::Full`] or [`ContentFault::Unwritable`]; the writer is then only good for dropping.
    pub fn write(&mut self, piece: &[u8]) -> Result<(), ContentFault> {
        self.file.write_all(piece).map_err(|error| self.store.unwritable(&error))?;
        self.hash.update(piece);
        let room = AT_HAND_BYTES.saturating_sub(self.beginning.len());
        self.beginning.extend_from_slice(piece.get(..room).unwrap_or(piece));
        self.bytes = self.bytes.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        Ok(())
    }

    /// Hands over the first [`AT_HAND_BYTES`] of what was written: whoever wants to see them need not read the body again.
    pub fn take_beginning(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.beginning)
    }

    /// Puts what was written under its digest, in one step. Content that is there already is replaced by the same bytes.
    ///
    /// When this returns `Ok`, the whole body is readable under the digest, also after a crash of the process. A power
    /// cut may still take it until [`Settling::wait`] is over, and its name a moment longer; then [`ContentStore::head`]
    /// says that it is missing or damaged, and never shows something else.
    ///
    /// # Errors
    ///
    /// [`ContentFault::Full`] or [`ContentFault::Unwritable`]; nothing is then kept.
    pub fn finish(mut self, fullness: Fullness) -> Result<(StoredContent, Settling), ContentFault> {
        let file = self.file.try_clone().map_err(|error| self.store.unwritable(&error))?;
        let digest = digest_of(std::mem::take(&mut self.hash));
        let stored = StoredContent { digest, bytes: self.bytes, truncated: fullness == Fullness::Truncated };
        let settling = Settling { store: self.store.clone(), file };
        self.finish_as(&digest.to_string())?;
        Ok((stored, settling))
    }

    /// Gives what was written the name `name`, in one step, without waiting for the disk.
    pub(super) fn finish_as(mut self, name: &str) -> Result<(), ContentFault> {
        if let Some(partial) = &self.name {
            self.store.folder.rename(partial, name).map_err(|error| self.store.unwritable(&error))?;
            // Under this name nobody asks for the lock, which on Windows would keep readers out.
            self.file.unlock().unwrap_or_default();
        }
        self.name = None;
        Ok(())
    }
}

/// A stored body on its way to the disk.
#[must_use = "until it was waited for, a power cut may take the body"]
#[derive(Debug)]
pub struct Settling {
    store: ContentStore,
    file: File,
}

impl Settling {
    /// Returns when the bytes are on the disk. Blocks.
    ///
    /// # Errors
    ///
    /// [`ContentFault::Full`] or [`ContentFault::Unwritable`]; the body may then be gone after a power cut.
    pub fn wait(self) -> Result<(), ContentFault> {
        self.file.sync_data().map_err(|error| self.store.unwritable(&error))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(name) = self.name.take() {
            // What cannot be removed now, the sweep of the next opening removes.
            self.store.folder.remove(&name).unwrap_or_default();
        }
    }
}

fn digest_of(hash: Sha256) -> Digest {
    Digest::from_bytes(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::{ContentFault, ContentStore, Fullness};
    use std::fs::OpenOptions;

    #[test]
    fn a_full_disk_is_a_fault_with_its_own_name_and_leaves_nothing() {
        let dir = tempfile::TempDir::new().unwrap();
        let store = ContentStore::open(&dir.path().join("content")).unwrap();
        let mut writer = store.writer().unwrap();
        writer.file = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let full = ContentFault::Full { path: store.path().display().to_string() };
        assert_eq!(writer.write(b"bought"), Err(full));
        drop(writer);
        assert_eq!(std::fs::read_dir(store.path()).unwrap().count(), 0);
        let (_, settling) = store.writer().unwrap().finish(Fullness::Whole).unwrap();
        assert_eq!(settling.wait(), Ok(()), "the next body is kept");
    }
}
