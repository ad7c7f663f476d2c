//! Where a console of the operator's listens: one small file that the console writes and `serve` reads. It must never hold a
//! login, nor be believed once the console is gone.
//!
//! The file is `run/console.json` in the profile's folder, `{"port": N}`, for its owner alone (0600). A console holds a lock
//! on it for as long as it listens; a file that nobody holds is of one that died, and there may be somebody else's server
//! behind its port by now. Where the machine's vault is used there is no such file: the folder is not the operator's.

use std::fs::File;
use std::path::PathBuf;

use bursar_policy::ApprovalId;
use bursar_vault::guarded::{self, GuardFault};
use bursar_vault::profile::Profile;
use serde::{Deserialize, Serialize};

/// The longest file, in bytes.
const MAX_BYTES: u64 = 256;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    port: u16,
}

/// The note of a console that listens. Dropping it takes the file away.
#[derive(Debug)]
pub struct Note {
    path: PathBuf,
    _lock: File,
}

impl Note {
    /// Writes down that a console of `profile` listens at `port` of 127.0.0.1, in place of what an earlier one left. The
    /// folder `run` has to be there, as it is where a vault runs.
    ///
    /// # Errors
    ///
    /// What stands against writing it, or that another console holds it.
    pub fn write(profile: &Profile, port: u16) -> std::io::Result<Self> {
        let path = path(profile);
        let text = serde_json::to_vec(&Written { port })?;
        if holds(&path) {
            let told = "another console of this profile listens already";
            return Err(std::io::Error::new(std::io::ErrorKind::AddrInUse, told));
        }
        guarded::replace(&path, &text).map_err(|fault: GuardFault| std::io::Error::other(fault.to_string()))?;
        let lock = File::open(&path)?;
        lock.try_lock()?;
        Ok(Self { path, _lock: lock })
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        if let Err(fault) = std::fs::remove_file(&self.path) {
            tracing::debug!(%fault, "the console's note is gone already");
        }
    }
}

/// Where the console of `profile` shows one purchase that waits; `None` where no console is known to listen.
#[must_use]
pub fn page(profile: &Profile, approval: &ApprovalId) -> Option<String> {
    let path = path(profile);
    let bytes = guarded::read(&path, MAX_BYTES).ok()?;
    let Written { port } = serde_json::from_slice(&bytes).ok()?;
    (port != 0 && holds(&path)).then(|| format!("http://127.0.0.1:{port}/#approval={approval}"))
}

fn path(profile: &Profile) -> PathBuf {
    profile.run_dir().join("console.json")
}

/// Whether somebody holds the file.
fn holds(path: &std::path::Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn household() -> (tempfile::TempDir, Profile, ApprovalId) {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::locate_sandbox(&folder.path().join("play")).unwrap();
        for made in [profile.home().to_owned(), profile.run_dir()] {
            std::fs::create_dir_all(&made).unwrap();
            std::fs::set_permissions(&made, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
        (folder, profile, ApprovalId::from_random([7; 16]))
    }

    #[test]
    fn a_console_is_known_while_it_holds_its_note_and_not_longer() {
        let (_folder, profile, id) = household();
        assert_eq!(page(&profile, &id), None);
        let note = Note::write(&profile, 4711).unwrap();
        assert_eq!(page(&profile, &id), Some(format!("http://127.0.0.1:4711/#approval={id}")));
        assert!(Note::write(&profile, 4712).is_err(), "one console is enough");
        let left = std::fs::read(path(&profile)).unwrap();
        drop(note);
        assert_eq!(page(&profile, &id), None);
        // As after a console that was killed: the file is there and nobody holds it.
        guarded::replace(&path(&profile), &left).unwrap();
        assert_eq!(page(&profile, &id), None);
        assert!(Note::write(&profile, 4713).is_ok());
    }

    #[test]
    fn a_note_that_others_could_have_written_or_that_says_anything_else_is_none() {
        let (_folder, profile, id) = household();
        let note = Note::write(&profile, 4711).unwrap();
        std::fs::set_permissions(path(&profile), std::fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(page(&profile, &id), None);
        std::fs::set_permissions(path(&profile), std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(page(&profile, &id).is_some());
        for text in [r#"{"port": 0}"#, r#"{"port": 4711, "login": "x"}"#, r#"{"port": "4711@evil.test"}"#, "{}"] {
            std::fs::write(path(&profile), text).unwrap();
            assert_eq!(page(&profile, &id), None, "{text}");
        }
        drop(note);
    }
}
