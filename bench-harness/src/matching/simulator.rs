//! The engine that plays a market beside the strategies, with no market beside it: their own orders only.

use bench_kit::book::{Book, Tally};
use bench_kit::flow::{Add, Cancel, Side, Take};
use matching::engine::{Engine, EngineOptions, FillModel, SelfTrade, Sink};
use wire::{
    CancelOrder, Fill, Instrument, Liquidity, NewOrder, OrderId, OrderStatus, OrderType, OrderUpdate, Price,
    Quantity, Reason, StrategyId, Symbol, TimeInForce,
};

use super::venue::{INSTRUMENT, TICK, price, tick};

/// The engine. It never takes an id again, so each pass of a flow is another epoch of its one strategy.
#[derive(Debug)]
pub(super) struct Simulator {
    engine: Engine,
    epoch: u16,
}

impl Simulator {
    pub(super) fn new(expected_orders: usize) -> Simulator {
        let (fill, self_trade) = (FillModel::Quotes, SelfTrade::Allow);
        let mut engine =
            Engine::new(EngineOptions { fill, self_trade, expected_orders, ..EngineOptions::default() });
        engine.on_instrument(&Instrument {
            id: INSTRUMENT,
            reserved: 0,
            symbol: Symbol::new("BENCH").unwrap_or_default(),
            tick: Price(TICK),
            lot: Quantity(1),
            price_low: Price::NONE,
            price_high: Price::NONE,
            reference_price: Price::NONE,
            max_quantity: Quantity::ZERO,
            multiplier: 0,
            currency: wire::Currency::EMPTY,
        });
        Simulator { engine, epoch: 0 }
    }

    #[inline(always)]
    fn id(&self, id: u64) -> OrderId {
        OrderId::new(StrategyId(7), self.epoch, id as u32)
    }

    #[inline(always)]
    fn market(&self, id: u64, side: Side, quantity: u32) -> NewOrder {
        let side = match side {
            Side::Buy => wire::Side::Buy,
            Side::Sell => wire::Side::Sell,
        };
        let (kind, time_in_force) = (OrderType::Market, TimeInForce::ImmediateOrCancel);
        let quantity = Quantity(i64::from(quantity));
        NewOrder::plain(self.id(id), INSTRUMENT, side, kind, time_in_force, Price::NONE, quantity)
    }
}

/// Counts what was traded, once a trade, and what was cancelled.
struct Count<'t>(&'t mut Tally);

impl Sink for Count<'_> {
    #[inline(always)]
    fn fill(&mut self, fill: &Fill) {
        if fill.liquidity == Liquidity::Maker {
            self.0.trade(tick(fill.price), fill.quantity.0 as u32);
        }
    }

    #[inline(always)]
    fn update(&mut self, update: &OrderUpdate) {
        let is_cancel = update.status == OrderStatus::Cancelled && update.reason == Reason::Requested;
        self.0.cancelled += u64::from(is_cancel);
    }
}

impl Book for Simulator {
    #[inline(always)]
    fn add(&mut self, add: &Add, tally: &mut Tally) {
        let order = NewOrder {
            order_type: OrderType::Limit,
            time_in_force: TimeInForce::Day,
            price: price(add.tick),
            ..self.market(add.id, add.side, add.quantity)
        };
        self.engine.new_order(&order, &mut Count(tally));
    }

    #[inline(always)]
    fn cancel(&mut self, cancel: &Cancel, tally: &mut Tally) {
        let request = CancelOrder::new(self.id(cancel.id), INSTRUMENT);
        self.engine.cancel(&request, &mut Count(tally));
    }

    #[inline(always)]
    fn take(&mut self, take: &Take, tally: &mut Tally) {
        let order = self.market(take.id, take.side, take.quantity);
        self.engine.new_order(&order, &mut Count(tally));
    }

    fn begin(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }
}
