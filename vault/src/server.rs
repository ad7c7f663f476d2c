//! Accepts connections and carries frames to conversations. Must never look inside a message.
//!
//! A thread a connection, with a small stack and a cap a door: however many agents connect, the operator's door has
//! room of its own. A thread that is done waits a while for the next connection. A bad frame costs its sender the
//! connection and nobody else anything.

use crate::platform::{self, Listener, Stream};
use crate::protocol::frame::{self, ASK_MAX_BYTES, FrameFault, REPLY_MAX_BYTES};
use crate::socket::{self, Guests};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a new connection may wait before its first frame.
const FIRST_FRAME: Duration = Duration::from_secs(30);
/// How long a stopping door waits for conversations to come to their end.
const LAST_WORDS: Duration = Duration::from_secs(10);
const STACK_BYTES: usize = 512 * 1024;
/// How long a thread without a connection waits for the next one.
const REST: Duration = Duration::from_secs(10);

/// One side of a conversation: takes an ask, gives the reply.
pub(crate) trait Conversation {
    /// What may be asked.
    type Ask: DeserializeOwned;
    /// What is replied.
    type Reply: Serialize;

    /// Replies to one ask, and says whether the conversation goes on.
    fn answer(&mut self, ask: Self::Ask) -> (Self::Reply, Then);

    /// The reply that tells a fault; the connection ends after it.
    fn fault(code: &str, message: String) -> Self::Reply;
}

/// Whether a conversation goes on after a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Wait for the next ask.
    GoOn,
    /// Close the connection.
    Close,
}

/// The process at the other end, for a conversation that keeps it waiting.
#[derive(Debug)]
pub(crate) struct Peer(Arc<Stream>);

impl Peer {
    /// Whether it hung up, or the door is closing: whoever waits for it may stop.
    pub(crate) fn is_gone(&self) -> bool {
        platform::is_gone(&self.0)
    }
}

/// A bound socket with the threads behind it.
#[derive(Debug)]
pub(crate) struct Door {
    path: PathBuf,
    listener: Arc<Listener>,
    room: Arc<Room>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Room {
    cap: usize,
    people: Mutex<People>,
    /// Somebody left.
    changed: Condvar,
    /// Somebody waits for a thread, or the door closed.
    called: Condvar,
}

#[derive(Debug, Default)]
struct People {
    closed: bool,
    next: u64,
    streams: HashMap<u64, Arc<Stream>>,
    /// Who came and has no thread yet.
    waiting: VecDeque<Guest>,
    /// How many threads wait for somebody.
    resting: usize,
}

/// A connection with its place in the room.
#[derive(Debug)]
struct Guest {
    seat: Seat,
    stream: Arc<Stream>,
}

impl Door {
    /// Opens a door: `greet` makes one conversation for each connection of a process of a guest's.
    pub(crate) fn open<C: Conversation>(
        listener: Listener,
        path: &Path,
        guests: Guests,
        cap: usize,
        greet: impl Fn(Peer) -> C + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let people = Mutex::new(People::default());
        let room = Arc::new(Room { cap, people, changed: Condvar::new(), called: Condvar::new() });
        let (inside, greet) = (Arc::clone(&room), Arc::new(greet));
        let listener = Arc::new(listener);
        let listening = Arc::clone(&listener);
        let accepting = thread::Builder::new()
            .name("accept".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || accept(&listening, &guests, &inside, &greet))?;
        Ok(Self { path: path.to_owned(), listener, room, accepting: Some(accepting) })
    }

    /// Lets nobody in any more, ends every conversation after its current ask, and waits for them for a while.
    ///
    /// Removes the socket's file.
    pub(crate) fn close(&mut self) {
        {
            let mut people = self.room.lock();
            people.closed = true;
            for stream in people.streams.values() {
                // Only the reading half: a conversation that is signing may still say its answer.
                drop(stream.shutdown(Shutdown::Read));
            }
            self.room.called.notify_all();
        }
        // Wakes the accepting thread, which then sees that the door is closed.
        if let Err(fault) = platform::stop_listening(&self.listener, &self.path) {
            tracing::warn!(%fault, "a socket does not stop listening");
        }
        if let Err(fault) = std::fs::remove_file(&self.path) {
            tracing::debug!(%fault, "the socket's file is gone already");
        }
        if let Some(accepting) = self.accepting.take() {
            drop(accepting.join());
        }
        let until = Instant::now().checked_add(LAST_WORDS);
        let mut people = self.room.lock();
        while !people.streams.is_empty() {
            let left = until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                break;
            }
            (people, _) = self.room.changed.wait_timeout(people, left).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if self.accepting.is_some() {
            self.close();
        }
    }
}

impl Room {
    fn lock(&self) -> MutexGuard<'_, People> {
        self.people.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands `guest` to a thread that rests. Where there is none, another one is needed for it.
    fn call(&self, guest: Guest) -> Needs {
        let mut people = self.lock();
        people.waiting.push_back(guest);
        let needs = if people.waiting.len() <= people.resting { Needs::Nothing } else { Needs::Thread };
        drop(people);
        self.called.notify_one();
        needs
    }

    /// The next guest, waiting for one as long as a thread rests.
    fn next_guest(&self) -> Option<Guest> {
        let mut people = self.lock();
        people.resting = people.resting.saturating_add(1);
        let nobody = |people: &mut People| people.waiting.is_empty() && !people.closed;
        let waited = self.called.wait_timeout_while(people, REST, nobody);
        (people, _) = waited.unwrap_or_else(PoisonError::into_inner);
        people.resting = people.resting.saturating_sub(1);
        people.waiting.pop_front()
    }
}

enum Needs {
    Nothing,
    Thread,
}

/// A place in a room; given back however its conversation ends.
struct Seat {
    number: u64,
    room: Arc<Room>,
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.room.lock().streams.remove(&self.number);
        self.room.changed.notify_all();
    }
}

enum Entry {
    In(Seat),
    Full,
    Closed,
}

fn accept<C: Conversation>(
    listener: &Listener,
    guests: &Guests,
    room: &Arc<Room>,
    greet: &Arc<impl Fn(Peer) -> C + Send + Sync + 'static>,
) {
    loop {
        let stream = match platform::accept(listener) {
            Ok(stream) => Arc::new(stream),
            Err(fault) => {
                let people = room.lock();
                if people.closed {
                    return;
                }
                tracing::warn!(%fault, "cannot accept a connection");
                // Out of descriptors, most likely: wait until somebody leaves, or a moment.
                drop(room.changed.wait_timeout(people, Duration::from_millis(100)));
                continue;
            }
        };
        if let Err(fault) = socket::peer_of(&*stream).and_then(|uid| guests.admit(uid)) {
            tracing::warn!(%fault, "a connection was refused");
            continue;
        }
        match enter(room, &stream) {
            Entry::Closed => return,
            Entry::Full => say_fault::<C>(
                &stream,
                "vault_busy",
                "too many connections are open; close one and try again".to_owned(),
            ),
            Entry::In(seat) => {
                if let Needs::Thread = room.call(Guest { seat, stream })
                    && let Err(fault) = start(room, greet)
                {
                    tracing::warn!(%fault, "cannot start a thread for a connection");
                    let left_alone = room.lock().waiting.pop_back();
                    // Only now: its seat takes the same lock.
                    drop(left_alone);
                }
            }
        }
    }
}

fn enter(room: &Arc<Room>, stream: &Arc<Stream>) -> Entry {
    let mut people = room.lock();
    if people.closed {
        return Entry::Closed;
    }
    if room.cap <= people.streams.len() {
        return Entry::Full;
    }
    let number = people.next;
    people.next = number.wrapping_add(1);
    people.streams.insert(number, Arc::clone(stream));
    Entry::In(Seat { number, room: Arc::clone(room) })
}

/// Starts a thread that has one conversation after another.
fn start<C: Conversation>(
    room: &Arc<Room>,
    greet: &Arc<impl Fn(Peer) -> C + Send + Sync + 'static>,
) -> io::Result<JoinHandle<()>> {
    let (room, greet) = (Arc::clone(room), Arc::clone(greet));
    thread::Builder::new().name("conversation".to_owned()).stack_size(STACK_BYTES).spawn(move || {
        while let Some(Guest { seat, stream }) = room.next_guest() {
            let _seat = seat;
            converse(&stream, greet(Peer(Arc::clone(&stream))));
        }
    })
}

fn converse<C: Conversation>(stream: &Stream, mut conversation: C) {
    let mut idle = Some(FIRST_FRAME);
    loop {
        let read = frame::read(stream, ASK_MAX_BYTES, idle);
        let decoded = match read {
            Ok(None) | Err(FrameFault::Cut | FrameFault::Socket(_)) => return,
            Ok(Some(content)) => frame::decode(&content),
            Err(fault) => Err(fault),
        };
        let ask = match decoded {
            Ok(ask) => ask,
            Err(fault) => return say_fault::<C>(stream, "bad_frame", fault.to_string()),
        };
        let (reply, then) = conversation.answer(ask);
        match frame::write(stream, &reply, REPLY_MAX_BYTES) {
            Ok(()) if then == Then::GoOn => idle = None,
            Ok(()) => return,
            Err(fault @ FrameFault::TooLong { .. }) => {
                return say_fault::<C>(stream, "reply_too_long", fault.to_string());
            }
            Err(_gone) => return,
        }
    }
}

fn say_fault<C: Conversation>(stream: &Stream, code: &str, message: String) {
    // Whoever broke the frame may be gone already; there is nobody else to tell.
    drop(frame::write(stream, &C::fault(code, message), REPLY_MAX_BYTES));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::thread::ThreadId;

    /// Tells which thread it is on.
    struct Where;

    impl Conversation for Where {
        type Ask = ();
        type Reply = String;

        fn answer(&mut self, _ask: ()) -> (String, Then) {
            (told(thread::current().id()), Then::GoOn)
        }

        fn fault(code: &str, _message: String) -> String {
            code.to_owned()
        }
    }

    fn told(thread: ThreadId) -> String {
        format!("{thread:?}")
    }

    fn open(cap: usize) -> (tempfile::TempDir, Door) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("door");
        let door =
            Door::open(UnixListener::bind(&path).unwrap(), &path, Guests::Ourselves, cap, |_peer| Where).unwrap();
        (folder, door)
    }

    fn ask(stream: &UnixStream) -> String {
        frame::write(stream, &(), ASK_MAX_BYTES).unwrap();
        frame::decode(&frame::read(stream, REPLY_MAX_BYTES, None).unwrap().unwrap()).unwrap()
    }

    /// Returns when nobody is in the room and `threads` rest.
    fn rest(door: &Door, threads: usize) {
        loop {
            let people = door.room.lock();
            if people.streams.is_empty() && people.resting == threads {
                return;
            }
            drop(people);
            thread::yield_now();
        }
    }

    #[test]
    fn a_thread_that_is_done_takes_the_next_connection_and_two_at_once_have_one_each() {
        let (_folder, door) = open(8);
        let connect = || UnixStream::connect(&door.path).unwrap();
        let one = connect();
        let first = ask(&one);
        let two = connect();
        let second = ask(&two);
        assert_ne!(first, second);
        drop((one, two));
        rest(&door, 2);
        let again: Vec<UnixStream> = (0..3).map(|_| connect()).collect();
        let threads: Vec<String> = again.iter().map(ask).collect();
        assert!(threads.contains(&first) && threads.contains(&second), "{threads:?}");
        drop(again);
        rest(&door, 3);
    }

    #[test]
    fn a_full_room_and_a_closed_door_let_nobody_in_and_leave_no_thread() {
        let (_folder, mut door) = open(1);
        let inside = UnixStream::connect(&door.path).unwrap();
        ask(&inside);
        let outside = UnixStream::connect(&door.path).unwrap();
        let said: String = frame::decode(&frame::read(&outside, REPLY_MAX_BYTES, None).unwrap().unwrap()).unwrap();
        assert_eq!(said, "vault_busy");
        drop(inside);
        rest(&door, 1);
        door.close();
        let room = Arc::clone(&door.room);
        while 1 < Arc::strong_count(&room).saturating_sub(1) {
            thread::yield_now();
        }
        assert_eq!(room.lock().resting, 0);
    }
}
