//! Windows. Nobody ran this on a real one: docs/releases.md says what was tried.
//!
//! A user here is one of two: [`OURS`] is you, the system and its administrators, whom no access list keeps out; [`OTHERS`]
//! is anybody else. Mode bits say the same of an access list: `7` for what others may do, or `5` where they may only look.
//! A vault is reached by a Unix socket, which Windows has since 2018 (build 17063), in a directory that is its owner's alone;
//! the system does not tell safe code whose process is at the other end.

use super::access::{self, OTHERS, OURS, Of};
use super::{Facts, Kind, Unopened};
use signal_hook::consts::{SIGINT, SIGTERM};
use socket2::{Domain, SockAddr, Socket, Type};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::net::TcpStream;
use std::os::windows::fs::{FileExt, MetadataExt, OpenOptionsExt};
pub use std::os::windows::io::AsSocket as AsEnd;
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};
use windows_permissions::constants::{SeObjectType, SecurityInformation};
use windows_permissions::wrappers::{
    ConvertSecurityDescriptorToStringSecurityDescriptor, ConvertStringSecurityDescriptorToSecurityDescriptor,
    GetSecurityInfo, SetNamedSecurityInfo,
};
use windows_permissions::{LocalBox, SecurityDescriptor, utilities};

/// One end of a connection to a vault: a Unix socket, whatever the standard library calls it.
pub type Stream = TcpStream;

/// A socket that listens.
pub type Listener = Socket;

/// The longest socket path the system takes, bytes without the closing zero.
pub(crate) const SOCKET_PATH_MAX_BYTES: usize = 107;

/// The mode of a file that is its owner's alone.
pub(crate) const PRIVATE_FILE: u32 = 0o700;

/// There is no vault of the machine here.
pub(crate) const MACHINE_VAULT: Option<&str> = None;

/// The folder of the default profile below [`crate::profile::account_home`].
pub(crate) const PROFILE_FOLDER: &str = r"AppData\Local\bursar";

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 128;

/// How often somebody looks whether the process was asked to end.
const LOOK: Duration = Duration::from_millis(100);

// From winnt.h, fileapi.h and winbase.h.
const READ_CONTROL: u32 = 0x2_0000;
const FILE_READ_ATTRIBUTES: u32 = 0x80;
const FILE_ATTRIBUTE_REPARSE_POINT: u32 = 0x400;
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x20_0000;
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x200_0000;
const DETACHED_PROCESS: u32 = 0x8;
const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Milliseconds since this process asked first; no name of a boot makes them comparable to those of another process.
pub(crate) fn boot_ms() -> u64 {
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Not known.
pub(crate) const fn boot_id() -> String {
    String::new()
}

pub(crate) const fn our_uid() -> u32 {
    OURS
}

pub(crate) const fn real_uid() -> u32 {
    OURS
}

pub(crate) fn user(uid: u32) -> String {
    if uid == OURS { "you or an administrator" } else { "another user" }.to_owned()
}

pub(crate) fn rights(mode: u32) -> String {
    if mode & 0o022 == 0 { "they may read it" } else { "they may change it" }.to_owned()
}

pub(crate) fn closing(path: &Path, _want: u32) -> String {
    format!(
        "run `icacls \"{0}\" /inheritance:r /grant:r \"%USERNAME%:(OI)(CI)F\"` for a folder, or the same without `(OI)(CI)` for a file",
        path.display()
    )
}

pub(crate) fn narrowing(path: &Path) -> String {
    format!("look at `icacls \"{}\"` and take their rights away", path.display())
}

/// Not told to safe code: that whoever came could reach the directory of the socket is all that is known.
#[expect(clippy::unnecessary_wraps, reason = "Unix asks the kernel")]
pub(crate) fn peer_uid(_stream: impl AsEnd) -> io::Result<u32> {
    Ok(OURS)
}

/// There is no such way in safe code.
#[expect(clippy::unnecessary_wraps, reason = "Unix asks the kernel")]
pub(crate) const fn forbid_core_dumps() -> io::Result<()> {
    Ok(())
}

/// Files take their access list from their directory.
pub(crate) const fn make_files_private() {}

/// [`start_apart`] does that.
pub(crate) const fn leave_session() {}

/// Has `command` start a process that has no console and hears no Ctrl-C of ours.
pub fn start_apart(command: &mut Command) {
    command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
}

/// Without it no socket and no random byte is to be had.
#[must_use]
pub fn least_environment() -> Vec<(OsString, OsString)> {
    let kept = ["SystemRoot", "USERPROFILE"].map(OsString::from);
    kept.into_iter().filter_map(|name| Some((name.clone(), std::env::var_os(name)?))).collect()
}

pub(crate) fn die() -> ! {
    std::process::abort()
}

/// Hears Ctrl-C.
#[derive(Debug)]
pub(crate) struct Signals(Arc<AtomicBool>);

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        let told = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&told))?;
        }
        Ok(Self(told))
    }

    pub(crate) fn wait(self) -> bool {
        while !self.0.load(Ordering::Relaxed) {
            thread::park_timeout(LOOK);
        }
        true
    }
}

fn socket() -> io::Result<Socket> {
    Socket::new(Domain::UNIX, Type::STREAM, None)
}

/// Connects to a socket.
///
/// # Errors
///
/// What the system says.
pub fn connect(path: &Path) -> io::Result<Stream> {
    let socket = socket()?;
    socket.connect(&SockAddr::unix(path)?)?;
    Ok(socket.into())
}

pub(crate) fn listen(path: &Path) -> io::Result<Listener> {
    let socket = socket()?;
    socket.bind(&SockAddr::unix(path)?)?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

pub(crate) fn accept(listener: &Listener) -> io::Result<Stream> {
    Ok(listener.accept()?.0.into())
}

/// A socket that listens cannot be shut down here; whoever waits is woken by a connection.
pub(crate) fn stop_listening(_listener: &Listener, path: &Path) -> io::Result<()> {
    connect(path).map(drop)
}

pub(crate) fn is_gone(stream: &Stream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return true;
    }
    let looked = stream.peek(&mut [0_u8; 1]);
    let gone = match looked {
        Ok(count) => count == 0,
        Err(fault) => !matches!(fault.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted),
    };
    stream.set_nonblocking(false).is_err() || gone
}

pub(crate) fn is_socket(path: &Path) -> io::Result<bool> {
    let meta = fs::symlink_metadata(path)?;
    let is_special = meta.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT != 0;
    Ok(is_special && !meta.file_type().is_symlink() && !meta.is_dir())
}

/// The list of its directory is its own.
pub(crate) fn admit_to_socket(path: &Path, guests: Option<&BTreeSet<u32>>) -> io::Result<u32> {
    if guests.is_some() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(facts_at(path)?.mode)
}

/// Below the folder of the profiles.
pub(crate) fn short_folders(name: &str) -> [PathBuf; 2] {
    let base = home().unwrap_or_default().join(r"AppData\Local");
    [base.join(format!("bursar-{name}")), base.join(format!("bursar-{name}"))]
}

/// The folder of our user: `USERPROFILE`, or what the system knows where that is not set. Whose it is is checked like that of
/// any other folder.
fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

/// The accounts of the system, of which only our own is asked for.
pub(crate) struct Accounts;

impl Accounts {
    /// Nothing is read before it is asked.
    #[expect(clippy::unnecessary_wraps, reason = "on Linux there is a file that may not open")]
    pub(crate) const fn read() -> io::Result<Self> {
        Ok(Self)
    }

    /// Our own folder.
    #[expect(clippy::unused_self, reason = "on Linux there is a file behind it")]
    pub(crate) fn home_of(&self, uid: u32) -> Option<PathBuf> {
        home().filter(|_home| uid == OURS)
    }

    /// No name means a number here.
    #[expect(clippy::unused_self, reason = "on Linux there is a file behind it")]
    pub(crate) const fn uid_of(&self, _name: &str) -> Option<u32> {
        None
    }
}

fn kind(meta: &Metadata) -> Kind {
    match meta.file_type() {
        kind if kind.is_symlink() => Kind::Link,
        kind if kind.is_dir() => Kind::Directory,
        _ if meta.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT != 0 => Kind::Other,
        kind if kind.is_file() => Kind::File,
        _ => Kind::Other,
    }
}

fn owner_and_list() -> SecurityInformation {
    SecurityInformation::Owner | SecurityInformation::Dacl
}

fn text(descriptor: &LocalBox<SecurityDescriptor>) -> io::Result<String> {
    let text = ConvertSecurityDescriptorToStringSecurityDescriptor(descriptor, owner_and_list())?;
    text.into_string().map_err(|_text| io::ErrorKind::InvalidData.into())
}

/// Our user as the system writes it in a list, which may be a short name.
fn ourselves() -> io::Result<String> {
    let sid = utilities::current_process_sid()?;
    let owned = ConvertStringSecurityDescriptorToSecurityDescriptor(&format!("O:{}", *sid))?;
    let written = text(&owned)?;
    written.strip_prefix("O:").map(str::to_owned).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// What an open file is. It has to be open for reading.
///
/// # Errors
///
/// What the system says.
pub fn facts(file: &File) -> io::Result<Facts> {
    let meta = file.metadata()?;
    let kind = kind(&meta);
    let descriptor = GetSecurityInfo(file, SeObjectType::SE_FILE_OBJECT, owner_and_list())?;
    let of = if kind == Kind::Directory { Of::Directory } else { Of::File };
    let (owner, mode) = access::read(&text(&descriptor)?, &ourselves()?, of);
    let links = winapi_util::file::information(file)?.number_of_links();
    Ok(Facts { kind, owner, mode, links, bytes: meta.len() })
}

/// What lies under a name; of a link, the link itself.
///
/// # Errors
///
/// What the system says.
pub fn facts_at(path: &Path) -> io::Result<Facts> {
    facts(&looked_at(path)?)
}

/// Opens what lies under a name to look at it, be it a link or a directory.
fn looked_at(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .access_mode(READ_CONTROL | FILE_READ_ATTRIBUTES)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT)
        .open(path)
}

/// Whether `file` is what lies under the name `path` now.
///
/// # Errors
///
/// What the system says.
pub fn is_still_at(file: &File, path: &Path) -> io::Result<bool> {
    let named = winapi_util::file::information(&looked_at(path)?)?;
    let open = winapi_util::file::information(file)?;
    let same = |of: &winapi_util::file::Information| (of.volume_serial_number(), of.file_index());
    Ok(same(&named) == same(&open))
}

pub(crate) fn open_to_read(path: &Path) -> Result<File, Unopened> {
    let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = opened.map_err(|fault| match fault.kind() {
        io::ErrorKind::NotFound => Unopened::Missing,
        _ => Unopened::System(fault),
    })?;
    match file.metadata().map_err(Unopened::System)?.file_type() {
        kind if kind.is_symlink() => Err(Unopened::Link),
        _ => Ok(file),
    }
}

/// Its directory's list is its own.
#[must_use]
pub fn private_file() -> OpenOptions {
    OpenOptions::new()
}

/// [`private_file`], where no link is followed.
#[must_use]
pub fn private_file_no_link() -> OpenOptions {
    let mut how = private_file();
    how.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    how
}

/// There are no mode bits.
///
/// # Errors
///
/// Never.
pub const fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Makes a directory with a list of its own: the system, its administrators and us, and the same for all that is made in it.
///
/// # Errors
///
/// What the system says; [`io::ErrorKind::AlreadyExists`] when there is something under this name.
pub fn make_private_directory(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    let sid = utilities::current_process_sid()?;
    let list = format!("D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;{})", *sid);
    let wanted = ConvertStringSecurityDescriptorToSecurityDescriptor(&list)?;
    let what = SecurityInformation::Dacl | SecurityInformation::ProtectedDacl;
    let put = SetNamedSecurityInfo(path, SeObjectType::SE_FILE_OBJECT, what, None, None, wanted.dacl(), None);
    // Whoever could write here until now may have put something in.
    match put.and_then(|()| Ok(fs::read_dir(path)?.next().is_none())) {
        Ok(true) => Ok(()),
        Ok(false) => Err(io::ErrorKind::DirectoryNotEmpty.into()),
        Err(fault) => {
            fs::remove_dir(path)?;
            Err(fault)
        }
    }
}

/// Makes a directory and what is missing above it, with the lists that they inherit.
///
/// # Errors
///
/// What the system says.
pub fn make_directories(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// By a second name, which the system gives only where there is none; then the first one goes.
///
/// # Errors
///
/// What the system says; [`io::ErrorKind::AlreadyExists`] when the name is taken.
pub fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}

/// The file system keeps a journal of names, and has no such wait.
///
/// # Errors
///
/// Never.
pub const fn sync_directory(_path: &Path) -> io::Result<()> {
    Ok(())
}

pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.sync_all()
}

pub(crate) fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = file.seek_write(bytes, at)?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(count..).unwrap_or_default();
        at = at.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
    }
    Ok(())
}

pub(crate) fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = file.seek_read(bytes, at)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = bytes.get_mut(count..).unwrap_or_default();
        at = at.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
    }
    Ok(())
}

const _: () = assert!(OURS != OTHERS);
