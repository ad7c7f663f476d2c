//! Rows that are a seller's behaviour: played like a story of this repository, on its test network.

use bursar_policy::Digest;
use serde_json::Value;

use super::Fate;
use super::row::Row;
use super::scene::{self, Scene};
use crate::check::leaks;
use crate::payments;
use crate::play::Played;
use crate::run::{on_threads, played};

/// Plays every row of `rows` that is a scene.
pub(crate) fn play_all(rows: Vec<(Row, Scene)>) -> Vec<(String, Fate)> {
    on_threads(rows, |(row, scene)| {
        let fate = match played(&scene.story) {
            Err(fault) => Fate::Wrong(fault),
            Ok(played) => match differences(&row, &scene, &played) {
                differences if differences.is_empty() => Fate::Right,
                differences => Fate::Wrong(differences.join("; ")),
            },
        };
        (row.id, fate)
    })
}

fn differences(row: &Row, scene: &Scene, played: &Played) -> Vec<String> {
    let mut found = payments::faults(played);
    found.extend(leaks(&scene.story.want.unheard, played));
    let mut check = |what: &str, holds: bool| {
        if !holds {
            found.push(format!("{what}; the answers were {:?}", played.answers));
        }
    };
    let states: Vec<String> = played.books.payments.iter().map(crate::check::state).collect();
    let outcomes: Vec<&str> = played.answers.iter().map(|told| told["outcome"].as_str().unwrap_or_default()).collect();
    let paid = outcomes.iter().filter(|outcome| **outcome == "paid").count();
    let last = played.answers.last().unwrap();
    check(
        "another number of signatures",
        played.books.log.iter().filter(|entry| entry.kind == "signed").count() == row.expected.signed,
    );
    check("another number of rows", states.len() == row.expected.signed);
    check("somebody was looked up", played.lookups.is_empty());
    match row.expected.act.as_str() {
        "pay" => {
            check("not paid as often as told", paid == row.expected.signed);
            check("not settled", states.iter().all(|state| state == "settled"));
        }
        "serve" => {
            // What a seller contradicts is told as unresolved; whoever delivers without a word of money is paid.
            let outcome = outcomes.last().copied().unwrap_or_default();
            let is_held = row.expected.ledger.as_deref() == Some("held");
            let served_as = if row.expected.signed == 0 { "free" } else { "paid" };
            check("not served", outcome == served_as || (is_held && outcome == "unresolved"));
            check("nothing was delivered", last.get("content").is_some());
            let state = if is_held { "exposed" } else { "settled" };
            check("another state", states.iter().all(|found| found == state));
            check("other bytes than were sent", scene.goods.as_deref().is_none_or(|goods| served(last, goods)));
        }
        "free" | "failed" => {
            let told = (last["outcome"].as_str(), last["code"].as_str());
            check("told as something else", told == (Some(row.expected.act.as_str()), row.expected.reason.as_deref()));
        }
        "hold" => check("not held", states.iter().all(|state| state == "exposed") && !outcomes.contains(&"free")),
        "release" => check("money is counted", spent(played) == "0.00 USD" && paid == 0),
        "refuse" => {
            // Without terms there is nothing to refuse: it is told as what it is, by a code that stands for the reason.
            let told = outcomes.last().copied().unwrap_or_default();
            check("not refused", ["refused", "free", "failed"].contains(&told));
            let logged = scene::logged(played);
            let code = logged.first().map_or_else(|| last["code"].as_str().unwrap_or_default(), |code| code.as_str());
            if let Err(difference) = row.refused_with(&[code]) {
                found.push(difference);
            }
        }
        other => found.push(format!("`{other}` is no end of a scene")),
    }
    found
}

/// Whether exactly `goods` were stored.
fn served(told: &Value, goods: &[u8]) -> bool {
    let content = &told["content"];
    content["sha256"].as_str() == Some(&Digest::of(goods).to_string()) && content["truncated"] == Value::Bool(false)
}

fn spent(played: &Played) -> String {
    played.books.session.as_ref().map(|session| session.spent.to_string()).unwrap_or_default()
}
