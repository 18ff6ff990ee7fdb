//! The journals and words that the processes share.

use std::path::Path;

use journal::tools::Floor;
use journal::{Clock, Journal, JournalFiles, JournalShape, Registry};
use pinning::{CpuSet, Placement};

use super::step::steps;
use super::{IpcError, IpcSettings};

/// Seat of the measuring process; peers have the seats from 1 on.
pub(super) const SEAT: u32 = 0;
/// First seat of the readers of the fan-out.
pub(super) const FAN_OUT_SEAT: u32 = 8;
/// Greatest number of loose readers in the fan-out.
pub(super) const FAN_OUT: usize = 100;

/// Words of the floor page.
pub(super) mod word {
    /// Frames written in the step that just ended, plus one.
    pub(crate) const WRITTEN: usize = 3;
    /// From here on one word a peer: the last step that it is ready for.
    pub(crate) const READY: usize = 4;
    /// One word a peer: the last step that it has done.
    pub(crate) const DONE: usize = 8;
    /// One word a peer: frames read in that step.
    pub(crate) const READ: usize = 12;
    /// One word a peer: frames lost in that step.
    pub(crate) const LOST: usize = 16;
    /// One word a peer: frames other than the expected ones.
    pub(crate) const STRANGE: usize = 20;
    /// One word a peer: the last step that it may begin. Not one word for all: a wake-up on a shared word could not
    /// choose the sleeper.
    pub(crate) const STEP: usize = 24;
    /// From here on the bounced words, two for each line: to the peer, and back.
    const BOUNCED: usize = 32;
    const PAIRS: usize = (journal::tools::Floor::WORDS - BOUNCED) / 2;
    /// Trips before the next pair is used: a line's latency depends on its address, and a journal's frames lie at many
    /// addresses.
    const TRIPS: u64 = 256;

    /// The pair for trip `trip`.
    #[inline(always)]
    pub(crate) fn bounced(trip: u64) -> (usize, usize) {
        let pair = (trip / TRIPS) as usize % PAIRS;
        (BOUNCED + 2 * pair, BOUNCED + 2 * pair + 1)
    }
}

/// Everything shared.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) floor: Floor,
    pub(super) registry: std::sync::Arc<Registry>,
    pub(super) clock: Clock,
    pub(super) directory: std::path::PathBuf,
}

impl Parts {
    pub(super) fn create(directory: &Path, settings: &IpcSettings, peers: usize) -> Result<Parts, IpcError> {
        let clock = Clock::calibrate();
        let registry = Registry::create(&directory.join("registry"), 128, clock)?;
        let floor = Floor::create(&directory.join("floor"))?;
        let mut names = vec!["ping".to_owned(), "pong".to_owned(), "fan-out".to_owned()];
        names.extend(steps(peers).into_iter().map(|step| step.name()));
        for (id, name) in names.into_iter().enumerate() {
            let shape = JournalShape {
                id: id as u32,
                name: name.clone(),
                capacity: settings.capacity,
                seats: 128,
                topics: 64,
                page: 4096,
            };
            Journal::create(JournalFiles::new(directory, directory, &name), shape, clock.now())?;
        }
        Ok(Parts { floor, registry: registry.into(), clock, directory: directory.to_owned() })
    }

    pub(super) fn open(directory: &Path) -> Result<Parts, IpcError> {
        let path = directory.join("registry");
        let registry = Registry::open(&path)?;
        Ok(Parts {
            floor: Floor::open(&directory.join("floor"))?,
            clock: registry.clock(&path)?,
            registry: registry.into(),
            directory: directory.to_owned(),
        })
    }

    pub(super) fn journal(&self, name: &str) -> Result<Journal, IpcError> {
        Ok(Journal::open(JournalFiles::new(&self.directory, &self.directory, name))?)
    }

    /// A writer like a node's: it looks for sleepers after every commit.
    pub(super) fn writer(&self, name: &str, seat: u32) -> Result<journal::Writer, IpcError> {
        let mut writer = self.journal(name)?.writer(seat, self.clock)?;
        writer.wake_through(std::sync::Arc::clone(&self.registry));
        Ok(writer)
    }
}

/// Puts the calling thread on one CPU.
pub(crate) fn pin(cpu: usize) -> Result<(), IpcError> {
    pinning::apply(&Placement {
        node: format!("bench on CPU {cpu}"),
        busy: true,
        platform: false,
        cpus: CpuSet::single(cpu),
        policy: None,
        memory_node: None,
        exclusive: false,
        no_smt_sibling: false,
        reasons: Vec::new(),
    })?;
    Ok(())
}
