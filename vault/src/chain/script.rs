//! A chain that says what a test wrote down, and endpoints to it that fail as a test wants. Must never be in a build.

use std::sync::{Arc, Mutex, MutexGuard};

use bursar_policy::authorization::Authorization;
use bursar_policy::chain::{Address, AssetId, ChainId};
use bursar_policy::money::Amount;

use super::token::{CANCELED, TRANSFER, USED};
use super::{At, Block, Endpoint, EndpointFault, Log, Receipt, Which, Word};
use crate::ledger::Doubt;

/// The time in block 0; each next block is two seconds later.
pub(super) const GENESIS_S: u64 = 1_900_000_000;
/// The number of the newest final block unless a test says otherwise.
pub(super) const FINAL: u64 = 10_000;

pub(super) const TOKEN: Address = Address::from_bytes([0xaa; 20]);
pub(super) const PAYER: Address = Address::from_bytes([0x11; 20]);
pub(super) const PAYEE: Address = Address::from_bytes([0x22; 20]);
pub(super) const UNITS: u128 = 10_000;

/// The time in block `number`.
pub(super) const fn time_of(number: u64) -> u64 {
    GENESIS_S.saturating_add(number.saturating_mul(2))
}

/// A payment that was counted in the time of block 5000 and could be used for 300 seconds, 150 blocks.
pub(super) fn doubt() -> Doubt {
    let created_s = time_of(5_000);
    Doubt {
        of: bursar_policy::errand::PaymentId::from_random([3; 16]),
        asset: AssetId { chain: ChainId::BASE_SEPOLIA, contract: TOKEN },
        authorization: Authorization {
            from: PAYER,
            to: PAYEE,
            value: Amount::new(UNITS).unwrap(),
            valid_after: 0,
            valid_before: created_s.saturating_add(300),
            nonce: [7; 32],
        },
        created_s,
        claimed: None,
    }
}

/// What the chain is like, and how it is told.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) id: u64,
    pub(super) last: u64,
    /// Blocks of another fork have other hashes from this number on.
    pub(super) fork_from: Option<u64>,
    /// From which block on the authorization is used or cancelled.
    pub(super) used_from: Option<u64>,
    pub(super) receipts: Vec<Receipt>,
    /// What `eth_getLogs` knows; usually what the receipts say.
    pub(super) logs: Vec<Log>,
    pub(super) balance: u128,
    pub(super) fault: Option<EndpointFault>,
    /// A word in place of what a contract answers.
    pub(super) answer: Option<Vec<u8>>,
    /// Every question, by its method.
    pub(super) asked: Vec<String>,
}

/// One endpoint; a clone is the same one.
#[derive(Clone, Debug)]
pub(super) struct Script(Arc<Mutex<Scene>>);

impl Script {
    pub(super) fn new(change: impl FnOnce(&mut Scene)) -> Self {
        let mut scene = Scene {
            id: ChainId::BASE_SEPOLIA.number(),
            last: FINAL,
            fork_from: None,
            used_from: None,
            receipts: Vec::new(),
            logs: Vec::new(),
            balance: 0,
            fault: None,
            answer: None,
            asked: Vec::new(),
        };
        change(&mut scene);
        Self(Arc::new(Mutex::new(scene)))
    }

    pub(super) fn scene(&self) -> MutexGuard<'_, Scene> {
        self.0.lock().unwrap()
    }

    pub(super) fn asked(&self, method: &str) -> usize {
        self.scene().asked.iter().filter(|asked| asked.starts_with(method)).count()
    }

    fn at(&self, method: String) -> Result<MutexGuard<'_, Scene>, EndpointFault> {
        let mut scene = self.scene();
        scene.asked.push(method);
        match &scene.fault {
            Some(fault) => Err(fault.clone()),
            None => Ok(scene),
        }
    }
}

impl Scene {
    pub(super) fn hash(&self, number: u64) -> Word {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&number.to_be_bytes());
        bytes[31] = u8::from(self.fork_from.is_some_and(|from| from <= number));
        Word(bytes)
    }

    fn block(&self, number: u64) -> Block {
        Block { number, hash: self.hash(number), time_s: time_of(number) }
    }

    /// The authorization is used in this block by transaction `named`, as `kind` and with `transfers` says.
    pub(super) fn spends(&mut self, named: u8, block: u64, kind: Word, transfer: Option<u128>) {
        let transaction = Word([named; 32]);
        let log = |topics: Vec<Word>, data: Vec<u8>| Log { contract: TOKEN, topics, data, transaction, block };
        let mut logs = vec![log(vec![kind, Word::of_address(PAYER), Word([7; 32])], Vec::new())];
        if let Some(units) = transfer {
            let topics = vec![TRANSFER, Word::of_address(PAYER), Word::of_address(PAYEE)];
            logs.push(log(topics, Word::of_number(units).0.to_vec()));
        }
        self.used_from = Some(block);
        self.logs.extend(logs.clone());
        let hash = self.hash(block);
        self.receipts.push(Receipt { transaction, succeeded: true, block, hash, logs });
    }

    /// It is paid in this block by transaction `named`.
    pub(super) fn pays(&mut self, named: u8, block: u64) {
        self.spends(named, block, USED, Some(UNITS));
    }

    /// It is cancelled in this block by transaction `named`.
    pub(super) fn cancels(&mut self, named: u8, block: u64) {
        self.spends(named, block, CANCELED, None);
    }
}

impl Endpoint for Script {
    fn chain_id(&self) -> Result<u64, EndpointFault> {
        Ok(self.at("chain_id".to_owned())?.id)
    }

    fn block(&self, which: Which) -> Result<Block, EndpointFault> {
        let scene = self.at(format!("block {which:?}"))?;
        match which {
            Which::Final => Ok(scene.block(scene.last)),
            Which::Number(number) if number <= scene.last => Ok(scene.block(number)),
            Which::Number(_) => Err(EndpointFault::Refused("no such block".to_owned())),
        }
    }

    fn call(&self, contract: Address, data: &[u8], at: At) -> Result<Vec<u8>, EndpointFault> {
        let scene = self.at(format!("call {at:?}"))?;
        assert_eq!(contract, TOKEN);
        if let Some(answer) = &scene.answer {
            return Ok(answer.clone());
        }
        let At::Block(hash) = at else { return Ok(Word::of_number(scene.balance).0.to_vec()) };
        assert_eq!(data, super::token::authorization_state(PAYER, [7; 32]));
        let number = (0..=scene.last).rev().find(|number| scene.hash(*number) == hash);
        let number = number.ok_or_else(|| EndpointFault::Refused("no such block".to_owned()))?;
        let used = scene.used_from.is_some_and(|from| from <= number);
        Ok(Word::of_number(u128::from(used)).0.to_vec())
    }

    fn receipt(&self, transaction: &Word) -> Result<Option<Receipt>, EndpointFault> {
        let scene = self.at("receipt".to_owned())?;
        Ok(scene.receipts.iter().find(|receipt| receipt.transaction == *transaction).cloned())
    }

    fn logs(&self, contract: Address, topics: &[Vec<Word>], from: u64, to: u64) -> Result<Vec<Log>, EndpointFault> {
        let scene = self.at(format!("logs {from} {to}"))?;
        assert_eq!(contract, TOKEN);
        let asked = |log: &&Log| {
            let topic = |(wanted, topic): (&Vec<Word>, &Word)| wanted.contains(topic);
            (from..=to).contains(&log.block)
                && topics.len() <= log.topics.len()
                && topics.iter().zip(&log.topics).all(topic)
        };
        Ok(scene.logs.iter().filter(asked).cloned().collect())
    }
}
