//! What the console remembers of the ledger between two looks: the newest payments and refusals, and the rules in force. Must never
//! read the whole past at once, however long it is.

use std::collections::VecDeque;

use bursar_policy::{Digest, PaymentId, Rules, Setting};
use bursar_vault::client::OperatorClient;
use bursar_vault::protocol::{LogEntry, OperatorAsk, OperatorReply, PastPayment, WhichRules};
use bursar_vault::rules_file;

use super::word::{NotDone, out_of_turn};

/// How many payments are kept, the newest. All of them are asked for again at each look, because they change.
const PAYMENTS_KEPT: usize = 400;
/// How many events are kept of each kind that is shown.
const EVENTS_KEPT: usize = 100;
/// How much is asked for at once.
const PAGE: u32 = 500;
/// How many pages one look reads at most; the next look goes on.
const PAGES_MAX: usize = 40;

/// What is remembered.
#[derive(Debug)]
pub(super) struct Past {
    setting: Setting,
    /// Which vault told it: another one may have another ledger.
    told_by: Option<u32>,
    /// The payment before the first one that is kept.
    before: Option<PaymentId>,
    pub(super) payments: VecDeque<PastPayment>,
    /// Whether there are newer payments than those.
    pub(super) is_behind: bool,
    last_event: Option<u64>,
    pub(super) refusals: VecDeque<LogEntry>,
    pub(super) acts: VecDeque<LogEntry>,
    pub(super) rules: Option<(Digest, Rules)>,
}

impl Past {
    /// Nothing yet, of a vault of this setting.
    pub(super) const fn new(setting: Setting) -> Self {
        Self {
            setting,
            told_by: None,
            before: None,
            payments: VecDeque::new(),
            is_behind: false,
            last_event: None,
            refusals: VecDeque::new(),
            acts: VecDeque::new(),
            rules: None,
        }
    }

    /// Looks again.
    ///
    /// # Errors
    ///
    /// [`NotDone`]; what is remembered stays.
    pub(super) fn look(&mut self, operator: &OperatorClient, vault: u32, rules: Digest) -> Result<(), NotDone> {
        if self.told_by != Some(vault) {
            *self = Self { told_by: Some(vault), ..Self::new(self.setting) };
        }
        self.look_at_payments(operator)?;
        self.look_at_events(operator)?;
        self.look_at_rules(operator, rules)
    }

    fn look_at_payments(&mut self, operator: &OperatorClient) -> Result<(), NotDone> {
        let mut fresh: VecDeque<PastPayment> = VecDeque::new();
        let (mut before, mut after) = (self.before.clone(), self.before.clone());
        let mut is_behind = true;
        for _ in 0..PAGES_MAX {
            let OperatorReply::Payments(page) = operator.ask(&OperatorAsk::Payments { limit: PAGE, after })? else {
                return Err(out_of_turn());
            };
            let Some(last) = page.last() else {
                is_behind = false;
                break;
            };
            after = Some(last.payment.clone());
            fresh.extend(page);
            while PAYMENTS_KEPT < fresh.len() {
                before = fresh.pop_front().map(|payment| payment.payment);
            }
        }
        (self.before, self.payments, self.is_behind) = (before, fresh, is_behind);
        Ok(())
    }

    fn look_at_events(&mut self, operator: &OperatorClient) -> Result<(), NotDone> {
        for _ in 0..PAGES_MAX {
            let asked = OperatorAsk::Log { limit: PAGE, after: self.last_event };
            let OperatorReply::Log(page) = operator.ask(&asked)? else { return Err(out_of_turn()) };
            let Some(last) = page.last() else { break };
            self.last_event = Some(last.seq);
            for entry in page {
                let kept = if entry.kind == "refused" { &mut self.refusals } else { &mut self.acts };
                if EVENTS_KEPT <= kept.len() {
                    kept.pop_front();
                }
                kept.push_back(entry);
            }
        }
        Ok(())
    }

    fn look_at_rules(&mut self, operator: &OperatorClient, in_force: Digest) -> Result<(), NotDone> {
        if self.rules.as_ref().is_some_and(|(digest, _)| *digest == in_force) {
            return Ok(());
        }
        let asked = OperatorAsk::Rules { which: WhichRules::InForce };
        let OperatorReply::Rules { text, digest } = operator.ask(&asked)? else { return Err(out_of_turn()) };
        self.rules = rules_file::parse(&text, self.setting).ok().map(|rules| (digest, rules));
        Ok(())
    }
}
