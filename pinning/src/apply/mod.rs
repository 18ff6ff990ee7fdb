//! Applies a placement to the calling thread, and reads back from the kernel that it holds.

mod repin;
mod system;

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::cpuset::CpuSet;
use crate::host::tree::Tree;
use crate::observe::{Scheduling, list};
use crate::placement::Placement;
use crate::policy::Policy;

pub use repin::repin;
pub use system::current_cpu;

/// The kernel's state after a placement was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// CPUs that this thread may run on.
    pub cpus: CpuSet,
    /// CPU that it runs on now.
    pub running_on: Option<usize>,
    /// How it is scheduled.
    pub scheduling: Scheduling,
    /// NUMA nodes that its memory must come from; `None` when no policy binds it.
    pub memory_nodes: Option<CpuSet>,
}

/// Why a placement does not hold.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The messages say what each field is.
pub enum ApplyError {
    /// The kernel refused the CPUs.
    #[error(
        "node `{node}` cannot be placed on CPUs {cpus}: {source}; none of them is online and in the cpuset of this process"
    )]
    Affinity { node: String, cpus: CpuSet, source: io::Error },
    /// The kernel refused the policy.
    #[error("node `{node}` cannot have policy {policy}: {source}; {remedy}")]
    Policy { node: String, policy: Policy, source: io::Error, remedy: String },
    /// The kernel refused the memory policy.
    #[error("memory of node `{node}` cannot be bound to NUMA node {memory_node}: {source}; {remedy}")]
    Memory { node: String, memory_node: usize, source: io::Error, remedy: &'static str },
    /// The kernel cannot be asked.
    #[error("what was applied to node `{node}` cannot be read back: {reason}")]
    Unreadable { node: String, reason: String },
    /// The kernel accepted the request and did something else.
    #[error("node `{node}` asked for {what} {wanted}, and {place} says {found}; {remedy}")]
    Mismatch {
        node: String,
        what: &'static str,
        wanted: String,
        place: &'static str,
        found: String,
        remedy: &'static str,
    },
}

/// Places the calling thread: CPUs, scheduling policy, memory policy; then reads all three back from the kernel.
///
/// Threads that it starts later inherit the placement. A node therefore calls this first thing in `main`, before it
/// starts threads and before it touches memory, because the first touch decides which NUMA node a page is on.
///
/// On an error the thread may be placed in part; a node should end then.
///
/// ```
/// use pinning::{Host, NodeRequest, Plan, apply};
///
/// let host = Host::read("/".as_ref())?;
/// let md = NodeRequest { name: "md".into(), busy: false, platform: true };
/// let resolved = Plan::default().resolve(&host, &[md]).expect("an empty plan has no problems");
/// let applied = apply(&resolved.placements[0])?;
/// assert_eq!(applied.cpus, resolved.placements[0].cpus);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn apply(placement: &Placement) -> Result<Applied, ApplyError> {
    let node = || placement.node.clone();
    system::set_affinity(&placement.cpus).map_err(|source| ApplyError::Affinity {
        node: node(),
        cpus: placement.cpus.clone(),
        source,
    })?;
    if let Some(memory_node) = placement.memory_node {
        system::bind_memory(memory_node).map_err(|source| ApplyError::Memory {
            node: node(),
            memory_node,
            remedy: memory_remedy(&source),
            source,
        })?;
    }
    // Last, because a real-time thread on the wrong CPU could stop everything else there.
    if let Some(policy) = placement.policy {
        system::set_policy(policy).map_err(|source| ApplyError::Policy {
            node: node(),
            policy,
            remedy: policy_remedy(policy, &source),
            source,
        })?;
    }
    read_back(placement)
}

fn memory_remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EPERM) => "a system call filter forbids it: docker run --cap-add SYS_NICE",
        Some(libc::ENOSYS) => "this kernel has no NUMA support: leave numa out of the rule",
        _ => {
            "the node has no memory, or the cpuset does not allow it (Mems_allowed_list in /proc/self/status)"
        }
    }
}

/// The limit that prevents a policy.
fn policy_remedy(policy: Policy, error: &io::Error) -> String {
    let is_limit = matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES));
    if !is_limit {
        return "the kernel does not know this policy".to_owned();
    }
    let has_privilege = system::has_sys_nice();
    match policy {
        Policy::Fifo(priority) => match system::real_time_limit() {
            Some(limit) if limit < u64::from(priority) && !has_privilege => format!(
                "the limit of real-time priority is {limit} (ulimit -r): raise rtprio to {priority} or more in \
                 /etc/security/limits.d, LimitRTPRIO= in a systemd unit, docker run --ulimit rtprio={priority}, or give \
                 CAP_SYS_NICE"
            ),
            _ => "the limit allows it, so its control group has no real-time time: write some to cpu.rt_runtime_us, or \
                  run it in another group"
                .to_owned(),
        },
        Policy::Nice(nice) => format!(
            "the limit of nice is too high: set nice to {nice} or lower in /etc/security/limits.d, LimitNICE= in a \
             systemd unit, or give CAP_SYS_NICE"
        ),
        Policy::Idle => "leave SCHED_IDLE to threads that are not real-time, or give CAP_SYS_NICE".to_owned(),
    }
}

fn read_back(placement: &Placement) -> Result<Applied, ApplyError> {
    let unreadable = |reason: String| ApplyError::Unreadable { node: placement.node.clone(), reason };
    let mismatch = |what, wanted: String, place, found: String, remedy| ApplyError::Mismatch {
        node: placement.node.clone(),
        what,
        wanted,
        place,
        found,
        remedy,
    };
    const CPUS_REMEDY: &str = "the others are offline or outside the cpuset; see colo doctor --topology";

    let cpus = system::affinity().map_err(|error| unreadable(error.to_string()))?;
    if cpus != placement.cpus {
        return Err(mismatch(
            "CPUs",
            placement.cpus.to_string(),
            "sched_getaffinity",
            cpus.to_string(),
            CPUS_REMEDY,
        ));
    }
    let tree = Tree::new(Path::new("/"));
    let listed =
        list(&tree, "proc/thread-self/status", "Cpus_allowed_list").map_err(|e| unreadable(e.to_string()))?;
    if listed != placement.cpus {
        let place = "/proc/thread-self/status";
        return Err(mismatch("CPUs", placement.cpus.to_string(), place, listed.to_string(), CPUS_REMEDY));
    }
    let scheduling = system::scheduling().map_err(|error| unreadable(error.to_string()))?;
    if let Some(policy) = placement.policy.filter(|policy| !scheduling.is(*policy)) {
        let remedy = "something else changes it: a scheduler daemon, or a wrapper around this process";
        return Err(mismatch(
            "policy",
            policy.to_string(),
            "sched_getscheduler",
            scheduling.to_string(),
            remedy,
        ));
    }
    // Reading may be forbidden where no policy is to be set.
    let memory_nodes = match (system::memory_binding(), placement.memory_node) {
        (Ok(nodes), _) => nodes,
        (Err(_), None) => None,
        (Err(error), Some(_)) => return Err(unreadable(error.to_string())),
    };
    if let Some(wanted) = placement.memory_node
        && memory_nodes != Some(CpuSet::single(wanted))
    {
        let found = memory_nodes.map_or("none".to_owned(), |nodes| nodes.to_string());
        let remedy = "the cpuset allows other nodes only";
        return Err(mismatch("memory of NUMA node", wanted.to_string(), "get_mempolicy", found, remedy));
    }
    Ok(Applied { cpus, running_on: current_cpu(), scheduling, memory_nodes })
}
