//! A sandbox with a vault in this process, its operator, its buyers and a clock that is moved by hand. The vault can die
//! as from SIGKILL: what was committed by then is what the next one finds.

use std::cell::RefCell;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bursar::content::ContentStore;
use bursar::flow::{Buyer, Pauses};
use bursar::net::SystemResolver;
use bursar::wallet::Wallet;
use bursar_vault::chain::NoChains;
use bursar_vault::client::OperatorClient;
use bursar_vault::clock::TimeSource;
use bursar_vault::ledger::{Inspector, Kept};
use bursar_vault::process::{self, Running};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, Passphrase};
use bursar_vault::setup::{self, NewKey, Unlocking};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::act::Write;
use crate::deal::{SCHEDULES, SESSIONS};
use crate::seller::{host, payee};

/// What all payments at one host come to at most, in atomic units.
pub(crate) const HOST_MAX_UNITS: u128 = 40_000;

/// When a life begins.
const START_S: u64 = 1_900_000_000;

thread_local! {
    /// The clock of the life that is lived on this thread.
    static CLOCK: RefCell<Moved> = RefCell::new(Moved::default());
}

/// How much time has passed in a life.
#[derive(Clone, Debug, Default)]
struct Moved(Arc<AtomicU64>);

impl TimeSource for Moved {
    fn wall_s(&self) -> Option<u64> {
        Some(START_S + self.0.load(Ordering::SeqCst))
    }

    fn boot_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst) * 1000
    }

    fn boot_id(&self) -> String {
        "one boot".to_owned()
    }
}

fn now_s() -> u64 {
    CLOCK.with_borrow(|clock| clock.wall_s().unwrap())
}

/// The sandbox.
pub(crate) struct House {
    pub(crate) profile: Profile,
    running: Option<Running>,
    time: Moved,
    // Dropped last.
    folder: TempDir,
}

impl House {
    pub(crate) fn open(port: u16) -> Self {
        let time = Moved::default();
        CLOCK.set(time.clone());
        let mut folder = tempfile::Builder::new();
        folder.prefix("bursar-lives-");
        // In memory where there is such a folder: nothing here is about the disk.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { folder.tempdir_in(memory) } else { folder.tempdir() }.unwrap();
        let profile = Profile::locate_sandbox(&folder.path().join("home")).unwrap();
        setup::initialise(&profile, &rules(port), NewKey::Generated, &passphrase(), Unlocking::ByFile).unwrap();
        let mut id = [0; 16];
        let place = profile.ledger_place();
        let made = bursar_vault::ledger::Ledger::open(&place, Box::new(bursar_vault::clock::MachineTime)).unwrap();
        hex::decode_to_slice(made.id(), &mut id).unwrap();
        drop(made);
        // Made anew by the clock of this life.
        fs::remove_file(&place.file).unwrap();
        let absent = bursar_vault::ledger::KeyFile::Absent;
        bursar_vault::ledger::Ledger::create(&place, absent, id, Box::new(time.clone())).unwrap();
        let mut house = Self { profile, running: None, time, folder };
        house.start();
        for number in 0..SESSIONS {
            house.ask(OperatorAsk::SessionNew {
                name: session(number).parse().unwrap(),
                budget: "0.25 USD".parse().unwrap(),
                minutes: 10_000,
                mandate: None,
                passphrase: passphrase(),
            });
        }
        house
    }

    fn start(&mut self) {
        let time = Box::new(self.time.clone());
        self.running = Some(process::start(&self.profile, None, time, Arc::new(NoChains)).unwrap());
    }

    /// A `serve` that spends from a session.
    pub(crate) fn buyer(&self, number: usize) -> Buyer<SystemResolver> {
        let wallet = Wallet::new(&self.profile, Some(session(number).parse().unwrap())).unwrap();
        let content = ContentStore::open(&self.profile.content_dir()).unwrap();
        Buyer::new(&self.profile, wallet, SystemResolver::new(), content)
            .pausing(Pauses([Duration::ZERO; 2]))
            .by_clock(now_s)
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.time.0.fetch_add(seconds, Ordering::SeqCst);
    }

    /// The vault dies and another one starts on what it had committed.
    pub(crate) fn die_and_come_back(&mut self) {
        let (ledger, mark) = (self.profile.ledger(), self.profile.ledger().with_extension("mark"));
        let left = self.folder.path().join("left");
        // The mark first: it may go on, and what is committed is never behind it.
        let marked = fs::read(&mark).unwrap();
        self.connection().execute("VACUUM INTO ?1", [left.to_str().unwrap()]).unwrap();
        // What it still does, in order, is not there afterwards.
        self.running.take().unwrap().stop();
        for side in ["-wal", "-shm"] {
            let side = format!("{}{side}", ledger.display());
            fs::remove_file(side).unwrap_or_default();
        }
        fs::rename(&left, &ledger).unwrap();
        fs::set_permissions(&ledger, Permissions::from_mode(0o600)).unwrap();
        fs::write(&mark, marked).unwrap();
        self.start();
    }

    /// The database refuses this write until [`House::write_again`].
    pub(crate) fn refuse(&self, write: Write) {
        let on = match write {
            Write::Row => "INSERT ON payment",
            Write::Total => "INSERT ON spent",
            Write::Signature => "UPDATE OF signature ON payment",
            Write::Delivery => "UPDATE OF delivery ON payment",
            Write::Event => "INSERT ON event",
        };
        let sql = format!("CREATE TRIGGER broken BEFORE {on} BEGIN SELECT RAISE(ABORT, 'broken on purpose'); END");
        self.connection().execute_batch(&sql).unwrap();
    }

    pub(crate) fn write_again(&self) {
        self.connection().execute_batch("DROP TRIGGER IF EXISTS broken").unwrap();
    }

    fn connection(&self) -> Connection {
        let conn = Connection::open(self.profile.ledger()).unwrap();
        conn.busy_timeout(Duration::from_secs(10)).unwrap();
        conn
    }

    pub(crate) fn ask(&self, ask: OperatorAsk) -> OperatorReply {
        OperatorClient::connect(&self.profile).unwrap().0.ask(&ask).unwrap()
    }

    /// Why payments are shut, if they are.
    pub(crate) fn latched(&self) -> Option<String> {
        match self.ask(OperatorAsk::Status) {
            OperatorReply::Status(status) => status.latched,
            other => panic!("out of turn: {other:?}"),
        }
    }

    /// Ends the vault in order and has the ledger checked wholly.
    pub(crate) fn close(mut self) {
        self.running.take().unwrap().stop();
        let inspector = Inspector::open(&self.profile.ledger_place()).unwrap();
        assert_eq!(inspector.set_back(), None);
        inspector.verify(Kept::default(), &mut |_progress| ()).unwrap();
    }
}

pub(crate) fn session(number: usize) -> String {
    format!("s{number}")
}

fn passphrase() -> Passphrase {
    Passphrase::new("correct horse battery staple".to_owned().into())
}

fn rules(port: u16) -> String {
    let numbers = || 0..SCHEDULES;
    let payees: Vec<String> = numbers().map(|number| format!("\"{}\"", payee(number))).collect();
    let mapped: Vec<String> = numbers().map(|number| format!("\"{}\" = \"127.0.0.1\"", host(number))).collect();
    let entry = |number| {
        let (host, payee) = (host(number), payee(number));
        format!("[[host]]\norigin = \"http://{host}:{port}\"\nrecipients = [\"{payee}\"]\ncontent = \"text\"\n")
    };
    let entries: String = numbers().map(entry).collect();
    format!(
        r#"
        [payment]
        max_per_payment = "0.05 USD"
        networks = ["eip155:84532"]
        assets = ["eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e"]
        recipients = [{}]
        max_unresolved = 5
        quarantine_after = 5

        [[limit]]
        scope = "host"
        window = "24h"
        max = "0.04 USD"

        {entries}

        [sandbox]
        hosts = {{ {} }}
        "#,
        payees.join(", "),
        mapped.join(", ")
    )
}
