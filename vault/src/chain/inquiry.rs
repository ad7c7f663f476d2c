//! What one endpoint shows of one payment at one block. Must never take a sign of use for a payment without its transfer.

use bursar_policy::chain::Address;

use super::{At, Block, Endpoint, EndpointFault, Receipt, Which, Word, token};
use crate::ledger::{Doubt, EXPIRY_MARGIN_S};

/// How far before the ledger's time of a payment its use is looked for, in seconds of the chain's time.
const EARLIER_S: u64 = 600;
/// The most blocks that one question looks through for logs; endpoints answer no more than a few thousand at once.
const PIECE_BLOCKS: u64 = 2_000;
/// The most such questions for one payment: an hour of a chain that makes 8 blocks a second.
const PIECES_MAX: u64 = 16;
/// The most steps of the search for a block by its time.
const STEPS_MAX: u32 = 64;

/// What an endpoint shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// It was used, and this transaction moved exactly what was signed.
    Paid(Place),
    /// This transaction cancelled it.
    Cancelled(Place),
    /// It was not used, and no longer can be.
    Unused,
    /// It was not used so far.
    Open,
    /// It was used or cancelled, and nothing that can be found shows which.
    Unclear,
}

/// Where a transaction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) transaction: Word,
    pub(super) block: u64,
    pub(super) hash: Word,
}

/// Asks about `doubt` as of the final block `head`.
///
/// # Errors
///
/// [`EndpointFault`]; then it shows nothing.
pub(super) fn ask<Of>(endpoint: &dyn Endpoint, doubt: &Doubt<Of>, head: &Block) -> Result<Finding, EndpointFault> {
    let case = Case { endpoint, doubt, head };
    if !case.is_used()? {
        let over = doubt.authorization.valid_before.saturating_add(EXPIRY_MARGIN_S) <= head.time_s;
        return Ok(if over { Finding::Unused } else { Finding::Open });
    }
    if let Some(named) = doubt.claimed.as_deref().and_then(Word::parse)
        && let Some(place) = case.paid_by(&named)?
    {
        return Ok(Finding::Paid(place));
    }
    case.search()
}

struct Case<'a, Of> {
    endpoint: &'a dyn Endpoint,
    doubt: &'a Doubt<Of>,
    head: &'a Block,
}

impl<Of> Case<'_, Of> {
    const fn token(&self) -> Address {
        self.doubt.asset.contract
    }

    /// `authorizationState`, as of the head.
    fn is_used(&self) -> Result<bool, EndpointFault> {
        let signed = &self.doubt.authorization;
        let data = token::authorization_state(signed.from, signed.nonce);
        let answer = self.endpoint.call(self.token(), &data, At::Block(self.head.hash))?;
        token::boolean(&answer).ok_or_else(|| wrong("`authorizationState` is neither true nor false"))
    }

    /// Where `transaction` stands, when it is final and moved exactly what was signed.
    fn paid_by(&self, transaction: &Word) -> Result<Option<Place>, EndpointFault> {
        let Some(receipt) = self.endpoint.receipt(transaction)? else { return Ok(None) };
        if receipt.transaction != *transaction {
            return Err(wrong("a receipt is that of another transaction"));
        }
        Ok(if self.moved(&receipt) { self.standing(&receipt)? } else { None })
    }

    /// Whether a receipt shows this authorization used and this transfer made.
    fn moved(&self, receipt: &Receipt) -> bool {
        let signed = &self.doubt.authorization;
        let used = |log| token::is_about(log, self.token(), token::USED, signed.from, signed.nonce);
        let sent = |log| token::is_transfer(log, self.token(), signed.from, signed.to, signed.value.units());
        receipt.succeeded && receipt.logs.iter().any(used) && receipt.logs.iter().any(sent)
    }

    /// The place of a receipt whose block is on the chain that ends in the head; `None` where it is not.
    fn standing(&self, receipt: &Receipt) -> Result<Option<Place>, EndpointFault> {
        if self.head.number < receipt.block {
            return Ok(None);
        }
        let block = self.endpoint.block(Which::Number(receipt.block))?;
        let place = Place { transaction: receipt.transaction, block: receipt.block, hash: receipt.hash };
        Ok((block.hash == receipt.hash).then_some(place))
    }

    /// Looks through the logs from the time of the payment on.
    fn search(&self) -> Result<Finding, EndpointFault> {
        let signed = &self.doubt.authorization;
        let kinds = vec![token::USED, token::CANCELED];
        let topics = [kinds, vec![Word::of_address(signed.from)], vec![Word(signed.nonce)]];
        let mut from = self.first_block_since(self.doubt.created_s.saturating_sub(EARLIER_S))?;
        for _piece in 0..PIECES_MAX {
            if self.head.number < from {
                break;
            }
            let to = from.saturating_add(PIECE_BLOCKS).saturating_sub(1).min(self.head.number);
            for log in self.endpoint.logs(self.token(), &topics, from, to)? {
                let about = |kind| token::is_about(&log, self.token(), kind, signed.from, signed.nonce);
                let found = match (about(token::USED), about(token::CANCELED)) {
                    (true, _) => self.paid_by(&log.transaction)?.map(Finding::Paid),
                    (_, true) => self.cancelled_by(&log.transaction)?.map(Finding::Cancelled),
                    _ => return Err(wrong("a log is not one of those that were asked for")),
                };
                if let Some(found) = found {
                    return Ok(found);
                }
            }
            from = to.saturating_add(1);
        }
        Ok(Finding::Unclear)
    }

    fn cancelled_by(&self, transaction: &Word) -> Result<Option<Place>, EndpointFault> {
        let signed = &self.doubt.authorization;
        let Some(receipt) = self.endpoint.receipt(transaction)? else { return Ok(None) };
        let told = |log| token::is_about(log, self.token(), token::CANCELED, signed.from, signed.nonce);
        let cancelled = receipt.transaction == *transaction && receipt.succeeded && receipt.logs.iter().any(told);
        Ok(if cancelled { self.standing(&receipt)? } else { None })
    }

    /// The number of the first block whose time is `time_s` or later: backwards in doubling steps, then by halves.
    fn first_block_since(&self, time_s: u64) -> Result<u64, EndpointFault> {
        let (mut early, mut late) = (0, self.head.number);
        let mut step = 1_u64;
        for _step in 0..STEPS_MAX {
            let at = match late.checked_sub(step) {
                Some(at) if early == 0 => at,
                _ => break,
            };
            if self.endpoint.block(Which::Number(at))?.time_s < time_s {
                early = at.saturating_add(1);
            } else {
                late = at;
                step = step.saturating_mul(2);
            }
        }
        for _step in 0..STEPS_MAX {
            if late <= early {
                break;
            }
            let middle = early.midpoint(late);
            if self.endpoint.block(Which::Number(middle))?.time_s < time_s {
                early = middle.saturating_add(1);
            } else {
                late = middle;
            }
        }
        Ok(late)
    }
}

fn wrong(what: &str) -> EndpointFault {
    EndpointFault::Wrong(what.to_owned())
}

#[cfg(test)]
mod tests;
