//! Reading a stored copy again. It must never ask a seller, and never show more than the rules in force do.
//!
//! Which host a body came from decides how much of it is shown. The ledger knows that for what was paid for, and a note
//! beside the store for what cost nothing.

use bursar_policy::{Digest, Errand, Site, may_visit};
use bursar_tools::payments::{Reason, Recall, Wanted};
use bursar_vault::protocol::{self as vault, ContentRef, Recalled};

use super::Buyer;
use super::end::End;
use super::shown::no_wider;
use crate::content::{ContentFault, Note};
use crate::net::Resolver;
use crate::wallet::Conversation;

/// An earlier delivery, paid for or not.
struct Copy {
    site: Site,
    status: u16,
    content: ContentRef,
    delivered_s: u64,
}

impl From<Recalled> for Copy {
    fn from(paid: Recalled) -> Self {
        Self { site: paid.site, status: paid.status, content: paid.content, delivered_s: paid.created_s }
    }
}

impl From<Note> for Copy {
    fn from(note: Note) -> Self {
        let content = ContentRef { digest: note.digest, bytes: note.bytes, kind: note.kind, truncated: note.truncated };
        Self { site: note.site, status: note.status, content, delivered_s: note.at_s }
    }
}

impl<R: Resolver> Buyer<R> {
    /// The stored copy that is meant.
    pub(super) async fn copy(&self, wanted: Wanted) -> Result<Recall, End> {
        let mut vault = self.wallet.open().await?;
        let (found, view) = match wanted {
            Wanted::Content { digest, view } => (self.of_content(&mut vault, digest).await?, view),
            Wanted::Request { errand, max_age_s, view } => {
                // Before the copy is looked for: without one, the seller would be asked and perhaps be paid.
                if let Some(Err(reason)) = view.as_ref().map(|view| no_wider(&vault.rules(), &errand.site, view)) {
                    return Ok(Recall::TooWide(reason));
                }
                (self.of_request(&mut vault, &errand, max_age_s).await?, view)
            }
        };
        let Some(copy) = found else { return Ok(Recall::Not(unknown())) };
        if let Err(fault) = self.is_whole(copy.content.digest).await {
            return Ok(Recall::Not(spoilt(&fault)));
        }
        match self.viewed(&vault.rules(), &copy.site, &copy.content, copy.status, view.as_ref()) {
            Ok(content) => Ok(Recall::Found { content, delivered_s: copy.delivered_s }),
            Err(reason) => Ok(Recall::TooWide(reason)),
        }
    }

    /// The newest delivery of exactly this body: paid for, or else for nothing.
    async fn of_content(&self, vault: &mut Conversation, digest: Digest) -> Result<Option<Copy>, End> {
        let paid = vault.recall(vault::Wanted::Content(digest)).await?;
        Ok(paid.map(Copy::from).or_else(|| self.content.note_of(&digest).map(Copy::from)))
    }

    /// The newest good answer to this request, where the rules would let it be asked for now.
    async fn of_request(&self, vault: &mut Conversation, errand: &Errand, max_age_s: u64) -> Result<Option<Copy>, End> {
        if may_visit(&vault.rules(), errand).is_err() {
            return Ok(None);
        }
        let subject = errand.subject();
        let paid = vault.recall(vault::Wanted::Request { subject, max_age_s }).await?.map(Copy::from);
        let is_young = |note: &Note| (self.now_s)().checked_sub(note.at_s).is_some_and(|age_s| age_s <= max_age_s);
        let is_good = |note: &Note| note.site == errand.site && (200..=299).contains(&note.status);
        let free = self.content.note_to(&subject).filter(|note| is_good(note) && is_young(note)).map(Copy::from);
        Ok(paid.into_iter().chain(free).max_by_key(|copy| copy.delivered_s))
    }

    /// Whether the stored bytes are still those that were delivered. Reads all of them, away from the other calls.
    async fn is_whole(&self, digest: Digest) -> Result<(), ContentFault> {
        let store = self.content.clone();
        let checked = tokio::task::spawn_blocking(move || store.head(&digest, 0)).await;
        checked.unwrap_or(Err(ContentFault::Missing { digest })).map(drop)
    }
}

fn unknown() -> Reason {
    Reason::new("content_unknown", "no content with this digest was delivered to this profile, or its note is gone")
}

/// Why a copy that was delivered cannot be handed out.
fn spoilt(fault: &ContentFault) -> Reason {
    tracing::warn!("stored content cannot be read again: {fault}");
    match fault {
        ContentFault::Damaged { .. } => {
            Reason::new("content_damaged", "the stored copy was changed on this machine, so it is not shown")
        }
        _ => Reason::new("content_gone", "the stored copy is no longer on this machine; it may have been pruned"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_is_gone_and_one_that_was_changed_have_codes_of_their_own() {
        let digest = Digest::of(b"bought");
        assert_eq!(spoilt(&ContentFault::Missing { digest }).code(), "content_gone");
        assert_eq!(spoilt(&ContentFault::Damaged { digest }).code(), "content_damaged");
        assert_eq!(unknown().code(), "content_unknown");
    }
}
