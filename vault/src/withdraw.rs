//! Money moved out of an account on the operator's order: written down first, signed after it. Must never be reached by an
//! agent, nor sign what is not on the disk.

use std::time::Instant;

use bursar_policy::asset::Asset;
use bursar_policy::quantity::Moment;
use bursar_policy::{Address, Amount, AssetId, SweepId};
use thiserror::Error;

use crate::failpoint;
use crate::keyring;
use crate::keystore::{Keystore, KeystoreFault};
use crate::ledger::{LedgerFault, Ordered, Ordering, Refused};
use crate::protocol::{Passphrase, SweepPlan, SweepSigned, SweepView};
use crate::sign::{Key, SignFault};
use crate::vault::Vault;
use crate::wallet::{Opened, UnlockFault};

/// The longest life of a sweep, in minutes: a day.
const SWEEP_MAX_MINUTES: u32 = 24 * 60;

/// Why no sweep is answered.
#[derive(Debug, Error)]
pub(crate) enum SweepFault {
    /// The operator was not recognised, or the key does not open.
    #[error(transparent)]
    Unlock(#[from] UnlockFault),
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerFault),
    /// The signer made no signature; the sweep stays written down.
    #[error(transparent)]
    Signer(#[from] SignFault),
    /// The rules do not know the token.
    #[error("the rules have no asset `{asset}`; add it to them, or name one that they have")]
    Asset {
        /// Which.
        asset: AssetId,
    },
    /// No such account.
    #[error("the ledger never counted for the account `{account}`; `bursar status` lists those that it did")]
    Account {
        /// Which.
        account: Address,
    },
    /// The key of that account is not here.
    #[error("the key of `{account}` is not in this profile; sweep where it is, or put its file back into `keys`")]
    NoKey {
        /// Which.
        account: Address,
    },
    /// The money cannot go there.
    #[error("money cannot go to `{to}`: it is the account itself, the token, or nobody; type another address")]
    Destination {
        /// Where.
        to: Address,
    },
    /// A sandbox moves play money.
    #[error("a sandbox moves money on test chains only; `{asset}` is on another")]
    RealChain {
        /// Which.
        asset: AssetId,
    },
    /// How long it may be used.
    #[error("a sweep may be used for 1 to {SWEEP_MAX_MINUTES} minutes; choose a time in between")]
    Minutes,
    /// There is less.
    #[error(
        "only {free} atomic units are free to move, and payments may still take {reserved}; sweep less, or wait for them"
    )]
    Short {
        /// What is free.
        free: u128,
        /// What is not.
        reserved: u128,
    },
    /// Nobody says what there is, and payments may still take some of it.
    #[error(
        "payments may still take {reserved} atomic units until {}, and nobody says what the account holds; sweep after that, or name an endpoint of the chain in the rules", Moment(*.until_s)
    )]
    Unseen {
        /// What they may take.
        reserved: u128,
        /// Unix seconds.
        until_s: u64,
    },
    /// One is live.
    #[error("the sweep `{}` of {} to `{}` is live already; `bursar sweep --again` writes the same one out again", .0.id, .0.money, .0.to)]
    Exists(Box<SweepView>),
    /// The ledger is shut.
    #[error("spending is shut after a fault; look at `bursar status` first")]
    Shut,
    /// Randomness is missing.
    #[error("the system gives no random bytes; try again later")]
    NoRandomness,
}

impl SweepFault {
    /// A stable word.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Unlock(_) => "keystore",
            Self::Ledger(fault) => fault.code(),
            Self::Signer(_) => "not_signed",
            Self::Asset { .. } => "sweep_asset",
            Self::Account { .. } => "sweep_account",
            Self::NoKey { .. } => "sweep_no_key",
            Self::Destination { .. } => "sweep_destination",
            Self::RealChain { .. } => "sweep_chain",
            Self::Minutes => "sweep_minutes",
            Self::Short { .. } => "sweep_short",
            Self::Unseen { .. } => "sweep_unseen",
            Self::Exists(_) => "sweep_exists",
            Self::Shut => "ledger_latched",
            Self::NoRandomness => "no_randomness",
        }
    }
}

/// What the operator typed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) account: Address,
    pub(crate) to: Address,
    pub(crate) asset: AssetId,
    pub(crate) amount: Amount,
    pub(crate) minutes: u32,
}

impl Vault {
    /// What there is to move out of `account`. Asks the chain where the rules name endpoints; holds nothing meanwhile.
    pub(crate) fn sweep_plan(&self, account: Address, asset: &AssetId) -> Result<SweepPlan, SweepFault> {
        self.is_an_account(account)?;
        self.asset_of(asset)?;
        let said = self.watch.balance_of(self, asset, account);
        let (reserved, reserved_until_s, live) = self.ledger.spoken_for(account, *asset)?;
        let (balance, trouble) = match said {
            None => (None, None),
            Some(Ok(units)) => (Some(units), None),
            Some(Err(trouble)) => (None, Some(trouble)),
        };
        Ok(SweepPlan { account, balance, trouble, reserved, reserved_until_s, live })
    }

    /// Writes a sweep down and signs it. The passphrase opens the key for this ask alone.
    pub(crate) fn sweep(&self, wish: Wish, passphrase: &Passphrase) -> Result<SweepSigned, SweepFault> {
        let opened = self.key_of(wish.account, passphrase)?;
        let asset = self.asset_of(&wish.asset)?;
        if wish.minutes == 0 || SWEEP_MAX_MINUTES < wish.minutes {
            return Err(SweepFault::Minutes);
        }
        let setting = self.profile.setting();
        if setting == bursar_policy::Setting::Sandbox && !wish.asset.chain.is_testnet() {
            return Err(SweepFault::RealChain { asset: wish.asset });
        }
        let (mut id, mut nonce) = ([0_u8; 16], [0_u8; 32]);
        for part in [id.as_mut_slice(), nonce.as_mut_slice()] {
            getrandom::fill(part).map_err(|_fault| SweepFault::NoRandomness)?;
        }
        let Wish { account, to, amount, minutes, .. } = wish;
        let wanted = Ordering {
            id: SweepId::from_random(id),
            account,
            to,
            asset: asset.clone(),
            amount,
            nonce,
            life_s: u64::from(minutes).saturating_mul(60),
            balance: self.watch.balance_of(self, &wish.asset, account).and_then(Result::ok),
        };
        match self.ledger.order(wanted)? {
            Ok(ordered) => self.signed(&ordered, &asset, opened.key()),
            Err(Refused::Shut) => Err(SweepFault::Shut),
            Err(Refused::Stranger) => Err(SweepFault::Account { account }),
            Err(Refused::Destination) => Err(SweepFault::Destination { to }),
            Err(Refused::Live(live)) => Err(SweepFault::Exists(live)),
            Err(Refused::Short { free, reserved }) => Err(SweepFault::Short { free, reserved }),
            Err(Refused::Unseen { reserved, until_s }) => Err(SweepFault::Unseen { reserved, until_s }),
        }
    }

    /// Signs a live sweep again: the same bytes.
    pub(crate) fn sweep_again(&self, id: &SweepId, passphrase: &Passphrase) -> Result<SweepSigned, SweepFault> {
        let ordered = self.ledger.ordered(id)?;
        let opened = self.key_of(ordered.view().account, passphrase)?;
        let asset = self.asset_of(&ordered.view().asset)?;
        self.signed(&ordered, &asset, opened.key())
    }

    fn signed(&self, ordered: &Ordered, asset: &Asset, key: &Key) -> Result<SweepSigned, SweepFault> {
        let (signature, domain) = key.sign_sweep(ordered, asset, self.profile.setting())?;
        failpoint::reach("vault-sweep-signed");
        let (sweep, authorization) = (ordered.view().clone(), ordered.authorization());
        Ok(SweepSigned { sweep, authorization, domain, signature: signature.to_string() })
    }

    fn asset_of(&self, asset: &AssetId) -> Result<Asset, SweepFault> {
        self.rules().rules.asset(asset).cloned().ok_or(SweepFault::Asset { asset: *asset })
    }

    fn is_an_account(&self, account: Address) -> Result<(), SweepFault> {
        let known = self.ledger.accounts()?.contains(&account);
        if known { Ok(()) } else { Err(SweepFault::Account { account }) }
    }

    /// The key of an account that pays or did, opened with the operator's passphrase.
    fn key_of(&self, account: Address, passphrase: &Passphrase) -> Result<Opened, SweepFault> {
        if account == self.wallet.address() {
            return Ok(self.wallet.open(passphrase, Instant::now())?);
        }
        let path = keyring::kept(&self.profile, account);
        match Keystore::open(&path, self.profile.setting(), self.ledger.id()) {
            Ok(keystore) => Ok(self.wallet.open_of(&keystore, passphrase, Instant::now())?),
            // Whether there is such an account is told to nobody who does not know the passphrase.
            Err(fault) => {
                let _proven = self.wallet.prove(passphrase, Instant::now()).map_err(UnlockFault::from)?;
                self.is_an_account(account)?;
                Err(match fault {
                    KeystoreFault::Guard(crate::guarded::GuardFault::Missing { .. }) => SweepFault::NoKey { account },
                    other => UnlockFault::from(other).into(),
                })
            }
        }
    }
}
