//! Paths come from the account database or a flag, and long ones find a short socket directory.

use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn profile_names_cannot_leave_their_directory() {
    for name in ["", "..", "a/b", "A", "-x", "a b", "a.b", &"x".repeat(33)] {
        assert!(matches!(Profile::locate_default(Some(name)), Err(ProfileFault::Name { .. })), "{name}");
    }
    let own = Profile::locate_default(None).unwrap();
    let named = Profile::locate_default(Some("test-net")).unwrap();
    assert_eq!(named.home(), own.home().join("profiles/test-net"));
    assert_eq!(named.setting(), Setting::Real);
}

#[test]
fn a_sandbox_is_where_it_was_told_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("play");
    let profile = Profile::locate_sandbox(&place.join("")).unwrap();
    assert_eq!(profile.home(), place);
    assert!(Profile::open_sandbox(&place).is_err(), "nothing is created by opening");
    profile.create().unwrap();
    assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(Profile::open_sandbox(&place).unwrap(), profile);
    assert_eq!(profile.setting(), Setting::Sandbox);

    std::os::unix::fs::symlink(&place, folder.path().join("link")).unwrap();
    for hidden in ["link", "link/", "link/."] {
        assert!(Profile::open_sandbox(&folder.path().join(hidden)).is_err(), "{hidden}");
    }
}

#[test]
fn a_long_path_finds_a_short_socket_directory_of_its_own() {
    let near = Profile::locate_sandbox(Path::new("/srv/play")).unwrap();
    assert_eq!(near.agent_sock(), PathBuf::from("/srv/play/run/agent.sock"));
    let deep = |last: &str| Profile::locate_sandbox(&Path::new("/srv").join("x".repeat(120)).join(last)).unwrap();
    let (one, two) = (deep("a"), deep("b"));
    assert!(one.operator_sock().as_os_str().len() <= platform::SOCKET_PATH_MAX_BYTES);
    assert_ne!(one.run_dir(), two.run_dir());
    assert_eq!(one.run_dir(), deep("a").run_dir());
}
