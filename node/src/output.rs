//! A journal that a node writes.

use std::collections::VecDeque;

use journal::{Journal, OpenError, WriteError, Writer, Written};
use wire::Message;

use crate::answers::Answers;
use crate::handle::NodeHandle;
use crate::protocol::WriteAssignment;
use crate::state::Counter;
use crate::tally::{Tally, class_of};

/// Limit of messages that an [`Output`] keeps while its journal is full: at 64 bytes each, 16 MiB.
const LONGEST_BACKLOG: usize = 1 << 18;

/// A counter of a seat, and what of a journal it counts.
pub type Counted = (Counter, fn(&Tally) -> u64);

/// Writes messages, and if asked to, keeps those that find the journal full.
#[derive(Debug)]
pub struct Output {
    writer: Writer,
    /// What the journal is to this node: `quotes`, `orders`, …
    pub role: String,
    /// Name of the journal.
    pub journal: String,
    /// Bytes of the journal's ring.
    pub capacity: u64,
    /// Topics of the journal.
    pub topics: u32,
    backlog: VecDeque<Kept>,
    /// Where several seats share the journal: counts the messages of each.
    answers: Option<Answers>,
    written: u64,
    full: u64,
}

#[derive(Debug)]
struct Kept {
    message_id: u16,
    topic: u32,
    payload: Box<[u8]>,
}

impl Output {
    /// Counts the messages that a killed predecessor left uncounted.
    pub(crate) fn new(
        journal: &Journal,
        mut writer: Writer,
        write: &WriteAssignment,
    ) -> Result<Output, OpenError> {
        journal.uncounted(|frame| writer.count(class_of(frame.message_id, frame.payload)))?;
        Ok(Output {
            writer,
            role: write.role.clone(),
            journal: write.journal.clone(),
            capacity: journal.shape().capacity,
            topics: journal.shape().topics,
            backlog: VecDeque::new(),
            answers: None,
            written: 0,
            full: 0,
        })
    }

    /// Commits one message now, or not at all.
    ///
    /// # Errors
    /// [`WriteError::Full`] when a gated reader is behind, or when earlier messages still wait in the backlog.
    #[inline]
    pub fn send<M: Message>(&mut self, topic: u32, message: &M) -> Result<Written, WriteError> {
        self.send_bytes(M::ID, topic, message.bytes())
    }

    /// As [`Output::send`], for an encoded message.
    ///
    /// # Errors
    /// As [`Output::send`].
    pub fn send_bytes(&mut self, message_id: u16, topic: u32, payload: &[u8]) -> Result<Written, WriteError> {
        if !self.backlog.is_empty() {
            self.flush()?;
        }
        self.write(message_id, topic, payload)
    }

    /// Commits one encoded message now, or keeps it and commits it before any later one.
    ///
    /// # Errors
    /// [`WriteError`] when it can neither be written nor kept: the backlog is at its limit, or the message is too large
    /// for the journal.
    pub fn post_bytes(&mut self, message_id: u16, topic: u32, payload: &[u8]) -> Result<(), WriteError> {
        match self.send_bytes(message_id, topic, payload) {
            Ok(_) => Ok(()),
            Err(WriteError::Full { .. }) if self.backlog.len() < LONGEST_BACKLOG => {
                self.backlog.push_back(Kept { message_id, topic, payload: payload.into() });
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn write(&mut self, message_id: u16, topic: u32, payload: &[u8]) -> Result<Written, WriteError> {
        let written = self.writer.write(message_id, topic, payload);
        match written {
            Ok(_) => {
                self.count(message_id, topic, payload);
                self.written += 1;
            }
            Err(_) => self.full += 1,
        }
        written
    }

    #[inline]
    fn count(&mut self, message_id: u16, topic: u32, payload: &[u8]) {
        let class = class_of(message_id, payload);
        self.writer.count(class);
        if let Some(answers) = &self.answers {
            answers.count(topic, class);
        }
    }

    /// Sets these counters of the node's seat to what the journal has held. Counters outlive a process, but those of
    /// written messages may lack a killed predecessor's last message, which the journal counts.
    pub fn resume(&self, node: &NodeHandle, counted: &[Counted]) {
        let tally = self.tally();
        counted.iter().for_each(|(counter, of)| node.set(*counter, of(&tally)));
    }

    /// From now on counts the messages to each of these seats separately: for a journal that they share, whose topics
    /// are their numbers. Counts what a killed predecessor left uncounted.
    ///
    /// # Errors
    /// [`OpenError`] when the journal cannot be searched.
    pub fn count_by_seat(&mut self, node: &NodeHandle, seats: &[u32]) -> Result<(), OpenError> {
        let journal = Journal::open_read_only(node.instance.find_journal(&self.journal))?;
        self.answers = Some(Answers::new(&node.registry, &journal, &self.tally(), seats)?);
        Ok(())
    }

    /// Commits several messages at once, so that readers see all of them or none, even if this process is killed. Too
    /// many for one batch are committed in several parts; a part ends before a message whose index `may_part` allows,
    /// if there is one. Returns how many are committed, from the first on.
    ///
    /// # Errors
    /// As [`Output::send`]; the messages after the returned number are not committed.
    pub fn send_all<'a>(
        &mut self,
        topic: u32,
        messages: impl Iterator<Item = (u16, &'a [u8])> + Clone,
        may_part: impl Fn(usize) -> bool,
    ) -> (usize, Result<(), WriteError>) {
        if let Err(error) = self.flush() {
            return (0, Err(error));
        }
        let mut committed = 0;
        // End of the next attempt, after a batch that was too long.
        let mut limit = usize::MAX;
        loop {
            // Nothing is read before the commit.
            let time = self.writer.now();
            let mut batch = self.writer.batch_at(time);
            let mut end = committed;
            let mut is_full = false;
            for (message_id, payload) in messages.clone().skip(committed).take(limit) {
                match batch.push(message_id, topic, payload) {
                    Ok(_) => end += 1,
                    Err(WriteError::BatchFull { .. }) => {
                        is_full = true;
                        break;
                    }
                    Err(error) => {
                        self.full += 1;
                        return (committed, Err(error));
                    }
                }
            }
            if is_full
                && let Some(part) = (committed + 1..=end).rev().find(|end| may_part(*end))
                && part < end
            {
                limit = part - committed;
                continue;
            }
            let is_last = !is_full && limit == usize::MAX;
            limit = usize::MAX;
            let frames = batch.frames();
            batch.commit();
            for (message_id, payload) in messages.clone().skip(committed).take(frames as usize) {
                self.count(message_id, topic, payload);
            }
            committed = end;
            self.written += frames;
            if is_last {
                return (committed, Ok(()));
            }
        }
    }

    /// Writes the kept messages, as far as the journal has room.
    ///
    /// # Errors
    /// [`WriteError::Full`] while something is still kept.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        while let Some(kept) = self.backlog.pop_front() {
            if let Err(error) = self.write(kept.message_id, kept.topic, &kept.payload) {
                self.backlog.push_front(kept);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Number of kept messages.
    pub fn backlog(&self) -> usize {
        self.backlog.len()
    }

    /// The kept messages, oldest first: id and payload.
    pub fn kept(&self) -> impl Iterator<Item = (u16, &[u8])> {
        self.backlog.iter().map(|kept| (kept.message_id, &*kept.payload))
    }

    /// Number of kept messages before the first for which `is_before` is false.
    pub fn kept_before(&self, is_before: impl Fn(u16, &[u8]) -> bool) -> usize {
        self.backlog.partition_point(|kept| is_before(kept.message_id, &kept.payload))
    }

    /// Messages accepted so far: committed and kept.
    pub fn posted(&self) -> u64 {
        self.written + self.backlog.len() as u64
    }

    /// Messages committed so far, and writes that found the journal full.
    pub fn counts(&self) -> (u64, u64) {
        (self.written, self.full)
    }

    /// Epoch of this writer: grows with every start.
    pub fn epoch(&self) -> u64 {
        self.writer.epoch()
    }

    /// Frames in the journal since it was made, by this writer and those before it.
    pub fn frames(&self) -> u64 {
        self.writer.frames()
    }

    /// Frames in the journal since it was created, by class.
    pub(crate) fn tally(&self) -> Tally {
        Tally(self.writer.tally())
    }

    /// Position of the next message.
    pub fn position(&self) -> u64 {
        self.writer.position()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::{Clock, Journal, JournalShape};

    #[test]
    fn what_is_too_long_for_one_batch_parts_where_it_may() {
        let shape =
            JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
        let journal = Journal::in_memory(shape).unwrap();
        let mut reader = journal.gated(3).unwrap();
        let write = WriteAssignment { role: "executions".into(), journal: "t".into(), huge: None };
        let mut output =
            Output::new(&journal, journal.writer(0, Clock::monotonic()).unwrap(), &write).unwrap();
        // One alone, then groups of five: 8 KiB hold 64 of these frames, which is not the end of a group.
        let payload = [7; 80];
        let messages = std::iter::repeat_n((1, &payload[..]), 201);
        let (committed, outcome) = output.send_all(0, messages, |next| next % 5 == 1);
        assert_eq!((committed, outcome), (201, Ok(())));
        let mut times = Vec::new();
        while let Some(frame) = reader.read().unwrap() {
            times.push(frame.time);
        }
        // The frames of one batch have the same time.
        let batches = times.chunk_by(|a, b| a == b).map(<[u64]>::len).collect::<Vec<_>>();
        assert_eq!(batches, [61, 60, 60, 20]);
    }
}
