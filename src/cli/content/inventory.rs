//! What is stored, and whose it is: the store's files beside the ledger's payments and the notes. Decides nothing.

use std::collections::BTreeMap;

use bursar_policy::{Digest, PaymentId};
use bursar_vault::protocol::{OperatorAsk, OperatorReply, PastPayment};
use serde::Serialize;

use super::lost;
use crate::cli::connect::{Operator, out_of_turn};
use crate::cli::exit::Stop;
use crate::content::{ContentStore, Kept};

/// How many payments are asked for at once.
const PAGE: u32 = 500;

/// How far the ledger's clock and the file system's may be apart, in seconds.
const CLOCKS_APART_S: u64 = 60;

/// One stored body.
#[derive(Debug, Serialize)]
pub(super) struct Item {
    /// SHA-256 of its bytes.
    #[serde(rename = "sha256")]
    pub(super) digest: Digest,
    /// Its length.
    pub(super) bytes: u64,
    /// What the seller calls it, as a word of the closed list; absent where nobody wrote it down.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    /// When it was delivered last, Unix seconds; when it was stored, where nobody wrote that down.
    pub(super) at_s: u64,
    /// The payments that it was delivered for, the oldest first; none for what cost nothing.
    pub(super) payments: Vec<PaymentId>,
    /// Where it came from last; absent where nobody wrote it down.
    pub(super) url: Option<String>,
    /// Whether a payment waits for it whose end is not known.
    pub(super) needed: bool,
    /// When the file was written, Unix seconds by the file system.
    #[serde(skip)]
    pub(super) stored_s: u64,
}

/// Everything that is stored.
pub(super) struct Inventory {
    items: Vec<Item>,
    /// When the oldest payment was counted whose answer may be on its way into the store.
    on_its_way_s: Option<u64>,
}

impl Inventory {
    /// Reads the folder, then the ledger: a body that a payment is about to be told for is in neither by mistake.
    ///
    /// # Errors
    ///
    /// A [`Stop`] when the folder or the vault cannot be read.
    pub(super) fn read(operator: &Operator, store: &ContentStore) -> Result<Self, Stop> {
        let kept = store.kept().map_err(lost)?;
        let mut paid: BTreeMap<Digest, Vec<PastPayment>> = BTreeMap::new();
        let mut on_its_way_s: Option<u64> = None;
        let mut after = None;
        loop {
            let OperatorReply::Payments(page) = operator.ask(&OperatorAsk::Payments { limit: PAGE, after })? else {
                return Err(out_of_turn());
            };
            let Some(last) = page.last() else { break };
            after = Some(last.payment.clone());
            for payment in page {
                match &payment.content {
                    Some(content) => paid.entry(content.digest).or_default().push(payment),
                    None if payment.waiting && payment.ended_s.is_none() => {
                        on_its_way_s = Some(on_its_way_s.map_or(payment.created_s, |at| at.min(payment.created_s)));
                    }
                    None => {}
                }
            }
        }
        let items = kept.into_iter().map(|kept| item(store, kept, paid.get(&kept.digest))).collect();
        Ok(Self { items, on_its_way_s })
    }

    #[cfg(test)]
    pub(super) const fn made_up(items: Vec<Item>, on_its_way_s: Option<u64>) -> Self {
        Self { items, on_its_way_s }
    }

    /// Every body, the one that was stored first at the beginning.
    pub(super) fn items(&self) -> &[Item] {
        &self.items
    }

    /// Whether `item` may be what a payment waits for: its end is not known, or its answer may just have been stored.
    pub(super) fn is_needed(&self, item: &Item) -> bool {
        item.needed || self.on_its_way_s.is_some_and(|at_s| at_s <= item.stored_s.saturating_add(CLOCKS_APART_S))
    }
}

fn item(store: &ContentStore, kept: Kept, paid: Option<&Vec<PastPayment>>) -> Item {
    let payments = paid.map(Vec::as_slice).unwrap_or_default();
    let note = store.note_of(&kept.digest);
    let last = payments.last();
    Item {
        digest: kept.digest,
        bytes: kept.bytes,
        kind: last
            .and_then(|payment| payment.content.as_ref().map(|content| content.kind.clone()))
            .or_else(|| note.as_ref().map(|note| note.kind.clone())),
        at_s: last.map(|payment| payment.created_s).or(note.as_ref().map(|note| note.at_s)).unwrap_or(kept.stored_s),
        payments: payments.iter().map(|payment| payment.payment.clone()).collect(),
        url: last.map(|payment| payment.site.url()).or_else(|| note.map(|note| note.site.url())),
        needed: payments.iter().any(|payment| payment.waiting),
        stored_s: kept.stored_s,
    }
}
