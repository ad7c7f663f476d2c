//! How a command ends: the documented exit codes, and one sentence for the person.
//!
//! A refusal is an answer, so it has a code of its own; nothing here decides anything.

use std::process::ExitCode;

/// What a command came to. The numbers are stable: scripts may branch on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The command did what it says (0).
    Done,
    /// Something went wrong that is none of the below (1).
    Failed,
    /// The command line, a file or an argument is wrong; nothing was done (2).
    Usage,
    /// bursar looked and said no (3).
    Refused,
    /// A part that has to be there first is not: no vault, locked, no session, not initialised (4).
    NotReady,
}

impl Exit {
    /// The process exit status.
    #[must_use]
    pub const fn status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::NotReady => 4,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.status())
    }
}

/// Why a command stopped: the exit code and the sentence shown on standard error.
#[derive(Debug, thiserror::Error)]
#[error("{sentence}")]
pub struct Stop {
    /// The exit code.
    pub exit: Exit,
    /// One sentence that says what is wrong and what to do next.
    pub sentence: String,
}

impl Stop {
    /// A stop with `exit` and `sentence`.
    #[must_use]
    pub fn new(exit: Exit, sentence: impl Into<String>) -> Self {
        Self { exit, sentence: sentence.into() }
    }

    /// A part that has to be there first is not.
    #[must_use]
    pub fn not_ready(sentence: impl Into<String>) -> Self {
        Self::new(Exit::NotReady, sentence)
    }

    /// The command line, a file or an argument is wrong.
    #[must_use]
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self::new(Exit::Usage, sentence)
    }

    /// bursar said no.
    #[must_use]
    pub fn refused(sentence: impl Into<String>) -> Self {
        Self::new(Exit::Refused, sentence)
    }
}

impl From<std::io::Error> for Stop {
    fn from(fault: std::io::Error) -> Self {
        Self::new(Exit::Failed, fault.to_string())
    }
}
