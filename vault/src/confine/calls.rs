//! System calls that a process never makes again, by seccomp. Must never name one that the work of its role needs.
//!
//! A list of what is forbidden, not of what is allowed: libraries and kernels change what they use, and a payment must not
//! fail in the middle because one of them did. Whoever tries hears "not permitted".

use super::{Held, Role};
use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};
use std::collections::BTreeMap;

/// Other processes' memory and descriptors, the kernel itself, its namespaces and mounts, and doors that were behind most
/// ways out of a process. What wants a right that nobody here has, or could get without a namespace, is not listed: the
/// kernel walks the list for every call there is when the filter is put on, and that is on the way of every start.
const NEVER: [c_long; 38] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_personality,
];

/// Starting another program.
const START: [c_long; 2] = [libc::SYS_execve, libc::SYS_execveat];

/// New namespaces, which `clone` can make too.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// What is spoken: to the vault, to sellers and chains, and to the kernel where addresses are sorted.
const FAMILIES: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Typing at somebody's terminal, and its console's way of doing the same.
const TYPING: [u64; 2] = [0x5412, 0x541C];

/// Puts the filters of `role` on the calling thread.
pub(super) fn forbid(role: Role) -> Held {
    match programs(role) {
        Err(why) => Held::Not(why),
        Ok(programs) => {
            for program in programs {
                if let Err(fault) = seccompiler::apply_filter(&program) {
                    return Held::Not(fault.to_string());
                }
            }
            Held::Whole
        }
    }
}

/// One filter for what is not permitted, and one for what this kernel shall seem not to have.
fn programs(role: Role) -> Result<[BpfProgram; 2], String> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|fault| fault.to_string())?;
    let compiled = |rules, errno: libc::c_int| -> Result<BpfProgram, String> {
        let errno = u32::try_from(errno).map_err(|fault| fault.to_string())?;
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), arch);
        filter.and_then(TryInto::try_into).map_err(|fault: seccompiler::BackendError| fault.to_string())
    };
    // The arguments of clone3 lie in memory where a filter cannot look; without it, clone is used.
    let seeming = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    Ok([compiled(forbidden(role).map_err(|fault| fault.to_string())?, libc::EPERM)?, compiled(seeming, libc::ENOSYS)?])
}

fn forbidden(role: Role) -> Result<BTreeMap<c_long, Vec<SeccompRule>>, seccompiler::BackendError> {
    let mut rules: BTreeMap<c_long, Vec<SeccompRule>> = NEVER.map(|call| (call, Vec::new())).into();
    if matches!(role, Role::Vault | Role::Serve | Role::Console) {
        rules.extend(START.map(|call| (call, Vec::new())));
    }
    let masked = |argument, flag| {
        let has = SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?;
        SeccompRule::new(vec![has])
    };
    let clone = NAMESPACES.into_iter().map(|flag| masked(0, bits(flag)));
    rules.insert(libc::SYS_clone, clone.collect::<Result<_, _>>()?);

    let foreign = FAMILIES
        .into_iter()
        .map(|family| SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, bits(family)));
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(foreign.collect::<Result<_, _>>()?)?]);

    let typing = TYPING.into_iter().map(|request| {
        SeccompRule::new(vec![SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, request)?])
    });
    rules.insert(libc::SYS_ioctl, typing.collect::<Result<_, _>>()?);

    // No memory that is written and then run. On other processors the loader itself asks for it.
    if cfg!(target_arch = "x86_64") {
        let run = bits(libc::PROT_EXEC);
        rules.insert(libc::SYS_mmap, vec![masked(2, run | bits(libc::PROT_WRITE))?]);
        rules.insert(libc::SYS_mprotect, vec![masked(2, run)?]);
        rules.insert(libc::SYS_pkey_mprotect, vec![masked(2, run)?]);
        rules.extend(second_names());
    }
    Ok(rules)
}

/// The ways out of a process under the names of x86-64's second interface (x32), where a kernel has it; whole calls only, since
/// nobody here uses that interface for anything.
fn second_names() -> impl Iterator<Item = (c_long, Vec<SeccompRule>)> {
    const SECOND: c_long = 0x4000_0000;
    // Those that have a number of their own there: execve, ptrace, process_vm_readv, process_vm_writev, execveat.
    let own = [520, 521, 539, 540, 545];
    let same = [
        libc::SYS_clone,
        libc::SYS_clone3,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_mount,
        libc::SYS_bpf,
        libc::SYS_io_uring_setup,
        libc::SYS_mmap,
        libc::SYS_mprotect,
        libc::SYS_socket,
    ];
    own.into_iter().chain(same).map(|call| (call | SECOND, Vec::new()))
}

/// A constant of the kernel's, all of which are positive here.
fn bits(flag: libc::c_int) -> u64 {
    u64::try_from(flag).unwrap_or_default()
}
