//! A file of secrets: what opens it, and everything that must not.

use super::*;
use std::fs;
use tempfile::TempDir;

const LEDGER: &str = "0123456789abcdef0123456789abcdef";

struct Place {
    _folder: TempDir,
    path: PathBuf,
    key: Key,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets.json");
        Self { _folder: folder, path, key: Key::from_bytes(&[7; 32]).unwrap() }
    }

    fn store(&self) -> SecretStore {
        SecretStore::new(self.path.clone(), Setting::Sandbox, LEDGER.to_owned())
    }

    /// A file with `one` and `two` in it.
    fn with_two() -> (Self, SecretStore) {
        let place = Self::new();
        let store = place.store();
        assert_eq!(store.set(&place.key, name("one"), value("first-secret"), 5).unwrap(), Before::Nothing);
        assert_eq!(store.set(&place.key, name("two"), value("second-secret\"\\"), 6).unwrap(), Before::Nothing);
        (place, store)
    }

    /// Changes the file as text.
    fn edit(&self, from: &str, to: &str) {
        let text = fs::read_to_string(&self.path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&self.path, text.replacen(from, to, 1)).unwrap();
    }
}

fn name(text: &str) -> SecretName {
    text.parse().unwrap()
}

fn value(text: &str) -> SecretValue {
    SecretValue::new(Zeroizing::new(text.to_owned())).unwrap()
}

fn told(store: &SecretStore, key: &Key) -> Vec<(String, String)> {
    let opened = store.open(key).unwrap();
    opened.iter().map(|(name, kept)| (name.to_string(), kept.value.expose().to_owned())).collect()
}

fn is_damaged<T: std::fmt::Debug>(result: Result<T, StoreFault>) {
    assert!(matches!(result, Err(StoreFault::Damaged { .. })), "{result:?}");
}

#[test]
fn what_was_set_is_there_until_it_is_removed_and_nothing_of_it_is_in_the_file() {
    let (place, store) = Place::with_two();
    let pair = |name: &str, secret: &str| (name.to_owned(), secret.to_owned());
    assert_eq!(told(&store, &place.key), [pair("one", "first-secret"), pair("two", "second-secret\"\\")]);
    assert_eq!(store.names().unwrap(), BTreeMap::from([(name("one"), 5), (name("two"), 6)]));
    assert_eq!(store.set(&place.key, name("one"), value("another-secret"), 7).unwrap(), Before::Another);
    assert_eq!(store.remove(&place.key, &name("two")).unwrap(), Before::Another);
    assert_eq!(store.remove(&place.key, &name("two")).unwrap(), Before::Nothing);
    assert_eq!(told(&place.store(), &place.key), [pair("one", "another-secret")]);
    let text = fs::read_to_string(&place.path).unwrap();
    for part in ["secret\"", "first", "another", &hex::encode("another")] {
        assert!(!text.contains(part) || part == "secret\"" && text.contains("\"secrets\""), "{part} is in {text}");
    }
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(fs::metadata(&place.path).unwrap().permissions().mode() & 0o7777, 0o600);
}

#[test]
fn without_a_file_there_is_nothing() {
    let place = Place::new();
    assert!(place.store().open(&place.key).unwrap().is_empty());
    assert!(place.store().names().unwrap().is_empty());
}

#[test]
fn another_key_ledger_or_setting_opens_nothing() {
    let (place, store) = Place::with_two();
    is_damaged(store.open(&Key::from_bytes(&[8; 32]).unwrap()));
    is_damaged(SecretStore::new(place.path.clone(), Setting::Real, LEDGER.to_owned()).open(&place.key));
    is_damaged(SecretStore::new(place.path.clone(), Setting::Sandbox, LEDGER.replace('0', "1")).open(&place.key));
    // Saying otherwise in the file changes nothing: what counts is what the profile knows of itself.
    place.edit("\"sandbox\"", "\"real\"");
    is_damaged(SecretStore::new(place.path.clone(), Setting::Real, LEDGER.to_owned()).open(&place.key));
    assert!(store.open(&place.key).is_ok());
}

#[test]
fn every_edit_is_noticed_and_overwrites_nothing() {
    let edits: [(&str, &str); 6] = [
        ("\"one\"", "\"six\""),
        ("\"set_at_s\": 5", "\"set_at_s\": 6"),
        ("\"nonce\": \"", "\"nonce\": \"00"),
        ("\"version\": 1", "\"version\": 2"),
        ("\"sealed\": \"", "\"sealed\": \"0"),
        ("\"ledger\"", "\"book\""),
    ];
    for (from, to) in edits {
        let (place, store) = Place::with_two();
        place.edit(from, to);
        let before = fs::read(&place.path).unwrap();
        is_damaged(store.open(&place.key));
        is_damaged(store.set(&place.key, name("three"), value("third-secret"), 9));
        is_damaged(store.remove(&place.key, &name("one")));
        assert_eq!(fs::read(&place.path).unwrap(), before, "{from}");
    }
}

#[test]
fn two_names_that_were_swapped_and_one_that_was_taken_out_are_noticed() {
    let (place, store) = Place::with_two();
    place.edit("\"one\"", "\"\"");
    place.edit("\"two\"", "\"one\"");
    place.edit("\"\"", "\"two\"");
    is_damaged(store.open(&place.key));

    let (place, store) = Place::with_two();
    let mut file: serde_json::Value = serde_json::from_slice(&fs::read(&place.path).unwrap()).unwrap();
    file["secrets"].as_array_mut().unwrap().pop();
    fs::write(&place.path, file.to_string()).unwrap();
    is_damaged(store.open(&place.key));
}

#[test]
fn each_bit_of_the_seal_counts() {
    let (place, store) = Place::with_two();
    let whole = fs::read_to_string(&place.path).unwrap();
    let at = whole.find("\"sealed\": \"").unwrap() + "\"sealed\": \"".len();
    let end = whole.rfind('"').unwrap();
    for place_of_digit in at..end {
        let mut bytes = whole.clone().into_bytes();
        let digit = bytes.get_mut(place_of_digit).unwrap();
        *digit = if *digit == b'0' { b'1' } else { b'0' };
        fs::write(&place.path, bytes).unwrap();
        is_damaged(store.open(&place.key));
    }
    fs::write(&place.path, whole).unwrap();
    assert!(store.open(&place.key).is_ok());
}

#[test]
fn the_file_has_room_for_the_most_of_the_longest_and_for_no_more() {
    let place = Place::new();
    let store = place.store();
    let longest = "\\".repeat(crate::protocol::SECRET_MAX_BYTES);
    for number in 0..SECRETS_MAX {
        let name = name(&format!("{number:032}"));
        store.set(&place.key, name, value(&longest), u64::MAX).unwrap();
    }
    assert!(matches!(store.set(&place.key, name("more"), value("one-too-many"), 1), Err(StoreFault::Full)));
    assert_eq!(store.open(&place.key).unwrap().len(), SECRETS_MAX);
    store.set(&place.key, name(&"0".repeat(32)), value("in-its-place"), 1).unwrap();
}

#[test]
fn a_file_that_others_can_read_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let (place, store) = Place::with_two();
    fs::set_permissions(&place.path, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(store.open(&place.key), Err(StoreFault::Guard(GuardFault::Mode { .. }))));
}
