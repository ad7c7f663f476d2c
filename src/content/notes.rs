//! Notes beside the stored bodies: where a body that cost nothing came from, since no row of the ledger says so. Must
//! never be taken for a body, and never say what may be shown: that is the rules' to say each time.
//!
//! A note is written under the digest of the body and under that of the request, so that it is found by either without
//! reading all of them. The newest one replaces the one before.

use std::io::Read;

use bursar_policy::{Digest, Errand, Method, Site};
use serde::{Deserialize, Serialize};

use super::{ContentFault, ContentKind, ContentStore, StoredContent};

/// The start of the name of a note about a body.
pub(super) const OF_BODY: &str = ".of-";

/// The start of the name of a note about a request.
pub(super) const OF_REQUEST: &str = ".to-";

/// The longest note, in bytes: a URL has at most 8 KiB.
const NOTE_BYTES: u64 = 32 * 1024;

/// Where and when a body that cost nothing was delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// Who was asked, and for what.
    pub site: Site,
    /// How.
    pub method: Method,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The body.
    pub digest: Digest,
    /// Its stored length in bytes.
    pub bytes: u64,
    /// What the seller calls it, as a word of the closed list.
    pub kind: String,
    /// Whether only its beginning is stored.
    pub truncated: bool,
    /// When it was delivered, Unix seconds.
    pub at_s: u64,
}

impl Note {
    /// A note of `stored`, which answered `errand` with `status` at `at_s`.
    #[must_use]
    pub fn new(errand: &Errand, status: u16, stored: &StoredContent, kind: ContentKind, at_s: u64) -> Self {
        Self {
            site: errand.site.clone(),
            method: errand.method,
            status,
            digest: stored.digest,
            bytes: stored.bytes,
            kind: kind.as_str().to_owned(),
            truncated: stored.truncated,
            at_s,
        }
    }
}

impl ContentStore {
    /// Writes `note` down, as the newest one of its body and of the request `subject`.
    ///
    /// # Errors
    ///
    /// [`ContentFault::Full`] or [`ContentFault::Unwritable`].
    pub fn note(&self, subject: &Digest, note: &Note) -> Result<(), ContentFault> {
        let text = serde_json::to_vec(note).unwrap_or_default();
        for name in [format!("{OF_BODY}{}", note.digest), format!("{OF_REQUEST}{subject}")] {
            let mut writer = self.writer()?;
            writer.write(&text)?;
            writer.finish_as(&name)?;
        }
        Ok(())
    }

    /// The newest note of the body `digest`; `None` where there is none that can be read.
    #[must_use]
    pub fn note_of(&self, digest: &Digest) -> Option<Note> {
        self.read_note(&format!("{OF_BODY}{digest}")).filter(|note| note.digest == *digest)
    }

    /// The newest note of the request `subject`; `None` where there is none that can be read.
    #[must_use]
    pub fn note_to(&self, subject: &Digest) -> Option<Note> {
        self.read_note(&format!("{OF_REQUEST}{subject}"))
    }

    pub(super) fn read_note(&self, name: &str) -> Option<Note> {
        let file = self.folder().read(name).ok()?;
        let mut text = Vec::new();
        file.take(NOTE_BYTES).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }
}
