//! The conversation with `serve`: claim, authorize or hold, report. Must never give an agent more than a person allowed.
//!
//! One connection is one conversation, and the claim lives in it: however the connection ends, the claim ends with it,
//! and what was counted stays counted.

use crate::ledger::{Ask, Claim, ClaimGuard, Counted, LedgerFault, Price, Reservation, Source};
use crate::passage::Stopwatch;
use crate::protocol::{
    AgentAsk, AgentReply, Claimed, Delivery, ENVELOPE_MAX_BYTES, LegName, PROTOCOL, Released, ReleasedHeader, Report,
    Sought, Wanted, Welcome,
};
use crate::rules_file::RulesFile;
use crate::server::{Conversation, Peer, Then};
use crate::signing::Unsigned;
use crate::vault::Vault;
use bursar_policy::{
    Address, ApprovalId, Digest, Errand, HostRule, PaymentId, QuoteId, Refusal, SecretName, SessionId, SessionName,
    Terms,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

mod attach;
mod hold;
mod standing;
mod timed;

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
    stopwatch: Stopwatch,
}

/// What this connection is in the middle of.
#[derive(Debug)]
enum Work {
    Nothing,
    /// Looking at what a seller asks, for a quote: nothing is claimed.
    Looking(Box<Errand>),
    Claimed(ClaimGuard),
    Exposed(Box<Reservation>),
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

impl From<Unsigned> for Trouble {
    fn from(fault: Unsigned) -> Self {
        Self::Fault { code: fault.code(), message: fault.to_string() }
    }
}

impl AgentConversation {
    pub(crate) fn new(vault: Arc<Vault>, peer: Peer) -> Self {
        let stopwatch = Stopwatch::new(Arc::clone(&vault.passages));
        Self { vault, peer, session: None, work: Work::Nothing, stopwatch }
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
        let (guard, rules) = self.judged(&envelope, judged_under)?;
        // Held from here to the signature: locking in between takes effect for the next payment.
        let Some(key) = self.vault.wallet.key() else {
            return Err(self.locked(guard));
        };
        let judged = terms.clone();
        let ask = ask(terms, envelope, key.address())?;
        self.vault.make_ready(guard.session(), guard.errand(), &ask.terms, &rules.rules);
        match self.vault.ledger.authorize(guard, ask, &rules.rules)? {
            Counted::No { claim, reasons } => {
                self.work = Work::Claimed(claim);
                Err(Trouble::Refused(reasons))
            }
            Counted::Yes(exposed) => {
                self.stopwatch.mark(LegName::Authorize, Instant::now());
                self.stopwatch.counted(exposed.payment(), &judged, &rules.rules);
                let (exposed, signed) = self.vault.sign(*exposed, &key, &rules.rules)?;
                self.work = Work::Exposed(Box::new(exposed));
                Ok(AgentReply::Authorized(Box::new(signed)))
            }
        }
    }

    /// The claim of this connection and the rules in force, which are those that the asker judged under.
    fn judged(&mut self, envelope: &str, judged_under: Digest) -> Result<(ClaimGuard, Arc<RulesFile>), Trouble> {
        if ENVELOPE_MAX_BYTES < envelope.len() {
            return Err(trouble("envelope_too_large", "the envelope is over 64 KiB; refuse such an offer earlier"));
        }
        let rules = self.vault.rules();
        match std::mem::replace(&mut self.work, Work::Nothing) {
            Work::Claimed(guard) if judged_under == rules.digest => Ok((guard, rules)),
            Work::Claimed(guard) => {
                self.work = Work::Claimed(guard);
                let told = "the operator changed the rules meanwhile; nothing was signed, call again";
                Err(trouble("rules_changed", told))
            }
            other => {
                self.work = other;
                Err(trouble("out_of_order", "nothing is claimed on this connection; claim the errand first"))
            }
        }
    }

    fn locked(&mut self, guard: ClaimGuard) -> Trouble {
        let refused = self.refused(Some(guard.session()), guard.errand(), vec![Refusal::WalletLocked]);
        self.work = Work::Claimed(guard);
        refused
    }

    fn quote(&mut self, errand: Errand, terms: Option<Terms>) -> Result<AgentReply, Trouble> {
        let Some(terms) = terms else {
            return self.visit(errand);
        };
        let errand = &errand;
        let session = self.session_for(errand)?;
        let mut refusals = Vec::new();
        if self.vault.wallet.is_locked() {
            refusals.push(Refusal::WalletLocked);
        }
        let id = QuoteId::from_random(random()?);
        let rules = self.vault.rules();
        let payer = self.vault.wallet.address();
        self.vault.make_ready(&session, errand, &terms, &rules.rules);
        refusals.extend(self.vault.ledger.quote(id.clone(), &session, errand, terms.clone(), payer, &rules.rules)?);
        if !refusals.is_empty() {
            self.vault.ledger.note_refused(Source::Vault, Some(&session), errand, Price::Judged(&terms), &refusals);
        }
        let quote = refusals.is_empty().then_some(id);
        Ok(AgentReply::Quoted { quote, refusals })
    }

    /// Whether a seller may be visited for a quote: it pays nothing, but what the session is not for is not looked at.
    fn visit(&mut self, errand: Errand) -> Result<AgentReply, Trouble> {
        let session = self.known_session()?;
        let refusals = self.vault.ledger.unasked(session.as_ref(), &errand, &self.vault.rules().rules)?;
        if !refusals.is_empty() {
            self.vault.ledger.note_refused(Source::Vault, session.as_ref(), &errand, Price::Unsaid, &refusals);
        } else if matches!(self.work, Work::Nothing | Work::Looking(_)) {
            self.work = Work::Looking(Box::new(errand));
        }
        Ok(AgentReply::Quoted { quote: None, refusals })
    }

    /// The secrets of the rule that the errand of this connection falls under, by the rules in force now: its origin, its
    /// path and its method. Not while the wallet is locked, nothing can be bought, or one of them is not stored.
    fn secrets(&self) -> Result<AgentReply, Trouble> {
        let errand = match &self.work {
            Work::Nothing => {
                return Err(trouble("out_of_order", "nothing is claimed on this connection; claim the errand first"));
            }
            Work::Looking(errand) => &**errand,
            Work::Claimed(guard) => guard.errand(),
            Work::Exposed(exposed) => exposed.claim().errand(),
        };
        let session = self.session_for(errand)?;
        let no = |reasons| Err(self.refused(Some(&session), errand, reasons));
        let Some(key) = self.vault.wallet.key() else { return no(vec![Refusal::WalletLocked]) };
        let rules = &self.vault.rules().rules;
        let reasons = self.vault.ledger.unreleased(&session, errand, rules)?;
        if !reasons.is_empty() {
            return no(reasons);
        }
        let kept = self.vault.secrets.open(&key).map_err(|fault| {
            tracing::error!(%fault, "the secrets cannot be opened");
            trouble(
                "secrets_damaged",
                "the secrets of the rules cannot be opened; ask the operator to run `bursar secret list`",
            )
        })?;
        let secret = |name: &SecretName| match kept.get(name) {
            Some(kept) => Ok(kept.value.clone()),
            None => Err(Refusal::SecretMissing { name: name.clone() }),
        };
        let headers = rules.host_rule(&errand.site).map(HostRule::secret_headers).unwrap_or_default();
        let headers = headers
            .iter()
            .map(|header| secret(header.secret()).map(|secret| ReleasedHeader { header: header.clone(), secret }));
        let released = headers.collect::<Result<Vec<_>, _>>().and_then(|headers| {
            let proxy = rules.network().proxy_secret().map(secret).transpose()?;
            Ok(Released { headers, proxy })
        });
        match released {
            Ok(released) => Ok(AgentReply::Secrets(Box::new(released))),
            Err(missing) => no(vec![missing]),
        }
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
    fn decline(&self, errand: &Errand, sought: &[Sought], refusals: &[Refusal]) -> Result<AgentReply, Trouble> {
        let session = self.known_session()?;
        self.vault.ledger.note_refused(Source::Serve, session.as_ref(), errand, Price::Said(sought), refusals);
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
        self.vault.ledger.note_refused(Source::Vault, session, errand, Price::Unsaid, &reasons);
        Trouble::Refused(reasons)
    }
}

impl Conversation for AgentConversation {
    type Ask = AgentAsk;
    type Reply = AgentReply;

    fn answer(&mut self, ask: AgentAsk) -> (AgentReply, Then) {
        self.vault.touch();
        let now = Instant::now();
        let step = self.asked(&ask, now);
        let greeted = self.session.is_some();
        let answered = match ask {
            AgentAsk::Hello { protocol, session } => self.hello(protocol, session),
            _ if !greeted => Err(trouble("out_of_order", "say hello first")),
            AgentAsk::Claim { errand } => self.claim(errand),
            AgentAsk::Authorize { terms, envelope, rules } => self.authorize(terms, envelope, rules),
            AgentAsk::Hold { terms, envelope, blank, rules } => self.hold(terms, envelope, blank, rules),
            AgentAsk::HoldAgain { blank } => self.hold_again(blank),
            AgentAsk::Attach { handle, open } => self.attach(&handle, open),
            AgentAsk::Quote { errand, terms } => self.quote(errand, terms),
            AgentAsk::Secrets => self.secrets(),
            AgentAsk::Report(report) => self.report(report),
            AgentAsk::Decline { errand, sought, refusals } => self.decline(&errand, &sought, &refusals),
            AgentAsk::Recall(wanted) => self.recall(wanted),
            AgentAsk::Status => self.status(),
            AgentAsk::Waits { approval } => self.waits(&approval),
        };
        self.answered(step, &answered, now);
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

/// A payment with fresh ids and a fresh nonce.
fn ask(terms: Terms, envelope: String, payer: Address) -> Result<Ask, Trouble> {
    Ok(Ask {
        terms,
        envelope,
        payer,
        payment: PaymentId::from_random(random()?),
        approval: ApprovalId::from_random(random()?),
        nonce: random()?,
    })
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
