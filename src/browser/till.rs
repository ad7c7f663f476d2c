//! The glue's side of `glue.sock` from asynchronous code: one ask at a time, each on a thread of its own.

use std::sync::Arc;

use bursar_vault::client::{ClientFault, GlueClient};

/// A conversation with the vault.
#[derive(Clone, Debug)]
pub(super) struct Till(Arc<GlueClient>);

impl Till {
    /// Over a conversation that has begun.
    pub(super) fn over(vault: GlueClient) -> Self {
        Self(Arc::new(vault))
    }

    /// Asks once and waits for the reply. Callers wait for one before they ask again.
    ///
    /// # Errors
    ///
    /// [`ClientFault`].
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&GlueClient) -> Result<T, ClientFault> + Send + 'static,
    ) -> Result<T, ClientFault> {
        let vault = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || ask(&vault)).await.unwrap_or(Err(ClientFault::Closed))
    }

    /// Ends the conversation, also for an ask that still waits for its reply.
    pub(super) fn close(&self) {
        drop(self.0.stream().shutdown(std::net::Shutdown::Both));
    }
}
