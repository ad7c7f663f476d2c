//! The demo's operator: opens budgets, reads the log, and stops the vault, over the operator socket.
//!
//! It must never tell the passphrase to anybody but the vault.

use std::collections::BTreeSet;

use bursar_policy::errand::{PaymentId, SessionName};
use bursar_policy::money::Money;
use bursar_policy::refusal::Refusal;
use bursar_vault::client::{ClientFault, OperatorClient};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{LogEntry, OperatorAsk, OperatorReply, Passphrase, SessionView};
use zeroize::Zeroizing;

/// How long a demo budget lasts, in minutes.
const SESSION_MINUTES: u32 = 60;
/// Entries asked for at once.
const PAGE: u32 = 500;

/// Why the vault could not be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OperatorFault {
    /// No connection, or the vault said no.
    #[error("the demo's operator was not served: {0}")]
    Client(#[from] ClientFault),
    /// The reply was of another kind than the ask wants.
    #[error("the vault answered `{asked}` out of turn")]
    OutOfTurn {
        /// What was asked.
        asked: &'static str,
    },
    /// The asking thread died.
    #[error("the demo's operator was interrupted")]
    Interrupted,
    /// A word of the script is not a name or an amount.
    #[error("`{word}` is not a session name or an amount")]
    Word {
        /// The word.
        word: String,
    },
}

/// A person at a terminal, as a value.
#[derive(Clone)]
pub(crate) struct Operator {
    profile: Profile,
    passphrase: Zeroizing<String>,
}

/// What the ledger wrote down in a stretch of the log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Booked {
    /// Place of the last entry read.
    pub(crate) last: u64,
    /// Payments counted against the budgets.
    pub(crate) counted: BTreeSet<String>,
    /// Payments whose signature was stored.
    pub(crate) signed: BTreeSet<String>,
    /// Payments the ledger takes for settled.
    pub(crate) settled: BTreeSet<String>,
    /// Why calls were refused, as codes.
    pub(crate) reasons: BTreeSet<String>,
}

impl std::fmt::Debug for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operator").field("profile", &self.profile).finish_non_exhaustive()
    }
}

impl Operator {
    /// The operator of `profile`, who knows `passphrase`.
    pub(crate) const fn new(profile: Profile, passphrase: Zeroizing<String>) -> Self {
        Self { profile, passphrase }
    }

    /// Checks that a vault answers.
    pub(crate) async fn greet(&self) -> Result<(), OperatorFault> {
        self.with(|_| Ok(())).await
    }

    /// Unlocks the key.
    pub(crate) async fn unlock(&self) -> Result<(), OperatorFault> {
        let ask = OperatorAsk::Unlock { passphrase: self.passphrase(), rules: None };
        match self.ask(ask).await? {
            OperatorReply::Unlocked { .. } => Ok(()),
            _ => Err(OperatorFault::OutOfTurn { asked: "unlock" }),
        }
    }

    /// Opens a budget of `budget` (as in `1.00 USD`).
    pub(crate) async fn open_session(&self, name: &str, budget: &str) -> Result<(), OperatorFault> {
        let ask = OperatorAsk::SessionNew {
            name: session_name(name)?,
            budget: budget.parse::<Money>().map_err(|_| word(budget))?,
            minutes: SESSION_MINUTES,
            mandate: None,
            passphrase: self.passphrase(),
        };
        match self.ask(ask).await? {
            OperatorReply::Session(_) => Ok(()),
            _ => Err(OperatorFault::OutOfTurn { asked: "session new" }),
        }
    }

    /// How a budget stands.
    pub(crate) async fn session(&self, name: &str) -> Result<Option<SessionView>, OperatorFault> {
        let wanted = session_name(name)?;
        match self.ask(OperatorAsk::SessionList).await? {
            OperatorReply::Sessions(sessions) => Ok(sessions.into_iter().find(|session| session.name == wanted)),
            _ => Err(OperatorFault::OutOfTurn { asked: "session list" }),
        }
    }

    /// Everything the ledger logged after entry `after`.
    pub(crate) async fn booked(&self, after: u64) -> Result<Booked, OperatorFault> {
        self.with(move |client| {
            let mut booked = Booked { last: after, ..Booked::default() };
            loop {
                let ask = OperatorAsk::Log { limit: PAGE, after: Some(booked.last) };
                let OperatorReply::Log(entries) = client.ask(&ask)? else {
                    return Err(OperatorFault::OutOfTurn { asked: "log" });
                };
                if entries.is_empty() {
                    return Ok(booked);
                }
                entries.iter().for_each(|entry| booked.note(entry));
            }
        })
        .await
    }

    /// Tells the vault to end, whoever started it. Blocks for a moment; says nothing when there is none.
    pub(crate) fn shut_down(&self) {
        let asked = OperatorClient::connect(&self.profile).and_then(|(client, _)| client.ask(&OperatorAsk::Shutdown));
        if let Err(fault) = asked {
            tracing::debug!(%fault, "there was no vault to stop");
        }
    }

    /// Whether a vault takes connections. Blocks for a moment.
    pub(crate) fn is_served(&self) -> bool {
        OperatorClient::connect(&self.profile).is_ok()
    }

    fn passphrase(&self) -> Passphrase {
        Passphrase::new(self.passphrase.clone())
    }

    async fn ask(&self, ask: OperatorAsk) -> Result<OperatorReply, OperatorFault> {
        self.with(move |client| Ok(client.ask(&ask)?)).await
    }

    /// Runs `talk` on a fresh connection, off the async threads: the client blocks.
    async fn with<T: Send + 'static>(
        &self,
        talk: impl FnOnce(&OperatorClient) -> Result<T, OperatorFault> + Send + 'static,
    ) -> Result<T, OperatorFault> {
        let profile = self.profile.clone();
        let talked = tokio::task::spawn_blocking(move || {
            let (client, _) = OperatorClient::connect(&profile)?;
            talk(&client)
        });
        talked.await.map_err(|_| OperatorFault::Interrupted)?
    }
}

impl Booked {
    fn note(&mut self, entry: &LogEntry) {
        self.last = self.last.max(entry.seq);
        let payment = entry.payment.as_ref().map(PaymentId::to_string);
        match (entry.kind.as_str(), payment) {
            ("exposed", Some(payment)) => {
                self.counted.insert(payment);
            }
            ("signed", Some(payment)) => {
                self.signed.insert(payment);
            }
            ("settled", Some(payment)) => {
                self.settled.insert(payment);
            }
            ("refused", _) => self.reasons.extend(codes(&entry.detail)),
            _ => {}
        }
    }
}

/// The refusal codes in the text of a log entry: `GET https://…; code: sentence; code: sentence`.
fn codes(detail: &str) -> impl Iterator<Item = String> {
    let words = detail.split("; ").filter_map(|part| part.split(':').next());
    words.filter(|word| Refusal::CODES.contains(word)).map(str::to_owned)
}

fn session_name(name: &str) -> Result<SessionName, OperatorFault> {
    name.parse().map_err(|_| word(name))
}

fn word(word: &str) -> OperatorFault {
    OperatorFault::Word { word: word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::codes;

    #[test]
    fn codes_are_told_from_sentences() {
        let detail = "GET https://a.test; payee_not_allowed: pays `0x1`; not: a code; over_payment_cap: costs too much";
        assert_eq!(codes(detail).collect::<Vec<_>>(), ["payee_not_allowed", "over_payment_cap"]);
    }
}
