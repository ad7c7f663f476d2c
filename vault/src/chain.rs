//! What a chain shows of payments, and whom that is believed of. Must never speak HTTP, nor free money by itself.
//!
//! The vault has no HTTP: whoever starts it hands it something that reaches the endpoints ([`Chains`]). What an endpoint
//! may be asked is a short list ([`Endpoint`]), and every answer is a claim. What is believed is read at a block that so
//! many endpoints as the rules want call final, under one hash, and say the same of (`panel`); what they say about one
//! payment is worked out of state, receipt and logs (`inquiry`); the ledger looks at the row again before it moves
//! (`ledger/prove.rs`). A chain that is silent, late, of another id or of two minds frees nothing.

use std::fmt;
use std::sync::Arc;

use bursar_policy::chain::{Address, ChainId};
use bursar_policy::rules::Rules;
use thiserror::Error;

mod inquiry;
mod panel;
#[cfg(test)]
mod script;
pub mod token;
mod watch;

pub(crate) use self::watch::{Watch, watch};

/// Reaches the endpoints of chains.
pub trait Chains: Send + Sync + fmt::Debug {
    /// The endpoints of `chain` in the order in which `rules` name them, and no others. Nothing is asked yet.
    fn endpoints(&self, rules: &Arc<Rules>, chain: ChainId) -> Vec<Box<dyn Endpoint>>;

    /// Ends every question that is under way, and every further one at once: the vault is ending and waits for nobody.
    fn hang_up(&self) {}
}

/// No way to any chain: for a vault whose rules name none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoChains;

impl Chains for NoChains {
    fn endpoints(&self, _rules: &Arc<Rules>, _chain: ChainId) -> Vec<Box<dyn Endpoint>> {
        Vec::new()
    }
}

/// One JSON-RPC endpoint (execution-apis, methods `eth_*`). Each method asks once and blocks until there is an answer or
/// a deadline is over.
pub trait Endpoint: Send + fmt::Debug {
    /// The number of the chain that it speaks for.
    ///
    /// # Errors
    ///
    /// [`EndpointFault`].
    fn chain_id(&self) -> Result<u64, EndpointFault>;

    /// A block.
    ///
    /// # Errors
    ///
    /// [`EndpointFault`], also where there is no such block.
    fn block(&self, which: Which) -> Result<Block, EndpointFault>;

    /// What `contract` answers to `data`, without a transaction.
    ///
    /// # Errors
    ///
    /// [`EndpointFault`], also where the contract reverts or the block is not there.
    fn call(&self, contract: Address, data: &[u8], at: At) -> Result<Vec<u8>, EndpointFault>;

    /// The receipt of a transaction; `None` where there is none in any block.
    ///
    /// # Errors
    ///
    /// [`EndpointFault`].
    fn receipt(&self, transaction: &Word) -> Result<Option<Receipt>, EndpointFault>;

    /// The logs of `contract` in the blocks `from` to `to`, both included, whose topics begin with one of each of `topics`.
    ///
    /// # Errors
    ///
    /// [`EndpointFault`], also where it does not look through so many blocks.
    fn logs(&self, contract: Address, topics: &[Vec<Word>], from: u64, to: u64) -> Result<Vec<Log>, EndpointFault>;
}

/// Why an endpoint has no usable answer. The sentence names nothing of its URL but the origin.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EndpointFault {
    /// It cannot be reached, or not in time.
    #[error("{0}")]
    Silent(String),
    /// It answered that it cannot say.
    #[error("{0}")]
    Refused(String),
    /// What it answered cannot be.
    #[error("{0}")]
    Wrong(String),
}

/// 32 bytes: a hash, a topic, a nonce.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word(pub [u8; 32]);

impl Word {
    /// An address as contracts pass it on: behind 12 zero bytes.
    #[must_use]
    pub fn of_address(address: Address) -> Self {
        let mut bytes = [0; 32];
        for (to, from) in bytes.iter_mut().skip(12).zip(address.as_bytes()) {
            *to = *from;
        }
        Self(bytes)
    }

    /// A whole number, most significant byte first.
    #[must_use]
    pub fn of_number(number: u128) -> Self {
        let mut bytes = [0; 32];
        for (to, from) in bytes.iter_mut().skip(16).zip(number.to_be_bytes()) {
            *to = from;
        }
        Self(bytes)
    }

    /// Reads `0x` and 64 hex digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text.strip_prefix("0x")?, &mut bytes).ok()?;
        Some(Self(bytes))
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Which block is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The newest that is final: no reorganisation takes it back.
    Final,
    /// The one with this number.
    Number(u64),
}

/// As of when a contract is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The newest block, final or not.
    Latest,
    /// Exactly this block, on the chain that the endpoint takes for the right one (EIP-1898).
    Block(Word),
}

/// A block's header, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its number.
    pub number: u64,
    /// Its hash.
    pub hash: Word,
    /// The time in it, Unix seconds: the one that contracts go by.
    pub time_s: u64,
}

/// What a transaction did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Which.
    pub transaction: Word,
    /// Whether it took effect.
    pub succeeded: bool,
    /// The number of its block.
    pub block: u64,
    /// The hash of its block.
    pub hash: Word,
    /// What contracts told of it.
    pub logs: Vec<Log>,
}

/// One log entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Who told it.
    pub contract: Address,
    /// What can be searched for.
    pub topics: Vec<Word>,
    /// The rest.
    pub data: Vec<u8>,
    /// The transaction.
    pub transaction: Word,
    /// The number of its block.
    pub block: u64,
}
