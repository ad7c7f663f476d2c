//! One JSON-RPC endpoint over the pinned network. It must never send a transaction, follow a redirect, or name more of the
//! endpoint than its origin.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bursar_policy::{Address, BodyType, Method, Origin, Rules, Site, Vetted};
use bursar_vault::chain::{At, Block, Endpoint, EndpointFault, Log, Receipt, Which, Word};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::answer::{self, Answer};
use crate::authorities;
use crate::net::{Ask, BodyEnd, Exchange, Limits, SystemResolver, Tls, pin};

/// The most bytes of one answer.
const ANSWER_MAX_BYTES: u64 = 4 << 20;

/// How long one request may take.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(4),
    tls: Duration::from_secs(4),
    first_byte: Duration::from_secs(5),
    header: Duration::from_secs(5),
    idle: Duration::from_secs(4),
    total: Duration::from_secs(6),
    header_bytes: 32 * 1024,
    header_fields: 100,
};

/// An endpoint, dialled when it is first asked; every request of its life goes to the addresses that were judged then.
pub(super) struct Rpc {
    origin: Origin,
    site: RefCell<Option<Vetted<Site>>>,
    rules: Arc<Rules>,
    home: PathBuf,
    runtime: Result<Handle, EndpointFault>,
    hung_up: watch::Receiver<bool>,
    line: OnceCell<Result<Exchange, EndpointFault>>,
    asked: Cell<u64>,
}

impl Rpc {
    pub(super) fn new(
        site: Vetted<Site>,
        rules: &Arc<Rules>,
        home: &Path,
        runtime: Result<Handle, EndpointFault>,
        hung_up: watch::Receiver<bool>,
    ) -> Self {
        Self {
            origin: site.get().origin().clone(),
            site: RefCell::new(Some(site)),
            rules: Arc::clone(rules),
            home: home.to_owned(),
            runtime,
            hung_up,
            line: OnceCell::new(),
            asked: Cell::new(0),
        }
    }

    /// Asks once and hands the result to `read`.
    fn ask<T>(
        &self,
        method: &str,
        params: &Value,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, EndpointFault> {
        let runtime = self.runtime.as_ref().map_err(Clone::clone)?;
        let exchange = self.line.get_or_init(|| self.reach(runtime)).as_ref().map_err(Clone::clone)?;
        let id = self.asked.get().saturating_add(1);
        self.asked.set(id);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let sent = self.sent(exchange, request.to_string().into_bytes());
        let body = runtime.block_on(self.unless_hung_up(sent))?;
        let wrong = |what: String| EndpointFault::Wrong(format!("`{}` cannot be believed: {what}", self.origin));
        match answer::open(&body, id).map_err(wrong)? {
            Answer::Result(result) => read(result).map_err(wrong),
            Answer::Error(code, said) => Err(self.refused(&format!("error {code}, `{said}`"))),
        }
    }

    /// Looks the name up, judges every address, and prepares to dial.
    fn reach(&self, runtime: &Handle) -> Result<Exchange, EndpointFault> {
        let silent = |what: &dyn std::fmt::Display| EndpointFault::Silent(what.to_string());
        let pems = authorities::read(&self.rules, &self.home).map_err(|fault| silent(&fault))?;
        let tls = Tls::also_trusting(pems.iter().map(Vec::as_slice)).map_err(|fault| silent(&fault))?;
        let site = self.site.borrow_mut().take().ok_or_else(|| silent(&"the endpoint was dialled before"))?;
        let resolver = SystemResolver::new();
        let pinned = async { pin(site, &resolver, &self.rules).await.map_err(|fault| silent(&fault)) };
        let pin = runtime.block_on(self.unless_hung_up(pinned))?;
        Ok(Exchange::open(pin, &tls))
    }

    /// What `asked` comes to, unless the vault ends before.
    async fn unless_hung_up<T>(
        &self,
        asked: impl Future<Output = Result<T, EndpointFault>>,
    ) -> Result<T, EndpointFault> {
        let mut hung_up = self.hung_up.clone();
        tokio::select! {
            biased;
            _ = hung_up.wait_for(|over| *over) => Err(EndpointFault::Silent("the vault is ending".to_owned())),
            answered = asked => answered,
        }
    }

    /// The body of the answer to one request.
    async fn sent(&self, exchange: &Exchange, request: Vec<u8>) -> Result<Vec<u8>, EndpointFault> {
        let silent = |what: String| EndpointFault::Silent(what);
        let ask =
            Ask::new(Method::Post).with_body(BodyType::Json, request).map_err(|fault| silent(fault.to_string()))?;
        let reply = exchange.send(&ask, &LIMITS).await.map_err(|fault| silent(fault.to_string()))?;
        let status = reply.status();
        if status != 200 {
            return Err(self.refused(&format!("status {status}")));
        }
        match reply.into_body().collect(ANSWER_MAX_BYTES).await {
            (body, BodyEnd::Complete) => Ok(body),
            (_, BodyEnd::OverCap) => Err(self.refused("more than 4 MiB")),
            (_, BodyEnd::Cut(fault) | BodyEnd::Encoded(fault)) => Err(silent(fault.to_string())),
        }
    }

    fn refused(&self, with: &str) -> EndpointFault {
        EndpointFault::Refused(format!("`{}` does not say: it answered with {with}", self.origin))
    }
}

impl fmt::Debug for Rpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rpc({})", self.origin)
    }
}

impl Endpoint for Rpc {
    fn chain_id(&self) -> Result<u64, EndpointFault> {
        self.ask("eth_chainId", &json!([]), answer::quantity)
    }

    fn block(&self, which: Which) -> Result<Block, EndpointFault> {
        let tag = match which {
            Which::Final => "finalized".to_owned(),
            Which::Number(number) => quantity(number),
        };
        let block = self.ask("eth_getBlockByNumber", &json!([tag, false]), |result| {
            let block = answer::block(result)?;
            match (which, block) {
                (Which::Number(number), Some(block)) if block.number != number => {
                    Err(format!("it was asked for block {number} and sent block {}", block.number))
                }
                _ => Ok(block),
            }
        })?;
        block.ok_or_else(|| self.refused(&format!("no block for `{tag}`")))
    }

    fn call(&self, contract: Address, data: &[u8], at: At) -> Result<Vec<u8>, EndpointFault> {
        let block = match at {
            At::Latest => json!("latest"),
            At::Block(hash) => json!({ "blockHash": hash.to_string(), "requireCanonical": true }),
        };
        let call = json!({ "to": contract.to_string(), "data": format!("0x{}", hex::encode(data)) });
        self.ask("eth_call", &json!([call, block]), answer::bytes)
    }

    fn receipt(&self, transaction: &Word) -> Result<Option<Receipt>, EndpointFault> {
        self.ask("eth_getTransactionReceipt", &json!([transaction.to_string()]), answer::receipt)
    }

    fn logs(&self, contract: Address, topics: &[Vec<Word>], from: u64, to: u64) -> Result<Vec<Log>, EndpointFault> {
        let topics: Vec<Vec<String>> = topics.iter().map(|any| any.iter().map(ToString::to_string).collect()).collect();
        let filter = json!({
            "address": contract.to_string(),
            "topics": topics,
            "fromBlock": quantity(from),
            "toBlock": quantity(to),
        });
        self.ask("eth_getLogs", &json!([filter]), answer::logs)
    }
}

fn quantity(number: u64) -> String {
    format!("0x{number:x}")
}

#[cfg(test)]
mod tests;
