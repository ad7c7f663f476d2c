//! A vault whose rules have a chain asked: what it frees by itself or when told to, and what it never does.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bursar_policy::rules::Rules;
use bursar_policy::{Address, ChainId, Digest, Terms};
use bursar_vault::chain::{At, Block, Chains, Endpoint, EndpointFault, Log, Receipt, Which, Word, token};
use bursar_vault::clock::{MachineTime, TimeSource};
use bursar_vault::process::{self, Running};
use bursar_vault::protocol::{
    AgentAsk, AgentReply, ChainOutcome, Claimed, OperatorAsk, OperatorReply, Reconciled, RowState, Signed,
};
use bursar_vault::setup::Unlocking;

use crate::world::{Agent, PAYEE, RULES, Sandbox, delivered, errand, terms};

/// What stands behind the host in the endpoint's URL, and must be seen nowhere else.
const KEY: &str = "k3y-0f-an-acc0unt";
const HEAD: u64 = 1_000;

/// What the chain says now.
#[derive(Debug, Default)]
struct Scene {
    /// The time in the newest final block.
    time_s: u64,
    used: bool,
    balance: u128,
    silent: bool,
    receipts: Vec<Receipt>,
}

/// A chain that says what a test sets.
#[derive(Clone, Debug, Default)]
struct Scripted(Arc<Mutex<Scene>>);

impl Scripted {
    fn scene(&self) -> MutexGuard<'_, Scene> {
        self.0.lock().unwrap()
    }

    fn awake(&self) -> Result<MutexGuard<'_, Scene>, EndpointFault> {
        let scene = self.scene();
        if scene.silent { Err(EndpointFault::Silent("it does not answer".to_owned())) } else { Ok(scene) }
    }
}

impl Chains for Scripted {
    fn endpoints(&self, rules: &Arc<Rules>, chain: ChainId) -> Vec<Box<dyn Endpoint>> {
        let endpoint = |_| -> Box<dyn Endpoint> { Box::new(self.clone()) };
        rules.chain_rule(chain).map(endpoint).into_iter().collect()
    }
}

impl Endpoint for Scripted {
    fn chain_id(&self) -> Result<u64, EndpointFault> {
        Ok(ChainId::BASE_SEPOLIA.number())
    }

    fn block(&self, which: Which) -> Result<Block, EndpointFault> {
        let number = if let Which::Number(number) = which { number } else { HEAD };
        let earlier_s = HEAD.saturating_sub(number).saturating_mul(2);
        let time_s = self.awake()?.time_s.saturating_sub(earlier_s);
        Ok(Block { number, hash: Word::of_number(number.into()), time_s })
    }

    fn call(&self, _contract: Address, _data: &[u8], at: At) -> Result<Vec<u8>, EndpointFault> {
        let scene = self.awake()?;
        let word = if at == At::Latest { scene.balance } else { u128::from(scene.used) };
        Ok(Word::of_number(word).0.to_vec())
    }

    fn receipt(&self, transaction: &Word) -> Result<Option<Receipt>, EndpointFault> {
        Ok(self.awake()?.receipts.iter().find(|receipt| receipt.transaction == *transaction).cloned())
    }

    fn logs(&self, _: Address, _: &[Vec<Word>], from: u64, to: u64) -> Result<Vec<Log>, EndpointFault> {
        let scene = self.awake()?;
        let found = scene.receipts.iter().filter(|receipt| (from..=to).contains(&receipt.block));
        Ok(found.flat_map(|receipt| receipt.logs.first().cloned()).collect())
    }
}

/// When a payment can no longer be used, margin included.
fn over_s(signed: &Signed) -> u64 {
    signed.authorization.valid_before.saturating_add(60)
}

/// The machine's clocks, ahead by as many seconds as a test lets pass.
#[derive(Clone, Debug, Default)]
struct Ahead(Arc<AtomicU64>);

impl Ahead {
    fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl TimeSource for Ahead {
    fn wall_s(&self) -> Option<u64> {
        MachineTime.wall_s().map(|now_s| now_s.saturating_add(self.0.load(Ordering::SeqCst)))
    }

    fn boot_ms(&self) -> u64 {
        MachineTime.boot_ms().saturating_add(self.0.load(Ordering::SeqCst).saturating_mul(1000))
    }

    fn boot_id(&self) -> String {
        MachineTime.boot_id()
    }
}

/// A vault under rules that have the chain asked, with a dollar to spend.
struct Stage {
    sandbox: Sandbox,
    chain: Scripted,
    time: Ahead,
    rules: String,
    _running: Running,
}

impl Stage {
    fn new(more: &str) -> Self {
        let sandbox = Sandbox::new(Unlocking::ByFile);
        let rpc = format!("[\"https://rpc.example.com/{KEY}\"]");
        let rules = format!("{RULES}\n[[chain]]\nnetwork = \"eip155:84532\"\nrpc = {rpc}\n{more}");
        fs::write(sandbox.profile.rules(), &rules).unwrap();
        let (chain, time) = (Scripted::default(), Ahead::default());
        let running = process::start(&sandbox.profile, None, Box::new(time.clone()), Arc::new(chain.clone())).unwrap();
        sandbox.operator().open_session("default", "1.00 USD");
        Self { sandbox, chain, time, rules, _running: running }
    }

    fn authorize(&self, agent: &Agent, path: &str, terms: Terms) -> AgentReply {
        assert!(matches!(agent.claim(&errand(path)), Claimed::New));
        let rules = Digest::of(self.rules.as_bytes());
        agent.ask(&AgentAsk::Authorize { terms, envelope: String::new(), rules })
    }

    /// Pays a cent that nothing comes back for, and sets the chain's time to after its end; its nonce.
    fn lose(&self) -> [u8; 32] {
        let agent = self.sandbox.agent();
        let AgentReply::Authorized(signed) = self.authorize(&agent, "lost", terms(1)) else { panic!("not signed") };
        self.chain.scene().time_s = over_s(&signed);
        signed.authorization.nonce
    }

    fn reconcile(&self) -> Reconciled {
        match self.sandbox.operator().ask(&OperatorAsk::Reconcile) {
            OperatorReply::Reconciled(reconciled) => *reconciled,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_a_chain_shows_unused_is_back_when_a_person_asks() {
    let stage = Stage::new("poll = \"1h\"\nbalance = \"off\"");
    stage.lose();
    let operator = stage.sandbox.operator();
    assert_eq!(operator.spent(), "0.01 USD");
    let reconciled = stage.reconcile();
    assert!(matches!(reconciled.proved[..], [(_, ChainOutcome::Lapsed)]), "{reconciled:?}");
    assert_eq!(operator.spent(), "0.00 USD");
    assert!(stage.reconcile().proved.is_empty(), "once");
    let status = format!("{:?}", operator.status().chains);
    assert!(status.contains("https://rpc.example.com") && !status.contains(KEY), "{status}");
}

#[test]
fn the_vault_asks_by_itself() {
    let stage = Stage::new("poll = \"1s\"\nbalance = \"off\"");
    stage.lose();
    stage.time.pass(60);
    let operator = stage.sandbox.operator();
    let until = Instant::now() + Duration::from_secs(60);
    while operator.spent() != "0.00 USD" {
        assert!(Instant::now() < until, "nothing was asked: {:?}", operator.status().chains);
        std::thread::yield_now();
    }
    assert!(operator.status().unresolved.is_empty());
}

#[test]
fn a_silent_chain_frees_nothing_and_is_told() {
    let stage = Stage::new("poll = \"1h\"\nbalance = \"off\"");
    stage.lose();
    stage.chain.scene().silent = true;
    let reconciled = stage.reconcile();
    assert!(reconciled.proved.is_empty());
    let [chain] = &reconciled.chains[..] else { panic!("{reconciled:?}") };
    assert!(chain.trouble.is_some() && chain.endpoints[0].trouble.is_some(), "{chain:?}");
    assert_eq!(stage.sandbox.operator().spent(), "0.01 USD");
    stage.chain.scene().silent = false;
    assert_eq!(stage.reconcile().proved.len(), 1, "it is asked again");
}

#[test]
fn a_seller_that_lied_is_told_and_its_money_stays_counted() {
    let stage = Stage::new("poll = \"1h\"\nbalance = \"off\"");
    let agent = stage.sandbox.agent();
    let AgentReply::Authorized(signed) = stage.authorize(&agent, "a", terms(1)) else { panic!("not signed") };
    assert_eq!(agent.report(delivered()).state, RowState::Settled);
    stage.chain.scene().time_s = over_s(&signed);
    assert!(matches!(stage.reconcile().proved[..], [(_, ChainOutcome::Denied)]));
    let status = stage.sandbox.operator().status();
    assert_eq!((status.denied.len(), stage.sandbox.operator().spent().as_str()), (1, "0.01 USD"));
}

#[test]
fn a_payment_that_the_chain_shows_is_settled_without_a_word_of_the_seller() {
    let stage = Stage::new("poll = \"1h\"\nbalance = \"off\"");
    let nonce = stage.lose();
    let payer = Word::of_address(stage.sandbox.payer);
    let transaction = Word([5; 32]);
    let log = |topics: Vec<Word>, data: Vec<u8>| Log {
        contract: terms(1).asset,
        topics,
        data,
        transaction,
        block: HEAD - 50,
    };
    let payee = Word::of_address(PAYEE.parse().unwrap());
    let logs = vec![
        log(vec![token::USED, payer, Word(nonce)], Vec::new()),
        log(vec![token::TRANSFER, payer, payee], Word::of_number(10_000).0.to_vec()),
    ];
    let (block, hash) = (HEAD - 50, Word::of_number((HEAD - 50).into()));
    {
        let mut scene = stage.chain.scene();
        scene.used = true;
        scene.receipts.push(Receipt { transaction, succeeded: true, block, hash, logs });
    }
    let proved = stage.reconcile().proved;
    let [(payment, ChainOutcome::Settled)] = &proved[..] else { panic!("{proved:?}") };
    let OperatorReply::Payment(detail) = stage.sandbox.operator().ask(&OperatorAsk::Payment { id: payment.clone() })
    else {
        panic!("no payment")
    };
    assert_eq!(detail.receipt.transaction, Some(transaction.to_string()));
    assert_eq!((detail.receipt.state, stage.sandbox.operator().spent().as_str()), (RowState::Settled, "0.01 USD"));
}

#[test]
fn a_balance_that_has_to_be_known_is_asked_for_before_a_payment_is_counted() {
    let stage = Stage::new("poll = \"1h\"\nbalance = \"required\"");
    let agent = stage.sandbox.agent();
    stage.chain.scene().silent = true;
    let refused = |reply: AgentReply| match reply {
        AgentReply::Refused(reasons) => reasons.iter().map(bursar_policy::Refusal::code).collect::<Vec<_>>(),
        other => panic!("a refusal was expected: {other:?}"),
    };
    assert_eq!(refused(stage.authorize(&agent, "a", terms(1))), ["balance_unknown"]);
    {
        let mut scene = stage.chain.scene();
        (scene.silent, scene.balance) = (false, 19_999);
    }
    // Who only wants to pay does not begin another look so soon.
    assert_eq!(refused(stage.authorize(&agent, "a", terms(1))), ["balance_unknown"]);
    stage.reconcile();
    assert_eq!(refused(stage.authorize(&agent, "b", terms(2))), ["insufficient_balance"]);
    assert!(matches!(stage.authorize(&agent, "c", terms(1)), AgentReply::Authorized(_)));
    assert_eq!(
        refused(stage.authorize(&agent, "d", terms(1))),
        ["insufficient_balance"],
        "what is pending is taken off"
    );
    let status = stage.sandbox.operator().status();
    let balance = status.chains[0].balances[0].money.map(|money| money.to_string());
    assert_eq!(balance.as_deref(), Some("0.019999 USD"));
}
