//! The exchange as a book that the bench can measure.

use bench_kit::book::{Book, Tally};
use bench_kit::flow::{Add, Cancel, Operation, Side, Take};
use matching::exchange::{
    Event, Exchange, ExchangeOptions, InstrumentRules, Kind, Lifetime, ListError, Order, Sink,
};
use wire::{InstrumentId, Price, Quantity, Reason, StrategyId};

/// The instrument.
pub(super) const INSTRUMENT: InstrumentId = InstrumentId(1);
/// A cent.
pub(super) const TICK: i64 = 10_000_000;

/// The price of a flow's tick; never zero.
#[inline(always)]
pub(super) fn price(tick: u32) -> Price {
    Price((i64::from(tick) + 1) * TICK)
}

/// The flow's tick of a price.
#[inline(always)]
pub(super) fn tick(price: Price) -> u32 {
    (price.0 / TICK - 1) as u32
}

/// An exchange with one instrument in continuous trading, plain rules. Buyers and sellers are two strategies, so
/// self-trade prevention looks at every trade and never has anything to prevent.
#[derive(Debug)]
pub(super) struct Venue {
    exchange: Exchange,
}

impl Venue {
    pub(super) fn new(options: ExchangeOptions) -> Result<Venue, ListError> {
        let mut exchange = Exchange::new(options);
        exchange.list(InstrumentRules::new(INSTRUMENT, Price(TICK)))?;
        Ok(Venue { exchange })
    }

    pub(super) fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// Does one operation.
    #[inline(always)]
    pub(super) fn apply<S: Sink>(&mut self, operation: &Operation, sink: &mut S) {
        match operation {
            Operation::Add(add) => self.exchange.submit(&limit(add), sink),
            Operation::Cancel(cancel) => self.exchange.cancel(cancel.id, sink),
            Operation::Take(take) => self.exchange.submit(&market(take), sink),
        }
    }
}

#[inline(always)]
fn sides(side: Side) -> (wire::Side, StrategyId) {
    match side {
        Side::Buy => (wire::Side::Buy, StrategyId(1)),
        Side::Sell => (wire::Side::Sell, StrategyId(2)),
    }
}

#[inline(always)]
fn limit(add: &Add) -> Order {
    let (side, strategy) = sides(add.side);
    let quantity = Quantity(i64::from(add.quantity));
    Order { strategy, ..Order::limit(add.id, INSTRUMENT, side, price(add.tick), quantity) }
}

#[inline(always)]
fn market(take: &Take) -> Order {
    let (side, strategy) = sides(take.side);
    let quantity = Quantity(i64::from(take.quantity));
    let order = Order::limit(take.id, INSTRUMENT, side, Price::NONE, quantity);
    Order { strategy, kind: Kind::Market, lifetime: Lifetime::ImmediateOrCancel, ..order }
}

/// Throws the events away, but for counting what was traded and cancelled.
struct Count<'t>(&'t mut Tally);

impl Sink for Count<'_> {
    #[inline(always)]
    fn event(&mut self, event: Event) {
        match event {
            Event::Traded(trade) => self.0.trade(tick(trade.price), trade.quantity.0 as u32),
            Event::Cancelled(_, Reason::Requested) => self.0.cancelled += 1,
            _ => {}
        }
    }
}

impl Book for Venue {
    #[inline(always)]
    fn add(&mut self, add: &Add, tally: &mut Tally) {
        self.exchange.submit(&limit(add), &mut Count(tally));
    }

    #[inline(always)]
    fn cancel(&mut self, cancel: &Cancel, tally: &mut Tally) {
        self.exchange.cancel(cancel.id, &mut Count(tally));
    }

    #[inline(always)]
    fn take(&mut self, take: &Take, tally: &mut Tally) {
        self.exchange.submit(&market(take), &mut Count(tally));
    }
}
