//! From the platform file and the journals to a recording.

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, SystemTime};

use journal::{Journal, ReadError, Reader, Registry};
use node::{Counter, Node, OwnLock, RunError};
use std::sync::Arc;
use topology::config::{Durability, ReaderKind, RecorderConfig, WhenFull};
use topology::{NodeKind, Topology};

use super::cursors::Cursors;
use crate::format::{Description, RecordedJournal};
use crate::gather::{Gatherer, Input};
use crate::read::{Counts, Recording as Found, StateError};
use crate::shelf::{all_runs_of, runs_of};
use crate::write::{Keep, LOCK, Note, Policy, Recorder, make_folder};

/// Looks at a journal whose writer is at work, until it is seen to stand still.
const MOST_LOOKS: usize = 100_000;
/// Frames that a writer may have committed and not counted by class: those of a batch.
const MOST_UNCOUNTED: usize = 1 << 16;
/// Bytes of frames that are looked at together.
const PIECE_BYTES: usize = 1 << 18;

/// Opens the recording of this run of the instance: a new one, or after a restart of the recorder the one that it had.
pub(super) fn open(node: &mut Node, config: &RecorderConfig) -> Result<super::Recording, RunError> {
    let path = node.instance().topology();
    let unreadable = |what: String| RunError::failed(format!("{}: {what}", path.display()));
    let text = std::fs::read(&path).map_err(|error| unreadable(error.to_string()))?;
    let wiring: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    let topology: Topology = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    let (registry, seat) = (node.registry(), node.assignment().seat);
    let (mut inputs, mut journals, mut may_pass) = (Vec::new(), Vec::new(), Vec::new());
    for input in node.take_inputs() {
        let (reader, journal) = input.into_reader();
        let durability = topology.journal(&journal.shape().name).map(|spec| spec.durability);
        inputs.push(prepared(reader, durability == Some(Durability::Sync), &registry));
        if config.when_full == WhenFull::Gap {
            may_pass.push(durability != Some(Durability::Sync));
        }
        journals.push(journal);
    }
    let gated = journals.iter().map(|journal| gated_seats(&topology, &journal.shape().name)).collect();
    let description = describe(&topology, wiring, config, &journals, &inputs);
    let run =
        journals.iter().map(|journal| journal.stat().created).min().unwrap_or_else(|| node.handle().now());
    let runs = runs_of(config, &topology.instance);
    let lock = lock(&runs, &config.path)?;
    let folder = runs.join(place_of(&runs, &run_name(run)));
    // Zero: a predecessor never was as far as that, or there was none.
    let on_disk = Some(node.peer(seat).counter(Counter::BlocksOnDisk)).filter(|block| *block > 0);
    let known = known(&folder, on_disk, &description, &journals, &inputs)?;
    let policy = Policy {
        segment_bytes: config.segment.0,
        compress: (config.compress > 0).then_some(config.compress as i32),
    };
    let now = node.handle().now();
    let handle = node.handle().clone();
    let note = Note(Box::new(move |block| handle.set(Counter::BlocksOnDisk, block)));
    let mut recorder = Recorder::reopen(&folder, &description, policy, now, on_disk, note)
        .map_err(|error| RunError::failed(error.to_string()))?;
    recorder.say_when_synced(node.handle().clock());
    if config.keep_bytes.is_some() || !config.keep_for.is_zero() {
        let keep = Keep::new(runs.clone(), config.keep_bytes.map(|bytes| bytes.0), config.keep_for);
        let others = all_runs_of(&topology).filter(|others| *others != runs).collect();
        recorder.keep(keep.beside(others));
    }
    let mut gatherer = Gatherer::new(inputs, known.counts, node::class_of);
    gatherer.pass_recorded(&known.ends).map_err(super::damaged)?;
    // A predecessor's disk may have refused to write; only a cut shows that it writes again.
    let refused = node.peer(seat).counter(Counter::DiskRefusesSince);
    Ok(super::Recording {
        gatherer,
        recorder,
        cursors: Cursors::new(journals, gated, seat),
        roll: config.roll.as_nanos() as u64,
        begun: now,
        refused: (refused > 0).then_some((refused, now)),
        may_pass,
        is_one_of_several: topology.nodes.iter().filter(|node| node.kind == NodeKind::Recorder).count() > 1,
        idle: 0,
        _lock: lock,
    })
}

/// The seats of the nodes that read a journal gated.
fn gated_seats(topology: &Topology, journal: &str) -> Vec<u32> {
    let spec = topology.journal(journal).into_iter();
    let gated = spec.flat_map(|spec| &spec.readers).filter(|reader| reader.kind == ReaderKind::Gated);
    gated.filter_map(|reader| topology.node(&reader.node)).map(|node| u32::from(node.seat)).collect()
}

/// A gated reader keeps what is not on disk; of a journal that is "sync" it says what is.
fn prepared(reader: Reader, sync: bool, registry: &Arc<Registry>) -> Input {
    match reader {
        Reader::Gated(mut reader) => {
            if sync {
                reader.make_durable(Some(Arc::clone(registry)));
            }
            // A predecessor may have read more than it wrote. What it had not written is kept still.
            reader.rewind();
            reader.owe_nothing();
            reader.keep(reader.position());
            Input::Gated(reader)
        }
        Reader::Loose(reader) => Input::Loose(reader),
    }
}

/// What a predecessor had on disk: by journal, how far, and what the journal had held by then.
#[derive(Default)]
struct Known {
    ends: Vec<Option<u64>>,
    counts: Vec<Counts>,
}

fn known(
    folder: &Path,
    on_disk: Option<u64>,
    description: &Description,
    journals: &[Journal],
    inputs: &[Input],
) -> Result<Known, RunError> {
    // The first recorder of this run: what was there before it began is not recorded, but counts.
    let first = || {
        let before = |(journal, input): (&Journal, &Input)| before_the_recorder(journal, input.position());
        let counts = journals.iter().zip(inputs).map(before).collect::<Result<_, _>>()?;
        Ok(Known { ends: Vec::new(), counts })
    };
    let Ok(found) = Found::open_before(folder, on_disk.unwrap_or(u64::MAX)) else { return first() };
    let failed = |error: &dyn std::fmt::Display| RunError::failed(format!("{}: {error}", folder.display()));
    let ends = found.ends().map_err(|error| failed(&error))?;
    let state = match found.state(node::class_of) {
        // It was killed before its first cut.
        Err(StateError::None) if ends.iter().all(Option::is_none) => return first(),
        state => state.map_err(|error| failed(&error))?,
    };
    let before = |journal: &RecordedJournal| {
        let was = found.description().journal(&journal.name)?;
        Some(usize::from(was.number) - 1)
    };
    let mut known = Known::default();
    for journal in &description.journals {
        let index = before(journal);
        known.ends.push(index.and_then(|index| ends.get(index).copied().flatten()));
        known.counts.push(index.and_then(|index| state.counts.get(index).copied()).unwrap_or_default());
    }
    Ok(known)
}

/// What a journal has held before `from`, which is where the recording begins and whence nothing is overwritten yet. Its
/// writer may be at work: what it has counted is taken where its frames stand still and all of them have been seen. It
/// counts them by class a moment after it has committed them, and a killed one leaves its last ones uncounted.
fn before_the_recorder(journal: &Journal, from: u64) -> Result<Counts, RunError> {
    let failed = |what: String| RunError::failed(format!("journal `{}`: {what}", journal.shape().name));
    let stat = journal.stat();
    if stat.incarnation == 1 && from == stat.first_position {
        return Ok(Counts::default());
    }
    let mut reader = journal.observe(from).map_err(|error| failed(error.to_string()))?;
    let mut held = Counts::default();
    let (mut bytes, mut last) = (Vec::new(), VecDeque::new());
    for _ in 0..MOST_LOOKS {
        loop {
            bytes.clear();
            match reader.read_bytes_until(PIECE_BYTES, u64::MAX, &mut bytes) {
                Ok(Some(_)) => held.add_noting(&bytes, node::class_of, |class| {
                    last.push_back(class);
                    if last.len() > MOST_UNCOUNTED {
                        last.pop_front();
                    }
                }),
                Ok(None) => break,
                // Of a loose recorder: its first cut names that as a gap.
                Err(ReadError::Lapped(_)) => {}
                Err(error) => return Err(super::damaged(error)),
            }
        }
        let first = journal.stat();
        std::thread::sleep(Duration::from_micros(20));
        let stat = journal.stat();
        if stat.head == reader.position() && stat.tally == first.tally && stat.frames == first.frames {
            let mut counts = Counts { epoch: stat.epoch, frames: stat.frames, tally: stat.tally };
            let counted = stat.tally.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
            let uncounted = usize::try_from(stat.frames.saturating_sub(counted)).unwrap_or(usize::MAX);
            if uncounted <= last.len() {
                last.iter().rev().take(uncounted).for_each(|class| counts.tally[*class] += 1);
            }
            counts.frames = counts.frames.saturating_sub(held.frames);
            for (count, held) in counts.tally.iter_mut().zip(held.tally) {
                *count = count.saturating_sub(held);
            }
            return Ok(counts);
        }
    }
    Err(failed("its writer never pauses: what it held before it was recorded cannot be counted".to_owned()))
}

fn describe(
    topology: &Topology,
    wiring: serde_json::Value,
    config: &RecorderConfig,
    journals: &[Journal],
    inputs: &[Input],
) -> Description {
    let recorded = |((journal, input), number): ((&Journal, &Input), u16)| {
        RecordedJournal::of(number, journal, matches!(input, Input::Loose(_)))
    };
    Description {
        instance: topology.instance.clone(),
        recorder: config.name.clone(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        messages: u32::from(wire::schema::VERSION),
        journal_format: journal::layout::FORMAT_VERSION,
        topology: wiring,
        journals: journals.iter().zip(inputs).zip(1..).map(recorded).collect(),
    }
}

/// `20261122T215500.123Z`: when the instance was made, so that names sort by time.
fn run_name(created: u64) -> String {
    let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(created);
    let text = humantime::format_rfc3339_millis(time).to_string();
    text.replace(['-', ':'], "")
}

/// The folder of the run of that name, which sorts behind those of all runs before it: if the clock was set back since,
/// the last one's name stands before it, as in `20261122T215500.123Z+20261121T090000.000Z`.
fn place_of(runs: &Path, name: &str) -> String {
    let mut known: Vec<String> = std::fs::read_dir(runs)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    known.sort();
    // That of a recorder that was killed.
    if let Some(own) = known.iter().find(|known| known.rsplit('+').next() == Some(name)) {
        return own.clone();
    }
    match known.last() {
        Some(last) if last.as_str() > name => {
            log::warn!(
                "run {last} was recorded before this one and has a later name: the clock was set back"
            );
            format!("{last}+{name}")
        }
        _ => name.to_owned(),
    }
}

/// Makes the folder of the runs, and keeps other instances of this name out: their runs would mix with ours, and a
/// recovery would take the latest of both.
fn lock(runs: &Path, configured: &str) -> Result<OwnLock, RunError> {
    let wrong = |what: &dyn std::fmt::Display| {
        RunError::failed(format!(
            "nothing can be recorded in {}: {what}; the recorder's `path` ({configured}) must be a folder that this user may \
             write to",
            runs.display()
        ))
    };
    make_folder(runs).map_err(|error| wrong(&error))?;
    let lock = OwnLock::take(&runs.join(LOCK)).map_err(|error| wrong(&error))?;
    lock.ok_or_else(|| {
        RunError::failed(format!(
            "{}: another recorder of an instance of this name records here; give this one a `path` of its own",
            runs.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;

    #[test]
    fn a_run_sorts_behind_those_before_it_also_when_the_clock_was_set_back() {
        let runs = tempfile::tempdir().unwrap();
        let hour = 3_600_000_000_000;
        let mut before: Option<String> = None;
        for hours in [500_000, 500_001, 400_000, 300_000, 400_001, 500_002] {
            let name = run_name(hours * hour);
            let place = place_of(runs.path(), &name);
            assert!(before.as_ref().is_none_or(|before| *before < place), "{before:?}, then {place}");
            std::fs::create_dir(runs.path().join(&place)).unwrap();
            assert_eq!(place_of(runs.path(), &name), place, "a recorder that was killed finds its own");
            before = Some(place);
        }
        assert_eq!(
            before.unwrap(),
            run_name(500_002 * hour),
            "once the clock is right again, so are the names"
        );
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_named_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = lock(&file.join("instance"), "file").unwrap_err().to_string();
        assert!(error.contains("Not a directory") && error.contains("`path` (file)"), "{error}");
        let runs = folder.path().join("runs");
        let _held = lock(&runs, "runs").unwrap();
        let error = lock(&runs, "runs").unwrap_err().to_string();
        assert!(error.contains("another recorder") && error.contains("`path` of its own"), "{error}");
    }
}
