//! `bursar serve`: the payment tools for one MCP client over standard input and output.
//!
//! Reads no settings of its own: the rules come from the vault. Standard output carries JSON-RPC and nothing else.

use std::sync::Arc;
use std::time::Duration;

use bursar_tools::{ServeOptions, serve, stdio};
use bursar_vault::confine::{self, Plan};
use bursar_vault::failpoint;
use bursar_vault::hardened::DoorName;
use bursar_vault::profile::{Profile, ProfileFault};
use bursar_vault::secrets;
use clap::Args;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::exit::{Exit, Stop};
use super::session;
use crate::content::ContentStore;
use crate::flow::Buyer;
use crate::net::SystemResolver;
use crate::platform;
use crate::wallet::Wallet;

/// Serve the payment tools to one MCP client over standard input and output.
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Spend from the budget NAME
    #[arg(long, default_value = "default", value_name = "NAME")]
    session: String,
}

impl Serve {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        log_to_stderr();
        secrets::refuse_wallet_variables().map_err(|fault| Stop::not_ready(fault.to_string()))?;
        secrets::forbid_core_dumps().map_err(|fault| Stop::not_ready(fault.to_string()))?;
        let name = session::name(&self.session)?;
        profile.check_guest(DoorName::Agent)?;
        profile.check_own()?;
        let plan = Plan::serve(profile).map_err(ProfileFault::from)?;
        tracing::info!("confined: {}", confine::told(&confine::confine(&plan)));
        failpoint::arm(&profile.failpoint(), profile.setting());
        let content = ContentStore::open(&profile.content_dir()).map_err(|fault| Stop::not_ready(fault.to_string()))?;
        let wallet = Wallet::new(profile, Some(name))?;
        let buyer = Arc::new(Buyer::new(profile, wallet, SystemResolver::new(), content));
        // One thread waits for everything: a second one would cost more in wake-ups and memory than it does in work.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let ended = runtime.block_on(async move {
            let options = ServeOptions::new(env!("CARGO_PKG_VERSION")).until(told_to_stop()?);
            let (stdin, stdout) = stdio();
            serve(buyer, stdin, stdout, options)
                .await
                .map(|_| Exit::Done)
                .map_err(|fault| Stop::new(Exit::Failed, fault.to_string()))
        });
        // A name lookup that still runs cannot be cancelled and concerns nobody any more.
        runtime.shutdown_timeout(Duration::from_millis(200));
        ended
    }
}

/// Ends when the process is asked to stop by a signal.
pub(super) fn told_to_stop() -> std::io::Result<impl Future<Output = ()> + Send> {
    let mut stop = platform::Stop::listen()?;
    Ok(async move { stop.asked().await })
}

/// Sends the log to standard error. The levels are fixed: no variable can make a dependency print what it carries.
pub(super) fn log_to_stderr() {
    let levels = Targets::new()
        .with_target("bursar", LevelFilter::INFO)
        .with_target("bursar_vault", LevelFilter::INFO)
        .with_target("bursar_tools", LevelFilter::INFO)
        .with_default(LevelFilter::OFF);
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false).without_time();
    if tracing_subscriber::registry().with(levels).with(layer).try_init().is_err() {
        super::table::complain("bursar: the log was set up twice; the first one stays");
    }
}
