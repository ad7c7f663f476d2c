//! Money set aside for a page that a browser fetches. Must never sign anything.

use super::{AgentConversation, Trouble, Work, ask, random, trouble};
use crate::blank::Blank;
use crate::ledger::{Drawn, Held, Prepared};
use crate::protocol::AgentReply;
use bursar_policy::{Digest, Errand, Handle, Method, Terms};
use std::time::Instant;

impl AgentConversation {
    pub(super) fn hold(
        &mut self,
        terms: Terms,
        envelope: String,
        blank: Blank,
        judged_under: Digest,
    ) -> Result<AgentReply, Trouble> {
        let (handle, drawn) = self.draw(blank)?;
        let (guard, rules) = self.judged(&envelope, judged_under)?;
        if let Err(not_a_page) = page(guard.errand()) {
            self.work = Work::Claimed(guard);
            return Err(not_a_page);
        }
        if self.vault.wallet.is_locked() {
            return Err(self.locked(guard));
        }
        let ask = ask(terms, envelope, self.vault.wallet.address())?;
        self.vault.make_ready(guard.session(), guard.errand(), &ask.terms, &rules.rules);
        match self.vault.ledger.hold(guard, ask, drawn, &rules.rules)? {
            Held::No { claim, reasons } => {
                self.work = Work::Claimed(claim);
                Err(Trouble::Refused(reasons))
            }
            Held::Yes(prepared) => Ok(self.held(handle, *prepared)),
        }
    }

    pub(super) fn hold_again(&mut self, blank: Blank) -> Result<AgentReply, Trouble> {
        let (handle, drawn) = self.draw(blank)?;
        match std::mem::replace(&mut self.work, Work::Nothing) {
            Work::Exposed(exposed) => {
                page(exposed.claim().errand())?;
                Ok(self.held(handle, self.vault.ledger.prepare_again(*exposed, drawn)?))
            }
            other => {
                self.work = other;
                Err(trouble(
                    "out_of_order",
                    "nothing on this connection waits to be sent again; claim the errand first",
                ))
            }
        }
    }

    /// A fresh handle, and what the ledger keeps of it.
    fn draw(&self, blank: Blank) -> Result<(Handle, Drawn), Trouble> {
        if !blank.fits_a_header() {
            return Err(trouble(
                "blank_too_large",
                "the payment document is over 48 KiB; refuse such an offer earlier",
            ));
        }
        if !self.vault.draws.has_room(Instant::now()) {
            return Err(trouble(
                "too_many_handles",
                "too many pages were prepared lately; nothing was set aside, prepare this one in ten minutes",
            ));
        }
        let handle = Handle::from_random(random()?);
        let drawn = Drawn { digest: handle.digest(), blank };
        Ok((handle, drawn))
    }

    fn held(&self, handle: Handle, Prepared { receipt, expires_in_s }: Prepared) -> AgentReply {
        self.vault.draws.note(Instant::now());
        AgentReply::Held { handle, expires_in_s, receipt }
    }
}

/// What a browser asks for by itself.
fn page(errand: &Errand) -> Result<(), Trouble> {
    if errand.method == Method::Get && errand.body.is_none() && errand.headers.is_empty() {
        return Ok(());
    }
    Err(trouble("not_a_page", "a browser asks for a page with a plain GET; pay for this another way"))
}
