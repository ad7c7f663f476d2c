//! Every contradiction that rules can hold, and the one sentence that each gets.

use bursar_policy::*;

use crate::builders::parse;

const USDC: &str = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const TEST_USDC: &str = "eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e";

/// A complete file; `payment` replaces or adds lines of `[payment]`, `rest` comes after.
pub(crate) fn file(payment: &[(&str, &str)], rest: &str) -> String {
    let mut lines = vec![
        ("max_per_payment", "\"0.05 USD\"".to_owned()),
        ("schemes", "[\"exact\"]".to_owned()),
        ("networks", "[\"eip155:8453\"]".to_owned()),
        ("assets", format!("[\"{USDC}\"]")),
        ("allow_any_recipient", "true".to_owned()),
    ];
    for (key, value) in payment {
        lines.retain(|line| line.0 != *key);
        lines.push((key, (*value).to_owned()));
    }
    let table: String = lines.iter().filter(|line| !line.1.is_empty()).map(|(k, v)| format!("{k} = {v}\n")).collect();
    format!("[payment]\n{table}{rest}")
}

fn fault(payment: &[(&str, &str)], rest: &str) -> String {
    parse(&file(payment, rest), Setting::Real).expect_err(rest)
}

/// Asserts that the rules are refused with a sentence that contains `part`.
pub(crate) fn refused(payment: &[(&str, &str)], rest: &str, part: &str) {
    let fault = fault(payment, rest);
    assert!(fault.contains(part), "{fault}");
}

/// Asserts that the rules are refused by a rule fault: one sentence that contains `part`.
pub(crate) fn contradiction(payment: &[(&str, &str)], rest: &str, part: &str) {
    let fault = fault(payment, rest);
    assert!(fault.contains(part) && !fault.contains('\n') && !fault.ends_with('.'), "{fault}");
}

#[test]
fn the_reference_file_is_fine_and_so_are_empty_lists() {
    assert!(parse(&file(&[], ""), Setting::Real).is_ok());
    let empty = [("networks", "[]"), ("assets", "[]"), ("recipients", "[]"), ("allow_any_recipient", "")];
    let rules = parse(&file(&empty, ""), Setting::Real).unwrap();
    assert_eq!((rules.chains().len(), rules.assets().count()), (0, 0));
    assert_eq!(rules.recipients().map(std::collections::BTreeSet::len), Some(0));
    assert!(parse(&file(&[("schemes", "")], ""), Setting::Real).is_ok());
    assert!(parse(&file(&[("schemes", "[]")], ""), Setting::Real).is_ok());
}

#[test]
fn a_chain_is_asked_through_some_endpoints_in_private_and_once() {
    let chain = |more: &str| format!("[[chain]]\nnetwork = \"eip155:8453\"\n{more}");
    let two = "rpc = [\"https://a.test/k3y\", \"https://b.test/\"]";
    contradiction(&[], &chain("rpc = []"), "list 1 to 5");
    let six: Vec<String> = (0..6).map(|number| format!("\"https://h{number}.test\"")).collect();
    contradiction(&[], &chain(&format!("rpc = [{}]", six.join(", "))), "list 1 to 5");
    contradiction(&[], &chain("rpc = [\"https://a.test/1\", \"https://a.test:444/2\"]"), "`rpc` lists `a.test` twice");
    contradiction(&[], &chain(&format!("{two}\nagree = 0")), "from 1 to 2");
    contradiction(&[], &chain(&format!("{two}\nagree = 3")), "from 1 to 2");
    contradiction(&[], &chain(&format!("{two}\npoll = \"2h\"")), "`poll` is `2h`");
    contradiction(&[], &chain("rpc = [\"http://a.test/k3y\"]"), "the host `http://a.test` is not https");
    contradiction(&[], &format!("{}\n{}", chain(two), chain(two)), "`[[chain]]` lists `eip155:8453` twice");
    contradiction(&[], "[[chain]]\nnetwork = \"eip155:1\"\nrpc = [\"https://a.test\"]", "add it there or remove");
    let rules = parse(&file(&[], &chain(two)), Setting::Real).unwrap();
    let rule = rules.chain_rule(ChainId::BASE).unwrap();
    assert_eq!((rule.endpoints().len(), rule.agree(), rule.poll_s()), (2, 2, 30), "all of them unless it is said");
    assert!(rules.chain_rule(ChainId::SEPOLIA).is_none());
    let shown = format!("{rules:?} {:?}", rule.endpoints());
    assert!(!shown.contains("k3y"), "the rest of a URL may be a key");
    let sites: Vec<String> = may_ask(&rules, ChainId::BASE).into_iter().map(|site| site.into_inner().url()).collect();
    assert_eq!(sites, ["https://a.test/k3y", "https://b.test/"]);
    assert!(may_ask(&rules, ChainId::SEPOLIA).is_empty());
}

#[test]
fn recipients_are_listed_or_anybody() {
    let one = "[\"0x1111111111111111111111111111111111111111\"]";
    contradiction(&[("recipients", one)], "", "exactly one of `recipients`");
    contradiction(&[("allow_any_recipient", "")], "", "exactly one of `recipients`");
    contradiction(&[("allow_any_recipient", "false")], "", "exactly one of `recipients`");
    let nobody = "[\"0x0000000000000000000000000000000000000000\"]";
    contradiction(&[("recipients", nobody), ("allow_any_recipient", "")], "", "the zero address");
    let host = "[[host]]\norigin = \"https://a.test\"\n";
    let both = format!("{host}recipients = {one}\nallow_any_recipient = true");
    contradiction(&[], &both, "both `recipients`");
    let stranger = format!("{host}recipients = [\"0x2222222222222222222222222222222222222222\"]");
    let listed = [("recipients", one), ("allow_any_recipient", "")];
    contradiction(&listed, &stranger, "lists the recipient `0x2222222222222222222222222222222222222222`");
    assert!(parse(&file(&[], &stranger), Setting::Real).is_ok());
}

#[test]
fn a_typing_mistake_in_a_recipient_is_found() {
    for bad in ["0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913", "0х1111111111111111111111111111111111111111", "*"] {
        refused(&[("recipients", &format!("[\"{bad}\"]")), ("allow_any_recipient", "")], "", "address");
    }
}

#[test]
fn hosts_are_listed_or_any() {
    contradiction(
        &[("allow_any_host", "true")],
        "[[host]]\norigin = \"https://a.test\"",
        "`allow_any_host = true` contradicts",
    );
    let twice = "[[host]]\norigin = \"https://a.test\"\n[[host]]\norigin = \"https://A.test:443\"";
    contradiction(&[], twice, "lists `https://a.test` twice");
    let part = |path: &str| format!("[[host]]\norigin = \"https://a.test\"\npath = \"{path}\"\n");
    contradiction(&[], &(part("/v1") + &part("/V1/")), "lists `https://a.test/V1/` twice");
    contradiction(&[], &(part("/") + "[[host]]\norigin = \"https://a.test\""), "lists `https://a.test` twice");
    assert!(parse(&file(&[], &(part("/") + &part("/v1") + &part("/v1/x"))), Setting::Real).is_ok());
    for bad in ["v1", "", "/a//b", "/a/../b", "/%61", "/a?b", "/a;b", "/a%2Fb"] {
        refused(&[], &part(bad), "a path begins with `/`");
    }
    for (origin, part) in [
        ("https://*.a.test", "`*`"),
        ("*", "https://"),
        ("https://a.test/v1", "without a path"),
        ("https://\u{430}.test", "`xn--` form"),
        ("a.test", "https://"),
        ("https://a", "no dot"),
    ] {
        refused(&[], &format!("[[host]]\norigin = \"{origin}\""), part);
    }
    contradiction(&[], "[[host]]\norigin = \"http://a.test\"", "is not https");
}

#[test]
fn networks_are_known_and_all_real_or_all_test() {
    contradiction(&[("networks", "[\"eip155:8453\", \"eip155:84532\"]")], "", "a profile is one or the other");
    contradiction(&[("networks", "[\"eip155:424242\"]")], "", "`eip155:424242` is unknown");
    contradiction(&[("networks", "[\"eip155:31337\"]")], "", "for sandboxes only");
    contradiction(&[("networks", "[\"eip155:8453\", \"eip155:8453\"]")], "", "lists `eip155:8453` twice");
    refused(&[("networks", "[\"eip155:*\"]")], "", "without wildcards");
    refused(&[("networks", "[\"base\"]")], "", "`eip155:`");
    let test = format!("[\"{TEST_USDC}\"]");
    let testnet = [("networks", "[\"eip155:84532\"]"), ("assets", test.as_str())];
    assert!(parse(&file(&testnet, ""), Setting::Real).is_ok());
}

#[test]
fn assets_are_known_and_on_listed_networks() {
    let unknown = "eip155:8453/erc20:0x1111111111111111111111111111111111111111";
    contradiction(&[("assets", &format!("[\"{unknown}\"]"))], "", "describe it under [[asset]]");
    contradiction(&[("assets", &format!("[\"{TEST_USDC}\"]"))], "", "`networks` does not list");
    contradiction(&[("assets", &format!("[\"{USDC}\", \"{USDC}\"]"))], "", "twice");
    let row = |id: &str, extra: &str| {
        format!(
            "[[asset]]\nid = \"{id}\"\nsymbol = \"X\"\ndecimals = 6\ncurrency = \"USD\"\n\
             eip712_name = \"X\"\neip712_version = \"1\"\n{extra}\n"
        )
    };
    contradiction(&[], &row(USDC, ""), "built in with other values");
    let misplaced = "eip155:8453/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e";
    contradiction(&[], &row(misplaced, ""), "known on `eip155:84532`");
    contradiction(&[], &(row(unknown, "") + &row(unknown, "")), "twice");
    refused(&[], &row(unknown, "network = \"base\""), "unknown field");
    let euro = row(unknown, "").replace("USD", "EUR");
    let both = format!("[\"{USDC}\", \"{unknown}\"]");
    contradiction(&[("assets", &both)], &euro, "`max_per_payment` has no ceiling");
    assert!(parse(&file(&[("assets", &both)], &row(unknown, "")), Setting::Real).is_ok());
}

#[test]
fn schemes_are_exact_only() {
    contradiction(&[("schemes", "[\"upto\"]")], "", "`upto` is not supported");
    contradiction(&[("schemes", "[\"*\"]")], "", "wildcard");
    contradiction(&[("schemes", "[\"exact\", \"exact\"]")], "", "twice");
}

#[test]
fn ceilings_are_money_above_zero_that_an_asset_can_pay() {
    contradiction(&[("max_per_payment", "\"0 USD\"")], "", "allows nothing");
    contradiction(&[("max_per_payment", "\"0.0000001 USD\"")], "", "finer than the asset");
    contradiction(&[("max_per_payment", "[]")], "", "`max_per_payment` is empty");
    contradiction(&[("max_per_payment", "\"1 EUR\"")], "", "no ceiling");
    contradiction(&[("max_per_payment", "[\"1 USD\", \"1 EUR\"]")], "", "no listed asset");
    contradiction(&[("max_per_payment", "[\"1 USD\", \"2 USD\"]")], "", "lists `USD` twice");
    for bad in ["0.1", "1e-1", "\"1abc\"", "\"1,000 USD\"", "\"$5\"", "\" 5 USD\"", "\"5\"", "true", "nan"] {
        refused(&[("max_per_payment", bad)], "", "");
    }
    refused(&[("max_per_payment", "")], "", "max_per_payment");
    assert!(parse(&file(&[("max_per_payment", "[\"0.05 USD\"]")], ""), Setting::Real).is_ok());
    let host = |ceiling: &str| format!("[[host]]\norigin = \"https://a.test\"\nmax_per_payment = \"{ceiling}\"");
    contradiction(&[], &host("0.06 USD"), "above that of [payment]");
    contradiction(&[], &host("0 USD"), "allows nothing");
    contradiction(&[], &host("0.01 EUR"), "no listed asset");
    contradiction(&[], &host("0.0000001 USD"), "finer");
    assert!(parse(&file(&[], &host("0.05 USD")), Setting::Real).is_ok());
}

#[test]
fn limits_have_something_to_hold() {
    let limit = |body: &str| format!("[[limit]]\nscope = \"all\"\nwindow = \"24h\"\n{body}\n");
    contradiction(&[], &limit(""), "neither `max` nor `count`");
    contradiction(&[], &limit("count = 0"), "`count = 0`");
    contradiction(&[], &limit("max = \"0 USD\""), "allows nothing");
    contradiction(&[], &limit("max = \"5 EUR\""), "no listed asset");
    contradiction(&[], &limit("max = \"0.0000001 USD\""), "finer");
    contradiction(&[], &(limit("max = \"5 USD\"") + &limit("max = \"6 USD\"")), "given twice");
    contradiction(&[], &(limit("max = \"5 USD\"\ncount = 1") + &limit("count = 6")), "given twice");
    refused(&[], &limit("max = 5.0"), "money as a string");
    refused(&[], &limit("maxx = \"5 USD\""), "unknown field");
    refused(&[], &limit("max = \"5 USD\"").replace("24h", "24"), "window");
    let calendar = |window: &str, rest: &str| limit(&format!("max = \"5 USD\"{rest}")).replace("24h", window);
    let berlin = "\ntime_zone = \"Europe/Berlin\"";
    refused(&[], &calendar("day", ""), "the window `day` needs a `time_zone`");
    refused(&[], &calendar("24h", berlin), "a `time_zone` belongs to the windows `day`, `week` and `month`");
    refused(&[], &calendar("day in Europe/Berlin", ""), "with a `time_zone`");
    refused(&[], &calendar("year", berlin), "with a `time_zone`");
    refused(
        &[],
        &calendar("week", "\ntime_zone = \"berlin\""),
        "`berlin` is no time zone; give a name of the IANA database",
    );
    refused(&[], &calendar("week", "\ntime_zone = \"`\u{202e}\""), "`\\u{60}\\u{202e}` is no time zone");
    contradiction(
        &[],
        &calendar("day", berlin).repeat(2),
        "the limit `all` over `day in Europe/Berlin` is given twice",
    );
    let both = calendar("day", berlin) + &calendar("day", "\ntime_zone = \"UTC\"") + &calendar("month", berlin);
    assert!(parse(&file(&[], &both), Setting::Real).is_ok());
    let rules = parse(&file(&[], &limit("max = \"5 USD\"\ncount = 9")), Setting::Real).unwrap();
    assert_eq!(rules.limits().len(), 2);
    assert!(rules.limits().iter().all(|limit| limit.max.is_some() != limit.count.is_some()));
}

#[test]
fn hours_and_days_have_a_place_and_allow_something() {
    let (hours, zone) = (("hours", "\"08:00-18:00\""), ("time_zone", "\"Europe/Berlin\""));
    contradiction(&[hours], "", "need a `time_zone`");
    contradiction(&[("days", "[\"mon\"]")], "", "need a `time_zone`");
    contradiction(&[zone], "", "`time_zone` of [payment] is for `hours` and `days`");
    contradiction(&[zone, ("days", "[]")], "", "`days` is empty");
    contradiction(&[zone, ("days", "[\"mon-wed\", \"tue\"]")], "", "`days` lists `tue` twice");
    refused(&[zone, ("hours", "\"18:00-08:00\"")], "", "the earlier one first");
    refused(&[zone, ("days", "[\"monday\"]")], "", "days are `mon`");
    refused(&[hours, ("time_zone", "\"CET+1\"")], "", "`CET+1` is no time zone");
    let rules = parse(&file(&[hours, zone, ("days", "[\"mon-fri\"]")], ""), Setting::Real).unwrap();
    assert_eq!(rules.opening().unwrap().to_string(), "mon-fri 08:00-18:00 in Europe/Berlin");
    assert!(parse(&file(&[], ""), Setting::Real).unwrap().opening().is_none());
}

#[test]
fn tags_are_carried_by_somebody_who_may_be_paid() {
    let limit = |rest: &str| format!("[[limit]]\nwindow = \"24h\"\ncount = 3\n{rest}\n");
    let of_tag = limit("scope = \"tag\"\ntag = \"data\"");
    let host = |tags: &str| format!("[[host]]\norigin = \"https://a.test\"\ntags = {tags}\n");
    let payee = "[[payee]]\naddress = \"0x1111111111111111111111111111111111111111\"\ntags = [\"data\"]\n";
    refused(&[], &limit("scope = \"tag\""), "the scope `tag` needs the `tag`");
    refused(
        &[],
        &(limit("scope = \"all\"\ntag = \"data\"") + &host("[\"data\"]")),
        "a `tag` belongs to the scope `tag`",
    );
    contradiction(&[], &(of_tag.clone() + &host("[\"date\"]")), "the limit of the tag `data` concerns nothing");
    contradiction(&[], &(of_tag.clone() + &of_tag + payee), "given twice");
    contradiction(&[], &host("[\"data\", \"data\"]"), "`tags` lists `data` twice");
    contradiction(&[], &host("[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\"]"), "more than 8 tags");
    contradiction(&[], &payee.repeat(2), "`[[payee]]` lists `0x1111111111111111111111111111111111111111` twice");
    let others = [("recipients", "[\"0x2222222222222222222222222222222222222222\"]"), ("allow_any_recipient", "")];
    contradiction(&others, payee, "which `recipients` of [payment] does not list");
    refused(&[], &host("[\"Data\"]"), "a tag is 1 to 24");
    refused(&[], &payee.replace("tags", "tag"), "unknown field");
    assert!(parse(&file(&[], &(of_tag.clone() + &host("[\"data\"]"))), Setting::Real).is_ok());
    assert!(parse(&file(&[], &(of_tag + payee)), Setting::Real).is_ok());
    // A host that may name anybody may name this one: nothing has to be listed for all hosts.
    let rotating = host("[\"x\"]") + "allow_any_recipient = true\n";
    assert!(parse(&file(&others, &(rotating + payee)), Setting::Real).is_ok());
}

#[test]
fn what_is_kept_of_all_answers_is_a_sensible_size_and_time() {
    contradiction(&[("max_content", "\"1023 KiB\"")], "", "`max_content` is `1023 KiB`; give 1 MiB to 1024 GiB");
    contradiction(&[("max_content", "\"1025 GiB\"")], "", "give 1 MiB to 1024 GiB");
    contradiction(&[("content_age", "\"59m\"")], "", "`content_age` is `59m`; give 1h to 3660d");
    refused(&[("max_content", "\"1 TiB\"")], "", "one of B, KiB, MiB, GiB");
    for fine in [("max_content", "\"1 MiB\""), ("max_content", "\"1024 GiB\""), ("content_age", "\"1h\"")] {
        assert!(parse(&file(&[fine], ""), Setting::Real).is_ok(), "{fine:?}");
    }
    assert_eq!(parse(&file(&[], ""), Setting::Real).unwrap().keeping(), rules::Keeping::default());
}

#[test]
fn a_body_is_large_only_where_the_model_does_not_read_it() {
    let host = |body: &str| format!("[[host]]\norigin = \"https://a.test\"\n{body}");
    let site: Site = "https://a.test/x".parse().unwrap();
    let cap = |payment: &[(&str, &str)], body: &str| {
        parse(&file(payment, &host(body)), Setting::Real).map(|rules| rules.body_cap_of(&site))
    };
    assert_eq!(cap(&[], ""), Ok(256 << 10));
    assert_eq!(cap(&[("max_body", "\"1 MiB\"")], ""), Ok(1 << 20));
    assert_eq!(cap(&[("max_body", "\"1 MiB\"")], "max_body = \"2 KiB\""), Ok(2 << 10));
    for mode in ["withhold", "file"] {
        assert_eq!(cap(&[], &format!("content = \"{mode}\"\nmax_body = \"256 MiB\"")), Ok(256 << 20));
        let most = host(&format!("content = \"{mode}\"\nmax_body = \"257 MiB\""));
        contradiction(&[], &most, "`max_body` is `257 MiB`; give 1 B to 256 MiB");
    }
    for mode in ["content = \"text\"", "content = \"fields\"\nfields = [\"/a\"]"] {
        assert_eq!(cap(&[], &format!("{mode}\nmax_body = \"64 MiB\"")), Ok(64 << 20));
        contradiction(&[], &host(&format!("{mode}\nmax_body = \"65 MiB\"")), "give 1 B to 64 MiB");
    }
}

#[test]
fn fields_and_their_mode_go_together() {
    let host = |body: &str| format!("[[host]]\norigin = \"https://a.test\"\n{body}");
    let mode = "content = \"fields\"\n";
    contradiction(&[], &host(mode), "and no `fields`");
    contradiction(&[], &host(&format!("{mode}fields = []")), "and no `fields`");
    contradiction(&[], &host("fields = [\"/price\"]"), "`fields` without `content = \"fields\"`");
    contradiction(&[], &host("content = \"text\"\nfields = []"), "`fields` without `content = \"fields\"`");
    contradiction(&[], &host(&format!("{mode}fields = [\"/a\", \"/a\"]")), "`fields` lists `/a` twice");
    let many = |count: usize| {
        let listed: Vec<String> = (0..count).map(|number| format!("\"/{number}\"")).collect();
        host(&format!("{mode}fields = [{}]", listed.join(", ")))
    };
    contradiction(&[], &many(33), "more than 32 `fields`");
    refused(&[], &host(&format!("{mode}fields = [\"price\"]")), "a JSON pointer starts with `/`");
    refused(&[], &host(&format!("{mode}fields = [\"/a~\"]")), "a JSON pointer starts with `/`");
    let rules = parse(&file(&[], &many(32)), Setting::Real).unwrap();
    let site: Site = "https://a.test/x".parse().unwrap();
    let rule = rules.host_rule(&site).unwrap();
    assert_eq!((rule.content(), rule.fields().len(), rule.fields()[31].as_str()), (ContentMode::Fields, 32, "/31"));
}

#[test]
fn host_entries_do_not_contradict_themselves() {
    let host = |body: &str| format!("[[host]]\norigin = \"https://a.test\"\n{body}");
    contradiction(&[], &host("body_limit = \"1 KiB\""), "without the method `POST`");
    contradiction(&[], &host("methods = [\"POST\"]\nbody_limit = \"1025 KiB\""), "give 1 B to 1 MiB");
    contradiction(&[], &host("methods = [\"GET\", \"GET\"]"), "lists the method `GET` twice");
    contradiction(&[], &host("resource_hosts = [\"b.test\", \"B.test\"]"), "lists `b.test` twice");
    refused(&[], &host("resource_hosts = [\"*\"]"), "`*`");
    refused(&[], &host("methods = [\"get\"]"), "unknown variant");
    refused(&[], &host("content = \"all\""), "unknown variant");
    refused(&[], &host("contents = \"text\""), "unknown field");
}

#[test]
fn lengths_and_sizes_have_a_sensible_range() {
    contradiction(&[("max_lifetime", "\"9s\"")], "", "`max_lifetime` is `9s`; give 10s to 1h");
    contradiction(&[("max_lifetime", "\"61m\"")], "", "give 10s to 1h");
    contradiction(&[("repeat_window", "\"25h\"")], "", "give 1s to 1d");
    contradiction(&[("max_body", "\"65 MiB\"")], "", "give 1 B to 64 MiB");
    contradiction(&[("max_unresolved", "0")], "", "`max_unresolved` is `0`; give 1 to 1000000");
    let host = "[[host]]\norigin = \"https://a.test\"\nmax_unresolved = 0";
    contradiction(&[], host, "`max_unresolved` is `0`; give 1 to 1000000");
    for (key, bad) in [("max_lifetime", "1e3"), ("max_lifetime", "300"), ("max_body", "99999999999999999999")] {
        refused(&[(key, bad)], "", "");
    }
}

#[test]
fn unknown_keys_are_refused_everywhere() {
    refused(&[("daily_capp", "\"1.00 USD\"")], "", "daily_capp");
    refused(&[], "[extra]\nx = 1", "extra");
    refused(&[], "[sandbox]\nx = 1", "x");
    refused(&[], "[network]\nx = 1", "x");
}

#[test]
fn the_sandbox_table_is_for_sandboxes() {
    contradiction(&[], "[sandbox]\nca = \"ca.pem\"", "[sandbox] is allowed in a sandbox only");
    let test = format!("[\"{TEST_USDC}\"]");
    let payment = [("networks", "[\"eip155:84532\"]"), ("assets", test.as_str())];
    let sandbox = |rest: &str| parse(&file(&payment, rest), Setting::Sandbox);
    for ca in ["/etc/ca.pem", "../ca.pem", "", ".", "..", "a/b", "a b"] {
        let fault = sandbox(&format!("[sandbox]\nca = \"{ca}\"")).unwrap_err();
        assert!(fault.contains("plain file name"), "{fault}");
    }
    for (address, part) in [("10.0.0.1", "not a loopback"), ("::ffff:127.0.0.1", "not a loopback"), ("x", "IP")] {
        let fault = sandbox(&format!("[sandbox]\nhosts = {{ \"a.test\" = \"{address}\" }}")).unwrap_err();
        assert!(fault.contains(part), "{fault}");
    }
    let fault = sandbox("[sandbox]\nhosts = { \"10.0.0.1\" = \"127.0.0.1\" }").unwrap_err();
    assert!(fault.contains("only names"), "{fault}");
    let plain = "[[host]]\norigin = \"http://b.test\"\n[sandbox]\nhosts = { \"a.test\" = \"127.0.0.1\" }";
    assert!(sandbox(plain).unwrap_err().contains("is not https"));
    assert!(sandbox(&plain.replace("b.test", "a.test")).is_ok());
    let real = parse(&file(&[], ""), Setting::Sandbox).unwrap_err();
    assert!(real.contains("not allowed in a sandbox"), "{real}");
    let local = [("networks", "[\"eip155:31337\", \"eip155:11155111\"]"), ("assets", "[]")];
    assert!(parse(&file(&local, ""), Setting::Sandbox).is_ok());
}

#[test]
fn a_person_is_asked_about_something_that_can_happen() {
    contradiction(&[("approve_tags", "[\"gifts\"]")], "", "`approve_tags` names `gifts`");
    contradiction(&[("approve_tags", "[\"gifts\", \"gifts\"]")], "", "lists `gifts` twice");
    for odd in ["0", "1", "1000001"] {
        contradiction(&[("unusual_price", odd)], "", "give 2 to 1000000");
    }
    for odd in ["20", "\"20\"", "\"0%\"", "\"1001%\""] {
        assert!(parse(&file(&[("price_rise", odd)], ""), Setting::Real).is_err(), "{odd}");
    }
    contradiction(&[("approve_over", "\"0 USD\"")], "", "allows nothing");
    contradiction(&[("approve_over", "\"1 EUR\"")], "", "in a currency that no listed asset is in");
    contradiction(&[("approve_over", "\"0.0000001 USD\"")], "", "is finer than the asset");
    contradiction(&[("no_recurring", "\"367d\"")], "", "give 1s to 366d");
    contradiction(&[("approval_lifetime", "\"59s\"")], "", "give 1m to 7d");
    contradiction(&[("quarantine", "\"59s\"")], "", "give 1m to 31d");
    contradiction(&[("quarantine_after", "0")], "", "give 1 to 1000");
    let host = "[[host]]\norigin = \"https://a.test\"\n";
    for own in ["unusual_price = 1", "price_rise = 20", "approve_over = \"0 USD\"", "no_recurring = \"367d\""] {
        assert!(parse(&file(&[], &format!("{host}{own}\n")), Setting::Real).is_err(), "{own}");
    }
}

#[test]
fn a_first_payee_is_for_hosts_whose_payees_are_not_listed() {
    let one = "[\"0x1111111111111111111111111111111111111111\"]";
    let listed = [("recipients", one), ("allow_any_recipient", "")];
    let host = "[[host]]\norigin = \"https://a.test\"\nfirst_payee = \"pin\"\n";
    contradiction(&listed, host, "the host `https://a.test` has a `first_payee`");
    contradiction(&[], &format!("{host}recipients = {one}\n"), "although its payees are listed");
    assert!(parse(&file(&listed, &format!("{host}allow_any_recipient = true\n")), Setting::Real).is_ok());
    assert!(parse(&file(&[], host), Setting::Real).is_ok());
}

#[test]
fn limits_of_a_host_entry_are_held_to_the_rules_of_all_limits() {
    let own = |limit: &str| format!("[[host]]\norigin = \"https://a.test\"\n[[host.limit]]\n{limit}\n");
    contradiction(&[], &own("window = \"24h\""), "has neither `max` nor `count`");
    contradiction(&[], &own("window = \"24h\"\ncount = 0"), "which allows nothing");
    contradiction(&[], &own("window = \"24h\"\nmax = \"0.0000001 USD\""), "is finer than the asset");
    contradiction(&[], &own("window = \"24h\"\ncount = 1\n[[host.limit]]\nwindow = \"1d\"\ncount = 2"), "given twice");
    refused(&[], &own("window = \"day\"\ncount = 1"), "needs a `time_zone`");
    refused(&[], &own("window = \"24h\"\ncount = 1\nscope = \"host\""), "unknown field `scope`");
    // Beside one of the same window for each host, and beside another entry's.
    let both = format!(
        "{}[[host]]\norigin = \"https://b.test\"\n[[host.limit]]\nwindow = \"24h\"\ncount = 1\n",
        own("window = \"24h\"\ncount = 1")
    );
    let general = format!("[[limit]]\nscope = \"host\"\nwindow = \"24h\"\ncount = 9\n{both}");
    assert_eq!(parse(&file(&[], &general), Setting::Real).unwrap().limits().len(), 3);
}

#[test]
fn lists_of_addresses_hold_blocks_once_and_allow_only_what_is_public() {
    let network = |lines: &str| format!("[network]\n{lines}");
    assert!(parse(&file(&[], &network("deny = [\"10.0.0.0/8\"]\nallow = []")), Setting::Real).is_ok());
    contradiction(&[], &network("deny = [\"8.8.8.0/24\", \"8.8.8.0/24\"]"), "lists `8.8.8.0/24` twice");
    contradiction(&[], &network("allow = [\"8.8.8.8\", \"8.8.8.8/32\"]"), "lists `8.8.8.8/32` twice");
    contradiction(&[], &network("allow = [\"10.0.0.0/8\"]"), "`10.0.0.0/8`, which is not all public");
    refused(&[], &network("deny = [\"8.8.8.8/24\"]"), "write `8.8.8.0/24`");
    refused(&[], &network("deny = [\"merchant.test\"]"), "an address, or its first one and a length");
    refused(&[], &network("deny = [\"::ffff:8.8.8.8\"]"), "as IPv4");
}

#[test]
fn a_proxy_is_plain_http_by_name_and_an_extra_authority_a_plain_file_name() {
    let network = |lines: &str| format!("[network]\n{lines}");
    for proxy in ["http://proxy.corp.example:3128", "http://10.0.0.9:3128", "http://[fd00::9]:3128"] {
        let rules = parse(&file(&[], &network(&format!("proxy = \"{proxy}\""))), Setting::Real).unwrap();
        assert_eq!(rules.network().proxy().unwrap().to_string(), proxy);
    }
    contradiction(&[], &network("proxy = \"https://proxy.corp.example\""), "is not plain http");
    refused(&[], &network("proxy = \"http://user:pw@proxy.corp.example:3128\""), "password");
    refused(&[], &network("proxy = \"http://proxy.corp.example:3128/\""), "without a path");
    refused(&[], &network("proxy = \"proxy.corp.example:3128\""), "https://");
    assert!(parse(&file(&[], &network("extra_ca = \"corp.pem\"")), Setting::Real).is_ok());
    for ca in ["../corp.pem", "/etc/corp.pem", ".corp.pem", "", "a b.pem"] {
        contradiction(&[], &network(&format!("extra_ca = \"{ca}\"")), "a plain file name inside the profile's folder");
    }
}

#[test]
fn limits_are_split_where_each_vault_has_a_ledger_of_its_own() {
    let shares = "[shares]\ncenter = \"postgres://vaults@db.example.com/books\"\n";
    let rules = parse(&file(&[], shares), Setting::Real).unwrap();
    assert_eq!(rules.shares().unwrap().to_string(), "postgres://vaults@db.example.com/books");
    let both = format!("ledger = \"postgres://vaults@db.example.com/books\"\n{}", file(&[], shares));
    let fault = parse(&both, Setting::Real).unwrap_err();
    assert!(fault.contains("remove one of them"), "{fault}");
    refused(&[], "[shares]\n", "center");
    refused(&[], "[shares]\ncenter = \"https://db.example.com\"\n", "postgres://ROLE@HOST/DATABASE");
}
