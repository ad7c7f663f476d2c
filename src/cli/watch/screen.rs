//! A terminal's screen for as long as it is watched: drawn in place, given back as it was. It must never write anywhere but
//! to standard output, nor leave the terminal changed.

use std::io::{Read, Write};
use std::sync::mpsc::Sender;
use std::thread;

use tokio::runtime::{Builder, Runtime};

use crate::cli::exit::Stop;
use crate::cli::feed::Heard;
use crate::cli::status::Part;
use crate::cli::{table, terminal};
use crate::platform::{Before, MENDS_A_TERMINAL, Resized, Stop as Asked, Terminal, Without};

/// Another page of the terminal, without a cursor, on which long lines are cut (DEC private modes 1049, 25 and 7).
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l";
const LEAVE: &str = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l";

/// What a size is taken for where the terminal does not tell.
const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

/// The screen. Dropping it brings back what was there.
#[derive(Debug)]
pub(super) struct Screen {
    tty: Terminal,
    before: Before,
}

impl Screen {
    /// Takes the terminal. Keys and signals that mean to leave, and a new size, are told to `to` from now on.
    ///
    /// # Errors
    ///
    /// A [`Stop`] where there is no terminal, or it cannot be set.
    pub(super) fn enter(to: &Sender<Heard>) -> Result<Self, Stop> {
        let tty = terminal::terminal()?;
        let before = tty.settings()?;
        listen_for_signals(to.clone())?;
        let (mut keys, to) = (tty.try_clone()?, to.clone());
        // From here on the drop brings the terminal back, whatever fails.
        let screen = Self { tty, before };
        screen.tty.set_without(&screen.before, Without::EchoLinesAndSignals)?;
        write(ENTER)?;
        let listen = move || {
            let mut key = [0_u8];
            while matches!(keys.read(&mut key), Ok(1)) {
                if leaves(key) {
                    break;
                }
            }
            // Whoever watched has left already, if nobody hears it.
            drop(to.send(Heard::Leave));
        };
        thread::Builder::new().name("keys".to_owned()).spawn(listen)?;
        Ok(screen)
    }

    /// Draws what fits, from the top.
    ///
    /// # Errors
    ///
    /// A [`Stop`] when standard output is closed.
    pub(super) fn draw(&mut self, parts: &[Part]) -> Result<(), Stop> {
        let size = self.tty.size().filter(|(rows, columns)| *rows != 0 && *columns != 0);
        let (rows, columns) = size.unwrap_or((ROWS, COLUMNS));
        write(&frame(parts, usize::from(rows), usize::from(columns), table::colours()))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing back.
        drop(write(LEAVE));
        if let Err(fault) = self.tty.set_back(&self.before) {
            tracing::warn!(%fault, "the terminal stays as it is; {MENDS_A_TERMINAL}");
        }
    }
}

/// Whether a key means to leave: q, Ctrl-C or Ctrl-D.
const fn leaves(key: [u8; 1]) -> bool {
    matches!(key, [b'q' | b'Q' | 0x03 | 0x04])
}

/// Writes control sequences, and text that was made visible.
fn write(text: &str) -> Result<(), Stop> {
    let mut out = table::plain_output();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// One picture as a terminal takes it: over what is there, line by line, so that nothing flickers.
fn frame(parts: &[Part], rows: usize, columns: usize, colours: table::Colours) -> String {
    let body = rows.saturating_sub(1);
    let lines = parts.iter().flat_map(lines).take(body);
    let mut frame = String::from("\u{1b}[H");
    for (mark, text) in lines {
        let mut left = columns;
        if let Some((mark, paint)) = mark {
            frame.push_str(&table::painted(&cut(&mark, &mut left), paint, colours));
        }
        frame.push_str(&cut(&text, &mut left));
        frame.push_str("\u{1b}[K\r\n");
    }
    frame.push_str("\u{1b}[J");
    frame.push_str(&format!("\u{1b}[{rows};1H"));
    frame.push_str(&cut("q leaves; `bursar status` and `bursar log` show all of it", &mut columns.clone()));
    frame.push_str("\u{1b}[K");
    frame
}

type Line = (Option<(String, table::Paint)>, String);

/// A part as lines, with everything in them visible.
fn lines(part: &Part) -> Vec<Line> {
    match part {
        Part::Marked(mark, paint, says) => {
            let says = table::visible(says).replace('\n', " ");
            vec![(Some((mark.clone(), *paint)), format!("  {says}"))]
        }
        Part::Plain(text) => table::visible(text).split('\n').map(|line| (None, line.replace('\t', " "))).collect(),
    }
}

/// As much of a line as is `left` of the width.
fn cut(text: &str, left: &mut usize) -> String {
    let kept: String = text.chars().take(*left).collect();
    *left = left.saturating_sub(kept.chars().count());
    kept
}

/// Tells of signals that end a process, and of a new size.
fn listen_for_signals(to: Sender<Heard>) -> Result<(), Stop> {
    let runtime: Runtime = Builder::new_current_thread().enable_all().build()?;
    let inside = runtime.enter();
    let (mut ended, mut resized) = (Asked::listen()?, Resized::listen()?);
    drop(inside);
    let listen = move || {
        runtime.block_on(async {
            loop {
                let heard = tokio::select! {
                    () = ended.asked() => Heard::Leave,
                    () = resized.happened() => Heard::Resized,
                };
                if to.send(heard).is_err() {
                    return;
                }
            }
        });
    };
    thread::Builder::new().name("signals".to_owned()).spawn(listen)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::{Colours, Paint};

    #[test]
    fn a_picture_fits_its_screen_and_no_word_of_a_stranger_steers_it() {
        let hostile = format!("a\u{1b}[2J\u{202e}{}", "x".repeat(300));
        let parts = [Part::marked("FROZEN", Paint::Bad, &hostile), Part::Plain(format!("{hostile}\nsecond\nthird"))];
        let plain = frame(&parts, 4, 40, Colours::None);
        let mut rows = plain.split("\r\n");
        let first = rows.next().unwrap().strip_prefix("\u{1b}[H").unwrap().strip_suffix("\u{1b}[K").unwrap();
        assert!(first.starts_with("FROZEN      a\\u{1B}[2J") && first.chars().count() == 40, "{first}");
        assert_eq!(rows.clone().count(), 3, "three lines above the last one: {plain:?}");
        assert!(rows.last().unwrap().contains("q leaves") && !plain.contains("third"), "{plain:?}");
        assert!(frame(&parts, 4, 40, Colours::Ansi).contains("\u{1b}[31mFROZEN    \u{1b}[0m"));
    }

    #[test]
    fn q_and_the_keys_that_end_programs_leave() {
        assert!([b'q', b'Q', 3, 4].into_iter().all(|key| leaves([key])));
        assert!(![b'x', b'\n', 27].into_iter().any(|key| leaves([key])));
    }
}
