//! The conversation with `serve`: claim, authorize, report. Must never give an agent more than a person allowed.
//!
//! One connection is one conversation, and the claim lives in it: however the connection ends, the claim ends with it,
//! and what was counted stays counted.

use crate::ledger::{Ask, Claim, ClaimGuard, Counted, Exposed, LedgerFault, NotSigned, Reservation, Source};
use crate::protocol::{
    AgentAsk, AgentReply, Claimed, Delivery, ENVELOPE_MAX_BYTES, PROTOCOL, Report, Status, Wanted, Welcome,
};
use crate::server::{Conversation, Peer, Then};
use crate::sign::{Key, SignFault};
use crate::status::{Needs, next_step};
use crate::vault::Vault;
use bursar_policy::rules::MandateNeed;
use bursar_policy::{
    ApprovalId, AssetId, Digest, Errand, PaymentId, QuoteId, Refusal, Rules, SessionId, SessionName, Terms,
};
use std::sync::Arc;
use std::time::Duration;

/// How long one look at an identical purchase in flight lasts before the asker is checked to be still there.
const PATIENCE: Duration = Duration::from_millis(500);

/// The longest name of a content type, in bytes; every name of the closed list is shorter.
const KIND_MAX_BYTES: usize = 100;

/// One agent's conversation.
#[derive(Debug)]
pub(crate) struct AgentConversation {
    vault: Arc<Vault>,
    peer: Peer,
    session: Option<SessionName>,
    work: Work,
}

/// What this connection is in the middle of.
#[derive(Debug)]
enum Work {
    Nothing,
    Claimed(ClaimGuard),
    Exposed(Box<Reservation<Exposed>>),
}

/// Why an ask has no answer.
#[derive(Debug)]
enum Trouble {
    Refused(Vec<Refusal>),
    Fault { code: &'static str, message: String },
}

impl From<LedgerFault> for Trouble {
    fn from(fault: LedgerFault) -> Self {
        Self::Fault { code: fault.code(), message: fault.to_string() }
    }
}

impl AgentConversation {
    pub(crate) const fn new(vault: Arc<Vault>, peer: Peer) -> Self {
        Self { vault, peer, session: None, work: Work::Nothing }
    }

    fn hello(&mut self, protocol: u16, session: Option<SessionName>) -> Result<AgentReply, Trouble> {
        if protocol != PROTOCOL {
            return Err(trouble("protocol_version", "the vault is of another version; use the same bursar for both"));
        }
        if self.session.is_some() {
            return Err(trouble("out_of_order", "hello was said already; open another connection instead"));
        }
        self.session = Some(session.unwrap_or_default());
        let rules = self.vault.rules();
        Ok(AgentReply::Welcome(Welcome {
            protocol: PROTOCOL,
            rules: rules.text.clone(),
            rules_digest: rules.digest,
            setting: self.vault.profile.setting(),
            payer: Some(self.vault.wallet.address()),
            locked: self.vault.wallet.is_locked(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }))
    }

    fn claim(&mut self, errand: Errand) -> Result<AgentReply, Trouble> {
        // The earlier claim of this connection is given up first, so that nobody waits for themselves.
        self.work = Work::Nothing;
        let session = self.session_for(&errand)?;
        loop {
            // Those of this moment: the operator may change them while somebody else's identical purchase is waited for.
            let rules = self.vault.rules();
            let claim = self.vault.ledger.claim(&session, errand.clone(), &rules.rules, PATIENCE)?;
            // The first one's conversation ends with the vault: what it gives up must not be taken up for a moment.
            if self.vault.is_ending().is_some() {
                return Err(trouble("vault_ending", "the vault is ending; ask again in a moment"));
            }
            // Only now: it may have been locked or unlocked while somebody else's identical purchase was waited for.
            let locked = self.vault.wallet.is_locked();
            match claim {
                Claim::InFlight if self.peer.is_gone() => {
                    return Err(trouble("gone", "nobody waits for this answer"));
                }
                Claim::InFlight => {}
                Claim::New(guard) if locked => {
                    return Err(self.refused(Some(guard.session()), guard.errand(), vec![Refusal::WalletLocked]));
                }
                Claim::New(guard) => {
                    self.work = Work::Claimed(guard);
                    return Ok(AgentReply::Claimed(Claimed::New));
                }
                Claim::Repeat(past) => return Ok(AgentReply::Claimed(Claimed::Repeat(past))),
                // Nothing is sent for a person who locked the wallet, but what is counted already is told.
                Claim::Resend { reservation, .. } if locked => {
                    let past = self.vault.ledger.past(reservation.payment())?;
                    return Ok(AgentReply::Claimed(Claimed::Repeat(Box::new(past))));
                }
                Claim::Resend { reservation, signed } => {
                    self.work = Work::Exposed(reservation);
                    return Ok(AgentReply::Claimed(Claimed::Resend(signed)));
                }
                Claim::Refused(reasons) => return Err(Trouble::Refused(after_lock(locked, reasons))),
            }
        }
    }

    fn authorize(&mut self, terms: Terms, envelope: String, judged_under: Digest) -> Result<AgentReply, Trouble> {
        if ENVELOPE_MAX_BYTES < envelope.len() {
            return Err(trouble("envelope_too_large", "the envelope is over 64 KiB; refuse such an offer earlier"));
        }
        let rules = self.vault.rules();
        let guard = match std::mem::replace(&mut self.work, Work::Nothing) {
            Work::Claimed(guard) => guard,
            other => {
                self.work = other;
                return Err(trouble("out_of_order", "nothing is claimed on this connection; claim the errand first"));
            }
        };
        if judged_under != rules.digest {
            self.work = Work::Claimed(guard);
            let told = "the operator changed the rules meanwhile; nothing was signed, call again";
            return Err(trouble("rules_changed", told));
        }
        // Held from here to the signature: locking in between takes effect for the next payment.
        let Some(key) = self.vault.wallet.key() else {
            let refused = self.refused(Some(guard.session()), guard.errand(), vec![Refusal::WalletLocked]);
            self.work = Work::Claimed(guard);
            return Err(refused);
        };
        let ask = Ask {
            terms,
            envelope,
            payer: key.address(),
            payment: PaymentId::from_random(random()?),
            approval: ApprovalId::from_random(random()?),
            nonce: random()?,
        };
        self.vault.watch.want_balance(&self.vault, &ask.terms.asset_id());
        match self.vault.ledger.authorize(guard, ask, &rules.rules)? {
            Counted::No { claim, reasons } => {
                self.work = Work::Claimed(claim);
                Err(Trouble::Refused(reasons))
            }
            Counted::Yes(exposed) => self.sign(exposed, &key, &rules.rules),
        }
    }

    /// From here on the money is counted; whatever fails below leaves it so, unless provably nothing was signed.
    fn sign(&mut self, exposed: Box<Reservation<Exposed>>, key: &Key, rules: &Rules) -> Result<AgentReply, Trouble> {
        let domain = exposed.exposed().domain();
        // The rules it was judged under: the asset is in their table, or it would not have been admitted.
        let asset = rules.asset(&AssetId { chain: domain.chain, contract: domain.contract });
        let made = asset.ok_or(SignFault::OtherAsset).and_then(|asset| key.sign(exposed.exposed(), asset));
        match made {
            Ok((signature, _domain)) => {
                let signed = self.vault.ledger.store_signature(&exposed, &signature.to_string())?;
                self.work = Work::Exposed(exposed);
                Ok(AgentReply::Authorized(Box::new(signed)))
            }
            Err(fault) => {
                tracing::error!(payment = %exposed.payment(), %fault, "a payment was not signed");
                if fault.nothing_was_signed() {
                    self.vault.ledger.void(*exposed, NotSigned::by_the_signer())?;
                }
                Err(Trouble::Fault { code: "not_signed", message: fault.to_string() })
            }
        }
    }

    fn quote(&self, errand: &Errand, terms: Option<Terms>) -> Result<AgentReply, Trouble> {
        let Some(terms) = terms else {
            return self.visit(errand);
        };
        let session = self.session_for(errand)?;
        let mut refusals = Vec::new();
        if self.vault.wallet.is_locked() {
            refusals.push(Refusal::WalletLocked);
        }
        let id = QuoteId::from_random(random()?);
        let rules = self.vault.rules();
        let payer = self.vault.wallet.address();
        self.vault.watch.want_balance(&self.vault, &terms.asset_id());
        refusals.extend(self.vault.ledger.quote(id.clone(), &session, errand, terms, payer, &rules.rules)?);
        if !refusals.is_empty() {
            self.vault.ledger.note_refused(Source::Vault, Some(&session), errand, &refusals);
        }
        let quote = refusals.is_empty().then_some(id);
        Ok(AgentReply::Quoted { quote, refusals })
    }

    /// Whether a seller may be visited for a quote: it pays nothing, but what the session is not for is not looked at.
    fn visit(&self, errand: &Errand) -> Result<AgentReply, Trouble> {
        let session = self.known_session()?;
        let refusals = self.vault.ledger.unasked(session.as_ref(), errand, &self.vault.rules().rules)?;
        if !refusals.is_empty() {
            self.vault.ledger.note_refused(Source::Vault, session.as_ref(), errand, &refusals);
        }
        Ok(AgentReply::Quoted { quote: None, refusals })
    }

    fn report(&mut self, report: Report) -> Result<AgentReply, Trouble> {
        if let Delivery::Answer { content: Some(content), .. } = &report.delivery
            && KIND_MAX_BYTES < content.kind.len()
        {
            return Err(trouble("kind_too_long", "a content type is one of a closed list; report `other` instead"));
        }
        match std::mem::replace(&mut self.work, Work::Nothing) {
            Work::Exposed(exposed) => {
                let rules = self.vault.rules();
                let receipt = self.vault.ledger.report(&exposed, report, rules.rules.breaker())?;
                Ok(AgentReply::Reported { receipt })
            }
            other => {
                self.work = other;
                Err(trouble("out_of_order", "nothing was authorized on this connection; there is nothing to report"))
            }
        }
    }

    /// What `serve` refused on its own goes into the log, so that the operator sees every reason in one place, and counts
    /// against a seller that is to blame. It is believed since it can only close something.
    fn decline(&self, errand: &Errand, refusals: &[Refusal]) -> Result<AgentReply, Trouble> {
        let session = self.known_session()?;
        self.vault.ledger.note_refused(Source::Serve, session.as_ref(), errand, refusals);
        self.vault.ledger.strike(session.as_ref(), errand, refusals, &self.vault.rules().rules)?;
        Ok(AgentReply::Noted)
    }

    fn recall(&self, wanted: Wanted) -> Result<AgentReply, Trouble> {
        Ok(AgentReply::Recalled(self.vault.ledger.recall(wanted)?.map(Box::new)))
    }

    /// The newest session of the name in the hello, open or over; `None` when there never was one.
    fn known_session(&self) -> Result<Option<SessionId>, Trouble> {
        let name = self.session.clone().unwrap_or_default();
        Ok(self.vault.ledger.session_named(name)?.map(|session| session.id))
    }

    fn status(&self) -> Result<AgentReply, Trouble> {
        let session = self.known_session()?;
        let rules = self.vault.rules();
        let overview = self.vault.ledger.overview(session.as_ref(), &rules.rules)?;
        let locked = self.vault.wallet.is_locked();
        // Without a session of its own an agent sees nobody else's payments and questions.
        let (unresolved, approvals_waiting) = match session {
            Some(_) => (overview.unresolved, overview.approvals_waiting),
            None => (Vec::new(), 0),
        };
        let mandated = rules.rules.mandate() == MandateNeed::Required;
        let closed = rules.rules.opening().filter(|opening| !opening.is_open(overview.now_s));
        Ok(AgentReply::Status(Box::new(Status {
            outside_hours: closed.map(ToString::to_string),
            mandate_missing: mandated && overview.session.as_ref().is_some_and(|session| session.mandate.is_none()),
            next_step: next_step(&Needs {
                latched: overview.latched.is_some(),
                frozen: overview.frozen.is_some(),
                locked,
                session: overview.session.as_ref(),
                mandated,
                now_s: overview.now_s,
                approvals_waiting,
            }),
            approvals_waiting,
            session: overview.session,
            limits: overview.limits,
            held: overview.held,
            unresolved,
            frozen: overview.frozen.is_some(),
            latched: overview.latched.is_some(),
            locked,
            payer: Some(self.vault.wallet.address()),
        })))
    }

    /// The session named in the hello, open or over: an earlier result may still be asked for.
    fn session_for(&self, errand: &Errand) -> Result<SessionId, Trouble> {
        match self.known_session()? {
            Some(session) => Ok(session),
            None => {
                let reasons = after_lock(self.vault.wallet.is_locked(), vec![Refusal::NoSession]);
                Err(self.refused(None, errand, reasons))
            }
        }
    }

    /// A refusal of our own making: into the log without waiting, then to the asker.
    fn refused(&self, session: Option<&SessionId>, errand: &Errand, reasons: Vec<Refusal>) -> Trouble {
        self.vault.ledger.note_refused(Source::Vault, session, errand, &reasons);
        Trouble::Refused(reasons)
    }
}

impl Conversation for AgentConversation {
    type Ask = AgentAsk;
    type Reply = AgentReply;

    fn answer(&mut self, ask: AgentAsk) -> (AgentReply, Then) {
        self.vault.touch();
        let greeted = self.session.is_some();
        let answered = match ask {
            AgentAsk::Hello { protocol, session } => self.hello(protocol, session),
            _ if !greeted => Err(trouble("out_of_order", "say hello first")),
            AgentAsk::Claim { errand } => self.claim(errand),
            AgentAsk::Authorize { terms, envelope, rules } => self.authorize(terms, envelope, rules),
            AgentAsk::Quote { errand, terms } => self.quote(&errand, terms),
            AgentAsk::Report(report) => self.report(report),
            AgentAsk::Decline { errand, refusals } => self.decline(&errand, &refusals),
            AgentAsk::Recall(wanted) => self.recall(wanted),
            AgentAsk::Status => self.status(),
        };
        let then = if self.session.is_some() { Then::GoOn } else { Then::Close };
        match answered {
            Ok(reply) => (reply, then),
            Err(Trouble::Refused(reasons)) => (AgentReply::Refused(reasons), then),
            Err(Trouble::Fault { code, message }) => (Self::fault(code, message), then),
        }
    }

    fn fault(code: &str, message: String) -> AgentReply {
        AgentReply::Fault { code: code.to_owned(), message }
    }
}

/// A locked wallet is told first, whatever else stands in the way: the order of precedence.
fn after_lock(locked: bool, mut reasons: Vec<Refusal>) -> Vec<Refusal> {
    if locked {
        reasons.insert(0, Refusal::WalletLocked);
    }
    reasons
}

fn trouble(code: &'static str, message: &str) -> Trouble {
    Trouble::Fault { code, message: message.to_owned() }
}

fn random<const N: usize>() -> Result<[u8; N], Trouble> {
    let mut bytes = [0_u8; N];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(_fault) => Err(trouble("no_randomness", "the system gives no random bytes; try again later")),
    }
}
