//! What the console remembers of the ledger between two looks: the newest payments and refusals, and the rules in force. Must never
//! read the whole past at once, however long it is.

use std::collections::VecDeque;

use bursar_policy::{Digest, Rules, Setting};
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
/// How many pages of events one look reads at most; the next look goes on.
const PAGES_MAX: usize = 40;

/// What is remembered.
#[derive(Debug)]
pub(super) struct Past {
    setting: Setting,
    /// Which vault told it: another one may have another ledger.
    told_by: Option<u32>,
    /// The newest, oldest first.
    pub(super) payments: VecDeque<PastPayment>,
    /// When the first of them was counted, Unix seconds; absent where there are no older ones.
    pub(super) begins_s: Option<u64>,
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
            payments: VecDeque::new(),
            begins_s: None,
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
        let mut begins_s = None;
        // One more than is kept tells whether there are more.
        while fresh.len() <= PAYMENTS_KEPT {
            let before = fresh.front().map(|payment| payment.payment.clone());
            let wanted = PAYMENTS_KEPT.saturating_add(1).saturating_sub(fresh.len());
            let limit = u32::try_from(wanted).unwrap_or(PAGE);
            let OperatorReply::Payments(page) = operator.ask(&OperatorAsk::NewestPayments { limit, before })? else {
                return Err(out_of_turn());
            };
            if page.is_empty() {
                break;
            }
            for payment in page {
                fresh.push_front(payment);
            }
        }
        while PAYMENTS_KEPT < fresh.len() {
            fresh.pop_front();
            begins_s = fresh.front().map(|payment| payment.created_s);
        }
        (self.payments, self.begins_s) = (fresh, begins_s);
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
