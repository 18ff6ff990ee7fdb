//! Price bands that follow the market, where an instrument has no reference price of its own: a recorded day's.
//!
//! A band lies around the last trade that md has published, before the first one around the middle of the best bid and ask, and
//! before those there is none. The quote is copied from shared memory when an order comes, so nothing is read without one.

use node::{Depths, Frame, Node, RunError};
use wire::{InstrumentId, Message, NewOrder, Price, Quote, ReplaceOrder};

use super::Td;

pub(super) fn open(node: &Node) -> Result<Option<Depths>, RunError> {
    Depths::of(node.instance())
        .map_err(|error| RunError::failed(format!("cannot read the latest quotes: {error}")))
}

/// The instrument of a request that has a price.
fn priced(frame: &Frame<'_>) -> Option<InstrumentId> {
    match frame.message_id {
        NewOrder::ID => NewOrder::read(frame.payload, |order| order.instrument).ok(),
        ReplaceOrder::ID => ReplaceOrder::read(frame.payload, |replace| replace.instrument).ok(),
        _ => None,
    }
}

/// What a band lies around.
fn mark(quote: &Quote) -> Price {
    let last = Some(quote.last_price).filter(|price| price.is_some());
    last.or_else(|| quote.mid()).unwrap_or(Price::NONE)
}

impl Td {
    /// Before a request is checked: its instrument's band lies around the latest mark.
    pub(super) fn follow_the_market(&mut self, frame: &Frame<'_>) {
        let Some(depths) = &self.depths else { return };
        let followed = priced(frame).filter(|instrument| self.gateway.follows(*instrument));
        if let Some(instrument) = followed
            && let Ok(quote) = depths.get(instrument)
        {
            self.gateway.set_reference_price(instrument, mark(&quote));
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::{Level, Quantity};

    use super::*;

    #[test]
    fn a_band_lies_around_the_last_trade_and_before_it_around_the_middle() {
        let level = |price| Level { price: Price(price), quantity: Quantity(1) };
        let mut quote = Quote::empty(InstrumentId(1));
        assert_eq!(mark(&quote), Price::NONE);
        quote.bids[0] = level(90);
        assert_eq!(mark(&quote), Price::NONE, "one side says little");
        quote.asks[0] = level(199_999);
        assert_eq!(mark(&quote), Price(100_044));
        quote.last_price = Price(95);
        assert_eq!(mark(&quote), Price(95), "a stub quote moves no band");
    }
}
