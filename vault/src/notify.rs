//! What the operator's webhook is told. Must never hold a payment up, nor free, approve or deny anything.
//!
//! The vault has no HTTP: whoever starts it hands it something that sends ([`Courier`]). What is told is worked out of how
//! everything stands (`change`), waits in a short list with a few tries each (`post`), and is signed in the manner of
//! Standard Webhooks. Of an answer nothing counts but that its status is one of success.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bursar_policy::rules::Rules;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use thiserror::Error;
use zeroize::Zeroizing;

use crate::protocol::SecretValue;

mod change;
mod post;
mod run;

pub(crate) use self::run::run;

/// Sends messages to the webhook of the rules.
pub trait Courier: Send + Sync + fmt::Debug {
    /// Sends `message` to the webhook that `rules` name, once; blocks until there is an answer or a deadline is over.
    ///
    /// # Errors
    ///
    /// [`CourierFault`]; the message may have arrived all the same.
    fn send(&self, rules: &Arc<Rules>, message: &Message) -> Result<(), CourierFault>;

    /// Ends what is under way, and every further message at once: the vault is ending and waits for nobody.
    fn hang_up(&self) {}
}

/// No way to any webhook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoCourier;

impl Courier for NoCourier {
    fn send(&self, _rules: &Arc<Rules>, _message: &Message) -> Result<(), CourierFault> {
        Err(CourierFault("this vault reaches no webhook".to_owned()))
    }
}

/// Why a message is not known to have arrived. The sentence names nothing of the webhook's URL but its origin.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct CourierFault(pub String);

/// One message, signed for one try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it is known by: the same at every try, so that whoever gets it twice can tell (`webhook-id`).
    pub id: String,
    /// When this try was signed, Unix seconds (`webhook-timestamp`).
    pub at_s: u64,
    /// `v1,` and the base64 of HMAC-SHA256 over id, time and body (`webhook-signature`).
    pub signature: String,
    /// JSON.
    pub body: String,
}

impl Message {
    /// Signs `body`. A secret that begins with `whsec_` and is base64 behind that is the key in the form that Standard
    /// Webhooks passes keys on; any other is the key as it was typed.
    pub(crate) fn sign(id: String, at_s: u64, body: String, secret: &SecretValue) -> Self {
        let text = secret.expose();
        let decoded = text.strip_prefix("whsec_").and_then(|rest| STANDARD.decode(rest).ok()).map(Zeroizing::new);
        let key = decoded.as_ref().map_or(text.as_bytes(), |key| key.as_slice());
        let signature = match Hmac::<Sha256>::new_from_slice(key) {
            Ok(mut mac) => {
                for part in [id.as_bytes(), b".", at_s.to_string().as_bytes(), b".", body.as_bytes()] {
                    mac.update(part);
                }
                format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
            }
            // HMAC takes a key of any length.
            Err(_never) => String::new(),
        };
        Self { id, at_s, signature, body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> SecretValue {
        SecretValue::new(Zeroizing::new(text.to_owned())).unwrap()
    }

    #[test]
    fn a_signature_is_that_of_the_published_example() {
        let key = secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek".to_owned();
        let message = Message::sign(id, 1_614_265_330, r#"{"test": 2432232314}"#.to_owned(), &key);
        assert_eq!(message.signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn id_time_body_and_key_are_all_signed() {
        let sign = |id: &str, at_s, body: &str, key: &str| {
            Message::sign(id.to_owned(), at_s, body.to_owned(), &secret(key)).signature
        };
        let first = sign("a", 1, "{}", "a-key-of-some-length");
        for other in [
            sign("b", 1, "{}", "a-key-of-some-length"),
            sign("a", 2, "{}", "a-key-of-some-length"),
            sign("a", 1, "{ }", "a-key-of-some-length"),
            sign("a", 1, "{}", "another-key-of-some-length"),
        ] {
            assert_ne!(first, other);
        }
    }
}
