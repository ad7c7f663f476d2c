//! Why an ask on a socket was not done: a stable code and one sentence. Must never carry a secret or a seller's words.

use crate::ledger::LedgerFault;

/// A fault as a conversation tells it.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl From<LedgerFault> for Trouble {
    fn from(fault: LedgerFault) -> Self {
        Self { code: fault.code(), message: fault.to_string() }
    }
}

/// A fault in our own words.
pub(crate) fn trouble(code: &'static str, message: &str) -> Trouble {
    Trouble { code, message: message.to_owned() }
}
