//! The MCP clients that bursar knows: one row a client, and nothing about any of them anywhere else.
//!
//! A row says where the client keeps its list of servers, how that file is written and what an entry looks like. Places
//! are relative to the home folder of the account; the variables that some clients let move them are not asked.

use super::edit::Format;

/// One client.
#[derive(Debug)]
pub(super) struct Client {
    /// What it is called on the command line.
    pub(super) id: &'static str,
    /// What it is called by people.
    pub(super) name: &'static str,
    linux: Files,
    macos: Files,
    windows: Files,
    pub(super) format: Format,
    /// The key of its servers.
    pub(super) servers: &'static str,
    pub(super) keeping: Keeping,
    pub(super) shape: &'static [Part],
    /// What a new file holds beside the servers.
    pub(super) preamble: &'static str,
    /// The words in front of which `install --print` puts the name, where the client has a command of its own for this.
    pub(super) own_command: Option<&'static str>,
}

/// Where one system keeps the file.
#[derive(Debug)]
pub(super) struct Files {
    /// The file, most usual first. Of several the first that exists counts.
    pub(super) files: &'static [&'static str],
    /// What is there once the client is.
    pub(super) traces: &'static [&'static str],
    /// A file that the client would stop reading if a new one of `files` appeared.
    pub(super) eclipsed: Option<&'static str>,
    /// Where it keeps what it loads beside servers.
    pub(super) plugins: Option<Plugins>,
}

/// Where a client keeps its plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plugins {
    /// As the members of `key`, or the texts in it, in a JSON file; in the file of its servers where none is named.
    Members(Option<&'static str>, &'static str),
    /// As folders in this one.
    Folders(&'static str),
}

impl Files {
    const fn with_plugins(self, plugins: Plugins) -> Self {
        Self { plugins: Some(plugins), ..self }
    }
}

/// How servers lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeping {
    /// A table with their names as keys.
    ByName,
    /// A list of tables, each with its name as `name`.
    Listed,
}

/// One member of an entry, in the order in which a new one has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The program's path.
    Program(&'static str),
    /// Its arguments.
    Arguments(&'static str),
    /// The program's path and its arguments in one list.
    Line(&'static str),
    /// The name of the entry.
    Name(&'static str),
    /// What the client wants there besides; an entry that is there keeps its own.
    Fixed(&'static str, Fixed),
}

/// A value that is the same in every new entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fixed {
    Text(&'static str),
    Flag(bool),
}

/// The system that a place is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    Linux,
    Macos,
    Windows,
}

impl System {
    /// The one that this program was made for; other kinds of Unix keep their files as Linux does.
    pub(super) const fn here() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::Macos
        } else {
            Self::Linux
        }
    }
}

impl Client {
    pub(super) const fn places(&self, system: System) -> &Files {
        match system {
            System::Linux => &self.linux,
            System::Macos => &self.macos,
            System::Windows => &self.windows,
        }
    }

    /// The client that is called `id`.
    pub(super) fn named(id: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.id == id)
    }
}

/// Most clients: the command, then its arguments.
const PLAIN: &[Part] = &[Part::Program("command"), Part::Arguments("args")];
/// Clients that also name the transport.
const STDIO: &[Part] = &[Part::Fixed("type", Fixed::Text("stdio")), Part::Program("command"), Part::Arguments("args")];

const CLAUDE_PLUGINS: Plugins = Plugins::Members(Some(".claude/settings.json"), "enabledPlugins");
const GEMINI_PLUGINS: Plugins = Plugins::Folders(".gemini/extensions");

const fn at(files: &'static [&'static str], traces: &'static [&'static str]) -> Files {
    Files { files, traces, eclipsed: None, plugins: None }
}

const fn by_name(
    id: &'static str,
    name: &'static str,
    places: [Files; 3],
    format: Format,
    servers: &'static str,
    shape: &'static [Part],
) -> Client {
    let [linux, macos, windows] = places;
    Client {
        id,
        name,
        linux,
        macos,
        windows,
        format,
        servers,
        keeping: Keeping::ByName,
        shape,
        preamble: "",
        own_command: None,
    }
}

/// Every client, in the order in which they are shown.
///
/// Sources: the clients' own documentation of their configuration, as of November 2026.
pub(super) static CLIENTS: &[Client] = &[
    by_name(
        "claude-desktop",
        "Claude Desktop",
        [
            at(&[".config/Claude/claude_desktop_config.json"], &[".config/Claude"])
                .with_plugins(Plugins::Folders(".config/Claude/Claude Extensions")),
            at(
                &["Library/Application Support/Claude/claude_desktop_config.json"],
                &["Library/Application Support/Claude"],
            )
            .with_plugins(Plugins::Folders("Library/Application Support/Claude/Claude Extensions")),
            at(&["AppData/Roaming/Claude/claude_desktop_config.json"], &["AppData/Roaming/Claude"])
                .with_plugins(Plugins::Folders("AppData/Roaming/Claude/Claude Extensions")),
        ],
        Format::Json,
        "mcpServers",
        PLAIN,
    ),
    Client {
        own_command: Some("claude mcp add --scope user"),
        ..by_name(
            "claude-code",
            "Claude Code",
            [
                at(&[".claude.json"], &[".claude"]).with_plugins(CLAUDE_PLUGINS),
                at(&[".claude.json"], &[".claude"]).with_plugins(CLAUDE_PLUGINS),
                at(&[".claude.json"], &[".claude"]).with_plugins(CLAUDE_PLUGINS),
            ],
            Format::Json,
            "mcpServers",
            STDIO,
        )
    },
    by_name(
        "cursor",
        "Cursor",
        [
            at(&[".cursor/mcp.json"], &[".cursor"]),
            at(&[".cursor/mcp.json"], &[".cursor"]),
            at(&[".cursor/mcp.json"], &[".cursor"]),
        ],
        Format::Json,
        "mcpServers",
        PLAIN,
    ),
    by_name(
        "vscode",
        "VS Code",
        [
            at(
                &[
                    ".config/Code/User/mcp.json",
                    ".config/Code - Insiders/User/mcp.json",
                    ".config/VSCodium/User/mcp.json",
                ],
                &[".config/Code/User", ".config/Code - Insiders/User", ".config/VSCodium/User"],
            ),
            at(
                &[
                    "Library/Application Support/Code/User/mcp.json",
                    "Library/Application Support/Code - Insiders/User/mcp.json",
                    "Library/Application Support/VSCodium/User/mcp.json",
                ],
                &[
                    "Library/Application Support/Code/User",
                    "Library/Application Support/Code - Insiders/User",
                    "Library/Application Support/VSCodium/User",
                ],
            ),
            at(
                &[
                    "AppData/Roaming/Code/User/mcp.json",
                    "AppData/Roaming/Code - Insiders/User/mcp.json",
                    "AppData/Roaming/VSCodium/User/mcp.json",
                ],
                &["AppData/Roaming/Code/User", "AppData/Roaming/Code - Insiders/User", "AppData/Roaming/VSCodium/User"],
            ),
        ],
        Format::Json,
        "servers",
        STDIO,
    ),
    by_name(
        "windsurf",
        "Windsurf",
        [
            at(&[".codeium/windsurf/mcp_config.json"], &[".codeium/windsurf"]),
            at(&[".codeium/windsurf/mcp_config.json"], &[".codeium/windsurf"]),
            at(&[".codeium/windsurf/mcp_config.json"], &[".codeium/windsurf"]),
        ],
        Format::Json,
        "mcpServers",
        PLAIN,
    ),
    by_name(
        "zed",
        "Zed",
        [
            at(&[".config/zed/settings.json"], &[".config/zed"]),
            at(&[".config/zed/settings.json"], &[".config/zed"]),
            at(&["AppData/Roaming/Zed/settings.json"], &["AppData/Roaming/Zed"]),
        ],
        Format::Json,
        "context_servers",
        &[Part::Fixed("source", Fixed::Text("custom")), Part::Program("command"), Part::Arguments("args")],
    ),
    by_name(
        "cline",
        "Cline",
        [
            at(
                &[
                    ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                    ".cline/data/settings/cline_mcp_settings.json",
                ],
                &[".config/Code/User/globalStorage/saoudrizwan.claude-dev", ".cline/data"],
            ),
            at(
                &[
                    "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                    ".cline/data/settings/cline_mcp_settings.json",
                ],
                &["Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev", ".cline/data"],
            ),
            at(
                &[
                    "AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                    ".cline/data/settings/cline_mcp_settings.json",
                ],
                &["AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev", ".cline/data"],
            ),
        ],
        Format::Json,
        "mcpServers",
        PLAIN,
    ),
    by_name(
        "codex",
        "Codex CLI",
        [
            at(&[".codex/config.toml"], &[".codex"]),
            at(&[".codex/config.toml"], &[".codex"]),
            at(&[".codex/config.toml"], &[".codex"]),
        ],
        Format::Toml,
        "mcp_servers",
        PLAIN,
    ),
    by_name(
        "gemini",
        "Gemini CLI",
        [
            at(&[".gemini/settings.json"], &[".gemini"]).with_plugins(GEMINI_PLUGINS),
            at(&[".gemini/settings.json"], &[".gemini"]).with_plugins(GEMINI_PLUGINS),
            at(&[".gemini/settings.json"], &[".gemini"]).with_plugins(GEMINI_PLUGINS),
        ],
        Format::Json,
        "mcpServers",
        PLAIN,
    ),
    by_name(
        "goose",
        "Goose",
        [
            at(&[".config/goose/config.yaml"], &[".config/goose"]),
            at(&[".config/goose/config.yaml"], &[".config/goose"]),
            at(&["AppData/Roaming/Block/goose/config/config.yaml"], &["AppData/Roaming/Block/goose"]),
        ],
        Format::Yaml,
        "extensions",
        &[
            Part::Fixed("enabled", Fixed::Flag(true)),
            Part::Fixed("type", Fixed::Text("stdio")),
            Part::Name("name"),
            Part::Fixed("description", Fixed::Text("guarded payments")),
            Part::Program("cmd"),
            Part::Arguments("args"),
        ],
    ),
    by_name(
        "opencode",
        "OpenCode",
        [
            at(&[".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"], &[".config/opencode"])
                .with_plugins(Plugins::Members(None, "plugin")),
            at(&[".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"], &[".config/opencode"])
                .with_plugins(Plugins::Members(None, "plugin")),
            at(&[".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"], &[".config/opencode"])
                .with_plugins(Plugins::Members(None, "plugin")),
        ],
        Format::Json,
        "mcp",
        &[Part::Fixed("type", Fixed::Text("local")), Part::Line("command"), Part::Fixed("enabled", Fixed::Flag(true))],
    ),
    Client {
        id: "continue",
        name: "Continue",
        linux: Files {
            files: &[".continue/config.yaml"],
            traces: &[".continue"],
            eclipsed: Some(".continue/config.json"),
            plugins: None,
        },
        macos: Files {
            files: &[".continue/config.yaml"],
            traces: &[".continue"],
            eclipsed: Some(".continue/config.json"),
            plugins: None,
        },
        windows: Files {
            files: &[".continue/config.yaml"],
            traces: &[".continue"],
            eclipsed: Some(".continue/config.json"),
            plugins: None,
        },
        format: Format::Yaml,
        servers: "mcpServers",
        keeping: Keeping::Listed,
        shape: &[Part::Name("name"), Part::Program("command"), Part::Arguments("args")],
        preamble: "name: Local Config\nversion: 1.0.0\nschema: v1\n",
        own_command: None,
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_is_whole_and_no_two_are_one_client() {
        let mut ids = BTreeSet::new();
        for client in CLIENTS {
            assert!(ids.insert(client.id), "{} is there twice", client.id);
            assert_eq!(Client::named(client.id).unwrap().name, client.name);
            for system in [System::Linux, System::Macos, System::Windows] {
                let places = client.places(system);
                assert!(!places.files.is_empty() && !places.traces.is_empty(), "{}", client.id);
                for path in places.files.iter().chain(places.traces) {
                    assert!(!path.starts_with('/') && !path.contains(".."), "{path}");
                }
            }
            let programs = client.shape.iter().filter(|part| matches!(part, Part::Program(_) | Part::Line(_))).count();
            assert_eq!(programs, 1, "{}", client.id);
            let named = client.shape.iter().any(|part| matches!(part, Part::Name(_)));
            assert!(named || client.keeping == Keeping::ByName, "{}: a list needs names", client.id);
        }
        assert_eq!(ids.len(), 12);
    }

    #[test]
    fn the_page_for_people_names_every_client_its_file_and_its_key() {
        let page = include_str!("../../../docs/clients.md");
        for client in CLIENTS {
            let row = format!("| {} | `{}` | ", client.name, client.id);
            let line =
                page.lines().find(|line| line.starts_with(&row)).unwrap_or_else(|| panic!("no row for {}", client.id));
            assert!(line.ends_with(&format!("| `{}` |", client.servers)), "{line}");
            let file = client.linux.files[0].rsplit('/').next().unwrap();
            assert!(line.contains(file), "{line}");
        }
    }
}
