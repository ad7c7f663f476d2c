//! Plays one story: everything real except the seller's words and the names of the internet.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar::content::ContentStore;
use bursar::flow::{Buyer, Pauses};
use bursar::wallet::Wallet;
use bursar_policy::Address;
use bursar_tools::ServeOptions;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::client::Client;
use crate::glue::{Browser, Glue};
use crate::resolver::Script;
use crate::rpc::Rpc;
use crate::sandbox::{Books, Sandbox};
use crate::seller::{Request, Seller, Stall};
use crate::story::Story;
use crate::tls::Papers;

/// How long one story may take on a busy machine.
const STORY_MAX: Duration = Duration::from_secs(120);

/// What came of a story.
pub(crate) struct Played {
    /// The structured answers, one a call.
    pub(crate) answers: Vec<Value>,
    /// Every byte that the model's side received.
    pub(crate) heard: Vec<u8>,
    pub(crate) requests: Vec<Request>,
    /// The value of every header that a browser's glue was given.
    pub(crate) redeemed: Vec<String>,
    /// What the seller had to say, placeholders filled in.
    pub(crate) replies: Vec<Vec<u8>>,
    pub(crate) lookups: Vec<String>,
    pub(crate) books: Books,
    /// Every file of the profile at the end.
    pub(crate) files: Vec<Vec<u8>>,
    pub(crate) payer: Address,
}

/// Plays `story` from its first call to the last look into the ledger.
pub(crate) async fn play(story: &Story) -> Played {
    timeout(STORY_MAX, play_to_the_end(story)).await.unwrap_or_else(|_| panic!("it did not end in {STORY_MAX:?}"))
}

async fn play_to_the_end(story: &Story) -> Played {
    let stall = Stall::set_up().await;
    let rpc = Rpc::open(story.want.before.balance.as_ref().map(|units| units.parse().unwrap()));
    let rules = on_another_day(&at_port(&story.rules, stall.port())).replace("{rpc}", &rpc.port().to_string());
    let papers = Papers::of(mapped_names(&rules));
    let before = &story.want.before;
    let mandate = before.mandate.as_ref().map(|mandate| mandate.filled(|text| at_port(text, stall.port())));
    let sandbox = Sandbox::open(&rules, &papers.authority_pem, before, mandate).await;
    let fill = Fill { port: stall.port(), payer: sandbox.payer };
    let replies: Vec<Vec<u8>> = story.replies.iter().map(|reply| fill.reply(reply)).collect();
    let stall_port = stall.port();
    let seller = stall.open(papers.acceptor, replies.clone(), story.want.before.together);

    let browser = Browser { port: stall_port, authority_pem: papers.authority_pem, asked: seller.heard() };
    let glue = before.glue.map(|does| Glue::start(&sandbox.profile, does, browser));

    let resolver = Script::new(story.names.clone());
    let wallet = Wallet::new(&sandbox.profile, None).unwrap();
    let content = ContentStore::open(&sandbox.profile.content_dir()).unwrap();
    let buyer =
        Arc::new(Buyer::new(&sandbox.profile, wallet, resolver.clone(), content).pausing(Pauses([Duration::ZERO; 2])));
    let options = ServeOptions::new("stories");
    let options =
        story.want.before.places.map_or(options, |places| ServeOptions::new("stories").purchases_at_once(places));
    let mut client = Client::connect(buyer, options).await;
    let answers = if story.want.before.together {
        call_together(story, &fill, &mut client, &seller).await
    } else {
        call_in_turn(story, &fill, &mut client, &sandbox).await
    };
    let redeemed = glue.as_ref().map(Glue::headers).unwrap_or_default();
    drop(glue);
    Played {
        answers,
        redeemed,
        heard: client.hang_up().await,
        requests: seller.requests(),
        replies,
        lookups: resolver.asked(),
        books: sandbox.books(),
        files: sandbox.files(),
        payer: sandbox.payer,
    }
}

async fn call_in_turn(story: &Story, fill: &Fill, client: &mut Client, sandbox: &Sandbox) -> Vec<Value> {
    let mut answers: Vec<Value> = Vec::new();
    for call in &story.calls {
        let latest = |member| answers.iter().rev().find_map(|told| told.get(member)).and_then(Value::as_str);
        let given = [("{quote}", latest("quote")), ("{handle}", latest("handle"))];
        let arguments = fill.arguments(&call.arguments, &given);
        let id = client.call(&call.tool, &arguments).await;
        answers.push(client.told(id).await);
        if let Some(word) = story.want.between.get(answers.len().saturating_sub(1)) {
            sandbox.says(*word);
        }
    }
    answers
}

/// Every call but the last waits at the seller until the last one is answered.
async fn call_together(story: &Story, fill: &Fill, client: &mut Client, seller: &Seller) -> Vec<Value> {
    let mut waiting = Vec::new();
    let (last, first) = story.calls.split_last().unwrap();
    for call in first {
        waiting.push(client.call(&call.tool, &fill.arguments(&call.arguments, &[])).await);
        seller.has_heard(waiting.len()).await;
    }
    let id = client.call(&last.tool, &fill.arguments(&last.arguments, &[])).await;
    let turned_away = client.told(id).await;
    seller.go_on();
    let mut answers = Vec::new();
    for id in waiting {
        answers.push(client.told(id).await);
    }
    answers.push(turned_away);
    answers
}

/// The names that the rules put on this machine: those the seller has papers for.
fn mapped_names(rules: &str) -> Vec<String> {
    let rules: toml::Table = toml::from_str(rules).unwrap();
    let hosts = rules.get("sandbox").and_then(|sandbox| sandbox.get("hosts")).and_then(toml::Value::as_table);
    hosts.map(|hosts| hosts.keys().cloned().collect()).unwrap_or_default()
}

/// What is put in place of `{…}`.
struct Fill {
    port: u16,
    payer: Address,
}

impl Fill {
    /// What a call says, with what earlier answers gave in the places of their names.
    fn arguments(&self, arguments: &Map<String, Value>, given: &[(&str, Option<&str>)]) -> Map<String, Value> {
        let put = |text: String, (name, value): &(&str, Option<&str>)| text.replace(name, value.unwrap_or_default());
        let fill = |value: &Value| match value {
            Value::String(text) => Value::String(given.iter().fold(at_port(text, self.port), put)),
            other => other.clone(),
        };
        arguments.iter().map(|(name, value)| (name.clone(), fill(value))).collect()
    }

    /// The bytes of an answer: in its head the time of day, the port, the payer, and documents to be encoded.
    fn reply(&self, reply: &[u8]) -> Vec<u8> {
        let Some(end) = reply.windows(4).position(|window| window == b"\r\n\r\n") else { return reply.to_vec() };
        let (head, body) = reply.split_at(end);
        let now = jiff::Timestamp::now().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let head = at_port(std::str::from_utf8(head).unwrap(), self.port);
        let head = head.replace("{date}", &now).replace("{payer}", &self.payer.to_string());
        let lines: Vec<String> = head.split("\r\n").map(encode).collect();
        [lines.join("\r\n").as_bytes(), body].concat()
    }
}

fn at_port(text: &str, port: u16) -> String {
    text.replace("{port}", &port.to_string())
}

/// Three days from now, so that no story is long enough for it to begin.
fn on_another_day(rules: &str) -> String {
    let there = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(72);
    rules.replace("{other_day}", &there.strftime("%a").to_string().to_ascii_lowercase())
}

/// `Name: {base64 document}` becomes the header that it stands for.
fn encode(line: &str) -> String {
    let document = line.split_once("{base64 ").and_then(|(name, rest)| Some((name, rest.strip_suffix('}')?)));
    document.map_or_else(|| line.to_owned(), |(name, document)| format!("{name}{}", STANDARD.encode(document)))
}
