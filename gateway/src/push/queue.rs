//! What waits for one client: pure. Own orders and the platform's events are never left out; trades are, where there is no room;
//! of quotes the latest of each instrument waits. Whatever is left out is announced.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde::Serialize;

use super::event::Channel;

/// A frame, shared by all to whom it goes.
pub(crate) type Shared = Arc<[u8]>;

/// The count of a client's messages: `published` is the sum of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    /// Messages that it has subscribed to.
    pub(crate) published: u64,
    /// Given to the system whole.
    pub(crate) delivered: u64,
    /// A later one came in its place.
    pub(crate) conflated: u64,
    /// Left out, and announced.
    pub(crate) dropped: u64,
    /// Waiting.
    pub(crate) queued: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: Counts) {
        self.published += other.published;
        self.delivered += other.delivered;
        self.conflated += other.conflated;
        self.dropped += other.dropped;
        self.queued += other.queued;
    }

    /// What still waited when its client went is left out.
    pub(crate) fn ended(mut self) -> Counts {
        self.dropped += std::mem::take(&mut self.queued);
        self
    }
}

/// There is no room for something that may not be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overflow;

/// A loss that is to be announced: up to and with `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) channel: Channel,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Answers and announcements, which are not counted, and P0 and P1, which are: in their order.
    first: VecDeque<(Shared, bool)>,
    trades: VecDeque<Shared>,
    /// Quotes by instrument, and in which order the instruments came.
    quotes: HashMap<u32, Shared>,
    turns: VecDeque<u32>,
    bytes: usize,
    most: usize,
    lost: Vec<Lost>,
    pub(crate) counts: Counts,
}

impl Queue {
    pub(crate) fn new(most: usize) -> Queue {
        Queue { most, ..Queue::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_empty() && self.trades.is_empty() && self.turns.is_empty() && self.lost.is_empty()
    }

    /// An answer to the client itself, or a control frame.
    pub(crate) fn answer(&mut self, frame: Shared) -> Result<(), Overflow> {
        self.demand(frame.len())?;
        self.bytes += frame.len();
        self.first.push_back((frame, false));
        Ok(())
    }

    /// Is there room for so many more?
    pub(crate) fn fits(&self, bytes: usize) -> bool {
        self.demand(bytes).is_ok()
    }

    fn demand(&self, bytes: usize) -> Result<(), Overflow> {
        if self.bytes + bytes > self.most { Err(Overflow) } else { Ok(()) }
    }

    /// A message of a channel.
    pub(crate) fn push(
        &mut self,
        channel: Channel,
        key: u32,
        sequence: u64,
        frame: &Shared,
    ) -> Result<(), Overflow> {
        self.counts.published += 1;
        let length = frame.len();
        match channel {
            Channel::Orders | Channel::Accounts | Channel::Platform => {
                if let Err(overflow) = self.demand(length) {
                    self.counts.dropped += 1;
                    return Err(overflow);
                }
                self.first.push_back((Arc::clone(frame), true));
            }
            Channel::Trades => {
                if self.demand(length).is_err() {
                    self.loses(channel, sequence);
                    return Ok(());
                }
                self.trades.push_back(Arc::clone(frame));
            }
            Channel::Quotes => {
                if let Some(waiting) = self.quotes.get_mut(&key) {
                    self.bytes -= waiting.len();
                    *waiting = Arc::clone(frame);
                    self.bytes += length;
                    self.counts.conflated += 1;
                    return Ok(());
                }
                if self.demand(length).is_err() {
                    self.loses(channel, sequence);
                    return Ok(());
                }
                self.quotes.insert(key, Arc::clone(frame));
                self.turns.push_back(key);
            }
        }
        self.bytes += length;
        self.counts.queued += 1;
        Ok(())
    }

    fn loses(&mut self, channel: Channel, sequence: u64) {
        self.counts.dropped += 1;
        self.announce(channel, sequence, sequence);
    }

    /// Something was lost, before it could be counted for this client or here.
    pub(crate) fn announce(&mut self, channel: Channel, from: u64, to: u64) {
        match self.lost.iter_mut().find(|lost| lost.channel == channel) {
            Some(lost) => (lost.from, lost.to) = (lost.from.min(from), lost.to.max(to)),
            None => self.lost.push(Lost { channel, from, to }),
        }
    }

    /// What is to be announced, once there is room for it.
    pub(crate) fn take_lost(&mut self) -> Vec<Lost> {
        std::mem::take(&mut self.lost)
    }

    /// The next frame, the most urgent first, and whether it counts.
    pub(crate) fn pop(&mut self) -> Option<(Shared, bool)> {
        let next = self.first.pop_front().or_else(|| self.trades.pop_front().map(|frame| (frame, true)));
        let next = next.or_else(|| {
            let key = self.turns.pop_front()?;
            self.quotes.remove(&key).map(|frame| (frame, true))
        })?;
        self.bytes -= next.0.len();
        Some(next)
    }

    /// A frame that counts has left.
    pub(crate) fn delivered(&mut self) {
        self.counts.queued -= 1;
        self.counts.delivered += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(length: usize) -> Shared {
        vec![0; length].into()
    }

    fn holds(queue: &Queue) {
        let counts = queue.counts;
        assert_eq!(
            counts.published,
            counts.delivered + counts.conflated + counts.dropped + counts.queued,
            "{counts:?}"
        );
    }

    #[test]
    fn every_message_is_delivered_conflated_dropped_or_queued_and_losses_are_announced() {
        let mut queue = Queue::new(1_000);
        let mut seed = 7_u64;
        let mut lost = 0;
        for sequence in 1..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match seed >> 61 {
                0 => drop(queue.push(Channel::Orders, 1, sequence, &frame(90))),
                1 | 2 => drop(queue.push(Channel::Trades, 1, sequence, &frame(50))),
                3..=5 => drop(queue.push(Channel::Quotes, (seed >> 40) as u32 % 9, sequence, &frame(120))),
                _ => {
                    if let Some((_, true)) = queue.pop() {
                        queue.delivered();
                    }
                }
            }
            assert!(queue.bytes <= 1_000);
            holds(&queue);
            lost += queue.take_lost().len();
        }
        assert!(
            lost > 10 && queue.counts.conflated > 100 && queue.counts.delivered > 100,
            "{:?}",
            queue.counts
        );
    }

    #[test]
    fn orders_go_first_and_are_never_left_out_silently() {
        let mut queue = Queue::new(100);
        queue.push(Channel::Quotes, 1, 1, &frame(30)).unwrap();
        queue.push(Channel::Trades, 1, 2, &frame(20)).unwrap();
        queue.push(Channel::Orders, 1, 3, &frame(10)).unwrap();
        assert_eq!(queue.push(Channel::Orders, 1, 4, &frame(50)), Err(Overflow));
        let lengths: Vec<usize> = std::iter::from_fn(|| queue.pop()).map(|(frame, _)| frame.len()).collect();
        assert_eq!(lengths, [10, 20, 30]);
    }

    #[test]
    fn of_quotes_the_latest_waits() {
        let mut queue = Queue::new(100);
        for sequence in 0..10 {
            queue.push(Channel::Quotes, 1, sequence, &vec![sequence as u8; 10].into()).unwrap();
        }
        let (latest, _) = queue.pop().unwrap();
        assert_eq!((latest[0], queue.counts.conflated, queue.pop()), (9, 9, None));
    }
}
