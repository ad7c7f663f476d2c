//! Every answer: fits its schema, says the same as text, and says no more than it should.

use bursar_policy::{Audience, Concern, Currency, Money, Quoted, Refusal, Scope, Window};
use bursar_tools::payments::{Books, LimitLine, MandateLine, Reason, SessionLine, SessionState, Standing};
use serde_json::{Value, json};

use crate::catalog::schema_of;
use crate::client::Client;
use crate::shape::check;
use crate::shell::{Shell, books};

/// Calls a tool and checks what holds for every answer.
pub(crate) async fn answer(client: &mut Client, tool: &str, arguments: &Value) -> Value {
    let result = client.call("a", tool, arguments).await;
    let structured = &result["structuredContent"];
    let faults = check(&schema_of(tool, "outputSchema"), structured, "");
    assert!(faults.is_empty(), "{faults:?}");
    let blocks = result["content"].as_array().unwrap();
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0]["type"], "text");
    let text: Value = serde_json::from_str(blocks[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, structured);
    for sentence in ["message", "next_step"] {
        if let Some(words) = structured[sentence].as_str() {
            assert!(!words.is_empty() && !words.ends_with('.') && !words.contains('\n'), "{words}");
        }
    }
    result
}

async fn fetch(path: &str) -> Value {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    answer(&mut client, "x402_fetch", &json!({"url": format!("https://shop.example{path}?q=1")})).await
}

#[tokio::test]
async fn each_end_of_a_purchase_is_told_as_what_it_is() {
    let cases = [
        ("/free", "free", "free", false, false, true),
        ("/not-x402", "free", "not_x402", false, false, true),
        ("/paid", "paid", "paid", false, true, true),
        ("/text", "paid", "paid", false, true, true),
        ("/image", "paid", "paid", false, true, true),
        ("/text-file", "paid", "paid", false, true, true),
        ("/fields", "paid", "paid", false, true, true),
        ("/no-fields", "paid", "paid", false, true, true),
        ("/file", "paid", "paid", false, true, true),
        ("/repeat", "paid", "paid", false, true, true),
        ("/transaction", "paid", "paid", false, true, true),
        ("/lost", "paid_content_lost", "content_lost", false, true, false),
        ("/unresolved", "unresolved", "no_answer", false, true, false),
        ("/unresolved-words", "unresolved", "no_answer", false, true, true),
        ("/refused", "refused", "offer_refused", false, false, false),
        ("/redirect", "refused", "redirect_refused", false, false, false),
        ("/locked", "refused", "wallet_locked", false, false, false),
        ("/approval", "needs_approval", "needs_approval", false, false, false),
        ("/failed", "failed", "dns_failure", true, false, false),
        ("/panic", "unresolved", "internal_error", true, false, false),
    ];
    for (path, outcome, code, is_error, receipt, content) in cases {
        let result = fetch(path).await;
        let told = &result["structuredContent"];
        assert_eq!(told["outcome"], outcome, "{path}");
        assert_eq!(told["code"], code, "{path}");
        assert_eq!(result["isError"], is_error, "{path}");
        assert_eq!(told.get("receipt").is_some(), receipt, "{path}");
        assert_eq!(told.get("content").is_some(), content, "{path}");
        assert_eq!(told["repeat"], path == "/repeat", "{path}");
    }
}

#[tokio::test]
async fn a_receipt_has_everything_but_the_query() {
    let result = fetch("/paid").await;
    assert_eq!(
        result["structuredContent"]["receipt"],
        json!({
            "payment_id": format!("p_{}", "01".repeat(16)),
            "amount": "0.01 USDC",
            "money": "0.01 USD",
            "network": "eip155:84532",
            "payee": "0x2222222222222222222222222222222222222222",
            "origin": "https://shop.example",
            "path": "/paid",
            "transaction": format!("0x{}", "ab".repeat(32)),
            "state": "settled",
            "expires": "2026-11-30T00:53:20Z",
        })
    );
    assert_eq!(
        result["structuredContent"]["content"],
        json!({
            "status": 200, "type": "json", "bytes": 5, "truncated": false, "withheld": true, "stored": false,
            "untrusted": true,
            "sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        })
    );
}

#[tokio::test]
async fn text_is_shown_only_where_the_content_is_text() {
    let shown = fetch("/text").await["structuredContent"]["content"].clone();
    assert_eq!((&shown["withheld"], &shown["text_truncated"]), (&json!(false), &json!(false)));
    assert!(shown["text"].as_str().unwrap().contains("\nhello\n"));
    assert!(shown["text"].as_str().unwrap().contains(shown["frame"].as_str().unwrap()));
    let image = fetch("/image").await["structuredContent"]["content"].clone();
    assert_eq!(image["withheld"], true);
    assert!(image.get("text").is_none());
    let file = fetch("/file").await["structuredContent"]["content"].clone();
    assert_eq!((&file["withheld"], &file["file"], file.get("text")), (&json!(false), &json!("/content/ab"), None));
    let file = fetch("/text-file").await["structuredContent"]["content"].clone();
    assert_eq!((&file["withheld"], &file["file"]), (&json!(false), &json!("/content/ab")));
    assert!(file["text"].as_str().unwrap().contains("\nhello\n"));
}

/// Calls x402_fetch, and tells how often the shell was asked to fetch.
async fn fetched(arguments: Value) -> (Value, usize) {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let told = answer(&mut client, "x402_fetch", &arguments).await;
    let asked = shell.asked.lock().unwrap().len();
    (told, asked)
}

#[tokio::test]
async fn a_stored_copy_is_marked_as_one_and_nobody_is_asked_for_it() {
    let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let (result, asked) = fetched(json!({"content_sha256": digest})).await;
    let told = &result["structuredContent"];
    assert_eq!((&told["outcome"], &told["code"], asked), (&json!("stored"), &json!("stored"), 0));
    assert_eq!((&told["content"]["stored"], &told["content"]["sha256"]), (&json!(true), &json!(digest)));
    assert!(told["message"].as_str().unwrap().contains("2026-11-30T00:53:20Z"), "{told}");
    assert!(told["content"]["text"].as_str().unwrap().contains("\nhello\n"));
    assert_eq!(told.get("receipt"), None);

    let (result, _) = fetched(json!({"content_sha256": digest, "fields": ["/0"]})).await;
    assert_eq!(result["structuredContent"]["content"]["fields"].as_array().unwrap().len(), 7);
    let (result, _) = fetched(json!({"content_sha256": digest, "content": "withhold"})).await;
    let told = &result["structuredContent"];
    assert_eq!((&told["content"]["withheld"], told.get("next_step")), (&json!(true), None), "nobody keeps it: {told}");

    let (result, asked) = fetched(json!({"content_sha256": "00".repeat(32)})).await;
    let told = &result["structuredContent"];
    assert_eq!((&told["outcome"], &told["code"], asked), (&json!("failed"), &json!("content_unknown"), 0));
    assert_eq!(result["isError"], true);
    assert!(told["next_step"].as_str().unwrap().contains("paid nothing"));
}

#[tokio::test]
async fn a_young_copy_is_told_and_without_one_the_call_goes_on() {
    let (result, asked) = fetched(json!({"url": "https://shop.example/paid", "max_age_seconds": 60})).await;
    assert_eq!((&result["structuredContent"]["outcome"], asked), (&json!("stored"), 0));
    let (result, asked) = fetched(json!({"url": "https://shop.example/paid", "max_age_seconds": 59})).await;
    assert_eq!((&result["structuredContent"]["outcome"], asked), (&json!("paid"), 1));
    assert_eq!(result["structuredContent"]["content"]["stored"], false);
    // What the rules do not show is refused whether there is a copy or not, and nothing is bought instead.
    let wide = json!({"url": "https://shop.example/paid", "max_age_seconds": 59, "content": "file"});
    let (result, asked) = fetched(wide).await;
    let told = &result["structuredContent"];
    assert_eq!((&told["outcome"], &told["code"], asked), (&json!("failed"), &json!("view_not_allowed"), 0));
    assert_eq!(result["isError"], true);
}

#[tokio::test]
async fn fields_are_told_by_what_was_found_and_framed_each_by_itself() {
    let shown = fetch("/fields").await["structuredContent"]["content"].clone();
    assert_eq!((&shown["withheld"], shown.get("text")), (&json!(false), None));
    let fields = shown["fields"].as_array().unwrap();
    let found: Vec<&str> = fields.iter().map(|field| field["found"].as_str().unwrap()).collect();
    assert_eq!(found, ["string", "number", "true", "false", "null", "not_a_scalar", "missing"]);
    let framed: Vec<&str> = fields.iter().filter_map(|field| field["value"]["frame"].as_str()).collect();
    assert_eq!((framed.len(), framed[0] == framed[1]), (2, false));
    assert!(fields[0]["value"]["text"].as_str().unwrap().contains("\nhello\n"));

    let none = fetch("/no-fields").await["structuredContent"].clone();
    assert_eq!((&none["content"]["withheld"], none["content"].get("fields")), (&json!(true), None));
    assert_eq!(none["content"]["no_fields"], "the body is not one JSON document");
    assert!(none["next_step"].as_str().unwrap().contains("content folder"));
}

#[tokio::test]
async fn the_value_of_a_field_is_cut_at_its_cap() {
    let shell = Shell::new();
    "9".repeat(5_000).clone_into(&mut shell.words.lock().unwrap());
    let mut client = Client::greeted(&shell).await;
    let told = answer(&mut client, "x402_fetch", &json!({"url": "https://shop.example/fields"})).await;
    for place in [0, 1] {
        let value = &told["structuredContent"]["content"]["fields"][place]["value"];
        assert_eq!(
            (value["text"].as_str().unwrap().matches('9').count() >= 256, &value["text_truncated"]),
            (true, &json!(true))
        );
        assert!(value["text"].as_str().unwrap().len() < 450);
    }
}

/// The shell of a big body hands over its beginning; the model must learn that there is more.
#[tokio::test]
async fn a_beginning_is_told_to_be_one() {
    let shell = Shell::new();
    "hell".clone_into(&mut shell.words.lock().unwrap());
    let mut client = Client::greeted(&shell).await;
    let told = answer(&mut client, "x402_fetch", &json!({"url": "https://shop.example/text"})).await;
    assert_eq!(told["structuredContent"]["content"]["text_truncated"], true);
}

#[tokio::test]
async fn an_unresolved_purchase_says_how_to_collect_it() {
    let told = fetch("/unresolved").await["structuredContent"].clone();
    assert!(told["next_step"].as_str().unwrap().contains("same arguments"));
    assert_eq!(told["receipt"]["state"], "exposed");
}

#[tokio::test]
async fn everything_about_a_sellers_offer_is_one_answer() {
    let quoted = |text: &str| Quoted::of(text);
    let refusals = [
        Refusal::NoOffers,
        Refusal::TermsUnreadable { why: quoted("x") },
        Refusal::UnsupportedNetwork { network: quoted("eip155:1") },
        Refusal::AmountInvalid { said: quoted("1.5"), why: "no".to_owned() },
        Refusal::OverPaymentCap { asked: quoted("9 USD"), cap: None },
        Refusal::LifetimeTooShort { life_s: 3 },
    ];
    let mut told = std::collections::BTreeSet::new();
    for refusal in refusals {
        assert_eq!(refusal.audience(), Audience::Offer);
        let result = refused_with(refusal).await;
        told.insert(result.to_string());
    }
    assert_eq!(told.len(), 1, "{told:?}");
}

/// What a purchase that is refused for one reason tells.
async fn refused_with(refusal: Refusal) -> Value {
    let shell = Shell::new();
    *shell.refusals.lock().unwrap() = vec![refusal];
    let mut client = Client::greeted(&shell).await;
    answer(&mut client, "x402_fetch", &json!({"url": "https://shop.example/scripted"})).await
}

#[tokio::test]
async fn our_own_side_is_told_plainly_and_limits_are_not() {
    let locked = refused_with(Refusal::WalletLocked).await;
    assert_eq!(locked["structuredContent"]["code"], "wallet_locked");
    let step = locked["structuredContent"]["next_step"].as_str().unwrap();
    assert!(step.contains("operator") && step.contains("`bursar unlock`"), "{step}");
    let ceiling = Refusal::PriceAboveCeiling { asked: "2 USD".parse().unwrap(), ceiling: "1 USD".parse().unwrap() };
    assert_eq!(refused_with(ceiling).await["structuredContent"]["code"], "price_above_ceiling");
    let limit = Refusal::OverLimit {
        scope: Scope::Payee,
        tag: None,
        window: Window::Lifetime,
        breach: bursar_policy::refusal::Breach::Unread,
    };
    let told = refused_with(limit).await["structuredContent"].clone();
    assert_eq!(told["code"], "spending_limit");
    assert!(!told.to_string().contains("payee"), "{told}");
}

#[tokio::test]
async fn who_waits_for_a_person_hears_under_what_and_until_when_and_never_why() {
    let told = fetch("/approval").await["structuredContent"].clone();
    let id = format!("a_{}", "03".repeat(16));
    assert_eq!((&told["approval_id"], &told["expires"]), (&json!(id), &json!("2026-11-30T00:53:20Z")));
    let step = format!(
        "ask the operator, a person, to run `bursar approve {id}`, then call again with exactly the same arguments"
    );
    assert_eq!(told["next_step"], json!(step));

    let concerns = vec![Concern::Suspicious { why: Quoted::of("it begs") }];
    let told = refused_with(Refusal::NeedsApproval { approval: None, concerns }).await["structuredContent"].clone();
    assert_eq!(told["code"], "needs_approval");
    assert!(!told.to_string().contains("begs") && !told.to_string().contains("suspicious"), "{told}");
    let denied = refused_with(Refusal::ApprovalDenied).await["structuredContent"].clone();
    assert_eq!(denied["message"], "a person looked at exactly this purchase and said no");
    assert_eq!(denied["next_step"], "do not ask again; talk to the person who said no");
    let many = refused_with(Refusal::TooManyApprovals { max: 5 }).await["structuredContent"].clone();
    assert_eq!(many["message"], "5 purchases of this session wait for a person already");
    let step = "ask the operator, a person, to decide about those that wait with `bursar approvals`";
    assert_eq!(many["next_step"], json!(step));
    for told in [denied, many] {
        assert_eq!((told.get("approval_id"), told.get("expires")), (None, None));
    }
}

#[tokio::test]
async fn a_quote_is_told_as_what_it_is() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    for (path, outcome, code, is_error) in [
        ("/free", "free", "free", false),
        ("/not-x402", "free", "not_x402_html", false),
        ("/paid", "pay", "payable", false),
        ("/approval", "needs_approval", "needs_approval", false),
        ("/refused", "refused", "offer_refused", false),
        ("/failed", "failed", "tls_failed", true),
    ] {
        let result = answer(&mut client, "x402_quote", &json!({"url": format!("https://shop.example{path}")})).await;
        let told = &result["structuredContent"];
        assert_eq!(
            (&told["outcome"], &told["code"], &result["isError"]),
            (&json!(outcome), &json!(code), &json!(is_error))
        );
        assert_eq!(told.get("quote").is_some(), path == "/paid");
        assert_eq!(told.get("price").is_some(), path == "/paid");
    }
}

#[tokio::test]
async fn status_tells_what_stands_in_the_way_and_no_hidden_limit() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let session = |state| Some(SessionLine { state, ..books().session.unwrap() });
    let cases: [(Books, bool, &str); 9] = [
        (books(), true, "ready"),
        (Books { locked: true, ..books() }, false, "wallet_locked"),
        (Books { frozen: true, locked: true, ..books() }, false, "frozen"),
        (Books { latched: true, frozen: true, ..books() }, false, "ledger_latched"),
        (Books { session: None, ..books() }, false, "no_session"),
        (Books { session: session(SessionState::Closed), ..books() }, false, "no_session"),
        (Books { session: session(SessionState::Expired), ..books() }, false, "session_expired"),
        (Books { mandate_missing: true, outside_hours: Some("mon".to_owned()), ..books() }, false, "mandate_missing"),
        (Books { outside_hours: Some("mon-fri in UTC".to_owned()), ..books() }, false, "outside_hours"),
    ];
    for (books, ready, code) in cases {
        *shell.standing.lock().unwrap() = Standing::Known(Box::new(books));
        let result = answer(&mut client, "payment_session_status", &json!({})).await;
        let told = &result["structuredContent"];
        assert_eq!((&told["ready"], &told["code"], &result["isError"]), (&json!(ready), &json!(code), &json!(false)));
        assert_eq!(told.get("next_step").is_some(), !ready);
        assert_eq!(
            told["limits"],
            json!([
                {"scope": "all", "window": "1d", "max": "5.00 USD", "left": "3.50 USD"},
                {"scope": "session", "window": "lifetime", "count": 20, "count_left": 17},
            ])
        );
    }
    *shell.standing.lock().unwrap() = Standing::Failed(Reason::new("wallet_unavailable", "no vault answers"));
    let result = answer(&mut client, "payment_session_status", &json!({})).await;
    assert_eq!(result["structuredContent"]["code"], "wallet_unavailable");
}

#[tokio::test]
async fn status_warns_from_eighty_percent_on_and_never_of_a_hidden_limit() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let of = |scope, used: &str, payments| LimitLine {
        scope,
        window: "24h".parse().unwrap(),
        money: Some(("5 USD".parse().unwrap(), used.parse().unwrap())),
        count: Some((20, payments)),
    };
    let spent = |spent: &str| Some(SessionLine { spent: spent.parse().unwrap(), ..books().session.unwrap() });
    let huge = Money::new(Currency::USD, u128::MAX);
    let cases: [(Books, &[&str]); 7] = [
        (books(), &[]),
        (Books { limits: vec![of(Scope::All, "3.999999 USD", 15)], session: spent("0.799999 USD"), ..books() }, &[]),
        (
            Books { limits: vec![of(Scope::All, "4 USD", 16)], session: spent("0.8 USD"), ..books() },
            &[
                "the budget is 80% used: 0.20 USD of 1.00 USD is left",
                "the limit over all payments (1d) is 80% used: 1.00 USD of 5.00 USD is left",
                "the limit over all payments (1d) is 80% used: 4 of 20 payments are left",
            ],
        ),
        (
            Books { limits: vec![of(Scope::Session, "9 USD", 0)], ..books() },
            &["the limit over this session (1d) is 100% used: 0.00 USD of 5.00 USD is left"],
        ),
        (
            Books {
                limits: [Scope::Host, Scope::Payee, Scope::Asset, Scope::Tag]
                    .map(|scope| of(scope, "5 USD", 20))
                    .into(),
                ..books()
            },
            &[],
        ),
        (Books { session: None, limits: Vec::new(), ..books() }, &[]),
        (
            Books {
                limits: vec![LimitLine { money: Some((huge, huge)), count: None, ..of(Scope::All, "1 USD", 0) }],
                ..books()
            },
            &[
                "the limit over all payments (1d) is 99% used: 0.00 USD of 340282366920938463463.374607431768211455 USD is left",
            ],
        ),
    ];
    for (books, expected) in cases {
        *shell.standing.lock().unwrap() = Standing::Known(Box::new(books));
        let result = answer(&mut client, "payment_session_status", &json!({})).await;
        assert_eq!(result["structuredContent"]["warnings"], json!(expected));
    }
}

#[tokio::test]
async fn what_a_session_is_for_is_told_on_one_line_each() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let result = answer(&mut client, "payment_session_status", &json!({})).await;
    assert_eq!(result["structuredContent"]["session"].get("mandate"), None, "for everything that the rules allow");
    let purpose = format!("{}\u{202e}", "ü".repeat(199));
    let origins = vec!["https://api.example.com".parse().unwrap(), "https://b.example:8443".parse().unwrap()];
    let mandate = Some(MandateLine { purpose, origins });
    let session = Some(SessionLine { mandate, ..books().session.unwrap() });
    *shell.standing.lock().unwrap() = Standing::Known(Box::new(Books { session, ..books() }));
    let result = answer(&mut client, "payment_session_status", &json!({})).await;
    let told = &result["structuredContent"]["session"]["mandate"];
    assert_eq!(told["origins"], json!(["https://api.example.com", "https://b.example:8443"]));
    assert_eq!(told["purpose"], format!("{}\\u{{202E}}", "ü".repeat(199)));
}

#[tokio::test]
async fn an_overdrawn_limit_and_session_have_nothing_left() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let over = LimitLine {
        scope: Scope::All,
        window: Window::Lifetime,
        money: Some(("1 USD".parse().unwrap(), "2 USD".parse().unwrap())),
        count: Some((1, 2)),
    };
    *shell.standing.lock().unwrap() = Standing::Known(Box::new(Books { limits: vec![over], ..books() }));
    let result = answer(&mut client, "payment_session_status", &json!({})).await;
    assert_eq!(result["structuredContent"]["limits"][0]["left"], "0.00 USD");
    assert_eq!(result["structuredContent"]["limits"][0]["count_left"], 0);
}

#[tokio::test]
async fn arguments_arrive_as_they_were_meant() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let arguments = json!({
        "url": "https://SHOP.example:443/paid?b=2&a=1#top", "method": "POST", "body": "{\"a\":1}", "body_type": "json",
        "max_price": "0.05 USD", "purchase_id": "order-1", "quote": format!("q_{}", "07".repeat(16)),
    });
    answer(&mut client, "x402_fetch", &arguments).await;
    let asked = shell.asked.lock().unwrap();
    let (errand, body) = &asked[0];
    assert_eq!(errand.site.url(), "https://shop.example/paid?b=2&a=1");
    assert_eq!(errand.method, bursar_policy::Method::Post);
    assert_eq!(body.as_deref(), Some(br#"{"a":1}"#.as_slice()));
    assert_eq!(errand.body.unwrap().digest, bursar_policy::Digest::of(br#"{"a":1}"#));
    assert_eq!(errand.ceiling, Some("0.05 USD".parse().unwrap()));
    assert_eq!(errand.purchase_id.as_ref().unwrap().as_str(), "order-1");
    assert_eq!(errand.quote.as_ref().unwrap().as_str(), format!("q_{}", "07".repeat(16)));
}

#[tokio::test]
async fn bad_arguments_are_answered_with_a_sentence_and_reach_nobody() {
    let shell = Shell::new();
    let mut client = Client::greeted(&shell).await;
    let url = "https://shop.example/paid";
    for tool in ["x402_fetch", "x402_quote"] {
        for (arguments, code, needle) in [
            (json!({}), "bad_arguments", "`url` is missing"),
            (json!({"url": 5}), "bad_arguments", "must be a string"),
            (json!({"url": "shop"}), "url_invalid", "https://"),
            (json!({"url": "https://u:p@shop.example/"}), "url_invalid", "password"),
            (json!({"url": url, "method": "get"}), "bad_arguments", "GET"),
            (json!({"url": url, "body": "x"}), "bad_arguments", "POST"),
            (json!({"url": url, "body_type": "json"}), "bad_arguments", "needs a `body`"),
            (json!({"url": url, "method": "POST", "body": {"a": 1}}), "bad_arguments", "`body`"),
            (json!({"url": url, "method": "POST", "body": "x", "body_type": "xml"}), "bad_arguments", "`form`"),
            (json!({"url": url, "method": "POST", "body": "x".repeat((1 << 20) + 1)}), "bad_arguments", "1048576"),
            (json!({"url": url, "max_price": "0,05 USD"}), "bad_arguments", "`max_price`"),
            (json!({"url": url, "max_price": 0.05}), "bad_arguments", "must be a string"),
            (
                json!({"url": url, "headers": {"Authorization": "Bearer x"}}),
                "bad_arguments",
                "the header `Authorization` can not be set",
            ),
        ] {
            let result = answer(&mut client, tool, &arguments).await;
            let told = &result["structuredContent"];
            assert_eq!((&result["isError"], &told["code"]), (&json!(true), &json!(code)), "{arguments}");
            assert!(told["message"].as_str().unwrap().contains(needle), "{told}");
        }
    }
    for (arguments, needle) in [
        (json!({"url": url, "purchase_id": "a b"}), "`purchase_id`"),
        (json!({"url": url, "quote": "q_1"}), "`quote` can not be used"),
    ] {
        let result = answer(&mut client, "x402_fetch", &arguments).await;
        assert!(result["structuredContent"]["message"].as_str().unwrap().contains(needle), "{result}");
    }
    let result = answer(&mut client, "payment_session_status", &json!({"session": "x"})).await;
    assert_eq!((&result["isError"], &result["structuredContent"]["code"]), (&json!(true), &json!("bad_arguments")));
    assert!(shell.asked.lock().unwrap().is_empty());
}
