//! What is on the disk: files and their modes, the key's file, the rules, the ledger. Opens everything for reading only.

use std::path::Path;
use std::sync::Arc;

use bursar_policy::{Address, Digest, Rules};
use bursar_vault::guarded::{self, GuardFault};
use bursar_vault::keystore::Keystore;
use bursar_vault::ledger::{Identity, Inspector, LedgerFault};
use bursar_vault::ledger_place;
use bursar_vault::profile::Profile;
use bursar_vault::protocol::OperatorStatus;

use super::line::Lines;
use crate::cli::check::{self, Reading};
use crate::spelling::shell_word;

/// What of the profile the other checks go on from.
#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) rules: Option<Arc<Rules>>,
    pub(super) payer: Option<Address>,
}

/// Looks through the profile's folder, which is there.
pub(super) fn look(lines: &mut Lines, profile: &Profile, status: Option<&OperatorStatus>) -> Books {
    if let Err(fault) = profile.is_the_vaults() {
        // Out of our reach, as it should be.
        lines.pass("files", fault.to_string());
        return Books::default();
    }
    files(lines, profile);
    let identity = ledger(lines, profile);
    let payer = keystore(lines, profile, identity.as_ref());
    let rules = rules(lines, profile, status);
    Books { rules, payer }
}

/// Whether everything is the owner's alone.
fn files(lines: &mut Lines, profile: &Profile) {
    let folder = profile.check().map_err(|fault| (fault.to_string(), None));
    let private = [
        profile.rules(),
        profile.keystore(),
        profile.verifier(),
        profile.attempts(),
        profile.accepted_rules(),
        profile.secrets(),
        profile.passphrase_file(),
    ];
    let mut wrong: Vec<(String, Option<String>)> = folder.err().into_iter().collect();
    wrong.extend(private.iter().filter_map(|path| match guarded::read_if_there(path, guarded::FILE_MAX_BYTES) {
        Ok(_) => None,
        Err(fault) => Some((fault.to_string(), command(&fault))),
    }));
    if wrong.is_empty() {
        return lines.pass("files", format!("everything in `{}` is yours alone", profile.home().display()));
    }
    for (says, fix) in wrong {
        lines.fail("files", says, fix.unwrap_or_else(|| "see to it that only you can write there".to_owned()));
    }
}

fn command(fault: &GuardFault) -> Option<String> {
    match fault {
        GuardFault::Mode { path, want, .. } => Some(format!("chmod {want:04o} {}", word(path))),
        GuardFault::Parent { path, .. } => Some(format!("chmod go-w {}", word(path))),
        _ => None,
    }
}

fn word(path: &Path) -> String {
    shell_word(&path.to_string_lossy())
}

/// One look at the ledger, beside a vault that runs. Nothing is held on to.
fn ledger(lines: &mut Lines, profile: &Profile) -> Option<Identity> {
    let place = match ledger_place::of(profile) {
        Ok(place) => place,
        Err(fault) => {
            lines.fail("ledger", fault.to_string(), "bursar check");
            return None;
        }
    };
    match Inspector::glance(&place) {
        Ok((identity, set_back)) => {
            match (set_back, &identity.latched) {
                (Some(why), _) => lines.fail("ledger", why, "bursar ledger verify"),
                (None, Some(why)) => lines.fail("ledger", format!("payments are shut: {why}"), "bursar unlatch"),
                (None, None) => lines.pass(
                    "ledger",
                    format!("{} events; `bursar ledger verify` checks each of them and every row", identity.events),
                ),
            }
            Some(identity)
        }
        Err(fault) => {
            let fix = match &fault {
                LedgerFault::Missing { .. } => "bursar restore FILE".to_owned(),
                LedgerFault::Older { .. } => "bursar status".to_owned(),
                LedgerFault::Loose { path, .. } => format!("chmod 0600 {}", word(path)),
                _ => "bursar ledger verify".to_owned(),
            };
            lines.fail("ledger", fault.to_string(), fix);
            None
        }
    }
}

/// The account of the key. Nothing is decrypted.
fn keystore(lines: &mut Lines, profile: &Profile, identity: Option<&Identity>) -> Option<Address> {
    let Some(identity) = identity else {
        let says = "it was not looked at, because the ledger that it belongs to cannot be";
        lines.warn("keystore", says, "mend the ledger first");
        return None;
    };
    match Keystore::open(&profile.keystore(), profile.setting(), &identity.ledger) {
        Ok(keystore) => {
            let before = profile.keys().read_dir().map_or(0, |found| found.flatten().count());
            let kept = if before == 0 { String::new() } else { "; what paid before is kept in `keys`".to_owned() };
            lines.pass("keystore", format!("an encrypted key for {}{kept}", keystore.address()));
            Some(keystore.address())
        }
        Err(fault) => {
            lines.fail("keystore", fault.to_string(), "put the key's file back from your copy");
            None
        }
    }
}

fn rules(lines: &mut Lines, profile: &Profile, status: Option<&OperatorStatus>) -> Option<Arc<Rules>> {
    let path = profile.rules();
    let text = match check::text_of_profile(profile) {
        Ok(text) => text,
        Err(stop) => {
            lines.fail("rules", stop.sentence, format!("bursar check {}", word(&path)));
            return None;
        }
    };
    let read = match Reading::of(&text, profile.setting()) {
        Ok(read) => read,
        Err(fault) => {
            lines.fail("rules", format!("`{}`: {fault}", path.display()), "mend that line, then: bursar check");
            return None;
        }
    };
    let agreed_to = guarded::read_if_there(&profile.accepted_rules(), guarded::FILE_MAX_BYTES);
    let is_agreed = agreed_to.is_ok_and(|agreed| {
        agreed.is_some_and(|agreed| agreed.as_slice() == Digest::of(text.as_bytes()).to_string().as_bytes())
    });
    if status.is_some_and(|status| status.rules_changed) {
        lines.warn("rules", "the file differs from the rules in force", "bursar reload");
    } else if !is_agreed {
        lines.warn("rules", "they changed since you agreed to them; you are shown them first", "bursar unlock");
    }
    let warnings = check::warnings(&read, profile);
    match warnings.as_slice() {
        [] => lines.pass("rules", "they can be used, and nothing in them is wider than it looks"),
        [only] => lines.warn("rules", only.says.clone(), "bursar check"),
        [first, ..] => {
            lines.warn(
                "rules",
                format!("{} things to think about; the first: {}", warnings.len(), first.says),
                "bursar check",
            );
        }
    }
    Some(Arc::new(read.rules))
}
