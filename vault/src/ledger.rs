//! The ledger: every payment, every budget, every event, on one disk, by one writer. Must never sign and never dial.
//!
//! What it guarantees, all of it tested: money is counted before a signature may exist; a purchase is signed once; counted
//! money goes only on proof; limits and budgets hold whatever is asked at once and wherever the process is killed; the
//! cost of counting does not grow with the number of payments; and whoever changes the file by hand is found out.
//!
//! The modules are in reading order: what a payment may become and who may buy; judging, admitting and counting it; what
//! comes back and what time does; the words of people; then how the counting is quick, the log honest, the writing
//! durable, and which file it is.

use std::sync::{Arc, Mutex, PoisonError};

use bursar_policy::errand::PaymentId;

use crate::clock::{LedgerClock, Reading, TimeSource};

mod states;

mod claim;

mod approval;
mod authorize;
mod handle;
mod standing;

mod prove;
mod purse;
mod quote;
mod recall;
mod refused;
mod release;
mod report;
mod sweep;
mod unsigned;

mod session;
mod share;
mod switch;
mod view;
mod withdrawal;

mod acquaintance;
mod breaker;
mod overdue;
mod resume;

mod returned;
mod rows;
mod tally;

mod store;

mod custody;
mod postgres;

mod audit;
mod checkpoint;
mod events;
mod export;
mod inspect;
mod rotation;

mod latch;
mod mark;
mod news;
mod writer;

mod anew;
mod backup;
mod recover;

mod fault;
mod meta;
mod number;
mod open;
mod schema;
mod upgrade;

pub use self::anew::Begun;
pub use self::approval::{APPROVALS_WAITING_MAX, Decided};
pub use self::audit::chain::{Kept, Logged};
pub use self::audit::living::Looked;
pub use self::audit::{Books, Progress};
pub use self::authorize::{Ask, Counted};
pub(crate) use self::backup::write as write_backup;
pub use self::checkpoint::{CHECKPOINT_EVENTS, CHECKPOINT_S, Checkpoint, Checkpointed, SignedCheckpoint, When};
pub use self::claim::{CLAIMS_MAX, Claim, ClaimGuard};
pub use self::events::{DETAIL_MAX_BYTES, Event, EventKind};
pub use self::export::{Deal, ExportBooks, ExportFault, ExportHead, Exported, verify_export};
pub use self::fault::LedgerFault;
pub use self::handle::{Drawn, HANDLE_LIFE_S, Handled, Held, Prepared, Redeemed, Redeemer, Unredeemable};
pub use self::inspect::{Brake, Identity, Inspector};
pub use self::open::{KeyFile, LedgerPlace, Lock};
pub use self::postgres::{Migrated, ServerClock, ServerPlace, migrate};
pub use self::prove::{Doubt, Moved};
pub use self::purse::Holding;
pub use self::quote::QUOTE_LIFE_S;
pub use self::refused::{Price, REFUSED_A_MINUTE_MAX, Source};
pub use self::resume::Meant;
pub(crate) use self::rotation::Handover;
pub use self::rotation::{Rotated, Rotation, SignedRotation};
pub use self::session::{Session, SessionOpened};
pub use self::share::{Line, LineStanding};
pub use self::states::{EXPIRY_MARGIN_S, Exposed, NotSigned, Reservation, RowState};
pub use self::view::{LOG_PAGE_MAX, Overview};
pub use self::withdrawal::{Ordered, Ordering, Refused, SweepDoubt};

pub(crate) use self::number::{narrow, wide};
use self::store::Store;
use self::writer::{Answer, Shared, Writer};

/// An open ledger: the only one on its file, for as long as it lives. Dropping it closes it in order.
#[derive(Debug)]
pub struct Ledger {
    writer: Writer,
    shared: Arc<Shared>,
    claims: Arc<claim::Registry>,
    quotes: Arc<quote::Shelf>,
    place: LedgerPlace,
    id: String,
    flood: refused::Flood,
    unsigned: Mutex<Vec<PaymentId>>,
    // Given back last, so that nobody opens the file before it is closed.
    lock: Mutex<Option<open::Lock>>,
}

impl Ledger {
    /// Makes an empty ledger. Only `init` calls this; [`Ledger::open`] never creates.
    ///
    /// `id` is 16 fresh random bytes that name the ledger.
    ///
    /// # Errors
    ///
    /// [`LedgerFault::Exists`] when there is one, [`LedgerFault::KeyWithoutLedger`] when there is a key already, whose
    /// past a new ledger would forget, or what the file system says.
    pub fn create(
        place: &LedgerPlace,
        key: KeyFile,
        id: [u8; 16],
        time: Box<dyn TimeSource>,
    ) -> Result<(), LedgerFault> {
        let clock = LedgerClock::first(time);
        open::create(place, key, &hex::encode(id), &clock.memory())?;
        mark::forget(&place.file);
        Ok(())
    }

    /// Takes the lock, checks the file (of a large one all but its pages), and starts the writer. Everything that was unfinished stays counted, except what
    /// was only held: its handles are over. A ledger that is older than it was, put back from a copy, starts latched, and
    /// there what was held stays counted too: nobody knows what became of it.
    ///
    /// # Errors
    ///
    /// What is wrong with the file; nothing is created or repaired.
    pub fn open(place: &LedgerPlace, time: Box<dyn TimeSource>) -> Result<Self, LedgerFault> {
        let lock = open::lock(&place.lock)?;
        Self::begin(open::open(place, open::Pages::OfAFewEvents)?, lock, place, time)
    }

    /// Goes on where the ledger on `conn` ended, which was checked.
    fn begin(conn: Store, lock: Lock, place: &LedgerPlace, time: Box<dyn TimeSource>) -> Result<Self, LedgerFault> {
        let found = meta::read(&conn)?;
        let (time, server) = open::whose_time(place, &conn, time)?;
        let shared = Arc::new(Shared {
            clock: LedgerClock::resume(time, found.clock),
            latch: latch::Latch::from_disk(found.latched),
            purse: purse::Purse::default(),
            shares: share::Shares::default(),
            server,
            news: news::News::default(),
        });
        shared.news.tell(found.head.seq);
        let mut mark = mark::Mark::open(&place.file, found.ledger_id.clone());
        if let Some(reason) = mark.hold(&conn, &found.head)? {
            shared.latch.shut(reason.to_owned());
        }
        // Another vault's handles are not this one's to end.
        let is_current = mark.set_back().is_none() && place.server.is_none();
        let ledger = Self {
            writer: Writer::start(conn, place.clone(), Arc::clone(&shared), mark)?,
            shared,
            claims: Arc::default(),
            quotes: Arc::default(),
            place: place.clone(),
            id: found.ledger_id,
            flood: refused::Flood::default(),
            unsigned: Mutex::default(),
            lock: Mutex::new(Some(lock)),
        };
        ledger.note(Event::new(EventKind::Opened, concat!("bursar-vault ", env!("CARGO_PKG_VERSION"))));
        if is_current {
            ledger.end_handles();
        }
        ledger.writer.tell(|tx| if tx.latched { Ok(()) } else { custody::adopt(tx).map(drop) });
        Ok(ledger)
    }

    /// The id it was made with: 32 lower-case hex digits.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Ledger time, and whether payments may rest on it.
    #[must_use]
    pub fn time(&self) -> Reading {
        self.shared.clock.read()
    }

    /// Why payments are shut until a person looks; `None` while they are not.
    #[must_use]
    pub fn latched(&self) -> Option<String> {
        self.shared.latch.reason()
    }

    /// Waits until everything that was written so far is on the disk.
    ///
    /// # Errors
    ///
    /// A fault of the ledger.
    pub fn flush(&self) -> Result<(), LedgerFault> {
        self.writer.ask(|_tx| Ok(Answer::Durable(())))
    }

    /// Closes the ledger in order: everything that was asked before is on the disk when this returns, and another may open
    /// it. Asks after it get [`LedgerFault::Closed`].
    pub fn close(&self) {
        self.tell_left_out(refused::Minute::Whatever);
        self.note(Event::new(EventKind::Closed, "in order"));
        self.writer.close();
        // Not when the last one drops this, who may be about to: a thread that rests, or a conversation at its end.
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.writer.close();
    }
}

#[cfg(test)]
mod tests;
