//! How long the judge takes for one offer and what it allocates, with the floor beside it. `cargo bench --bench judge`
#![expect(clippy::expect_used, reason = "a bench may stop")]

use std::time::Duration;

use bursar_policy::rules::draft::Draft;
use bursar_policy::{Challenge, Errand, Method, Offer, Rules, Said, Setting, Site, Version, judge};
use divan::{Bencher, black_box};

#[global_allocator]
static COUNTED: divan::AllocProfiler = divan::AllocProfiler::system();

const NOW_S: u64 = 1_800_000_000;

const RULES: &str = r#"
[payment]
max_per_payment = "0.05 USD"
networks = ["eip155:8453"]
assets = ["eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"]
recipients = ["0x1111111111111111111111111111111111111111"]

[[limit]]
scope = "all"
window = "24h"
max = "5.00 USD"

[[host]]
origin = "https://api.merchant.test"
"#;

fn main() {
    // Long enough that the first, cold rounds do not make the median.
    divan::Divan::default().min_time(Duration::from_millis(300)).config_with_args().main();
}

fn rules() -> Rules {
    read(RULES)
}

fn read(text: &str) -> Rules {
    let draft: Draft = toml::from_str(text).expect("the rules are well formed");
    Rules::new(draft, Setting::Real).expect("the rules make sense")
}

/// The rules above with so many host entries, half of them for parts of the merchant's origin, with so many limits,
/// hours and tags: whatever an operator could want at once.
fn full_rules(hosts: usize, limits: usize) -> Rules {
    let timed = "hours = \"00:00-24:00\"\ndays = [\"mon-sun\"]\ntime_zone = \"Europe/Berlin\"\n";
    let mut text = RULES.replacen("[[limit]]", &format!("{timed}\n[[limit]]"), 1);
    let scopes = ["host", "payee", "tag\"\ntag = \"data"].into_iter().cycle();
    for (number, scope) in (1..limits).zip(scopes) {
        let window = match number {
            1 => "day\"\ntime_zone = \"Europe/Berlin".to_owned(),
            _ => format!("{number}h"),
        };
        text.push_str(&format!("\n[[limit]]\nscope = \"{scope}\"\nwindow = \"{window}\"\nmax = \"5.00 USD\"\n"));
    }
    for number in 1..hosts {
        let entry = match number % 2 {
            0 => format!("origin = \"https://shop-{number}.test\"\nmax_per_payment = \"0.02 USD\""),
            _ => format!("origin = \"https://api.merchant.test\"\npath = \"/v{number}/\""),
        };
        text.push_str(&format!("\n[[host]]\n{entry}\ntags = [\"data\", \"search\"]\n"));
    }
    read(&text)
}

#[divan::bench(args = [(2, 2), (100, 50), (1000, 50)])]
fn judge_one_offer_with_hosts_and_limits(bencher: Bencher<'_, '_>, (hosts, limits): (usize, usize)) {
    let (rules, errand, challenge) = (full_rules(hosts, limits), errand(), challenge(1));
    assert!(rules.host_rules().count() == hosts && rules.limits().len() == limits, "{hosts} hosts, {limits} limits");
    assert!(judge(&rules, &errand, &challenge, None, NOW_S).is_ok(), "the full rules allow it");
    bencher.bench_local(|| judge(black_box(&rules), black_box(&errand), black_box(&challenge), None, NOW_S));
}

fn errand() -> Errand {
    let site = Site::parse("https://api.merchant.test/v1/data?page=1").expect("a URL");
    Errand::new(site, Method::Get)
}

fn text(text: &str) -> Said {
    Said::Text(text.to_owned())
}

fn challenge(offers: u32) -> Challenge {
    let offer = |index| Offer {
        index,
        scheme: text("exact"),
        network: text("eip155:8453"),
        amount: text("10000"),
        asset: text("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
        pay_to: text("0x1111111111111111111111111111111111111111"),
        max_timeout: Said::Number("60".to_owned()),
        transfer_method: Said::Absent,
        payment_flow: Said::Absent,
        domain_name: text("USD Coin"),
        domain_version: text("2"),
        verifying_contract: Said::Absent,
        chain_id: Said::Absent,
        resource: Said::Absent,
        conflicts: Vec::new(),
    };
    Challenge {
        version: Version::V2,
        offers: (0..offers).map(offer).collect(),
        resource: text("https://api.merchant.test/v1/data"),
        seller_time_s: Some(NOW_S),
    }
}

#[divan::bench(args = [1, 4, 32])]
fn judge_offers(bencher: Bencher<'_, '_>, offers: u32) {
    let (rules, errand, challenge) = (rules(), errand(), challenge(offers));
    assert!(judge(&rules, &errand, &challenge, None, NOW_S).is_ok());
    bencher.bench_local(|| judge(black_box(&rules), black_box(&errand), black_box(&challenge), None, NOW_S));
}

#[divan::bench]
fn refuse_a_payee(bencher: Bencher<'_, '_>) {
    let (rules, errand, mut challenge) = (rules(), errand(), challenge(1));
    if let Some(offer) = challenge.offers.first_mut() {
        offer.pay_to = text("0x2222222222222222222222222222222222222222");
    }
    assert!(judge(&rules, &errand, &challenge, None, NOW_S).is_err());
    bencher.bench_local(|| judge(black_box(&rules), black_box(&errand), black_box(&challenge), None, NOW_S));
}

/// The floor: reading the two addresses and the amount of one offer, which no judge can do without.
#[divan::bench]
fn floor_parse_three_fields(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| {
        let asset: Result<bursar_policy::Address, _> = black_box("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913").parse();
        let payee: Result<bursar_policy::Address, _> = black_box("0x1111111111111111111111111111111111111111").parse();
        (asset, payee, bursar_policy::Amount::parse(black_box("10000")))
    });
}
