//! What a person does with keys: opens one, has money moved out of an account, and lets another account pay. Must never do any
//! without the passphrase, every time.

use super::OperatorConversation;
use crate::ledger::{Event, EventKind, When};
use crate::passphrase::PassphraseFault;
use crate::protocol::{OperatorReply, Passphrase};
use crate::rotate::RotateFault;
use crate::trouble::Trouble;
use crate::wallet::{Opened, UnlockFault};
use crate::withdraw::{SweepFault, Wish};
use bursar_policy::{Address, AssetId, SweepId};
use std::time::Instant;

impl From<SweepFault> for Trouble {
    fn from(fault: SweepFault) -> Self {
        match fault {
            SweepFault::Unlock(fault) => fault.into(),
            other => Self { code: other.code(), message: other.to_string() },
        }
    }
}

impl From<RotateFault> for Trouble {
    fn from(fault: RotateFault) -> Self {
        match fault {
            RotateFault::Unlock(fault) => fault.into(),
            other => Self { code: other.code(), message: other.to_string() },
        }
    }
}

impl OperatorConversation {
    /// The key, opened with the operator's passphrase for one ask. A wrong one goes into the log.
    /// Secrets that are sealed under a key that does not pay are brought along.
    pub(super) fn opened(&self, passphrase: &Passphrase) -> Result<Opened, Trouble> {
        let opened = self.vault.wallet.open(passphrase, Instant::now());
        let opened = opened.map_err(|fault| match fault {
            UnlockFault::Operator(fault) => UnlockFault::Operator(self.noted(fault)),
            other => other,
        })?;
        self.vault.bring_secrets(opened.key(), Some(passphrase));
        Ok(opened)
    }

    pub(super) fn plan_sweep(&self, account: Address, asset: AssetId) -> Result<OperatorReply, Trouble> {
        Ok(OperatorReply::SweepPlan(Box::new(self.vault.sweep_plan(account, &asset)?)))
    }

    pub(super) fn sweep(&self, wish: Wish, passphrase: &Passphrase) -> Result<OperatorReply, Trouble> {
        let signed = self.vault.sweep(wish, passphrase).map_err(|fault| self.heard(fault))?;
        Ok(OperatorReply::Swept(Box::new(signed)))
    }

    pub(super) fn sweep_again(&self, id: &SweepId, passphrase: &Passphrase) -> Result<OperatorReply, Trouble> {
        let signed = self.vault.sweep_again(id, passphrase).map_err(|fault| self.heard(fault))?;
        Ok(OperatorReply::Swept(Box::new(signed)))
    }

    /// The log is signed by the new key at once, where the wallet is unlocked.
    pub(super) fn rotate(&self, passphrase: &Passphrase) -> Result<OperatorReply, Trouble> {
        let opened = self.opened(passphrase)?;
        let (from, to) = self.vault.rotate(&opened, passphrase)?;
        self.vault.sign_off(When::Now);
        Ok(OperatorReply::Rotated { from, to })
    }

    /// A wrong passphrase goes into the log.
    fn heard(&self, fault: SweepFault) -> SweepFault {
        if let SweepFault::Unlock(UnlockFault::Operator(PassphraseFault::Wrong { .. })) = &fault {
            self.vault.ledger.note(Event::new(EventKind::PassphraseWrong, "on the operator socket"));
        }
        fault
    }
}
