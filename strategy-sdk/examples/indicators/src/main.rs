//! Holds a lot while the fast average of the closes is above the slow one. The averages are those of the crate `yata`.
//!
//! ```toml
//! [strategies]
//! program = "strategy-sdk/examples/indicators/target/release/indicators"
//! warm_up = "30s"                 # the averages are there at the start
//! params = { bar_ms = 100, fast = 5, slow = 20 }
//! ```
//!
//! Indicators calculate with floats, and orders do not: a price becomes a float for the average alone, and never back.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use strategy_sdk::{
    Bar, BarRequest, Context, Deserialize, Instrument, InstrumentId, OrderRequest, ParameterError, Quantity,
    Side, Strategy,
};
use yata::core::Method;
use yata::methods::EMA;

/// `params` in the platform file, or `--param` on the command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(crate = "strategy_sdk::serde", default, deny_unknown_fields)]
struct Parameters {
    /// Milliseconds of a bar.
    bar_ms: u64,
    /// Bars of the fast average.
    fast: u8,
    /// Bars of the slow one.
    slow: u8,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { bar_ms: 100, fast: 5, slow: 20 }
    }
}

/// Both averages of one instrument.
#[derive(Debug)]
struct Averages {
    fast: EMA,
    slow: EMA,
    bars: u32,
}

/// Follows the trend.
#[derive(Debug)]
struct Follower {
    parameters: Parameters,
    averages: BTreeMap<InstrumentId, Averages>,
}

impl Strategy for Follower {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Follower, ParameterError> {
        if parameters.bar_ms < 1 {
            return Err(ParameterError::new("bar_ms", "must be at least 1"));
        }
        if parameters.fast < 1 || parameters.fast >= parameters.slow {
            return Err(ParameterError::new("fast", "must be at least 1 and less than `slow`"));
        }
        Ok(Follower { parameters, averages: BTreeMap::new() })
    }

    fn instrument(&mut self, context: &mut Context, instrument: &Instrument) {
        let interval = Duration::from_millis(self.parameters.bar_ms);
        if let Err(error) = context.bars(BarRequest::time(instrument.id, interval).of_mids().with_flat()) {
            context.log(error);
        }
    }

    fn bar(&mut self, context: &mut Context, bar: &Bar) {
        let close = bar.close.to_f64();
        let Parameters { fast, slow, .. } = self.parameters;
        if !self.averages.contains_key(&bar.instrument) {
            // Both lengths are at least one.
            let (Ok(fast), Ok(slow)) = (EMA::new(fast, &close), EMA::new(slow, &close)) else { return };
            self.averages.insert(bar.instrument, Averages { fast, slow, bars: 0 });
        }
        let Some(averages) = self.averages.get_mut(&bar.instrument) else { return };
        let is_above = averages.fast.next(&close) > averages.slow.next(&close);
        averages.bars += 1;
        if averages.bars < u32::from(slow) || context.is_warming_up() {
            return;
        }
        self.hold(context, bar.instrument, is_above);
    }
}

impl Follower {
    /// Buys or sells a lot, if it does not hold what it should and nothing is on its way.
    fn hold(&self, context: &mut Context, id: InstrumentId, wanted: bool) {
        let (Some(instrument), Some(best)) = (context.instrument(id), context.last_best(id)) else { return };
        let holds = context.position(id).quantity > Quantity::ZERO;
        if holds == wanted || context.working_orders().any(|order| order.instrument == id) {
            return;
        }
        let (side, level) =
            if wanted { (Side::Buy, best.best_ask()) } else { (Side::Sell, best.best_bid()) };
        let (Some(level), Ok(lot)) = (level, instrument.of_lots(1)) else { return };
        if let Err(error) = context.order(OrderRequest::limit(side, id, level.price, lot).ioc()) {
            context.log(error);
        }
    }
}

fn main() -> ExitCode {
    strategy_sdk::main::<Follower>()
}

#[cfg(test)]
mod tests {
    use strategy_sdk::Nanos;
    use strategy_sdk::testing::Harness;

    use super::*;

    /// A quote each 100 ms, its bid in cents.
    fn quotes(harness: &mut Harness<Follower>, instrument: InstrumentId, cents: impl Iterator<Item = i64>) {
        for bid in cents {
            let text = |cents: i64| format!("{}.{:02}", cents / 100, cents % 100);
            harness.quote(instrument, &text(bid), &text(bid + 1), 5);
            harness.advance(Duration::from_millis(100));
        }
    }

    #[test]
    fn it_buys_when_prices_rise_and_sells_when_they_fall() {
        let mut harness = Harness::<Follower>::new(Parameters::default()).unwrap();
        let instrument = harness.list("A", "0.01", 1);
        harness.start();
        quotes(&mut harness, instrument, (0..19).map(|step| 1_000 + step));
        assert!(harness.orders().is_empty(), "not before the slow average is there");
        quotes(&mut harness, instrument, (19..30).map(|step| 1_000 + step));
        let orders = harness.orders();
        assert_eq!((orders.len(), orders[0].side), (1, Side::Buy));
        harness.accept(&orders[0]);
        harness.fill(&orders[0], orders[0].price, 1);
        quotes(&mut harness, instrument, (0..30).map(|step| 1_030 - step));
        assert_eq!(harness.orders()[0].side, Side::Sell);
        assert!(harness.now() > Nanos(0));
    }

    #[test]
    fn a_fast_average_that_is_not_faster_is_refused() {
        let parameters = Parameters { fast: 20, ..Parameters::default() };
        assert!(Follower::create(parameters).unwrap_err().to_string().contains("slow"));
    }
}
