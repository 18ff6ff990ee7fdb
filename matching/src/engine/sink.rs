//! The receiver of the engine's output.

use wire::{Execution, Fill, OrderUpdate};

/// Receives the engine's output, in order. It cannot refuse: a sink whose journal is full buffers or waits.
pub trait Sink {
    /// Part of an order traded. The next call is [`Sink::update`] for the same order.
    fn fill(&mut self, fill: &Fill);

    /// An order's state changed, or a request was refused.
    fn update(&mut self, update: &OrderUpdate);
}

/// Collects the answers: for tests, tools, and processes that write after the engine is done.
impl Sink for Vec<Execution> {
    fn fill(&mut self, fill: &Fill) {
        self.push(Execution::Fill(*fill));
    }

    fn update(&mut self, update: &OrderUpdate) {
        self.push(Execution::Update(*update));
    }
}
