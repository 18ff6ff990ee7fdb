//! Latest quote and mark of each instrument.

use wire::{Best, InstrumentId, MAX_INSTRUMENTS, Price, Quote, TradePrint};

/// Latest market data, by instrument.
///
/// The mark is the mid of the latest quote, or best; where that has an empty side, the latest trade's price; where there
/// is none either, the mark before. [`Price::NONE`] before the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Marks(Vec<Option<Box<Latest>>>);

#[derive(Clone, Debug, PartialEq)]
struct Latest {
    quote: Option<Quote>,
    last_trade: Price,
    mark: Price,
    /// The latest quote or best has both sides: its mid is the mark, whatever trades.
    has_mid: bool,
}

impl Latest {
    /// To the mid, or without one to the last trade.
    fn move_to(&mut self, mid: Option<Price>) {
        match mid {
            Some(mid) => self.mark = mid,
            None if self.last_trade.is_some() => self.mark = self.last_trade,
            None => {}
        }
    }
}

impl Marks {
    /// False when the instrument's id is impossible.
    pub(crate) fn on_quote(&mut self, quote: &Quote) -> bool {
        let Some(latest) = self.latest(quote.instrument) else { return false };
        latest.quote = Some(*quote);
        if quote.last_price.is_some() {
            latest.last_trade = quote.last_price;
        }
        latest.has_mid = quote.best_bid().is_some() && quote.best_ask().is_some();
        latest.move_to(quote.mid());
        true
    }

    /// False when the instrument's id is impossible.
    pub(crate) fn on_best(&mut self, instrument: InstrumentId, best: &Best) -> bool {
        let Some(latest) = self.latest(instrument) else { return false };
        latest.has_mid = best.mid().is_some();
        latest.move_to(best.mid());
        true
    }

    /// False when the instrument's id is impossible.
    pub(crate) fn on_trade(&mut self, trade: &TradePrint) -> bool {
        let Some(latest) = self.latest(trade.instrument) else { return false };
        if trade.price.is_some() {
            latest.last_trade = trade.price;
            if !latest.has_mid {
                latest.mark = trade.price;
            }
        }
        true
    }

    /// Takes over a mark from a snapshot.
    pub(crate) fn restore_mark(&mut self, instrument: InstrumentId, mark: Price) -> bool {
        self.latest(instrument).map(|latest| latest.mark = mark).is_some()
    }

    /// Takes over a quote from a snapshot. A mark that is there already may come from a later trade, and stays.
    pub(crate) fn restore_quote(&mut self, quote: &Quote) -> bool {
        let before = self.mark(quote.instrument);
        self.on_quote(quote) && (!before.is_some() || self.restore_mark(quote.instrument, before))
    }

    pub(crate) fn mark(&self, instrument: InstrumentId) -> Price {
        self.get(instrument).map_or(Price::NONE, |latest| latest.mark)
    }

    pub(crate) fn quote(&self, instrument: InstrumentId) -> Option<&Quote> {
        self.get(instrument)?.quote.as_ref()
    }

    /// By ascending instrument.
    pub(crate) fn quotes(&self) -> impl Iterator<Item = &Quote> {
        self.0.iter().flatten().filter_map(|latest| latest.quote.as_ref())
    }

    fn get(&self, instrument: InstrumentId) -> Option<&Latest> {
        self.0.get(instrument.0 as usize)?.as_deref()
    }

    fn latest(&mut self, instrument: InstrumentId) -> Option<&mut Latest> {
        if instrument.0 == 0 || instrument.0 >= MAX_INSTRUMENTS {
            return None;
        }
        let index = instrument.0 as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        Some(self.0[index].get_or_insert_with(|| {
            Box::new(Latest { quote: None, last_trade: Price::NONE, mark: Price::NONE, has_mid: false })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Aggressor, Level, Nanos, Quantity};

    fn quote(bid: i64, ask: i64, last: i64) -> Quote {
        let level = |price| match price {
            0 => Level::EMPTY,
            price => Level { price: Price(price), quantity: Quantity(1) },
        };
        let mut quote = Quote::empty(InstrumentId(1));
        quote.bids[0] = level(bid);
        quote.asks[0] = level(ask);
        quote.last_price = if last == 0 { Price::NONE } else { Price(last) };
        quote
    }

    fn trade(price: i64) -> TradePrint {
        TradePrint {
            instrument: InstrumentId(1),
            aggressor: Aggressor::Buy,
            reserved: [0; 3],
            due: Nanos(0),
            event_time: Nanos(0),
            sequence: 0,
            price: Price(price),
            quantity: Quantity(1),
            trade_id: 0,
        }
    }

    #[test]
    fn the_mark_is_the_mid_then_the_last_trade_then_what_it_was() {
        let mut marks = Marks::default();
        let one = InstrumentId(1);
        assert_eq!(marks.mark(one), Price::NONE);
        assert!(marks.on_quote(&quote(0, 12, 0)));
        assert_eq!(marks.mark(one), Price::NONE, "one side alone is no mid");
        assert!(marks.on_trade(&trade(9)));
        assert_eq!(marks.mark(one), Price(9));
        assert!(marks.on_quote(&quote(10, 12, 9)));
        assert_eq!(marks.mark(one), Price(11));
        assert!(marks.on_trade(&trade(12)));
        assert_eq!(marks.mark(one), Price(11), "there is a mid");
        assert!(marks.on_quote(&quote(10, 0, 0)));
        assert_eq!(marks.mark(one), Price(12), "the last trade");
        assert!(marks.on_quote(&quote(0, 0, 13)));
        assert_eq!(marks.mark(one), Price(13));
        assert_eq!(marks.quote(one), Some(&quote(0, 0, 13)));
    }

    #[test]
    fn bests_give_the_marks_that_their_quotes_give() {
        let (mut by_quote, mut by_best) = (Marks::default(), Marks::default());
        let one = InstrumentId(1);
        for (bid, ask, traded) in [(0, 12, 0), (0, 12, 9), (10, 12, 0), (10, 12, 13), (10, 0, 0), (0, 0, 14)]
        {
            if traded != 0 {
                assert!(by_quote.on_trade(&trade(traded)) && by_best.on_trade(&trade(traded)));
            }
            let quote = quote(bid, ask, traded);
            assert!(by_quote.on_quote(&quote) && by_best.on_best(one, &Best::of(&quote)));
            assert_eq!(by_quote.mark(one), by_best.mark(one), "{bid} {ask} {traded}");
        }
        assert_eq!(by_best.quote(one), None, "the depth is not known");
        assert!(!by_best.on_best(InstrumentId(0), &Best::of(&quote(1, 2, 0))));
    }

    #[test]
    fn numbers_that_are_no_instrument_are_refused() {
        let mut marks = Marks::default();
        for id in [0, MAX_INSTRUMENTS, u32::MAX] {
            assert!(!marks.on_quote(&Quote::empty(InstrumentId(id))));
            assert!(!marks.on_trade(&TradePrint { instrument: InstrumentId(id), ..trade(1) }));
        }
        assert_eq!(marks.quotes().count(), 0);
    }
}
