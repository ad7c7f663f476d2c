//! The one thread that writes: asks in, answers out after the commit. Must never answer a durable ask before it is on
//! the disk.
//!
//! Asks that arrive together share one commit (at most 64 of them), each in a savepoint of its own,
//! so that one that fails takes nothing else along. An ask that only read, or whose writing nobody waits for (an event,
//! a report), is answered at once; its writing goes to the disk with the next commit, at the latest
//! 50 ms later. What has to outlive the process but not a power cut (a signature) is answered between the commit and the
//! wait for the disk. When either fails, everyone who waits hears so, and the ledger latches.
//!
//! Where the ledger is on a server, nothing at all is answered before its commit, which comes as soon as no further ask is
//! there, because others wait for their turn; only what has to be durable waits for the server's disk. When the server is
//! lost, everyone who waits hears that, nothing latches, and the next ask looks for it again.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use self::engine::Engine;
use self::journal::Journal;
use super::events::{self, Event};
use super::fault::LedgerFault;
use super::latch::Latch;
use super::mark::Mark;
use super::news::News;
use super::open::{self, LedgerPlace};
use super::postgres::ServerTime;
use super::purse::Purse;
use super::share::Shares;
use super::store::Store;
use crate::clock::LedgerClock;

mod engine;
mod journal;

/// What a piece of work wants before it is answered.
#[derive(Debug)]
pub(super) enum Answer<T> {
    /// Nothing: it read, or wrote what may be lost in a crash.
    AtOnce(T),
    /// The commit: it outlives the end of this process, and is on the disk at the latest 50 ms later.
    AfterCommit(T),
    /// The disk: it outlives a power cut.
    Durable(T),
}

/// One open transaction, as a piece of work sees it.
#[derive(Debug)]
pub(super) struct Tx<'c> {
    /// The connection, inside a savepoint.
    pub(super) conn: &'c Store,
    /// Ledger time, Unix seconds.
    pub(super) now_s: u64,
    /// Whether the ledger is shut.
    pub(super) latched: bool,
    /// What the wallet holds.
    pub(super) purse: &'c Purse,
    /// What may be counted here of limits that vaults split.
    pub(super) shares: &'c Shares,
}

impl Tx<'_> {
    /// Adds an event.
    pub(super) fn event(&self, event: &Event) -> Result<(), LedgerFault> {
        events::append(self.conn, self.now_s, event)
    }
}

/// What every thread may see.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: LedgerClock,
    pub(super) latch: Latch,
    pub(super) purse: Purse,
    pub(super) shares: Shares,
    /// The clock of the server that the ledger is on, where that is the ledger's.
    pub(super) server: Option<Arc<ServerTime>>,
    /// How far the log has come.
    pub(super) news: News,
}

/// The writer's front: gives it work from any thread.
#[derive(Debug)]
pub(super) struct Writer {
    orders: Sender<Order>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

type Work = Box<dyn FnOnce(Result<&Tx<'_>, LedgerFault>) -> Step + Send>;
type Tell = Box<dyn FnOnce(Result<(), LedgerFault>) + Send>;

enum Order {
    Work(Work),
    Recheck(Tell),
    Close,
}

impl std::fmt::Debug for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Work(_) => "Work",
            Self::Recheck(_) => "Recheck",
            Self::Close => "Close",
        })
    }
}

/// What became of one piece of work.
struct Step {
    /// What to tell whoever asked, once the fate of the writing is known.
    tell: Tell,
    fate: Fate,
}

enum Fate {
    AtOnce,
    AfterCommit,
    Durable,
    Failed(LedgerFault),
}

impl Writer {
    /// Starts the thread on an open connection.
    pub(super) fn start(conn: Store, place: LedgerPlace, shared: Arc<Shared>, mark: Mark) -> Result<Self, LedgerFault> {
        let (orders, inbox) = mpsc::channel();
        let file = place.file.clone();
        let journal = Journal::at(open::journal(&place)?);
        let engine = Engine::new(conn, place, shared, inbox, mark, journal);
        let thread = std::thread::Builder::new()
            .name("ledger".to_owned())
            .spawn(move || engine.run())
            .map_err(|fault| LedgerFault::File { path: file, detail: fault.to_string() })?;
        Ok(Self { orders, thread: Mutex::new(Some(thread)) })
    }

    /// Has `work` done inside a transaction and waits for its answer.
    ///
    /// # Errors
    ///
    /// The fault of the work, or of the commit that it wanted; then nothing of it was written.
    pub(super) fn ask<T, F>(&self, work: F) -> Result<T, LedgerFault>
    where
        T: Send + 'static,
        F: FnOnce(&Tx<'_>) -> Result<Answer<T>, LedgerFault> + Send + 'static,
    {
        let (teller, told) = mpsc::sync_channel::<Result<T, LedgerFault>>(1);
        let job: Work = Box::new(move |tx| {
            let (value, fate) = match tx.and_then(|tx| unpanicked(|| work(tx))) {
                Ok(Answer::AtOnce(value)) => (Ok(value), Fate::AtOnce),
                Ok(Answer::AfterCommit(value)) => (Ok(value), Fate::AfterCommit),
                Ok(Answer::Durable(value)) => (Ok(value), Fate::Durable),
                Err(fault) => (Err(fault.clone()), Fate::Failed(fault)),
            };
            let tell: Tell = Box::new(move |committed| {
                if teller.send(committed.and(value)).is_err() {
                    tracing::debug!("whoever asked the ledger has left");
                }
            });
            Step { tell, fate }
        });
        self.orders.send(Order::Work(job)).map_err(|_closed| LedgerFault::Closed)?;
        told.recv().map_err(|_lost| LedgerFault::Storage { detail: "no answer came from its thread".to_owned() })?
    }

    /// Has `work` done without waiting; a fault of it is in the program's log only.
    pub(super) fn tell<F>(&self, work: F)
    where
        F: FnOnce(&Tx<'_>) -> Result<(), LedgerFault> + Send + 'static,
    {
        let job: Work = Box::new(move |tx| {
            let fate = match tx.and_then(|tx| unpanicked(|| work(tx))) {
                Ok(()) => Fate::AtOnce,
                Err(fault) => Fate::Failed(fault),
            };
            Step { tell: Box::new(|_fate| ()), fate }
        });
        if self.orders.send(Order::Work(job)).is_err() {
            tracing::warn!("the ledger is closed, an event was not written");
        }
    }

    /// Opens the file again, checks everything, and lifts the latch.
    pub(super) fn recheck(&self) -> Result<(), LedgerFault> {
        let (teller, told) = mpsc::sync_channel(1);
        let tell: Tell = Box::new(move |verdict| {
            if teller.send(verdict).is_err() {
                tracing::debug!("whoever asked the ledger has left");
            }
        });
        self.orders.send(Order::Recheck(tell)).map_err(|_closed| LedgerFault::Closed)?;
        told.recv().map_err(|_lost| LedgerFault::Closed)?
    }

    /// Ends the thread after everything that was asked before is on the disk.
    pub(super) fn close(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let asked = self.orders.send(Order::Close).is_ok();
            if thread.join().is_err() || !asked {
                tracing::error!("the ledger's thread ended before it was asked to");
            }
        }
    }
}

/// A panic in a piece of work is a fault like any other, so that whoever asked hears of it.
fn unpanicked<T>(work: impl FnOnce() -> Result<T, LedgerFault>) -> Result<T, LedgerFault> {
    // What the work touched is rolled back, and the connection is not used in the middle of a call.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(LedgerFault::Storage { detail: said(&*panic) }))
}

fn said(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("a step panicked: {}", words.unwrap_or_else(|| "it did not say why".to_owned()))
}
