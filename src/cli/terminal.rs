//! The person at the terminal: secrets typed without echo, confirmations, and where text goes.
//!
//! A secret comes from the controlling terminal (`/dev/tty`, on Windows the console) and from nowhere else: not from an argument,
//! not from the environment, not from a pipe. One exception, for scripts and tests: in a sandbox, where
//! only play money exists, a line of standard input serves when standard input is not a terminal.

use std::io::{BufRead, BufReader, IsTerminal, Read, Write};

use bursar_policy::rules::Setting;
use bursar_vault::secrets;
use zeroize::Zeroizing;

use super::exit::Stop;
use crate::platform::{MENDS_A_TERMINAL, Terminal, Without};

/// Longest line a person may type, in bytes.
const LINE_BYTES: usize = 4096;
/// The same, as streams count.
const LINE_BYTES_U64: u64 = 4096;

/// Asks for a secret without showing what is typed.
///
/// # Errors
///
/// [`Stop`] with exit code 4 where there is no terminal to type it at.
pub(super) fn secret(prompt: &str, setting: Setting) -> Result<Zeroizing<String>, Stop> {
    secrets::forbid_core_dumps().map_err(|fault| Stop::not_ready(fault.to_string()))?;
    if setting == Setting::Sandbox && !std::io::stdin().is_terminal() {
        return line_of(&mut std::io::stdin().lock());
    }
    let mut tty = terminal()?;
    let before = tty.settings()?;
    // Without signals and line editing of the terminal's own, so that no key can end this process while the terminal is
    // mute, and before the prompt, so that nothing typed early is shown.
    tty.set_without(&before, Without::EchoLinesAndSignals)?;
    let typed = write!(tty, "{prompt}: ").and_then(|()| tty.flush()).map_err(Stop::from).and_then(|()| keys(&mut tty));
    tty.set_back(&before)?;
    writeln!(tty)?;
    typed
}

/// Reads keys up to the end of the line: with the backspace key, and with Ctrl-C or Ctrl-D to give up.
fn keys(tty: &mut impl Read) -> Result<Zeroizing<String>, Stop> {
    let mut line = Zeroizing::new(Vec::with_capacity(LINE_BYTES));
    let mut key = Zeroizing::new([0_u8]);
    loop {
        if tty.read(key.as_mut())? == 0 {
            return Err(Stop::usage("the terminal went away, nothing was done"));
        }
        let [byte] = *key;
        match byte {
            b'\n' | b'\r' => break,
            0x03 | 0x04 => return Err(Stop::usage("given up, nothing was done")),
            0x08 | 0x7f => while line.pop().is_some_and(|byte| (0x80..0xc0).contains(&byte)) {},
            _ if line.len() == LINE_BYTES => {
                return Err(Stop::usage(format!("the line typed is longer than {LINE_BYTES} bytes")));
            }
            _ => line.push(byte),
        }
    }
    text_of(&line)
}

/// Why there is no new passphrase.
#[derive(Debug)]
pub(super) enum Mistyped {
    /// What was typed cannot be one; it may be typed again.
    Again(Stop),
    /// The person left, or there is none.
    Left(Stop),
}

impl From<Mistyped> for Stop {
    fn from(mistyped: Mistyped) -> Self {
        match mistyped {
            Mistyped::Again(stop) | Mistyped::Left(stop) => stop,
        }
    }
}

/// Asks for a new passphrase twice and compares.
///
/// # Errors
///
/// [`Mistyped`] where there is no terminal, where the two differ, or where it is shorter than 8 characters.
pub(super) fn new_passphrase(what_for: &str, setting: Setting) -> Result<Zeroizing<String>, Mistyped> {
    let first = secret(&format!("{what_for} (8 characters or more)"), setting).map_err(Mistyped::Left)?;
    if first.chars().count() < 8 {
        let told = "the passphrase is shorter than 8 characters; choose a longer one";
        return Err(Mistyped::Again(Stop::usage(told)));
    }
    if setting == Setting::Sandbox && !std::io::stdin().is_terminal() {
        return Ok(first);
    }
    let second = secret("The same again", setting).map_err(Mistyped::Left)?;
    if *first != *second {
        return Err(Mistyped::Again(Stop::usage("the two passphrases differ; type both again")));
    }
    Ok(first)
}

/// Does `work` while no key of the terminal can end this process half-way; what is typed meanwhile is dropped.
pub(super) fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    let tty = terminal().ok().and_then(|tty| Some((tty.settings().ok()?, tty)));
    let Some((before, tty)) = tty else { return work() };
    let is_calm = tty.set_without(&before, Without::EchoAndSignals).is_ok();
    let done = work();
    if is_calm && let Err(fault) = tty.set_back(&before) {
        tracing::warn!(%fault, "the terminal stays quiet; {MENDS_A_TERMINAL}");
    }
    done
}

/// Asks the person to type `expected` back, so that it is read before it is agreed to.
///
/// # Errors
///
/// [`Stop`] with exit code 4 without a terminal, and 3 when something else was typed.
pub(super) fn typed_back(prompt: &str, expected: &str, setting: Setting) -> Result<(), Stop> {
    typed_back_as(prompt, |typed| typed == expected, setting)
}

/// [`typed_back`] for what can be typed in more than one way.
///
/// # Errors
///
/// As [`typed_back`].
pub(super) fn typed_back_as(prompt: &str, agrees: impl Fn(&str) -> bool, setting: Setting) -> Result<(), Stop> {
    if setting == Setting::Sandbox && !std::io::stdin().is_terminal() {
        return Ok(());
    }
    let mut tty = terminal()?;
    write!(tty, "{prompt} ")?;
    tty.flush()?;
    let typed = line_of(&mut BufReader::new(&mut tty))?;
    if agrees(typed.trim()) {
        return Ok(());
    }
    Err(Stop::refused("something else was typed, so nothing was done"))
}

/// What Enter alone means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
}

/// Asks a question that is answered with yes or no; anything else asks again.
///
/// # Errors
///
/// [`Stop`] with exit code 4 without a terminal.
pub(super) fn yes(question: &str, enter: Answer) -> Result<bool, Stop> {
    let choices = if enter == Answer::Yes { "[Y/n]" } else { "[y/N]" };
    loop {
        match line(&format!("{question} {choices}"))?.trim().to_ascii_lowercase().as_str() {
            "" => return Ok(enter == Answer::Yes),
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => {}
        }
    }
}

/// Asks for a line, which may be empty.
///
/// # Errors
///
/// [`Stop`] with exit code 4 without a terminal, and 2 where the person hangs up (Ctrl-D).
pub(super) fn line(prompt: &str) -> Result<String, Stop> {
    let mut tty = terminal()?;
    write!(tty, "{prompt} ")?;
    tty.flush()?;
    let mut typed = Vec::new();
    let length = BufReader::new(&mut tty).take(LINE_BYTES_U64).read_until(b'\n', &mut typed)?;
    if length == 0 {
        writeln!(tty)?;
        return Err(Stop::usage("given up, nothing more was done"));
    }
    if !typed.ends_with(b"\n") {
        return Err(Stop::usage(format!("the line typed is longer than {LINE_BYTES} bytes")));
    }
    let text = String::from_utf8(typed).map_err(|_fault| Stop::usage("what was typed is not UTF-8 text"))?;
    Ok(text.trim().to_owned())
}

/// The controlling terminal.
///
/// # Errors
///
/// A [`Stop`] with exit code 4 where there is none.
pub(super) fn terminal() -> Result<Terminal, Stop> {
    Terminal::open().map_err(|_| {
        Stop::not_ready("this needs a person at a terminal, and there is none; run it in a terminal window")
    })
}

fn line_of(from: &mut impl BufRead) -> Result<Zeroizing<String>, Stop> {
    let mut line = Zeroizing::new(Vec::with_capacity(LINE_BYTES));
    loop {
        let (found, used) = {
            let bytes = from.fill_buf()?;
            match bytes.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    line.extend_from_slice(bytes.get(..end).unwrap_or_default());
                    (true, end.saturating_add(1))
                }
                None if bytes.is_empty() => (true, 0),
                None => {
                    line.extend_from_slice(bytes);
                    (false, bytes.len())
                }
            }
        };
        from.consume(used);
        if line.len() > LINE_BYTES {
            return Err(Stop::usage(format!("the line typed is longer than {LINE_BYTES} bytes")));
        }
        if found {
            break;
        }
    }
    while line.last() == Some(&b'\r') {
        line.pop();
    }
    text_of(&line)
}

fn text_of(line: &[u8]) -> Result<Zeroizing<String>, Stop> {
    if line.is_empty() {
        return Err(Stop::usage("nothing was typed; run the command again"));
    }
    match std::str::from_utf8(line) {
        Ok(text) => Ok(Zeroizing::new(text.to_owned())),
        Err(_) => Err(Stop::usage("what was typed is not UTF-8 text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_read_and_the_next_is_left_for_the_next_question() {
        let mut input = std::io::Cursor::new(b"first secret\r\nsecond\n".to_vec());
        assert_eq!(*line_of(&mut input).unwrap(), "first secret");
        assert_eq!(*line_of(&mut input).unwrap(), "second");
        assert_eq!(line_of(&mut input).unwrap_err().exit, super::super::exit::Exit::Usage);
    }

    #[test]
    fn keys_end_at_enter_and_can_be_taken_back_or_given_up() {
        let typed =
            |keys_typed: &[u8]| keys(&mut std::io::Cursor::new(keys_typed.to_vec())).map(|text| text.to_string());
        assert_eq!(typed(b"sec\x7f\x7fcret\rmore").unwrap(), "scret");
        assert_eq!(typed("é\u{7f}ab\n".as_bytes()).unwrap(), "ab", "a letter of two bytes goes as one");
        assert!(typed(b"abc\x03").is_err());
        assert!(typed(b"\r").is_err());
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut input = std::io::Cursor::new(vec![b'a'; LINE_BYTES * 3]);
        assert!(line_of(&mut input).is_err());
    }
}
