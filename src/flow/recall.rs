//! Reading a stored copy again. It must never ask a seller, and never show more than the rules in force do.
//!
//! Which host a body came from decides how much of it is shown. The ledger knows that for what was paid for, and a note
//! beside the store for what cost nothing.

use bursar_policy::{Digest, Errand, Pointer, Rules, Site, may_visit};
use bursar_tools::payments::{Reason, Recall, Wanted};
use bursar_vault::protocol::{self as vault, ContentRef, Recalled};

use super::Buyer;
use super::end::End;
use crate::clock;
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
        let (found, fields) = match wanted {
            Wanted::Content { digest, fields } => (self.of_content(&mut vault, digest).await?, fields),
            Wanted::Request { errand, max_age_s } => {
                (self.of_request(&mut vault, &errand, max_age_s).await?, Vec::new())
            }
        };
        let Some(copy) = found else { return Ok(Recall::Not(unknown())) };
        if let Err(fault) = self.is_whole(copy.content.digest).await {
            return Ok(Recall::Not(spoilt(&fault)));
        }
        let rules = vault.rules();
        let shown = match chosen(&rules, &copy.site, &fields) {
            Ok(None) => self.shown(&rules, &copy.site, &copy.content, copy.status),
            Ok(Some(fields)) => self.shown_fields(fields, &copy.content, copy.status),
            Err(reason) => return Ok(Recall::Not(reason)),
        };
        Ok(Recall::Found { content: shown, delivered_s: copy.delivered_s })
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
        let is_young = |note: &Note| clock::now_s().checked_sub(note.at_s).is_some_and(|age_s| age_s <= max_age_s);
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

/// The fields that a caller chose among those of the rule; `None` where it chose none.
fn chosen<'f>(rules: &Rules, site: &Site, fields: &'f [Pointer]) -> Result<Option<&'f [Pointer]>, Reason> {
    if fields.is_empty() {
        return Ok(None);
    }
    let listed = rules.host_rule(site).map(|rule| rule.fields()).unwrap_or_default();
    if fields.iter().all(|field| listed.contains(field)) { Ok(Some(fields)) } else { Err(not_listed()) }
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

fn not_listed() -> Reason {
    Reason::new("field_not_listed", "the operator's rules do not show every field that was asked for, so none is shown")
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

    #[test]
    fn only_fields_that_the_rule_in_force_lists_can_be_chosen() {
        let text = "[payment]\nmax_per_payment = \"1 USD\"\nnetworks = []\nassets = []\nrecipients = []\n\
            [[host]]\norigin = \"https://a.test\"\ncontent = \"fields\"\nfields = [\"/a\", \"/b\"]\n\
            [[host]]\norigin = \"https://b.test\"\ncontent = \"text\"\n";
        let rules = bursar_vault::rules_file::parse(text, bursar_policy::Setting::Real).unwrap();
        let chose = |origin: &str, names: &[&str]| {
            let fields: Vec<Pointer> = names.iter().map(|name| name.parse().unwrap()).collect();
            let site: Site = format!("{origin}/x").parse().unwrap();
            chosen(&rules, &site, &fields)
                .map(|some| some.map(<[Pointer]>::len))
                .map_err(|reason| reason.code().to_owned())
        };
        assert_eq!(chose("https://a.test", &[]), Ok(None));
        assert_eq!(chose("https://a.test", &["/b"]), Ok(Some(1)));
        assert_eq!(chose("https://a.test", &["/b", "/c"]), Err("field_not_listed".to_owned()));
        assert_eq!(chose("https://b.test", &["/a"]), Err("field_not_listed".to_owned()));
        assert_eq!(chose("https://other.test", &["/a"]), Err("field_not_listed".to_owned()));
    }
}
