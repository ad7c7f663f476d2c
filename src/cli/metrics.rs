//! `bursar metrics`: shows counts of what happens where `[metrics]` of the rules says, until it is stopped. It must never show
//! more than that table allows, nor change anything.

mod board;
mod collector;
mod guard;
mod line;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use bursar_policy::rules::{self, MetricsDoor, Traces};
use bursar_vault::process::OPERATORS_MAX;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, WhichRules};
use bursar_vault::rules_file;
use bursar_vault::socket::{self, Guests};
use clap::Args;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::feed::{self, Begin};
use super::{serve, table};
use crate::doorway::{self, Doorway};
use crate::metrics::answer;
use crate::platform::{self, Stream};
use board::Board;

/// The most readers at once. They share one line to the vault; that they are fewer than an operator's seats there holds also
/// for whoever changes that.
const READERS_MAX: usize = 8;
const _: () = assert!(READERS_MAX < OPERATORS_MAX);

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
        // What was before is not counted.
        board.measure();
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

/// Shows until this process is told to end. Then the collector hears the rest.
async fn show(profile: &Profile, rules: &rules::Metrics, board: Arc<Board>) -> Result<(), Stop> {
    let stop = serve::told_to_stop()?;
    match rules.listen() {
        None => {}
        Some(MetricsDoor::Loopback(address)) => {
            let listener = TcpListener::bind(address).await.map_err(|fault| taken(&address, &fault))?;
            table::say(&format!("Metrics are read at http://{address}/metrics, by whoever shows the token."))?;
            tokio::spawn(read_at(listener, |(stream, _)| Some(stream), Arc::clone(&board)));
        }
        Some(MetricsDoor::Socket) => {
            let path = profile.run_dir().join("metrics.sock");
            let listener =
                socket::bind(&path, &Guests::Ourselves).map_err(|fault| Stop::not_ready(fault.to_string()))?;
            let file = Taken(path.clone());
            let listener = platform::door(listener)?;
            table::say(&format!("Metrics are read at `{}`, by you alone.", path.display()))?;
            let board = Arc::clone(&board);
            tokio::spawn(async move {
                read_at(listener, ours, board).await;
                drop(file);
            });
        }
    }
    match rules.otlp() {
        None => stop.await,
        Some(collector) => {
            let what = if let Traces::Sent = rules.traces() { "Metrics and traces" } else { "Metrics" };
            table::say(&format!("{what} are sent to {collector}."))?;
            let every = Duration::from_secs(rules.every_s());
            tokio::select! {
                () = stop => {}
                () = collector::keep_sending(collector, every, &board) => {}
            }
            collector::send(collector, &board).await;
        }
    }
    Ok(())
}

fn taken(address: &SocketAddr, fault: &std::io::Error) -> Stop {
    Stop::not_ready(format!("nothing can be read at `{address}`: {fault}; name another port in `listen` of [metrics]"))
}

/// A socket's file, taken away with its listener.
struct Taken(PathBuf);

impl Drop for Taken {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

/// A reader of our own user.
fn ours(stream: Stream) -> Option<Stream> {
    let is_ours = socket::peer_of(&stream).and_then(|uid| Guests::Ourselves.admit(uid)).is_ok();
    if !is_ours {
        tracing::warn!("a reader of metrics of another user was not taken in");
    }
    is_ours.then_some(stream)
}

/// Answers those that `admitted` lets in by `door`, so many at once.
async fn read_at<D, S>(door: D, admitted: impl Fn(D::Guest) -> Option<S>, board: Arc<Board>)
where
    D: Doorway,
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let room = Arc::new(Semaphore::new(READERS_MAX));
    while let Ok(place) = Arc::clone(&room).acquire_owned().await {
        let Some(stream) = admitted(doorway::next(&door).await) else { continue };
        let board = Arc::clone(&board);
        tokio::spawn(async move {
            answer(stream, board).await;
            drop(place);
        });
    }
}
