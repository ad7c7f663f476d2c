//! Rules in sentences: nothing that is written goes untold, and each sentence has its line.

use super::*;

const TEXT: &str = r#"[payment]
max_per_payment = "0.05 USD"
networks = ["eip155:84532"]
assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
allow_any_recipient = true
max_lifetime = "90s"
repeat_window = "1h"
max_body = "2 MiB"
max_content = "1 GiB"
content_age = "90d"
days = ["mon-fri"]
time_zone = "Europe/Berlin"
max_unresolved = 4

[[limit]]
scope = "all"
window = "24h"
max = "1.00 USD"
count = 9

[[limit]]
scope = "host"
window = "lifetime"
count = 3

[[host]]
origin = "https://one.example"
content = "fields"
fields = ["/price", "", "/items/0/name"]

[[host]]
origin = "https://two.example:8443"
methods = ["GET", "POST"]
content = "text"
recipients = ["0x209693Bc6afc0C5328bA36FaF03C514EF312287C"]
max_per_payment = "0.01 USD"
resource_hosts = ["cdn.example", "img.example"]

[[limit]]
scope = "tag"
tag = "data"
window = "month"
time_zone = "UTC"
count = 2

[[payee]]
address = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
tags = ["people", "data"]

[[host]]
origin = "https://three.example"
path = "/v1"
tags = ["data"]
max_unresolved = 9
methods = ["POST"]
content = "file"
max_body = "256 MiB"
allow_any_recipient = true
body_limit = "2 KiB"

[sandbox]
hosts = { "shop.test" = "127.0.0.1" }
ca = "ca.pem"
"#;

fn told(text: &str, setting: Setting) -> Vec<(Option<usize>, String)> {
    let read = Reading::of(text, setting).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    let line = |told: &Told| told.place.as_ref().and_then(|place| place.line);
    of(&read).iter().map(|told| (line(told), format!("{}: {}", told.about, told.says))).collect()
}

#[test]
fn everything_that_is_written_is_told_on_its_line() {
    let wanted = [
        (Some(2), "a payment: costs at most 0.05 USD"),
        (None, "a payment: is made by the scheme exact"),
        (Some(3), "a payment: is made on Base Sepolia (eip155:84532)"),
        (Some(4), "a payment: is made in USDC on eip155:84532"),
        (Some(5), "payees: anybody whom a seller names may be paid"),
        (Some(6), "a payment: can be cashed for at most 90s"),
        (Some(7), "a repeat: within 1h gets the first result and is not paid again"),
        (
            Some(13),
            "a lost payment: ran out, and nobody knows how it ended: after 4 of one host or payee no further one is made",
        ),
        (None, "a session: may have a mandate, which bounds it further: purpose, sellers, payees, a ceiling"),
        (Some(8), "an answer: is kept up to 2 MiB"),
        (Some(9), "an answer that: costs nothing is no longer fetched with more than 1 GiB stored in all"),
        (Some(10), "an answer that: cost nothing may be pruned after 90d"),
        (Some(11), "a payment: is made only mon-fri in Europe/Berlin"),
        (None, "a person: looks at every payee of a host but the first, where payees are not listed"),
        (None, "a person: looks at a network or an asset that is new for a known host"),
        (None, "a person: has 1h to look, and a yes or a no stands for as long after it"),
        (
            None,
            "a seller: is left alone for 1h after 3 failed deliveries in a row, or 3 security refusals that blame it",
        ),
        (Some(47), "payee: payments to 0x209693Bc6afc0C5328bA36FaF03C514EF312287C carry the tags people, data"),
        (Some(16), "limit: all payments together: at most 1.00 USD and 9 payments in any 1d"),
        (Some(22), "limit: the payments of each host: at most 3 payments, for ever"),
        (Some(40), "limit: the payments that carry the tag data: at most 2 payments in each month in UTC"),
        (
            Some(27),
            "seller: https://one.example by GET, HEAD; the model sees some values of a JSON answer, marked untrusted: /price, \
             (all of it), /items/0/name",
        ),
        (
            Some(32),
            "seller: https://two.example:8443 by GET, POST; the model sees up to 10 KiB of text, marked untrusted; \
             a body has at most 64 KiB; a payment costs at most 0.01 USD; \
             paid may be 0x209693Bc6afc0C5328bA36FaF03C514EF312287C; its terms may be for cdn.example, img.example",
        ),
        (
            Some(51),
            "seller: https://three.example/v1/ by POST; the model gets the name of a file with the answer, and up to 1 KiB of a text in it; \
             an answer is kept up to 256 MiB; a body has at most 2 KiB; it may name anybody as payee; \
             its payments carry the tag data; no further payment after 9 lost",
        ),
        (Some(62), "sandbox: `shop.test` is on this machine, at 127.0.0.1"),
        (Some(63), "sandbox: sellers may prove who they are by the authority in `ca.pem`"),
    ];
    let found = told(TEXT, Setting::Sandbox);
    assert_eq!(found, wanted.map(|(line, says)| (line, says.to_owned())));
    // The 64 KiB that hold when nothing is written are the rules' own.
    let read = Reading::of(TEXT, Setting::Sandbox).unwrap();
    let site = "https://two.example:8443/".parse().unwrap();
    assert_eq!(read.rules.host_rule(&site).unwrap().body_limit_bytes(), 64 << 10);
}

#[test]
fn what_a_seller_and_the_proxy_are_sent_is_told_by_name() {
    let text = r#"[payment]
max_per_payment = "0.05 USD"
networks = []
assets = []
recipients = []
[[host]]
origin = "https://one.example"
secret_headers = ["authorization: Bearer {shop-token}", "x-api-key: {shop-key}"]
[network]
proxy = "http://proxy.example:3128"
proxy_secret = "corp"
"#;
    let found = told(text, Setting::Real);
    for (line, says) in [
        (
            7,
            "seller: https://one.example by GET, HEAD; the model sees nothing of an answer; it is sent the secrets in \
             authorization: Bearer {shop-token}, x-api-key: {shop-key}",
        ),
        (11, "the network: says the secret {corp} to the proxy, in the clear, and to no seller"),
    ] {
        assert!(found.contains(&(Some(line), says.to_owned())), "{found:?}");
    }
}

#[test]
fn when_a_seller_is_left_alone_and_a_session_is_closed_is_told_on_its_line() {
    let short = "[payment]\nmax_per_payment = \"0.05 USD\"\nnetworks = []\nassets = []\nrecipients = []\n";
    let says = |time: &str, after: u32| {
        format!(
            "a seller: is left alone for {time} after {after} failed deliveries in a row, or {after} security refusals that blame it"
        )
    };
    let found = told(&format!("{short}quarantine = \"1d\"\n"), Setting::Real);
    assert!(found.contains(&(Some(6), says("1d", 3))), "{found:?}");
    let closing = "on_security_refusal = \"close_session\"\nquarantine_after = 5\n";
    let found = told(&format!("{short}{closing}"), Setting::Real);
    assert!(found.contains(&(Some(7), says("1h", 5))), "{found:?}");
    let closed = "a session: is closed by the first security refusal that blames a seller".to_owned();
    assert!(found.contains(&(Some(6), closed)), "{found:?}");
}

#[test]
fn rules_that_allow_nothing_and_rules_that_allow_any_host_say_so() {
    let short = "[payment]\nmax_per_payment = \"0.05 USD\"\nnetworks = []\nassets = []\nrecipients = []\n";
    let found = told(short, Setting::Real);
    for says in [
        "a payment: is made on no network, so never",
        "a payment: is made in no asset, so never",
        "payees: nobody may be paid",
        "sellers: no host may be asked: every URL is refused",
        "limit: nothing limits many payments together but the budget of the session",
    ] {
        assert!(found.iter().any(|(_, told)| told == says), "`{says}` is not in: {found:?}");
    }
    let any = format!("{short}allow_any_host = true\n");
    let found = told(&any, Setting::Real);
    assert!(found.iter().any(|(line, told)| *line == Some(6) && told.starts_with("sellers: every https host")));
}

#[test]
fn when_a_person_looks_is_told_for_all_and_for_one_host() {
    let text = r#"[payment]
max_per_payment = "5 USD"
networks = ["eip155:84532"]
assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
allow_any_recipient = true
first_payee = "approve"
on_change = "allow"
unusual_price = 10
approve_over = "2 USD"
approve_tags = ["gifts"]
approval_lifetime = "90m"
no_recurring = "30d"
price_rise = "20%"
[[host]]
origin = "https://one.example"
tags = ["gifts"]
first_payee = "pin"
on_change = "approve"
unusual_price = 3
approve_over = "1 USD"
no_recurring = "1d"
price_rise = "50%"
[[host.limit]]
window = "day"
time_zone = "UTC"
max = "4 USD"
count = 2
"#;
    let wanted = [
        (Some(6), "a person: looks at every payee of a host, the first as well, where payees are not listed"),
        (Some(7), "a person: does not look at a network or an asset that is new for a known host"),
        (Some(8), "a person: looks at a price above 10 times the usual one of a host"),
        (Some(9), "a person: looks at a price above 2.00 USD"),
        (Some(10), "a person: looks at every payment that carries gifts"),
        (Some(11), "a person: has 90m to look, and a yes or a no stands for as long after it"),
        (Some(12), "the same request: is paid for once in 30d, whatever the session and purchase id"),
        (Some(13), "a person: looks at a price more than 20% above what the same request cost first"),
        (
            Some(15),
            "seller: https://one.example by GET, HEAD; the model sees nothing of an answer; its payments carry the tag \
             gifts; its payments together: at most 4.00 USD and 2 payments in each day in UTC; a person looks at every \
             payee of a host but the first, where payees are not listed; a person looks at a network or an asset that \
             is new for a known host; a person looks at a price above 3 times its usual one; a person looks at a price \
             more than 50% above what the same request cost first; a person looks at a price above 1.00 USD; the same request is paid for once in 1d",
        ),
    ];
    let found = told(text, Setting::Sandbox);
    for (line, says) in wanted {
        assert!(found.contains(&(line, says.to_owned())), "`{says}` is not in {found:#?}");
    }
}

#[test]
fn where_any_host_may_be_asked_a_person_looks_at_names_that_read_like_others() {
    let any = "[payment]\nmax_per_payment = \"0.05 USD\"\nnetworks = []\nassets = []\nrecipients = []\nallow_any_host = true\n";
    let found = told(any, Setting::Real);
    let says = "a person: looks at a new host that reads like a known one, or mixes letters of several scripts";
    assert!(found.contains(&(Some(6), says.to_owned())), "{found:#?}");
}

#[test]
fn the_lists_of_addresses_are_told() {
    let text =
        format!("{}\n[network]\ndeny = [\"203.0.113.0/24\"]\nallow = []\n", TEXT.split("[sandbox]").next().unwrap());
    let told = told(&text, Setting::Sandbox);
    let line = text.lines().position(|line| line.starts_with("deny")).unwrap() + 1;
    let denied = "the network: is never dialled at 203.0.113.0/24".to_owned();
    let allowed = "the network: is dialled, beside a sandbox's own sellers, only at no address".to_owned();
    assert!(told.contains(&(Some(line), denied)) && told.contains(&(Some(line + 1), allowed)), "{told:?}");
}
