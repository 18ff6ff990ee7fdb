//! What waits for one client: pure. The platform's events and accounts are never left out, and own orders wait in the history that
//! all share where there is no room here; trades are left out then; of quotes the latest of each instrument waits. Whatever is
//! left out is announced where it would have stood.

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

/// What a client is told next.
#[derive(Debug)]
pub(crate) enum Next {
    /// A frame, and whether it counts.
    Frame(Shared, bool),
    /// An announcement.
    Lost(Lost),
}

/// Of one kind of messages, in their order.
#[derive(Debug)]
enum Waiting<T> {
    Message(T),
    Lost(Lost),
}

/// Market data never takes more than half of the room, so that what is urgent has the other one.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Answers, which are not counted, and P0 and P1, which are.
    first: VecDeque<Waiting<(Shared, bool)>>,
    first_bytes: usize,
    trades: VecDeque<Waiting<Shared>>,
    /// Quotes by instrument, and in which order the instruments came.
    quotes: HashMap<u32, Shared>,
    turns: VecDeque<Waiting<u32>>,
    market_bytes: usize,
    most: usize,
    pub(crate) counts: Counts,
}

impl Queue {
    pub(crate) fn new(most: usize) -> Queue {
        Queue { most, ..Queue::default() }
    }

    /// Something that goes before market data waits.
    pub(crate) fn has_urgent(&self) -> bool {
        !self.first.is_empty()
    }

    /// An answer to the client itself, or a control frame.
    pub(crate) fn answer(&mut self, frame: Shared) -> Result<(), Overflow> {
        self.demand(frame.len())?;
        self.first_bytes += frame.len();
        self.first.push_back(Waiting::Message((frame, false)));
        Ok(())
    }

    /// Is there room for so many more bytes of this channel? Own orders leave half of theirs to what has no history.
    pub(crate) fn fits(&self, channel: Channel, bytes: usize) -> bool {
        match channel {
            Channel::Orders => self.first_bytes + bytes <= self.most / 4,
            Channel::Accounts | Channel::Platform => self.demand(bytes).is_ok(),
            Channel::Trades | Channel::Quotes => self.market_bytes + bytes <= self.most / 2,
        }
    }

    fn demand(&self, bytes: usize) -> Result<(), Overflow> {
        if self.first_bytes + bytes > self.most / 2 { Err(Overflow) } else { Ok(()) }
    }

    /// A message of a channel. One of own orders is for who has seen that it fits.
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
                self.first.push_back(Waiting::Message((Arc::clone(frame), true)));
                self.first_bytes += length;
            }
            Channel::Trades => {
                if !self.fits(channel, length) {
                    self.loses(channel, sequence);
                    return Ok(());
                }
                self.trades.push_back(Waiting::Message(Arc::clone(frame)));
                self.market_bytes += length;
            }
            Channel::Quotes => {
                if let Some(waiting) = self.quotes.get_mut(&key) {
                    self.market_bytes = self.market_bytes - waiting.len() + length;
                    *waiting = Arc::clone(frame);
                    self.counts.conflated += 1;
                    return Ok(());
                }
                if !self.fits(channel, length) {
                    self.loses(channel, sequence);
                    return Ok(());
                }
                self.quotes.insert(key, Arc::clone(frame));
                self.turns.push_back(Waiting::Message(key));
                self.market_bytes += length;
            }
        }
        self.counts.queued += 1;
        Ok(())
    }

    /// Messages that wait elsewhere: they are published, and in no queue yet.
    pub(crate) fn waits(&mut self, count: u64) {
        self.counts.published += count;
        self.counts.queued += count;
    }

    /// One of these comes here.
    pub(crate) fn fetched(&mut self, frame: &Shared) {
        self.first_bytes += frame.len();
        self.first.push_back(Waiting::Message((Arc::clone(frame), true)));
    }

    /// So many of these are not wanted any more.
    pub(crate) fn unwanted(&mut self, count: u64) {
        self.counts.queued -= count;
        self.counts.dropped += count;
    }

    fn loses(&mut self, channel: Channel, sequence: u64) {
        self.counts.dropped += 1;
        self.announce(Lost { channel, from: sequence, to: sequence });
    }

    /// Something was lost, before it could be counted for this client or here: what comes is behind it.
    pub(crate) fn announce(&mut self, lost: Lost) {
        match lost.channel {
            Channel::Trades => behind(&mut self.trades, lost),
            Channel::Quotes => behind(&mut self.turns, lost),
            Channel::Orders | Channel::Accounts | Channel::Platform => behind(&mut self.first, lost),
        }
    }

    /// What goes next, the most urgent first.
    pub(crate) fn pop(&mut self) -> Option<Next> {
        match self.first.pop_front() {
            Some(Waiting::Message((frame, counts))) => {
                self.first_bytes -= frame.len();
                return Some(Next::Frame(frame, counts));
            }
            Some(Waiting::Lost(lost)) => return Some(Next::Lost(lost)),
            None => {}
        }
        let frame = match self.trades.pop_front() {
            Some(Waiting::Message(frame)) => frame,
            Some(Waiting::Lost(lost)) => return Some(Next::Lost(lost)),
            None => match self.turns.pop_front()? {
                Waiting::Message(key) => self.quotes.remove(&key)?,
                Waiting::Lost(lost) => return Some(Next::Lost(lost)),
            },
        };
        self.market_bytes -= frame.len();
        Some(Next::Frame(frame, true))
    }

    /// Nothing of it is told any more.
    pub(crate) fn clear(&mut self) {
        let counts = self.counts.ended();
        *self = Queue { counts, ..Queue::new(self.most) };
    }

    /// A frame that counts has left.
    pub(crate) fn delivered(&mut self) {
        self.counts.queued -= 1;
        self.counts.delivered += 1;
    }
}

/// Behind all that waits; next to another loss of its channel it is one with that.
fn behind<T>(waiting: &mut VecDeque<Waiting<T>>, lost: Lost) {
    match waiting.back_mut() {
        Some(Waiting::Lost(last)) if last.channel == lost.channel => {
            (last.from, last.to) = (last.from.min(lost.from), last.to.max(lost.to));
        }
        _ => waiting.push_back(Waiting::Lost(lost)),
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
                0 => drop(queue.push(Channel::Platform, 1, sequence, &frame(90))),
                1 | 2 => drop(queue.push(Channel::Trades, 1, sequence, &frame(50))),
                3..=5 => drop(queue.push(Channel::Quotes, (seed >> 40) as u32 % 9, sequence, &frame(120))),
                _ => match queue.pop() {
                    Some(Next::Frame(_, true)) => queue.delivered(),
                    Some(Next::Lost(_)) => lost += 1,
                    _ => {}
                },
            }
            assert!(queue.first_bytes <= 500 && queue.market_bytes <= 500);
            holds(&queue);
        }
        assert!(
            lost > 10 && queue.counts.conflated > 100 && queue.counts.delivered > 100,
            "{:?}",
            queue.counts
        );
    }

    #[test]
    fn what_is_urgent_goes_first_and_has_room_whatever_the_market_does() {
        let mut queue = Queue::new(200);
        queue.push(Channel::Quotes, 1, 1, &frame(60)).unwrap();
        for sequence in 2..9 {
            queue.push(Channel::Trades, 1, sequence, &frame(20)).unwrap();
        }
        assert!(queue.fits(Channel::Orders, 50) && !queue.fits(Channel::Orders, 51));
        queue.push(Channel::Orders, 1, 9, &frame(10)).unwrap();
        queue.push(Channel::Platform, 1, 10, &frame(90)).unwrap();
        assert_eq!(queue.push(Channel::Platform, 1, 11, &frame(1)), Err(Overflow));
        let told: Vec<_> = std::iter::from_fn(|| queue.pop())
            .map(|next| match next {
                Next::Frame(frame, _) => frame.len() as u64,
                Next::Lost(lost) => lost.from * 1_000 + lost.to,
            })
            .collect();
        assert_eq!(told, [10, 90, 20, 20, 4_008, 60]);
    }

    #[test]
    fn a_loss_is_announced_where_it_happened() {
        let mut queue = Queue::new(200);
        let mut sequences = 1..;
        let mut fill = |queue: &mut Queue, count: usize| {
            for sequence in sequences.by_ref().take(count) {
                queue.push(Channel::Trades, 1, sequence, &vec![sequence as u8; 25].into()).unwrap();
            }
        };
        fill(&mut queue, 6);
        assert!(matches!(queue.pop(), Some(Next::Frame(frame, true)) if frame[0] == 1));
        fill(&mut queue, 3);
        let mut last = 1;
        while let Some(next) = queue.pop() {
            let (from, to) = match next {
                Next::Frame(frame, _) => (u64::from(frame[0]), u64::from(frame[0])),
                Next::Lost(lost) => (lost.from, lost.to),
            };
            assert_eq!(from, last + 1, "each in its place, and nothing twice");
            last = to;
        }
        assert_eq!(last, 9);
    }

    #[test]
    fn of_quotes_the_latest_waits() {
        let mut queue = Queue::new(100);
        for sequence in 0..10 {
            queue.push(Channel::Quotes, 1, sequence, &vec![sequence as u8; 10].into()).unwrap();
        }
        let Some(Next::Frame(latest, true)) = queue.pop() else { panic!("nothing waits") };
        assert_eq!((latest[0], queue.counts.conflated), (9, 9));
        assert!(queue.pop().is_none());
    }
}
