//! The content folder as a whole: what is in it, how much that is, copies out of it, and what is taken out. Must never
//! take out what it was not told to.

use std::fs::File;
use std::io::Write;

use bursar_policy::Digest;

use super::notes::{OF_BODY, OF_REQUEST};
use super::{ContentFault, ContentStore};

/// One stored body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// What it is named by.
    pub digest: Digest,
    /// How long it is, in bytes.
    pub bytes: u64,
    /// When it was stored last, Unix seconds by the file system.
    pub stored_s: u64,
}

impl ContentStore {
    /// Every stored body, the one that was stored first at the beginning. What is still being written is none.
    ///
    /// Costs one look at each file.
    ///
    /// # Errors
    ///
    /// [`ContentFault::Unwritable`] when the folder cannot be read.
    pub fn kept(&self) -> Result<Vec<Kept>, ContentFault> {
        let mut found: Vec<Kept> = self.names()?.iter().filter_map(|name| self.look(name.parse().ok()?)).collect();
        found.sort_unstable_by_key(|kept| (kept.stored_s, kept.digest));
        Ok(found)
    }

    /// How many bytes all stored bodies have together.
    ///
    /// # Errors
    ///
    /// [`ContentFault::Unwritable`] when the folder cannot be read.
    pub fn total(&self) -> Result<u64, ContentFault> {
        let sum = |sum: u64, kept: &Kept| sum.saturating_add(kept.bytes);
        Ok(self.kept()?.iter().fold(0, sum))
    }

    /// Copies the content `digest` into `out`, byte for byte.
    ///
    /// # Errors
    ///
    /// [`ContentFault::Missing`] or [`ContentFault::Damaged`], also after something was written; or
    /// [`ContentFault::Unwritable`] when `out` takes no more.
    pub fn copy_into(&self, digest: &Digest, out: &mut File) -> Result<(), ContentFault> {
        self.each_piece(digest, |piece| out.write_all(piece).map_err(|error| self.unwritable(&error)))
    }

    /// Takes the body `digest` out of the folder, and its note.
    ///
    /// # Errors
    ///
    /// [`ContentFault::Unwritable`]. A body that is not there is no fault.
    pub fn remove(&self, digest: &Digest) -> Result<(), ContentFault> {
        self.unlink(&digest.to_string())?;
        self.unlink(&format!("{OF_BODY}{digest}"))
    }

    /// Takes out the notes of bodies that are no longer there.
    ///
    /// # Errors
    ///
    /// [`ContentFault::Unwritable`].
    pub fn forget_idle_notes(&self) -> Result<(), ContentFault> {
        for name in self.names()? {
            let is_note = name.starts_with(OF_BODY) || name.starts_with(OF_REQUEST);
            if is_note && self.read_note(&name).is_none_or(|note| self.look(note.digest).is_none()) {
                self.unlink(&name)?;
            }
        }
        Ok(())
    }

    /// The names of all files, in no order.
    fn names(&self) -> Result<Vec<String>, ContentFault> {
        // A name that is no text is none of ours.
        self.folder().names().map_err(|error| self.unwritable(&error))
    }

    /// The body `digest`, where it is a file.
    fn look(&self, digest: Digest) -> Option<Kept> {
        let found = self.folder().look(&digest.to_string()).ok()?;
        found.is_file.then_some(Kept { digest, bytes: found.bytes, stored_s: found.written_s })
    }

    fn unlink(&self, name: &str) -> Result<(), ContentFault> {
        match self.folder().remove(name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(self.unwritable(&error)),
            _ => Ok(()),
        }
    }
}
