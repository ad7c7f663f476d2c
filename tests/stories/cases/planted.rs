//! Rows that tell in words what somebody did to a vault's folder: done to a real one, and the vault started. A row is
//! known by its words, so that another row of the same kind needs nothing new here.

use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use bursar_vault::client::AgentClient;

use super::bench::{Bench, rules};
use super::row::Row;

/// How it ended: in a word of the corpus, and what was said.
type End = (&'static str, String);

/// What is done to a folder, and how it ends.
type Play = fn(&Bench) -> End;

/// Words that a row of the kind has, all of them, and what is done.
const KINDS: &[(&[&str], Play)] = &[
    (&["symlink", "policy"], link),
    (&["parent directory", "0777"], open_parent),
    (&["policy", "mode 06"], open_modes),
    (&["policy", "is empty"], emptied),
    (&["policy", "is missing"], missing),
    (&["hard-link"], second_name),
    (&["fifo"], no_plain_file),
    (&["edits policy", "while the server runs"], edited),
    (&["database", "removed"], no_ledger),
    (&["init", "existing database"], init_twice),
    (&["two signer", "one key"], second_vault),
    (&["lock file", "new signer starts"], lock_left),
];

/// Runs a row about a vault's folder; `None` for any other row.
pub(crate) fn run(row: &Row) -> Option<Result<(), String>> {
    let told = row.texts("/steps").join("; ").to_lowercase();
    let (_, play) = KINDS.iter().find(|(words, _)| words.iter().all(|word| told.contains(word)))?;
    let (act, said) = play(&Bench::new());
    let wanted = row.expected.act.as_str();
    Some(if act == wanted { Ok(()) } else { Err(format!("want {wanted}, got {act}: {said}")) })
}

/// Whether a vault starts.
fn start(bench: &Bench) -> End {
    match bench.start() {
        Ok(running) => {
            running.stop();
            ("continue", String::new())
        }
        Err(fault) => ("start_fail", fault.to_string()),
    }
}

/// The first of these that did not end as the others should.
fn all(ends: Vec<End>) -> End {
    let odd = ends.iter().position(|(act, _)| *act != "start_fail");
    ends.into_iter().nth(odd.unwrap_or(0)).unwrap()
}

fn write(path: &Path, text: &str) {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(path).unwrap();
    std::io::Write::write_all(&mut &file, text.as_bytes()).unwrap();
}

fn link(bench: &Bench) -> End {
    let real = bench.profile.home().join("kept elsewhere");
    fs::rename(bench.profile.rules(), &real).unwrap();
    symlink(&real, bench.profile.rules()).unwrap();
    start(bench)
}

fn open_parent(bench: &Bench) -> End {
    fs::set_permissions(bench.folder.path(), Permissions::from_mode(0o777)).unwrap();
    start(bench)
}

fn open_modes(bench: &Bench) -> End {
    let modes = [0o644, 0o640, 0o660, 0o666, 0o602];
    let start_with = |mode: u32| {
        fs::set_permissions(bench.profile.rules(), Permissions::from_mode(mode)).unwrap();
        start(bench)
    };
    all(modes.map(start_with).into())
}

fn emptied(bench: &Bench) -> End {
    write(&bench.profile.rules(), "");
    start(bench)
}

fn missing(bench: &Bench) -> End {
    fs::remove_file(bench.profile.rules()).unwrap();
    start(bench)
}

fn second_name(bench: &Bench) -> End {
    let example = bench.profile.home().join("bursar.toml.example");
    write(&example, &rules().replace("0.05 USD", "500 USD"));
    fs::remove_file(bench.profile.rules()).unwrap();
    fs::hard_link(&example, bench.profile.rules()).unwrap();
    start(bench)
}

fn no_plain_file(bench: &Bench) -> End {
    let path = bench.profile.rules();
    let mut ends = Vec::new();
    fs::remove_file(&path).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    ends.push(start(bench));
    fs::remove_file(&path).unwrap();
    symlink("/dev/stdin", &path).unwrap();
    ends.push(start(bench));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    ends.push(start(bench));
    fs::remove_dir(&path).unwrap();
    write(&path, &rules());
    // A file of five gigabytes that takes no room.
    File::options().write(true).open(&path).unwrap().set_len(5_000_000_000).unwrap();
    ends.push(start(bench));
    all(ends)
}

/// Wider rules under a running vault count for nothing until a person agrees to them.
fn edited(bench: &Bench) -> End {
    let running = bench.start().unwrap();
    let in_force = || AgentClient::connect(&bench.profile, None).unwrap().1.rules_digest;
    let before = in_force();
    write(&bench.profile.rules(), &rules().replace("0.05 USD", "500 USD"));
    let holds = in_force() == before && bench.status().rules_digest == before;
    running.stop();
    if holds { ("continue", String::new()) } else { ("refuse", "other rules are in force".to_owned()) }
}

fn no_ledger(bench: &Bench) -> End {
    fs::remove_file(bench.profile.ledger()).unwrap();
    let end = start(bench);
    assert!(!bench.profile.ledger().exists(), "a ledger was made anew");
    end
}

fn init_twice(bench: &Bench) -> End {
    let before = fs::read(bench.profile.ledger()).unwrap();
    let end = match bench.init_again() {
        Ok(()) => ("continue", "it was made anew".to_owned()),
        Err(fault) => ("start_fail", fault),
    };
    assert!(fs::read(bench.profile.ledger()).unwrap() == before, "the ledger was touched");
    end
}

fn second_vault(bench: &Bench) -> End {
    let running = bench.start().unwrap();
    let end = match bench.start() {
        Ok(_) => ("continue", "both run".to_owned()),
        Err(fault) => ("refuse", fault.to_string()),
    };
    bench.status();
    running.stop();
    end
}

fn lock_left(bench: &Bench) -> End {
    bench.start().unwrap().stop();
    write(&bench.profile.lock(), "4711\n");
    start(bench)
}

#[test]
fn whatever_is_done_to_the_folder_no_vault_starts_with_what_others_could_have_put_there() {
    for (steps, act) in [
        ("the policy is a symlink", "start_fail"),
        ("the parent directory has mode 0777", "start_fail"),
        ("the policy has mode 0666", "start_fail"),
        ("the policy is empty", "start_fail"),
        ("the policy is missing", "start_fail"),
        ("a lax example is hard-linked to the policy", "start_fail"),
        ("a FIFO, a device, a directory or a very large file", "start_fail"),
        ("somebody edits policy and key words while the server runs", "continue"),
        ("the database is removed", "start_fail"),
        ("init on an existing database", "start_fail"),
        ("two signer processes for one key", "refuse"),
        ("a lock file is left and a new signer starts", "continue"),
    ] {
        let row = Row::ours("config", serde_json::json!({ "steps": [steps] }), act, 0);
        assert_eq!(run(&row), Some(Ok(())), "{steps}");
    }
    let other = Row::ours("config", serde_json::json!({ "steps": ["nothing of the kind"] }), "continue", 0);
    assert_eq!(run(&other), None);
}
