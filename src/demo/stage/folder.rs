//! The sandbox folder of a demo: temporary and removed at the end, or the user's own and kept.
//!
//! It must never remove a folder it did not make.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bursar_vault::platform::make_private_directory;

use super::{StageFault, system};

const REMOVE_TRIES: u32 = 100;
const REMOVE_PAUSE: Duration = Duration::from_millis(10);

/// A folder of mode 0700 that was not there before.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    Removed,
}

impl Folder {
    /// A folder in the system's temporary directory, removed when this is dropped.
    pub(crate) fn temporary() -> Result<Self, StageFault> {
        let name = random_bytes().map_err(|fault| system("read random bytes", fault))?;
        let short: String = hex::encode(name).chars().take(12).collect();
        let path = std::env::temp_dir().join(format!("bursar-demo-{short}"));
        Self::made(path, Fate::Removed)
    }

    /// The folder at `path`, which must not exist yet and stays afterwards.
    pub(crate) fn kept(path: &Path) -> Result<Self, StageFault> {
        let path = std::path::absolute(path).map_err(|fault| system("resolve the folder's path", fault))?;
        if path.symlink_metadata().is_ok() {
            return Err(StageFault::Occupied { path });
        }
        Self::made(path, Fate::Kept)
    }

    fn made(path: PathBuf, fate: Fate) -> Result<Self, StageFault> {
        make_private_directory(&path)
            .map_err(|fault| system(&format!("make the new folder `{}`", path.display()), fault))?;
        Ok(Self { path, fate })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// It stays when the demo is over.
    pub(crate) fn is_kept(&self) -> bool {
        self.fate == Fate::Kept
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.fate == Fate::Kept {
            return;
        }
        // A process that was just told to end may still write its last file.
        for _try in 0..REMOVE_TRIES {
            match fs::remove_dir_all(&self.path) {
                Err(fault) if fault.kind() == io::ErrorKind::DirectoryNotEmpty => std::thread::sleep(REMOVE_PAUSE),
                Err(fault) => {
                    tracing::warn!(%fault, path = %self.path.display(), "the demo's folder could not be removed");
                    return;
                }
                Ok(()) => return,
            }
        }
    }
}

/// Sixteen bytes from the system's random source.
pub(crate) fn random_bytes() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|fault| io::Error::other(fault.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_folder_is_private_and_goes_away_with_everything_in_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = Folder::temporary().unwrap();
        let path = folder.path().to_owned();
        fs::write(path.join("note"), "x").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn a_kept_folder_stays_and_one_that_exists_is_refused() {
        let outer = Folder::temporary().unwrap();
        let inner = outer.path().join("kept");
        drop(Folder::kept(&inner).unwrap());
        assert!(inner.is_dir());
        let again = Folder::kept(&inner).unwrap_err().to_string();
        assert!(again.contains("does not exist yet"), "{again}");
    }
}
