//! The system calls. Each acts on the calling thread, except where a thread is named.

use std::io;
use std::path::Path;

use nix::sys::resource::{Resource, getrlimit};

use crate::cpuset::{CpuSet, MAX_CPUS};
use crate::host::tree::{CAP_SYS_NICE, Tree};
use crate::observe::Scheduling;
use crate::policy::Policy;

/// A bit per CPU (or NUMA node), in the words that the kernel uses.
type Mask = [libc::c_ulong; MAX_CPUS / libc::c_ulong::BITS as usize];

/// CPUs that `core_affinity` supports.
const LIBRARY_CPUS: usize = libc::CPU_SETSIZE as usize;

const MPOL_DEFAULT: libc::c_int = 0;

fn mask_of(set: &CpuSet) -> Mask {
    let mut mask = [0; MAX_CPUS / libc::c_ulong::BITS as usize];
    for cpu in set.iter() {
        mask[cpu / libc::c_ulong::BITS as usize] |= 1 << (cpu % libc::c_ulong::BITS as usize);
    }
    mask
}

fn set_of(mask: &Mask) -> CpuSet {
    let bit = |cpu: &usize| {
        mask[cpu / libc::c_ulong::BITS as usize] >> (cpu % libc::c_ulong::BITS as usize) & 1 == 1
    };
    (0..MAX_CPUS).filter(bit).collect()
}

/// The CPU that the calling thread runs on at this moment.
pub fn current_cpu() -> Option<usize> {
    // SAFETY: takes no argument and touches no memory of ours.
    let cpu = unsafe { libc::sched_getcpu() };
    usize::try_from(cpu).ok()
}

pub(super) fn set_affinity(cpus: &CpuSet) -> io::Result<()> {
    if cpus.last().is_some_and(|cpu| cpu >= MAX_CPUS) {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    if let Some(cpu) = cpus.first().filter(|&cpu| cpus.len() == 1 && cpu < LIBRARY_CPUS) {
        let is_set = core_affinity::set_for_current(core_affinity::CoreId { id: cpu });
        // The library drops the error, and this call is the last that it makes.
        return if is_set { Ok(()) } else { Err(io::Error::last_os_error()) };
    }
    set_affinity_of(0, cpus)
}

/// Sets the CPUs of thread `tid`, which may belong to another process; 0 is the calling thread.
pub(super) fn set_affinity_of(tid: u32, cpus: &CpuSet) -> io::Result<()> {
    let tid = libc::pid_t::try_from(tid).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
    let mask = mask_of(cpus);
    // SAFETY: the kernel reads `size_of_val(&mask)` bytes of `mask`, which lives until the call returns.
    let result = unsafe { libc::sched_setaffinity(tid, size_of_val(&mask), mask.as_ptr().cast()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub(super) fn affinity() -> io::Result<CpuSet> {
    let mut mask: Mask = [0; MAX_CPUS / libc::c_ulong::BITS as usize];
    // SAFETY: the kernel writes at most `size_of_val(&mask)` bytes to `mask`, which is ours alone.
    let result = unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    if result == 0 { Ok(set_of(&mask)) } else { Err(io::Error::last_os_error()) }
}

// The system calls themselves: musl refuses its functions of these names, which POSIX wants to speak of whole processes. The
// kernel's `sched_param` is one number.

pub(super) fn set_policy(policy: Policy) -> io::Result<()> {
    let scheduler = |number: libc::c_int, priority: u8| {
        let priority = libc::c_int::from(priority);
        // SAFETY: the kernel reads one number, which lives until the call returns; pid 0 is the calling thread.
        let result = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, number, &raw const priority) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    match policy {
        Policy::Fifo(priority) => scheduler(libc::SCHED_FIFO, priority),
        Policy::Idle => scheduler(libc::SCHED_IDLE, 0),
        Policy::Nice(nice) => {
            scheduler(libc::SCHED_OTHER, 0)?;
            // SAFETY: takes numbers only. On Linux PRIO_PROCESS with 0 means the calling thread.
            let result = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice.into()) };
            if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
        }
    }
}

pub(super) fn scheduling() -> io::Result<Scheduling> {
    // SAFETY: takes a number only; 0 is the calling thread.
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
    let policy = u32::try_from(policy).map_err(|_| io::Error::last_os_error())?;
    let mut priority: libc::c_int = 0;
    // SAFETY: the kernel writes one number, which is ours alone.
    if unsafe { libc::syscall(libc::SYS_sched_getparam, 0, &raw mut priority) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // -1 is a nice value as well as an error; an error is not possible for the calling thread.
    // SAFETY: takes numbers only.
    let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    // A kernel may be asked to reset the policy on fork: a flag beside the number.
    let reset_on_fork = libc::SCHED_RESET_ON_FORK as u32;
    Ok(Scheduling::from_numbers(policy & !reset_on_fork, nice.into(), priority.into()))
}

pub(super) fn bind_memory(node: usize) -> io::Result<()> {
    if node >= MAX_CPUS {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let mask = mask_of(&CpuSet::single(node));
    // The kernel reads one bit less than the given number.
    let bits: libc::c_ulong = node as libc::c_ulong + 2;
    // SAFETY: the kernel reads `bits - 1` bits of `mask`, which is longer (node < MAX_CPUS) and lives until the call
    // returns.
    let result = unsafe { libc::syscall(libc::SYS_set_mempolicy, libc::MPOL_BIND, mask.as_ptr(), bits) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The nodes that memory must come from; `None` when the policy is the default one.
pub(super) fn memory_binding() -> io::Result<Option<CpuSet>> {
    let mut policy: libc::c_int = MPOL_DEFAULT;
    let mut mask: Mask = [0; MAX_CPUS / libc::c_ulong::BITS as usize];
    let bits: libc::c_ulong = MAX_CPUS as libc::c_ulong;
    let no_address: *const libc::c_void = std::ptr::null();
    let flags: libc::c_ulong = 0;
    // SAFETY: without an address the kernel writes one int to `policy` and at most `bits` bits to `mask`, both owned by
    // this function and of that length.
    let result = unsafe {
        libc::syscall(libc::SYS_get_mempolicy, &mut policy, mask.as_mut_ptr(), bits, no_address, flags)
    };
    match result {
        0 if policy == libc::MPOL_BIND => Ok(Some(set_of(&mask))),
        0 => Ok(None),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The highest real-time priority that an unprivileged process may take.
pub(super) fn real_time_limit() -> Option<u64> {
    getrlimit(Resource::RLIMIT_RTPRIO).ok().map(|(soft, _)| soft)
}

/// Whether CAP_SYS_NICE is effective.
pub(super) fn has_sys_nice() -> bool {
    Tree::new(Path::new("/")).has_capability(CAP_SYS_NICE)
}

#[cfg(test)]
mod tests {
    use super::{mask_of, set_of};
    use crate::cpuset::CpuSet;

    #[test]
    fn a_mask_holds_the_set() {
        let set: CpuSet = "0,63-65,1023-1025,8191".parse().unwrap();
        assert_eq!(set_of(&mask_of(&set)), set);
    }
}
