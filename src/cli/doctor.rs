//! `bursar doctor`: everything that has to be right for a payment, one line each, with the command that mends it.
//!
//! Looks only. It asks for no passphrase, starts no vault, writes nothing, and holds nothing that a running vault waits for.

mod books;
mod chains;
mod clients;
mod guard;
mod line;
mod machine;
mod rivals;

use std::path::{Path, PathBuf};

use bursar_vault::profile::Profile;
use clap::Args;
use serde::Serialize;

use self::books::Books;
use self::line::{Line, Lines, Verdict};
use super::exit::{Exit, Stop};
use super::install;
use super::table::{self, Paint};
use crate::clock;
use crate::spelling;

/// Look whether everything that a payment needs is there, with the command that mends what is not.
///
/// Needs no passphrase, starts nothing and changes nothing. Exit codes: 0 nothing failed (there may be warnings),
/// 1 something did.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Ask nothing of the network: no names, no proxy, no chain
    #[arg(long)]
    offline: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The folder that stands for your home; only in a sandbox
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

/// Where sentences begin, in columns.
const INDENT: usize = 19;

/// Everything that was found.
#[derive(Debug, Serialize)]
struct Report<'l> {
    verdict: Verdict,
    profile: String,
    lines: &'l [Line],
}

impl Doctor {
    pub(super) fn run(&self, profile: &Profile, sandbox: Option<&Path>) -> Result<Exit, Stop> {
        let home = install::home(sandbox, self.home.as_deref())?;
        let mut lines = Lines::default();
        machine::environment(&mut lines, std::env::vars_os());
        let is_set_up = profile.is_the_vaults().is_err() || profile.keystore().symlink_metadata().is_ok();
        if is_set_up {
            self.profile(&mut lines, profile)?;
        } else {
            lines.fail("profile", format!("`{}` is not set up", profile.home().display()), "bursar init");
            machine::clock(&mut lines, clock::now_s(), None);
            machine::proxy(&mut lines, None, is_set, None);
            machine::authorities(&mut lines, None, profile.home());
        }
        clients::look(&mut lines, profile, &home);
        let verdict = lines.worst();
        let mut lines = lines.in_order();
        for line in &mut lines {
            line.says = spelling::advice(profile, &line.says);
            line.fix = line.fix.take().map(|fix| spelled(profile, &fix));
        }
        if self.json {
            let report = Report { verdict, profile: profile.home().display().to_string(), lines: &lines };
            table::say_json(&report)?;
        } else {
            show(profile, &lines)?;
        }
        Ok(if verdict == Verdict::Fail { Exit::Failed } else { Exit::Done })
    }

    fn profile(&self, lines: &mut Lines, profile: &Profile) -> Result<(), Stop> {
        let runtime =
            if self.offline { None } else { Some(tokio::runtime::Builder::new_current_thread().enable_all().build()?) };
        let status = guard::vault(lines, profile);
        guard::layer(lines, profile);
        let Books { rules, payer } = books::look(lines, profile, status.as_ref());
        guard::readiness(lines, profile, status.as_ref());
        let mut over = status.as_ref().map(|status| (status.now_s, "the ledger"));
        if let (Some(rules), Some(runtime)) = (&rules, &runtime) {
            machine::names(lines, rules, runtime);
            if let Some(block_s) = chains::look(lines, profile, rules, payer) {
                over = over.max(Some((block_s, "the newest final block")));
            }
        }
        machine::proxy(lines, rules.as_deref(), is_set, runtime.as_ref());
        machine::authorities(lines, rules.as_deref(), profile.home());
        machine::clock(lines, clock::now_s(), over);
        Ok(())
    }
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// A command of ours spelled for `profile`.
fn spelled(profile: &Profile, fix: &str) -> String {
    let bursar = format!("{} ", spelling::spelled(profile));
    let fix = spelling::advice(profile, fix).replace(": bursar ", &format!(": {bursar}"));
    match fix.strip_prefix("bursar ") {
        Some(rest) => format!("{bursar}{rest}"),
        None => fix,
    }
}

fn show(profile: &Profile, lines: &[Line]) -> Result<(), Stop> {
    table::say(&format!("bursar {}  {}", env!("CARGO_PKG_VERSION"), profile.home().display()))?;
    for line in lines {
        let (mark, paint) = match line.verdict {
            Verdict::Pass => ("pass", Paint::Good),
            Verdict::Warn => ("warn", Paint::Odd),
            Verdict::Fail => ("FAIL", Paint::Bad),
        };
        table::say_marked(mark, paint, &format!("{:<13}{}", line.about, line.says), INDENT)?;
        if let Some(fix) = &line.fix {
            table::say_wrapped(&format!("{:INDENT$}→ {fix}", ""), INDENT.saturating_add(2))?;
        }
    }
    let count = |verdict| lines.iter().filter(|line| line.verdict == verdict).count();
    let (fails, warns) = (count(Verdict::Fail), count(Verdict::Warn));
    table::say(&format!("{} passed, {warns} to think about, {fails} failed", count(Verdict::Pass)))
}
