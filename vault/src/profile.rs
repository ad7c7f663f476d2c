//! Where a vault keeps its things. Must never ask the environment: a path comes from the account database or a flag.

use crate::guarded::{self, GuardFault};
use crate::ledger::LedgerPlace;
use bursar_policy::{Digest, Setting};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// The name of the rules' JSON schema, in the folder of the rules.
pub const SCHEMA_FILE: &str = "bursar.schema.json";

/// The longest socket path the kernel takes, bytes without the closing zero.
const SOCKET_PATH_MAX_BYTES: usize = 107;

const ACCOUNTS: &str = "/etc/passwd";
const ACCOUNTS_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// One place with rules, key, ledger and sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    home: PathBuf,
    setting: Setting,
    name: String,
}

/// Why there is no profile.
#[derive(Debug, Error)]
pub enum ProfileFault {
    /// The account database cannot be read.
    #[error("cannot read the account database `{ACCOUNTS}`: {0}")]
    Accounts(#[source] io::Error),
    /// Our user id has no account.
    #[error(
        "user id {uid} has no home directory in `{ACCOUNTS}`; add the account, or use `--sandbox DIR` to try bursar out"
    )]
    NoAccount {
        /// Our user id.
        uid: u32,
    },
    /// The program runs with somebody else's rights.
    #[error("bursar runs with the rights of user id {effective} on behalf of user id {real}; start it as one user")]
    Borrowed {
        /// Who started it.
        real: u32,
        /// Whose rights it has.
        effective: u32,
    },
    /// Not a profile name.
    #[error("`{name}` is not a profile name; use 1 to 32 of a-z, 0-9 and `-`")]
    Name {
        /// What was given.
        name: String,
    },
    /// The directory cannot be used.
    #[error(transparent)]
    Guard(#[from] GuardFault),
}

impl Profile {
    /// The user's own profile, or a named one beside it: only the paths, nothing is opened or checked.
    ///
    /// The home directory is the one in the account database for our user id.
    ///
    /// # Errors
    ///
    /// [`ProfileFault`] when there is no account, the name is malformed, or the program has borrowed rights.
    pub fn locate_default(name: Option<&str>) -> Result<Self, ProfileFault> {
        let base = account_home()?.join(".bursar");
        match name {
            None => Ok(Self { home: base, setting: Setting::Real, name: "default".to_owned() }),
            Some(name) if is_name(name) => {
                Ok(Self { home: base.join("profiles").join(name), setting: Setting::Real, name: name.to_owned() })
            }
            Some(name) => Err(ProfileFault::Name { name: name.escape_debug().take(64).collect() }),
        }
    }

    /// A sandbox in `directory`: only the paths, nothing is opened or checked.
    ///
    /// # Errors
    ///
    /// [`ProfileFault`] when a relative path cannot be resolved or the program has borrowed rights.
    pub fn locate_sandbox(directory: &Path) -> Result<Self, ProfileFault> {
        own_uid()?;
        let whole = std::path::absolute(directory).map_err(|source| GuardFault::System {
            doing: "resolve",
            path: directory.to_owned(),
            source,
        })?;
        // Rebuilt from its parts, so that a trailing slash cannot hide a link from the checks.
        let home: PathBuf = whole.components().filter(|part| *part != Component::CurDir).collect();
        Ok(Self { home, setting: Setting::Sandbox, name: "sandbox".to_owned() })
    }

    /// Any place with any setting, for tests of what only real money has.
    #[cfg(test)]
    pub(crate) fn at(home: &Path, setting: Setting) -> Self {
        Self { home: home.to_owned(), setting, name: "default".to_owned() }
    }

    /// [`Profile::locate_default`], with the directory and its parents checked.
    ///
    /// # Errors
    ///
    /// [`ProfileFault`]; a missing directory says to run `bursar init`.
    pub fn open_default(name: Option<&str>) -> Result<Self, ProfileFault> {
        let profile = Self::locate_default(name)?;
        profile.check()?;
        Ok(profile)
    }

    /// [`Profile::locate_sandbox`], with the directory and its parents checked.
    ///
    /// # Errors
    ///
    /// As [`Profile::open_default`].
    pub fn open_sandbox(directory: &Path) -> Result<Self, ProfileFault> {
        let profile = Self::locate_sandbox(directory)?;
        profile.check()?;
        Ok(profile)
    }

    /// Checks that the directory and its parents are out of others' reach.
    ///
    /// # Errors
    ///
    /// [`ProfileFault::Guard`].
    pub fn check(&self) -> Result<(), ProfileFault> {
        guarded::directory(&self.home)?;
        Ok(())
    }

    /// Makes the directory (mode 0700), or checks the one that is there.
    ///
    /// # Errors
    ///
    /// [`ProfileFault::Guard`]; above `.bursar`, or above a sandbox, nothing is created.
    pub fn create(&self) -> Result<(), ProfileFault> {
        if self.setting == Setting::Real && self.name != "default" {
            let above: Vec<&Path> = self.home.ancestors().skip(1).take(2).collect();
            for directory in above.into_iter().rev() {
                guarded::make_directory(directory)?;
            }
        }
        guarded::make_directory(&self.home)?;
        Ok(())
    }

    /// The directory.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Real money or a sandbox.
    #[must_use]
    pub const fn setting(&self) -> Setting {
        self.setting
    }

    /// `default`, the name given, or `sandbox`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The operator's rules (TOML).
    #[must_use]
    pub fn rules(&self) -> PathBuf {
        self.home.join("bursar.toml")
    }

    /// The JSON schema of the rules, beside them, for editors; nothing here reads it.
    #[must_use]
    pub fn rules_schema(&self) -> PathBuf {
        self.home.join(SCHEMA_FILE)
    }

    /// The encrypted key (Web3 Secret Storage v3).
    #[must_use]
    pub fn keystore(&self) -> PathBuf {
        self.home.join("keystore.json")
    }

    /// The ledger (SQLite).
    #[must_use]
    pub fn ledger(&self) -> PathBuf {
        self.home.join("ledger.db")
    }

    /// The file whose lock says that a vault runs.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.home.join("vault.lock")
    }

    /// Bodies by digest.
    #[must_use]
    pub fn content_dir(&self) -> PathBuf {
        self.home.join("content")
    }

    /// Optional: the keystore's passphrase for unlocking without a person. Its presence makes the passphrase a seat belt.
    #[must_use]
    pub fn passphrase_file(&self) -> PathBuf {
        self.home.join("passphrase")
    }

    /// What the operator's passphrase is checked against.
    #[must_use]
    pub fn verifier(&self) -> PathBuf {
        self.home.join("operator.json")
    }

    /// How many wrong passphrases came in a row.
    #[must_use]
    pub fn attempts(&self) -> PathBuf {
        self.home.join("operator.attempts")
    }

    /// The operator's secrets for sellers and the proxy, encrypted.
    #[must_use]
    pub fn secrets(&self) -> PathBuf {
        self.home.join("secrets.json")
    }

    /// The digest of the rules that the operator agreed to last.
    #[must_use]
    pub fn accepted_rules(&self) -> PathBuf {
        self.home.join("rules.accepted")
    }

    /// The ledger as its own module names it.
    #[must_use]
    pub fn ledger_place(&self) -> LedgerPlace {
        LedgerPlace { file: self.ledger(), lock: self.lock(), setting: self.setting }
    }

    /// A sandbox only: names the step at which the process kills itself (see [`crate::failpoint`]).
    #[must_use]
    pub fn failpoint(&self) -> PathBuf {
        self.home.join("failpoint")
    }

    /// Where a detached vault's own words go.
    #[must_use]
    pub fn vault_log(&self) -> PathBuf {
        self.home.join("vault.log")
    }

    /// The private directory of the sockets: `run` in the profile, or a short per-user one when that would be too long
    /// for a socket address.
    #[must_use]
    pub fn run_dir(&self) -> PathBuf {
        let near = self.home.join("run");
        let longest = near.join("operator.sock");
        if longest.as_os_str().len() <= SOCKET_PATH_MAX_BYTES {
            return near;
        }
        let uid = guarded::our_uid();
        let digest = Digest::of(self.home.as_os_str().as_bytes());
        let short: String = hex::encode(digest.as_bytes()).chars().take(8).collect();
        let runtime = PathBuf::from(format!("/run/user/{uid}"));
        match guarded::directory(&runtime) {
            Ok(()) => runtime.join(format!("bursar-{short}")),
            Err(_absent) => PathBuf::from(format!("/tmp/bursar-{uid}-{short}")),
        }
    }

    /// The socket for `serve`.
    #[must_use]
    pub fn agent_sock(&self) -> PathBuf {
        self.run_dir().join("agent.sock")
    }

    /// The socket for a human at a terminal.
    #[must_use]
    pub fn operator_sock(&self) -> PathBuf {
        self.run_dir().join("operator.sock")
    }

    /// The socket for a browser's glue.
    #[must_use]
    pub fn glue_sock(&self) -> PathBuf {
        self.run_dir().join("glue.sock")
    }
}

/// The home directory that the account database has for our user id.
///
/// # Errors
///
/// [`ProfileFault`] when there is no account, or the program has borrowed rights.
pub fn account_home() -> Result<PathBuf, ProfileFault> {
    let uid = own_uid()?;
    home_of(&read_accounts()?, uid).ok_or(ProfileFault::NoAccount { uid })
}

fn own_uid() -> Result<u32, ProfileFault> {
    let real = rustix::process::getuid().as_raw();
    let effective = guarded::our_uid();
    if real != effective {
        return Err(ProfileFault::Borrowed { real, effective });
    }
    Ok(real)
}

fn read_accounts() -> Result<Vec<u8>, ProfileFault> {
    let mut bytes = Vec::new();
    fs::File::open(ACCOUNTS)
        .and_then(|file| file.take(ACCOUNTS_MAX_BYTES).read_to_end(&mut bytes))
        .map_err(ProfileFault::Accounts)?;
    Ok(bytes)
}

/// The home directory of `uid` in the text of an account database (`name:password:uid:gid:gecos:home:shell`).
fn home_of(accounts: &[u8], uid: u32) -> Option<PathBuf> {
    let wanted = uid.to_string();
    accounts.split(|byte| *byte == b'\n').find_map(|line| {
        let mut fields = line.split(|byte| *byte == b':');
        let theirs = fields.nth(2)?;
        let home = fields.nth(2)?;
        (theirs == wanted.as_bytes() && home.first() == Some(&b'/')).then(|| PathBuf::from(OsStr::from_bytes(home)))
    })
}

fn is_name(name: &str) -> bool {
    (1..=32).contains(&name.len())
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        && !name.starts_with('-')
}

#[cfg(test)]
mod tests;
