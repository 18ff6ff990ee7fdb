//! colo's exchange.

use bench_kit::book::{Book, Tally};
use bench_kit::flow::{Add, Cancel, Side, Take};
use matching::exchange::{Event, Exchange, ExchangeOptions, InstrumentRules, Kind, Lifetime, Order, Sink};
use wire::{InstrumentId, Price, Quantity, Reason, StrategyId};

use super::Facts;
use crate::error::{CompareError, refused};

pub(super) const FACTS: Facts = Facts {
    name: "colo",
    version: "this tree",
    setup: "Exchange, default options (room for 65,536 orders), plain rules with self-trade prevention; each trade and cancel \
            counted, other events thrown away",
};

const INSTRUMENT: InstrumentId = InstrumentId(1);
const TICK: i64 = 10_000_000;

pub(super) struct Colo(Exchange);

impl Colo {
    pub(super) fn new() -> Result<Colo, CompareError> {
        let mut exchange = Exchange::new(ExchangeOptions::default());
        exchange
            .list(InstrumentRules::new(INSTRUMENT, Price(TICK)))
            .map_err(refused(FACTS.name, "list an instrument"))?;
        Ok(Colo(exchange))
    }
}

struct Count<'t>(&'t mut Tally);

impl Sink for Count<'_> {
    #[inline(always)]
    fn event(&mut self, event: Event) {
        match event {
            Event::Traded(trade) => {
                self.0.trade((trade.price.0 / TICK - 1) as u32, trade.quantity.0 as u32);
            }
            Event::Cancelled(_, Reason::Requested) => self.0.cancelled += 1,
            _ => {}
        }
    }
}

#[inline(always)]
fn order(id: u64, side: Side, price: Price, quantity: u32) -> Order {
    let (side, strategy) = match side {
        Side::Buy => (wire::Side::Buy, StrategyId(1)),
        Side::Sell => (wire::Side::Sell, StrategyId(2)),
    };
    Order { strategy, ..Order::limit(id, INSTRUMENT, side, price, Quantity(i64::from(quantity))) }
}

impl Book for Colo {
    #[inline(always)]
    fn add(&mut self, add: &Add, tally: &mut Tally) {
        let price = Price((i64::from(add.tick) + 1) * TICK);
        self.0.submit(&order(add.id, add.side, price, add.quantity), &mut Count(tally));
    }

    #[inline(always)]
    fn cancel(&mut self, cancel: &Cancel, tally: &mut Tally) {
        self.0.cancel(cancel.id, &mut Count(tally));
    }

    #[inline(always)]
    fn take(&mut self, take: &Take, tally: &mut Tally) {
        let order = order(take.id, take.side, Price::NONE, take.quantity);
        let order = Order { kind: Kind::Market, lifetime: Lifetime::ImmediateOrCancel, ..order };
        self.0.submit(&order, &mut Count(tally));
    }
}
