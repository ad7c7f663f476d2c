//! A vault that says what the test wants at `glue.sock`, and tells what it was asked. It signs nothing and counts nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar_policy::{Handle, Method, PageOpening, Setting};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::frame::{self, ASK_MAX_BYTES, REPLY_MAX_BYTES};
use bursar_vault::protocol::{
    Attach, GlueAsk, GlueRefusal, GlueReply, GlueWelcome, HeaderName, PROTOCOL, PaymentHeader, Receipt, Report,
    RowState,
};
use serde_json::json;
use tokio::sync::mpsc as told;
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::stage::PATIENCE;

/// How long `Next` is held back.
const NEXT: Duration = Duration::from_millis(50);

/// What the glue did.
#[derive(Debug)]
pub(crate) enum Did {
    Armed,
    Refused(GlueRefusal),
    Redeemed(String),
    Reported(Box<Report>),
}

/// Whether a handle is good.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Good,
    Frozen,
}

/// The vault.
pub(crate) struct ScriptedVault {
    give: mpsc::Sender<(Attach, Word)>,
    did: told::UnboundedReceiver<Did>,
}

impl ScriptedVault {
    /// Listens where the vault of `profile` would.
    pub(crate) fn open(profile: &Profile) -> Self {
        let socket = profile.glue_sock();
        let run = socket.parent().unwrap();
        fs::create_dir_all(run).unwrap();
        fs::set_permissions(run, fs::Permissions::from_mode(0o700)).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        let (give, given) = mpsc::channel();
        let (tell, did) = told::unbounded_channel();
        std::thread::spawn(move || {
            // Ends with the test: nobody gives or hears any more.
            while let Ok((stream, _)) = listener.accept() {
                converse(&stream, &given, &tell);
            }
        });
        Self { give, did }
    }

    /// Lets the glue pay for a page.
    pub(crate) fn attach(&self, url: &str, open: PageOpening, word: Word) {
        self.attach_for(url, open, word, 60);
    }

    /// The same, with a handle that is good for `seconds`.
    pub(crate) fn attach_for(&self, url: &str, open: PageOpening, word: Word, seconds: u64) {
        let handle = Handle::from_random([1; 24]);
        let attach = Attach { handle, url: url.to_owned(), method: Method::Get, open, expires_in_s: seconds };
        self.give.send((attach, word)).unwrap();
    }

    /// The next thing that the glue does.
    pub(crate) async fn did(&mut self) -> Did {
        timeout(PATIENCE, self.did.recv()).await.expect("the glue does nothing").expect("the vault has gone")
    }

    /// The glue is ready.
    pub(crate) async fn was_armed(&mut self) {
        let did = self.did().await;
        assert!(matches!(did, Did::Armed), "{did:?}");
    }

    /// The glue redeems for exactly this URL.
    pub(crate) async fn was_redeemed(&mut self, url: &str) {
        let did = self.did().await;
        assert!(matches!(&did, Did::Redeemed(asked) if asked == url), "{did:?}");
    }

    /// What the glue reports.
    pub(crate) async fn heard(&mut self) -> Report {
        match self.did().await {
            Did::Reported(report) => *report,
            did => panic!("{did:?}"),
        }
    }
}

/// The header that every good handle is redeemed for.
pub(crate) fn header() -> String {
    let authorization =
        json!({ "from": format!("0x{}", "ab".repeat(20)), "nonce": format!("0x{}", "0123".repeat(16)) });
    STANDARD.encode(json!({ "payload": { "authorization": authorization, "signature": "0x00" } }).to_string())
}

fn converse(stream: &UnixStream, given: &mpsc::Receiver<(Attach, Word)>, tell: &told::UnboundedSender<Did>) {
    let mut word = Word::Good;
    while let Ok(Some(ask)) = frame::read(stream, ASK_MAX_BYTES, None) {
        let reply = match frame::decode(&ask).unwrap() {
            GlueAsk::Hello { session, .. } => GlueReply::Welcome(GlueWelcome {
                protocol: PROTOCOL,
                session: session.unwrap_or_default(),
                setting: Setting::Sandbox,
            }),
            GlueAsk::Next => match given.recv_timeout(NEXT) {
                Ok((attach, said)) => {
                    word = said;
                    GlueReply::Attach(attach)
                }
                Err(mpsc::RecvTimeoutError::Timeout) => GlueReply::Idle,
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
            },
            GlueAsk::Armed { .. } => noted(tell, Did::Armed),
            GlueAsk::Refuse { why, .. } => noted(tell, Did::Refused(why)),
            GlueAsk::Redeem { url, .. } => {
                drop(tell.send(Did::Redeemed(url)));
                match word {
                    Word::Good => GlueReply::Redeemed {
                        header: PaymentHeader::new(HeaderName::PaymentSignature, Zeroizing::new(header())),
                    },
                    Word::Frozen => GlueReply::Fault { code: "refused".to_owned(), message: "it is frozen".to_owned() },
                }
            }
            GlueAsk::Report { report, .. } => {
                drop(tell.send(Did::Reported(report)));
                GlueReply::Reported { receipt: receipt() }
            }
        };
        if frame::write(stream, &reply, REPLY_MAX_BYTES).is_err() {
            return;
        }
    }
}

fn noted(tell: &told::UnboundedSender<Did>, did: Did) -> GlueReply {
    drop(tell.send(did));
    GlueReply::Noted
}

fn receipt() -> Receipt {
    Receipt {
        payment: format!("p_{}", "0".repeat(32)).parse().unwrap(),
        state: RowState::Settled,
        amount: "50000".parse().unwrap(),
        money: "0.05 USD".parse().unwrap(),
        symbol: "USDC".to_owned(),
        chain: "eip155:84532".parse().unwrap(),
        payee: crate::seller::PAYEE.parse().unwrap(),
        transaction: None,
        outcome: "paid".to_owned(),
        created_s: 1,
        valid_before: 60,
        identical_repeat: false,
    }
}
