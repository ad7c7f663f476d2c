//! The one line to the vault that all readers of metrics share, so that however many there are, an operator's seats are free. It
//! must never ask for anything but to be told.

use std::sync::{Mutex, PoisonError};

use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply};

use super::super::connect::{Operator, Said};
use super::super::exit::Stop;

/// The line, which is made when something is asked, and anew when it broke.
#[derive(Debug)]
pub(super) struct Line {
    profile: Profile,
    operator: Mutex<Option<Operator>>,
}

impl Line {
    pub(super) fn new(profile: &Profile) -> Self {
        Self { profile: profile.clone(), operator: Mutex::new(None) }
    }

    /// Asks, after everybody who asked before; on a new line where the old one is broken.
    ///
    /// # Errors
    ///
    /// A [`Stop`] where no vault answers.
    pub(super) fn ask(&self, ask: &OperatorAsk) -> Result<Result<OperatorReply, Said>, Stop> {
        let mut operator = self.operator.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = operator.take()
            && let Ok(answer) = line.ask_or_code(ask)
        {
            *operator = Some(line);
            return Ok(answer);
        }
        let line = Operator::connect(&self.profile)?;
        let answer = line.ask_or_code(ask)?;
        *operator = Some(line);
        Ok(answer)
    }
}
