//! How the numbers of a story become names, pages, terms, signatures and words of sellers. Must never be told a state.

use std::collections::BTreeSet;

use bursar_policy::chain::Address;
use bursar_policy::errand::{Errand, PurchaseId, SessionName};
use bursar_policy::refusal::Refusal;
use bursar_policy::terms::Terms;

use super::super::world::{self, CENT, errand_at, terms};
use super::act::Word;
use super::books::{Codes, Purchase};
use crate::protocol::{ChainProof, ChainVerdict, Report, SettlementClaim};

pub(super) fn name(session: usize) -> SessionName {
    format!("s{session}").parse().unwrap()
}

pub(super) fn errand(purchase: Purchase) -> Errand {
    let host = if purchase.host == 0 { "api.example.com" } else { "shop.example.org" };
    let purchase_id = purchase.order.map(|order| format!("order-{order}").parse::<PurchaseId>().unwrap());
    Errand { purchase_id, ..errand_at(&format!("https://{host}/{}", purchase.path)) }
}

/// Terms whose life depends on the page.
pub(super) fn terms_of(purchase: Purchase, cents: u128) -> Terms {
    Terms { max_timeout_s: if purchase.path == 0 { 600 } else { 90 }, ..terms(cents * CENT) }
}

pub(super) fn codes(reasons: &[Refusal]) -> Codes {
    reasons.iter().map(Refusal::code).collect::<BTreeSet<_>>()
}

pub(super) fn signature(nonce: &[u8; 32], other: bool) -> String {
    let nonce = hex::encode(nonce);
    format!("0x{nonce}{nonce}{}", if other { "1c" } else { "1b" })
}

pub(super) fn report(word: Word, payer: Address) -> Report {
    let settled = SettlementClaim { payer: Some(payer.to_string()), ..world::settled() };
    match word {
        Word::Silence => world::silence(),
        Word::Settled => world::answered(Some(settled)),
        Word::Failed => Report { settlement: Some(SettlementClaim { success: false, ..settled }), ..world::silence() },
        Word::Delivered => world::answered(None),
        Word::OtherPayer => {
            world::answered(Some(SettlementClaim { payer: Some(format!("0x{}", "33".repeat(20))), ..settled }))
        }
        Word::NoTransaction => world::answered(Some(SettlementClaim { transaction: None, ..settled })),
    }
}

pub(super) fn proof(verdict: ChainVerdict, block_s: u64) -> ChainProof {
    let hash = format!("0x{}", "5a".repeat(32));
    let transaction = (verdict != ChainVerdict::Unused).then(|| world::TRANSACTION.to_owned());
    ChainProof { verdict, block: 7, hash, block_s, transaction, witnesses: 1, denies: false, proved_s: 0 }
}
