//! Checks of the CPUs: clock rate, sleep states, isolation, load.

use super::Spec;
use super::probe::{Answer, Probe, fail, ok, skip, warn};
use crate::cpuset::CpuSet;
use crate::host::tree::Tree;

const SYS: &str = "sys/devices/system/cpu";

pub(super) const CHECKS: &[Spec] = &[
    Spec {
        id: "cpu-allowed",
        wanted: "4 CPUs or more for this process",
        cost: "md, td, matching and the strategies wait for each other's turn: milliseconds instead of microseconds",
        look: allowed,
    },
    Spec {
        id: "cpu-own-mask",
        wanted: "this process may use every CPU of its cpuset",
        cost: "nodes inherit the narrow mask unless the plan places them",
        look: own_mask,
    },
    Spec {
        id: "cpu-offline",
        wanted: "every CPU switched on",
        cost: "fewer cores for the same nodes",
        look: offline,
    },
    Spec {
        id: "cpu-governor",
        wanted: "scaling_governor = performance",
        cost: "the clock drops while a node waits; the first messages after a pause take up to twice as long",
        look: governor,
    },
    Spec {
        id: "cpu-energy-preference",
        wanted: "energy_performance_preference = performance",
        cost: "the CPU's own power control trades clock rate for watts",
        look: energy_preference,
    },
    Spec {
        id: "cpu-frequency-cap",
        wanted: "scaling_max_freq not below cpuinfo_max_freq",
        cost: "every instruction takes longer, by the ratio of the two",
        look: frequency_cap,
    },
    Spec {
        id: "cpu-turbo",
        wanted: "turbo on",
        cost: "up to a third of the clock rate; on the other hand runs differ less without it",
        look: turbo,
    },
    Spec {
        id: "cpu-idle-states",
        wanted: "no sleep state that takes more than 10 µs to leave",
        cost: "waking a parked node takes as long as its core takes to wake, up to hundreds of µs",
        look: idle_states,
    },
    Spec {
        id: "cpu-guest-halt",
        wanted: "an idle virtual CPU does not go back to the hypervisor (idle=poll or cpuidle-haltpoll)",
        cost: "waking a parked node waits for the hypervisor too: tens of µs",
        look: guest_halt,
    },
    Spec {
        id: "cpu-smt",
        wanted: "one hardware thread per core in use",
        cost: "two busy hardware threads of one core run at about half speed each, and jitter grows",
        look: smt,
    },
    Spec {
        id: "cpu-isolated",
        wanted: "planned CPUs in isolcpus",
        cost: "the scheduler puts other processes on them: preemptions of 1 to 10 ms",
        look: isolated,
    },
    Spec {
        id: "cpu-nohz-full",
        wanted: "planned CPUs in nohz_full",
        cost: "a tick every 1 to 4 ms takes 1 to 5 µs from whoever polls",
        look: nohz_full,
    },
    Spec {
        id: "cpu-rcu-nocbs",
        wanted: "planned CPUs in rcu_nocbs",
        cost: "the kernel's deferred work runs on them: 10 to 100 µs now and then",
        look: rcu_nocbs,
    },
    Spec {
        id: "cpu-hybrid",
        wanted: "planned CPUs are fast cores",
        cost: "a slow core takes about twice as long for everything",
        look: hybrid,
    },
    Spec {
        id: "cpu-load",
        wanted: "planned CPUs less than 5 % busy before the platform starts",
        cost: "whoever runs there takes turns with the node: up to 4 ms a time",
        look: load,
    },
    Spec {
        id: "cpu-mitigations",
        wanted: "no mitigation in force, where all code on the host is trusted",
        cost: "system calls and wake-ups take 10 to 50 % longer",
        look: mitigations,
    },
    Spec {
        id: "cpu-throttled",
        wanted: "never slowed down by heat",
        cost: "the clock drops for seconds at a time",
        look: throttled,
    },
];

fn allowed(probe: &Probe<'_>) -> Answer {
    let host = probe.host()?;
    let found = format!("{} of {} CPUs ({})", host.allowed.len(), host.online.len(), host.allowed);
    match host.allowed.len() {
        0 | 1 => fail(found, "use a host with more CPUs, and parked or adaptive nodes on this one"),
        2 | 3 => warn(found, "use a host with 4 CPUs or more, or parked nodes on this one"),
        _ => ok(found),
    }
}

fn own_mask(probe: &Probe<'_>) -> Answer {
    let host = probe.host()?;
    let status = probe.tree.text("proc/self/status")?;
    let Some(list) = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")) else {
        return skip("/proc/self/status has no line Cpus_allowed_list");
    };
    let Ok(mask) = list.parse::<CpuSet>() else { return skip("Cpus_allowed_list is garbled") };
    if host.allowed.is_subset(&mask) {
        return ok(format!("CPUs {}", mask.intersection(&host.online)));
    }
    warn(
        format!("CPUs {mask} of {}", host.allowed),
        format!("start without taskset, or: taskset -pc {} $$", host.allowed),
    )
}

fn offline(probe: &Probe<'_>) -> Answer {
    let host = probe.host()?;
    if host.offline.is_empty() {
        return ok(format!("all {} online", host.online.len()));
    }
    let offline = host.offline.spaced();
    warn(
        format!("CPUs {} are offline", host.offline),
        format!("for c in {offline}; do echo 1 | sudo tee /{SYS}/cpu$c/online; done"),
    )
}

fn no_cpufreq(probe: &Probe<'_>) -> Answer {
    match probe.host()?.virtualised.as_deref() {
        Some(kind) => skip(format!("no cpufreq here: the hypervisor ({kind}) sets the clock rate")),
        None => skip("no cpufreq: the firmware sets the clock rate"),
    }
}

/// All planned CPUs should have the wanted value.
fn setting(probe: &Probe<'_>, file: &str, wanted: &str) -> Answer {
    let values = probe.by_value(&format!("cpufreq/{file}"))?;
    if values.is_empty() {
        return no_cpufreq(probe);
    }
    let found: Vec<String> = values.iter().map(|(value, cpus)| format!("{value} on CPUs {cpus}")).collect();
    if values.keys().all(|value| value == wanted) {
        return ok(found.join(", "));
    }
    warn(found.join(", "), format!("echo {wanted} | sudo tee /{SYS}/cpu*/cpufreq/{file}"))
}

fn governor(probe: &Probe<'_>) -> Answer {
    setting(probe, "scaling_governor", "performance")
}

fn energy_preference(probe: &Probe<'_>) -> Answer {
    setting(probe, "energy_performance_preference", "performance")
}

fn frequency_cap(probe: &Probe<'_>) -> Answer {
    let cpus = probe.cpus()?;
    let rate = |cpu, file: &str| probe.tree.index(&format!("{SYS}/cpu{cpu}/cpufreq/{file}")).ok();
    let rates: Vec<(usize, usize, usize)> = cpus
        .iter()
        .filter_map(|cpu| Some((cpu, rate(cpu, "scaling_max_freq")?, rate(cpu, "cpuinfo_max_freq")?)))
        .collect();
    let Some(&(_, allowed, possible)) =
        rates.iter().min_by_key(|(_, allowed, possible)| (allowed >= possible, *allowed))
    else {
        return no_cpufreq(probe);
    };
    let capped: CpuSet =
        rates.iter().filter(|(_, allowed, possible)| allowed < possible).map(|rate| rate.0).collect();
    if capped.is_empty() {
        return ok(format!("up to {} MHz", possible / 1000));
    }
    let fix = format!("echo {possible} | sudo tee /{SYS}/cpu*/cpufreq/scaling_max_freq");
    warn(format!("{} of {} MHz on CPUs {capped}", allowed / 1000, possible / 1000), fix)
}

fn turbo(probe: &Probe<'_>) -> Answer {
    let intel = format!("{SYS}/intel_pstate/no_turbo");
    let other = format!("{SYS}/cpufreq/boost");
    let (is_on, fix) = match (probe.tree.number(&intel), probe.tree.number(&other)) {
        (Ok(off), _) => (off == 0, format!("echo 0 | sudo tee /{intel}")),
        (_, Ok(on)) => (on != 0, format!("echo 1 | sudo tee /{other}")),
        _ => return no_cpufreq(probe),
    };
    if is_on { ok("on") } else { warn("off", fix) }
}

/// Sleep states of one CPU: (number, name, µs to leave, switched off).
fn states(tree: &Tree, cpu: usize) -> Vec<(usize, String, usize, bool)> {
    let folder = format!("{SYS}/cpu{cpu}/cpuidle");
    let state = |number: usize| {
        let path = format!("{folder}/state{number}");
        let name = tree.some_text(&format!("{path}/name")).unwrap_or_else(|| format!("state{number}"));
        let is_off = tree.index(&format!("{path}/disable")).is_ok_and(|disabled| disabled != 0);
        Some((number, name, tree.index(&format!("{path}/latency")).ok()?, is_off))
    };
    tree.numbered(&folder, "state").into_iter().filter_map(state).collect()
}

fn idle_states(probe: &Probe<'_>) -> Answer {
    let mut seen = 0;
    let mut deep: Option<(usize, String, usize)> = None;
    let mut cpus = CpuSet::new();
    for cpu in probe.cpus()?.iter() {
        for (number, name, latency, is_off) in states(&probe.tree, cpu) {
            seen += 1;
            if latency > 10 && !is_off {
                cpus.insert(cpu);
                if deep.as_ref().is_none_or(|(_, _, worst)| latency > *worst) {
                    deep = Some((number, name, latency));
                }
            }
        }
    }
    match deep {
        _ if seen == 0 => skip("the kernel manages no sleep states here"),
        None => ok("no deep sleep state in use"),
        Some((number, name, latency)) => warn(
            format!("{name} takes {latency} µs to leave, on CPUs {cpus}"),
            format!(
                "echo 1 | sudo tee /{SYS}/cpu*/cpuidle/state{number}/disable  # or keep /dev/cpu_dma_latency at 0"
            ),
        ),
    }
}

fn guest_halt(probe: &Probe<'_>) -> Answer {
    let host = probe.host()?;
    let Some(kind) = &host.virtualised else { return skip("no virtual machine") };
    let driver = probe.tree.text(&format!("{SYS}/cpuidle/current_driver")).unwrap_or_default();
    if probe.command_line.split_whitespace().any(|word| word == "idle=poll") {
        return ok("idle=poll");
    }
    if driver.contains("haltpoll") {
        return ok("cpuidle driver haltpoll");
    }
    let driver = if driver.is_empty() { "unknown" } else { &driver };
    warn(format!("under {kind}, cpuidle driver: {driver}"), haltpoll_fix(probe))
}

/// How to load the driver: built-in drivers, and kernels without modules, need no `modprobe`.
fn haltpoll_fix(probe: &Probe<'_>) -> &'static str {
    let release = probe.tree.some_text("proc/sys/kernel/osrelease").unwrap_or_default();
    let builtin = probe.tree.text(&format!("lib/modules/{release}/modules.builtin")).unwrap_or_default();
    // Such a folder without `initstate` belongs to a built-in part of the kernel.
    let folder = "sys/module/cpuidle_haltpoll";
    let is_built_in = builtin.contains("/cpuidle-haltpoll.ko")
        || (probe.tree.exists(folder) && !probe.tree.exists(&format!("{folder}/initstate")))
        || probe.is_built_with("CONFIG_HALTPOLL_CPUIDLE") == Some(true);
    let has_modules = probe.tree.exists("proc/modules")
        && !probe.command_line.split_whitespace().any(|word| word == "nomodule");
    match (is_built_in, has_modules) {
        (true, _) => "kernel command line: cpuidle_haltpoll.force=1 (the driver is built in), or idle=poll",
        (_, true) => "sudo modprobe cpuidle-haltpoll force=1  # or idle=poll on the kernel command line",
        (_, false) => "kernel command line: idle=poll (this kernel loads no modules)",
    }
}

fn smt(probe: &Probe<'_>) -> Answer {
    let host = probe.host()?;
    if !host.has_smt() {
        return ok(format!("{} cores, one hardware thread each", host.cores.len()));
    }
    let found = format!("{} cores, {} hardware threads", host.cores.len(), host.online.len());
    if let Some(plan) = probe.plan {
        let used = plan.pinned_cpus();
        let shared: CpuSet = used.iter().filter(|&cpu| host.siblings(cpu).overlaps(&used)).collect();
        if shared.is_empty() {
            return ok(format!("{found}; the plan uses one thread of each core"));
        }
        return warn(
            format!("{found}; the plan uses both threads of CPUs {shared}"),
            "give the nodes no_smt_sibling = true",
        );
    }
    warn(
        found,
        "echo off | sudo tee /sys/devices/system/cpu/smt/control  # or no_smt_sibling = true in the plan",
    )
}

/// Planned CPUs that a kernel parameter should name.
fn named(probe: &Probe<'_>, named: &CpuSet, parameter: &str) -> Answer {
    let quiet = probe.quiet()?;
    let missing = quiet.difference(named);
    if missing.is_empty() {
        return ok(format!("CPUs {named}"));
    }
    let found = if named.is_empty() { "none".to_owned() } else { format!("CPUs {named}, not {missing}") };
    let all = named.union(&quiet);
    let fix = probe.rest(&all).map_or_else(|none| none, |_| format!("kernel command line: {parameter}{all}"));
    warn(found, fix)
}

/// The same for a parameter that only some kernels understand.
fn named_if_built(
    probe: &Probe<'_>,
    found: &CpuSet,
    parameter: &str,
    option: &str,
    is_built: bool,
) -> Answer {
    if is_built {
        return named(probe, found, parameter);
    }
    probe.quiet()?;
    warn(
        format!("this kernel is built without {option}: {parameter} would do nothing"),
        format!("install a kernel with {option}=y, or leave it"),
    )
}

fn isolated(probe: &Probe<'_>) -> Answer {
    named(probe, &probe.host()?.isolated, "isolcpus=managed_irq,domain,")
}

fn nohz_full(probe: &Probe<'_>) -> Answer {
    // The kernel shows the file only where it was built with the option; `isolated` beside it is always there.
    let folder = |file: &str| probe.tree.exists(&format!("{SYS}/{file}"));
    let is_built = folder("nohz_full") || !folder("isolated");
    named_if_built(probe, &probe.host()?.nohz_full, "nohz_full=", "CONFIG_NO_HZ_FULL", is_built)
}

fn rcu_nocbs(probe: &Probe<'_>) -> Answer {
    let is_built = probe.is_built_with("CONFIG_RCU_NOCB_CPU") != Some(false);
    named_if_built(probe, &probe.host()?.rcu_nocbs, "rcu_nocbs=", "CONFIG_RCU_NOCB_CPU", is_built)
}

fn hybrid(probe: &Probe<'_>) -> Answer {
    let host = probe.host()?;
    if !host.is_hybrid() {
        return ok("all cores of one kind");
    }
    let kinds = |efficient| {
        let is_kind = |cpu: &&crate::host::Cpu| (cpu.kind == crate::host::CoreKind::Efficient) == efficient;
        host.cpus.iter().filter(|cpu| cpu.online).filter(is_kind).map(|cpu| cpu.id).collect::<CpuSet>()
    };
    let slow = kinds(true);
    let planned = probe.cpus()?.intersection(&slow);
    if planned.is_empty() {
        return ok(format!("slow cores {slow} are not planned"));
    }
    warn(format!("CPUs {planned} are slow cores"), format!("take CPUs {} in the plan", kinds(false)))
}

fn load(probe: &Probe<'_>) -> Answer {
    if probe.watched.is_empty() {
        return skip("only the running host can be watched");
    }
    let cpus = probe.cpus()?;
    let busy: Vec<(usize, f64)> = cpus
        .iter()
        .filter_map(|cpu| Some((cpu, probe.watched.get(&cpu)?.busy_percent())))
        .filter(|(_, percent)| *percent >= 5.0)
        .collect();
    if busy.is_empty() {
        return ok(format!("CPUs {cpus} idle"));
    }
    let found: Vec<String> = busy.iter().map(|(cpu, percent)| format!("CPU {cpu} {percent:.0} %")).collect();
    warn(
        found.join(", "),
        "stop what runs there, or plan other CPUs: top, then 1 and f to show the last used CPU",
    )
}

fn mitigations(probe: &Probe<'_>) -> Answer {
    let folder = format!("{SYS}/vulnerabilities");
    let names = probe.tree.names(&folder);
    if names.is_empty() {
        return skip(format!("/{folder} is not there"));
    }
    let is_mitigated = |name: &&String| {
        let text = probe.tree.text(&format!("{folder}/{name}")).unwrap_or_default();
        text.starts_with("Mitigation")
    };
    let mitigated: Vec<&str> = names.iter().filter(is_mitigated).map(String::as_str).collect();
    if mitigated.is_empty() {
        return ok(format!("none of {} in force", names.len()));
    }
    warn(
        format!("{} in force: {}", mitigated.len(), mitigated.join(", ")),
        "kernel command line: mitigations=off",
    )
}

fn throttled(probe: &Probe<'_>) -> Answer {
    let values = probe.by_value("thermal_throttle/core_throttle_count")?;
    if values.is_empty() {
        return skip("the CPU does not count how often heat slows it down");
    }
    let hot: Vec<String> = values
        .iter()
        .filter(|(count, _)| *count != "0")
        .map(|(count, cpus)| format!("{count} times on CPUs {cpus}"))
        .collect();
    if hot.is_empty() {
        ok("never")
    } else {
        warn(hot.join(", "), "cool the machine, or cap the clock rate below what it can hold")
    }
}
