//! Files that are out of a process's reach from now on, by Landlock. Must never forbid what the work of its role needs.

use super::{Held, Plan, Role};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use std::path::{Path, PathBuf};

/// The newest version whose rules were tried here. An older kernel holds fewer.
const KNOWN: ABI = ABI::V6;

/// What a program reads to look up names and to load the libraries for that, on every distribution there is a word of.
const EVERYBODY_READS: [&str; 12] = [
    "/etc",
    "/run",
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/lib32",
    "/nix/store",
    "/gnu/store",
    "/proc",
    "/dev/null",
    "/dev/urandom",
];

/// Where the name servers stand, often a link to a place of its own.
const NAME_SERVERS: &str = "/etc/resolv.conf";

/// Puts the rules of `plan` on the calling thread.
pub(super) fn restrict(plan: &Plan) -> Held {
    match enforce(plan) {
        Err(fault) => Held::Not(fault.to_string()),
        Ok(status) => match (status.ruleset, status.landlock) {
            (RulesetStatus::FullyEnforced, _) => Held::Whole,
            (RulesetStatus::PartiallyEnforced, LandlockStatus::Available { effective_abi, .. }) => {
                Held::Partly(format!("this kernel knows Landlock {effective_abi:?}, and all of it needs {KNOWN:?}"))
            }
            (RulesetStatus::PartiallyEnforced, _) => Held::Partly("this kernel knows a part of it".to_owned()),
            (RulesetStatus::NotEnforced, LandlockStatus::NotEnabled) => {
                Held::Not("Landlock is not turned on in this kernel".to_owned())
            }
            (RulesetStatus::NotEnforced, _) => Held::Not("this kernel has no Landlock".to_owned()),
        },
    }
}

fn enforce(plan: &Plan) -> Result<RestrictionStatus, RulesetError> {
    let (read, run) = (AccessFs::ReadFile | AccessFs::ReadDir, AccessFs::Execute);
    // Everything but running a program and making a device.
    let work: BitFlags<AccessFs> = AccessFs::from_all(KNOWN)
        & !(AccessFs::Execute | AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    let libraries = match plan.role {
        Role::Vault | Role::Serve | Role::Console => read,
        // The loader of the vault that is started is a program too.
        Role::Starter => read | run,
    };
    let servers = std::fs::canonicalize(NAME_SERVERS).ok();
    let beside = servers.as_deref().and_then(Path::parent).map(PathBuf::from);
    Ruleset::default()
        .handle_access(AccessFs::from_all(KNOWN))?
        // Nobody here listens on TCP.
        .handle_access(AccessNet::BindTcp)?
        .scope(Scope::from_all(KNOWN))?
        .create()?
        .add_rules(path_beneath_rules(EVERYBODY_READS, libraries))?
        .add_rules(path_beneath_rules(beside, read))?
        .add_rules(path_beneath_rules(["/dev/null"], read | AccessFs::WriteFile))?
        .add_rules(path_beneath_rules(&plan.read, libraries))?
        .add_rules(path_beneath_rules(&plan.own, work))?
        .restrict_self()
}
