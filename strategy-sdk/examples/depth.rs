//! Fills the books and leaves its orders there: for measurements with many working orders. Buys lie below the reference
//! price and sells above it, so that nothing trades.

use std::process::ExitCode;
use std::time::Duration;

use strategy_sdk::{
    Context, Deserialize, Instrument, OrderRequest, ParameterError, Price, Quantity, Side, Strategy, Timer,
};

/// `params` in the platform file, or `--param` on the command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(crate = "strategy_sdk::serde", default, deny_unknown_fields)]
struct Parameters {
    /// Orders that it leaves in the book.
    orders: u64,
    /// Orders that it sends each millisecond.
    at_once: u64,
    /// Price levels of a side over which they are spread.
    levels: i64,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { orders: 1_000, at_once: 10, levels: 1_000 }
    }
}

/// Fills the books.
#[derive(Debug)]
struct Depth {
    parameters: Parameters,
    sent: u64,
    instruments: Vec<Instrument>,
}

impl Strategy for Depth {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Depth, ParameterError> {
        if parameters.levels < 1 {
            return Err(ParameterError::new("levels", "must be at least 1"));
        }
        Ok(Depth { parameters, sent: 0, instruments: Vec::new() })
    }

    fn start(&mut self, context: &mut Context) {
        context.every(Duration::from_millis(1), 0);
    }

    fn instrument(&mut self, _context: &mut Context, instrument: &Instrument) {
        self.instruments.push(*instrument);
    }

    fn timer(&mut self, context: &mut Context, _timer: Timer) {
        for _ in 0..self.parameters.at_once.min(self.parameters.orders.saturating_sub(self.sent)) {
            let Some(instrument) = self.instruments.get(self.sent as usize % self.instruments.len().max(1))
            else {
                return;
            };
            let side = if (self.sent / 7).is_multiple_of(2) { Side::Buy } else { Side::Sell };
            let away = (1 + (self.sent / 14) as i64 % self.parameters.levels) * instrument.tick.0.max(1);
            let price = Price(instrument.reference_price.0 - away * side.sign());
            let lot = Quantity(instrument.lot.0.max(1));
            match context.order(OrderRequest::limit(side, instrument.id, price, lot)) {
                Ok(_) => self.sent += 1,
                Err(_) => return,
            }
        }
    }
}

fn main() -> ExitCode {
    strategy_sdk::main::<Depth>()
}
