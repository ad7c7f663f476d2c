//! `bursar demo`: the main job in one command, with nothing installed and no real money.

use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::{Exit, Stop};
use crate::demo::{self, DemoOptions};

/// See bursar work: a bundled seller on this machine, real signatures, play money.
#[derive(Debug, Args)]
pub(super) struct Demo {
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// Keep the sandbox folder in DIR, to look at afterwards
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

impl Demo {
    pub(super) fn run(&self, sandbox: Option<&Path>) -> Result<Exit, Stop> {
        let keep = self.keep.clone().or_else(|| sandbox.map(Path::to_owned));
        let verdict = demo::run(DemoOptions { json: self.json, keep }, &mut std::io::stdout().lock())
            .map_err(|fault| Stop::new(Exit::Failed, fault.to_string()))?;
        Ok(if verdict.ok { Exit::Done } else { Exit::Failed })
    }
}
