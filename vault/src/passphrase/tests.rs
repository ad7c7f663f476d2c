//! The passphrase door: right, wrong, closed, and closed again after a restart.

use super::*;

fn said(text: &str) -> Passphrase {
    Passphrase::new(Zeroizing::new(text.to_owned()))
}

fn open(folder: &Path, now: Instant) -> Gatekeeper {
    Gatekeeper::open(folder.join("operator.json"), folder.join("attempts"), now).unwrap()
}

fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    replace(&folder.path().join("operator.json"), &said("correct horse"), Setting::Sandbox).unwrap();
    folder
}

#[test]
fn the_right_passphrase_proves_and_the_file_does_not_hold_it() {
    let folder = prepared();
    let now = Instant::now();
    open(folder.path(), now).prove(&said("correct horse"), now).map(drop).unwrap();
    let text = std::fs::read_to_string(folder.path().join("operator.json")).unwrap();
    assert!(!text.contains("correct"));
}

#[test]
fn five_wrong_answers_close_the_door_and_each_further_one_for_twice_as_long() {
    let folder = prepared();
    let start = Instant::now();
    let door = open(folder.path(), start);
    for left in (0..5).rev() {
        match door.prove(&said("wrong"), start) {
            Err(PassphraseFault::Wrong { left: told }) => assert_eq!(told, left),
            other => panic!("{other:?}"),
        }
    }
    assert!(matches!(door.prove(&said("correct horse"), start), Err(PassphraseFault::Wait { .. })));
    let later = start + Duration::from_secs(31);
    assert!(matches!(door.prove(&said("wrong"), later), Err(PassphraseFault::Wrong { left: 0 })));
    let still = later + Duration::from_secs(31);
    assert!(matches!(door.prove(&said("correct horse"), still), Err(PassphraseFault::Wait { .. })));
    let open_again = later + Duration::from_secs(61);
    door.prove(&said("correct horse"), open_again).map(drop).unwrap();
    assert!(matches!(door.prove(&said("wrong"), open_again), Err(PassphraseFault::Wrong { left: 4 })));
}

#[test]
fn a_restart_opens_no_door() {
    let folder = prepared();
    let start = Instant::now();
    let door = open(folder.path(), start);
    for _ in 0..5 {
        door.prove(&said("wrong"), start).map(drop).unwrap_err();
    }
    drop(door);
    let door = open(folder.path(), start);
    assert!(matches!(door.prove(&said("correct horse"), start), Err(PassphraseFault::Wait { .. })));
    door.prove(&said("correct horse"), start + Duration::from_secs(31)).map(drop).unwrap();
}

#[test]
fn the_wait_grows_to_ten_minutes_and_no_further() {
    let now = Instant::now();
    assert_eq!(closed_until(4, now), None);
    assert_eq!(closed_until(5, now), Some(now + Duration::from_secs(30)));
    assert_eq!(closed_until(40, now), Some(now + Duration::from_secs(600)));
    assert_eq!(closed_until(u32::MAX, now), Some(now + Duration::from_secs(600)));
}

#[test]
fn a_short_or_endless_passphrase_is_not_accepted_for_real_money() {
    assert!(acceptable(&said("seven77"), Setting::Real).is_err());
    assert!(acceptable(&said("eight888"), Setting::Real).is_ok());
    assert!(acceptable(&said(&"x".repeat(1025)), Setting::Sandbox).is_err());
}

#[test]
fn a_damaged_check_is_told_and_a_damaged_count_is_a_closed_door() {
    let folder = prepared();
    let start = Instant::now();
    guarded::replace(&folder.path().join("attempts"), b"many").unwrap();
    assert!(matches!(
        open(folder.path(), start).prove(&said("correct horse"), start),
        Err(PassphraseFault::Wait { .. })
    ));
    guarded::replace(&folder.path().join("operator.json"), b"{}").unwrap();
    assert!(matches!(
        Gatekeeper::open(folder.path().join("operator.json"), folder.path().join("attempts"), start),
        Err(PassphraseFault::Damaged { .. })
    ));
}
