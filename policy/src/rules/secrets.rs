//! Which secrets the rules name, and for what. They must never be named for a seller that is spoken to in the clear.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::build::check_twice;
use super::draft::HostDraft;
use super::{Metrics, RuleFault, Rules};
use crate::secret::{SecretHeader, SecretName};
use crate::site::Scheme;

/// The most secret headers of one host entry.
const HEADERS_MAX: usize = 4;

/// The headers of an entry that carry secrets: each once, and for https alone, in a sandbox too.
pub(super) fn headers_of(host: &HostDraft) -> Result<Vec<SecretHeader>, RuleFault> {
    check_twice("secret_headers", host.secret_headers.iter().map(SecretHeader::name))?;
    if host.secret_headers.is_empty() {
        return Ok(Vec::new());
    }
    if host.origin.scheme == Scheme::Http {
        return Err(RuleFault::SecretInTheClear(host.origin.clone()));
    }
    if HEADERS_MAX < host.secret_headers.len() {
        return Err(RuleFault::ManySecretHeaders(host.origin.clone()));
    }
    Ok(host.secret_headers.clone())
}

impl Rules {
    /// Every secret that the rules name, and what each is for: a host entry with its header, the proxy, the
    /// webhook or the metrics.
    #[must_use]
    pub fn secret_uses(&self) -> BTreeMap<&SecretName, Vec<String>> {
        let mut uses: BTreeMap<&SecretName, Vec<String>> = BTreeMap::new();
        for (origin, rule) in self.host_rules() {
            for header in rule.secret_headers() {
                let told = format!("{origin}{} ({})", rule.path().after_origin(), header.name());
                uses.entry(header.secret()).or_default().push(told);
            }
        }
        if let Some(secret) = self.network().proxy_secret() {
            uses.entry(secret).or_default().push("the proxy".into());
        }
        if let Some(webhook) = self.notify() {
            uses.entry(webhook.secret()).or_default().push("the webhook's signature".into());
        }
        if let Some(token) = self.metrics().and_then(Metrics::token) {
            uses.entry(token).or_default().push("whoever reads metrics".into());
        }
        uses
    }

    /// Those of them that are not among `kept`.
    #[must_use]
    pub fn secrets_missing(&self, kept: &BTreeSet<SecretName>) -> Vec<SecretName> {
        self.secret_uses().into_keys().filter(|name| !kept.contains(*name)).cloned().collect()
    }
}
