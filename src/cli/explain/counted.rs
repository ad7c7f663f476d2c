//! What a budget and the limits have against each offer, asked of the vault. Counts nothing, and decides nothing.

use std::collections::BTreeMap;

use bursar_policy::errand::SessionName;
use bursar_policy::{Errand, Judgement, Refusal};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply};

use super::super::connect::{Operator, out_of_turn};
use super::super::exit::Stop;

/// What one budget and the limits have against the offers of one document.
#[derive(Debug)]
pub(super) struct Counted {
    /// The budget.
    pub(super) session: SessionName,
    /// The reasons by the place of the offer. What an offer asks for has to be readable for it to be in here.
    reasons: BTreeMap<u32, Vec<Refusal>>,
}

impl Counted {
    /// Asks the vault about every offer of `judgement`, those that the gate refuses too: no reason hides another.
    pub(super) fn of(
        profile: &Profile,
        session: &SessionName,
        errand: &Errand,
        judgement: &Judgement,
    ) -> Result<Self, Stop> {
        let operator = Operator::connect_or_start(profile)?;
        let known: Vec<&Refusal> = judgement.document.iter().filter_map(|found| found.refusal.as_ref()).collect();
        let mut reasons = BTreeMap::new();
        for offer in &judgement.offers {
            let Some(asked) = offer.asked else { continue };
            let ask = OperatorAsk::Against { session: session.clone(), errand: Box::new(errand.clone()), asked };
            let OperatorReply::Against(mut against) = operator.ask(&ask)? else { return Err(out_of_turn()) };
            against.retain(|reason| !known.contains(&reason));
            reasons.insert(offer.index, against);
        }
        Ok(Self { session: session.clone(), reasons })
    }

    /// Every reason against an offer; `None` where it could not be asked.
    pub(super) fn against(&self, offer: u32) -> Option<&[Refusal]> {
        self.reasons.get(&offer).map(Vec::as_slice)
    }
}
