//! `install` and `uninstall` in a home folder of their own: what is written starts a server that answers, what is printed
//! can be pasted as it is, and nothing else of a client's file changes.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::process::Command;

use crate::desk::{BURSAR, Desk, Said, run};
use crate::terminal::Terminal;

/// Every client, where its file is (Linux), and a file as one may look.
const CLIENTS: [(&str, &str, &str); 12] = [
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", include_str!("clients/claude-desktop.json")),
    ("claude-code", ".claude.json", include_str!("clients/claude-code.json")),
    ("cursor", ".cursor/mcp.json", include_str!("clients/cursor.json")),
    ("vscode", ".config/Code/User/mcp.json", include_str!("clients/vscode.json")),
    ("windsurf", ".codeium/windsurf/mcp_config.json", include_str!("clients/windsurf.json")),
    ("zed", ".config/zed/settings.json", include_str!("clients/zed.json")),
    (
        "cline",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        include_str!("clients/cline.json"),
    ),
    ("codex", ".codex/config.toml", include_str!("clients/codex.toml")),
    ("gemini", ".gemini/settings.json", include_str!("clients/gemini.json")),
    ("goose", ".config/goose/config.yaml", include_str!("clients/goose.yaml")),
    ("opencode", ".config/opencode/opencode.jsonc", include_str!("clients/opencode.jsonc")),
    ("continue", ".continue/config.yaml", include_str!("clients/continue.yaml")),
];

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

/// A home folder beside the sandbox, with the files of these clients.
fn furnished(desk: &Desk, ids: &[&str]) -> PathBuf {
    let home = desk.home.with_file_name("home");
    fs::create_dir_all(&home).unwrap();
    for (_, place, text) in CLIENTS.iter().filter(|(id, ..)| ids.contains(id)) {
        fs::create_dir_all(home.join(place).parent().unwrap()).unwrap();
        fs::write(home.join(place), text).unwrap();
        fs::set_permissions(home.join(place), Permissions::from_mode(0o640)).unwrap();
    }
    home
}

async fn at_home(desk: &Desk, home: &Path, words: &[&str]) -> Said {
    let words: Vec<&str> = words.iter().copied().chain(["--home", home.to_str().unwrap()]).collect();
    desk.run(&words).await
}

fn all() -> Vec<&'static str> {
    CLIENTS.iter().map(|(id, ..)| *id).collect()
}

/// Every file under a folder that is no copy of ours.
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), fs::read_to_string(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn every_client_that_is_here_gets_the_entry_once_and_loses_only_that() {
    let desk = Desk::empty();
    let home = furnished(&desk, &all());
    let before = files(&home);
    let dry = at_home(&desk, &home, &["install", "--dry-run"]).await.done();
    assert_eq!(files(&home), before, "a dry run writes nothing");
    for id in all() {
        let place = CLIENTS.iter().find(|(other, ..)| *other == id).unwrap().1;
        assert!(dry.contains(place), "{id} is not in: {dry}");
    }
    assert!(dry.matches("+ ").count() > 30, "the changes are shown: {dry}");
    assert!(!dry.contains("kept-as-it-is"), "what stays is not shown, it may be a secret: {dry}");

    let told: Value =
        serde_json::from_str(&at_home(&desk, &home, &["install", "--yes", "--json"]).await.done()).unwrap();
    assert_eq!(told.as_array().unwrap().len(), 12);
    for one in told.as_array().unwrap() {
        assert_eq!(one["action"], "written", "{one}");
        let file = Path::new(one["file"].as_str().unwrap());
        let copy = Path::new(one["copy"].as_str().unwrap());
        let sample = CLIENTS.iter().find(|(id, ..)| one["client"] == *id).unwrap().2;
        assert_eq!(fs::read_to_string(copy).unwrap(), sample);
        for path in [file, copy] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o7777, 0o640, "{}", path.display());
        }
        let text = fs::read_to_string(file).unwrap();
        for part in [BURSAR, "--sandbox", desk.home.to_str().unwrap(), "serve"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
    let written = files(&home);
    let again: Value =
        serde_json::from_str(&at_home(&desk, &home, &["install", "--yes", "--json"]).await.done()).unwrap();
    assert!(again.as_array().unwrap().iter().all(|one| one["action"] == "unchanged"), "{again}");
    assert_eq!(files(&home), written, "twice is once, copies included");

    at_home(&desk, &home, &["uninstall", "--yes"]).await.done();
    for (id, place, sample) in CLIENTS {
        let text = fs::read_to_string(home.join(place)).unwrap();
        match id {
            // An empty table for servers stays where there was none, or one in one line.
            "claude-code" | "windsurf" => assert!(!text.contains("bursar\": {"), "{text}"),
            _ => assert_eq!(text, sample, "{id}"),
        }
    }
    let nothing = at_home(&desk, &home, &["uninstall"]).await.done();
    assert!(nothing.contains("registered with no client"), "{nothing}");
}

#[tokio::test]
async fn a_person_at_a_terminal_sees_the_change_and_agrees() {
    let desk = Desk::empty();
    let home = furnished(&desk, &["cursor"]);
    let file = home.join(".cursor/mcp.json");
    let before = fs::read_to_string(&file).unwrap();
    let words = format!("install --home '{}'", home.display());
    for (typed, is_written) in [("", false), ("n", false), ("maybe\nyes", true)] {
        let mut terminal = Terminal::run(&desk, &words);
        terminal.sees("Cursor").await;
        terminal.sees("+ ").await;
        for line in typed.split('\n') {
            terminal.sees("Write this change? [y/N]").await;
            terminal.types(line).await;
        }
        let (code, shown) = terminal.ended().await;
        assert_eq!(code, Some(0), "{shown}");
        assert_eq!(shown.contains("Nothing was written"), !is_written, "{shown}");
        assert_eq!(fs::read_to_string(&file).unwrap() != before, is_written);
    }
}

#[tokio::test]
async fn without_a_person_and_without_a_yes_nothing_is_written() {
    let desk = Desk::empty();
    let home = furnished(&desk, &["codex"]);
    let before = files(&home);
    let mut command = Command::new("setsid");
    command.env_clear().arg("--wait").arg(BURSAR).arg("--sandbox").arg(&desk.home);
    command.args(["install", "codex", "--home"]).arg(&home);
    let said = run(command, "").await;
    assert_eq!(said.code, Some(4), "{said:?}");
    assert!(said.err.contains("--yes"), "{said:?}");
    assert_eq!(files(&home), before);
}

#[tokio::test]
async fn a_client_that_is_not_here_yet_can_be_named() {
    let desk = Desk::empty();
    let home = furnished(&desk, &[]);
    at_home(&desk, &home, &["install"]).await.says(4, &[home.to_str().unwrap(), "cursor", "install --print stdio"]);
    at_home(&desk, &home, &["install", "zed", "continue", "codex", "--yes", "--session", "shop"]).await.done();
    let zed: Value =
        serde_json::from_str(&fs::read_to_string(home.join(".config/zed/settings.json")).unwrap()).unwrap();
    assert_eq!(zed["context_servers"]["bursar"]["args"], json!(["--sandbox", desk.home, "serve", "--session", "shop"]));
    let text = fs::read_to_string(home.join(".continue/config.yaml")).unwrap();
    assert!(
        text.starts_with("name: Local Config\nversion: 1.0.0\nschema: v1\nmcpServers:\n  - name: bursar\n"),
        "{text}"
    );
}

#[tokio::test]
async fn what_cannot_be_edited_is_told_and_the_others_are_written_all_the_same() {
    let desk = Desk::empty();
    let home = furnished(&desk, &["cursor", "codex", "gemini"]);
    let broken = "{ \"mcpServers\": {\n  oops\n} }";
    fs::write(home.join(".cursor/mcp.json"), broken).unwrap();
    fs::write(home.join(".gemini/settings.json"), "{\"mcpServers\":{\"bursar\":{\"command\":\"npx\"}}}").unwrap();
    let said = at_home(&desk, &home, &["install", "--yes"]).await;
    assert_eq!(said.code, Some(3), "{said:?}");
    for part in ["line 2 is not JSON", "mend it", "another server's entry", "--as NAME", "Codex CLI: written"] {
        assert!(said.out.contains(part), "`{part}` is not in {said:?}");
    }
    assert_eq!(fs::read_to_string(home.join(".cursor/mcp.json")).unwrap(), broken);
    at_home(&desk, &home, &["install", "gemini", "--yes", "--as", "wallet"]).await.done();
    let text = fs::read_to_string(home.join(".gemini/settings.json")).unwrap();
    assert!(text.contains("\"wallet\"") && text.contains("npx"), "{text}");
}

#[tokio::test]
async fn a_projects_file_is_named_with_its_client() {
    let desk = Desk::empty();
    let home = furnished(&desk, &[]);
    let file = home.join("project/.cursor/mcp.json");
    let named = file.to_str().unwrap();
    desk.run(&["install", "--file", named]).await.says(2, &["`--file`", "one client"]);
    desk.run(&["install", "cursor", "zed", "--file", named]).await.says(2, &["`--file`"]);
    at_home(&desk, &home, &["install", "cursor", "--file", named, "--yes"]).await.done();
    assert!(fs::read_to_string(&file).unwrap().contains("mcpServers"));
    assert!(!home.join(".cursor").exists());
    at_home(&desk, &home, &["uninstall", "cursor", "--file", named, "--yes"]).await.done();
    assert!(!fs::read_to_string(&file).unwrap().contains("bursar"));
}

#[tokio::test]
async fn home_is_the_accounts_outside_a_sandbox_and_no_variable_moves_it() {
    let mut command = Command::new(BURSAR);
    command.env_clear().args(["install", "--home", "/nowhere"]);
    run(command, "").await.says(2, &["`--home`", "sandbox"]);
    let desk = Desk::empty();
    let home = furnished(&desk, &["cursor"]);
    let mut command = desk.command();
    command.env("HOME", &home).env("XDG_CONFIG_HOME", &home).args(["install", "cursor", "--dry-run"]);
    let shown = run(command, "").await.done();
    assert!(!shown.contains(home.to_str().unwrap()), "{shown}");
}

#[tokio::test]
async fn a_name_that_some_format_would_read_otherwise_is_refused() {
    for name in ["", "my server", "a.b", "1st", "é", "-x", &"a".repeat(41)] {
        let said = Desk::empty().run(&["install", "cursor", "--as", name]).await;
        assert_eq!(said.code, Some(2), "{said:?}");
    }
}
