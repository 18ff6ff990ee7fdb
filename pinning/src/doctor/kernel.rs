//! Checks of the kernel: version, and settings that cost latency.

use super::Spec;
use super::probe::{Answer, Probe, fail, ok, skip, warn};
use crate::cpuset::CpuSet;
use crate::host::KernelVersion;
use crate::host::tree::{CAP_DAC_OVERRIDE, Unreadable};

pub(super) const CHECKS: &[Spec] = &[
    Spec {
        id: "kernel-version",
        wanted: "Linux 5.14 or newer",
        cost: "MADV_POPULATE_WRITE is missing: journals cannot be populated when they are made, and pages fault later",
        look: version,
    },
    Spec {
        id: "kernel-futex",
        wanted: "private and shared futexes, futex_waitv (5.16)",
        cost: "a node cannot wait on several words at once; one word per node still works",
        look: futex,
    },
    Spec {
        id: "kernel-pidfd",
        wanted: "pidfd_open (5.3)",
        cost: "the death of a node is noticed late, or a reused pid is taken for it",
        look: pidfd,
    },
    Spec {
        id: "kernel-preempt",
        wanted: "PREEMPT, PREEMPT_DYNAMIC or PREEMPT_RT",
        cost: "a wake-up waits until a system call of somebody else is over: up to ms",
        look: preempt,
    },
    Spec {
        id: "kernel-watchdog",
        wanted: "kernel.watchdog = 0",
        cost: "a timer and a high-priority thread run on every CPU every few seconds",
        look: |probe| probe.sysctl("kernel.watchdog", 0),
    },
    Spec {
        id: "kernel-nmi-watchdog",
        wanted: "kernel.nmi_watchdog = 0",
        cost: "a non-maskable interrupt now and then, and one performance counter gone",
        look: |probe| probe.sysctl("kernel.nmi_watchdog", 0),
    },
    Spec {
        id: "kernel-rt-runtime",
        wanted: "kernel.sched_rt_runtime_us = -1 where the plan uses fifo",
        cost: "a busy-polling node under fifo is stopped 50 ms of every second",
        look: rt_runtime,
    },
    Spec {
        id: "kernel-fair-server",
        wanted: "fair_server/cpuN/runtime = 0 where a node of the plan polls under fifo (Linux 6.12 and newer)",
        cost: "ordinary tasks get 5 % of that node's core when they want it, 50 ms at a time, whatever sched_rt_runtime_us says",
        look: fair_server,
    },
    Spec {
        id: "kernel-autogroup",
        wanted: "kernel.sched_autogroup_enabled = 0",
        cost: "a nice value counts only within its terminal session: the plan's policy does little",
        look: |probe| probe.sysctl("kernel.sched_autogroup_enabled", 0),
    },
    Spec {
        id: "kernel-stat-interval",
        wanted: "vm.stat_interval of 10 or more",
        cost: "a kernel worker runs on every CPU once a second",
        look: stat_interval,
    },
    Spec {
        id: "kernel-timer-migration",
        wanted: "kernel.timer_migration = 0 where CPUs are isolated",
        cost: "timers of other CPUs may fire on a planned one",
        look: timer_migration,
    },
    Spec {
        id: "kernel-io-pressure",
        wanted: "nobody waited for disks more than 5 % of the last 10 s",
        cost: "logging and recording nodes stop while the disk is busy",
        look: io_pressure,
    },
];

fn running(probe: &Probe<'_>) -> Result<KernelVersion, super::probe::Skip> {
    let from_host = probe.host.as_ref().and_then(|host| host.kernel.clone());
    match from_host {
        Some(version) => Ok(version),
        None => skip("/proc/sys/kernel/osrelease and /proc/version are not there"),
    }
}

const NEWER: &str = "install a newer kernel: on Ubuntu the hardware enablement stack, on Debian backports";

fn version(probe: &Probe<'_>) -> Answer {
    let version = running(probe)?;
    if version.at_least(5, 14) { ok(version.to_string()) } else { fail(version.to_string(), NEWER) }
}

fn futex(probe: &Probe<'_>) -> Answer {
    let version = running(probe)?;
    match (version.at_least(6, 7), version.at_least(5, 16)) {
        (true, _) => ok("futex, futex_waitv, futex2"),
        (_, true) => ok("futex, futex_waitv"),
        _ => warn("futex only", NEWER),
    }
}

fn pidfd(probe: &Probe<'_>) -> Answer {
    let version = running(probe)?;
    if version.at_least(5, 3) { ok("there") } else { fail("not there", NEWER) }
}

fn preempt(probe: &Probe<'_>) -> Answer {
    let text = probe.tree.text("proc/version")?;
    let is_word = |wanted: &str| text.split_whitespace().any(|word| word == wanted);
    let kinds = ["PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT"];
    match kinds.into_iter().find(|kind| is_word(kind)) {
        Some("PREEMPT_DYNAMIC") => {
            let chosen = probe.command_line.split_whitespace().find_map(|word| word.strip_prefix("preempt="));
            match chosen {
                Some("none") => warn("PREEMPT_DYNAMIC, preempt=none", "kernel command line: preempt=full"),
                Some(chosen) => ok(format!("PREEMPT_DYNAMIC, preempt={chosen}")),
                None => ok("PREEMPT_DYNAMIC"),
            }
        }
        Some(kind) => ok(kind),
        None => warn(
            "not preemptible",
            "install a kernel with PREEMPT_DYNAMIC (the distribution's default one has it) or PREEMPT_RT",
        ),
    }
}

fn rt_runtime(probe: &Probe<'_>) -> Answer {
    let value = probe.tree.number("proc/sys/kernel/sched_rt_runtime_us")?;
    let found = format!("kernel.sched_rt_runtime_us = {value}");
    match value {
        -1 => ok(found),
        _ if probe.plans_fifo() => fail(found, "sudo sysctl -w kernel.sched_rt_runtime_us=-1"),
        _ => ok(format!("{found}; no node of a plan uses fifo")),
    }
}

/// The deadline server for ordinary tasks: it takes its share from a real-time task that never sleeps.
fn fair_server(probe: &Probe<'_>) -> Answer {
    const FOLDER: &str = "sys/kernel/debug/sched/fair_server";
    let version = running(probe)?;
    if !version.at_least(6, 12) {
        return ok(format!("Linux {version} has none"));
    }
    let polling = probe.polling_under_fifo();
    if polling.is_empty() {
        return ok("no node of a plan polls under fifo");
    }
    let runtimes = polling.iter().map(|cpu| (cpu, probe.tree.number(&format!("{FOLDER}/cpu{cpu}/runtime"))));
    let (mut taking, mut hidden) = (CpuSet::new(), None);
    for (cpu, runtime) in runtimes {
        match runtime {
            Ok(0) => {}
            Ok(_) => drop(taking.insert(cpu)),
            Err(error) => hidden = hidden.or(Some(error)),
        }
    }
    let fix = |cpus: &CpuSet| {
        format!("for c in {}; do echo 0 | sudo tee /{FOLDER}/cpu$c/runtime; done", cpus.spaced())
    };
    match hidden {
        None if taking.is_empty() => ok(format!("off on CPUs {polling}")),
        None => warn(format!("on for CPUs {taking}"), fix(&taking)),
        Some(error) => {
            // Root can read every file except those that a locked-down kernel hides.
            let is_locked_down =
                matches!(error, Unreadable::Denied(_)) && probe.tree.has_capability(CAP_DAC_OVERRIDE);
            let found =
                format!("Linux {version} switches it on for every CPU, and here it cannot be read: {error}");
            let fix = match error {
                _ if is_locked_down => {
                    "the kernel is locked down, so that nobody may change it: boot without lockdown= \
                    and secure boot, or let the node sleep between messages"
                        .to_owned()
                }
                Unreadable::Missing(_) => {
                    format!("sudo mount -t debugfs none /sys/kernel/debug; {}", fix(&polling))
                }
                _ => fix(&polling),
            };
            warn(found, fix)
        }
    }
}

fn stat_interval(probe: &Probe<'_>) -> Answer {
    let value = probe.tree.number("proc/sys/vm/stat_interval")?;
    let found = format!("vm.stat_interval = {value}");
    if value >= 10 { ok(found) } else { warn(found, "sudo sysctl -w vm.stat_interval=120") }
}

fn timer_migration(probe: &Probe<'_>) -> Answer {
    probe.quiet()?;
    probe.sysctl("kernel.timer_migration", 0)
}

fn io_pressure(probe: &Probe<'_>) -> Answer {
    let text = probe.tree.text("proc/pressure/io")?;
    let word = text.split_whitespace().find_map(|word| word.strip_prefix("avg10="));
    match word.and_then(|word| word.parse::<f64>().ok()) {
        None => skip("/proc/pressure/io has no avg10"),
        Some(share) if share > 5.0 => {
            warn(format!("{share:.1} % of the last 10 s"), "find who writes: iotop, or pidstat -d")
        }
        Some(share) => ok(format!("{share:.1} % of the last 10 s")),
    }
}
