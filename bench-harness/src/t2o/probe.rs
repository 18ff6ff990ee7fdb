//! The cost of a platform's processes for the host during a run, from `/proc`, and their CPUs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use journal::process::ProcessIdentity;
use node::Counter;
use observe::{InstanceView, SeatView};
use pinning::{CpuSet, ThreadPlacement};
use serde::{Deserialize, Serialize};
use topology::NodeKind;

use super::others::{Others, Processes};

/// What happened between two looks at a platform.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Seconds between the two looks.
    pub seconds: f64,
    /// Sleeps that a waker ended.
    pub wakeups: u64,
    /// Context switches, voluntary and involuntary.
    pub context_switches: u64,
    /// Involuntary context switches among them.
    pub preemptions: u64,
    /// Changes of CPU; `None` where the kernel does not count them.
    pub migrations: Option<u64>,
    /// Page faults.
    pub page_faults: u64,
    /// Major page faults among them.
    pub major_faults: u64,
    /// Time that threads were ready and waited for a CPU, in milliseconds, over all processes.
    pub run_queue_wait_ms: Option<f64>,
    /// CPU time of the platform, in CPUs.
    pub cpus_used: Option<f64>,
    /// CPU time of other processes on the CPUs that the platform may use, in CPUs.
    pub cpus_others: Option<f64>,
    /// CPUs that the platform may use.
    pub cpus_allowed: usize,
    /// The other processes, most first: name, pid, CPUs. Empty where other processes are not visible.
    pub others: Vec<String>,
    /// How long nodes that have a CPU for themselves were ready but not running, worst first.
    pub waited: Vec<Waited>,
    /// Nodes that were restarted meanwhile.
    pub restarted: Vec<String>,
    /// Percentage of time that the hypervisor took.
    pub steal_percent: f64,
    /// Looks that found a thread off its plan, and CPU changes of threads that the plan pins to a single CPU: the
    /// kernel counts those, so none between two looks is missed.
    pub off_plan: u64,
    /// Number of threads looked at for that.
    pub looked_at: u64,
    /// The first threads that were off plan.
    pub strays: Vec<String>,
    /// Bytes that loose readers lost.
    pub bytes_lost: u64,
    /// Messages that could not be delivered.
    pub undelivered: u64,
    /// Sleeps that only the safety time-out ended, although there was a message.
    pub wait_timeouts_with_data: u64,
    /// The same by node, of those that had any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub late_sleeps: BTreeMap<String, u64>,
    /// Quotes that md published.
    pub quotes: u64,
    /// Orders that strategies sent.
    pub orders: u64,
}

/// A node with a CPU on which no other node may run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waited {
    /// Its name.
    pub node: String,
    /// Its CPU.
    pub cpu: usize,
    /// Milliseconds a second during which its threads were ready but not running.
    pub ms_a_second: f64,
}

/// Counts at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    threads: BTreeMap<u32, ThreadPlacement>,
    /// The process in each seat, and its own threads.
    nodes: BTreeMap<String, Node>,
    processes: Option<Processes>,
    counters: BTreeMap<&'static str, u64>,
    cpu: CpuTimes,
    at_ns: u64,
}

/// A node's process, by name.
#[derive(Clone, Debug, Default)]
struct Node {
    process: Option<ProcessIdentity>,
    generation: u64,
    tids: Vec<u32>,
    /// Its sleeps that only the safety time-out ended, although there was a message.
    late_sleeps: u64,
}

/// `/proc/stat`, first line, in ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuTimes {
    busy: u64,
    steal: u64,
    all: u64,
}

const TICK_NS: f64 = 1e7;

impl Snapshot {
    pub(crate) fn take(view: &InstanceView) -> Snapshot {
        let seats = view.seats();
        let mut threads = BTreeMap::new();
        let mut nodes = BTreeMap::new();
        for seat in &seats {
            let own = if seat.alive { pinning::observe(seat.process.pid) } else { Ok(Vec::new()) };
            let own = own.unwrap_or_default();
            let tids = own.iter().map(|thread| thread.tid).collect();
            let late_sleeps = seat.counter(Counter::WaitTimeoutsWithData);
            let node = Node { process: Some(seat.process), generation: seat.generation, tids, late_sleeps };
            nodes.insert(seat.name.clone(), node);
            threads.extend(own.into_iter().map(|thread| (thread.tid, thread)));
        }
        let sum = |counter, kind: Option<NodeKind>| -> u64 {
            let of_kind = |seat: &&SeatView| kind.is_none_or(|kind| seat.kind == kind);
            seats.iter().filter(of_kind).map(|seat| seat.counter(counter)).sum()
        };
        let counters = [
            ("wakes", sum(Counter::Wakes, None)),
            ("lost", sum(Counter::BytesLost, None)),
            ("undelivered", sum(Counter::Undelivered, None)),
            ("timeouts", sum(Counter::WaitTimeoutsWithData, None)),
            ("quotes", sum(Counter::Quotes, Some(NodeKind::Md))),
            ("orders", sum(Counter::Orders, Some(NodeKind::Strategy))),
            ("off_plan", sum(Counter::OffPlan, None)),
            ("places", sum(Counter::PlaceSamples, None)),
        ];
        let at_ns = view.clock().now();
        let processes = Processes::now();
        Snapshot { threads, nodes, processes, counters: counters.into(), cpu: CpuTimes::now(), at_ns }
    }

    /// What happened since `before`. Of the checks of places only those of master; a run's own are added by its watch.
    pub(crate) fn since(&self, before: &Snapshot) -> Observed {
        let counted = |name| self.counter(name).saturating_sub(before.counter(name));
        let seconds = (self.at_ns.saturating_sub(before.at_ns) as f64 / 1e9).max(1e-9);
        let grown = |what: fn(&ThreadPlacement) -> Option<u64>| -> Option<u64> {
            let each = self.threads.iter().map(|(tid, after)| {
                let was = before.threads.get(tid).and_then(what).unwrap_or(0);
                what(after).map(|now| now.saturating_sub(was))
            });
            each.sum()
        };
        let ran = grown(|thread| thread.run_ns).map(|ns| ns as f64 / 1e9 / seconds);
        let busy = self.cpu.busy_cpus_since(before.cpu, seconds);
        let others = self.others(before, seconds);
        let seen = others.as_ref().map(|others| others.cpus);
        Observed {
            seconds,
            wakeups: counted("wakes"),
            context_switches: grown(|t| Some(t.voluntary_switches + t.involuntary_switches)).unwrap_or(0),
            preemptions: grown(|thread| Some(thread.involuntary_switches)).unwrap_or(0),
            migrations: grown(|thread| thread.migrations),
            page_faults: grown(|t| Some(t.minor_faults + t.major_faults)).unwrap_or(0),
            major_faults: grown(|thread| Some(thread.major_faults)).unwrap_or(0),
            run_queue_wait_ms: grown(|thread| thread.run_queue_wait_ns).map(|ns| ns as f64 / 1e6),
            cpus_used: ran,
            cpus_others: seen.or_else(|| ran.map(|ours| (busy - ours).max(0.0))),
            cpus_allowed: self.allowed().len(),
            others: others.map(|others| others.most).unwrap_or_default(),
            waited: self.waited(before, seconds),
            restarted: self.restarted(before),
            steal_percent: self.cpu.steal_percent_since(before.cpu),
            bytes_lost: counted("lost"),
            undelivered: counted("undelivered"),
            wait_timeouts_with_data: counted("timeouts"),
            late_sleeps: self.late_sleeps(before),
            quotes: counted("quotes"),
            orders: counted("orders"),
            off_plan: counted("off_plan"),
            looked_at: counted("places"),
            ..Observed::default()
        }
    }

    /// Nodes that slept longer than they should have.
    fn late_sleeps(&self, before: &Snapshot) -> BTreeMap<String, u64> {
        let grown = self.nodes.iter().map(|(name, node)| {
            let was = before.nodes.get(name).map_or(0, |node| node.late_sleeps);
            (name.clone(), node.late_sleeps.saturating_sub(was))
        });
        grown.filter(|(_, sleeps)| *sleeps > 0).collect()
    }

    /// The platform's processes.
    pub(crate) fn pids(&self) -> BTreeSet<u32> {
        self.nodes.values().filter_map(|node| Some(node.process?.pid)).collect()
    }

    /// CPUs on which any thread of the platform may run.
    pub(crate) fn allowed(&self) -> CpuSet {
        self.threads.values().fold(CpuSet::new(), |all, thread| all.union(&thread.allowed))
    }

    fn others(&self, before: &Snapshot, seconds: f64) -> Option<Others> {
        let mut ours: BTreeSet<u32> = before.pids().into_iter().chain(self.pids()).collect();
        ours.insert(std::process::id());
        let (after, before) = (self.processes.as_ref()?, before.processes.as_ref()?);
        Some(after.since(before, seconds, &ours, &self.allowed()))
    }

    /// Nodes whose seat has another process than before, or the same in another generation.
    pub(crate) fn restarted(&self, before: &Snapshot) -> Vec<String> {
        let other = |(name, node): (&String, &Node)| {
            let was = before.nodes.get(name)?;
            let same = (was.process, was.generation) == (node.process, node.generation);
            (!same).then(|| name.clone())
        };
        self.nodes.iter().filter_map(other).collect()
    }

    /// Nodes that are alone on one CPU: what they wait for is not the platform's.
    fn waited(&self, before: &Snapshot, seconds: f64) -> Vec<Waited> {
        let threads = |node: &Node| -> Vec<&ThreadPlacement> {
            node.tids.iter().filter_map(|tid| self.threads.get(tid)).collect()
        };
        let mut waited = Vec::new();
        for (name, node) in &self.nodes {
            let own = threads(node);
            let Some(cpu) = own.first().and_then(|thread| thread.allowed.first()) else { continue };
            let here = |thread: &&ThreadPlacement| thread.allowed.contains(cpu);
            let single = own.iter().all(|thread| thread.allowed == CpuSet::single(cpu));
            // Hosted strategies have seats of their own with their host's process.
            let others = self.nodes.values().filter(|other| other.process != node.process);
            if !single || others.flat_map(threads).any(|thread| here(&thread)) {
                continue;
            }
            let grown = |thread: &&ThreadPlacement| {
                let was = before.threads.get(&thread.tid).and_then(|thread| thread.run_queue_wait_ns);
                Some(thread.run_queue_wait_ns?.saturating_sub(was.unwrap_or(0)))
            };
            let ns: u64 = own.iter().filter_map(grown).sum();
            waited.push(Waited { node: name.clone(), cpu, ms_a_second: ns as f64 / 1e6 / seconds });
        }
        waited.sort_by(|a, b| b.ms_a_second.total_cmp(&a.ms_a_second));
        waited.truncate(4);
        waited
    }

    fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }
}

impl CpuTimes {
    pub(crate) fn now() -> CpuTimes {
        let text = fs::read_to_string("/proc/stat").unwrap_or_default();
        CpuTimes::parse(&text)
    }

    /// CPUs that were busy since then.
    pub(crate) fn busy_cpus_since(self, before: CpuTimes, seconds: f64) -> f64 {
        self.busy.saturating_sub(before.busy) as f64 * TICK_NS / 1e9 / seconds
    }

    /// Percentage of time that the hypervisor took since then.
    pub(crate) fn steal_percent_since(self, before: CpuTimes) -> f64 {
        match self.all.saturating_sub(before.all) {
            0 => 0.0,
            all => 100.0 * self.steal.saturating_sub(before.steal) as f64 / all as f64,
        }
    }

    /// user nice system idle iowait irq softirq steal; guest times are part of user.
    fn parse(text: &str) -> CpuTimes {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
        let times: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let at = |index: usize| times.get(index).copied().unwrap_or(0);
        let busy = at(0) + at(1) + at(2) + at(5) + at(6);
        CpuTimes { busy, steal: at(7), all: busy + at(3) + at(4) + at(7) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_host_add_up() {
        let times = CpuTimes::parse("cpu  10 20 30 400 50 6 7 8 0 0\ncpu0 1 1 1 1\n");
        assert_eq!((times.busy, times.steal, times.all), (73, 8, 531));
        assert_eq!(CpuTimes::parse("garbage").all, 0);
    }

    #[test]
    fn a_node_that_ended_and_came_back_is_named() {
        let snapshot = |pid, generation| {
            let process = Some(ProcessIdentity { pid, start: 1 });
            let node = Node { process, generation, ..Node::default() };
            let nodes = BTreeMap::from([("td".to_owned(), node.clone()), ("md".to_owned(), Node::default())]);
            Snapshot { nodes, ..Snapshot::default() }
        };
        assert_eq!(snapshot(7, 1).restarted(&snapshot(7, 1)), [""; 0]);
        assert_eq!(snapshot(8, 2).restarted(&snapshot(7, 1)), ["td"]);
        assert_eq!(snapshot(7, 2).restarted(&snapshot(7, 1)), ["td"], "the same pid by chance");
    }

    #[test]
    fn only_a_node_alone_on_its_cpu_waits_for_others() {
        let thread = |tid, cpus: &[usize], wait| {
            let mut allowed = CpuSet::new();
            cpus.iter().for_each(|cpu| _ = allowed.insert(*cpu));
            let any = pinning::observe(std::process::id()).unwrap().remove(0);
            ThreadPlacement { tid, allowed, run_queue_wait_ns: Some(wait), ..any }
        };
        let snapshot = |md: &[usize], wait| {
            let node = |pid: u32| Node {
                process: Some(ProcessIdentity { pid, start: 1 }),
                generation: 1,
                tids: vec![pid],
                ..Node::default()
            };
            let nodes = [("td", 1), ("md", 2)].map(|(name, pid)| (name.to_owned(), node(pid)));
            let threads = [thread(1, &[1], wait), thread(2, md, 0)].map(|thread| (thread.tid, thread));
            Snapshot { nodes: nodes.into(), threads: threads.into(), ..Snapshot::default() }
        };
        let waited = snapshot(&[0], 8_000_000).waited(&snapshot(&[0], 1_000_000), 1.0);
        let td = waited.iter().find(|waited| waited.node == "td").unwrap();
        assert_eq!((td.cpu, td.ms_a_second), (1, 7.0));
        let shared = snapshot(&[0, 1], 8_000_000).waited(&snapshot(&[0, 1], 0), 1.0);
        assert!(shared.is_empty(), "md may be who td waits for: {shared:?}");
    }

    #[test]
    fn threads_that_came_later_count_from_zero_and_lost_ones_not_at_all() {
        let thread = |tid, switches| ThreadPlacement {
            voluntary_switches: switches,
            ..pinning::observe(std::process::id())
                .unwrap()
                .into_iter()
                .next()
                .map(|t| ThreadPlacement { tid, involuntary_switches: 0, ..t })
                .unwrap()
        };
        let snapshot = |threads: Vec<ThreadPlacement>, at_ns| Snapshot {
            threads: threads.into_iter().map(|thread| (thread.tid, thread)).collect(),
            at_ns,
            ..Snapshot::default()
        };
        let before = snapshot(vec![thread(1, 100), thread(2, 50)], 0);
        let after = snapshot(vec![thread(1, 110), thread(3, 7)], 1_000_000_000);
        assert_eq!(after.since(&before).context_switches, 17);
    }
}
