//! How a purchase ends before a signature exists: a refusal, which is an answer, or a fault. Neither moved money.

use bursar_policy::{Challenge, Quoted, Refusal, Said};
use bursar_tools::payments::{Attachment, Preparation, Purchase, Quote, Reason};
use bursar_vault::protocol::{SOUGHT_MAX, Sought};

use crate::authorities::AuthorityFault;
use crate::content::ContentFault;
use crate::net::{AskFault, ExchangeFault, PinFault};
use crate::wallet::WalletFault;
use crate::wire::Unreadable;

/// Why nothing was bought.
#[derive(Debug)]
pub(super) enum End {
    /// The rules, a limit or the caller's own ceiling said no.
    No(Vec<Refusal>),
    /// It could not be tried.
    Fault(Reason),
}

/// Why nothing was bought, and what the seller had asked for by then, for the operator's log.
#[derive(Debug)]
pub(super) struct Declined {
    pub(super) end: End,
    pub(super) sought: Vec<Sought>,
}

impl From<End> for Declined {
    fn from(end: End) -> Self {
        Self { end, sought: Vec::new() }
    }
}

impl Declined {
    /// Terms that the rules refuse.
    pub(super) fn by_the_rules(refusals: Vec<Refusal>, challenge: &Challenge) -> Self {
        let sought = challenge.offers.iter().take(SOUGHT_MAX).map(|offer| Sought {
            amount: quoted(&offer.amount),
            asset: quoted(&offer.asset),
            network: quoted(&offer.network),
            payee: quoted(&offer.pay_to),
        });
        Self { end: End::No(refusals), sought: sought.collect() }
    }
}

fn quoted(said: &Said) -> Quoted {
    match said {
        Said::Absent => Quoted::of("nothing"),
        Said::Null => Quoted::of("null"),
        Said::Text(text) | Said::Number(text) => Quoted::of(text),
        Said::Other(what) => Quoted::of(what),
    }
}

impl End {
    pub(super) fn fault(code: &'static str, sentence: impl Into<String>) -> Self {
        Self::Fault(Reason::new(code, sentence.into()))
    }

    /// Something that the code before it rules out; nothing was paid.
    pub(super) fn broken(sentence: &'static str) -> Self {
        Self::fault("internal_error", format!("{sentence}; nothing was paid, and this is a bug to report"))
    }

    /// More is stored than the operator's rules allow, and this would cost nothing.
    pub(super) fn content_full() -> Self {
        Self::fault(
            "content_full",
            "more is stored than the operator's rules allow; ask the operator, a person, to run `bursar content prune`",
        )
    }

    /// A browser's own request does not carry what the rules send to this seller.
    pub(super) fn not_for_a_browser() -> Self {
        Self::fault(
            "not_for_a_browser",
            "the rules give this seller a secret header, which a browser's own request does not carry; buy it with `x402_fetch`",
        )
    }

    /// The client cancelled before money was set aside.
    pub(super) fn given_up() -> Self {
        Self::fault("cancelled", "the call was cancelled before anything was signed; call again to start anew")
    }

    pub(super) fn unreadable_authority(fault: &AuthorityFault) -> Self {
        tracing::error!("{fault}");
        Self::fault(
            "tls_setup",
            "a certificate authority of the rules cannot be read; ask the operator to check `ca` and `extra_ca` in the rules",
        )
    }

    /// What the tools are told of a purchase that ended so.
    pub(super) fn into_purchase(self) -> Purchase {
        match self {
            Self::No(refusals) => match &refusals[..] {
                [Refusal::NeedsApproval { approval: Some(question), .. }] => {
                    Purchase::NeedsApproval { approval: question.id.clone(), expires_s: question.expires_s }
                }
                _ => Purchase::Refused { refusals },
            },
            Self::Fault(reason) => Purchase::Failed(reason),
        }
    }

    /// What the tools are told of a quote that ended so.
    pub(super) fn into_quote(self) -> Quote {
        match self {
            Self::No(refusals) => match &refusals[..] {
                [Refusal::NeedsApproval { .. }] => Quote::NeedsApproval,
                _ => Quote::Refused { refusals },
            },
            Self::Fault(reason) => Quote::Failed(reason),
        }
    }

    /// What the tools are told of a page that ended so.
    pub(super) fn into_preparation(self) -> Preparation {
        match self {
            Self::No(refusals) => match &refusals[..] {
                [Refusal::NeedsApproval { approval: Some(question), .. }] => {
                    Preparation::NeedsApproval { approval: question.id.clone(), expires_s: question.expires_s }
                }
                _ => Preparation::Refused { refusals },
            },
            Self::Fault(reason) => Preparation::Failed(reason),
        }
    }

    /// What the tools are told of a browser's payment that ended so.
    pub(super) fn into_attachment(self) -> Attachment {
        match self {
            Self::No(refusals) => Attachment::Refused { refusals },
            Self::Fault(reason) => Attachment::Failed(reason),
        }
    }

    pub(super) fn into_reason(self) -> Reason {
        match self {
            Self::Fault(reason) => reason,
            Self::No(refusals) => {
                let code = refusals.first().map_or("internal_error", Refusal::code);
                Reason::new(code, "the wallet said no; ask the operator to look at `bursar log`")
            }
        }
    }
}

impl From<Vec<Refusal>> for End {
    fn from(refusals: Vec<Refusal>) -> Self {
        Self::No(refusals)
    }
}

impl From<WalletFault> for End {
    fn from(fault: WalletFault) -> Self {
        tracing::warn!("the vault could not be asked: {fault}");
        match fault {
            WalletFault::Fault { code, message } => Self::Fault(Reason::new(code, message)),
            WalletFault::Rules(_) => {
                Self::fault("rules_invalid", "the operator's rules cannot be read; `bursar vault` says why")
            }
            _ => {
                Self::fault("vault_unavailable", "the wallet does not answer; ask the operator to run `bursar status`")
            }
        }
    }
}

impl From<ExchangeFault> for End {
    fn from(fault: ExchangeFault) -> Self {
        Self::fault(fault.code().as_str(), fault.to_string())
    }
}

impl From<PinFault> for End {
    fn from(fault: PinFault) -> Self {
        match fault {
            PinFault::Refused(refusal) => Self::No(vec![refusal]),
            PinFault::Lookup(fault) => fault.into(),
        }
    }
}

impl From<AskFault> for End {
    fn from(fault: AskFault) -> Self {
        Self::fault("unsendable", fault.to_string())
    }
}

impl From<ContentFault> for End {
    fn from(fault: ContentFault) -> Self {
        tracing::warn!("content could not be kept: {fault}");
        Self::fault(
            "content_lost",
            "the answer could not be stored on this machine; ask the operator to check the disk",
        )
    }
}

impl From<Unreadable> for End {
    fn from(unreadable: Unreadable) -> Self {
        Self::No(vec![Refusal::from(unreadable)])
    }
}
