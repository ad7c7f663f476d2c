//! Asks the chains of the rules, from time to time or when somebody wants it. Must never hold the ledger while it waits for
//! one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bursar_policy::asset::Asset;
use bursar_policy::chain::{Address, AssetId, ChainId};
use bursar_policy::errand::{PaymentId, SweepId};
use bursar_policy::money::{Amount, Money};
use bursar_policy::rules::{BalanceNeed, ChainRule, Rules};

use super::inquiry::{Finding, Place};
use super::panel::{Panel, Said, Trouble};
use super::{Block, Chains};
use crate::ledger::{Doubt, EXPIRY_MARGIN_S, Holding, LedgerFault, Moved};
use crate::protocol::{BalanceView, ChainOutcome, ChainProof, ChainVerdict, ChainView, EndpointView, Reconciled};
use crate::vault::Vault;

/// The most payments that one round asks about.
const ROUND_MAX: u32 = 16;
/// The most rounds that a person's wish begins on one chain.
const ROUNDS_MAX: u32 = 8;
/// How long a round begins with further payments.
const ROUND_WITHIN: Duration = Duration::from_secs(20);
/// How long a payment is left alone that the chain used and does not show how, in seconds of the chain's time.
const UNCLEAR_PAUSE_S: u64 = 3_600;
/// The same, for one that could not be asked about.
const TROUBLE_PAUSE_S: u64 = 300;
/// How many pauses old a balance may be.
const PAUSES_KNOWN: u64 = 4;
/// How often the watch looks whether anything is due.
const TICK: Duration = Duration::from_secs(1);
/// The same where no chain is asked.
const IDLE_TICK: Duration = Duration::from_secs(5);
/// The longest pause after rounds that failed.
const BACKOFF_MAX: Duration = Duration::from_secs(600);

/// How long a look into the wallet that failed is not begun again for somebody who waits.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// What a vault knows of its chains.
#[derive(Debug)]
pub(crate) struct Watch {
    chains: Arc<dyn Chains>,
    known: Mutex<BTreeMap<ChainId, Known>>,
    /// One round at a time.
    rounds: Mutex<()>,
    /// One look into the wallet at a time, beside a round; and when it last failed, by chain.
    looks: Mutex<BTreeMap<ChainId, Instant>>,
}

/// How one chain answered last.
#[derive(Clone, Debug, Default)]
struct Known {
    head: Option<Block>,
    asked_s: Option<u64>,
    trouble: Option<String>,
    endpoints: Vec<Option<String>>,
}

/// What one round came to.
#[derive(Debug, Default)]
struct Round {
    proved: Vec<(PaymentId, ChainOutcome)>,
    swept: Vec<(SweepId, ChainVerdict)>,
    asked: usize,
    trouble: Option<String>,
}

impl Watch {
    pub(crate) fn new(chains: Arc<dyn Chains>) -> Self {
        Self { chains, known: Mutex::default(), rounds: Mutex::default(), looks: Mutex::default() }
    }

    /// Asks every chain of the rules in force now, about the wallet as well.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub(crate) fn reconcile(&self, vault: &Vault) -> Result<Reconciled, LedgerFault> {
        let (rules, begun) = (vault.rules(), Instant::now());
        let (mut proved, mut swept) = (Vec::new(), Vec::new());
        for (chain, rule) in rules.rules.chain_rules() {
            for _round in 0..ROUNDS_MAX {
                let round = self.round(vault, &rules.rules, chain, rule)?;
                proved.extend(round.proved);
                swept.extend(round.swept);
                if round.asked == 0 || round.trouble.is_some() || ROUND_WITHIN < begun.elapsed() {
                    break;
                }
            }
            self.look(vault, &rules.rules, chain, rule);
        }
        Ok(Reconciled { proved, swept, chains: self.view(vault, &rules.rules)? })
    }

    /// Sees to it that the balance of `asset` is known, where the rules want it known and it is not. Waits for the chain.
    pub(crate) fn want_balance(&self, vault: &Vault, asset: &AssetId) {
        let rules = vault.rules();
        let Some(rule) = rules.rules.chain_rule(asset.chain) else { return };
        let is_known = || vault.ledger.balance(vault.wallet.address(), asset).is_some();
        if rule.balance() == BalanceNeed::Required && !is_known() {
            let mut failed = lock(&self.looks);
            // Whoever had the look before may have brought it, or have found that nothing is to be had.
            let in_vain = failed.get(&asset.chain).is_some_and(|failed| failed.elapsed() < LOOK_AGAIN);
            if !is_known() && !in_vain {
                self.read(vault, &rules.rules, asset.chain, rule, |known| known.id == *asset, &mut failed);
            }
        }
    }

    /// What `account` holds of `asset` by now in atomic units, or why nobody says; `None` where the rules name no endpoint.
    pub(crate) fn balance_of(&self, vault: &Vault, asset: &AssetId, account: Address) -> Option<Result<u128, String>> {
        let rules = vault.rules();
        let rule = rules.rules.chain_rule(asset.chain)?;
        let mut panel = Panel::new(asset.chain, rule, self.chains.endpoints(&rules.rules, asset.chain));
        Some(panel.balance(asset.contract, account).map_err(|trouble| trouble.to_string()))
    }

    /// How the chains stand that `rules` have asked.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub(crate) fn view(&self, vault: &Vault, rules: &Rules) -> Result<Vec<ChainView>, LedgerFault> {
        let (ledger, holder) = (&vault.ledger, vault.wallet.address());
        let mut views = Vec::new();
        for (chain, rule) in rules.chain_rules() {
            let known = lock(&self.known).get(&chain).cloned().unwrap_or_default();
            let mut troubles = known.endpoints.into_iter();
            let endpoints = rule
                .endpoints()
                .iter()
                .map(|url| EndpointView { origin: url.origin().to_string(), trouble: troubles.next().flatten() });
            let held = rules.assets().filter(|asset| asset.id.chain == chain && rule.balance() != BalanceNeed::Off);
            let balances = held.map(|asset| {
                let found = ledger.balance(holder, &asset.id);
                let (money, read_s) = (found.map(|read| read.money), found.map(|read| read.read_s));
                BalanceView { asset: asset.id, symbol: asset.symbol.clone(), money, read_s }
            });
            views.push(ChainView {
                chain,
                endpoints: endpoints.collect(),
                agree: u32::try_from(rule.agree()).unwrap_or(u32::MAX),
                final_block: known.head.map(|block| (block.number, block.time_s)),
                asked_s: known.asked_s,
                trouble: known.trouble,
                unproved: ledger.unproved(chain, ledger.time().now_s)?,
                balances: balances.collect(),
            });
        }
        Ok(views)
    }

    /// Asks one chain once about what is due.
    fn round(&self, vault: &Vault, rules: &Arc<Rules>, chain: ChainId, rule: &ChainRule) -> Result<Round, LedgerFault> {
        let _one = lock(&self.rounds);
        let mut panel = Panel::new(chain, rule, self.chains.endpoints(rules, chain));
        let mut round = Round::default();
        let head = panel.head();
        match &head {
            Ok(head) => {
                self.prove_due(vault, rules, chain, head, &mut panel, &mut round)?;
                self.prove_sweeps(vault, chain, head, &mut panel, &mut round)?;
            }
            Err(trouble) => round.trouble = Some(trouble.to_string()),
        }
        let mut known = lock(&self.known);
        let before = known.entry(chain).or_default();
        if before.trouble != round.trouble
            && let Some(trouble) = &round.trouble
        {
            tracing::warn!(%chain, %trouble, "a chain cannot be asked");
        }
        *before = Known {
            head: head.ok().or(before.head),
            asked_s: Some(vault.ledger.time().now_s),
            trouble: round.trouble.clone(),
            endpoints: panel.troubles(),
        };
        Ok(round)
    }

    fn prove_due(
        &self,
        vault: &Vault,
        rules: &Arc<Rules>,
        chain: ChainId,
        head: &Block,
        panel: &mut Panel,
        round: &mut Round,
    ) -> Result<(), LedgerFault> {
        let ledger = &vault.ledger;
        if ledger.latched().is_some() {
            return Ok(());
        }
        let begun = Instant::now();
        for doubt in ledger.doubts(chain, head.time_s, ROUND_MAX)? {
            if vault.is_ending().is_some() || ROUND_WITHIN < begun.elapsed() {
                break;
            }
            round.asked = round.asked.saturating_add(1);
            match panel.ask(&doubt, head) {
                Ok(Some(said)) => match proof(said, head) {
                    Some(proof) => {
                        if let Moved::Now(outcome) = ledger.prove(&doubt.of, proof, rules.breaker())? {
                            tell(&doubt, outcome);
                            round.proved.push((doubt.of, outcome));
                        }
                    }
                    // Nothing can be said before it has run out.
                    None => ledger.doubt_later(&doubt.of, over_s(&doubt).max(head.time_s.saturating_add(1)))?,
                },
                Ok(None) => ledger.doubt_later(&doubt.of, head.time_s.saturating_add(UNCLEAR_PAUSE_S))?,
                Err(trouble) => {
                    // One payment that cannot be asked about does not stand in the way of the next ones for ever.
                    ledger.doubt_later(&doubt.of, head.time_s.saturating_add(TROUBLE_PAUSE_S))?;
                    round.trouble = Some(trouble.to_string());
                    if matches!(trouble, Trouble::Few { .. }) {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Asks about what the operator had moved.
    fn prove_sweeps(
        &self,
        vault: &Vault,
        chain: ChainId,
        head: &Block,
        panel: &mut Panel,
        round: &mut Round,
    ) -> Result<(), LedgerFault> {
        if vault.ledger.latched().is_some() || round.trouble.is_some() {
            return Ok(());
        }
        for doubt in vault.ledger.sweep_doubts(chain, head.time_s)? {
            match panel.ask(&doubt, head) {
                Ok(said) => {
                    if let Some(proof) = said.and_then(|said| proof(said, head))
                        && vault.ledger.prove_sweep(&doubt.of, proof.clone())?
                    {
                        round.swept.push((doubt.of, proof.verdict));
                    }
                }
                Err(trouble) => {
                    round.trouble = Some(trouble.to_string());
                    break;
                }
            }
        }
        Ok(())
    }

    /// Looks into the wallet on one chain, where the rules go by it.
    fn look(&self, vault: &Vault, rules: &Arc<Rules>, chain: ChainId, rule: &ChainRule) {
        if rule.balance() != BalanceNeed::Off {
            let mut failed = lock(&self.looks);
            self.read(vault, rules, chain, rule, |known| known.id.chain == chain, &mut failed);
        }
    }

    /// Reads the balance of each asset that is `wanted`. What cannot be read stays as it was, for as long as that holds.
    fn read(
        &self,
        vault: &Vault,
        rules: &Arc<Rules>,
        chain: ChainId,
        rule: &ChainRule,
        wanted: impl Fn(&Asset) -> bool,
        failed: &mut BTreeMap<ChainId, Instant>,
    ) {
        let mut panel = Panel::new(chain, rule, self.chains.endpoints(rules, chain));
        let holder = vault.wallet.address();
        for asset in rules.assets().filter(|asset| wanted(asset)) {
            let read_s = vault.ledger.time().now_s;
            let units = match panel.balance(asset.id.contract, holder) {
                Ok(units) => units,
                Err(trouble) => {
                    tracing::warn!(%chain, %trouble, "the wallet's balance cannot be read");
                    failed.insert(chain, Instant::now());
                    let mut known = lock(&self.known);
                    let known = known.entry(chain).or_default();
                    (known.trouble, known.endpoints) = (Some(trouble.to_string()), panel.troubles());
                    return;
                }
            };
            let money = match Amount::new(units) {
                None => Money::zero(asset.currency),
                Some(amount) => Money::of(amount, asset).unwrap_or(Money::new(asset.currency, u128::MAX)),
            };
            let until_s = read_s.saturating_add(rule.poll_s().saturating_mul(PAUSES_KNOWN));
            vault.ledger.note_balance(holder, asset.id, Holding { money, read_s, until_s });
        }
        failed.remove(&chain);
    }

    /// Ends what is asked now: the vault is ending.
    pub(crate) fn hang_up(&self) {
        self.chains.hang_up();
    }
}

/// Asks whatever chain is due, until the vault ends.
pub(crate) fn watch(vault: &Vault) {
    let mut plan: BTreeMap<ChainId, Pace> = BTreeMap::new();
    loop {
        let rules = vault.rules();
        let tick = if rules.rules.chain_rules().next().is_none() { IDLE_TICK } else { TICK };
        if vault.wait_for(tick).is_some() {
            return;
        }
        for (chain, rule) in rules.rules.chain_rules() {
            let pace = plan.entry(chain).or_default();
            if !pace.is_due() || !is_needed(vault, chain, rule) {
                continue;
            }
            let went_well = match vault.watch.round(vault, &rules.rules, chain, rule) {
                Ok(round) => round.trouble.is_none(),
                Err(fault) => {
                    tracing::warn!(%chain, %fault, "what a chain shows could not be written down");
                    false
                }
            };
            if went_well {
                vault.watch.look(vault, &rules.rules, chain, rule);
            }
            pace.went(went_well, Duration::from_secs(rule.poll_s()));
        }
    }
}

/// Whether anything could be asked: a payment, or the wallet while somebody may pay from it.
fn is_needed(vault: &Vault, chain: ChainId, rule: &ChainRule) -> bool {
    let now_s = vault.ledger.time().now_s;
    let doubted = vault.ledger.unproved(chain, now_s).is_ok_and(|count| 0 < count);
    let open = || {
        let sessions = vault.ledger.sessions().unwrap_or_default();
        sessions.iter().any(|session| !session.closed && now_s < session.expires_s)
    };
    let swept = || {
        let sweeps = vault.ledger.sweep_doubts(chain, now_s).unwrap_or_default();
        !sweeps.is_empty()
    };
    doubted || swept() || (rule.balance() != BalanceNeed::Off && open())
}

/// When a chain is asked next.
#[derive(Debug, Default)]
struct Pace {
    next: Option<Instant>,
    failed: u32,
}

impl Pace {
    fn is_due(&self) -> bool {
        self.next.is_none_or(|next| next <= Instant::now())
    }

    /// After a failure the pause doubles.
    fn went(&mut self, well: bool, poll: Duration) {
        self.failed = if well { 0 } else { self.failed.saturating_add(1) };
        let doubled = poll.saturating_mul(2_u32.saturating_pow(self.failed));
        self.next = Instant::now().checked_add(doubled.min(BACKOFF_MAX.max(poll)));
    }
}

/// When `doubt` can no longer be used, by the chain's time.
const fn over_s<Of>(doubt: &Doubt<Of>) -> u64 {
    doubt.authorization.valid_before.saturating_add(EXPIRY_MARGIN_S)
}

/// What is written down of what was said; `None` while nothing is for good.
fn proof(said: Said, head: &Block) -> Option<ChainProof> {
    let (verdict, place) = match said.finding {
        Finding::Paid(place) => (ChainVerdict::Paid, Some(place)),
        Finding::Cancelled(place) => (ChainVerdict::Cancelled, Some(place)),
        Finding::Unused => (ChainVerdict::Unused, None),
        Finding::Open | Finding::Unclear => return None,
    };
    let (block, hash) = place.map_or((head.number, head.hash), |place| (place.block, place.hash));
    Some(ChainProof {
        verdict,
        block,
        hash: hash.to_string(),
        block_s: head.time_s,
        transaction: place.map(|Place { transaction, .. }| transaction.to_string()),
        witnesses: said.witnesses,
        denies: false,
        proved_s: 0,
    })
}

fn tell(doubt: &Doubt, outcome: ChainOutcome) {
    let payment = &doubt.of;
    match outcome {
        ChainOutcome::Denied => {
            tracing::error!(%payment, "a seller said that it was paid, and the chain shows that it was not")
        }
        other => tracing::info!(%payment, outcome = ?other, "a chain proved how a payment ended"),
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in here is half done between two statements.
    what.lock().unwrap_or_else(PoisonError::into_inner)
}
