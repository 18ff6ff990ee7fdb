//! What is on disk.

use std::path::Path;

use recorder::read::{OpenError, Recording};
use wire::AnyMessage;

use crate::witness::{Record, Records};

/// All frames of a recording by journal, which has no gap. Samples are left out: a death may cost one.
pub(crate) fn records(folder: &Path) -> Records {
    let recording = Recording::open(folder).expect("a recording");
    let mut records = Records::new();
    for journal in &recording.description().journals {
        if journal.name == "td.samples" {
            continue;
        }
        let held = records.entry(journal.name.clone()).or_default();
        let mut frames = recording.frames(journal, 0);
        while let Some(frame) = frames.next().expect("no frame is missing") {
            let message = AnyMessage::decode(frame.message_id, frame.payload).expect("a message");
            held.push(Record { position: frame.position, time: frame.time, topic: frame.topic, message });
        }
    }
    records
}

/// Fails unless the recording has each journal from where the journal begins.
pub(crate) fn assert_whole(folder: &Path) {
    let recording = match Recording::open(folder) {
        // A run that crashed before its first cut was on disk has acknowledged nothing, and its description may be lost.
        Err(OpenError::Description { .. }) => return,
        opened => opened.expect("a recording"),
    };
    for journal in &recording.description().journals {
        let first = recording.chunks(journal, 0).next(&mut Vec::new()).expect("its first block");
        let begins = journal.first_position;
        assert!(first.is_none_or(|first| first == begins), "{}: {first:?}, not {begins}", journal.name);
    }
}

/// Adds what a later run recorded. What both have is the same.
pub(crate) fn merge(all: &mut Records, more: Records) {
    for (name, frames) in more {
        let known = all.entry(name.clone()).or_default();
        let end = known.last().map_or(0, |record| record.position + 1);
        let (again, new): (Vec<_>, Vec<_>) = frames.into_iter().partition(|frame| frame.position < end);
        if let Some(first) = again.first() {
            let from = known.partition_point(|record| record.position < first.position);
            assert_same(&name, &again, &known[from..]);
        }
        known.extend(new);
    }
}

/// Fails with the first frame that differs.
pub(crate) fn assert_same(name: &str, found: &[Record], wanted: &[Record]) {
    let same = |(one, other): &(&Record, &Record)| {
        one.position == other.position && one.time == other.time && one.message == other.message
    };
    let equal = found.iter().zip(wanted).take_while(same).count();
    let (found_next, wanted_next) = (found.get(equal), wanted.get(equal));
    assert!(
        found_next.is_none() && wanted_next.is_none(),
        "{name}: {equal} frames of {} are the same, then {found_next:?}, expected {wanted_next:?}",
        wanted.len()
    );
}
