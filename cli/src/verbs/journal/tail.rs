//! `colo journal tail` and `colo journal dump`: frames, decoded: a row for each message.

use std::collections::VecDeque;
use std::io::{BufWriter, StdoutLock, Write};
use std::time::Duration;

use journal::{Frame, Gap, LooseReader, ReadError, WriterState};
use node::{Exit, StopFlag};
use serde_json::{Value, json};

use super::args::{Dump, DumpFormat, Tail};
use super::record::{OVERWRITTEN, Record};
use super::recorded;
use super::select::Filter;
use super::target::Target;
use crate::failure::Failure;
use crate::output::{self, Format};

/// Between two looks for new frames.
const TICK: Duration = Duration::from_millis(10);
/// Frames that `tail` prints when nobody says how many.
pub(super) const LINES: usize = 10;

pub(super) fn tail(arguments: &Tail) -> Result<u8, Failure> {
    if let Some(folder) = &arguments.journal.recording.recording {
        return recorded::tail(folder, arguments);
    }
    let target = Target::open(&arguments.journal)?;
    let filter = Filter::new(&arguments.selection, target.journal.stat().last_time)?;
    let most = arguments.lines.unwrap_or(if filter.has_start() { usize::MAX } else { LINES });
    let mut reader = target.journal.observe(target.journal.oldest_frame()?)?;
    reader.set_topics(filter.topics.clone());
    let mut last: VecDeque<Record> = VecDeque::new();
    let mut keep = |record: Record| -> Result<bool, Failure> {
        last.push_back(record);
        if last.len() > most {
            last.pop_front();
        }
        Ok(true)
    };
    // What is there now; later frames belong to `--follow`, so that a busy writer cannot keep us here.
    let head = target.journal.head();
    let goes_on = walk(&mut reader, &target.name, &filter, head, &mut keep)?;
    if arguments.format == Format::Json && !arguments.follow {
        let frames: Vec<Value> = last.iter().map(|record| record.json(&target.name)).collect();
        output::print_json(&json!({ "journal": target.name, "head": head, "frames": frames }))?;
        return Ok(Exit::Done.code());
    }
    let mut out = Out::new(&target.name, arguments.format.into())?;
    for record in &last {
        out.print(record)?;
    }
    out.flush()?;
    if arguments.follow && goes_on {
        follow(&mut reader, &target.name, &filter, &mut out)?;
    }
    Ok(Exit::Done.code())
}

pub(super) fn dump(arguments: &Dump) -> Result<u8, Failure> {
    if let Some(folder) = &arguments.journal.recording.recording {
        return recorded::dump(folder, arguments);
    }
    let target = Target::open(&arguments.journal)?;
    let filter = Filter::new(&arguments.selection, target.journal.stat().last_time)?;
    let mut out = Out::new(&target.name, arguments.format)?;
    let head = target.journal.head();
    let mut reader = target.journal.observe(target.journal.oldest_frame()?)?;
    reader.set_topics(filter.topics.clone());
    let (mut lost, mut left): (Option<Gap>, u64) = (None, arguments.count.unwrap_or(u64::MAX));
    let mut print = |record: Record| {
        if let Record::Gap(gap, _) = &record {
            lost = Some(*gap);
        }
        out.print(&record)?;
        left -= 1;
        Ok(left > 0)
    };
    if arguments.count != Some(0) {
        walk(&mut reader, &target.name, &filter, head, &mut print)?;
    }
    out.flush()?;
    if let Some(gap) = lost {
        talk!(
            "journal `{}`: its writer overtook this dump: {} bytes from position {} on are lost, up to {}",
            target.name,
            gap.bytes(),
            gap.from,
            gap.resumed_at
        );
    }
    Ok(Exit::Done.code())
}

/// Hands out the wanted frames and the gaps up to `head`, for as long as the visitor wants more; false when the end of
/// what is wanted was reached.
fn walk(
    reader: &mut LooseReader,
    name: &str,
    filter: &Filter,
    head: u64,
    visit: &mut impl FnMut(Record) -> Result<bool, Failure>,
) -> Result<bool, Failure> {
    while reader.position() < head {
        match reader.read() {
            Ok(Some(frame)) if filter.is_past(frame.position, frame.time) => return Ok(false),
            Ok(Some(frame)) => {
                for record in wanted(filter, &frame) {
                    if !visit(record)? {
                        return Ok(false);
                    }
                }
            }
            Ok(None) => break,
            Err(ReadError::Lapped(gap)) => {
                if !visit(Record::Gap(gap, OVERWRITTEN))? {
                    return Ok(false);
                }
            }
            Err(error) => return Err(damaged(name, error)),
        }
    }
    Ok(true)
}

/// The wanted messages of a frame.
pub(super) fn wanted<'a>(filter: &'a Filter, frame: &'a Frame<'_>) -> impl Iterator<Item = Record> + 'a {
    let is_wanted = |record: &Record| filter.wants(record.position(), frame.time, frame.message_id);
    Record::all_of(frame).filter(is_wanted)
}

fn damaged(name: &str, error: ReadError) -> Failure {
    Failure::new(Exit::Failed, format!("journal `{name}`: {error}; `colo journal verify {name}` says more"))
}

fn follow(reader: &mut LooseReader, name: &str, filter: &Filter, out: &mut Out<'_>) -> Result<(), Failure> {
    let stop = StopFlag::install()?;
    while !stop.is_set() {
        match reader.read() {
            Ok(Some(frame)) if filter.is_past(frame.position, frame.time) => return out.flush(),
            Ok(Some(frame)) => {
                for record in wanted(filter, &frame) {
                    out.print(&record)?;
                }
            }
            Ok(None) => {
                out.flush()?;
                match reader.writer_state() {
                    // Its last frame may have come between the two looks.
                    WriterState::Closed | WriterState::Dead(_) if !reader.has_news() => {
                        talk!("the writer of `{name}` is gone");
                        return Ok(());
                    }
                    _ => std::thread::sleep(TICK),
                }
            }
            Err(ReadError::Lapped(gap)) => out.print(&Record::Gap(gap, OVERWRITTEN))?,
            Err(error) => return Err(damaged(name, error)),
        }
    }
    out.flush()
}

impl From<Format> for DumpFormat {
    fn from(format: Format) -> DumpFormat {
        match format {
            Format::Text => DumpFormat::Text,
            Format::Json => DumpFormat::Json,
        }
    }
}

/// Standard output, written in large pieces.
pub(super) struct Out<'a> {
    journal: &'a str,
    to: To,
}

enum To {
    Lines(BufWriter<StdoutLock<'static>>, DumpFormat),
    Csv(Box<csv::Writer<StdoutLock<'static>>>),
}

impl<'a> Out<'a> {
    pub(super) fn new(journal: &'a str, format: DumpFormat) -> Result<Out<'a>, Failure> {
        let stdout = std::io::stdout().lock();
        let to = match format {
            DumpFormat::Csv => {
                let mut writer = csv::Writer::from_writer(stdout);
                writer.write_record(Record::columns()).map_err(refused)?;
                To::Csv(Box::new(writer))
            }
            format => To::Lines(BufWriter::with_capacity(1 << 16, stdout), format),
        };
        Ok(Out { journal, to })
    }

    pub(super) fn print(&mut self, record: &Record) -> Result<(), Failure> {
        match &mut self.to {
            To::Csv(writer) => writer.write_record(record.row(self.journal)).map_err(refused)?,
            To::Lines(writer, DumpFormat::Json) => writeln!(writer, "{}", record.json(self.journal))?,
            To::Lines(writer, _) => writeln!(writer, "{}", record.text())?,
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        match &mut self.to {
            To::Csv(writer) => writer.flush()?,
            To::Lines(writer, _) => writer.flush()?,
        }
        Ok(())
    }
}

fn refused(error: csv::Error) -> Failure {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Failure::Output(error),
        other => Failure::new(Exit::Failed, format!("cannot write CSV: {other:?}")),
    }
}
