//! What is forbidden is tried, in a thread that the kernel forbids it to, and what the work needs still works.

use super::*;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

const LOOPBACK: &str = "127.0.0.1:0";

/// Tries `work` in a thread that is confined to `own`; fails where this kernel does not hold every layer whole.
fn confined<T: Send>(role: Role, own: &Path, work: impl FnOnce() -> T + Send) -> T {
    let plan = Plan { role, own: vec![own.to_owned()], read: Vec::new() };
    std::thread::scope(|scope| {
        let tried = scope.spawn(|| {
            let layers = confine(&plan);
            assert!(
                layers.iter().all(|layer| layer.held == Held::Whole),
                "this kernel is too old for this test: {}",
                told(&layers)
            );
            work()
        });
        tried.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn denied<T>(tried: io::Result<T>) {
    let kind = tried.map(drop).map_err(|fault| fault.kind());
    assert_eq!(kind, Err(io::ErrorKind::PermissionDenied));
}

#[test]
fn files_that_are_not_its_own_are_out_of_reach() {
    let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(other.path().join("theirs"), "x").unwrap();
    fs::write(own.path().join("ours"), "x").unwrap();
    for role in [Role::Vault, Role::Serve, Role::Starter, Role::Console] {
        confined(role, own.path(), || {
            denied(File::open(other.path().join("theirs")));
            denied(fs::read_dir(other.path()));
            denied(File::create(other.path().join("new")));
            denied(fs::remove_file(other.path().join("theirs")));
            denied(fs::rename(own.path().join("ours"), other.path().join("moved")));
            denied(fs::hard_link(own.path().join("ours"), other.path().join("linked")));
            denied(File::options().write(true).open("/etc/hostname"));
            denied(File::create("/etc/bursar-was-here"));
            denied(fs::read_dir("/root"));
            denied(fs::read_dir("/"));

            fs::write(own.path().join("fresh"), "y").unwrap();
            fs::create_dir(own.path().join("folder")).unwrap();
            fs::rename(own.path().join("fresh"), own.path().join("folder/moved")).unwrap();
            File::options().write(true).open(own.path().join("folder/moved")).unwrap().set_len(0).unwrap();
            fs::remove_dir_all(own.path().join("folder")).unwrap();
            File::options().write(true).open("/dev/null").unwrap().write_all(b"x").unwrap();
            assert!(!fs::read_to_string("/etc/passwd").unwrap().is_empty());
            assert!(!fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().is_empty());
        });
    }
    assert!(other.path().join("theirs").exists() && own.path().join("ours").exists());
}

#[test]
fn no_program_is_started_but_by_a_starter_and_then_with_no_more_rights() {
    let own = tempfile::tempdir().unwrap();
    for role in [Role::Vault, Role::Serve, Role::Console] {
        confined(role, own.path(), || denied(Command::new("/usr/bin/true").status()));
    }
    let secret = tempfile::tempdir().unwrap();
    fs::write(secret.path().join("theirs"), "x").unwrap();
    let plan =
        |read: &Path| Plan { role: Role::Starter, own: vec![own.path().to_owned()], read: vec![read.to_owned()] };
    let tried = |plan: Plan, command: &mut Command| {
        std::thread::scope(|scope| {
            scope
                .spawn(|| {
                    confine(&plan);
                    command.output()
                })
                .join()
                .unwrap()
        })
    };
    // Programs lie in one folder or in two that are one, by how the system was put together.
    let programs = fs::canonicalize("/usr/bin").unwrap();
    let said = tried(plan(&programs), Command::new("/usr/bin/cat").arg(secret.path().join("theirs"))).unwrap();
    assert!(!said.status.success() && said.stdout.is_empty(), "{said:?}");
    let said = tried(plan(&programs), Command::new("/usr/bin/cat").arg("/proc/self/status")).unwrap();
    let told = seen(&String::from_utf8(said.stdout).unwrap());
    assert!(told.len() == 2 && told.iter().all(|layer| layer.held == Held::Whole), "{told:?}");
    let elsewhere = secret.path().to_owned();
    denied(tried(plan(&elsewhere), Command::new("/usr/bin/cat").arg("/proc/self/status")));
}

#[test]
fn the_kernels_doors_that_are_never_used_are_shut() {
    let own = tempfile::tempdir().unwrap();
    for role in [Role::Vault, Role::Serve, Role::Starter, Role::Console] {
        confined(role, own.path(), || {
            for family in [
                AddressFamily::PACKET,
                AddressFamily::from_raw(40),
                AddressFamily::from_raw(16 + 1),
                AddressFamily::from_raw(38),
            ] {
                assert_eq!(
                    rustix::net::socket(family, SocketType::DGRAM, None).unwrap_err(),
                    Errno::PERM,
                    "{family:?}"
                );
            }
            assert_eq!(rustix::process::chroot("/").unwrap_err(), Errno::PERM);
            let us =
                rustix::process::pidfd_open(rustix::process::getpid(), rustix::process::PidfdFlags::empty()).unwrap();
            let taken = rustix::process::pidfd_getfd(&us, 0, rustix::process::PidfdGetfdFlags::empty());
            assert_eq!(taken.unwrap_err(), Errno::PERM);
            assert_eq!(rustix::thread::no_new_privs(), Ok(true));
        });
    }
}

#[test]
fn it_listens_on_no_tcp_port_and_reaches_those_of_others() {
    let own = tempfile::tempdir().unwrap();
    let theirs = TcpListener::bind(LOOPBACK).unwrap();
    let path = own.path().join("a.sock");
    confined(Role::Vault, own.path(), || {
        denied(TcpListener::bind(LOOPBACK));
        TcpStream::connect(theirs.local_addr().unwrap()).unwrap();
        UdpSocket::bind(LOOPBACK).unwrap();
        let listener = UnixListener::bind(&path).unwrap();
        UnixStream::connect(&path).unwrap();
        drop(listener);
        // Threads, names and the clock are there as before.
        assert_eq!(std::thread::spawn(|| 7).join().unwrap(), 7);
        assert!(std::net::ToSocketAddrs::to_socket_addrs("localhost:1").unwrap().count() > 0);
    });
}

/// Makes the calling thread one of a user without rights, where the tests run as root: root's rights look into everybody.
fn without_rights(uid: u32) -> Result<(), Errno> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let (user, group) = (rustix::thread::Uid::from_raw(uid), rustix::thread::Gid::from_raw(uid));
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)
}

#[test]
fn nobody_outside_is_signalled_or_looked_into() {
    const SOMEBODY: u32 = 61_005;
    let own = tempfile::tempdir().unwrap();
    let plan = Plan { role: Role::Serve, own: vec![own.path().to_owned()], read: Vec::new() };
    let mut command = Command::new("/usr/bin/sleep");
    if rustix::process::geteuid().is_root() {
        std::os::unix::process::CommandExt::uid(&mut command, SOMEBODY);
        std::os::unix::process::CommandExt::gid(&mut command, SOMEBODY);
    }
    let mut outside = command.arg("30").spawn().unwrap();
    let pid = rustix::process::Pid::from_child(&outside);
    let of = |name: &str| format!("/proc/{}/{name}", pid.as_raw_nonzero());
    std::thread::scope(|scope| {
        let tried = scope.spawn(|| {
            without_rights(SOMEBODY).unwrap();
            // So far it could.
            rustix::process::test_kill_process(pid).unwrap();
            assert!(!fs::read(of("environ")).unwrap().is_empty());
            confine(&plan);
            assert_eq!(rustix::process::test_kill_process(pid).unwrap_err(), Errno::PERM);
            for name in ["environ", "maps", "mem"] {
                denied(fs::read(of(name)));
            }
        });
        tried.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    outside.kill().unwrap();
    outside.wait().unwrap();
}

#[test]
fn what_is_tried_out_binds_nobody_else() {
    let own = tempfile::tempdir().unwrap();
    let plan = Plan { role: Role::Vault, own: vec![own.path().to_owned()], read: Vec::new() };
    let layers = possible(&plan);
    assert_eq!(
        layers.iter().map(|layer| layer.name).collect::<Vec<_>>(),
        [LayerName::Privileges, LayerName::Files, LayerName::Calls]
    );
    assert!(Command::new("/usr/bin/true").status().unwrap().success());
    let lives = AtomicBool::new(false);
    confined(Role::Vault, own.path(), || lives.store(true, Ordering::SeqCst));
    assert!(lives.load(Ordering::SeqCst));
}

#[test]
fn a_status_is_read_and_told() {
    let text = "Name:\tbursar\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t2\n";
    assert!(seen(text).iter().all(|layer| layer.held == Held::Whole));
    let open = seen(&text.replace("\t1", "\t0").replace("Seccomp:\t2", "Seccomp:\t0"));
    assert!(open.iter().all(|layer| matches!(layer.held, Held::Not(_))), "{open:?}");
    assert_eq!(
        told(&seen("Name:\tbursar\n")),
        "no new privileges: not held (this kernel does not tell); system calls (seccomp): not held (this kernel does not tell)"
    );
    let json = serde_json::to_value(&open).unwrap();
    assert_eq!(json[0], serde_json::json!({"name": "privileges", "held": "not", "why": "the process runs without it"}));
}
