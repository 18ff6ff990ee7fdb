//! A strategy that writes down all that it sees, and acts on all of it.

use std::cell::RefCell;
use std::time::Duration;

use serde::Deserialize;
use strategy_sdk::{
    Bar, BarRequest, Best, BookEvent, Context, Fill, Instrument, InstrumentId, MarketData, MarketPhase,
    OrderRequest, OrderUpdate, ParameterError, Price, Quantity, Quote, Side, Strategy, Timer, TradePrint,
};

use crate::days::Random;

thread_local! {
    /// What the strategies of this thread saw, in order.
    pub static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    seed: u64,
    /// Between two timers, in milliseconds.
    pace_ms: u64,
}

pub struct Observer {
    random: Random,
    pace: Duration,
    last: Vec<(InstrumentId, Price)>,
}

impl Observer {
    fn saw(&self, context: &Context, what: std::fmt::Arguments<'_>) {
        let line = format!("{} at {}: {what}", context.name(), context.now().0);
        LOG.with_borrow_mut(|log| log.push(line));
    }

    /// Notes a price, and acts now and then.
    fn act(&mut self, context: &mut Context, instrument: InstrumentId, price: Option<Price>) {
        if let Some(price) = price {
            match self.last.iter_mut().find(|(known, _)| *known == instrument) {
                Some(last) => last.1 = price,
                None => self.last.push((instrument, price)),
            }
        }
        let Some((_, last)) = self.last.iter().find(|(known, _)| *known == instrument).copied() else {
            return;
        };
        let working: Vec<_> = context.working_orders().map(|order| (order.id, order.price)).collect();
        let side = if self.random.below(2) == 0 { Side::Buy } else { Side::Sell };
        let tick = context.instrument(instrument).map_or(1, |listed| listed.tick.0.max(1));
        let lot = context.instrument(instrument).map_or(1, |listed| listed.lot.0);
        let quantity = Quantity(lot * (1 + self.random.below(3) as i64));
        let near = |ticks: i64| Price((last.0 / tick - ticks * side.sign()) * tick);
        let request = match self.random.below(24) {
            0 => OrderRequest::limit(side, instrument, near(-3), quantity).ioc(),
            1 => OrderRequest::limit(side, instrument, near(1), quantity),
            2 => OrderRequest::limit(side, instrument, near(0), quantity).post_only(),
            3 => OrderRequest::market(side, instrument, quantity),
            // Beyond a band of a tenth.
            4 => OrderRequest::limit(side, instrument, Price(last.0 / tick / 5 * 6 * tick), quantity).ioc(),
            5 | 6 => {
                if let Some((order, _)) = working.first() {
                    let done = context.cancel(*order).is_ok();
                    self.saw(context, format_args!("cancels {order}: {done}"));
                }
                return;
            }
            7 => {
                if let Some((order, price)) = working.last() {
                    let done = context.replace(*order, Price(price.0 + tick), quantity).is_ok();
                    self.saw(context, format_args!("replaces {order}: {done}"));
                }
                return;
            }
            8 => {
                context.set_timer(Duration::from_micros(1 + self.random.below(40_000)), instrument.0.into());
                return;
            }
            _ => return,
        };
        if working.len() < 20 {
            let sent = context.order(request).map_err(|error| error.to_string());
            self.saw(context, format_args!("orders {request:?}: {sent:?}"));
        }
    }
}

impl Strategy for Observer {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Observer, ParameterError> {
        let pace = Duration::from_millis(parameters.pace_ms);
        Ok(Observer { random: Random(parameters.seed * 0x9e37_79b9), pace, last: Vec::new() })
    }

    fn start(&mut self, context: &mut Context) {
        context.every(self.pace, 0);
    }

    fn instrument(&mut self, context: &mut Context, instrument: &Instrument) {
        self.saw(context, format_args!("{instrument:?}"));
        context.bars(BarRequest::time(instrument.id, self.pace * 3).with_flat()).unwrap();
        if context.data() != MarketData::Flow {
            context.bars(BarRequest::count(instrument.id, 3).of_mids()).unwrap();
        }
    }

    fn quote(&mut self, context: &mut Context, quote: &Quote) {
        self.saw(context, format_args!("{quote:?}"));
        let mid = quote.mid();
        self.act(context, quote.instrument, mid);
    }

    fn best(&mut self, context: &mut Context, instrument: InstrumentId, best: &Best) {
        let depth = context.depth(instrument).ok();
        self.saw(context, format_args!("{instrument:?} {best:?} {depth:?}"));
        let mid = best.mid();
        self.act(context, instrument, mid);
    }

    fn book_event(&mut self, context: &mut Context, event: &BookEvent) {
        self.saw(context, format_args!("{event:?}"));
        let price = Some(event.price).filter(|price| price.is_some() && price.0 > 0);
        self.act(context, event.instrument, price);
    }

    fn phase(&mut self, context: &mut Context, phase: &MarketPhase) {
        self.saw(context, format_args!("{phase:?}"));
        self.act(context, phase.instrument, None);
    }

    fn trade(&mut self, context: &mut Context, trade: &TradePrint) {
        self.saw(context, format_args!("{trade:?}"));
        self.act(context, trade.instrument, Some(trade.price));
    }

    fn order(&mut self, context: &mut Context, update: &OrderUpdate) {
        self.saw(context, format_args!("{update:?}"));
    }

    fn fill(&mut self, context: &mut Context, fill: &Fill) {
        let position = context.position(fill.instrument);
        self.saw(context, format_args!("{fill:?} {position:?}"));
        self.act(context, fill.instrument, Some(fill.price));
    }

    fn bar(&mut self, context: &mut Context, bar: &Bar) {
        self.saw(context, format_args!("{bar:?}"));
        self.act(context, bar.instrument, None);
    }

    fn timer(&mut self, context: &mut Context, timer: Timer) {
        self.saw(context, format_args!("{timer:?}"));
        let instrument = self.last.first().map_or(InstrumentId(1), |last| last.0);
        self.act(context, instrument, None);
    }
}
