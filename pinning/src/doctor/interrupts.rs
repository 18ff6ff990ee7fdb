//! Checks of interrupts, and of the kernel's work because of them.

use std::collections::BTreeMap;

use super::Spec;
use super::probe::{Answer, Probe, ok, skip, warn};
use crate::cpuset::CpuSet;

pub(super) const CHECKS: &[Spec] = &[
    Spec {
        id: "irq-affinity",
        wanted: "no device interrupts on planned CPUs",
        cost: "each takes 2 to 20 µs from the node that runs there",
        look: affinity,
    },
    Spec {
        id: "irq-default",
        wanted: "new interrupts do not go to planned CPUs",
        cost: "a device that starts later interrupts them",
        look: default_mask,
    },
    Spec {
        id: "irq-balance",
        wanted: "irqbalance not running, or told to spare the planned CPUs",
        cost: "interrupts are moved back onto the planned CPUs every 10 s",
        look: irqbalance,
    },
    Spec {
        id: "irq-network",
        wanted: "receive packet steering spares the planned CPUs",
        cost: "packets are handled there: 2 to 50 µs each",
        look: packet_steering,
    },
    Spec {
        id: "irq-workqueue",
        wanted: "the kernel's unbound work spares the planned CPUs",
        cost: "writeback and others run there: 10 to 100 µs",
        look: workqueue,
    },
    Spec {
        id: "irq-softirqs",
        wanted: "softirqs spread evenly, or away from planned CPUs",
        cost: "network and block work is done on the planned CPUs",
        look: softirqs,
    },
];

/// The target of each interrupt: the CPU that takes it, or its mask.
fn routes(probe: &Probe<'_>) -> BTreeMap<usize, CpuSet> {
    let route = |irq: usize| {
        let effective = probe.tree.cpus(&format!("proc/irq/{irq}/effective_affinity_list"));
        let mask = || probe.tree.cpus(&format!("proc/irq/{irq}/smp_affinity_list"));
        let cpus = effective.ok().filter(|cpus| !cpus.is_empty()).or_else(|| mask().ok())?;
        Some((irq, cpus))
    };
    probe.tree.numbered("proc/irq", "").into_iter().filter_map(route).collect()
}

/// Interrupts that happened, by number and CPU, from `/proc/interrupts`.
fn counts(text: &str) -> BTreeMap<usize, BTreeMap<usize, u64>> {
    let mut lines = text.lines();
    let cpus: Vec<usize> = lines
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("CPU")?.parse().ok())
        .collect();
    let line = |line: &str| {
        let (irq, rest) = line.split_once(':')?;
        let numbers = rest.split_whitespace().map_while(|word| word.parse().ok());
        Some((irq.trim().parse().ok()?, cpus.iter().copied().zip(numbers).collect()))
    };
    lines.filter_map(line).collect()
}

fn affinity(probe: &Probe<'_>) -> Answer {
    let quiet = probe.quiet()?;
    let routes = routes(probe);
    if routes.is_empty() {
        return skip("/proc/irq shows no affinity");
    }
    // An interrupt that never happened disturbs nothing.
    let counts = probe.tree.text("proc/interrupts").map(|text| counts(&text)).unwrap_or_default();
    let happens = |irq: &usize| counts.get(irq).is_none_or(|cpus| cpus.values().any(|&count| count > 0));
    let hitting: CpuSet = routes
        .iter()
        .filter(|(irq, cpus)| cpus.overlaps(&quiet) && happens(irq))
        .map(|(&irq, _)| irq)
        .collect();
    if hitting.is_empty() {
        return ok(format!("none of {} interrupts goes to CPUs {quiet}", routes.len()));
    }
    let to = |rest: CpuSet| {
        let irqs = hitting.spaced();
        format!("for i in {irqs}; do echo {rest} | sudo tee /proc/irq/$i/smp_affinity_list; done")
    };
    let fix = probe.rest(&quiet).map_or_else(|none| none, to);
    warn(format!("interrupts {hitting} go to CPUs {quiet}"), fix)
}

/// A mask file that should hold no planned CPU.
fn mask(probe: &Probe<'_>, path: &str, says: &str) -> Answer {
    let quiet = probe.quiet()?;
    let text = probe.tree.text(path)?;
    let Ok(cpus) = CpuSet::from_mask(&text) else { return skip(format!("/{path} holds no mask")) };
    let hit = cpus.intersection(&quiet);
    if hit.is_empty() {
        return ok(format!("CPUs {}", cpus.intersection(&probe.host()?.online)));
    }
    let to = |rest: CpuSet| format!("echo {} | sudo tee /{path}", rest.to_mask());
    warn(format!("{says} CPUs {hit}"), probe.rest(&quiet).map_or_else(|none| none, to))
}

fn default_mask(probe: &Probe<'_>) -> Answer {
    mask(probe, "proc/irq/default_smp_affinity", "new interrupts may go to")
}

fn workqueue(probe: &Probe<'_>) -> Answer {
    mask(probe, "sys/devices/virtual/workqueue/cpumask", "unbound work may run on")
}

fn irqbalance(probe: &Probe<'_>) -> Answer {
    let processes = probe.processes();
    if processes.is_empty() {
        return skip("/proc shows no processes");
    }
    if !processes.iter().any(|name| name == "irqbalance") {
        return ok("not running");
    }
    if probe
        .tree
        .text("etc/default/irqbalance")
        .is_ok_and(|text| text.lines().any(|line| line.trim_start().starts_with("IRQBALANCE_BANNED_CPU")))
    {
        return ok("running, with banned CPUs");
    }
    match probe.quiet() {
        Ok(quiet) => {
            let ban = format!("  # or IRQBALANCE_BANNED_CPULIST={quiet} in /etc/default/irqbalance");
            let ban = if probe.rest(&quiet).is_ok() { ban } else { String::new() };
            warn("running, no CPU banned", format!("sudo systemctl disable --now irqbalance{ban}"))
        }
        Err(_) => ok("running; no CPU is planned or isolated that it should spare"),
    }
}

fn packet_steering(probe: &Probe<'_>) -> Answer {
    let quiet = probe.quiet()?;
    let mut queues = 0;
    let mut hitting = 0;
    for device in probe.tree.names("sys/class/net") {
        let folder = format!("sys/class/net/{device}/queues");
        for queue in probe.tree.numbered(&folder, "rx-") {
            let file = format!("{folder}/rx-{queue}/rps_cpus");
            let Ok(Ok(cpus)) = probe.tree.text(&file).map(|text| CpuSet::from_mask(&text)) else { continue };
            queues += 1;
            if cpus.overlaps(&quiet) {
                hitting += 1;
            }
        }
    }
    match hitting {
        _ if queues == 0 => skip("no network device has receive packet steering"),
        0 => ok(format!("{queues} queues, none steered to CPUs {quiet}")),
        _ => warn(
            format!("{hitting} of {queues} queues steer to CPUs {quiet}"),
            "for f in /sys/class/net/*/queues/rx-*/rps_cpus; do echo 0 | sudo tee $f; done",
        ),
    }
}

fn softirqs(probe: &Probe<'_>) -> Answer {
    let quiet = probe.quiet()?;
    let text = probe.tree.text("proc/softirqs")?;
    let mut lines = text.lines();
    let cpus: Vec<usize> = lines
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("CPU")?.parse().ok())
        .collect();
    let of_devices = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        let is_device = ["NET_TX", "NET_RX", "BLOCK"].contains(&name.trim());
        is_device
            .then(|| rest.split_whitespace().map_while(|word| word.parse::<u64>().ok()).collect::<Vec<_>>())
    };
    let rows: Vec<Vec<u64>> = lines.filter_map(of_devices).collect();
    let on = |wanted: &dyn Fn(usize) -> bool| -> u64 {
        let per_row = |row: &Vec<u64>| {
            cpus.iter().zip(row).filter(|(cpu, _)| wanted(**cpu)).map(|(_, n)| *n).sum::<u64>()
        };
        rows.iter().map(per_row).fold(0, u64::saturating_add)
    };
    let (on_quiet, all) = (on(&|cpu| quiet.contains(cpu)), on(&|_| true));
    if cpus.is_empty() || all == 0 {
        return skip("/proc/softirqs counts no network or block work");
    }
    let share = on_quiet as f64 * 100.0 / all as f64;
    let fair = quiet.len() as f64 * 100.0 / cpus.len() as f64;
    let found = format!("CPUs {quiet} did {share:.0} % of network and block work since the start");
    if share > fair { warn(found, "move the device's interrupts: see irq-affinity") } else { ok(found) }
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn counts_come_by_number_and_cpu() {
        let read = counts("      CPU0  CPU2\n 24:  5  7  IO-APIC\nNMI: 1 2\n 25: x\n");
        assert_eq!(read[&24][&2], 7);
        assert!(read[&25].is_empty());
    }
}
