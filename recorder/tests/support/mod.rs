//! Journals to record, and what a recording of them must hold.
#![allow(dead_code, reason = "each test uses a part")]

use std::path::Path;
use std::sync::LazyLock;

use journal::{Clock, Journal, JournalShape, Writer};
use recorder::format::{Description, RecordedJournal};
use recorder::gather::{Gatherer, Input};
use recorder::read::{Counts, FrameError, Recording};
use recorder::write::{Policy, Recorder};

pub(crate) const SEAT: u32 = 5;

/// One clock for all, as in an instance: two would disagree by more than the time between two frames.
pub(crate) fn clock() -> Clock {
    static CLOCK: LazyLock<Clock> = LazyLock::new(Clock::monotonic);
    *CLOCK
}

pub(crate) fn journal(id: u32, name: &str, capacity: u64) -> Journal {
    let shape = JournalShape { id, name: name.into(), capacity, seats: 64, topics: 8, page: 4096 };
    let journal = Journal::in_memory(shape).unwrap();
    journal.admit_gated(SEAT).unwrap();
    journal
}

pub(crate) fn policy() -> Policy {
    Policy { segment_bytes: 1 << 20, compress: None }
}

pub(crate) fn description(journals: &[&Journal]) -> Description {
    Description {
        instance: "t".into(),
        recorder: "disk".into(),
        program: "test".into(),
        messages: u32::from(wire::schema::VERSION),
        journal_format: 4,
        topology: serde_json::Value::Null,
        journals: RecordedJournal::of_all(journals),
    }
}

pub(crate) fn gatherer(journals: &[&Journal]) -> Gatherer {
    let gated = |journal: &&Journal| {
        let mut reader = journal.gated(SEAT).unwrap();
        reader.make_durable(None);
        reader.rewind();
        Input::Gated(reader)
    };
    let inputs: Vec<Input> = journals.iter().map(gated).collect();
    let counts = vec![Counts::default(); inputs.len()];
    Gatherer::new(inputs, counts, |id, _| usize::from(id) % 5)
}

pub(crate) fn recorder(folder: &Path, journals: &[&Journal]) -> Recorder {
    Recorder::open(folder, &description(journals), policy(), clock().now()).unwrap()
}

/// Time, id, topic and payload of a frame.
pub(crate) type Held = (u64, u64, u16, u32, Vec<u8>);

pub(crate) fn write(writer: &mut Writer, id: u16, topic: u32, payload: &[u8]) -> Held {
    let written = writer.write(id, topic, payload).unwrap();
    (written.position, written.time, id, topic, payload.to_vec())
}

/// All frames of a journal in a recording, with what is missing.
pub(crate) fn frames(recording: &Recording, name: &str) -> (Vec<Held>, Vec<(u64, u64)>) {
    let journal = recording.description().journal(name).unwrap();
    let mut reader = recording.frames(journal, 0);
    let (mut held, mut missing) = (Vec::new(), Vec::new());
    loop {
        match reader.next() {
            Ok(Some(frame)) => {
                held.push((
                    frame.position,
                    frame.time,
                    frame.message_id,
                    frame.topic,
                    frame.payload.to_vec(),
                ));
            }
            Ok(None) => return (held, missing),
            Err(FrameError::Missing { from, to, .. }) => missing.push((from, to)),
            Err(error) => panic!("{error}"),
        }
    }
}
