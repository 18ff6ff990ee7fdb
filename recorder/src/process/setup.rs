//! From the platform file and the journals to a recording.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use journal::{Journal, Reader, Registry};
use node::{Node, RunError};
use std::sync::Arc;
use topology::Topology;
use topology::config::{Durability, RecorderConfig};

use super::cursors::Cursors;
use crate::format::{Description, RecordedJournal};
use crate::gather::{Gatherer, Input};
use crate::read::{Counts, Recording as Found};
use crate::write::{Keep, Policy, Recorder};

/// Opens the recording of this run of the instance: a new one, or after a restart of the recorder the one that it had.
pub(super) fn open(node: &mut Node, config: &RecorderConfig) -> Result<super::Recording, RunError> {
    let path = node.instance().topology();
    let unreadable = |what: String| RunError::failed(format!("{}: {what}", path.display()));
    let text = std::fs::read(&path).map_err(|error| unreadable(error.to_string()))?;
    let wiring: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    let topology: Topology = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    let (registry, seat) = (node.registry(), node.assignment().seat);
    let (mut inputs, mut journals) = (Vec::new(), Vec::new());
    for input in node.take_inputs() {
        let (reader, journal) = input.into_reader();
        let durability = topology.journal(&journal.shape().name).map(|spec| spec.durability);
        inputs.push(prepared(reader, durability == Some(Durability::Sync), &registry));
        journals.push(journal);
    }
    let description = describe(&topology, wiring, config, &journals, &inputs);
    let run =
        journals.iter().map(|journal| journal.stat().created).min().unwrap_or_else(|| node.handle().now());
    let folder = Path::new(&config.path).join(&topology.instance).join(run_name(run));
    let known = known(&folder, &description, &journals)?;
    let policy = Policy {
        segment_bytes: config.segment.0,
        compress: (config.compress > 0).then_some(config.compress as i32),
    };
    let now = node.handle().now();
    let mut recorder = Recorder::open(&folder, &description, policy, now)
        .map_err(|error| RunError::failed(error.to_string()))?;
    if config.keep_bytes.is_some() || !config.keep_for.is_zero() {
        let runs = Path::new(&config.path).join(&topology.instance);
        recorder.keep(Keep::new(runs, config.keep_bytes.map(|bytes| bytes.0), config.keep_for));
    }
    let mut gatherer = Gatherer::new(inputs, known.counts, node::class_of);
    gatherer.pass_recorded(&known.ends).map_err(super::damaged)?;
    Ok(super::Recording {
        gatherer,
        recorder,
        cursors: Cursors::new(journals, seat),
        roll: config.roll.as_nanos() as u64,
        begun: now,
        refused: None,
    })
}

/// A gated reader keeps what is not on disk; of a journal that is "sync" it says what is.
fn prepared(reader: Reader, sync: bool, registry: &Arc<Registry>) -> Input {
    match reader {
        Reader::Gated(mut reader) => {
            if sync {
                reader.make_durable(Some(Arc::clone(registry)));
            } else {
                reader.keep(reader.position());
            }
            reader.rewind();
            Input::Gated(reader)
        }
        Reader::Loose(reader) => Input::Loose(reader),
    }
}

/// What a predecessor had recorded: by journal, how far, and what the journal had held by then.
#[derive(Default)]
struct Known {
    ends: Vec<Option<u64>>,
    counts: Vec<Counts>,
}

fn known(folder: &Path, description: &Description, journals: &[Journal]) -> Result<Known, RunError> {
    let Ok(found) = Found::open(folder) else {
        // The first recorder of this run: what was there before it began is not recorded, but counts.
        let counts = journals.iter().map(before_the_recorder).collect::<Result<_, _>>()?;
        return Ok(Known { ends: Vec::new(), counts });
    };
    let failed = |error: &dyn std::fmt::Display| RunError::failed(format!("{}: {error}", folder.display()));
    let ends = found.ends().map_err(|error| failed(&error))?;
    let state = found.state(node::class_of).map_err(|error| failed(&error))?;
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

/// Frames that a journal has held before its oldest reader, which is where the recording begins.
fn before_the_recorder(journal: &Journal) -> Result<Counts, RunError> {
    let stat = journal.stat();
    let mut counts = Counts { epoch: stat.epoch, frames: stat.frames, tally: stat.tally };
    let failed = |what: String| RunError::failed(format!("journal `{}`: {what}", stat.shape.name));
    let mut reader = journal.loose_from_start().map_err(|error| failed(error.to_string()))?;
    while let Ok(Some(frame)) = reader.read() {
        counts.frames = counts.frames.saturating_sub(1);
        if let Some(class) = counts.tally.get_mut(node::class_of(frame.message_id, frame.payload)) {
            *class = class.saturating_sub(1);
        }
    }
    Ok(counts)
}

fn describe(
    topology: &Topology,
    wiring: serde_json::Value,
    config: &RecorderConfig,
    journals: &[Journal],
    inputs: &[Input],
) -> Description {
    let recorded = |(index, (journal, input)): (usize, (&Journal, &Input))| {
        let (shape, stat) = (journal.shape(), journal.stat());
        RecordedJournal {
            number: index as u16 + 1,
            name: shape.name.clone(),
            id: shape.id,
            capacity: shape.capacity,
            seats: shape.seats,
            topics: shape.topics,
            max_payload: stat.max_payload,
            page: shape.page,
            first_position: stat.first_position,
            incarnation: stat.incarnation,
            loose: matches!(input, Input::Loose(_)),
        }
    };
    Description {
        instance: topology.instance.clone(),
        recorder: config.name.clone(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        messages: u32::from(wire::schema::VERSION),
        journal_format: journal::layout::FORMAT_VERSION,
        continues: None,
        topology: wiring,
        journals: journals.iter().zip(inputs).enumerate().map(recorded).collect(),
    }
}

/// `20261122T215500.123Z`: when the instance was made, so that names sort by time.
fn run_name(created: u64) -> PathBuf {
    let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(created);
    let text = humantime::format_rfc3339_millis(time).to_string();
    text.replace(['-', ':'], "").into()
}
