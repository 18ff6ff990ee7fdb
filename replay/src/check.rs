//! Whether the strategy sends what it sent.

use std::collections::VecDeque;

use wire::{CancelAll, Cause, NewOrder, OrderId, Request, StrategyId};

use crate::life::{Life, Sent};
use crate::tape::Taken;

/// Most inputs that are kept for a difference.
const KEPT: usize = 64;

/// A frame that the strategy was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its journal.
    pub journal: String,
    /// That journal's number.
    pub journal_id: u32,
    /// Its position there.
    pub position: u64,
    /// Its time.
    pub time: u64,
    /// Type of its payload.
    pub message_id: u16,
    /// Its topic.
    pub topic: u32,
    /// The message.
    pub payload: Vec<u8>,
    /// When it was handled live, if that is known; else when it could be read.
    pub order: u64,
    /// It is known.
    pub is_known: bool,
    /// It is of a journal that was read beside the others, so that only a cause tells when.
    pub is_open: bool,
}

/// The first request that is not the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Its number, from 1, among those that were sent since the replay's begin.
    pub number: u64,
    /// What was sent live, and when; `None`: nothing more.
    pub live: Option<(u64, Request)>,
    /// What is sent now; `None`: nothing.
    pub replayed: Option<Request>,
    /// What the strategy was given since the request before, the latest last.
    pub inputs: Vec<Input>,
    /// What it was given before that of these journals: live it may have come to them later.
    pub earlier: Vec<Input>,
    /// What it would have been given next of the journals that it read beside the others.
    pub upcoming: Vec<Input>,
    /// Inputs before those, which are left out.
    pub more_inputs: u64,
    /// Longest that an input so far lay there before it was handled live, in nanoseconds, of those of which that is known.
    pub lag: u64,
}

/// Order ids of then and now. They are the same, unless the replay begins in the middle of the strategy's life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ids {
    strategy: StrategyId,
    live_epoch: u16,
    epoch: u16,
    /// Sequence of the last id of before.
    offset: u32,
}

impl Ids {
    pub(crate) fn of(strategy: StrategyId, life: &Life, epoch: u64) -> Ids {
        Ids { strategy, live_epoch: life.epoch as u16, epoch: epoch as u16, offset: life.sequence }
    }

    /// The id that an order of then has now.
    pub(crate) fn now(&self, id: OrderId) -> OrderId {
        let is_newer = id.epoch() == self.live_epoch && id.sequence() > self.offset;
        if id.strategy() == self.strategy && is_newer {
            OrderId::new(self.strategy, self.epoch, id.sequence() - self.offset)
        } else {
            id
        }
    }

    /// A request of then as it would be sent now; when it was received does not count.
    fn request(&self, request: Request) -> Request {
        let order_id = self.now(request.order_id());
        match request {
            Request::New(order) => {
                let cause = Cause { received: wire::Nanos(0), ..order.cause };
                Request::New(NewOrder { order_id, cause, ..order })
            }
            Request::Cancel(cancel) => Request::Cancel(wire::CancelOrder { order_id, ..cancel }),
            Request::Replace(replace) => Request::Replace(wire::ReplaceOrder { order_id, ..replace }),
            Request::CancelAll(cancel) => Request::CancelAll(CancelAll { order_id, ..cancel }),
        }
    }
}

fn without_reception(request: Request) -> Request {
    match request {
        Request::New(order) => {
            Request::New(NewOrder { cause: Cause { received: wire::Nanos(0), ..order.cause }, ..order })
        }
        other => other,
    }
}

/// Compares request by request.
#[derive(Debug)]
pub(crate) struct Check {
    ids: Ids,
    /// Number of requests that were the same.
    same: usize,
    inputs: VecDeque<Input>,
    more_inputs: u64,
    /// Before the request that was the same last: those of which it is not known when they were handled.
    earlier: VecDeque<Input>,
}

impl Input {
    pub(crate) fn of(journal: &str, journal_id: u32, taken: &Taken) -> Input {
        Input {
            journal: journal.to_owned(),
            journal_id,
            position: taken.position,
            time: taken.time,
            message_id: taken.message_id,
            topic: taken.topic,
            payload: taken.payload.clone(),
            order: taken.order,
            is_known: taken.is_known,
            is_open: taken.is_open,
        }
    }
}

impl Check {
    pub(crate) fn new(ids: Ids) -> Check {
        Check { ids, same: 0, inputs: VecDeque::new(), more_inputs: 0, earlier: VecDeque::new() }
    }

    /// The strategy is given this next.
    pub(crate) fn gives(&mut self, journal: &str, journal_id: u32, taken: &Taken) {
        if self.inputs.len() == KEPT {
            self.inputs.pop_front();
            self.more_inputs += 1;
        }
        self.inputs.push_back(Input::of(journal, journal_id, taken));
    }

    /// Requests so far that were the same.
    pub(crate) fn same(&self) -> usize {
        self.same
    }

    /// What was sent live next, if anything.
    pub(crate) fn expected<'a>(&self, life: &'a Life) -> Option<&'a Sent> {
        life.sent.get(self.same)
    }

    /// The strategy sends this.
    pub(crate) fn sends(&mut self, life: &Life, request: Request) -> Option<Difference> {
        let live = self.expected(life);
        if live.map(|sent| self.ids.request(sent.request)) == Some(without_reception(request)) {
            self.same += 1;
            self.earlier.extend(self.inputs.drain(..).filter(|input| input.is_open && !input.is_known));
            let passed = self.earlier.len().saturating_sub(KEPT);
            self.earlier.drain(..passed);
            self.more_inputs = 0;
            return None;
        }
        Some(self.difference(life, Some(request)))
    }

    /// The strategy has handled this frame; live it sent something then.
    pub(crate) fn handled(&self, life: &Life, journal: u32, position: u64) -> Option<Difference> {
        let Some(Sent { request: Request::New(order), .. }) = self.expected(life) else { return None };
        let is_missing = order.cause.journal == journal && order.cause.position == position;
        is_missing.then(|| self.difference(life, None))
    }

    /// The strategy sends nothing more.
    pub(crate) fn ends(&self, life: &Life) -> Option<Difference> {
        self.expected(life).map(|_| self.difference(life, None))
    }

    fn difference(&self, life: &Life, replayed: Option<Request>) -> Difference {
        Difference {
            number: self.same as u64 + 1,
            live: self.expected(life).map(|sent| (sent.time, self.ids.request(sent.request))),
            replayed: replayed.map(without_reception),
            inputs: self.inputs.iter().cloned().collect(),
            earlier: self.earlier.iter().cloned().collect(),
            upcoming: Vec::new(),
            more_inputs: self.more_inputs,
            lag: 0,
        }
    }
}
