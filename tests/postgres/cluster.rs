//! A real PostgreSQL server for tests, which ends with the process that started it. Must never be used by anything else.
//!
//! The script beside it finds a server or brings one (tests/postgres/serve). Several test binaries take this file in.

use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

/// A server of its own, in a folder of its own.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// Where its socket is.
    pub(crate) folder: PathBuf,
    /// On loopback, and a part of the socket's name.
    pub(crate) port: u16,
    talk: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
    script: Child,
}

impl Cluster {
    /// Starts one with these lines more in its settings.
    pub(crate) fn start(settings: &[&str]) -> Self {
        let serve = Path::new(env!("CARGO_MANIFEST_DIR"));
        let serve =
            serve.ancestors().map(|folder| folder.join("tests/postgres/serve")).find(|path| path.exists()).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut script = Command::new(serve)
            .arg(port.to_string())
            .args(settings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(script.stdout.take().unwrap());
        let folder = answer(&mut told);
        let folder = folder.strip_prefix("ready ").unwrap_or_else(|| panic!("PostgreSQL did not start: {folder}"));
        let talk = Mutex::new((script.stdin.take().unwrap(), told));
        Self { folder: folder.into(), port, talk, script }
    }

    /// Ends it as a power cut does.
    pub(crate) fn crash(&self) {
        self.order("crash");
    }

    /// Starts it again.
    pub(crate) fn start_again(&self) {
        self.order("start");
    }

    fn order(&self, word: &str) {
        let mut talk = self.talk.lock().unwrap();
        let (orders, told) = &mut *talk;
        writeln!(orders, "{word}").unwrap();
        assert_eq!(answer(told), "ok", "PostgreSQL did not do `{word}`");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // One that a test binary shares is never dropped: the end of its standard input ends it, as here.
        drop(std::mem::replace(&mut self.script, Command::new("true").spawn().unwrap()).stdin.take());
    }
}

fn answer(told: &mut impl BufRead) -> String {
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}
