//! Where the threads of another process run: `/proc/PID/task/*`.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::cpuset::CpuSet;
use crate::host::tree::{Tree, Unreadable};
use crate::placement::Placement;
use crate::policy::Policy;

/// One thread, as reported by the kernel at the moment of reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadPlacement {
    /// Thread id; that of the first thread is the process id.
    pub tid: u32,
    /// Name of the thread.
    pub name: String,
    /// CPU on which it last ran.
    pub cpu: usize,
    /// CPUs on which it may run.
    pub allowed: CpuSet,
    /// NUMA nodes from which its cpuset allows memory.
    pub allowed_memory_nodes: CpuSet,
    /// Its scheduling policy.
    pub scheduling: Scheduling,
    /// How often it gave up the CPU to wait.
    pub voluntary_switches: u64,
    /// How often it was preempted.
    pub involuntary_switches: u64,
    /// How often it changed the CPU; `None` where the kernel does not count it.
    pub migrations: Option<u64>,
    /// Time on a CPU in ns; `None` where the kernel does not count it.
    pub run_ns: Option<u64>,
    /// Time ready to run but waiting for the CPU, in ns; `None` where the kernel does not count it.
    pub run_queue_wait_ns: Option<u64>,
    /// Page faults that needed no disk.
    pub minor_faults: u64,
    /// Page faults that needed the disk.
    pub major_faults: u64,
}

/// A thread's scheduling policy as the kernel reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheduling {
    /// SCHED_OTHER with a nice value.
    Other(i8),
    /// SCHED_BATCH with a nice value.
    Batch(i8),
    /// SCHED_IDLE.
    Idle,
    /// SCHED_FIFO with a priority.
    Fifo(u8),
    /// SCHED_RR with a priority.
    RoundRobin(u8),
    /// Any other, by the kernel's number (6 is SCHED_DEADLINE, 7 SCHED_EXT).
    Unknown(u32),
}

impl Scheduling {
    /// Converts the kernel's numbers.
    pub(crate) fn from_numbers(policy: u32, nice: i64, priority: i64) -> Scheduling {
        let nice = i8::try_from(nice).unwrap_or(0);
        let priority = u8::try_from(priority).unwrap_or(0);
        match policy {
            0 => Scheduling::Other(nice),
            1 => Scheduling::Fifo(priority),
            2 => Scheduling::RoundRobin(priority),
            3 => Scheduling::Batch(nice),
            5 => Scheduling::Idle,
            other => Scheduling::Unknown(other),
        }
    }

    /// Whether this is the policy of a plan.
    pub(crate) fn is(self, policy: Policy) -> bool {
        match policy {
            Policy::Fifo(priority) => self == Scheduling::Fifo(priority),
            Policy::Idle => self == Scheduling::Idle,
            Policy::Nice(nice) => self == Scheduling::Other(nice),
        }
    }
}

impl fmt::Display for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scheduling::Other(nice) => f.pad(&format!("nice:{nice}")),
            Scheduling::Batch(nice) => f.pad(&format!("batch, nice:{nice}")),
            Scheduling::Idle => f.pad("idle"),
            Scheduling::Fifo(priority) => f.pad(&format!("fifo:{priority}")),
            Scheduling::RoundRobin(priority) => f.pad(&format!("rr:{priority}")),
            Scheduling::Unknown(number) => f.pad(&format!("policy {number}")),
        }
    }
}

/// How a thread deviates from its plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // The messages say what each field is.
pub enum OffPlan {
    /// It ran on another CPU.
    #[error("ran on CPU {cpu}, the plan says {planned}")]
    Cpu { cpu: usize, planned: CpuSet },
    /// Its mask was changed.
    #[error("may run on CPUs {allowed}, the plan says {planned}")]
    Mask { allowed: CpuSet, planned: CpuSet },
    /// Its policy was changed.
    #[error("is scheduled {found}, the plan says {planned}")]
    Policy { found: Scheduling, planned: Policy },
}

impl OffPlan {
    /// How a thread with this CPU, mask and scheduling deviates from the plan.
    pub(crate) fn of(
        cpu: usize,
        allowed: &CpuSet,
        scheduling: Scheduling,
        placement: &Placement,
    ) -> Option<OffPlan> {
        let planned = || placement.cpus.clone();
        if !placement.cpus.contains(cpu) {
            return Some(OffPlan::Cpu { cpu, planned: planned() });
        }
        if *allowed != placement.cpus {
            return Some(OffPlan::Mask { allowed: allowed.clone(), planned: planned() });
        }
        let policy = placement.policy.filter(|policy| !scheduling.is(*policy))?;
        Some(OffPlan::Policy { found: scheduling, planned: policy })
    }
}

impl ThreadPlacement {
    /// How this thread deviates from the plan; `None` when it does not.
    pub fn off_plan(&self, placement: &Placement) -> Option<OffPlan> {
        OffPlan::of(self.cpu, &self.allowed, self.scheduling, placement)
    }
}

/// A process could not be observed.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// It has ended, or never existed.
    #[error("process {pid} is not there (any more)")]
    Gone {
        /// The process.
        pid: u32,
    },
    /// `/proc` does not show it.
    #[error("/proc/{pid}/task shows no thread that can be read: {reason}; /proc may be mounted with hidepid")]
    Hidden {
        /// The process.
        pid: u32,
        /// The error of the first file.
        reason: String,
    },
}

/// The threads of a process, by thread id. Threads that end meanwhile are left out.
pub fn observe(pid: u32) -> Result<Vec<ThreadPlacement>, ObserveError> {
    observe_below(Path::new("/"), pid)
}

/// The same for the `/proc` below another root.
pub fn observe_below(root: &Path, pid: u32) -> Result<Vec<ThreadPlacement>, ObserveError> {
    let tree = Tree::new(root);
    let folder = format!("proc/{pid}/task");
    let tids = tree.numbered_all(&folder);
    if tids.is_empty() {
        return Err(match tree.exists(&format!("proc/{pid}")) {
            true => ObserveError::Hidden { pid, reason: format!("/{folder} is empty") },
            false => ObserveError::Gone { pid },
        });
    }
    let read = tids.into_iter().map(|tid| thread(&tree, &format!("{folder}/{tid}"), tid));
    let (threads, errors): (Vec<_>, Vec<_>) = read.partition(Result::is_ok);
    let threads: Vec<ThreadPlacement> = threads.into_iter().flatten().collect();
    match errors.into_iter().find_map(Result::err) {
        _ if !threads.is_empty() => Ok(threads),
        Some(error) if !error.is_missing() => Err(ObserveError::Hidden { pid, reason: error.to_string() }),
        _ => Err(ObserveError::Gone { pid }),
    }
}

fn thread(tree: &Tree, folder: &str, tid: u32) -> Result<ThreadPlacement, Unreadable> {
    let path = format!("{folder}/stat");
    let text = tree.text(&path)?;
    let garbled = || Unreadable::garbled(&path, &text, "a line of /proc/PID/stat");
    // The name is in parentheses and may contain any character, parentheses too: the last one ends it.
    let (head, tail) = text.rsplit_once(')').ok_or_else(garbled)?;
    let name = head.split_once('(').map_or("", |(_, name)| name).to_owned();
    let fields: Vec<&str> = tail.split_whitespace().collect();
    // Field numbers as in proc(5), where the state, the first word after the name, is field 3.
    let field = |number: usize| -> Result<i64, Unreadable> {
        let word = fields.get(number - 3).ok_or_else(garbled)?;
        word.parse().map_err(|_| garbled())
    };
    let index = |number: usize| field(number).and_then(|value| u64::try_from(value).map_err(|_| garbled()));

    let status = format!("{folder}/status");
    let schedstat: Option<Vec<u64>> = tree
        .some_text(&format!("{folder}/schedstat"))
        .map(|text| text.split_whitespace().map_while(|word| word.parse().ok()).collect());
    let time = |at: usize| schedstat.as_ref().and_then(|times| times.get(at).copied());
    Ok(ThreadPlacement {
        tid,
        name,
        cpu: index(39)? as usize,
        allowed: list(tree, &status, "Cpus_allowed_list")?,
        allowed_memory_nodes: list(tree, &status, "Mems_allowed_list").unwrap_or_default(),
        scheduling: Scheduling::from_numbers(
            u32::try_from(index(41)?).map_err(|_| garbled())?,
            field(19)?,
            field(40)?,
        ),
        voluntary_switches: tree.field(&status, "voluntary_ctxt_switches")?,
        involuntary_switches: tree.field(&status, "nonvoluntary_ctxt_switches")?,
        migrations: tree.field(&format!("{folder}/sched"), "se.nr_migrations").ok(),
        run_ns: time(0),
        run_queue_wait_ns: time(1),
        minor_faults: index(10)?,
        major_faults: index(12)?,
    })
}

/// A line of a `status` file that holds a list.
pub(crate) fn list(tree: &Tree, status: &str, key: &str) -> Result<CpuSet, Unreadable> {
    let text = tree.text(status)?;
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    let line = line.ok_or_else(|| Unreadable::Missing(format!("{status} with a line `{key}`")))?;
    line.parse().map_err(|_| Unreadable::garbled(status, line, "a list of CPUs"))
}
