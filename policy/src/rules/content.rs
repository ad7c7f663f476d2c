//! How much of an answer is shown, for one `[[host]]`. It must never show more than one of the modes by itself would.

use alloc::vec::Vec;

use super::build::{Range, check_twice, size, span};
use super::draft::{HostDraft, PaymentDraft};
use super::{ContentMode, RuleFault};
use crate::pointer::Pointer;

/// The most fields of one host.
const FIELDS_MAX: usize = 32;

/// `max_body` of one host, in bytes: the least, and the most where the model sees something of the body itself.
const BODY_BYTES: Range = Range { default: 0, least: 1, most: 64 << 20 };
/// The same where the model sees nothing of it, or the name of its file.
const FILE_BYTES: Range = Range { default: 0, least: 1, most: 256 << 20 };
/// `max_content`, in bytes: least and most.
const CONTENT_BYTES: Range = Range { default: 0, least: 1 << 20, most: 1 << 40 };
/// `content_age`, in seconds: least and most.
const AGE_S: Range = Range { default: 0, least: 3_600, most: 3_660 * 86_400 };

/// How much of all answers together is kept, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keeping {
    /// With more stored than so many bytes, what costs nothing is no longer fetched.
    pub max_bytes: Option<u64>,
    /// After so many seconds a stored answer that cost nothing may be pruned.
    pub age_s: Option<u64>,
}

impl Keeping {
    pub(super) fn new(payment: &PaymentDraft) -> Result<Self, RuleFault> {
        let max_bytes = payment.max_content.map(|given| size("max_content", Some(given), CONTENT_BYTES)).transpose()?;
        let age_s = payment.content_age.map(|given| span("content_age", Some(given), AGE_S)).transpose()?;
        Ok(Self { max_bytes, age_s })
    }
}

/// How much of an answer of `host` is kept: what it says, or else what holds for all.
pub(super) fn body_cap_of(host: &HostDraft, general_bytes: u64) -> Result<u64, RuleFault> {
    let range = match host.content {
        ContentMode::Withhold | ContentMode::File => FILE_BYTES,
        ContentMode::Fields | ContentMode::Text => BODY_BYTES,
    };
    host.max_body.map_or(Ok(general_bytes), |given| size("max_body", Some(given), range))
}

/// The fields that the mode `fields` shows, in the order of the file; none in any other mode.
pub(super) fn fields_of(host: &HostDraft) -> Result<Vec<Pointer>, RuleFault> {
    match (host.content, &host.fields) {
        (ContentMode::Fields, Some(fields)) if !fields.is_empty() => {
            check_twice("fields", fields.iter())?;
            if FIELDS_MAX < fields.len() {
                return Err(RuleFault::ManyFields(host.origin.clone()));
            }
            Ok(fields.clone())
        }
        (ContentMode::Fields, _) => Err(RuleFault::NoFields(host.origin.clone())),
        (_, Some(_)) => Err(RuleFault::IdleFields(host.origin.clone())),
        (_, None) => Ok(Vec::new()),
    }
}
