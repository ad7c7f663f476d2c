//! Pages of other places that find the port: by another name (DNS rebinding), from another origin (CSRF), by tricks with paths.

use bursar::console::Bounds;

use crate::house::House;
use crate::raw::Ask;

#[tokio::test]
async fn the_page_answers_to_its_one_address_and_to_no_other_name() {
    let house = House::empty(Bounds::usual());
    assert_eq!(house.send(&house.get("").but("sec-fetch-site", "none")).await.status, 200);
    let port = house.host.split(':').nth(1).unwrap();
    for name in [
        format!("localhost:{port}"),
        format!("rebound.example:{port}"),
        format!("127.0.0.1.rebound.example:{port}"),
        format!("[::1]:{port}"),
        format!("127.1:{port}"),
        "rebound.example".to_owned(),
        "127.0.0.1".to_owned(),
        "127.0.0.1:1".to_owned(),
        format!("user@{}", house.host),
        String::new(),
    ] {
        for name_of in ["", "main.js", "state"] {
            let answer = house.send(&house.get(name_of).but("host", &name)).await;
            assert!([400, 421].contains(&answer.status), "{name}: {answer:?}");
            assert!(
                !answer.body.contains("<html") && !answer.body.contains(house.base.trim_matches('/')),
                "{answer:?}"
            );
        }
        let login = house.post("login", r#"{"code":"x"}"#).but("host", &name).but("origin", &format!("http://{name}"));
        assert!([400, 421].contains(&house.send(&login).await.status), "{name}");
    }
    assert_eq!(house.send(&house.get("").without("host")).await.status, 421);
    house.send(&house.get("").with("host", "rebound.example")).await.is(421, "wrong_host");
    house
        .send(&Ask::of(&format!("GET http://rebound.example{} HTTP/1.1", house.base)).with("host", &house.host))
        .await
        .is(400, "malformed");
    house.send(&Ask::of(&format!("GET {} HTTP/1.0", house.base)).with("host", &house.host)).await.is(400, "malformed");
}

#[tokio::test]
async fn another_place_can_do_nothing_even_with_every_secret_of_a_login() {
    let house = House::with_vault().await;
    let keys = house.enter().await;
    let freeze = keys.on(house.post("freeze", "{}"));
    let (port, host) = (house.host.split(':').nth(1).unwrap(), &house.host);
    for origin in [
        "null".to_owned(),
        "http://evil.example".to_owned(),
        format!("http://localhost:{port}"),
        format!("https://{host}"),
        "http://127.0.0.1:1".to_owned(),
        "http://127.0.0.1".to_owned(),
        format!("http://{host}.evil.example"),
        format!("http://{host}/"),
    ] {
        house.send(&freeze.clone().but("origin", &origin)).await.is(403, "foreign_page");
        house.send(&house.post("login", r#"{"code":"x"}"#).but("origin", &origin)).await.is(403, "foreign_page");
        house.send(&keys.on(house.get("state")).with("origin", &origin)).await.is(403, "foreign_page");
    }
    house.send(&freeze.clone().without("origin")).await.is(403, "foreign_page");
    house.send(&freeze.clone().with("origin", &format!("http://{host}"))).await.is(403, "foreign_page");
    for site in ["cross-site", "same-site", "none", "other"] {
        house.send(&freeze.clone().but("sec-fetch-site", site)).await.is(403, "foreign_page");
        house.send(&keys.on(house.get("state")).but("sec-fetch-site", site)).await.is(403, "foreign_page");
        house.send(&house.get("main.js").but("sec-fetch-site", site)).await.is(403, "foreign_page");
    }
    for site in ["cross-site", "same-site"] {
        house.send(&house.get("").but("sec-fetch-site", site)).await.is(403, "foreign_page");
    }
    // A link from anywhere opens the page, which is nobody's secret, and nothing else; a frame and a script's request do not.
    let link = |name: &str| {
        house
            .get(name)
            .but("sec-fetch-site", "cross-site")
            .with("sec-fetch-mode", "navigate")
            .with("sec-fetch-dest", "document")
    };
    assert_eq!(house.send(&link("")).await.status, 200);
    assert_eq!(house.send(&link("").but("sec-fetch-site", "same-site")).await.status, 200);
    for ask in [
        link("main.js"),
        keys.on(link("state")),
        link("").but("sec-fetch-dest", "iframe"),
        link("").but("sec-fetch-dest", "empty"),
        link("").but("sec-fetch-mode", "no-cors"),
        link("").but("sec-fetch-mode", "cors"),
        link("").with("sec-fetch-dest", "document"),
        link("").with("origin", "http://evil.example"),
        freeze
            .clone()
            .but("sec-fetch-site", "cross-site")
            .with("sec-fetch-mode", "navigate")
            .with("sec-fetch-dest", "document"),
    ] {
        house.send(&ask).await.is(403, "foreign_page");
    }
    // What a form of another page could send without asking first.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json; x=y"] {
        house.send(&freeze.clone().but("content-type", kind)).await.is(415, "not_json");
    }
    house.send(&freeze.clone().without("content-type")).await.is(415, "not_json");
    assert_eq!(house.status().frozen, None, "something got through");

    assert_eq!(house.send(&freeze).await.status, 200);
    assert_eq!(house.status().frozen.as_deref(), Some("frozen at the console"));
}

#[tokio::test]
async fn nobody_elsewhere_may_ask_whether_it_may_ask() {
    let house = House::empty(Bounds::usual());
    let asked = house.post("freeze", "").but("origin", "http://evil.example");
    let line = format!("OPTIONS {}freeze HTTP/1.1", house.base);
    let preflight = Ask::of(&line).with("host", &house.host).with("origin", "http://evil.example");
    for ask in [asked, preflight.clone(), preflight.but("origin", &format!("http://{}", house.host))] {
        let answer = house.send(&ask.with("access-control-request-method", "POST")).await;
        assert!(answer.status == 403 || answer.status == 405, "{answer:?}");
        assert!(!answer.headers.iter().any(|(name, _)| name.starts_with("access-control")), "{answer:?}");
    }
}

#[tokio::test]
async fn a_path_is_a_name_that_is_known_or_nothing() {
    let house = House::empty(Bounds::usual());
    for name in ["", "main.js", "style.css", "icon.svg", "dom.js"] {
        assert_eq!(house.send(&house.get(name)).await.status, 200, "{name}");
    }
    for name in [
        "../../../../etc/passwd",
        "..%2f..%2fetc/passwd",
        "%2e%2e/",
        "./main.js",
        "%6dain.js",
        "main.js/",
        "main.js/..",
        "/main.js",
        "Main.js",
        "main.js%00",
        "main.js;x",
        "index.html",
        "web/main.js",
        "state/",
        "\\main.js",
    ] {
        house.send(&house.get(name)).await.is(404, "no_such_page");
    }
    for line in [
        "GET / HTTP/1.1",
        "GET // HTTP/1.1",
        "GET /state HTTP/1.1",
        "GET /main.js HTTP/1.1",
        "GET /favicon.ico HTTP/1.1",
    ] {
        house.send(&Ask::of(line).with("host", &house.host)).await.is(404, "no_such_page");
    }
    for name in ["?x", "main.js?x", "state?token=x"] {
        house.send(&house.get(name)).await.is(400, "malformed");
    }
    for method in ["HEAD", "PUT", "DELETE", "PATCH", "TRACE", "BREW"] {
        let ask = Ask::of(&format!("{method} {} HTTP/1.1", house.base)).with("host", &house.host);
        assert_eq!(house.send(&ask).await.status, 405, "{method}");
    }
    house.send(&house.get("freeze")).await.is(405, "wrong_method");
    house.send(&house.post("state", "{}")).await.is(405, "wrong_method");
}

#[tokio::test]
async fn every_answer_forbids_what_the_page_does_not_need() {
    let house = House::with_vault().await;
    let keys = house.enter().await;
    let code = house.codes.issue().unwrap();
    let answers = [
        house.send(&house.get("")).await,
        house.send(&house.get("main.js")).await,
        house.send(&house.get("nothing")).await,
        house.send(&house.get("state")).await,
        house.send(&keys.on(house.get("state"))).await,
        house.send(&house.get("").but("host", "evil.example")).await,
        house.send(&house.post("freeze", "{}")).await,
        house.types("wrong").await,
        house.types(&code.spelled()).await,
        house.send(&keys.on(house.post("leave", "{}"))).await,
    ];
    for answer in &answers {
        let [policy] = answer.all("content-security-policy")[..] else { panic!("{answer:?}") };
        assert!(policy.starts_with("default-src 'none';") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(policy.contains("require-trusted-types-for 'script'") && !policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("x-frame-options", "DENY"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.all(name), [value], "{answer:?}");
        }
        assert!(!answer.headers.iter().any(|(name, _)| name.starts_with("access-control")), "{answer:?}");
        assert_eq!(answer.all("server").len(), 0);
    }
}
