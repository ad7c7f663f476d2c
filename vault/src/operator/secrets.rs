//! What a person does with secrets: sets, lists, removes. Must never tell one, not even to the operator.

use super::OperatorConversation;
use crate::ledger::{Event, EventKind};
use crate::protocol::{OperatorReply, Passphrase, SecretList, SecretValue, SecretView};
use crate::secret_store::{Before, StoreFault};
use crate::trouble::{Trouble, trouble};
use bursar_policy::SecretName;
use bursar_policy::rules::Metrics;
use std::collections::BTreeSet;
use subtle::ConstantTimeEq;

impl From<StoreFault> for Trouble {
    fn from(fault: StoreFault) -> Self {
        let code = match fault {
            StoreFault::Damaged { .. } | StoreFault::Guard(_) => "secrets_damaged",
            StoreFault::Full => "secrets_full",
            StoreFault::Randomness => "no_randomness",
        };
        Self { code, message: fault.to_string() }
    }
}

impl OperatorConversation {
    /// Stores a secret. The passphrase opens the key for this ask alone: a locked wallet stays locked.
    pub(super) fn set_secret(
        &self,
        name: SecretName,
        value: SecretValue,
        passphrase: &Passphrase,
    ) -> Result<OperatorReply, Trouble> {
        let opened = self.opened(passphrase)?;
        let now_s = self.vault.ledger.time().now_s;
        let done = match self.vault.secrets.set(opened.key(), name.clone(), value, now_s)? {
            Before::Nothing => "set",
            Before::Another => "replaced",
        };
        self.vault.ledger.note(Event::new(EventKind::Note, format!("the secret {name} was {done}, by the operator")));
        Ok(OperatorReply::Done)
    }

    pub(super) fn remove_secret(&self, name: &SecretName, passphrase: &Passphrase) -> Result<OperatorReply, Trouble> {
        let opened = self.opened(passphrase)?;
        match self.vault.secrets.remove(opened.key(), name)? {
            Before::Nothing => Err(trouble(
                "secret_unknown",
                &format!("no secret `{name}` is stored; `bursar secret list` shows them"),
            )),
            Before::Another => {
                let told = format!("the secret {name} was removed, by the operator");
                self.vault.ledger.note(Event::new(EventKind::Note, told));
                Ok(OperatorReply::Done)
            }
        }
    }

    /// Whether `shown` is the secret that readers of metrics have to show, compared in the same time whatever it is.
    pub(super) fn metrics_token(&self, shown: &SecretValue) -> Result<OperatorReply, Trouble> {
        let rules = self.vault.rules();
        let Some(name) = rules.rules.metrics().and_then(Metrics::token) else {
            return Err(trouble("secret_unknown", "the rules in force name no `token` of [metrics]"));
        };
        let Some(key) = self.vault.wallet.key() else {
            return Err(trouble("wallet_locked", "secrets can be read only while the wallet is unlocked"));
        };
        let kept = self.vault.secrets.open(&key)?;
        let is_it = kept.get(name).map(|kept| kept.value.expose().as_bytes().ct_eq(shown.expose().as_bytes()));
        if is_it.is_some_and(bool::from) {
            return Ok(OperatorReply::Done);
        }
        Err(trouble("token_wrong", "that is not the token of [metrics]; show the secret that the rules name"))
    }

    /// The names in the file, and what the rules in force want of them. While the wallet is unlocked the file has to open
    /// as well, so that one that was changed is told here.
    pub(super) fn list_secrets(&self) -> Result<OperatorReply, Trouble> {
        if let Some(key) = self.vault.wallet.key() {
            drop(self.vault.secrets.open(&key)?);
        }
        let kept = self.vault.secrets.names()?;
        let rules = self.vault.rules();
        let uses = rules.rules.secret_uses();
        let missing = rules.rules.secrets_missing(&kept.keys().cloned().collect());
        let view =
            |(name, set_at_s)| SecretView { used_by: uses.get(&name).cloned().unwrap_or_default(), name, set_at_s };
        let secrets = kept.into_iter().map(view).collect();
        Ok(OperatorReply::Secrets(Box::new(SecretList { secrets, missing })))
    }

    /// The secrets that the rules in force name and nobody stored; all of them where the file cannot be read.
    pub(super) fn secrets_missing(&self) -> Vec<SecretName> {
        let kept: BTreeSet<SecretName> = match self.vault.secrets.names() {
            Ok(kept) => kept.into_keys().collect(),
            Err(fault) => {
                tracing::warn!(%fault, "the names of the secrets cannot be read");
                BTreeSet::new()
            }
        };
        self.vault.rules().rules.secrets_missing(&kept)
    }
}
