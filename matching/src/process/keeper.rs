//! Writes the exchange's state into `matching.state`, for the successor of a process that is killed.
//!
//! The exchange is a function of its requests, their times, and of when it did what time alone causes. So its state is that
//! of some request, and the requests behind it: the state is written in images of what has changed, when there is nothing
//! else to do, and completed by a [`StateEnd`]; the requests behind it are kept in `td.orders`. What time causes is
//! announced in a [`DueTime`] before it is done.
//!
//! The ring goes round. So besides what has changed, everything else is written in turn, fast enough that the last two
//! rounds over all of it are in the ring: [`StateEnd::base`] says where the first of them begins.

use node::{Output, WriteError};
use wire::{
    DueTime, InstrumentId, MarketImage, Message, Nanos, NewestOrder, OrderId, OrderImage, StateBegin,
    StateEnd, StrategyId,
};

use super::participants::Participants;

/// Orders that are written in one turn that has nothing else to do.
const IDLE: usize = 16;
/// Orders that are written in turn at a time.
const SWEPT: usize = 64;
/// A round over everything takes at most two of so many parts of the ring.
const PARTS: u64 = 5;
/// Bytes of an image of an order in the ring.
const IMAGE: u64 = 128;
/// The next end comes at the latest when this part of a ring was used since the last one.
const LATEST: u64 = 4;
/// When there is time, it comes when this part of a ring was used.
const EARLY: u64 = 16;

/// Where the process is in the journals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    /// Position in `td.orders` of the last request.
    pub(super) request: u64,
    /// Position in `matching.executions` of what is written next, and frames before it.
    pub(super) execution: u64,
    pub(super) executions: u64,
    /// Position in `matching.market` of what is written next.
    pub(super) market: u64,
}

/// Bytes of the rings of requests, executions and market data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rings {
    pub(super) orders: u64,
    pub(super) executions: u64,
    pub(super) market: u64,
}

/// Writes the state.
#[derive(Debug)]
pub(super) struct Keeper {
    output: Output,
    rings: Rings,
    /// Of the last end.
    ended: Reached,
    /// There is no end yet that a successor could begin from.
    is_new: bool,
    /// From here on there is an image of everything.
    base: u64,
    /// Where the round over everything began, and what it writes next.
    round: u64,
    next: usize,
    /// Announcements since the last end.
    announced: u64,
    /// The ring is too small, and it was said so.
    is_small: bool,
    ids: Vec<u64>,
    images: Vec<OrderImage>,
}

/// Whether something found room; what did not is to be written later.
type Written = Result<bool, WriteError>;

impl Keeper {
    /// One that has written nothing yet.
    pub(super) fn new(output: Output, rings: Rings) -> Keeper {
        let round = output.position();
        Keeper {
            output,
            rings,
            ended: Reached::default(),
            is_new: true,
            base: round,
            round,
            next: 0,
            announced: 0,
            is_small: false,
            ids: Vec::new(),
            images: Vec::new(),
        }
    }

    /// Says that all that was written is void.
    pub(super) fn begin(&mut self, generation: u64) -> Written {
        (self.base, self.round, self.next) = (self.output.position(), self.output.position(), 0);
        self.is_new = true;
        self.send(&StateBegin { generation })
    }

    /// Goes on behind what a predecessor wrote, with everything from position `base` on.
    pub(super) fn resume(&mut self, base: u64) {
        self.base = base;
    }

    /// Name of its journal.
    pub(super) fn journal(&self) -> &str {
        &self.output.journal
    }

    /// Announces what time causes now. It may be done only when this was written.
    pub(super) fn announce(&mut self, request: u64, time: Nanos) -> Written {
        self.announced += 1;
        self.send(&DueTime { request, time: time.0 })
    }

    /// Whether an end must be written now.
    pub(super) fn is_due(&self, reached: &Reached) -> bool {
        self.is_new || self.announced >= 1_024 || self.has_used(reached, LATEST)
    }

    /// Whether there is something to write when there is time.
    pub(super) fn has_work(&self, exchange: &Participants, reached: &Reached) -> bool {
        exchange.changes.orders() > 0 || self.has_used(reached, EARLY)
    }

    /// Whether so large a part of a ring was used since the last end.
    fn has_used(&self, reached: &Reached, part: u64) -> bool {
        let Rings { orders, executions, market } = self.rings;
        let used = |now: u64, then: u64, ring: u64| now.saturating_sub(then) >= ring / part;
        used(reached.request, self.ended.request, orders)
            || used(reached.execution, self.ended.execution, executions)
            || used(reached.market, self.ended.market, market)
    }

    /// Writes some of what has changed; once nothing is left and enough was done, an end. True after an end: the requests
    /// before it are needed no more.
    pub(super) fn idle(&mut self, exchange: &mut Participants, reached: &Reached) -> Written {
        if exchange.changes.orders() > 0 {
            if self.orders(exchange, IDLE)? {
                self.sweep(exchange, SWEPT)?;
            }
            return Ok(false);
        }
        if self.has_used(reached, EARLY) { self.end(exchange, reached) } else { Ok(false) }
    }

    /// Writes all that has changed, and the end. Everything that the exchange has answered must be written.
    pub(super) fn end(&mut self, exchange: &mut Participants, reached: &Reached) -> Written {
        if !(self.orders(exchange, usize::MAX)? && self.sweep(exchange, usize::MAX)?) {
            return Ok(false);
        }
        while let Some(strategy) = exchange.changes.take_strategy() {
            if !self.strategy(exchange, strategy)? {
                exchange.changes.strategy(strategy);
                return Ok(false);
            }
        }
        while let Some(instrument) = exchange.changes.take_instrument() {
            if !self.market(exchange, instrument)? {
                exchange.changes.instrument(instrument);
                return Ok(false);
            }
        }
        let counts = exchange.exchange.counts();
        let end = StateEnd {
            request: reached.request,
            time: counts.now.0,
            execution: reached.execution,
            executions: reached.executions,
            market: reached.market,
            base: self.base,
            trade: counts.trades,
            orders: exchange.exchange.working_orders() as u64,
            age_number: counts.sequence,
            instruments: exchange.listed.len() as u32,
            ended: u64::from(exchange.ended),
        };
        if !self.send(&end)? {
            return Ok(false);
        }
        (self.ended, self.is_new, self.announced) = (*reached, false, 0);
        self.check_room(exchange);
        Ok(true)
    }

    fn check_room(&mut self, exchange: &Participants) {
        let position = self.output.position();
        if position - self.base >= self.output.capacity && !std::mem::replace(&mut self.is_small, true) {
            log::warn!(
                "`{}` is too small for {} working orders: if this process is killed, they are cancelled; set \
                 journal.matching.state.capacity to more than {} bytes",
                self.output.journal,
                exchange.exchange.working_orders(),
                self.output.capacity
            );
        }
    }

    /// Writes up to `most` of the orders that have changed.
    fn orders(&mut self, exchange: &mut Participants, most: usize) -> Written {
        let mut ids = std::mem::take(&mut self.ids);
        exchange.changes.take_orders(most, &mut ids);
        let image = |id: &u64| exchange.exchange.image(*id).unwrap_or(OrderImage::gone(OrderId(*id)));
        self.images.clear();
        self.images.extend(ids.iter().map(image));
        let (written, outcome) = self.send_images();
        // What found no room has still changed.
        ids[written..].iter().for_each(|id| exchange.changes.order(*id));
        self.ids = ids;
        outcome
    }

    /// Writes on in the round over everything, as far as it should have come by now and up to `most` places.
    fn sweep(&mut self, exchange: &mut Participants, most: usize) -> Written {
        let (listed, seats) = (exchange.listed.len(), exchange.used.seats());
        let all = listed + seats + exchange.exchange.places();
        let round = self.output.capacity / PARTS * 2;
        let come = u128::from(self.output.position() - self.round) * all as u128 / u128::from(round);
        // Beyond that, what is written in turn would be most of what is written.
        let fits = all as u64 * IMAGE <= round / 4 * 3;
        let come = if fits { come } else { 0 };
        let until = all.min(come.min(all as u128) as usize).min(self.next.saturating_add(most));
        self.images.clear();
        while self.next < until {
            let next = self.next;
            if next < listed {
                let instrument = exchange.listed[next].instrument;
                exchange.changes.instrument(instrument);
            } else if next < listed + seats {
                exchange.changes.strategy(StrategyId((next - listed) as u16));
            } else {
                self.images.extend(exchange.exchange.image_at(next - listed - seats));
            }
            self.next += 1;
        }
        let begun = self.output.position();
        let (written, outcome) = self.send_images();
        for image in &self.images[written..] {
            exchange.changes.order(image.order_id.0);
        }
        if self.next >= all && come >= all as u128 {
            (self.base, self.round, self.next) = (self.round, begun, 0);
        }
        outcome
    }

    fn send_images(&mut self) -> (usize, Written) {
        if self.images.is_empty() {
            return (0, Ok(true));
        }
        let images = self.images.iter().map(|image| (OrderImage::ID, image.bytes()));
        let (written, outcome) = self.output.send_all(0, images, |_| true);
        (written, is_written(outcome))
    }

    fn strategy(&mut self, exchange: &Participants, strategy: StrategyId) -> Written {
        match exchange.used.newest(strategy) {
            Some(order_id) => self.send(&NewestOrder { order_id }),
            None => Ok(true),
        }
    }

    fn market(&mut self, exchange: &mut Participants, instrument: InstrumentId) -> Written {
        let Some(state) = exchange.exchange.market_state(instrument) else { return Ok(true) };
        let image = MarketImage {
            instrument,
            phase: state.phase,
            reserved: [0; 3],
            last_price: state.last,
            auction_ends: state.auction_ends.map_or(u64::MAX, |ends| ends.0),
            sequence: exchange.feed.sequence(instrument),
        };
        let statistics = exchange.statistics.of(instrument);
        Ok(self.send(&image)? && (statistics.trades == 0 || self.send(&statistics)?))
    }

    fn send<M: Message>(&mut self, message: &M) -> Written {
        is_written(self.output.send(0, message).map(drop))
    }
}

fn is_written(outcome: Result<(), WriteError>) -> Written {
    match outcome {
        Ok(()) => Ok(true),
        Err(WriteError::Full { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
