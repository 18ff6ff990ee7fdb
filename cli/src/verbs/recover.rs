//! `colo recover`: what would come back from a recording, and what was never acknowledged.

use std::path::Path;
use std::time::{Duration, SystemTime};

use node::Exit;
use recorder::read::{Recording, Unfinished};
use recorder::recover::{Recovered, Recovery};
use serde::Serialize;
use serde_json::{Map, Value};
use wire::AnyMessage;

use crate::args::{Recover, Until};
use crate::failure::Failure;
use crate::message::{brief, object_of};
use crate::output::{self, Format, bytes, count, number, table};

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct Report {
    instance: String,
    recordings: Vec<String>,
    /// Everything up to this time comes back.
    time_ns: u64,
    journals: Vec<Journal>,
    /// Frames behind the last whole cut.
    unacknowledged: Vec<Frame>,
}

#[derive(Debug, Serialize)]
struct Journal {
    journal: String,
    /// Positions of what comes back: as much as the ring holds.
    from: u64,
    end: u64,
    /// Frames that it ever held, and writers.
    frames: u64,
    epoch: u64,
    /// Why it cannot come back.
    fault: Option<String>,
    readers: Vec<Reader>,
}

#[derive(Debug, Serialize)]
struct Reader {
    node: String,
    seat: u16,
    position: u64,
    /// Zero: its position.
    keeps: u64,
}

#[derive(Debug, Serialize)]
struct Frame {
    journal: String,
    position: u64,
    time_ns: u64,
    message_id: u16,
    /// Kind and fields; null where it is no message of this version.
    message: Option<&'static str>,
    fields: Option<Map<String, Value>>,
    #[serde(skip)]
    said: String,
}

pub(crate) fn recover(arguments: &Recover) -> Result<u8, Failure> {
    crate::interrupt::ends_reading()?;
    let until = Until::time(arguments.until.as_ref(), &arguments.folders)?;
    let recovery = Recovery::open(&arguments.folders, until)?;
    recovery.older().iter().for_each(|older| talk!("{older}"));
    let mut unacknowledged = Vec::new();
    for recording in recovery.recordings() {
        unacknowledged.extend(behind(recording.folder())?);
    }
    unacknowledged.sort_by_key(|frame| frame.time_ns);
    let recordings = recovery.recordings().iter();
    let report = Report {
        instance: recovery.topology().instance.clone(),
        recordings: recordings.map(|recording| recording.folder().display().to_string()).collect(),
        time_ns: recovery.time(),
        journals: recovery.journals().map(|recovered| journal(&recovery, recovered)).collect(),
        unacknowledged,
    };
    match arguments.format {
        Format::Json => output::print_json(&report)?,
        Format::Text => output::print(&text(&report))?,
    }
    let has_fault = report.journals.iter().any(|journal| journal.fault.is_some());
    Ok(if has_fault { Exit::CheckFailed } else { Exit::Done }.code())
}

fn journal(recovery: &Recovery, recovered: &Recovered) -> Journal {
    let node = |seat: u16| {
        let nodes = recovery.topology().nodes.iter();
        let known = nodes.clone().find(|node| node.seat == seat);
        known.map_or_else(|| format!("seat {seat}"), |node| node.name.clone())
    };
    let name = &recovered.journal.name;
    let cursors = recovered.cursors.iter();
    Journal {
        journal: name.clone(),
        from: recovery.origin(name, 0).map_or(recovered.end, |origin| origin.first_position),
        end: recovered.end,
        frames: recovered.counts.frames,
        epoch: recovered.counts.epoch,
        fault: recovery.fault(recovered),
        readers: cursors
            .map(|&(seat, position, keeps)| Reader { node: node(seat), seat, position, keeps })
            .collect(),
    }
}

/// Of the real end, also when an earlier time is asked for.
fn behind(folder: &Path) -> Result<Vec<Frame>, Failure> {
    let failed =
        |error: &dyn std::fmt::Display| Failure::new(Exit::Failed, format!("{}: {error}", folder.display()));
    let recording = Recording::open(folder).map_err(|error| failed(&error))?;
    let frames = recording.unfinished().map_err(|error| failed(&error))?;
    Ok(frames.into_iter().map(|frame| listed(&recording, frame)).collect())
}

fn listed(recording: &Recording, frame: Unfinished) -> Frame {
    let message = AnyMessage::decode(frame.message_id, &frame.payload).ok();
    let journal = recording.description().numbered(frame.journal);
    Frame {
        journal: journal.map_or_else(|| frame.journal.to_string(), |journal| journal.name.clone()),
        position: frame.position,
        time_ns: frame.time,
        message_id: frame.message_id,
        message: message.as_ref().map(AnyMessage::name),
        fields: message.as_ref().map(object_of),
        said: message
            .as_ref()
            .map_or_else(|| format!("id {}, {} bytes", frame.message_id, frame.payload.len()), brief),
    }
}

fn text(report: &Report) -> String {
    let time = humantime::format_rfc3339_nanos(SystemTime::UNIX_EPOCH + Duration::from_nanos(report.time_ns));
    let rows = report.journals.iter().map(|journal| {
        vec![
            journal.journal.clone(),
            journal.from.to_string(),
            journal.end.to_string(),
            bytes(journal.end.saturating_sub(journal.from)),
            number(journal.frames),
            journal.readers.len().to_string(),
        ]
    });
    let mut text = format!(
        "instance {} as of {time}, from {}\n\n{}",
        report.instance,
        report.recordings.join(", "),
        table(&["journal", "from", "end", "bytes", "frames ever", "readers"], 1, rows)
    );
    for journal in &report.journals {
        if let Some(fault) = &journal.fault {
            text.push_str(&format!("\n{} cannot come back: {fault}\n", journal.journal));
        }
    }
    match report.unacknowledged.len() as u64 {
        0 => text.push_str("\nbehind the last whole cut nothing is left: nothing unacknowledged is known\n"),
        frames => {
            let what = count(frames, "frame");
            text.push_str(&format!(
                "\n{what} behind the last whole cut, never acknowledged, do not come back:\n"
            ));
            for frame in &report.unacknowledged {
                text.push_str(&format!("  {}@{}  {}\n", frame.journal, frame.position, frame.said));
            }
        }
    }
    text
}
