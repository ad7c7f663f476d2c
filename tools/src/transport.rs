//! The strict door in front of the MCP library: lines in, JSON-RPC out, every bad line answered and nothing else lost.
//!
//! Must never hand on a line longer than [`LINE_MAX_BYTES`], a message with two meanings, or a second request under
//! an id that is still being worked on; and must never write anything but one JSON-RPC message a line.
//!
//! `receive` is dropped and called again whenever something else happens, so all state it needs between two awaits
//! lives in the struct.

use core::future::Future;
use core::pin::Pin;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, watch};

use crate::arguments::BODY_MAX_BYTES;
use crate::envelope::{self, Envelope};
use crate::flights::Flights;
use crate::server::Ended;

/// The longest line that is read as a message: a body of the largest size with every byte escaped once, and the rest.
pub(crate) const LINE_MAX_BYTES: usize = 2 * BODY_MAX_BYTES + LINE_USUAL_BYTES;

/// What is kept of the room for a line once it was read.
const LINE_USUAL_BYTES: usize = 256 * 1024;

/// The longest line that is kept to find the id for its refusal; of a longer one nothing is kept.
const LINE_KEPT_BYTES: usize = 2 * LINE_MAX_BYTES;

/// The most answers waiting for the client to read.
const ANSWERS_WAITING_MAX: usize = 64;

/// How long a client that does not read its answers is waited for, once the end has come.
pub(crate) const LAST_ANSWERS_WAIT: Duration = Duration::from_secs(5);

/// The byte order mark some shells put before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A future that ends when the process is asked to stop.
pub(crate) type Shutdown = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The reading side, and a queue to the one task that writes.
pub(crate) struct StrictTransport<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    overlong: Overlong,
    first: bool,
    queue: Option<mpsc::Sender<Vec<u8>>>,
    reply: Option<Vec<u8>>,
    flights: Arc<Flights>,
    shutdown: Shutdown,
    ended: watch::Sender<Option<Ended>>,
}

/// How far over the cap the line being read is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Overlong {
    No,
    /// All of it is still in the buffer.
    Kept,
    /// The buffer was given up.
    Lost,
}

/// What waiting for input brought.
enum Input {
    Line,
    End(Ended),
}

impl<R: AsyncRead + Send + Unpin + 'static> StrictTransport<R> {
    /// Joins a reader and the queue of a [`writer`].
    pub(crate) fn new(
        input: R,
        queue: mpsc::Sender<Vec<u8>>,
        flights: Arc<Flights>,
        shutdown: Shutdown,
        ended: watch::Sender<Option<Ended>>,
    ) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            overlong: Overlong::No,
            first: true,
            queue: Some(queue),
            reply: None,
            flights,
            shutdown,
            ended,
        }
    }

    /// Sends a waiting refusal, then waits for a line, the end of the input or output, or the order to stop.
    async fn next_input(&mut self) -> Input {
        let Self { input, line, overlong, reply, queue, flights, shutdown, .. } = self;
        let Some(queue) = queue else { return Input::End(Ended::OutputClosed) };
        let ready = async {
            send_reply(queue, reply).await;
            flights.room().await;
            read_line(input, line, overlong).await
        };
        tokio::select! {
            biased;
            () = shutdown => Input::End(Ended::Asked),
            () = queue.closed() => Input::End(Ended::OutputClosed),
            read = ready => match read {
                Ok(true) => Input::Line,
                Ok(false) => Input::End(Ended::InputClosed),
                Err(fault) => {
                    tracing::warn!(%fault, "standard input can not be read any more");
                    Input::End(Ended::InputClosed)
                }
            },
        }
    }

    /// What was asked before the end is still answered, however long the work takes.
    async fn finish(&mut self) {
        if let Some(queue) = &self.queue {
            tokio::select! {
                () = send_reply(queue, &mut self.reply) => {}
                () = patience(self.ended.subscribe()) => {}
            }
        }
        self.flights.all_landed().await;
    }

    /// Judges the line in the buffer and empties it.
    fn take_line(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut bytes = self.line.as_slice();
        if core::mem::replace(&mut self.first, false) {
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        let envelope = match self.overlong {
            Overlong::No => envelope::open(bytes.strip_suffix(b"\r").unwrap_or(bytes)),
            Overlong::Kept => envelope::too_long(Some(bytes), LINE_MAX_BYTES),
            Overlong::Lost => envelope::too_long(None, LINE_MAX_BYTES),
        };
        self.overlong = Overlong::No;
        self.line.clear();
        self.line.shrink_to(LINE_USUAL_BYTES);
        match envelope {
            Envelope::Request(id, message) if self.flights.depart(&id) => return Some(*message),
            Envelope::Request(id, _) => self.refuse(
                Some(id),
                rmcp::ErrorData::invalid_request("a request with this id is still being worked on", None),
            ),
            Envelope::Invalid(id, error) => self.refuse(id, error),
            Envelope::Cancel(id) => self.flights.cancel(&id),
            // Nobody answers what was not asked, nor twice.
            Envelope::Response(id, message) if self.flights.answered(&id) => return Some(*message),
            Envelope::Response(..) | Envelope::Nothing => {}
        }
        None
    }

    fn refuse(&mut self, id: Option<rmcp::model::RequestId>, error: rmcp::ErrorData) {
        tracing::debug!(code = error.code.0, "a line of input is refused");
        self.reply = encode(&TxJsonRpcMessage::<RoleServer>::error(error, id));
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for StrictTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let queue = self.queue.clone();
        let flights = Arc::clone(&self.flights);
        let ended = self.ended.subscribe();
        async move {
            if let JsonRpcMessage::Request(request) = &item {
                flights.ask(&request.id);
            }
            let id = match &item {
                JsonRpcMessage::Response(response) => Some(response.id.clone()),
                JsonRpcMessage::Error(error) => error.id.clone(),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
            };
            if let Some(id) = &id
                && !flights.is_wanted(id)
            {
                // Cancelled: the work is done and recorded, the answer is not sent.
                flights.land(id);
                return Ok(());
            }
            let closed = || io::Error::new(io::ErrorKind::BrokenPipe, "nobody reads standard output");
            let place = match &queue {
                Some(queue) => tokio::select! {
                    place = queue.reserve() => place.map_err(|_| closed()),
                    () = patience(ended) => Err(closed()),
                },
                None => Err(closed()),
            };
            // The id is free before the client can see the answer, and not before there is room for the answer.
            let wanted = id.as_ref().is_none_or(|id| flights.land(id));
            if let (true, Some(line)) = (wanted, encode(&item)) {
                place?.send(line);
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.ended.borrow().is_some() {
                self.finish().await;
                return None;
            }
            match self.next_input().await {
                Input::Line => {
                    if let Some(message) = self.take_line() {
                        return Some(message);
                    }
                }
                Input::End(ended) => {
                    tracing::info!(?ended, "no more input is taken");
                    self.flights.deafen();
                    if ended != Ended::InputClosed {
                        self.flights.leave();
                    }
                    self.ended.send_replace(Some(ended));
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.queue = None;
        Ok(())
    }
}

/// Puts a waiting refusal into the queue. Safe to drop: the refusal leaves its place only when it is in the queue.
async fn send_reply(queue: &mpsc::Sender<Vec<u8>>, reply: &mut Option<Vec<u8>>) {
    if reply.is_none() {
        return;
    }
    if let (Ok(place), Some(line)) = (queue.reserve().await, reply.take()) {
        place.send(line);
    }
}

/// Ends some time after the end has come, and never before.
async fn patience(mut ended: watch::Receiver<Option<Ended>>) {
    if ended.wait_for(Option::is_some).await.is_err() {
        // Nobody is left to say that the end has come.
        return;
    }
    tokio::time::sleep(LAST_ANSWERS_WAIT).await;
}

/// Starts the one task that writes to `output`; it ends when every sender of the queue is gone or writing fails.
pub(crate) fn writer<W>(mut output: W) -> (mpsc::Sender<Vec<u8>>, tokio::task::JoinHandle<()>)
where
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (queue, mut lines) = mpsc::channel::<Vec<u8>>(ANSWERS_WAITING_MAX);
    let task = tokio::spawn(async move {
        while let Some(line) = lines.recv().await {
            let written = match output.write_all(&line).await {
                Ok(()) => output.flush().await,
                Err(fault) => Err(fault),
            };
            if let Err(fault) = written {
                tracing::warn!(%fault, "standard output can not be written any more");
                return;
            }
        }
    });
    (queue, task)
}

/// Appends to `line` up to the next line feed, which is dropped; false at the end of the input.
///
/// An unfinished last line counts as a line. Safe to drop: bytes are copied and consumed without a pause between.
async fn read_line<R: AsyncRead + Unpin>(
    input: &mut BufReader<R>,
    line: &mut Vec<u8>,
    overlong: &mut Overlong,
) -> io::Result<bool> {
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            return Ok(!line.is_empty() || *overlong != Overlong::No);
        }
        let found = available.iter().position(|byte| *byte == b'\n');
        let (part, _) = available.split_at(found.unwrap_or(available.len()));
        let used = part.len().saturating_add(usize::from(found.is_some()));
        if *overlong != Overlong::Lost {
            let length = line.len().saturating_add(part.len());
            *overlong = match length {
                0..=LINE_MAX_BYTES => Overlong::No,
                _ if length <= LINE_KEPT_BYTES => Overlong::Kept,
                _ => Overlong::Lost,
            };
            match overlong {
                Overlong::Lost => *line = Vec::new(),
                Overlong::No | Overlong::Kept => line.extend_from_slice(part),
            }
        }
        input.consume(used);
        if found.is_some() {
            return Ok(true);
        }
    }
}

/// One message as one line; a message that cannot be written as JSON is a fault of ours and is dropped.
fn encode(message: &TxJsonRpcMessage<RoleServer>) -> Option<Vec<u8>> {
    match serde_json::to_vec(message) {
        Ok(mut line) => {
            line.push(b'\n');
            Some(line)
        }
        Err(fault) => {
            tracing::error!(%fault, "a message can not be written as JSON");
            None
        }
    }
}
