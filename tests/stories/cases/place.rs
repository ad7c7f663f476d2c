//! Rows that are a URL, or a name and what the resolver says of it: parsed, judged, pinned, and no byte sent.

use std::collections::BTreeMap;
use std::net::IpAddr;

use bursar::net::{Ask, PinFault, pin};
use bursar_policy::Site;
use bursar_policy::errand::{Errand, Method};
use bursar_policy::gate::may_visit;
use bursar_policy::refusal::Refusal;
use bursar_policy::rules::Rules;
use serde_json::Value;

use super::policy::{self, ADDRESS, HOST, URL};
use super::row::Row;
use crate::resolver::Script;

/// Runs a row that is about places; `None` for any other row.
pub(crate) fn run(row: &Row) -> Option<Result<(), String>> {
    if row.id == "NW-062" {
        return Some(caller_headers(row));
    }
    if row.area != "network" {
        return None;
    }
    let urls = urls(row)?;
    let rules = policy::rules(row);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = |url: &String| {
        resolvers(row).into_iter().try_for_each(|names| {
            let script = Script::new(names);
            let reached = runtime.block_on(reach(&rules, url, &script));
            if script.asked().len() > 1 {
                return Err(format!("`{url}`: the resolver was asked {:?}", script.asked()));
            }
            compare(row, reached).map_err(|difference| format!("`{url}`: {difference}"))
        })
    };
    Some(urls.iter().try_for_each(run))
}

fn compare(row: &Row, reached: Result<(), Vec<&'static str>>) -> Result<(), String> {
    match reached {
        Err(codes) => row.refused_with(&codes),
        Ok(()) if row.expected.act == "pay" => Ok(()),
        Ok(()) => Err(format!("want {}, got a pin", row.expected.act)),
    }
}

/// As far as a pin: the place is known and everything about it was judged.
async fn reach(rules: &Rules, url: &str, resolver: &Script) -> Result<(), Vec<&'static str>> {
    let codes = |refusals: &[Refusal]| refusals.iter().map(Refusal::code).collect::<Vec<_>>();
    let site = Site::parse(url).map_err(|fault| codes(&[fault.into()]))?;
    let errand = Errand::new(site, Method::Get);
    let vetted = may_visit(rules, &errand).map_err(|refusals| codes(&refusals))?;
    match pin(vetted, resolver, rules).await {
        Ok(_) => Ok(()),
        Err(PinFault::Refused(refusal)) => Err(codes(&[refusal])),
        Err(PinFault::Lookup(fault)) => Err(vec![fault.code().as_str()]),
    }
}

fn urls(row: &Row) -> Option<Vec<String>> {
    match row.id.as_str() {
        // Of the list in the text, the one that leads inwards.
        "NW-073" => return Some(vec!["http://127.0.0.1:9200".to_owned()]),
        "NW-050" => return Some(vec![row.text("/dns/url").unwrap().to_owned()]),
        _ => {}
    }
    let listed = row.texts("/urls");
    if !listed.is_empty() {
        return Some(listed);
    }
    row.text("/url").map(|url| vec![url.to_owned()])
}

/// What the resolver says: once, or once for each of several tries.
fn resolvers(row: &Row) -> Vec<BTreeMap<String, Vec<IpAddr>>> {
    let knows = |addresses: Vec<IpAddr>| BTreeMap::from([(HOST.to_owned(), addresses)]);
    let each = row.texts("/dns_each");
    if !each.is_empty() {
        return each.iter().map(|text| knows(vec![text.parse().unwrap()])).collect();
    }
    if row.input.get("dns").is_none() {
        return vec![knows(vec![ADDRESS.parse().unwrap()])];
    }
    // A list in the list is what is said the first time; what would be said later must not be asked for.
    let first = row.input.pointer("/dns/A/0").filter(|first| first.is_array());
    let said: Vec<&Value> = match first {
        Some(first) => first.as_array().unwrap().iter().collect(),
        None => {
            ["/dns/A", "/dns/AAAA"].iter().filter_map(|kind| row.input.pointer(kind)?.as_array()).flatten().collect()
        }
    };
    vec![knows(said.iter().map(|said| said.as_str().unwrap().parse().unwrap()).collect())]
}

/// A caller may choose a few harmless headers and none that steers; whoever inside tries to set one is stopped as well.
fn caller_headers(row: &Row) -> Result<(), String> {
    let steering = ["host", "content-length", "transfer-encoding", "connection", "cookie", "authorization"];
    let taken = steering.iter().find(|name| {
        name.parse::<bursar_policy::HeaderName>().is_ok() || Ask::new(Method::Get).with_header(name, "1").is_ok()
    });
    match taken {
        None => row.refused_with(&["header_not_allowed"]),
        Some(name) => Err(format!("`{name}` could be set for {URL}")),
    }
}
