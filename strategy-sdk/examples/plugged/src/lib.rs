//! A strategy that is a program, and a plug-in for the one process of a backtest.
//!
//! It buys a lot at the best ask until it has as many as it may, sells them at the best bid until it is as many short, and
//! panics if it is told to.

use strategy_sdk::{Context, Deserialize, OrderRequest, ParameterError, Quantity, Quote, Side, Strategy};

strategy_sdk::export!(Plugged);

/// `params` in the platform file.
#[derive(Clone, Debug, Deserialize)]
#[serde(crate = "strategy_sdk::serde", default, deny_unknown_fields)]
pub struct Parameters {
    /// Lots that it may be long or short in one instrument.
    pub max_position: i64,
    /// Panics at this quote; 0: at none.
    pub panics_at: u64,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { max_position: 3, panics_at: 0 }
    }
}

/// The strategy.
#[derive(Debug)]
pub struct Plugged {
    parameters: Parameters,
    side: Side,
    quotes: u64,
}

impl Strategy for Plugged {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Plugged, ParameterError> {
        if parameters.max_position < 1 {
            return Err(ParameterError::new("max_position", "must be at least 1"));
        }
        Ok(Plugged { parameters, side: Side::Buy, quotes: 0 })
    }

    fn quote(&mut self, context: &mut Context, quote: &Quote) {
        self.quotes += 1;
        assert!(self.quotes != self.parameters.panics_at, "told to panic at quote {}", self.quotes);
        let Some(instrument) = context.instrument(quote.instrument) else { return };
        let limit = Quantity(self.parameters.max_position * instrument.lot.0);
        let position = context.position(instrument.id).quantity;
        if position >= limit {
            self.side = Side::Sell;
        } else if position <= Quantity(-limit.0) {
            self.side = Side::Buy;
        }
        let level = match self.side {
            Side::Buy => quote.best_ask(),
            Side::Sell => quote.best_bid(),
        };
        let Some(level) = level else { return };
        let request = OrderRequest::limit(self.side, instrument.id, level.price, instrument.lot).ioc();
        if let Err(error) = context.order(request) {
            context.log(error);
        }
    }
}
