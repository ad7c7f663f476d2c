//! A vault that freezes when it is asked to, and does not say how it stands until the test lets it.

use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use bursar_policy::Setting;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::frame::{self, ASK_MAX_BYTES, REPLY_MAX_BYTES};
use bursar_vault::protocol::{OperatorAsk, OperatorReply, OperatorWelcome, PROTOCOL};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::raw::PATIENCE;

/// The test's hold on it.
pub(crate) struct MuteVault {
    looks: watch::Receiver<usize>,
    gate: Arc<(Mutex<bool>, Condvar)>,
}

impl MuteVault {
    /// Answers at the operator's socket of `profile`.
    pub(crate) fn open(profile: &Profile) -> Self {
        bursar_vault::guarded::make_directory(&profile.run_dir()).unwrap();
        let listener = UnixListener::bind(profile.operator_sock()).unwrap();
        let (told, looks) = watch::channel(0);
        let (told, gate) = (Arc::new(told), Arc::new((Mutex::new(false), Condvar::new())));
        let inside = Arc::clone(&gate);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (told, gate) = (Arc::clone(&told), Arc::clone(&inside));
                thread::spawn(move || converse(&stream.unwrap(), &told, &gate));
            }
        });
        Self { looks, gate }
    }

    /// Waits until it was asked so often how it stands.
    pub(crate) async fn was_asked(&self, count: usize) {
        let mut looks = self.looks.clone();
        timeout(PATIENCE, looks.wait_for(|looks| count <= *looks)).await.unwrap().unwrap();
    }

    /// Lets every look end, with a fault.
    pub(crate) fn goes_on(&self) {
        *self.gate.0.lock().unwrap() = true;
        self.gate.1.notify_all();
    }
}

impl Drop for MuteVault {
    fn drop(&mut self) {
        self.goes_on();
    }
}

fn converse(stream: &UnixStream, told: &watch::Sender<usize>, gate: &(Mutex<bool>, Condvar)) {
    while let Ok(Some(content)) = frame::read(stream, ASK_MAX_BYTES, Some(PATIENCE)) {
        let reply = match frame::decode::<OperatorAsk>(&content).unwrap() {
            OperatorAsk::Hello { .. } => OperatorReply::Welcome(OperatorWelcome {
                protocol: PROTOCOL,
                setting: Setting::Sandbox,
                version: "0".to_owned(),
                pid: 1,
                locked: false,
                payer: None,
            }),
            OperatorAsk::Freeze { .. } => OperatorReply::Done,
            OperatorAsk::Status => {
                told.send_modify(|looks| *looks += 1);
                let open = gate.1.wait_while(gate.0.lock().unwrap(), |open| !*open).unwrap();
                drop(open);
                OperatorReply::Fault { code: "mute".to_owned(), message: "nothing is told".to_owned() }
            }
            other => panic!("{other:?}"),
        };
        if frame::write(stream, &reply, REPLY_MAX_BYTES).is_err() {
            return;
        }
    }
}
