//! `colo journal ls --recording`.

use std::path::Path;

use node::Exit;
use recorder::read::Recording;
use serde::Serialize;

use super::super::record::time_of_day;
use super::{open, state, unreadable};
use crate::failure::Failure;
use crate::output::{self, Format, bytes, count, number, table};

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct Listing {
    recording: String,
    /// Its random number, in hexadecimal digits.
    id: String,
    instance: String,
    recorder: String,
    /// Version of the program that wrote it.
    program: String,
    segments: usize,
    /// Segments that retention has removed.
    removed_segments: usize,
    /// Segments that are not there, although nobody has removed them on purpose.
    missing_segments: usize,
    /// Bytes of its files.
    bytes: u64,
    /// When its first segment was begun.
    begun_ns: u64,
    /// Time of its last whole cut.
    end_ns: u64,
    journals: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    journal: String,
    id: u32,
    capacity_bytes: u64,
    /// The recorder may have been overtaken.
    loose: bool,
    first_position: u64,
    end: Option<u64>,
    /// Frames that the journal ever held; null where no cut says it.
    frames: Option<u64>,
    last_time_ns: Option<u64>,
}

pub(in super::super) fn list(folder: &Path, format: Format) -> Result<u8, Failure> {
    let recording = open(folder)?;
    let listing = listing(&recording)?;
    match format {
        Format::Json => output::print_json(&listing)?,
        Format::Text => output::print(&text(&listing))?,
    }
    if let Some(end) = recording.lacks_end() {
        talk!("colo: {}: {end}", recording.folder().display());
    }
    for (path, error) in recording.unreadable() {
        talk!("colo: {}: {error}", path.display());
    }
    Ok(Exit::Done.code())
}

fn listing(recording: &Recording) -> Result<Listing, Failure> {
    let state = state(recording)?;
    let ends = recording.ends().map_err(unreadable(recording))?;
    let mut journals = Vec::new();
    for (place, journal) in recording.description().journals.iter().enumerate() {
        let last = recording.last_frame(journal).map_err(unreadable(recording))?;
        journals.push(Row {
            journal: journal.name.clone(),
            id: journal.id,
            capacity_bytes: journal.capacity,
            loose: journal.loose,
            first_position: journal.first_position,
            end: ends[place],
            frames: state.as_ref().map(|state| state.counts[place].frames),
            last_time_ns: last.map(|(_, time)| time),
        });
    }
    let description = recording.description();
    Ok(Listing {
        recording: recording.folder().display().to_string(),
        id: format!("{:016x}", recording.id()),
        instance: description.instance.clone(),
        recorder: description.recorder.clone(),
        program: description.program.clone(),
        segments: recording.segments().len(),
        removed_segments: recording.removed().count(),
        missing_segments: recording.missing().len(),
        bytes: recording.segments().iter().filter_map(|segment| segment.file_bytes()).sum(),
        begun_ns: recording.segments().first().map_or(0, |segment| segment.head.created.get()),
        end_ns: recording.end().time,
        journals,
    })
}

fn text(listing: &Listing) -> String {
    let rows = listing.journals.iter().map(|row| {
        let dash = || "-".to_owned();
        vec![
            row.journal.clone(),
            bytes(row.capacity_bytes),
            row.frames.map_or_else(dash, number),
            row.first_position.to_string(),
            row.end.map_or_else(dash, |end| end.to_string()),
            row.last_time_ns.map_or_else(dash, time_of_day),
        ]
    });
    let removed = match listing.removed_segments {
        0 => String::new(),
        removed => format!(", {removed} removed"),
    };
    let missing = match listing.missing_segments {
        0 => String::new(),
        missing => format!(", {missing} missing"),
    };
    format!(
        "recording {} of instance {}, by {} of version {}\n{}{removed}{missing}, {}; whole up to {} UTC\n\n{}",
        listing.recording,
        listing.instance,
        listing.recorder,
        listing.program,
        count(listing.segments as u64, "segment"),
        bytes(listing.bytes),
        time_of_day(listing.end_ns),
        table(&["journal", "ring", "frames", "first", "end", "last frame"], 1, rows)
    )
}
