//! Rows about what surrounds the program when it starts: variables, and files in the folder it was started from. Must
//! never set a variable of this process: each row has a process of its own.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::bench::{Bench, rules};
use super::row::Row;

/// Runs a row about surroundings; `None` for any other row.
pub(crate) fn run(row: &Row) -> Option<Result<(), String>> {
    let told = row.texts("/steps").join("; ");
    let env = row.input.get("env").and_then(Value::as_object).filter(|_| row.area == "config");
    if env.is_none() && !told.contains("cwd") {
        return None;
    }
    let bench = Bench::new();
    let elsewhere = bench.folder.path().join("elsewhere");
    plant(&elsewhere, &told);
    let variables: Vec<(String, String)> = env
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default()))
        // A path of theirs is a folder of ours, with lax rules in it.
        .map(|(name, value)| {
            let value = if value.starts_with('/') { elsewhere.to_str().unwrap() } else { value };
            (name, value.to_owned())
        })
        .collect();
    Some(match row.expected.act.as_str() {
        "continue" => unmoved(&bench, &elsewhere, &variables),
        "start_fail" => stopped(&bench, &variables),
        other => Err(format!("`{other}` is no end of a start")),
    })
}

/// The program says the same of its own profile and of a sandbox, wherever it is started and whatever is set.
fn unmoved(bench: &Bench, elsewhere: &Path, variables: &[(String, String)]) -> Result<(), String> {
    let home = bench.profile.home().to_str().unwrap();
    for words in [&["--sandbox", home, "check"][..], &["check"], &["--profile", "other", "check"]] {
        let plain = run_in(bench.folder.path(), words, &[]);
        let surrounded = run_in(elsewhere, words, variables);
        if plain != surrounded {
            return Err(format!("{words:?}: {plain:?} became {surrounded:?}"));
        }
    }
    Ok(())
}

fn stopped(bench: &Bench, variables: &[(String, String)]) -> Result<(), String> {
    let home = bench.profile.home().to_str().unwrap();
    for process in ["vault", "serve"] {
        let Output { status, stderr, .. } = run_in(bench.folder.path(), &["--sandbox", home, process], variables);
        let said = String::from_utf8_lossy(&stderr);
        let named = variables.iter().any(|(name, value)| said.contains(name) && !said.contains(value));
        if status.code() != Some(4) || !named {
            return Err(format!("`{process}` ended with {status}: {said}"));
        }
    }
    Ok(())
}

fn run_in(folder: &Path, words: &[&str], variables: &[(String, String)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bursar"));
    command.args(words).env_clear().envs(variables.iter().cloned()).current_dir(folder).output().unwrap()
}

/// Everything that a program could be led astray by, with lax rules.
fn plant(folder: &Path, told: &str) {
    let lax = rules().replace("0.05 USD", "500 USD");
    for path in ["bursar.toml", "policy.toml", ".x402/policy.toml", ".bursar/bursar.toml", "bursar/bursar.toml"] {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &lax).unwrap();
    }
    let line = told.split_whitespace().find(|word| word.contains('=')).unwrap_or("BURSAR_HOME=/nowhere");
    fs::write(folder.join(".env"), format!("{line}\nHOME={}\n", folder.display())).unwrap();
}

#[test]
fn neither_variables_nor_the_folder_it_is_started_from_move_the_rules() {
    let lax =
        serde_json::json!({ "HOME": "/x", "XDG_CONFIG_HOME": "/x", "BURSAR_HOME": "/x", "BURSAR_PROFILE": "other" });
    let key = serde_json::json!({ "WALLET_PRIVATE_KEY": "0xdeadbeefcafe" });
    for (input, act) in [
        (serde_json::json!({ "env": lax }), "continue"),
        (serde_json::json!({ "env": key }), "start_fail"),
        (serde_json::json!({ "steps": ["cwd is a checkout with rules of its own"] }), "continue"),
        (serde_json::json!({ "steps": ["cwd has .env with BURSAR_SOCKET=/run/evil.sock"] }), "continue"),
    ] {
        assert_eq!(run(&Row::ours("config", input.clone(), act, 0)), Some(Ok(())), "{input}");
    }
}
