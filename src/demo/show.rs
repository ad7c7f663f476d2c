//! What a person sees of the demo: a line while a step runs, then one table; or, for a program, one JSON object.
//!
//! It must never decide whether a step went well, and never print anything but to the writer it was given.

use std::io::{self, Write};

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{ContentArrangement, Table};
use serde::Serialize;

/// One thing the demo tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What was tried, in a few words.
    pub name: String,
    /// What bursar promises.
    pub expected: String,
    /// What happened.
    pub got: String,
    /// `got` is what was expected.
    pub ok: bool,
}

/// How the whole demo ended. Its JSON form is what `bursar demo --json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Every step, in the order tried.
    pub steps: Vec<Step>,
    /// Purchases that were signed for.
    pub purchases: u32,
    /// Calls that were refused.
    pub refusals: u32,
    /// What left the buyer beyond its purchases, in US dollars.
    pub lost_usd: String,
    /// Every step went as promised and nothing was lost.
    pub ok: bool,
}

/// Who reads the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A program: one JSON object at the end.
    Program,
    /// A person, through a pipe or a file: no colours, no running line.
    Page,
    /// A person at a terminal of so many columns.
    Terminal(u16),
}

/// Columns assumed where there is no terminal to ask.
const PAGE_COLUMNS: u16 = 110;
const GREEN: &str = "\u{1b}[32m";
const RED: &str = "\u{1b}[31m";
const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const PLAIN: &str = "\u{1b}[0m";
const CLEAR_LINE: &str = "\r\u{1b}[K";
const YES: &str = "✓";
const NO: &str = "✗";

/// The demo's output.
pub(crate) struct Show<'a> {
    out: &'a mut dyn Write,
    reader: Reader,
}

impl<'a> Show<'a> {
    /// Output for `reader` on `out`.
    pub(crate) fn new(out: &'a mut dyn Write, reader: Reader) -> Self {
        Self { out, reader }
    }

    /// Says what runs now. Only a terminal hears it.
    pub(crate) fn running(&mut self, name: &str) -> io::Result<()> {
        if let Reader::Terminal(columns) = self.reader {
            let room = usize::from(columns.saturating_sub(6));
            let name: String = name.chars().take(room).collect();
            write!(self.out, "{CLEAR_LINE}{DIM}  … {name}{PLAIN}")?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Shows how it ended. A kept sandbox is named in `kept`.
    pub(crate) fn verdict(&mut self, verdict: &Verdict, kept: Option<&str>) -> io::Result<()> {
        match self.reader {
            Reader::Program => {
                let object = serde_json::to_string(verdict)?;
                writeln!(self.out, "{object}")?;
            }
            Reader::Page => self.report(verdict, kept, PAGE_COLUMNS, Paint::Off)?,
            Reader::Terminal(columns) => {
                write!(self.out, "{CLEAR_LINE}")?;
                self.report(verdict, kept, columns, Paint::On)?;
            }
        }
        self.out.flush()
    }

    fn report(&mut self, verdict: &Verdict, kept: Option<&str>, columns: u16, paint: Paint) -> io::Result<()> {
        writeln!(self.out, "{}", paint.bold("bursar demo: an agent, a wallet, and sellers that try everything"))?;
        writeln!(self.out, "{}", paint.marks(&table(verdict, columns)))?;
        let failed = verdict.steps.iter().filter(|step| !step.ok).count();
        if failed == 0 {
            writeln!(
                self.out,
                "all {} steps went as promised: {} purchases, {} refusals",
                verdict.steps.len(),
                verdict.purchases,
                verdict.refusals,
            )?;
        } else {
            writeln!(self.out, "{}", paint.red(&format!("{failed} of {} steps differ", verdict.steps.len())))?;
        }
        if let Some(kept) = kept {
            writeln!(self.out, "the sandbox is kept in {kept}")?;
        }
        let lost = format!("lost: {}", verdict.lost_usd);
        writeln!(self.out, "{}", if verdict.ok { paint.green(&lost) } else { paint.red(&lost) })
    }
}

fn table(verdict: &Verdict, columns: u16) -> String {
    let mut table = Table::new();
    table
        .load_style(UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(columns)
        .set_header(["", "what was tried", "what happened"]);
    for step in &verdict.steps {
        // A step that went well got what was expected, so saying it once is enough.
        let (mark, got) = if step.ok {
            (YES, step.got.clone())
        } else {
            (NO, format!("{}\nbut promised was: {}", step.got, step.expected))
        };
        table.add_row([mark, &step.name, &got]);
    }
    table.to_string()
}

/// Colours, or none.
#[derive(Clone, Copy)]
enum Paint {
    On,
    Off,
}

impl Paint {
    fn wrap(self, colour: &str, text: &str) -> String {
        match self {
            Self::On => format!("{colour}{text}{PLAIN}"),
            Self::Off => text.to_owned(),
        }
    }

    fn bold(self, text: &str) -> String {
        self.wrap(BOLD, text)
    }

    fn green(self, text: &str) -> String {
        self.wrap(GREEN, text)
    }

    fn red(self, text: &str) -> String {
        self.wrap(RED, text)
    }

    /// Colours the marks of a finished table, whose widths were counted without colours.
    fn marks(self, table: &str) -> String {
        table.replace(YES, &self.green(YES)).replace(NO, &self.red(NO))
    }
}

#[cfg(test)]
mod tests;
