//! From an agent's call to the goods, through the machine's vault: `serve` runs as the agent and starts no vault.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};

use crate::client::Client;
use crate::plant::{AGENT, Machine, OPERATOR, PASSPHRASE, VAULT, rules};
use crate::seller::Seller;

#[tokio::test]
async fn an_agent_buys_and_keeps_the_goods_and_without_the_vault_nothing_is_started() {
    let seller = Seller::open().await;
    let mut machine = Machine::set_up(&rules(seller.port, "ca = \"ca.pem\""));
    // The authority stands in the folder of each who speaks TLS by it.
    for uid in [VAULT, AGENT] {
        let path = machine.home(uid).join("ca.pem");
        fs::write(&path, &seller.authority_pem).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        chown(&path, Some(uid), Some(uid)).unwrap();
    }
    machine.start_vault().await;
    let said = machine.typing(OPERATOR, &["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await;
    assert_eq!(said.code, Some(0), "{said:?}");

    let mut client = Client::start(machine.command(AGENT, &["serve"]));
    let bought = client.buy(&seller.url("/a"), None).await;
    assert_eq!(bought["outcome"], "paid", "{bought}");
    assert_eq!(seller.payments(), 1);
    let kept = fs::read_dir(machine.home(AGENT).join("content")).unwrap().count();
    assert_ne!(kept, 0, "the agent keeps what it bought");
    let receipts = machine.run(OPERATOR, &["receipts"]).await;
    assert!(receipts.out.contains("0.05"), "{receipts:?}");

    machine.kill_vault().await;
    let refused = client.buy(&seller.url("/b"), None).await;
    assert_eq!(refused["outcome"], "failed", "{refused}");
    assert!(refused.to_string().contains("vault_unavailable"), "{refused}");
    assert_eq!(seller.payments(), 1);
    machine.run(OPERATOR, &["status"]).await.says(4, &["systemctl start bursar-vault"]);
    for uid in [AGENT, OPERATOR] {
        assert!(!machine.home(uid).join("vault.log").exists(), "user {uid} started a vault");
    }

    machine.start_vault().await;
    let bought = client.buy(&seller.url("/b"), None).await;
    assert_eq!(bought["outcome"], "paid", "{bought}");
}

/// As systemd lends a credential on a file system with access lists: root's, and the vault's user may read it.
#[tokio::test]
async fn a_passphrase_that_root_lends_unlocks_the_vault_and_one_that_others_could_read_does_not() {
    let mut machine = Machine::set_up(&rules(1, ""));
    let folder = machine.path("credentials");
    let (path, filed) = (folder.join("passphrase"), machine.home(VAULT).join("passphrase"));
    fs::create_dir(&folder).unwrap();
    fs::copy(&filed, &path).unwrap();
    fs::remove_file(&filed).unwrap();
    machine.write_file(&format!("{}passphrase = \"{}\"\n", machine.listed(), path.display()));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    for (lent, rights) in [(&path, 4_u16), (&folder, 5)] {
        // Its owner, the vault's user, the group, the mask, others: include/uapi/linux/posix_acl_xattr.h.
        let entries = [
            (1_u16, rights, u32::MAX),
            (2, rights, VAULT),
            (4, 0, u32::MAX),
            (16, rights, u32::MAX),
            (32, 0, u32::MAX),
        ];
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (kind, rights, id) in entries {
            list.extend([kind.to_le_bytes(), rights.to_le_bytes()].concat());
            list.extend(id.to_le_bytes());
        }
        rustix::fs::lsetxattr(lent, "system.posix_acl_access", &list, rustix::fs::XattrFlags::empty()).unwrap();
    }
    // Waits until it is unlocked.
    machine.start_vault().await;
    machine.kill_vault().await;

    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    machine.spawn_vault();
    machine.until_it_says("the passphrase file does not unlock the wallet").await;
}
