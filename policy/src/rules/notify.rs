//! Where the operator is told what waits or stands still. It must never allow a payment, nor answer for the person.

use core::fmt;

use super::{RuleFault, Rules};
use crate::secret::SecretName;
use crate::site::{Origin, Scheme, Site};

/// `[notify]`: a webhook of the operator's.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotifyDraft {
    /// Where messages are sent.
    pub webhook: WebhookUrl,
    /// The secret that they are signed with.
    pub secret: SecretName,
    /// Whether a message says more than an id, a host, an amount and times; it does not by default.
    #[serde(default)]
    pub details: bool,
}

/// The URL of a webhook. Its path and its query may hold a key, so that its `Debug` form is the origin alone and it has no
/// other form for people.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct WebhookUrl(Site);

impl WebhookUrl {
    /// The whole URL, for whoever dials it.
    #[must_use]
    pub const fn site(&self) -> &Site {
        &self.0
    }

    /// What may be shown of it.
    #[must_use]
    pub const fn origin(&self) -> &Origin {
        self.0.origin()
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "WebhookUrl({})", self.origin())
    }
}

/// How much a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// An id, a host, an amount and times.
    Little,
    /// The whole URL, the payee and the reasons as well.
    Details,
}

/// The operator's webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    url: WebhookUrl,
    secret: SecretName,
    telling: Telling,
}

impl Webhook {
    /// Where messages are sent.
    #[must_use]
    pub const fn url(&self) -> &WebhookUrl {
        &self.url
    }

    /// The secret that they are signed with.
    #[must_use]
    pub const fn secret(&self) -> &SecretName {
        &self.secret
    }

    /// How much they say.
    #[must_use]
    pub const fn telling(&self) -> Telling {
        self.telling
    }
}

impl From<NotifyDraft> for Webhook {
    fn from(NotifyDraft { webhook, secret, details }: NotifyDraft) -> Self {
        Self { url: webhook, secret, telling: if details { Telling::Details } else { Telling::Little } }
    }
}

impl Rules {
    /// Refuses a webhook that would be told in the open.
    pub(super) fn check_webhook(&self) -> Result<(), RuleFault> {
        match self.notify.as_ref().map(|webhook| webhook.url.origin()) {
            Some(origin) if origin.scheme == Scheme::Http && !self.allow_http_loopback(&origin.host) => {
                Err(RuleFault::PlainHttp(origin.clone()))
            }
            _ => Ok(()),
        }
    }

    /// The operator's webhook; `None` where nobody is told anything.
    #[must_use]
    pub const fn notify(&self) -> Option<&Webhook> {
        self.notify.as_ref()
    }
}
