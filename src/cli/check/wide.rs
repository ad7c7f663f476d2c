//! What is wider, or narrower, than an operator may think. Warns; it never refuses and never repairs.

mod limits;

use std::collections::{BTreeMap, BTreeSet};

use bursar_policy::rules::draft::HostDraft;
use bursar_policy::{Address, ContentMode, Method, Money, Tag};
use bursar_vault::rules_file::{Place, Table};

use super::{Reading, Told};

/// What `init` suggests as the budget of a session, in steps of 10^-18: one whole unit of any currency.
const BUDGET_ATTO: u128 = 1_000_000_000_000_000_000;

/// With more payments than this lost to one host or payee, somebody should have looked.
const UNRESOLVED_USUAL: u32 = 10;

/// Every warning, in the order of the file.
pub(super) fn of(read: &Reading<'_>) -> Vec<Told> {
    let mut told = Vec::new();
    ceilings(read, &mut told);
    empty_lists(read, &mut told);
    payees(read, &mut told);
    limits::of(read, &mut told);
    unresolved(read, &mut told);
    shared_payees(read, &mut told);
    hosts(read, &mut told);
    super::chains::warn(read, &mut told);
    told
}

/// A `[[host]]` by what it is for: its origin, and its path where it is for a part.
fn named(host: &HostDraft) -> String {
    format!("{}{}", host.origin, host.path.after_origin())
}

fn payment(read: &Reading<'_>, key: &str) -> Option<Place> {
    Some(read.lines.place(Table::Payment, key))
}

fn ceilings(read: &Reading<'_>, told: &mut Vec<Told>) {
    let place = || payment(read, "max_per_payment");
    let real = read.rules.chains().iter().any(|chain| !chain.is_testnet());
    for ceiling in read.rules.ceilings() {
        let budget = Money::new(ceiling.currency(), BUDGET_ATTO);
        if !ceiling.is_within(budget) {
            let (about, whose) =
                if real { ("mainnet_ceiling", "of real money ") } else { ("ceiling_above_budget", "") };
            let says = format!(
                "one payment may cost {ceiling} {whose}at once, more than the usual budget of a whole session ({budget})"
            );
            told.push(Told { about, says, place: place() });
        }
        let same =
            read.rules.limits().iter().filter(|limit| {
                limit.tag.is_none() && limit.max.is_some_and(|max| max.currency() == ceiling.currency())
            });
        let smallest = same.filter_map(|limit| limit.max.map(|max| (max.atto(), limit))).min_by_key(|(atto, _)| *atto);
        if let Some((_, limit)) = smallest
            && let Some(max) = limit.max.filter(|max| !ceiling.is_within(*max))
        {
            let says = format!(
                "one payment may cost {ceiling}, but the limit `{}` over `{}` is {max}: a payment that dear is never made",
                limit.scope, limit.window
            );
            told.push(Told { about: "ceiling_above_limit", says, place: place() });
        }
    }
}

fn empty_lists(read: &Reading<'_>, told: &mut Vec<Told>) {
    let draft = &read.draft;
    let mut empty = |is_empty: bool, key: &str, says: &str| {
        if is_empty {
            told.push(Told { about: "allows_nothing", says: says.to_owned(), place: payment(read, key) });
        }
    };
    empty(draft.payment.schemes.is_empty(), "schemes", "no scheme is listed, so nothing can be paid");
    empty(draft.payment.networks.is_empty(), "networks", "no network is listed, so nothing can be paid");
    empty(draft.payment.assets.is_empty(), "assets", "no asset is listed, so nothing can be paid");
    let nobody = draft.payment.recipients.as_ref().is_some_and(Vec::is_empty);
    let of_its_own = draft.hosts.iter().any(|host| host.allow_any_recipient);
    empty(nobody && !of_its_own, "recipients", "no recipient is listed, so nobody can be paid");
    if draft.network.allow.as_ref().is_some_and(Vec::is_empty) {
        let says = "no block of addresses is allowed, so no public seller is reached".to_owned();
        told.push(Told { about: "allows_nothing", says, place: Some(read.lines.place(Table::Network, "allow")) });
    }
    if let Some(file) = &draft.network.extra_ca {
        let says = format!(
            "whoever holds the key of the authority in `{file}` can pass for every seller: read what is sent, payments included, and answer in its place"
        );
        told.push(Told { about: "extra_ca", says, place: Some(read.lines.place(Table::Network, "extra_ca")) });
    }
    if draft.hosts.is_empty() && !read.rules.allow_any_host() {
        let says = "no [[host]] is listed, so every URL is refused".to_owned();
        told.push(Told { about: "allows_nothing", says, place: None });
    }
    for (row, host) in draft.hosts.iter().enumerate() {
        let mut empty = |is_empty: bool, key: &str, what: &str| {
            if is_empty {
                let says = format!("{} has no {what}, so nothing is bought there", named(host));
                told.push(Told { about: "allows_nothing", says, place: Some(read.lines.place(Table::Host(row), key)) });
            }
        };
        empty(host.methods.as_ref().is_some_and(Vec::is_empty), "methods", "method");
        empty(host.recipients.as_ref().is_some_and(Vec::is_empty), "recipients", "recipient");
    }
}

fn payees(read: &Reading<'_>, told: &mut Vec<Told>) {
    let draft = &read.draft;
    let inherits = draft.hosts.iter().any(|host| host.recipients.is_none());
    if draft.payment.allow_any_recipient && (inherits || read.rules.allow_any_host()) {
        let says = "a seller may name anybody as payee; list `recipients` where you know them".to_owned();
        told.push(Told { about: "any_recipient", says, place: payment(read, "allow_any_recipient") });
    }
    for (row, host) in draft.hosts.iter().enumerate().filter(|(_, host)| host.allow_any_recipient) {
        let says = format!("{} may name anybody as payee; list `recipients` where you know them", named(host));
        let place = Some(read.lines.place(Table::Host(row), "allow_any_recipient"));
        told.push(Told { about: "any_recipient", says, place });
    }
}

fn hosts(read: &Reading<'_>, told: &mut Vec<Told>) {
    if read.rules.allow_any_host() {
        let says = "any https host may be asked, so the model chooses whom to ask; list [[host]] entries".to_owned();
        told.push(Told { about: "any_host", says, place: payment(read, "allow_any_host") });
    }
    for (row, host) in read.draft.hosts.iter().enumerate() {
        tags_left_out(read, row, host, told);
        let posts = host.methods.as_ref().is_some_and(|methods| methods.contains(&Method::Post));
        if posts && host.content == ContentMode::Text {
            let says = format!(
                "{} gets what the model writes (POST) and the model reads what it answers (content = \"text\")",
                named(host)
            );
            told.push(Told {
                about: "post_and_text",
                says,
                place: Some(read.lines.place(Table::Host(row), "content")),
            });
        }
    }
}

/// An entry for a part takes nothing over from the entry around it, tags included.
fn tags_left_out(read: &Reading<'_>, row: usize, host: &HostDraft, told: &mut Vec<Told>) {
    let is_around = |other: &&HostDraft| other.origin == host.origin && other.path != host.path && covers(other, host);
    let around = read.draft.hosts.iter().filter(is_around).max_by_key(|other| other.path.as_str().len());
    let Some(around) = around else { return };
    let missing: Vec<String> =
        around.tags.iter().filter(|tag| !host.tags.contains(tag)).map(|tag: &Tag| format!("`{tag}`")).collect();
    if missing.is_empty() {
        return;
    }
    let says = format!(
        "{} does not carry {} of {}, so payments there count for no limit of it; repeat it in `tags` if you mean it",
        named(host),
        missing.join(", "),
        named(around)
    );
    let key = if host.tags.is_empty() { "path" } else { "tags" };
    told.push(Told { about: "tag_left_out", says, place: Some(read.lines.place(Table::Host(row), key)) });
}

fn covers(other: &HostDraft, host: &HostDraft) -> bool {
    host.path.as_str().starts_with(other.path.as_str())
}

fn unresolved(read: &Reading<'_>, told: &mut Vec<Told>) {
    let mut tell = |most: Option<u32>, whose: &str, table: Table| {
        if let Some(most) = most.filter(|most| UNRESOLVED_USUAL < *most) {
            let says = format!("{whose} may lose {most} payments before the next one is refused; lower the number");
            told.push(Told { about: "many_unresolved", says, place: Some(read.lines.place(table, "max_unresolved")) });
        }
    };
    tell(read.draft.payment.max_unresolved, "one host or payee", Table::Payment);
    for (row, host) in read.draft.hosts.iter().enumerate() {
        tell(host.max_unresolved, &named(host), Table::Host(row));
    }
}

/// Payees that several sellers share, where the rules say how many payments may be lost: each of them can have the payee
/// shut for the others.
fn shared_payees(read: &Reading<'_>, told: &mut Vec<Told>) {
    let draft = &read.draft;
    let of_host = draft.hosts.iter().position(|host| host.max_unresolved.is_some());
    let place = match (draft.payment.max_unresolved, of_host) {
        (Some(_), _) => payment(read, "max_unresolved"),
        (None, Some(row)) => Some(read.lines.place(Table::Host(row), "max_unresolved")),
        (None, None) => return,
    };
    let mut sellers: BTreeMap<&Address, BTreeSet<String>> = BTreeMap::new();
    for host in draft.hosts.iter().filter(|host| !host.allow_any_recipient) {
        let listed = host.recipients.as_ref().or(draft.payment.recipients.as_ref());
        for payee in listed.into_iter().flatten() {
            sellers.entry(payee).or_default().insert(host.origin.to_string());
        }
    }
    let shared: Vec<_> = sellers.into_iter().filter(|(_, origins)| 1 < origins.len()).collect();
    if let Some((payee, origins)) = shared.first() {
        let says = format!(
            "{} payees are shared by several hosts, such as {payee} by {}: what one of them loses counts against the payee \
             and can shut it for the others; give each [[host]] its own `recipients`",
            shared.len(),
            origins.iter().take(2).cloned().collect::<Vec<_>>().join(" and ")
        );
        told.push(Told { about: "shared_payee", says, place });
    }
}

#[cfg(test)]
mod tests;
