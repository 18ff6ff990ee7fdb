//! Where the engine's answers go.

use wire::{Fill, Message, OrderUpdate};

/// Takes the engine's output, in order. It cannot refuse: a sink whose journal is full buffers or waits.
pub trait Sink {
    /// Part of an order traded. The next call is [`Sink::update`] for the same order.
    fn fill(&mut self, fill: &Fill);

    /// An order's state changed, or a request was refused.
    fn update(&mut self, update: &OrderUpdate);
}

/// One answer of the engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Execution {
    /// From [`Sink::fill`].
    Fill(Fill),
    /// From [`Sink::update`].
    Update(OrderUpdate),
}

impl Execution {
    /// Id for the header of the frame to write.
    pub fn message_id(&self) -> u16 {
        match self {
            Execution::Fill(_) => Fill::ID,
            Execution::Update(_) => OrderUpdate::ID,
        }
    }

    /// Payload of the frame to write.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Execution::Fill(fill) => fill.bytes(),
            Execution::Update(update) => update.bytes(),
        }
    }

    /// Says up to which request all is answered with it: see [`OrderUpdate::execution`].
    pub fn set_request(&mut self, position: u64) {
        match self {
            Execution::Fill(fill) => fill.execution = position,
            Execution::Update(update) => update.execution = position,
        }
    }
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
