//! Where the agent may go: scheme, host, port, method, body.

use bursar_policy::*;

use crate::builders::{NOW_S, address, challenge, codes, draft, errand, errand_to, host, offer, parse, rules};

fn refusals(rules: &Rules, errand: &Errand) -> Vec<&'static str> {
    match may_visit(rules, errand) {
        Ok(site) => {
            assert_eq!(site.get(), &errand.site);
            Vec::new()
        }
        Err(reasons) => {
            assert!(!reasons.is_empty());
            codes(&reasons)
        }
    }
}

fn body(bytes: u32) -> Option<Body> {
    Some(Body { digest: Digest::of(b"x"), bytes, kind: BodyType::Json })
}

const PAYMENT: &str = "[payment]\nmax_per_payment = \"0.05 USD\"\nallow_any_recipient = true\n";
const SANDBOX_ASSETS: &str = "networks = [\"eip155:84532\"]\n\
     assets = [\"eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e\"]\n";
const REAL_ASSETS: &str = "networks = [\"eip155:8453\"]\n\
     assets = [\"eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913\"]\n";

fn sandbox(rest: &str) -> Rules {
    parse(&format!("{PAYMENT}{SANDBOX_ASSETS}{rest}"), Setting::Sandbox).unwrap()
}

#[test]
fn only_listed_origins_are_visited_and_only_on_their_own_port() {
    let rules = rules(draft());
    assert_eq!(refusals(&rules, &errand()), Vec::<&str>::new());
    for url in [
        "https://api.merchant.test:8443/v1/data",
        "https://api.merchant.test.evil.test/",
        "https://evilapi.merchant.test/",
        "https://merchant.test/",
        "https://\u{430}pi.merchant.test/",
    ] {
        assert_eq!(refusals(&rules, &errand_to(url)), ["host_not_allowed"], "{url}");
    }
    let plain = refusals(&rules, &errand_to("http://api.merchant.test/v1/data"));
    assert_eq!(plain, ["https_required", "host_not_allowed"]);
}

#[test]
fn with_no_host_listed_nothing_is_visited() {
    let rules = rules(Draft { hosts: Vec::new(), ..draft() });
    assert_eq!(refusals(&rules, &errand()), ["host_not_allowed"]);
}

#[test]
fn any_host_means_https_on_443_with_get_and_head() {
    let rules = parse(&format!("{PAYMENT}{REAL_ASSETS}allow_any_host = true"), Setting::Real).unwrap();
    assert!(rules.allow_any_host());
    assert_eq!(refusals(&rules, &errand_to("https://whoever.example/")), Vec::<&str>::new());
    assert_eq!(refusals(&rules, &errand_to("https://whoever.example:8443/")), ["host_not_allowed"]);
    assert_eq!(refusals(&rules, &errand_to("http://whoever.example/")), ["https_required", "host_not_allowed"]);
    let post = Errand { method: Method::Post, ..errand_to("https://whoever.example/") };
    assert_eq!(refusals(&rules, &post), ["method_not_allowed"]);
}

#[test]
fn addresses_in_urls_are_judged_before_any_resolver_is_asked() {
    let rules = parse(&format!("{PAYMENT}{REAL_ASSETS}allow_any_host = true"), Setting::Real).unwrap();
    for url in [
        "https://2130706433/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://127.1/",
        "https://0/",
        "https://[::]/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[fd00:ec2::254]/",
        "https://169.254.169.254/",
        "https://168.63.129.16/",
        "https://127\u{3002}0\u{3002}0\u{3002}1/",
    ] {
        assert_eq!(refusals(&rules, &errand_to(url)), ["address_not_public"], "{url}");
    }
    assert_eq!(refusals(&rules, &errand_to("https://93.184.216.34/")), Vec::<&str>::new());
}

#[test]
fn methods_and_bodies_are_as_the_host_rule_says() {
    let mut posting = host("https://api.merchant.test");
    posting.methods = Some(vec![Method::Get, Method::Post]);
    posting.body_limit = Some("1 KiB".parse().unwrap());
    let rules = rules(Draft { hosts: vec![posting], ..draft() });
    let with = |method, body| Errand { method, body, ..errand() };
    assert_eq!(refusals(&rules, &with(Method::Post, body(1024))), Vec::<&str>::new());
    assert_eq!(refusals(&rules, &with(Method::Post, None)), Vec::<&str>::new());
    assert_eq!(refusals(&rules, &with(Method::Post, body(1025))), ["body_not_allowed"]);
    assert_eq!(refusals(&rules, &with(Method::Get, body(1))), ["body_not_allowed"]);
    assert_eq!(refusals(&rules, &with(Method::Head, body(1))), ["method_not_allowed", "body_not_allowed"]);
}

#[test]
fn a_body_is_capped_at_64_kib_by_default() {
    let mut posting = host("https://api.merchant.test");
    posting.methods = Some(vec![Method::Post]);
    let rules = rules(Draft { hosts: vec![posting], ..draft() });
    let with = |bytes| Errand { method: Method::Post, body: body(bytes), ..errand() };
    assert_eq!(refusals(&rules, &with(65_536)), Vec::<&str>::new());
    assert_eq!(refusals(&rules, &with(65_537)), ["body_not_allowed"]);
}

#[test]
fn a_body_may_have_a_mebibyte_where_the_rule_says_so() {
    let mut posting = host("https://api.merchant.test");
    posting.methods = Some(vec![Method::Post]);
    posting.body_limit = Some("1 MiB".parse().unwrap());
    let rules = rules(Draft { hosts: vec![posting], ..draft() });
    let with = |bytes| Errand { method: Method::Post, body: body(bytes), ..errand() };
    assert_eq!(refusals(&rules, &with(1 << 20)), Vec::<&str>::new());
    assert_eq!(refusals(&rules, &with((1 << 20) + 1)), ["body_not_allowed"]);
}

#[test]
fn a_sandbox_visits_loopback_where_a_name_is_mapped_to_it() {
    let rules = sandbox(
        "[[host]]\norigin = \"http://seller.test:8080\"\n[[host]]\norigin = \"https://127.0.0.1:8443\"\n\
         [sandbox]\nca = \"ca.pem\"\nhosts = { \"seller.test\" = \"127.0.0.1\" }\n",
    );
    assert_eq!(refusals(&rules, &errand_to("http://seller.test:8080/x")), Vec::<&str>::new());
    assert_eq!(refusals(&rules, &errand_to("https://127.0.0.1:8443/x")), Vec::<&str>::new());
    assert_eq!(refusals(&rules, &errand_to("http://127.0.0.1:8443/x")), ["host_not_allowed"]);
    assert_eq!(refusals(&rules, &errand_to("http://other.test/")), ["https_required", "host_not_allowed"]);
    let seller: Host = "seller.test".parse().unwrap();
    assert_eq!(rules.loopback_of(&seller).unwrap().to_string(), "127.0.0.1");
    assert_eq!(rules.loopback_of(&"10.0.0.1".parse().unwrap()), None);
    assert_eq!(rules.ca_file(), Some("ca.pem"));
}

#[test]
fn any_host_in_a_sandbox_is_any_port_but_not_the_private_network() {
    let rules = sandbox("allow_any_host = true\n[sandbox]\nhosts = { \"seller.test\" = \"::1\" }\n");
    assert_eq!(refusals(&rules, &errand_to("https://seller.test:8443/")), Vec::<&str>::new());
    assert_eq!(refusals(&rules, &errand_to("http://seller.test:8080/")), Vec::<&str>::new());
    assert_eq!(refusals(&rules, &errand_to("http://127.0.0.1:8080/")), Vec::<&str>::new());
    assert_eq!(refusals(&rules, &errand_to("http://other.test:8080/")), ["https_required"]);
    assert_eq!(refusals(&rules, &errand_to("https://10.0.0.1/")), ["address_not_public"]);
    assert_eq!(refusals(&rules, &errand_to("https://[::ffff:127.0.0.1]/")), ["address_not_public"]);
}

#[test]
fn the_getters_say_what_was_written() {
    let text = format!(
        "{PAYMENT}{REAL_ASSETS}max_lifetime = \"90s\"\nrepeat_window = \"5m\"\nmax_body = \"1 MiB\"\n\
         max_content = \"1 GiB\"\ncontent_age = \"90d\"\n\
         [[host]]\norigin = \"https://a.test\"\ncontent = \"text\"\nresource_hosts = [\"b.test\"]\n\
         recipients = [\"0x1111111111111111111111111111111111111111\"]\n"
    );
    let rules = parse(&text, Setting::Real).unwrap();
    assert_eq!((rules.max_lifetime_s(), rules.repeat_window_s(), rules.body_cap_bytes()), (90, 300, 1 << 20));
    assert_eq!((rules.keeping().max_bytes, rules.keeping().age_s), (Some(1 << 30), Some(90 * 86_400)));
    let origin: Origin = "https://a.test".parse().unwrap();
    let site: Site = "https://a.test/x".parse().unwrap();
    assert_eq!(rules.content_mode(&site), ContentMode::Text);
    assert_eq!(rules.content_mode(&"https://b.test/".parse().unwrap()), ContentMode::Withhold);
    let rule = rules.host_rule(&site).unwrap();
    assert_eq!(rule.methods(), [Method::Get, Method::Head]);
    assert!(rule.allows_resource_host(&"b.test".parse().unwrap()));
    assert!(rule.allows_payee(&address("0x1111111111111111111111111111111111111111")));
    assert!(!rule.allows_payee(&address("0x2222222222222222222222222222222222222222")));
    assert_eq!(rules.setting(), Setting::Real);
    assert_eq!(rules.chains(), [ChainId::BASE]);
    assert_eq!(rules.schemes(), ["exact"]);
    assert_eq!(rules.ceilings().map(|money| money.to_string()).collect::<Vec<_>>(), ["0.05 USD"]);
    assert_eq!((rules.recipients(), rules.loopback_map().len(), rules.ca_file()), (None, 0, None));
    assert_eq!(rules.origins().collect::<Vec<_>>(), [&origin]);
    let defaults = crate::builders::rules(draft());
    assert_eq!((defaults.max_lifetime_s(), defaults.repeat_window_s(), defaults.body_cap_bytes()), (300, 120, 262_144));
}

#[test]
fn hours_are_for_payments_and_not_for_looking() {
    let mut timed = draft();
    timed.payment.time_zone = Some("America/New_York".parse().unwrap());
    let mut at = |hours: &str, now_s| {
        timed.payment.hours = Some(hours.parse().unwrap());
        let rules = rules(timed.clone());
        assert!(may_visit(&rules, &errand()).is_ok(), "a free answer is taken at any time");
        let document = Challenge { seller_time_s: None, ..challenge(vec![offer()]) };
        let seen = inspect(&rules, &errand(), &document, None, now_s);
        let hours = seen.document.iter().find(|finding| finding.rule == "hours").unwrap();
        let verdict = judge(&rules, &errand(), &document, None, now_s);
        assert_eq!(hours.passed(), verdict.is_ok());
        verdict.is_ok()
    };
    // 16:00 UTC in February is 11:00 in New York.
    assert!(at("11:00-12:00", NOW_S) && !at("11:00-12:00", NOW_S - 1));
    assert!(at("10:00-12:00", NOW_S + 3_599) && !at("10:00-12:00", NOW_S + 3_600));
}

#[test]
fn an_address_in_a_url_is_held_against_the_operators_lists() {
    let lists = "allow_any_host = true\n[network]\ndeny = [\"93.184.216.0/25\"]\nallow = [\"93.184.216.0/24\"]";
    let rules = parse(&format!("{PAYMENT}{REAL_ASSETS}{lists}"), Setting::Real).unwrap();
    for (url, told) in [
        ("https://93.184.216.200/", &[][..]),
        ("https://93.184.216.34/", &["address_denied"]),
        ("https://0x5db8d822/", &["address_denied"]),
        ("https://[64:ff9b::5db8:d822]/", &["address_denied"]),
        ("https://8.8.8.8/", &["address_denied"]),
        ("https://10.0.0.1/", &["address_not_public"]),
    ] {
        assert_eq!(refusals(&rules, &errand_to(url)), told, "{url}");
    }
}

#[test]
fn headers_are_as_the_host_rule_says() {
    let mut listed = host("https://api.merchant.test");
    listed.headers = vec![HeaderName::Accept, HeaderName::Prefer];
    let rules = rules(Draft { hosts: vec![listed], ..draft() });
    let with = |names: &[HeaderName]| {
        let mut errand = errand();
        names.iter().for_each(|name| assert!(errand.headers.add(*name, "x".parse().unwrap())));
        errand
    };
    assert_eq!(refusals(&rules, &with(&[])), Vec::<&str>::new());
    assert_eq!(refusals(&rules, &with(&[HeaderName::Accept, HeaderName::Prefer])), Vec::<&str>::new());
    assert_eq!(refusals(&rules, &with(&[HeaderName::Accept, HeaderName::AcceptLanguage])), ["header_not_allowed"]);
    let any = parse(&format!("{PAYMENT}{REAL_ASSETS}allow_any_host = true"), Setting::Real).unwrap();
    assert_eq!(refusals(&any, &with(&[HeaderName::Accept])), ["header_not_allowed"]);
}

/// What a person is shown of one rule about `errand`; `None` where it was not looked at.
fn shown(rules: &Rules, errand: &Errand, rule: &str) -> Option<String> {
    let seen = inspect(rules, errand, &challenge(vec![offer()]), None, NOW_S);
    seen.document.into_iter().find(|finding| finding.rule == rule).map(|finding| finding.note)
}

#[test]
fn a_person_is_shown_what_kind_of_address_was_asked() {
    let any = parse(&format!("{PAYMENT}{REAL_ASSETS}allow_any_host = true"), Setting::Real).unwrap();
    let local = "[[host]]\norigin = \"https://127.0.0.1\"\n[sandbox]\nhosts = { \"a.test\" = \"127.0.0.1\" }";
    let address = |rules: &Rules, url: &str| shown(rules, &errand_to(url), "address");
    assert_eq!(address(&any, "https://api.merchant.test/").as_deref(), Some("a name, yet to be resolved"));
    assert_eq!(address(&any, "https://93.184.216.34/").as_deref(), Some("public"));
    assert_eq!(address(&sandbox(local), "https://127.0.0.1/").as_deref(), Some("loopback in a sandbox"));
}

#[test]
fn a_person_is_shown_the_headers_where_there_are_any() {
    let mut listed = host("https://api.merchant.test");
    listed.headers = vec![HeaderName::Accept, HeaderName::Prefer];
    let rules = rules(Draft { hosts: vec![listed], ..draft() });
    assert_eq!(shown(&rules, &errand(), "headers"), None);
    let mut asked = errand();
    for name in [HeaderName::Prefer, HeaderName::Accept] {
        assert!(asked.headers.add(name, "x".parse().unwrap()));
    }
    assert_eq!(shown(&rules, &asked, "headers").as_deref(), Some("accept, prefer"));
}

#[test]
fn a_facilitator_is_reached_as_a_seller_is() {
    let real = parse(&format!("{PAYMENT}{REAL_ASSETS}allow_any_host = true"), Setting::Real).unwrap();
    let ask = |rules: &Rules, url: &str| match may_settle(rules, &Site::parse(url).unwrap()) {
        Ok(site) => {
            assert_eq!(site.get().url(), url);
            Vec::new()
        }
        Err(reasons) => codes(&reasons),
    };
    // No host rule is asked: the operator names it, and not an agent.
    for fine in ["https://x402.example.org/facilitator/settle", "https://8.8.8.8/settle"] {
        assert_eq!(ask(&rules(draft()), fine), Vec::<&str>::new(), "{fine}");
    }
    assert_eq!(ask(&real, "http://x402.example.org/settle"), ["https_required"]);
    assert_eq!(ask(&real, "https://127.0.0.1/settle"), ask_visit(&real, "https://127.0.0.1/settle"));
    assert!(!ask(&real, "https://127.0.0.1/settle").is_empty());
    let mapped = sandbox("[sandbox]\nhosts = { \"facilitator.test\" = \"127.0.0.1\" }\n");
    assert_eq!(ask(&mapped, "http://facilitator.test:4020/settle"), Vec::<&str>::new());
    assert_eq!(ask(&mapped, "http://other.test:4020/settle"), ["https_required"]);
}

fn ask_visit(rules: &Rules, url: &str) -> Vec<&'static str> {
    refusals(rules, &errand_to(url)).into_iter().filter(|code| *code != "host_not_allowed").collect()
}
