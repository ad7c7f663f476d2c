//! Where a vault keeps its things. Must never ask the environment: a path comes from the account database or a flag.

use crate::accounts::{ACCOUNTS, Accounts};
use crate::guarded::{self, GuardFault};
use crate::hardened::{DoorName, Hardened, HardenedFault};
use crate::ledger::LedgerPlace;
use crate::platform;
use crate::socket::{Guests, Keeper};
use bursar_policy::{Digest, Setting};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// The name of the rules' JSON schema, in the folder of the rules.
pub const SCHEMA_FILE: &str = "bursar.schema.json";

/// One place with rules, key, ledger and sockets. Where root set up one vault for the machine, the sockets are that vault's,
/// and all but its own user have only what is theirs in the folder: bodies that were bought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    home: PathBuf,
    setting: Setting,
    name: String,
    hardened: Option<Arc<Hardened>>,
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
    /// The file that names the machine's vault cannot be used.
    #[error(transparent)]
    Hardened(#[from] HardenedFault),
    /// There is one vault for the machine, and it has no profiles.
    #[error("`{}` names the one vault of this machine, which has no profiles; leave `--profile` out", file.display())]
    OneVault {
        /// The machine's file.
        file: PathBuf,
    },
    /// What is asked for lies with the vault, whose user we are not.
    #[error(
        "the key, the rules and the ledger of this machine belong to user id {vault} (`{}`); run this command as that user",
        file.display()
    )]
    NotTheVault {
        /// The vault's user id.
        vault: u32,
        /// The machine's file.
        file: PathBuf,
    },
    /// We may not use that socket.
    #[error("user id {uid} is not listed under `{}` in `{}`; ask whoever set up this machine's vault", door.key(), file.display())]
    NotListed {
        /// Our user id.
        uid: u32,
        /// The socket.
        door: DoorName,
        /// The machine's file.
        file: PathBuf,
    },
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
        let base = account_home()?.join(platform::PROFILE_FOLDER);
        let setting = Setting::Real;
        let home = match name {
            None => base,
            Some(name) if is_name(name) => base.join("profiles").join(name),
            Some(name) => return Err(ProfileFault::Name { name: name.escape_debug().take(64).collect() }),
        };
        let hardened = Hardened::of_the_machine()?.map(Arc::new);
        if let (Some(hardened), Some(_)) = (&hardened, name) {
            return Err(ProfileFault::OneVault { file: hardened.file().to_owned() });
        }
        Ok(Self { home, setting, name: name.unwrap_or("default").to_owned(), hardened })
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
        Ok(Self { home, setting: Setting::Sandbox, name: "sandbox".to_owned(), hardened: None })
    }

    /// A sandbox in `directory` whose vault is the one that `file` names, as `/etc/bursar/vault.toml` does for real money.
    ///
    /// # Errors
    ///
    /// As [`Profile::locate_sandbox`], and [`HardenedFault`] for the file.
    pub fn locate_hardened_sandbox(directory: &Path, file: &Path) -> Result<Self, ProfileFault> {
        let hardened = Some(Arc::new(Hardened::read(file)?));
        Ok(Self { hardened, ..Self::locate_sandbox(directory)? })
    }

    /// Any place with any setting, for tests of what only real money has.
    #[cfg(test)]
    pub(crate) fn at(home: &Path, setting: Setting) -> Self {
        Self { home: home.to_owned(), setting, name: "default".to_owned(), hardened: None }
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

    /// Checks that the key, the rules and the ledger are ours to look after, and out of others' reach.
    ///
    /// # Errors
    ///
    /// [`ProfileFault::NotTheVault`] where they are the machine's and we are not its vault's user; as [`Profile::check`].
    pub fn check_vault(&self) -> Result<(), ProfileFault> {
        self.is_the_vaults()?;
        self.check()
    }

    /// Says whether a vault of this profile would be a process of ours; nothing is opened.
    ///
    /// # Errors
    ///
    /// [`ProfileFault::NotTheVault`].
    pub fn is_the_vaults(&self) -> Result<(), ProfileFault> {
        match &self.hardened {
            Some(hardened) if hardened.vault() != guarded::our_uid() => {
                Err(ProfileFault::NotTheVault { vault: hardened.vault(), file: hardened.file().to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// Checks what lies on our side of a socket: with a vault of our own user the directory, else that we may use the socket.
    ///
    /// # Errors
    ///
    /// [`ProfileFault::NotListed`]; as [`Profile::check`].
    pub fn check_guest(&self, door: DoorName) -> Result<(), ProfileFault> {
        match &self.hardened {
            None => self.check(),
            Some(hardened) => match guarded::our_uid() {
                uid if hardened.guests(door).contains(&uid) => Ok(()),
                uid => Err(ProfileFault::NotListed { uid, door, file: hardened.file().to_owned() }),
            },
        }
    }

    /// Checks the directory where bodies are kept. A guest of the machine's vault never ran `init` and gets one made.
    ///
    /// # Errors
    ///
    /// As [`Profile::check`].
    pub fn check_own(&self) -> Result<(), ProfileFault> {
        if self.hardened.is_some() { self.create() } else { self.check() }
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

    /// The machine's vault, where root set one up.
    #[must_use]
    pub fn hardened(&self) -> Option<&Hardened> {
        self.hardened.as_deref()
    }

    /// Whose process has to be at the other end of the sockets.
    #[must_use]
    pub fn keeper(&self) -> Keeper {
        self.hardened.as_ref().map_or(Keeper::Ourselves, |hardened| Keeper::Machine(hardened.vault()))
    }

    /// Who may come in by a socket of the vault.
    #[must_use]
    pub fn guests(&self, door: DoorName) -> Guests {
        self.hardened.as_ref().map_or(Guests::Ourselves, |hardened| Guests::Listed(hardened.guests(door).clone()))
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

    /// Keys that do not pay, each by its account: those that did, for what is left there.
    #[must_use]
    pub fn keys(&self) -> PathBuf {
        self.home.join("keys")
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
        let lent = self.hardened.as_ref().and_then(|hardened| hardened.passphrase());
        lent.map_or_else(|| self.home.join("passphrase"), Path::to_owned)
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

    /// The password of the role as which a vault comes to a ledger on a server.
    #[must_use]
    pub fn ledger_password(&self) -> PathBuf {
        self.home.join("ledger.password")
    }

    /// The password of the role as which a vault comes to the center of shares.
    #[must_use]
    pub fn shares_password(&self) -> PathBuf {
        self.home.join("shares.password")
    }

    /// The file of the ledger as its own module names it; [`crate::ledger_place`] says whether it is there that the ledger is.
    #[must_use]
    pub fn ledger_place(&self) -> LedgerPlace {
        LedgerPlace { file: self.ledger(), lock: self.lock(), setting: self.setting, server: None }
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

    /// The directory of the sockets: the machine's, or a private one, `run` in the profile, or a short per-user one when that
    /// would be too long for a socket address.
    #[must_use]
    pub fn run_dir(&self) -> PathBuf {
        if let Some(hardened) = &self.hardened {
            return hardened.sockets().to_owned();
        }
        let near = self.home.join("run");
        let longest = near.join("operator.sock");
        if longest.as_os_str().len() <= platform::SOCKET_PATH_MAX_BYTES {
            return near;
        }
        let digest = Digest::of(self.home.as_os_str().as_encoded_bytes());
        let short: String = hex::encode(digest.as_bytes()).chars().take(8).collect();
        let [best, other] = platform::short_folders(&short);
        let is_there = best.parent().is_some_and(|folder| guarded::directory(folder).is_ok());
        if is_there { best } else { other }
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
    let accounts = Accounts::read().map_err(ProfileFault::Accounts)?;
    accounts.home_of(uid).ok_or(ProfileFault::NoAccount { uid })
}

fn own_uid() -> Result<u32, ProfileFault> {
    let real = platform::real_uid();
    let effective = guarded::our_uid();
    if real != effective {
        return Err(ProfileFault::Borrowed { real, effective });
    }
    Ok(real)
}

fn is_name(name: &str) -> bool {
    (1..=32).contains(&name.len())
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        && !name.starts_with('-')
}

#[cfg(test)]
mod tests;
