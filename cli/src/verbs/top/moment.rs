//! What an instance's shared memory says at one moment, and what the system says of its processes.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use journal::{JournalStat, LooseReader, ReadError};
use node::{DamagedJournal, InstanceView, Journals, Latencies, SeatView};
use wire::stages::T2O;
use wire::{LatencySample, Message};

use crate::failure::Failure;

/// One look at everything that counts.
pub(super) struct Moment {
    pub(super) at: Instant,
    pub(super) seats: Vec<SeatView>,
    pub(super) journals: Vec<JournalStat>,
    pub(super) damaged: Vec<DamagedJournal>,
    /// Nanoseconds of CPU time by process id, where the system says.
    pub(super) cpu_ns: BTreeMap<u32, u64>,
    /// Tick-to-order times of all orders so far: nanoseconds, and how many took them.
    pub(super) t2o: BTreeMap<u64, u64>,
}

impl Moment {
    pub(super) fn look(view: &InstanceView) -> Result<Moment, Failure> {
        let seats = view.seats();
        let Journals { sound, damaged } = view.journals()?;
        let mut journals: Vec<JournalStat> = sound.into_iter().map(|(_, journal)| journal.stat).collect();
        journals.sort_by_key(|stat| stat.shape.id);
        let living = seats.iter().filter(|seat| seat.alive && !seat.is_foreign).map(|seat| seat.process.pid);
        let cpu_ns = living.filter_map(|pid| Some((pid, cpu_ns(pid)?))).collect();
        Ok(Moment { at: Instant::now(), seats, journals, damaged, cpu_ns, t2o: t2o(view) })
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

/// td's samples as they come, sorted out by strategy.
pub(super) struct Samples {
    /// None: the instance has no such journal, or it is damaged.
    reader: Option<LooseReader>,
}

/// The samples of one interval, as far as they were not overwritten before this program came to read them.
#[derive(Default)]
pub(super) struct T2o {
    /// Nanoseconds from a quote's publication to td's hand, by the strategy's seat; each ascending.
    pub(super) by_seat: BTreeMap<u32, Vec<u64>>,
    /// Bytes of samples that came too fast to be read.
    pub(super) lost_bytes: u64,
}

impl Samples {
    /// From the newest sample on.
    pub(super) fn from_now_on(view: &InstanceView) -> Samples {
        let opened = view.journal(launcher::Collector::JOURNAL).ok();
        let reader = opened.and_then(|(journal, _)| journal.observe(journal.head()).ok());
        Samples { reader }
    }

    /// What has come since the last call.
    pub(super) fn take(&mut self) -> T2o {
        let mut taken = T2o::default();
        let Some(reader) = &mut self.reader else { return taken };
        loop {
            match reader.read() {
                Ok(Some(frame)) => {
                    if let Ok(sample) = LatencySample::decode(frame.payload)
                        && sample.published.0 != 0
                    {
                        let seat = u32::from(sample.order_id.strategy().0);
                        let time = sample.taken.0.saturating_sub(sample.published.0);
                        taken.by_seat.entry(seat).or_default().push(time);
                    }
                }
                Ok(None) => break,
                Err(ReadError::Lapped(gap)) => taken.lost_bytes += gap.bytes(),
                Err(_) => {
                    // Damaged: `colo journal verify` says how. The rest of the table is still of use.
                    self.reader = None;
                    break;
                }
            }
        }
        taken.by_seat.values_mut().for_each(|times| times.sort_unstable());
        taken
    }
}
