//! The drop copy: written in the order in which things took effect, each once.
//!
//! A request is copied once it is committed to `td.orders`, and what comes behind it waits: if td is killed, a successor finds
//! the requests that were sent and not copied at the end of `td.orders`, and none that was copied and not sent.

use std::collections::VecDeque;

use node::{Output, WriteError};

/// Frames that wait for a request before them, as they will be written.
#[derive(Debug)]
struct Held {
    topic: u32,
    message_id: u16,
    payload: Vec<u8>,
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

    /// Writes a frame, or keeps it while a request before it is not committed.
    pub(super) fn add(
        &mut self,
        (topic, message_id): (u32, u16),
        payload: &[u8],
        execution: Option<u64>,
        is_sent: bool,
    ) {
        if is_sent && self.held.is_empty() {
            // What finds no room waits in the output; nothing more is taken until it is written.
            let _ = self.output.post_bytes(message_id, topic, payload);
        } else {
            self.held.push_back(Held { topic, message_id, payload: payload.to_vec(), execution });
        }
    }

    /// Writes what waits, if all requests are committed. False while something still waits for room.
    pub(super) fn write(&mut self, is_sent: bool) -> bool {
        if is_sent {
            while let Some(held) = self.held.pop_front() {
                let _ = self.output.post_bytes(held.message_id, held.topic, &held.payload);
            }
        }
        self.output.backlog() == 0 || !matches!(self.output.flush(), Err(WriteError::Full { .. }))
    }

    /// True when its ring has no room: nothing may take effect then.
    pub(super) fn is_full(&self) -> bool {
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
