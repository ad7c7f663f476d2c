//! From the vault's words to the tools' words. Adds no fact, and never carries a signature, a header or an envelope.

use std::borrow::Cow;

use bursar_policy::{Money, Rules, Site};
use bursar_tools::SellerText;
use bursar_tools::payments::{
    Attachment, Books, Content, LimitLine, MandateLine, PaymentState, Preparation, Purchase, Reason, Receipt,
    SessionLine, SessionState,
};
use bursar_vault::protocol::{self as vault, AttachedHow, ContentRef, Delivery, GlueRefusal, Past, RowState, Signed};

use super::deliver::{seller_failed, sent_elsewhere, still_asks};
use super::verify::Mismatch;
use crate::wallet::WalletFault;

/// A row of the ledger as it may be told.
pub(super) fn receipt(receipt: vault::Receipt) -> Receipt {
    Receipt {
        payment: receipt.payment,
        state: state(receipt.state),
        money: receipt.money,
        symbol: receipt.symbol,
        chain: receipt.chain,
        payee: receipt.payee,
        transaction: receipt.transaction,
        expires_s: receipt.valid_before,
        repeat: receipt.identical_repeat,
    }
}

/// The receipt of a signed payment whose outcome could not be written down: it counts as spent.
pub(super) fn unwritten_receipt(signed: &Signed, rules: &Rules) -> Receipt {
    let terms = &signed.terms;
    let asset = rules.asset(&terms.asset_id());
    Receipt {
        payment: signed.payment.clone(),
        state: PaymentState::Exposed,
        money: asset
            .and_then(|asset| Money::of(terms.amount, asset))
            .unwrap_or_else(|| Money::zero(bursar_policy::Currency::USD)),
        symbol: asset.map(|asset| asset.symbol.clone()).unwrap_or_default(),
        chain: terms.chain,
        payee: terms.payee,
        transaction: None,
        expires_s: signed.authorization.valid_before,
        repeat: false,
    }
}

/// The vault was asked to sign and said neither yes nor no.
pub(super) fn no_word_from_the_vault(fault: &WalletFault) -> Purchase {
    tracing::error!("the vault was asked to sign and did not answer: {fault}");
    Purchase::Unknown(Reason::new(
        "vault_lost",
        "the wallet went away while it was asked to sign; nothing was sent to the seller, and the amount may count as spent",
    ))
}

/// The vault signed something else than was judged: nothing was sent.
pub(super) fn mismatch(signed: &Signed, rules: &Rules, fault: &Mismatch) -> Purchase {
    tracing::error!("{}: {fault}", signed.payment);
    Purchase::Unresolved {
        receipt: unwritten_receipt(signed, rules),
        reason: Reason::new("signer_mismatch", fault.to_string()),
        content: None,
        seller_says: None,
    }
}

/// A payment from before that cannot be sent again now.
pub(super) fn not_sent_again(signed: &Signed, rules: &Rules) -> Purchase {
    Purchase::Unresolved {
        receipt: Receipt { repeat: true, ..unwritten_receipt(signed, rules) },
        reason: not_offered_again(),
        content: None,
        seller_says: None,
    }
}

fn not_offered_again() -> Reason {
    Reason::new(
        "not_sent_again",
        "this was signed before and cannot be sent again now; it counts as spent, ask the operator to run `bursar log`",
    )
}

/// The same purchase, marked as the result of an earlier identical call.
pub(super) fn repeated(purchase: Purchase) -> Purchase {
    let again = |receipt: Receipt| Receipt { repeat: true, ..receipt };
    match purchase {
        Purchase::Paid { receipt, content } => Purchase::Paid { receipt: again(receipt), content },
        Purchase::PaidContentLost { receipt, reason } => Purchase::PaidContentLost { receipt: again(receipt), reason },
        Purchase::Unresolved { receipt, reason, content, seller_says } => {
            Purchase::Unresolved { receipt: again(receipt), reason, content, seller_says }
        }
        other => other,
    }
}

/// A sent payment, told by what the ledger makes of it. What was delivered is told in every case.
pub(super) fn bought(
    receipt: Receipt,
    outcome: &str,
    content: Option<Content>,
    trouble: Option<Reason>,
    seller_says: Option<SellerText>,
) -> Purchase {
    match (outcome, content, trouble) {
        ("paid", Some(content), None) => Purchase::Paid { receipt, content },
        ("paid" | "paid_content_lost", _, trouble) => {
            Purchase::PaidContentLost { receipt, reason: trouble.unwrap_or_else(lost) }
        }
        (_, content, trouble) => {
            Purchase::Unresolved { receipt, reason: trouble.unwrap_or_else(unconfirmed), content, seller_says }
        }
    }
}

/// The result of an earlier identical call. `show` turns stored content into what the model may see of it.
pub(super) fn past(past: &Past, show: impl Fn(&ContentRef, u16) -> Content) -> Purchase {
    let receipt = Receipt { repeat: true, ..receipt(past.receipt.clone()) };
    let (content, delivered) = match &past.delivery {
        Some(Delivery::Answer { status, content, content_error: None }) => {
            (content.as_ref().map(|content| show(content, *status)), (200..=299).contains(status))
        }
        Some(Delivery::Answer { status, content, .. }) => {
            (content.as_ref().map(|content| show(content, *status)), false)
        }
        _ => (None, false),
    };
    let trouble = match (delivered, &content) {
        (true, Some(_)) => None,
        (true, None) => Some(in_the_browser()),
        (false, _) => Some(unknown(past.delivery.as_ref())),
    };
    bought(receipt, &past.receipt.outcome, content, trouble, None)
}

/// The result of an earlier purchase of the same page.
pub(super) fn prepared_before(past: &Past) -> Preparation {
    let receipt = receipt(past.receipt.clone());
    match past.receipt.outcome.as_str() {
        "paid" | "paid_content_lost" => Preparation::Paid { receipt },
        _ => Preparation::Unresolved { receipt, reason: unknown(past.delivery.as_ref()) },
    }
}

/// A page that was signed for before and cannot be offered again now.
pub(super) fn not_prepared_again(signed: &Signed, rules: &Rules) -> Preparation {
    let receipt = Receipt { repeat: true, ..unwritten_receipt(signed, rules) };
    Preparation::Unresolved { receipt, reason: not_offered_again() }
}

/// What became of a payment that a browser had in hand.
pub(super) fn paid_by_a_browser(site: Site, past: &Past) -> Attachment {
    if past.receipt.state == RowState::Voided {
        return Attachment::Failed(Reason::new(
            "not_signed",
            "the wallet could not sign, so nothing was paid and the money is back; ask the operator to run `bursar log`",
        ));
    }
    let receipt = receipt(past.receipt.clone());
    let reason = match (past.receipt.outcome.as_str(), &past.delivery) {
        ("paid" | "paid_content_lost", _) => return Attachment::Paid { site, receipt },
        (_, Some(Delivery::Answer { status: 200..=299, .. })) => unconfirmed(),
        (_, Some(Delivery::Answer { status: 402, .. })) => still_asks(),
        (_, Some(Delivery::Answer { status: 300..=399, .. })) => sent_elsewhere(),
        (_, Some(Delivery::Answer { status, .. })) => seller_failed(*status),
        (_, Some(Delivery::Silence { .. }) | None) => Reason::new(
            "browser_silent",
            "the payment is with the browser, and nothing came back that anybody knows of; the amount counts as spent",
        ),
    };
    Attachment::Unresolved { site, receipt, reason }
}

/// Why the browser did not pay, while nothing is signed.
pub(super) fn no_browser(how: AttachedHow) -> Reason {
    let (code, told) = match how {
        AttachedHow::NoGlue => (
            "no_browser_glue",
            "no browser of this session is connected; ask the user to run `bursar browser`, or the operator to look",
        ),
        AttachedHow::Declined(why) => (
            why.code(),
            match why {
                GlueRefusal::NoBrowser => "the glue has no browser; ask the user to open it",
                GlueRefusal::PageGone => "the page is gone from the browser, or could not be opened",
                GlueRefusal::Timeout => "the browser never asked for the page",
            },
        ),
        AttachedHow::GlueSilent | AttachedHow::Armed | AttachedHow::Redeemed => (
            "browser_glue_silent",
            "the browser's glue did not take this up in time, or went away; ask the user to look at the browser",
        ),
    };
    Reason::new(code, told)
}

fn in_the_browser() -> Reason {
    Reason::new(
        "content_in_browser",
        "this was paid for in the user's browser, which has the content; nothing was paid again",
    )
}

fn lost() -> Reason {
    Reason::new("content_lost", "this was paid for, and what was delivered could not be kept")
}

/// The vault went away before it could write down what came back.
pub(super) fn unwritten() -> Reason {
    Reason::new(
        "report_lost",
        "the wallet went away before it wrote down what the seller delivered, which is below; the amount counts as spent",
    )
}

fn unconfirmed() -> Reason {
    Reason::new(
        "settlement_unconfirmed",
        "the seller delivered what is below, and what it says of the settlement does not fit this payment; the amount counts as spent",
    )
}

fn unknown(delivery: Option<&Delivery>) -> Reason {
    let sentence: Cow<'static, str> = match delivery {
        None => "nobody wrote down what the seller answered; the amount counts as spent".into(),
        Some(Delivery::Silence { why }) => {
            format!("the seller gave no usable answer ({why}); the amount counts as spent").into()
        }
        Some(Delivery::Answer { status, .. }) => {
            format!("the seller answered a payment with status {status}; the amount counts as spent").into()
        }
    };
    Reason::new("unresolved_before", sentence)
}

const fn state(state: RowState) -> PaymentState {
    match state {
        RowState::Held => PaymentState::Held,
        RowState::Exposed => PaymentState::Exposed,
        RowState::Settled => PaymentState::Settled,
        RowState::PresumedSpent => PaymentState::PresumedSpent,
        RowState::Lapsed => PaymentState::Lapsed,
        RowState::Voided => PaymentState::Voided,
    }
}

/// Budgets and what is open.
pub(super) fn books(status: vault::Status, now_s: u64) -> Books {
    Books {
        locked: status.locked,
        frozen: status.frozen,
        latched: status.latched,
        outside_hours: status.outside_hours,
        mandate_missing: status.mandate_missing,
        payer: status.payer,
        session: status.session.map(|session| session_line(session, now_s)),
        limits: status.limits.into_iter().map(limit_line).collect(),
        held: status.held,
        unresolved: status.unresolved.into_iter().map(receipt).collect(),
        approvals_waiting: status.approvals_waiting,
        next_step: status.next_step.map(|step| format!("ask the operator, a person: {step}")),
    }
}

fn session_line(session: vault::SessionView, now_s: u64) -> SessionLine {
    let state = match (session.closed, session.expires_s <= now_s) {
        (true, _) => SessionState::Closed,
        (false, true) => SessionState::Expired,
        (false, false) => SessionState::Open,
    };
    SessionLine {
        name: session.name,
        budget: session.budget,
        spent: session.spent,
        expires_s: session.expires_s,
        state,
        mandate: session
            .mandate
            .map(|mandate| MandateLine { purpose: mandate.purpose().to_owned(), origins: mandate.origins().to_vec() }),
    }
}

fn limit_line(limit: vault::LimitView) -> LimitLine {
    LimitLine {
        scope: limit.scope,
        window: limit.window,
        money: limit.max.zip(limit.used),
        count: limit.count.map(|count| (count, limit.count_used)),
    }
}
