//! The drop copy: written in the order in which things took effect, each once, and all that one event has caused in one commit.
//!
//! A request is copied once it is committed to `td.orders`, and what comes behind it waits: if td is killed, a successor finds
//! the requests that were sent and not copied at the end of `td.orders`, and none that was copied and not sent.

use std::collections::VecDeque;

use node::{Output, Posted, WriteError, frame_bytes};
use wire::{
    AccountChange, AccountLimit, AccountOpen, ContractTerms, EntryResult, FeeRule, MarginRule, Message,
    NewOrder, OrderUpdate,
};

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
}

/// The writing end of the drop copy.
#[derive(Debug)]
pub(super) struct Drops {
    output: Output,
    held: VecDeque<Held>,
}

impl Drops {
    pub(super) fn new(output: Output) -> Drops {
        Drops { output, held: VecDeque::new() }
    }

    /// Writes the frames of one event in one commit, or keeps them while a request before them is not committed.
    pub(super) fn add(&mut self, event: &[Posted<'_>], execution: Option<u64>, is_sent: bool) {
        if is_sent && self.held.is_empty() {
            post(&mut self.output, event);
        } else {
            let frames = event.iter().map(|one| (one.topic, one.message_id, one.payload.to_vec()));
            self.held.push_back(Held { frames: frames.collect(), execution });
        }
    }

    /// Writes what waits, if all requests are committed. False while something still waits for room.
    pub(super) fn write(&mut self, is_sent: bool) -> bool {
        if is_sent {
            while let Some(held) = self.held.pop_front() {
                let event: Vec<Posted<'_>> = held
                    .frames
                    .iter()
                    .map(|(topic, message_id, payload)| Posted {
                        topic: *topic,
                        message_id: *message_id,
                        payload,
                    })
                    .collect();
                post(&mut self.output, &event);
            }
        }
        self.output.backlog() == 0 || !matches!(self.output.flush(), Err(WriteError::Full { .. }))
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
        self.held.is_empty() && self.output.backlog() == 0
    }

    /// The oldest execution that a successor would have to read again.
    pub(super) fn oldest_execution(&self) -> Option<u64> {
        self.held.iter().find_map(|held| held.execution)
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
