//! A sleeping reader.

use std::sync::Arc;

use journal::wait::{Parker, SAFETY_TIMEOUT, Wakeup, announce};
use journal::{Journal, LooseReader, ReadError, Topics};
use serde::{Deserialize, Serialize};

use super::share::{END, PATIENCE, Share, seat};
use crate::ipc::IpcError;

/// A frame older than this, in nanoseconds, that a time-out finds was missed.
const MISSED: u64 = 10_000_000;

/// The messages for which a reader is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Interest {
    /// Its own topic.
    Own,
    /// Every message.
    Everything,
}

/// What a reader received in one cell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Heard {
    /// From a message's due time until it was received, in nanoseconds.
    pub(super) latencies: Vec<u64>,
    pub(super) timeouts_with_data: u64,
}

#[derive(Debug)]
pub(super) struct Reader<'a> {
    share: &'a Share,
    journal: Journal,
    parker: Parker,
    topic: u32,
    seat: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(share: &'a Share, number: usize) -> Result<Reader<'a>, IpcError> {
        let seat = seat::READERS + number as u32;
        let no_seat = || IpcError::Peer(format!("has no seat {seat}"));
        let parker = Parker::new(Arc::clone(&share.registry), seat).ok_or_else(no_seat)?;
        Ok(Reader { share, journal: share.journal("news")?, parker, topic: number as u32, seat })
    }

    /// Ready for the next cell: from now on no message is missed.
    pub(super) fn prepare(&self, interest: Interest) -> Result<Ready<'_>, IpcError> {
        let own = [self.topic];
        self.journal.set_interest(self.seat, (interest == Interest::Own).then_some(&own))?;
        announce(&self.share.registry);
        let mut reader = self.journal.loose(self.seat)?;
        reader.set_topics(Topics::only([self.topic]));
        Ok(Ready { reader, owner: self, heard: Heard::default() })
    }
}

pub(super) struct Ready<'a> {
    reader: LooseReader,
    owner: &'a Reader<'a>,
    heard: Heard,
}

impl Ready<'_> {
    /// Sleeps and reads, as a parked node does, until the cell is over.
    pub(super) fn listen(&mut self) -> Result<Heard, IpcError> {
        let clock = self.owner.share.clock;
        let mut last = clock.now();
        loop {
            match self.reader.read() {
                Ok(Some(frame)) if frame.message_id == END => break,
                Ok(Some(frame)) => {
                    last = clock.now();
                    let due = frame.payload.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                    self.heard.latencies.push(last.saturating_sub(due));
                }
                Ok(None) => self.sleep(&mut last)?,
                // Under a storm of broadcasts the writer may lap this reader: lost messages stay lost.
                Err(ReadError::Lapped(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(std::mem::take(&mut self.heard))
    }

    fn sleep(&mut self, last: &mut u64) -> Result<(), IpcError> {
        if self.owner.parker.park(SAFETY_TIMEOUT, || self.reader.has_news()) != Some(Wakeup::TimedOut) {
            return Ok(());
        }
        let now = self.owner.share.clock.now();
        if let Ok(Some(time)) = self.reader.peek_time()
            && now.saturating_sub(time) > MISSED
        {
            self.heard.timeouts_with_data += 1;
        }
        if now.saturating_sub(*last) > PATIENCE.as_nanos() as u64 {
            return Err(IpcError::Peer("heard nothing".to_owned()));
        }
        Ok(())
    }
}
