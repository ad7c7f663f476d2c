//! What can go wrong with the ledger itself. Must never hold a refusal: a refusal is an answer, a fault is not.

use std::path::PathBuf;

use bursar_policy::quantity::Moment;
use rusqlite::ErrorCode;
use thiserror::Error;

/// A fault of the ledger. Its texts are for the operator; none holds a signature or a secret.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LedgerFault {
    /// There is no ledger where one should be.
    #[error("there is no ledger at `{shown}`; run `bursar init`; where a key is there already, its ledger is lost and the key must not be used again", shown = .path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A key is there and its ledger is not: starting anew would forget what was spent.
    #[error("there is a key but no ledger at `{shown}`; put the ledger back or run `bursar restore`; to start anew move the key away and run `bursar init`", shown = .path.display())]
    KeyWithoutLedger {
        /// Where the ledger should be.
        path: PathBuf,
    },
    /// A ledger is there already, and another was to be made.
    #[error("there is a ledger at `{shown}` already; use it, or move it away first", shown = .path.display())]
    Exists {
        /// Where it is.
        path: PathBuf,
    },
    /// The name cannot be the name of a ledger file.
    #[error("`{shown}` cannot be a ledger; name a file in a folder by its absolute path", shown = .path.display())]
    NotAFileName {
        /// The name.
        path: PathBuf,
    },
    /// It is no regular file of its own.
    #[error("`{shown}` is not a regular file with one name; remove links to it and try again", shown = .path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// Others may read or write it, or it is somebody else's.
    #[error("`{shown}` must belong to you with mode 0600, and has mode {mode:04o}; check who changed it", shown = .path.display())]
    Loose {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Another vault has the ledger open.
    #[error("another vault is using the ledger at `{shown}`; stop it first", shown = .path.display())]
    InUse {
        /// The lock file.
        path: PathBuf,
    },
    /// It can be read and not written.
    #[error("the ledger at `{shown}` cannot be written; check the file system", shown = .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// It is not a ledger of this program.
    #[error("`{shown}` is not a bursar ledger; check the path", shown = .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// It was made by a later program.
    #[error("the ledger at `{shown}` has schema version {version}, which is newer than this program; use the newer bursar", shown = .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: i64,
    },
    /// It is damaged, or somebody changed it by hand.
    #[error("the ledger at `{shown}` is damaged ({detail}); keep the file and run `bursar ledger verify`, which says what is wrong; never put an older copy there, which has forgotten what was signed", shown = .path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// It belongs to the other setting: real money or a sandbox.
    #[error("the ledger at `{shown}` is for the setting `{found}`; a ledger of a sandbox opens only there, and no other does", shown = .path.display())]
    Setting {
        /// The file.
        path: PathBuf,
        /// The setting it was made for.
        found: &'static str,
    },
    /// It counts for another key.
    #[error(
        "the ledger counts for the account {ledger} and the key is for {key}; put that account's key back, or start the vault again where `bursar rotate` changed it"
    )]
    OtherKey {
        /// The account that the ledger knows.
        ledger: String,
        /// The account of the key.
        key: String,
    },
    /// Another key signed its checkpoints.
    #[error("the log's checkpoints are signed by another key; put the right key back, and check who changed it")]
    OtherAuditKey,
    /// It was made by an earlier program and not opened by this one yet.
    #[error("the ledger at `{shown}` is of an earlier version; run `bursar status` once, which brings it up to date", shown = .path.display())]
    Older {
        /// The file.
        path: PathBuf,
    },
    /// Nothing is wrong with it.
    #[error("nothing is wrong with the ledger at `{shown}`, so there is nothing to recover", shown = .path.display())]
    Whole {
        /// The file.
        path: PathBuf,
    },
    /// What can be read of it is not enough.
    #[error(
        "the ledger cannot be rebuilt ({detail}); move it and the files that begin with its name away, and run `bursar restore` with a backup"
    )]
    BeyondRepair {
        /// What is missing.
        detail: String,
    },
    /// A backup or a ledger of another key.
    #[error("`{shown}` is another ledger than the one that the keystore belongs to; a key has one ledger, so nothing was done", shown = .path.display())]
    OtherLedger {
        /// The file.
        path: PathBuf,
    },
    /// A restore would set the ledger back.
    #[error("the ledger at `{shown}` has gone as far as event {here}, and the backup as far as {there}; a backup takes the place of a lost ledger only, so nothing was done; one that `bursar ledger recover` cannot rebuild has to be moved away first", shown = .path.display())]
    NotOlder {
        /// The ledger that is here.
        path: PathBuf,
        /// Its last event.
        here: u64,
        /// The backup's last event.
        there: u64,
    },
    /// The ledger that is here is no earlier state of the backup.
    #[error("the ledger at `{shown}` and the backup went on apart from one another, and each has what the other lacks; nothing was done", shown = .path.display())]
    WentApart {
        /// The ledger that is here.
        path: PathBuf,
    },
    /// A backup cannot be written or opened.
    #[error("{detail}")]
    Sealed {
        /// One sentence.
        detail: String,
        /// A stable word.
        code: &'static str,
    },
    /// SQLite did not take a setting that safety rests on.
    #[error("SQLite would not set `{name}` to {wanted} (it is {got}); check the file system and this build")]
    Pragma {
        /// The pragma.
        name: &'static str,
        /// What was asked for.
        wanted: String,
        /// What was read back.
        got: String,
    },
    /// The storage failed. Latches the ledger.
    #[error("the ledger's storage failed ({detail}); free space or repair the disk, then run `bursar unlatch`")]
    Storage {
        /// What SQLite said.
        detail: String,
    },
    /// Another program holds a lock on the file. The one ask is refused; nothing was written and nothing latches.
    #[error("somebody else has the ledger locked for too long; ask again, and close whatever has its file open")]
    Busy,
    /// The server wants the transaction to be begun again. Nobody hears of it.
    #[error("the ledger's server wants the same again")]
    Again,
    /// The server cannot be reached, or does not take writes. Whether the ask was done is not known, and it counts as done
    /// where money was to be counted; there is no signature. Nothing latches.
    #[error("the ledger's server cannot be used now ({detail}); nothing is sent, so ask again when it is back")]
    Unreachable {
        /// What was noticed.
        detail: String,
    },
    /// The server, its database or the role there is not as a ledger needs it.
    #[error("the ledger's server is not set up for it: {detail}")]
    Server {
        /// What is wrong, and what to do.
        detail: String,
    },
    /// The tables are there and no ledger is in them.
    #[error(
        "there is no ledger in {shown}; run `bursar init`; where a key is there already, its ledger is lost and the key must not be used again"
    )]
    NoLedger {
        /// Server and database.
        shown: String,
    },
    /// Another ledger is in the database, and one was to be made.
    #[error(
        "there is a ledger in {shown} already; a second machine gets the profile of the first, as docs/postgres.md says"
    )]
    Taken {
        /// Server and database.
        shown: String,
    },
    /// It is done to files, and the ledger is none.
    #[error(
        "the ledger is on a PostgreSQL server; copy and restore it with PostgreSQL's own tools, as docs/postgres.md says"
    )]
    NoFile,
    /// This vault was silent for too long, and others may have taken over what it had.
    #[error(
        "the ledger's server did not hear from this vault for too long, and another may have taken the payment over; it stays counted, and nothing is signed here"
    )]
    Elsewhere,
    /// The same purchase was made by way of another vault since it was claimed here.
    #[error("the same was bought by way of another vault meanwhile; ask again to get its result")]
    Meanwhile,
    /// A row cannot be read back as what was written. Latches the ledger.
    #[error(
        "a stored {what} cannot be read back; the ledger was changed by hand; keep the file and move the money to a new profile"
    )]
    Unreadable {
        /// Which kind of value.
        what: &'static str,
    },
    /// A rule in the database refused the change. One ask fails, nothing latches.
    #[error("the ledger refused a change that breaks its own rules ({detail}); report this with the log")]
    Rule {
        /// Which rule.
        detail: String,
    },
    /// Sums that should agree do not.
    #[error(
        "the ledger's books do not balance ({detail}); spend nothing, keep the file, and move the money to a new profile"
    )]
    Books {
        /// What differs.
        detail: String,
    },
    /// A file or folder could not be reached.
    #[error("`{shown}` cannot be reached ({detail}); check the path and its permissions", shown = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        detail: String,
    },
    /// There is no such payment.
    #[error("there is no payment `{id}`; `bursar log` lists them")]
    NoSuchPayment {
        /// The id that was asked for.
        id: String,
    },
    /// A sweep out of the account that pays may still take its money, so that nothing is paid.
    #[error("the sweep `{id}` may take the money until {}; run `bursar thaw` after that, or when a chain shows how it ended", Moment(*.until_s))]
    SweepLive {
        /// Its id.
        id: String,
        /// From this second on it is over, Unix seconds.
        until_s: u64,
    },
    /// There is no such sweep, or it is over.
    #[error("no sweep `{id}` is live; `bursar status` lists those that are")]
    NoSuchSweep {
        /// The id that was asked for.
        id: String,
    },
    /// The wall clock is not set, so nobody can confirm it.
    #[error("the clock of this machine is not set; set it, then run `bursar unlatch`")]
    NoClock,
    /// The ledger was closed.
    #[error("the ledger is closed; start the vault again")]
    Closed,
}

impl LedgerFault {
    /// A stable word for the socket's fault message.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "ledger_missing",
            Self::KeyWithoutLedger { .. } => "key_without_ledger",
            Self::Exists { .. } => "ledger_exists",
            Self::NotAFileName { .. } | Self::NotAFile { .. } => "ledger_not_a_file",
            Self::Loose { .. } => "ledger_loose",
            Self::InUse { .. } => "ledger_in_use",
            Self::ReadOnly { .. } => "ledger_read_only",
            Self::Foreign { .. } => "ledger_foreign",
            Self::Newer { .. } => "ledger_newer",
            Self::Corrupt { .. } | Self::Unreadable { .. } => "ledger_corrupt",
            Self::Setting { .. } => "ledger_setting",
            Self::OtherKey { .. } => "ledger_other_key",
            Self::Whole { .. } => "ledger_whole",
            Self::BeyondRepair { .. } => "ledger_beyond_repair",
            Self::OtherLedger { .. } => "other_ledger",
            Self::NotOlder { .. } => "ledger_not_older",
            Self::WentApart { .. } => "ledger_went_apart",
            Self::Sealed { code, .. } => code,
            Self::OtherAuditKey => "ledger_other_audit_key",
            Self::Older { .. } => "ledger_older",
            Self::Pragma { .. } => "ledger_pragma",
            Self::Storage { .. } => "ledger_storage",
            Self::Busy | Self::Again => "ledger_busy",
            Self::Unreachable { .. } => "ledger_unreachable",
            Self::Server { .. } => "ledger_server",
            Self::NoLedger { .. } => "ledger_missing",
            Self::Taken { .. } => "ledger_exists",
            Self::NoFile => "ledger_no_file",
            Self::Elsewhere => "ledger_elsewhere",
            Self::Meanwhile => "ledger_meanwhile",
            Self::Rule { .. } => "ledger_rule",
            Self::Books { .. } => "ledger_books",
            Self::File { .. } => "ledger_file",
            Self::NoSuchPayment { .. } => "no_such_payment",
            Self::SweepLive { .. } => "sweep_live",
            Self::NoSuchSweep { .. } => "no_such_sweep",
            Self::NoClock => "no_clock",
            Self::Closed => "ledger_closed",
        }
    }

    /// Whether the ledger must shut itself: the storage can no longer be trusted.
    #[must_use]
    pub(super) const fn latches(&self) -> bool {
        matches!(
            self,
            Self::Storage { .. }
                | Self::Unreadable { .. }
                | Self::Corrupt { .. }
                | Self::Books { .. }
                | Self::ReadOnly { .. }
        )
    }
}

impl From<rusqlite::Error> for LedgerFault {
    fn from(fault: rusqlite::Error) -> Self {
        match fault.sqlite_error_code() {
            // A broken rule is one bad change, and a foreign lock passes. Everything else that SQLite says means that it could not do its work.
            Some(ErrorCode::ConstraintViolation) => Self::Rule { detail: fault.to_string() },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(_) => Self::Storage { detail: fault.to_string() },
            None => match fault {
                rusqlite::Error::QueryReturnedNoRows
                | rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::InvalidColumnType(..) => Self::Unreadable { what: "row" },
                other => Self::Storage { detail: other.to_string() },
            },
        }
    }
}
