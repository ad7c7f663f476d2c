//! A blocking client of a vault's sockets, for commands typed at a terminal, for a browser's glue and for tests. Must
//! never start a vault.

use crate::hardened::DoorName;
use crate::platform::Stream;
use crate::profile::{Profile, ProfileFault};
use crate::protocol::frame::{self, ASK_MAX_BYTES, FrameFault, REPLY_MAX_BYTES};
use crate::protocol::{
    AgentAsk, AgentReply, Attach, GlueAsk, GlueRefusal, GlueReply, GlueWelcome, OperatorAsk, OperatorReply,
    OperatorWelcome, PROTOCOL, PaymentHeader, Receipt, Report, Welcome,
};
use crate::socket::{self, Keeper, SocketFault};
use bursar_policy::{Handle, SessionName, Setting};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::net::Shutdown;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// How long a reply may take. Only two may take longer, which the vault holds back: a claim, while another buys the same,
/// and what waits for a browser.
const REPLY_DEADLINE: Duration = Duration::from_secs(60);

/// Why there is no reply.
#[derive(Debug, Error)]
pub enum ClientFault {
    /// Nobody listens.
    #[error("no vault answers at `{}`: start one with `bursar vault`", path.display())]
    NoVault {
        /// The socket's path.
        path: PathBuf,
    },
    /// Nobody listens at the machine's sockets, and we may not start a vault there.
    #[error("the vault of this machine does not answer at `{}`: root starts it with `systemctl start bursar-vault`", path.display())]
    NoMachineVault {
        /// The socket's path.
        path: PathBuf,
    },
    /// This user may not use the socket, or the profile cannot be used.
    #[error(transparent)]
    Profile(#[from] ProfileFault),
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
    /// The vault runs in the other setting than the profile: real money where play money was meant, or the reverse.
    #[error("the vault that answers is for {}, and you asked for {}; nothing was sent to it, leave `--sandbox` away or name another directory", told(*.vault), told(*.asked))]
    OtherSetting {
        /// What the vault is for.
        vault: Setting,
        /// What the profile is for.
        asked: Setting,
    },
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
    stream: Stream,
}

/// A conversation on the operator socket.
#[derive(Debug)]
pub struct OperatorClient {
    stream: Stream,
}

/// A conversation on the glue socket.
#[derive(Debug)]
pub struct GlueClient {
    stream: Stream,
}

impl AgentClient {
    /// Connects, checks whose process answers, and says hello for `session` (absent: the one called `default`).
    ///
    /// # Errors
    ///
    /// [`ClientFault`].
    pub fn connect(profile: &Profile, session: Option<SessionName>) -> Result<(Self, Welcome), ClientFault> {
        let client = Self { stream: open(profile, DoorName::Agent)? };
        match client.ask(&AgentAsk::Hello { protocol: PROTOCOL, session })? {
            AgentReply::Welcome(welcome) => {
                same_setting(profile, welcome.setting)?;
                Ok((client, welcome))
            }
            _ => Err(ClientFault::OtherVersion),
        }
    }

    /// The connection itself, for whoever frames messages of their own.
    #[must_use]
    pub const fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Asks and waits for the reply: a minute, and for a claim or a browser as long as the vault holds it back.
    ///
    /// # Errors
    ///
    /// [`ClientFault`]; a `Fault` reply becomes [`ClientFault::Said`], a `Refused` one stays a reply.
    pub fn ask(&self, ask: &AgentAsk) -> Result<AgentReply, ClientFault> {
        match exchange(&self.stream, ask, deadline(ask))? {
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
        let client = Self { stream: open(profile, DoorName::Operator)? };
        match client.ask(&OperatorAsk::Hello { protocol: PROTOCOL })? {
            OperatorReply::Welcome(welcome) => {
                same_setting(profile, welcome.setting)?;
                Ok((client, welcome))
            }
            _ => Err(ClientFault::OtherVersion),
        }
    }

    /// Asks and waits up to a minute for the reply.
    ///
    /// # Errors
    ///
    /// [`ClientFault`]; a `Fault` reply becomes [`ClientFault::Said`].
    pub fn ask(&self, ask: &OperatorAsk) -> Result<OperatorReply, ClientFault> {
        match exchange(&self.stream, ask, Some(REPLY_DEADLINE))? {
            OperatorReply::Fault { code, message } => Err(ClientFault::Said { code, message }),
            reply => Ok(reply),
        }
    }
}

impl GlueClient {
    /// Connects, checks whose process answers, and says hello for `session` (absent: the one called `default`).
    ///
    /// # Errors
    ///
    /// [`ClientFault`]; [`ClientFault::Said`] with the code `glue_taken` where another glue serves the session.
    pub fn connect(profile: &Profile, session: Option<SessionName>) -> Result<(Self, GlueWelcome), ClientFault> {
        let client = Self { stream: open(profile, DoorName::Glue)? };
        match client.ask(&GlueAsk::Hello { protocol: PROTOCOL, session })? {
            GlueReply::Welcome(welcome) => {
                same_setting(profile, welcome.setting)?;
                Ok((client, welcome))
            }
            _ => Err(ClientFault::OtherVersion),
        }
    }

    /// The connection itself, for whoever frames messages of their own or ends a wait from another thread.
    #[must_use]
    pub const fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Waits about 20 seconds for the next payment to make; `None` when there was none: ask again.
    ///
    /// # Errors
    ///
    /// [`ClientFault`].
    pub fn next(&self) -> Result<Option<Attach>, ClientFault> {
        match self.ask(&GlueAsk::Next)? {
            GlueReply::Attach(attach) => Ok(Some(attach)),
            GlueReply::Idle => Ok(None),
            _ => Err(ClientFault::OtherVersion),
        }
    }

    /// Says that the header will be put onto the request as soon as the browser makes it.
    ///
    /// # Errors
    ///
    /// [`ClientFault`].
    pub fn armed(&self, handle: &Handle) -> Result<(), ClientFault> {
        self.noted(&GlueAsk::Armed { handle: handle.clone() })
    }

    /// Says that the payment cannot be made. Only before it is redeemed.
    ///
    /// # Errors
    ///
    /// [`ClientFault`].
    pub fn refuse(&self, handle: &Handle, why: GlueRefusal) -> Result<(), ClientFault> {
        self.noted(&GlueAsk::Refuse { handle: handle.clone(), why })
    }

    /// Gets the header for the request that is in hand, whose whole URL is `url`. From then on the money counts as spent.
    ///
    /// # Errors
    ///
    /// [`ClientFault::Said`] with the codes of [`GlueAsk::Redeem`]: there is no header. Any other [`ClientFault`]: it may
    /// have been signed, and a fresh handle for the same page gets the same bytes.
    pub fn redeem(&self, handle: &Handle, url: &str) -> Result<PaymentHeader, ClientFault> {
        match self.ask(&GlueAsk::Redeem { handle: handle.clone(), url: url.to_owned() })? {
            GlueReply::Redeemed { header } => Ok(header),
            _ => Err(ClientFault::OtherVersion),
        }
    }

    /// Tells what came back after the header was sent, or that nothing did.
    ///
    /// # Errors
    ///
    /// [`ClientFault`]; the money stays counted.
    pub fn report(&self, handle: &Handle, report: Report) -> Result<Receipt, ClientFault> {
        match self.ask(&GlueAsk::Report { handle: handle.clone(), report: Box::new(report) })? {
            GlueReply::Reported { receipt } => Ok(receipt),
            _ => Err(ClientFault::OtherVersion),
        }
    }

    fn noted(&self, ask: &GlueAsk) -> Result<(), ClientFault> {
        match self.ask(ask)? {
            GlueReply::Noted => Ok(()),
            _ => Err(ClientFault::OtherVersion),
        }
    }

    /// Asks and waits up to a minute for the reply.
    fn ask(&self, ask: &GlueAsk) -> Result<GlueReply, ClientFault> {
        match exchange(&self.stream, ask, Some(REPLY_DEADLINE))? {
            GlueReply::Fault { code, message } => Err(ClientFault::Said { code, message }),
            reply => Ok(reply),
        }
    }
}

fn open(profile: &Profile, door: DoorName) -> Result<Stream, ClientFault> {
    let keeper = profile.keeper();
    let path = match door {
        DoorName::Agent => profile.agent_sock(),
        DoorName::Operator => profile.operator_sock(),
        DoorName::Glue => profile.glue_sock(),
    };
    if let Keeper::Machine(_) = keeper {
        profile.check_guest(door)?;
    }
    socket::connect(&path, keeper).map_err(|fault| match (fault, keeper) {
        (SocketFault::System { source, .. }, keeper)
            if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) =>
        {
            match keeper {
                Keeper::Ourselves => ClientFault::NoVault { path },
                Keeper::Machine(_) => ClientFault::NoMachineVault { path },
            }
        }
        (other, _) => ClientFault::Socket(other),
    })
}

/// Refuses a vault of the other setting before anything but the hello is sent: what was meant for play money must never
/// reach real money.
fn same_setting(profile: &Profile, vault: Setting) -> Result<(), ClientFault> {
    let asked = profile.setting();
    if vault == asked { Ok(()) } else { Err(ClientFault::OtherSetting { vault, asked }) }
}

const fn told(setting: Setting) -> &'static str {
    match setting {
        Setting::Real => "real money",
        Setting::Sandbox => "a sandbox",
    }
}

const fn deadline(ask: &AgentAsk) -> Option<Duration> {
    match ask {
        AgentAsk::Claim { .. } | AgentAsk::Attach { .. } => None,
        _ => Some(REPLY_DEADLINE),
    }
}

fn exchange<A: Serialize, R: DeserializeOwned>(
    stream: &Stream,
    ask: &A,
    deadline: Option<Duration>,
) -> Result<R, ClientFault> {
    // A vault that is full or stopping says so and closes before it has read: then its words count, not the broken pipe.
    let written = frame::write(stream, ask, ASK_MAX_BYTES);
    let read = frame::read(stream, REPLY_MAX_BYTES, deadline);
    if read.is_err() {
        // A reply that comes after all must not be taken for the answer to another ask.
        drop(stream.shutdown(Shutdown::Both));
    }
    match (read, written) {
        (Ok(Some(content)), _) => Ok(frame::decode(&content)?),
        (_, Err(fault)) => Err(fault.into()),
        (Ok(None), Ok(())) => Err(ClientFault::Closed),
        (Err(fault), Ok(())) => Err(fault.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bursar_policy::{Errand, Method, Site};
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_vault_that_says_nothing_is_given_up_and_never_asked_again() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let deadline = Some(Duration::from_millis(5));
        let reply = exchange::<_, AgentReply>(&ours, &AgentAsk::Status, deadline);
        assert!(matches!(reply, Err(ClientFault::Frame(FrameFault::Late { .. }))), "{reply:?}");
        // An answer that comes too late finds nobody.
        drop(frame::write(&theirs, &AgentReply::Noted, REPLY_MAX_BYTES));
        let reply = exchange::<_, AgentReply>(&ours, &AgentAsk::Status, None);
        assert!(matches!(reply, Err(ClientFault::Frame(FrameFault::Socket(_)))), "{reply:?}");
    }

    #[test]
    fn only_what_is_held_back_may_take_longer_than_a_minute() {
        let site = Site::parse("https://api.example.com/").unwrap();
        let errand = Errand::new(site, Method::Get);
        assert_eq!(deadline(&AgentAsk::Claim { errand: errand.clone() }), None);
        let handle = Handle::from_random([1; 24]);
        assert_eq!(deadline(&AgentAsk::Attach { handle, open: bursar_policy::PageOpening::Wait }), None);
        assert_eq!(deadline(&AgentAsk::Quote { errand, terms: None }), Some(REPLY_DEADLINE));
        assert_eq!(deadline(&AgentAsk::Hello { protocol: PROTOCOL, session: None }), Some(REPLY_DEADLINE));
    }
}
