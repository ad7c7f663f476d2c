//! A vault that is not the one it should be is refused before anything but a greeting was said.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use bursar_vault::guarded;
use bursar_vault::protocol::frame::{self, HEADER_BYTES};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixListener;

use super::*;

/// A sandbox, and somebody who answers at its socket as `welcome` says.
async fn answered_by(welcome: Welcome) -> Result<Conversation, WalletFault> {
    let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir().unwrap();
    let profile = Profile::locate_sandbox(folder.path()).unwrap();
    guarded::make_directory(&profile.run_dir()).unwrap();
    let listener = UnixListener::bind(profile.agent_sock()).unwrap();
    let wallet = Wallet::new(&profile, None).unwrap();
    let answering = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut header = [0_u8; HEADER_BYTES];
        stream.read_exact(&mut header).await.unwrap();
        let mut ask = vec![0_u8; frame::announced(header, frame::ASK_MAX_BYTES).unwrap()];
        stream.read_exact(&mut ask).await.unwrap();
        let reply = frame::encode(&AgentReply::Welcome(welcome), frame::REPLY_MAX_BYTES).unwrap();
        stream.write_all(&reply).await.unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.unwrap();
        assert!(rest.is_empty(), "something was said after the greeting");
    });
    let opened = wallet.open().await;
    if opened.is_err() {
        answering.await.unwrap();
    }
    opened
}

fn welcome(setting: Setting, protocol: u16) -> Welcome {
    let rules = "[payment]\nmax_per_payment = \"0.05 USD\"\nnetworks = [\"eip155:84532\"]\n\
                 assets = [\"eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e\"]\nrecipients = []\n";
    Welcome {
        protocol,
        rules: rules.to_owned(),
        rules_digest: Digest::of(rules.as_bytes()),
        setting,
        payer: None,
        locked: true,
        version: "0".to_owned(),
    }
}

#[tokio::test]
async fn a_vault_of_real_money_is_never_reached_through_a_sandbox() {
    let fault = answered_by(welcome(Setting::Real, PROTOCOL)).await.unwrap_err();
    assert!(matches!(fault, WalletFault::Setting { found: "real", expected: "play" }), "{fault}");
    assert!(answered_by(welcome(Setting::Sandbox, PROTOCOL)).await.is_ok());
}

#[tokio::test]
async fn a_vault_of_another_version_is_refused() {
    let fault = answered_by(welcome(Setting::Sandbox, PROTOCOL + 1)).await.unwrap_err();
    assert!(matches!(fault, WalletFault::Version), "{fault}");
}

#[tokio::test]
async fn a_socket_in_a_folder_that_others_can_write_to_is_not_used() {
    let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir().unwrap();
    let profile = Profile::locate_sandbox(folder.path()).unwrap();
    guarded::make_directory(&profile.run_dir()).unwrap();
    fs::set_permissions(profile.run_dir(), Permissions::from_mode(0o777)).unwrap();
    let fault = Wallet::new(&profile, None).unwrap().open().await.unwrap_err();
    assert!(matches!(fault, WalletFault::Folder(_)), "{fault}");
}

#[test]
fn a_planted_socket_of_another_user_is_refused() {
    assert!(ours(1000, 1000).is_ok());
    assert!(matches!(ours(1001, 1000), Err(WalletFault::Impostor { found: 1001, expected: 1000 })));
}
