//! Reads the host, plans where each node runs, applies the plan, and reads it back.
//!
//! A latency figure means something only if the processes ran where the plan says, on a suitable host. This crate reads
//! the host from `/sys` and `/proc`, places nodes on it by a plan, applies a placement and verifies it with the kernel,
//! and reports which of the host's settings cost latency.
//!
//! ```text
//! /sys /proc ──► Host ──┬──► Plan::resolve ──► Placement ──► apply ──► Applied    (by the node, before it touches memory)
//!                       │                          └───────► observe(pid)         (from outside, while it runs)
//!                       │                                    mapped_files(pid)    (which pages are behind its files)
//!                       ├──► Doctor ──► Check                                     (before anything starts)
//!                       └──► Proposal ──► changes ──► undo                        (only when asked, as root)
//! ```
//!
//! # What this crate guarantees
//!
//! - The topology comes from files below a root, never from the caller's own affinity mask; with another root it is the
//!   topology of a recorded host.
//! - No content of those files makes it panic: missing or garbled facts are left out and reported.
//! - Reading and checking change nothing and need no root. Only [`Proposal::apply`] writes, and [`undo`] restores
//!   exactly what it wrote.
//! - [`apply()`] returns the state that the kernel reports afterwards, not the requested one.
//!
//! # Example
//!
//! ```
//! use pinning::{Host, NodeRequest, Plan};
//!
//! let host = Host::read("/".as_ref())?;
//! let plan: Plan = toml::from_str(r#"auto = "latency""#)?;
//! let td = NodeRequest { name: "td".into(), busy: true, platform: true };
//! match plan.resolve(&host, &[td]) {
//!     Ok(resolved) => println!("td on CPU {}", resolved.placements[0].cpus),
//!     Err(problems) => problems.iter().for_each(|problem| println!("{problem}")),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod apply;
mod backing;
mod block;
mod cpuset;
mod doctor;
mod host;
mod huge;
mod lock;
mod observe;
mod placement;
mod plan;
mod policy;
mod problem;
mod sample;
mod signs;
mod tune;

pub use apply::{Applied, ApplyError, apply, current_cpu, repin};
pub use backing::{MappedFile, PageBacking, mapped_files};
pub use block::Block;
pub use cpuset::{CpuSet, ParseCpuSetError};
pub use doctor::{
    Check, Doctor, DoctorReport, Fitness, Group, Scale, Status, Verdict, check_ids, rank, scale, unmet,
};
pub use host::{
    CacheGroup, CgroupLimits, Core, CoreKind, Cpu, Host, HostError, HostSummary, HugePages, KernelVersion,
    Memory, NumaNode, Package,
};
pub use huge::{HugeLack, HugeMount, HugePool, huge_mounts};
pub use lock::{LockError, lock_memory};
pub use observe::{ObserveError, OffPlan, Scheduling, ThreadPlacement, observe, observe_below};
pub use placement::{Placement, Reason, ResolvedPlan};
pub use plan::{
    Auto, CpuMapRow, MemoryBill, MemoryProblem, NodeRequest, NodeRule, OnSmallHost, Plan, Spread,
};
pub use policy::{ParsePolicyError, Policy};
pub use problem::{PlanProblem, PlanWarning};
pub use sample::{PlaceSample, sample};
pub use signs::HostSigns;
pub use tune::{Change, Outcome, Proposal, TuneError, TuneOptions, Value, undo};
