//! What was delivered before, so that it can be read again without paying. Must never change the ledger.

use super::Ledger;
use super::fault::LedgerFault;
use super::number::to_sql;
use super::rows::{self, Payment};
use super::store::bound;
use super::writer::Answer;
use crate::protocol::{Delivery, Recalled, Wanted};

impl Ledger {
    /// The newest delivery that is meant, of every session; `None` when there is none.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn recall(&self, wanted: Wanted) -> Result<Option<Recalled>, LedgerFault> {
        self.writer.ask(move |tx| {
            let found = match wanted {
                Wanted::Content(digest) => rows::list(tx.conn, rows::BY_CONTENT, bound![digest.to_string()])?,
                Wanted::Request { subject, max_age_s } => {
                    let since_s = to_sql(tx.now_s.saturating_sub(max_age_s))?;
                    rows::list(tx.conn, rows::DELIVERED, bound![subject.to_string(), since_s])?
                }
            };
            Ok(Answer::AtOnce(found.into_iter().next().and_then(recalled)))
        })
    }
}

fn recalled(payment: Payment) -> Option<Recalled> {
    match payment.delivery {
        Some(Delivery::Answer { status, content: Some(content), .. }) => {
            Some(Recalled { site: payment.site, status, content, created_s: payment.created_s })
        }
        _ => None,
    }
}
