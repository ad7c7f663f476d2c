//! Where the keys of a profile lie: the one that pays in its place, every other one by its account. Must never remove the
//! last copy of a key, nor choose which key pays: the ledger's account says that.
//!
//! A change of the key is prepared by putting the new one beside the old one, and is made by the ledger. [`settle`] then
//! moves the files after it, at once or at the next start, however often it is cut off in between.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::failpoint;
use crate::guarded::{self, GuardFault};
use crate::keystore::{Keystore, KeystoreFault};
use crate::profile::Profile;
use bursar_policy::Address;

/// The keystore of an account that does not pay.
pub(crate) fn kept(profile: &Profile, account: Address) -> PathBuf {
    profile.keys().join(format!("{}.json", account.to_string().to_lowercase()))
}

/// The secrets, sealed under the key of an account that does not pay yet.
pub(crate) fn kept_secrets(profile: &Profile, account: Address) -> PathBuf {
    profile.keys().join(format!("{}.secrets.json", account.to_string().to_lowercase()))
}

/// The keystores of all accounts that do not pay, as far as they can be listed.
pub(crate) fn every_kept(profile: &Profile) -> Vec<PathBuf> {
    let Ok(listed) = fs::read_dir(profile.keys()) else { return Vec::new() };
    let named = |path: &PathBuf| {
        let stem = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".json"));
        stem.is_some_and(|stem| stem.parse::<Address>().is_ok())
    };
    listed.filter_map(|entry| Some(entry.ok()?.path())).filter(named).collect()
}

/// Puts the key of `account`, which the ledger counts for, in its place, where it lies beside it. The key that was there is
/// kept by its account first. Where nothing is to be moved, only what a move left behind goes. A file goes only where its very
/// bytes are in another place.
///
/// # Errors
///
/// [`KeystoreFault`]; then both keys are where they were, or one of them is in both places.
pub(crate) fn settle(profile: &Profile, account: Address) -> Result<(), KeystoreFault> {
    let paying = Keystore::address_of(&profile.keystore(), profile.setting())?;
    let (beside, secrets) = (kept(profile, account), kept_secrets(profile, account));
    if paying != account {
        let Some(next) = guarded::read_if_there(&beside, guarded::FILE_MAX_BYTES)? else { return Ok(()) };
        if Keystore::address_of(&beside, profile.setting())? != account {
            return Err(KeystoreFault::Damaged { path: beside, what: "it is of another account than its name" });
        }
        let (before, path) = (guarded::read(&profile.keystore(), guarded::FILE_MAX_BYTES)?, kept(profile, paying));
        match guarded::create(&path, &before) {
            Ok(()) => {}
            Err(GuardFault::Exists { .. }) if holds(&path, &before)? => {}
            Err(GuardFault::Exists { .. }) => return Err(KeystoreFault::Twice { path }),
            Err(fault) => return Err(fault.into()),
        }
        failpoint::reach("vault-rotation-kept");
        if let Some(sealed) = guarded::read_if_there(&secrets, guarded::FILE_MAX_BYTES)? {
            guarded::replace(&profile.secrets(), &sealed)?;
            failpoint::reach("vault-rotation-secrets");
        }
        guarded::replace(&profile.keystore(), &next)?;
        failpoint::reach("vault-rotation-moved");
    }
    if holds(&beside, &guarded::read(&profile.keystore(), guarded::FILE_MAX_BYTES)?)? {
        forget(&beside)?;
    }
    failpoint::reach("vault-rotation-cleared");
    forget(&secrets)
}

/// Whether the file at `path` is there and is these bytes.
fn holds(path: &Path, bytes: &[u8]) -> Result<bool, GuardFault> {
    Ok(guarded::read_if_there(path, guarded::FILE_MAX_BYTES)?.is_some_and(|there| there.as_slice() == bytes))
}

/// Removes a file that is nowhere needed: a copy of one that is in its place, or a key that nobody was told of.
///
/// # Errors
///
/// [`GuardFault::System`], as a [`KeystoreFault`].
pub(crate) fn forget(path: &Path) -> Result<(), KeystoreFault> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            Err(GuardFault::System { doing: "remove", path: path.to_owned(), source }.into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keystore::{create, parse_key};
    use crate::protocol::Passphrase;
    use bursar_policy::Setting;
    use zeroize::Zeroizing;

    fn key(digit: char, path: &Path) -> Address {
        let key = parse_key(&digit.to_string().repeat(64)).unwrap();
        let word = Passphrase::new(Zeroizing::new("open".to_owned()));
        create(path, &key, &word, Setting::Sandbox, "ledger-1").unwrap();
        key.address()
    }

    fn made() -> (tempfile::TempDir, Profile, Address, Address) {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::at(folder.path(), Setting::Sandbox);
        guarded::make_directory(&profile.keys()).unwrap();
        let old = key('1', &profile.keystore());
        let draft = folder.path().join("draft.json");
        let new = key('2', &draft);
        fs::rename(draft, kept(&profile, new)).unwrap();
        (folder, profile, old, new)
    }

    fn pays(profile: &Profile) -> Address {
        Keystore::address_of(&profile.keystore(), Setting::Sandbox).unwrap()
    }

    #[test]
    fn the_key_of_the_ledgers_account_is_put_in_its_place_and_the_other_is_kept() {
        let (_folder, profile, old, new) = made();
        guarded::replace(&profile.secrets(), b"under the old key").unwrap();
        guarded::replace(&kept_secrets(&profile, new), b"under the new key").unwrap();
        settle(&profile, old).unwrap();
        assert_eq!((pays(&profile), kept(&profile, new).exists()), (old, true), "nothing was changed by the ledger");
        settle(&profile, new).unwrap();
        assert_eq!(pays(&profile), new);
        assert!(kept(&profile, old).exists() && !kept(&profile, new).exists());
        assert_eq!(fs::read(profile.secrets()).unwrap(), b"under the new key");
        assert!(!kept_secrets(&profile, new).exists());
        // A ledger that was put back to before the change gets its key again, and none is lost.
        settle(&profile, old).unwrap();
        assert_eq!(pays(&profile), old);
        assert!(kept(&profile, new).exists());
    }

    #[test]
    fn a_move_that_was_cut_off_anywhere_is_finished_by_the_next_one() {
        for step in 0..3 {
            let (_folder, profile, old, new) = made();
            let (before, next) = (fs::read(profile.keystore()).unwrap(), fs::read(kept(&profile, new)).unwrap());
            if 0 < step {
                guarded::create(&kept(&profile, old), &before).unwrap();
            }
            if 1 < step {
                guarded::replace(&profile.keystore(), &next).unwrap();
            }
            settle(&profile, new).unwrap();
            assert_eq!(fs::read(profile.keystore()).unwrap(), next, "{step}");
            assert!(!kept(&profile, new).exists(), "{step}");
            assert_eq!(fs::read(kept(&profile, old)).unwrap(), before, "{step}");
        }
    }

    #[test]
    fn a_key_is_never_overwritten_by_another_file_of_its_account() {
        let (folder, profile, old, new) = made();
        let copy = folder.path().join("copy.json");
        key('1', &copy);
        let (here, other) = (fs::read(profile.keystore()).unwrap(), fs::read(&copy).unwrap());
        assert_ne!(here, other, "the same key, encrypted twice");
        fs::rename(copy, kept(&profile, old)).unwrap();
        assert!(matches!(settle(&profile, new), Err(KeystoreFault::Twice { .. })));
        assert_eq!((fs::read(profile.keystore()).unwrap(), fs::read(kept(&profile, old)).unwrap()), (here, other));
        assert!(kept(&profile, new).exists());
        // Nor is one removed because another one is in its place.
        settle(&profile, old).unwrap();
        assert!(kept(&profile, old).exists());
    }

    #[test]
    fn a_key_under_the_name_of_another_account_is_not_put_in_its_place() {
        let (folder, profile, old, new) = made();
        let draft = folder.path().join("third.json");
        key('3', &draft);
        fs::rename(draft, kept(&profile, new)).unwrap();
        assert!(matches!(settle(&profile, new), Err(KeystoreFault::Damaged { .. })));
        assert_eq!((pays(&profile), kept(&profile, old).exists()), (old, false));
    }

    #[test]
    fn an_account_without_a_key_here_moves_nothing() {
        let (_folder, profile, old, _new) = made();
        let stranger = Address::from_bytes([9; 20]);
        settle(&profile, stranger).unwrap();
        assert_eq!(pays(&profile), old);
    }
}
