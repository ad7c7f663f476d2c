//! The conversation with a human at a terminal. Must never widen a right without the operator's passphrase.

mod keys;
mod next;
mod secrets;

use crate::guarded;
use crate::ledger::{Checkpointed, Decided, Event, EventKind, Meant, SessionOpened, When};
use crate::passphrase::{PassphraseFault, Proven};
use crate::protocol::{
    ApprovalState, LogEntry, Measures, OperatorAsk, OperatorReply, OperatorStatus, OperatorWelcome, PROTOCOL,
    Passphrase, SessionView, WhichRules,
};
use crate::rules_file::{self, RulesFile};
use crate::server::{Conversation, Peer, Then};
use crate::status::{Needs, next_step};
use crate::trouble::{Trouble, trouble};
use crate::vault::{Ended, Vault};
use crate::wallet::UnlockFault;
use crate::withdraw::Wish;
use bursar_policy::rules::MandateNeed;
use bursar_policy::{Address, ApprovalId, Digest, Mandate, Money, PaymentId, Quoted, SessionId, SessionName};
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// The longest life of a session, in minutes: a leap year.
const SESSION_MAX_MINUTES: u32 = 366 * 24 * 60;
/// How much of the log goes into one reply, in bytes of JSON: half of what a reply may hold.
const PAGE_MAX_BYTES: usize = 512 * 1024;

/// One operator's conversation.
#[derive(Debug)]
pub(crate) struct OperatorConversation {
    vault: Arc<Vault>,
    peer: Peer,
    greeted: bool,
}

impl From<PassphraseFault> for Trouble {
    fn from(fault: PassphraseFault) -> Self {
        let code = match fault {
            PassphraseFault::Wrong { .. } => "passphrase_wrong",
            PassphraseFault::Wait { .. } => "passphrase_wait",
            PassphraseFault::Length { .. } => "passphrase_length",
            PassphraseFault::Damaged { .. } | PassphraseFault::Guard(_) => "passphrase_file",
            PassphraseFault::Derivation => "no_memory",
        };
        Self { code, message: fault.to_string() }
    }
}

impl From<UnlockFault> for Trouble {
    fn from(fault: UnlockFault) -> Self {
        match fault {
            UnlockFault::Operator(fault) => fault.into(),
            other => Self { code: "keystore", message: other.to_string() },
        }
    }
}

impl OperatorConversation {
    pub(crate) const fn new(vault: Arc<Vault>, peer: Peer) -> Self {
        Self { vault, peer, greeted: false }
    }

    fn hello(&mut self, protocol: u16) -> Result<OperatorReply, Trouble> {
        if protocol != PROTOCOL {
            return Err(trouble("protocol_version", "the vault is of another version; use the same bursar for both"));
        }
        self.greeted = true;
        Ok(OperatorReply::Welcome(OperatorWelcome {
            protocol: PROTOCOL,
            setting: self.vault.profile.setting(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            locked: self.vault.wallet.is_locked(),
            payer: Some(self.vault.wallet.address()),
        }))
    }

    /// The operator's passphrase, for one ask. A wrong one goes into the log.
    fn prove(&self, passphrase: &Passphrase) -> Result<Proven, Trouble> {
        self.vault.wallet.prove(passphrase, Instant::now()).map_err(|fault| self.noted(fault).into())
    }

    fn noted(&self, fault: PassphraseFault) -> PassphraseFault {
        if matches!(fault, PassphraseFault::Wrong { .. }) {
            self.vault.ledger.note(Event::new(EventKind::PassphraseWrong, "on the operator socket"));
        }
        fault
    }

    /// `seen` are the rules that the person was shown. The key is held only under rules that were agreed to.
    fn unlock(&self, passphrase: &Passphrase, seen: Option<Digest>) -> Result<OperatorReply, Trouble> {
        let opened = self.opened(passphrase)?;
        let rules = self.vault.rules();
        if !self.vault.are_accepted(&rules) && seen != Some(rules.digest) {
            let told = "the rules changed since you last agreed to them; look through them and unlock again";
            return Err(trouble("rules_changed", told));
        }
        self.vault.accept_rules(&rules)?;
        let payer = self.vault.wallet.hold(opened);
        self.vault.ledger.note(Event::new(EventKind::Unlocked, "by the operator"));
        self.vault.sign_off(When::Due);
        Ok(OperatorReply::Unlocked { payer })
    }

    fn open_session(
        &self,
        _by: Proven,
        name: SessionName,
        budget: Money,
        minutes: u32,
        mandate: Option<Mandate>,
    ) -> Result<OperatorReply, Trouble> {
        if minutes == 0 || SESSION_MAX_MINUTES < minutes {
            return Err(trouble("session_minutes", "a session lasts 1 to 527040 minutes; choose a time in between"));
        }
        let rules = self.vault.rules();
        if !rules.rules.assets().any(|asset| asset.currency == budget.currency()) {
            let currency = budget.currency();
            let message =
                format!("no asset of the rules is in `{currency}`; open the session in a currency that can be paid");
            return Err(Trouble { code: "session_currency", message });
        }
        match &mandate {
            Some(mandate) => mandate
                .fits(&rules.rules, budget)
                .map_err(|fault| Trouble { code: "mandate_contradicts", message: fault.to_string() })?,
            None if rules.rules.mandate() == MandateNeed::Required => {
                let told = "the rules want a mandate of every session; give `--purpose`, `--origin`, `--payee` or \
                            `--any-payee`, and `--max-per-payment`";
                return Err(trouble("mandate_missing", told));
            }
            None => {}
        }
        let mut id = [0_u8; 16];
        getrandom::fill(&mut id)
            .map_err(|_fault| trouble("no_randomness", "the system gives no random bytes; try again later"))?;
        let life_s = u64::from(minutes).saturating_mul(60);
        match self.vault.ledger.open_session(SessionId::from_random(id), name.clone(), budget, life_s, mandate)? {
            SessionOpened::Opened(session) => Ok(OperatorReply::Session(session)),
            SessionOpened::AlreadyOpen(_) => {
                let message = format!("a session `{name}` is open already; close it first or choose another name");
                Err(Trouble { code: "session_exists", message })
            }
            SessionOpened::Pointless => Err(trouble("session_pointless", "a session needs a budget above zero")),
        }
    }

    fn close_session(&self, name: SessionName) -> Result<OperatorReply, Trouble> {
        match self.vault.ledger.close_session(name.clone())? {
            Some(session) => Ok(OperatorReply::Session(session)),
            None => Err(Trouble {
                code: "session_unknown",
                message: format!("no session `{name}` is open; `bursar session list` shows them"),
            }),
        }
    }

    fn thaw(&self, _by: Proven) -> Result<OperatorReply, Trouble> {
        self.vault.ledger.thaw()?;
        Ok(OperatorReply::Done)
    }

    fn unlatch(&self, _by: Proven) -> Result<OperatorReply, Trouble> {
        self.vault.ledger.unlatch()?;
        Ok(OperatorReply::Done)
    }

    fn resume(&self, _by: Proven, whom: &str) -> Result<OperatorReply, Trouble> {
        let lifted = self.vault.ledger.resume(whom, &self.vault.rules().rules)?;
        Ok(OperatorReply::Resumed(Box::new(the_one(whom, lifted)?)))
    }

    fn resumable(&self, whom: &str) -> Result<OperatorReply, Trouble> {
        let found = self.vault.ledger.resumable(whom, &self.vault.rules().rules)?;
        Ok(OperatorReply::Resumable(Box::new(the_one(whom, found)?)))
    }

    fn on_disk(&self) -> Result<RulesFile, Trouble> {
        rules_file::load(&self.vault.profile.rules(), self.vault.profile.setting())
            .map_err(|fault| Trouble { code: "rules_refused", message: fault.to_string() })
    }

    fn rules(&self, which: WhichRules) -> Result<OperatorReply, Trouble> {
        let (text, digest) = match which {
            WhichRules::InForce => {
                let rules = self.vault.rules();
                (rules.text.clone(), rules.digest)
            }
            WhichRules::OnDisk => {
                let rules = self.on_disk()?;
                (rules.text, rules.digest)
            }
        };
        Ok(OperatorReply::Rules { text, digest })
    }

    fn reload(&self, agreed: Digest, _by: Proven) -> Result<OperatorReply, Trouble> {
        let loaded = self.on_disk()?;
        let rules_digest = loaded.digest;
        if rules_digest != agreed {
            let message = "the rules file changed while you read it; look through it again".to_owned();
            return Err(Trouble { code: "rules_changed", message });
        }
        if loaded.rules.ledger() != self.vault.rules().rules.ledger() {
            let message = "the rules name another ledger than the one that this vault has open; `bursar vault --stop`, and start it again";
            return Err(trouble("ledger_changed", message));
        }
        self.vault.accept_rules(&loaded)?;
        self.vault.put_in_force(loaded);
        self.vault.ledger.note(Event::new(EventKind::RulesLoaded, format!("digest {rules_digest}, by the operator")));
        Ok(OperatorReply::Reloaded { rules_digest })
    }

    fn lock(&self) -> OperatorReply {
        if !self.vault.wallet.is_locked() {
            self.vault.sign_off(When::Now);
            self.vault.wallet.lock();
            self.vault.ledger.note(Event::new(EventKind::Locked, "by the operator"));
        }
        OperatorReply::Done
    }

    fn checkpoint(&self) -> Result<OperatorReply, Trouble> {
        match self.vault.checkpoint(When::Now)? {
            None => {
                Err(trouble("wallet_locked", "the audit key is there only while the wallet is: run `bursar unlock`"))
            }
            Some(Checkpointed::Shut) => {
                let told = "spending is shut after a fault, and nobody vouches for the log before you looked; see `bursar \
                            status`";
                Err(trouble("ledger_latched", told))
            }
            Some(Checkpointed::Made(signed) | Checkpointed::Already(signed)) => {
                Ok(OperatorReply::Checkpoint { line: signed.line() })
            }
            Some(Checkpointed::NotDue) => Err(trouble("out_of_order", "no checkpoint is due; ask again")),
        }
    }

    fn freeze(&self, reason: &str) -> Result<OperatorReply, Trouble> {
        self.vault.ledger.freeze(reason)?;
        Ok(OperatorReply::Done)
    }

    fn status(&self) -> Result<OperatorReply, Trouble> {
        let rules = self.vault.rules();
        let overview = self.vault.ledger.overview(None, &rules.rules)?;
        let sessions = self.vault.ledger.sessions()?;
        let mut sweeps = self.vault.ledger.sweeps()?;
        sweeps.retain(|sweep| sweep.ended_s.is_none());
        let locked = self.vault.wallet.is_locked();
        let is_open = |session: &&SessionView| !session.closed && overview.now_s < session.expires_s;
        let on_disk = guarded::read(&self.vault.profile.rules(), guarded::FILE_MAX_BYTES);
        Ok(OperatorReply::Status(Box::new(OperatorStatus {
            next_step: next_step(&Needs {
                sweep: sweeps.iter().any(|sweep| sweep.account == self.vault.wallet.address()),
                latched: overview.latched.is_some(),
                frozen: overview.frozen.is_some(),
                locked,
                session: sessions.iter().find(is_open).or_else(|| sessions.first()),
                mandated: rules.rules.mandate() == MandateNeed::Required,
                now_s: overview.now_s,
                approvals_waiting: overview.approvals_waiting,
            }),
            payer: Some(self.vault.wallet.address()),
            locked,
            frozen: overview.frozen,
            latched: overview.latched,
            sessions: fitting(sessions.into_iter()).collect(),
            limits: overview.limits,
            held: overview.held,
            unresolved: overview.unresolved,
            unresolved_count: overview.unresolved_count,
            lost: overview.lost,
            quarantined: overview.quarantined,
            sweeps,
            former: self.former()?,
            denied: overview.denied,
            chains: self.vault.watch.view(&self.vault, &rules.rules)?,
            shares: rules.rules.shares().map(|center| self.vault.shares(center)),
            approvals_waiting: overview.approvals_waiting,
            secrets_missing: self.secrets_missing(),
            rules_digest: rules.digest,
            rules_changed: !on_disk.is_ok_and(|bytes| Digest::of(&bytes) == rules.digest),
            now_s: overview.now_s,
        })))
    }

    /// The accounts that paid before the one that pays.
    fn former(&self) -> Result<Vec<Address>, Trouble> {
        let mut accounts = self.vault.ledger.accounts()?;
        accounts.pop();
        Ok(accounts)
    }

    fn reconcile(&self) -> Result<OperatorReply, Trouble> {
        Ok(OperatorReply::Reconciled(Box::new(self.vault.watch.reconcile(&self.vault)?)))
    }

    fn approvals(&self) -> Result<OperatorReply, Trouble> {
        let approvals = fitting(self.vault.ledger.approvals()?.into_iter()).collect();
        Ok(OperatorReply::Approvals { approvals, now_s: self.vault.ledger.time().now_s })
    }

    fn approve(&self, _by: Proven, id: ApprovalId, binding: Digest) -> Result<OperatorReply, Trouble> {
        let life_s = self.vault.rules().rules.approval_life_s();
        decided(self.vault.ledger.approve(id, binding, life_s)?)
    }

    fn deny(&self, id: ApprovalId) -> Result<OperatorReply, Trouble> {
        let life_s = self.vault.rules().rules.approval_life_s();
        decided(self.vault.ledger.deny(id, life_s)?)
    }

    /// One page: as many entries as fit into a reply, from the end that was asked for.
    fn log(&self, limit: u32, after: Option<u64>) -> Result<OperatorReply, Trouble> {
        let found = self.vault.ledger.log(limit, after)?;
        Ok(OperatorReply::Log(match after {
            Some(_) => fitting(found.into_iter()).collect(),
            None => newest(found),
        }))
    }

    /// One page: as many payments as fit into a reply.
    fn payments(&self, limit: u32, after: Option<&PaymentId>) -> Result<OperatorReply, Trouble> {
        let found = self.vault.ledger.payments(limit, after)?;
        Ok(OperatorReply::Payments(fitting(found.into_iter()).collect()))
    }

    /// The same backwards.
    fn newest_payments(&self, limit: u32, before: Option<&PaymentId>) -> Result<OperatorReply, Trouble> {
        let found = self.vault.ledger.newest_payments(limit, before)?;
        Ok(OperatorReply::Payments(fitting(found.into_iter()).collect()))
    }

    fn payment(&self, id: &PaymentId) -> Result<OperatorReply, Trouble> {
        let mut detail = self.vault.ledger.payment(id)?;
        detail.events = newest(detail.events);
        Ok(OperatorReply::Payment(Box::new(detail)))
    }

    fn measures(&self, after: u64) -> OperatorReply {
        let (last, passages) = self.vault.passages.after(after);
        OperatorReply::Measures(Box::new(Measures {
            since_us: self.vault.passages.since_us(),
            refused: self.vault.ledger.refusals(),
            last,
            passages: fitting(passages.into_iter()).collect(),
        }))
    }

    fn do_it(&mut self, ask: OperatorAsk) -> Result<OperatorReply, Trouble> {
        match ask {
            OperatorAsk::Hello { protocol } => self.hello(protocol),
            _ if !self.greeted => Err(trouble("out_of_order", "say hello first")),
            OperatorAsk::Unlock { passphrase, rules } => self.unlock(&passphrase, rules),
            OperatorAsk::Lock => Ok(self.lock()),
            OperatorAsk::SessionNew { name, budget, minutes, mandate, passphrase } => {
                self.open_session(self.prove(&passphrase)?, name, budget, minutes, mandate)
            }
            OperatorAsk::SessionList => {
                Ok(OperatorReply::Sessions(fitting(self.vault.ledger.sessions()?.into_iter()).collect()))
            }
            OperatorAsk::SessionClose { name } => self.close_session(name),
            OperatorAsk::Freeze { reason } => self.freeze(&reason),
            OperatorAsk::Thaw { passphrase } => self.thaw(self.prove(&passphrase)?),
            OperatorAsk::Status => self.status(),
            OperatorAsk::Log { limit, after } => self.log(limit, after),
            OperatorAsk::Next { after } => self.next(after),
            OperatorAsk::Payment { id } => self.payment(&id),
            OperatorAsk::Payments { limit, after } => self.payments(limit, after.as_ref()),
            OperatorAsk::NewestPayments { limit, before } => self.newest_payments(limit, before.as_ref()),
            OperatorAsk::Against { session, errand, asked } => {
                let rules = self.vault.rules();
                Ok(OperatorReply::Against(self.vault.ledger.against(session, *errand, asked, &rules.rules)?))
            }
            OperatorAsk::Unlatch { passphrase } => self.unlatch(self.prove(&passphrase)?),
            OperatorAsk::Resumable { whom } => self.resumable(&whom),
            OperatorAsk::Resume { whom, passphrase } => self.resume(self.prove(&passphrase)?, &whom),
            OperatorAsk::Rules { which } => self.rules(which),
            OperatorAsk::ReloadRules { rules, passphrase } => self.reload(rules, self.prove(&passphrase)?),
            OperatorAsk::Checkpoint => self.checkpoint(),
            OperatorAsk::Approvals => self.approvals(),
            OperatorAsk::Approve { id, binding, passphrase } => self.approve(self.prove(&passphrase)?, id, binding),
            OperatorAsk::Deny { id } => self.deny(id),
            OperatorAsk::SecretSet { name, value, passphrase } => self.set_secret(name, value, &passphrase),
            OperatorAsk::SecretList => self.list_secrets(),
            OperatorAsk::SecretRemove { name, passphrase } => self.remove_secret(&name, &passphrase),
            OperatorAsk::MetricsToken { shown } => self.metrics_token(&shown),
            OperatorAsk::Measures { after } => Ok(self.measures(after)),
            OperatorAsk::Reconcile => self.reconcile(),
            OperatorAsk::SweepPlan { account, asset } => self.plan_sweep(account, asset),
            OperatorAsk::Sweep { account, to, asset, amount, minutes, passphrase } => {
                self.sweep(Wish { account, to, asset, amount, minutes }, &passphrase)
            }
            OperatorAsk::SweepAgain { id, passphrase } => self.sweep_again(&id, &passphrase),
            OperatorAsk::Sweeps => Ok(OperatorReply::Sweeps(self.vault.ledger.sweeps()?)),
            OperatorAsk::Rotate { passphrase } => self.rotate(&passphrase),
            OperatorAsk::Shutdown => {
                self.vault.end(Ended::Asked);
                Ok(OperatorReply::Done)
            }
        }
    }
}

impl Conversation for OperatorConversation {
    type Ask = OperatorAsk;
    type Reply = OperatorReply;

    fn answer(&mut self, ask: OperatorAsk) -> (OperatorReply, Then) {
        if !is_looking_on(&ask) {
            self.vault.touch();
        }
        let answered = self.do_it(ask);
        let then = if self.greeted { Then::GoOn } else { Then::Close };
        match answered {
            Ok(reply) => (reply, then),
            Err(Trouble { code, message }) => (Self::fault(code, message), then),
        }
    }

    fn fault(code: &str, message: String) -> OperatorReply {
        OperatorReply::Fault { code: code.to_owned(), message }
    }
}

/// Whether this is asked by whoever only looks on, again and again: nobody works with a vault of which no more is asked. A
/// hello by itself is no work either; what follows it is.
const fn is_looking_on(ask: &OperatorAsk) -> bool {
    matches!(
        ask,
        OperatorAsk::Hello { .. }
            | OperatorAsk::Next { .. }
            | OperatorAsk::MetricsToken { .. }
            | OperatorAsk::Measures { .. }
    )
}

/// The one whom a person meant by `whom`.
fn the_one<T>(whom: &str, meant: Meant<T>) -> Result<T, Trouble> {
    match meant {
        Meant::One(found) => Ok(found),
        Meant::Nobody => {
            let whom = Quoted::of(whom);
            let message = format!("no host and no payee is known as `{whom}`; name one as `bursar status` lists it");
            Err(Trouble { code: "resume_unknown", message })
        }
        Meant::Several(known) => {
            let message = format!("several are meant: name one of `{}`", known.join("`, `"));
            Err(Trouble { code: "resume_several", message })
        }
    }
}

fn decided(decided: Decided) -> Result<OperatorReply, Trouble> {
    let (code, told) = match decided {
        Decided::Done(view) => return Ok(OperatorReply::Decided(view)),
        Decided::Shut => {
            return Err(trouble("ledger_latched", "spending is shut after a fault; look at `bursar status` first"));
        }
        Decided::Unknown => ("approval_unknown", "no purchase was ever put before a person under this id"),
        Decided::Expired => ("approval_expired", "its time is over; the agent may ask again"),
        Decided::Differs => ("approval_changed", "the purchase under this id is not the one that was shown"),
        Decided::Before(ApprovalState::Denied) => ("approval_decided", "a person said no to it already"),
        Decided::Before(ApprovalState::Used) => ("approval_decided", "a person said yes to it and it was bought"),
        Decided::Before(_) => ("approval_decided", "a person said yes to it already"),
    };
    Err(trouble(code, &format!("{told}; `bursar approvals` lists those that wait")))
}

/// The newest entries that fit into a reply, oldest first.
fn newest(entries: Vec<LogEntry>) -> Vec<LogEntry> {
    let mut kept: Vec<LogEntry> = fitting(entries.into_iter().rev()).collect();
    kept.reverse();
    kept
}

/// The first entries that together leave room in a reply; an entry that cannot be written down counts as endless.
fn fitting<T: Serialize>(entries: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    entries.scan(0_usize, |used, entry| {
        let bytes = serde_json::to_string(&entry).map_or(usize::MAX, |text| text.len());
        *used = used.saturating_add(bytes);
        (*used <= PAGE_MAX_BYTES).then_some(entry)
    })
}
