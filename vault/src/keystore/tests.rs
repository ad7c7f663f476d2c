//! Keystores: a known foreign vector, round trips, and what must not open.

use super::*;

const TYPED: &str = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318";

fn said(text: &str) -> Passphrase {
    Passphrase::new(Zeroizing::new(text.to_owned()))
}

fn made() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keystore.json");
    create(&path, &parse_key(TYPED).unwrap(), &said("open"), Setting::Sandbox, "ledger-1").unwrap();
    (folder, path)
}

#[test]
fn the_cipher_and_the_mac_give_the_published_answer() {
    // The scrypt example of the Web3 Secret Storage definition, from the derived key on.
    let derived = hex::decode("fac192ceb5fd772906bea3e118a69e8bbb5cc24229e20d8766fd298291bba6bd").unwrap();
    let iv: [u8; 16] = hex::decode("83dbcc02d8ccb40e466191a123791e0e").unwrap().try_into().unwrap();
    let ciphertext = hex::decode("d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c").unwrap();
    let mac = mac(&derived[16..], &ciphertext);
    assert_eq!(hex::encode(mac), "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097");
    let mut text = ciphertext;
    apply(&derived[..16], &iv, &mut text).unwrap();
    assert_eq!(hex::encode(text), "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d");
}

#[test]
fn a_key_comes_back_with_its_passphrase_and_with_no_other() {
    let (_folder, path) = made();
    let keystore = Keystore::open(&path, Setting::Sandbox, "ledger-1").unwrap();
    assert_eq!(keystore.address().to_string(), "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23");
    let key = keystore.unlock(&said("open")).ok().unwrap();
    assert_eq!(hex::encode(key.secret().as_slice()), TYPED);
    assert!(matches!(keystore.unlock(&said("Open")), Err(KeystoreFault::Passphrase)));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains(&TYPED[..16]));
    assert!(matches!(
        create(&path, &key, &said("open"), Setting::Sandbox, "ledger-1"),
        Err(KeystoreFault::Guard(GuardFault::Exists { .. }))
    ));
}

#[test]
fn a_sandbox_key_opens_in_its_sandbox_beside_its_ledger_only() {
    let (_folder, path) = made();
    assert!(matches!(Keystore::open(&path, Setting::Real, "ledger-1"), Err(KeystoreFault::Setting { .. })));
    assert!(matches!(Keystore::open(&path, Setting::Sandbox, "ledger-2"), Err(KeystoreFault::OtherLedger { .. })));
    let text = std::fs::read_to_string(&path).unwrap().replace("\"sandbox\"", "\"real\"");
    guarded::replace(&path, text.as_bytes()).unwrap();
    assert!(matches!(Keystore::open(&path, Setting::Sandbox, "ledger-1"), Err(KeystoreFault::Setting { .. })));
    Keystore::open(&path, Setting::Real, "ledger-1").unwrap();
}

#[test]
fn a_foreign_or_damaged_file_is_told_by_its_part() {
    let (_folder, path) = made();
    let text = std::fs::read_to_string(&path).unwrap();
    for (from, to) in [
        ("\"version\": 3", "\"version\": 1"),
        ("aes-128-ctr", "aes-128-cbc"),
        ("\"n\": 1024", "\"n\": 1023"),
        ("\"n\": 1024", "\"n\": 2147483648"),
        ("\"r\": 8", "\"r\": 255"),
        ("\"p\": 1", "\"p\": 200"),
        ("\"bursar\"", "\"other\""),
        ("\"address\": \"2c", "\"address\": \"zz"),
        ("{", "["),
    ] {
        assert!(text.contains(from), "{from}");
        guarded::replace(&path, text.replacen(from, to, 1).as_bytes()).unwrap();
        let fault = Keystore::open(&path, Setting::Sandbox, "ledger-1").unwrap_err();
        assert!(matches!(fault, KeystoreFault::Damaged { .. }), "{from}: {fault}");
    }
    guarded::replace(&path, text.replacen("\"address\": \"2c", "\"address\": \"2d", 1).as_bytes()).unwrap();
    let keystore = Keystore::open(&path, Setting::Sandbox, "ledger-1").unwrap();
    assert!(matches!(keystore.unlock(&said("open")), Err(KeystoreFault::Damaged { what: "its address", .. })));
}

#[test]
fn exactly_one_key_is_read_and_a_fault_never_repeats_it() {
    for fine in
        [TYPED.to_owned(), format!("0x{TYPED}"), format!("{TYPED}\n"), format!("{TYPED}\r\n"), TYPED.to_uppercase()]
    {
        assert!(parse_key(&fine).is_ok());
    }
    for bad in [
        &TYPED[1..],
        &format!("{TYPED}\n{TYPED}"),
        &format!("{TYPED}00"),
        &format!(" {TYPED}"),
        &format!("0x0x{TYPED}"),
        &format!("{TYPED}\n\n"),
        "test test test test test test test test test test test junk",
        "",
        &"0".repeat(64),
        &"f".repeat(64),
    ] {
        let fault = parse_key(bad).err().unwrap();
        assert!(!fault.to_string().contains(TYPED.get(..6).unwrap()) && !format!("{fault:?}").contains("junk"));
    }
}

#[test]
fn ids_are_version_4() {
    assert_eq!(uuid_v4([0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
}
