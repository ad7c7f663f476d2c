//! A notification on the desktop for a purchase that waits. The one place that knows how each system shows one.
//!
//! It is the operator's own process that shows it; the vault starts no program. The text is ours but for the amount and
//! the host, of which only the letters of a host name are kept. It must never carry a login, nor anything that answers for
//! the person.

use std::process::{Command, Stdio};
use std::thread;

use bursar_vault::protocol::ApprovalView;

use crate::cli::exit::Stop;

/// The longest host that is shown whole; of a longer one the end is, which is what it belongs to.
const HOST_CHARS: usize = 60;

/// The program that shows notifications here.
#[cfg(not(target_os = "macos"))]
const PROGRAM: &str = "notify-send";
#[cfg(target_os = "macos")]
const PROGRAM: &str = "osascript";

/// Shows notifications.
#[derive(Debug)]
pub(super) struct Notifier(());

/// What a notification says.
#[derive(Debug, PartialEq, Eq)]
struct Words {
    title: String,
    body: String,
}

/// Looks for the program that shows them.
///
/// # Errors
///
/// A [`Stop`] with exit code 4 where there is none.
pub(super) fn find() -> Result<Notifier, Stop> {
    match quiet(Command::new(PROGRAM).args(check())).status() {
        Ok(_ran) => Ok(Notifier(())),
        Err(fault) => Err(Stop::not_ready(format!(
            "`{PROGRAM}` cannot be started, so no notification can be shown: {fault}; install it, or leave `--notify` away"
        ))),
    }
}

impl Notifier {
    /// Shows that a purchase waits, and waits for nobody.
    pub(super) fn show(&self, view: &ApprovalView) {
        let words = words(view);
        let show = move || match quiet(Command::new(PROGRAM).args(arguments(&words))).status() {
            Ok(ended) if ended.success() => {}
            Ok(ended) => tracing::warn!(%ended, "a notification was not shown"),
            Err(fault) => tracing::warn!(%fault, "a notification was not shown"),
        };
        if let Err(fault) = thread::Builder::new().name("notify".to_owned()).spawn(show) {
            tracing::warn!(%fault, "a notification was not shown");
        }
    }
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

fn words(view: &ApprovalView) -> Words {
    let host = plain(&view.site.host().to_string());
    Words {
        title: "bursar: a purchase waits for you".to_owned(),
        body: format!("{} to '{host}', as serve reports it. Approval {}; see bursar approvals.", view.money, view.id),
    }
}

/// A host as letters, digits and the marks of a host name, its end where it is long: no markup, and no second line.
fn plain(host: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-:[]".contains(letter);
    let letters: Vec<char> = host.chars().map(|letter| if is_plain(letter) { letter } else { '?' }).collect();
    match letters.len().checked_sub(HOST_CHARS) {
        None | Some(0) => letters.into_iter().collect(),
        Some(over) => std::iter::once('…').chain(letters.into_iter().skip(over)).collect(),
    }
}

/// What asks the program for nothing, to see whether it is there.
#[cfg(not(target_os = "macos"))]
fn check() -> Vec<String> {
    vec!["--version".to_owned()]
}

#[cfg(target_os = "macos")]
fn check() -> Vec<String> {
    vec!["-e".to_owned(), "return".to_owned()]
}

/// The words as arguments, never as part of a script.
#[cfg(not(target_os = "macos"))]
fn arguments(words: &Words) -> Vec<String> {
    let options = ["--app-name=bursar", "--urgency=critical", "--"].map(str::to_owned);
    options.into_iter().chain([words.title.clone(), words.body.clone()]).collect()
}

#[cfg(target_os = "macos")]
fn arguments(words: &Words) -> Vec<String> {
    let script = ["on run words", "display notification (item 2 of words) with title (item 1 of words)", "end run"];
    let script = script.into_iter().flat_map(|line| ["-e".to_owned(), line.to_owned()]);
    script.chain([words.title.clone(), words.body.clone()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_host_only_the_letters_of_a_name_are_shown_and_its_end_where_it_is_long() {
        assert_eq!(plain("shop.example"), "shop.example");
        assert_eq!(plain("[2001:db8::1]"), "[2001:db8::1]");
        assert_eq!(plain("a<b>&\"\n\u{202e}é"), "a?b??????");
        let long = format!("{}.evil.example", "your-bank.example.".repeat(9));
        let shown = plain(&long);
        assert!(shown.starts_with('…') && shown.ends_with(".evil.example") && shown.chars().count() == 61, "{shown}");
    }
}
