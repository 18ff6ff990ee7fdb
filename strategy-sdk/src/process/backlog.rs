//! The frames for a member that has not started yet, or has ended and may be restarted.

use std::collections::VecDeque;

use node::Frame;

use crate::session::Role;

/// Most messages of market data that are kept for one member: twice what 8,000 a second give in two seconds, the longest
/// wait for the ledger.
const MOST: usize = 1 << 15;

/// Frames in the order of their arrival, with their journals' numbers.
///
/// Only members that join a running process need it: when all are new, the frames stay in their journals. All reports are
/// kept, since they must not be lost; they are few.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    frames: VecDeque<(Role, u32, Kept)>,
    market: usize,
    /// Messages of market data that were dropped.
    dropped: u64,
}

/// A frame with a payload of its own.
#[derive(Debug)]
pub(super) struct Kept {
    position: u64,
    time: u64,
    message_id: u16,
    flags: u16,
    topic: u32,
    epoch: u32,
    payload: Box<[u8]>,
}

impl Kept {
    pub(super) fn new(frame: &Frame<'_>) -> Kept {
        let Frame { position, time, message_id, flags, topic, epoch, payload } = *frame;
        Kept { position, time, message_id, flags, topic, epoch, payload: payload.into() }
    }

    pub(super) fn frame(&self) -> Frame<'_> {
        let Kept { position, time, message_id, flags, topic, epoch, ref payload } = *self;
        Frame { position, time, message_id, flags, topic, epoch, payload }
    }
}

impl Backlog {
    /// Keeps a frame; beyond the limit the oldest market data is dropped.
    pub(super) fn keep(&mut self, role: Role, journal: u32, frame: &Frame<'_>) {
        if role.is_market() {
            if self.market == MOST {
                let oldest = self.frames.iter().position(|(role, ..)| role.is_market());
                oldest.and_then(|index| self.frames.remove(index));
                self.market -= 1;
                self.dropped += 1;
            }
            self.market += 1;
        }
        self.frames.push_back((role, journal, Kept::new(frame)));
    }

    /// Drops the market data: a successor has no use for it.
    pub(super) fn forget_market(&mut self) {
        self.frames.retain(|(role, ..)| !role.is_market());
        (self.market, self.dropped) = (0, 0);
    }

    /// Takes all frames, and the number of messages of market data that were dropped.
    pub(super) fn take(&mut self) -> (VecDeque<(Role, u32, Kept)>, u64) {
        let Backlog { frames, dropped, .. } = std::mem::take(self);
        (frames, dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(position: u64) -> Frame<'static> {
        Frame { position, time: 7, message_id: 1, flags: 0, topic: 2, epoch: 3, payload: &[1, 2] }
    }

    #[test]
    fn frames_come_back_as_they_were_and_in_order() {
        let mut backlog = Backlog::default();
        backlog.keep(Role::Quotes, 3, &frame(64));
        backlog.keep(Role::Reports, 4, &frame(128));
        let (frames, dropped) = backlog.take();
        let got: Vec<_> =
            frames.iter().map(|(role, journal, kept)| (*role, *journal, kept.frame())).collect();
        assert_eq!(got, [(Role::Quotes, 3, frame(64)), (Role::Reports, 4, frame(128))]);
        assert_eq!((dropped, backlog.take().0.len()), (0, 0));
    }

    #[test]
    fn beyond_the_limit_market_data_is_dropped_and_reports_stay() {
        let mut backlog = Backlog::default();
        backlog.keep(Role::Reports, 4, &frame(0));
        for position in 0..MOST as u64 + 5 {
            backlog.keep(Role::Quotes, 3, &frame(position));
        }
        let (frames, dropped) = backlog.take();
        assert_eq!((frames.len(), dropped), (MOST + 1, 5));
        assert_eq!((frames[0].0, frames[1].2.frame().position), (Role::Reports, 5));
    }
}
