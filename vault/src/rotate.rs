//! Another key for the account that pays: made beside the old one, handed over by the ledger, put in its place. Must never
//! leave a moment in which the ledger counts for a key that is not on the disk.

use std::path::PathBuf;

use bursar_policy::quantity::Moment;
use bursar_policy::{Address, PaymentId};
use thiserror::Error;

use crate::audit_key::AuditKey;
use crate::failpoint;
use crate::guarded::{self, GuardFault};
use crate::keyring;
use crate::keystore::{Keystore, KeystoreFault};
use crate::ledger::{Event, EventKind, Handover, LedgerFault, Rotated};
use crate::protocol::Passphrase;
use crate::secret_store::{Resealed, StoreFault};
use crate::sign::{Key, SignFault};
use crate::vault::{Ended, Vault};
use crate::wallet::{Opened, UnlockFault};

/// Why the account is the one that it was, or who has to finish its change.
#[derive(Debug, Error)]
pub(crate) enum RotateFault {
    /// A payment may still be taken.
    #[error("the payment `{payment}` is not resolved and may be taken until {}; rotate after that", Moment(*.until_s))]
    Open {
        /// The one that lives longest.
        payment: PaymentId,
        /// Unix seconds.
        until_s: u64,
    },
    /// The ledger is shut.
    #[error("spending is shut after a fault; look at `bursar status` first")]
    Shut,
    /// The account was changed, and the files were not all moved.
    #[error(
        "the account is `{to}` from now on, but its key could not be put in its place ({fault}); the vault ends and does that when it is started again"
    )]
    Unfinished {
        /// The account that pays.
        to: Address,
        /// What stood in the way.
        fault: KeystoreFault,
    },
    /// Nobody can say whether the account was changed.
    #[error(
        "it is not known whether the account was changed ({fault}); the vault ends, and goes by the ledger when it is started again"
    )]
    Unknown {
        /// What the ledger said.
        fault: LedgerFault,
    },
    /// The ledger; nothing was changed.
    #[error(transparent)]
    Ledger(#[from] LedgerFault),
    /// The new key cannot be sealed.
    #[error(transparent)]
    Unlock(#[from] UnlockFault),
    /// The secrets cannot be sealed again.
    #[error(transparent)]
    Secrets(#[from] StoreFault),
    /// No key can be made.
    #[error(transparent)]
    Key(#[from] SignFault),
    /// A file cannot be used.
    #[error(transparent)]
    Guard(#[from] GuardFault),
    /// No audit key follows from a key: one in 2^128.
    #[error("that key has no key for the log; run the command again")]
    NoAuditKey,
}

impl RotateFault {
    /// A stable word.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Open { .. } => "payment_open",
            Self::Shut => "ledger_latched",
            Self::Unfinished { .. } | Self::Unknown { .. } => "rotation_unfinished",
            Self::Ledger(fault) => fault.code(),
            Self::Unlock(_) | Self::Guard(_) => "keystore",
            Self::Secrets(_) => "secrets_damaged",
            Self::Key(_) | Self::NoAuditKey => "no_key",
        }
    }
}

impl Vault {
    /// Makes a key and lets its account pay from now on; `opened` is the key of now, opened with `passphrase`. Both accounts,
    /// the old one first.
    pub(crate) fn rotate(&self, opened: &Opened, passphrase: &Passphrase) -> Result<(Address, Address), RotateFault> {
        let (key, next) = (opened.key(), Key::generate()?);
        let (from, to) = (key.address(), next.address());
        let (staged, secrets) = (keyring::kept(&self.profile, to), keyring::kept_secrets(&self.profile, to));
        guarded::make_directory(&self.profile.keys())?;
        self.wallet.seal(&staged, &next, passphrase, self.profile.setting(), self.ledger.id())?;
        failpoint::reach("vault-rotation-sealed");
        let keys = AuditKey::of(key).zip(AuditKey::of(&next)).ok_or(RotateFault::NoAuditKey);
        let rotated = keys.and_then(|(audit, audit_next)| {
            let handover = Handover { from, to, key: audit, next: audit_next };
            self.secrets.hand_on(key, &next, &secrets, || {
                failpoint::reach("vault-rotation-staged");
                let rotated = self.changed(handover)?;
                if rotated == Rotated::Done {
                    failpoint::reach("vault-rotation-committed");
                    self.moved(to)?;
                }
                Ok::<_, RotateFault>(rotated)
            })
        });
        let refused = match rotated {
            Ok(Rotated::Done) => {
                let there = Keystore::open(&self.profile.keystore(), self.profile.setting(), self.ledger.id());
                self.wallet.go_on_with(there.map_err(|fault| self.unfinished(to, fault))?, next);
                return Ok((from, to));
            }
            Ok(Rotated::Open { payment, until_s }) => RotateFault::Open { payment, until_s },
            Ok(Rotated::Shut) => RotateFault::Shut,
            // What the ledger says at the next start counts, and the new key is there for it.
            Err(fault @ (RotateFault::Unknown { .. } | RotateFault::Unfinished { .. })) => return Err(fault),
            Err(other) => other,
        };
        // Nobody was told of that key.
        for path in [staged, secrets] {
            if let Err(fault) = keyring::forget(&path) {
                tracing::warn!(%fault, "a key that nobody uses is left");
            }
        }
        Err(refused)
    }

    /// Has the ledger count for the other account. Where its answer is lost, what it says afterwards holds; where it says
    /// nothing, the vault ends: it may have the wrong key.
    fn changed(&self, handover: Handover) -> Result<Rotated, RotateFault> {
        let to = handover.to;
        self.ledger.rotate(handover).or_else(|fault| match self.ledger.key_address() {
            Ok(known) if known == Some(to) => Ok(Rotated::Done),
            Ok(_) => Err(fault.into()),
            Err(_silent) => {
                self.wallet.lock();
                self.end(Ended::Asked);
                Err(RotateFault::Unknown { fault })
            }
        })
    }

    /// Seals the secrets under `key`, which pays, where they are sealed under one that is kept beside it: on a machine that
    /// was given the keys of another one, or beside a ledger that was put back. Kept keys are opened with `passphrase` or that
    /// of the passphrase file. What cannot be opened stays as it is, and is told by whoever wants a secret.
    pub(crate) fn bring_secrets(&self, key: &Key, passphrase: Option<&Passphrase>) {
        let kept = || {
            let every = keyring::every_kept(&self.profile);
            let open = |path: PathBuf| Keystore::open(&path, self.profile.setting(), self.ledger.id()).ok();
            every.into_iter().filter_map(open).filter_map(|keystore| self.wallet.open_beside(&keystore, passphrase))
        };
        match self.secrets.seal_anew(key, kept) {
            Ok(Resealed::No) => {}
            Ok(Resealed::Yes) => {
                let told = "the secrets were sealed under a key that does not pay, and are under the one that does";
                self.ledger.note(Event::new(EventKind::Note, told));
            }
            Err(fault) => tracing::warn!(%fault, "the secrets cannot be opened"),
        }
    }

    /// Moves the files after the ledger. Where that cannot be done the vault ends: it has the wrong key.
    fn moved(&self, to: Address) -> Result<(), RotateFault> {
        keyring::settle(&self.profile, to).map_err(|fault| self.unfinished(to, fault))
    }

    fn unfinished(&self, to: Address, fault: KeystoreFault) -> RotateFault {
        self.wallet.lock();
        self.end(Ended::Asked);
        RotateFault::Unfinished { to, fault }
    }
}
