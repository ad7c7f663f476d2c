//! `bursar spend`: what was spent, added up by host, payee, day or budget. Adds up what the ledger says, and decides nothing.

use std::collections::BTreeMap;
use std::io::Write as _;

use bursar_policy::{Currency, Money};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, PastPayment, RowState};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{cells, since, table};
use crate::clock;

/// How much is asked for at once.
const PAGE: u32 = 500;

/// The columns of an export.
const COLUMNS: [&str; 7] = ["", "payments", "settled", "open", "unproven", "spent", "currency"];

/// Show what was spent, added up by host, payee, day or budget.
#[derive(Debug, Args)]
pub(super) struct Spend {
    /// What to add up by
    #[arg(long, default_value = "host", value_name = "WHAT")]
    by: By,
    /// Only what was counted since then: `7d`, `2026-11-01`, `2026-11-01T10:00` or `2026-11-01T10:00:00Z`
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Print comma-separated values for a spreadsheet
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print one JSON object a row and line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// The origin that was asked, as serve reported it
    Host,
    /// The address that was paid, and its network
    Payee,
    /// The day on which it was counted, in this machine's time zone
    Day,
    /// The budget it came out of
    Session,
}

impl By {
    const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Payee => "payee",
            Self::Day => "day",
            Self::Session => "session",
        }
    }

    fn of(self, past: &PastPayment) -> String {
        match self {
            Self::Host => past.site.origin().to_string(),
            Self::Payee => format!("{} on {}", past.terms.payee, past.terms.chain),
            Self::Day => table::day(past.created_s),
            Self::Session => past.session_name.to_string(),
        }
    }
}

/// Sums of one currency. What is beyond counting stays at the most that can be counted.
#[derive(Clone, Copy, Debug)]
struct Sums {
    payments: u64,
    settled: Money,
    /// Set aside, or signed and not ended.
    open: Money,
    /// Ran out, and nobody knows whether it moved: it counts as spent.
    unproven: Money,
}

/// A row, as programs read it.
#[derive(Debug, Serialize)]
struct Row {
    by: &'static str,
    of: String,
    payments: u64,
    settled: String,
    open: String,
    unproven: String,
    spent: String,
}

impl Sums {
    const fn none(currency: Currency) -> Self {
        let zero = Money::new(currency, 0);
        Self { payments: 0, settled: zero, open: zero, unproven: zero }
    }

    /// Adds a payment; one that never moved is none.
    fn add(&mut self, past: &PastPayment) {
        let sum = match past.state {
            RowState::Settled => &mut self.settled,
            RowState::Held | RowState::Exposed => &mut self.open,
            RowState::PresumedSpent => &mut self.unproven,
            RowState::Lapsed | RowState::Voided => return,
        };
        *sum = plus(*sum, past.money);
        self.payments = self.payments.saturating_add(1);
    }

    /// What counts as spent.
    fn spent(&self) -> Money {
        plus(plus(self.settled, self.open), self.unproven)
    }
}

fn plus(one: Money, other: Money) -> Money {
    one.checked_add(other).unwrap_or_else(|| Money::new(one.currency(), u128::MAX))
}

impl Spend {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        let since = self.since.as_deref().map(|text| since::read(text, clock::now_s()));
        let since = since.transpose().map_err(Stop::usage)?.unwrap_or(0);
        let sums = self.added_up(&Operator::connect_or_start(profile)?, since)?;
        if self.csv {
            writeln!(table::plain_output(), "{}", self.csv(&sums))?;
        } else if self.json {
            sums.iter().try_for_each(|((of, _), sums)| table::say_json(&self.row(of, sums)))?;
        } else if sums.is_empty() {
            table::say("Nothing was spent.")?;
        } else {
            table::say(&self.table(sums))?;
        }
        Ok(Exit::Done)
    }

    fn added_up(&self, operator: &Operator, since: u64) -> Result<BTreeMap<(String, Currency), Sums>, Stop> {
        let (mut sums, mut after) = (BTreeMap::new(), None);
        loop {
            let OperatorReply::Payments(page) = operator.ask(&OperatorAsk::Payments { limit: PAGE, after })? else {
                return Err(out_of_turn());
            };
            let Some(last) = page.last() else { break };
            after = Some(last.payment.clone());
            for past in page.iter().filter(|past| since <= past.created_s) {
                let currency = past.money.currency();
                sums.entry((self.by.of(past), currency)).or_insert_with(|| Sums::none(currency)).add(past);
            }
        }
        sums.retain(|_, sums| 0 < sums.payments);
        Ok(sums)
    }

    fn row(&self, of: &str, sums: &Sums) -> Row {
        Row {
            by: self.by.name(),
            of: of.to_owned(),
            payments: sums.payments,
            settled: sums.settled.to_string(),
            open: sums.open.to_string(),
            unproven: sums.unproven.to_string(),
            spent: sums.spent().to_string(),
        }
    }

    fn csv(&self, sums: &BTreeMap<(String, Currency), Sums>) -> String {
        let head = COLUMNS.map(|column| if column.is_empty() { self.by.name() } else { column }.to_owned());
        let mut lines = vec![cells::line(head)];
        lines.extend(sums.iter().map(|((of, currency), sums)| {
            let Row { of, payments, settled, open, unproven, spent, .. } = self.row(of, sums);
            let money = [settled, open, unproven, spent].map(|money| cells::number(&money));
            let cells = [of, payments.to_string()].into_iter().chain(money);
            cells::line(cells.chain([currency.letters().to_owned()]))
        }));
        lines.join("\n")
    }

    /// The dearest first, but days in their order; the whole of each currency last.
    fn table(&self, sums: BTreeMap<(String, Currency), Sums>) -> String {
        let mut whole: BTreeMap<Currency, Sums> = BTreeMap::new();
        for ((_, currency), sums) in &sums {
            let all = whole.entry(*currency).or_insert_with(|| Sums::none(*currency));
            all.payments = all.payments.saturating_add(sums.payments);
            all.settled = plus(all.settled, sums.settled);
            all.open = plus(all.open, sums.open);
            all.unproven = plus(all.unproven, sums.unproven);
        }
        let mut sums: Vec<((String, Currency), Sums)> = sums.into_iter().collect();
        if self.by != By::Day {
            sums.sort_by_key(|((_, currency), sums)| (*currency, std::cmp::Reverse(sums.spent().atto())));
        }
        let shown = |of: &str, sums: &Sums, all: &Sums| {
            let share = table::bar(sums.spent().atto(), all.spent().atto(), 12);
            let Row { of, payments, settled, open, unproven, spent, .. } = self.row(of, sums);
            vec![of, share, payments.to_string(), settled, open, unproven, spent]
        };
        let of_one = sums.iter().filter_map(|((of, currency), sums)| Some(shown(of, sums, whole.get(currency)?)));
        let of_all = whole.values().map(|all| shown("all", all, all));
        let head = [self.by.name(), "", "payments", "settled", "open", "unproven", "spent"];
        table::table(&head, &[2, 3, 4, 5, 6], of_one.chain(of_all).collect())
    }
}
