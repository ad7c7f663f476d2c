//! `bursar demo`: the main job in one command, against a seller of our own, with play money in a sandbox folder.
//!
//! It must never touch a real profile, a real chain, or any address but this machine's own; and it must never say that
//! a step went well on bursar's word alone: the seller counts signatures, the play chain moves balances.

mod client;
mod money;
mod rehearsal;
mod script;
mod seller;
mod shop;
mod show;
mod stage;

use std::future::Future;
use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;

use tokio::runtime;

pub use self::rehearsal::rehearse;
use self::script::ScriptFault;
pub use self::shop::{SHOP_PASSPHRASE, ShopOptions, open_shop};
use self::show::{Reader, Show};
pub use self::show::{Step, Verdict};
use self::stage::Stage;
use crate::platform::{Stop, output_size};

/// What the demo is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DemoOptions {
    /// Print one JSON object instead of a table.
    pub json: bool,
    /// Make the sandbox in this new folder and keep it; absent: in a temporary one that is removed.
    pub keep: Option<PathBuf>,
}

/// Why the demo came to no verdict.
#[derive(Debug, thiserror::Error)]
pub enum DemoFault {
    /// A process, a file or a socket failed.
    #[error("the demo could not be run: {0}")]
    Broken(String),
    /// The user stopped it.
    #[error("the demo was stopped before its end; everything it started is gone again")]
    Stopped,
}

/// Runs the demo to its end and shows it on `out`. Blocks; must not be called from inside an async runtime.
///
/// Guarantees that every process it started has ended, and that a temporary folder is removed, however it returns.
/// It spends play money on this machine only.
///
/// # Errors
///
/// [`DemoFault`] when there is no verdict. A step that differs is no error but a [`Verdict`] that is not `ok`.
pub fn run(options: DemoOptions, out: &mut dyn Write) -> Result<Verdict, DemoFault> {
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|fault| DemoFault::Broken(fault.to_string()))?;
    let mut show = Show::new(out, reader(options.json));
    runtime.block_on(async {
        let stopped = stopped().map_err(|fault| DemoFault::Broken(fault.to_string()))?;
        tokio::select! {
            ended = perform(options.keep, &mut show) => ended.map_err(|fault| DemoFault::Broken(fault.to_string())),
            () = stopped => Err(DemoFault::Stopped),
        }
    })
}

async fn perform(keep: Option<PathBuf>, show: &mut Show<'_>) -> Result<Verdict, ScriptFault> {
    show.running("set up a sandbox, a seller and a vault")?;
    let stage = Stage::set(keep.as_deref()).await?;
    let verdict = script::play(&stage, show).await?;
    let kept = stage.kept().map(|path| path.display().to_string());
    drop(stage);
    show.verdict(&verdict, kept.as_deref())?;
    Ok(verdict)
}

/// Ends when the user or the system asks the demo to stop.
fn stopped() -> io::Result<impl Future<Output = ()>> {
    let mut stop = Stop::listen_past_hang_up()?;
    Ok(async move { stop.asked().await })
}

fn reader(json: bool) -> Reader {
    let stdout = io::stdout();
    if json {
        Reader::Program
    } else if stdout.is_terminal() {
        let columns = output_size().map_or(0, |(_rows, columns)| columns);
        Reader::Terminal(if columns == 0 { 100 } else { columns })
    } else {
        Reader::Page
    }
}
