//! What root may write into the machine's file, and that whatever else lies there is refused and never passed over.

use super::*;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

const PLACE: &str = "/etc/bursar/vault.toml";
const WHOLE: &str = "vault = 990\nagents = [1000, 1001]\noperators = [1002]\nsockets = \"/run/bursar\"\n";

fn of(text: &str) -> Result<Hardened, String> {
    let accounts = Accounts::of(
        "root:x:0:0::/root:/bin/sh\nbursar:x:990:990::/var/lib/bursar:/bin/false\nann:x:1000:1000::/home/ann:/bin/sh\n",
    );
    Hardened::of(Path::new(PLACE), text, &accounts)
}

#[test]
fn users_are_named_or_numbered_and_browsers_are_the_operators_unless_it_says_otherwise() {
    let read = of(WHOLE).unwrap();
    assert_eq!((read.vault(), read.sockets()), (990, Path::new("/run/bursar")));
    assert_eq!(read.guests(DoorName::Agent), &BTreeSet::from([1000, 1001]));
    assert_eq!(read.guests(DoorName::Operator), &BTreeSet::from([1002]));
    assert_eq!(read.guests(DoorName::Glue), &BTreeSet::from([1002]));
    assert_eq!((read.both(), read.passphrase()), (vec![], None));

    let read = of("vault = \"bursar\"\nagents = [\"ann\"]\noperators = [\"root\", 1000]\nbrowsers = []\nsockets = \"/run//bursar/\"\npassphrase = \"/run/credentials/p\"\n").unwrap();
    assert_eq!((read.vault(), read.sockets()), (990, Path::new("/run/bursar")));
    assert_eq!(read.guests(DoorName::Operator), &BTreeSet::from([0, 1000]));
    assert!(read.guests(DoorName::Glue).is_empty());
    assert_eq!((read.both(), read.passphrase()), (vec![1000], Some(Path::new("/run/credentials/p"))));
}

#[test]
fn what_would_be_no_protection_is_refused_in_one_sentence() {
    let long = format!("sockets = \"/run/{}\"", "x".repeat(100));
    for (was, is, part) in [
        ("vault = 990", "vault = 0", "root"),
        ("vault = 990", "vault = \"root\"", "root"),
        ("vault = 990", "vault = 1000", "the vault's user"),
        ("vault = 990", "vault = -1", "line 1"),
        ("vault = 990", "vault = 4294967295", "line 1"),
        ("vault = 990", "vault = 990.0", "the name of an account or its user id"),
        ("vault = 990", "vault = \"nobody-here\"", "`nobody-here`"),
        ("vault = 990", "vault = \"\"", "no account"),
        ("vault = 990\n", "", "missing field `vault`"),
        ("agents = [1000, 1001]", "agents = []", "a user each"),
        ("agents = [1000, 1001]", "agents = [0]", "root"),
        ("agents = [1000, 1001]", "agents = [990]", "the vault's user"),
        ("agents = [1000, 1001]", "agents = 1000", "line 2"),
        ("operators = [1002]", "operators = []", "a user each"),
        ("operators = [1002]", "operators = [1002]\nbrowsers = [\"bursar\"]", "the vault's user"),
        ("sockets = \"/run/bursar\"", "sockets = \"run/bursar\"", "`sockets` is not a whole path"),
        ("sockets = \"/run/bursar\"", "sockets = \"/run/../bursar\"", "`sockets` is not a whole path"),
        ("sockets = \"/run/bursar\"", "sockets = \"/\"", "`sockets` is not a whole path"),
        ("sockets = \"/run/bursar\"", &long, "too long"),
        ("sockets", "socket", "unknown field `socket`"),
        ("operators = [1002]", "operators = [1002]\npassphrase = \"here\"", "`passphrase` is not a whole path"),
        ("operators = [1002]", "operators = [1002]\noperators = [1000]", "duplicate key"),
    ] {
        let said = of(&WHOLE.replacen(was, is, 1)).unwrap_err();
        assert!(said.contains(part) && !said.contains('\n'), "{is}: {said}");
    }
}

/// A file of root's, where the tests run as root; another user's file is refused before it is read.
#[test]
fn a_file_that_somebody_else_could_have_written_is_refused_and_a_missing_one_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vault.toml");
    assert!(matches!(Hardened::read(&path), Err(HardenedFault::Missing { .. })));
    fs::write(&path, WHOLE).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    if guarded::our_uid() != 0 {
        assert!(matches!(Hardened::read(&path), Err(HardenedFault::Guard(GuardFault::NotRoots { .. }))));
        return;
    }
    assert_eq!(Hardened::read(&path).unwrap().vault(), 990);
    for mode in [0o664, 0o646, 0o666] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        assert!(matches!(Hardened::read(&path), Err(HardenedFault::Guard(GuardFault::Writable { .. }))), "{mode:o}");
    }
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();

    std::os::unix::fs::chown(&path, Some(1000), None).unwrap();
    assert!(matches!(Hardened::read(&path), Err(HardenedFault::Guard(GuardFault::NotRoots { owner: 1000, .. }))));
    std::os::unix::fs::chown(&path, Some(0), None).unwrap();

    let second = folder.path().join("second.toml");
    fs::hard_link(&path, &second).unwrap();
    assert!(matches!(Hardened::read(&path), Err(HardenedFault::Guard(GuardFault::Linked { .. }))));
    fs::remove_file(&second).unwrap();
    symlink(&path, &second).unwrap();
    assert!(matches!(Hardened::read(&second), Err(HardenedFault::Guard(GuardFault::Link { .. }))));

    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(Hardened::read(&path), Err(HardenedFault::Guard(GuardFault::Parent { .. }))));
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::chown(folder.path(), Some(1000), None).unwrap();
    assert!(matches!(Hardened::read(&path), Err(HardenedFault::Guard(GuardFault::ParentOwner { .. }))));

    fs::write(&path, "vault = 990\n").unwrap();
    fs::write(&path, [0xff, 0xfe]).unwrap();
    std::os::unix::fs::chown(folder.path(), Some(0), None).unwrap();
    assert!(matches!(Hardened::read(&path), Err(HardenedFault::Text { .. })));
}

#[test]
fn the_files_that_are_shipped_can_be_used() {
    let accounts = Accounts::of("bursar:x:990:990::/:/\nagent:x:1000:1000::/:/\nann:x:1001:1001::/:/\n");
    let of = |text| Hardened::of(Path::new(PLACE), text, &accounts).unwrap();
    let units = of(include_str!("../../../packaging/systemd/vault.toml"));
    assert_eq!((units.vault(), units.sockets()), (990, Path::new("/run/bursar")));
    assert!(units.both().is_empty() && units.passphrase().is_none());
    // The lines that are there to be taken in say what they should as well.
    let taken = include_str!("../../../packaging/systemd/vault.toml").replace("\n# browsers", "\nbrowsers");
    let taken = taken.replace("\n# passphrase", "\npassphrase");
    let taken = of(&taken);
    assert_eq!(taken.guests(DoorName::Glue), &BTreeSet::from([1001]));
    assert_eq!(taken.passphrase(), Some(Path::new("/run/credentials/bursar-vault.service/passphrase")));
    let images = of(include_str!("../../../packaging/docker/vault.toml"));
    assert_eq!(images.guests(DoorName::Agent), &BTreeSet::from([10_001]));
}
