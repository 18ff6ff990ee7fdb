//! The drop copy: written in the order in which things took effect, each once, and all that one event has caused in one commit.
//!
//! A request is copied once it is committed to `td.orders`, and what comes behind it waits: if td is killed, a successor finds
//! the requests that were sent and not copied at the end of `td.orders`, and none that was copied and not sent.
//!
//! A successor copies the executions again that wait, so `matching.executions` is kept from the oldest of them on. They wait for room in
//! `td.orders`, which matching makes, and matching needs room in `matching.executions`: where that becomes scarce, executions are
//! copied before the requests that they wait for.

use std::collections::VecDeque;

use node::{Output, Posted, WriteError, frame_bytes};
use wire::{
    AccountChange, AccountLimit, AccountOpen, ContractTerms, EntryResult, FeeRule, MarginRule, Message,
    NewOrder, OrderUpdate,
};

use super::unreported::execution_of;

/// Nothing is taken while the drop copy has less room than this: the frames of one event.
const ROOM: u64 = 4_096;
/// An order can pull down its account's switch, its group's, its strategy's and the platform's.
const MOST_KILLS: u64 = 4;
const _: () = {
    const fn of<M: Message>() -> u64 {
        frame_bytes(size_of::<M>() as u64)
    }
    assert!(of::<NewOrder>() + of::<OrderUpdate>() + MOST_KILLS * of::<AccountChange>() <= ROOM);
    let entries = [
        of::<AccountOpen>(),
        of::<AccountChange>(),
        of::<AccountLimit>(),
        of::<FeeRule>(),
        of::<MarginRule>(),
        of::<ContractTerms>(),
    ];
    let mut index = 0;
    while index < entries.len() {
        assert!(entries[index] + of::<EntryResult>() <= ROOM);
        index += 1;
    }
};

/// The frames of one event, which wait for a request before them.
#[derive(Debug)]
struct Held {
    /// Topic, id and payload of each, as they will be written.
    frames: Vec<(u32, u16, Vec<u8>)>,
    /// Position of the execution, if it is one.
    execution: Option<u64>,
    /// It may be written once so many messages are committed to `td.orders`.
    after: u64,
}

/// How far `td.orders` is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// Messages that are committed.
    committed: u64,
    /// With those that wait for room.
    posted: u64,
}

impl Sent {
    pub(super) fn of(orders: &Output) -> Sent {
        Sent { committed: orders.counts().0, posted: orders.posted() }
    }
}

/// What waits for requests, in the order in which it took effect.
#[derive(Debug, Default)]
struct Queue(VecDeque<Held>);

impl Queue {
    /// The next that waits no more.
    fn next(&mut self, committed: u64) -> Option<Held> {
        let is_sent = self.0.front().is_some_and(|held| held.after <= committed);
        if is_sent { self.0.pop_front() } else { None }
    }

    /// The executions, which then wait no more.
    fn executions(&mut self) -> Vec<Held> {
        let (executions, others) =
            std::mem::take(&mut self.0).into_iter().partition(|held| held.execution.is_some());
        self.0 = others;
        Vec::from(executions)
    }

    fn oldest_execution(&self) -> Option<u64> {
        self.0.iter().find_map(|held| held.execution)
    }
}

/// The writing end of the drop copy.
#[derive(Debug)]
pub(super) struct Drops {
    output: Output,
    held: Queue,
}

impl Drops {
    pub(super) fn new(output: Output) -> Drops {
        Drops { output, held: Queue::default() }
    }

    /// Writes the frames of one event in one commit, or keeps them while a request before them is not committed.
    pub(super) fn add(&mut self, event: &[Posted<'_>], execution: Option<u64>, sent: Sent) {
        if sent.committed == sent.posted && self.held.0.is_empty() {
            post(&mut self.output, event);
        } else {
            let frames = event.iter().map(|one| (one.topic, one.message_id, one.payload.to_vec()));
            self.held.0.push_back(Held { frames: frames.collect(), execution, after: sent.posted });
        }
    }

    /// Writes what waits up to the next request that is not committed. False while something still waits for room.
    pub(super) fn write(&mut self, sent: Sent) -> bool {
        while let Some(held) = self.held.next(sent.committed) {
            self.post_held(&held);
        }
        self.output.backlog() == 0 || !matches!(self.output.flush(), Err(WriteError::Full { .. }))
    }

    /// Writes the executions that wait behind requests, before these: their ring is needed.
    pub(super) fn write_executions(&mut self) {
        for held in self.held.executions() {
            self.post_held(&held);
        }
    }

    fn post_held(&mut self, held: &Held) {
        let event: Vec<Posted<'_>> = held
            .frames
            .iter()
            .map(|(topic, message_id, payload)| Posted { topic: *topic, message_id: *message_id, payload })
            .collect();
        post(&mut self.output, &event);
    }

    /// True when its ring has no room for the next event: nothing may take effect then.
    pub(super) fn is_full(&mut self) -> bool {
        !self.output.has_room(ROOM)
    }

    /// True while something waits for room in its ring.
    pub(super) fn waits_for_room(&self) -> bool {
        self.output.backlog() > 0
    }

    /// True when all is written.
    pub(super) fn is_written(&self) -> bool {
        self.held.0.is_empty() && self.output.backlog() == 0
    }

    /// The oldest execution that a successor would have to copy again.
    pub(super) fn oldest_execution(&self) -> Option<u64> {
        let for_room = self.output.kept().find_map(|(message_id, payload)| execution_of(message_id, payload));
        [for_room, self.oldest_behind_requests()].into_iter().flatten().min()
    }

    /// The oldest execution that waits for a request.
    pub(super) fn oldest_behind_requests(&self) -> Option<u64> {
        self.held.oldest_execution()
    }

    /// Name of the journal.
    pub(super) fn journal(&self) -> &str {
        &self.output.journal
    }
}

/// What finds no room waits in the output; nothing more is taken until it is written.
fn post(output: &mut Output, event: &[Posted<'_>]) {
    let posted = match event {
        [one] => output.post_bytes(one.message_id, one.topic, one.payload),
        several => output.post_group(several),
    };
    if let Err(error) = posted {
        log::error!("`{}`: {} frames are lost: {error}", output.journal, event.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(number: u8, execution: Option<u64>, after: u64) -> Held {
        Held { frames: vec![(0, 0, vec![number])], execution, after }
    }

    fn numbers(held: impl IntoIterator<Item = Held>) -> Vec<u8> {
        held.into_iter().map(|held| held.frames[0].2[0]).collect()
    }

    #[test]
    fn what_waits_is_written_up_to_the_next_request_that_is_not_committed() {
        // Requests 7 and 9 wait for room in td.orders, an execution behind each.
        let events = [held(1, None, 7), held(2, Some(640), 7), held(3, None, 9), held(4, Some(704), 9)];
        let mut queue = Queue(events.into());
        let mut next = |committed| numbers(std::iter::from_fn(|| queue.next(committed)));
        assert_eq!(next(6), [0; 0]);
        assert_eq!(next(7), [1, 2]);
        assert_eq!(next(8), [0; 0]);
        assert_eq!(next(9), [3, 4]);
    }

    #[test]
    fn executions_are_taken_out_in_their_order_and_the_rest_waits_on() {
        let events = [held(1, None, 7), held(2, Some(640), 7), held(3, None, 9), held(4, Some(704), 9)];
        let mut queue = Queue(events.into());
        assert_eq!(queue.oldest_execution(), Some(640));
        assert_eq!(numbers(queue.executions()), [2, 4]);
        assert_eq!((queue.oldest_execution(), queue.next(6).is_none()), (None, true));
        assert_eq!(numbers(std::iter::from_fn(|| queue.next(9))), [1, 3]);
    }
}
