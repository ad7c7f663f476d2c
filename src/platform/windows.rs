//! Windows. Nobody ran this on a real one: docs/releases.md says what was tried.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::os::windows::io::AsSocket;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use bursar_vault::platform::{self, Kind};
use bursar_vault::socket;
use tokio::net::TcpStream;
use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
};
use winapi_util::HandleRef;
use winapi_util::console;

use super::{Entry, NoFolder, Without};

/// One end of a connection to a vault: a Unix socket, whatever the runtime calls it.
pub(crate) type Stream = TcpStream;

/// There is none.
#[derive(Debug)]
pub(crate) enum SocketDoor {}

/// A second handle on a TCP connection.
pub(crate) type Socket = std::net::TcpStream;

// From consoleapi.h.
const ENABLE_PROCESSED_INPUT: u32 = 0x1;
const ENABLE_LINE_INPUT: u32 = 0x2;
const ENABLE_ECHO_INPUT: u32 = 0x4;
const ENABLE_VIRTUAL_TERMINAL_PROCESSING: u32 = 0x4;
// From winnt.h and winbase.h.
const FILE_SHARE_READ: u32 = 0x1;
const FILE_SHARE_WRITE: u32 = 0x2;
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x20_0000;
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x200_0000;

/// How often a file is tried to be put in the place of one that is open elsewhere, and the pause between two tries.
const RENAME_TRIES: u32 = 100;
const RENAME_PAUSE: Duration = Duration::from_millis(10);

pub(crate) async fn connect(path: &Path) -> io::Result<Stream> {
    let path = path.to_owned();
    let connected = tokio::task::spawn_blocking(move || platform::connect(&path)).await;
    let stream = connected.map_err(io::Error::other)??;
    stream.set_nonblocking(true)?;
    TcpStream::from_std(stream)
}

pub(crate) fn peer_uid(stream: &Stream) -> io::Result<u32> {
    socket::peer_of(stream).map_err(io::Error::other)
}

/// Nothing is read at a socket here.
pub(crate) fn door(_listener: platform::Listener) -> io::Result<SocketDoor> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "on this system metrics are not read at a socket; name an address in `listen` of [metrics]",
    ))
}

pub(crate) async fn enter(door: &SocketDoor) -> io::Result<Stream> {
    match *door {}
}

pub(crate) fn second_handle(stream: &TcpStream) -> io::Result<Socket> {
    let second = Socket::from(stream.as_socket().try_clone_to_owned()?);
    second.set_nonblocking(true)?;
    Ok(second)
}

pub(crate) fn nothing_came(socket: &Socket) -> bool {
    socket.peek(&mut [0_u8; 1]).is_err_and(|fault| fault.kind() == io::ErrorKind::WouldBlock)
}

/// What asks a process to end: Ctrl-C, Ctrl-Break, a window that is closed, a machine that shuts down.
#[derive(Debug)]
pub(crate) struct Stop {
    interrupt: CtrlC,
    breaking: CtrlBreak,
    close: CtrlClose,
    shutdown: CtrlShutdown,
}

impl Stop {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: ctrl_c()?, breaking: ctrl_break()?, close: ctrl_close()?, shutdown: ctrl_shutdown()? })
    }

    /// A window that is closed ends every process in it.
    #[cfg(feature = "demo")]
    pub(crate) fn listen_past_hang_up() -> io::Result<Self> {
        Self::listen()
    }

    pub(crate) async fn asked(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.breaking.recv() => {}
            _ = self.close.recv() => {}
            _ = self.shutdown.recv() => {}
        }
    }
}

/// A console does not tell; the next picture has the new size.
#[derive(Debug)]
pub(crate) struct Resized;

impl Resized {
    #[expect(clippy::unnecessary_wraps, reason = "Unix asks the system")]
    pub(crate) const fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn happened(&mut self) {
        std::future::pending::<()>().await;
    }
}

/// The console: standard input has to be it, since only there are its keys read as text.
#[derive(Debug)]
pub(crate) struct Terminal(File);

/// How a console was set before.
#[derive(Debug)]
pub(crate) struct Before(u32);

/// What brings a console back that stays as it is.
pub(crate) const MENDS_A_TERMINAL: &str = "a new window is as it should be";

impl Terminal {
    pub(crate) fn open() -> io::Result<Self> {
        if !io::stdin().is_terminal() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        Ok(Self(OpenOptions::new().read(true).write(true).open("CONOUT$")?))
    }

    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    pub(crate) fn settings(&self) -> io::Result<Before> {
        Ok(Before(console::mode(HandleRef::stdin())?))
    }

    pub(crate) fn set_without(&self, before: &Before, without: Without) -> io::Result<()> {
        // A console edits lines only where it shows them, so that both go.
        let taken = match without {
            Without::EchoLinesAndSignals | Without::EchoAndSignals => {
                ENABLE_ECHO_INPUT | ENABLE_LINE_INPUT | ENABLE_PROCESSED_INPUT
            }
        };
        console::set_mode(HandleRef::stdin(), before.0 & !taken)
    }

    pub(crate) fn set_back(&self, before: &Before) -> io::Result<()> {
        console::set_mode(HandleRef::stdin(), before.0)
    }

    pub(crate) fn size(&self) -> Option<(u16, u16)> {
        output_size()
    }
}

impl Read for Terminal {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        io::stdin().read(into)
    }
}

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

pub(crate) fn output_size() -> Option<(u16, u16)> {
    let (columns, rows) = terminal_size::terminal_size_of(io::stdout())?;
    Some((rows.0, columns.0))
}

/// Has the console understand control sequences, where standard output is one.
pub(crate) fn ready_output() {
    if let Ok(mode) = console::mode(HandleRef::stdout()) {
        // An old console shows them as they are.
        console::set_mode(HandleRef::stdout(), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING).unwrap_or_default();
    }
}

/// A folder that is held open, so that nobody can rename it or put another one in its place.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _held: File,
}

impl Folder {
    pub(crate) fn open(path: &Path) -> Result<Self, NoFolder> {
        match platform::make_private_directory(path) {
            Ok(()) => {}
            Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => {}
            Err(fault) => return Err(NoFolder::System(fault)),
        }
        let held = OpenOptions::new()
            .read(true)
            .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
            .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT)
            .open(path)
            .map_err(NoFolder::System)?;
        let facts = platform::facts(&held).map_err(NoFolder::System)?;
        let mine = facts.kind == Kind::Directory && facts.owner == bursar_vault::guarded::our_uid();
        if !mine || facts.mode & 0o077 != 0 {
            return Err(NoFolder::NotPrivate);
        }
        Ok(Self { path: path.to_owned(), _held: held })
    }

    pub(crate) fn make(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.path.join(name))
    }

    pub(crate) fn read(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(self.path.join(name))
    }

    pub(crate) fn write(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(self.path.join(name))
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let (from, to) = (self.path.join(from), self.path.join(to));
        // Another process that has the file open which gives way can keep it there for a moment.
        for _try in 0..RENAME_TRIES {
            match fs::rename(&from, &to) {
                Err(fault) if fault.kind() == io::ErrorKind::PermissionDenied => thread::park_timeout(RENAME_PAUSE),
                renamed => return renamed,
            }
        }
        fs::rename(&from, &to)
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    pub(crate) fn look(&self, name: &str) -> io::Result<Entry> {
        let meta = fs::symlink_metadata(self.path.join(name))?;
        let written = meta.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Entry { is_file: meta.is_file(), bytes: meta.file_size(), written_s: written.as_secs() })
    }

    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            names.extend(entry?.file_name().into_string().ok());
        }
        Ok(names)
    }

    pub(crate) fn free_bytes(&self) -> io::Result<u64> {
        fs4::available_space(&self.path)
    }
}

/// A file that is open keeps its name here, or nobody can lock it.
pub(crate) const fn has_a_name(_file: &File) -> bool {
    true
}

/// There is no way to hand a pipe on in safe code.
pub(crate) fn with_moved_pipe(_program: &Path) -> io::Result<tokio::process::Command> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "on this system bursar starts no browser"))
}
