//! What a server or the way to it says no with. Must never hold a value of a statement, nor a password.

use std::error::Error as _;

use thiserror::Error;
use tokio_postgres::error::SqlState;

/// The five letters by which PostgreSQL names what is wrong (appendix A of its manual).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State(String);

impl State {
    /// The letters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The class, its first two letters.
    #[must_use]
    pub fn class(&self) -> &str {
        self.0.get(..2).unwrap_or_default()
    }
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// There is no line any more, or there never was one. What became of the last statement is not known.
    #[error("{detail}")]
    Lost {
        /// What was noticed.
        detail: String,
    },
    /// The server answered no, and the line is as it was.
    #[error("{detail}")]
    Said {
        /// Which no.
        state: State,
        /// Its words.
        detail: String,
    },
    /// A value that is no text and no whole number, or a statement that wants other values.
    #[error("{detail}")]
    Kind {
        /// What it was.
        detail: String,
    },
    /// A certificate authority that cannot be used.
    #[error("the certificate authority for the ledger's server is not a PEM certificate; write it again as PEM")]
    Authority,
    /// A socket of the server, on a system that reaches it by name alone.
    #[error(
        "on this system a database is reached by a name or an address, not by a socket's folder; name it in `[ledger]`"
    )]
    NoSocket,
}

impl Fault {
    /// Of a line on which nothing more comes in the time that there is.
    pub(crate) fn silent() -> Self {
        Self::Lost { detail: "the server did not answer in time".to_owned() }
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(fault: tokio_postgres::Error) -> Self {
        match fault.as_db_error() {
            Some(said) if !ends(said.code()) => {
                Self::Said { state: State(said.code().code().to_owned()), detail: said.message().to_owned() }
            }
            Some(said) => Self::Lost { detail: said.message().to_owned() },
            // A line that is closed has no cause to name, and one that breaks has the system's.
            None if fault.source().is_none_or(<dyn core::error::Error>::is::<std::io::Error>) => {
                Self::Lost { detail: chain(&fault) }
            }
            None => Self::Kind { detail: chain(&fault) },
        }
    }
}

/// Whether the server hangs up with these words.
fn ends(state: &SqlState) -> bool {
    [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW].contains(state)
        || state.code().starts_with("08")
        // Somebody changed the tables under a statement that is prepared, or another server answers: a new line knows both.
        || [SqlState::FEATURE_NOT_SUPPORTED, SqlState::INVALID_SQL_STATEMENT_NAME].contains(state)
        || *state == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
}

/// A fault and what led to it, in one line.
fn chain(fault: &dyn core::error::Error) -> String {
    let mut told = fault.to_string();
    let mut cause = fault.source();
    while let Some(deeper) = cause {
        told.push_str(": ");
        told.push_str(&deeper.to_string());
        cause = deeper.source();
    }
    told
}
