//! Which server, as whom, and how it is known. Must never hold a password that can be shown.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};
use zeroize::Zeroizing;

use crate::fault::Fault;
use crate::tls;

/// How long one server has to answer a call for a connection.
const CONNECT_PATIENCE: Duration = Duration::from_secs(3);

/// How long a silent peer is waited for before the system calls the connection dead.
const SILENCE: Duration = Duration::from_secs(10);

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A name or an address.
    Name(String),
    /// The folder of a socket of this machine.
    Socket(PathBuf),
}

/// A password: wiped when dropped, never shown.
#[derive(Clone)]
pub struct Password(Zeroizing<Vec<u8>>);

impl Password {
    /// Takes it.
    #[must_use]
    pub const fn new(bytes: Zeroizing<Vec<u8>>) -> Self {
        Self(bytes)
    }
}

impl core::fmt::Debug for Password {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Password(withheld)")
    }
}

/// How the server at the other end is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Security {
    /// Not at all: for this machine only.
    Plain,
    /// By a certificate for its name, from the authorities in `roots` (PEM), or from the public ones where that is `None`.
    Verified {
        /// PEM.
        roots: Option<Vec<u8>>,
    },
}

/// A database of a server, or of one of several that take over from one another.
#[derive(Clone, Debug)]
pub struct Server {
    /// Where it listens; the first that takes writes is used.
    pub hosts: Vec<(Host, u16)>,
    /// As whom.
    pub user: String,
    /// The password, where one is asked for.
    pub password: Option<Password>,
    /// The database.
    pub database: String,
    /// How the server is known.
    pub security: Security,
    /// What the server calls the connection in its views.
    pub application: String,
}

impl core::fmt::Display for Server {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "postgres://{}@", self.user)?;
        for (place, (host, port)) in self.hosts.iter().enumerate() {
            let between = if place == 0 { "" } else { "," };
            match host {
                Host::Name(name) => write!(f, "{between}{name}:{port}")?,
                Host::Socket(folder) => write!(f, "{between}[{}]:{port}", folder.display())?,
            }
        }
        write!(f, "/{}", self.database)
    }
}

/// A socket in a folder of this machine's.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "not every system has them")]
fn by_socket(config: &mut Config, folder: &Path) -> Result<(), Fault> {
    config.host_path(folder);
    Ok(())
}

#[cfg(not(unix))]
fn by_socket(_config: &mut Config, _folder: &Path) -> Result<(), Fault> {
    Err(Fault::NoSocket)
}

impl Server {
    pub(crate) fn config(&self) -> Result<Config, Fault> {
        let mut config = Config::new();
        for (host, port) in &self.hosts {
            match host {
                Host::Name(name) => {
                    config.host(name);
                }
                Host::Socket(folder) => by_socket(&mut config, folder)?,
            }
            config.port(*port);
        }
        config
            .user(&self.user)
            .dbname(&self.database)
            .application_name(&self.application)
            .connect_timeout(CONNECT_PATIENCE)
            .keepalives(true)
            .keepalives_idle(SILENCE)
            .tcp_user_timeout(SILENCE)
            .target_session_attrs(TargetSessionAttrs::ReadWrite)
            .ssl_mode(match self.security {
                Security::Plain => SslMode::Disable,
                Security::Verified { .. } => SslMode::Require,
            });
        if let Some(Password(bytes)) = &self.password {
            config.password(bytes.as_slice());
        }
        Ok(config)
    }

    /// The longest that connecting may take, however many servers there are.
    pub(crate) fn patience(&self) -> Duration {
        CONNECT_PATIENCE.saturating_mul(u32::try_from(self.hosts.len()).unwrap_or(u32::MAX).saturating_add(1))
    }

    pub(crate) fn tls(&self) -> Result<Option<tls::Tls>, Fault> {
        match &self.security {
            Security::Plain => Ok(None),
            Security::Verified { roots } => tls::Tls::trusting(roots.as_deref()).map(Some),
        }
    }
}
