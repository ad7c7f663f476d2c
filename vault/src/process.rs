//! One vault from start to end: lock, checks, sockets, sweeping, leaving. Must never serve before every check passed.

use crate::agent::AgentConversation;
use crate::chain::{self, Watch};
use crate::clock::{MachineTime, TimeSource};
use crate::confine::{self, Plan};
use crate::failpoint;
use crate::glue::GlueConversation;
use crate::guarded::GuardFault;
use crate::hardened::{DoorName, Hardened};
use crate::keyring;
use crate::keystore::{Keystore, KeystoreFault};
use crate::ledger::{Brake, Event, EventKind, Inspector, Ledger, LedgerFault, LedgerPlace, Looked, When};
use crate::ledger_place::{self, PlaceFault};
use crate::notify::{self, Courier};
use crate::operator::OperatorConversation;
use crate::outside::Outside;
use crate::passphrase::{Gatekeeper, PassphraseFault};
use crate::platform::{self, Signals};
use crate::profile::{Profile, ProfileFault};
use crate::rules_file::{self, RulesFault};
use crate::secrets::{self, SecretFault};
use crate::server::Door;
use crate::share::{self, Database, Keeper};
use crate::sign::{self, SignFault};
use crate::socket::{self, SocketFault};
use crate::vault::Vault;
use crate::wallet::Wallet;
use bursar_policy::Rules;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use thiserror::Error;

pub use crate::vault::Ended;

/// The most agents at once.
const AGENTS_MAX: usize = 256;
/// The most operators at once: a room of their own, which agents cannot fill.
pub const OPERATORS_MAX: usize = 16;
/// The most browsers' glues at once, one a session.
const GLUES_MAX: usize = 32;
/// How often expired payments are looked for.
const SWEEP_PAUSE: Duration = Duration::from_secs(5);
/// How long a vault that `serve` started stays when nothing is open.
pub const IDLE_EXIT: Duration = Duration::from_secs(15 * 60);

/// How to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Leave after this long without an ask, when no session is open and no payment unresolved; `None`: stay.
    pub idle_exit: Option<Duration>,
    /// Leave the terminal and the working directory behind.
    pub detach: bool,
}

/// Why a vault does not start. One sentence each, with the next step.
#[derive(Debug, Error)]
pub enum StartFault {
    /// A secret lies where it must not.
    #[error(transparent)]
    Secret(#[from] SecretFault),
    /// The signing self-test failed.
    #[error(transparent)]
    Sign(#[from] SignFault),
    /// The profile cannot be used.
    #[error(transparent)]
    Profile(#[from] ProfileFault),
    /// The ledger cannot be used, or another vault uses it.
    #[error(transparent)]
    Ledger(#[from] LedgerFault),
    /// It cannot be said which ledger it is.
    #[error(transparent)]
    Place(#[from] PlaceFault),
    /// The keystore cannot be used.
    #[error(transparent)]
    Keystore(#[from] KeystoreFault),
    /// The passphrase check cannot be used.
    #[error(transparent)]
    Passphrase(#[from] PassphraseFault),
    /// The rules are refused.
    #[error(transparent)]
    Rules(#[from] RulesFault),
    /// A socket cannot be made.
    #[error(transparent)]
    Socket(#[from] SocketFault),
    /// The system said no.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// Runs a vault in this process until a signal, the operator or idleness ends it. Chains and the webhook are reached by way
/// of `outside`.
///
/// Ready is told by the agent socket accepting; by then the others do too.
///
/// # Errors
///
/// [`StartFault`] before anything is served.
pub fn run(profile: &Profile, options: Options, outside: impl Into<Outside>) -> Result<Ended, StartFault> {
    secrets::refuse_wallet_variables()?;
    secrets::forbid_core_dumps()?;
    platform::make_files_private();
    if options.detach {
        detach()?;
    }
    profile.check_vault()?;
    let layers = confine::confine(&Plan::vault(profile).map_err(ProfileFault::from)?);
    let signals = Signals::listen().map_err(|source| StartFault::System { doing: "listen for signals", source })?;
    let running = start(profile, options.idle_exit, Box::new(MachineTime), outside)?;
    tracing::info!("confined: {}", confine::told(&layers));
    let both = profile.hardened().map(Hardened::both).unwrap_or_default();
    if !both.is_empty() {
        tracing::warn!(
            "user ids {both:?} are agents and operators at once: code of theirs can watch the passphrase being typed"
        );
    }
    end_on(signals, &running.vault)?;
    let why = running.vault.wait();
    running.stop();
    Ok(why)
}

/// Starts a vault in threads of this process, without touching the process itself; [`run`] and tests build on it.
///
/// # Errors
///
/// [`StartFault`].
pub fn start(
    profile: &Profile,
    idle_exit: Option<Duration>,
    time: Box<dyn TimeSource>,
    outside: impl Into<Outside>,
) -> Result<Running, StartFault> {
    let Outside { chains, courier } = outside.into();
    sign::self_test()?;
    profile.check_vault()?;
    failpoint::arm(&profile.failpoint(), profile.setting());
    let (vault, unchecked) = open(profile, time, Watch::new(chains))?;
    let vault = Arc::new(vault);
    unlock_from_file(&vault);

    let (operator_sock, for_operators) = (profile.operator_sock(), profile.guests(DoorName::Operator));
    let (glue_sock, for_glues) = (profile.glue_sock(), profile.guests(DoorName::Glue));
    let (agent_sock, for_agents) = (profile.agent_sock(), profile.guests(DoorName::Agent));
    let heard_by_operators = socket::bind(&operator_sock, &for_operators)?;
    let heard_by_glues = socket::bind(&glue_sock, &for_glues)?;
    let heard_by_agents = socket::bind(&agent_sock, &for_agents)?;
    let system = |doing| move |source| StartFault::System { doing, source };
    let (to_operators, to_glues, to_agents) = (Arc::clone(&vault), Arc::clone(&vault), Arc::clone(&vault));
    let operators = Door::open(heard_by_operators, &operator_sock, for_operators, OPERATORS_MAX, move |peer| {
        OperatorConversation::new(Arc::clone(&to_operators), peer)
    })
    .map_err(system("start a thread for the operator socket"))?;
    let glues = Door::open(heard_by_glues, &glue_sock, for_glues, GLUES_MAX, move |peer| {
        GlueConversation::new(Arc::clone(&to_glues), peer)
    })
    .map_err(system("start a thread for the glue socket"))?;
    let agents = Door::open(heard_by_agents, &agent_sock, for_agents, AGENTS_MAX, move |peer| {
        AgentConversation::new(Arc::clone(&to_agents), peer)
    })
    .map_err(system("start a thread for the agent socket"))?;
    let swept = Arc::clone(&vault);
    let sweeper = thread::Builder::new()
        .name("sweep".to_owned())
        .spawn(move || sweep(&swept, idle_exit))
        .map_err(system("start a thread for the sweep"))?;
    let watched = Arc::clone(&vault);
    let watcher = thread::Builder::new()
        .name("chain".to_owned())
        .spawn(move || chain::watch(&watched))
        .map_err(system("start a thread for the chains"))?;
    let kept = Arc::clone(&vault);
    let beater = thread::Builder::new()
        .name("shares".to_owned())
        .spawn(move || share::beat(&kept))
        .map_err(system("start a thread for the shares"))?;
    let (told, by) = (Arc::clone(&vault), Arc::clone(&courier));
    let teller = thread::Builder::new()
        .name("notify".to_owned())
        .spawn(move || notify::run(&told, &*by))
        .map_err(system("start a thread for the webhook"))?;
    let auditor = unchecked.map(|unchecked| Auditor::start(&vault, unchecked)).transpose()?;
    let workers = vec![sweeper, watcher, beater, teller];
    Ok(Running { vault, courier, agents, glues, operators, workers, auditor })
}

/// A vault that serves. Dropping it ends it in order.
#[derive(Debug)]
pub struct Running {
    vault: Arc<Vault>,
    courier: Arc<dyn Courier>,
    agents: Door,
    glues: Door,
    operators: Door,
    workers: Vec<JoinHandle<()>>,
    auditor: Option<Auditor>,
}

impl Running {
    /// Waits until the operator or idleness ends it; does not end it.
    #[must_use]
    pub fn wait(&self) -> Ended {
        self.vault.wait()
    }

    /// Ends it in order: nobody new is let in, what is being signed is finished, the ledger is closed.
    pub fn stop(mut self) {
        self.finish();
    }

    fn finish(&mut self) {
        let workers = std::mem::take(&mut self.workers);
        if workers.is_empty() {
            return;
        }
        self.vault.end(Ended::Asked);
        self.vault.watch.hang_up();
        self.courier.hang_up();
        drop(self.auditor.take());
        self.agents.close();
        self.glues.close();
        self.operators.close();
        for worker in workers {
            if worker.join().is_err() {
                tracing::error!("a thread of the vault ended before it was asked to");
            }
        }
        self.vault.sign_off(When::Now);
        self.vault.wallet.lock();
        self.vault.ledger.close();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Takes the lock and reads everything; the order is: whose ledger, whose key, who may unlock, which rules.
fn open(profile: &Profile, time: Box<dyn TimeSource>, watch: Watch) -> Result<(Vault, Option<Inspector>), StartFault> {
    let place = ledger_place::of(profile)?;
    let ledger = Ledger::open(&place, time).map_err(|fault| lost_ledger(profile, fault))?;
    let checked = check_books(&ledger, &place)?;
    // Books that do not balance have no say in which key pays.
    if let (Checked::Balanced(_), Some(account)) = (&checked, ledger.key_address()?) {
        keyring::settle(profile, account)?;
    }
    let keystore = Keystore::open(&profile.keystore(), profile.setting(), ledger.id())?;
    ledger.bind_key(keystore.address())?;
    let gatekeeper = Gatekeeper::open(profile.verifier(), profile.attempts(), Instant::now())?;
    let rules = rules_file::load(&profile.rules(), profile.setting())?;
    ledger.note(Event::new(EventKind::RulesLoaded, format!("digest {}, at the start", rules.digest)));
    let wallet = Wallet::new(keystore, gatekeeper, profile.passphrase_file());
    let keeper = keeper(profile, &ledger, &rules.rules)?;
    let unchecked = match checked {
        Checked::Balanced(unchecked) => unchecked.map(|inspector| *inspector),
        Checked::Shut => None,
    };
    Ok((Vault::new(profile.clone(), ledger, wallet, rules, watch, keeper), unchecked))
}

/// Who looks after this vault's parts of the limits, where the rules say that vaults split them.
fn keeper(profile: &Profile, ledger: &Ledger, rules: &Rules) -> Result<Option<Keeper>, StartFault> {
    let Some(address) = rules.shares() else { return Ok(None) };
    let center = Database::new(ledger_place::center(profile, address)?);
    let mut life = [0; 16];
    getrandom::fill(&mut life).map_err(|_fault| PlaceFault::NoRandomness)?;
    Ok(Some(Keeper::new(Arc::new(center), ledger, life)))
}

/// What a start found of the books.
#[derive(Debug)]
enum Checked {
    /// They balance as far as was looked; what is to be checked beside the work, if anything is.
    Balanced(Option<Box<Inspector>>),
    /// They do not, and nothing is paid.
    Shut,
}

/// Checks the ledger before anything is served: all of it where there are few events. Books that do not balance shut it
/// for payments; the vault still starts, so that a person can look at the log and the status.
fn check_books(ledger: &Ledger, place: &LedgerPlace) -> Result<Checked, StartFault> {
    match ledger.look() {
        Ok(Looked::Whole(books)) => {
            tracing::debug!(payments = books.payments, events = books.events, head = %books.head, "the books balance");
            Ok(Checked::Balanced(None))
        }
        Ok(Looked::Living) => Ok(Checked::Balanced(Some(Box::new(Inspector::open(place)?)))),
        // Somebody else has the file locked: that says nothing about the books.
        Err(fault @ (LedgerFault::Busy | LedgerFault::Unreachable { .. })) => Err(fault.into()),
        Err(fault) => {
            ledger.latch(&fault.to_string());
            Ok(Checked::Shut)
        }
    }
}

/// The thread that checks a large ledger wholly while the vault serves. Dropping it breaks the check off.
#[derive(Debug)]
struct Auditor {
    brake: Brake,
    thread: Option<JoinHandle<()>>,
}

impl Auditor {
    /// Looks at everything in `unchecked`; what does not fit shuts the ledger for payments, and that all of it does is noted.
    fn start(vault: &Arc<Vault>, unchecked: Inspector) -> Result<Self, StartFault> {
        let brake = unchecked.brake()?;
        let vault = Arc::clone(vault);
        let thread = thread::Builder::new()
            .name("audit".to_owned())
            .spawn(move || {
                let found = unchecked.whole();
                match found {
                    // Broken off: the next start begins anew.
                    _ if vault.is_ending().is_some() => {}
                    Ok(books) => {
                        let told = format!(
                            "the whole ledger is in order: {} payments, {} events",
                            books.payments, books.events
                        );
                        vault.ledger.note(Event::new(EventKind::Note, told));
                    }
                    Err(fault) => vault.ledger.latch(&fault.to_string()),
                }
            })
            .map_err(|source| StartFault::System { doing: "start a thread for the check of the ledger", source })?;
        Ok(Self { brake, thread: Some(thread) })
    }
}

impl Drop for Auditor {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        // Again and again: between two queries there is nothing to break off.
        while !thread.is_finished() {
            self.brake.pull();
            thread::sleep(Duration::from_millis(1));
        }
        if thread.join().is_err() {
            tracing::error!("the check of the ledger ended before it was through");
        }
    }
}

/// A key without its ledger is no fresh profile: what it has spent is forgotten, and nobody may start over by accident.
fn lost_ledger(profile: &Profile, fault: LedgerFault) -> StartFault {
    match fault {
        LedgerFault::Missing { path } if profile.keystore().exists() => LedgerFault::KeyWithoutLedger { path }.into(),
        LedgerFault::Missing { .. } => ProfileFault::Guard(GuardFault::Missing { path: profile.keystore() }).into(),
        other => other.into(),
    }
}

/// Unlocks with the passphrase file, when there is one and the operator agreed to these rules; stays locked otherwise.
fn unlock_from_file(vault: &Vault) {
    if !vault.profile.passphrase_file().exists() {
        return;
    }
    if !vault.rules_are_accepted() {
        tracing::warn!(
            "the rules changed since the operator agreed to them; the wallet stays locked until `bursar unlock`"
        );
        return;
    }
    match vault.wallet.unlock_from_file() {
        Ok(Some(_payer)) => {
            vault.ledger.note(Event::new(EventKind::Unlocked, "by the passphrase file"));
            if let Some(key) = vault.wallet.key() {
                vault.bring_secrets(&key, None);
            }
            vault.sign_off(When::Due);
        }
        Ok(None) => {}
        Err(fault) => tracing::warn!(%fault, "the passphrase file does not unlock the wallet"),
    }
}

fn sweep(vault: &Vault, idle_exit: Option<Duration>) {
    while vault.wait_for(SWEEP_PAUSE.min(idle_exit.unwrap_or(SWEEP_PAUSE))).is_none() {
        if let Err(fault) = vault.ledger.sweep() {
            tracing::warn!(%fault, "expired payments could not be looked for");
        }
        vault.sign_off(When::Due);
        if idle_exit.is_some_and(|idle| idle <= vault.quiet_for()) && is_unneeded(vault) {
            vault.end(Ended::Idle);
        }
    }
}

/// Whether no session is open and no payment unresolved.
fn is_unneeded(vault: &Vault) -> bool {
    let rules = vault.rules();
    let (Ok(overview), Ok(sessions)) = (vault.ledger.overview(None, &rules.rules), vault.ledger.sessions()) else {
        return false;
    };
    let open = sessions.iter().any(|session| !session.closed && overview.now_s < session.expires_s);
    !open && overview.unresolved_count == 0
}

fn detach() -> Result<(), StartFault> {
    platform::leave_session();
    std::env::set_current_dir("/").map_err(|source| StartFault::System { doing: "leave the working directory", source })
}

/// The first signal ends the vault in order.
fn end_on(signals: Signals, vault: &Arc<Vault>) -> Result<(), StartFault> {
    let system = |source| StartFault::System { doing: "listen for signals", source };
    let vault = Arc::clone(vault);
    let listening = thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if signals.wait() {
            vault.end(Ended::Signal);
        }
    });
    listening.map(drop).map_err(system)
}

#[cfg(test)]
mod tests;
