//! One story of an operator's: read from its folder, judged by the same gate as a purchase. Sends nothing.

use std::fs;
use std::path::{Path, PathBuf};

use bursar_policy::{Address, Errand, Money, Refusal, Rules, Setting, judge as gate, may_visit};
use bursar_tools::errand_of_call;
use bursar_vault::profile::Profile;
use bursar_vault::rules_file;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::check;
use super::super::exit::{Exit, Stop};
use super::super::explain::recorded::{self, Recorded};
use crate::clock;
use crate::wire::{Found, HeaderView, read};

/// The most bytes of `ask.json` and of `want.toml`.
const FILE_BYTES: u64 = 256 * 1024;

/// What came of one story.
#[derive(Debug, Serialize)]
pub(super) struct Case {
    /// The name of its folder.
    pub(super) story: String,
    /// How it had to end and how it ended, or why it could not be judged.
    #[serde(flatten)]
    pub(super) end: End,
}

/// How the judging of a story ended.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum End {
    /// It was judged.
    Judged {
        /// How it had to end, in words.
        wanted: String,
        /// How it ended, in words.
        came: String,
        /// Every reason of a refusal, the first one first.
        codes: Vec<String>,
        /// Whether the two agree.
        as_wanted: bool,
    },
    /// It could not be judged: a file cannot be read, or its rules cannot be used.
    Unjudged {
        /// One sentence that says why.
        error: String,
        /// The exit code that stands for it.
        #[serde(skip)]
        exit: Exit,
    },
}

/// The rules for stories that bring none: those of the profile, read once and only when they are needed.
#[derive(Debug)]
pub(super) struct Default<'p> {
    profile: &'p Profile,
    rules: Option<Rules>,
}

/// `ask.json`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    tool: String,
    arguments: Map<String, Value>,
}

/// `want.toml`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Want {
    outcome: Outcome,
    code: Option<String>,
    money: Option<Money>,
    payee: Option<Address>,
}

/// How a story ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Pay,
    Refuse,
    Nothing,
}

/// How a story ended.
enum Came {
    Pay { money: Option<Money>, payee: Address },
    Refuse(Vec<String>),
    Nothing(String),
}

impl<'p> Default<'p> {
    /// The rules of `profile`.
    pub(super) const fn of(profile: &'p Profile) -> Self {
        Self { profile, rules: None }
    }

    fn rules(&mut self) -> Result<&Rules, Stop> {
        if self.rules.is_none() {
            let text = check::text_of_profile(self.profile)?;
            self.rules = Some(parse(&self.profile.rules(), &text, self.profile.setting())?);
        }
        self.rules.as_ref().ok_or_else(|| Stop::not_ready("the rules of the profile cannot be read"))
    }
}

/// The folders of the stories in `folder`, by name; `folder` itself when it is one.
///
/// # Errors
///
/// A [`Stop`] with exit code 2 when there is none.
pub(super) fn folders(folder: &Path) -> Result<Vec<PathBuf>, Stop> {
    // A folder with a call and no wish is told when it is read: a story must not be lost for a missing file.
    let is_story = |path: &PathBuf| path.join("want.toml").is_file() || path.join("ask.json").is_file();
    if is_story(&folder.to_owned()) {
        return Ok(vec![folder.to_owned()]);
    }
    let entries = fs::read_dir(folder).map_err(|fault| unreadable(folder, &fault))?;
    let mut found: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).filter(is_story).collect();
    found.sort();
    if found.is_empty() {
        let told = format!(
            "`{}` holds no story (a folder with a `want.toml`); `bursar policy test --example DIR` writes two",
            folder.display()
        );
        return Err(Stop::usage(told));
    }
    Ok(found)
}

/// Reads and judges the story in `folder`; what is wrong with it is told in its place.
pub(super) fn judge(folder: &Path, setting: Setting, default: &mut Default<'_>) -> Case {
    let story = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
    let end = judged(folder, setting, default)
        .unwrap_or_else(|Stop { exit, sentence }| End::Unjudged { error: sentence, exit });
    Case { story, end }
}

/// # Errors
///
/// A [`Stop`] with exit code 2 for a file that cannot be read, 4 for rules that cannot be used.
fn judged(folder: &Path, setting: Setting, default: &mut Default<'_>) -> Result<End, Stop> {
    let want = wanted(&folder.join("want.toml"))?;
    let path = folder.join("ask.json");
    let ask: Ask = serde_json::from_str(&text(&path)?).map_err(|fault| unreadable(&path, &fault))?;
    if ask.tool != "x402_fetch" {
        return Err(unreadable(&path, &"`tool` must be `x402_fetch`"));
    }
    let reply = recorded::read(&folder.join("reply.http")).map_err(Stop::usage)?;
    let path = folder.join("rules.toml");
    let own = if path.exists() { Some(parse(&path, &check::text_of(&path)?, setting)?) } else { None };
    let rules = match &own {
        Some(rules) => rules,
        None => default.rules()?,
    };
    let came = match errand_of_call(ask.arguments) {
        Ok(errand) => came_of(rules, &errand, &reply),
        Err(unusable) => Came::Refuse(vec![unusable.code]),
    };
    Ok(End::Judged {
        as_wanted: want.agrees(&came),
        wanted: want.words(),
        came: came.words(),
        codes: if let Came::Refuse(codes) = came { codes } else { Vec::new() },
    })
}

/// One purchase up to the point where a vault would be asked, with a recording in the seller's place.
fn came_of(rules: &Rules, errand: &Errand, reply: &Recorded) -> Came {
    let refused = |reasons: &[Refusal]| Came::Refuse(reasons.iter().map(|reason| reason.code().to_owned()).collect());
    if let Err(reasons) = may_visit(rules, errand) {
        return refused(&reasons);
    }
    match reply.status {
        402 => {}
        300..=399 => return Came::Refuse(vec!["redirect_refused".to_owned()]),
        status => return Came::Nothing(format!("the answer has status {status}")),
    }
    let demand = match read(HeaderView::new(&reply.headers), &reply.body) {
        Ok(Found::Demand(demand)) => demand,
        Ok(Found::NotX402(rail)) => return Came::Nothing(rail.sentence().to_owned()),
        Err(unreadable) => return refused(&[Refusal::from(unreadable)]),
    };
    let challenge = demand.challenge();
    // A recording is as old as it is; the rules are asked about the moment when it was made.
    let now_s = challenge.seller_time_s.unwrap_or_else(clock::now_s);
    match gate(rules, errand, challenge, None, now_s) {
        Err(reasons) => refused(&reasons),
        Ok(vetted) => {
            let terms = vetted.into_inner();
            let asset = rules.asset(&terms.asset_id());
            Came::Pay { money: asset.and_then(|asset| Money::of(terms.amount, asset)), payee: terms.payee }
        }
    }
}

impl Want {
    fn agrees(&self, came: &Came) -> bool {
        match (self.outcome, came) {
            (Outcome::Pay, Came::Pay { money, payee }) => {
                self.money.is_none_or(|wanted| *money == Some(wanted))
                    && self.payee.is_none_or(|wanted| *payee == wanted)
            }
            (Outcome::Refuse, Came::Refuse(codes)) => codes.first() == self.code.as_ref(),
            (Outcome::Nothing, Came::Nothing(_)) => true,
            _ => false,
        }
    }

    fn words(&self) -> String {
        match self.outcome {
            Outcome::Pay => {
                let money = self.money.map(|money| format!(" {money}")).unwrap_or_default();
                let payee = self.payee.map(|payee| format!(" to {payee}")).unwrap_or_default();
                format!("pay{money}{payee}")
            }
            Outcome::Refuse => format!("refuse: {}", self.code.as_deref().unwrap_or_default()),
            Outcome::Nothing => "nothing to pay".to_owned(),
        }
    }
}

impl Came {
    fn words(&self) -> String {
        match self {
            Self::Pay { money, payee } => {
                let money = money.map_or_else(|| "an amount beyond counting".to_owned(), |money| money.to_string());
                format!("pay {money} to {payee}")
            }
            Self::Refuse(codes) => format!("refuse: {}", codes.join(", ")),
            Self::Nothing(why) => format!("nothing to pay: {why}"),
        }
    }
}

fn wanted(path: &Path) -> Result<Want, Stop> {
    let want: Want = toml::from_str(&text(path)?).map_err(|fault| unreadable(path, &fault.message()))?;
    let known = |code: &String| code == "bad_arguments" || Refusal::CODES.contains(&code.as_str());
    let why = match (want.outcome, &want.code) {
        (Outcome::Refuse, None) => "`outcome = \"refuse\"` needs a `code`; `bursar explain` shows them".to_owned(),
        (Outcome::Refuse, Some(code)) if !known(code) => format!("`{}` is no code of a refusal", code.escape_debug()),
        (Outcome::Pay | Outcome::Nothing, Some(_)) => "`code` goes with `outcome = \"refuse\"`".to_owned(),
        (Outcome::Refuse | Outcome::Nothing, _) if want.money.is_some() || want.payee.is_some() => {
            "`money` and `payee` go with `outcome = \"pay\"`".to_owned()
        }
        _ => return Ok(want),
    };
    Err(unreadable(path, &why))
}

fn parse(path: &Path, text: &str, setting: Setting) -> Result<Rules, Stop> {
    rules_file::parse(text, setting).map_err(|fault| check::refused(path, &fault))
}

fn text(path: &Path) -> Result<String, Stop> {
    let length = fs::metadata(path).map_err(|fault| unreadable(path, &fault))?.len();
    if FILE_BYTES < length {
        return Err(unreadable(path, &format!("it has more than {FILE_BYTES} bytes")));
    }
    fs::read_to_string(path).map_err(|fault| unreadable(path, &fault))
}

fn unreadable(path: &Path, why: &dyn std::fmt::Display) -> Stop {
    let why = why.to_string();
    let one_line = why.split_whitespace().collect::<Vec<_>>().join(" ");
    Stop::usage(format!("`{}` cannot be read: {}", path.display(), one_line.trim_end_matches('.')))
}
