//! The folders themselves: none forgotten, nothing in them that nobody reads, every code told and every story coded.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use bursar_policy::refusal::Refusal;

use crate::story::{Before, Story, Want, WantContent, WantMandate, WantReceipt, folder, reply_file};

/// Every end that is not a refusal: outcome and code.
const ENDS: &[(&str, &str)] = &[
    ("free", "body_encoding"),
    ("free", "free"),
    ("free", "not_x402"),
    ("free", "not_x402_html"),
    ("free", "not_x402_l402"),
    ("free", "not_x402_mpp"),
    ("failed", "browser_timeout"),
    ("failed", "closed_early"),
    ("failed", "content_unknown"),
    ("failed", "dns_failure"),
    ("failed", "field_not_listed"),
    ("failed", "handle_unknown"),
    ("failed", "header_too_large"),
    ("failed", "no_browser_glue"),
    ("failed", "not_for_a_browser"),
    ("failed", "view_not_allowed"),
    ("paid", "paid"),
    ("paid_content_lost", "body_encoding"),
    ("paid_content_lost", "closed_early"),
    ("paid_content_lost", "content_in_browser"),
    ("paid_content_lost", "seller_error"),
    ("needs_approval", "needs_approval"),
    ("pay", "payable"),
    ("prepared", "offered_again"),
    ("prepared", "prepared"),
    ("stored", "stored"),
    ("unresolved", "browser_silent"),
    ("unresolved", "closed_early"),
    ("unresolved", "payment_not_accepted"),
    ("unresolved", "redirect_refused"),
    ("unresolved", "seller_error"),
    ("unresolved", "settlement_unconfirmed"),
    ("unresolved", "unresolved_before"),
];

#[test]
fn every_refusal_code_owns_a_story_and_every_story_ends_in_a_known_code() {
    let told: BTreeSet<(String, String)> =
        Story::all().into_iter().map(|story| (story.want.outcome, story.want.code)).collect();
    // What only needs a person is no refusal towards the model.
    let codes = Refusal::CODES.iter().filter(|code| **code != "needs_approval");
    let refused = codes.map(|code| ("refused", *code));
    let known: BTreeSet<(String, String)> =
        ENDS.iter().copied().chain(refused).map(|(outcome, code)| (outcome.to_owned(), code.to_owned())).collect();
    let untold: Vec<_> = known.difference(&told).collect();
    let unknown: Vec<_> = told.difference(&known).collect();
    assert!(untold.is_empty() && unknown.is_empty(), "without a story: {untold:?}; of no known code: {unknown:?}");
}

#[test]
fn a_refusal_is_shown_to_the_model_as_its_audience_wants() {
    let offer = [Refusal::OFFER_REFUSED, Refusal::SPENDING_LIMIT];
    for story in Story::all().into_iter().filter(|story| story.want.outcome == "refused") {
        let Want { code, shown, .. } = story.want;
        assert!(code == shown || offer.contains(&shown.as_str()), "{}: `{code}` shown as `{shown}`", story.name);
    }
}

#[test]
fn a_folder_holds_what_a_story_is_made_of_and_nothing_else() {
    let fixed = ["story.md", "rules.toml", "ask.json", "dns.txt", "want.toml"];
    for story in Story::all() {
        let path = folder().join(&story.name);
        let found: BTreeSet<String> =
            fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        let replies = (1..=story.replies.len()).map(reply_file);
        let wanted: BTreeSet<String> = fixed.iter().map(|file| (*file).to_owned()).chain(replies).collect();
        assert_eq!(found, wanted, "fixtures/{}", story.name);
        let told = fs::read_to_string(path.join("story.md")).unwrap();
        assert!(told.len() > 40 && told.ends_with(".\n"), "fixtures/{}/story.md tells too little", story.name);
        assert!(story.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
    }
}

#[test]
fn only_stories_and_their_readme_are_in_the_fixtures() {
    let known = ["README.md", ".gitattributes"];
    for entry in fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        assert!(entry.path().is_dir() || known.contains(&name.as_str()), "fixtures/{name} is no story");
    }
}

#[test]
fn every_reply_is_used_and_no_story_is_told_twice() {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for story in Story::all() {
        assert_eq!(story.replies.len(), story.want.requests, "fixtures/{}: one reply a request", story.name);
        assert_eq!(story.calls.len(), story.want.earlier.len() + 1, "fixtures/{}: one outcome a call", story.name);
        let told = fs::read_to_string(folder().join(&story.name).join("story.md")).unwrap();
        if let Some(other) = texts.insert(told, story.name.clone()) {
            panic!("fixtures/{} and fixtures/{other} tell the same", story.name);
        }
    }
}

#[test]
fn the_readme_explains_every_key_and_placeholder() {
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    let mut words = keys::<Want>();
    words.extend(keys::<WantReceipt>());
    words.extend(keys::<WantContent>());
    words.extend(keys::<Before>());
    words.extend(keys::<WantMandate>());
    assert!(words.len() > 30, "the keys were not found: {words:?}");
    words.extend(
        ["{port}", "{date}", "{other_day}", "{payer}", "{quote}", "{handle}", "{rpc}", "{base64"].map(str::to_owned),
    );
    words.extend(["story.md", "rules.toml", "ask.json", "dns.txt", "want.toml", "1-reply.http"].map(str::to_owned));
    words.extend(ENDS.iter().map(|(_, code)| (*code).to_owned()));
    let explained =
        |word: &&String| [format!("`{word}"), format!("`[{word}]`")].iter().any(|form| readme.contains(form));
    let missing: Vec<_> = words.iter().filter(|word| !explained(word)).collect();
    assert!(missing.is_empty(), "fixtures/README.md does not explain {missing:?}");
}

/// The keys that `T` takes, as its reader names them when it meets one that it does not.
fn keys<T: serde::de::DeserializeOwned>() -> Vec<String> {
    let fault = toml::from_str::<T>("no-such-key = 1").err().unwrap();
    let expected = fault.message().split_once("expected").unwrap().1.to_owned();
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}
