//! What a person does with keys: has money moved out of an account, and lets another account pay. Must never do either
//! without the passphrase, every time.

use super::OperatorConversation;
use crate::ledger::{Event, EventKind, When};
use crate::passphrase::PassphraseFault;
use crate::protocol::{OperatorReply, Passphrase};
use crate::rotate::RotateFault;
use crate::trouble::Trouble;
use crate::wallet::UnlockFault;
use crate::withdraw::{SweepFault, Wish};
use bursar_policy::{Address, AssetId, SweepId};

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
