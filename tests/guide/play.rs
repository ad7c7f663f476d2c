//! Runs the pages: each console block command by command, each call of an agent through `bursar serve`, each rules file
//! through `bursar check`, against the bundled seller and in a folder of its own.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use bursar::demo::SHOP_PASSPHRASE;
use bursar_vault::profile::Profile;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::block::{Answer, Step, steps};
use crate::farewell::send_away;
use crate::page::{Block, Page};
use crate::screen::{difference, missing};
use crate::terminal::{Said, run};

const BURSAR: &str = env!("CARGO_BIN_EXE_bursar");
/// The seller's port as the pages write it, and where a free one is looked for: with as many digits.
const PORT: u16 = 8402;
const PORTS: std::ops::Range<u16> = 8403..9900;
/// The folder in which a reader works, as the pages write it.
const HOME: &str = "/home/you";
/// What makes `bursar` mean the sandbox of the shop, in the words of the pages.
const ALIAS: &str = "alias bursar=\"bursar --sandbox ~/play\"";
/// What may run without a sandbox, as a shell's patterns: nothing of it looks at a profile.
const HARMLESS: &str = "'demo '*|'check '*.toml|'policy test'|'completions '*|'--help '*|'--version '*|'--sandbox '*";
const PATIENCE: Duration = Duration::from_secs(30);

/// A reader at work.
struct Reader {
    page: String,
    folder: TempDir,
    /// What a shell is told first: which program `bursar` is.
    spelling: String,
    port: u16,
    shop: Option<Child>,
    last_code: i32,
    last_screen: String,
    /// What the agent heard last, where the page has not shown it yet.
    heard: Option<Value>,
}

impl Reader {
    fn new(page: &Page) -> Self {
        let folder = TempDir::with_prefix("bursar-guide-").unwrap();
        DirBuilder::new().mode(0o700).create(folder.path().join("home")).unwrap();
        Self {
            page: page.name.clone(),
            folder,
            spelling: outside(),
            port: PORT,
            shop: None,
            last_code: 0,
            last_screen: String::new(),
            heard: None,
        }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    async fn reads(&mut self, block: &Block) {
        let at = format!("{}:{}", self.page, block.line);
        match block.info.as_str() {
            "console" => {
                for step in steps(block) {
                    self.does(&step, &at).await;
                }
            }
            "toml" => self.checks(block, &at).await,
            "json" => self.speaks(block, &at).await,
            _ => {}
        }
    }

    async fn does(&mut self, step: &Step, at: &str) {
        let command = step.command.as_str();
        if command == ALIAS {
            let place = self.home().join("play").display().to_string();
            self.spelling = format!("bursar() {{ '{BURSAR}' --sandbox '{place}' \"$@\"; }}");
            return;
        }
        if command == "unalias bursar" {
            self.spelling = outside();
            return;
        }
        if command.starts_with("bursar demo --shop ") {
            let said = self.opens_shop(command).await;
            return self.shows(step, &said, at);
        }
        if command == "echo $?" {
            assert_eq!(step.shown, [self.last_code.to_string()], "{at}: the exit code");
            self.last_code = 0;
            return;
        }
        self.nothing_failed(&format!("{at}: before `{command}`"));
        let said = self.runs(command, &step.answers(), "").await;
        self.last_code = said.code.unwrap_or(-1);
        self.last_screen = said.screen.clone();
        self.shows(step, &said.screen, at);
    }

    /// A command that does not end with 0 has to be followed by the page's word on it.
    fn nothing_failed(&self, at: &str) {
        assert_eq!(self.last_code, 0, "{at}: the page does not say that a command ends so: {}", self.last_screen);
    }

    fn shows(&self, step: &Step, screen: &str, at: &str) {
        if step.shown.is_empty() {
            return;
        }
        let fault = difference(&step.screen(), &self.told(screen));
        assert!(fault.is_none(), "{at}: `{}`: {}", step.command, fault.unwrap_or_default());
    }

    /// Runs a command line in the words of the page.
    async fn runs(&self, command: &str, answers: &[Answer], input: &str) -> Said {
        let answers: Vec<Answer> = answers
            .iter()
            .map(|answer| {
                let typed = match answer.typed.as_str() {
                    "passphrase" => SHOP_PASSPHRASE.to_owned(),
                    "Enter" => String::new(),
                    other => self.meant(other),
                };
                Answer { question: self.meant(&answer.question), typed }
            })
            .collect();
        run(&format!("{}\n{}", self.spelling, self.meant(command)), &answers, input, &self.home()).await
    }

    /// The page's words as they are here.
    fn meant(&self, words: &str) -> String {
        let home = self.home().display().to_string();
        words
            .replace(&format!(":{PORT}"), &format!(":{}", self.port))
            .replace(HOME, &home)
            .replace("~/", &format!("{home}/"))
    }

    /// What was said here in the page's words.
    fn told(&self, words: &str) -> String {
        let port = format!(":{}", self.port);
        words.replace(&port, &format!(":{PORT}")).replace(&self.home().display().to_string(), HOME)
    }

    /// Opens the shop beside, on a free port, and gives what it said.
    async fn opens_shop(&mut self, command: &str) -> String {
        let folder = command.rsplit(' ').next().unwrap();
        let first = u16::try_from(std::process::id() % 1000).unwrap();
        let ports = PORTS.cycle().skip(usize::from(first)).take(PORTS.len());
        for port in ports {
            let mut shop = Command::new(BURSAR);
            shop.env_clear().args(["demo", "--shop", &self.meant(folder), "--port", &port.to_string()]);
            shop.current_dir(self.home()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = shop.kill_on_drop(true).spawn().unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let mut said = String::new();
            while let Some(line) = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap() {
                said.push_str(&line);
                said.push('\n');
                if line.starts_with("Ctrl-C ") {
                    (self.port, self.shop) = (port, Some(child));
                    return said;
                }
            }
            // The port is somebody else's; the folder was not made yet.
            let said = child.wait_with_output().await.unwrap();
            let words = String::from_utf8_lossy(&said.stderr).into_owned();
            assert!(words.contains("could not listen") && words.contains("`--port`"), "no shop: {words}");
        }
        panic!("no port is free for the shop");
    }

    /// A whole rules file: `bursar check` has to take it. One that begins with its name stays for the commands below it.
    async fn checks(&self, block: &Block, at: &str) {
        let first = block.text.lines().next().unwrap_or_default();
        let name = first.strip_prefix("# ").filter(|name| name.ends_with(".toml")).unwrap_or("rules.toml");
        fs::write(self.home().join(name), self.meant(&block.text)).unwrap();
        let place = if block.text.contains("[sandbox]") { "--sandbox ~/box " } else { "" };
        let said = self.runs(&format!("bursar {place}check {name}"), &[], "").await;
        assert_eq!(said.code, Some(0), "{at}: {}", said.screen);
    }

    /// A call of the agent is made; the block after it shows what the agent hears.
    async fn speaks(&mut self, block: &Block, at: &str) {
        let shown: Value = serde_json::from_str(&block.text).unwrap();
        if let (Some(tool), Some(arguments)) = (shown.get("tool"), shown.get("arguments")) {
            let arguments: Value = serde_json::from_str(&self.meant(&arguments.to_string())).unwrap();
            let said = self.runs("bursar serve", &[], &call(tool, &arguments).to_string()).await;
            let answer = said.screen.lines().find_map(|line| serde_json::from_str::<Value>(line).ok());
            let answer = answer.unwrap_or_else(|| panic!("{at}: no answer: {said:?}"));
            let heard = answer["result"]["structuredContent"].to_string();
            self.heard = Some(serde_json::from_str(&self.told(&heard)).unwrap());
        } else if let Some(heard) = self.heard.take() {
            let fault = missing(&shown, &heard, "");
            assert!(fault.is_none(), "{at}: {} in {heard:#}", fault.unwrap_or_default());
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // The shop dies with its handle; its vault, and those that commands started, are nobody's children.
        self.shop = None;
        for entry in fs::read_dir(self.home()).unwrap() {
            let path = entry.unwrap().path();
            if path.join("keystore.json").is_file() {
                send_away(&Profile::locate_sandbox(&path).unwrap());
            }
        }
    }
}

/// What `bursar` is where a page does not make it mean a sandbox: what would look at a profile is refused.
fn outside() -> String {
    format!(
        "bursar() {{ case \"$1 $2\" in {HARMLESS}) '{BURSAR}' \"$@\";; *) echo outside of a sandbox: \"$@\"; return 99;; esac; }}"
    )
}

/// A call as a client of the present revision makes it.
fn call(tool: &Value, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "guide", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }})
}

/// What a page may find done before its first block, in the words of its remark `<!-- run with: … -->`, and how it is done.
const BEFORE: [(&str, &str); 3] = [
    ("the shop", "```console\n$ bursar demo --shop ~/play\n…\n$ alias bursar=\"bursar --sandbox ~/play\"\n```\n"),
    (
        "a budget",
        "```console\n$ bursar session new --budget \"1.00 USD\"\n…\nType the amount (1.00 USD) to agree: ‹1.00 USD›\n\
         Operator passphrase: ‹passphrase›\n…\n```\n",
    ),
    (
        "a purchase",
        "```json\n{\"tool\": \"x402_fetch\", \"arguments\": {\"url\": \"https://shop.demo.test:8402/v2/report\"}}\n```\n\
         ```json\n{\"outcome\": \"paid\"}\n```\n",
    ),
];

/// Reads a page from its top to its end.
async fn read(page: &Page) {
    let mut reader = Reader::new(page);
    let asked = page.text.split_once("<!-- run with: ").and_then(|(_, rest)| rest.split_once(" -->"));
    for word in asked.map_or("", |(words, _)| words).split(", ").filter(|word| !word.is_empty()) {
        let (_, how) =
            BEFORE.iter().find(|(name, _)| *name == word).unwrap_or_else(|| panic!("{}: `{word}`?", page.name));
        for block in made_up(how).blocks() {
            reader.reads(&block).await;
        }
    }
    for block in page.blocks() {
        reader.reads(&block).await;
    }
    reader.nothing_failed(&page.name);
}

/// Pages with something to run, each with a test of its own, so that they run beside one another.
macro_rules! pages {
    ($($test:ident $page:literal)+) => {
        const PAGES: &[&str] = &[$($page),+];
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() {
            read(&Page::read(concat!("docs/", $page, ".md"))).await;
        })+
    };
}

pages! {
    the_page_of_approvals_runs_as_it_is_written "approvals"
    the_cookbook_runs_as_it_is_written "cookbook"
    the_questions_run_as_they_are_written "faq"
    the_page_of_keys_runs_as_it_is_written "keys"
    the_page_of_the_ledger_runs_as_it_is_written "ledger"
    the_page_of_refusals_runs_as_it_is_written "refusals"
    the_page_of_the_rules_runs_as_it_is_written "rules"
    the_start_runs_as_it_is_written "start"
    the_page_of_teams_runs_as_it_is_written "teams"
    the_troubleshooting_runs_as_it_is_written "troubleshooting"
}

#[test]
fn every_page_with_something_to_run_is_run() {
    let runs =
        |page: &Page| page.blocks().iter().any(|block| ["console", "toml", "json"].contains(&block.info.as_str()));
    let pages = Page::all().into_iter().filter(runs);
    let names: Vec<String> = pages.map(|page| page.name.replace("docs/", "").replace(".md", "")).collect();
    let mut listed: Vec<&str> = PAGES.to_vec();
    listed.sort_unstable();
    assert_eq!(names, listed);
}

/// A page that is made up, as a test of this test.
fn made_up(text: &str) -> Page {
    Page { name: "made-up".to_owned(), text: text.to_owned() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_wrong_is_found() {
    read(&made_up("```console\n$ bursar --version\nbursar …\n$ false\n$ echo $?\n1\n```\n")).await;
    for wrong in [
        "```console\n$ bursar demo --bogus\n```\n",
        "```console\n$ bursar --version\nbursar of another kind\n```\n",
        "```console\n$ bursar status\n```\n",
        "```console\n$ false\n$ echo $?\n0\n```\n",
        "```toml\n[payment]\nmax_per_payments = \"1.00 USD\"\n```\n",
    ] {
        let page = made_up(wrong);
        let ended = tokio::spawn(async move { read(&page).await }).await;
        assert!(ended.is_err(), "nothing was found in {wrong}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shop_closes_at_a_signal_ends_its_vault_and_leaves_its_folder() {
    let mut reader = Reader::new(&made_up(""));
    reader.opens_shop("bursar demo --shop ~/play").await;
    let profile = Profile::locate_sandbox(&reader.home().join("play")).unwrap();
    assert!(!crate::farewell::nobody_has_the_ledger(&profile), "a vault runs");
    let mut shop = reader.shop.take().unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(shop.id().unwrap()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ended = timeout(PATIENCE, shop.wait()).await.unwrap().unwrap();
    assert_eq!(ended.code(), Some(0));
    assert!(crate::farewell::nobody_has_the_ledger(&profile), "its vault is gone");
    assert!(profile.rules().is_file());
    let mut again = Command::new(BURSAR);
    again.env_clear().args(["demo", "--shop"]).arg(profile.home()).args(["--port", "0"]);
    let said = again.output().await.unwrap();
    assert_eq!(said.status.code(), Some(1));
    assert!(String::from_utf8(said.stderr).unwrap().contains("there already"));
}

#[test]
fn a_reader_works_in_a_folder_of_its_own() {
    let reader = Reader::new(&made_up(""));
    assert!(
        reader.home().starts_with(std::env::temp_dir())
            && Path::new(&reader.meant("~/play")).starts_with(reader.home())
    );
    assert_eq!(
        reader.told(&reader.meant("https://shop.demo.test:8402/ in /home/you/play")),
        "https://shop.demo.test:8402/ in /home/you/play"
    );
}
