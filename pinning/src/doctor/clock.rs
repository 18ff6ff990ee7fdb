//! Checks of the clock that stamps messages, and of time that the hypervisor takes.

use super::Spec;
use super::probe::{Answer, Probe, Ticks, fail, ok, skip, ticks_of_all, warn};
use crate::host::cpuinfo_value;

const SOURCE: &str = "sys/devices/system/clocksource/clocksource0";

pub(super) const CHECKS: &[Spec] = &[
    Spec {
        id: "clock-source",
        wanted: "tsc (arch_sys_counter on Arm)",
        cost: "reading the time is a system call: 200 ns to 1 µs instead of 20 ns, several times per message",
        look: source,
    },
    Spec {
        id: "clock-tsc-trusted",
        wanted: "the kernel keeps tsc among the available sources",
        cost: "stamps of different CPUs do not compare: stages come out negative",
        look: tsc_trusted,
    },
    Spec {
        id: "clock-tsc-flags",
        wanted: "constant_tsc and nonstop_tsc",
        cost: "the time stamp counter changes its rate or stops: t2o cannot be measured with it",
        look: tsc_flags,
    },
    Spec {
        id: "clock-tsc-rate",
        wanted: "tsc_known_freq or tsc_reliable",
        cost: "the rate is measured at start: stamps drift by some µs per second against the wall clock",
        look: tsc_rate,
    },
    Spec {
        id: "clock-virtualised",
        wanted: "bare metal",
        cost: "the hypervisor stops virtual CPUs for 10 µs to ms; a wake-up costs 20 to 40 µs",
        look: virtualised,
    },
    Spec {
        id: "clock-steal",
        wanted: "less than 0.1 % of the time stolen by the hypervisor",
        cost: "the whole virtual CPU stands still, and nobody inside sees why",
        look: steal,
    },
];

fn source(probe: &Probe<'_>) -> Answer {
    let current = probe.tree.text(&format!("{SOURCE}/current_clocksource"))?;
    let available = probe.tree.text(&format!("{SOURCE}/available_clocksource")).unwrap_or_default();
    let has_tsc = available.split_whitespace().any(|name| name == "tsc");
    let to_tsc = format!("echo tsc | sudo tee /{SOURCE}/current_clocksource");
    match current.as_str() {
        "tsc" | "arch_sys_counter" => ok(current),
        // Read without a system call too, at a slightly higher cost.
        "kvm-clock" | "hyperv_clocksource_tsc_page" if has_tsc => warn(current, to_tsc),
        "kvm-clock" | "hyperv_clocksource_tsc_page" => warn(
            format!("{current}, of: {available}"),
            "ask the hypervisor's owner for an invariant time stamp counter",
        ),
        _ if has_tsc => fail(current, to_tsc),
        _ => fail(
            format!("{current}, of: {available}"),
            "find out why the kernel distrusts tsc: dmesg | grep -i tsc",
        ),
    }
}

fn is_x86(probe: &Probe<'_>) -> Result<String, super::probe::Skip> {
    let cpuinfo = probe.tree.text("proc/cpuinfo")?;
    match cpuinfo_value(&cpuinfo, &["flags"]) {
        Some(flags) => Ok(flags.to_owned()),
        None => skip("no x86 CPU: its counter is another"),
    }
}

fn tsc_trusted(probe: &Probe<'_>) -> Answer {
    is_x86(probe)?;
    let available = probe.tree.text(&format!("{SOURCE}/available_clocksource"))?;
    if available.split_whitespace().any(|name| name == "tsc") {
        return ok(format!("available: {available}"));
    }
    fail(format!("available: {available}"), "find out why the kernel distrusts tsc: dmesg | grep -i tsc")
}

fn tsc_flags(probe: &Probe<'_>) -> Answer {
    let flags = is_x86(probe)?;
    let missing: Vec<&str> = ["constant_tsc", "nonstop_tsc"]
        .into_iter()
        .filter(|wanted| !flags.split(' ').any(|flag| flag == *wanted))
        .collect();
    if missing.is_empty() {
        return ok("constant_tsc, nonstop_tsc");
    }
    fail(
        format!("{} missing", missing.join(" and ")),
        "measure with CLOCK_MONOTONIC; in a virtual machine ask for the host's CPU model with an invariant counter",
    )
}

fn tsc_rate(probe: &Probe<'_>) -> Answer {
    let flags = is_x86(probe)?;
    match ["tsc_known_freq", "tsc_reliable"]
        .into_iter()
        .find(|wanted| flags.split(' ').any(|flag| flag == *wanted))
    {
        Some(flag) => ok(flag),
        None => warn("neither", "let the clock be calibrated for longer, or run a time daemon (chrony)"),
    }
}

fn virtualised(probe: &Probe<'_>) -> Answer {
    match probe.host()?.virtualised.as_deref() {
        None => ok("no sign of a hypervisor"),
        Some(kind) => warn(
            format!("under {kind}"),
            "say so beside every figure; take a dedicated or bare-metal host for better ones",
        ),
    }
}

fn steal(probe: &Probe<'_>) -> Answer {
    let stat = probe.tree.text("proc/stat")?;
    let Some(since_start) = ticks_of_all(&stat) else { return skip("/proc/stat has no line `cpu`") };
    let now = probe.watched.values().fold(Ticks::default(), |sum, cpu| Ticks {
        total: sum.total + cpu.total,
        idle: sum.idle + cpu.idle,
        stolen: sum.stolen + cpu.stolen,
    });
    let found =
        format!("{:.2} % since the start, {:.2} % now", since_start.stolen_percent(), now.stolen_percent());
    let worst = since_start.stolen_percent().max(now.stolen_percent());
    let fix = "use a host with dedicated cores, or a quieter hour";
    match worst {
        worst if worst >= 1.0 => fail(found, fix),
        worst if worst >= 0.1 => warn(found, fix),
        _ => ok(found),
    }
}
