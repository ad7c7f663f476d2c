//! A way to a server that can be cut at any word, or fall silent. Must never change a word.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// What happens to the word at which the line is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// The server never hears it.
    Before,
    /// The server hears it, and its answer is lost.
    After,
}

/// Listens on loopback and forwards to the server's port.
#[derive(Debug)]
pub(super) struct LineCutter {
    pub(super) port: u16,
    way: Arc<Way>,
}

#[derive(Debug)]
struct Way {
    /// How many more words of the client go through; below zero: as many as there are.
    left: AtomicI64,
    after: AtomicBool,
    is_silent: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl LineCutter {
    pub(super) fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let way = Arc::new(Way {
            left: AtomicI64::new(-1),
            after: AtomicBool::new(false),
            is_silent: AtomicBool::new(false),
            open: Mutex::default(),
        });
        let shared = Arc::clone(&way);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                client.set_nodelay(true).unwrap();
                server.set_nodelay(true).unwrap();
                let (back, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                shared.open.lock().unwrap().extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
                let (there, here) = (Arc::clone(&shared), Arc::clone(&shared));
                thread::spawn(move || there.words(client, to));
                thread::spawn(move || here.answers(server, back));
            }
        });
        Self { port, way }
    }

    /// Lets `words` of the client go through and cuts the line at the next one.
    pub(super) fn cut_after(&self, words: i64, cut: Cut) {
        self.way.after.store(cut == Cut::After, Ordering::SeqCst);
        self.way.left.store(words, Ordering::SeqCst);
    }

    /// Lets everything through again; whether the line was cut meanwhile.
    pub(super) fn mend(&self) -> bool {
        self.way.is_silent.store(false, Ordering::SeqCst);
        self.way.left.swap(-1, Ordering::SeqCst) == i64::MIN
    }

    /// Takes every word and every answer, and passes none on.
    pub(super) fn fall_silent(&self) {
        self.way.is_silent.store(true, Ordering::SeqCst);
    }

    /// Cuts every line that is there.
    pub(super) fn hang_up(&self) {
        for end in self.way.open.lock().unwrap().drain(..) {
            // The other end may have hung up already.
            drop(end.shutdown(Shutdown::Both));
        }
    }
}

impl Way {
    fn words(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut bytes = [0; 65_536];
        while let Ok(read) = from.read(&mut bytes) {
            if read == 0 {
                break;
            }
            if self.is_silent.load(Ordering::SeqCst) {
                continue;
            }
            let left = self.left.load(Ordering::SeqCst);
            if left == 0 {
                self.left.store(i64::MIN, Ordering::SeqCst);
                if self.after.load(Ordering::SeqCst) {
                    // The client is gone before the answer can be, and the server does what it was told.
                    drop(from.shutdown(Shutdown::Both));
                    to.write_all(&bytes[..read]).unwrap_or_default();
                    let _answer = to.shutdown(Shutdown::Write);
                    return;
                }
                break;
            }
            if 0 < left {
                self.left.store(left.saturating_sub(1), Ordering::SeqCst);
            }
            if to.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        drop((from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both)));
    }

    fn answers(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut bytes = [0; 65_536];
        while let Ok(read @ 1..) = from.read(&mut bytes) {
            if !self.is_silent.load(Ordering::SeqCst) {
                // A client that is gone takes nothing, and the server is not hung up on for it: it may not have heard all yet.
                to.write_all(&bytes[..read]).unwrap_or_default();
            }
        }
        drop((from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both)));
    }
}
