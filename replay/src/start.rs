//! What the strategy finds when it starts: the list of instruments, and its state.

use ledger::{Book, SnapshotMessage};
use recorder::format::RecordedJournal;
use recorder::read::Recording;
use wire::{AnyMessage, EndOfStream, Message, SnapshotBegin, SnapshotEnd, StrategyId};

use crate::error::ReplayError;
use crate::life::Life;
use crate::subject::Subject;

/// The generation that a replayed strategy has in its seat.
pub(crate) const GENERATION: u64 = 1;

/// A message that is there before the strategy starts.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) time: u64,
    pub(crate) message_id: u16,
    pub(crate) topic: u32,
    pub(crate) payload: Vec<u8>,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    /// Frames up to this time, and no later one, are in it.
    pub(crate) time: u64,
    /// The ledger's answer; empty where there was none.
    pub(crate) state: Vec<Prepared>,
}

impl Start {
    /// As it was recorded; in the middle of a life, as the ledger would have answered then.
    pub(crate) fn find(recording: &Recording, subject: &Subject, life: &Life) -> Result<Start, ReplayError> {
        let strategy = StrategyId(subject.node.seat);
        if life.is_middle {
            let state = match subject.read("state") {
                Some(_) => folded(recording, strategy, life.from)?,
                None => Vec::new(),
            };
            return Ok(Start { time: life.from, state });
        }
        let state = match subject.read("state") {
            Some(journal) => answered(recording, journal, strategy, life.from)?,
            None => Vec::new(),
        };
        let time = match state.last() {
            Some(last) => last.time,
            None => listed(recording, subject)?.max(life.from),
        };
        Ok(Start { time, state })
    }
}

/// The first whole snapshot of this strategy from this time on.
fn answered(
    recording: &Recording,
    journal: &RecordedJournal,
    strategy: StrategyId,
    from: u64,
) -> Result<Vec<Prepared>, ReplayError> {
    let mut frames = recording.frames(journal, 0);
    let mut found: Vec<Prepared> = Vec::new();
    while let Some(frame) = frames.next()? {
        if frame.time < from || frame.topic != SnapshotBegin::topic_of(strategy) {
            continue;
        }
        if frame.message_id == SnapshotBegin::ID {
            found.clear();
        }
        let message = AnyMessage::decode(frame.message_id, frame.payload)
            .map_err(|error| ReplayError::journal(&journal.name, error))?;
        let payload = match message {
            AnyMessage::SnapshotBegin(begin) => {
                SnapshotBegin { generation: GENERATION, ..begin }.bytes().to_vec()
            }
            AnyMessage::SnapshotEnd(end) => SnapshotEnd { generation: GENERATION, ..end }.bytes().to_vec(),
            _ => frame.payload.to_vec(),
        };
        let (time, message_id, topic) = (frame.time, frame.message_id, frame.topic);
        found.push(Prepared { time, message_id, topic, payload });
        if message_id == SnapshotEnd::ID {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// When the list of instruments was whole.
fn listed(recording: &Recording, subject: &Subject) -> Result<u64, ReplayError> {
    let Some(journal) = subject.read("instruments") else { return Ok(0) };
    let mut frames = recording.frames(journal, 0);
    while let Some(frame) = frames.next()? {
        if frame.message_id == EndOfStream::ID {
            return Ok(frame.time);
        }
    }
    Ok(0)
}

/// The state as of `time`, from all executions and quotes before.
fn folded(recording: &Recording, strategy: StrategyId, time: u64) -> Result<Vec<Prepared>, ReplayError> {
    let mut book = Book::new();
    let Some(executions) = recording.description().journal("matching.executions") else {
        let what = "matching.executions was not recorded: without --from, or from a recording that has it";
        return Err(ReplayError::Usage(what.to_owned()));
    };
    let mut frames = recording.frames(executions, 0);
    while let Some(frame) = frames.next()?
        && frame.time < time
    {
        // What the ledger could not understand it passed over too.
        let _ = book.on_execution(frame.position, frame.message_id, frame.payload);
    }
    let market = ["md.quotes", "md.best"].into_iter().find_map(|name| recording.description().journal(name));
    if let Some(journal) = market {
        let mut frames = recording.frames(journal, 0);
        while let Some(frame) = frames.next()?
            && frame.time < time
        {
            let _ = book.on_market(frame.topic, frame.message_id, frame.payload);
        }
    }
    let topic = SnapshotBegin::topic_of(strategy);
    let prepared = book.snapshot(strategy).map(|message| {
        let message = match message {
            SnapshotMessage::Begin(begin) => {
                SnapshotMessage::Begin(SnapshotBegin { generation: GENERATION, ..begin })
            }
            SnapshotMessage::End(end) => SnapshotMessage::End(SnapshotEnd { generation: GENERATION, ..end }),
            other => other,
        };
        Prepared { time, message_id: message.message_id(), topic, payload: message.bytes().to_vec() }
    });
    Ok(prepared.collect())
}
