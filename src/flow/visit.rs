//! Steps 4 to 6: reach the judged address, ask without money, and read what comes back. Knows no price limit.

use bursar_policy::{Body, Errand, Quoted, Refusal, Rules, Site, Vetted};
use bursar_tools::payments::{Content, Reason};
use bursar_vault::protocol::Released;

use super::Buyer;
use super::end::End;
use crate::content::{ContentFault, ContentKind, Fullness, Note, Settling, StoredContent};
use crate::net::{Ask, BodyEnd, Exchange, Limits, Reply, Resolver, pin};
use crate::wallet::Conversation;
use crate::wire::challenge::MAX_BODY_BYTES;
use crate::wire::{Demand, Found, HeaderView, NotX402, read};

/// A seller within reach: the pinned address, and the request that both legs send.
#[derive(Debug)]
pub(super) struct Visit {
    pub(super) exchange: Exchange,
    pub(super) ask: Ask,
    pub(super) errand: Errand,
}

/// What a seller answered to a request without money.
pub(super) enum Seen {
    /// It asks for nothing that bursar pays.
    Free { content: Content, note: Option<Reason> },
    /// It names its terms.
    Demand(Demand),
}

impl<R: Resolver> Buyer<R> {
    /// Pins the vetted site and prepares the request, with what was released for it. Sends nothing.
    pub(super) async fn reach(
        &self,
        vault: &Conversation,
        errand: &Errand,
        body: Option<Vec<u8>>,
        site: Vetted<Site>,
        released: Released,
    ) -> Result<Visit, End> {
        let rules = vault.rules();
        let pin = pin(site, &self.resolver, &rules).await?;
        let exchange = Exchange::open(pin, &self.tls(&rules, vault.welcome().rules_digest)?)
            .with_proxy_credentials(released.proxy);
        let ask = match (&errand.body, body) {
            (None, None) => Ask::new(errand.method),
            (Some(Body { kind, .. }), Some(bytes)) => Ask::new(errand.method).with_body(*kind, bytes)?,
            _ => return Err(End::broken("the body and its description do not belong together")),
        };
        let ask = ask.with_chosen(&errand.headers)?.with_secrets(&released.headers)?;
        Ok(Visit { exchange, ask, errand: errand.clone() })
    }

    /// Sends the request without money and reads the answer.
    pub(super) async fn ask_bare(&self, rules: &Rules, visit: &Visit) -> Result<Seen, End> {
        let limits = Limits::bare().for_body(rules.body_cap_of(&visit.errand.site));
        let reply = visit.exchange.send(&visit.ask, &limits).await?;
        match reply.status() {
            402 => self.read_402(rules, visit, reply).await,
            300..=399 => Err(End::No(vec![redirect(&reply)])),
            status => {
                self.may_keep_more(rules)?;
                let (stored, kind) = self.store(rules, &visit.errand.site, reply).await?;
                self.note(&visit.errand, status, &stored, kind);
                let content = self.fresh(rules, &visit.errand.site, &stored, kind, status);
                Ok(Seen::Free { content, note: stored.note() })
            }
        }
    }

    async fn read_402(&self, rules: &Rules, visit: &Visit, reply: Reply) -> Result<Seen, End> {
        let headers = reply.headers().to_vec();
        let in_header = reply.values("payment-required").any(|value| !value.trim_ascii().is_empty());
        let kind = ContentKind::of_headers(reply.values("content-type"));
        let cap = u64::try_from(MAX_BODY_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        let (bytes, end) = reply.into_body().collect(cap).await;
        let found = match (read(HeaderView::new(&headers), &bytes), &end) {
            // Half a body is no document: what is wrong is the way here, not what the seller wrote.
            (Err(_), BodyEnd::Cut(fault)) if !in_header => return Err(fault.clone().into()),
            (found, _) => found?,
        };
        match found {
            Found::Demand(demand) => Ok(Seen::Demand(demand)),
            Found::NotX402(rail) => {
                self.may_keep_more(rules)?;
                let mut writer = self.content.writer()?;
                writer.write(&bytes)?;
                let fullness = if end.is_whole() { Fullness::Whole } else { Fullness::Truncated };
                let beginning = writer.take_beginning();
                let stored = Stored { kept: settled_later(writer.finish(fullness)?), beginning, end };
                self.note(&visit.errand, 402, &stored, kind);
                let content = self.fresh(rules, &visit.errand.site, &stored, kind, 402);
                // Of a body that could not be read nobody knows whether it held terms.
                let unread = stored.note().filter(|_| rail == NotX402::Plain);
                Ok(Seen::Free {
                    content,
                    note: Some(unread.unwrap_or_else(|| Reason::new(rail.code(), rail.sentence()))),
                })
            }
        }
    }

    /// Says no to keeping what costs nothing, while there is no room for it on the disk or in the operator's rules.
    fn may_keep_more(&self, rules: &Rules) -> Result<(), End> {
        self.content.room()?;
        match rules.keeping().max_bytes {
            Some(most) if most < self.content.total()? => Err(End::content_full()),
            _ => Ok(()),
        }
    }

    /// Writes down where a body came from that cost nothing, so that it can be read again. Without the note it cannot,
    /// and nothing else is lost.
    fn note(&self, errand: &Errand, status: u16, stored: &Stored, kind: ContentKind) {
        let note = Note::new(errand, status, &stored.kept, kind, (self.now_s)());
        if let Err(fault) = self.content.note(&errand.subject(), &note) {
            tracing::warn!("a note beside stored content could not be written: {fault}");
        }
    }

    /// Puts the body of `reply` into the content folder, up to the rules' cap.
    pub(super) async fn store(
        &self,
        rules: &Rules,
        site: &Site,
        reply: Reply,
    ) -> Result<(Stored, ContentKind), ContentFault> {
        let kind = ContentKind::of_headers(reply.values("content-type"));
        let mut writer = self.content.writer()?;
        let end = reply.into_body().read_into(rules.body_cap_of(site), |piece| writer.write(piece)).await?;
        let fullness = if end.is_whole() { Fullness::Whole } else { Fullness::Truncated };
        let beginning = writer.take_beginning();
        Ok((Stored { kept: settled_later(writer.finish(fullness)?), beginning, end }, kind))
    }
}

/// Sends a stored body on to the disk. That is waited for as little as the report is, which comes after it: what a power cut
/// takes in the next moment is told as missing, or asked for again with the same payment.
fn settled_later((kept, settling): (StoredContent, Settling)) -> StoredContent {
    tokio::task::spawn_blocking(move || {
        if let Err(fault) = settling.wait() {
            tracing::warn!(content = %kept.digest, "a stored body may not outlive a power cut: {fault}");
        }
    });
    kept
}

/// A body in the content folder, and how reading it ended.
pub(super) struct Stored {
    pub(super) kept: StoredContent,
    /// Its first bytes, up to [`AT_HAND_BYTES`](crate::content::AT_HAND_BYTES).
    pub(super) beginning: Vec<u8>,
    pub(super) end: BodyEnd,
}

impl Stored {
    /// As the vault keeps it with the payment.
    pub(super) fn content(&self, kind: ContentKind) -> bursar_vault::protocol::ContentRef {
        bursar_vault::protocol::ContentRef {
            digest: self.kept.digest,
            bytes: self.kept.bytes,
            kind: kind.as_str().to_owned(),
            truncated: self.kept.truncated,
        }
    }

    /// Why the body is not whole, when it is not because something broke.
    pub(super) fn note(&self) -> Option<Reason> {
        match &self.end {
            BodyEnd::Complete | BodyEnd::OverCap => None,
            BodyEnd::Cut(fault) | BodyEnd::Encoded(fault) => {
                Some(Reason::new(fault.code().as_str(), fault.to_string()))
            }
        }
    }
}

/// A redirect is never followed, on either leg.
pub(super) fn redirect(reply: &Reply) -> Refusal {
    let location =
        reply.values("location").next().map_or_else(String::new, |value| String::from_utf8_lossy(value).into_owned());
    Refusal::RedirectRefused { status: reply.status(), location: Quoted::of(&location) }
}
