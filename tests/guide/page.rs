//! A page of the book taken apart: fenced blocks, headings, links. Knows the Markdown that the book uses and no more.

use std::fs;
use std::path::{Path, PathBuf};

use regex_lite::Regex;

/// The repository.
pub(crate) const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A Markdown file.
pub(crate) struct Page {
    /// Its name below the repository's root, such as `docs/start.md`.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// What stands between two fences.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The words behind the opening fence.
    pub(crate) info: String,
    pub(crate) text: String,
    /// The line of the opening fence, from 1.
    pub(crate) line: usize,
}

/// The folder of the book.
pub(crate) fn book() -> PathBuf {
    Path::new(ROOT).join("docs")
}

impl Page {
    /// The file `name`, below the repository's root.
    pub(crate) fn read(name: &str) -> Self {
        let text = fs::read_to_string(Path::new(ROOT).join(name)).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        Self { name: name.to_owned(), text }
    }

    /// Every Markdown file of the book, by name.
    pub(crate) fn all() -> Vec<Self> {
        let names = fs::read_dir(book()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
        names.sort();
        names.iter().map(|name| Self::read(&format!("docs/{name}"))).collect()
    }

    /// The fenced blocks, without the indent of a list that they stand in.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<(usize, Block)> = None;
        for (number, line) in (1_usize..).zip(self.text.lines()) {
            let bare = line.trim_start();
            match (&mut open, bare.strip_prefix("```")) {
                (Some(_), Some("")) => blocks.extend(open.take().map(|(_, block)| block)),
                (None, Some(info)) => {
                    let indent = line.len().checked_sub(bare.len()).unwrap();
                    open = Some((indent, Block { info: info.to_owned(), text: String::new(), line: number }));
                }
                (Some((indent, block)), _) => {
                    block.text.push_str(line.get(*indent..).unwrap_or_default());
                    block.text.push('\n');
                }
                (None, None) => {}
            }
        }
        assert!(open.is_none(), "{}: a fence is not closed", self.name);
        blocks
    }

    /// The remarks to the test, `<!-- run with: … -->`, each with its line from 1.
    pub(crate) fn remarks(&self) -> Vec<(usize, &str)> {
        let prose = self.prose().into_iter();
        prose
            .filter_map(|(number, line)| {
                Some((number, line.trim().strip_prefix("<!-- run with: ")?.strip_suffix(" -->")?))
            })
            .collect()
    }

    /// The lines outside of fenced blocks, each with its number from 1.
    pub(crate) fn prose(&self) -> Vec<(usize, &str)> {
        let mut is_fenced = false;
        let mut kept = Vec::new();
        for (number, line) in (1..).zip(self.text.lines()) {
            if line.trim_start().starts_with("```") {
                is_fenced = !is_fenced;
            } else if !is_fenced {
                kept.push((number, line));
            }
        }
        kept
    }

    /// What a link may lead to inside the page, as readers of Markdown name headings.
    pub(crate) fn anchors(&self) -> Vec<String> {
        let headings = self.prose().into_iter().filter(|(_, line)| line.starts_with('#'));
        headings
            .map(|(_, line)| {
                let words = line.trim_start_matches('#').trim().to_lowercase();
                let kept = words.chars().filter(|letter| letter.is_alphanumeric() || "-_ ".contains(*letter));
                kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
            })
            .collect()
    }

    /// Where its links and pictures lead, each with its line.
    pub(crate) fn links(&self) -> Vec<(usize, String)> {
        let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
        let code = Regex::new("`[^`]*`").unwrap();
        let mut found = Vec::new();
        for (number, line) in self.prose() {
            let line = code.replace_all(line, "`code`");
            found.extend(link.captures_iter(&line).map(|at| (number, at[1].to_owned())));
        }
        found
    }

    /// The inline code outside of blocks, each with its line. One that goes over a line's end is joined.
    pub(crate) fn inline(&self) -> Vec<(usize, String)> {
        let code = Regex::new("`([^`]+)`").unwrap();
        let prose = self.prose();
        let text = prose.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
        let line_of = |at: usize| prose.get(text[..at].matches('\n').count()).map_or(0, |(number, _)| *number);
        let found = code.captures_iter(&text);
        found.map(|at| (line_of(at.get(0).unwrap().start()), at[1].replace('\n', " "))).collect()
    }
}

#[test]
fn a_page_is_taken_apart_as_it_is_written() {
    let text = "# One two, `three`!\n\nSee [a](b.md#c) and `[no](link)`.\n\n1. x\n\n   ```console\n   $ bursar `x`\n     more\n   ```\n\n`bursar\nstatus` ![p](p.svg)\n";
    let page = Page { name: "x.md".to_owned(), text: text.to_owned() };
    let blocks = page.blocks();
    assert_eq!((blocks.len(), blocks[0].info.as_str(), blocks[0].line), (1, "console", 7));
    assert_eq!(blocks[0].text, "$ bursar `x`\n  more\n");
    assert_eq!(page.anchors(), ["one-two-three"]);
    assert_eq!(page.links(), [(3, "b.md#c".to_owned()), (13, "p.svg".to_owned())]);
    assert!(page.inline().contains(&(12, "bursar status".to_owned())), "{:?}", page.inline());
}
