//! `install --print`: what is printed can be pasted as it is, and what is pasted starts a server that answers.

use serde_json::{Value, json};
use tokio::process::Command;

use crate::desk::{BURSAR, Desk, run};

/// The entry in the snippet for each client whose configuration is JSON.
const JSON_CLIENTS: [(&str, &str); 4] = [
    ("claude-desktop", "/mcpServers/bursar"),
    ("cursor", "/mcpServers/bursar"),
    ("vscode", "/servers/bursar"),
    ("stdio", ""),
];

fn entry(text: &str, pointer: &str) -> Value {
    let snippet: Value = serde_json::from_str(text).unwrap_or_else(|fault| panic!("{fault}: {text}"));
    snippet.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {text}")).clone()
}

#[tokio::test]
async fn every_snippet_names_this_program_and_this_sandbox() {
    // Needs no sandbox that is set up: a person may register first.
    let desk = Desk::empty();
    let wanted = json!(["--sandbox", desk.home, "serve"]);
    for (client, pointer) in JSON_CLIENTS {
        let entry = entry(&desk.run(&["install", "--print", client]).await.done(), pointer);
        assert_eq!((&entry["command"], &entry["args"]), (&json!(BURSAR), &wanted), "{client}");
    }
    assert!(!desk.home.exists());
}

#[tokio::test]
async fn a_relative_sandbox_and_a_profile_are_spelled_out() {
    let desk = Desk::empty();
    let mut command = Command::new(BURSAR);
    let folder = desk.home.parent().unwrap();
    command.env_clear().current_dir(folder).args(["--sandbox", "my box", "install", "--print", "stdio"]);
    let printed = entry(&run(command, "").await.done(), "");
    assert_eq!(printed["args"], json!(["--sandbox", folder.join("my box"), "serve"]));

    for (words, wanted) in
        [(&["--profile", "work"][..], json!(["--profile", "work", "serve"])), (&[], json!(["serve"]))]
    {
        let mut command = Command::new(BURSAR);
        command.env_clear().args(words).args(["install", "--print", "stdio"]);
        assert_eq!(entry(&run(command, "").await.done(), "")["args"], wanted);
    }
}

#[tokio::test]
async fn the_command_for_claude_code_is_one_that_a_shell_understands() {
    let desk = Desk::empty();
    let home = desk.home.with_file_name("it's my $box");
    let mut command = Command::new(BURSAR);
    command.env_clear().arg("--sandbox").arg(&home).args(["install", "--print", "claude-code"]);
    let line = run(command, "").await.done();
    let mut shell = Command::new("/bin/sh");
    shell.env_clear().arg("-c").arg(format!("claude() {{ printf '%s\\n' \"$@\"; }}\n{line}"));
    let words = run(shell, "").await.done();
    let home = home.to_str().unwrap();
    let wanted = ["mcp", "add", "--scope", "user", "bursar", "--", BURSAR, "--sandbox", home, "serve"];
    assert_eq!(words.lines().collect::<Vec<_>>(), wanted);
}

#[tokio::test]
async fn what_is_printed_starts_a_server_that_answers() {
    let desk = Desk::with_vault().await;
    let entry = entry(&desk.run(&["install", "--print", "stdio"]).await.done(), "");
    let mut command = Command::new(entry["command"].as_str().unwrap());
    command.env_clear().args(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "cli", "version": "1"},
    }});
    let answer: Value = serde_json::from_str(&run(command, &hello.to_string()).await.done()).unwrap();
    assert_eq!(answer["result"]["serverInfo"]["name"], "bursar");
}

#[tokio::test]
async fn an_unknown_client_is_told_the_known_ones() {
    let said = Desk::empty().run(&["install", "--print", "abacus"]).await;
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:?}");
    for client in JSON_CLIENTS.iter().map(|(client, _)| *client).chain(["claude-code"]) {
        assert!(said.err.contains(client), "{client} is not in: {said:?}");
    }
}
