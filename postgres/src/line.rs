//! One connection: statements one after another, each waited for and each with an end. Must never go on after the server
//! was silent for too long, because what became of the last statement is not known then.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};

use crate::fault::Fault;
use crate::server::Server;
use crate::value::{Row, Value};

/// A connection that is open. Every statement stays prepared on it.
pub struct Line {
    client: Client,
    prepared: RefCell<HashMap<String, Statement>>,
    /// How long a statement may take.
    patience: Duration,
    is_lost: Cell<bool>,
    // Dropped last: everything above needs it to say farewell.
    runtime: Runtime,
}

impl core::fmt::Debug for Line {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Line").field("is_lost", &self.is_lost).finish_non_exhaustive()
    }
}

impl Line {
    /// Connects to `server`. No statement will be waited for longer than `patience`.
    ///
    /// # Errors
    ///
    /// [`Fault`]: there is no such server, it is not who it should be, or it does not let us in.
    pub fn open(server: &Server, patience: Duration) -> Result<Self, Fault> {
        let lost = |detail: String| Fault::Lost { detail };
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(|fault| lost(fault.to_string()))?;
        let (config, tls) = (server.config()?, server.tls()?);
        let connect = async {
            match tls {
                None => {
                    let (client, connection) = config.connect(NoTls).await?;
                    tokio::spawn(drive(connection));
                    Ok(client)
                }
                Some(tls) => {
                    let (client, connection) = config.connect(tls).await?;
                    tokio::spawn(drive(connection));
                    Ok::<_, tokio_postgres::Error>(client)
                }
            }
        };
        let connected = runtime.block_on(async { timeout(server.patience(), connect).await });
        // Whatever keeps a line from being there, there is none.
        let refused = |fault| match Fault::from(fault) {
            Fault::Kind { detail } => Fault::Lost { detail },
            other => other,
        };
        let client = connected.map_err(|_late| Fault::silent())?.map_err(refused)?;
        Ok(Self { client, prepared: RefCell::default(), patience, is_lost: Cell::new(false), runtime })
    }

    /// Runs a statement that finds no rows; how many it changed. Its places are `?1`, `?2` and so on.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, Fault> {
        let statement = self.statement(sql)?;
        self.wait(self.client.execute(&statement, &bound(values)))
    }

    /// Every row that a statement finds.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn query(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Fault> {
        let statement = self.statement(sql)?;
        let found = self.wait(self.client.query(&statement, &bound(values)))?;
        Ok(found.into_iter().map(Row).collect())
    }

    /// [`Line::execute`] of a statement that does not stay prepared.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn execute_once(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, Fault> {
        self.wait(self.client.execute(&*sql.replace('?', "$"), &bound(values)))
    }

    /// [`Line::query`] of a statement without values that does not stay prepared.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn query_once(&self, sql: &str) -> Result<Vec<Row>, Fault> {
        Ok(self.wait(self.client.query(sql, &[]))?.into_iter().map(Row).collect())
    }

    /// Runs several statements, without values and with `;` between them, on one way there and back.
    ///
    /// # Errors
    ///
    /// [`Fault`] of the first that is refused.
    pub fn batch(&self, sql: &str) -> Result<(), Fault> {
        self.wait(self.client.batch_execute(sql))
    }

    /// Whether the server has a role of this name.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn has_role(&self, name: &str) -> Result<bool, Fault> {
        Ok(!self.query("SELECT 1 FROM pg_roles WHERE rolname = ?1", &[Value::Text(name)])?.is_empty())
    }

    /// Whether it is known to be over.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.is_lost.get() || self.client.is_closed()
    }

    fn statement(&self, sql: &str) -> Result<Statement, Fault> {
        if let Some(known) = self.prepared.borrow().get(sql) {
            return Ok(known.clone());
        }
        // No statement has a question mark in its own words.
        let statement = self.wait(self.client.prepare(&sql.replace('?', "$")))?;
        self.prepared.borrow_mut().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn wait<T>(&self, work: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, Fault> {
        if self.is_lost() {
            self.is_lost.set(true);
            return Err(Fault::Lost { detail: "the connection is closed".to_owned() });
        }
        let done = self.runtime.block_on(async { timeout(self.patience, work).await });
        let done = done.map_err(|_late| Fault::silent()).and_then(|done| done.map_err(Fault::from));
        if matches!(done, Err(Fault::Lost { .. })) {
            self.is_lost.set(true);
        }
        done
    }
}

/// A name between quotation marks, as SQL has it.
#[must_use]
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn bound<'a>(values: &'a [Value<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|value| -> &(dyn ToSql + Sync) { value }).collect()
}

async fn drive(connection: impl Future<Output = Result<(), tokio_postgres::Error>>) {
    if let Err(fault) = connection.await {
        tracing::debug!(%fault, "a connection to the ledger's server ended");
    }
}
