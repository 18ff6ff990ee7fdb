//! `colo journal tail` and `colo journal dump`: frames, decoded: a row for each message.

use std::collections::VecDeque;
use std::io::{BufWriter, StdoutLock, Write};
use std::time::Duration;

use journal::{Frame, Gap, LooseReader, ReadError, WriterState};
use node::{Exit, StopFlag};
use serde_json::{Value, json};

use super::args::{Dump, DumpFormat, Tail};
use super::chain::{self, Start};
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
    let filter = Filter::new(&arguments.selection, target.journal.stat().last_time, || target.listed())?;
    let most = arguments.lines.unwrap_or(if filter.has_start() { usize::MAX } else { LINES });
    let start = Start::find(&target.journal)?;
    let mut reader = target.journal.observe(start.position)?;
    let mut last: VecDeque<Record> = VecDeque::new();
    let mut keep = |record: Record| -> Result<bool, Failure> {
        last.push_back(record);
        if last.len() > most {
            last.pop_front();
        }
        Ok(true)
    };
    // What is there now; later frames belong to `--follow`, so that a busy writer cannot keep us here.
    let head = start.head;
    let walked = walk(&mut reader, &target.name, &filter, head, &mut keep)?;
    let misfit = start.misfit.or(walked.misfit);
    if arguments.format == Format::Json && !arguments.follow {
        let frames: Vec<Value> = last.iter().map(|record| record.json(&target.name)).collect();
        output::print_json(&json!({ "journal": target.name, "head": head, "frames": frames }))?;
        return chain::result(&arguments.journal.journal, misfit);
    }
    let mut out = Out::new(&target.name, arguments.format.into())?;
    for record in &last {
        out.print(record)?;
    }
    out.flush()?;
    if arguments.follow && walked.goes_on && misfit.is_none() {
        reader.set_topics(filter.topics.clone());
        follow(&mut reader, &target.name, &filter, &mut out)?;
    }
    chain::result(&arguments.journal.journal, misfit)
}

pub(super) fn dump(arguments: &Dump) -> Result<u8, Failure> {
    if let Some(folder) = &arguments.journal.recording.recording {
        return recorded::dump(folder, arguments);
    }
    let target = Target::open(&arguments.journal)?;
    let filter = Filter::new(&arguments.selection, target.journal.stat().last_time, || target.listed())?;
    let mut out = Out::new(&target.name, arguments.format)?;
    let Start { position, head, mut misfit } = Start::find(&target.journal)?;
    let mut reader = target.journal.observe(position)?;
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
        let walked = walk(&mut reader, &target.name, &filter, head, &mut print);
        // What was read until then is printed in any case.
        out.flush()?;
        misfit = misfit.or(walked?.misfit);
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
    chain::result(&arguments.journal.journal, misfit)
}

/// How a walk ended.
struct Walked {
    /// The end of what is wanted was not reached.
    goes_on: bool,
    /// Why the frames do not lead to the head.
    misfit: Option<String>,
}

const ENOUGH: Walked = Walked { goes_on: false, misfit: None };

/// Hands out the wanted frames and the gaps up to `head`, for as long as the visitor wants more. The reader is one of all
/// topics: it must not skip frames behind the head.
fn walk(
    reader: &mut LooseReader,
    name: &str,
    filter: &Filter,
    head: u64,
    visit: &mut impl FnMut(Record) -> Result<bool, Failure>,
) -> Result<Walked, Failure> {
    while reader.position() < head {
        match reader.read() {
            // Only void frames were left up to the head, and it is a later one.
            Ok(Some(frame)) if frame.position >= head => break,
            Ok(Some(frame)) if filter.is_past(frame.position, frame.time) => return Ok(ENOUGH),
            Ok(Some(frame)) => {
                if filter.topics.contains(frame.topic) {
                    for record in wanted(filter, &frame) {
                        if !visit(record)? {
                            return Ok(ENOUGH);
                        }
                    }
                }
                let (from, end) = (frame.position, reader.position());
                if end > head {
                    let misfit = Some(chain::ends_late(head, from, end));
                    return Ok(Walked { goes_on: true, misfit });
                }
            }
            Ok(None) => {
                let end = reader.position();
                let misfit = (end < head).then(|| chain::ends_early(head, end));
                return Ok(Walked { goes_on: true, misfit });
            }
            Err(ReadError::Lapped(gap)) => {
                if !visit(Record::Gap(gap, OVERWRITTEN))? {
                    return Ok(ENOUGH);
                }
            }
            Err(error) => return Err(damaged(name, error)),
        }
    }
    Ok(Walked { goes_on: true, misfit: None })
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
