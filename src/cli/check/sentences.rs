//! The rules as sentences, in the order of the file. Says what holds; judges nothing.

use std::fmt::Display;

use bursar_policy::limit::{Scope, Window};
use bursar_policy::quantity::{ByteSize, Span};
use bursar_policy::rules::draft::HostDraft;
use bursar_policy::rules::{LedgerProof, MandateNeed, OnSecurityRefusal};
use bursar_policy::{ContentMode, Limit, Method, Money, Setting, Tag};
use bursar_vault::rules_file::Table;

use super::{Reading, Told, caution, chains, routes};

/// What the rules say.
pub(super) fn of(read: &Reading<'_>) -> Vec<Told> {
    let mut told = ledger(read);
    told.extend(payment(read));
    for (row, payee) in read.draft.payees.iter().enumerate() {
        let says = format!("payments to {} carry {}", payee.address, tagged(&payee.tags));
        told.push(Told { about: "payee", says, place: Some(read.lines.place(Table::Payee(row), "address")) });
    }
    for (row, limit) in read.draft.limits.iter().enumerate() {
        told.push(Told {
            about: "limit",
            says: limited(limit),
            place: Some(read.lines.place(Table::Limit(row), "scope")),
        });
    }
    if read.draft.limits.is_empty() {
        let says = "nothing limits many payments together but the budget of the session".to_owned();
        told.push(Told { about: "limit", says, place: None });
    }
    sellers(read, &mut told);
    network(read, &mut told);
    chains::of(read, &mut told);
    routes::of(read, &mut told);
    if let (Some(sandbox), Setting::Sandbox) = (&read.draft.sandbox, read.rules.setting()) {
        for (name, address) in &sandbox.hosts {
            let says = format!("`{name}` is on this machine, at {address}");
            told.push(Told { about: "sandbox", says, place: Some(read.lines.place(Table::Sandbox, "hosts")) });
        }
        if let Some(file) = &sandbox.ca {
            let says = format!("sellers may prove who they are by the authority in `{file}`");
            told.push(Told { about: "sandbox", says, place: Some(read.lines.place(Table::Sandbox, "ca")) });
        }
    }
    told
}

fn ledger(read: &Reading<'_>) -> Vec<Told> {
    let shares = read.rules.shares().map(|center| Told {
        about: "the limits",
        says: format!("are split between vaults, which agree in {center}; this one spends up to its own part"),
        place: Some(read.lines.root("shares")),
    });
    let Some(address) = read.rules.ledger() else { return shares.into_iter().collect() };
    let proof = match address.proof() {
        LedgerProof::None => "on this machine, without TLS".to_owned(),
        LedgerProof::Public => "whose servers prove their names by the public authorities".to_owned(),
        LedgerProof::File(file) => format!("whose servers prove their names by the authority in `{file}`"),
    };
    let says = format!("is kept in {address}, {proof}; vaults on other machines may share it");
    vec![Told { about: "the ledger", says, place: Some(read.lines.root("ledger")) }]
}

fn payment(read: &Reading<'_>) -> Vec<Told> {
    let (rules, draft) = (&read.rules, &read.draft.payment);
    let tell = |about, says: String, key| Told { about, says, place: Some(read.lines.place(Table::Payment, key)) };
    let most = joined(rules.ceilings(), "nothing");
    let networks = rules.chains().iter().map(|chain| match chain.name() {
        Some(name) => format!("{name} ({chain})"),
        None => chain.to_string(),
    });
    let assets = rules.assets().map(|asset| format!("{} on {}", asset.symbol, asset.id.chain));
    let payees = match rules.recipients() {
        None => "anybody whom a seller names may be paid".to_owned(),
        Some(listed) if listed.is_empty() => "nobody may be paid".to_owned(),
        Some(listed) => format!("paid may be {}", joined(listed, "nobody")),
    };
    let hours_key = if draft.hours.is_some() { "hours" } else { "days" };
    let opening = rules.opening().map(|opening| tell("a payment", format!("is made only {opening}"), hours_key));
    let payees_key = if draft.recipients.is_some() { "recipients" } else { "allow_any_recipient" };
    let mut told = vec![
        tell("a payment", format!("costs at most {most}"), "max_per_payment"),
        tell("a payment", format!("is made by the scheme {}", joined(rules.schemes(), "(none), so never")), "schemes"),
        tell("a payment", format!("is made on {}", joined(networks, "no network, so never")), "networks"),
        tell("a payment", format!("is made in {}", joined(assets, "no asset, so never")), "assets"),
        tell("payees", payees, payees_key),
        tell("a payment", format!("can be cashed for at most {}", span(rules.max_lifetime_s())), "max_lifetime"),
        tell(
            "a repeat",
            format!("within {} gets the first result and is not paid again", span(rules.repeat_window_s())),
            "repeat_window",
        ),
        tell(
            "a lost payment",
            format!(
                "ran out, and nobody knows how it ended: after {} of one host or payee no further one is made",
                rules.max_unresolved()
            ),
            "max_unresolved",
        ),
        tell("a session", mandated(draft.mandate).to_owned(), "mandate"),
        tell("an answer", format!("is kept up to {}", size(rules.body_cap_bytes())), "max_body"),
    ];
    let keeping = rules.keeping();
    told.extend(keeping.max_bytes.map(|most| {
        let says = format!("costs nothing is no longer fetched with more than {} stored in all", size(most));
        tell("an answer that", says, "max_content")
    }));
    told.extend(keeping.age_s.map(|age_s| {
        let says = format!("cost nothing may be pruned after {}", span(age_s));
        tell("an answer that", says, "content_age")
    }));
    told.extend(opening);
    told.extend(caution::of_payment(read));
    told.extend(left_alone(read));
    told
}

/// When a seller is left alone, and what a strike leads to beside that.
fn left_alone(read: &Reading<'_>) -> Vec<Told> {
    let (breaker, draft) = (read.rules.breaker(), &read.draft.payment);
    let (after, time) = (breaker.after(), span(breaker.quarantine_s()));
    let key =
        if draft.quarantine_after.is_none() && draft.quarantine.is_some() { "quarantine" } else { "quarantine_after" };
    let says = format!(
        "is left alone for {time} after {after} failed deliveries in a row, or {after} security refusals that blame it"
    );
    let mut told = vec![Told { about: "a seller", says, place: Some(read.lines.place(Table::Payment, key)) }];
    if breaker.on_security_refusal() == OnSecurityRefusal::CloseSession {
        let says = "is closed by the first security refusal that blames a seller".to_owned();
        let place = Some(read.lines.place(Table::Payment, "on_security_refusal"));
        told.push(Told { about: "a session", says, place });
    }
    told
}

const fn mandated(need: MandateNeed) -> &'static str {
    match need {
        MandateNeed::Optional => "may have a mandate, which bounds it further: purpose, sellers, payees, a ceiling",
        MandateNeed::Required => "needs a mandate: purpose, sellers, payees, a ceiling; without one it pays nothing",
    }
}

fn limited(limit: &Limit) -> String {
    let whose = match (limit.scope, limit.tag) {
        (Scope::All, _) => "all payments together".to_owned(),
        (_, Some(tag)) => format!("the payments that carry the tag {tag}"),
        (other, None) => format!("the payments of each {other}"),
    };
    format!("{whose}: {}", at_most(limit.max, limit.count, limit.window))
}

fn at_most(max: Option<Money>, count: Option<u32>, window: Window) -> String {
    let most = match (max, count) {
        (Some(max), Some(count)) => format!("{max} and {count} payments"),
        (Some(max), None) => max.to_string(),
        (None, Some(count)) => format!("{count} payments"),
        (None, None) => "nothing".to_owned(),
    };
    match window {
        Window::Lifetime => format!("at most {most}, for ever"),
        Window::Calendar { .. } => format!("at most {most} in each {window}"),
        Window::Rolling { .. } => format!("at most {most} in any {window}"),
    }
}

fn sellers(read: &Reading<'_>, told: &mut Vec<Told>) {
    if read.rules.allow_any_host() {
        let says = "every https host may be asked by GET and HEAD; the model sees nothing of an answer".to_owned();
        told.push(Told { about: "sellers", says, place: Some(read.lines.place(Table::Payment, "allow_any_host")) });
    } else if read.draft.hosts.is_empty() {
        told.push(Told {
            about: "sellers",
            says: "no host may be asked: every URL is refused".to_owned(),
            place: None,
        });
    }
    for (row, host) in read.draft.hosts.iter().enumerate() {
        let place = Some(read.lines.place(Table::Host(row), "origin"));
        told.push(Told { about: "seller", says: seller(host), place });
    }
}

fn seller(host: &HostDraft) -> String {
    let methods = host.methods.as_deref().unwrap_or(&[Method::Get, Method::Head]);
    let mut says = format!("{}{} by {}", host.origin, host.path.after_origin(), joined(methods, "no method, so never"));
    says.push_str(match host.content {
        ContentMode::Withhold => "; the model sees nothing of an answer",
        ContentMode::Fields => "; the model sees some values of a JSON answer, marked untrusted",
        ContentMode::Text => "; the model sees up to 10 KiB of text, marked untrusted",
        ContentMode::File => "; the model gets the name of a file with the answer, and up to 1 KiB of a text in it",
    });
    if let Some(fields) = &host.fields {
        let shown = fields.iter().map(|field| if field.as_str().is_empty() { "(all of it)" } else { field.as_str() });
        says.push_str(&format!(": {}", joined(shown, "none")));
    }
    if let Some(most) = host.max_body {
        says.push_str(&format!("; an answer is kept up to {most}"));
    }
    if methods.contains(&Method::Post) {
        let most = host.body_limit.map_or_else(|| "64 KiB".to_owned(), |limit| limit.to_string());
        says.push_str(&format!("; a body has at most {most}"));
    }
    if !host.headers.is_empty() {
        says.push_str(&format!("; the model may set the headers {}", joined(&host.headers, "none")));
    }
    if !host.secret_headers.is_empty() {
        says.push_str(&format!("; it is sent the secrets in {}", joined(&host.secret_headers, "none")));
    }
    if let Some(ceilings) = &host.max_per_payment {
        says.push_str(&format!("; a payment costs at most {}", joined(&ceilings.0, "nothing")));
    }
    match &host.recipients {
        _ if host.allow_any_recipient => says.push_str("; it may name anybody as payee"),
        Some(listed) => says.push_str(&format!("; paid may be {}", joined(listed, "nobody"))),
        None => {}
    }
    if !host.tags.is_empty() {
        says.push_str(&format!("; its payments carry {}", tagged(&host.tags)));
    }
    if let Some(most) = host.max_unresolved {
        says.push_str(&format!("; no further payment after {most} lost"));
    }
    for limit in &host.limits {
        says.push_str(&format!("; its payments together: {}", at_most(limit.max, limit.count, limit.window)));
    }
    says.push_str(&caution::of_host(host));
    if !host.resource_hosts.is_empty() {
        says.push_str(&format!("; its terms may be for {}", joined(&host.resource_hosts, "")));
    }
    says
}

/// What holds for every connection.
fn network(read: &Reading<'_>, told: &mut Vec<Told>) {
    let network = read.rules.network();
    let mut tell = |says: String, key: &str| {
        told.push(Told { about: "the network", says, place: Some(read.lines.place(Table::Network, key)) });
    };
    if !network.deny().is_empty() {
        tell(format!("is never dialled at {}", joined(network.deny(), "nowhere")), "deny");
    }
    if let Some(proxy) = network.proxy() {
        tell(format!("is reached through the proxy {proxy}, which learns the address of each seller"), "proxy");
    }
    if let Some(secret) = network.proxy_secret() {
        tell(format!("says the secret {{{secret}}} to the proxy, in the clear, and to no seller"), "proxy_secret");
    }
    if let Some(file) = network.extra_ca() {
        tell(format!("may prove who a seller is by the authority in `{file}` as well"), "extra_ca");
    }
    if let Some(allowed) = network.allow() {
        tell(format!("is dialled, beside a sandbox's own sellers, only at {}", joined(allowed, "no address")), "allow");
    }
}

fn tagged(tags: &[Tag]) -> String {
    format!("{} {}", if tags.len() == 1 { "the tag" } else { "the tags" }, joined(tags, "none"))
}

/// The items with commas, or `none`.
pub(super) fn joined(items: impl IntoIterator<Item = impl Display>, none: &str) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if items.is_empty() { none.to_owned() } else { items.join(", ") }
}

/// So many seconds as people write them.
pub(super) fn span(seconds: u64) -> String {
    Span::from_secs(seconds).map_or_else(|| "0s".to_owned(), |span| span.to_string())
}

fn size(bytes: u64) -> String {
    ByteSize::from_bytes(bytes).map_or_else(|| "0 B".to_owned(), |size| size.to_string())
}

#[cfg(test)]
mod tests;
