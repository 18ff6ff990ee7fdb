//! `colo trace record`: follows the journals of a running platform, and looks at its nodes.

use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use journal::{Journal, LooseReader, ReadError};
use node::StopFlag;
use observe::{InstanceView, Lag, Look, Timeline, TracedJournal, TracedNode};
use wire::{AnyMessage, Message};

use super::args::Record;
use super::file::TraceFile;
use super::frames::{Copied, OVERWRITTEN, nodes, ring};
use super::{Ended, Report, Unreadable, print};
use crate::failure::Failure;
use crate::output;
use crate::verbs::instance;

/// Between two looks.
const TICK: Duration = Duration::from_millis(1);
/// Between two looks at readers, at new journals, and at whether the platform lives.
const SELDOM: Duration = Duration::from_millis(100);
/// How long a frame waits for older ones of other journals: it is stamped a little before it can be seen.
const SLACK: u64 = 100_000_000;
/// Bytes of frames that wait; beyond that the oldest wait no longer.
const MOST_WAITING: usize = 64 << 20;
/// Frames of one journal at a time, so that no busy one keeps the others waiting.
const BATCH: usize = 4_096;

pub(super) fn record(arguments: &Record) -> Result<u8, Failure> {
    let view = instance::view(arguments.instance.name())?;
    let stop = StopFlag::install()?;
    let file = TraceFile::create(&arguments.target.out)?;
    let (report, file) = Recording::begin(&view, file, arguments)?.run(arguments, &stop)?;
    file.keep()?;
    print(&report, arguments.target.format)
}

/// A journal that is followed.
struct Followed {
    traced: TracedJournal,
    journal: Journal,
    reader: LooseReader,
    /// It cannot be read any further.
    is_broken: bool,
}

/// What looks at seats ask for.
fn seats(nodes: &[TracedNode]) -> Vec<(u32, Arc<str>)> {
    nodes.iter().map(|node| (node.seat, Arc::from(node.name.as_str()))).collect()
}

struct Recording<'a> {
    view: &'a InstanceView,
    nodes: Vec<TracedNode>,
    seats: Vec<(u32, Arc<str>)>,
    pids: Vec<(u32, u32)>,
    timeline: Timeline<TraceFile>,
    followed: Vec<Followed>,
    known: BTreeSet<String>,
    waiting: BinaryHeap<Copied>,
    waiting_bytes: usize,
    unreadable: Vec<Unreadable>,
}

impl<'a> Recording<'a> {
    fn begin(view: &'a InstanceView, file: TraceFile, arguments: &Record) -> Result<Recording<'a>, Failure> {
        let (pids, nodes) = (view.pids(), nodes(view));
        let (now, monotonic) = view.clocks();
        let most = Some(arguments.target.max_bytes.0);
        let timeline = Timeline::new(file, most, (now, Some(monotonic)), &nodes)?;
        let seats = seats(&nodes);
        let mut recording = Recording {
            view,
            nodes,
            seats,
            pids,
            timeline,
            followed: Vec::new(),
            known: BTreeSet::new(),
            waiting: BinaryHeap::new(),
            waiting_bytes: 0,
            unreadable: Vec::new(),
        };
        recording.find_journals(true)?;
        Ok(recording)
    }

    /// Journals that are not followed yet: from now on, those that came later from their start.
    fn find_journals(&mut self, is_first: bool) -> Result<(), Failure> {
        let instance = self.view.instance();
        let names = instance.journal_names().map_err(Failure::system("list", &instance.journals()))?;
        for name in names {
            if self.known.contains(&name) {
                continue;
            }
            match ring(self.view, &self.nodes, &name) {
                // It is asked for again until somebody writes it.
                Ok(None) => {}
                Ok(Some((journal, traced))) => {
                    self.known.insert(name.clone());
                    if name == "md.instruments" {
                        self.read_instruments(&journal);
                    }
                    let start = if is_first { Ok(journal.head()) } else { journal.oldest_frame() };
                    match start.and_then(|start| journal.observe(start)) {
                        Ok(reader) => {
                            self.followed.push(Followed { traced, journal, reader, is_broken: false });
                        }
                        Err(error) => {
                            self.unreadable.push(Unreadable { journal: name, error: error.to_string() });
                        }
                    }
                }
                Err(error) => {
                    self.known.insert(name.clone());
                    self.unreadable.push(Unreadable { journal: name, error });
                }
            }
        }
        Ok(())
    }

    /// Nodes that were started since: a track for each that is new, or runs in a new process.
    fn find_nodes(&mut self) -> Result<(), Failure> {
        let pids = self.view.pids();
        if pids == self.pids {
            return Ok(());
        }
        let found = nodes(self.view);
        let is_new = |node: &&TracedNode| node.pid.is_some() && !self.nodes.contains(node);
        let new: Vec<TracedNode> = found.iter().filter(is_new).cloned().collect();
        self.timeline.join(&new)?;
        (self.pids, self.seats, self.nodes) = (pids, seats(&found), found);
        Ok(())
    }

    /// The names of instruments, which were written at the start.
    fn read_instruments(&mut self, journal: &Journal) {
        let Ok(mut reader) = journal.oldest_frame().and_then(|oldest| journal.observe(oldest)) else {
            return;
        };
        while let Ok(Some(frame)) = reader.read() {
            if frame.message_id == wire::Instrument::ID
                && let Ok(AnyMessage::Instrument(instrument)) =
                    AnyMessage::decode(frame.message_id, frame.payload)
            {
                self.timeline.instrument(instrument.id.0, instrument.symbol.as_str());
            }
        }
    }

    fn run(mut self, arguments: &Record, stop: &StopFlag) -> Result<(Report, TraceFile), Failure> {
        let begun = Instant::now();
        let bar = output::progress("recording");
        let mut seldom = begun;
        let ended = loop {
            let now = self.view.clock().now();
            let has_more = self.read()?;
            self.pass_on(now.saturating_sub(SLACK))?;
            let mut look = Look { time: self.view.clock().now(), ..Look::default() };
            look.seats = self.view.looks(&self.seats);
            look.over = self.view.clock().now();
            let is_seldom = seldom.elapsed() >= SELDOM;
            if is_seldom {
                seldom = Instant::now();
                look.lags = self.lags();
                let part = begun.elapsed().as_secs_f64() / arguments.span.as_secs_f64().max(1e-9);
                bar.set_position((part * 100.0) as u64);
            }
            self.timeline.look(&look)?;
            self.timeline.now(now)?;
            if stop.is_set() {
                break Ended::Interrupted;
            }
            if self.timeline.is_full() {
                break Ended::MaxBytes;
            }
            if begun.elapsed() >= arguments.span {
                break Ended::Time;
            }
            if is_seldom {
                if self.has_ended() {
                    break Ended::PlatformGone;
                }
                self.find_nodes()?;
                self.find_journals(false)?;
            }
            if !has_more {
                std::thread::sleep(TICK);
            }
        };
        bar.finish_and_clear();
        // What was stamped before the end is there by now, or soon.
        let end = self.view.clock().now();
        if ended == Ended::Time || ended == Ended::Interrupted {
            std::thread::sleep(Duration::from_millis(10));
        }
        while self.read()? && self.waiting.peek().is_some_and(|first| first.time <= end) {
            self.pass_on(end.saturating_sub(SLACK))?;
        }
        self.pass_on(end.saturating_add(1))?;
        let instance = self.view.instance().name().to_owned();
        let (file, totals) = self.timeline.finish()?;
        let file_name = arguments.target.out.display().to_string();
        let ended = if totals.is_full { Ended::MaxBytes } else { ended };
        Ok((Report { file: file_name, instance, ended, totals, unreadable: self.unreadable }, file))
    }

    /// Takes what is there. True when there may be more.
    fn read(&mut self) -> Result<bool, Failure> {
        let mut has_more = false;
        for (index, followed) in
            self.followed.iter_mut().enumerate().filter(|(_, followed)| !followed.is_broken)
        {
            let id = followed.traced.id();
            let (waiting, bytes) = (&mut self.waiting, &mut self.waiting_bytes);
            let mut take = |frame: journal::Frame<'_>| {
                let copied = Copied::of(index, id, &frame);
                *bytes += copied.bytes();
                waiting.push(copied);
            };
            match followed.reader.read_batch(BATCH, &mut take) {
                Ok(count) => has_more |= count == BATCH,
                Err(ReadError::Lapped(gap)) => {
                    has_more = true;
                    self.timeline.gap(&followed.traced, gap.bytes(), OVERWRITTEN)?;
                }
                Err(error) => {
                    followed.is_broken = true;
                    let journal = followed.traced.name().to_owned();
                    self.unreadable.push(Unreadable { journal, error: error.to_string() });
                }
            }
        }
        Ok(has_more)
    }

    /// Shows the frames before a time, and those that there is no more room for.
    fn pass_on(&mut self, until: u64) -> Result<(), Failure> {
        while let Some(first) = self.waiting.peek() {
            if first.time >= until && self.waiting_bytes <= MOST_WAITING {
                break;
            }
            let Some(copied) = self.waiting.pop() else { break };
            self.waiting_bytes -= copied.bytes();
            self.timeline.frame(&self.followed[copied.journal].traced, &copied.frame())?;
        }
        Ok(())
    }

    fn lags(&self) -> Vec<Lag> {
        let mut lags = Vec::new();
        for followed in &self.followed {
            let stat = followed.journal.stat();
            for reader in &stat.readers {
                let Some(node) = self.nodes.iter().find(|node| node.seat == reader.seat) else { continue };
                let bytes = stat.head.saturating_sub(reader.position);
                let journal = followed.traced.name().to_owned();
                lags.push(Lag { journal, node: node.name.clone(), bytes });
            }
        }
        lags
    }

    fn has_ended(&self) -> bool {
        !self.view.instance().registry().exists() || self.view.is_dead()
    }
}
