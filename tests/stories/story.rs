//! One story as its folder tells it. Reads and decides nothing: what a key means is in `fixtures/README.md`.

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use bursar_policy::{Mandate, Payees};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Where the stories are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// One conversation between a model, bursar and a seller, and how it has to end.
#[derive(Clone, Debug)]
pub(crate) struct Story {
    pub(crate) name: String,
    pub(crate) rules: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) names: BTreeMap<String, Vec<IpAddr>>,
    pub(crate) replies: Vec<Vec<u8>>,
    pub(crate) want: Want,
}

/// One call of the model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
}

/// `ask.json`: one call, or several in order.
#[derive(Deserialize)]
#[serde(untagged)]
enum Ask {
    One(Call),
    Several(Vec<Call>),
}

/// `want.toml`: how the story ends.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Want {
    pub(crate) outcome: String,
    pub(crate) code: String,
    pub(crate) shown: String,
    pub(crate) requests: usize,
    pub(crate) signed: usize,
    pub(crate) rows: Vec<String>,
    #[serde(default)]
    pub(crate) also: Vec<String>,
    #[serde(default)]
    pub(crate) logged: Option<bool>,
    #[serde(default)]
    pub(crate) earlier: Vec<String>,
    #[serde(default)]
    pub(crate) earlier_reasons: Vec<String>,
    #[serde(default)]
    pub(crate) between: Vec<Word>,
    #[serde(default)]
    pub(crate) repeat: bool,
    #[serde(default)]
    pub(crate) note: Option<String>,
    #[serde(default)]
    pub(crate) spent: Option<String>,
    #[serde(default)]
    pub(crate) lookups: Vec<String>,
    #[serde(default)]
    pub(crate) seller_says: Option<String>,
    #[serde(default)]
    pub(crate) unheard: Vec<String>,
    #[serde(default)]
    pub(crate) sent: Vec<String>,
    #[serde(default)]
    pub(crate) receipt: Option<WantReceipt>,
    #[serde(default)]
    pub(crate) content: Option<WantContent>,
    #[serde(default)]
    pub(crate) before: Before,
}

/// What a person does between two calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Word {
    Approve,
    Deny,
    Freeze,
    Nothing,
}

/// `[receipt]`: what the model is told of the payment.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WantReceipt {
    pub(crate) money: String,
    pub(crate) payee: String,
    pub(crate) network: String,
    pub(crate) transaction: String,
}

/// `[content]`: what the model is told of the answer's body.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WantContent {
    pub(crate) status: u64,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) bytes: u64,
    pub(crate) truncated: bool,
    pub(crate) withheld: bool,
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) file: bool,
    #[serde(default)]
    pub(crate) stored: bool,
    #[serde(default)]
    pub(crate) fields: BTreeMap<String, String>,
}

/// `[before]`: how things stand when the story begins.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Before {
    #[serde(default)]
    pub(crate) session: Option<String>,
    #[serde(default)]
    pub(crate) session_over: bool,
    #[serde(default)]
    pub(crate) session_older: bool,
    #[serde(default)]
    pub(crate) mandate: Option<WantMandate>,
    #[serde(default)]
    pub(crate) secrets: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) frozen: Option<String>,
    #[serde(default)]
    pub(crate) locked: bool,
    #[serde(default)]
    pub(crate) latched: bool,
    #[serde(default)]
    pub(crate) unresolved: bool,
    #[serde(default)]
    pub(crate) balance: Option<String>,
    #[serde(default)]
    pub(crate) places: Option<u32>,
    #[serde(default)]
    pub(crate) together: bool,
    #[serde(default)]
    pub(crate) glue: Option<Glue>,
}

/// What the browser's glue does with each payment that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Glue {
    /// Puts the payment on the browser's request, and reports.
    Pays,
    /// Wants the payment for other pages, then has no page for it.
    Strays,
    /// Redeems, and is killed before the browser's request goes out.
    Dies,
}

/// `[before.mandate]`: what the budget is for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WantMandate {
    purpose: String,
    origins: Vec<String>,
    #[serde(default)]
    payees: Option<Vec<String>>,
    max_per_payment: String,
}

impl WantMandate {
    /// The mandate with its placeholders filled in.
    pub(crate) fn filled(&self, fill: impl Fn(&str) -> String) -> Mandate {
        let origins = self.origins.iter().map(|origin| fill(origin).parse().unwrap()).collect();
        let payees = match &self.payees {
            None => Payees::Any,
            Some(listed) => Payees::Listed(listed.iter().map(|payee| payee.parse().unwrap()).collect()),
        };
        Mandate::new(self.purpose.clone(), origins, payees, self.max_per_payment.parse().unwrap()).unwrap()
    }
}

impl Story {
    /// Every story, in the order of the names.
    pub(crate) fn all() -> Vec<Self> {
        let mut found: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
        found.retain(|path| path.is_dir());
        found.sort();
        found.iter().map(|path| Self::read(path)).collect()
    }

    fn read(path: &Path) -> Self {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = |file: &str| {
            fs::read_to_string(path.join(file)).unwrap_or_else(|fault| panic!("{name}/{file} cannot be read: {fault}"))
        };
        let calls = match serde_json::from_str(&text("ask.json")) {
            Ok(Ask::One(call)) => vec![call],
            Ok(Ask::Several(calls)) => calls,
            Err(fault) => panic!("{name}/ask.json: {fault}"),
        };
        let want = toml::from_str(&text("want.toml")).unwrap_or_else(|fault| panic!("{name}/want.toml: {fault}"));
        let replies = (1..).map(|number| path.join(reply_file(number))).take_while(|file| file.exists());
        let replies = replies.map(|file| fs::read(file).unwrap()).collect();
        Self { rules: text("rules.toml"), calls, names: names(&name, &text("dns.txt")), replies, want, name }
    }
}

/// The file of the seller's answer to its request `number`, counted from 1.
pub(crate) fn reply_file(number: usize) -> String {
    format!("{number}-reply.http")
}

/// `dns.txt`: a line for a name, and every address that the resolver gives for it.
fn names(story: &str, text: &str) -> BTreeMap<String, Vec<IpAddr>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap().to_owned();
            let address =
                |word: &str| word.parse().unwrap_or_else(|_| panic!("{story}/dns.txt: `{word}` is no address"));
            (name, words.map(address).collect())
        })
        .collect()
}
