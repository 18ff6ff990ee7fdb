//! Puts messages in order, says what is missing, and gives up what does not come. Pure: packets and times come in.
//!
//! ```text
//!  packets ──► held, by number ──► Next::Message, in order
//!                  │
//!                  ├── a gap ──► Next::Ask, again and again ──► filled
//!                  └── open for too long without a message of it ──► Next::Lost
//! ```

use std::collections::BTreeMap;

use super::mold::{Head, Session, messages};

/// Messages that are held while one before them is missing; further ones are asked for again.
const MOST_HELD: usize = 1 << 18;
/// Messages that one request is for.
const MOST_ASKED: u64 = 2_000;
/// A request that nobody answers is repeated after so many ns.
const ASK_AGAIN: u64 = 5_000_000;

/// What came of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Packets of the session.
    pub packets: u64,
    /// Packets that are none, of another session, or do not hold what they say.
    pub foreign: u64,
    /// Messages that had come before.
    pub doubled: u64,
    /// Messages that came before one with a smaller number.
    pub early: u64,
    /// Gaps that were noticed.
    pub gaps: u64,
    /// Requests for what is missing.
    pub requests: u64,
    /// Messages that came only after a request.
    pub filled: u64,
    /// Messages that never came.
    pub lost: u64,
}

/// The next thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The message of this number.
    Message(u64, Vec<u8>),
    /// Messages from this number up to the other, which is not among them, do not come.
    Lost(u64, u64),
    /// To be sent to the server.
    Ask(Head),
    /// Nothing yet.
    Nothing,
    /// All have come, and the session is over.
    End,
}

/// The state of a session.
#[derive(Debug)]
pub(crate) struct Sequence {
    /// Not known until one is heard, unless only one is wanted.
    session: Option<Session>,
    /// The number that is due.
    next: u64,
    held: BTreeMap<u64, Vec<u8>>,
    /// Messages below this number exist.
    known: u64,
    is_over: bool,
    /// Since when the message that is due is missing.
    open_since: Option<u64>,
    asked: Option<u64>,
    /// Messages below this one have been asked for.
    asked_below: u64,
    /// How long a gap stays open, in ns.
    patience: u64,
    can_ask: bool,
    received: Received,
}

impl Sequence {
    pub(crate) fn new(session: Option<Session>, patience: u64, can_ask: bool) -> Sequence {
        Sequence {
            session,
            next: 1,
            held: BTreeMap::new(),
            known: 1,
            is_over: false,
            open_since: None,
            asked: None,
            asked_below: 0,
            patience,
            can_ask,
            received: Received::default(),
        }
    }

    pub(crate) fn received(&self) -> &Received {
        &self.received
    }

    /// The session, once it is known.
    pub(crate) fn session(&self) -> Option<Session> {
        self.session
    }

    /// Takes a packet, from the group or the server.
    pub(crate) fn packet(&mut self, packet: &[u8]) {
        let Some(head) = Head::read(packet) else {
            self.received.foreign += 1;
            return;
        };
        if *self.session.get_or_insert(head.session) != head.session {
            self.received.foreign += 1;
            return;
        }
        if head.is_end() {
            self.received.packets += 1;
            self.is_over = true;
            self.known = self.known.max(head.sequence);
            return;
        }
        let Some(messages) = messages(&head, packet) else {
            self.received.foreign += 1;
            return;
        };
        self.received.packets += 1;
        self.known = self.known.max(head.sequence + u64::from(head.count));
        for (number, message) in (head.sequence..).zip(messages) {
            if number < self.next || self.held.contains_key(&number) {
                self.received.doubled += 1;
            } else if self.held.len() < MOST_HELD || number == self.next {
                self.received.early += u64::from(number > self.next && self.held.is_empty());
                self.held.insert(number, message);
            }
        }
    }

    /// What is next, at this time in ns.
    pub(crate) fn next(&mut self, now: u64) -> Next {
        if let Some(message) = self.held.remove(&self.next) {
            let number = self.next;
            self.next += 1;
            self.received.filled += u64::from(number < self.asked_below);
            self.known = self.known.max(self.next);
            if self.open_since.is_some() {
                // What is missing behind it has its own time.
                self.open_since = (self.missing() > 0).then_some(now);
                self.asked = self.asked.filter(|_| self.next < self.asked_below);
            }
            return Next::Message(number, message);
        }
        let missing = self.missing();
        if missing == 0 {
            return if self.is_over { Next::End } else { Next::Nothing };
        }
        let since = *self.open_since.get_or_insert_with(|| {
            self.received.gaps += 1;
            now
        });
        if now.saturating_sub(since) >= self.patience {
            let (from, to) = (self.next, self.next + missing);
            self.received.lost += missing;
            self.next = to;
            (self.open_since, self.asked) = (None, None);
            return Next::Lost(from, to);
        }
        if let Some(session) = self.session.filter(|_| self.can_ask)
            && self.asked.is_none_or(|asked| now.saturating_sub(asked) >= ASK_AGAIN)
        {
            self.asked = Some(now);
            self.received.requests += 1;
            let count = missing.min(MOST_ASKED);
            self.asked_below = self.asked_below.max(self.next + count);
            return Next::Ask(Head { session, sequence: self.next, count: count as u16 });
        }
        Next::Nothing
    }

    /// How many messages are missing from the one that is due on.
    fn missing(&self) -> u64 {
        let end = self.held.keys().next().copied().unwrap_or(self.known);
        end.saturating_sub(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::super::mold::{END, packet, session};
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn all(count: u8) -> Vec<Vec<u8>> {
        (1..=count).map(|number| vec![number]).collect()
    }

    fn send(sequence: &mut Sequence, all: &[Vec<u8>], number: u64, count: usize) {
        sequence.packet(&packet(session("s").unwrap(), number, all, count).0);
    }

    fn over(sequence: &mut Sequence, next: u64) {
        sequence.packet(&Head { session: session("s").unwrap(), sequence: next, count: END }.bytes());
    }

    fn drain(sequence: &mut Sequence, now: u64) -> (Vec<u64>, Next) {
        let mut numbers = Vec::new();
        loop {
            match sequence.next(now) {
                Next::Message(number, bytes) => {
                    assert_eq!(bytes, [number as u8]);
                    numbers.push(number);
                }
                other => return (numbers, other),
            }
        }
    }

    #[test]
    fn order_and_doubles_do_not_matter() {
        let (all, mut sequence) = (all(6), Sequence::new(None, SECOND, true));
        for (number, count) in [(1, 2), (5, 2), (1, 3), (3, 2)] {
            send(&mut sequence, &all, number, count);
        }
        over(&mut sequence, 7);
        assert_eq!(drain(&mut sequence, 0), (vec![1, 2, 3, 4, 5, 6], Next::End));
        let Received { doubled, lost, requests, .. } = *sequence.received();
        assert_eq!((doubled, lost, requests), (3, 0, 0));
    }

    #[test]
    fn a_gap_is_asked_for_until_it_is_filled() {
        let (all, mut sequence) = (all(6), Sequence::new(None, SECOND, true));
        send(&mut sequence, &all, 4, 2);
        let ask = Head { session: session("s").unwrap(), sequence: 1, count: 3 };
        assert_eq!(sequence.next(0), Next::Ask(ask));
        assert_eq!(sequence.next(1), Next::Nothing, "it has been asked for");
        assert_eq!(sequence.next(ASK_AGAIN), Next::Ask(ask));
        send(&mut sequence, &all, 1, 1);
        assert_eq!(drain(&mut sequence, ASK_AGAIN).0, [1]);
        send(&mut sequence, &all, 2, 2);
        assert_eq!(drain(&mut sequence, ASK_AGAIN), (vec![2, 3, 4, 5], Next::Nothing));
        let Received { gaps, requests, filled, lost, .. } = *sequence.received();
        assert_eq!((gaps, requests, filled, lost), (1, 2, 3, 0));
    }

    #[test]
    fn what_a_heartbeat_or_the_end_says_to_exist_is_missed_too() {
        let (all, mut sequence) = (all(6), Sequence::new(None, SECOND, true));
        send(&mut sequence, &all, 1, 2);
        sequence.packet(&Head { session: session("s").unwrap(), sequence: 4, count: 0 }.bytes());
        let (numbers, next) = drain(&mut sequence, 0);
        assert_eq!(numbers, [1, 2]);
        assert!(matches!(next, Next::Ask(Head { sequence: 3, count: 1, .. })), "{next:?}");
        over(&mut sequence, 7);
        assert_eq!(sequence.next(SECOND), Next::Lost(3, 7));
        assert_eq!((sequence.next(SECOND), sequence.received().lost), (Next::End, 4));
    }

    #[test]
    fn patience_is_for_what_does_not_come_and_not_for_what_comes_slowly() {
        let (all, mut sequence) = (all(6), Sequence::new(None, SECOND, true));
        send(&mut sequence, &all, 5, 1);
        for number in 1..=3 {
            let now = number * SECOND * 9 / 10;
            sequence.next(now);
            send(&mut sequence, &all, number, 1);
            assert_eq!(drain(&mut sequence, now).0, [number]);
        }
        let now = 3 * SECOND;
        assert_ne!(sequence.next(now), Next::Lost(4, 5));
        assert_eq!(sequence.next(now + SECOND), Next::Lost(4, 5));
        assert_eq!(drain(&mut sequence, now + SECOND), (vec![5], Next::Nothing));
    }

    #[test]
    fn without_a_server_nothing_is_asked_and_foreign_packets_change_nothing() {
        let (all, mut sequence) = (all(6), Sequence::new(session("s"), SECOND, false));
        sequence.packet(&packet(session("other").unwrap(), 1, &all, 3).0);
        sequence.packet(b"hello");
        let (mut cut, _) = packet(session("s").unwrap(), 1, &all, 3);
        cut.pop();
        sequence.packet(&cut);
        assert_eq!((sequence.next(0), sequence.received().foreign), (Next::Nothing, 3));
        send(&mut sequence, &all, 2, 1);
        assert_eq!(sequence.next(0), Next::Nothing);
        assert_eq!(sequence.next(SECOND), Next::Lost(1, 2));
    }
}
