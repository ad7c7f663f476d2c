//! When too much went wrong with a host: what the rules say of it. It must never end a quarantine early.

use super::RuleFault;
use super::build::{Range, span, within};
use super::draft::OnSecurityRefusal;
use crate::quantity::Span;

/// `quarantine_after`: default, least and most.
const AFTER: Range = Range { default: 3, least: 1, most: 1_000 };
/// `quarantine`, in seconds: default, least and most.
const QUARANTINE_S: Range = Range { default: 3_600, least: 60, most: 31 * 86_400 };

/// When a host is put in quarantine, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breaker {
    on_security_refusal: OnSecurityRefusal,
    after: u32,
    quarantine_s: u64,
}

impl Breaker {
    pub(super) fn new(
        on_security_refusal: OnSecurityRefusal,
        after: Option<u32>,
        quarantine: Option<Span>,
    ) -> Result<Self, RuleFault> {
        let after = within("quarantine_after", after.map(u64::from), AFTER, |number| alloc::format!("{number}"))?;
        Ok(Self {
            on_security_refusal,
            after: u32::try_from(after).unwrap_or(1),
            quarantine_s: span("quarantine", quarantine, QUARANTINE_S)?,
        })
    }

    /// What a security refusal of a host's terms leads to, beside that it counts.
    #[must_use]
    pub const fn on_security_refusal(&self) -> OnSecurityRefusal {
        self.on_security_refusal
    }

    /// After how many failed deliveries in a row, or security refusals, a host is put in quarantine.
    #[must_use]
    pub const fn after(&self) -> u32 {
        self.after
    }

    /// How long a quarantine lasts, in seconds.
    #[must_use]
    pub const fn quarantine_s(&self) -> u64 {
        self.quarantine_s
    }
}
