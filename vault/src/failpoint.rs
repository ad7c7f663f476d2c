//! Crashes on purpose, in a sandbox only: proof that no step can be killed so that money leaves uncounted.
//!
//! Must never be armed where money is real: [`arm`] ignores every setting but the sandbox, and without it
//! [`reach`] is one load of an empty cell. A sandbox arms a step by a file called `failpoint` in its home that
//! contains the step's name; the process that reaches the step takes the file away and kills itself with SIGKILL, so
//! one file is one crash and the process that is started next lives.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use bursar_policy::rules::Setting;

use crate::platform;

/// Every step of a purchase at which a process can be killed, in its order: one between every two effects that
/// outlive the process. The first word says whose process it is.
pub const FAILPOINTS: [&str; 21] = [
    // The purchase id is bound in the open transaction, not yet on the disk.
    "vault-claim-bound",
    // The claim was answered and no byte has gone to the seller.
    "serve-claimed",
    // The row is inserted, its transaction open.
    "vault-exposed-uncommitted",
    // The row is on the disk, nothing is signed.
    "vault-exposed-committed",
    // The row is held for a browser, its transaction open.
    "vault-held-uncommitted",
    // The money is set aside on the disk, nobody has the handle.
    "vault-held-committed",
    // The handle arrived, the model has not heard of it.
    "serve-held",
    // The handle is redeemed and the row exposed, the transaction open.
    "vault-redeemed-uncommitted",
    // The handle is redeemed on the disk, nothing is signed.
    "vault-redeemed-committed",
    // A signature exists in memory only.
    "vault-signed",
    // The signature is on the row, its transaction open.
    "vault-signature-uncommitted",
    // The signature is on the disk, nobody was answered.
    "vault-signature-committed",
    // The signed payment arrived, no byte of it has gone to the seller.
    "serve-authorized",
    // The paid request went out and the head of the answer is read.
    "serve-sent",
    // What the seller says of the settlement is read, the body is not.
    "serve-answered",
    // The body is stored, the vault does not know.
    "serve-content-stored",
    // The report is on the row, its transaction open.
    "vault-report-uncommitted",
    // The report was taken, nobody was answered.
    "vault-reported",
    // The report was answered, the model has heard nothing.
    "serve-reported",
    // An expired row has become presumed spent, its transaction open.
    "vault-sweep-uncommitted",
    // The session is on the disk, the operator was not answered.
    "vault-session-committed",
];

/// Every step of what an operator does with keys at which the vault can be killed, in order.
pub const KEY_FAILPOINTS: [&str; 11] = [
    // The sweep is written down, its transaction open.
    "vault-sweep-ordered-uncommitted",
    // The sweep is on the disk, nothing is signed.
    "vault-sweep-ordered-committed",
    // The sweep is signed, nobody was answered.
    "vault-sweep-signed",
    // The new key is on the disk, the secrets are not sealed for it.
    "vault-rotation-sealed",
    // The new key and the secrets for it are on the disk, and the ledger does not know of it.
    "vault-rotation-staged",
    // The new account is written down, the transaction open.
    "vault-rotation-uncommitted",
    // The ledger counts for the new account, and no file was moved.
    "vault-rotation-committed",
    // The old key is kept by its name, and still in its old place.
    "vault-rotation-kept",
    // The secrets for the new key are in their place, the key is not.
    "vault-rotation-secrets",
    // The new key is in its place, its copy is still beside it.
    "vault-rotation-moved",
    // The copy of the key is gone, that of the secrets is not.
    "vault-rotation-cleared",
];

static ARMED: OnceLock<PathBuf> = OnceLock::new();

/// Lets this process be killed by the file at `path`, if it runs in a sandbox; does nothing anywhere else.
///
/// The first call wins for the life of the process.
pub fn arm(path: &Path, setting: Setting) {
    if matches!(setting, Setting::Sandbox) && ARMED.set(path.to_owned()).is_err() {
        tracing::debug!("fail points are armed already");
    }
}

/// Says that this process is at `step`, one of [`FAILPOINTS`] or [`KEY_FAILPOINTS`]; returns unless a sandbox asked for a crash just here.
pub fn reach(step: &'static str) {
    debug_assert!(FAILPOINTS.contains(&step) || KEY_FAILPOINTS.contains(&step), "a step that is on no list: {step}");
    if let Some(path) = ARMED.get()
        && is_asked(path, step)
    {
        die(path);
    }
}

fn is_asked(path: &Path, step: &str) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.trim() == step)
}

fn die(path: &Path) -> ! {
    if std::fs::remove_file(path).is_err() {
        tracing::debug!("the fail point file is gone already");
    }
    platform::die()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_step_is_named_twice() {
        let mut names = [FAILPOINTS.as_slice(), KEY_FAILPOINTS.as_slice()].concat();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn only_the_named_step_is_asked_for_and_surrounding_space_is_ignored() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("failpoint");
        assert!(!is_asked(&path, "vault-signed"), "no file, no crash");
        std::fs::write(&path, "vault-signed\n").unwrap();
        assert!(is_asked(&path, "vault-signed"));
        assert!(!is_asked(&path, "vault-signature-committed"));
    }

    #[test]
    fn real_money_arms_nothing() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("failpoint");
        std::fs::write(&path, "vault-signed").unwrap();
        arm(&path, Setting::Real);
        assert!(ARMED.get().is_none(), "a real setting must leave the cell empty");
        reach("vault-signed");
        assert!(path.exists());
    }
}
