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
use crate::read::Recording as Found;
use crate::write::{Policy, Recorder};

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
    let ends = ends(&folder, &description)?;
    let policy = Policy {
        segment_bytes: config.segment.0,
        compress: (config.compress > 0).then_some(config.compress as i32),
    };
    let now = node.handle().now();
    let recorder = Recorder::open(&folder, &description, policy, now)
        .map_err(|error| RunError::failed(error.to_string()))?;
    let mut gatherer = Gatherer::new(inputs);
    gatherer.pass_recorded(&ends).map_err(super::damaged)?;
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

/// How far a predecessor had recorded each journal.
fn ends(folder: &Path, description: &Description) -> Result<Vec<Option<u64>>, RunError> {
    let Ok(found) = Found::open(folder) else { return Ok(Vec::new()) };
    let known = found.ends().map_err(|error| RunError::failed(error.to_string()))?;
    let before = |journal: &RecordedJournal| {
        let was = found.description().journal(&journal.name)?;
        known.get(usize::from(was.number) - 1).copied().flatten()
    };
    Ok(description.journals.iter().map(before).collect())
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
