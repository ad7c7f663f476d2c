//! Files and directories that others could reach are refused, and the refusal says what to do.

use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};

const US: u32 = 1000;
const FINE: Facts = Facts { kind: Kind::File, owner: US, mode: 0o600, links: 1, bytes: 10 };
const HOME: Facts = Facts { kind: Kind::Directory, owner: US, mode: 0o700, links: 2, bytes: 4096 };

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_file_is_refused_for_each_single_flaw() {
    let check = |facts| check_file(Path::new("f"), facts, US, 10);
    assert!(check(FINE).is_ok());
    assert!(check(Facts { mode: 0o400, ..FINE }).is_ok());
    assert!(matches!(check(Facts { owner: 0, ..FINE }), Err(GuardFault::Owner { owner: 0, us: US, .. })));
    for mode in [0o640, 0o604, 0o660, 0o601, 0o610] {
        assert!(matches!(check(Facts { mode, ..FINE }), Err(GuardFault::Mode { .. })), "{mode:o}");
    }
    assert!(matches!(check(Facts { links: 2, ..FINE }), Err(GuardFault::Linked { count: 2, .. })));
    assert!(matches!(check(Facts { bytes: 11, ..FINE }), Err(GuardFault::TooLarge { cap: 10, .. })));
    assert!(matches!(check(Facts { kind: Kind::Link, ..FINE }), Err(GuardFault::Link { .. })));
    for kind in [Kind::Directory, Kind::Other] {
        assert!(matches!(check(Facts { kind, ..FINE }), Err(GuardFault::NotFile { .. })));
    }
}

#[test]
fn a_private_directory_is_ours_alone() {
    let check = |facts| check_private_directory(Path::new("d"), facts, US);
    assert!(check(HOME).is_ok());
    assert!(matches!(check(Facts { owner: 0, ..HOME }), Err(GuardFault::Owner { .. })));
    assert!(matches!(check(Facts { mode: 0o750, ..HOME }), Err(GuardFault::Mode { want: 0o700, .. })));
    assert!(matches!(check(Facts { kind: Kind::Link, ..HOME }), Err(GuardFault::Link { .. })));
    assert!(matches!(check(Facts { kind: Kind::File, ..HOME }), Err(GuardFault::NotDirectory { .. })));
}

#[test]
fn a_parent_that_others_can_write_is_refused_unless_sticky_and_roots() {
    let check = |facts| check_parent(Path::new("p"), facts, US);
    assert!(check(Facts { mode: 0o755, ..HOME }).is_ok());
    assert!(check(Facts { owner: 0, mode: 0o1777, ..HOME }).is_ok());
    assert!(matches!(check(Facts { owner: 0, mode: 0o777, ..HOME }), Err(GuardFault::Parent { .. })));
    assert!(matches!(check(Facts { mode: 0o1777, ..HOME }), Err(GuardFault::Parent { .. })));
    assert!(matches!(check(Facts { mode: 0o775, ..HOME }), Err(GuardFault::Parent { .. })));
    assert!(matches!(check(Facts { owner: 7, ..HOME }), Err(GuardFault::ParentOwner { owner: 7, .. })));
    assert!(check(Facts { kind: Kind::Link, owner: 0, mode: 0o777, ..HOME }).is_ok());
    assert!(check(Facts { kind: Kind::Link, owner: 7, mode: 0o777, ..HOME }).is_err());
}

#[test]
fn what_is_written_is_private_whole_and_never_overwritten_by_create() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    assert!(matches!(read(&path, 10), Err(GuardFault::Missing { .. })));
    assert!(read_if_there(&path, 10).unwrap().is_none());
    create(&path, b"one").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(matches!(create(&path, b"two"), Err(GuardFault::Exists { .. })));
    assert_eq!(read(&path, 10).unwrap().as_slice(), b"one");
    replace(&path, b"two").unwrap();
    assert_eq!(read(&path, 3).unwrap().as_slice(), b"two");
    assert!(matches!(read(&path, 2), Err(GuardFault::TooLarge { .. })));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half-written is left");
}

#[test]
fn links_pipes_directories_and_open_modes_are_refused_on_the_open_file() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("real");
    create(&real, b"x").unwrap();

    let link = folder.path().join("link");
    symlink(&real, &link).unwrap();
    assert!(matches!(read(&link, 10), Err(GuardFault::Link { .. })));

    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert!(matches!(read(&pipe, 10), Err(GuardFault::NotFile { .. })));
    assert!(matches!(read(folder.path(), 10), Err(GuardFault::NotFile { .. })));

    let twin = folder.path().join("twin");
    fs::hard_link(&real, &twin).unwrap();
    assert!(matches!(read(&real, 10), Err(GuardFault::Linked { .. })));
    fs::remove_file(&twin).unwrap();

    chmod(&real, 0o644);
    let fault = read(&real, 10).unwrap_err();
    assert!(matches!(fault, GuardFault::Mode { .. }));
    assert!(fault.to_string().contains("chmod 0600"));
}

#[test]
fn a_directory_is_checked_with_its_parents() {
    let top = tempfile::tempdir().unwrap();
    let middle = top.path().join("middle");
    let home = middle.join("home");
    make_directory(&middle).unwrap();
    make_directory(&home).unwrap();
    make_directory(&home).unwrap();
    directory(&home).unwrap();

    chmod(&middle, 0o777);
    assert!(matches!(directory(&home), Err(GuardFault::Parent { .. })));
    assert!(matches!(make_directory(&middle.join("new")), Err(GuardFault::Parent { .. })));
    chmod(&middle, 0o755);
    directory(&home).unwrap();

    chmod(&home, 0o755);
    assert!(matches!(directory(&home), Err(GuardFault::Mode { .. })));
    assert!(matches!(make_directory(&home), Err(GuardFault::Mode { .. })), "an open directory is not taken over");

    let link = middle.join("link");
    symlink(&home, &link).unwrap();
    chmod(&home, 0o700);
    assert!(matches!(directory(&link), Err(GuardFault::Link { .. })));
}

#[test]
fn a_parent_reached_through_a_link_is_checked_where_it_leads() {
    let top = tempfile::tempdir().unwrap();
    let open = top.path().join("open");
    make_directory(&open).unwrap();
    make_directory(&open.join("home")).unwrap();
    let safe = top.path().join("safe");
    make_directory(&safe).unwrap();
    symlink(&open, safe.join("link")).unwrap();
    directory(&safe.join("link/home")).unwrap();
    chmod(&open, 0o777);
    assert!(matches!(directory(&safe.join("link/home")), Err(GuardFault::Parent { .. })));
}

#[test]
fn a_file_of_roots_may_be_read_by_all_and_written_by_root_alone() {
    let check = |facts| check_roots_file(Path::new("f"), facts, 10);
    let roots = Facts { owner: 0, mode: 0o644, ..FINE };
    assert!(check(roots).is_ok());
    assert!(check(Facts { mode: 0o600, ..roots }).is_ok());
    assert!(matches!(check(Facts { owner: US, ..roots }), Err(GuardFault::NotRoots { owner: US, .. })));
    for mode in [0o664, 0o646, 0o622] {
        assert!(matches!(check(Facts { mode, ..roots }), Err(GuardFault::Writable { .. })), "{mode:o}");
    }
    assert!(matches!(check(Facts { links: 2, ..roots }), Err(GuardFault::Linked { .. })));
    assert!(matches!(check(Facts { bytes: 11, ..roots }), Err(GuardFault::TooLarge { .. })));
    assert!(matches!(check(Facts { kind: Kind::Link, ..roots }), Err(GuardFault::Link { .. })));
    assert!(matches!(check(Facts { kind: Kind::Other, ..roots }), Err(GuardFault::NotFile { .. })));
}

#[test]
fn a_secret_is_ours_or_lent_by_root_and_nobody_elses() {
    let check = |facts| check_lent_file(Path::new("f"), facts, US, 10);
    assert!(check(FINE).is_ok());
    for mode in [0o400, 0o440, 0o600] {
        assert!(check(Facts { owner: 0, mode, ..FINE }).is_ok(), "{mode:o}");
    }
    for mode in [0o444, 0o460, 0o404, 0o644, 0o450] {
        assert!(check(Facts { owner: 0, mode, ..FINE }).is_err(), "{mode:o}");
    }
    assert!(check(Facts { mode: 0o440, ..FINE }).is_err(), "a group of our own is no access list of root's");
    assert!(check(Facts { owner: US + 1, ..FINE }).is_err());
    assert!(check(Facts { owner: 0, mode: 0o400, links: 2, ..FINE }).is_err());
}

#[test]
fn a_passage_is_its_owners_and_others_may_not_write_there() {
    let check = |facts| check_passage(Path::new("d"), facts, US);
    for mode in [0o700, 0o711, 0o755] {
        assert!(check(Facts { mode, ..HOME }).is_ok(), "{mode:o}");
    }
    for mode in [0o731, 0o713, 0o777, 0o1777] {
        assert!(matches!(check(Facts { mode, ..HOME }), Err(GuardFault::Writable { .. })), "{mode:o}");
    }
    assert!(matches!(check(Facts { owner: 0, ..HOME }), Err(GuardFault::Owner { .. })));
    assert!(matches!(check(Facts { kind: Kind::Link, ..HOME }), Err(GuardFault::Link { .. })));
    assert!(matches!(check(Facts { kind: Kind::File, ..HOME }), Err(GuardFault::NotDirectory { .. })));
}
