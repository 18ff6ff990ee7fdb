//! What a platform's processes cost the host while a run lasts, from `/proc`, and where they ran.

use std::collections::BTreeMap;
use std::fs;

use node::{Counter, InstanceView, NodeKind, SeatView};
use pinning::{Placement, ResolvedPlan, ThreadPlacement};
use serde::{Deserialize, Serialize};

/// What happened between two looks at a platform.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Seconds between the two looks.
    pub seconds: f64,
    /// Sleeps that somebody ended.
    pub wakeups: u64,
    /// Context switches: to wait, and because the CPU was taken away.
    pub context_switches: u64,
    /// Of those: because the CPU was taken away.
    pub preemptions: u64,
    /// Changes of CPU; `None` where the kernel does not count them.
    pub migrations: Option<u64>,
    /// Page faults.
    pub page_faults: u64,
    /// Of those: from disk.
    pub major_faults: u64,
    /// Time that threads were ready and waited for a CPU, in milliseconds, over all processes.
    pub run_queue_wait_ms: Option<f64>,
    /// CPU time of the platform, in CPUs.
    pub cpus_used: Option<f64>,
    /// CPU time of everybody else on the host, in CPUs.
    pub cpus_others: Option<f64>,
    /// Share of time that the hypervisor took away, in per cent.
    pub steal_percent: f64,
    /// Looks at threads that found one where the plan does not have it.
    pub off_plan: u64,
    /// Threads looked at for that.
    pub looked_at: u64,
    /// The first threads that were off plan.
    pub strays: Vec<String>,
    /// Bytes that loose readers lost.
    pub bytes_lost: u64,
    /// Messages that could not be delivered.
    pub undelivered: u64,
    /// Sleeps that only the safety time-out ended, although there was news.
    pub wait_timeouts_with_data: u64,
    /// Quotes that md published.
    pub quotes: u64,
    /// Orders that strategies sent.
    pub orders: u64,
}

/// Counts at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    threads: BTreeMap<u32, ThreadPlacement>,
    counters: BTreeMap<&'static str, u64>,
    cpu: CpuTimes,
    at_ns: u64,
}

/// `/proc/stat`, first line, in ticks.
#[derive(Clone, Copy, Debug, Default)]
struct CpuTimes {
    busy: u64,
    steal: u64,
    all: u64,
}

const TICK_NS: f64 = 1e7;

impl Snapshot {
    pub(crate) fn take(view: &InstanceView) -> Snapshot {
        let seats = view.seats();
        let mut threads = BTreeMap::new();
        for seat in seats.iter().filter(|seat| seat.alive) {
            for thread in pinning::observe(seat.process.pid).unwrap_or_default() {
                threads.insert(thread.tid, thread);
            }
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
        ];
        let at_ns = view.clock().now();
        Snapshot { threads, counters: counters.into(), cpu: CpuTimes::now(), at_ns }
    }

    /// What happened since `before`. Off-plan looks are counted elsewhere.
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
        let ticks = self.cpu.all.saturating_sub(before.cpu.all);
        let busy = self.cpu.busy.saturating_sub(before.cpu.busy) as f64 * TICK_NS / 1e9 / seconds;
        let steal = self.cpu.steal.saturating_sub(before.cpu.steal) as f64;
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
            cpus_others: ran.map(|ours| (busy - ours).max(0.0)),
            steal_percent: if ticks == 0 { 0.0 } else { 100.0 * steal / ticks as f64 },
            bytes_lost: counted("lost"),
            undelivered: counted("undelivered"),
            wait_timeouts_with_data: counted("timeouts"),
            quotes: counted("quotes"),
            orders: counted("orders"),
            ..Observed::default()
        }
    }

    fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }
}

impl CpuTimes {
    fn now() -> CpuTimes {
        let text = fs::read_to_string("/proc/stat").unwrap_or_default();
        CpuTimes::parse(&text)
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

/// Looks, while a run lasts, whether threads are where the plan has them.
#[derive(Debug)]
pub(crate) struct PlanWatch {
    placed: Vec<Placement>,
    off_plan: u64,
    looked_at: u64,
    strays: Vec<String>,
}

impl PlanWatch {
    /// Watches the nodes that the plan keeps to some of the host's `cpus`.
    pub(crate) fn new(plan: Option<&ResolvedPlan>, cpus: usize) -> PlanWatch {
        let placements = plan.map(|plan| plan.placements.as_slice()).unwrap_or_default();
        let placed = placements.iter().filter(|placement| placement.cpus.len() < cpus).cloned().collect();
        PlanWatch { placed, off_plan: 0, looked_at: 0, strays: Vec::new() }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.placed.is_empty()
    }

    pub(crate) fn look(&mut self, view: &InstanceView) {
        let seats = view.seats();
        for placement in &self.placed {
            let Some(seat) = seats.iter().find(|seat| seat.name == placement.node && seat.alive) else {
                continue;
            };
            for thread in pinning::observe(seat.process.pid).unwrap_or_default() {
                self.looked_at += 1;
                if let Some(off) = thread.off_plan(placement) {
                    self.off_plan += 1;
                    if self.strays.len() < 3 {
                        self.strays.push(format!("{} ({}) {off}", seat.name, thread.name));
                    }
                }
            }
        }
    }

    pub(crate) fn into(self, observed: &mut Observed) {
        observed.off_plan = self.off_plan;
        observed.looked_at = self.looked_at;
        observed.strays = self.strays;
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
