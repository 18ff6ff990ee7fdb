//! The rivals, one file each. To add one, implement [`Rival`] for every `N` and list it in [`all`].

#[cfg(feature = "aeron")]
mod aeron;
mod bcast;
mod chronicle;
mod colo;
mod colo_relay;
mod crossbeam;
mod disruptor;
mod floor;
mod helper;
mod iceoryx2;
mod kekbit;
mod kungfu;
mod outcry;
mod pipe;
mod ringfire;
mod shaq;
mod stream;
mod supervise;
mod unix;

use std::path::Path;

use crate::error::CompareError;
use crate::rival::{Facts, Rival};
use crate::role;
use crate::task::{Outcome, Task};

/// A rival that takes part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Facts about it.
    pub(crate) facts: fn() -> Facts,
    /// Performs one role of a block.
    pub(crate) run: fn(usize, &Task) -> Result<Outcome, CompareError>,
    /// Prepares what it needs on this host; on failure returns the reason as text.
    pub(crate) prepare: fn() -> Result<(), String>,
}

/// A rival that is missing in this build or on this host.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Missing {
    /// Its name.
    pub(crate) name: &'static str,
    /// The reason.
    pub(crate) why: String,
}

fn entry<R>() -> Entry
where
    R: Rival<32> + Rival<64> + Rival<128> + Rival<1024>,
{
    Entry { facts: <R as Rival<32>>::facts, run: role::by_size::<R>, prepare: || Ok(()) }
}

/// All rivals, the floor first, colo second.
pub(crate) fn all() -> Vec<Entry> {
    vec![
        entry::<floor::Bare>(),
        entry::<colo::Colo>(),
        entry::<colo_relay::ColoRelay>(),
        entry::<pipe::Pipe>(),
        entry::<unix::Unix>(),
        entry::<crossbeam::Crossbeam>(),
        entry::<disruptor::Disruptor>(),
        entry::<iceoryx2::Iceoryx2>(),
        entry::<ringfire::Ringfire>(),
        entry::<bcast::Bcast>(),
        entry::<kekbit::Kekbit>(),
        entry::<shaq::Shaq>(),
        entry::<outcry::Outcry>(),
        entry::<kungfu::KungfuStandIn>(),
        Entry { facts: chronicle::facts, run: chronicle::run, prepare: chronicle::prepare },
        #[cfg(feature = "aeron")]
        entry::<aeron::Aeron<false>>(),
        #[cfg(feature = "aeron")]
        entry::<aeron::Aeron<true>>(),
    ]
}

/// Prepares the wanted rivals; returns those that take part, and those that cannot with the reasons.
pub(crate) fn ready(wanted: impl Fn(&Facts) -> bool) -> (Vec<Facts>, Vec<Missing>) {
    let (mut ready, mut missing) = (Vec::new(), Vec::new());
    for entry in all() {
        let facts = (entry.facts)();
        if !wanted(&facts) {
            continue;
        }
        match (entry.prepare)() {
            Ok(()) => ready.push(facts),
            Err(why) => missing.push(Missing { name: facts.name, why }),
        }
    }
    if cfg!(not(feature = "aeron")) {
        let why = "built without --features aeron, which needs CMake >= 3.30, libclang and libbsd's headers (README.md)";
        missing.push(Missing { name: "aeron", why: why.to_owned() });
    }
    (ready, missing)
}

/// Finds a rival by name.
pub(crate) fn find(name: &str) -> Result<Entry, CompareError> {
    all().into_iter().find(|entry| (entry.facts)().name == name).ok_or_else(|| {
        let names: Vec<&str> = all().iter().map(|entry| (entry.facts)().name).collect();
        CompareError::Usage(format!("there is no rival `{name}`; there are: {}", names.join(", ")))
    })
}

/// Runs a process that a rival needs besides its peers.
pub(crate) fn run_helper(name: &str, room: &Path) -> Result<(), CompareError> {
    #[cfg(feature = "aeron")]
    if let Some(mode) = aeron::mode(name) {
        return aeron::drive(room, mode);
    }
    match name {
        kungfu::RELAY => kungfu::relay(room),
        colo_relay::RELAY => colo_relay::relays(room),
        _ => Err(CompareError::Usage(format!("there is no helper `{name}`"))),
    }
}

/// Version of the running kernel, for rivals that are part of it.
fn kernel() -> String {
    let version = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {}", version.trim())
}
