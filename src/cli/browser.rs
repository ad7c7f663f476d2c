//! `bursar browser`: the trusted glue of one browser. Decides nothing: the vault says what is paid, a person started this.

use std::path::PathBuf;

use bursar_policy::SessionName;
use bursar_vault::client::{ClientFault, GlueClient};
use bursar_vault::profile::Profile;
use bursar_vault::secrets;
use clap::Args;

use super::exit::{Exit, Stop};
use super::{serve, session};
use crate::browser::join::{Endpoint, JoinFault};
use crate::browser::launch::{Launch, LaunchFault, Windows};
use crate::browser::{self, Broken};
use crate::wallet;

/// Let one browser pay for pages: starts a Chromium of its own, or joins one that runs
///
/// An agent prepares a payment (`prepare_browser_payment`) and attaches it (`attach_browser_payment`); this command puts
/// it onto the browser's own request. It runs until the browser is closed or it is interrupted. See docs/browser.md.
#[derive(Debug, Args)]
pub(super) struct Browser {
    /// Join the browser that listens at ENDPOINT, such as http://127.0.0.1:9222, on this machine
    #[arg(long, value_name = "ENDPOINT", conflicts_with_all = ["launch", "executable", "headless", "user_data_dir"])]
    connect: Option<String>,
    /// Start a browser and speak to it over a pipe; this is what happens where nothing is said
    #[arg(long)]
    launch: bool,
    /// Make the payments of the budget NAME
    #[arg(long, default_value = "default", value_name = "NAME")]
    session: String,
    /// Start this program
    #[arg(long, value_name = "PATH")]
    executable: Option<PathBuf>,
    /// Start it without a window
    #[arg(long)]
    headless: bool,
    /// Keep its cookies and logins in DIR (default: the folder `browser` of the profile)
    #[arg(long, value_name = "DIR")]
    user_data_dir: Option<PathBuf>,
}

impl Browser {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        serve::log_to_stderr();
        secrets::refuse_wallet_variables().map_err(|fault| Stop::not_ready(fault.to_string()))?;
        // What is held here for a moment moves money.
        secrets::forbid_core_dumps().map_err(|fault| Stop::not_ready(fault.to_string()))?;
        let name = session::name(&self.session)?;
        let endpoint = self.connect.as_deref().map(str::parse::<Endpoint>).transpose()?;
        profile.check()?;
        let vault = enter(profile, name)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let ended = match endpoint {
            Some(endpoint) => runtime.block_on(join(&endpoint, profile, vault)),
            None => runtime.block_on(self.start(profile, vault)),
        };
        // An ask that still waits for the vault ends with its connection.
        runtime.shutdown_background();
        ended
    }

    async fn start(&self, profile: &Profile, vault: GlueClient) -> Result<Exit, Stop> {
        let windows = if self.headless { Windows::Headless } else { Windows::Shown };
        let stop = serve::told_to_stop()?;
        let launch = Launch { program: self.executable.clone(), windows, folder: self.user_data_dir.clone() };
        let mut browser = launch.start(profile).await?;
        tracing::info!("the browser is ready, and open to nobody else; end it with Ctrl-C");
        let ended = browser::serve(&browser.cdp, &mut browser.events, vault, profile.setting(), stop).await;
        browser.close().await;
        Ok(ended.map(|()| Exit::Done)?)
    }
}

async fn join(endpoint: &Endpoint, profile: &Profile, vault: GlueClient) -> Result<Exit, Stop> {
    let stop = serve::told_to_stop()?;
    let (cdp, mut events) = endpoint.join().await?;
    tracing::info!("joined the browser; whatever else is joined to it sees what it sends");
    let ended = browser::serve(&cdp, &mut events, vault, profile.setting(), stop).await;
    Ok(ended.map(|()| Exit::Done)?)
}

/// The vault's glue socket; a vault is started where none answers.
fn enter(profile: &Profile, name: SessionName) -> Result<GlueClient, Stop> {
    let connect = || GlueClient::connect(profile, Some(name.clone()));
    let entered = match connect() {
        Err(ClientFault::NoVault { .. }) => {
            wallet::start_blocking(profile).map_err(|fault| Stop::not_ready(fault.to_string()))?;
            connect()
        }
        entered => entered,
    };
    let (vault, welcome) = entered?;
    tracing::info!("waiting for payments of the budget {}", welcome.session);
    Ok(vault)
}

impl From<JoinFault> for Stop {
    fn from(fault: JoinFault) -> Self {
        let exit = match fault {
            JoinFault::NotAnAddress(_) => Exit::Usage,
            JoinFault::NotLoopback(_) | JoinFault::NotOurs { .. } => Exit::Refused,
            JoinFault::Nobody { .. } => Exit::NotReady,
        };
        Self::new(exit, fault.to_string())
    }
}

impl From<LaunchFault> for Stop {
    fn from(fault: LaunchFault) -> Self {
        Self::not_ready(fault.to_string())
    }
}

impl From<Broken> for Stop {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Browser(fault) => Self::not_ready(fault.to_string()),
            Broken::Vault(fault) => fault.into(),
        }
    }
}
