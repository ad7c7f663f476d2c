//! The vault's side: asks the center for what is short, gives back what others need, and stays alive for it. Must never
//! hold the ledger while it waits.

use super::{Asked, Center, CenterFault, Declared, LEASE_S, Settled, Who};
use crate::ledger::{Ledger, LedgerFault, Line, LineStanding};
use crate::vault::Vault;
use bursar_policy::{Digest, Errand, Rules, SessionId, Terms};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use thiserror::Error;

/// How often a vault shows that it lives: a lost ask or two do not cost it the lease.
const BEAT: Duration = Duration::from_secs(8);

/// How much beyond its need a vault asks for: one part in so many of what the limit allows. The center gives less where
/// there are many.
const SLICES: u128 = 8;

/// One vault's dealings with one center.
#[derive(Debug)]
pub(crate) struct Keeper {
    center: Arc<dyn Center>,
    /// One ask at a time: an answer that is taken up late must never undo what was said since.
    dealings: Mutex<Dealings>,
    /// Apart from the dealings, so that whoever asks how it stands does not wait for the center.
    trouble: Mutex<Option<String>>,
}

#[derive(Debug)]
struct Dealings {
    who: Who,
    /// The limits of which the center has heard what is counted here.
    declared: BTreeSet<Digest>,
    /// The limits that stood in the rules at the last beat; `None` before the first.
    met: Option<BTreeSet<Digest>>,
}

/// Why parts could not be looked after.
#[derive(Debug, Error)]
pub(crate) enum KeepFault {
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerFault),
    /// The center.
    #[error(transparent)]
    Center(#[from] CenterFault),
}

impl Keeper {
    /// Nothing is asked yet. `life` is 16 fresh random bytes.
    pub(crate) fn new(center: Arc<dyn Center>, ledger: &Ledger, life: [u8; 16]) -> Self {
        let who = Who { ledger: ledger.id().to_owned(), life, turn: 0 };
        let dealings = Dealings { who, declared: BTreeSet::new(), met: None };
        Self { center, dealings: Mutex::new(dealings), trouble: Mutex::default() }
    }

    /// Sees to it that the parts reach for a payment on `terms`, as far as the others leave room. Waits for the center only
    /// where they do not reach.
    ///
    /// # Errors
    ///
    /// [`KeepFault`]; then the parts are what they were.
    pub(crate) fn want(
        &self,
        ledger: &Ledger,
        session: &SessionId,
        errand: &Errand,
        terms: &Terms,
        rules: &Arc<Rules>,
    ) -> Result<(), KeepFault> {
        if ledger.short_of(session, errand, terms, rules)?.is_empty() {
            return Ok(());
        }
        let mut dealings = self.dealings();
        // Whoever dealt before may have brought it.
        let short = ledger.short_of(session, errand, terms, rules)?;
        if short.is_empty() {
            return Ok(());
        }
        let more = short
            .into_iter()
            .map(|line| Asked { want: line.needed.saturating_add(line.max.div_euclid(SLICES)), ..asked(line) });
        let more: Vec<Asked> = more.collect();
        self.deal(&mut dealings, ledger, &more, &[])?;
        Ok(())
    }

    /// What has to be done every few seconds: tells what is counted under limits that are new, keeps the lease, and gives
    /// back what is idle here and wanted elsewhere.
    ///
    /// A limit is declared at the second beat that meets it, so that no payment which was judged by the rules before is
    /// counted after it; at the first beat of all there were none.
    ///
    /// # Errors
    ///
    /// [`KeepFault`]; the next beat tries again.
    pub(crate) fn beat(&self, ledger: &Ledger, rules: &Arc<Rules>) -> Result<(), KeepFault> {
        let done = self.round(&mut self.dealings(), ledger, rules);
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = done.as_ref().err().map(ToString::to_string);
        done
    }

    /// What stood in the way at the last beat.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn round(&self, dealings: &mut Dealings, ledger: &Ledger, rules: &Arc<Rules>) -> Result<(), KeepFault> {
        let split = Ledger::split(rules);
        let is_ripe = |limit: &Digest| dealings.met.as_ref().is_none_or(|met| met.contains(limit));
        let undeclared = split.iter().filter(|split| !dealings.declared.contains(&split.limit));
        let declared: Vec<Declared> = undeclared.filter(|split| is_ripe(&split.limit)).copied().collect();
        let mut counted = Vec::new();
        if !declared.is_empty() {
            let is_told = |line: &Line| declared.iter().any(|declared| declared.limit == line.limit);
            counted.extend(ledger.counted(rules)?.into_iter().filter(|standing| is_told(&standing.line)).map(asked));
        }
        let settled = self.deal(dealings, ledger, &counted, &declared)?;
        dealings.declared.extend(declared.into_iter().map(|declared| declared.limit));
        dealings.met = Some(split.into_iter().map(|split| split.limit).collect());
        self.give_back(dealings, ledger, &settled.wanted, rules)
    }

    /// What is idle goes first from here and then to the center.
    fn give_back(
        &self,
        dealings: &mut Dealings,
        ledger: &Ledger,
        wanted: &[Line],
        rules: &Arc<Rules>,
    ) -> Result<(), KeepFault> {
        let mut less = Vec::new();
        for line in wanted {
            less.extend(ledger.lower(line, rules)?.map(asked));
        }
        if less.is_empty() {
            return Ok(());
        }
        self.deal(dealings, ledger, &less, &[])?;
        Ok(())
    }

    /// Asks once, and keeps what the center says.
    fn deal(
        &self,
        dealings: &mut Dealings,
        ledger: &Ledger,
        asked: &[Asked],
        declared: &[Declared],
    ) -> Result<Settled, CenterFault> {
        dealings.who.turn = dealings.who.turn.saturating_add(1);
        // From before the ask, so that the center's word never lasts longer here than there.
        let until_s = ledger.time().now_s.saturating_add(LEASE_S);
        let settled = self.center.settle(&dealings.who, asked, declared)?;
        let lines = asked.iter().map(|asked| asked.line.clone());
        ledger.hold_parts(lines.zip(settled.parts.iter().copied()), until_s);
        Ok(settled)
    }

    fn dealings(&self) -> MutexGuard<'_, Dealings> {
        self.dealings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Beats until the vault ends. Nothing where the rules split no limits.
pub(crate) fn beat(vault: &Vault) {
    let Some(keeper) = &vault.keeper else { return };
    loop {
        let rules = vault.rules();
        if rules.rules.shares().is_some()
            && let Err(fault) = keeper.beat(&vault.ledger, &rules.rules)
        {
            tracing::warn!(%fault, "the shares of the limits were not looked after");
        }
        if vault.wait_for(BEAT).is_some() {
            return;
        }
    }
}

/// An ask for no more than what is needed.
fn asked(LineStanding { line, used, needed, max, lasts_s }: LineStanding) -> Asked {
    Asked { line, counted: used, need: needed, want: needed, max, lasts_s }
}
