//! Files and links in a folder of their own.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_whole_with_its_mode_and_a_copy_of_each_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    for (number, wanted) in [(1, 0o644), (2, 0o600), (3, 0o664)] {
        fs::write(&path, format!("state {number}")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(wanted)).unwrap();
        let copy = Config::read(&path).unwrap().write("new").unwrap().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(copy, folder.path().canonicalize().unwrap().join(format!("mcp.json.before-bursar-{number}")));
        assert_eq!(fs::read_to_string(&copy).unwrap(), format!("state {number}"));
        assert_eq!((mode(&path), mode(&copy)), (wanted, wanted));
    }
    assert_eq!(names(folder.path()).len(), 4, "nothing else is left: {:?}", names(folder.path()));
}

#[test]
fn a_missing_file_and_its_folders_are_made_for_the_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/mcp.json");
    let config = Config::read(&path).unwrap();
    assert_eq!(config.text(), "");
    assert!(!folder.path().join("a").exists(), "looking makes nothing");
    assert_eq!(config.write("new").unwrap(), None);
    assert_eq!((mode(&path), mode(&folder.path().join("a"))), (0o600, 0o700));
    // It is there by now: whoever looked before that has to look again.
    assert!(matches!(config.write("newer"), Err(FileFault::Changed { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(names(&folder.path().join("a/b")), ["mcp.json"]);
}

#[test]
fn a_link_is_followed_and_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let dots = folder.path().join("dotfiles");
    fs::create_dir(&dots).unwrap();
    fs::write(dots.join("real.json"), "old").unwrap();
    let link = folder.path().join("mcp.json");
    symlink("dotfiles/real.json", &link).unwrap();
    let copy = Config::read(&link).unwrap().write("new").unwrap().unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::read_to_string(dots.join("real.json")).unwrap(), "new");
    assert_eq!(copy.file_name().unwrap(), "real.json.before-bursar-1");
    assert_eq!(names(&dots), ["real.json", "real.json.before-bursar-1"]);

    fs::remove_file(dots.join("real.json")).unwrap();
    assert!(matches!(Config::read(&link), Err(FileFault::Dangling { .. })));
}

#[test]
fn what_somebody_wrote_meanwhile_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    fs::write(&path, "old").unwrap();
    let config = Config::read(&path).unwrap();
    fs::write(&path, "theirs").unwrap();
    assert!(matches!(config.write("ours"), Err(FileFault::Changed { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    assert_eq!(names(folder.path()), ["mcp.json"]);
}

#[test]
fn what_is_no_plain_text_file_of_ours_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    fs::create_dir(&path).unwrap();
    assert!(matches!(Config::read(&path), Err(FileFault::NotFile { .. })));
    fs::remove_dir(&path).unwrap();
    fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(matches!(Config::read(&path), Err(FileFault::NotText { .. })));
    fs::write(&path, "text").unwrap();
    fs::hard_link(&path, folder.path().join("second")).unwrap();
    assert!(matches!(Config::read(&path), Err(FileFault::Linked { names: 2, .. })));
}

#[test]
fn the_file_that_is_there_or_the_home_that_is_lived_in_counts() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let vscode = Client::named("vscode").unwrap();
    let at = |expected: &str| assert_eq!(place(vscode, home, System::Linux), home.join(expected));
    assert!(!is_here(vscode, home, System::Linux));
    at(".config/Code/User/mcp.json");
    fs::create_dir_all(home.join(".config/VSCodium/User")).unwrap();
    assert!(is_here(vscode, home, System::Linux) && !is_here(vscode, home, System::Macos));
    at(".config/VSCodium/User/mcp.json");
    fs::create_dir_all(home.join(".config/Code/User")).unwrap();
    at(".config/Code/User/mcp.json");
    fs::write(home.join(".config/VSCodium/User/mcp.json"), "{}").unwrap();
    at(".config/VSCodium/User/mcp.json");
    assert_eq!(place(vscode, home, System::Macos), home.join("Library/Application Support/Code/User/mcp.json"));
}

#[test]
fn no_file_appears_that_would_put_another_out_of_force() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let client = Client::named("continue").unwrap();
    let path = place(client, home, System::Linux);
    fs::create_dir(home.join(".continue")).unwrap();
    may_appear(client, home, System::Linux, &Config::read(&path).unwrap()).unwrap();
    fs::write(home.join(".continue/config.json"), "{}").unwrap();
    let refused = may_appear(client, home, System::Linux, &Config::read(&path).unwrap());
    assert!(matches!(refused, Err(FileFault::Eclipses { .. })));
    fs::write(&path, "name: a\n").unwrap();
    may_appear(client, home, System::Linux, &Config::read(&path).unwrap()).unwrap();
}
