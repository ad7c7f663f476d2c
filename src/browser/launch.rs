//! Finding and starting a browser that is ours alone: we speak to it over a pipe, so no port is open to anybody.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use bursar_vault::guarded::{self, GuardFault};
use bursar_vault::platform::private_file;
use bursar_vault::profile::Profile;
use serde_json::json;
use tokio::io::BufReader;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::cdp::Cdp;
use super::event::Event;
use super::line::{Ear, Mouth};
use crate::platform::with_moved_pipe;

/// Where browsers of this kind are installed. Whole paths, so that nobody's `PATH` decides who is handed payments.
const KNOWN: [&str; 10] = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome-stable",
    "/usr/bin/google-chrome",
    "/opt/google/chrome/chrome",
    "/usr/bin/microsoft-edge-stable",
    "/usr/bin/microsoft-edge",
    "/usr/bin/brave-browser",
    "/usr/local/bin/chromium",
    "/snap/bin/chromium",
];

/// How long a browser may take to close its windows.
const FAREWELL: Duration = Duration::from_secs(5);

/// Whether a person sees the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Windows {
    /// As a person uses it.
    Shown,
    /// No window at all.
    Headless,
}

/// What to start.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program; absent means the first that is found.
    pub program: Option<PathBuf>,
    /// Its windows.
    pub windows: Windows,
    /// Where it keeps cookies and logins; absent means the folder `browser` of the profile.
    pub folder: Option<PathBuf>,
}

/// A browser that was started here.
#[derive(Debug)]
pub struct Launched {
    /// The line to it.
    pub cdp: Cdp,
    /// What it tells.
    pub events: mpsc::UnboundedReceiver<Event>,
    /// Its process, which ends when this is dropped.
    pub child: Child,
}

/// Why no browser was started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchFault {
    /// None is installed where one could be.
    #[error(
        "no browser was found; install Chromium, or name one with `--executable PATH` (looked for {})",
        KNOWN.map(|path| format!("`{path}`")).join(", ")
    )]
    NoneFound,
    /// It could not be started.
    #[error("`{}` could not be started: {fault}", program.display())]
    Unstartable {
        /// The program.
        program: PathBuf,
        /// The system's word.
        fault: io::Error,
    },
    /// It ended before it spoke.
    #[error(
        "`{}` ended at once; another one may be using `{}`, or read why in `{}`",
        program.display(), folder.display(), log.display()
    )]
    Ended {
        /// The program.
        program: PathBuf,
        /// Its folder.
        folder: PathBuf,
        /// What it said.
        log: PathBuf,
    },
    /// Its folder is open to others.
    #[error("the browser's folder is not used: {0}")]
    Folder(#[from] GuardFault),
}

/// The first browser that is installed.
#[must_use]
pub fn installed() -> Option<PathBuf> {
    KNOWN.iter().map(PathBuf::from).find(|path| path.exists())
}

impl Launch {
    /// Starts the browser and waits until it speaks.
    ///
    /// # Errors
    ///
    /// [`LaunchFault`].
    pub async fn start(&self, profile: &Profile) -> Result<Launched, LaunchFault> {
        let program = self.program.clone().or_else(installed).ok_or(LaunchFault::NoneFound)?;
        let folder = self.folder.clone().unwrap_or_else(|| profile.home().join("browser"));
        guarded::make_directory(&folder)?;
        let log = profile.home().join("browser.log");
        let unstartable = |fault| LaunchFault::Unstartable { program: program.clone(), fault };
        let words = private_file().write(true).create(true).truncate(true).open(&log);
        let mut child = self.command(&program, &folder).map_err(unstartable)?;
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(words.map_err(unstartable)?);
        let mut child = child.kill_on_drop(true).spawn().map_err(unstartable)?;
        let pipe = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipe.ok_or_else(|| unstartable(io::ErrorKind::BrokenPipe.into()))?;
        let (cdp, events) = Cdp::over(Mouth::Pipe(stdin), Ear::Pipe(BufReader::new(stdout)));
        match cdp.call(None, "Browser.getVersion", json!({})).await {
            Ok(_) => Ok(Launched { cdp, events, child }),
            Err(_) => Err(LaunchFault::Ended { program, folder, log }),
        }
    }

    fn command(&self, program: &Path, folder: &Path) -> io::Result<Command> {
        let mut command = with_moved_pipe(program)?;
        command.args(["--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check"]);
        let mut data = std::ffi::OsString::from("--user-data-dir=");
        data.push(folder);
        command.arg(data);
        if self.windows == Windows::Headless {
            command.arg("--headless=new");
        }
        Ok(command)
    }
}

/// Asks a browser that was started here to close, as a person would, and waits a while for it.
pub async fn close(cdp: &Cdp, mut child: Child) {
    drop(cdp.call(None, "Browser.close", json!({})).await);
    // One that stays is ended by the drop.
    drop(timeout(FAREWELL, child.wait()).await);
}
