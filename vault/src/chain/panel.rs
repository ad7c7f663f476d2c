//! Several endpoints of one chain as one witness. Must never believe fewer of them than the rules want, nor any of them
//! when two disagree.

use std::fmt::Display;
use std::thread;

use bursar_policy::chain::{Address, ChainId};
use bursar_policy::rules::ChainRule;

use super::inquiry::{self, Finding};
use super::{At, Block, Endpoint, EndpointFault, Which, token};
use crate::ledger::Doubt;

/// The endpoints of one chain, while they are asked.
pub(super) struct Panel {
    chain: ChainId,
    agree: usize,
    seats: Vec<Seat>,
}

/// One endpoint, and what was wrong with its last answer.
struct Seat {
    endpoint: Box<dyn Endpoint>,
    trouble: Option<EndpointFault>,
    /// It is asked: at first, and after that while it vouches for the head.
    is_asked: bool,
}

/// Why a panel has nothing to say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    /// Too few endpoints answered.
    #[error("{answered} of the {wanted} endpoints that have to agree gave an answer; see what is wrong with each")]
    Few { answered: usize, wanted: usize },
    /// They are on different chains of the same number.
    #[error("the endpoints know block {number} under different hashes, so one of them is wrong; find out which")]
    Fork { number: u64 },
    /// They say different things of one payment or sweep.
    #[error("the endpoints say different things of `{of}`, so one of them is wrong; find out which")]
    Disagree { of: String },
}

/// What a panel says of one payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) finding: Finding,
    pub(super) witnesses: u32,
}

impl Panel {
    pub(super) fn new(chain: ChainId, rule: &ChainRule, endpoints: Vec<Box<dyn Endpoint>>) -> Self {
        let seats = endpoints.into_iter().map(|endpoint| Seat { endpoint, trouble: None, is_asked: true });
        Self { chain, agree: rule.agree(), seats: seats.collect() }
    }

    /// What is wrong with each endpoint, in the order of the rules.
    pub(super) fn troubles(&self) -> Vec<Option<String>> {
        self.seats.iter().map(|seat| seat.trouble.as_ref().map(ToString::to_string)).collect()
    }

    /// The newest block that enough endpoints call final and know under one hash. Those are its witnesses, and nobody else
    /// is asked about it.
    ///
    /// # Errors
    ///
    /// [`Trouble`].
    pub(super) fn head(&mut self) -> Result<Block, Trouble> {
        let chain = self.chain;
        for seat in &mut self.seats {
            seat.is_asked = true;
        }
        let finals = self.each(|endpoint| {
            is_of(endpoint, chain)?;
            endpoint.block(Which::Final)
        });
        let mut numbers: Vec<u64> = finals.iter().flatten().map(|block| block.number).collect();
        numbers.sort_unstable_by(|one, other| other.cmp(one));
        let Some(number) = numbers.get(self.agree.saturating_sub(1)).copied() else {
            return Err(Trouble::Few { answered: numbers.len(), wanted: self.agree });
        };
        // Whoever calls an older block final does not vouch for this one.
        for (seat, own) in self.seats.iter_mut().zip(&finals) {
            seat.is_asked = own.is_some_and(|own| number <= own.number);
        }
        let known = self.each(|endpoint| endpoint.block(Which::Number(number)));
        let mut head: Option<Block> = None;
        let mut witnesses: usize = 0;
        for (seat, block) in self.seats.iter_mut().zip(known) {
            seat.is_asked = block.is_some();
            let Some(block) = block else { continue };
            witnesses = witnesses.saturating_add(1);
            match head {
                Some(before) if before != block => return Err(Trouble::Fork { number }),
                _ => head = Some(block),
            }
        }
        let found = head.filter(|block| self.agree <= witnesses && block.number == number);
        found.ok_or(Trouble::Few { answered: witnesses, wanted: self.agree })
    }

    /// What the witnesses of `head` say of `doubt`; `None` where it is unclear to so many that too few are left.
    ///
    /// # Errors
    ///
    /// [`Trouble`].
    pub(super) fn ask<Of: Display>(&mut self, doubt: &Doubt<Of>, head: &Block) -> Result<Option<Said>, Trouble> {
        let mut told: Vec<Finding> = Vec::new();
        for seat in self.seats.iter_mut().filter(|seat| seat.is_asked) {
            match inquiry::ask(&*seat.endpoint, doubt, head) {
                Ok(finding) => told.push(finding),
                Err(fault) => seat.trouble = Some(fault),
            }
        }
        if told.len() < self.agree {
            return Err(Trouble::Few { answered: told.len(), wanted: self.agree });
        }
        if told.iter().any(|one| told.iter().any(|other| contradict(*one, *other))) {
            return Err(Trouble::Disagree { of: doubt.of.to_string() });
        }
        // What is left is the same from all of them.
        let clear: Vec<Finding> = told.into_iter().filter(|finding| *finding != Finding::Unclear).collect();
        let witnesses = u32::try_from(clear.len()).unwrap_or(u32::MAX);
        let said = clear.first().filter(|_said| self.agree <= clear.len());
        Ok(said.map(|finding| Said { finding: *finding, witnesses }))
    }

    /// What `holder` has of `token` by now: the least that any endpoint says, where enough of them say something.
    ///
    /// # Errors
    ///
    /// [`Trouble`].
    pub(super) fn balance(&mut self, token: Address, holder: Address) -> Result<u128, Trouble> {
        let (chain, data) = (self.chain, token::balance_of(holder));
        let said: Vec<u128> = self
            .each(|endpoint| {
                is_of(endpoint, chain)?;
                let answer = endpoint.call(token, &data, At::Latest)?;
                token::number(&answer).ok_or_else(|| EndpointFault::Wrong("`balanceOf` is not a number".to_owned()))
            })
            .into_iter()
            .flatten()
            .collect();
        let few = Trouble::Few { answered: said.len(), wanted: self.agree };
        said.iter().min().copied().filter(|_least| self.agree <= said.len()).ok_or(few)
    }

    /// Asks every endpoint that is asked at the same time, so that one that is silent holds up no other.
    fn each<T: Send>(&mut self, ask: impl Fn(&dyn Endpoint) -> Result<T, EndpointFault> + Sync) -> Vec<Option<T>> {
        thread::scope(|scope| {
            let ask = &ask;
            let asked: Vec<_> = self
                .seats
                .iter_mut()
                .map(|seat| {
                    scope.spawn(move || match seat.is_asked.then(|| ask(&*seat.endpoint))? {
                        Ok(answer) => {
                            seat.trouble = None;
                            Some(answer)
                        }
                        Err(fault) => {
                            seat.trouble = Some(fault);
                            None
                        }
                    })
                })
                .collect();
            // A thread that panicked has no answer.
            asked.into_iter().map(|asked| asked.join().ok().flatten()).collect()
        })
    }
}

/// Refuses an endpoint that speaks for another chain.
fn is_of(endpoint: &dyn Endpoint, chain: ChainId) -> Result<(), EndpointFault> {
    match endpoint.chain_id()? {
        number if number == chain.number() => Ok(()),
        other => Err(EndpointFault::Wrong(format!("it speaks for chain {other} and not for `{chain}`; correct `rpc`"))),
    }
}

/// Whether both cannot be so. Whoever cannot tell how it was used contradicts only one who says that it was not.
fn contradict(one: Finding, other: Finding) -> bool {
    let unused = |finding| matches!(finding, Finding::Unused | Finding::Open);
    match (one, other) {
        (Finding::Unclear, other) | (other, Finding::Unclear) => unused(other),
        (one, other) => one != other,
    }
}

#[cfg(test)]
mod tests;
