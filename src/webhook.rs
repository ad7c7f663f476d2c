//! How the vault's process reaches the webhook that the rules name. It must never read more of an answer than its status,
//! follow a redirect, or name more of the webhook than its origin.
//!
//! It is dialled like a seller: looked up, every address judged, TLS by name, hard limits on time, through the operator's
//! proxy where there is one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bursar_policy::{BodyType, Method, Rules, Site, Vetted, may_tell};
use bursar_vault::notify::{Courier, CourierFault, Message};

use crate::authorities;
use crate::chain::Network;
use crate::net::{Ask, Exchange, Limits, SystemResolver, Tls, pin};

/// How long one try may take.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(4),
    tls: Duration::from_secs(4),
    first_byte: Duration::from_secs(8),
    header: Duration::from_secs(8),
    idle: Duration::from_secs(4),
    total: Duration::from_secs(10),
    header_bytes: 32 * 1024,
    header_fields: 100,
};

/// Sends to the webhook over the network.
#[derive(Debug)]
pub(crate) struct Sender {
    network: Arc<Network>,
    home: PathBuf,
}

impl Sender {
    /// For the profile in the folder `home`, over the runtime of `network`, and until that hangs up.
    pub(crate) fn new(network: Arc<Network>, home: &Path) -> Self {
        Self { network, home: home.to_owned() }
    }

    /// One request, a fresh look at the name included. The status.
    async fn sent(&self, rules: &Arc<Rules>, site: Vetted<Site>, message: &Message) -> Result<u16, CourierFault> {
        let pems = authorities::read(rules, &self.home).map_err(|fault| failed(&fault))?;
        let tls = Tls::also_trusting(pems.iter().map(Vec::as_slice)).map_err(|fault| failed(&fault))?;
        let pin = pin(site, &SystemResolver::new(), rules).await.map_err(|fault| failed(&fault))?;
        let ask = Ask::new(Method::Post)
            .with_body(BodyType::Json, message.body.clone().into_bytes())
            .and_then(|ask| ask.with_message(&message.id, message.at_s, &message.signature))
            .map_err(|fault| failed(&fault))?;
        let reply = Exchange::open(pin, &tls).send(&ask, &LIMITS).await.map_err(|fault| failed(&fault))?;
        Ok(reply.status())
    }
}

impl Courier for Sender {
    fn send(&self, rules: &Arc<Rules>, message: &Message) -> Result<(), CourierFault> {
        let site = may_tell(rules).ok_or_else(|| failed(&"the rules name no webhook"))?;
        let origin = site.get().origin().clone();
        let sent = self.network.wait(self.sent(rules, site, message)).map_err(|fault| failed(&fault))??;
        if (200..300).contains(&sent) {
            return Ok(());
        }
        Err(CourierFault(format!("`{origin}` answered a message with status {sent}")))
    }

    fn hang_up(&self) {
        self.network.hang_up_all();
    }
}

fn failed(why: &dyn std::fmt::Display) -> CourierFault {
    CourierFault(why.to_string())
}
