//! Where a console of the operator's listens: one small file that the console writes and `serve` reads. It must never hold a
//! login, nor be believed once the console is gone.
//!
//! The file is `run/console.json` in the profile's folder, `{"port": N, "base": "/…/"}`, for its owner alone (0600). A console
//! holds a lock on it for as long as it listens, from before it has its name; a file that nobody holds is of one that died, and
//! there may be somebody else's server behind its port by now. Where the machine's vault is used there is no such file: the
//! folder is not the operator's.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use bursar_policy::ApprovalId;
use bursar_vault::guarded::{self, GuardFault};
use bursar_vault::platform;
use bursar_vault::profile::Profile;
use serde::{Deserialize, Serialize};

/// The longest file, in bytes.
const MAX_BYTES: u64 = 256;

/// The hexadecimal digits of a console's path.
const BASE_DIGITS: usize = 24;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    port: u16,
    base: String,
}

/// The note of a console that listens. Dropping it takes the file away.
#[derive(Debug)]
pub struct Note {
    path: PathBuf,
    lock: File,
}

impl Note {
    /// Writes down that a console of `profile` listens at `port` of 127.0.0.1, below the path `base`, in place of what an earlier
    /// one left. The folder `run` has to be there, as it is where a vault runs. Whoever looks meanwhile finds the earlier note or
    /// the whole of this one, held.
    ///
    /// # Errors
    ///
    /// What stands against writing it, or that another console holds it ([`io::ErrorKind::AddrInUse`]).
    pub fn write(profile: &Profile, port: u16, base: &str) -> io::Result<Self> {
        let path = path(profile);
        if holds(&path) {
            let told = "another console of this profile listens already";
            return Err(io::Error::new(io::ErrorKind::AddrInUse, told));
        }
        let text = serde_json::to_vec(&Written { port, base: base.to_owned() })?;
        let beside = path.with_file_name(format!("console.json.{}", std::process::id()));
        guarded::replace(&beside, &text).map_err(|fault: GuardFault| io::Error::other(fault.to_string()))?;
        let lock = File::open(&beside)?;
        // Held before it has its name: a `serve` that looks at the name never finds it free.
        lock.try_lock()?;
        fs::rename(&beside, &path)?;
        Ok(Self { path, lock })
    }

    /// Whether the file under the name is this one still.
    fn is_there(&self) -> io::Result<bool> {
        platform::is_still_at(&self.lock, &self.path)
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let gone = match self.is_there() {
            Ok(true) => fs::remove_file(&self.path),
            Ok(false) => Ok(()),
            Err(fault) => Err(fault),
        };
        if let Err(fault) = gone {
            tracing::debug!(%fault, "the console's note is gone already");
        }
    }
}

/// Where the console of `profile` shows one purchase that waits; `None` where no console is known to listen, and where the vault
/// is the machine's.
#[must_use]
pub fn page(profile: &Profile, approval: &ApprovalId) -> Option<String> {
    if profile.hardened().is_some() {
        return None;
    }
    let path = path(profile);
    let bytes = guarded::read(&path, MAX_BYTES).ok()?;
    let Written { port, base } = serde_json::from_slice(&bytes).ok()?;
    let is_good = port != 0 && is_base(&base) && holds(&path);
    is_good.then(|| format!("http://127.0.0.1:{port}{base}#approval={approval}"))
}

/// Whether `base` is a path as consoles draw them.
fn is_base(base: &str) -> bool {
    let digits = base.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).unwrap_or_default();
    digits.len() == BASE_DIGITS && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

fn path(profile: &Profile) -> PathBuf {
    profile.run_dir().join("console.json")
}

/// Whether somebody holds the file.
fn holds(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::atomic::{AtomicBool, Ordering};

    const BASE: &str = "/0123456789abcdef01234567/";

    fn household() -> (tempfile::TempDir, Profile, ApprovalId) {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::locate_sandbox(&folder.path().join("play")).unwrap();
        for made in [profile.home().to_owned(), profile.run_dir()] {
            fs::create_dir_all(&made).unwrap();
            fs::set_permissions(&made, fs::Permissions::from_mode(0o700)).unwrap();
        }
        (folder, profile, ApprovalId::from_random([7; 16]))
    }

    #[test]
    fn a_console_is_known_while_it_holds_its_note_and_not_longer() {
        let (_folder, profile, id) = household();
        assert_eq!(page(&profile, &id), None);
        let note = Note::write(&profile, 4711, BASE).unwrap();
        assert_eq!(page(&profile, &id), Some(format!("http://127.0.0.1:4711{BASE}#approval={id}")));
        assert!(Note::write(&profile, 4712, BASE).is_err(), "one console is enough");
        let left = fs::read(path(&profile)).unwrap();
        drop(note);
        assert_eq!(page(&profile, &id), None);
        assert_eq!(fs::read_dir(profile.run_dir()).unwrap().count(), 0, "something is left");
        // As after a console that was killed: the file is there and nobody holds it.
        guarded::replace(&path(&profile), &left).unwrap();
        assert_eq!(page(&profile, &id), None);
        assert!(Note::write(&profile, 4713, BASE).is_ok());
    }

    #[test]
    fn a_note_is_written_whoever_looks_meanwhile() {
        let (_folder, profile, _) = household();
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    holds(&path(&profile));
                }
            });
            let written = (0..200).map(|_| Note::write(&profile, 4711, BASE).map(drop));
            let failed: Vec<_> = written.filter_map(Result::err).collect();
            ended.store(true, Ordering::Relaxed);
            assert!(failed.is_empty(), "{failed:?}");
        });
    }

    #[test]
    fn a_note_of_another_console_stays_where_it_is() {
        let (_folder, profile, id) = household();
        let first = Note::write(&profile, 4711, BASE).unwrap();
        fs::remove_file(path(&profile)).unwrap();
        let second = Note::write(&profile, 4712, BASE).unwrap();
        drop(first);
        assert!(page(&profile, &id).unwrap().contains(":4712/"));
        drop(second);
        assert_eq!(page(&profile, &id), None);
    }

    #[test]
    fn a_note_that_others_could_have_written_or_that_says_anything_else_is_none() {
        let (_folder, profile, id) = household();
        let note = Note::write(&profile, 4711, BASE).unwrap();
        fs::set_permissions(path(&profile), fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(page(&profile, &id), None);
        fs::set_permissions(path(&profile), fs::Permissions::from_mode(0o600)).unwrap();
        assert!(page(&profile, &id).is_some());
        for (port, base) in [
            ("0", BASE),
            ("\"4711@evil.test\"", BASE),
            ("4711", "/"),
            ("4711", "@evil.test/0123456789abcdef01234567/"),
            ("4711", "/0123456789abcdef0123456/"),
            ("4711", "/0123456789ABCDEF01234567/"),
            ("4711", "/0123456789abcdef01234567/?x"),
        ] {
            let text = format!(r#"{{"port": {port}, "base": "{base}"}}"#);
            fs::write(path(&profile), &text).unwrap();
            assert_eq!(page(&profile, &id), None, "{text}");
        }
        for text in [format!(r#"{{"port": 4711, "base": "{BASE}", "login": "x"}}"#), "{}".to_owned()] {
            fs::write(path(&profile), &text).unwrap();
            assert_eq!(page(&profile, &id), None, "{text}");
        }
        fs::write(path(&profile), format!(r#"{{"port": 4711, "base": "{BASE}"}}"#)).unwrap();
        assert!(page(&profile, &id).is_some());
        drop(note);
    }
}
