//! The sentences about when a person looks first, and about buying the same thing once. Says what holds; judges nothing.

use bursar_policy::rules::draft::{FirstPayee, HostDraft, OnChange};
use bursar_vault::rules_file::Table;

use super::sentences::{joined, span};
use super::{Reading, Told};

/// What `[payment]` says of it.
pub(super) fn of_payment(read: &Reading<'_>) -> Vec<Told> {
    let draft = &read.draft.payment;
    let mut told = Vec::new();
    let mut tell = |says: String, key| {
        told.push(Told { about: "a person", says, place: Some(read.lines.place(Table::Payment, key)) });
    };
    if draft.allow_any_recipient || draft.first_payee.is_some() {
        tell(first_payee(draft.first_payee.unwrap_or(FirstPayee::Pin)).to_owned(), "first_payee");
    }
    tell(on_change(draft.on_change.unwrap_or_default()).to_owned(), "on_change");
    if let Some(times) = draft.unusual_price {
        tell(format!("looks at a price above {times} times the usual one of a host"), "unusual_price");
    }
    if let Some(rise) = draft.price_rise {
        tell(format!("looks at a price more than {rise} above what the same request cost first"), "price_rise");
    }
    if let Some(over) = &draft.approve_over {
        tell(format!("looks at a price above {}", joined(&over.0, "nothing")), "approve_over");
    }
    if !draft.approve_tags.is_empty() {
        tell(format!("looks at every payment that carries {}", joined(&draft.approve_tags, "none")), "approve_tags");
    }
    let life = span(read.rules.approval_life_s());
    tell(format!("has {life} to look, and a yes or a no stands for as long after it"), "approval_lifetime");
    if read.rules.allow_any_host() {
        let says = "looks at a new host that reads like a known one, or mixes letters of several scripts";
        tell(says.to_owned(), "allow_any_host");
    }
    if let Some(span) = draft.no_recurring {
        let says = format!("is paid for once in {span}, whatever the session and purchase id");
        told.push(Told {
            about: "the same request",
            says,
            place: Some(read.lines.place(Table::Payment, "no_recurring")),
        });
    }
    told
}

/// What a `[[host]]` says of it in its own words, each with a semicolon ahead.
pub(super) fn of_host(host: &HostDraft) -> String {
    let mut says = String::new();
    let mut add = |words: &str| {
        says.push_str("; a person ");
        says.push_str(words);
    };
    if let Some(first) = host.first_payee {
        add(first_payee(first));
    }
    if let Some(change) = host.on_change {
        add(on_change(change));
    }
    if let Some(times) = host.unusual_price {
        add(&format!("looks at a price above {times} times its usual one"));
    }
    if let Some(rise) = host.price_rise {
        add(&format!("looks at a price more than {rise} above what the same request cost first"));
    }
    if let Some(over) = &host.approve_over {
        add(&format!("looks at a price above {}", joined(&over.0, "nothing")));
    }
    if let Some(span) = host.no_recurring {
        says.push_str(&format!("; the same request is paid for once in {span}"));
    }
    says
}

const fn first_payee(first: FirstPayee) -> &'static str {
    match first {
        FirstPayee::Pin => "looks at every payee of a host but the first, where payees are not listed",
        FirstPayee::Approve => "looks at every payee of a host, the first as well, where payees are not listed",
    }
}

const fn on_change(change: OnChange) -> &'static str {
    match change {
        OnChange::Approve => "looks at a network or an asset that is new for a known host",
        OnChange::Allow => "does not look at a network or an asset that is new for a known host",
    }
}
