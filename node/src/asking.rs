//! How a strategy asks the ledger for its state: by a word in its own seat, so that the question stays until it is
//! answered, whoever dies meanwhile.
//!
//! ```text
//!   0          it has not asked since it registered
//!   2 n + 1    it has asked n times, and waits
//!   2 n        it has what it asked for, or does not wait any more
//! ```
//!
//! Whoever asks takes its place in the answer's journal first, and asks once more when it was overtaken there. A word
//! that changes is followed by a wake-up ([`journal::wake`]); a ledger that is about to sleep looks at the words once
//! more ([`Component::is_wanted`](crate::Component::is_wanted)), as it does at its journals.

use crate::handle::NodeHandle;

/// Where a seat stands with its question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It has not asked yet.
    Nothing,
    /// It waits, for the answer to the question of this number, from 1 on.
    Waits(u64),
    /// It does not wait any more.
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
    /// Asks the node in `whom`, or asks again.
    pub fn ask(&self, whom: u32) {
        if let Some(seat) = self.registry.occupy(self.seat) {
            let asked = seat.asked() / 2;
            seat.set_asked((asked + 1) * 2 + 1);
        }
        journal::wake(&self.registry, whom);
    }

    /// Waits no more for what it asked of the node in `whom`.
    pub fn settle(&self, whom: u32) {
        if let Some(seat) = self.registry.occupy(self.seat) {
            // Also one that has never asked: it has nothing to wait for.
            seat.set_asked((seat.asked() / 2).max(1) * 2);
        }
        journal::wake(&self.registry, whom);
    }

    /// What the node in `seat` asks.
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
