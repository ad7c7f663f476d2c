//! A blocking client of a vault's sockets, for commands typed at a terminal and for tests. Must never start a vault.

use crate::guarded;
use crate::profile::Profile;
use crate::protocol::frame::{self, ASK_MAX_BYTES, FrameFault, REPLY_MAX_BYTES};
use crate::protocol::{AgentAsk, AgentReply, OperatorAsk, OperatorReply, OperatorWelcome, PROTOCOL, Welcome};
use crate::socket::{self, SocketFault};
use bursar_policy::SessionName;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why there is no reply.
#[derive(Debug, Error)]
pub enum ClientFault {
    /// Nobody listens.
    #[error("no vault answers at `{}`: start one with `bursar vault`", path.display())]
    NoVault {
        /// The socket's path.
        path: PathBuf,
    },
    /// The socket cannot be trusted or used.
    #[error(transparent)]
    Socket(SocketFault),
    /// A frame was bad.
    #[error(transparent)]
    Frame(#[from] FrameFault),
    /// The vault closed the connection instead of replying.
    #[error("the vault closed the connection without a reply; look at its log and try again")]
    Closed,
    /// The vault speaks another version.
    #[error("the vault answered in a way this program does not know; use the same version of bursar for both")]
    OtherVersion,
    /// The vault's own words.
    #[error("{message}")]
    Said {
        /// The stable code.
        code: String,
        /// One sentence.
        message: String,
    },
}

/// A conversation on the agent socket.
#[derive(Debug)]
pub struct AgentClient {
    stream: UnixStream,
}

/// A conversation on the operator socket.
#[derive(Debug)]
pub struct OperatorClient {
    stream: UnixStream,
}

impl AgentClient {
    /// Connects, checks whose process answers, and says hello for `session` (absent: the one called `default`).
    ///
    /// # Errors
    ///
    /// [`ClientFault`].
    pub fn connect(profile: &Profile, session: Option<SessionName>) -> Result<(Self, Welcome), ClientFault> {
        let client = Self { stream: open(&profile.agent_sock())? };
        match client.ask(&AgentAsk::Hello { protocol: PROTOCOL, session })? {
            AgentReply::Welcome(welcome) => Ok((client, welcome)),
            _ => Err(ClientFault::OtherVersion),
        }
    }

    /// The connection itself, for whoever frames messages of their own.
    #[must_use]
    pub const fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Asks and waits for the reply, for as long as the vault holds it back.
    ///
    /// # Errors
    ///
    /// [`ClientFault`]; a `Fault` reply becomes [`ClientFault::Said`], a `Refused` one stays a reply.
    pub fn ask(&self, ask: &AgentAsk) -> Result<AgentReply, ClientFault> {
        match exchange(&self.stream, ask)? {
            AgentReply::Fault { code, message } => Err(ClientFault::Said { code, message }),
            reply => Ok(reply),
        }
    }
}

impl OperatorClient {
    /// Connects, checks whose process answers, and says hello.
    ///
    /// # Errors
    ///
    /// [`ClientFault`].
    pub fn connect(profile: &Profile) -> Result<(Self, OperatorWelcome), ClientFault> {
        let client = Self { stream: open(&profile.operator_sock())? };
        match client.ask(&OperatorAsk::Hello { protocol: PROTOCOL })? {
            OperatorReply::Welcome(welcome) => Ok((client, welcome)),
            _ => Err(ClientFault::OtherVersion),
        }
    }

    /// Asks and waits for the reply.
    ///
    /// # Errors
    ///
    /// [`ClientFault`]; a `Fault` reply becomes [`ClientFault::Said`].
    pub fn ask(&self, ask: &OperatorAsk) -> Result<OperatorReply, ClientFault> {
        match exchange(&self.stream, ask)? {
            OperatorReply::Fault { code, message } => Err(ClientFault::Said { code, message }),
            reply => Ok(reply),
        }
    }
}

fn open(path: &Path) -> Result<UnixStream, ClientFault> {
    socket::connect(path, guarded::our_uid()).map_err(|fault| match fault {
        SocketFault::System { source, .. }
            if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) =>
        {
            ClientFault::NoVault { path: path.to_owned() }
        }
        other => ClientFault::Socket(other),
    })
}

fn exchange<A: Serialize, R: DeserializeOwned>(stream: &UnixStream, ask: &A) -> Result<R, ClientFault> {
    // A vault that is full or stopping says so and closes before it has read: then its words count, not the broken pipe.
    let written = frame::write(stream, ask, ASK_MAX_BYTES);
    match (frame::read(stream, REPLY_MAX_BYTES, None), written) {
        (Ok(Some(content)), _) => Ok(frame::decode(&content)?),
        (_, Err(fault)) => Err(fault.into()),
        (Ok(None), Ok(())) => Err(ClientFault::Closed),
        (Err(fault), Ok(())) => Err(fault.into()),
    }
}
