//! `bursar console`: shows the address and the code at the terminal, and serves the page until it is told to stop.

use std::time::Duration;

use bursar_vault::confine::{self, Plan};
use bursar_vault::profile::{Profile, ProfileFault};
use bursar_vault::secrets;
use clap::Args;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::connect::Operator;
use super::exit::{Exit, Stop};
use super::{serve, table};
use crate::console::{Bounds, CodeDesk, Console, ConsoleFault, News};
use crate::console_note::Note;

/// Watch budgets and payments, approve, deny and freeze, on a web page of your own on this machine
///
/// The page answers on 127.0.0.1 at an address that is shown here, beside a code to log in with. The code is good once; press
/// Enter for a fresh one. Approving and thawing need your passphrase there too. It runs until Ctrl-C. See docs/console.md.
#[derive(Debug, Args)]
pub(super) struct ConsoleCommand {}

impl ConsoleCommand {
    #[expect(clippy::unused_self, reason = "every command is run the same way")]
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        serve::log_to_stderr();
        secrets::refuse_wallet_variables().map_err(|fault| Stop::not_ready(fault.to_string()))?;
        // Passphrases go through here.
        secrets::forbid_core_dumps().map_err(|fault| Stop::not_ready(fault.to_string()))?;
        // A vault is started now or never: afterwards no program can be started from here.
        drop(Operator::connect_or_start(profile)?);
        let console = Console::open(profile, Bounds::usual())?;
        let _note = noted(profile, &console);
        let plan = Plan::console(profile).map_err(ProfileFault::from)?;
        tracing::info!("confined: {}", confine::told(&confine::confine(&plan)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let ended = runtime.block_on(serve(console));
        // A line of the terminal that is being waited for, and a check of the ledger, concern nobody any more.
        runtime.shutdown_timeout(Duration::from_millis(200));
        ended
    }
}

/// Writes down where the console listens, so that an MCP client can show it; without the note only that is missing. Where the
/// vault is the machine's there is none: `serve` is another user's there.
fn noted(profile: &Profile, console: &Console) -> Option<Note> {
    if profile.hardened().is_some() {
        return None;
    }
    match Note::write(profile, console.port(), console.base()) {
        Ok(note) => Some(note),
        Err(fault) => {
            table::complain(&format!("MCP clients are not told of this console: {fault}"));
            None
        }
    }
}

async fn serve(console: Console) -> Result<Exit, Stop> {
    let codes = console.codes();
    table::say(&format!("Your console: {}\n", console.address()))?;
    show_code(&codes)?;
    table::say(
        "\nThe address alone lets nobody in. Enter shows a fresh code, Ctrl-C ends the console and every login.",
    )?;
    let stop = serve::told_to_stop()?;
    tokio::spawn(fresh_codes(codes, lines()));
    console.serve(stop, tell).await?;
    Ok(Exit::Done)
}

fn show_code(codes: &CodeDesk) -> Result<(), Stop> {
    let code = codes.issue()?;
    table::say(&format!("Log in with:  {}   (once, within 5 minutes)", code.spelled().as_str()))
}

/// A fresh code for each line that is typed. Where nobody can type there is the first one alone.
async fn fresh_codes(codes: CodeDesk, mut typed: UnboundedReceiver<()>) {
    while typed.recv().await == Some(()) {
        if show_code(&codes).is_err() {
            return;
        }
    }
}

/// Lines of standard input, whatever they say.
fn lines() -> UnboundedReceiver<()> {
    let (teller, lines) = unbounded_channel();
    tokio::spawn(async move {
        let mut input = BufReader::new(tokio::io::stdin()).split(b'\n');
        while let Ok(Some(_line)) = input.next_segment().await {
            if teller.send(()).is_err() {
                return;
            }
        }
    });
    lines
}

fn tell(news: News) {
    table::complain(match news {
        News::LoggedIn => "Logged in. The code is used up.",
        News::LoggedOut => "Logged out. Enter shows a fresh code.",
        News::CodeSpent => "The code was typed wrong five times and is good for nothing now. Enter shows a fresh one.",
    });
}

impl From<ConsoleFault> for Stop {
    fn from(fault: ConsoleFault) -> Self {
        Self::not_ready(fault.to_string())
    }
}
