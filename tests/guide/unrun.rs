//! The commands of the book that this test does not run: few, each with its reason. A new one has to be added here.

use crate::page::Page;

/// Page, how the block begins, and why it cannot run here.
const UNRUN: [(&str, &str, &str); 21] = [
    ("docs/browser.md", "bursar browser ", "it opens a window and stays; tests/browser starts it with a real Chromium"),
    (
        "docs/browser.md",
        "chromium ",
        "it needs a browser and another project's server; tests/peers runs the four together",
    ),
    (
        "docs/cookbook.md",
        "bursar check first-seller.toml",
        "it writes over the reader's own rules; the check runs further down",
    ),
    ("docs/console.md", "bursar console", "it serves a page until it is stopped; tests/browser has a person log in"),
    (
        "docs/hardened.md",
        "install -m 0755",
        "as root, outside of any sandbox; tests/machine does the same with users of its own",
    ),
    (
        "docs/hardened.md",
        "install -m 0644",
        "as root, outside of any sandbox; tests/machine does the same with users of its own",
    ),
    ("docs/hardened.md", "setpriv ", "as another user of the machine; tests/machine does it"),
    ("docs/hardened.md", "systemctl enable", "it needs systemd as the machine's first process"),
    ("docs/hardened.md", "install -d -m 0700", "as root, with systemd's credentials"),
    ("docs/keys.md", "bursar sweep --from", "it names accounts of the reader's; tests/cli/keys.rs moves such money"),
    ("docs/metrics.md", "bursar reload", "it serves numbers until it is stopped; tests/cli/metrics.rs reads them"),
    (
        "docs/postgres.md",
        "createuser ",
        "it makes roles on a PostgreSQL server; tests/cli/shared_ledger.rs runs the migration",
    ),
    ("docs/postgres.md", "bursar init --ledger", "it needs that server; tests/cli/shared_ledger.rs runs it"),
    ("docs/releases.md", "cargo install", "it compiles everything in release mode"),
    ("docs/releases.md", "VERSION=", "it needs files of a release that is fetched by hand"),
    ("docs/releases.md", "packaging/release/build", "it builds a release with another C compiler"),
    ("docs/routes.md", "bursar watch ", "it goes on until it is stopped; tests/cli/watch.rs watches"),
    ("docs/shares.md", "bursar ledger migrate --shares", "it needs a PostgreSQL server; tests/cli/shares.rs runs it"),
    (
        "docs/speed.md",
        "(cd tests/peers && npm ci",
        "it builds in release mode and measures for many minutes; tests/all runs a quick part",
    ),
    ("docs/start.md", "cargo install", "it compiles everything in release mode"),
    (
        "docs/start.md",
        "bursar init",
        "it works on the reader's own profile and clients; tests/cli/conversation.rs plays it",
    ),
];

/// So many blocks may go without being run. Raise it only where no sandbox could run them.
const MOST: usize = 24;

#[test]
fn what_is_not_run_is_listed_with_a_reason_and_does_not_grow_unseen() {
    let mut found = Vec::new();
    for page in Page::all() {
        for block in page.blocks().iter().filter(|block| block.info == "bash") {
            let first = block.text.lines().next().unwrap_or_default().to_owned();
            found.push((page.name.clone(), first));
        }
    }
    let missing: Vec<_> = found.iter().filter(|(page, first)| !is_listed(page, first)).collect();
    assert!(missing.is_empty(), "not run, and not listed in tests/guide/unrun.rs: {missing:#?}");
    for (page, begins, reason) in UNRUN {
        let count = found.iter().filter(|(name, first)| name == page && first.starts_with(begins)).count();
        assert_eq!(count, 1, "{page}: `{begins}` is listed and stands there {count} times");
        assert!(reason.len() > 15, "{page}: `{begins}` needs a reason");
    }
    assert!(found.len() <= MOST, "{} blocks of the book are not run, more than {MOST}", found.len());
}

fn is_listed(page: &str, first: &str) -> bool {
    UNRUN.iter().any(|(name, begins, _)| *name == page && first.starts_with(begins))
}
