//! `bursar browser`: the trusted glue of one browser. Decides nothing: the vault says what is paid, a person started this.

use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use bursar_policy::SessionName;
use bursar_vault::client::{ClientFault, GlueClient};
use bursar_vault::hardened::DoorName;
use bursar_vault::profile::Profile;
use bursar_vault::secrets;
use clap::Args;
use tokio::sync::mpsc::UnboundedReceiver;

use super::exit::{Exit, Stop};
use super::{serve, session};
use crate::browser::cdp::{Cdp, CdpFault};
use crate::browser::event::Event;
use crate::browser::join::{Endpoint, JoinFault};
use crate::browser::launch::{self, Launch, LaunchFault, Launched, Windows};
use crate::browser::{self, Broken};
use crate::wallet;

/// How often a vault that has gone is looked for.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

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
        profile.check_guest(DoorName::Glue)?;
        profile.check_own()?;
        let vault = enter(profile, &name)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let ended = match endpoint {
            Some(endpoint) => runtime.block_on(join(&endpoint, profile, name, vault)),
            None => runtime.block_on(self.start(profile, name, vault)),
        };
        // An ask that still waits for the vault ends with its connection.
        runtime.shutdown_background();
        ended
    }

    async fn start(&self, profile: &Profile, name: SessionName, vault: GlueClient) -> Result<Exit, Stop> {
        let windows = if self.headless { Windows::Headless } else { Windows::Shown };
        let stop = serve::told_to_stop()?;
        let launch = Launch { program: self.executable.clone(), windows, folder: self.user_data_dir.clone() };
        let Launched { cdp, mut events, child } = launch.start(profile).await?;
        tracing::info!("the browser is ready, and open to nobody else; end it with Ctrl-C");
        let ended = until_stopped(&cdp, &mut events, profile, &name, vault, stop).await;
        launch::close(&cdp, child).await;
        ended
    }
}

async fn join(endpoint: &Endpoint, profile: &Profile, name: SessionName, vault: GlueClient) -> Result<Exit, Stop> {
    let stop = serve::told_to_stop()?;
    let (cdp, mut events) = endpoint.join().await?;
    tracing::info!("joined the browser; whatever else is joined to it sees what it sends");
    until_stopped(&cdp, &mut events, profile, &name, vault, stop).await
}

/// Makes payments until a person stops it or the browser goes. A vault that goes is waited for: the browser is the user's,
/// and a vault may be started again at any moment.
async fn until_stopped(
    cdp: &Cdp,
    events: &mut UnboundedReceiver<Event>,
    profile: &Profile,
    name: &SessionName,
    mut vault: GlueClient,
    stop: impl Future<Output = ()>,
) -> Result<Exit, Stop> {
    let mut stop = pin!(stop);
    loop {
        let gone = match browser::serve(cdp, events, vault, profile.setting(), stop.as_mut()).await {
            Ok(()) => return Ok(Exit::Done),
            Err(Broken::Vault(fault)) if !matches!(fault, ClientFault::Said { .. }) => fault,
            Err(broken) => return Err(broken.into()),
        };
        tracing::warn!("{gone}; waiting for a vault");
        vault = tokio::select! {
            () = stop.as_mut() => return Ok(Exit::Done),
            () = cdp.gone() => return Err(Broken::Browser(CdpFault::Gone).into()),
            vault = back(profile, name) => vault?,
        };
        tracing::info!("waiting for payments again");
    }
}

/// The vault that comes back. Starts none: whoever ended the last one meant it.
async fn back(profile: &Profile, name: &SessionName) -> Result<GlueClient, Stop> {
    loop {
        tokio::time::sleep(LOOK_AGAIN).await;
        match GlueClient::connect(profile, Some(name.clone())) {
            Ok((vault, _)) => return Ok(vault),
            Err(fault @ (ClientFault::Said { .. } | ClientFault::OtherVersion | ClientFault::OtherSetting { .. })) => {
                return Err(fault.into());
            }
            Err(_) => {}
        }
    }
}

/// The vault's glue socket; a vault is started where none answers.
fn enter(profile: &Profile, name: &SessionName) -> Result<GlueClient, Stop> {
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
