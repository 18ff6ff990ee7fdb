//! What an instance's shared memory says at one moment, and what the system says of its processes.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use node::{Latencies, Phase};
use wire::stages::T2O;

use crate::view::{DamagedJournal, InstanceView, JournalView, Journals, SeatView, ViewError};

/// One look at everything that counts. Its parts are read one after the other while the platform runs.
#[derive(Clone, Debug)]
pub struct State {
    /// Name of the instance.
    pub instance: String,
    /// When it was read.
    pub at: Instant,
    /// Where the platform stands, or stood when the last of it died.
    pub phase: Phase,
    /// Nothing of it runs any more.
    pub is_dead: bool,
    /// All seats that somebody sits in or sat in.
    pub seats: Vec<SeatView>,
    /// The journals that can be read, by number.
    pub journals: Vec<JournalView>,
    /// Those that cannot, by name.
    pub damaged: Vec<DamagedJournal>,
    /// Nanoseconds of CPU time by process id, where the system says.
    pub(crate) cpu_ns: BTreeMap<u32, u64>,
    /// Tick-to-order times of all orders so far: nanoseconds, and how many took them.
    pub(crate) t2o: BTreeMap<u64, u64>,
}

impl State {
    /// Reads it.
    ///
    /// # Errors
    /// [`ViewError::Io`] when the journals cannot be listed.
    pub fn read(view: &InstanceView) -> Result<State, ViewError> {
        let seats = view.seats();
        let Journals { sound, damaged } = view.journals()?;
        let mut journals: Vec<JournalView> = sound.into_iter().map(|(_, journal)| journal).collect();
        journals.sort_by_key(|journal| journal.stat.shape.id);
        let living = seats.iter().filter(|seat| seat.alive && !seat.is_foreign).map(|seat| seat.process.pid);
        let cpu_ns = living.filter_map(|pid| Some((pid, cpu_ns(pid)?))).collect();
        Ok(State {
            instance: view.instance().name().to_owned(),
            at: Instant::now(),
            phase: view.phase(),
            is_dead: view.is_dead(),
            seats,
            journals,
            damaged,
            cpu_ns,
            t2o: t2o(view),
        })
    }

    /// The phase as it is printed. Memory keeps that of a dead platform: nobody was left to change it.
    pub fn phase_name(&self) -> &'static str {
        if self.is_dead { "dead" } else { self.phase.as_str() }
    }

    /// True while a master process lives.
    pub fn has_master(&self) -> bool {
        self.seats.first().is_some_and(|master| master.alive)
    }
}

/// What td keeps in shared memory; nothing before it has run, or where that is damaged.
fn t2o(view: &InstanceView) -> BTreeMap<u64, u64> {
    let latencies = Latencies::of(view.instance()).ok().flatten();
    latencies.map(|latencies| latencies.counts(T2O).collect()).unwrap_or_default()
}

/// CPU time of all threads of a process. Their scheduler statistics count nanoseconds; the process's own times, ticks.
fn cpu_ns(pid: u32) -> Option<u64> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let times = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_ascii_whitespace().next()?.parse::<u64>().ok()
    });
    times.reduce(|sum, time| sum + time)
}
