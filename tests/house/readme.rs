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
    for manifest in ["Cargo.toml", "policy/Cargo.toml", "vault/Cargo.toml", "tools/Cargo.toml"] {
        let manifest: toml::Table = read(manifest).parse().unwrap();
        for kind in ["dependencies", "dev-dependencies"] {
            if let Some(table) = manifest.get(kind).and_then(toml::Value::as_table) {
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
fn every_file_has_a_line_on_the_map() {
    let map = read("ARCHITECTURE.md");
    let mut missing = Vec::new();
    for room in ["src", "policy/src", "vault/src", "tools/src"] {
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
