//! Reading along while the run goes, so that nothing is lost when rings wrap.
//!
//! All readers are loose and have no seat: no writer waits for them, none wakes them. In one process nothing is written while
//! they read, which is after each turn of all nodes; there they miss nothing. Over processes they look a few times in
//! hundredths of a second, take what had been stamped by then from all journals, and fold it in the order of the stamps.

use journal::{Clock, Journal, LooseReader, ReadError};
use node::InstanceDir;
use serde::{Deserialize, Serialize};
use topology::{Stream, Topology};
use wire::Nanos;

use crate::fold::Fold;
use crate::worker::Worker;

/// What this run's folder lacks of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// The journal.
    pub journal: String,
    /// Bytes that were overwritten before they were read.
    pub bytes: u64,
    /// How many times the reader was overtaken.
    pub gaps: u64,
    /// Why it could not be read at all, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip)]
    is_counted: bool,
}

impl Missed {
    /// Orders and strategies are counted from it: without a part of it they are not what they were.
    pub(crate) fn is_of_orders(&self) -> bool {
        self.is_counted
    }
}

/// What a journal is to the fold. In this order within one market event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Instruments,
    Clock,
    Marks,
    Requests,
    Executions,
    Reports,
    Drops,
    Samples,
}

#[derive(Debug)]
struct Input {
    role: Role,
    reader: Option<LooseReader>,
    missed: Missed,
}

/// A frame that waits for its turn.
#[derive(Debug)]
struct Waiting {
    time: u64,
    role: Role,
    frame: Header,
    payload: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    position: u64,
    topic: u32,
    id: u16,
    time: u64,
}

/// The readers, and what becomes of what they read.
#[derive(Debug)]
pub(crate) struct Follow {
    inputs: Vec<Input>,
    worker: Worker,
    clock: Clock,
    /// Everything happens in this process, one after the other.
    is_alone: bool,
}

impl Follow {
    /// Opens the journals, from their first frames that are still there.
    pub(crate) fn open(
        instance: &InstanceDir,
        topology: &Topology,
        clock: Clock,
        fold: Fold,
        is_alone: bool,
    ) -> Follow {
        let one = |stream: Stream| topology.carrying(stream).map(|journal| journal.name.as_str());
        let depth = one(Stream::Quotes).next();
        let marks = depth.or_else(|| one(Stream::Best).next());
        let clock_journal = one(Stream::Flow).next().or_else(|| one(Stream::Market).next());
        let drops = one(Stream::Drops).next();
        let mut named: Vec<(Role, &str)> = Vec::new();
        named.extend(one(Stream::Instruments).map(|name| (Role::Instruments, name)));
        named.extend(clock_journal.map(|name| (Role::Clock, name)));
        named.extend(marks.map(|name| (Role::Marks, name)));
        named.extend(one(Stream::Requests).map(|name| (Role::Requests, name)));
        named.extend(one(Stream::Executions).map(|name| (Role::Executions, name)));
        named.extend(one(Stream::Reports).map(|name| (Role::Reports, name)));
        named.extend(drops.map(|name| (Role::Drops, name)));
        named.extend(one(Stream::Samples).map(|name| (Role::Samples, name)));
        let inputs = named.into_iter().map(|(role, name)| Input::open(role, instance, name)).collect();
        Follow { inputs, worker: Worker::start(fold), clock, is_alone }
    }

    /// Takes what is new.
    pub(crate) fn look(&mut self) {
        if self.is_alone {
            self.in_turn();
        } else {
            let now = self.clock.now();
            self.in_order(now);
        }
    }

    pub(crate) fn flush(&mut self) {
        self.worker.flush();
    }

    /// The writers have stopped: takes the rest.
    pub(crate) fn finish(mut self) -> (Option<Fold>, Vec<Missed>) {
        if self.is_alone {
            self.in_turn();
        } else {
            self.in_order(u64::MAX);
        }
        let missed = self.inputs.into_iter().map(|input| input.missed);
        (self.worker.finish(), missed.filter(|missed| missed.gaps > 0 || missed.error.is_some()).collect())
    }

    /// Journal after journal, straight from the rings.
    fn in_turn(&mut self) {
        let Follow { inputs, worker, .. } = self;
        for input in inputs {
            let role = input.role;
            while input.has_news() {
                input.read(|header, payload| {
                    if role != Role::Reports || Fold::is_refusal(header.id, payload) {
                        worker.take(role, header, payload);
                    }
                });
            }
        }
    }

    /// All that was stamped up to `until`, in the order of the stamps.
    fn in_order(&mut self, until: u64) {
        let mut waiting: Vec<Waiting> = Vec::new();
        // Until nothing older comes: what a frame causes is stamped after it, and may stand in a journal that was looked at before.
        loop {
            let before = waiting.len();
            for input in &mut self.inputs {
                let role = input.role;
                while input.next_time().is_some_and(|time| time <= until) {
                    input.read(|frame, payload| {
                        waiting.push(Waiting { time: frame.time, role, frame, payload: payload.to_vec() });
                    });
                }
            }
            if waiting.len() == before {
                break;
            }
        }
        waiting.sort_by_key(|waiting| (waiting.time, waiting.role));
        for Waiting { role, frame, payload, .. } in &waiting {
            self.worker.take(*role, *frame, payload);
        }
    }
}

#[inline]
pub(crate) fn take(fold: &mut Fold, role: Role, frame: Header, payload: &[u8]) {
    let Header { position, topic, id, time } = frame;
    match role {
        Role::Instruments => fold.instrument(id, payload),
        Role::Clock => fold.clock(id, payload, time),
        Role::Marks => fold.market(topic, id, payload, time),
        Role::Requests => fold.request(id, payload, time),
        Role::Executions => fold.execution(position, id, payload, time),
        Role::Reports => fold.refusal(id, payload, time),
        Role::Drops => fold.drop_copy((position, topic, Nanos(time)), id, payload),
        Role::Samples => fold.sample_of_order(id, payload),
    }
}

impl Input {
    fn open(role: Role, instance: &InstanceDir, name: &str) -> Input {
        let is_counted = matches!(role, Role::Requests | Role::Executions | Role::Reports | Role::Drops);
        let mut missed = Missed { journal: name.to_owned(), is_counted, ..Missed::default() };
        let opened = Journal::open_read_only(instance.find_journal(name)).and_then(|journal| {
            let first = journal.first_position();
            // A ring that never wrapped begins at its first position, whatever its marks say.
            let from = if journal.stat().oldest == first { first } else { journal.oldest_frame()? };
            Ok((journal.observe(from)?, from - first))
        });
        let reader = match opened {
            Ok((reader, overwritten)) => {
                (missed.bytes, missed.gaps) = (overwritten, u64::from(overwritten > 0));
                Some(reader)
            }
            Err(error) => {
                missed.error = Some(error.to_string());
                None
            }
        };
        Input { role, reader, missed }
    }

    #[inline]
    fn has_news(&self) -> bool {
        self.reader.as_ref().is_some_and(LooseReader::has_news)
    }

    fn next_time(&mut self) -> Option<u64> {
        loop {
            let reader = self.reader.as_mut()?;
            match reader.peek_time() {
                Ok(time) => return time,
                Err(error) => self.stumbled(error),
            }
        }
    }

    #[inline]
    fn read(&mut self, take: impl FnOnce(Header, &[u8])) {
        let Some(reader) = &mut self.reader else { return };
        match reader.read() {
            Ok(Some(frame)) => {
                let header = Header {
                    position: frame.position,
                    topic: frame.topic,
                    id: frame.message_id,
                    time: frame.time,
                };
                take(header, frame.payload);
            }
            Ok(None) => {}
            Err(error) => self.stumbled(error),
        }
    }

    #[cold]
    fn stumbled(&mut self, error: ReadError) {
        match error {
            ReadError::Lapped(gap) => {
                self.missed.bytes += gap.bytes();
                self.missed.gaps += 1;
            }
            error => {
                self.missed.error = Some(error.to_string());
                self.reader = None;
            }
        }
    }
}
