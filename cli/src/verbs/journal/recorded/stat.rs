//! `colo journal stat --recording`: a journal as it was at the end of the recording.

use std::path::Path;

use node::Exit;
use serde::Serialize;
use topology::Topology;

use super::super::record::time_of_day;
use super::{journal, open, state, unreadable};
use crate::failure::Failure;
use crate::output::{self, Format, bytes, count, number, table};

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct Report {
    recording: String,
    journal: String,
    id: u32,
    capacity_bytes: u64,
    max_payload_bytes: u64,
    topics: u32,
    incarnation: u64,
    loose: bool,
    first_position: u64,
    /// Position of the first frame that is there.
    oldest: Option<u64>,
    end: Option<u64>,
    /// Frames that the journal ever held, and writers; null where no cut says it.
    frames: Option<u64>,
    epoch: Option<u64>,
    last_time_ns: Option<u64>,
    /// Gated readers, where they stood.
    readers: Vec<Reader>,
}

#[derive(Debug, Serialize)]
struct Reader {
    node: String,
    seat: u16,
    position: u64,
    held_bytes: u64,
    lag_bytes: u64,
}

pub(in super::super) fn stat(folder: &Path, name: &str, format: Format) -> Result<u8, Failure> {
    let recording = open(folder)?;
    let journal = journal(&recording, name)?;
    let place = usize::from(journal.number).saturating_sub(1);
    let state = state(&recording)?;
    let end = recording.ends().map_err(unreadable(&recording))?.get(place).copied().flatten();
    let last = recording.last_frame(journal).map_err(unreadable(&recording))?;
    let oldest = recording.chunks(journal, 0).next(&mut Vec::new()).map_err(unreadable(&recording))?;
    let topology: Option<Topology> = serde_json::from_value(recording.description().topology.clone()).ok();
    let node = |seat: u16| {
        let nodes = topology.as_ref().map(|topology| topology.nodes.as_slice()).unwrap_or_default();
        let known = nodes.iter().find(|node| node.seat == seat);
        known.map_or_else(|| format!("seat {seat}"), |node| node.name.clone())
    };
    let cursors = state.as_ref().map(|state| state.cursors.as_slice()).unwrap_or_default();
    let readers = cursors.iter().filter(|(number, ..)| *number == journal.number);
    let readers = readers.map(|&(_, seat, position, keeps)| Reader {
        node: node(seat),
        seat,
        position,
        held_bytes: if keeps == 0 { 0 } else { position.saturating_sub(keeps) },
        lag_bytes: end.unwrap_or(position).saturating_sub(position),
    });
    let counts = state.as_ref().and_then(|state| state.counts.get(place));
    let report = Report {
        readers: readers.collect(),
        recording: recording.folder().display().to_string(),
        journal: journal.name.clone(),
        id: journal.id,
        capacity_bytes: journal.capacity,
        max_payload_bytes: journal.max_payload,
        topics: journal.topics,
        incarnation: journal.incarnation,
        loose: journal.loose,
        first_position: journal.first_position,
        oldest,
        end,
        frames: counts.map(|counts| counts.frames),
        epoch: counts.map(|counts| counts.epoch),
        last_time_ns: last.map(|(_, time)| time),
    };
    match format {
        Format::Json => output::print_json(&report)?,
        Format::Text => output::print(&text(&report))?,
    }
    Ok(Exit::Done.code())
}

fn text(report: &Report) -> String {
    let unknown = || "unknown".to_owned();
    let mut text = format!(
        "journal {} (id {}) in recording {}\n\
         \x20 ring     {}; largest payload {}, {}\n\
         \x20 end      {}; {} frames ever; recorded from {}\n\
         \x20 writer   number {}; last frame at {} UTC\n",
        report.journal,
        report.id,
        report.recording,
        bytes(report.capacity_bytes),
        bytes(report.max_payload_bytes),
        count(u64::from(report.topics), "topic"),
        report.end.map_or_else(unknown, |end| end.to_string()),
        report.frames.map_or_else(unknown, number),
        report.oldest.map_or_else(unknown, |oldest| oldest.to_string()),
        report.epoch.map_or_else(unknown, |epoch| epoch.to_string()),
        report.last_time_ns.map_or_else(unknown, time_of_day),
    );
    if report.readers.is_empty() {
        return text + "\nno gated reader stood in it\n";
    }
    let rows = report.readers.iter().map(|reader| {
        vec![
            reader.node.clone(),
            reader.position.to_string(),
            bytes(reader.held_bytes),
            bytes(reader.lag_bytes),
        ]
    });
    text.push('\n');
    text.push_str(&table(&["reader", "position", "holds", "lag"], 1, rows));
    text
}
