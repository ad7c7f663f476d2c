//! The conversation with a browser's glue: what to pay for, the header, what came back. Must never count anything new,
//! and never let a header go but for a handle, to the page that it is for.
//!
//! One connection serves one session. What it redeemed last is in its hands until it reports, goes on or hangs up:
//! meanwhile the identical purchase waits. However the connection ends, what was counted stays counted.

use crate::blank::Blank;
use crate::desk::{Chair, Stage};
use crate::ledger::{Redeemed, Redeemer, Reservation, Unredeemable};
use crate::passage::Stopwatch;
use crate::protocol::{
    Delivery, GlueAsk, GlueReply, GlueWelcome, LegName, PROTOCOL, PaymentHeader, Report, Sender, Signed,
};
use crate::server::{Conversation, Peer, Then};
use crate::sign::Signature;
use crate::signing::Unsigned;
use crate::trouble::{Trouble, trouble};
use crate::vault::Vault;
use bursar_policy::{Digest, Handle, Refusal, SessionName, Site};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long one look at what is to do lasts before the glue is checked to be still there.
const LOOK: Duration = Duration::from_millis(500);

/// How long the place of a glue is waited for that has just hung up, which is noticed at the next look.
const LEAVING: Duration = Duration::from_secs(1);

/// How long `Next` is held back when there is nothing to do.
const IDLE: Duration = Duration::from_secs(20);

/// How long an identical purchase in flight is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// One glue's conversation.
#[derive(Debug)]
pub(crate) struct GlueConversation {
    vault: Arc<Vault>,
    peer: Peer,
    chair: Option<Chair>,
    redeemed: Option<(Digest, Box<Reservation>)>,
    stopwatch: Stopwatch,
}

impl From<Unsigned> for Trouble {
    fn from(fault: Unsigned) -> Self {
        Self { code: fault.code(), message: fault.to_string() }
    }
}

impl From<Unredeemable> for Trouble {
    fn from(why: Unredeemable) -> Self {
        Self { code: why.code(), message: why.to_string() }
    }
}

impl GlueConversation {
    pub(crate) fn new(vault: Arc<Vault>, peer: Peer) -> Self {
        let stopwatch = Stopwatch::new(Arc::clone(&vault.passages));
        Self { vault, peer, chair: None, redeemed: None, stopwatch }
    }

    fn hello(&mut self, protocol: u16, session: Option<SessionName>) -> Result<GlueReply, Trouble> {
        if protocol != PROTOCOL {
            return Err(trouble("protocol_version", "the vault is of another version; use the same bursar for both"));
        }
        if self.chair.is_some() {
            return Err(trouble("out_of_order", "hello was said already; open another connection instead"));
        }
        let session = session.unwrap_or_default();
        let Some(chair) = self.vault.desk.sit(&session, LEAVING) else {
            return Err(trouble("glue_taken", "another browser glue serves this session; end it first"));
        };
        self.chair = Some(chair);
        Ok(GlueReply::Welcome(GlueWelcome { protocol: PROTOCOL, session, setting: self.vault.profile.setting() }))
    }

    fn next(&mut self) -> Result<GlueReply, Trouble> {
        let chair = greeted(self.chair.as_ref())?;
        drop(self.redeemed.take());
        self.stopwatch.give_up(Instant::now());
        chair.go_on();
        let until = Instant::now().checked_add(IDLE);
        while until.is_some_and(|until| Instant::now() < until) {
            if let Some(attach) = chair.next(LOOK) {
                self.vault.touch();
                return Ok(GlueReply::Attach(attach));
            }
            if self.peer.is_gone() || self.vault.is_ending().is_some() {
                break;
            }
        }
        Ok(GlueReply::Idle)
    }

    fn say(&self, handle: &Handle, stage: Stage) -> Result<GlueReply, Trouble> {
        let handle = handle.digest();
        if self.redeemed.as_ref().is_some_and(|(redeemed, _)| *redeemed == handle) {
            return Err(trouble("out_of_order", "the handle is redeemed; report what came back"));
        }
        if greeted(self.chair.as_ref())?.say(&handle, stage) {
            Ok(GlueReply::Noted)
        } else {
            Err(Unredeemable::Unknown.into())
        }
    }

    fn redeem(&mut self, handle: &Handle, url: &str) -> Result<GlueReply, Trouble> {
        if let Ok(site) = Site::parse(url) {
            self.stopwatch.begin(Sender::Browser, &site, Instant::now());
        }
        let redeemed = self.paid_header(handle, url);
        match &redeemed {
            Ok(_header) => {
                self.stopwatch.mark(LegName::Sign, Instant::now());
                self.stopwatch.signed();
            }
            Err(trouble) => self.stopwatch.failed(trouble.code, Instant::now()),
        }
        redeemed
    }

    fn paid_header(&mut self, handle: &Handle, url: &str) -> Result<GlueReply, Trouble> {
        let chair = greeted(self.chair.as_ref())?;
        let handle = handle.digest();
        let rules = self.vault.rules();
        // Held from here to the signature: locking in between takes effect for the next payment.
        let Some(key) = self.vault.wallet.key() else {
            let reasons = vec![Refusal::WalletLocked];
            self.stopwatch.refused(&reasons, Instant::now());
            return Err(refused(chair, &handle, reasons));
        };
        let who = Redeemer { handle, session: chair.session().clone(), site: Site::parse(url).ok() };
        let (reservation, signed, blank) = match self.vault.ledger.redeem(&who, &rules.rules, PATIENCE)? {
            Redeemed::First { reservation, blank } => {
                self.stopwatch.mark(LegName::Authorize, Instant::now());
                let (reservation, signed) =
                    self.vault.sign(*reservation, &key, &rules.rules).inspect_err(|_unsigned| {
                        chair.say(&handle, Stage::Over);
                    })?;
                (Box::new(reservation), signed, blank)
            }
            Redeemed::Again { reservation, signed, blank } => (reservation, *signed, blank),
            Redeemed::InFlight => {
                let told = "the same purchase is being made at this moment; ask again in a moment";
                return Err(trouble("purchase_in_flight", told));
            }
            Redeemed::Refused(reasons) => {
                self.stopwatch.refused(&reasons, Instant::now());
                return Err(refused(chair, &handle, reasons));
            }
            Redeemed::Not(why) => return Err(why.into()),
        };
        self.stopwatch.counted(&signed.payment, &signed.terms, &rules.rules);
        let header = header(&blank, &signed)?;
        chair.say(&handle, Stage::Redeemed);
        if let Some((earlier, given_up)) = self.redeemed.replace((handle, reservation)) {
            drop(given_up);
            chair.say(&earlier, Stage::Over);
        }
        Ok(GlueReply::Redeemed { header })
    }

    fn report(&mut self, handle: &Handle, report: Report) -> Result<GlueReply, Trouble> {
        let asked = Instant::now();
        let chair = greeted(self.chair.as_ref())?;
        let handle = handle.digest();
        let Some((_, reservation)) = self.redeemed.as_ref().filter(|(redeemed, _)| *redeemed == handle) else {
            return Err(trouble("out_of_order", "this handle was not redeemed last; there is nothing to report"));
        };
        if let Delivery::Answer { content: Some(_), .. } = &report.delivery {
            return Err(trouble("no_content", "what a browser was delivered is not kept; report without a body"));
        }
        let rules = self.vault.rules();
        let receipt = self.vault.ledger.report(reservation, report, rules.rules.breaker())?;
        let now = Instant::now();
        self.stopwatch.mark(LegName::Pay, asked);
        self.stopwatch.mark(LegName::Report, now);
        self.stopwatch.reported(&receipt, now);
        chair.say(&handle, Stage::Over);
        Ok(GlueReply::Reported { receipt })
    }
}

impl Conversation for GlueConversation {
    type Ask = GlueAsk;
    type Reply = GlueReply;

    fn answer(&mut self, ask: GlueAsk) -> (GlueReply, Then) {
        let answered = match ask {
            GlueAsk::Hello { protocol, session } => self.hello(protocol, session),
            GlueAsk::Next => self.next(),
            GlueAsk::Armed { handle } => self.say(&handle, Stage::Armed),
            GlueAsk::Refuse { handle, why } => self.say(&handle, Stage::Declined(why)),
            GlueAsk::Redeem { handle, url } => self.redeem(&handle, &url),
            GlueAsk::Report { handle, report } => self.report(&handle, *report),
        };
        let then = if self.chair.is_some() { Then::GoOn } else { Then::Close };
        (answered.unwrap_or_else(|Trouble { code, message }| Self::fault(code, message)), then)
    }

    fn fault(code: &str, message: String) -> GlueReply {
        GlueReply::Fault { code: code.to_owned(), message }
    }
}

/// The header that carries a signed payment, by the generation that was judged.
fn header(blank: &Blank, signed: &Signed) -> Result<PaymentHeader, Trouble> {
    let signature: Signature = signed.signature.parse().map_err(Unsigned::Signer)?;
    Ok(blank.fill(signed.version, &signed.payment, &signed.authorization, &signature))
}

fn greeted(chair: Option<&Chair>) -> Result<&Chair, Trouble> {
    chair.ok_or_else(|| trouble("out_of_order", "say hello first"))
}

/// A no of the vault's: the agent that waits hears the reasons, the glue that there are some.
fn refused(chair: &Chair, handle: &Digest, reasons: Vec<Refusal>) -> Trouble {
    chair.say(handle, Stage::Refused(reasons));
    trouble("refused", "the wallet does not pay for this now; let the page load without, the agent is told why")
}
