//! The thread behind the writer: opens a transaction when asked, commits it, brings it to the disk, latches when it
//! cannot. Must never keep an answer that is due, nor give one that is not.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use super::journal::Journal;
use super::{Fate, Order, Shared, Step, Tell, Tx, Work};
use crate::clock::{Confirmed, Trust};
use crate::ledger::audit::chain::Kept;
use crate::ledger::events::{self, Event, EventKind, Head};
use crate::ledger::fault::LedgerFault;
use crate::ledger::mark::Mark;
use crate::ledger::open::{self, LedgerPlace, Pages};
use crate::ledger::store::Store;
use crate::ledger::{approval, audit, handle, meta, session};

/// The most asks in one transaction that somebody waits for: a stream of others does not put its commit off.
const BATCH_MAX: usize = 64;

/// The same on a server, where other vaults wait for their turn.
const SHARED_BATCH_MAX: usize = 16;

/// How long a write that nobody waits for may stay off the disk, in milliseconds.
const LAZY_MS: u64 = 50;

/// How long a server that was not there is not looked for again: everybody who asks meanwhile hears so at once.
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);

/// The thread's own side.
pub(super) struct Engine {
    place: LedgerPlace,
    /// `None` after a fault that left no usable connection; only a recheck makes another.
    conn: Option<Store>,
    shared: Arc<Shared>,
    inbox: Receiver<Order>,
    journal: Journal,
    open: Option<Open>,
    /// Who is told when the open transaction is committed.
    to_commit: Vec<Tell>,
    /// Who is told when it is on the disk as well.
    to_disk: Vec<Tell>,
    unsynced: Option<Unsynced>,
    mark: Mark,
    /// Why the server was not reached, and until when it is not looked for again.
    unreached: Option<(LedgerFault, Instant)>,
}

/// The transaction that is open.
struct Open {
    asks: usize,
    on_disk_by: Option<Instant>,
    changes_before: u64,
    /// Something must reach the disk although no statement has changed anything yet.
    must_write: bool,
}

/// What is committed and perhaps not on the disk.
struct Unsynced {
    /// `None` where it is too late for any time.
    by: Option<Instant>,
    head: Head,
}

enum Next {
    Order(Order),
    Commit,
    End,
}

impl Engine {
    pub(super) const fn new(
        conn: Store,
        place: LedgerPlace,
        shared: Arc<Shared>,
        inbox: Receiver<Order>,
        mark: Mark,
        journal: Journal,
    ) -> Self {
        Self {
            place,
            conn: Some(conn),
            shared,
            inbox,
            journal,
            open: None,
            to_commit: Vec::new(),
            to_disk: Vec::new(),
            unsynced: None,
            mark,
            unreached: None,
        }
    }

    /// Works until it is told to end, or nobody is left who could ask.
    pub(super) fn run(mut self) {
        loop {
            match self.next() {
                Next::Order(Order::Work(work)) => self.work(work),
                Next::Order(Order::Recheck(tell)) => {
                    self.commit();
                    self.sync();
                    let verdict = self.recheck();
                    tell(verdict);
                }
                Next::Commit => self.settle(),
                Next::Order(Order::Close) | Next::End => break,
            }
            let most = if self.place.server.is_some() { SHARED_BATCH_MAX } else { BATCH_MAX };
            let full = self.open.as_ref().is_some_and(|open| most <= open.asks);
            if full && self.is_waited_for() {
                self.settle();
            }
        }
        self.commit();
        self.sync();
        if let Some(Err(fault)) = self.conn.take().map(Store::close) {
            tracing::warn!(%fault, "the ledger did not close in order");
        }
    }

    /// The next order; or `Commit` when nothing more is there that could share the open transaction, or what is not on the
    /// disk has to go there.
    fn next(&self) -> Next {
        let idle = !self.is_waited_for() && self.open.as_ref().is_none_or(|open| self.is_dirty(open));
        let found = match (idle, self.on_disk_by()) {
            (true, Some(by)) => match by.saturating_duration_since(Instant::now()) {
                // Not even what is there already: under a steady stream something always is.
                Duration::ZERO => Err(RecvTimeoutError::Timeout),
                left => self.inbox.recv_timeout(left),
            },
            (true, None) if self.open.is_none() => self.inbox.recv().map_err(|_closed| RecvTimeoutError::Disconnected),
            _ => self.inbox.try_recv().map_err(|fault| match fault {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            }),
        };
        match found {
            Ok(order) => Next::Order(order),
            Err(RecvTimeoutError::Timeout) => Next::Commit,
            Err(RecvTimeoutError::Disconnected) => Next::End,
        }
    }

    /// Whether anybody waits for the open transaction.
    const fn is_waited_for(&self) -> bool {
        !self.to_commit.is_empty() || !self.to_disk.is_empty()
    }

    /// When what was written has to be on the disk; `None` while everything is.
    fn on_disk_by(&self) -> Option<Instant> {
        let committed = self.unsynced.as_ref().and_then(|unsynced| unsynced.by);
        // What is committed already is older than what is not.
        committed.or_else(|| self.open.as_ref().and_then(|open| open.on_disk_by))
    }

    fn is_dirty(&self, open: &Open) -> bool {
        open.must_write || self.conn.as_ref().is_some_and(|conn| conn.changes() != open.changes_before)
    }

    fn work(&mut self, work: Work) {
        let (mut now_s, mut shut_now) = self.look_at_the_clock();
        if let Err(fault) = self.begin() {
            // A foreign lock is met here and never at the commit: a transaction that has begun holds the only one.
            if fault.latches() {
                self.fail(&fault);
            }
            return refuse(work, fault);
        }
        if self.shared.server.is_some() {
            // Only now it is known what the server's clock says.
            let (seen_s, shut_since) = self.look_at_the_clock();
            (now_s, shut_now) = (seen_s, shut_now || shut_since);
        }
        if let Some(open) = &mut self.open {
            open.asks = open.asks.saturating_add(1);
            open.must_write |= shut_now;
        }
        let Some(conn) = &self.conn else {
            let detail = self.shared.latch.reason().unwrap_or_else(|| "the connection is gone".to_owned());
            return refuse(work, LedgerFault::Storage { detail });
        };
        let latched = self.shared.latch.reason().is_some();
        let tx = Tx { conn, now_s, latched, purse: &self.shared.purse, shares: &self.shared.shares };
        let is_shared = conn.is_shared();
        let (Step { tell, fate }, broken) = do_one(conn, &tx, work);
        match fate {
            Fate::AtOnce if !is_shared => tell(Ok(())),
            Fate::AtOnce | Fate::AfterCommit => self.to_commit.push(tell),
            Fate::Durable => self.to_disk.push(tell),
            Fate::Failed(fault) => {
                // Whoever hears of the fault finds the latch shut already.
                match broken {
                    Some(broken) => self.fail_or_abandon(&broken),
                    None if fault.latches() => self.fail(&fault),
                    None if self.is_lost() => self.abandon(&fault),
                    None => {}
                }
                tell(Err(fault));
            }
        }
    }

    /// Ledger time, and whether payments are shut since now because of it.
    fn look_at_the_clock(&self) -> (u64, bool) {
        let reading = self.shared.clock.read();
        match reading.trust {
            Trust::Steady => (reading.now_s, false),
            Trust::Jumped(jump) => (reading.now_s, self.shared.latch.shut(jump.to_string())),
        }
    }

    fn is_lost(&self) -> bool {
        self.conn.as_ref().is_none_or(Store::is_lost)
    }

    /// A line to the server in the place of one that was lost; a file has none.
    fn reconnect(&mut self) -> Result<(), LedgerFault> {
        if self.conn.as_ref().is_some_and(|conn| !conn.is_lost()) || self.place.server.is_none() {
            return Ok(());
        }
        self.conn = None;
        if let Some((fault, until)) = &self.unreached
            && Instant::now() < *until
        {
            return Err(fault.clone());
        }
        match open::open(&self.place, Pages::OfAFewEvents) {
            Ok(conn) => {
                self.unreached = None;
                self.hold_against_the_mark(&conn)?;
                self.conn = Some(conn);
                Ok(())
            }
            Err(fault) => {
                tracing::warn!(%fault, "the ledger's server is not there");
                let until = Instant::now().checked_add(RECONNECT_PAUSE);
                self.unreached = until.map(|until| (fault.clone(), until));
                Err(fault)
            }
        }
    }

    /// Whatever answers now may be another server than before, or one that was put back: it has to be the same ledger, and
    /// everything that was committed has to be in it.
    fn hold_against_the_mark(&mut self, conn: &Store) -> Result<(), LedgerFault> {
        let found = meta::read(conn)?;
        if found.ledger_id != self.mark.ledger_id() {
            return Err(LedgerFault::Server {
                detail: "another ledger answers there now; check where it leads".to_owned(),
            });
        }
        if let Some(reason) = self.mark.hold(conn, &found.head)? {
            self.shared.latch.shut(reason.to_owned());
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), LedgerFault> {
        if self.open.is_none() {
            self.reconnect()?;
        }
        let (Some(conn), None) = (&self.conn, &self.open) else {
            return Ok(());
        };
        let changes_before = conn.changes();
        if let Err(fault) = conn.begin() {
            // A file that cannot be written can still be read, and what was bought already is still to be told.
            if self.shared.latch.reason().is_none() {
                return Err(fault);
            }
            conn.begin_to_look()?;
        }
        if let Some(seen) = conn.seen() {
            if let Some(time) = &self.shared.server {
                time.see(seen.now_s);
            }
            self.shared.clock.not_before(seen.recorded_s);
            self.shared.latch.follow(seen.latched);
        }
        // On a server others wait for their turn, so a commit is not put off.
        let lazy = (!conn.is_shared()).then(|| Instant::now().checked_add(Duration::from_millis(LAZY_MS)));
        self.open = Some(Open { asks: 0, on_disk_by: lazy.flatten(), changes_before, must_write: false });
        Ok(())
    }

    /// Commits what is open, and waits for the disk where somebody waits for it or it is time.
    fn settle(&mut self) {
        self.commit();
        let is_time = self.unsynced.as_ref().is_some_and(|unsynced| unsynced.by.is_none_or(|by| by <= Instant::now()));
        if is_time || !self.to_disk.is_empty() {
            self.sync();
        }
    }

    /// Commits what is open and tells everyone who waited for that.
    fn commit(&mut self) {
        let (Some(open), Some(conn)) = (&self.open, &self.conn) else {
            return;
        };
        let dirty = self.is_dirty(open);
        let is_durable = !self.to_disk.is_empty() || open.must_write || !conn.is_shared();
        let sealed = if dirty { seal(conn, &self.shared).map(Some) } else { Ok(None) };
        let committed = if is_durable { Store::commit } else { Store::commit_lazily };
        match sealed.and_then(|head| committed(conn).map(|()| head)) {
            Err(fault) => self.fail_or_abandon(&fault),
            Ok(head) => {
                if let Some(head) = head {
                    self.shared.latch.mark_written();
                    self.shared.news.tell(head.seq);
                    let by = self.on_disk_by();
                    match conn.is_shared() {
                        false => self.unsynced = Some(Unsynced { by, head }),
                        // A server was waited for in the commit, or not at all: what its crash may lose is no mark.
                        true if is_durable => self.mark.passed(&head),
                        true => {}
                    }
                }
                self.open = None;
                for tell in self.to_commit.drain(..) {
                    tell(Ok(()));
                }
            }
        }
    }

    /// A server that went away or said no is no reason to shut the ledger for good, and a file that did is.
    fn fail_or_abandon(&mut self, fault: &LedgerFault) {
        if fault.latches() || self.place.server.is_none() {
            self.fail(fault);
        } else {
            self.abandon(fault);
        }
    }

    /// Gives up what is open and tells everyone who waited. Whether it was committed may not be known.
    fn abandon(&mut self, fault: &LedgerFault) {
        self.open = None;
        if self.conn.as_ref().is_some_and(|conn| !conn.give_up()) {
            self.conn = None;
        }
        for tell in self.to_commit.drain(..).chain(self.to_disk.drain(..)) {
            tell(Err(fault.clone()));
        }
    }

    /// Waits until everything that is committed is on the disk, and tells everyone who waited for that.
    fn sync(&mut self) {
        if let (Some(Unsynced { head, .. }), Some(conn)) = (&self.unsynced, &self.conn) {
            if let Err(fault) = self.journal.sync(conn) {
                return self.fail(&fault);
            }
            self.mark.passed(head);
        }
        self.unsynced = None;
        for tell in self.to_disk.drain(..) {
            tell(Ok(()));
        }
    }

    /// Gives up what is open, latches, and tells everyone who waited.
    fn fail(&mut self, fault: &LedgerFault) {
        self.shared.latch.shut(fault.to_string());
        self.open = None;
        if self.conn.as_ref().is_some_and(|conn| !conn.give_up()) {
            self.conn = None;
        }
        for tell in self.to_commit.drain(..).chain(self.to_disk.drain(..)) {
            tell(Err(fault.clone()));
        }
        // Best effort: the latch in memory holds whatever the disk says.
        let written = self.begin().and_then(|()| match &self.conn {
            Some(conn) => {
                let head = seal(conn, &self.shared)?;
                conn.commit()?;
                self.shared.news.tell(head.seq);
                self.journal.sync(conn)
            }
            None => Ok(()),
        });
        self.open = None;
        // What could not be brought to the disk stays so for whoever asks next, but is not tried again by itself.
        self.unsynced = self.unsynced.take().filter(|_| written.is_err()).map(|left| Unsynced { by: None, ..left });
        match (written, &self.conn) {
            (Ok(()), Some(_)) => self.shared.latch.mark_written(),
            (Err(again), Some(conn)) => {
                tracing::error!(fault = %again, "the latch could not be written down");
                if !conn.give_up() {
                    self.conn = None;
                }
            }
            (_, None) => {}
        }
    }

    fn recheck(&mut self) -> Result<(), LedgerFault> {
        // A connection that saw a fault may remember things that are no longer so.
        self.conn = None;
        self.open = None;
        self.unsynced = None;
        self.journal.forget();
        let conn = open::open(&self.place, Pages::All)?;
        let looked = conn.begin_to_look();
        let checked = looked.and_then(|()| audit::everything(&conn, Kept::default(), &mut |_progress| ()));
        conn.give_up();
        let conn = self.conn.insert(conn);
        checked?;
        let jumped = self.shared.clock.read().trust != Trust::Steady;
        let confirmed = self.shared.clock.confirm().ok_or(LedgerFault::NoClock)?;
        let transaction = conn.transaction()?;
        if let Some(set_back) = self.mark.set_back() {
            // What was paid out of sessions since, and for handles, is not known: a person opens new ones, knowing that.
            let now_s = self.shared.clock.read().now_s;
            let tx =
                Tx { conn: &transaction, now_s, latched: true, purse: &self.shared.purse, shares: &self.shared.shares };
            handle::presume_redeemed(&tx)?;
            session::close_every(&tx, &format!("the ledger was accepted although {set_back}"))?;
        }
        let head = unlatch(&transaction, &self.shared, Some(confirmed).filter(|_confirmed| jumped))?;
        transaction.commit()?;
        self.journal.sync(conn)?;
        self.mark.accept(&head);
        self.shared.news.tell(head.seq);
        self.shared.latch.open();
        Ok(())
    }
}

fn unlatch(conn: &Store, shared: &Shared, confirmed: Option<Confirmed>) -> Result<Head, LedgerFault> {
    let now_s = shared.clock.read().now_s;
    if let Some(reason) = shared.latch.reason() {
        events::append(conn, now_s, &Event::new(EventKind::Unlatched, format!("it was shut because {reason}")))?;
    }
    if let Some(Confirmed { from_s, to_s }) = confirmed {
        let told = format!("ledger time was {from_s} and is {to_s}");
        events::append(conn, now_s, &Event::new(EventKind::ClockConfirmed, told))?;
        if to_s < from_s {
            approval::clock_set_back(conn, to_s)?;
            // Those that were drawn in the mistaken future would keep their money aside until it comes.
            handle::end_every(
                &Tx { conn, now_s, latched: true, purse: &shared.purse, shares: &shared.shares },
                "the clock was set back",
            )?;
        }
    }
    meta::set_latched(conn, None)?;
    meta::stamp(conn, &shared.clock.memory())
}

/// What goes into every commit that writes: the time, the end of the log, and a latch that the disk does not know yet.
/// Where the log ends then.
fn seal(conn: &Store, shared: &Shared) -> Result<Head, LedgerFault> {
    if let Some(reason) = shared.latch.unwritten() {
        meta::set_latched(conn, Some(&reason))?;
        events::append(conn, shared.clock.read().now_s, &Event::new(EventKind::Latched, reason))?;
    }
    meta::stamp(conn, &shared.clock.memory())
}

/// Does one piece of work in a part of the transaction. What became of it, and why the transaction has to be given up, if it
/// has.
fn do_one(conn: &Store, tx: &Tx<'_>, work: Work) -> (Step, Option<LedgerFault>) {
    if let Err(fault) = conn.begin_part() {
        let Step { tell, .. } = work(Err(fault.clone()));
        return (Step { tell, fate: Fate::Failed(fault.clone()) }, Some(fault));
    }
    let step = work(Ok(tx));
    let ended = match step.fate {
        Fate::AtOnce | Fate::AfterCommit | Fate::Durable => conn.end_part(),
        Fate::Failed(_) if conn.is_in_transaction() => conn.undo_part(),
        Fate::Failed(_) => Ok(()),
    };
    match (ended, step) {
        (Ok(()), step) => (step, None),
        (Err(fault), Step { tell, fate: Fate::Failed(first) }) => {
            (Step { tell, fate: Fate::Failed(first) }, Some(fault))
        }
        (Err(fault), Step { tell, .. }) => (Step { tell, fate: Fate::Failed(fault.clone()) }, Some(fault)),
    }
}

fn refuse(work: Work, fault: LedgerFault) {
    let Step { tell, .. } = work(Err(fault.clone()));
    tell(Err(fault));
}
