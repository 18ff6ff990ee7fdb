//! `colo journal tail` and `colo journal dump` with `--recording`.

use std::collections::VecDeque;
use std::path::Path;

use journal::Gap;
use journal::layout::MAX_PAYLOAD;
use node::Exit;
use recorder::format::RecordedJournal;
use recorder::read::{FrameError, Recording};
use serde_json::{Value, json};
use wire::Instrument;

use super::super::args::{Dump, Tail};
use super::super::record::Record;
use super::super::select::Filter;
use super::super::tail::{LINES, Out, wanted};
use super::{journal, open, unreadable};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::verbs::instruments;

/// How far before the end `tail` looks first.
const FIRST_LOOK: u64 = 1 << 16;

pub(in super::super) fn dump(folder: &Path, arguments: &Dump) -> Result<u8, Failure> {
    let recording = open(folder)?;
    let journal = journal(&recording, &arguments.journal.journal)?;
    let filter = Filter::new(&arguments.selection, last_time(&recording, journal)?, || listed(&recording))?;
    let mut out = Out::new(&journal.name, arguments.format)?;
    let mut lacks_end = false;
    let (mut lost, mut left): (u64, u64) = (0, arguments.count.unwrap_or(u64::MAX));
    let mut print = |record: Record| {
        if let Record::Gap(gap, _) = &record {
            lost += gap.bytes();
        }
        lacks_end |= matches!(record, Record::End(..));
        out.print(&record)?;
        left -= 1;
        Ok(left > 0)
    };
    if arguments.count != Some(0) {
        walk(&recording, journal, &filter, filter.start(), &mut print)?;
    }
    out.flush()?;
    if lacks_end && let Some(end) = recording.lacks_end() {
        talk!("{}: {end}", recording.folder().display());
    }
    if lost > 0 {
        let name = &journal.name;
        talk!("journal `{name}`: {lost} bytes are missing; `colo journal verify --recording` says why");
    }
    Ok(Exit::Done.code())
}

pub(in super::super) fn tail(folder: &Path, arguments: &Tail) -> Result<u8, Failure> {
    let recording = open(folder)?;
    let journal = journal(&recording, &arguments.journal.journal)?;
    let filter = Filter::new(&arguments.selection, last_time(&recording, journal)?, || listed(&recording))?;
    let most = arguments.lines.unwrap_or(if filter.has_start() { usize::MAX } else { LINES });
    let place = usize::from(journal.number).saturating_sub(1);
    let ends = recording.ends().map_err(unreadable(&recording))?;
    let end = ends.get(place).copied().flatten().unwrap_or(journal.first_position);
    let mut last = VecDeque::new();
    let mut back = FIRST_LOOK;
    loop {
        let whole = filter.has_start() || end.saturating_sub(back) <= journal.first_position;
        let start = if whole { filter.start() } else { (end - back, 0) };
        last.clear();
        let mut keep = |record: Record| -> Result<bool, Failure> {
            last.push_back(record);
            if last.len() > most {
                last.pop_front();
            }
            Ok(true)
        };
        walk(&recording, journal, &filter, start, &mut keep)?;
        if whole || last.len() >= most {
            break;
        }
        back = back.saturating_mul(8);
    }
    if arguments.format == Format::Json {
        let frames: Vec<Value> = last.iter().map(|record| record.json(&journal.name)).collect();
        output::print_json(&json!({ "journal": journal.name, "head": end, "frames": frames }))?;
        return Ok(Exit::Done.code());
    }
    let mut out = Out::new(&journal.name, arguments.format.into())?;
    for record in &last {
        out.print(record)?;
    }
    out.flush()?;
    Ok(Exit::Done.code())
}

/// The instruments that it has recorded.
pub(super) fn listed(recording: &Recording) -> Result<Vec<Instrument>, Failure> {
    let journal = journal(recording, instruments::JOURNAL)?;
    let mut frames = recording.frames_since(journal, 0, 0);
    let mut listed = Vec::new();
    loop {
        match frames.next() {
            Ok(Some(frame)) => listed.extend(instruments::one(frame.message_id, frame.payload)),
            Ok(None) => return Ok(listed),
            Err(FrameError::Missing { .. }) => {}
            Err(error) => return Err(unreadable(recording)(error)),
        }
    }
}

fn last_time(recording: &Recording, journal: &RecordedJournal) -> Result<u64, Failure> {
    let last = recording.last_frame(journal).map_err(unreadable(recording))?;
    Ok(last.map_or(recording.end().time, |(_, time)| time))
}

/// Hands out the wanted frames from a position and a time on, and what is missing, for as long as the visitor wants more.
fn walk(
    recording: &Recording,
    journal: &RecordedJournal,
    filter: &Filter,
    (position, time): (u64, u64),
    visit: &mut impl FnMut(Record) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let place = usize::from(journal.number).saturating_sub(1);
    let ends = recording.ends().map_err(unreadable(recording))?;
    let begin = position.max(journal.first_position);
    let end = ends.get(place).copied().flatten().unwrap_or(begin);
    // Between frames a gap shows by their positions; before the first and behind the last it does not.
    if time == 0
        && !filter.is_past(begin, 0)
        && let Some(first) =
            first_position(recording, journal, begin)?.or(Some(end)).filter(|first| *first > begin)
        && !visit(missing(begin, first, NOT_THERE))?
    {
        return Ok(());
    }
    // A record's position lies within its frame.
    let mut frames = recording.frames_since(journal, position.saturating_sub(MAX_PAYLOAD), time);
    loop {
        let record = match frames.next() {
            Ok(Some(frame)) if filter.is_past(frame.position, frame.time) => return Ok(()),
            Ok(Some(frame)) => {
                if filter.topics.contains(frame.topic) {
                    for record in wanted(filter, &frame.as_read()) {
                        if !visit(record)? {
                            return Ok(());
                        }
                    }
                }
                continue;
            }
            Ok(None) => {
                let last = frames.position();
                let ends_early = last > begin && last < end && !filter.is_past(last, time);
                if ends_early && !visit(missing(last, end, NOT_THERE))? {
                    return Ok(());
                }
                if recording.lacks_end().is_some() && !filter.is_past(end, recording.end().time) {
                    visit(Record::End(end, NO_END))?;
                }
                return Ok(());
            }
            Err(FrameError::Missing { to, .. }) if to <= begin => continue,
            Err(FrameError::Missing { from, to, what, .. }) => missing(from.max(begin), to, what),
            Err(error) => return Err(unreadable(recording)(error)),
        };
        if !visit(record)? {
            return Ok(());
        }
    }
}

/// Why frames at one end of a journal are missing, as far as that can be told there.
const NOT_THERE: &str = "not recorded, damaged, or removed";

/// Why nothing more is there.
const NO_END: &str = "the last segment is not there, or cannot be read";

fn missing(from: u64, resumed_at: u64, why: &'static str) -> Record {
    Record::Gap(Gap { from, resumed_at }, why)
}

/// Position of the first block that holds something at `from` or behind it.
fn first_position(
    recording: &Recording,
    journal: &RecordedJournal,
    from: u64,
) -> Result<Option<u64>, Failure> {
    match recording.chunks(journal, from).next(&mut Vec::new()) {
        Ok(first) => Ok(first),
        Err(FrameError::Missing { to, .. }) => Ok(Some(to)),
        Err(error) => Err(unreadable(recording)(error)),
    }
}
