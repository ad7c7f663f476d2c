//! `bursar install --print CLIENT`: the registration snippet for an MCP client. Edits no file.

use std::path::Path;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::exit::{Exit, Stop};
use super::{session, table};

/// Print what to put into an MCP client's configuration.
#[derive(Debug, Args)]
pub(super) struct Install {
    /// The client to print for
    #[arg(long, value_name = "CLIENT", required = true)]
    print: Client,
    /// The budget that this client spends from
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Client {
    /// Claude Desktop (`claude_desktop_config.json`)
    ClaudeDesktop,
    /// Claude Code (a command to run)
    ClaudeCode,
    /// Cursor (`.cursor/mcp.json`)
    Cursor,
    /// VS Code (`.vscode/mcp.json`)
    Vscode,
    /// Any client that starts a program and speaks MCP over its standard input and output
    Stdio,
}

impl Install {
    pub(super) fn run(
        &self,
        sandbox: Option<&Path>,
        hardened: Option<&Path>,
        profile: Option<&str>,
    ) -> Result<Exit, Stop> {
        let program = std::env::current_exe()?;
        let program = program.to_str().ok_or_else(|| {
            Stop::usage("bursar is installed under a path that is not UTF-8 text, which no client configuration can hold; move it")
        })?;
        let mut args = Vec::new();
        for (flag, path) in [("--sandbox", sandbox), ("--hardened", hardened)] {
            let Some(path) = path else { continue };
            let path = std::path::absolute(path)?;
            let path = path.to_str().ok_or_else(|| {
                Stop::usage(format!("the path of `{flag}` is not UTF-8 text, which no client configuration can hold"))
            })?;
            args.extend([flag.to_owned(), path.to_owned()]);
        }
        if let Some(name) = profile {
            args.extend(["--profile".to_owned(), name.to_owned()]);
        }
        args.push("serve".to_owned());
        if let Some(name) = &self.session {
            args.extend(["--session".to_owned(), session::name(name)?.to_string()]);
        }
        table::say(&snippet(self.print, program, &args))?;
        Ok(Exit::Done)
    }
}

/// The snippet, with the place it goes to on the first line as a comment where the format allows one.
fn snippet(client: Client, program: &str, args: &[String]) -> String {
    let entry = json!({ "command": program, "args": args });
    match client {
        Client::ClaudeDesktop | Client::Cursor => pretty(&json!({ "mcpServers": { "bursar": entry } })),
        Client::Vscode => {
            pretty(&json!({ "servers": { "bursar": { "type": "stdio", "command": program, "args": args } } }))
        }
        Client::ClaudeCode => {
            let words: Vec<String> =
                std::iter::once(program.to_owned()).chain(args.iter().cloned()).map(|word| shell_word(&word)).collect();
            format!("claude mcp add --scope user bursar -- {}", words.join(" "))
        }
        Client::Stdio => pretty(&entry),
    }
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}")
}

/// One word for a POSIX shell, quoted where it needs to be.
pub(super) fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:=@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_json_snippet_names_the_program_and_its_arguments() {
        for client in [Client::ClaudeDesktop, Client::Cursor, Client::Vscode, Client::Stdio] {
            let text = snippet(client, "/opt/my bursar/bursar", &["serve".to_owned()]);
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            let text = value.to_string();
            assert!(text.contains(r#""command":"/opt/my bursar/bursar""#), "{text}");
            assert!(text.contains(r#""args":["serve"]"#), "{text}");
        }
    }

    #[test]
    fn a_path_of_windows_is_kept_to_the_letter_and_wrapped_in_no_shell() {
        let program = r"C:\Program Files\bursar tools\bursar.exe";
        for client in [Client::ClaudeDesktop, Client::Cursor, Client::Vscode, Client::Stdio] {
            let text = snippet(client, program, &["serve".to_owned()]);
            // A configuration may be kept with either kind of line end.
            for kept in [text.clone(), text.replace('\n', "\r\n")] {
                let value: serde_json::Value = serde_json::from_str(&kept).unwrap();
                let entry = ["/mcpServers/bursar", "/servers/bursar", ""]
                    .iter()
                    .find_map(|at| value.pointer(at).filter(|entry| entry.get("command").is_some()));
                assert_eq!(entry.unwrap()["command"], program, "{kept}");
                assert_eq!(entry.unwrap()["args"], serde_json::json!(["serve"]), "{kept}");
            }
            assert!(!text.contains("cmd"), "{text}");
        }
    }

    #[test]
    fn what_is_registered_is_the_program_that_is_here_and_nothing_that_fetches_another() {
        for client in [Client::ClaudeDesktop, Client::ClaudeCode, Client::Cursor, Client::Vscode, Client::Stdio] {
            let text = snippet(client, "/opt/bursar", &["serve".to_owned()]);
            for fetcher in ["npx", "uvx", "pipx", "docker", "@latest", "curl"] {
                assert!(!text.contains(fetcher), "{fetcher} is in {text}");
            }
            assert!(text.contains("/opt/bursar"), "{text}");
        }
    }

    #[test]
    fn a_path_with_a_space_or_a_quote_stays_one_shell_word() {
        let text = snippet(Client::ClaudeCode, "/opt/it's here/bursar", &["serve".to_owned()]);
        assert!(text.ends_with(r"-- '/opt/it'\''s here/bursar' serve"), "{text}");
    }
}
