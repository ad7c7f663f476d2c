//! Which secrets the rules name and nobody kept. Reads names, and never a secret.

use std::collections::BTreeSet;

use bursar_policy::{SecretHeader, SecretName};
use bursar_vault::profile::Profile;
use bursar_vault::rules_file::{Place, Table};
use bursar_vault::secret_store;

use super::{Reading, Told};

/// A warning for each, in the order of their names.
pub(super) fn missing(read: &Reading<'_>, profile: &Profile) -> Vec<Told> {
    let kept: BTreeSet<SecretName> = match secret_store::names(&profile.secrets()) {
        Ok(kept) => kept.into_keys().collect(),
        Err(fault) => return vec![Told { about: "secrets_unreadable", says: fault.to_string(), place: None }],
    };
    let tell = |name: SecretName| Told {
        about: "secret_missing",
        says: format!(
            "the secret `{name}` is not kept, so what needs it is refused; keep it with `bursar secret set {name}`"
        ),
        place: Some(place(read, &name)),
    };
    read.rules.secrets_missing(&kept).into_iter().map(tell).collect()
}

/// Where the rules name it first.
fn place(read: &Reading<'_>, name: &SecretName) -> Place {
    let names_it = |headers: &[SecretHeader]| headers.iter().any(|header| header.secret() == name);
    if let Some(row) = read.draft.hosts.iter().position(|host| names_it(&host.secret_headers)) {
        return read.lines.place(Table::Host(row), "secret_headers");
    }
    if read.draft.network.proxy_secret.as_ref() == Some(name) {
        return read.lines.place(Table::Network, "proxy_secret");
    }
    match &read.draft.notify {
        Some(notify) if notify.secret == *name => read.lines.place(Table::Notify, "secret"),
        _ => read.lines.place(Table::Metrics, "token"),
    }
}
