//! Logins: what a stolen half of one is good for, what a whole one is not, and how it ends. No answer holds a secret.

use crate::house::{House, Keys, PASSPHRASE};

#[tokio::test]
async fn a_stolen_cookie_alone_reads_nothing_and_does_nothing() {
    let house = House::with_vault().await;
    let keys = house.enter().await;
    let other = house.enter().await;
    let post = |name: &str| house.post(name, r#"{"passphrase":"correct horse battery staple"}"#);
    for ask in
        [house.get("state"), house.post("freeze", "{}"), post("thaw"), post("approve"), house.post("check", "{}")]
    {
        for bare in [
            ask.clone().with("cookie", &keys.cookie),
            ask.clone().with("x-bursar-token", &keys.token),
            Keys { token: other.token.clone(), ..keys.clone() }.on(ask.clone()),
            Keys { token: String::new(), ..keys.clone() }.on(ask.clone()),
            Keys { cookie: format!("{0}; {0}", keys.cookie), ..keys.clone() }.on(ask.clone()),
            keys.on(ask.clone()).with("cookie", &keys.cookie),
            Keys { cookie: keys.cookie.replace("bursar_console", "other"), ..keys.clone() }.on(ask.clone()),
        ] {
            house.send(&bare).await.is(401, "not_logged_in");
        }
    }
    assert_eq!(house.status().frozen, None);
    let beside = Keys { cookie: format!("a=b; {}; c=d", keys.cookie), ..keys.clone() };
    assert_eq!(house.send(&beside.on(house.get("state"))).await.status, 200, "cookies of other ports come along");
}

#[tokio::test]
async fn a_whole_login_without_the_passphrase_gives_the_agent_nothing() {
    let house = House::with_vault().await;
    let keys = house.enter().await;
    house.freeze();
    let thaw = |body: &str| keys.on(house.post("thaw", body));
    house.send(&thaw("{}")).await.is(400, "malformed");
    house.send(&thaw(r#"{"passphrase":"a wrong passphrase"}"#)).await.is(409, "passphrase_wrong");
    let id = format!("a_{}", "0".repeat(32));
    let yes = |passphrase: &str| {
        let binding = "0".repeat(64);
        let body = format!(r#"{{"id":"{id}","binding":"{binding}","price":"0.05 USD","passphrase":"{passphrase}"}}"#);
        keys.on(house.post("approve", &body))
    };
    house.send(&yes(PASSPHRASE)).await.is(409, "approval_unknown");
    let short = keys.on(house.post("approve", &format!(r#"{{"id":"{id}"}}"#)));
    house.send(&short).await.is(400, "malformed");
    assert!(house.status().frozen.is_some());

    let mut said = house.send(&keys.on(house.get("state"))).await.body;
    let thawed = house.send(&thaw(&format!(r#"{{"passphrase":"{PASSPHRASE}"}}"#))).await;
    assert_eq!(thawed.status, 200, "{thawed:?}");
    assert_eq!(house.status().frozen, None);
    said += &thawed.body;
    said += &house.send(&keys.on(house.get("state"))).await.body;
    let cookie = keys.cookie.split('=').nth(1).unwrap();
    for secret in [PASSPHRASE, "a wrong passphrase", cookie, &keys.token, "signature", "private"] {
        assert!(!said.contains(secret), "`{secret}` is in: {said}");
    }
}

#[tokio::test]
async fn a_cookie_is_for_this_page_alone_and_is_nothing_after_logging_out() {
    let house = House::with_vault().await;
    let code = house.codes.issue().unwrap();
    let answer = house.types(&code.spelled()).await;
    let [cookie] = answer.all("set-cookie")[..] else { panic!("{answer:?}") };
    let (pair, how) = cookie.split_once("; ").unwrap();
    assert_eq!(how, format!("Path={}; HttpOnly; SameSite=Strict", house.base));
    assert_eq!((pair.len(), house.base.len()), ("bursar_console=".len() + 64, 26));
    assert!(!answer.body.contains(pair.split('=').nth(1).unwrap()));

    let keys = house.enter().await;
    let state = keys.on(house.get("state"));
    assert_eq!(house.send(&state).await.status, 200);
    let left = house.send(&keys.on(house.post("leave", "{}"))).await;
    assert!(
        left.all("set-cookie")[0].starts_with("bursar_console=; ") && left.all("set-cookie")[0].ends_with("Max-Age=0")
    );
    house.send(&state).await.is(401, "not_logged_in");
    house.send(&keys.on(house.post("freeze", "{}"))).await.is(401, "not_logged_in");
    assert_eq!(house.status().frozen, None);
}

#[tokio::test]
async fn the_state_is_told_and_the_ledger_is_checked_beside_the_vault() {
    let house = House::with_vault().await;
    let keys = house.enter().await;
    let state = house.send(&keys.on(house.get("state"))).await.json();
    assert_eq!(
        (&state["sandbox"], &state["locked"], &state["check"]["is"]),
        (&true.into(), &false.into(), &"never".into())
    );
    assert_eq!(state["hosts"][0]["who"], "https://shop.console.test");
    // As it can be typed: the profile is in it, as the terminal says it.
    let next = state["next"].as_str().unwrap();
    let typed = format!("`bursar --sandbox {} session new --budget \"1.00 USD\"`", house.home());
    assert!(next.starts_with("no budget is open: run ") && next.ends_with(&typed), "{next}");
    assert_eq!(house.send(&keys.on(house.post("check", "{}"))).await.status, 200);
    let checked = loop {
        let check = house.send(&keys.on(house.get("state"))).await.json()["check"].clone();
        if check["is"] != "running" {
            break check;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!((&checked["is"], &checked["payments"]), (&"in_order".into(), &0.into()), "{checked}");
}
