//! The play chain of the demo: one token contract with balances and used nonces, settling EIP-3009 authorizations.
//!
//! It must never move a balance that the payer's own signature does not allow: it is the witness the demo counts on.

use std::collections::{BTreeMap, BTreeSet};

use bursar_policy::authorization::{Authorization, Domain};
use bursar_policy::chain::Address;
use bursar_vault::sign::{Signature, recover};
use sha2::{Digest as _, Sha256};

/// One token on one chain, as its contract would keep it.
#[derive(Debug)]
pub(crate) struct Token {
    domain: Domain,
    balances: BTreeMap<Address, u128>,
    used: BTreeSet<(Address, [u8; 32])>,
}

/// Why the contract refused to move money. Nothing moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reverted {
    /// The signature is malformed or is not the payer's over exactly these fields and this domain.
    Signature,
    /// `validAfter` lies ahead.
    TooEarly,
    /// `validBefore` has passed.
    Expired,
    /// The payer used this nonce before.
    NonceUsed,
    /// The payer does not hold the value.
    Balance,
}

impl Reverted {
    /// The x402 reason code for this refusal.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Signature => "invalid_exact_evm_payload_signature",
            Self::TooEarly => "invalid_exact_evm_payload_authorization_valid_after",
            Self::Expired => "invalid_exact_evm_payload_authorization_valid_before",
            Self::NonceUsed => "invalid_exact_evm_nonce_already_used",
            Self::Balance => "insufficient_funds",
        }
    }
}

impl Token {
    /// A token under `domain` in which `holder` owns `units` and nobody else owns anything.
    pub(crate) fn minted(domain: Domain, holder: Address, units: u128) -> Self {
        Self { domain, balances: BTreeMap::from([(holder, units)]), used: BTreeSet::new() }
    }

    /// What `holder` owns, in atomic units.
    pub(crate) fn balance(&self, holder: Address) -> u128 {
        self.balances.get(&holder).copied().unwrap_or(0)
    }

    /// Moves the authorized value, as `transferWithAuthorization` of EIP-3009 does, and returns a transaction id.
    pub(crate) fn transfer(
        &mut self,
        authorization: &Authorization,
        signature: &str,
        now_s: u64,
    ) -> Result<String, Reverted> {
        self.verify(authorization, signature)?;
        if now_s <= authorization.valid_after {
            return Err(Reverted::TooEarly);
        }
        if authorization.valid_before <= now_s {
            return Err(Reverted::Expired);
        }
        let nonce = (authorization.from, authorization.nonce);
        if self.used.contains(&nonce) {
            return Err(Reverted::NonceUsed);
        }
        self.move_units(authorization)?;
        self.used.insert(nonce);
        Ok(transaction_id(authorization))
    }

    fn verify(&self, authorization: &Authorization, signature: &str) -> Result<(), Reverted> {
        let signature = signature.parse::<Signature>().map_err(|_| Reverted::Signature)?;
        match recover(&authorization.digest(&self.domain), &signature) {
            Some(signer) if signer == authorization.from => Ok(()),
            _ => Err(Reverted::Signature),
        }
    }

    fn move_units(&mut self, authorization: &Authorization) -> Result<(), Reverted> {
        let value = authorization.value.units();
        let left = self.balance(authorization.from).checked_sub(value).ok_or(Reverted::Balance)?;
        self.balances.insert(authorization.from, left);
        let grown = self.balance(authorization.to).checked_add(value).ok_or(Reverted::Balance)?;
        self.balances.insert(authorization.to, grown);
        Ok(())
    }
}

fn transaction_id(authorization: &Authorization) -> String {
    let hash = Sha256::new().chain_update(authorization.from.as_bytes()).chain_update(authorization.nonce).finalize();
    format!("0x{}", hex::encode(hash))
}
