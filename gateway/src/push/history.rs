//! Own orders that clients can come back for: the latest events, and what was lost between them. Pure.
//!
//! The sequences of the orders that a client receives ascend, in live events, in those out of the history, and in reports of before
//! that a new gateway reads again. Each order is delivered once, or lies in an announced gap, and no gap reaches back to what the
//! client has. A recovered platform is another stream: a client of an earlier one gets a reset, and then all of this one.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::client::{Client, End, OVERFLOW, Resume};
use super::event::{Channel, Event};
use super::hub::Known;
use super::queue::Lost;

/// Events about own orders that a client can come back for.
const MOST: usize = 65_536;

#[derive(Debug)]
enum Kept {
    Event(Arc<Event>),
    /// Nothing is known of the sequences up to `to`.
    Lost {
        to: u64,
    },
}

impl Kept {
    fn end(&self) -> u64 {
        match self {
            Kept::Event(event) => event.sequence,
            Kept::Lost { to } => *to,
        }
    }
}

#[derive(Debug)]
pub(crate) struct History {
    /// In the order of their sequences.
    kept: VecDeque<Kept>,
    most: usize,
    /// Events up to this one are not there any more.
    forgotten: u64,
}

impl Default for History {
    fn default() -> History {
        History { kept: VecDeque::new(), most: MOST, forgotten: 0 }
    }
}

impl History {
    fn keep(&mut self, kept: Kept) {
        if self.kept.len() >= self.most
            && let Some(oldest) = self.kept.pop_front()
        {
            self.forgotten = oldest.end();
        }
        self.kept.push_back(kept);
    }

    pub(crate) fn add(&mut self, event: Arc<Event>) {
        self.keep(Kept::Event(event));
    }

    /// Nothing is known of the sequences up to `to`, behind all that is there.
    pub(crate) fn lost(&mut self, to: u64) {
        match self.kept.back_mut() {
            Some(Kept::Lost { to: last }) => *last = (*last).max(to),
            None => self.forgotten = self.forgotten.max(to),
            Some(_) => self.keep(Kept::Lost { to }),
        }
    }

    fn behind(&self, sequence: u64) -> impl Iterator<Item = &Kept> {
        let known = self.kept.partition_point(|kept| kept.end() <= sequence);
        self.kept.range(known..)
    }

    fn count_wanted(&self, client: &Client, from: u64, until: u64) -> u64 {
        let missed = self.behind(from).take_while(|kept| kept.end() <= until);
        let is_wanted =
            |kept: &&Kept| matches!(kept, Kept::Event(event) if client.wants(Channel::Orders, event.key));
        missed.filter(is_wanted).count() as u64
    }

    /// A client wants its orders: those behind a sequence, which come out of the history as it takes them, or those that are still to
    /// come.
    ///
    /// | the sequence | the client gets |
    /// |---|---|
    /// | 0 | all reports of this stream |
    /// | of this stream, up to its last | the reports behind it |
    /// | of this stream, beyond its last | no client has had it: a reset, and all reports of this stream |
    /// | of another stream | the same: a recovered journal has other reports at the sequences that the disk had not |
    pub(crate) fn begins(&self, client: &mut Client, wish: &Resume, known: &Known) -> Result<(), End> {
        let Some(mut from) = wish.from else {
            if wish.is_new {
                client.reached = known.last();
            }
            return Ok(());
        };
        let is_of_this = wish.stream.as_ref().is_some_and(|stream| *stream == known.positions().to_string());
        if from > 0 && !(is_of_this && from <= known.last()) {
            client.resets()?;
            from = 0;
        }
        // It may ask for what it had before.
        client.reached = from;
        if from < self.forgotten {
            client.lost(Lost { channel: Channel::Orders, from: from + 1, to: self.forgotten });
        }
        let from = from.max(self.forgotten);
        let count = self.count_wanted(client, from, client.behind.unwrap_or(u64::MAX));
        client.resumes(from, count);
        Ok(())
    }

    /// What a client waits for in the history, after it has changed its subscriptions.
    pub(crate) fn recount(&self, client: &mut Client) {
        let Some(behind) = client.behind else { return };
        let count = self.count_wanted(client, behind, u64::MAX);
        client.recounts(count);
    }

    /// Gives a client what waits for it in the history, as far as there is room.
    pub(crate) fn catch_up(&self, client: &mut Client, now: Instant) -> Result<(), End> {
        while let Some(behind) = client.behind {
            if client.is_blocked {
                return Ok(());
            }
            if behind < self.forgotten {
                return Err(End::Close(
                    OVERFLOW,
                    "you read too slowly: resume by the last sequence of your orders",
                ));
            }
            let (mut reached, mut is_done) = (behind, true);
            for kept in self.behind(behind) {
                match kept {
                    Kept::Event(event) if client.wants(Channel::Orders, event.key) => {
                        if !client.fetch(event) {
                            is_done = false;
                            break;
                        }
                    }
                    Kept::Event(_) => {}
                    Kept::Lost { to } => {
                        client.announce(Lost { channel: Channel::Orders, from: reached + 1, to: *to });
                    }
                }
                reached = kept.end();
            }
            client.reached = client.reached.max(reached);
            client.behind = if is_done { None } else { Some(reached) };
            client.write(now)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
