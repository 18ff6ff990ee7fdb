//! Computed plans: CPUs for the nodes that no rule places.

use super::Auto;
use super::resolve::Draft;
use crate::cpuset::CpuSet;
use crate::host::{CoreKind, Host};
use crate::placement::Reason;
use crate::problem::PlanProblem;

/// Sleepers on one CPU under `density`: as many as one relay loop serves on its core.
const SLEEPERS_PER_CPU: usize = 80;

/// Places every draft that has no place yet. Returns `true` when there were too few CPUs and nodes share that should
/// not, which only happens when `may_bend`; otherwise that is a problem.
pub(super) fn place(
    kind: Auto,
    host: &Host,
    drafts: &mut [Draft<'_>],
    may_bend: bool,
    problems: &mut Vec<PlanProblem>,
) -> bool {
    let open: Vec<usize> = (0..drafts.len()).filter(|&index| drafts[index].cpus.is_empty()).collect();
    if open.is_empty() {
        return false;
    }
    let choose = |wanted: &dyn Fn(&Draft<'_>) -> bool| -> Vec<usize> {
        open.iter().copied().filter(|&index| wanted(&drafts[index])).collect()
    };
    let mut busy = choose(&|draft| draft.request.busy && draft.request.platform);
    busy.extend(choose(&|draft| draft.request.busy && !draft.request.platform));
    let sleepers = choose(&|draft| !draft.request.busy && draft.request.platform);
    let sleeping_strategies = choose(&|draft| !draft.request.busy && !draft.request.platform);

    let has_sleepers = !sleepers.is_empty() || !sleeping_strategies.is_empty();
    let seats = Seats::new(kind, host, &free_cpus(host, drafts), busy.len(), has_sleepers);
    let is_short = busy.len() > seats.busy.len();
    if is_short && !may_bend {
        let left: CpuSet = seats.busy.iter().copied().collect();
        problems.push(PlanProblem::TooManyBusy { busy: busy.len(), cpus: left.len(), left });
        return false;
    }

    let name = match kind {
        Auto::Latency => "auto = \"latency\"",
        Auto::Density => "auto = \"density\"",
    };
    for (turn, &index) in busy.iter().enumerate() {
        let cpu = seats.busy[turn % seats.busy.len()];
        let why = seats.why_busy(host, cpu, turn >= seats.busy.len());
        drafts[index].place(CpuSet::single(cpu), name, why);
    }
    let quiet =
        format!("sleeps: CPU {} is for housekeeping, off the busy-pollers' cores", seats.housekeeping);
    for index in sleepers {
        drafts[index].place(CpuSet::single(seats.housekeeping), name, quiet.clone());
    }
    let left = seats.left(host, busy.len());
    for (turn, &index) in sleeping_strategies.iter().enumerate() {
        let (cpu, why) = match kind {
            Auto::Latency => {
                let why = format!("sleeps: turn {} over the CPUs that are left", turn + 1);
                (left[turn % left.len()], why)
            }
            Auto::Density => {
                let why = format!("sleeps: up to {SLEEPERS_PER_CPU} such nodes share a CPU");
                (left[turn / SLEEPERS_PER_CPU % left.len()], why)
            }
        };
        drafts[index].place(CpuSet::single(cpu), name, why);
    }
    if is_short {
        let shortage = Reason {
            key: "cpus".to_owned(),
            value: seats.busy.len().to_string(),
            origin: "remap".to_owned(),
            why: format!("{} nodes busy-poll and share the CPUs there are", busy.len()),
        };
        for index in busy {
            drafts[index].reasons.push(shortage.clone());
        }
    }
    is_short
}

/// Allowed CPUs that no rule reserves.
fn free_cpus(host: &Host, drafts: &[Draft<'_>]) -> CpuSet {
    let mut taken = CpuSet::new();
    for draft in drafts.iter().filter(|draft| !draft.cpus.is_empty()) {
        if draft.is_exclusive() || draft.request.busy {
            taken = taken.union(&draft.cpus);
        }
        if draft.keeps_siblings_empty() {
            taken = taken.union(&host.siblings_of(&draft.cpus));
        }
    }
    let free = host.allowed.difference(&taken);
    if free.is_empty() { host.allowed.clone() } else { free }
}

/// CPUs in the order in which they are assigned.
struct Seats {
    kind: Auto,
    /// For busy-pollers, best first; never empty.
    busy: Vec<usize>,
    /// For the platform's sleepers.
    housekeeping: usize,
    /// The other hardware threads of its core.
    beside_housekeeping: CpuSet,
}

impl Seats {
    fn new(kind: Auto, host: &Host, free: &CpuSet, busy: usize, has_sleepers: bool) -> Seats {
        let mut cores = cores_by_worth(host, free, busy);
        // The lowest core takes interrupts and sleepers: it is the last choice for a busy-poller.
        let lowest = |set: &CpuSet| set.first().unwrap_or(0);
        let ordinary = cores.iter().filter(|core| !core.overlaps(&host.isolated)).map(lowest).min();
        let housekeeping = ordinary.or_else(|| cores.iter().map(lowest).min()).unwrap_or(0);
        let beside_housekeeping = host.siblings(housekeeping).intersection(free);
        if let Some(at) = cores.iter().position(|core| core.contains(housekeeping)) {
            let core = cores.remove(at);
            let threads_elsewhere: usize = cores.iter().map(CpuSet::len).sum();
            if busy > threads_elsewhere || (!has_sleepers && busy > cores.len()) || cores.is_empty() {
                cores.push(core);
            }
        }
        let threads = |cores: &[CpuSet], nth: usize| -> Vec<usize> {
            cores.iter().filter_map(|core| core.iter().nth(nth)).collect()
        };
        let most = cores.iter().map(CpuSet::len).max().unwrap_or(0);
        let busy = match kind {
            // Whole cores first; second hardware threads only when the cores are used up.
            Auto::Latency => (0..most).flat_map(|nth| threads(&cores, nth)).collect(),
            Auto::Density => cores.iter().flat_map(|core| core.iter().collect::<Vec<_>>()).collect(),
        };
        Seats { kind, busy, housekeeping, beside_housekeeping }
    }

    /// CPUs for sleeping strategies: those that the busy-pollers leave, otherwise the housekeeping CPU. Under `latency`
    /// without the other hardware threads of a busy-poller's core, which would halve its speed.
    fn left(&self, host: &Host, busy: usize) -> Vec<usize> {
        let used: CpuSet = self.busy.iter().copied().take(busy).collect();
        let is_quiet = |cpu: &usize| self.kind == Auto::Density || !host.siblings(*cpu).overlaps(&used);
        let is_free = |cpu: &usize| *cpu != self.housekeeping && !used.contains(*cpu);
        let all = self.busy.iter().copied().chain(self.beside_housekeeping.iter());
        let mut left: Vec<usize> = Vec::new();
        for cpu in all.filter(|cpu| is_free(cpu) && is_quiet(cpu)) {
            if !left.contains(&cpu) {
                left.push(cpu);
            }
        }
        if left.is_empty() { vec![self.housekeeping] } else { left }
    }

    fn why_busy(&self, host: &Host, cpu: usize, is_shared: bool) -> String {
        let mut why = vec![match self.kind {
            _ if is_shared => "busy-polls, and must share: the CPUs are used up".to_owned(),
            Auto::Latency => "busy-polls: a core of its own while there are enough".to_owned(),
            Auto::Density => "busy-polls: a hardware thread of its own".to_owned(),
        }];
        if host.isolated.contains(cpu) {
            why.push("isolated by the kernel".to_owned());
        }
        if host.cpu(cpu).is_some_and(|cpu| cpu.kind == CoreKind::Efficient) {
            why.push("a slow core, the fast ones are used up".to_owned());
        }
        let neighbours = host.cache_neighbours(cpu);
        if neighbours.len() > 1 && neighbours.len() < host.online.len() {
            why.push(format!("shares its last-level cache with CPUs {neighbours}"));
        }
        why.join("; ")
    }
}

/// Physical cores with free CPUs: those of the smallest cache group, else NUMA node, that has room for all
/// busy-pollers come first; within a group isolated cores, then fast ones, then by number.
fn cores_by_worth(host: &Host, free: &CpuSet, busy: usize) -> Vec<CpuSet> {
    let cores: Vec<CpuSet> =
        host.cores.iter().map(|core| core.cpus.intersection(free)).filter(|core| !core.is_empty()).collect();
    let room = |domain: &CpuSet| cores.iter().filter(|core| core.overlaps(domain)).count();
    let isolated_in = |domain: &CpuSet| host.isolated.intersection(free).intersection(domain).len();

    let caches = cores.iter().filter_map(|core| core.first()).map(|cpu| host.cache_neighbours(cpu));
    let nodes = host.nodes.iter().map(|node| node.cpus.clone());
    let domains: Vec<CpuSet> = caches.chain(nodes).filter(|domain| room(domain) > 0).collect();
    // One core more than busy-pollers, so that the sleepers stay near.
    let wanted = (busy + 1).min(cores.len());
    let home = domains.iter().filter(|domain| room(domain) >= wanted).min_by_key(|domain| {
        (std::cmp::Reverse(isolated_in(domain).min(busy)), room(domain), domain.first())
    });

    let node_of = |core: &CpuSet| core.first().and_then(|cpu| host.cpu(cpu)).and_then(|cpu| cpu.node);
    let cache_of = |core: &CpuSet| core.first().map(|cpu| host.cache_neighbours(cpu));
    let home_node = home.and_then(node_of);
    let worth = |core: &CpuSet| {
        let is_slow =
            core.first().and_then(|cpu| host.cpu(cpu)).is_some_and(|cpu| cpu.kind == CoreKind::Efficient);
        (
            !home.is_some_and(|home| core.overlaps(home)),
            !core.overlaps(&host.isolated),
            is_slow,
            node_of(core) != home_node,
            node_of(core),
            cache_of(core),
            core.first(),
        )
    };
    let mut sorted = cores.clone();
    sorted.sort_by_cached_key(|core| worth(core));
    sorted
}
