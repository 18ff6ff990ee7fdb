//! `colo trace export`: what lies in rings or in recordings.

use std::path::Path;

use node::{Exit, StopFlag};
use observe::{InstanceView, Timeline, TracedJournal, TracedNode, distance_from_end};
use recorder::format::RecordedJournal;
use recorder::read::Recording;
use topology::Topology;
use wire::{AnyMessage, Message, NodeChange, NodeEvent};

use super::args::Export;
use super::file::TraceFile;
use super::frames::{Merge, Source, Step, nodes, ring};
use super::{Ended, Report, Unreadable, print};
use crate::failure::Failure;
use crate::output;
use crate::verbs::instance;
use crate::verbs::journal::{Span, open_recording};

/// Frames between two looks at whether somebody interrupts.
const LOOK: u64 = 1_024;

/// What is exported.
struct What<'a> {
    instance: String,
    nodes: Vec<TracedNode>,
    journals: Vec<TracedJournal>,
    sources: Vec<Source<'a>>,
    /// A time, and what the kernel's monotonic clock said then.
    clocks: (u64, Option<u64>),
    /// Times of its first frame and its last, about.
    times: (u64, u64),
    unreadable: Vec<Unreadable>,
}

pub(super) fn export(arguments: &Export) -> Result<u8, Failure> {
    let is_recording = |text: &String| text.contains('/') || Path::new(text).is_dir();
    let stop = StopFlag::install()?;
    match arguments.sources.as_slice() {
        [] => of_instance(None, arguments, &stop),
        sources if sources.iter().all(is_recording) => of_recordings(sources, arguments, &stop),
        [name] => of_instance(Some(name), arguments, &stop),
        _ => Err(Failure::new(
            Exit::Usage,
            "one trace is of one platform: name one instance, or the folders of recordings of one run",
        )),
    }
}

fn of_instance(name: Option<&str>, arguments: &Export, stop: &StopFlag) -> Result<u8, Failure> {
    let view = instance::view(name)?;
    write(rings(&view)?, arguments, stop)
}

/// The rings of an instance. Those at the end of an order's way are looked at first: what made a frame that is seen is then
/// seen too, however busy the platform is.
fn rings(view: &InstanceView) -> Result<What<'static>, Failure> {
    let (nodes, (now, monotonic)) = (nodes(view), view.clocks());
    let instance = view.instance();
    let mut names = instance.journal_names().map_err(Failure::system("list", &instance.journals()))?;
    names.sort_by_key(|name| distance_from_end(name));
    let mut what = What {
        instance: instance.name().to_owned(),
        nodes,
        journals: Vec::new(),
        sources: Vec::new(),
        clocks: (now, Some(monotonic)),
        times: (u64::MAX, 0),
        unreadable: Vec::new(),
    };
    for name in names {
        let opened = ring(view, &what.nodes, &name).and_then(|opened| {
            let Some((journal, traced)) = opened else { return Ok(None) };
            let (source, first) = Source::ring(&journal, what.journals.len())?;
            Ok(Some((traced, source, first, journal.stat().last_time)))
        });
        match opened {
            Ok(None) => {}
            Ok(Some((traced, source, first, last))) => {
                what.journals.push(traced);
                what.sources.push(source);
                what.times = (what.times.0.min(first.unwrap_or(u64::MAX)), what.times.1.max(last));
            }
            Err(error) => what.unreadable.push(Unreadable { journal: name, error }),
        }
    }
    Ok(what)
}

fn of_recordings(folders: &[String], arguments: &Export, stop: &StopFlag) -> Result<u8, Failure> {
    let recordings: Vec<Recording> =
        folders.iter().map(|folder| open_recording(Path::new(folder))).collect::<Result<_, _>>()?;
    let mut chosen: Vec<(&Recording, &RecordedJournal)> = Vec::new();
    let mut ran: Vec<TracedNode> = Vec::new();
    let mut journals = Vec::new();
    let instance = recordings[0].description().instance.clone();
    for recording in &recordings {
        let (folder, description) = (recording.folder().display(), recording.description());
        if description.instance != instance {
            let message = format!(
                "{folder} is of instance `{}`, and the first of `{instance}`: one trace is of one platform",
                description.instance
            );
            return Err(Failure::new(Exit::Usage, message));
        }
        let topology: Topology = serde_json::from_value(description.topology.clone()).map_err(|error| {
            Failure::new(Exit::Failed, format!("{folder}: its platform is not understood: {error}"))
        })?;
        if ran.is_empty() {
            let nodes = topology.nodes.iter();
            ran = nodes
                .map(|node| TracedNode {
                    seat: u32::from(node.seat),
                    name: node.name.clone(),
                    kind: node.kind,
                    pid: None,
                })
                .collect();
        }
        for journal in &description.journals {
            if chosen.iter().any(|(_, known)| known.name == journal.name) {
                talk!("colo: `{}` is in several of the recordings; taken is that of the first", journal.name);
                continue;
            }
            let writer = topology.journals.iter().find(|spec| spec.name == journal.name);
            let writer = writer.map_or("unknown", |spec| spec.writer.as_str());
            journals.push(TracedJournal::new(journal.id, &journal.name, writer));
            chosen.push((recording, journal));
        }
    }
    for (recording, journal) in chosen.iter().filter(|(_, journal)| journal.name == "master.events") {
        processes(recording, journal, &mut ran);
    }
    let last = recordings.iter().map(|recording| recording.end().time).max().unwrap_or(0);
    let first = recordings.iter().map(Recording::begins).min().unwrap_or(0);
    let span = Span::new(arguments.from.as_deref(), arguments.to.as_deref(), last)?;
    let sources = chosen.iter().map(|(recording, journal)| {
        // Each instrument stands once, at the start.
        let since = if journal.name == "md.instruments" { 0 } else { span.from() };
        Source::Recorded(Box::new(recording.frames_since(journal, 0, since)))
    });
    let what = What {
        instance,
        nodes: ran,
        journals,
        sources: sources.collect(),
        clocks: (first, None),
        times: (first, last),
        unreadable: Vec::new(),
    };
    write(what, arguments, stop)
}

/// The processes that sat in the seats last, as master has noted them.
fn processes(recording: &Recording, journal: &RecordedJournal, nodes: &mut [TracedNode]) {
    let mut frames = recording.frames(journal, 0);
    while let Ok(Some(frame)) = frames.next() {
        if frame.message_id == NodeEvent::ID
            && let Ok(AnyMessage::NodeEvent(event)) = AnyMessage::decode(frame.message_id, frame.payload)
            && event.change == NodeChange::Joined
            && let Some(node) = nodes.iter_mut().find(|node| node.seat == u32::from(event.seat))
        {
            node.pid = Some(event.pid).filter(|pid| *pid != 0);
        }
    }
}

fn write(what: What<'_>, arguments: &Export, stop: &StopFlag) -> Result<u8, Failure> {
    let span = Span::new(arguments.from.as_deref(), arguments.to.as_deref(), what.times.1)?;
    let file = TraceFile::create(&arguments.target.out)?;
    let most = Some(arguments.target.max_bytes.0);
    let mut timeline = Timeline::new(file, most, what.clocks, &what.nodes)?;
    let bar = output::progress("exporting");
    let (first, last) = (what.times.0.max(span.from()), what.times.1.min(span.to()));
    let mut unreadable = what.unreadable;
    let mut merge = Merge::new(what.sources, &what.journals);
    let mut steps = 0_u64;
    let mut ended = Ended::Complete;
    while let Some(step) = merge.next() {
        match step {
            Step::Frame(copied) if copied.time >= span.to() => break,
            Step::Frame(copied) => {
                let frame = copied.frame();
                let journal = &what.journals[copied.journal];
                // Names of instruments hold for all that follows.
                if copied.time >= span.from() {
                    timeline.frame(journal, &frame)?;
                } else if let Ok(AnyMessage::Instrument(instrument)) =
                    AnyMessage::decode(frame.message_id, frame.payload)
                {
                    timeline.instrument(instrument.id.0, instrument.symbol.as_str());
                }
                if timeline.is_full() {
                    ended = Ended::MaxBytes;
                    break;
                }
                steps += 1;
                if steps.is_multiple_of(LOOK) {
                    let part =
                        copied.time.saturating_sub(first) as f64 / last.saturating_sub(first).max(1) as f64;
                    bar.set_position((part * 100.0) as u64);
                    if stop.is_set() {
                        ended = Ended::Interrupted;
                        break;
                    }
                }
            }
            Step::Gap(journal, bytes, why) => timeline.gap(&what.journals[journal], bytes, why)?,
            Step::Broken(journal, error) => {
                unreadable.push(Unreadable { journal: what.journals[journal].name().to_owned(), error });
            }
        }
    }
    bar.finish_and_clear();
    let (file, totals) = timeline.finish()?;
    file.keep()?;
    let ended = if totals.is_full { Ended::MaxBytes } else { ended };
    let file = arguments.target.out.display().to_string();
    print(&Report { file, instance: what.instance, ended, totals, unreadable }, arguments.target.format)
}
