//! Linux and other Unix systems.

use super::{Facts, Kind, Unopened};
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, XattrFlags, renameat_with};
use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process};
use rustix::time::{ClockId, clock_gettime};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read};
pub use std::os::fd::AsFd as AsEnd;
use std::os::unix::fs::{DirBuilderExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One end of a connection to a vault.
pub type Stream = UnixStream;

/// A socket that listens.
pub type Listener = UnixListener;

/// The longest socket path the kernel takes, bytes without the closing zero.
pub(crate) const SOCKET_PATH_MAX_BYTES: usize = 107;

/// The mode of a file that is its owner's alone.
pub(crate) const PRIVATE_FILE: u32 = 0o600;

/// Where root names the one vault of the machine.
pub(crate) const MACHINE_VAULT: Option<&str> = Some("/etc/bursar/vault.toml");

/// The folder of the default profile below [`crate::profile::account_home`].
pub(crate) const PROFILE_FOLDER: &str = ".bursar";

/// The clock that nobody can set and that goes on while the machine sleeps.
#[cfg(target_os = "linux")]
const BOOT_CLOCK: ClockId = ClockId::Boottime;

/// The clock that nobody can set and that goes on while the machine sleeps.
#[cfg(not(target_os = "linux"))]
const BOOT_CLOCK: ClockId = ClockId::Monotonic;

/// Milliseconds by the clock that nobody can set, sleep included.
pub(crate) fn boot_ms() -> u64 {
    let read = clock_gettime(BOOT_CLOCK);
    let seconds = u64::try_from(read.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(read.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1000).saturating_add(nanos.div_euclid(1_000_000))
}

/// The name of this boot; empty where the system does not tell it as a file.
pub(crate) fn boot_id() -> String {
    let read = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    read.map(|text| text.trim().to_owned()).unwrap_or_default()
}

/// Our user id.
pub(crate) fn our_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The user id on whose behalf the process runs.
pub(crate) fn real_uid() -> u32 {
    rustix::process::getuid().as_raw()
}

/// A user, in words for people.
pub(crate) fn user(uid: u32) -> String {
    format!("user id {uid}")
}

/// Mode bits, in words for people.
pub(crate) fn rights(mode: u32) -> String {
    format!("mode {mode:04o}")
}

/// What closes `path` to others, so that it has the mode `want`.
pub(crate) fn closing(_path: &Path, want: u32) -> String {
    format!("run `chmod {want:04o}` on it")
}

/// What keeps others from writing to `path`.
pub(crate) fn narrowing(_path: &Path) -> String {
    "run `chmod go-w` on it".to_owned()
}

/// The user of the process at the other end of a socket, as the kernel recorded it when the connection was made.
#[cfg(target_os = "linux")]
pub(crate) fn peer_uid(stream: impl AsEnd) -> io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

/// The user of the process at the other end of a socket, as the kernel recorded it when the connection was made.
#[cfg(not(target_os = "linux"))]
pub(crate) fn peer_uid(stream: impl AsEnd) -> io::Result<u32> {
    let (uid, _group) = nix::unistd::getpeereid(stream)?;
    Ok(uid.as_raw())
}

/// Turns off core dumps and closes this process's memory to other processes of the same user.
pub(crate) fn forbid_core_dumps() -> io::Result<()> {
    rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    close_memory()
}

#[cfg(target_os = "linux")]
fn close_memory() -> io::Result<()> {
    let closed = rustix::process::DumpableBehavior::NotDumpable;
    Ok(rustix::process::set_dumpable_behavior(closed)?)
}

/// There is no such way in safe code; core dumps are off all the same.
#[cfg(not(target_os = "linux"))]
fn close_memory() -> io::Result<()> {
    Ok(())
}

/// From now on what this process makes is its owner's alone.
pub(crate) fn make_files_private() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Leaves the session of the terminal.
pub(crate) fn leave_session() {
    // Whoever leads a process group already cannot leave its session, and has no need to.
    if let Err(errno) = rustix::process::setsid() {
        tracing::debug!(%errno, "the process stays in its session");
    }
}

/// Has `command` start a process that outlives this one's terminal; it leaves by itself (`leave_session`).
pub const fn start_apart(_command: &mut Command) {}

/// What a process needs of its environment to run at all.
#[must_use]
pub fn least_environment() -> Vec<(OsString, OsString)> {
    Vec::new()
}

/// Ends this process at once, so that nothing of it runs on.
pub(crate) fn die() -> ! {
    if kill_process(getpid(), Signal::KILL).is_err() {
        std::process::abort();
    }
    // A signal to oneself may arrive a moment later; nothing may happen in that moment.
    loop {
        std::thread::park();
    }
}

/// Hears what asks this process to end.
#[derive(Debug)]
pub(crate) struct Signals(UnixStream);

impl Signals {
    /// Turns SIGTERM, SIGINT and SIGHUP into bytes, from before there is anything to end in order.
    pub(crate) fn listen() -> io::Result<Self> {
        let (told, teller) = UnixStream::pair()?;
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, teller.try_clone()?)?;
        }
        Ok(Self(told))
    }

    /// Waits for the first one; says whether there was one.
    pub(crate) fn wait(mut self) -> bool {
        self.0.read_exact(&mut [0_u8]).is_ok()
    }
}

/// Connects to a socket.
pub(crate) fn connect(path: &Path) -> io::Result<Stream> {
    UnixStream::connect(path)
}

/// Binds a socket and listens.
pub(crate) fn listen(path: &Path) -> io::Result<Listener> {
    UnixListener::bind(path)
}

/// Waits for the next connection.
pub(crate) fn accept(listener: &Listener) -> io::Result<Stream> {
    Ok(listener.accept()?.0)
}

/// Wakes whoever waits in [`accept`] for good; needs no name in the file system.
pub(crate) fn stop_listening(listener: &Listener, _path: &Path) -> io::Result<()> {
    Ok(rustix::net::shutdown(listener, rustix::net::Shutdown::Both)?)
}

/// Whether the other end hung up.
pub(crate) fn is_gone(stream: &Stream) -> bool {
    let flags = rustix::net::RecvFlags::PEEK | rustix::net::RecvFlags::DONTWAIT;
    match rustix::net::recv(stream, &mut [0_u8; 1], flags) {
        Ok((_, count)) => count == 0,
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => false,
        Err(_broken) => true,
    }
}

/// Whether `path` is a socket's name.
pub(crate) fn is_socket(path: &Path) -> io::Result<bool> {
    Ok(fs::symlink_metadata(path)?.file_type().is_socket())
}

/// Lets our own user alone use the socket `path`, or the users `guests` beside it; says which mode that makes.
pub(crate) fn admit_to_socket(path: &Path, guests: Option<&BTreeSet<u32>>) -> io::Result<u32> {
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    let Some(uids) = guests else { return Ok(0o600) };
    rustix::fs::lsetxattr(path, ACCESS_LIST, &access_list(uids), XattrFlags::empty())?;
    Ok(0o660)
}

/// Where the kernel keeps who may do what with a file, beside its mode.
pub(crate) const ACCESS_LIST: &str = "system.posix_acl_access";

/// An access list by which `uids` may connect, our own user too, and nobody else: the form is Linux's
/// `include/uapi/linux/posix_acl_xattr.h`, version 2, little-endian, entries sorted by kind and user.
pub(crate) fn access_list(uids: &BTreeSet<u32>) -> Vec<u8> {
    const VERSION: u32 = 2;
    const NO_ID: u32 = u32::MAX;
    const READ_WRITE: u16 = 6;
    let (owner, user, group, mask, other) = (0x01_u16, 0x02, 0x04, 0x10, 0x20);
    let named = uids.iter().map(|uid| (user, READ_WRITE, *uid));
    let entries = [(owner, READ_WRITE, NO_ID)].into_iter().chain(named).chain([
        (group, 0, NO_ID),
        (mask, READ_WRITE, NO_ID),
        (other, 0, NO_ID),
    ]);
    let mut bytes = VERSION.to_le_bytes().to_vec();
    for (kind, rights, id) in entries {
        bytes.extend(kind.to_le_bytes());
        bytes.extend(rights.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

/// The folders for sockets whose own folder has too long a path, best first.
pub(crate) fn short_folders(name: &str) -> [PathBuf; 2] {
    let uid = our_uid();
    [
        PathBuf::from(format!("/run/user/{uid}")).join(format!("bursar-{name}")),
        PathBuf::from(format!("/tmp/bursar-{uid}-{name}")),
    ]
}

impl From<&Metadata> for Facts {
    fn from(meta: &Metadata) -> Self {
        let kind = match meta.file_type() {
            kind if kind.is_symlink() => Kind::Link,
            kind if kind.is_dir() => Kind::Directory,
            kind if kind.is_file() => Kind::File,
            _ => Kind::Other,
        };
        Self { kind, owner: meta.uid(), mode: meta.mode() & 0o7777, links: meta.nlink(), bytes: meta.len() }
    }
}

/// What an open file is.
///
/// # Errors
///
/// What the system says.
pub fn facts(file: &File) -> io::Result<Facts> {
    Ok(Facts::from(&file.metadata()?))
}

/// What lies under a name; of a link, the link itself.
///
/// # Errors
///
/// What the system says.
pub fn facts_at(path: &Path) -> io::Result<Facts> {
    Ok(Facts::from(&fs::symlink_metadata(path)?))
}

/// Whether `file` is what lies under the name `path` now.
///
/// # Errors
///
/// What the system says.
pub fn is_still_at(file: &File, path: &Path) -> io::Result<bool> {
    let (named, open) = (fs::symlink_metadata(path)?, file.metadata()?);
    Ok((named.dev(), named.ino()) == (open.dev(), open.ino()))
}

/// Opens a file for reading, without following a link and without waiting at a pipe.
pub(crate) fn open_to_read(path: &Path) -> Result<File, Unopened> {
    // NONBLOCK: a pipe under this name must not stop the start; it is refused once it is open.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(descriptor) => Ok(File::from(descriptor)),
        Err(rustix::io::Errno::NOENT) => Err(Unopened::Missing),
        Err(rustix::io::Errno::LOOP) => Err(Unopened::Link),
        Err(rustix::io::Errno::NXIO) => Err(Unopened::Special),
        Err(fault) => Err(Unopened::System(fault.into())),
    }
}

/// How a file is opened that is its owner's alone if it is made.
#[must_use]
pub fn private_file() -> OpenOptions {
    let mut how = OpenOptions::new();
    how.mode(0o600);
    how
}

/// [`private_file`], where no link is followed.
#[must_use]
pub fn private_file_no_link() -> OpenOptions {
    let mut how = private_file();
    how.custom_flags(i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0));
    how
}

/// Gives a file the mode that it should have.
///
/// # Errors
///
/// What the system says.
pub fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

/// Makes a directory for its owner alone.
///
/// # Errors
///
/// What the system says; [`io::ErrorKind::AlreadyExists`] when there is something under this name.
pub fn make_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Makes a directory and what is missing above it, for its owner alone.
///
/// # Errors
///
/// What the system says.
pub fn make_directories(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Gives a file a name that nothing has yet, in one step.
///
/// # Errors
///
/// What the system says; [`io::ErrorKind::AlreadyExists`] when the name is taken.
pub fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

/// Returns when the names in a directory are on the disk.
///
/// # Errors
///
/// What the system says.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path).and_then(|directory| directory.sync_all())
}

/// Returns when a file is on the disk.
pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    File::open(path).and_then(|file| file.sync_all())
}

/// Writes all of `bytes` from the byte `at` on.
pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}

/// Fills `bytes` from the byte `at` on.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(bytes, at)
}
