//! A strategy that does what a list of steps says, and logs what it receives: for trying out what happens to an order.
//!
//! [`Parameters::steps`] are carried out one after the other, each at the first event that finds it due. `step` has their form.

mod step;

use std::collections::BTreeMap;
use std::time::Duration;

use step::{Action, Step};
use strategy_sdk::{
    Bar, BarRequest, Best, BookEvent, Context, Deserialize, Fill, Instrument, InstrumentId, Level, OrderId,
    OrderUpdate, ParameterError, Quote, Strategy, Timer, TradePrint,
};

strategy_sdk::export!(Scripted);

/// `params` in the platform file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(crate = "strategy_sdk::serde", default, deny_unknown_fields)]
pub struct Parameters {
    /// What to do, in this order.
    pub steps: Vec<String>,
    /// Bars of so many seconds of each instrument; 0: none.
    pub bars_s: u64,
    /// Bars also of intervals without a trade.
    pub flat: bool,
    /// Logs each quote, order-flow event and trade.
    pub say: bool,
}

/// The strategy.
#[derive(Debug)]
pub struct Scripted {
    parameters: Parameters,
    steps: std::vec::IntoIter<Step>,
    events: u64,
    orders: BTreeMap<String, OrderId>,
}

impl Scripted {
    /// An event has come: carries out the steps that are due.
    fn event(&mut self, context: &mut Context) {
        if context.is_warming_up() {
            return;
        }
        self.events += 1;
        let now = context.now().0;
        while let Some(step) = self.steps.as_slice().first()
            && step.is_due(now, self.events)
            && let Some(step) = self.steps.next()
        {
            let outcome = self.act(context, &step.action);
            context.log(format_args!("STEP {}: {}", step.text, outcome.unwrap_or_else(|error| error)));
        }
    }

    fn act(&mut self, context: &mut Context, action: &Action) -> Result<String, String> {
        let order = |label| self.orders.get(label).copied().ok_or_else(|| format!("no order `{label}`"));
        let sent = match action {
            Action::New { label, symbol, order } => {
                let listed = context.instruments().by_symbol(symbol).map(|instrument| instrument.id);
                let instrument = listed.ok_or_else(|| format!("no instrument `{symbol}`"))?;
                let sent = context.order(order.request(instrument)).map_err(|error| error.to_string());
                sent.map(|id| {
                    self.orders.insert(label.clone(), id);
                })
            }
            Action::Cancel { label } => context.cancel(order(label)?).map_err(|error| error.to_string()),
            Action::Replace { label, price, quantity } => {
                let sent = context.replace(order(label)?, *price, *quantity);
                sent.map_err(|error| error.to_string())
            }
        };
        sent.map(|()| "sent".to_owned()).map_err(|error| format!("NOT SENT: {error}"))
    }
}

impl Strategy for Scripted {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Scripted, ParameterError> {
        let steps: Result<Vec<Step>, String> =
            parameters.steps.iter().map(|text| Step::parse(text)).collect();
        let steps = steps.map_err(|error| ParameterError::new("steps", error))?.into_iter();
        Ok(Scripted { parameters, steps, events: 0, orders: BTreeMap::new() })
    }

    fn instrument(&mut self, context: &mut Context, instrument: &Instrument) {
        let Instrument { id, symbol, tick, lot, multiplier, .. } = instrument;
        context
            .log(format_args!("INSTRUMENT {} {symbol} tick {tick} lot {lot} multiplier {multiplier}", id.0));
        if self.parameters.bars_s > 0 {
            let request = BarRequest::time(*id, Duration::from_secs(self.parameters.bars_s));
            let request = if self.parameters.flat { request.with_flat() } else { request };
            if let Err(error) = context.bars(request) {
                context.log(format_args!("NO BARS: {error}"));
            }
        }
    }

    fn quote(&mut self, context: &mut Context, quote: &Quote) {
        if self.parameters.say {
            let level = |level: Option<Level>| {
                level.map_or("none".to_owned(), |level| format!("{} x {}", level.price, level.quantity))
            };
            let (bid, ask) = (level(quote.best_bid()), level(quote.best_ask()));
            context.log(format_args!("QUOTE {} {bid} / {ask}", quote.instrument.0));
        }
        self.event(context);
    }

    fn best(&mut self, context: &mut Context, _instrument: InstrumentId, _best: &Best) {
        self.event(context);
    }

    fn book_event(&mut self, context: &mut Context, event: &BookEvent) {
        if self.parameters.say {
            let BookEvent { instrument, action, side, order_ref, price, quantity, .. } = event;
            let number = instrument.0;
            context.log(format_args!("EVENT {number} {action} {side} {order_ref} {quantity} @ {price}"));
        }
        self.event(context);
    }

    fn trade(&mut self, context: &mut Context, trade: &TradePrint) {
        if self.parameters.say {
            let TradePrint { instrument, aggressor, price, quantity, .. } = trade;
            context.log(format_args!("TRADE {} {aggressor} {quantity} @ {price}", instrument.0));
        }
    }

    fn timer(&mut self, context: &mut Context, _timer: Timer) {
        self.event(context);
    }

    fn order(&mut self, context: &mut Context, update: &OrderUpdate) {
        let OrderUpdate { status, reason, price, quantity, remaining, .. } = update;
        context.log(format_args!("UPDATE {status} {reason} {quantity} @ {price} remaining {remaining}"));
    }

    fn fill(&mut self, context: &mut Context, fill: &Fill) {
        let position = context.position(fill.instrument).quantity;
        let Fill { side, price, quantity, remaining, .. } = fill;
        context
            .log(format_args!("FILL {side} {quantity} @ {price} remaining {remaining} position {position}"));
    }

    fn bar(&mut self, context: &mut Context, bar: &Bar) {
        let Bar { begin, end, open, high, low, close, volume, bought, sold, count, .. } = bar;
        context.log(format_args!(
            "BAR {} {}..{} {open} {high} {low} {close} volume {volume} bought {bought} sold {sold} trades {count}",
            bar.instrument.0, begin.0, end.0
        ));
    }
}
