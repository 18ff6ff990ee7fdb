//! Errors and warnings of a plan.

use serde::{Deserialize, Serialize};

use crate::cpuset::CpuSet;

/// Why a plan cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // The messages say what each field is.
pub enum PlanProblem {
    /// A CPU of the plan that the host does not have.
    #[error(
        "{origin} names CPU {cpus}, this host has {online}; take other CPUs, or set pin.on_small_host = \"remap\""
    )]
    CpuMissing { origin: String, cpus: CpuSet, online: CpuSet },
    /// A CPU of the plan that is switched off.
    #[error(
        "{origin} names CPU {cpus}, which is offline; switch it on (echo 1 > /sys/devices/system/cpu/cpuN/online), or set \
         pin.on_small_host = \"remap\""
    )]
    CpuOffline { origin: String, cpus: CpuSet },
    /// A CPU of the plan outside the cpuset.
    #[error(
        "{origin} names CPU {cpus}, but the cpuset of this process allows only {allowed}; widen the cpuset, or set \
         pin.on_small_host = \"remap\""
    )]
    CpuNotAllowed { origin: String, cpus: CpuSet, allowed: CpuSet },
    /// A NUMA node that the host does not have.
    #[error(
        "{origin} names NUMA node {numa}, this host has {nodes}; take another, or set pin.on_small_host = \"remap\""
    )]
    NumaMissing { origin: String, numa: usize, nodes: CpuSet },
    /// A NUMA node without memory.
    #[error("{origin} wants memory from NUMA node {numa}, which has none; take another node")]
    NumaWithoutMemory { origin: String, numa: usize },
    /// No CPU of the rule is on the NUMA node.
    #[error("{origin} = {numa}: none of the CPUs {cpus} of node `{node}` is on that NUMA node ({numa_cpus})")]
    NumaWithoutCpu { origin: String, node: String, numa: usize, cpus: CpuSet, numa_cpus: CpuSet },
    /// Both `cpu` and `cpus`.
    #[error("{origin}: a rule has either cpu or cpus; keep one")]
    CpuAndCpus { origin: String },
    /// An empty list.
    #[error("{origin} names no CPU; write some, as in \"2-5,7\", or leave the key out")]
    NoCpu { origin: String },
    /// Nothing to spread over.
    #[error("{origin}: there is nothing to spread over one cpu; use cpus, or leave spread out")]
    SpreadOfOne { origin: String },
    /// Two patterns fit equally well and disagree.
    #[error(
        "`{first}` and `{second}` of pin.nodes both fit node `{node}` equally well and differ in {key}; make one more \
         specific"
    )]
    Ambiguous { node: String, key: String, first: String, second: String },
    /// Two busy-pollers on one CPU.
    #[error(
        "{} busy-poll on CPU {cpu}: each would stand still while another runs; give them CPUs of their own, or set mode \
         = \"parked\" or adaptive for all but one",
        names(nodes)
    )]
    BusyOnOneCpu { cpu: usize, nodes: Vec<String> },
    /// More busy-pollers than CPUs.
    #[error(
        "{busy} nodes busy-poll and {cpus} CPUs are left for them ({left}); set mode = \"parked\" or adaptive for some, or \
         pin.on_small_host = \"remap\" to let them share"
    )]
    TooManyBusy { busy: usize, cpus: usize, left: CpuSet },
    /// Another node on an exclusive CPU.
    #[error(
        "CPU {cpus} is exclusive to `{node}`, and {} may run there too; move them away, or drop exclusive",
        names(others)
    )]
    NotExclusive { node: String, cpus: CpuSet, others: Vec<String> },
    /// Another node on a sibling that should stay empty.
    #[error(
        "`{node}` wants the other hardware threads of its core empty (no_smt_sibling), and {} may run on CPU {cpus}; move \
         them, or drop no_smt_sibling",
        names(others)
    )]
    SiblingUsed { node: String, cpus: CpuSet, others: Vec<String> },
    /// A check that the doctor does not have.
    #[error("pin.required names `{id}`, which is no check of the doctor; `colo doctor` lists them")]
    UnknownCheck { id: String },
    /// The same name twice.
    #[error("two nodes are called `{node}`; a plan tells them apart by name")]
    SameName { node: String },
}

/// A doubtful choice in a plan, which a measurement should carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // The messages say what each field is.
pub enum PlanWarning {
    /// The plan was made for a bigger host.
    #[error(
        "the plan is for a bigger host: its CPU {planned} is {used} here; figures say nothing about that host"
    )]
    Remapped { planned: usize, used: usize },
    /// The NUMA node of a rule was dropped.
    #[error("{origin} names NUMA node {numa}, which is not here; left out")]
    NumaDropped { origin: String, numa: usize },
    /// A promise of the plan that a remapped plan cannot keep.
    #[error("after remapping: {promise}")]
    PromiseBroken { promise: String },
    /// A rule that fits no node.
    #[error("pin.nodes.\"{pattern}\" fits no node{}", hint.as_ref().map(|hint| format!("; did you mean `{hint}`?")).unwrap_or_default())]
    UnusedRule { pattern: String, hint: Option<String> },
    /// Platform and strategies on one CPU.
    #[error(
        "{} of the platform and {} may run on the same CPU {cpus}: a strategy can delay the platform",
        names(platform),
        names(strategies)
    )]
    PlatformAndStrategies { cpus: CpuSet, platform: Vec<String>, strategies: Vec<String> },
    /// A busy-poller and sleepers on one CPU.
    #[error("`{node}` busy-polls on CPU {cpu}, where {} must run too: they wait for a turn", names(others))]
    SleepersUnderBusy { node: String, cpu: usize, others: Vec<String> },
    /// More floating busy-pollers than CPUs.
    #[error(
        "{} busy-poll on CPUs {cpus}: more nodes than CPUs, so some stand still while others run",
        names(nodes)
    )]
    BusyFloat { cpus: CpuSet, nodes: Vec<String> },
    /// Busy-pollers on one core.
    #[error(
        "{} busy-poll on hardware threads of one core (CPUs {cpus}): each runs at half speed",
        names(nodes)
    )]
    BusyOnOneCore { cpus: CpuSet, nodes: Vec<String> },
    /// Exclusive in the plan only.
    #[error(
        "CPUs {cpus} are exclusive in the plan but not isolated by the kernel (isolcpus={cpus}): other processes may run there"
    )]
    ExclusiveNotIsolated { cpus: CpuSet },
    /// The kernel does not balance isolated CPUs.
    #[error(
        "`{node}` floats over isolated CPUs {cpus}: the kernel does not balance those, it stays on one of them; use spread"
    )]
    FloatsOverIsolated { node: String, cpus: CpuSet },
    /// Busy-pollers of the platform far from each other.
    #[error(
        "the platform's busy-polling nodes are on NUMA nodes {nodes}: every message between them crosses sockets"
    )]
    AcrossNuma { nodes: CpuSet },
    /// Busy-pollers of the platform without a common cache.
    #[error(
        "the platform's busy-polling nodes ({cpus}) share no last-level cache: every message between them takes the long way"
    )]
    AcrossCaches { cpus: CpuSet },
    /// A slow core.
    #[error("`{node}` is placed on CPU {cpus}, a slow core of this hybrid CPU")]
    EfficientCore { node: String, cpus: CpuSet },
    /// A real-time busy-poller.
    #[error(
        "`{node}` busy-polls under {policy}: nothing else runs on its CPU, kernel threads neither, and the kernel stops it 50 ms of every second unless kernel.sched_rt_runtime_us = -1"
    )]
    BusyFifo { node: String, policy: String },
    /// CPU time is limited.
    #[error(
        "the control group may use {quota} CPUs' time and {busy} nodes busy-poll: the kernel will stop all of them for up to 100 ms at a time; raise cpu.max"
    )]
    Quota { quota: String, busy: usize },
}

/// Formats `a`, `b` and 3 more.
fn names(nodes: &[String]) -> String {
    const SHOWN: usize = 4;
    let mut text: Vec<String> = nodes.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if nodes.len() > SHOWN {
        text.push(format!("{} more", nodes.len() - SHOWN));
    }
    match text.pop() {
        None => "no node".to_owned(),
        Some(last) if text.is_empty() => last,
        Some(last) => format!("{} and {last}", text.join(", ")),
    }
}
