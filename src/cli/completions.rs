//! `bursar completions`: what makes a shell complete commands and options, from the description of the command line.

use clap::Args;
use clap_complete::{Shell, generate};

use super::exit::{Exit, Stop};
use super::table;

/// Print what makes a shell complete bursar's commands and options.
///
/// For example `bursar completions bash > ~/.local/share/bash-completion/completions/bursar`, or in zsh a file `_bursar` in a
/// folder of `$fpath`.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self) -> Result<Exit, Stop> {
        // In memory first: the generator ends the program where a pipe was closed.
        let mut text = Vec::new();
        generate(self.shell, &mut super::command(), "bursar", &mut text);
        table::plain_output().write_all(&text)?;
        Ok(Exit::Done)
    }
}
