//! What every conversation of a running vault shares. Must never decide anything: it holds, and tells when to end.

use crate::chain::Watch;
use crate::desk::Desk;
use crate::draws::Draws;
use crate::guarded;
use crate::ledger::{Checkpointed, Ledger, LedgerFault, When};
use crate::passage::Passages;
use crate::passphrase::PassphraseFault;
use crate::profile::Profile;
use crate::protocol::SharesView;
use crate::rules_file::RulesFile;
use crate::secret_store::SecretStore;
use crate::share::Keeper;
use crate::wallet::Wallet;
use bursar_policy::rules::LedgerAddress;
use bursar_policy::{Errand, Rules, SessionId, Setting, Terms};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// A running vault.
#[derive(Debug)]
pub(crate) struct Vault {
    pub(crate) profile: Profile,
    pub(crate) ledger: Ledger,
    pub(crate) wallet: Wallet,
    pub(crate) watch: Watch,
    /// `None` where the rules that the vault started with split no limits.
    pub(crate) keeper: Option<Keeper>,
    pub(crate) secrets: SecretStore,
    pub(crate) desk: Arc<Desk>,
    pub(crate) draws: Draws,
    pub(crate) passages: Arc<Passages>,
    rules: RwLock<Arc<RulesFile>>,
    ending: Mutex<Option<Ended>>,
    ended: Condvar,
    last_ask: Mutex<Instant>,
}

/// Why a vault ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The operator asked for it.
    Asked,
    /// A signal asked for it.
    Signal,
    /// Nothing was open and nobody had asked anything for a while.
    Idle,
}

impl Vault {
    pub(crate) fn new(
        profile: Profile,
        ledger: Ledger,
        wallet: Wallet,
        rules: RulesFile,
        watch: Watch,
        keeper: Option<Keeper>,
    ) -> Self {
        let secrets = SecretStore::new(profile.secrets(), profile.setting(), ledger.id().to_owned());
        Self {
            profile,
            ledger,
            secrets,
            wallet,
            watch,
            keeper,
            desk: Arc::default(),
            draws: Draws::default(),
            passages: Arc::new(Passages::new()),
            rules: RwLock::new(Arc::new(rules)),
            ending: Mutex::new(None),
            ended: Condvar::new(),
            last_ask: Mutex::new(Instant::now()),
        }
    }

    /// The rules in force at this moment.
    pub(crate) fn rules(&self) -> Arc<RulesFile> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sees to it, before a payment is judged, that what has to be known of the wallet is, and that this vault's parts of
    /// the limits reach, where vaults split them. Waits for others where they have to say so.
    pub(crate) fn make_ready(&self, session: &SessionId, errand: &Errand, terms: &Terms, rules: &Arc<Rules>) {
        self.watch.want_balance(self, &terms.asset_id());
        let Some(keeper) = self.keeper.as_ref().filter(|_keeper| rules.shares().is_some()) else { return };
        // Then the parts are what they were, and the ledger judges by them.
        if let Err(fault) = keeper.want(&self.ledger, session, errand, terms, rules) {
            tracing::warn!(%fault, "no more of the limits could be had");
        }
    }

    /// How it stands with the parts of the limits.
    pub(crate) fn shares(&self, center: &LedgerAddress) -> SharesView {
        let trouble = match &self.keeper {
            Some(keeper) => keeper.trouble(),
            None => Some("the vault started before the rules had [shares]; start it again".to_owned()),
        };
        SharesView { center: center.to_string(), parts: self.ledger.parts().len(), trouble }
    }

    /// Puts other rules in force for everything that is judged from now on.
    pub(crate) fn put_in_force(&self, rules: RulesFile) {
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
    }

    /// Writes down that the operator agreed to these rules: under them the key may be unlocked without asking again.
    pub(crate) fn accept_rules(&self, rules: &RulesFile) -> Result<(), PassphraseFault> {
        Ok(guarded::replace(&self.profile.accepted_rules(), rules.digest.to_string().as_bytes())?)
    }

    /// Whether the operator agreed to the rules in force.
    pub(crate) fn rules_are_accepted(&self) -> bool {
        self.are_accepted(&self.rules())
    }

    /// Whether the operator agreed to these rules. In a sandbox there is nothing to agree to.
    pub(crate) fn are_accepted(&self, rules: &RulesFile) -> bool {
        let accepted = guarded::read(&self.profile.accepted_rules(), guarded::FILE_MAX_BYTES);
        self.profile.setting() == Setting::Sandbox
            || accepted.is_ok_and(|text| text.as_slice() == rules.digest.to_string().as_bytes())
    }

    /// Signs how far the log has come, if a checkpoint is wanted and the key is there to sign; `None` while it is locked.
    pub(crate) fn checkpoint(&self, when: When) -> Result<Option<Checkpointed>, LedgerFault> {
        self.wallet.audit_key().map(|key| self.ledger.checkpoint(key, when)).transpose()
    }

    /// [`Vault::checkpoint`] where nobody waits for the answer.
    pub(crate) fn sign_off(&self, when: When) {
        if let Err(fault) = self.checkpoint(when) {
            tracing::warn!(%fault, "the log could not be signed");
        }
    }

    /// Notes that somebody asked something.
    pub(crate) fn touch(&self) {
        *self.last_ask.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// How long nobody has asked anything.
    pub(crate) fn quiet_for(&self) -> Duration {
        self.last_ask.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// Asks the vault to end; the first reason counts.
    pub(crate) fn end(&self, why: Ended) {
        self.ending().get_or_insert(why);
        self.ended.notify_all();
    }

    /// Whether the vault is ending, and why.
    pub(crate) fn is_ending(&self) -> Option<Ended> {
        *self.ending()
    }

    /// Waits until the vault is asked to end.
    pub(crate) fn wait(&self) -> Ended {
        let mut ending = self.ending();
        loop {
            match *ending {
                Some(why) => return why,
                None => ending = self.ended.wait(ending).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Waits until the vault is asked to end, but no longer than `pause`.
    pub(crate) fn wait_for(&self, pause: Duration) -> Option<Ended> {
        let ending = self.ending();
        if ending.is_some() {
            return *ending;
        }
        let (ending, _) = self.ended.wait_timeout(ending, pause).unwrap_or_else(PoisonError::into_inner);
        *ending
    }

    fn ending(&self) -> MutexGuard<'_, Option<Ended>> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
