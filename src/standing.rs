//! How everything stands, in sentences: the one list for the terminal and for the console, so that neither says what the other
//! does not. Decides nothing, and shows nothing of an endpoint's URL but its origin.

use bursar_policy::SecretName;
use bursar_policy::quantity::Moment;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{ChainView, OperatorStatus, Proof, SharesView};

use crate::spelling::advice;

/// One sentence about one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// A word for what it is about, in capitals where it is bad.
    pub(crate) mark: &'static str,
    pub(crate) weight: Weight,
    pub(crate) says: String,
}

/// How much it needs a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Good,
    Odd,
    Bad,
}

/// Everything that is said in sentences, beside why payments are stopped, what waits and the next step.
pub(crate) fn notes(profile: &Profile, status: &OperatorStatus) -> Vec<Note> {
    let mut notes = denied(profile, status);
    notes.extend(sweeps(status));
    notes.extend(rules(profile, status));
    notes.extend(secrets(profile, status));
    notes.extend(status.chains.iter().flat_map(silent));
    notes.extend(shares(status).filter(|note| note.weight != Weight::Good));
    notes.extend(former(status));
    notes
}

/// The accounts that paid before.
pub(crate) fn former(status: &OperatorStatus) -> Vec<Note> {
    let note = |account| Note {
        mark: "before",
        weight: Weight::Good,
        says: format!("{account} paid before; its key is kept"),
    };
    status.former.iter().map(note).collect()
}

/// Money that is being moved out.
pub(crate) fn sweeps(status: &OperatorStatus) -> Vec<Note> {
    let note = |sweep: &bursar_vault::protocol::SweepView| Note {
        mark: "sweep",
        weight: Weight::Odd,
        says: format!(
            "{} moves {} out of {} to {}; it can be submitted until {}",
            sweep.id,
            sweep.money,
            sweep.account,
            sweep.to,
            Moment(sweep.valid_before)
        ),
    };
    status.sweeps.iter().map(note).collect()
}

/// That the rules were changed and not loaded.
pub(crate) fn rules(profile: &Profile, status: &OperatorStatus) -> Option<Note> {
    let says = "the rules file differs from the rules in force; `bursar reload` loads it";
    status.rules_changed.then(|| Note { mark: "rules", weight: Weight::Odd, says: advice(profile, says) })
}

/// The secrets that the rules name and nobody kept.
pub(crate) fn secrets(profile: &Profile, status: &OperatorStatus) -> Vec<Note> {
    let note = |name| Note { mark: "secret", weight: Weight::Odd, says: secret_missing(profile, name) };
    status.secrets_missing.iter().map(note).collect()
}

/// What is to be done about a secret that the rules name and nobody kept.
pub(crate) fn secret_missing(profile: &Profile, name: &SecretName) -> String {
    advice(profile, &format!("The rules name the secret `{name}`, which is not kept: `bursar secret set {name}`."))
}

/// The payments of which a chain denies what the seller says.
pub(crate) fn denied(profile: &Profile, status: &OperatorStatus) -> Vec<Note> {
    let note = |payment| {
        let says = format!(
            "the seller said that {payment} was settled, and the chain shows that it never was; \
             `bursar claim {payment}` writes it all down"
        );
        Note { mark: "DENIED", weight: Weight::Bad, says: advice(profile, &says) }
    };
    status.denied.iter().map(note).collect()
}

/// What a chain is called.
pub(crate) fn chain_name(view: &ChainView) -> String {
    view.chain.name().map_or_else(|| view.chain.to_string(), |name| format!("{name} ({})", view.chain))
}

/// Why a chain proves nothing, and which of its endpoints does not answer.
fn silent(view: &ChainView) -> Vec<Note> {
    let name = chain_name(view);
    let note = |says| Note { mark: "chain", weight: Weight::Odd, says };
    let trouble = view.trouble.iter().map(|trouble| note(format!("{name}: {trouble}")));
    let endpoints = view.endpoints.iter().filter_map(|endpoint| {
        let trouble = endpoint.trouble.as_ref()?;
        Some(note(format!("{name}, {}: {trouble}", endpoint.origin)))
    });
    trouble.chain(endpoints).collect()
}

/// How it stands with the parts of the limits that vaults split.
pub(crate) fn shares(status: &OperatorStatus) -> impl Iterator<Item = Note> {
    status.shares.iter().map(|SharesView { center, parts, trouble }| {
        let held = if *parts == 1 { "1 part is".to_owned() } else { format!("{parts} parts are") };
        let says = format!("{held} held here of the limits that {center} splits");
        match trouble {
            None => Note { mark: "shares", weight: Weight::Good, says },
            Some(trouble) => Note { mark: "SHARES", weight: Weight::Bad, says: format!("{says}: {trouble}") },
        }
    })
}

/// What a person should do next.
pub(crate) fn next(profile: &Profile, status: &OperatorStatus) -> Option<String> {
    status.next_step.as_ref().map(|step| advice(profile, step))
}

/// By what the state of a payment is known.
pub(crate) const fn known_by(proof: Option<Proof>) -> &'static str {
    match proof {
        None => "open: it may still change",
        Some(Proof::SellerSays) => "the seller says so, with a transaction",
        Some(Proof::TimeIsOver) => "nobody said how it ended, and its time is over",
        Some(Proof::NeverSigned) => "nothing was signed",
        Some(Proof::Chain) => "the chain shows that it was not used",
        Some(Proof::ChainShows) => "the chain shows it",
        Some(Proof::ChainDenies) => "the seller says so, and the chain shows that it is false",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bursar_vault::protocol::{EndpointView, SharesView};

    fn status() -> OperatorStatus {
        let file = serde_json::json!({
            "payer": null, "locked": false, "frozen": null, "latched": null, "sessions": [], "limits": [], "held": [],
            "unresolved": [], "lost": [], "quarantined": [], "denied": [format!("p_{}", "1".repeat(32))], "sweeps": [],
            "former": ["0x5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"], "chains": [], "shares": null,
            "approvals_waiting": 0, "secrets_missing": ["hook"], "rules_digest": "0".repeat(64), "rules_changed": true,
            "now_s": 1, "next_step": "no budget is open: run `bursar session new`",
        });
        serde_json::from_value(file).unwrap()
    }

    fn profile() -> Profile {
        Profile::locate_sandbox(std::path::Path::new("/play")).unwrap()
    }

    #[test]
    fn every_command_names_the_profile_that_it_is_for() {
        let mut said: Vec<String> = notes(&profile(), &status()).into_iter().map(|note| note.says).collect();
        said.extend(next(&profile(), &status()));
        for command in ["claim p_1", "reload`", "secret set hook`", "session new`"] {
            let whole = format!("`bursar --sandbox /play {command}");
            assert!(said.iter().any(|says| says.contains(&whole)), "`{whole}` is not in {said:#?}");
        }
        assert!(
            !said.iter().any(|says| says.replace("`bursar --sandbox /play ", "").contains("`bursar ")),
            "{said:#?}"
        );
    }

    #[test]
    fn what_is_silent_or_moving_or_was_there_before_is_said_and_what_is_well_is_not() {
        let chain: ChainView = serde_json::from_value(serde_json::json!({
            "chain": "eip155:84532", "endpoints": [], "agree": 1, "final_block": null, "asked_s": null, "trouble": null,
            "unproved": 0, "balances": [],
        }))
        .unwrap();
        let endpoint = |trouble: Option<&str>| EndpointView {
            origin: "https://rpc.example".to_owned(),
            trouble: trouble.map(str::to_owned),
        };
        let shares = |trouble| Some(SharesView { center: "db".to_owned(), parts: 1, trouble });
        let well = OperatorStatus {
            chains: vec![ChainView { endpoints: vec![endpoint(None)], ..chain.clone() }],
            shares: shares(None),
            ..status()
        };
        let marks = |status: &OperatorStatus| -> Vec<&str> {
            notes(&profile(), status).into_iter().map(|note| note.mark).collect()
        };
        assert_eq!(marks(&well), ["DENIED", "rules", "secret", "before"]);
        let silent = ChainView {
            trouble: Some("nobody answers".to_owned()),
            endpoints: vec![endpoint(Some("timed out"))],
            ..chain
        };
        let ill = OperatorStatus { chains: vec![silent], shares: shares(Some("gone".to_owned())), ..status() };
        assert_eq!(marks(&ill), ["DENIED", "rules", "secret", "chain", "chain", "SHARES", "before"]);
    }
}
