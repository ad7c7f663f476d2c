//! What goes and what is spared, over inventories that are made up.

use bursar_policy::{Digest, PaymentId};

use super::*;

const NONE: Limits = Limits { before_s: None, most: None };

/// A body of ten bytes that was stored at `stored_s`.
fn body(name: &str, stored_s: u64) -> Item {
    Item {
        digest: Digest::of(name.as_bytes()),
        bytes: 10,
        kind: Some("json".to_owned()),
        at_s: stored_s,
        payments: Vec::new(),
        url: None,
        needed: false,
        stored_s,
    }
}

fn paid(name: &str, stored_s: u64) -> Item {
    Item { payments: vec![PaymentId::from_random([1; 16])], ..body(name, stored_s) }
}

fn shelf() -> Vec<Item> {
    vec![
        paid("paid and old", 100),
        body("free and old", 200),
        Item { needed: true, ..paid("waited for", 300) },
        body("free and young", 5_000),
        paid("paid and young", 6_000),
    ]
}

fn gone(on_its_way_s: Option<u64>, limits: Limits, paid_too: bool) -> (Vec<Digest>, usize) {
    let inventory = Inventory::made_up(shelf(), on_its_way_s);
    let (gone, spared) = chosen(&inventory, limits, paid_too);
    (gone.iter().map(|item| item.digest).collect(), spared)
}

fn digests(names: &[&str]) -> Vec<Digest> {
    names.iter().map(|name| Digest::of(name.as_bytes())).collect()
}

#[test]
fn the_old_goes_and_what_was_paid_for_only_when_told_to() {
    let old = Limits { before_s: Some(1_000), ..NONE };
    assert_eq!(gone(None, old, false), (digests(&["free and old"]), 2));
    assert_eq!(gone(None, old, true), (digests(&["free and old", "paid and old"]), 1));
    assert_eq!(gone(None, Limits { before_s: Some(100), ..NONE }, true), (Vec::new(), 0), "the last second stays");
}

#[test]
fn what_is_too_much_goes_from_the_oldest_and_the_free_first() {
    let over = |most| Limits { most: Some(most), ..NONE };
    assert_eq!(gone(None, over(50), true).0, Vec::new());
    assert_eq!(gone(None, over(49), true).0, digests(&["free and old"]));
    assert_eq!(gone(None, over(30), true).0, digests(&["free and old", "free and young"]));
    assert_eq!(gone(None, over(29), true).0, digests(&["free and old", "free and young", "paid and old"]));
    let (all, spared) = gone(None, over(1), true);
    assert_eq!((all.len(), spared), (4, 1), "what a payment waits for is left, whatever the limit");
    assert_eq!(gone(None, over(1), false), (digests(&["free and old", "free and young"]), 3));
}

#[test]
fn what_may_just_have_come_for_an_open_payment_is_spared() {
    let all = Limits { before_s: Some(u64::MAX), ..NONE };
    assert_eq!(gone(Some(5_060), all, true).0, digests(&["free and old", "paid and old"]));
    assert_eq!(gone(Some(5_061), all, true).0, digests(&["free and old", "free and young", "paid and old"]));
    assert_eq!(gone(Some(0), all, true).0, Vec::new());
}

#[test]
fn a_size_is_typed_with_or_without_its_space() {
    for text in ["1 GiB", "1GiB", "1024MiB"] {
        assert_eq!(size(text).map(ByteSize::bytes), Ok(1 << 30), "{text}");
    }
    for text in ["", "1", "1 GB", "GiB", "0 B", "1.5 GiB", "1 GiB "] {
        assert!(size(text).is_err(), "{text}");
    }
}
