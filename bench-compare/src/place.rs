//! The place of a role: its CPU, its parent, the time.

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::error::{CompareError, system};

/// Pins the calling thread.
pub(crate) fn pin(cpu: usize) -> Result<(), CompareError> {
    let mut set = CpuSet::new();
    set.set(cpu).map_err(system("name the CPU"))?;
    sched_setaffinity(Pid::from_raw(0), &set).map_err(system("pin the thread to its CPU"))
}

/// Lets the calling thread run on any of these.
pub(crate) fn pin_to_any(cpus: &[usize]) -> Result<(), CompareError> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu).map_err(system("name the CPU"))?;
    }
    sched_setaffinity(Pid::from_raw(0), &set).map_err(system("let the thread go to its CPUs"))
}

/// The CPU of a role: the first belongs to role 0 alone, if there are others.
pub(crate) fn cpu_of(role: usize, cpus: &[usize]) -> usize {
    match (role, cpus) {
        (0, _) | (_, [_]) => cpus[0],
        (role, cpus) => cpus[1 + (role - 1) % (cpus.len() - 1)],
    }
}

/// Makes this process end when the driver ends.
pub(crate) fn follow_parent() -> Result<(), CompareError> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(system("follow the driver"))
}

/// `CLOCK_MONOTONIC` in nanoseconds: the same for all processes.
#[inline]
pub(crate) fn now() -> u64 {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC)
        .map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// Involuntary context switches of the calling thread so far; 0 if the system does not report them.
pub(crate) fn involuntary_switches() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::cpu_of;

    #[test]
    fn the_first_cpu_is_for_role_0_alone() {
        let cpus = [3, 2, 1];
        let placed: Vec<usize> = (0..5).map(|role| cpu_of(role, &cpus)).collect();
        assert_eq!(placed, [3, 2, 1, 2, 1]);
        assert_eq!(cpu_of(4, &[0]), 0);
    }
}
