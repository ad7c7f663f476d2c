//! Which ledger a profile has, its file or the database that its rules name, and where its shares of limits are kept. Must never take a password from anywhere but
//! the file for it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bursar_policy::Rules;
use bursar_policy::rules::{LedgerAddress, LedgerHost, LedgerProof};
use bursar_postgres::{Host, Password, Security, Server};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::guarded::{self, GuardFault};
use crate::ledger::{LedgerPlace, ServerPlace};
use crate::platform::{self, Kind};
use crate::profile::Profile;
use crate::rules_file::{self, RulesFault};

/// The longest password of a role, in bytes.
const PASSWORD_MAX_BYTES: u64 = 1024;

/// The most bytes of a file of authorities.
const AUTHORITY_MAX_BYTES: u64 = 1024 * 1024;

/// Why it cannot be said which ledger it is, or how it is reached.
#[derive(Debug, Error)]
pub enum PlaceFault {
    /// The rules cannot be read.
    #[error(transparent)]
    Rules(#[from] RulesFault),
    /// A file of the profile cannot be used.
    #[error(transparent)]
    Guard(#[from] GuardFault),
    /// The authority's file cannot be used.
    #[error("the certificate authority `{}` cannot be used ({detail}); it has to be a file of yours or of root's that nobody else may write", path.display())]
    Authority {
        /// Its path.
        path: PathBuf,
        /// Why.
        detail: String,
    },
    /// The system has no randomness.
    #[error("the system gives no randomness; try again when it does")]
    NoRandomness,
}

/// The ledger of a profile, for whoever opens it now.
///
/// Where the rules cannot be read, the file is meant if there is one, so that it can be looked at whatever is wrong with the
/// rules.
///
/// # Errors
///
/// [`PlaceFault`].
pub fn of(profile: &Profile) -> Result<LedgerPlace, PlaceFault> {
    match rules_file::load(&profile.rules(), profile.setting()) {
        Ok(file) => by(profile, &file.rules),
        Err(_) if profile.ledger().exists() || !profile.keystore().exists() => Ok(profile.ledger_place()),
        Err(fault) => Err(fault.into()),
    }
}

/// The ledger that `rules` name, for a profile that has them.
///
/// # Errors
///
/// [`PlaceFault`].
pub fn by(profile: &Profile, rules: &Rules) -> Result<LedgerPlace, PlaceFault> {
    let server = match rules.ledger() {
        None => None,
        Some(address) => {
            let password = guarded::read_if_there(&profile.ledger_password(), PASSWORD_MAX_BYTES)?;
            let server = server(profile, address, address.role(), password.map(line))?;
            Some(ServerPlace::new(server).map_err(|_fault| PlaceFault::NoRandomness)?)
        }
    };
    Ok(LedgerPlace { server, ..profile.ledger_place() })
}

/// The center of shares at `address`.
///
/// # Errors
///
/// [`PlaceFault`].
pub fn center(profile: &Profile, address: &LedgerAddress) -> Result<Server, PlaceFault> {
    let password = guarded::read_if_there(&profile.shares_password(), PASSWORD_MAX_BYTES)?;
    server(profile, address, address.role(), password.map(line))
}

/// The database at `address` for another role, as the owner of the tables, with the password that it typed.
///
/// # Errors
///
/// [`PlaceFault`].
pub fn as_role(
    profile: &Profile,
    address: &LedgerAddress,
    role: &str,
    password: Option<Zeroizing<String>>,
) -> Result<Server, PlaceFault> {
    let password = password.map(|typed| Password::new(Zeroizing::new(typed.as_bytes().to_vec())));
    server(profile, address, role, password)
}

fn server(
    profile: &Profile,
    address: &LedgerAddress,
    role: &str,
    password: Option<Password>,
) -> Result<Server, PlaceFault> {
    let host = |(host, port): &(LedgerHost, u16)| match host {
        LedgerHost::Name(name) => (Host::Name(name.clone()), *port),
        LedgerHost::Socket(folder) => (Host::Socket(folder.into()), *port),
    };
    let security = match address.proof() {
        LedgerProof::None => Security::Plain,
        LedgerProof::Public => Security::Verified { roots: None },
        LedgerProof::File(file) => Security::Verified { roots: Some(authority(profile, file)?) },
    };
    Ok(Server {
        hosts: address.hosts().iter().map(host).collect(),
        user: role.to_owned(),
        password,
        database: address.database().to_owned(),
        security,
        application: concat!("bursar ", env!("CARGO_PKG_VERSION")).to_owned(),
    })
}

/// A password without the end of its line.
fn line(bytes: Zeroizing<Vec<u8>>) -> Password {
    let end = bytes.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last.saturating_add(1));
    Password::new(Zeroizing::new(bytes.get(..end).unwrap_or_default().to_vec()))
}

/// Whoever can write such a file can pass for the server.
fn authority(profile: &Profile, file: &str) -> Result<Vec<u8>, PlaceFault> {
    let path = Path::new(file);
    if !path.is_absolute() {
        return Ok(guarded::read(&profile.home().join(path), AUTHORITY_MAX_BYTES)?.to_vec());
    }
    let refused = |detail: String| PlaceFault::Authority { path: path.to_owned(), detail };
    let opened = fs::File::open(path).map_err(|fault| refused(fault.to_string()))?;
    let found = platform::facts(&opened).map_err(|fault| refused(fault.to_string()))?;
    let is_ours = found.owner == 0 || found.owner == guarded::our_uid();
    if found.kind != Kind::File || !is_ours || found.mode & 0o022 != 0 || AUTHORITY_MAX_BYTES < found.bytes {
        return Err(refused(format!("it belongs to user {} with mode {:04o}", found.owner, found.mode)));
    }
    let mut pem = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(opened, AUTHORITY_MAX_BYTES), &mut pem)
        .map_err(|fault| refused(fault.to_string()))?;
    Ok(pem)
}
