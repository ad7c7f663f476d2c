//! A hostile seller on loopback, and what the exchange makes of it.

mod hostile;
mod kept;
mod pinning;
mod polite;
mod secrets;
mod seller;

#[cfg(feature = "demo")]
mod authority;
#[cfg(feature = "demo")]
mod dripped;
#[cfg(feature = "demo")]
mod kept_secure;
#[cfg(feature = "demo")]
mod multiplexed;
#[cfg(feature = "demo")]
mod proxied;
#[cfg(feature = "demo")]
mod secure;

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bursar_policy::{Draft, Errand, Method, Refusal, Rules, Setting, Site, Vetted, may_visit};

use super::{Ask, Exchange, ExchangeFault, Limits, LookupFault, Pin, Reply, Resolver, Tls, pin};

/// The one name that the test rules map to loopback.
const NAME: &str = "seller.test";

/// Deadlines that only a stuck exchange meets; a test of a deadline shortens that one.
const QUICK: Limits = Limits {
    connect: Duration::from_secs(5),
    tls: Duration::from_secs(5),
    first_byte: Duration::from_secs(5),
    header: Duration::from_secs(5),
    idle: Duration::from_secs(5),
    total: Duration::from_secs(10),
    header_bytes: 64 * 1024,
    header_fields: 100,
};

/// A resolver that gives its answers in order, and the last one for ever.
struct Scripted {
    answers: Vec<Result<Vec<IpAddr>, LookupFault>>,
    asked: AtomicUsize,
}

impl Scripted {
    fn new(answers: &[&[&str]]) -> Self {
        let parse = |answer: &&[&str]| Ok(answer.iter().map(|text| text.parse().unwrap()).collect());
        Self { answers: answers.iter().map(parse).collect(), asked: AtomicUsize::new(0) }
    }

    /// Fails the test's expectation of [`Scripted::asked`] when it is used at all.
    fn never() -> Self {
        Self::new(&[&["203.0.113.1"]])
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Resolver for Scripted {
    async fn lookup(&self, _host: &str, _port: u16) -> Result<Vec<IpAddr>, LookupFault> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        self.answers.get(turn).or(self.answers.last()).unwrap().clone()
    }
}

/// Rules of a sandbox that map [`NAME`] to `address` and let any host be visited.
fn sandbox(address: &str) -> Rules {
    sandbox_of(NAME, address)
}

/// The same for another name.
fn sandbox_of(name: &str, address: &str) -> Rules {
    let asset = "eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e";
    let mapped = format!("[sandbox]\nhosts = {{ \"{name}\" = \"{address}\" }}");
    rules("eip155:84532", asset, &mapped, Setting::Sandbox)
}

/// Rules outside a sandbox that let any host be visited.
fn real() -> Rules {
    rules("eip155:8453", "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "", Setting::Real)
}

fn rules(network: &str, asset: &str, more: &str, setting: Setting) -> Rules {
    let text = format!(
        "[payment]\nmax_per_payment = \"0.05 USD\"\nnetworks = [\"{network}\"]\nassets = [\"{asset}\"]\n\
         allow_any_recipient = true\nallow_any_host = true\n{more}"
    );
    Rules::new(toml::from_str::<Draft>(&text).unwrap(), setting).unwrap()
}

/// The same with the operator's lists of addresses.
fn with_lists(lists: &str) -> Rules {
    let usdc = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
    rules("eip155:8453", usdc, &format!("[network]\n{lists}"), Setting::Real)
}

/// A vetted site, as the gate gives it under `rules`.
fn vetted(rules: &Rules, url: &str) -> Vetted<Site> {
    visit(rules, url).unwrap()
}

/// What the gate says to a GET of `url` under `rules`.
fn visit(rules: &Rules, url: &str) -> Result<Vetted<Site>, Vec<Refusal>> {
    let errand = Errand::new(Site::parse(url).unwrap(), Method::Get);
    may_visit(rules, &errand)
}

async fn pinned(rules: &Rules, url: &str) -> Pin {
    let resolver = Scripted::never();
    let pin = pin(vetted(rules, url), &resolver, rules).await.unwrap();
    assert_eq!(resolver.asked(), 0, "a mapped name is never looked up");
    pin
}

/// A way to the plain-http seller at `port` of 127.0.0.1.
async fn plain(port: u16) -> Exchange {
    let pin = pinned(&sandbox("127.0.0.1"), &format!("http://{NAME}:{port}/v1/data?q=1")).await;
    Exchange::open(pin, &Tls::public().unwrap())
}

async fn get(exchange: &Exchange, limits: &Limits) -> Result<Reply, ExchangeFault> {
    exchange.send(&Ask::new(Method::Get), limits).await
}
