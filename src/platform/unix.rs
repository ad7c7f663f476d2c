//! Linux and other Unix systems.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Entry, NoFolder, Without};

/// One end of a connection to a vault.
pub(crate) type Stream = UnixStream;

/// A socket that this user's programs read from.
pub(crate) type SocketDoor = UnixListener;

/// A second handle on a TCP connection.
pub(crate) type Socket = OwnedFd;

/// Connects to a vault's socket.
pub(crate) async fn connect(path: &Path) -> io::Result<Stream> {
    UnixStream::connect(path).await
}

/// The user of the process at the other end.
pub(crate) fn peer_uid(stream: &Stream) -> io::Result<u32> {
    Ok(stream.peer_cred()?.uid())
}

/// A listener of [`bursar_vault::socket::bind`], for use in an async runtime.
pub(crate) fn door(listener: bursar_vault::platform::Listener) -> io::Result<SocketDoor> {
    listener.set_nonblocking(true)?;
    UnixListener::from_std(listener)
}

/// The next connection at such a door.
pub(crate) async fn enter(door: &SocketDoor) -> io::Result<Stream> {
    Ok(door.accept().await?.0)
}

/// A second handle on `stream`.
pub(crate) fn second_handle(stream: &tokio::net::TcpStream) -> io::Result<Socket> {
    stream.as_fd().try_clone_to_owned()
}

/// Whether `socket` is open and has nothing to read.
pub(crate) fn nothing_came(socket: &Socket) -> bool {
    use rustix::net::{RecvFlags, recv};
    recv(socket, &mut [0_u8; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT) == Err(Errno::AGAIN)
}

/// What asks a process to end: SIGTERM, SIGINT, and SIGHUP unless it goes on without its terminal.
#[derive(Debug)]
pub(crate) struct Stop {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Option<Signal>,
}

impl Stop {
    /// Listens from now on; in an async runtime.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self { hang_up: Some(signal(SignalKind::hangup())?), ..Self::listen_past_hang_up()? })
    }

    /// [`Stop::listen`] for a process that leaves SIGHUP to the system.
    pub(crate) fn listen_past_hang_up() -> io::Result<Self> {
        let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(Self { terminate, interrupt, hang_up: None })
    }

    /// Ends when the process is asked to stop.
    pub(crate) async fn asked(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            () = hung_up(self.hang_up.as_mut()) => {}
        }
    }
}

async fn hung_up(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// What tells of another size of the terminal.
#[derive(Debug)]
pub(crate) struct Resized(Signal);

impl Resized {
    /// Listens from now on; in an async runtime.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self(signal(SignalKind::window_change())?))
    }

    /// Ends when the size changed.
    pub(crate) async fn happened(&mut self) {
        self.0.recv().await;
    }
}

/// The controlling terminal.
#[derive(Debug)]
pub(crate) struct Terminal(File);

/// How a terminal was set before.
#[derive(Debug)]
pub(crate) struct Before(Termios);

/// What brings a terminal back that stays as it is.
pub(crate) const MENDS_A_TERMINAL: &str = "`stty sane` brings it back";

impl Terminal {
    /// Opens it, where there is one.
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self(File::options().read(true).write(true).open("/dev/tty")?))
    }

    /// A second handle on it.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// How it is set now.
    pub(crate) fn settings(&self) -> io::Result<Before> {
        Ok(Before(tcgetattr(&self.0)?))
    }

    /// Sets it as it was `before`, without some of it; what was typed and not read is dropped.
    pub(crate) fn set_without(&self, before: &Before, without: Without) -> io::Result<()> {
        let mut quiet = before.0.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ISIG);
        if without == Without::EchoLinesAndSignals {
            quiet.local_modes.remove(LocalModes::ICANON);
        }
        Ok(tcsetattr(&self.0, OptionalActions::Flush, &quiet)?)
    }

    /// Sets it as it was.
    pub(crate) fn set_back(&self, before: &Before) -> io::Result<()> {
        Ok(tcsetattr(&self.0, OptionalActions::Flush, &before.0)?)
    }

    /// Rows and columns, where it tells.
    pub(crate) fn size(&self) -> Option<(u16, u16)> {
        size_of(&self.0)
    }
}

impl Read for Terminal {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
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

/// Rows and columns of the terminal that standard output is.
pub(crate) fn output_size() -> Option<(u16, u16)> {
    size_of(io::stdout())
}

/// Standard output takes control sequences as it is.
pub(crate) const fn ready_output() {}

fn size_of(terminal: impl AsFd) -> Option<(u16, u16)> {
    let size = tcgetwinsize(terminal).ok()?;
    Some((size.ws_row, size.ws_col))
}

/// A folder as it was opened and checked; replacing its path later changes nothing.
#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

impl Folder {
    /// Opens the folder `path`, made (mode 0700) when it is missing, if it is its owner's alone.
    pub(crate) fn open(path: &Path) -> Result<Self, NoFolder> {
        let system = |errno: Errno| NoFolder::System(errno.into());
        match rustix::fs::mkdir(path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(system(errno)),
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let folder = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::LOOP | Errno::NOTDIR) => return Err(NoFolder::NotPrivate),
            Err(errno) => return Err(system(errno)),
        };
        let facts = rustix::fs::fstat(&folder).map_err(system)?;
        let mine = facts.st_uid == rustix::process::geteuid().as_raw();
        let closed = !Mode::from_raw_mode(facts.st_mode).intersects(Mode::RWXG | Mode::RWXO);
        if mine && closed { Ok(Self(folder)) } else { Err(NoFolder::NotPrivate) }
    }

    /// Makes a new file and opens it for writing.
    pub(crate) fn make(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    /// Opens a file for reading; no link is followed, and nothing is waited for.
    pub(crate) fn read(&self, name: &str) -> io::Result<File> {
        self.open_file(name, OFlags::RDONLY)
    }

    /// Opens a file for writing, likewise.
    pub(crate) fn write(&self, name: &str) -> io::Result<File> {
        self.open_file(name, OFlags::WRONLY)
    }

    fn open_file(&self, name: &str, access: OFlags) -> io::Result<File> {
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.0, name, flags, Mode::empty())?))
    }

    /// Gives a file another name in one step; what had that name gives way.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// Takes a file out.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// What lies under a name.
    pub(crate) fn look(&self, name: &str) -> io::Result<Entry> {
        let facts = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Entry {
            is_file: FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile,
            bytes: u64::try_from(facts.st_size).unwrap_or_default(),
            written_s: u64::try_from(facts.st_mtime).unwrap_or_default(),
        })
    }

    /// Every name that is text.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            names.extend(entry?.file_name().to_str().ok().map(str::to_owned));
        }
        Ok(names)
    }

    /// How much room is left on its disk, bytes.
    pub(crate) fn free_bytes(&self) -> io::Result<u64> {
        let disk = rustix::fs::fstatvfs(&self.0)?;
        Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
}

/// Whether an open file still has a name.
pub(crate) fn has_a_name(file: &File) -> bool {
    rustix::fs::fstat(file).is_ok_and(|facts| facts.st_nlink > 0)
}

/// The start of a command whose child has its pipe at the descriptors 3 and 4, as a browser wants it. We can give it 0 and 1: a
/// shell moves them. What follows is `"$@"`, so no word is read twice.
pub(crate) fn with_moved_pipe(program: &Path) -> io::Result<tokio::process::Command> {
    const MOVE_THE_PIPE: &str = r#"exec 3<&0 4>&1 </dev/null >&2; exec "$@""#;
    let mut command = tokio::process::Command::new("/bin/sh");
    command.args(["-c", MOVE_THE_PIPE, "sh"]).arg(program);
    Ok(command)
}
