//! Frames by class: the contents of a journal, counted where they are written, for as long as the journal exists.
//!
//! A count in a process is lost with it. These counts are in the journal's control page, and a successor adds what a
//! killed writer did not count: see [`Journal::uncounted`](journal::Journal::uncounted). So they cover everything that
//! the journal ever held, by all writers.

use std::mem::offset_of;

use journal::layout::control::CLASSES;
use journal::{Journal, OpenError, WriterState};
use wire::{
    Best, BookEvent, CancelAll, CancelOrder, Fill, Message, NewOrder, OrderStatus, OrderUpdate, Quote,
    ReplaceOrder, TradePrint,
};

/// Offset of the status in the bytes of an update.
const STATUS: usize = offset_of!(OrderUpdate, status);
/// Class of everything that is not counted separately.
const OTHERS: usize = CLASSES - 1;

/// The class of a message, in `docs/journal-format.md`.
#[inline]
pub fn class_of(message_id: u16, payload: &[u8]) -> usize {
    match message_id {
        Quote::ID | Best::ID | NewOrder::ID | Fill::ID => 0,
        TradePrint::ID | CancelOrder::ID | CancelAll::ID => 1,
        BookEvent::ID | ReplaceOrder::ID => 2,
        OrderUpdate::ID => match payload.get(STATUS) {
            Some(&status) if status == OrderStatus::Rejected as u8 => 1,
            Some(&status) if status == OrderStatus::CancelRejected as u8 => 2,
            Some(&status) if status == OrderStatus::ReplaceRejected as u8 => 3,
            _ => OTHERS,
        },
        _ => OTHERS,
    }
}

/// Frames of a journal since it was created, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally(pub(crate) [u64; CLASSES]);

impl Tally {
    /// What a journal has held since it was made. Exact where nobody writes it at the moment; else it may lack what is
    /// being committed.
    ///
    /// # Errors
    /// [`OpenError`] when its last frames cannot be read.
    pub fn of(journal: &Journal) -> Result<Tally, OpenError> {
        let stat = journal.stat();
        let mut tally = Tally(stat.tally);
        if !matches!(stat.writer, WriterState::Attached(_)) {
            journal.uncounted(|frame| tally.0[class_of(frame.message_id, frame.payload)] += 1)?;
        }
        Ok(tally)
    }

    /// Of `md.quotes`: quotes; of `md.best`: bests.
    pub fn quotes(&self) -> u64 {
        self.0[0]
    }

    /// Of `md.quotes` or `md.best`: trade prints.
    pub fn trades(&self) -> u64 {
        self.0[1]
    }

    /// Of `md.flow`: order-flow events.
    pub fn book_events(&self) -> u64 {
        self.0[2]
    }

    /// Of a strategy's requests: new orders.
    pub fn orders(&self) -> u64 {
        self.0[0]
    }

    /// Of a strategy's requests: cancels.
    pub fn cancels(&self) -> u64 {
        self.0[1]
    }

    /// Of a strategy's requests: replaces.
    pub fn replaces(&self) -> u64 {
        self.0[2]
    }

    /// Of executions and reports: fills.
    pub fn fills(&self) -> u64 {
        self.0[0]
    }

    /// Of executions and reports: orders that were refused.
    pub fn rejected(&self) -> u64 {
        self.0[1]
    }

    /// Of executions and reports: cancels that were refused.
    pub fn cancels_rejected(&self) -> u64 {
        self.0[2]
    }

    /// Of executions and reports: replaces that were refused.
    pub fn replaces_rejected(&self) -> u64 {
        self.0[3]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_refusal_has_a_class_of_its_own() {
        let class = |status: OrderStatus| {
            let mut update = [0; OrderUpdate::SIZE];
            update[STATUS] = status as u8;
            class_of(OrderUpdate::ID, &update)
        };
        let classes: Vec<usize> =
            [OrderStatus::Rejected, OrderStatus::CancelRejected, OrderStatus::ReplaceRejected]
                .map(class)
                .to_vec();
        assert_eq!(classes, [1, 2, 3]);
        assert_eq!(class(OrderStatus::Accepted), OTHERS);
        assert_eq!(class_of(OrderUpdate::ID, b"short"), OTHERS);
        assert_eq!(class_of(Fill::ID, b""), 0);
        let tally = Tally([5, 1, 2, 3, 9]);
        assert_eq!((tally.fills(), tally.rejected(), tally.cancels_rejected()), (5, 1, 2));
        assert_eq!(tally.replaces_rejected(), 3);
    }
}
