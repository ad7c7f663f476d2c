//! What Linux and other Unix systems do differently, a function each. Must never decide anything.

use rustix::time::ClockId;
use std::io;
use std::os::fd::AsFd;

/// The clock that nobody can set and that goes on while the machine sleeps.
#[cfg(target_os = "linux")]
pub(crate) const BOOT_CLOCK: ClockId = ClockId::Boottime;

/// The clock that nobody can set and that goes on while the machine sleeps.
#[cfg(not(target_os = "linux"))]
pub(crate) const BOOT_CLOCK: ClockId = ClockId::Monotonic;

/// The name of this boot; empty where the system does not tell it as a file.
pub(crate) fn boot_id() -> String {
    let read = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    read.map(|text| text.trim().to_owned()).unwrap_or_default()
}

/// The user of the process at the other end of a socket, as the kernel recorded it when the connection was made.
#[cfg(target_os = "linux")]
pub(crate) fn peer_uid(stream: impl AsFd) -> io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

/// The user of the process at the other end of a socket, as the kernel recorded it when the connection was made.
#[cfg(not(target_os = "linux"))]
pub(crate) fn peer_uid(stream: impl AsFd) -> io::Result<u32> {
    let (uid, _group) = nix::unistd::getpeereid(stream)?;
    Ok(uid.as_raw())
}

/// Closes this process's memory to other processes of the same user.
#[cfg(target_os = "linux")]
pub(crate) fn close_memory() -> io::Result<()> {
    let closed = rustix::process::DumpableBehavior::NotDumpable;
    Ok(rustix::process::set_dumpable_behavior(closed)?)
}

/// There is no such way in safe code; core dumps are off all the same.
#[cfg(not(target_os = "linux"))]
pub(crate) fn close_memory() -> io::Result<()> {
    Ok(())
}
