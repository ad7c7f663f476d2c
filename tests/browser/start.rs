//! How the command starts: a browser of its own over a pipe, or one that is joined; and how it says that it cannot.

use bursar_policy::PageOpening::Navigate;
use bursar_vault::protocol::Delivery;
use tempfile::TempDir;

use crate::chromium::wrapper;
use crate::glue::Glue;
use crate::scripted_vault::{ScriptedVault, Word};
use crate::seller::Seller;
use crate::stage::sandbox;

#[tokio::test]
async fn a_browser_of_its_own_opens_no_port_and_ends_with_the_command() {
    let folder = TempDir::with_prefix("bursar-browser-").unwrap();
    let seller = Seller::open().await;
    let profile = sandbox(&folder);
    let mut vault = ScriptedVault::open(&profile);
    let program = wrapper(folder.path(), &seller).await;
    let glue = Glue::start(&profile, &["--headless", "--executable", program.to_str().unwrap()]);
    glue.said("the browser is ready").await;
    let url = seller.url("/page?a=1");
    vault.attach(&url, Navigate, Word::Good);
    vault.was_armed().await;
    vault.was_redeemed(&url).await;
    let report = vault.heard().await;
    assert!(matches!(report.delivery, Delivery::Answer { status: 200, .. }), "{report:?}");
    assert_eq!(seller.paid().len(), 1);
    let data = profile.home().join("browser");
    assert!(data.join("Default").exists() && !data.join("DevToolsActivePort").exists());
    glue.interrupt();
    let (ended, words) = glue.ended().await;
    assert_eq!(ended.code(), Some(0), "{words}");
    // The browser holds this while it runs.
    assert!(!data.join("SingletonLock").is_symlink(), "the browser goes on");
}

#[tokio::test]
async fn what_is_wrong_is_said_with_what_to_do() {
    let folder = TempDir::with_prefix("bursar-browser-").unwrap();
    let profile = sandbox(&folder);
    let _vault = ScriptedVault::open(&profile);
    let missing = folder.path().join("no such program");
    let missing = missing.to_str().unwrap();
    for (words, code, told) in [
        (&["--connect", "http://192.0.2.7:9222"][..], 3, "is not on this machine"),
        (&["--connect", "9222"], 2, "give one such as `http://127.0.0.1:9222`"),
        (&["--connect", "http://127.0.0.1:9", "--headless"], 2, "cannot be used with"),
        (&["--executable", missing], 4, "ended at once"),
    ] {
        let (ended, said) = Glue::start(&profile, words).ended().await;
        assert_eq!(ended.code(), Some(code), "{words:?}: {said}");
        assert!(said.contains(told), "{words:?}: {said}");
    }
}
