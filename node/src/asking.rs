//! How a strategy requests its state from the ledger: by a word in its own seat, so that the request stays until it is
//! answered, even if either process dies meanwhile.
//!
//! ```text
//!   0          no request since it registered
//!   2 n + 1    request number n is waiting
//!   2 n        request number n is answered, or no longer waits
//! ```
//!
//! Both sides are components, which know neither each other nor the registry: so the words are handled here, beside the other
//! words of a seat.
//!
//! The requesting node joins the answer's journal first, and repeats the request if it is overtaken there. After a
//! change of the word it wakes the ledger ([`journal::wait::wake`]); a ledger that is about to sleep looks at the words once
//! more ([`Component::is_wanted`](crate::Component::is_wanted)), as it does at its journals.

use crate::handle::NodeHandle;

/// State of a seat's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It has not made a request yet.
    Nothing,
    /// It waits for the answer to the request of this number, from 1 on.
    Waits(u64),
    /// It no longer waits.
    Settled,
}

impl Asked {
    fn from_word(word: u64) -> Asked {
        match (word, word % 2) {
            (0, _) => Asked::Nothing,
            (_, 1) => Asked::Waits(word / 2),
            _ => Asked::Settled,
        }
    }
}

impl NodeHandle {
    /// Sends a request to the node in `whom`, or repeats it.
    pub fn ask(&self, whom: u32) {
        if let Some(seat) = self.registry.occupy(self.seat) {
            let asked = seat.asked() / 2;
            seat.set_asked((asked + 1) * 2 + 1);
        }
        journal::wait::wake(&self.registry, whom);
    }

    /// Ends the wait for the answer of the node in `whom`.
    pub fn settle(&self, whom: u32) {
        if let Some(seat) = self.registry.occupy(self.seat) {
            // Also if it has made no request: it has nothing to wait for.
            seat.set_asked((seat.asked() / 2).max(1) * 2);
        }
        journal::wait::wake(&self.registry, whom);
    }

    /// The request of the node in `seat`.
    #[inline]
    pub fn asked_by(&self, seat: u32) -> Asked {
        self.registry.seat(seat).map_or(Asked::Nothing, |seat| Asked::from_word(seat.asked()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_as_drawn() {
        let words = [0, 2, 3, 5, 4];
        let meant = [Asked::Nothing, Asked::Settled, Asked::Waits(1), Asked::Waits(2), Asked::Settled];
        assert_eq!(words.map(Asked::from_word), meant);
    }
}
