//! The command line: one file a command, each of which parses, asks and shows, and decides nothing.
//!
//! Commands that give the agent more (open a session, approve, thaw, unlatch, resume, reload rules, unlock, keep a secret, sweep,
//! rotate) ask for the
//! operator's passphrase at a terminal and send it to the vault, which is the one that checks it.

pub mod exit;
mod terminal;

mod approval;
mod audit;
mod backup;
mod browser;
mod cells;
mod chains_shown;
mod check;
mod claim;
mod completions;
mod connect;
mod console;
mod content;
#[cfg(feature = "demo")]
mod demo;
mod doctor;
mod explain;
mod feed;
mod freeze;
mod init;
mod install;
mod ledger;
mod ledger_log;
mod metrics;
mod policy;
mod receipts;
mod reconcile;
mod resume;
mod rotate;
mod rules_shown;
mod secret;
mod serve;
mod session;
mod since;
mod spend;
mod status;
mod sweep;
mod sweeps_shown;
mod table;
mod unlock;
mod vault;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use bursar_vault::profile::Profile;
use clap::{CommandFactory, Parser, Subcommand};

use crate::{platform, spelling};
use exit::{Exit, Stop};

/// Lets an AI agent buy things over x402, and keeps it inside what you allowed.
///
/// Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused, 4 not ready.
#[derive(Debug, Parser)]
#[command(name = "bursar", version, disable_help_subcommand = true)]
struct Cli {
    /// Use the profile NAME (`~/.bursar/profiles/NAME`) instead of `~/.bursar`
    #[arg(long, global = true, value_name = "NAME", conflicts_with = "sandbox")]
    profile: Option<String>,

    /// Keep everything (rules, keys, ledger, sockets) in DIR: play money and test chains only
    #[arg(long, global = true, value_name = "DIR")]
    sandbox: Option<PathBuf>,

    /// In a sandbox, let FILE say whose the vault is, as `/etc/bursar/vault.toml` does for real money
    #[arg(long, global = true, value_name = "FILE", requires = "sandbox")]
    hardened: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

// A command's options are made when it is the one that was typed: `serve` starts for every client, and forty others need not.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    // Said by the command itself, whose help has more than one paragraph.
    Init(init::Init),
    /// Serve the payment tools to one MCP client over standard input and output
    Serve(serve::Serve),
    // Said by the command itself, whose help has more than one paragraph.
    Browser(browser::Browser),
    // Said by the command itself.
    Vault(vault::Vault),
    /// Unlock the key in the running vault with your passphrase
    Unlock(unlock::Unlock),
    /// Forget the key until it is unlocked again
    Lock(unlock::Lock),
    /// Open, list or close a budget for the agent
    #[command(subcommand)]
    Session(session::Session),
    /// Show budgets, what is unresolved, and the next step for you
    Status(status::Status),
    // Said by the commands themselves, whose help has more than one paragraph.
    Watch(watch::Watch),
    Metrics(metrics::Metrics),
    Console(console::ConsoleCommand),
    /// List the purchases that wait for you, and those you decided about
    Approvals(approval::Approvals),
    /// Allow one purchase that waits for you. Shows its terms, and needs your passphrase
    Approve(approval::Approve),
    /// Refuse one purchase that waits for you, or take an unused yes back (no passphrase needed)
    Deny(approval::Deny),
    /// Stop all payments at once (no passphrase needed)
    Freeze(freeze::Freeze),
    /// Allow payments again after a freeze
    Thaw(freeze::Thaw),
    /// Confirm that payments may go on after a storage or clock fault shut them off
    Unlatch(freeze::Unlatch),
    /// Lift a host's quarantine, and put up with payments that a host or a payee lost
    Resume(resume::Resume),
    /// Ask the chains of the rules now what became of payments, and show what they proved
    Reconcile(reconcile::Reconcile),
    // Said by the commands themselves, whose help has more than one paragraph.
    Sweep(sweep::Sweep),
    Rotate(rotate::Rotate),
    /// Load the rules file again in the running vault
    Reload(freeze::Reload),
    /// Keep, list or forget the API keys that sellers want, and what the proxy wants
    #[command(subcommand)]
    Secret(secret::Secret),
    /// Show what happened: payments, refusals, sessions, operator acts
    Log(ledger_log::Log),
    /// Show what was paid: one row a payment, or everything about one
    Receipts(receipts::Receipts),
    /// Show what was spent, added up by host, payee, day or budget
    Spend(spend::Spend),
    /// Check, export and sign the log
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Check the ledger, and rebuild a damaged one by hand
    #[command(subcommand)]
    Ledger(ledger::Ledger),
    // Said by the commands themselves, whose help has more than one paragraph.
    Backup(backup::Backup),
    Restore(backup::Restore),
    // Said by the command itself, whose help has more than one paragraph.
    Check(check::Check),
    /// Write everything that is known of a payment to one file, for a claim against its seller
    Claim(claim::Claim),
    /// List, show, copy out or prune what was fetched and bought
    #[command(subcommand)]
    Content(content::Content),
    /// Judge a payment id, a recorded 402 (a file) or a live URL against the rules, without paying
    Explain(explain::Explain),
    /// Try rules out: on your own stories, and on the ledger's past
    #[command(subcommand)]
    Policy(policy::Policy),
    // Said by the commands themselves, whose help has more than one paragraph.
    Doctor(doctor::Doctor),
    Install(install::Install),
    // Said by the command itself.
    Uninstall(install::Uninstall),
    /// Print what makes a shell complete bursar's commands and options
    Completions(completions::Completions),
    /// See bursar work: a bundled seller on this machine, real signatures, play money
    #[cfg(feature = "demo")]
    Demo(demo::Demo),
}

/// The whole command line, for whoever writes about it: completions and manual pages.
#[must_use]
pub fn command() -> clap::Command {
    let mut whole = Cli::command();
    whole.build();
    whole
}

/// Runs the command line of this process and gives its exit code.
#[must_use]
pub fn main() -> ExitCode {
    platform::ready_output();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(fault) => {
            // With every command made, so that what is shown tells of all of them.
            let fault = command().try_get_matches().err().unwrap_or(fault);
            let exit = if fault.use_stderr() { Exit::Usage } else { Exit::Done };
            if fault.print().is_err() {
                return Exit::Failed.into();
            }
            return exit.into();
        }
    };
    match run(&cli) {
        Ok(exit) => exit.into(),
        Err(stop) => {
            table::complain(&format!("bursar: {}", cli.advice(&stop.sentence)));
            stop.exit.into()
        }
    }
}

impl Cli {
    /// A sentence with its commands spelled for the profile of this command line.
    fn advice(&self, sentence: &str) -> String {
        match self.place() {
            Ok(profile) => spelling::advice(&profile, sentence),
            Err(_) => sentence.to_owned(),
        }
    }

    fn global(&self) -> install::Global<'_> {
        install::Global {
            sandbox: self.sandbox.as_deref(),
            hardened: self.hardened.as_deref(),
            profile: self.profile.as_deref(),
        }
    }

    fn place(&self) -> Result<Profile, Stop> {
        connect::profile(self.sandbox.as_deref(), self.hardened.as_deref(), self.profile.as_deref())
    }
}

fn run(cli: &Cli) -> Result<Exit, Stop> {
    match &cli.command {
        Command::Install(install) => return install.run(cli.global()),
        Command::Completions(completions) => return completions.run(),
        Command::Uninstall(uninstall) => return uninstall.run(cli.sandbox.as_deref()),
        #[cfg(feature = "demo")]
        Command::Demo(demo) => return demo.run(cli.sandbox.as_deref()),
        _ => {}
    }
    let profile: &Profile = &cli.place()?;
    match &cli.command {
        Command::Init(command) => command.run(profile, cli.global()),
        Command::Serve(command) => command.run(profile),
        Command::Browser(command) => command.run(profile),
        Command::Vault(command) => command.run(profile),
        Command::Unlock(command) => command.run(profile),
        Command::Lock(command) => command.run(profile),
        Command::Session(command) => command.run(profile),
        Command::Status(command) => command.run(profile),
        Command::Watch(command) => command.run(profile),
        Command::Metrics(command) => command.run(profile),
        Command::Console(command) => command.run(profile),
        Command::Approvals(command) => command.run(profile),
        Command::Approve(command) => command.run(profile),
        Command::Deny(command) => command.run(profile),
        Command::Freeze(command) => command.run(profile),
        Command::Thaw(command) => command.run(profile),
        Command::Unlatch(command) => command.run(profile),
        Command::Resume(command) => command.run(profile),
        Command::Reconcile(command) => command.run(profile),
        Command::Sweep(command) => command.run(profile),
        Command::Rotate(command) => command.run(profile),
        Command::Reload(command) => command.run(profile),
        Command::Secret(command) => command.run(profile),
        Command::Log(command) => command.run(profile),
        Command::Receipts(command) => command.run(profile),
        Command::Spend(command) => command.run(profile),
        Command::Audit(command) => command.run(profile),
        Command::Ledger(command) => command.run(profile),
        Command::Backup(command) => command.run(profile),
        Command::Restore(command) => command.run(profile),
        Command::Check(command) => command.run(profile),
        Command::Claim(command) => command.run(profile),
        Command::Content(command) => command.run(profile),
        Command::Doctor(command) => command.run(profile, cli.sandbox.as_deref()),
        Command::Explain(command) => command.run(profile),
        Command::Policy(command) => command.run(profile),
        Command::Install(_) | Command::Uninstall(_) | Command::Completions(_) => Ok(Exit::Done),
        #[cfg(feature = "demo")]
        Command::Demo(_) => Ok(Exit::Done),
    }
}
