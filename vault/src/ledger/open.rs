//! Finding, checking and locking the ledger's file. Must never make a ledger where one was expected.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bursar_policy::rules::Setting;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::audit::living::FEW_EVENTS;
use super::events::{self, Event, EventKind};
use super::fault::LedgerFault;
use super::number;
use super::postgres::{self, Purpose, ServerClock, ServerPlace, ServerTime};
use super::store::{Store, bound};
use super::{meta, schema, upgrade};
use crate::clock::{ClockMemory, TimeSource};
use crate::guarded;
use crate::platform::{self, Kind};

/// Where a ledger is kept and what it is for.
#[derive(Clone, Debug)]
pub struct LedgerPlace {
    /// The SQLite file.
    pub file: PathBuf,
    /// The lock file: whoever holds a lock on it is the one vault of this ledger. Its existence means nothing.
    pub lock: PathBuf,
    /// Real money or a sandbox; written into the ledger and never changed.
    pub setting: Setting,
    /// The server that it is on instead of the file; the file's name is then what its mark is named after.
    pub server: Option<ServerPlace>,
}

/// Whether the key that the ledger counts for is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFile {
    /// There is none.
    Absent,
    /// There is one: then its ledger was lost, and a new one would forget what was spent.
    Present,
}

/// A clock for the ledger, and the server's beside it where it is that one.
type WhoseTime = (Box<dyn TimeSource>, Option<Arc<ServerTime>>);

/// An exclusive lock, held as long as this lives.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone would leave it locked for as long as a child that is just being started has a copy of it.
        if let Err(fault) = self.file.unlock() {
            tracing::warn!(%fault, "the ledger's lock was not given back");
        }
    }
}

/// Makes an empty ledger, whole or not at all: it is written under another name and renamed when it is on the disk.
pub(super) fn create(
    place: &LedgerPlace,
    key: KeyFile,
    ledger_id: &str,
    clock: &ClockMemory,
) -> Result<(), LedgerFault> {
    if let Some(server) = &place.server {
        return postgres::create(server, place.setting, ledger_id, clock);
    }
    let file = canonical(&place.file)?;
    // A journal of another ledger under this name would be taken for ours.
    for taken in [file.clone(), beside(&file, "-wal"), beside(&file, "-shm"), beside(&file, "-journal")] {
        if fs::symlink_metadata(&taken).is_ok() {
            return Err(LedgerFault::Exists { path: taken });
        }
    }
    if key == KeyFile::Present {
        return Err(LedgerFault::KeyWithoutLedger { path: file });
    }
    let _lock = lock(&place.lock)?;
    let draft = draft(&file)?;
    let mut conn = connect(&draft)?;
    schema::configure(&conn)?;
    schema::write(&mut conn)?;
    let conn = Store::Sqlite(conn);
    let begun = conn.transaction()?;
    events::append(&begun, clock.recorded_s, &Event::new(EventKind::LedgerCreated, format!("ledger {ledger_id}")))?;
    meta::begin(&begun, ledger_id, place.setting, clock)?;
    begun.commit()?;
    conn.close()?;
    sync(&draft)?;
    put_in(&draft, &file)?;
    clear(draft.parent().unwrap_or(&draft))
}

/// An empty file in a folder of its own beside `file`: SQLite puts its side files there too, and a crash leaves nothing
/// behind that anybody takes for a ledger. What an interrupted one left gives way.
pub(super) fn draft(file: &Path) -> Result<PathBuf, LedgerFault> {
    let folder = beside(&canonical(file)?, ".new");
    clear(&folder)?;
    in_folder(&folder)
}

/// The same for a copy that is made while anything may be going on: one at a time, and what an interrupted one left stays
/// until a person removes it, because it is a whole ledger.
pub(super) fn scratch(file: &Path) -> Result<PathBuf, LedgerFault> {
    let folder = beside(&canonical(file)?, ".copy");
    if fs::symlink_metadata(&folder).is_ok() {
        let detail =
            "another copy is being made; if none is, an interrupted one left this folder: remove it".to_owned();
        return Err(LedgerFault::File { path: folder, detail });
    }
    in_folder(&folder)
}

fn in_folder(folder: &Path) -> Result<PathBuf, LedgerFault> {
    platform::make_private_directory(folder).map_err(|fault| unreachable_file(folder, &fault))?;
    let draft = folder.join("ledger");
    let made = platform::private_file().write(true).create_new(true).open(&draft);
    made.map(|_file| draft).map_err(|fault| unreachable_file(folder, &fault))
}

/// Gives a whole file its name, durably; whatever has the name already keeps it.
pub(super) fn put_in(draft: &Path, file: &Path) -> Result<(), LedgerFault> {
    platform::rename_to_new(draft, file).map_err(|fault| unreachable_file(file, &fault))?;
    file.parent().map_or(Ok(()), sync_folder)
}

/// Gives the ledger `file` and its side files another name, durably; `None` where there are none. Side files go too where
/// the ledger is lost: SQLite would take the journal of the old one for the new one's.
pub(super) fn put_away(file: &Path) -> Result<Option<PathBuf>, LedgerFault> {
    let file = canonical(file)?;
    let is_free = |name: &PathBuf| fs::symlink_metadata(name).is_err();
    let mut names = (1_u32..).map(|number| beside(&file, &format!(".kept-{number}")));
    let kept = names.find(is_free).ok_or_else(|| LedgerFault::Exists { path: file.clone() })?;
    // The file first: without it nothing is paid, whatever becomes of the rest.
    let mut moved = false;
    for side in ["", "-wal", "-shm", "-journal"] {
        match fs::rename(beside(&file, side), beside(&kept, side)) {
            Ok(()) => moved = true,
            Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => {}
            Err(fault) => return Err(unreachable_file(&file, &fault)),
        }
    }
    file.parent().map_or(Ok(()), sync_folder)?;
    Ok(moved.then_some(kept))
}

/// Copies what is committed of the ledger at `place` into the empty file `copy`.
pub(super) fn copy_into(place: &LedgerPlace, copy: &Path) -> Result<(), LedgerFault> {
    let conn = open_to_inspect(place)?;
    let name = copy.to_str().ok_or_else(|| LedgerFault::NotAFileName { path: copy.to_owned() })?;
    conn.file()?.execute("VACUUM INTO ?1", [name])?;
    Ok(())
}

/// Opens a ledger that may be damaged, to read what can be read of it.
pub(super) fn open_damaged(place: &LedgerPlace) -> Result<Connection, LedgerFault> {
    let file = canonical(&place.file)?;
    check_file(&file)?;
    let conn = open_for_reading(place)?;
    if identify(&conn, &file)? != schema::VERSION {
        return Err(LedgerFault::Older { path: file });
    }
    // A page that makes no sense is an error here, never a guess.
    conn.execute_batch("PRAGMA cell_size_check = ON")?;
    Ok(conn)
}

/// Opens a draft that came from a backup, after every check; one of an older version is brought up to date.
pub(super) fn open_draft(draft: &Path, place: &LedgerPlace) -> Result<Store, LedgerFault> {
    open(&LedgerPlace { file: draft.to_owned(), ..place.clone() }, Pages::All)
}

/// Opens a file beside the ledger for reading and writing: as it is, or a new one for its owner alone. No link is followed.
pub(super) fn kept(path: &Path) -> std::io::Result<File> {
    platform::private_file_no_link().read(true).write(true).create(true).truncate(false).open(path)
}

impl Lock {
    /// Keeps every vault out for as long as it lives.
    pub(crate) fn take(path: &Path) -> Result<Self, LedgerFault> {
        lock(path)
    }
}

/// Takes the exclusive lock.
pub(super) fn lock(path: &Path) -> Result<Lock, LedgerFault> {
    let path = canonical(path)?;
    let file = kept(&path).map_err(|fault| unreachable_file(&path, &fault))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock { file }),
        Err(TryLockError::WouldBlock) => Err(LedgerFault::InUse { path }),
        Err(TryLockError::Error(fault)) => Err(unreachable_file(&path, &fault)),
    }
}

/// The file that SQLite puts commits into before they go to the ledger's own.
pub(super) fn journal(place: &LedgerPlace) -> Result<PathBuf, LedgerFault> {
    Ok(beside(&canonical(&place.file)?, "-wal"))
}

/// Which pages of a file are looked at before it is used. Whatever is read later is looked at when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pages {
    /// All of them.
    All,
    /// All of a file with few events. Those of a larger one are looked at beside the work.
    OfAFewEvents,
}

/// Opens an existing ledger for writing after every check; never creates one.
pub(super) fn open(place: &LedgerPlace, pages: Pages) -> Result<Store, LedgerFault> {
    if let Some(server) = &place.server {
        return postgres::connect(server, place.setting, Purpose::Write);
    }
    let file = canonical(&place.file)?;
    check_file(&file)?;
    let conn = connect(&file)?;
    let version = identify(&conn, &file)?;
    schema::configure(&conn).map_err(|fault| content_fault(fault, &file))?;
    check_schema(&conn, &file, version)?;
    let conn = Store::Sqlite(conn);
    let found = meta::read(&conn).map_err(|fault| content_fault(fault, &file))?;
    if pages == Pages::All || version != schema::VERSION || found.head.seq <= FEW_EVENTS {
        check_pages(conn.file()?, &file)?;
    }
    let wanted = meta::setting_word(place.setting);
    if found.setting != wanted {
        let found = if wanted == "real" { "sandbox" } else { "real" };
        return Err(LedgerFault::Setting { path: file, found });
    }
    if found.head != events::head(&conn).map_err(|fault| content_fault(fault, &file))? {
        let detail = "the log does not end where the ledger says it ends".to_owned();
        return Err(LedgerFault::Corrupt { path: file, detail });
    }
    if version != schema::VERSION {
        upgrade::from(&conn, version).map_err(|fault| content_fault(fault, &file))?;
    }
    Ok(conn)
}

/// Opens a ledger that a vault may be using, to look only, after every check but the slow one of its pages.
pub(super) fn open_to_inspect(place: &LedgerPlace) -> Result<Store, LedgerFault> {
    if let Some(server) = &place.server {
        return postgres::connect(server, place.setting, Purpose::Look);
    }
    let file = canonical(&place.file)?;
    check_file(&file)?;
    let conn = open_for_reading(place)?;
    let version = identify(&conn, &file)?;
    check_schema(&conn, &file, version)?;
    if version != schema::VERSION {
        return Err(LedgerFault::Older { path: file });
    }
    Ok(Store::Sqlite(conn))
}

/// Whose clock the ledger goes by: the one that was handed over, or the server's, with the machine's beside it.
pub(super) fn whose_time(
    place: &LedgerPlace,
    conn: &Store,
    given: Box<dyn TimeSource>,
) -> Result<WhoseTime, LedgerFault> {
    if place.server.as_ref().is_none_or(|server| server.clock == ServerClock::Given) {
        return Ok((given, None));
    }
    let now_s = conn.one(postgres::NOW, bound![], |row| row.get::<i64>(0))?;
    let time = Arc::new(ServerTime::new(given, number::from_sql(now_s)?));
    Ok((Box::new(Arc::clone(&time)), Some(time)))
}

/// Opens a second connection to a ledger that is open already, for work that must not hold up the writer.
pub(super) fn open_to_read(place: &LedgerPlace) -> Result<Store, LedgerFault> {
    match &place.server {
        Some(server) => postgres::connect(server, place.setting, Purpose::Look),
        None => open_for_reading(place).map(Store::Sqlite),
    }
}

/// [`open_to_inspect`] for one quick look that leaves nothing behind: where no log is beside the file, nobody has it open,
/// and it is read as it lies there, without the files that SQLite shares with others.
pub(super) fn open_to_glance(place: &LedgerPlace) -> Result<Store, LedgerFault> {
    if place.server.is_some() {
        return open_to_inspect(place);
    }
    let file = canonical(&place.file)?;
    check_file(&file)?;
    let mut log = file.clone().into_os_string();
    log.push("-wal");
    if Path::new(&log).symlink_metadata().is_ok() {
        return open_to_inspect(place);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(as_it_lies(&file), flags)?;
    let version = identify(&conn, &file)?;
    check_schema(&conn, &file, version)?;
    if version != schema::VERSION {
        return Err(LedgerFault::Older { path: file });
    }
    Ok(Store::Sqlite(conn))
}

/// The file as a URI (sqlite.org/uri.html) that says it does not change. Every byte that means something there is escaped.
fn as_it_lies(file: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in file.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => uri.push(char::from(*byte)),
            other => uri.push_str(&format!("%{other:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// Opens a second connection to the file that can only read, for work that must not hold up the writer.
pub(super) fn open_for_reading(place: &LedgerPlace) -> Result<Connection, LedgerFault> {
    let file = canonical(&place.file)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let conn = Connection::open_with_flags(&file, flags)?;
    conn.busy_timeout(schema::BUSY_PATIENCE)?;
    Ok(conn)
}

pub(super) fn connect(file: &Path) -> Result<Connection, LedgerFault> {
    // No CREATE: a ledger that is not there is a fault. No URI: a path is a path. The build may read names that begin
    // with `file:` as URIs whatever the flags say, which an absolute path never does.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let conn = Connection::open_with_flags(file, flags)?;
    conn.busy_timeout(schema::BUSY_PATIENCE)?;
    if conn.is_readonly("main")? {
        return Err(LedgerFault::ReadOnly { path: file.to_owned() });
    }
    Ok(conn)
}

fn check_file(file: &Path) -> Result<(), LedgerFault> {
    let Ok(found) = platform::facts_at(file) else {
        return Err(LedgerFault::Missing { path: file.to_owned() });
    };
    if found.kind != Kind::File || found.links != 1 {
        return Err(LedgerFault::NotAFile { path: file.to_owned() });
    }
    if found.mode != platform::PRIVATE_FILE || found.owner != guarded::our_uid() {
        return Err(LedgerFault::Loose { path: file.to_owned(), mode: found.mode });
    }
    // The content is read through SQLite alone: a second way into the file would undo its locks when it is closed.
    Ok(())
}

/// Whether the file is a ledger, and of which version. Only reads, so that a file of somebody else stays as it is.
fn identify(conn: &Connection, file: &Path) -> Result<i64, LedgerFault> {
    let number = |name| schema::pragma(conn, name).map_err(|fault| content_fault(fault, file));
    let foreign = || LedgerFault::Foreign { path: file.to_owned() };
    if let Err(fault) = conn.pragma_query_value(None, "schema_version", |_row| Ok(())) {
        let no_database = fault.sqlite_error_code() == Some(ErrorCode::NotADatabase);
        return Err(if no_database { foreign() } else { content_fault(fault.into(), file) });
    }
    if number("application_id")? != schema::APPLICATION_ID.to_string() {
        return Err(foreign());
    }
    let version: i64 = number("user_version")?.parse().unwrap_or(0);
    if schema::VERSION < version {
        return Err(LedgerFault::Newer { path: file.to_owned(), version });
    }
    if version < 1 {
        return Err(LedgerFault::Corrupt { path: file.to_owned(), detail: "it has no schema version".to_owned() });
    }
    Ok(version)
}

/// Whether every page makes sense.
pub(super) fn check_pages(conn: &Connection, file: &Path) -> Result<(), LedgerFault> {
    let corrupt = |detail: &str| LedgerFault::Corrupt { path: file.to_owned(), detail: detail.to_owned() };
    let verdict: String = conn
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|fault| content_fault(fault.into(), file))?;
    if verdict == "ok" { Ok(()) } else { Err(corrupt(&verdict)) }
}

fn check_schema(conn: &Connection, file: &Path, version: i64) -> Result<(), LedgerFault> {
    if let Some(odd) = schema::odd_one(conn, version).map_err(|fault| content_fault(fault, file))? {
        let detail = format!("{odd} is not as this program makes it");
        return Err(LedgerFault::Corrupt { path: file.to_owned(), detail });
    }
    Ok(())
}

/// While a file is being opened, whatever SQLite cannot read is damage in that file.
fn content_fault(fault: LedgerFault, file: &Path) -> LedgerFault {
    match fault {
        LedgerFault::Storage { detail } => LedgerFault::Corrupt { path: file.to_owned(), detail },
        LedgerFault::Unreadable { what } => LedgerFault::Corrupt { path: file.to_owned(), detail: what.to_owned() },
        other => other,
    }
}

/// The same file by a name without links, so that neither SQLite nor anybody else reads it in another way.
fn canonical(path: &Path) -> Result<PathBuf, LedgerFault> {
    let refused = || LedgerFault::NotAFileName { path: path.to_owned() };
    if !path.is_absolute() {
        return Err(refused());
    }
    let name = path.file_name().ok_or_else(refused)?;
    let folder = path.parent().ok_or_else(refused)?;
    let folder = fs::canonicalize(folder).map_err(|fault| unreachable_file(folder, &fault))?;
    Ok(folder.join(name))
}

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    file.with_file_name(name)
}

fn clear(folder: &Path) -> Result<(), LedgerFault> {
    match fs::remove_dir_all(folder) {
        Ok(()) => Ok(()),
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(fault) => Err(unreachable_file(folder, &fault)),
    }
}

pub(super) fn sync(path: &Path) -> Result<(), LedgerFault> {
    platform::sync_file(path).map_err(|fault| unreachable_file(path, &fault))
}

fn sync_folder(path: &Path) -> Result<(), LedgerFault> {
    platform::sync_directory(path).map_err(|fault| unreachable_file(path, &fault))
}

fn unreachable_file(path: &Path, fault: &std::io::Error) -> LedgerFault {
    LedgerFault::File { path: path.to_owned(), detail: fault.to_string() }
}
