//! What README.md, CONTRIBUTING.md, ARCHITECTURE.md and the recipes promise, held against the repository.

use std::fs;
use std::path::Path;

use bursar_policy::Setting;
use bursar_vault::protocol::PROTOCOL;
use bursar_vault::rules_file;

use super::tool_table;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

#[test]
fn the_readme_has_the_table_of_the_tools_as_they_are() {
    let readme = read("README.md");
    let fresh = tool_table::refreshed(&readme).expect("README.md has a place for the table");
    assert!(readme == fresh, "run `cargo run --example tool_table` and look at the difference");
}

#[test]
fn the_rules_that_the_readme_shows_are_rules() {
    let readme = read("README.md");
    let shown = readme.split_once("```toml\n").and_then(|(_, rest)| rest.split_once("```")).expect("an example").0;
    let rules = rules_file::parse(shown, Setting::Real).unwrap_or_else(|fault| panic!("README.md: {fault}"));
    assert!(rules.opening().is_some() && rules.limits().len() == 3 && rules.host_rules().count() == 1);
}

#[test]
fn every_dependency_earns_its_place_in_a_line_of_contributing() {
    let contributing = read("CONTRIBUTING.md");
    let mut names = Vec::new();
    for manifest in ["Cargo.toml", "policy/Cargo.toml", "postgres/Cargo.toml", "vault/Cargo.toml", "tools/Cargo.toml"] {
        let manifest: toml::Table = read(manifest).parse().unwrap();
        let on_targets = manifest.get("target").and_then(toml::Value::as_table).into_iter().flat_map(|of| of.values());
        let tables = on_targets.filter_map(toml::Value::as_table).chain([&manifest]);
        for (of, kind) in tables.flat_map(|of| ["dependencies", "dev-dependencies"].map(|kind| (of, kind))) {
            if let Some(table) = of.get(kind).and_then(toml::Value::as_table) {
                names.extend(table.keys().filter(|name| !name.starts_with("bursar-")).cloned());
            }
        }
    }
    names.sort();
    names.dedup();
    assert!(names.len() > 20, "only {names:?} were found");
    let missing: Vec<&String> = names.iter().filter(|name| !contributing.contains(&format!("| `{name}` |"))).collect();
    assert!(missing.is_empty(), "no line in CONTRIBUTING.md for {missing:?}");
}

#[test]
fn the_documents_install_one_version_by_its_checksum_and_never_the_newest_of_a_name() {
    let releases = read("docs/releases.md");
    let commands = releases.split("```bash\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let all: String = commands.collect();
    let version = env!("CARGO_PKG_VERSION");
    for part in [&format!("VERSION={version}\n"), "sha256sum --check", "SHA256SUMS", "--locked"] {
        assert!(all.contains(part), "`{part}` is not in the commands of docs/releases.md");
    }
    for name in ["README.md", "docs/releases.md", "docs/hardened.md", "docs/browser.md", "packaging/mcpb/manifest.json"]
    {
        for line in read(name).lines() {
            let fetches = ["npx ", "uvx ", "pipx run", "docker run", "curl "].iter().any(|word| line.contains(word));
            // A warning names what not to do; a browser tool of somebody else's holds no money.
            let harmless = line.contains("@playwright/mcp") || line.contains("and the like");
            assert!(!fetches || harmless, "{name}: {line}");
            assert!(!line.contains("bursar@latest") && !line.contains(":latest"), "{name}: {line}");
        }
    }
}

#[test]
fn every_file_has_a_line_on_the_map() {
    let map = read("ARCHITECTURE.md");
    let mut missing = Vec::new();
    for room in ["src", "policy/src", "postgres/src", "vault/src", "tools/src"] {
        for entry in fs::read_dir(Path::new(ROOT).join(room)).unwrap() {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            let stem = name.strip_suffix(".rs").unwrap_or(&name);
            if !["lib", "main"].contains(&stem)
                && !map.contains(&format!("{stem}.rs"))
                && !map.contains(&format!("{stem}/"))
            {
                missing.push(format!("{room}/{name}"));
            }
        }
    }
    assert!(missing.is_empty(), "no line in ARCHITECTURE.md for {missing:?}");
}

#[test]
fn the_recipes_speak_the_version_of_the_sockets() {
    let recipe = read("recipes/glue.mjs");
    assert!(recipe.contains(&format!("const PROTOCOL = {PROTOCOL};")), "change it beside vault/src/protocol.rs");
}
