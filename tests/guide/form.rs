//! The form of the book: every page is listed, every link and anchor leads somewhere, every picture is there and used.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::page::{Page, ROOT, book};

/// The kinds of blocks that a page may have. `console`, `bash`, `toml` and `json` are run or read by this test, and no command
/// may stand in the others.
const KINDS: [&str; 6] = ["console", "toml", "json", "bash", "text", "js"];

fn listed() -> Vec<String> {
    let links = Page::read("docs/SUMMARY.md").links();
    links.into_iter().map(|(_, target)| target).collect()
}

#[test]
fn every_page_is_in_the_summary_once_and_the_summary_lists_nothing_else() {
    let listed = listed();
    let set: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), set.len(), "a page is listed twice: {listed:?}");
    let pages = Page::all().into_iter().map(|page| page.name.trim_start_matches("docs/").to_owned());
    let pages: BTreeSet<String> = pages.filter(|name| name != "SUMMARY.md").collect();
    assert_eq!(set, pages, "docs/SUMMARY.md and the pages differ");
    assert!(pages.len() > 15, "only {} pages were found", pages.len());
    let book: toml::Table = fs::read_to_string(book().join("book.toml")).unwrap().parse().unwrap();
    assert_eq!(book["book"]["src"].as_str(), Some("."), "mdBook has to find the pages where they are");
}

#[test]
fn every_link_and_every_anchor_leads_somewhere() {
    let mut pages = Page::all();
    pages.extend(["README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(Page::read));
    let mut wrong = Vec::new();
    let mut count = 0_usize;
    for page in &pages {
        let folder = Path::new(&page.name).parent().unwrap();
        for (line, target) in page.links() {
            count = count.saturating_add(1);
            if target.starts_with("https://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').map_or((target.as_str(), None), |(f, a)| (f, Some(a)));
            let name = if file.is_empty() { page.name.clone() } else { folder.join(file).display().to_string() };
            let is_book = page.name.starts_with("docs/");
            if !Path::new(ROOT).join(&name).is_file() {
                wrong.push(format!("{}:{line}: `{target}` is not there", page.name));
            } else if is_book && file.contains("..") {
                wrong
                    .push(format!("{}:{line}: `{target}` is outside of the book, which is read without it", page.name));
            } else if let Some(anchor) = anchor
                && !Page::read(&name).anchors().iter().any(|known| known == anchor)
            {
                wrong.push(format!("{}:{line}: `{target}` names no heading of {name}", page.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 60, "only {count} links were found");
}

#[test]
fn every_picture_is_used_described_and_readable_on_any_ground() {
    let links: BTreeSet<String> = Page::all().iter().flat_map(Page::links).map(|(_, target)| target).collect();
    let mut count = 0_usize;
    for entry in fs::read_dir(book()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some("svg") = name.rsplit('.').next() else { continue };
        count = count.saturating_add(1);
        assert!(links.contains(&name), "no page shows docs/{name}");
        let text = fs::read_to_string(book().join(&name)).unwrap();
        for part in ["<title ", "role=\"img\"", "viewBox=", "prefers-color-scheme: dark", "<rect class=\"ground\""] {
            assert!(text.contains(part), "docs/{name} has no `{part}`");
        }
        for foreign in ["http://", "https://", "<script", "<image", "@import"] {
            let text = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains(foreign), "docs/{name} holds `{foreign}`");
        }
    }
    assert!(count >= 3, "only {count} pictures");
}

#[test]
fn blocks_are_of_the_known_kinds_and_no_command_hides_in_another() {
    let mut wrong = Vec::new();
    for page in Page::all() {
        for block in page.blocks() {
            let at = format!("{}:{}", page.name, block.line);
            if !KINDS.contains(&block.info.as_str()) {
                wrong.push(format!("{at}: `{}` is not one of {KINDS:?}", block.info));
            }
            let has_command = block.text.lines().any(|line| line.trim_start_matches("$ ").starts_with("bursar "));
            if has_command && !["console", "bash"].contains(&block.info.as_str()) {
                wrong.push(format!("{at}: a command in a block that nobody runs"));
            }
            if block.info == "json" && serde_json::from_str::<serde_json::Value>(&block.text).is_err() {
                wrong.push(format!("{at}: this is not JSON"));
            }
        }
        for (line, text) in page.prose() {
            if text.starts_with("    ") && text.trim_start().trim_start_matches("$ ").starts_with("bursar ") {
                wrong.push(format!("{}:{line}: a command outside of a fenced block", page.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
