//! Looking at an instance without taking part: what `colo status` and `colo journal` show.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use std::{fs, io};

use journal::process::ProcessIdentity;
use journal::tools::JournalStat;
use journal::{Clock, Journal, OpenError, Registry, WriterState};
use node::{Counter, Exit, Holding, InstanceDir, NodeState, Phase, Tally, held, read_kind_word};
use pinning::{MappedFile, PageBacking};
use serde::Serialize;
use topology::{NodeKind, Topology};

use crate::timeline::SeatLook;

/// A platform's clock that is further off the host's is spoken of.
pub const CLOCK_DIFFERS_NS: u64 = 1_000_000_000;

/// An instance as it stands in shared memory, live or dead.
#[derive(Debug)]
pub struct InstanceView {
    instance: InstanceDir,
    registry: Registry,
    clock: Clock,
}

/// There is nothing to look at.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// No such instance.
    #[error("there is no instance `{name}` ({} does not exist); `colo journal ls` lists those that there are", path.display())]
    NoInstance {
        /// Its name.
        name: String,
        /// Where it would be.
        path: std::path::PathBuf,
    },
    /// Its files cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Its directory cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// What.
        path: std::path::PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
}

/// One seat.
#[derive(Clone, Debug)]
pub struct SeatView {
    /// Its number.
    pub seat: u32,
    /// Name of the node.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// `fast`, `parked` or `adaptive`.
    pub mode: &'static str,
    /// Where it stands; [`NodeState::Dead`] also when its process is gone and nobody has noted it yet.
    pub state: NodeState,
    /// Its process.
    pub process: ProcessIdentity,
    /// True while that process lives. False also where nobody can say.
    pub alive: bool,
    /// Its process has its id from another pid namespace: whether it lives cannot be told from here.
    pub is_foreign: bool,
    /// Starts in this seat.
    pub generation: u64,
    /// CPU at the last sign of life.
    pub cpu: u64,
    /// Nanoseconds since the last sign of life; `None` before the first.
    pub silent_ns: Option<u64>,
    /// Exit code, if the node left one.
    pub exit: Option<u8>,
    /// It did not stop when it was asked to, and was killed.
    pub overstayed: bool,
    /// A person has stopped it.
    pub by_a_person: bool,
    /// Messages to it that td gave up.
    pub undelivered_to: u64,
    /// For how many nanoseconds a callback of this strategy has held its process; `None` below
    /// [`HELD_NS`](node::HELD_NS).
    pub in_callback_ns: Option<u64>,
    /// Counters in the order of [`Counter::ALL`].
    pub counters: Vec<(&'static str, u64)>,
}

impl SeatView {
    /// Value of one counter.
    pub fn counter(&self, counter: Counter) -> u64 {
        let name = Counter::ALL.iter().find(|(known, _)| *known == counter).map(|(_, name)| *name);
        self.counters.iter().find(|(known, _)| Some(*known) == name).map_or(0, |(_, value)| *value)
    }
}

/// One journal.
#[derive(Clone, Debug)]
pub struct JournalView {
    /// What its control page says.
    pub stat: JournalStat,
    /// Where the ring is.
    pub ring: std::path::PathBuf,
}

/// All journals of an instance: one that is damaged hides none of the others.
#[derive(Debug, Default)]
pub struct Journals {
    /// Those that can be read, by name.
    pub sound: Vec<(Journal, JournalView)>,
    /// Those that cannot, by name.
    pub damaged: Vec<DamagedJournal>,
}

/// A journal that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedJournal {
    /// Its name.
    pub journal: String,
    /// Why not.
    pub error: String,
}

impl InstanceView {
    /// Opens an instance to look at it.
    ///
    /// # Errors
    /// [`ViewError`].
    pub fn open(instance: InstanceDir) -> Result<InstanceView, ViewError> {
        let path = instance.registry();
        instance
            .demand_own()
            .map_err(|error| ViewError::Io { path: instance.path().to_owned(), source: error.into() })?;
        if !path.exists() {
            let (name, path) = (instance.name().to_owned(), instance.path().to_owned());
            return Err(ViewError::NoInstance { name, path });
        }
        let registry = Registry::open_read_only(&path)?;
        let clock = registry.clock(&path)?;
        // Zero: master is about to name it.
        let first = registry.seat(0).map_or(0, |seat| seat.kind());
        if first != 0 && !matches!(read_kind_word(first), Some((NodeKind::Master, _))) {
            let what = format!("{first:#x} is no kind of node, and seat 0 is master's");
            return Err(OpenError::Damaged { path, what }.into());
        }
        Ok(InstanceView { instance, registry, clock })
    }

    /// The instance.
    pub fn instance(&self) -> &InstanceDir {
        &self.instance
    }

    /// What the instance was made from.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn topology(&self) -> io::Result<Topology> {
        Ok(serde_json::from_slice(&fs::read(self.instance.topology())?)?)
    }

    /// The platform's clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// True when its processes live in another pid namespace, such as another container: whether they live cannot be told by
    /// their ids.
    pub fn is_foreign(&self) -> bool {
        !self.registry.is_of_this_namespace()
    }

    /// Where the platform stands.
    pub fn phase(&self) -> Phase {
        Phase::from_word(self.registry.phase()).unwrap_or(Phase::Starting)
    }

    /// True when nothing of it runs and nobody is about to take it over: what is there are the remains of a dead run.
    /// False where nobody can say.
    pub fn is_dead(&self) -> bool {
        // The lock first: who takes it over sits down afterwards.
        !self.is_foreign()
            && self.instance.held() == Holding::Free
            && !(0..self.registry.seats()).filter_map(|number| self.seat(number)).any(|seat| seat.alive)
    }

    /// All seats that somebody sits in or sat in.
    pub fn seats(&self) -> Vec<SeatView> {
        let mut seats: Vec<SeatView> =
            (0..self.registry.seats()).filter_map(|seat| self.seat(seat)).collect();
        let now = self.clock.now();
        for index in 0..seats.len() {
            let (seat, process) = (seats[index].seat, seats[index].process);
            let Some(held) = self.registry.seat(seat).and_then(|seat| held(&seat, now)) else { continue };
            let by = seats.iter_mut().find(|by| by.seat == held.seat && by.process == process);
            if let Some(by) = by {
                by.in_callback_ns = Some(now.saturating_sub(held.since));
            }
        }
        seats
    }

    /// The seats of one kind, without what [`InstanceView::seats`] adds of callbacks. Asks the kernel about their
    /// processes only: for those who look often.
    pub fn seats_of(&self, kind: NodeKind) -> impl Iterator<Item = SeatView> + '_ {
        let is_one = move |number: &u32| {
            let word = self.registry.seat(*number).map(|seat| seat.kind());
            word.and_then(read_kind_word).is_some_and(|(found, _)| found == kind)
        };
        (0..self.registry.seats()).filter(is_one).filter_map(|number| self.seat(number))
    }

    fn seat(&self, number: u32) -> Option<SeatView> {
        let seat = self.registry.seat(number)?;
        let (kind, mode) = read_kind_word(seat.kind())?;
        let stated = NodeState::from_word(seat.state())?;
        let process = seat.process();
        let is_foreign = self.is_foreign() && process.pid != 0;
        // Master's life is the one that a lock tells everywhere.
        let is_known = !is_foreign || number == 0;
        let is_noted =
            matches!(stated, NodeState::Empty | NodeState::Stopped | NodeState::Starting | NodeState::Failed);
        let (process, alive) = match is_foreign {
            true => (process, is_known && self.instance.held() != Holding::Free),
            false if process.is_alive() => (process, true),
            // Master holds the instance and writes a journal, the others write or read some.
            false if process.pid != 0 && !is_noted => {
                let locked = self.instance.locked_by(number, process);
                (locked.unwrap_or(process), locked.is_some())
            }
            false => (process, false),
        };
        let gone = is_known && !alive && !is_noted;
        let heartbeat = seat.heartbeat();
        Some(SeatView {
            seat: number,
            name: self.registry.name(number),
            kind,
            mode,
            state: if gone { NodeState::Dead } else { stated },
            process,
            alive,
            is_foreign,
            generation: seat.generation(),
            cpu: seat.cpu(),
            silent_ns: (heartbeat != 0).then(|| self.clock.now().saturating_sub(heartbeat)),
            undelivered_to: seat.undelivered(),
            exit: Exit::code_in(seat.exit()),
            overstayed: Exit::has_overstayed(seat.exit()),
            by_a_person: Exit::is_by_a_person(seat.exit()),
            in_callback_ns: None,
            counters: Counter::ALL
                .iter()
                .map(|(counter, name)| (*name, seat.counter(*counter as usize)))
                .collect(),
        })
    }

    /// What a journal has held since it was made, by class. Exact where nobody writes it at the moment; else it may lack
    /// what is being committed.
    ///
    /// # Errors
    /// [`ViewError`].
    pub(crate) fn tally(&self, name: &str) -> Result<Tally, ViewError> {
        Ok(Tally::of(&self.journal(name)?.0)?)
    }

    /// What each of these seats was answered through a journal that they share, by class. As exact as
    /// [`InstanceView::tally`].
    ///
    /// # Errors
    /// [`ViewError`].
    pub(crate) fn answers(&self, journal: &str, seats: &[u32]) -> Result<Vec<Tally>, ViewError> {
        Ok(Tally::of_seats(&self.registry, &self.journal(journal)?.0, seats)?)
    }

    /// All journals, with what their control pages say.
    ///
    /// # Errors
    /// [`ViewError::Io`] when their folder cannot be listed.
    pub fn journals(&self) -> Result<Journals, ViewError> {
        let names = self
            .instance
            .journal_names()
            .map_err(|source| ViewError::Io { path: self.instance.journals(), source })?;
        let mut journals = Journals::default();
        for name in names {
            match self.journal(&name) {
                Ok(journal) => journals.sound.push(journal),
                // It went while they were looked at: the instance is being removed.
                Err(_) if !self.instance.find_journal(&name).control.exists() => {}
                Err(error) => {
                    let error = error.to_string();
                    journals.damaged.push(DamagedJournal { journal: name, error });
                }
            }
        }
        Ok(journals)
    }

    /// By how much the platform's clock is ahead of the host's, in nanoseconds; behind it: below zero. They differ where the host's was put
    /// right since the platform came up, or was behind a recording that it goes on from.
    pub fn clock_ahead_ns(&self) -> i64 {
        let host = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(i128::from(self.clock.now()) - host.as_nanos() as i128).unwrap_or(i64::MAX)
    }

    /// What the platform's clock and the kernel's monotonic one say at about the same moment.
    pub fn clocks(&self) -> (u64, u64) {
        let now = self.clock.now();
        (now, now.wrapping_sub(self.registry.clock_offset()))
    }

    /// The process of each seat, by the registry alone: nobody asks the kernel whether it lives. 0: none.
    pub fn pids(&self) -> Vec<(u32, u32)> {
        let pid = |number| Some((number, self.registry.seat(number)?.process().pid));
        (0..self.registry.seats()).filter_map(pid).collect()
    }

    /// Who sleeps at the moment, of these seats and names.
    pub fn looks(&self, seats: &[(u32, Arc<str>)]) -> Vec<SeatLook> {
        let look = |(number, node): &(u32, Arc<str>)| {
            let seat = self.registry.seat(*number)?;
            let counter = |counter: Counter| seat.counter(counter as usize);
            let done = [Counter::Parks, Counter::Naps, Counter::FramesRead].map(counter);
            let is_asleep = self.registry.is_asleep(*number);
            let wakes = counter(Counter::Wakes);
            Some(SeatLook { node: Arc::clone(node), is_asleep, done, wakes })
        };
        seats.iter().filter_map(look).collect()
    }

    /// On which pages each of these rings lies, by journal: read from the `smaps` of a process that has it mapped, not
    /// from what was asked for. A ring that nobody maps, or only processes that this user may not look into, is left
    /// out.
    pub fn backings<'a>(
        &self,
        journals: impl IntoIterator<Item = &'a JournalView>,
    ) -> BTreeMap<String, PageBacking> {
        let mut seen = Seen { processes: BTreeMap::new(), seats: self.seats() };
        let backing =
            |journal: &'a JournalView| Some((journal.stat.shape.name.clone(), seen.backing(journal)?));
        journals.into_iter().filter_map(backing).collect()
    }

    /// One journal.
    ///
    /// # Errors
    /// [`ViewError`].
    pub fn journal(&self, name: &str) -> Result<(Journal, JournalView), ViewError> {
        let files = self.instance.find_journal(name);
        let ring = files.ring.clone();
        let journal = Journal::open_read_only(files)?;
        let stat = journal.stat();
        Ok((journal, JournalView { stat, ring }))
    }
}

/// Processes that were looked into, each once.
struct Seen {
    processes: BTreeMap<u32, Vec<MappedFile>>,
    seats: Vec<SeatView>,
}

impl Seen {
    /// What the first process that has the ring mapped says: its writer, then its readers.
    fn backing(&mut self, journal: &JournalView) -> Option<PageBacking> {
        let ring = journal.ring.canonicalize().unwrap_or_else(|_| journal.ring.clone());
        let writer = match journal.stat.writer {
            WriterState::Attached(process) => Some(process.pid),
            _ => None,
        };
        let of_seat = |number: u32| {
            let seat = self.seats.iter().find(|seat| seat.seat == number && seat.alive);
            seat.map(|seat| seat.process.pid)
        };
        let readers = journal.stat.readers.iter().filter_map(|reader| of_seat(reader.seat));
        let pids: Vec<u32> = writer.into_iter().chain(readers).collect();
        pids.into_iter().find_map(|pid| self.in_process(pid, &ring))
    }

    fn in_process(&mut self, pid: u32, ring: &Path) -> Option<PageBacking> {
        let read = || pinning::mapped_files(pid).unwrap_or_default();
        let files = self.processes.entry(pid).or_insert_with(read);
        files.iter().find(|file| file.path == ring).map(|file| file.pages)
    }
}
