//! The commands of the book that this test does not run: few, each with its reason. All others are run.

use std::fs;
use std::path::Path;

use crate::page::{Block, Page, ROOT};

/// A command that is not run here.
struct Unrun {
    page: &'static str,
    /// The line of the page.
    command: &'static str,
    /// Why it cannot run here.
    reason: &'static str,
    /// A file that runs it, and the words of the command that stand there too.
    elsewhere: Option<(&'static str, &'static str)>,
}

/// So many commands are not run. Raise it only where no machine of a test's own could run them.
const MOST: usize = 8;

const COMPILES: &str = "it compiles everything in release mode";
const ASLEEP: &str = "systemd is not the machine's first process; the page's vault is started by hand at its end";

const UNRUN: [Unrun; MOST] = [
    Unrun {
        page: "docs/browser.md",
        command: "npx @playwright/mcp --cdp-endpoint ",
        reason: "another project's server, which the tests of real peers bring along and run beside bursar",
        elsewhere: Some(("tests/peers/test/browser.mjs", "--cdp-endpoint")),
    },
    Unrun { page: "docs/hardened.md", command: "systemctl start ", reason: ASLEEP, elsewhere: None },
    Unrun { page: "docs/hardened.md", command: "systemctl daemon-reload", reason: ASLEEP, elsewhere: None },
    Unrun { page: "docs/hardened.md", command: "systemctl restart ", reason: ASLEEP, elsewhere: None },
    Unrun { page: "docs/releases.md", command: "cargo install --locked --path .", reason: COMPILES, elsewhere: None },
    Unrun {
        page: "docs/speed.md",
        command: "(cd tests/peers && npm ci --ignore-scripts) && (cd benches/startup && npm ci --ignore-scripts)",
        reason: "it fetches packages; tests/all does so before it runs a handful of each bench",
        elsewhere: Some(("tests/all", "(cd tests/peers && npm ci --ignore-scripts")),
    },
    Unrun {
        page: "docs/speed.md",
        command: "node benches/speed/run.mjs --write",
        reason: "it builds in release mode and measures for many minutes; tests/all runs a handful of each bench",
        elsewhere: Some(("tests/all", "node benches/speed/run.mjs ")),
    },
    Unrun { page: "docs/start.md", command: "cargo install --locked --path .", reason: COMPILES, elsewhere: None },
];

/// The commands of a bash block, line by line.
pub(crate) fn commands(block: &Block) -> Vec<String> {
    let bare = |line: &str| line.split(" # ").next().unwrap_or_default().trim_end().to_owned();
    block.text.lines().map(bare).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

/// Whether a line of a page is listed here.
pub(crate) fn is_listed(page: &str, line: &str) -> bool {
    UNRUN.iter().any(|unrun| unrun.page == page && line.starts_with(unrun.command))
}

#[test]
fn what_is_not_run_is_there_and_has_a_reason_and_what_runs_it_elsewhere_says_so() {
    let pages = Page::all();
    let commands: Vec<(&str, String)> = pages
        .iter()
        .flat_map(|page| page.blocks().into_iter().map(|block| (page.name.as_str(), block)))
        .filter(|(_, block)| block.info == "bash")
        .flat_map(|(page, block)| commands(&block).into_iter().map(move |command| (page, command)))
        .collect();
    for Unrun { page, command, reason, elsewhere } in UNRUN {
        let count = commands.iter().filter(|(name, line)| *name == page && line.starts_with(command)).count();
        assert_eq!(count, 1, "{page}: `{command}` is listed and stands there {count} times");
        assert!(reason.len() > 15, "{page}: `{command}` needs a reason");
        if let Some((file, words)) = elsewhere {
            let text = fs::read_to_string(Path::new(ROOT).join(file)).unwrap();
            assert!(
                command.contains(words) && text.contains(words),
                "{page}: `{words}` of `{command}` is not in {file}"
            );
        }
    }
}
