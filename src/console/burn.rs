//! How a budget or a limit was used up over time, worked out backwards from how it stands now. Must never count: the vault says what
//! is left, and this says only when it went.

use bursar_policy::{Money, Rules, Window};
use bursar_vault::protocol::{LimitView, PastPayment, RowState, SessionView};
use serde::Serialize;

use super::shown::Shown;

/// One line to draw.
#[derive(Debug, Serialize)]
pub(super) struct Chart {
    /// Of what.
    pub(super) of: Shown,
    /// The whole of it.
    pub(super) whole: Shown,
    /// What is left now.
    pub(super) left: Shown,
    /// The first second of the drawing.
    pub(super) begins_s: u64,
    /// The last one, which may be to come.
    pub(super) ends_s: u64,
    /// What was left from each moment on, in order of time; the last moment is now.
    pub(super) points: Vec<Point>,
}

/// What was left from one moment on.
#[derive(Debug, Serialize)]
pub(super) struct Point {
    pub(super) at_s: u64,
    /// In thousandths of the whole.
    pub(super) permille: u32,
    pub(super) left: Shown,
}

/// What happened to a sum.
#[derive(Clone, Copy, Debug)]
struct Step {
    at_s: u64,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Used(Money),
    Freed(Money),
}

/// A budget from its opening to its end.
pub(super) fn of_session(session: &SessionView, past: &[&PastPayment], now_s: u64) -> Chart {
    let mut steps = Vec::new();
    let own = |payment: &&&PastPayment| {
        payment.session_name == session.name && payment.session_expires_s == session.expires_s
    };
    for payment in past.iter().filter(own) {
        steps.extend(of_payment(payment));
    }
    Sum { whole: session.budget, used: session.spent, begins_s: session.created_s, now_s }.chart(
        Shown::of(&format!("budget {}", session.name)),
        session.expires_s,
        steps,
    )
}

/// A limit over everything, within its window; `None` for one that only counts.
pub(super) fn of_limit(limit: &LimitView, rules: &Rules, past: &[&PastPayment], now_s: u64) -> Option<Chart> {
    let (max, used) = (limit.max?, limit.used?);
    let begins_s = rules.window_begins_s(limit.window, now_s);
    let begins_s = begins_s.or_else(|| past.first().map(|payment| payment.created_s)).unwrap_or(now_s);
    let mut steps = Vec::new();
    for payment in past {
        steps.extend(of_payment(payment));
        if let (Window::Rolling { secs }, true) = (limit.window, counts(payment))
            && let Some(at_s) = payment.ended_s.and_then(|ended_s| ended_s.checked_add(secs))
        {
            steps.push(Step { at_s, what: What::Freed(payment.money) });
        }
    }
    let of = Shown::of(&format!("limit over {}, {}", limit.scope, limit.window));
    Some(Sum { whole: max, used, begins_s, now_s }.chart(of, now_s, steps))
}

/// What a payment did to a sum, and undid where it provably did not move.
fn of_payment(payment: &PastPayment) -> impl Iterator<Item = Step> {
    let used = Step { at_s: payment.created_s, what: What::Used(payment.money) };
    let freed = payment.ended_s.filter(|_ended_s| !counts(payment));
    let freed = freed.map(|at_s| Step { at_s, what: What::Freed(payment.money) });
    std::iter::once(used).chain(freed)
}

const fn counts(payment: &PastPayment) -> bool {
    !matches!(payment.state, RowState::Voided | RowState::Lapsed)
}

/// A sum as it stands now.
struct Sum {
    whole: Money,
    used: Money,
    begins_s: u64,
    now_s: u64,
}

impl Sum {
    fn chart(&self, of: Shown, ends_s: u64, mut steps: Vec<Step>) -> Chart {
        steps.retain(|step| {
            let (What::Used(money) | What::Freed(money)) = step.what;
            money.currency() == self.whole.currency() && self.begins_s <= step.at_s && step.at_s <= self.now_s
        });
        steps.sort_by_key(|step| step.at_s);
        let mut used = self.used;
        let mut points = vec![self.point(self.now_s, used)];
        for step in steps.iter().rev() {
            points.push(self.point(step.at_s, used));
            used = match step.what {
                What::Used(money) => used.saturating_sub(money),
                What::Freed(money) => used.checked_add(money).unwrap_or(used),
            };
        }
        points.push(self.point(self.begins_s, used));
        points.reverse();
        let left = Shown::of(&self.whole.saturating_sub(self.used));
        let ends_s = ends_s.max(self.now_s);
        Chart { of, whole: Shown::of(&self.whole), left, begins_s: self.begins_s, ends_s, points }
    }

    fn point(&self, at_s: u64, used: Money) -> Point {
        let left = self.whole.saturating_sub(used);
        Point { at_s, permille: permille(left.atto(), self.whole.atto()), left: Shown::of(&left) }
    }
}

/// `part` in thousandths of `whole`, at most all of it; all where the whole is nothing.
pub(super) fn permille(part: u128, whole: u128) -> u32 {
    let exact = part.checked_mul(1000).and_then(|scaled| scaled.checked_div(whole));
    let near = || part.checked_div(whole.checked_div(1000)?);
    exact.or_else(near).and_then(|parts| u32::try_from(parts).ok()).unwrap_or(1000).min(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money(text: &str) -> Money {
        text.parse().unwrap()
    }

    #[test]
    fn what_was_left_is_worked_out_backwards_from_what_is() {
        let sum = Sum { whole: money("1.00 USD"), used: money("0.30 USD"), begins_s: 100, now_s: 200 };
        let used = |at_s, text| Step { at_s, what: What::Used(money(text)) };
        let steps = vec![
            used(150, "0.20 USD"),
            Step { at_s: 170, what: What::Freed(money("0.20 USD")) },
            used(180, "0.25 USD"),
            used(90, "0.50 USD"),
            used(120, "9.00 EUR"),
        ];
        let chart = sum.chart(Shown::of("x"), 300, steps);
        let drawn: Vec<(u64, u32)> = chart.points.iter().map(|point| (point.at_s, point.permille)).collect();
        assert_eq!(drawn, [(100, 950), (150, 750), (170, 950), (180, 700), (200, 700)]);
        assert_eq!((chart.left.as_str(), chart.ends_s), ("0.70 USD", 300));
    }

    #[test]
    fn thousandths_are_never_more_than_all_and_never_overflow() {
        assert_eq!(permille(1, 3), 333);
        assert_eq!(permille(5, 3), 1000);
        assert_eq!(permille(0, 0), 1000);
        assert_eq!(permille(u128::MAX / 2, u128::MAX), 500);
    }
}
