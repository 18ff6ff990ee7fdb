//! What a strategy that runs is asked for by a person, and what it answers: see [`crate::intent`].

use std::io;

use crate::handle::NodeHandle;
use crate::intent::{Answer, Ask, Intent, Orders};
use crate::state::{ANSWER_WORD, ASK_WORD};

impl NodeHandle {
    /// Says that this node takes parameters while it runs, from the next ask on: what was asked before is in what it starts with.
    pub fn listen(&self) {
        let asked = self.registry.seat(self.seat).map_or(0, |seat| seat.counter(ASK_WORD));
        if let Some(seat) = self.registry.occupy(self.seat) {
            seat.set_counter(ANSWER_WORD, asked + 1);
        }
    }

    /// Whether an ask waits for an answer.
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.registry.seat(self.seat).is_some_and(|seat| {
            let answered = seat.counter(ANSWER_WORD);
            answered != 0 && seat.counter(ASK_WORD) >= answered
        })
    }

    /// The ask that waits for an answer.
    pub fn asked(&self) -> Option<Ask> {
        Ask::read(&self.instance, &self.name_of(self.seat)).ok().flatten()
    }

    /// Answers an ask. What cannot be written counts as not answered.
    ///
    /// # Errors
    /// The error of the system.
    pub fn answer(&self, answer: &Answer) -> io::Result<()> {
        let written = answer.write(&self.instance, &self.name_of(self.seat));
        if let Some(seat) = self.registry.occupy(self.seat) {
            seat.set_counter(ANSWER_WORD, answer.number + 1);
        }
        written
    }

    /// Whether a person has stopped this node and wants its orders to work on.
    pub fn keeps_orders(&self) -> bool {
        let intent = Intent::read(&self.instance, &self.name_of(self.seat));
        intent.is_ok_and(|intent| intent.stopped.is_some_and(|stopped| stopped.orders == Orders::Keep))
    }
}
