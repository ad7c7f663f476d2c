//! The vault that root set up for the whole machine: one reader for `/etc/bursar/vault.toml`. A file that is there and cannot
//! be used is a fault, and nobody gets another vault in its place.
//!
//! The file is root's, so neither an agent nor whoever took over its `serve` can move the sockets or add a user. Where it is
//! not there, every user has a vault of their own.

use crate::accounts::{ACCOUNTS, Accounts};
use crate::guarded::{self, GuardFault};
use crate::platform;
use core::fmt;
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// The most that is read of it, bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The longest name of a socket, with the slash before it, bytes.
const LONGEST_NAME: usize = "/operator.sock".len();

/// A vault of its own user, and who may speak to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hardened {
    file: PathBuf,
    vault: u32,
    agents: BTreeSet<u32>,
    operators: BTreeSet<u32>,
    browsers: BTreeSet<u32>,
    sockets: PathBuf,
    passphrase: Option<PathBuf>,
}

/// One of a vault's three sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorName {
    /// For `serve`.
    Agent,
    /// For a person at a terminal.
    Operator,
    /// For the glue of a browser.
    Glue,
}

/// Why the file is not used. One sentence each, with the next step; nothing is done in its place.
#[derive(Debug, Error)]
pub enum HardenedFault {
    /// The file, or a folder above it, could have been written by somebody else than root.
    #[error(transparent)]
    Guard(#[from] GuardFault),
    /// A file was named and is not there.
    #[error("`{}` does not exist; name the file that says whose the vault is, or leave `--hardened` out", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The text is not what it should be.
    #[error("`{}`: {said}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// What is wrong, one sentence.
        said: String,
    },
    /// This system has no users of that kind.
    #[error("a vault of the machine's, with a user of its own, is not made for this system; leave `--hardened` out")]
    NotHere,
    /// The account database cannot be read.
    #[error("cannot read the account database `{ACCOUNTS}`: {0}")]
    Accounts(#[source] io::Error),
}

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Draft {
    vault: Account,
    agents: Vec<Account>,
    operators: Vec<Account>,
    browsers: Option<Vec<Account>>,
    sockets: PathBuf,
    passphrase: Option<PathBuf>,
}

/// A user, by name or by number.
#[derive(Debug)]
enum Account {
    Name(String),
    Uid(u32),
}

impl Hardened {
    /// Reads the machine's file; `None` where there is none.
    ///
    /// # Errors
    ///
    /// [`HardenedFault`] for a file that is there and cannot be used.
    pub fn of_the_machine() -> Result<Option<Self>, HardenedFault> {
        let Some(place) = platform::MACHINE_VAULT.map(Path::new) else { return Ok(None) };
        // A link in the place of the folder leads to no missing file: it is a file that cannot be used.
        if let Some(folder) = place.parent().filter(|folder| folder.is_symlink()) {
            return Err(GuardFault::Link { path: folder.to_owned() }.into());
        }
        match Self::read(place) {
            Ok(found) => Ok(Some(found)),
            Err(HardenedFault::Missing { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Reads the file at `path`.
    ///
    /// # Errors
    ///
    /// [`HardenedFault`].
    pub fn read(path: &Path) -> Result<Self, HardenedFault> {
        if platform::MACHINE_VAULT.is_none() {
            return Err(HardenedFault::NotHere);
        }
        let bytes = match guarded::read_roots(path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(GuardFault::Missing { path }) => return Err(HardenedFault::Missing { path }),
            Err(fault) => return Err(fault.into()),
        };
        let refused = |said: String| HardenedFault::Text { path: path.to_owned(), said };
        let text = core::str::from_utf8(&bytes).map_err(|_fault| refused("it is not UTF-8 text".to_owned()))?;
        Self::of(path, text, &Accounts::read().map_err(HardenedFault::Accounts)?).map_err(refused)
    }

    /// What the text says; else what is wrong with it.
    fn of(path: &Path, text: &str, accounts: &Accounts) -> Result<Self, String> {
        let draft: Draft = toml::from_str(text).map_err(|fault| {
            let line = fault
                .span()
                .map_or(1, |span| text.get(..span.start).unwrap_or(text).matches('\n').count().saturating_add(1));
            format!("line {line}: {}", fault.message().trim_end().replace('\n', "; "))
        })?;
        let uid = |key: &str, account: Account| match account {
            Account::Uid(uid) => Ok(uid),
            Account::Name(name) => accounts.uid_of(&name).ok_or_else(|| {
                let shown: String = name.escape_debug().take(64).collect();
                format!(
                    "`{key}` names `{shown}`, who has no account in `{ACCOUNTS}`; add the account, or write the user id"
                )
            }),
        };
        let uids = |key: &str, named: Vec<Account>| -> Result<BTreeSet<u32>, String> {
            named.into_iter().map(|account| uid(key, account)).collect()
        };
        let operators = uids("operators", draft.operators)?;
        let found = Self {
            file: path.to_owned(),
            vault: uid("vault", draft.vault)?,
            agents: uids("agents", draft.agents)?,
            browsers: draft.browsers.map_or_else(|| Ok(operators.clone()), |named| uids("browsers", named))?,
            operators,
            sockets: whole("sockets", draft.sockets)?,
            passphrase: draft.passphrase.map(|path| whole("passphrase", path)).transpose()?,
        };
        found.sense()?;
        Ok(found)
    }

    /// Refuses what would be no protection.
    fn sense(&self) -> Result<(), String> {
        if self.vault == 0 {
            return Err("`vault` is root; give the vault an account of its own, which needs no rights".to_owned());
        }
        if self.agents.contains(&0) {
            return Err("`agents` lists root, whom no file keeps out; list the users that agents run as".to_owned());
        }
        if self.agents.contains(&self.vault) || self.browsers.contains(&self.vault) {
            return Err(
                "the vault's user is listed under `agents` or `browsers`; give the vault an account of its own"
                    .to_owned(),
            );
        }
        if self.agents.is_empty() || self.operators.is_empty() {
            return Err("`agents` and `operators` need a user each; nobody could pay or allow anything".to_owned());
        }
        if platform::SOCKET_PATH_MAX_BYTES < self.sockets.as_os_str().len().saturating_add(LONGEST_NAME) {
            return Err(
                "`sockets` is too long for the address of a socket; choose a shorter folder, such as `/run/bursar`"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// The file that was read.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The user id of the vault.
    #[must_use]
    pub const fn vault(&self) -> u32 {
        self.vault
    }

    /// The folder of the sockets.
    #[must_use]
    pub fn sockets(&self) -> &Path {
        &self.sockets
    }

    /// Where root puts the passphrase that unlocks the key after a start, if a person need not.
    #[must_use]
    pub fn passphrase(&self) -> Option<&Path> {
        self.passphrase.as_deref()
    }

    /// The user ids that may come in by a socket.
    #[must_use]
    pub const fn guests(&self, door: DoorName) -> &BTreeSet<u32> {
        match door {
            DoorName::Agent => &self.agents,
            DoorName::Operator => &self.operators,
            DoorName::Glue => &self.browsers,
        }
    }

    /// The user ids that are agents and operators at once: code of theirs can watch the terminal where the passphrase is
    /// typed.
    #[must_use]
    pub fn both(&self) -> Vec<u32> {
        self.agents.intersection(&self.operators).copied().collect()
    }
}

impl DoorName {
    /// The key of the file that lists who may come in.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Agent => "agents",
            Self::Operator => "operators",
            Self::Glue => "browsers",
        }
    }
}

/// A path from the root down without a way back up, so that what was checked above it is what is above it.
fn whole(key: &str, path: PathBuf) -> Result<PathBuf, String> {
    let straight = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    if path.is_absolute() && straight && path.file_name().is_some() {
        Ok(path.components().collect())
    } else {
        Err(format!("`{key}` is not a whole path; write it from `/` on, without `..`"))
    }
}

impl<'de> Deserialize<'de> for Account {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ByNameOrNumber)
    }
}

struct ByNameOrNumber;

impl Visitor<'_> for ByNameOrNumber {
    type Value = Account;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an account or its user id")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Account, E> {
        Ok(Account::Name(name.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, uid: i64) -> Result<Account, E> {
        // The highest one means nobody.
        match u32::try_from(uid) {
            Ok(uid) if uid != u32::MAX => Ok(Account::Uid(uid)),
            _ => Err(E::invalid_value(de::Unexpected::Signed(uid), &self)),
        }
    }
}

#[cfg(test)]
mod tests;
