//! What a process takes away from itself before it meets a stranger's bytes. Must never make the start fail: an old kernel
//! holds less, and what is held is said.
//!
//! Nothing here keeps another process out; that is what users and modes are for. It bounds what somebody could do who found
//! a way to run code in this process: no other program, no file that the work does not need, no kernel door that it does not
//! use. All of it is inherited by threads and children and lasts for life.

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod calls;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod files;

use crate::guarded::{self, GuardFault};
use crate::profile::Profile;
use core::fmt;
use serde::Serialize;
use std::path::PathBuf;

/// Who confines itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The vault: it starts no program.
    Vault,
    /// A `serve` of the machine's vault: it starts no program.
    Serve,
    /// A `serve` that starts a vault of its own user where none answers. What it cannot do, that vault cannot do either.
    Starter,
    /// The operator's console: it starts no program and listens where it listened before.
    Console,
}

/// What a process needs, and therefore keeps.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64")),
    expect(dead_code, reason = "elsewhere nothing is taken away")
)]
pub struct Plan {
    role: Role,
    /// Folders in which it reads and writes.
    own: Vec<PathBuf>,
    /// What it reads, and a starter runs, beside what every process reads.
    read: Vec<PathBuf>,
}

/// One layer, and whether this process has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// Which one.
    pub name: LayerName,
    /// Whether it is in force.
    #[serde(flatten)]
    pub held: Held,
}

/// The layers, in the order in which they are put on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerName {
    /// No program that it starts has more rights than it has (`no_new_privs`).
    Privileges,
    /// Files, TCP listening, signals and abstract sockets beyond its own (Landlock).
    Files,
    /// System calls that it never needs (seccomp).
    Calls,
}

/// Whether a layer is in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "held", content = "why")]
pub enum Held {
    /// All of it.
    Whole,
    /// As much of it as this kernel knows.
    Partly(String),
    /// Nothing of it.
    Not(String),
}

impl Plan {
    /// What the vault of `profile` needs. Makes the folder of its sockets where that lies elsewhere, because afterwards it could not.
    ///
    /// # Errors
    ///
    /// [`GuardFault`] where that folder cannot be used.
    pub fn vault(profile: &Profile) -> Result<Self, GuardFault> {
        let read = profile.hardened().and_then(|hardened| hardened.passphrase()).map(PathBuf::from);
        Ok(Self { role: Role::Vault, own: own_folders(profile)?, read: read.into_iter().collect() })
    }

    /// What a `serve` of `profile` needs, as [`Plan::vault`].
    ///
    /// # Errors
    ///
    /// As [`Plan::vault`].
    pub fn serve(profile: &Profile) -> Result<Self, GuardFault> {
        if profile.hardened().is_some() {
            return Ok(Self { role: Role::Serve, own: vec![profile.home().to_owned()], read: Vec::new() });
        }
        // The folder, since a program that is replaced while this one runs is another file.
        let program = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
        Ok(Self { role: Role::Starter, own: own_folders(profile)?, read: program.into_iter().collect() })
    }

    /// What the console of `profile` needs: the folder of the profile, where it reads the ledger when a person wants it
    /// checked, which for SQLite is to write as well. Nothing of the machine's vault, whose files are out of its reach anyway.
    ///
    /// # Errors
    ///
    /// As [`Plan::vault`].
    pub fn console(profile: &Profile) -> Result<Self, GuardFault> {
        let own = if profile.hardened().is_some() { Vec::new() } else { own_folders(profile)? };
        Ok(Self { role: Role::Console, own, read: Vec::new() })
    }
}

/// The folder of the profile and that of its sockets, which may lie elsewhere.
fn own_folders(profile: &Profile) -> Result<Vec<PathBuf>, GuardFault> {
    let (home, sockets) = (profile.home(), profile.run_dir());
    if sockets.starts_with(home) {
        return Ok(vec![home.to_owned()]);
    }
    if profile.hardened().is_none() {
        guarded::make_directory(&sockets)?;
    }
    Ok(vec![home.to_owned(), sockets])
}

/// Confines the calling thread, and with it every thread and process that it starts from now on: call it before it starts
/// any. Says what the kernel holds; what it does not hold is missing and nothing else changes.
pub fn confine(plan: &Plan) -> Vec<Layer> {
    imp::confine(plan)
}

/// What this kernel would hold of `plan`, tried out in a thread of its own that ends with it.
#[must_use]
pub fn possible(plan: &Plan) -> Vec<Layer> {
    std::thread::scope(|scope| scope.spawn(|| confine(plan)).join()).unwrap_or_default()
}

/// What the text of `/proc/PID/status` says of another process; it does not tell about Landlock.
#[must_use]
pub fn seen(status: &str) -> Vec<Layer> {
    let says = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.map(str::trim)
    };
    let held = |key: &str, whole: &str| match says(key) {
        Some(value) if value == whole => Held::Whole,
        Some(_) => Held::Not("the process runs without it".to_owned()),
        None => Held::Not("this kernel does not tell".to_owned()),
    };
    vec![
        Layer { name: LayerName::Privileges, held: held("NoNewPrivs", "1") },
        Layer { name: LayerName::Calls, held: held("Seccomp", "2") },
    ]
}

/// The layers in one line for a log.
#[must_use]
pub fn told(layers: &[Layer]) -> String {
    layers.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.name {
            LayerName::Privileges => "no new privileges",
            LayerName::Files => "files (Landlock)",
            LayerName::Calls => "system calls (seccomp)",
        };
        match &self.held {
            Held::Whole => write!(f, "{name}: held"),
            Held::Partly(why) => write!(f, "{name}: held in part ({why})"),
            Held::Not(why) => write!(f, "{name}: not held ({why})"),
        }
    }
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod imp {
    use super::{Held, Layer, LayerName, Plan, calls, files};

    pub(super) fn confine(plan: &Plan) -> Vec<Layer> {
        let privileges = match rustix::thread::set_no_new_privs(true) {
            Ok(()) => Held::Whole,
            Err(errno) => Held::Not(errno.to_string()),
        };
        // The last layer forbids nothing that the one before needs, and is put on last all the same.
        vec![
            Layer { name: LayerName::Privileges, held: privileges },
            Layer { name: LayerName::Files, held: files::restrict(plan) },
            Layer { name: LayerName::Calls, held: calls::forbid(plan.role) },
        ]
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod imp {
    use super::{Held, Layer, LayerName, Plan};

    pub(super) fn confine(_plan: &Plan) -> Vec<Layer> {
        let not = |name| Layer { name, held: Held::Not("only Linux on 64 bits has it".to_owned()) };
        [LayerName::Privileges, LayerName::Files, LayerName::Calls].map(not).to_vec()
    }
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests;
