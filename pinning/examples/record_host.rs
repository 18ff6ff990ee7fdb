//! Prints this host (or the one below a root given as argument) as a `tree.txt` for `tests/topologies`.
//!
//! `cargo run -p pinning --example record_host > tests/topologies/NAME/tree.txt`
//!
//! Only what the crate reads about a host is recorded: no host name, no addresses, no processes; of the kernel's
//! command line only the parameters that matter here.
#![allow(clippy::print_stdout)] // It is for printing.

use std::fs;
use std::path::{Path, PathBuf};

const FILES: [&str; 41] = [
    "proc/meminfo",
    "proc/interrupts",
    "proc/irq/*/effective_affinity_list",
    "proc/irq/*/smp_affinity_list",
    "proc/irq/default_smp_affinity",
    "proc/self/limits",
    "proc/sys/kernel/osrelease",
    "proc/sys/kernel/nmi_watchdog",
    "proc/sys/kernel/numa_balancing",
    "proc/sys/kernel/sched_autogroup_enabled",
    "proc/sys/kernel/sched_rt_runtime_us",
    "proc/sys/kernel/timer_migration",
    "proc/sys/kernel/watchdog",
    "proc/sys/vm/compaction_proactiveness",
    "proc/sys/vm/max_map_count",
    "proc/sys/vm/stat_interval",
    "proc/sys/vm/swappiness",
    "proc/sys/vm/zone_reclaim_mode",
    "sys/devices/cpu_*/cpus",
    "sys/devices/system/clocksource/clocksource0/*_clocksource",
    "sys/devices/system/cpu/cpu*/cache/index*/level",
    "sys/devices/system/cpu/cpu*/cache/index*/shared_cpu_list",
    "sys/devices/system/cpu/cpu*/cache/index*/size",
    "sys/devices/system/cpu/cpu*/cache/index*/type",
    "sys/devices/system/cpu/cpu*/cpu_capacity",
    "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    "sys/devices/system/cpu/cpu*/topology/core_cpus_list",
    "sys/devices/system/cpu/cpu*/topology/physical_package_id",
    "sys/devices/system/cpu/cpuidle/current_driver",
    "sys/devices/system/cpu/isolated",
    "sys/devices/system/cpu/nohz_full",
    "sys/devices/system/cpu/o*line",
    "sys/devices/system/cpu/present",
    "sys/devices/system/cpu/smt/*",
    "sys/devices/system/cpu/vulnerabilities/*",
    "sys/devices/system/node/node*/cpulist",
    "sys/devices/system/node/node*/distance",
    "sys/devices/system/node/node*/meminfo",
    "sys/devices/system/node/online",
    "sys/kernel/mm/hugepages/hugepages-*/*_hugepages",
    "sys/kernel/mm/transparent_hugepage/*e*",
];

const PARAMETERS: [&str; 6] = ["isolcpus=", "nohz_full=", "rcu_nocbs=", "idle=", "mitigations=", "preempt="];

const MEMORY: [&str; 6] = ["MemTotal", "MemFree", "MemAvailable", "SwapTotal", "SwapFree", "Hugepagesize"];

fn main() {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "/".to_owned()));
    println!("# Recorded by the example record_host.");
    for pattern in FILES {
        for path in matches(&root, pattern) {
            if let Ok(text) = fs::read_to_string(root.join(&path)) {
                let is_read =
                    |line: &&str| !path.ends_with("meminfo") || MEMORY.iter().any(|key| line.contains(key));
                print(&path, &text.lines().filter(is_read).collect::<Vec<_>>().join("\n"));
            }
        }
    }
    let command_line = fs::read_to_string(root.join("proc/cmdline")).unwrap_or_default();
    let is_known = |word: &&str| PARAMETERS.iter().any(|parameter| word.starts_with(parameter));
    print("proc/cmdline", &command_line.split_whitespace().filter(is_known).collect::<Vec<_>>().join(" "));
    // All processors have the same entries; the first is enough.
    let cpuinfo = fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default();
    print("proc/cpuinfo", cpuinfo.split("\n\n").next().unwrap_or_default());
}

fn print(path: &str, text: &str) {
    match text.trim_end().lines().collect::<Vec<_>>()[..] {
        [] => println!("{path} ="),
        [line] => println!("{path} = {line}"),
        ref lines => println!("{path}:\n  {}", lines.join("\n  ")),
    }
}

/// Paths below `root` that match, where `*` stands for any text within a name.
fn matches(root: &Path, pattern: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for part in pattern.split('/') {
        found = found.iter().flat_map(|folder| below(root, folder, part)).collect();
    }
    found
}

fn below(root: &Path, folder: &str, part: &str) -> Vec<String> {
    let join = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    if !part.contains('*') {
        return vec![join(part)];
    }
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| fits(part, name));
    names.sort();
    names.iter().map(|name| join(name)).collect()
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| fits(after, &rest[at..]))
        }),
    }
}
