//! What the ledger says, and what must hold whoever was killed: the invariants of this test.

use std::collections::BTreeMap;
use std::thread;

use bursar_policy::errand::PaymentId;
use bursar_policy::money::Money;
use bursar_vault::client::OperatorClient;
use bursar_vault::clock::MachineTime;
use bursar_vault::ledger::Ledger;
use bursar_vault::ledger_place;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{LogEntry, OperatorAsk, OperatorReply, PaymentDetail, RowState, SessionView};

use crate::seller::{PRICE_UNITS, Seller};

/// Every payment row and every session at one moment.
#[derive(Debug)]
pub(crate) struct Books {
    pub(crate) rows: Vec<PaymentDetail>,
    pub(crate) sessions: Vec<SessionView>,
}

impl Books {
    /// From a running vault, by the operator's line.
    pub(crate) fn of_the_vault(profile: &Profile) -> Self {
        let (operator, _) = OperatorClient::connect(profile).unwrap();
        let ask = |ask| operator.ask(&ask).unwrap();
        let page = |after| match ask(OperatorAsk::Log { limit: 500, after: Some(after) }) {
            OperatorReply::Log(entries) => entries,
            other => panic!("out of turn: {other:?}"),
        };
        let payment = |id| match ask(OperatorAsk::Payment { id }) {
            OperatorReply::Payment(detail) => *detail,
            other => panic!("out of turn: {other:?}"),
        };
        let OperatorReply::Sessions(sessions) = ask(OperatorAsk::SessionList) else { panic!("out of turn") };
        Self { rows: payments(page).into_iter().map(payment).collect(), sessions }
    }

    /// From the ledger that a dead vault left behind, in its file or on its server, after every check the ledger knows: the log's chain, every row
    /// against the log, every running total against the rows, every budget.
    pub(crate) fn of_the_disk(profile: &Profile) -> Self {
        // In a thread of its own, because a ledger on a server waits for it in a runtime of its own.
        thread::scope(|scope| scope.spawn(|| Self::looked_up(profile)).join().unwrap())
    }

    fn looked_up(profile: &Profile) -> Self {
        let ledger = Ledger::open(&ledger_place::of(profile).unwrap(), Box::new(MachineTime)).unwrap();
        let checked = ledger.verify().unwrap();
        assert_eq!(ledger.latched(), None);
        let ids = payments(|after| ledger.log(500, Some(after)).unwrap());
        let rows: Vec<PaymentDetail> = ids.iter().map(|id| ledger.payment(id).unwrap()).collect();
        assert_eq!(checked.payments, u64::try_from(rows.len()).unwrap(), "a row is missing in the log");
        let sessions = ledger.sessions().unwrap();
        ledger.close();
        Self { rows, sessions }
    }

    /// Fails unless all that the seller could take is counted, and no more than was asked for.
    ///
    /// Every nonce the seller ever saw has exactly one row that counts; what counts is at least what the seller holds and
    /// at most the price of every row; the session's total is the sum of its rows, within its budget.
    pub(crate) fn hold_against(&self, seller: &Seller) {
        let seen = seller.nonces();
        let mut counted: BTreeMap<&str, u128> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| counts(row.receipt.state)) {
            let twin = counted.insert(&row.nonce, row.receipt.amount.units());
            assert_eq!(twin, None, "two rows with the nonce {}", row.nonce);
        }
        for (nonce, units) in &seen {
            assert_eq!(counted.get(nonce.as_str()), Some(units), "the seller holds {nonce}, and no row counts it");
        }
        let sum: u128 = counted.values().sum();
        let rows = u128::try_from(self.rows.len()).unwrap();
        assert!(seen.values().sum::<u128>() <= sum, "less is counted than the seller holds");
        assert!(sum <= PRICE_UNITS * rows, "more is counted than {rows} purchases cost");
        let spent: u128 = self.sessions.iter().map(|session| session.spent.atto()).sum();
        assert_eq!(spent, money(sum).atto(), "the totals of the sessions are not the sum of the rows");
        for session in &self.sessions {
            assert!(session.spent.atto() <= session.budget.atto(), "over the budget: {session:?}");
        }
    }

    /// The one session of these tests.
    pub(crate) fn session(&self) -> &SessionView {
        assert_eq!(self.sessions.len(), 1, "{:?}", self.sessions);
        &self.sessions[0]
    }

    /// The state of each row, in the order in which they were written.
    pub(crate) fn states(&self) -> Vec<RowState> {
        self.rows.iter().map(|row| row.receipt.state).collect()
    }
}

/// `units` of USDC as money: six decimals, at par.
pub(crate) fn money(units: u128) -> Money {
    Money::new("USD".parse().unwrap(), units * 1_000_000_000_000)
}

fn counts(state: RowState) -> bool {
    match state {
        RowState::Held | RowState::Exposed | RowState::Settled | RowState::PresumedSpent => true,
        RowState::Lapsed | RowState::Voided => false,
    }
}

/// The id of every payment that the log tells of.
fn payments(page: impl Fn(u64) -> Vec<LogEntry>) -> Vec<PaymentId> {
    let mut found: Vec<PaymentId> = Vec::new();
    let mut after = 0;
    loop {
        let entries = page(after);
        let Some(last) = entries.last() else { return found };
        after = last.seq;
        for id in entries.into_iter().filter_map(|entry| entry.payment) {
            if !found.contains(&id) {
                found.push(id);
            }
        }
    }
}
