//! What is posted: a body under a cap and a deadline, read into memory that is wiped, and the forms that it may have.

use bursar_policy::{ApprovalId, Digest};
use bursar_vault::protocol::Passphrase;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::bounds::Bounds;
use super::door::Turned;

/// A code that was typed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoginForm {
    #[serde(deserialize_with = "wiped")]
    pub(super) code: Zeroizing<String>,
}

fn wiped<'de, D: Deserializer<'de>>(from: D) -> Result<Zeroizing<String>, D::Error> {
    String::deserialize(from).map(Zeroizing::new)
}

/// Nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EmptyForm {}

/// A passphrase alone.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ThawForm {
    pub(super) passphrase: Passphrase,
}

/// A yes: what was shown, the price as it was typed, and the passphrase.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApproveForm {
    pub(super) id: ApprovalId,
    pub(super) binding: Digest,
    pub(super) price: String,
    pub(super) passphrase: Passphrase,
}

/// A no.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DenyForm {
    pub(super) id: ApprovalId,
}

/// Reads a body and what it says. Our copy of it is wiped; what the HTTP library held of it is freed.
pub(super) async fn form<F: DeserializeOwned>(body: Incoming, bounds: &Bounds) -> Result<F, Turned> {
    let bytes = timeout(bounds.body, whole(body, bounds.body_bytes)).await.map_err(|_late| Turned::Late)??;
    // An object alone: a list is a form's fields without their names.
    if bytes.first() != Some(&b'{') {
        return Err(Turned::Unread);
    }
    serde_json::from_slice(&bytes).map_err(|_unread| Turned::Unread)
}

async fn whole(mut body: Incoming, cap: usize) -> Result<Zeroizing<Vec<u8>>, Turned> {
    // Room for all of it, so that nothing is copied about by a growing buffer.
    let mut bytes = Zeroizing::new(Vec::with_capacity(cap));
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_broken| Turned::Unread)?;
        if let Some(data) = frame.data_ref() {
            if cap.saturating_sub(bytes.len()) < data.len() {
                return Err(Turned::Large);
            }
            bytes.extend_from_slice(data);
        }
    }
    Ok(bytes)
}
