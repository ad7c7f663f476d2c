//! `serve`'s side of the agent socket: one connection is one conversation about one purchase.
//!
//! Holds no key and no ledger. Checks that the vault's process belongs to the user it should belong to before a
//! byte is sent, so that a planted socket is refused. Starts an embedded vault where none answers.

mod conversation;

use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bursar_policy::digest::Digest;
use bursar_policy::errand::SessionName;
use bursar_policy::rules::{Rules, Setting};
use bursar_vault::guarded::GuardFault;
use bursar_vault::platform::{private_file_no_link, start_apart};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::frame::FrameFault;
use bursar_vault::protocol::{AgentAsk, AgentReply, PROTOCOL, Welcome};
use bursar_vault::socket::{self, Keeper};

use crate::platform::{self, Stream};
use conversation::Link;
pub use conversation::{Answer, Conversation, Set};

/// How often a vault that was just started is tried: for a minute, since it checks its whole ledger first.
const START_TRIES: u32 = 2400;
const START_PAUSE: Duration = Duration::from_millis(25);

/// How many tries are made after the vault that was started has ended.
const AFTER_THE_END: u32 = 40;

/// How long the log of embedded vaults may grow before it starts anew, in bytes.
const LOG_BYTES: u64 = 256 * 1024;

/// Why the vault could not be asked. Never says whether money moved: see [`crate::flow`] for that.
#[derive(Debug, thiserror::Error)]
pub enum WalletFault {
    /// Nothing listens, and none could be started; in its own words, where it said any.
    #[error("{}", if said.is_empty() { "no vault answers; run `bursar vault` and read what it says" } else { said })]
    Unavailable {
        /// What the vault that was started said before it ended.
        said: String,
    },
    /// Nobody listens at the machine's socket, and none is started from here.
    #[error("the vault of this machine does not answer; root starts it with `systemctl start bursar-vault`")]
    MachineVault,
    /// The process behind the socket belongs to somebody else.
    #[error(
        "the vault's socket belongs to user {found}, not to user {expected}; remove the socket and look for who made it"
    )]
    Impostor {
        /// The uid found.
        found: u32,
        /// The uid expected.
        expected: u32,
    },
    /// The folder of the socket is open to others.
    #[error("the vault's socket is not used: {0}")]
    Folder(GuardFault),
    /// The two ends are of different versions.
    #[error("the vault speaks another protocol version; stop it and start the same version of bursar")]
    Version,
    /// The vault's rules text could not be read here.
    #[error("the vault's rules cannot be read: {0}")]
    Rules(String),
    /// A message was cut, late or unreadable.
    #[error("the conversation with the vault broke: {0}")]
    Broken(#[from] FrameFault),
    /// The socket failed.
    #[error("the vault's socket failed: {0}")]
    Socket(#[from] std::io::Error),
    /// The vault could not serve the ask.
    #[error("{message}")]
    Fault {
        /// A stable code.
        code: String,
        /// One sentence.
        message: String,
    },
    /// The vault guards another kind of money than this profile: real money is never reached through a sandbox.
    #[error(
        "the vault at this place guards {found} money and was reached as if it guarded {expected}; leave out `--sandbox`, or use another folder"
    )]
    Setting {
        /// What the vault guards.
        found: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// The vault did not answer in time.
    #[error("the vault does not answer; look at `vault.log` in the profile, then end it and start it again")]
    Silent,
    /// The vault answered something else than was asked.
    #[error("the vault answered out of turn; stop it and start the same version of bursar")]
    OutOfTurn,
}

impl WalletFault {
    /// Whether a vault that was asked to sign may have done so although this is all that came back.
    #[must_use]
    pub fn may_have_signed(&self) -> bool {
        !matches!(self, Self::Fault { code, .. } if code == "rules_changed")
    }
}

/// Where the vault is, and how to start one.
#[derive(Debug)]
pub struct Wallet {
    socket: PathBuf,
    keeper: Keeper,
    setting: Setting,
    session: Option<SessionName>,
    /// Absent where the vault is the machine's.
    start: Option<Start>,
    rules: Mutex<Option<(Digest, Arc<Rules>)>>,
}

/// The command that starts an embedded vault.
#[derive(Debug)]
struct Start {
    program: PathBuf,
    args: Vec<OsString>,
    log: PathBuf,
}

impl Wallet {
    /// The wallet of `profile`, spending from `session`.
    ///
    /// # Errors
    ///
    /// When this program's own path cannot be found, which is needed to start a vault.
    pub fn new(profile: &Profile, session: Option<SessionName>) -> std::io::Result<Self> {
        let start = match profile.keeper() {
            Keeper::Machine(_) => None,
            Keeper::Ourselves => {
                let mut args = arguments(profile);
                args.extend(["vault".into(), "--detach".into()]);
                Some(Start { program: std::env::current_exe()?, args, log: profile.vault_log() })
            }
        };
        Ok(Self {
            socket: profile.agent_sock(),
            keeper: profile.keeper(),
            setting: profile.setting(),
            session,
            start,
            rules: Mutex::new(None),
        })
    }

    /// Opens a conversation, starting a vault where none answers.
    ///
    /// # Errors
    ///
    /// Every [`WalletFault`].
    pub async fn open(&self) -> Result<Conversation, WalletFault> {
        // Whoever could write here could put a socket of their own in the vault's place.
        match socket::check_folder(&self.socket, self.keeper) {
            Ok(()) | Err(GuardFault::Missing { .. }) => {}
            Err(fault) => return Err(WalletFault::Folder(fault)),
        }
        let stream = match platform::connect(&self.socket).await {
            Ok(stream) => stream,
            Err(fault) if gone(&fault) => self.started().await?,
            Err(fault) => return Err(fault.into()),
        };
        ours(platform::peer_uid(&stream)?, self.keeper.uid())?;
        let mut conversation = Link { stream };
        let hello = AgentAsk::Hello { protocol: PROTOCOL, session: self.session.clone() };
        let AgentReply::Welcome(welcome) = conversation.ask(&hello).await? else {
            return Err(WalletFault::OutOfTurn);
        };
        if welcome.protocol != PROTOCOL {
            return Err(WalletFault::Version);
        }
        if welcome.setting != self.setting {
            return Err(WalletFault::Setting { found: kind(welcome.setting), expected: kind(self.setting) });
        }
        let rules = self.rules(&welcome)?;
        Ok(Conversation { link: conversation, welcome, rules })
    }

    /// The rules in force, parsed once for each digest.
    fn rules(&self, welcome: &Welcome) -> Result<Arc<Rules>, WalletFault> {
        let mut known = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((digest, rules)) = known.as_ref()
            && *digest == welcome.rules_digest
        {
            return Ok(Arc::clone(rules));
        }
        let rules = bursar_vault::rules_file::parse(&welcome.rules, welcome.setting)
            .map_err(|fault| WalletFault::Rules(fault.to_string()))?;
        let rules = Arc::new(rules);
        *known = Some((welcome.rules_digest, Arc::clone(&rules)));
        Ok(rules)
    }

    /// Starts a vault as the same user, unless it is the machine's, and waits until its socket accepts.
    async fn started(&self) -> Result<Stream, WalletFault> {
        let start = self.start.as_ref().ok_or(WalletFault::MachineVault)?;
        let (log, before) = start.open_log()?;
        let mut command = tokio::process::Command::new(&start.program);
        start_apart(command.as_std_mut());
        let mut child = command
            .args(&start.args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            // Not ours: a client waits for the end of our standard error, and the vault outlives us.
            .stderr(log)
            .spawn()?;
        let mut ended = None;
        for left in (0..START_TRIES).rev() {
            if let Ok(stream) = platform::connect(&self.socket).await {
                return Ok(stream);
            }
            match ended {
                None => ended = tokio::time::timeout(START_PAUSE, child.wait()).await.ok().map(|_| left),
                // It may have lost the race for the ledger: then the winner's socket is about to appear.
                Some(at) if at.saturating_sub(left) < AFTER_THE_END => tokio::time::sleep(START_PAUSE).await,
                Some(_) => break,
            }
        }
        Err(WalletFault::Unavailable { said: start.last_words(before) })
    }
}

impl Start {
    /// Opens the log of embedded vaults for appending, and tells how long it was.
    fn open_log(&self) -> std::io::Result<(File, u64)> {
        let file = private_file_no_link().append(true).create(true).open(&self.log)?;
        if file.metadata()?.len() > LOG_BYTES {
            file.set_len(0)?;
        }
        let before = file.metadata()?.len();
        Ok((file, before))
    }

    /// The last line that was written to the log after its first `before` bytes, without the program's name.
    fn last_words(&self, before: u64) -> String {
        let written = std::fs::read(&self.log).unwrap_or_default();
        let fresh = written.get(usize::try_from(before).unwrap_or(usize::MAX)..).unwrap_or_default();
        let line = String::from_utf8_lossy(fresh).lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned);
        line.map(|line| line.strip_prefix("bursar: ").map(str::to_owned).unwrap_or(line)).unwrap_or_default()
    }
}

/// Starts an embedded vault for `profile`, for a command that is not asynchronous.
///
/// # Errors
///
/// [`WalletFault::Unavailable`] when none could be started.
pub fn start_blocking(profile: &Profile) -> Result<(), WalletFault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { Wallet::new(profile, None)?.started().await.map(drop) })
}

/// The global arguments that name `profile` to another process of this program.
#[must_use]
pub fn arguments(profile: &Profile) -> Vec<OsString> {
    match profile.setting() {
        Setting::Sandbox => {
            let mut words: Vec<OsString> = vec!["--sandbox".into(), profile.home().into()];
            if let Some(hardened) = profile.hardened() {
                words.extend(["--hardened".into(), hardened.file().into()]);
            }
            words
        }
        Setting::Real if profile.name() == "default" => Vec::new(),
        Setting::Real => vec!["--profile".into(), profile.name().into()],
    }
}

const fn kind(setting: Setting) -> &'static str {
    match setting {
        Setting::Real => "real",
        Setting::Sandbox => "play",
    }
}

/// Whether the process at the other end runs as the user it should.
const fn ours(found: u32, expected: u32) -> Result<(), WalletFault> {
    if found == expected { Ok(()) } else { Err(WalletFault::Impostor { found, expected }) }
}

fn gone(fault: &std::io::Error) -> bool {
    matches!(fault.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused)
}

#[cfg(test)]
mod tests;
