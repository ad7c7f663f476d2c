//! How much of an answer is shown, for one `[[host]]`. It must never show more than one of the modes by itself would.

use alloc::vec::Vec;

use super::build::check_twice;
use super::draft::HostDraft;
use super::{ContentMode, RuleFault};
use crate::pointer::Pointer;

/// The most fields of one host.
const FIELDS_MAX: usize = 32;

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
