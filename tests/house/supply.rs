//! What bursar is made of and tested with: where it comes from, how much of it there is, and that each part has its reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The most crates in the program that is shipped for Linux, ours among them. Raise it in the commit that says why.
const CRATES_SHIPPED_MAX: usize = 262;

const NPM: [&str; 8] = [
    "benches/startup",
    "tests/axe",
    "tests/chromium",
    "tests/clients",
    "tests/conformance",
    "tests/packaging",
    "tests/peers",
    "tests/postgres",
];
const PYPI: [&str; 3] =
    ["tests/clients/requirements-langchain", "tests/clients/requirements-python", "tests/supply/requirements"];

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

fn json(name: &str) -> serde_json::Value {
    serde_json::from_str(&read(name)).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

#[test]
fn every_crate_is_ours_or_comes_from_the_one_registry_by_its_checksum() {
    for lock in ["Cargo.lock", "fuzz/Cargo.lock", "benches/wire/peers/Cargo.lock", "tests/peers/axum/Cargo.lock"] {
        let parsed: toml::Table = read(lock).parse().unwrap();
        let packages = parsed["package"].as_array().unwrap();
        let text = |package: &toml::Value, key: &str| package.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        let mut foreign = 0;
        for package in packages {
            let name = text(package, "name").unwrap();
            let Some(source) = text(package, "source") else {
                assert!(name.starts_with("bursar"), "{lock}: `{name}` comes from a folder");
                continue;
            };
            foreign += 1;
            assert_eq!(source, "registry+https://github.com/rust-lang/crates.io-index", "{lock}: `{name}`");
            assert_eq!(text(package, "checksum").map_or(0, |sum| sum.len()), 64, "{lock}: `{name}` has no checksum");
        }
        assert!(foreign > 50, "{lock}: only {foreign} crates were found");
    }
}

#[test]
fn the_shipped_program_has_no_more_crates_than_it_had() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--package", "bursar", "--edges", "normal", "--prefix", "none"])
        .args(["--target", "x86_64-unknown-linux-gnu", "--format", "{p}"])
        .current_dir(ROOT)
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).unwrap();
    let crates: BTreeSet<&str> = text.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    assert!(crates.len() > 100, "only {} crates were found", crates.len());
    assert!(
        crates.len() <= CRATES_SHIPPED_MAX,
        "{} crates, {CRATES_SHIPPED_MAX} at most: is the new one worth it?",
        crates.len()
    );
}

#[test]
fn every_npm_package_is_pinned_by_version_and_hash_and_earns_its_line() {
    let contributing = read("CONTRIBUTING.md");
    let mut found = Vec::new();
    find(Path::new(ROOT), &mut found);
    found.sort();
    assert_eq!(found, NPM, "the folders with a package.json; list a new one here");
    for folder in NPM {
        let package = json(&format!("{folder}/package.json"));
        for kind in ["dependencies", "devDependencies", "optionalDependencies"] {
            for (name, version) in package[kind].as_object().into_iter().flatten() {
                let version = version.as_str().unwrap();
                let exact =
                    version.starts_with(|first: char| first.is_ascii_digit()) && !version.contains([' ', '|', 'x']);
                assert!(exact || version.starts_with("file:"), "{folder}: `{name}` is {version}, not one version");
                assert!(contributing.contains(&format!("| `{name}` |")), "no line in CONTRIBUTING.md for `{name}`");
            }
        }
        let lock = json(&format!("{folder}/package-lock.json"));
        for (place, entry) in lock["packages"].as_object().unwrap() {
            let ours = place.is_empty() || !place.contains("node_modules/") || entry["link"] == true;
            let bundled = entry["inBundle"] == true;
            assert!(ours || bundled || entry["integrity"].is_string(), "{folder}: `{place}` has no hash");
        }
    }
}

#[test]
fn every_python_package_is_pinned_by_version_and_hash_and_earns_its_line() {
    let contributing = read("CONTRIBUTING.md");
    for list in PYPI {
        let wanted = read(&format!("{list}.in"));
        let resolved = read(&format!("{list}.txt"));
        for line in wanted.lines() {
            let (name, _) = line.split_once("==").unwrap_or_else(|| panic!("{list}.in: `{line}` is not one version"));
            assert!(resolved.contains(&format!("{line} \\\n")), "{list}.txt is not made from {list}.in: {line}");
            assert!(contributing.contains(&format!("| `{name}` |")), "no line in CONTRIBUTING.md for `{name}`");
        }
        for part in resolved.replace("\\\n", " ").lines() {
            let pinned = part.contains("==") && part.contains("--hash=sha256:");
            assert!(
                pinned,
                "{list}.txt: `{}` has no version or no hash",
                part.split_whitespace().next().unwrap_or_default()
            );
        }
    }
}

#[test]
fn the_libraries_that_the_document_calls_tested_are_those_that_are() {
    let told = read("docs/clients.md");
    let (_, told) = told.split_once("## Libraries and agents' frameworks").unwrap();
    let package = json("tests/clients/package.json");
    let mut meant: Vec<String> = package["dependencies"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| *name != "ajv")
        .map(|(name, version)| format!("`{name}` {}", version.as_str().unwrap()))
        .collect();
    for line in
        PYPI.iter().take(2).flat_map(|list| read(&format!("{list}.txt")).lines().map(str::to_owned).collect::<Vec<_>>())
    {
        let pinned =
            line.split_once("==").filter(|(name, _)| ["mcp", "openai-agents", "langchain-mcp-adapters"].contains(name));
        meant.extend(pinned.map(|(name, version)| format!("`{name}` {}", version.trim_end_matches(" \\"))));
    }
    let lock: toml::Table = read("Cargo.lock").parse().unwrap();
    let rmcp = lock["package"].as_array().unwrap().iter().find(|one| one["name"].as_str() == Some("rmcp")).unwrap();
    meant.push(format!("`rmcp` {}", rmcp["version"].as_str().unwrap()));
    assert_eq!(meant.len(), 7, "{meant:?}");
    let missing: Vec<&String> = meant.iter().filter(|one| !told.contains(&format!("{one} |"))).collect();
    assert!(missing.is_empty(), "docs/clients.md does not name {missing:?}");
}

/// Folders with a package.json, below `folder`, as paths from the root.
fn find(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // `absent` is the empty package that stands for what is never loaded.
        let passed_over = ["node_modules", "target", "absent", "run"].contains(&name.as_str()) || name.starts_with('.');
        if path.is_dir() && !passed_over {
            find(&path, found);
        } else if name == "package.json" {
            found.push(path.parent().unwrap().strip_prefix(ROOT).unwrap().to_string_lossy().into_owned());
        }
    }
}
