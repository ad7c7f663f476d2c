//! Completions and manual pages: every command is in them, and a shell takes them.

use std::fs;

use tokio::process::Command;

use crate::desk::{BURSAR, run};

async fn completions(shell: &str) -> String {
    let mut command = Command::new(BURSAR);
    command.env_clear().args(["completions", shell]);
    run(command, "").await.done()
}

#[tokio::test]
async fn every_shell_is_told_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = completions(shell).await;
        for word in ["install", "uninstall", "doctor", "spend", "session", "dry-run", "sandbox"] {
            assert!(text.contains(word), "{word} is not in those for {shell}");
        }
        // The others complete no values.
        assert_eq!(text.contains("claude-desktop"), ["bash", "zsh", "fish"].contains(&shell), "{shell}");
    }
}

#[tokio::test]
async fn bash_completes_a_command_with_them() {
    let script = completions("bash").await;
    let mut command = Command::new("bash");
    command.env_clear().args(["--norc", "-c"]);
    command.arg(
        "eval \"$0\"; COMP_WORDS=(bursar inst); COMP_CWORD=1; _bursar bursar inst bursar; echo \"${COMPREPLY[@]}\"",
    );
    let said = run(
        {
            command.arg(script);
            command
        },
        "",
    )
    .await
    .done();
    assert_eq!(said.trim(), "install");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    clap_mangen::generate_to(bursar::cli::command(), folder.path()).unwrap();
    for name in ["bursar.1", "bursar-install.1", "bursar-doctor.1", "bursar-session-new.1"] {
        let page = fs::read_to_string(folder.path().join(name)).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert!(page.contains(".SH NAME") && page.contains("bursar"), "{page}");
    }
}
