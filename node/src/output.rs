//! A journal that a node writes.

use std::collections::VecDeque;

use journal::{Journal, OpenError, WriteError, Writer, Written};
use wire::Message;

use crate::answers::Answers;
use crate::fuse::Fuse;
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
    after: After,
    written: u64,
    full: u64,
}

/// What follows each commit.
#[derive(Debug)]
enum After {
    Nothing,
    /// Several seats share the journal: the messages of each are counted.
    Count(Answers),
    /// In a proof of recovery.
    Burn(Fuse, Option<Answers>),
}

/// A message of a group ([`Output::post_group`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posted<'a> {
    /// Its topic.
    pub topic: u32,
    /// Its id.
    pub message_id: u16,
    /// The encoded message.
    pub payload: &'a [u8],
}

#[derive(Debug)]
struct Kept {
    message_id: u16,
    topic: u32,
    payload: Box<[u8]>,
    /// The next message becomes visible in the same commit.
    has_next: bool,
}

impl Kept {
    fn posted(&self) -> Posted<'_> {
        Posted { topic: self.topic, message_id: self.message_id, payload: &self.payload }
    }
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
            after: After::Nothing,
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
                self.backlog.push_back(Kept { message_id, topic, payload: payload.into(), has_next: false });
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Commits these messages now in one piece, or keeps them and commits them in one piece before any later one: readers see
    /// all of them or none, even if this process is killed.
    ///
    /// ```no_run
    /// # use node::{Output, Posted, WriteError};
    /// # fn f(output: &mut Output, entry: &[u8], result: &[u8]) -> Result<(), WriteError> {
    /// let entry = Posted { topic: 0, message_id: 40, payload: entry };
    /// let result = Posted { topic: 0, message_id: 50, payload: result };
    /// output.post_group(&[entry, result])
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`WriteError::BatchFull`] when they are more than [`Output::longest_group`] bytes, and as [`Output::post_bytes`]. Nothing
    /// is committed or kept then.
    pub fn post_group(&mut self, group: &[Posted<'_>]) -> Result<(), WriteError> {
        let bytes: u64 = group.iter().map(|one| crate::frame_bytes(one.payload.len() as u64)).sum();
        if bytes > self.longest_group() {
            return Err(WriteError::BatchFull { max: self.longest_group() });
        }
        let written = self.flush().and_then(|()| self.write_group(group.iter().copied()));
        match written {
            Err(WriteError::Full { .. }) if self.backlog.len() + group.len() <= LONGEST_BACKLOG => {
                for (index, one) in group.iter().enumerate() {
                    let (message_id, topic, payload) = (one.message_id, one.topic, one.payload.into());
                    let has_next = index + 1 < group.len();
                    self.backlog.push_back(Kept { message_id, topic, payload, has_next });
                }
                Ok(())
            }
            written => written,
        }
    }

    /// Bytes in the journal of the longest group that one commit can make visible ([`frame_bytes`](crate::frame_bytes) of each
    /// message).
    pub fn longest_group(&self) -> u64 {
        self.writer.longest_batch()
    }

    /// True when nothing waits in the backlog and a group of so many bytes would be committed now.
    #[inline]
    pub fn has_room(&mut self, bytes: u64) -> bool {
        self.backlog.is_empty() && self.writer.has_room(bytes)
    }

    /// Commits these messages at once, or none.
    fn write_group<'a>(&mut self, group: impl Iterator<Item = Posted<'a>> + Clone) -> Result<(), WriteError> {
        let time = self.writer.now();
        let mut batch = self.writer.batch_at(time);
        for one in group.clone() {
            if let Err(error) = batch.push(one.message_id, one.topic, one.payload) {
                self.full += 1;
                return Err(error);
            }
        }
        let frames = batch.frames();
        batch.commit();
        group.for_each(|one| self.count(one.message_id, one.topic, one.payload));
        self.written += frames;
        self.committed();
        Ok(())
    }

    #[inline]
    fn write(&mut self, message_id: u16, topic: u32, payload: &[u8]) -> Result<Written, WriteError> {
        let written = self.writer.write(message_id, topic, payload);
        match written {
            Ok(_) => {
                self.count(message_id, topic, payload);
                self.written += 1;
                self.committed();
            }
            Err(_) => self.full += 1,
        }
        written
    }

    #[inline]
    fn count(&mut self, message_id: u16, topic: u32, payload: &[u8]) {
        let class = class_of(message_id, payload);
        self.writer.count(class);
        match &self.after {
            After::Nothing => {}
            After::Count(answers) | After::Burn(_, Some(answers)) => answers.count(topic, class),
            After::Burn(_, None) => {}
        }
    }

    #[inline]
    fn committed(&self) {
        if let After::Burn(fuse, _) = &self.after {
            fuse.burn(&self.journal);
        }
    }

    /// Each commit burns this fuse down from now on.
    pub(crate) fn light(&mut self, fuse: &Fuse) {
        let answers = match std::mem::replace(&mut self.after, After::Nothing) {
            After::Count(answers) | After::Burn(_, Some(answers)) => Some(answers),
            After::Nothing | After::Burn(_, None) => None,
        };
        self.after = After::Burn(fuse.clone(), answers);
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
        let answers = Answers::new(&node.registry, &journal, &self.tally(), seats)?;
        self.after = match std::mem::replace(&mut self.after, After::Nothing) {
            After::Burn(fuse, _) => After::Burn(fuse, Some(answers)),
            After::Nothing | After::Count(_) => After::Count(answers),
        };
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
            if frames > 0 {
                self.committed();
            }
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
            if kept.has_next {
                self.backlog.push_front(kept);
                self.flush_group()?;
            } else if let Err(error) = self.write(kept.message_id, kept.topic, &kept.payload) {
                self.backlog.push_front(kept);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Writes the first group of the kept messages, whole or not at all.
    fn flush_group(&mut self) -> Result<(), WriteError> {
        let mut kept = std::mem::take(&mut self.backlog);
        let length = kept.iter().take_while(|one| one.has_next).count() + 1;
        let written = self.write_group(kept.iter().take(length).map(Kept::posted));
        if written.is_ok() {
            drop(kept.drain(..length));
        }
        self.backlog = kept;
        written
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

    /// A group waits whole for the room of all of its messages, in its place among the others.
    #[test]
    fn a_group_is_committed_whole_also_after_it_has_waited_for_room() {
        let shape =
            JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
        let journal = Journal::in_memory(shape).unwrap();
        let mut reader = journal.gated(3).unwrap();
        let write = WriteAssignment { role: "drops".into(), journal: "t".into(), huge: None };
        let mut output =
            Output::new(&journal, journal.writer(0, Clock::monotonic()).unwrap(), &write).unwrap();
        let payload = [7; 80];
        let one = Posted { topic: 2, message_id: 1, payload: &payload };
        let other = Posted { topic: 3, message_id: 2, payload: &payload };
        // Room for two frames is left, and not for three.
        let frame = crate::frame_bytes(80);
        while output.has_room(3 * frame) {
            output.post_bytes(1, 0, &payload).unwrap();
        }
        let before = output.counts().0;
        output.post_group(&[one, other, one]).unwrap();
        output.post_bytes(9, 0, &payload).unwrap();
        assert_eq!((output.backlog(), output.counts().0, output.posted()), (4, before, before + 4));
        // One frame is read, then another: the gate opens for one at a time.
        let mut read = 0;
        while output.flush().is_err() {
            let written = output.counts().0 - before;
            assert!([0, 3].contains(&written), "{written} messages of a group are visible");
            assert!(reader.read().unwrap().is_some());
            read += 1;
        }
        assert!(read > 0);
        let mut last = Vec::new();
        while let Some(frame) = reader.read().unwrap() {
            last.push((frame.message_id, frame.topic, frame.time));
        }
        let group = &last[last.len() - 4..last.len() - 1];
        assert_eq!(
            group.iter().map(|(id, topic, _)| (*id, *topic)).collect::<Vec<_>>(),
            [(1, 2), (2, 3), (1, 2)]
        );
        assert!(group.iter().all(|(.., time)| *time == group[0].2), "one commit has one time");
        assert_eq!(last[last.len() - 1].0, 9);
        let long = vec![one; (output.longest_group() / frame + 1) as usize];
        let posted = output.posted();
        assert!(matches!(output.post_group(&long), Err(WriteError::BatchFull { .. })));
        assert_eq!(output.posted(), posted);
    }

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
