//! The rules that an operator changes between, in one table for the ledger and for the second bookkeeping.

use std::sync::Arc;

use bursar_policy::rules::Rules;

use super::super::world::rules_with;
use super::books::{Back, Cap, Law, Most, Whose};

/// In force under every rules, from the first act to the last: at no instant may more be out than this.
pub(super) const ALWAYS: Cap = Cap { whose: Whose::All, back: Back::Seconds(3_600), most: Most::Cents(150) };

const fn cap(whose: Whose, back: Back, cents: u128) -> Cap {
    Cap { whose, back, most: Most::Cents(cents) }
}

const fn times(whose: Whose, back: Back, count: usize) -> Cap {
    Cap { whose, back, most: Most::Payments(count) }
}

/// Each beside [`ALWAYS`]: as it begins, tighter, with a longer window, by the day, by host and session, with a person.
pub(super) const LAWS: [Law; 6] = [
    Law { caps: &[ALWAYS, cap(Whose::All, Back::Seconds(900), 60)], ask_over: 100 },
    Law {
        caps: &[ALWAYS, cap(Whose::All, Back::Seconds(300), 25), times(Whose::All, Back::Seconds(900), 4)],
        ask_over: 100,
    },
    Law { caps: &[ALWAYS, cap(Whose::All, Back::Seconds(14_400), 120)], ask_over: 100 },
    Law { caps: &[ALWAYS, cap(Whose::All, Back::DayInDhaka, 140)], ask_over: 15 },
    Law {
        caps: &[
            ALWAYS,
            cap(Whose::Host, Back::Seconds(1_800), 50),
            cap(Whose::Session, Back::Seconds(600), 35),
            times(Whose::Session, Back::Ever, 5),
        ],
        ask_over: 100,
    },
    Law { caps: &[ALWAYS], ask_over: 10 },
];

/// The same as a rules file says it.
pub(super) fn rules() -> Vec<Arc<Rules>> {
    let one = |law: &Law| {
        let payment = format!(
            "allow_any_host = true\nmax_unresolved = 1000000\nquarantine_after = 1000\napprove_over = \"{}\"\n\
             approval_lifetime = \"10m\"",
            dollars(law.ask_over)
        );
        rules_with(&payment, &law.caps.iter().map(table).collect::<String>())
    };
    LAWS.iter().map(one).collect()
}

fn table(cap: &Cap) -> String {
    let scope = match cap.whose {
        Whose::All => "all",
        Whose::Session => "session",
        Whose::Host => "host",
    };
    let window = match cap.back {
        Back::Seconds(seconds) => format!("\"{seconds}s\""),
        Back::DayInDhaka => "\"day\"\ntime_zone = \"Asia/Dhaka\"".to_owned(),
        Back::Ever => "\"lifetime\"".to_owned(),
    };
    let most = match cap.most {
        Most::Cents(cents) => format!("max = \"{}\"", dollars(cents)),
        Most::Payments(count) => format!("count = {count}"),
    };
    format!("[[limit]]\nscope = \"{scope}\"\nwindow = {window}\n{most}\n")
}

fn dollars(cents: u128) -> String {
    format!("{}.{:02} USD", cents / 100, cents % 100)
}
