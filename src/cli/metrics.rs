//! `bursar metrics`: shows counts of what happens where `[metrics]` of the rules says, until it is stopped. It must never show
//! more than that table allows, nor change anything.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use bursar_policy::Origin;
use bursar_policy::rules::{self, MetricsDoor};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, OperatorStatus, SecretValue, WhichRules};
use bursar_vault::rules_file;
use bursar_vault::socket::{self, Guests};
use bytes::Bytes;
use clap::Args;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::feed::{self, Begin, Heard, Seen};
use super::{serve, table};
use crate::clock;
use crate::metrics::{Admission, Counts, Shelf, answer, otlp_request, prometheus_text};

/// The most readers at once.
const READERS_MAX: usize = 16;
/// How long a collector may take.
const SENT_WITHIN: Duration = Duration::from_secs(10);

/// Show counts of what happens to a Prometheus, or send them to an OTLP collector on this machine.
///
/// Runs until you stop it. `[metrics]` of the rules says where; without that table nothing is shown.
#[derive(Debug, Args)]
pub(super) struct Metrics {}

impl Metrics {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        serve::log_to_stderr();
        let operator = Operator::connect_or_start(profile)?;
        let rules = wanted(profile, &operator)?;
        let board = Arc::new(Board::new(profile, &rules));
        let (to, heard) = mpsc::channel();
        feed::start(profile, operator, Begin::After(None), to)?;
        let counting = Arc::clone(&board);
        thread::Builder::new().name("count".to_owned()).spawn(move || counting.count(&heard))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(show(profile, &rules, board))?;
        runtime.shutdown_timeout(Duration::from_millis(200));
        Ok(Exit::Done)
    }
}

/// What the rules in force say of metrics.
fn wanted(profile: &Profile, operator: &Operator) -> Result<rules::Metrics, Stop> {
    let OperatorReply::Rules { text, .. } = operator.ask(&OperatorAsk::Rules { which: WhichRules::InForce })? else {
        return Err(out_of_turn());
    };
    let found = rules_file::parse(&text, profile.setting()).map_err(|fault| Stop::not_ready(fault.to_string()))?;
    found.metrics().cloned().ok_or_else(|| {
        Stop::not_ready("the rules have no [metrics], so nothing is shown; add that table and run `bursar reload`")
    })
}

/// Shows until this process is told to end.
async fn show(profile: &Profile, rules: &rules::Metrics, board: Arc<Board>) -> Result<(), Stop> {
    let stop = serve::told_to_stop()?;
    match rules.listen() {
        None => {}
        Some(MetricsDoor::Loopback(address)) => {
            let listener = TcpListener::bind(address).await.map_err(|fault| taken(&address, &fault))?;
            table::say(&format!("Metrics are read at http://{address}/metrics, by whoever shows the token."))?;
            tokio::spawn(at_a_port(listener, Arc::clone(&board)));
        }
        Some(MetricsDoor::Socket) => {
            let path = profile.run_dir().join("metrics.sock");
            let listener =
                socket::bind(&path, &Guests::Ourselves).map_err(|fault| Stop::not_ready(fault.to_string()))?;
            listener.set_nonblocking(true)?;
            table::say(&format!("Metrics are read at `{}`, by you alone.", path.display()))?;
            tokio::spawn(at_a_socket(UnixListener::from_std(listener)?, Taken(path), Arc::clone(&board)));
        }
    }
    if let Some(collector) = rules.otlp() {
        table::say(&format!("Metrics are sent to {collector}."))?;
        tokio::spawn(send(collector.clone(), Duration::from_secs(rules.every_s()), board));
    }
    stop.await;
    Ok(())
}

fn taken(address: &SocketAddr, fault: &std::io::Error) -> Stop {
    Stop::not_ready(format!("nothing can be read at `{address}`: {fault}; name another port in `listen` of [metrics]"))
}

async fn at_a_port(listener: TcpListener, board: Arc<Board>) {
    let room = Arc::new(Semaphore::new(READERS_MAX));
    while let Ok(place) = Arc::clone(&room).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let board = Arc::clone(&board);
                tokio::spawn(async move {
                    answer(stream, board).await;
                    drop(place);
                });
            }
            Err(fault) => tracing::warn!(%fault, "a reader of metrics was not taken in"),
        }
    }
}

/// A socket's file, taken away with its listener.
struct Taken(PathBuf);

impl Drop for Taken {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

async fn at_a_socket(listener: UnixListener, _file: Taken, board: Arc<Board>) {
    let room = Arc::new(Semaphore::new(READERS_MAX));
    while let Ok(place) = Arc::clone(&room).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) if socket::peer_of(&stream).and_then(|uid| Guests::Ourselves.admit(uid)).is_ok() => {
                let board = Arc::clone(&board);
                tokio::spawn(async move {
                    answer(stream, board).await;
                    drop(place);
                });
            }
            Ok(_stranger) => tracing::warn!("a reader of metrics of another user was not taken in"),
            Err(fault) => tracing::warn!(%fault, "a reader of metrics was not taken in"),
        }
    }
}

/// Sends to the collector from time to time. What is missed is in the next message: counters only grow.
async fn send(collector: Origin, every: Duration, board: Arc<Board>) {
    let mut tick = tokio::time::interval(every);
    loop {
        tick.tick().await;
        let body = board.request();
        match tokio::time::timeout(SENT_WITHIN, posted(&collector, body)).await {
            Ok(Ok(status)) if (200..300).contains(&status) => {}
            Ok(Ok(status)) => tracing::warn!(%collector, status, "the collector did not take metrics"),
            Ok(Err(fault)) => tracing::warn!(%collector, fault, "the collector was not reached"),
            Err(_late) => tracing::warn!(%collector, "the collector did not answer in time"),
        }
    }
}

/// One request to `/v1/metrics`; the status.
async fn posted(collector: &Origin, body: String) -> Result<u16, String> {
    let address = collector.host.ip().map(|ip| SocketAddr::new(ip, collector.port));
    let address = address.ok_or("a collector is named by its address")?;
    let told = |fault: &dyn std::fmt::Display| fault.to_string();
    let stream = TcpStream::connect(address).await.map_err(|fault| told(&fault))?;
    let line = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = line.map_err(|fault| told(&fault))?;
    tokio::spawn(async move { drop(connection.await) });
    let request = Request::post("/v1/metrics")
        .header(HOST, collector.authority())
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)))
        .map_err(|fault| told(&fault))?;
    let reply = sender.send_request(request).await.map_err(|fault| told(&fault))?;
    Ok(reply.status().as_u16())
}

/// Whether readers have to show a token.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Token,
    Nothing,
}

/// What is known.
#[derive(Debug)]
struct Board {
    profile: Profile,
    asked: Asked,
    began_s: u64,
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    counts: Counts,
    status: Option<OperatorStatus>,
}

impl Board {
    fn new(profile: &Profile, rules: &rules::Metrics) -> Self {
        let asked = if rules.token().is_some() { Asked::Token } else { Asked::Nothing };
        let known = Known { counts: Counts::new(rules.labels()), status: None };
        Self { profile: profile.clone(), asked, began_s: clock::now_s(), known: Mutex::new(known) }
    }

    /// Counts what the vault tells for as long as it does.
    fn count(&self, heard: &mpsc::Receiver<Heard>) {
        for heard in heard {
            match heard {
                Heard::Seen(seen) => self.see(*seen),
                Heard::Gone(why) => {
                    tracing::warn!(why, "no vault answers; gauges are left out until one does");
                    self.known().status = None;
                }
                Heard::Resized | Heard::Leave => {}
            }
        }
    }

    fn see(&self, seen: Seen) {
        for event in &seen.events {
            if !Counts::is_an_end(event) {
                self.known().counts.refused(event);
                continue;
            }
            let Some(id) = event.payment.clone() else { continue };
            let asked = Operator::connect(&self.profile).and_then(|line| line.ask(&OperatorAsk::Payment { id }));
            match asked {
                Ok(OperatorReply::Payment(detail)) => self.known().counts.ended(event, &detail),
                Ok(_) => tracing::warn!("a payment was not counted: the vault answered out of turn"),
                Err(fault) => tracing::warn!(%fault, "a payment was not counted"),
            }
        }
        self.known().status = Some(seen.status);
    }

    fn request(&self) -> String {
        let known = self.known();
        let families = known.counts.families(known.status.as_ref());
        otlp_request(&families, &known.counts.times, self.began_s, clock::now_s())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf for Board {
    fn page(&self) -> String {
        let known = self.known();
        prometheus_text(&known.counts.families(known.status.as_ref()), &known.counts.times)
    }

    fn admits(&self, shown: Option<&str>) -> Admission {
        let Asked::Token = self.asked else { return Admission::Yes };
        let shown = shown.and_then(|text| SecretValue::new(Zeroizing::new(text.to_owned())).ok());
        let Some(shown) = shown else { return Admission::No };
        let Ok(operator) = Operator::connect(&self.profile) else { return Admission::NotNow };
        match operator.ask_or_code(&OperatorAsk::MetricsToken { shown }) {
            Ok(Ok(OperatorReply::Done)) => Admission::Yes,
            Ok(Err(said)) if said.code == "token_wrong" => Admission::No,
            _ => Admission::NotNow,
        }
    }
}
