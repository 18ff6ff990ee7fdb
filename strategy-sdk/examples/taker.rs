//! The smallest strategy that trades: at quotes of its instruments it sends an immediate-or-cancel order at the best
//! price of the other side, buying and selling in turn, and never beyond its position limit.

use std::collections::BTreeMap;
use std::process::ExitCode;

use strategy_sdk::{
    Best, Context, Deserialize, InstrumentId, Level, OrderRequest, ParameterError, Quantity, Quote, Side,
    Strategy,
};

/// `params` in the platform file, or `--param` on the command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(crate = "strategy_sdk::serde", default, deny_unknown_fields)]
pub(crate) struct Parameters {
    /// Lots of one order.
    quantity: i64,
    /// Answers every n-th quote.
    every: u64,
    /// Lots that it may be long or short in one instrument.
    max_position: i64,
    /// Stands for the work of a real strategy: nanoseconds that it keeps its core busy before it answers.
    think_ns: u64,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { quantity: 1, every: 1, max_position: 10, think_ns: 0 }
    }
}

/// Takes what is quoted.
#[derive(Debug)]
pub(crate) struct Taker {
    parameters: Parameters,
    quotes: u64,
    next_side: BTreeMap<InstrumentId, Side>,
}

impl Strategy for Taker {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Taker, ParameterError> {
        let Parameters { quantity, every, max_position, .. } = parameters;
        for (name, value) in [("quantity", quantity), ("every", every as i64), ("max_position", max_position)]
        {
            if value < 1 {
                return Err(ParameterError::new(name, "must be at least 1"));
            }
        }
        Ok(Taker { parameters, quotes: 0, next_side: BTreeMap::new() })
    }

    fn quote(&mut self, context: &mut Context, quote: &Quote) {
        self.answer(context, quote.instrument, [quote.best_bid(), quote.best_ask()]);
    }

    fn best(&mut self, context: &mut Context, instrument: InstrumentId, best: &Best) {
        self.answer(context, instrument, [best.best_bid(), best.best_ask()]);
    }
}

impl Taker {
    /// Whatever it hears of the market, the best of both sides is what it needs.
    fn answer(&mut self, context: &mut Context, instrument: InstrumentId, [bid, ask]: [Option<Level>; 2]) {
        self.quotes += 1;
        if !self.quotes.is_multiple_of(self.parameters.every) {
            return;
        }
        let Some(instrument) = context.instrument(instrument) else { return };
        let Parameters { quantity, max_position, .. } = self.parameters;
        let (Ok(quantity), Ok(limit)) = (instrument.of_lots(quantity), instrument.of_lots(max_position))
        else {
            return;
        };

        let next = self.next_side.entry(instrument.id).or_insert(Side::Buy);
        // What works may still trade: it counts as traded.
        let room = |side: Side| {
            let held = context.position(instrument.id).quantity.0.saturating_mul(side.sign());
            let worst = Quantity(held) + context.working_quantity(instrument.id, side);
            worst + quantity <= limit
        };
        let Some(side) = [*next, next.opposite()].into_iter().find(|side| room(*side)) else { return };
        let best = match side {
            Side::Buy => ask,
            Side::Sell => bid,
        };
        let Some(best) = best else { return };
        if self.parameters.think_ns > 0 {
            let until = context.now().0 + self.parameters.think_ns;
            while context.now().0 < until {
                std::hint::spin_loop();
            }
        }

        match context.order(OrderRequest::limit(side, instrument.id, best.price, quantity).ioc()) {
            Ok(_) => *next = side.opposite(),
            Err(error) => context.log(error),
        }
    }
}

#[allow(dead_code, reason = "a program that includes this file as a module has a `main` of its own")]
fn main() -> ExitCode {
    strategy_sdk::main::<Taker>()
}
