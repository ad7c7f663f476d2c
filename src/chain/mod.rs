//! How the vault's process reaches the chain endpoints that the rules name. It decides nothing about money: what an answer
//! proves is `bursar_vault::chain`'s to say.
//!
//! An endpoint is dialled like a seller: looked up once, every address judged, TLS by name, hard limits on time and size,
//! through the operator's proxy where there is one. Its URL may hold a key, so that no fault and no log line names more of
//! it than its origin.

mod answer;
mod rpc;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bursar_policy::{ChainId, Rules, may_ask};
use bursar_vault::chain::{Chains, Endpoint, EndpointFault};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;

use self::rpc::Rpc;

/// Reaches the endpoints of the rules over the network.
///
/// One worker thread of its own, from the first question on.
#[derive(Debug)]
pub(crate) struct Network {
    home: PathBuf,
    runtime: OnceLock<Result<Runtime, EndpointFault>>,
    hung_up: watch::Sender<bool>,
}

impl Network {
    /// For the profile in the folder `home`, where the certificate authorities lie that its rules name.
    pub(crate) fn new(home: &Path) -> Self {
        Self { home: home.to_owned(), runtime: OnceLock::new(), hung_up: watch::Sender::new(false) }
    }

    fn handle(&self) -> Result<Handle, EndpointFault> {
        let build = || Builder::new_multi_thread().worker_threads(1).thread_name("rpc").enable_all().build();
        let built = self.runtime.get_or_init(|| build().map_err(|fault| EndpointFault::Silent(fault.to_string())));
        built.as_ref().map(|runtime| runtime.handle().clone()).map_err(Clone::clone)
    }
}

impl Network {
    /// What `asked` comes to, waited for by this thread, unless the vault ends before.
    ///
    /// # Errors
    ///
    /// [`EndpointFault::Silent`] when the vault ends, or there is no runtime to wait with.
    pub(crate) fn wait<T>(&self, asked: impl Future<Output = T>) -> Result<T, EndpointFault> {
        let mut hung_up = self.hung_up.subscribe();
        self.handle()?.block_on(async {
            tokio::select! {
                biased;
                _ = hung_up.wait_for(|over| *over) => Err(EndpointFault::Silent("the vault is ending".to_owned())),
                answered = asked => Ok(answered),
            }
        })
    }

    /// Ends everything that is under way, and every further question at once.
    pub(crate) fn hang_up_all(&self) {
        self.hung_up.send_replace(true);
    }
}

impl Chains for Network {
    fn endpoints(&self, rules: &Arc<Rules>, chain: ChainId) -> Vec<Box<dyn Endpoint>> {
        let reach = |site| -> Box<dyn Endpoint> {
            Box::new(Rpc::new(site, rules, &self.home, self.handle(), self.hung_up.subscribe()))
        };
        may_ask(rules, chain).into_iter().map(reach).collect()
    }

    fn hang_up(&self) {
        self.hang_up_all();
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // A name lookup that still runs cannot be cancelled and concerns nobody any more.
        if let Some(Ok(runtime)) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_millis(200));
        }
    }
}
