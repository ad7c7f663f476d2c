//! `bursar claim`: everything that is known of one payment in one file, for a claim against its seller.
//!
//! The signature is never in it. The seller has it, a chain shows whether it was used by the nonce alone, and whoever
//! else holds it beside these terms could cash it while it is valid: a claim is sent to strangers.

use std::io::Write as _;
use std::path::PathBuf;

use bursar_policy::{Address, Amount, ChainId, Money, PaymentId, Terms};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{
    ChainProof, Delivery, LogEntry, OperatorAsk, OperatorReply, PaymentDetail, RowState, SettlementClaim,
};
use clap::Args;
use serde::Serialize;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{receipts, table};

/// Write everything that is known of a payment to one file, for a claim against its seller.
#[derive(Debug, Args)]
pub(super) struct Claim {
    /// The payment (`p_…`), as `bursar receipts` tells it, or as much of its id as no other has
    #[arg(value_name = "PAYMENT")]
    payment: String,
    /// The file to make, `claim-PAYMENT.json` by default; one that is there already is left alone
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The file.
#[derive(Debug, Serialize)]
struct Document {
    /// The form of this file.
    bursar_claim: u32,
    payment: PaymentId,
    /// What an identical call is told: `paid`, `paid_content_lost` or `unresolved`.
    outcome: String,
    /// Where the row stands in the ledger.
    state: RowState,
    request: Request,
    paid: Paid,
    /// The terms that the payment was signed for.
    terms: Terms,
    /// What came back, with the SHA-256 of the body; absent when nobody wrote it down.
    delivery: Option<Delivery>,
    /// What the seller said of the settlement: its words, cut and unproven.
    settlement_said_by_seller: Option<SettlementClaim>,
    /// What a chain shows of it; absent where none was asked or none knows yet.
    shown_by_chain: Option<ChainProof>,
    /// What the ledger wrote down, oldest first; times are Unix seconds.
    events: Vec<LogEntry>,
}

#[derive(Debug, Serialize)]
struct Request {
    method: &'static str,
    url: String,
    origin: String,
}

#[derive(Debug, Serialize)]
struct Paid {
    network: ChainId,
    payer: Address,
    payee: Address,
    /// Atomic units of the token.
    amount: Amount,
    money: Money,
    symbol: String,
    /// The nonce of the authorization (EIP-3009): what a chain is asked for.
    nonce: String,
    signed: bool,
    counted_at_s: u64,
    valid_before_s: u64,
    /// The transaction, where one is known in the form of the chain.
    transaction: Option<String>,
}

impl Claim {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let operator = Operator::connect_or_start(profile)?;
        let id = receipts::named(&operator, &self.payment)?;
        let ask = OperatorAsk::Payment { id: id.clone() };
        let OperatorReply::Payment(detail) = operator.ask(&ask)? else {
            return Err(out_of_turn());
        };
        let document = document(*detail);
        let text = serde_json::to_string_pretty(&document).map_err(std::io::Error::from)?;
        let file = self.out.clone().unwrap_or_else(|| PathBuf::from(format!("claim-{id}.json")));
        let mut made = table::new_file(&file)?;
        made.write_all(text.as_bytes()).and_then(|()| made.write_all(b"\n")).and_then(|()| made.sync_all())?;
        table::say(&format!("Wrote {}.", file.display()))?;
        if document.outcome == "paid" {
            table::say("The ledger knows of nothing wrong with this payment.")?;
        }
        Ok(Exit::Done)
    }
}

fn document(detail: PaymentDetail) -> Document {
    let PaymentDetail {
        receipt, site, method, terms, payer, nonce, signed, delivery, settlement, proof, events, ..
    } = detail;
    Document {
        bursar_claim: 1,
        payment: receipt.payment,
        outcome: receipt.outcome,
        state: receipt.state,
        request: Request { method: method.as_str(), url: site.url(), origin: site.origin().to_string() },
        paid: Paid {
            network: receipt.chain,
            payer,
            payee: receipt.payee,
            amount: receipt.amount,
            money: receipt.money,
            symbol: receipt.symbol,
            nonce,
            signed,
            counted_at_s: receipt.created_s,
            valid_before_s: receipt.valid_before,
            transaction: receipt.transaction,
        },
        terms,
        delivery,
        settlement_said_by_seller: settlement,
        shown_by_chain: proof,
        events,
    }
}
