//! The content folder on a real disk: names, modes, halves and lies.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use bursar_policy::{Digest, Errand, Method};
use proptest::prelude::*;
use tempfile::TempDir;

use super::{ContentFault, ContentHead, ContentKind, ContentStore, Fullness, Note, StoredContent};

fn folder() -> (TempDir, ContentStore) {
    let dir = TempDir::new().unwrap();
    let store = ContentStore::open(&dir.path().join("content")).unwrap();
    (dir, store)
}

fn keep(store: &ContentStore, pieces: &[&[u8]], fullness: Fullness) -> StoredContent {
    let mut writer = store.writer().unwrap();
    for piece in pieces {
        writer.write(piece).unwrap();
    }
    let (stored, settling) = writer.finish(fullness).unwrap();
    settling.wait().unwrap();
    stored
}

fn names(store: &ContentStore) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(store.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_body_is_kept_under_its_digest_for_its_owner_only() {
    let (_dir, store) = folder();
    let kept = keep(&store, &[b"hel", b"", b"lo"], Fullness::Whole);
    assert_eq!(kept, StoredContent { digest: Digest::of(b"hello"), bytes: 5, truncated: false });
    assert_eq!(names(&store), [Digest::of(b"hello").to_string()]);
    assert_eq!(fs::read(store.path_of(&kept.digest)).unwrap(), b"hello");
    assert_eq!(mode(store.path()), 0o700);
    assert_eq!(mode(&store.path_of(&kept.digest)), 0o600);
}

#[test]
fn the_same_content_twice_is_one_file_and_nothing_is_content_too() {
    let (_dir, store) = folder();
    let whole = keep(&store, &[b"same"], Fullness::Whole);
    let again = keep(&store, &[b"sa", b"me"], Fullness::Truncated);
    assert_eq!((whole.digest, again.truncated), (again.digest, true));
    assert_eq!(names(&store).len(), 1);
    let nothing = keep(&store, &[], Fullness::Whole);
    assert_eq!((nothing.digest, nothing.bytes), (Digest::of(b""), 0));
    assert_eq!(store.head(&nothing.digest, 10).unwrap(), ContentHead { bytes: Vec::new(), more: false });
}

#[test]
fn a_prefix_is_read_back_and_says_whether_there_is_more() {
    let (_dir, store) = folder();
    let long = vec![b'x'; 40_000];
    let digest = keep(&store, &[&long], Fullness::Whole).digest;
    for (asked, got, more) in [(0, 0, true), (10, 10, true), (39_999, 39_999, true), (40_000, 40_000, false)] {
        let head = store.head(&digest, asked).unwrap();
        assert_eq!((head.bytes.len(), head.more), (got, more), "{asked}");
    }
    assert!(!store.head(&digest, usize::MAX).unwrap().more);
}

#[test]
fn half_a_body_never_has_a_digest_for_a_name_and_is_removed() {
    let (_dir, store) = folder();
    let mut writer = store.writer().unwrap();
    writer.write(b"half").unwrap();
    let during = names(&store);
    assert!(during.len() == 1 && during[0].starts_with(".partial-"), "{during:?}");
    assert_eq!(mode(&store.path().join(&during[0])), 0o600);
    drop(writer);
    assert!(names(&store).is_empty());
}

#[test]
fn opening_sweeps_what_a_crash_left_and_spares_what_is_being_written() {
    let (_dir, store) = folder();
    let kept = keep(&store, &[b"kept"], Fullness::Whole);
    fs::write(store.path().join(".partial-0123456789abcdef"), b"left by a crash").unwrap();
    let mut writing = store.writer().unwrap();
    writing.write(b"in ").unwrap();
    let other = ContentStore::open(store.path()).unwrap();
    assert_eq!(names(&other).len(), 2, "the kept one and the one in progress");
    writing.write(b"time").unwrap();
    let (late, _settling) = writing.finish(Fullness::Whole).unwrap();
    let mut both = vec![kept.digest.to_string(), late.digest.to_string()];
    both.sort_unstable();
    assert_eq!(names(&other), both);
}

#[test]
fn changed_or_missing_content_is_never_handed_out() {
    let (_dir, store) = folder();
    let digest = keep(&store, &[b"true"], Fullness::Whole).digest;
    fs::write(store.path_of(&digest), b"false").unwrap();
    assert_eq!(store.head(&digest, 10), Err(ContentFault::Damaged { digest }));
    fs::remove_file(store.path_of(&digest)).unwrap();
    assert_eq!(store.head(&digest, 10), Err(ContentFault::Missing { digest }));
    fs::create_dir(store.path_of(&digest)).unwrap();
    assert_eq!(store.head(&digest, 10), Err(ContentFault::Missing { digest }));
    fs::remove_dir(store.path_of(&digest)).unwrap();
    symlink("/dev/zero", store.path_of(&digest)).unwrap();
    assert_eq!(store.head(&digest, 10), Err(ContentFault::Missing { digest }));
}

#[test]
fn a_link_in_the_way_of_a_digest_is_replaced_and_not_followed() {
    let (dir, store) = folder();
    let victim = dir.path().join("victim");
    fs::write(&victim, b"precious").unwrap();
    symlink(&victim, store.path_of(&Digest::of(b"new"))).unwrap();
    let kept = keep(&store, &[b"new"], Fullness::Whole);
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    assert!(fs::symlink_metadata(store.path_of(&kept.digest)).unwrap().is_file());
}

#[test]
fn a_folder_that_is_not_private_is_refused_as_it_is() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("content");
    let not_private = Err(ContentFault::NotPrivate { path: path.display().to_string() });
    fs::create_dir(&path).unwrap();
    for open in [0o755, 0o710, 0o701, 0o777] {
        fs::set_permissions(&path, fs::Permissions::from_mode(open)).unwrap();
        assert_eq!(ContentStore::open(&path).map(|_| ()), not_private, "{open:o}");
        assert_eq!(mode(&path), open);
    }
    fs::remove_dir(&path).unwrap();
    symlink(dir.path(), &path).unwrap();
    assert_eq!(ContentStore::open(&path).map(|_| ()), not_private);
    fs::remove_file(&path).unwrap();
    fs::write(&path, b"").unwrap();
    assert_eq!(ContentStore::open(&path).map(|_| ()), not_private);
    let nowhere = ContentStore::open(&dir.path().join("no/content")).unwrap_err();
    assert!(matches!(nowhere, ContentFault::NoFolder { kind: std::io::ErrorKind::NotFound, .. }), "{nowhere:?}");
}

#[test]
fn a_folder_that_vanishes_loses_the_content_and_nothing_else() {
    let (_dir, store) = folder();
    let mut writer = store.writer().unwrap();
    writer.write(b"bought").unwrap();
    fs::remove_dir_all(store.path()).unwrap();
    assert!(matches!(writer.finish(Fullness::Whole), Err(ContentFault::Unwritable { .. })));
    assert!(matches!(store.writer(), Err(ContentFault::Unwritable { .. })));
}

#[test]
fn parallel_writers_of_the_same_content_all_succeed() {
    let (_dir, store) = folder();
    let kept: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| keep(&ContentStore::open(store.path()).unwrap(), &[b"one"], Fullness::Whole)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(kept.iter().all(|content| content.digest == Digest::of(b"one")));
    assert_eq!(names(&store), [Digest::of(b"one").to_string()]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_in_any_pieces_is_read_back(
        pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..8),
        asked in 0_usize..2000,
    ) {
        let (_dir, store) = folder();
        let slices: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        let all = pieces.concat();
        let kept = keep(&store, &slices, Fullness::Whole);
        let head = store.head(&kept.digest, asked).unwrap();
        prop_assert_eq!(kept.digest, Digest::of(&all));
        prop_assert_eq!(&head.bytes, &all[..asked.min(all.len())]);
        prop_assert_eq!(head.more, all.len() > asked);
    }
}

#[test]
fn a_note_is_found_by_the_body_and_by_the_request_and_the_newest_counts() {
    let (_dir, store) = folder();
    let errand = |path: &str| Errand::new(format!("https://api.example.com{path}").parse().unwrap(), Method::Get);
    let (a, b) = (errand("/a"), errand("/b"));
    let same = keep(&store, &[b"same"], Fullness::Whole);
    let other = keep(&store, &[b"other"], Fullness::Truncated);
    let first = Note::new(&a, 200, &same, ContentKind::Json, 100);
    let second = Note::new(&b, 404, &same, ContentKind::Text, 200);
    let third = Note::new(&a, 200, &other, ContentKind::Json, 300);
    store.note(&a.subject(), &first).unwrap();
    store.note(&b.subject(), &second).unwrap();
    assert_eq!(store.note_of(&same.digest), Some(second.clone()));
    assert_eq!((store.note_to(&a.subject()), store.note_to(&b.subject())), (Some(first), Some(second)));
    store.note(&a.subject(), &third).unwrap();
    assert_eq!((store.note_to(&a.subject()), store.note_of(&other.digest)), (Some(third.clone()), Some(third)));
    assert_eq!((store.note_to(&errand("/c").subject()), store.note_of(&Digest::of(b"never"))), (None, None));
    let notes: Vec<String> = names(&store).into_iter().filter(|name| name.starts_with('.')).collect();
    assert_eq!(notes.len(), 4, "{notes:?}");
    assert!(notes.iter().all(|name| mode(&store.path().join(name)) == 0o600));
}

#[test]
fn a_note_that_was_changed_into_nonsense_or_into_another_bodys_is_none() {
    let (_dir, store) = folder();
    let errand = Errand::new("https://api.example.com/a".parse().unwrap(), Method::Get);
    let kept = keep(&store, &[b"body"], Fullness::Whole);
    store.note(&errand.subject(), &Note::new(&errand, 200, &kept, ContentKind::Json, 100)).unwrap();
    let path = store.path().join(format!(".of-{}", kept.digest));
    let other = Digest::of(b"other");
    fs::copy(&path, store.path().join(format!(".of-{other}"))).unwrap();
    assert_eq!(store.note_of(&other), None);
    for nonsense in ["", "{}", "null", "[1]"] {
        fs::write(&path, nonsense).unwrap();
        assert_eq!(store.note_of(&kept.digest), None, "{nonsense}");
    }
    fs::remove_file(&path).unwrap();
    symlink("/etc/passwd", &path).unwrap();
    assert_eq!(store.note_of(&kept.digest), None);
}
