//! What a person forgives: a host's quarantine, and the payments that were lost at a host or to a payee. Must never give
//! counted money back: what is lost stays spent.

use std::collections::BTreeSet;
use std::sync::Arc;

use bursar_policy::chain::{Address, ChainId};
use bursar_policy::limit::Scope;
use bursar_policy::money::Money;
use bursar_policy::quantity::Moment;
use bursar_policy::rules::Rules;
use bursar_policy::site::Origin;

use super::events::{Event, EventKind};
use super::fault::LedgerFault;
use super::overdue::{self, Subject};
use super::rows::{self, Payment};
use super::store::{Store, bound};
use super::writer::{Answer, Tx};
use super::{Ledger, breaker, sweep};
use crate::protocol::{Lost, Resumable, Resumed};

/// The most others that are named as still shut.
const STILL_SHUT_MAX: usize = 20;

/// The most lost payments that are shown one by one.
const NEWEST_MAX: usize = 5;

/// Whom a person means, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant<T> {
    /// One host or payee.
    One(T),
    /// Nobody is called so.
    Nobody,
    /// Several origins are.
    Several(Vec<String>),
}

impl Ledger {
    /// Ends the quarantine of a host and forgets what led to it, and counts the payments that were lost at the host, or to
    /// the payee, no longer under `max_unresolved`. All of it is nothing when nothing stood against them, and on the disk
    /// else. The caller has checked the passphrase.
    ///
    /// `whom` is an origin, the name of a host of which exactly one origin is known, or `chain:address` for a payee.
    ///
    /// # Errors
    ///
    /// A fault of the ledger; then nothing was lifted.
    pub fn resume(&self, whom: &str, rules: &Arc<Rules>) -> Result<Meant<Resumed>, LedgerFault> {
        let (whom, rules) = (whom.to_owned(), Arc::clone(rules));
        self.writer.ask(move |tx| {
            // What ran out until now is lost by now.
            while !tx.latched && sweep::due(tx)? != 0 {}
            Ok(match meant(tx.conn, &whom, &rules)? {
                Meant::One(subject) => lift(tx, &subject, &rules)?,
                Meant::Nobody => Answer::AtOnce(Meant::Nobody),
                Meant::Several(known) => Answer::AtOnce(Meant::Several(known)),
            })
        })
    }

    /// What [`Ledger::resume`] would lift now. Lifts nothing.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn resumable(&self, whom: &str, rules: &Arc<Rules>) -> Result<Meant<Resumable>, LedgerFault> {
        let (whom, rules) = (whom.to_owned(), Arc::clone(rules));
        self.writer.ask(move |tx| {
            while !tx.latched && sweep::due(tx)? != 0 {}
            Ok(Answer::Durable(match meant(tx.conn, &whom, &rules)? {
                Meant::One(subject) => Meant::One(liftable(tx, subject)?),
                Meant::Nobody => Meant::Nobody,
                Meant::Several(known) => Meant::Several(known),
            }))
        })
    }
}

fn meant(conn: &Store, said: &str, rules: &Rules) -> Result<Meant<Subject>, LedgerFault> {
    if let Ok(origin) = said.parse::<Origin>() {
        return Ok(Meant::One(Subject { scope: Scope::Host, of: origin.to_string() }));
    }
    if let Some(payee) = payee(said) {
        return Ok(Meant::One(Subject { scope: Scope::Payee, of: payee }));
    }
    // A port is a part of the name where one was said.
    let Ok(named) = format!("https://{said}").parse::<Origin>() else {
        return Ok(Meant::Nobody);
    };
    let any_port = named.authority() == named.host.to_string();
    let is_meant = |origin: &Origin| origin.host == named.host && (any_port || origin.port == named.port);
    let mut found = origins(conn, rules)?;
    found.retain(is_meant);
    let mut found = found.into_iter().map(|origin| origin.to_string());
    Ok(match (found.next(), found.next()) {
        (None, _) => Meant::Nobody,
        (Some(one), None) => Meant::One(Subject { scope: Scope::Host, of: one }),
        (Some(one), Some(other)) => Meant::Several([one, other].into_iter().chain(found).collect()),
    })
}

/// `chain:address` in its normal form.
fn payee(said: &str) -> Option<String> {
    let (chain, address) = said.rsplit_once(':')?;
    let (chain, address) = (chain.parse::<ChainId>().ok()?, address.parse::<Address>().ok()?);
    Some(format!("{chain}:{address}"))
}

/// Every origin that the rules list or that something stands against.
fn origins(conn: &Store, rules: &Rules) -> Result<BTreeSet<Origin>, LedgerFault> {
    let lost = overdue::list(conn, u32::MAX)?.into_iter().filter(|lost| lost.scope == Scope::Host);
    let recorded = breaker::known(conn)?.into_iter().chain(lost.map(|lost| lost.of));
    let mut known: BTreeSet<Origin> = rules.host_rules().map(|(origin, _)| origin.clone()).collect();
    for origin in recorded {
        known.insert(origin.parse().map_err(|_fault| LedgerFault::Unreadable { what: "breaker" })?);
    }
    Ok(known)
}

fn liftable(tx: &Tx<'_>, subject: Subject) -> Result<Resumable, LedgerFault> {
    let record = match subject.scope {
        Scope::Host => breaker::read(tx.conn, &subject.of)?.unwrap_or_default(),
        _ => breaker::Record::default(),
    };
    let mut lost = Vec::new();
    for payment in self::lost(tx.conn, &subject)? {
        if overdue::counts(tx.conn, &payment.id, subject.scope)? {
            lost.push(payment);
        }
    }
    let mut money: Vec<Money> = Vec::new();
    for payment in &lost {
        match money.iter_mut().find(|sum| sum.currency() == payment.money.currency()) {
            Some(sum) => *sum = sum.checked_add(payment.money).unwrap_or(*sum),
            None => money.push(payment.money),
        }
    }
    Ok(Resumable {
        scope: subject.scope,
        of: subject.of,
        quarantined_until_s: Some(record.until_s).filter(|until_s| tx.now_s < *until_s),
        failures: record.failures,
        strikes: record.strikes,
        lost: u32::try_from(lost.len()).unwrap_or(u32::MAX),
        money,
        newest: lost.iter().rev().take(NEWEST_MAX).map(Payment::outstanding).collect(),
    })
}

fn lift(tx: &Tx<'_>, subject: &Subject, rules: &Rules) -> Result<Answer<Meant<Resumed>>, LedgerFault> {
    let record =
        if subject.scope == Scope::Host { breaker::lift(tx, &subject.of)? } else { breaker::Record::default() };
    let lost = lost(tx.conn, subject)?;
    let mut pardoned: u32 = 0;
    for payment in &lost {
        if overdue::pardon(tx.conn, &payment.id, subject)? {
            pardoned = pardoned.saturating_add(1);
            let told = format!("a person puts up with its loss, which no longer counts against `{}`", subject.of);
            sweep::written(tx, payment, EventKind::Resumed, told)?;
        }
    }
    let resumed = Resumed {
        scope: subject.scope,
        of: subject.of.clone(),
        quarantined_until_s: Some(record.until_s).filter(|until_s| tx.now_s < *until_s),
        failures: record.failures,
        strikes: record.strikes,
        pardoned,
        still_shut: still_shut(tx.conn, &lost, subject, rules)?,
    };
    if record == breaker::Record::default() && pardoned == 0 {
        return Ok(Answer::AtOnce(Meant::One(resumed)));
    }
    let quarantine = match resumed.quarantined_until_s {
        Some(until_s) => format!("its quarantine until {} is over", Moment(until_s)),
        None => "it was in no quarantine".to_owned(),
    };
    let told = format!(
        "`{}`, by the operator: {quarantine}; {} failed deliveries, {} security refusals and {pardoned} lost payments \
         no longer count against it",
        subject.of, record.failures, record.strikes
    );
    tx.event(&Event::new(EventKind::Resumed, told))?;
    Ok(Answer::Durable(Meant::One(resumed)))
}

/// The lost payments of `subject`, those included that a person put up with.
fn lost(conn: &Store, subject: &Subject) -> Result<Vec<Payment>, LedgerFault> {
    let mut found = Vec::new();
    let keep = |payment: Payment| {
        if overdue::is(&payment) {
            found.push(payment);
        }
        Ok(())
    };
    match subject.of.rsplit_once(':') {
        Some(payee) if subject.scope == Scope::Payee => {
            rows::each_of(conn, rows::RAN_OUT_FOR_PAYEE, bound![payee.0, payee.1], keep)?;
        }
        _ => rows::each_of(conn, rows::RAN_OUT_AT_HOST, bound![subject.of.as_str()], keep)?,
    }
    Ok(found)
}

/// Who else has as many lost payments as may be, of those whom the payments in `lost` are counted against.
fn still_shut(conn: &Store, lost: &[Payment], lifted: &Subject, rules: &Rules) -> Result<Vec<Lost>, LedgerFault> {
    let mut looked_at = BTreeSet::new();
    let mut found = Vec::new();
    for payment in lost {
        let max = rules.host_rule(&payment.site).map_or(1, |rule| rule.max_unresolved());
        for subject in overdue::subjects(&payment.facts()) {
            if subject == *lifted || !looked_at.insert(subject.clone()) || STILL_SHUT_MAX <= found.len() {
                continue;
            }
            let count = overdue::count(conn, &subject)?;
            if max <= count {
                found.push(Lost { scope: subject.scope, of: subject.of, count });
            }
        }
    }
    Ok(found)
}
