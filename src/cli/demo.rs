//! `bursar demo`: the main job in one command, with nothing installed and no real money.

use std::path::{Path, PathBuf};

use clap::Args;

use super::exit::{Exit, Stop};
use crate::demo::{self, DemoOptions, ShopOptions};

/// See bursar work: a bundled seller on this machine, real signatures, play money.
#[derive(Debug, Args)]
pub(super) struct Demo {
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// Keep the sandbox folder in DIR, to look at afterwards
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Instead of the demo, open its seller and a sandbox in the new folder DIR, for commands of your own, until Ctrl-C
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "keep"])]
    shop: Option<PathBuf>,
    /// The seller's port on this machine, with `--shop`; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 8402, requires = "shop")]
    port: u16,
}

impl Demo {
    pub(super) fn run(&self, sandbox: Option<&Path>) -> Result<Exit, Stop> {
        if let Some(folder) = &self.shop {
            let options = ShopOptions { folder: folder.clone(), port: self.port };
            demo::open_shop(&options, &mut std::io::stdout().lock())
                .map_err(|fault| Stop::new(Exit::Failed, fault.to_string()))?;
            return Ok(Exit::Done);
        }
        let keep = self.keep.clone().or_else(|| sandbox.map(Path::to_owned));
        let verdict = demo::run(DemoOptions { json: self.json, keep }, &mut std::io::stdout().lock())
            .map_err(|fault| Stop::new(Exit::Failed, fault.to_string()))?;
        Ok(if verdict.ok { Exit::Done } else { Exit::Failed })
    }
}
