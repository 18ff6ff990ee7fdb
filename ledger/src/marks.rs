//! Latest quote and mark of each instrument.

use wire::{Best, InstrumentId, MAX_INSTRUMENTS, Price, Quote, TradePrint};

/// A book marks at its mid while its spread is no more than this part of the mid, a tenth,
const WIDEST: i128 = 10;

/// or no more than this number of ticks: a price of few ticks has no narrower book.
const NARROW: i128 = 4;

/// Latest market data, by instrument.
///
/// The mark is the mid of the latest quote, or best, while its spread is at most a tenth of the mid, or four ticks. Where it is
/// wider, or a side is empty, it is the latest trade's price; where nothing has traded, the mark before; where there is none, the
/// price that md lists as reference, if a quote bounds it. Such a mark is no lower than the best bid and no higher than the best
/// ask. [`Price::NONE`] before the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Marks {
    latest: Vec<Option<Box<Latest>>>,
    wide: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct Latest {
    quote: Option<Quote>,
    bid: Option<i64>,
    ask: Option<i64>,
    last_trade: Price,
    reference: Price,
    tick: Price,
    mark: Price,
    is_wide: bool,
}

impl Latest {
    const NOTHING: Latest = Latest {
        quote: None,
        bid: None,
        ask: None,
        last_trade: Price::NONE,
        reference: Price::NONE,
        tick: Price(0),
        mark: Price::NONE,
        is_wide: false,
    };

    /// The mid of a book that is not too wide.
    fn mid(&self) -> Option<i64> {
        let (bid, ask) = (i128::from(self.bid?), i128::from(self.ask?));
        let mid = (bid + ask) / 2;
        let widest = (mid.abs() / WIDEST).max(i128::from(self.tick.0) * NARROW);
        (ask - bid <= widest).then_some(mid as i64)
    }

    /// Takes the mark anew. True where the book has become too wide.
    fn measure(&mut self) -> bool {
        let mid = self.mid();
        let was_wide = self.is_wide;
        self.is_wide = mid.is_none() && self.bid.is_some() && self.ask.is_some();
        if let Some(mid) = mid {
            self.mark = Price(mid);
            return false;
        }
        let has_quote = self.bid.is_some() || self.ask.is_some();
        let reference = if has_quote { self.reference } else { Price::NONE };
        let known = [self.last_trade, self.mark, reference].into_iter().find(|price| price.is_some());
        if let Some(price) = known {
            let price = self.bid.map_or(price.0, |bid| price.0.max(bid));
            self.mark = Price(self.ask.map_or(price, |ask| price.min(ask)));
        }
        self.is_wide && !was_wide
    }
}

impl Marks {
    /// The reference price and the tick that md lists for an instrument.
    pub(crate) fn list(&mut self, instrument: InstrumentId, reference: Price, tick: Price) {
        if let Some(latest) = self.latest(instrument) {
            (latest.reference, latest.tick) = (reference, Price(tick.0.max(0)));
        }
    }

    /// False when the instrument's id is impossible.
    pub(crate) fn on_quote(&mut self, quote: &Quote) -> bool {
        let Some(latest) = self.latest(quote.instrument) else { return false };
        latest.quote = Some(*quote);
        if quote.last_price.is_some() {
            latest.last_trade = quote.last_price;
        }
        latest.bid = quote.best_bid().map(|level| level.price.0);
        latest.ask = quote.best_ask().map(|level| level.price.0);
        let has_widened = latest.measure();
        self.wide += u64::from(has_widened);
        true
    }

    /// False when the instrument's id is impossible.
    pub(crate) fn on_best(&mut self, instrument: InstrumentId, best: &Best) -> bool {
        let Some(latest) = self.latest(instrument) else { return false };
        latest.bid = best.best_bid().map(|level| level.price.0);
        latest.ask = best.best_ask().map(|level| level.price.0);
        let has_widened = latest.measure();
        self.wide += u64::from(has_widened);
        true
    }

    /// False when the instrument's id is impossible.
    pub(crate) fn on_trade(&mut self, trade: &TradePrint) -> bool {
        let Some(latest) = self.latest(trade.instrument) else { return false };
        if trade.price.is_some() {
            latest.last_trade = trade.price;
            latest.measure();
        }
        true
    }

    /// How often the book of an instrument has become too wide for its mid to be the mark.
    pub(crate) fn wide_books(&self) -> u64 {
        self.wide
    }

    /// Takes over a mark from a snapshot.
    pub(crate) fn restore_mark(&mut self, instrument: InstrumentId, mark: Price) -> bool {
        self.latest(instrument).map(|latest| latest.mark = mark).is_some()
    }

    /// Takes over a quote from a snapshot. A mark that is there already may come from a later trade, and stays. The quote shows what the
    /// book was like: a trade that comes before the next quote is not measured by it, for the market may have moved since.
    pub(crate) fn restore_quote(&mut self, quote: &Quote) -> bool {
        let before = self.mark(quote.instrument);
        if !self.on_quote(quote) || before.is_some() && !self.restore_mark(quote.instrument, before) {
            return false;
        }
        if let Some(latest) = self.latest(quote.instrument) {
            (latest.bid, latest.ask) = (None, None);
        }
        true
    }

    pub(crate) fn mark(&self, instrument: InstrumentId) -> Price {
        self.get(instrument).map_or(Price::NONE, |latest| latest.mark)
    }

    pub(crate) fn quote(&self, instrument: InstrumentId) -> Option<&Quote> {
        self.get(instrument)?.quote.as_ref()
    }

    /// By ascending instrument.
    pub(crate) fn quotes(&self) -> impl Iterator<Item = &Quote> {
        self.latest.iter().flatten().filter_map(|latest| latest.quote.as_ref())
    }

    fn get(&self, instrument: InstrumentId) -> Option<&Latest> {
        self.latest.get(instrument.0 as usize)?.as_deref()
    }

    fn latest(&mut self, instrument: InstrumentId) -> Option<&mut Latest> {
        if instrument.0 == 0 || instrument.0 >= MAX_INSTRUMENTS {
            return None;
        }
        let index = instrument.0 as usize;
        if self.latest.len() <= index {
            self.latest.resize(index + 1, None);
        }
        Some(self.latest[index].get_or_insert_with(|| Box::new(Latest::NOTHING)))
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
        assert!(marks.on_quote(&quote(0, 102, 0)));
        assert_eq!(marks.mark(one), Price::NONE, "one side alone is no mid");
        assert!(marks.on_trade(&trade(99)));
        assert_eq!(marks.mark(one), Price(99));
        assert!(marks.on_quote(&quote(100, 102, 99)));
        assert_eq!(marks.mark(one), Price(101));
        assert!(marks.on_trade(&trade(102)));
        assert_eq!(marks.mark(one), Price(101), "there is a mid");
        assert!(marks.on_quote(&quote(100, 0, 0)));
        assert_eq!(marks.mark(one), Price(102), "the last trade");
        assert!(marks.on_quote(&quote(0, 0, 103)));
        assert_eq!(marks.mark(one), Price(103));
        assert_eq!(marks.quote(one), Some(&quote(0, 0, 103)));
    }

    #[test]
    fn a_wide_book_does_not_mark_at_its_mid() {
        let mut marks = Marks::default();
        let one = InstrumentId(1);
        marks.on_quote(&quote(1, 1_000, 0));
        assert_eq!(marks.mark(one), Price::NONE, "nothing is known");
        marks.list(one, Price(100), Price(0));
        marks.on_quote(&quote(1, 1_000, 0));
        assert_eq!((marks.mark(one), marks.wide_books()), (Price(100), 1), "as listed; counted once");
        marks.on_quote(&quote(95, 105, 0));
        assert_eq!(marks.mark(one), Price(100), "a tenth of the mid");
        marks.on_trade(&trade(97));
        assert_eq!(marks.mark(one), Price(100), "there is a mid");
        marks.on_quote(&quote(94, 106, 0));
        assert_eq!((marks.mark(one), marks.wide_books()), (Price(97), 2), "the last trade");
        marks.on_quote(&quote(120, 1_000, 0));
        assert_eq!(marks.mark(one), Price(120), "no lower than what is bid");
        marks.on_quote(&quote(1, 90, 0));
        assert_eq!(marks.mark(one), Price(90), "no higher than what is asked");
        marks.on_quote(&quote(0, 80, 0));
        assert_eq!(marks.mark(one), Price(80), "one side bounds it too");
        marks.on_trade(&trade(70));
        assert_eq!((marks.mark(one), marks.wide_books()), (Price(70), 2));
    }

    #[test]
    fn a_book_of_few_ticks_marks_at_its_mid() {
        for (bid, ask, tick, mark) in [
            (8, 9, 1, Some(8)),
            (80, 90, 10, Some(85)),
            (80, 120, 10, Some(100)),
            (80, 121, 10, None),
            (-50, 50, 25, Some(0)),
            (-50, 75, 25, None),
            (-90, -80, 10, Some(-85)),
            (8, 9, 0, None),
            (8, 9, -1, None),
        ] {
            let mut marks = Marks::default();
            marks.list(InstrumentId(1), Price::NONE, Price(tick));
            marks.on_quote(&quote(bid, ask, 0));
            assert_eq!(marks.mark(InstrumentId(1)), mark.map_or(Price::NONE, Price), "{bid} {ask} {tick}");
        }
    }

    #[test]
    fn bests_give_the_marks_that_their_quotes_give() {
        let (mut by_quote, mut by_best) = (Marks::default(), Marks::default());
        let one = InstrumentId(1);
        for (bid, ask, traded) in [
            (0, 12, 0),
            (0, 12, 9),
            (100, 101, 0),
            (100, 101, 13),
            (10, 12, 0),
            (10, 12, 13),
            (10, 0, 0),
            (0, 0, 14),
        ] {
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

    #[test]
    fn a_trade_behind_a_restart_is_not_measured_by_the_book_of_before() {
        let mut marks = Marks::default();
        assert!(marks.restore_mark(InstrumentId(1), Price(945)));
        assert!(marks.restore_quote(&quote(940, 950, 945)));
        assert_eq!(marks.mark(InstrumentId(1)), Price(945));
        // The market has gone up since the snapshot.
        assert!(marks.on_trade(&trade(1_050)));
        assert_eq!(marks.mark(InstrumentId(1)), Price(1_050));
        assert!(marks.on_quote(&quote(1_040, 1_060, 0)));
        assert_eq!(marks.mark(InstrumentId(1)), Price(1_050));
    }
}
