//! Root's file: whoever meets one that cannot be used stops with a sentence, and nobody gets another vault in its place.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

use crate::plant::{AGENT, Machine, OPERATOR, STRANGER, VAULT, rules};

/// Fails unless every process refuses the file with these words, and none of them started or made anything.
async fn refused(machine: &Machine, part: &str) {
    for (uid, words) in [(AGENT, &["serve"][..]), (OPERATOR, &["status"]), (OPERATOR, &["freeze"]), (VAULT, &["vault"])]
    {
        let said = machine.run(uid, words).await;
        said.says(4, &[part]);
        assert_eq!(said.out, "", "{said:?}");
        assert_eq!(said.err.lines().count(), 1, "{said:?}");
    }
    for uid in [AGENT, OPERATOR] {
        assert_eq!(fs::read_dir(machine.home(uid)).unwrap().count(), 0, "something was made for user {uid}");
    }
    assert_eq!(fs::read_dir(machine.path("sockets")).unwrap().count(), 0, "a vault was started");
}

#[tokio::test]
async fn a_file_that_cannot_be_used_stops_everybody() {
    let machine = Machine::set_up(&rules(1, ""));
    let (file, listed) = (machine.file(), machine.listed());
    for mode in [0o664, 0o666] {
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        refused(&machine, "can be written by others").await;
    }
    machine.write_file(&listed);
    for owner in [AGENT, VAULT] {
        chown(&file, Some(owner), None).unwrap();
        refused(&machine, "only root").await;
    }
    chown(&file, Some(0), None).unwrap();

    machine.write_file(&format!("{listed}agent = [0]\n"));
    refused(&machine, "unknown field `agent`").await;
    machine.write_file("");
    refused(&machine, "missing field").await;
    machine.write_file(&listed.replace(&format!("vault = {VAULT}"), "vault = 0"));
    refused(&machine, "root").await;

    fs::rename(&file, machine.path("aside.toml")).unwrap();
    symlink(machine.path("aside.toml"), &file).unwrap();
    refused(&machine, "symbolic link").await;
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    refused(&machine, "not a regular file").await;
    fs::remove_dir(&file).unwrap();
    refused(&machine, "does not exist").await;
}

#[tokio::test]
async fn the_file_is_for_a_sandbox_only_and_real_money_has_its_own_place() {
    let machine = Machine::set_up(&rules(1, ""));
    let words = ["--hardened", machine.file().to_str().unwrap(), "status"].map(str::to_owned);
    let said = machine.bare(AGENT).args(words).output().await.unwrap();
    assert_eq!(said.status.code(), Some(2), "{said:?}");
    assert!(String::from_utf8_lossy(&said.stderr).contains("--sandbox"), "{said:?}");
}

#[tokio::test]
async fn only_the_vaults_user_starts_the_vault_and_only_in_a_folder_of_its_own() {
    let machine = Machine::set_up(&rules(1, ""));
    for uid in [AGENT, OPERATOR, STRANGER] {
        machine.run(uid, &["vault"]).await.says(4, &["61001", "run this command as that user"]);
    }
    let sockets = machine.path("sockets");
    for (owner, mode) in [(STRANGER, 0o711), (AGENT, 0o755), (VAULT, 0o713), (VAULT, 0o731)] {
        chown(&sockets, Some(owner), None).unwrap();
        fs::set_permissions(&sockets, Permissions::from_mode(mode)).unwrap();
        let said = machine.run(VAULT, &["vault"]).await;
        said.says(4, &[sockets.to_str().unwrap()]);
        // Nor does anybody believe a socket in it.
        let planted = std::os::unix::net::UnixListener::bind(sockets.join("operator.sock")).unwrap();
        fs::set_permissions(sockets.join("operator.sock"), Permissions::from_mode(0o666)).unwrap();
        machine.run(OPERATOR, &["status"]).await.says(4, &[sockets.to_str().unwrap()]);
        drop(planted);
        fs::remove_file(sockets.join("operator.sock")).unwrap();
    }
}
