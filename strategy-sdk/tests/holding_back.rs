//! A strategy may keep market data back and answer it together.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use strategy_sdk::testing::Harness;
use strategy_sdk::{Cause, Context, NoParameters, ParameterError, Quote, Strategy};

/// Buys once for all quotes that it kept back.
struct Together {
    kept: Vec<(Quote, Cause)>,
    flushes: u32,
}

impl Strategy for Together {
    type Parameters = NoParameters;

    fn create(_parameters: NoParameters) -> Result<Together, ParameterError> {
        Ok(Together { kept: Vec::new(), flushes: 0 })
    }

    fn quote(&mut self, context: &mut Context, quote: &Quote) {
        self.kept.push((*quote, context.cause()));
    }

    fn holds_back(&self) -> bool {
        !self.kept.is_empty()
    }

    fn flush(&mut self, context: &mut Context) {
        let (quote, cause) = self.kept.pop().unwrap();
        self.kept.clear();
        self.flushes += 1;
        context.answers(cause);
        context.buy(quote.instrument, quote.asks[0].price, strategy_sdk::Quantity(1)).unwrap();
    }
}

fn fed(quotes: usize) -> Harness<Together> {
    let mut harness = Harness::<Together>::new(NoParameters {}).unwrap();
    let instrument = harness.list("SIM001", "0.01", 1);
    harness.start();
    for _ in 0..quotes {
        harness.quote(instrument, "10.00", "10.01", 5);
    }
    harness
}

#[test]
fn what_is_kept_back_is_answered_at_the_next_turn_with_its_last_cause() {
    let mut harness = fed(3);
    assert_eq!((harness.strategy().flushes, harness.orders().len()), (0, 0));
    assert_eq!(harness.deadline(), Some(strategy_sdk::Nanos(0)), "the node does not sleep on it");
    harness.turn();
    let orders = harness.orders();
    assert_eq!((harness.strategy().flushes, orders.len()), (1, 1));
    assert!(orders[0].cause.position > 0 && orders[0].cause != Cause::NONE);
    harness.turn();
    assert_eq!(harness.strategy().flushes, 1, "nothing is left");
    assert_eq!(harness.deadline(), None);
}

#[test]
fn what_is_kept_back_is_answered_before_the_stop() {
    let mut harness = fed(2);
    harness.stop();
    assert_eq!(harness.strategy().flushes, 1);
}
