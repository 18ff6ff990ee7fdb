//! Checks of the limits that control groups and containers set.

use super::Spec;
use super::probe::{Answer, Probe, fail, ok, skip, warn};
use crate::host::tree::CAP_SYS_NICE;

pub(super) const CHECKS: &[Spec] = &[
    Spec {
        id: "container-kind",
        wanted: "no container, or one with its CPUs and limits set for this",
        cost: "limits and system call filters that the host itself does not show",
        look: kind,
    },
    Spec {
        id: "container-cpuset",
        wanted: "every CPU of the host in the cpuset",
        cost: "a plan for the whole host is refused",
        look: cpuset,
    },
    Spec {
        id: "container-quota",
        wanted: "no limit of CPU time",
        cost: "when it is used up, the kernel stops all nodes until the next period: up to 100 ms",
        look: quota,
    },
    Spec {
        id: "container-throttled",
        wanted: "never stopped for CPU time",
        cost: "each stop is a gap of up to 100 ms in every node",
        look: throttled,
    },
    Spec {
        id: "container-memory",
        wanted: "no memory limit, or 1 GiB and more",
        cost: "journals count against it: the kernel kills the largest process when it is reached",
        look: memory,
    },
    Spec {
        id: "container-tasks",
        wanted: "no limit of tasks, or 512 and more",
        cost: "some nodes cannot be started",
        look: tasks,
    },
    Spec {
        id: "container-seccomp",
        wanted: "no system call filter, or CAP_SYS_NICE",
        cost: "the memory policy and real-time priorities of a plan are refused",
        look: seccomp,
    },
];

fn kind(probe: &Probe<'_>) -> Answer {
    match probe.host()?.container.as_deref() {
        None => ok("none"),
        Some(kind) => warn(
            kind,
            "docker run --cpuset-cpus=… --ulimit rtprio=99 --ulimit memlock=-1 --shm-size=2g --cap-add SYS_NICE",
        ),
    }
}

fn limits<'p>(probe: &'p Probe<'_>) -> Result<&'p crate::host::CgroupLimits, super::probe::Skip> {
    let host = probe.host()?;
    if !probe.tree.exists("proc/self/cgroup") {
        return skip("/proc/self/cgroup is not there");
    }
    Ok(&host.limits)
}

fn cpuset(probe: &Probe<'_>) -> Answer {
    let limits = limits(probe)?;
    let host = probe.host()?;
    match &limits.cpus {
        None => ok("no cpuset"),
        Some(cpus) if host.online.is_subset(cpus) => ok(format!("CPUs {cpus}")),
        Some(cpus) => warn(
            format!("CPUs {} of {}", cpus.intersection(&host.online), host.online),
            "docker run --cpuset-cpus=…, or AllowedCPUs= of the systemd unit",
        ),
    }
}

fn quota(probe: &Probe<'_>) -> Answer {
    match limits(probe)?.cpu_quota {
        None => ok("none"),
        Some(quota) => fail(
            format!("{quota:.2} CPUs' time"),
            "docker run without --cpus (use --cpuset-cpus), Kubernetes: whole CPUs with the static CPU manager, systemd: CPUQuota=",
        ),
    }
}

fn throttled(probe: &Probe<'_>) -> Answer {
    match limits(probe)?.throttled {
        None => skip("no group counts it"),
        Some(0) => ok("never"),
        Some(times) => warn(format!("{times} times"), "see container-quota"),
    }
}

fn memory(probe: &Probe<'_>) -> Answer {
    match limits(probe)?.memory_bytes {
        None => ok("no limit"),
        Some(bytes) if bytes >= 1 << 30 => ok(format!("{} MiB", bytes >> 20)),
        Some(bytes) => {
            warn(format!("{} MiB", bytes >> 20), "docker run --memory=4g, or MemoryMax= of the systemd unit")
        }
    }
}

fn tasks(probe: &Probe<'_>) -> Answer {
    match limits(probe)?.tasks {
        None => ok("no limit"),
        Some(tasks) if tasks >= 512 => ok(tasks.to_string()),
        Some(tasks) => {
            warn(tasks.to_string(), "docker run --pids-limit=-1, or TasksMax= of the systemd unit")
        }
    }
}

fn seccomp(probe: &Probe<'_>) -> Answer {
    match probe.tree.field("proc/self/status", "Seccomp")? {
        0 => ok("no filter"),
        _ if probe.tree.has_capability(CAP_SYS_NICE) => ok("a filter, and CAP_SYS_NICE"),
        _ => warn("a filter, without CAP_SYS_NICE", "docker run --cap-add SYS_NICE"),
    }
}
