//! A reader at work: each console block command by command, each bash block as one script, each call of an agent through
//! `bursar serve`, each rules file through `bursar check`, on a machine of the reader's own.

use bursar::demo::SHOP_PASSPHRASE;
use serde_json::{Value, json};

use crate::block::{Answer, Step, steps};
use crate::machine::{Machine, Seat};
use crate::page::{Block, Page};
use crate::screen::{difference, missing, named};
use crate::terminal::{Said, Terminal, piped};
use crate::unrun;

/// What makes `bursar` mean a sandbox, in the words of the pages.
const ALIAS: &str = "alias bursar=\"bursar --sandbox ~/play\"";
/// How commands begin that stay open in a terminal of their own while the page goes on.
const STAYS: [&str; 3] =
    ["bursar demo --shop ", "chromium ", "setpriv --reuid=bursar --regid=bursar --clear-groups bursar vault"];
/// The database server's name as the pages write it, and as the machine knows it.
const SERVER: (&str, &str) = ("db.example.com", "localhost");
/// How a shell says that Ctrl-C ended a command that does nothing about it.
const INTERRUPTED: i32 = 130;

/// The reader.
pub(crate) struct Reader {
    page: String,
    machine: Machine,
    seat: Seat,
    /// What a shell is told first: what `bursar` means, where it does not mean the program.
    spelling: String,
    open: Vec<Terminal>,
    last_code: i32,
    last_screen: String,
    /// What the page calls accounts by, and what they are here.
    names: Vec<(String, String)>,
    /// What the agent heard last, where the page has not shown it yet.
    heard: Option<Value>,
}

impl Reader {
    pub(crate) async fn new(page: &Page) -> Self {
        Self {
            page: page.name.clone(),
            machine: Machine::start().await,
            seat: Seat::reader(),
            spelling: String::new(),
            open: Vec::new(),
            last_code: 0,
            last_screen: String::new(),
            names: Vec::new(),
            heard: None,
        }
    }

    pub(crate) async fn reads(&mut self, block: &Block) {
        let at = format!("{}:{}", self.page, block.line);
        match block.info.as_str() {
            "console" => {
                for step in steps(block) {
                    self.does(&step, &at).await;
                }
            }
            "bash" => self.copies(block, &at).await,
            "toml" => self.checks(block, &at).await,
            "json" => self.speaks(block, &at).await,
            _ => {}
        }
    }

    /// The reader begins anew, where nothing of the page was done.
    pub(crate) async fn moves(&mut self) {
        let page = Page { name: self.page.clone(), text: String::new() };
        *self = Self::new(&page).await;
    }

    /// The reader becomes root, at root's home.
    pub(crate) fn becomes_root(&mut self) {
        (self.seat.user, self.seat.folder) = ("root", "/root");
    }

    pub(crate) fn goes_to(&mut self, folder: &'static str) {
        self.seat.folder = folder;
    }

    /// A PostgreSQL server is there, and the reader runs it.
    pub(crate) async fn runs_a_server(&mut self) {
        let found = self.machine.serve_postgres().await;
        self.seat.variables.extend(found);
    }

    /// What a shell of the reader's finds in its environment.
    pub(crate) fn sets(&mut self, name: &'static str, value: &str) {
        self.seat.variables.push((name, value.to_owned()));
    }

    async fn does(&mut self, step: &Step, at: &str) {
        let command = step.command.as_str();
        if command == ALIAS {
            self.spelling = "bursar() { command bursar --sandbox ~/play \"$@\"; }".to_owned();
            return;
        }
        if command == "unalias bursar" {
            self.spelling.clear();
            return;
        }
        if command == "echo $?" {
            assert_eq!(step.shown, [self.last_code.to_string()], "{at}: the exit code");
            self.last_code = 0;
            return;
        }
        self.nothing_failed(&format!("{at}: before `{command}`"));
        let said = if let Some(before) = step.until_stopped() {
            let mut terminal = self.opens(command);
            terminal.shows(&self.screen(before)).await;
            let said = terminal.stop().await;
            Said { code: said.code.map(|code| if code == INTERRUPTED { 0 } else { code }), ..said }
        } else if STAYS.iter().any(|begins| command.starts_with(begins)) {
            let mut terminal = self.opens(command);
            terminal.shows(&self.screen(&step.shown)).await;
            return self.open.push(terminal);
        } else if step.answers().is_empty() {
            self.runs(command, "").await
        } else {
            self.opens(command).answer(&self.typed(step.answers())).await
        };
        self.last_code = said.code.unwrap_or(-1);
        self.last_screen.clone_from(&said.screen);
        self.shows(step, &said.screen, at);
    }

    /// A command that does not end with 0 has to be followed by the page's word on it.
    pub(crate) fn nothing_failed(&self, at: &str) {
        assert_eq!(self.last_code, 0, "{at}: the page does not say that a command ends so: {}", self.last_screen);
    }

    fn shows(&mut self, step: &Step, screen: &str, at: &str) {
        if step.shown.is_empty() {
            return;
        }
        let shown = self.screen(&step.shown);
        let fault = difference(&shown, screen);
        assert!(fault.is_none(), "{at}: `{}`: {}", step.command, fault.unwrap_or_default());
        self.names.extend(named(&shown, screen));
    }

    /// A block that is copied to a shell as a whole: all of it has to end with 0. Single lines of it may be listed as not run.
    async fn copies(&mut self, block: &Block, at: &str) {
        self.nothing_failed(at);
        let lines = block.text.lines().filter(|line| !unrun::is_listed(&self.page, line));
        let script = lines.collect::<Vec<_>>().join("\n");
        let script = format!("{}\nset -e\n{}", self.spelling, self.meant(&script));
        let said = piped(self.machine.command(&self.seat, "bash"), &script, "").await;
        assert_eq!(said.code, Some(0), "{at}: {}", said.screen);
    }

    /// Runs a command line in the words of the page.
    async fn runs(&self, command: &str, input: &str) -> Said {
        let line = format!("{}\n{}", self.spelling, self.meant(command));
        piped(self.machine.command(&self.seat, "sh"), &line, input).await
    }

    fn opens(&self, command: &str) -> Terminal {
        let line = format!("{}\n{}", self.spelling, self.meant(command));
        Terminal::open(self.machine.command(&self.seat, "script"), &line)
    }

    fn typed(&self, answers: Vec<Answer>) -> Vec<Answer> {
        let typed = |answer: Answer| {
            let typed = match answer.typed.as_str() {
                "passphrase" => SHOP_PASSPHRASE.to_owned(),
                "Enter" => String::new(),
                other => self.meant(other),
            };
            Answer { question: self.meant(&answer.question), typed }
        };
        answers.into_iter().map(typed).collect()
    }

    /// What a terminal shows of what the page shows.
    fn screen(&self, shown: &[String]) -> Vec<String> {
        let step = Step { command: String::new(), shown: shown.to_vec() };
        step.screen().iter().map(|line| self.meant(line)).collect()
    }

    /// The page's words as they are here.
    fn meant(&self, words: &str) -> String {
        let words = words.replace(SERVER.0, SERVER.1);
        self.names.iter().fold(words, |words, (name, value)| words.replace(name, value))
    }

    /// A whole rules file: `bursar check` has to take it. One that begins with its name stays for the commands below it.
    async fn checks(&self, block: &Block, at: &str) {
        let first = block.text.lines().next().unwrap_or_default();
        let name = first.strip_prefix("# ").filter(|name| name.ends_with(".toml")).unwrap_or("rules.toml");
        let place = if block.text.contains("[sandbox]") { "--sandbox ~/box " } else { "" };
        let said = self.runs(&format!("cat >{name} && command bursar {place}check {name}"), &block.text).await;
        assert_eq!(said.code, Some(0), "{at}: {}", said.screen);
    }

    /// A call of the agent is made; the block after it shows what the agent hears.
    async fn speaks(&mut self, block: &Block, at: &str) {
        let shown: Value = serde_json::from_str(&block.text).unwrap();
        if let (Some(tool), Some(arguments)) = (shown.get("tool"), shown.get("arguments")) {
            let said = self.runs("bursar serve", &call(tool, arguments).to_string()).await;
            let answer = said.screen.lines().find_map(|line| serde_json::from_str::<Value>(line).ok());
            let answer = answer.unwrap_or_else(|| panic!("{at}: no answer: {said:?}"));
            self.heard = Some(answer["result"]["structuredContent"].clone());
        } else if let Some(heard) = self.heard.take() {
            let fault = missing(&shown, &heard, "");
            assert!(fault.is_none(), "{at}: {} in {heard:#}", fault.unwrap_or_default());
        }
    }
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
