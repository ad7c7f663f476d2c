//! Files of every client, as they are found and bent out of shape, edited and read again.

use serde_json::json;

use super::super::client::CLIENTS;
use super::*;

/// A file of each client, as one may look.
fn sample(client: &Client) -> &'static str {
    match client.id {
        "claude-desktop" => include_str!("../../../../tests/cli/clients/claude-desktop.json"),
        "claude-code" => include_str!("../../../../tests/cli/clients/claude-code.json"),
        "cursor" => include_str!("../../../../tests/cli/clients/cursor.json"),
        "vscode" => include_str!("../../../../tests/cli/clients/vscode.json"),
        "windsurf" => include_str!("../../../../tests/cli/clients/windsurf.json"),
        "zed" => include_str!("../../../../tests/cli/clients/zed.json"),
        "cline" => include_str!("../../../../tests/cli/clients/cline.json"),
        "codex" => include_str!("../../../../tests/cli/clients/codex.toml"),
        "gemini" => include_str!("../../../../tests/cli/clients/gemini.json"),
        "goose" => include_str!("../../../../tests/cli/clients/goose.yaml"),
        "opencode" => include_str!("../../../../tests/cli/clients/opencode.jsonc"),
        "continue" => include_str!("../../../../tests/cli/clients/continue.yaml"),
        other => panic!("no sample for {other}"),
    }
}

fn client(id: &str) -> &'static Client {
    Client::named(id).unwrap()
}

fn registration(arguments: &[&str]) -> Registration {
    Registration {
        name: "bursar".to_owned(),
        program: "/opt/my tools/bursar".to_owned(),
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
    }
}

fn put(client: &Client, text: &str) -> String {
    registered(client, text, &registration(&["serve"]))
        .unwrap_or_else(|fault| panic!("{}: {fault}\n{text}", client.id))
        .unwrap()
}

fn taken_out(client: &Client, text: &str) -> String {
    unregistered(client, text, "bursar").unwrap_or_else(|fault| panic!("{}: {fault}\n{text}", client.id)).unwrap()
}

/// Every line of `before`, in order, is in `after`, but for the commas and brackets that make room.
fn keeps_every_line(before: &str, after: &str) {
    let bare = |line: &str| line.trim_end().trim_end_matches(',').to_owned();
    let mut lines = after.lines().map(bare);
    for line in before.lines().map(bare) {
        assert!(lines.any(|other| other == line), "`{line}` is gone or moved:\n{after}");
    }
}

#[test]
fn every_clients_file_is_edited_in_place_and_comes_back_to_the_byte() {
    for client in CLIENTS {
        for sample in
            [sample(client).to_owned(), sample(client).replace('\n', "\r\n"), format!("\u{feff}{}", sample(client))]
        {
            let after = put(client, &sample);
            // The one-line sample of Windsurf is opened up.
            if client.id != "windsurf" && client.id != "claude-code" {
                keeps_every_line(&sample, &after);
            }
            assert_eq!(after.matches("\r\n").count() > 0, sample.contains("\r\n"), "{}", client.id);
            assert_eq!(after.matches('\n').count() - after.matches("\r\n").count() > 0, !sample.contains("\r\n"));
            assert_eq!(after.starts_with('\u{feff}'), sample.starts_with('\u{feff}'));

            let found = servers(client, &after).unwrap();
            let (_, entry) = found.iter().find(|(name, _)| name == "bursar").unwrap();
            assert_eq!(entry::words(entry, client.shape), ["/opt/my tools/bursar", "serve"], "{}:\n{after}", client.id);
            assert_eq!(found.len(), servers(client, &sample).unwrap().len() + 1, "{}", client.id);

            assert_eq!(registered(client, &after, &registration(&["serve"])), Ok(None), "{}: twice is once", client.id);
            let back = taken_out(client, &after);
            match client.id {
                // Nothing was there for servers before; the empty table stays.
                "claude-code" => keeps_every_line(&sample, &back),
                "windsurf" => assert!(servers(client, &back).unwrap().is_empty()),
                _ => assert_eq!(back, sample, "{}", client.id),
            }
            assert_eq!(unregistered(client, &back, "bursar"), Ok(None));
        }
    }
}

#[test]
fn other_arguments_change_those_and_nothing_else_of_an_entry() {
    for client in CLIENTS {
        let first = put(client, sample(client));
        let marked = match client.format {
            Format::Json => first.replacen("\"bursar\": {", "\"bursar\": { \"mine\": [1, 2], // kept\n", 1),
            Format::Toml => format!("{first}mine = [1, 2] # kept\n"),
            Format::Yaml if client.keeping == Keeping::Listed => {
                first.replacen("- name: bursar\n", "- name: bursar\n  mine: [1, 2] # kept\n", 1)
            }
            Format::Yaml => first.replacen("name: bursar\n", "name: bursar\n        mine: [1, 2] # kept\n", 1),
        };
        assert_ne!(marked, first, "{}", client.id);
        let second = registered(client, &marked, &registration(&["--profile", "a b", "serve"])).unwrap().unwrap();
        let found = servers(client, &second).unwrap();
        let (_, entry) = found.iter().find(|(name, _)| name == "bursar").unwrap();
        let words = entry::words(entry, client.shape);
        assert_eq!(words, ["/opt/my tools/bursar", "--profile", "a b", "serve"], "{}:\n{second}", client.id);
        assert_eq!(entry["mine"], json!([1, 2]));
        assert!(second.contains(" kept\n"), "{}:\n{second}", client.id);
        let third = registered(client, &second, &registration(&["serve"])).unwrap().unwrap();
        assert_eq!(third, marked, "{}: there and back", client.id);
    }
}

#[test]
fn an_entry_without_arguments_gets_them() {
    for (id, text) in [
        ("cursor", "{\"mcpServers\": {\"bursar\": {\"command\": \"/old/bursar\", \"args\": [\"serve\"]}}}"),
        ("codex", "[mcp_servers.bursar]\ncommand = \"/old/bursar\"\nargs = [\"serve\"]\n"),
        ("codex", "mcp_servers = { bursar = { command = \"/old/bursar\", args = [\"serve\"] } }\n"),
        (
            "codex",
            "[mcp_servers]\nbursar = { command = \"/old/bursar\", args = [\"serve\"] }\nx = { command = \"y\" }\n",
        ),
        ("continue", "mcpServers:\n  - command: /old/bursar\n    name: bursar\n    args:\n    - serve # x\n"),
        (
            "goose",
            "extensions:\n  bursar:\n    cmd: '/old/bursar' # x\n    args: [\n      serve\n    ]\n    timeout: 3\n",
        ),
    ] {
        let after = put(client(id), text);
        assert!(after.contains("/opt/my tools/bursar") && !after.contains("/old"), "{after}");
        let gone = taken_out(client(id), &after);
        assert!(!gone.contains("bursar"), "{gone}");
        assert_eq!(gone.contains("x = {"), text.contains("x = {"), "{gone}");
    }
}

#[test]
fn files_with_little_or_nothing_in_them_get_an_entry() {
    for client in CLIENTS {
        let bodies: &[&str] = match client.format {
            Format::Json => &[
                "",
                "\n",
                "{}",
                "{ }\n",
                "{\n}\n",
                "// only a remark\n",
                "{\"SERVERS\": null}",
                "{\"SERVERS\":{}}",
                "{\"a\":1}",
            ],
            Format::Toml => &[
                "",
                "\n",
                "# only a remark\n",
                "a = 1",
                "[SERVERS]\n",
                "SERVERS = {}\n",
                "[SERVERS.other]\ncommand = \"x\"",
            ],
            Format::Yaml => &[
                "",
                "\n",
                "# only a remark\n",
                "a: 1",
                "SERVERS:\n",
                "SERVERS:",
                "SERVERS: # none\n",
                "SERVERS: ~\n",
                "a:\n  b: 1\nSERVERS:\nc: 2\n",
                "---\na: 1\n",
            ],
        };
        for body in bodies {
            let text = body.replace("SERVERS", client.servers);
            let after = put(client, &text);
            let found = servers(client, &after).unwrap();
            assert!(found.iter().any(|(name, _)| name == "bursar"), "{}:\n{after}", client.id);
            let back = taken_out(client, &after);
            assert!(!servers(client, &back).unwrap().iter().any(|(name, _)| name == "bursar"), "{back}");
            assert!(put(client, &back).contains("serve"));
        }
    }
    for body in ["mcpServers: []\n", "mcpServers: [ ] # none\nx: 1\n"] {
        let after = put(client("continue"), body);
        assert_eq!(servers(client("continue"), &after).unwrap().len(), 1, "{after}");
    }
    assert!(put(client("continue"), "").starts_with("name: Local Config\n"));
}

#[test]
fn an_entry_that_is_somebody_elses_stays() {
    for (id, text) in [
        ("cursor", "{\"mcpServers\": {\"bursar\": {\"command\": \"npx\", \"args\": [\"bursar\"]}}}"),
        ("cursor", "{\"mcpServers\": {\"bursar\": {\"url\": \"https://bursar.example\"}}}"),
        ("cursor", "{\"mcpServers\": {\"bursar\": 1}}"),
        ("codex", "[mcp_servers.bursar]\nurl = \"https://x\"\n"),
        ("goose", "extensions:\n  bursar:\n    cmd: npx\n    args: [serve]\n"),
        ("continue", "mcpServers:\n- name: bursar\n  url: https://x\n"),
    ] {
        let taken = EditFault::Taken { name: "bursar".to_owned() };
        assert_eq!(registered(client(id), text, &registration(&["serve"])), Err(taken.clone()), "{text}");
        assert_eq!(unregistered(client(id), text, "bursar"), Err(taken), "{text}");
        let other = Registration { name: "bursar-2".to_owned(), ..registration(&["serve"]) };
        assert!(registered(client(id), text, &other).unwrap().unwrap().contains("bursar-2"));
    }
}

#[test]
fn a_file_that_cannot_be_read_in_one_way_is_left_alone_with_the_line() {
    for (id, text, line) in [
        ("cursor", "{\n  \"mcpServers\": {\n    \"a\" 1\n  }\n}", Some(3)),
        ("cursor", "{'mcpServers': {}}", Some(1)),
        ("cursor", "{\"mcpServers\": {}} {}", Some(1)),
        ("codex", "a = 1\nb = \n", Some(2)),
        ("goose", "a: 1\nb: [\n", Some(3)),
        ("goose", "a: 1\n---\nb: 2\n", Some(2)),
        ("goose", "a: 1\na: 2\n", Some(2)),
        ("cursor", "{\"mcpServers\": [1]}", None),
        ("cursor", "[]", None),
        ("codex", "mcp_servers = 1\n", None),
        ("goose", "extensions: [a]\n", None),
        ("continue", "mcpServers:\n  a: {}\n", None),
        ("cursor", "{\"mcpServers\": {}, \"mcpServers\": {}}", None),
        (
            "cursor",
            "{\"mcpServers\": {\"bursar\": {\"command\": \"/bursar\", \"args\": [\"serve\"], \"args\": [\"serve\"]}}}",
            None,
        ),
        (
            "continue",
            "mcpServers:\n- {name: bursar, command: /bursar, args: [serve]}\n- {name: bursar, command: /bursar, args: [serve]}\n",
            None,
        ),
    ] {
        let fault = registered(client(id), text, &registration(&["serve"])).expect_err(text);
        match (line, &fault) {
            (Some(wanted), EditFault::Unreadable { line, .. }) => assert_eq!(*line, wanted, "{fault}: {text}"),
            (None, EditFault::NotServers { .. } | EditFault::Doubled { .. } | EditFault::NoPlace) => {}
            _ => panic!("{fault:?}: {text}"),
        }
    }
}

#[test]
fn what_leaves_no_safe_place_is_left_alone() {
    for text in [
        "extensions: {a: {cmd: x}}\n",
        "{extensions: {a: {cmd: x}}}\n",
        "? extensions\n: a:\n    cmd: x\n",
        "extensions: &here\n  a:\n    cmd: x\nb: *here\n...\n# end\n",
    ] {
        match registered(client("goose"), text, &registration(&["serve"])) {
            Err(EditFault::NoPlace) => {}
            Ok(Some(after)) => assert_eq!(servers(client("goose"), &after).unwrap().len(), 2, "{after}"),
            other => panic!("{other:?}: {text}"),
        }
    }
}

#[test]
fn strange_words_survive_every_format() {
    let strange = ["--sandbox", "/home/é \"x\"/it's #1: {}\\", "yes", "123", "null", "serve"];
    for client in CLIENTS {
        let after = registered(client, sample(client), &registration(&strange)).unwrap().unwrap();
        let found = servers(client, &after).unwrap();
        let (_, entry) = found.iter().find(|(name, _)| name == "bursar").unwrap();
        assert_eq!(entry::words(entry, client.shape)[1..], strange, "{}:\n{after}", client.id);
    }
}
