//! What must be in order before a vault starts, and a setup that never overwrites.

use crate::world::{RULES, SECRET, Sandbox, said};
use bursar_vault::chain::NoChains;
use bursar_vault::clock::MachineTime;
use bursar_vault::guarded::GuardFault;
use bursar_vault::keystore::KeystoreFault;
use bursar_vault::ledger::LedgerFault;
use bursar_vault::process::{self, StartFault};
use bursar_vault::profile::{Profile, ProfileFault};
use bursar_vault::setup::{self, NewKey, SetupFault, Typed, Unlocking};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use zeroize::Zeroizing;

fn start(sandbox: &Sandbox) -> Result<(), StartFault> {
    process::start(&sandbox.profile, None, Box::new(MachineTime), Arc::new(NoChains)).map(drop)
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn each_private_file_that_others_could_touch_stops_the_start() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    let profile = &sandbox.profile;
    for path in [profile.rules(), profile.keystore(), profile.verifier(), profile.ledger()] {
        for mode in [0o640, 0o604, 0o660] {
            chmod(&path, mode);
            let fault = start(&sandbox).unwrap_err().to_string();
            assert!(fault.contains(&*path.file_name().unwrap().to_string_lossy()), "{fault}");
            assert!(!fault.contains('\n'), "{fault}");
        }
        chmod(&path, 0o600);

        let aside = path.with_extension("aside");
        fs::rename(&path, &aside).unwrap();
        symlink(&aside, &path).unwrap();
        start(&sandbox).unwrap_err();
        fs::remove_file(&path).unwrap();
        fs::hard_link(&aside, &path).unwrap();
        start(&sandbox).unwrap_err();
        fs::remove_file(&aside).unwrap();
        start(&sandbox).unwrap();
    }
    chmod(profile.home(), 0o750);
    assert!(matches!(start(&sandbox), Err(StartFault::Profile(ProfileFault::Guard(GuardFault::Mode { .. })))));
    chmod(profile.home(), 0o700);
    chmod(sandbox.folder.path(), 0o777);
    assert!(matches!(start(&sandbox), Err(StartFault::Profile(ProfileFault::Guard(GuardFault::Parent { .. })))));
    chmod(sandbox.folder.path(), 0o700);
    start(&sandbox).unwrap();
}

#[test]
fn a_key_without_its_ledger_does_not_start_and_nothing_is_made_anew() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    fs::remove_file(sandbox.profile.ledger()).unwrap();
    assert!(matches!(start(&sandbox), Err(StartFault::Ledger(LedgerFault::KeyWithoutLedger { .. }))));
    assert!(!sandbox.profile.ledger().exists());
    let again = setup::initialise(&sandbox.profile, RULES, NewKey::Generated, &said(SECRET), Unlocking::ByFile);
    assert!(matches!(again, Err(SetupFault::Guard(GuardFault::Exists { .. }))));
    assert!(!sandbox.profile.ledger().exists());
}

#[test]
fn a_key_beside_another_ledger_does_not_start() {
    let one = Sandbox::new(Unlocking::ByFile);
    let two = Sandbox::new(Unlocking::ByFile);
    fs::copy(two.profile.ledger(), one.profile.ledger()).unwrap();
    assert!(matches!(start(&one), Err(StartFault::Keystore(KeystoreFault::OtherLedger { .. }))));
}

#[test]
fn an_empty_folder_says_to_run_init() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::locate_sandbox(&folder.path().join("play")).unwrap();
    profile.create().unwrap();
    let fault = process::start(&profile, None, Box::new(MachineTime), Arc::new(NoChains)).map(drop).unwrap_err();
    assert!(fault.to_string().contains("bursar init"), "{fault}");
}

#[test]
fn setup_makes_private_files_once_and_completes_what_was_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::locate_sandbox(&folder.path().join("play")).unwrap();
    let make = |key| setup::initialise(&profile, RULES, key, &said(SECRET), Unlocking::ByFile);
    let typed = Typed::new(Zeroizing::new("11".repeat(32)));
    assert!(matches!(make(NewKey::Imported(typed)), Err(SetupFault::Keystore(KeystoreFault::ImportInSandbox))));
    assert!(!profile.home().exists(), "nothing is made before everything given is right");
    assert!(matches!(
        setup::initialise(&profile, "[payment]", NewKey::Generated, &said(SECRET), Unlocking::ByFile),
        Err(SetupFault::Rules(_))
    ));

    let first = make(NewKey::Generated).unwrap();
    for path in [profile.rules(), profile.keystore(), profile.verifier(), profile.ledger(), profile.passphrase_file()] {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{path:?}");
    }
    assert_eq!(fs::metadata(profile.content_dir()).unwrap().permissions().mode() & 0o777, 0o700);
    let filed = fs::read_to_string(profile.passphrase_file()).unwrap();
    assert!(!filed.contains(SECRET) && filed.len() == 64, "the file holds a passphrase of the keystore's own");
    assert!(matches!(make(NewKey::Generated), Err(SetupFault::Guard(GuardFault::Exists { .. }))));

    // Interrupted before the key: the ledger is unused, so the setup is simply run again.
    fs::remove_file(profile.keystore()).unwrap();
    let second = make(NewKey::Generated).unwrap();
    assert_ne!(first, second);
    drop(process::start(&profile, None, Box::new(MachineTime), Arc::new(NoChains)).unwrap());
    // Now the ledger counts for that key: losing the key must not start it over.
    fs::remove_file(profile.keystore()).unwrap();
    assert!(matches!(make(NewKey::Generated), Err(SetupFault::Ledger(LedgerFault::Exists { .. }))));
}

#[test]
fn a_folder_whose_name_is_not_utf_8_or_very_long_works() {
    use bursar_vault::client::OperatorClient;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    for name in [b"play-\xff".to_vec(), vec![b'x'; 150]] {
        let home = folder.path().join(std::ffi::OsStr::from_bytes(&name));
        let profile = Profile::locate_sandbox(&home).unwrap();
        setup::initialise(&profile, RULES, NewKey::Generated, &said(SECRET), Unlocking::ByFile).unwrap();
        let running = process::start(&profile, None, Box::new(MachineTime), Arc::new(NoChains)).unwrap();
        OperatorClient::connect(&profile).unwrap();
        running.stop();
        if !profile.run_dir().starts_with(&home) {
            fs::remove_dir(profile.run_dir()).unwrap();
        }
    }
}

#[test]
fn a_wrong_passphrase_file_leaves_the_wallet_locked() {
    let sandbox = Sandbox::new(Unlocking::ByFile);
    fs::write(sandbox.profile.passphrase_file(), "not it").unwrap();
    let running = sandbox.start();
    assert!(sandbox.operator().status().locked);
    running.stop();
    chmod(&sandbox.profile.passphrase_file(), 0o644);
    let _running = sandbox.start();
    assert!(sandbox.operator().status().locked);
}
