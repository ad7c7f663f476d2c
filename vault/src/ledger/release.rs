//! Whether a secret may leave for an errand at this moment. Must never see the secret, and counts nothing.

use std::sync::Arc;

use bursar_policy::errand::{Errand, SessionId};
use bursar_policy::gate::may_visit;
use bursar_policy::refusal::{Refusal, in_order};
use bursar_policy::rules::Rules;

use super::fault::LedgerFault;
use super::writer::Answer;
use super::{Ledger, standing};

impl Ledger {
    /// Why no secret is released for `errand` out of `session`: because nothing can be bought now, or because the rules do
    /// not let it be asked for. Empty when nothing stands against it.
    ///
    /// Quarantine and mandate are asked about where the errand is claimed or looked at, before this: what was signed
    /// before a quarantine may still be sent.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn unreleased(
        &self,
        session: &SessionId,
        errand: &Errand,
        rules: &Arc<Rules>,
    ) -> Result<Vec<Refusal>, LedgerFault> {
        let (session, errand, rules) = (session.clone(), errand.clone(), Arc::clone(rules));
        self.writer.ask(move |tx| {
            let mut reasons = standing::shut(tx, &session)?;
            reasons.extend(may_visit(&rules, &errand).err().unwrap_or_default());
            Ok(Answer::AtOnce(in_order(reasons)))
        })
    }
}
