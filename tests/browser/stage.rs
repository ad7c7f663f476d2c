//! A seller, a browser with its glue, and a scripted vault. Nothing of it outlives the test.

use std::time::Duration;

use bursar_vault::profile::Profile;
use tempfile::TempDir;

use crate::chromium::Chromium;
use crate::glue::Glue;
use crate::scripted_vault::ScriptedVault;
use crate::seller::Seller;

/// How long anything may take before the test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// How often something is looked at that cannot be waited for.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The stage.
pub(crate) struct Stage {
    pub(crate) vault: ScriptedVault,
    pub(crate) glue: Glue,
    pub(crate) browser: Chromium,
    pub(crate) seller: Seller,
    // Dropped last: whatever runs in it has ended by then.
    _folder: TempDir,
}

impl Stage {
    /// Everything started and joined.
    pub(crate) async fn set() -> Self {
        let folder = TempDir::with_prefix("bursar-browser-").unwrap();
        let seller = Seller::open().await;
        let profile = sandbox(&folder);
        let vault = ScriptedVault::open(&profile);
        let browser = Chromium::start(folder.path(), &seller).await;
        let glue = Glue::joined(&profile, &browser.endpoint).await;
        Self { vault, glue, browser, seller, _folder: folder }
    }
}

/// A sandbox in which nothing was set up, for a vault that is not real.
pub(crate) fn sandbox(folder: &TempDir) -> Profile {
    let profile = Profile::locate_sandbox(&folder.path().join("home")).unwrap();
    profile.create().unwrap();
    profile
}
