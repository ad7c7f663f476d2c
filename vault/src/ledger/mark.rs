//! How far the log had come, in a file beside the ledger: a ledger that was put back from a copy is behind it. Must never
//! be ahead of what is on the disk.
//!
//! It is written after each commit and not waited for. A power cut may leave an older mark, which notices less and never
//! cries wolf. It goes back only when a person accepts an older ledger. Whoever puts the mark back as well, as a copy of
//! the whole folder does, is not noticed; against that only a chain helps, or a head of the log kept elsewhere.

use std::fs::File;
use std::path::{Path, PathBuf};

use bursar_policy::digest::Digest;

use super::events::{self, Head};
use super::fault::LedgerFault;
use super::open;
use super::store::Store;
use crate::platform;

/// The length of a mark: ledger id, place in the log, hash, each with one byte after it.
const BYTES: usize = 32 + 1 + 20 + 1 + 64 + 1;

/// The file, open for writing.
#[derive(Debug)]
pub(super) struct Mark {
    ledger_id: String,
    file: Option<File>,
    path: PathBuf,
    at: u64,
    set_back: Option<String>,
}

impl Mark {
    /// The mark of the ledger `file`; what it says is not looked at. Where it cannot be opened nothing is marked.
    pub(super) fn open(file: &Path, ledger_id: String) -> Self {
        let path = beside(file);
        let file = open::kept(&path);
        if let Err(fault) = &file {
            tracing::warn!(path = %path.display(), %fault, "how far the log has come cannot be marked");
        }
        let mut mark = Self { ledger_id, file: file.ok(), path, at: 0, set_back: None };
        mark.at = mark.read().map_or(0, |(_, head)| head.seq);
        mark
    }

    /// Notes that the log was committed up to `head`. While nobody accepted a ledger that was set back, the mark of the one
    /// that it was stays.
    pub(super) fn passed(&mut self, head: &Head) {
        if self.set_back.is_none() && self.at < head.seq {
            self.write(head);
        }
    }

    /// Notes `head`, whatever was noted before: a person accepted the ledger as it is.
    pub(super) fn accept(&mut self, head: &Head) {
        self.set_back = None;
        self.write(head);
    }

    /// The ledger that it is the mark of.
    pub(super) fn ledger_id(&self) -> &str {
        &self.ledger_id
    }

    /// How the ledger was set back, as long as nobody accepted it.
    pub(super) fn set_back(&self) -> Option<&str> {
        self.set_back.as_deref()
    }

    fn write(&mut self, head: &Head) {
        let text = format!("{} {:020} {}\n", self.ledger_id, head.seq, head.hash);
        let Some(file) = &self.file else { return };
        match platform::write_at(file, text.as_bytes(), 0) {
            Ok(()) => self.at = head.seq,
            Err(fault) => tracing::warn!(path = %self.path.display(), %fault, "the mark could not be written"),
        }
    }

    /// Holds the ledger on `conn`, whose log ends at `head`, against the mark: why it is not the one that was marked, or an
    /// older state of it. `None` when it is in order, or was never marked.
    pub(super) fn hold(&mut self, conn: &Store, head: &Head) -> Result<Option<&str>, LedgerFault> {
        self.set_back = match self.read() {
            Some(marked) => against(marked, &self.ledger_id, conn, head)?,
            None => None,
        };
        Ok(self.set_back())
    }

    fn read(&self) -> Option<(String, Head)> {
        read(self.file.as_ref()?)
    }
}

/// What the mark beside `ledger` says, without opening it for writing; `None` where there is none that can be read.
pub(super) fn read_beside(ledger: &Path) -> Option<(String, Head)> {
    read(&File::open(beside(ledger)).ok()?)
}

/// How many events the mark beside `ledger` knows of that a log up to event `seq` does not have.
pub(super) fn missing(ledger: &Path, ledger_id: &str, seq: u64) -> u64 {
    let marked = read_beside(ledger).filter(|(id, _)| id == ledger_id);
    marked.map_or(0, |(_, head)| head.seq.saturating_sub(seq))
}

/// Why the ledger on `conn` with this id, whose log ends at `head`, is not the one that was `marked`, or an older state of
/// it.
pub(super) fn against(
    (id, marked): (String, Head),
    ledger_id: &str,
    conn: &Store,
    head: &Head,
) -> Result<Option<String>, LedgerFault> {
    if id != ledger_id {
        return Ok(Some("the mark beside it is another ledger's".to_owned()));
    }
    if head.seq < marked.seq {
        let missing = marked.seq.saturating_sub(head.seq);
        return Ok(Some(format!(
            "it was set back: the last {missing} events that it had are missing, and payments may be among them"
        )));
    }
    if events::hash_at(conn, marked.seq)?.is_some_and(|hash| hash != marked.hash) {
        return Ok(Some("it was set back and went on: its log is another one than it was".to_owned()));
    }
    Ok(None)
}

/// What the file says; `None` when it says nothing that is a mark.
fn read(file: &File) -> Option<(String, Head)> {
    let mut bytes = [0; BYTES];
    platform::read_at(file, &mut bytes, 0).ok()?;
    let mut words = core::str::from_utf8(&bytes).ok()?.strip_suffix('\n')?.split(' ');
    let (id, seq, hash) = (words.next()?, words.next()?, words.next()?);
    let head = Head { seq: seq.parse().ok()?, hash: Digest::parse(hash).ok()? };
    words.next().is_none().then(|| (id.to_owned(), head))
}

/// Forgets the mark of a ledger that is gone, where a new one is made: what it had is nobody's any more.
pub(super) fn forget(ledger: &Path) {
    // There is none most of the time; and one that stays shuts the new ledger, which a person then accepts.
    std::fs::remove_file(beside(ledger)).unwrap_or_default();
}

/// The mark's file, beside the ledger's.
fn beside(ledger: &Path) -> PathBuf {
    ledger.with_extension("mark")
}
