//! The vault: whether it runs, what it protects against, and what stands between an agent and a payment.

use bursar_policy::Setting;
use bursar_vault::client::{ClientFault, OperatorClient};
use bursar_vault::confine::{self, Held};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, OperatorStatus};

use super::line::Lines;

/// Asks the vault that runs, and starts none.
pub(super) fn vault(lines: &mut Lines, profile: &Profile) -> Option<OperatorStatus> {
    let (client, welcome) = match OperatorClient::connect(profile) {
        Ok(connected) => connected,
        Err(ClientFault::NoVault { .. }) if profile.hardened().is_some() => {
            lines.fail(
                "vault",
                "the machine's vault does not answer, and nobody else may start one",
                "systemctl start bursar-vault",
            );
            return None;
        }
        Err(ClientFault::NoVault { .. }) => {
            lines.pass("vault", "none runs; `bursar serve` and most commands start one when they need it");
            return None;
        }
        Err(fault) => {
            let fix = match &fault {
                ClientFault::OtherVersion | ClientFault::OtherSetting { .. } | ClientFault::Said { .. } => {
                    "stop that vault, or use the same version of bursar for both"
                }
                _ => "see to what that says, then run this again",
            };
            lines.fail("vault", fault.to_string(), fix);
            return None;
        }
    };
    confined(lines, welcome.pid);
    match client.ask(&OperatorAsk::Status) {
        Ok(OperatorReply::Status(status)) => {
            let says = format!("version {} answers (process {})", welcome.version, welcome.pid);
            if welcome.version == env!("CARGO_PKG_VERSION") {
                lines.pass("vault", says);
            } else {
                lines.warn(
                    "vault",
                    format!("{says}, and this is {}", env!("CARGO_PKG_VERSION")),
                    "stop it; the next command starts this version",
                );
            }
            Some(*status)
        }
        Ok(_) => {
            lines.fail("vault", "it answered out of turn", "stop it and start the same version of bursar");
            None
        }
        Err(fault) => {
            lines.fail(
                "vault",
                fault.to_string(),
                "look at `vault.log` in the profile, then end it and start it again",
            );
            None
        }
    }
}

/// What the kernel keeps the running vault from; where the system does not tell there is nothing to say.
fn confined(lines: &mut Lines, pid: u32) {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) else { return };
    let layers = confine::seen(&status);
    let told = format!("of the vault: {}", confine::told(&layers));
    if layers.iter().all(|layer| layer.held == Held::Whole) {
        lines.pass("confinement", told);
    } else {
        lines.warn("confinement", told, "a newer kernel holds more; `vault.log` says all that this one does");
    }
}

/// What the set-up protects against.
pub(super) fn layer(lines: &mut Lines, profile: &Profile) {
    if let Some(hardened) = profile.hardened() {
        let told = format!("hardened: the vault is user id {}, says `{}`", hardened.vault(), hardened.file().display());
        return match hardened.both().as_slice() {
            [] => lines.pass("layer", format!("{told}; an agent's user reaches neither key nor ledger")),
            both => lines.warn(
                "layer",
                format!("{told}; user ids {both:?} are agents and operators at once, so what agents run can watch a passphrase being typed"),
                format!("give operators a user of their own in {}", hardened.file().display()),
            ),
        };
    }
    let by_file = profile.passphrase_file().symlink_metadata().is_ok();
    match (profile.setting(), by_file) {
        (Setting::Sandbox, _) => lines.pass("layer", "a sandbox: play money, and looser rules on purpose"),
        (Setting::Real, false) => lines
            .pass("layer", "embedded: it holds against models and sellers, not against other programs that run as you"),
        (Setting::Real, true) => lines.warn(
            "layer",
            "embedded, and a file unlocks the key: a seat belt; any program that runs as you can take the key",
            format!(
                "to type the passphrase instead, set up a new profile, or keep `{}` out of reach",
                profile.passphrase_file().display()
            ),
        ),
    }
}

/// What stands between an agent and a payment, apart from the rules.
pub(super) fn readiness(lines: &mut Lines, profile: &Profile, status: Option<&OperatorStatus>) {
    let Some(status) = status else {
        if profile.hardened().is_none() && profile.passphrase_file().symlink_metadata().is_err() {
            lines.warn("key", "it is locked while no vault runs, so nothing can be paid", "bursar unlock");
        }
        return;
    };
    if status.locked {
        lines.warn("key", "it is locked, so nothing can be paid", "bursar unlock");
    } else {
        lines.pass("key", "it is unlocked");
    }
    session(lines, status);
    if let Some(reason) = &status.frozen {
        lines.warn("freeze", format!("a person froze all payments: {reason}"), "bursar thaw");
    }
    match status.approvals_waiting {
        0 => {}
        1 => lines.warn("approvals", "1 purchase waits for you", "bursar approvals"),
        many => lines.warn("approvals", format!("{many} purchases wait for you"), "bursar approvals"),
    }
    for host in &status.quarantined {
        lines.warn(
            "quarantine",
            format!("{} is left alone for now", host.origin),
            format!("bursar resume {}", host.origin),
        );
    }
    for payment in &status.denied {
        lines.warn(
            "settlement",
            format!("a seller said that {payment} was settled, and the chain shows that it never was"),
            format!("bursar claim {payment}"),
        );
    }
}

fn session(lines: &mut Lines, status: &OperatorStatus) {
    let open = status.sessions.iter().filter(|session| !session.closed && status.now_s < session.expires_s);
    let (full, left): (Vec<_>, Vec<_>) = open.partition(|session| session.budget.is_within(session.spent));
    let named = |session: &bursar_vault::protocol::SessionView| {
        format!("`{}` has {} of {} left", session.name, session.budget.saturating_sub(session.spent), session.budget)
    };
    let new = "bursar session new --budget \"1.00 USD\"";
    if !left.is_empty() {
        lines.pass("session", left.into_iter().map(named).collect::<Vec<_>>().join("; "));
    } else if let Some(session) = full.first() {
        lines.warn(
            "session",
            format!("the budget `{}` is used up", session.name),
            format!("bursar session close {}, then: {new}", session.name),
        );
    } else {
        lines.warn("session", "no budget is open, so nothing can be paid", new);
    }
}
