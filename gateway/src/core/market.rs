//! The market as the gateway has heard it: pure, and bounded.

use std::collections::{HashMap, VecDeque};

use wire::{
    Best, Instrument, InstrumentId, Level, MAX_INSTRUMENTS, Price, Quantity, Quote, Symbol, TradePrint,
};

use crate::view::{Bar, BarSpan, InstrumentView, QuoteView, TradeView};

/// Trades of an instrument that are kept.
const TRADES: usize = 512;
/// Bars of an instrument that are kept, of each length.
const BARS: usize = 1_440;

const SECOND_NS: u64 = 1_000_000_000;

/// All instruments.
#[derive(Debug, Default)]
pub(crate) struct Market {
    /// By number.
    books: Vec<Option<Box<Book>>>,
    numbers: HashMap<String, InstrumentId>,
}

/// One instrument.
#[derive(Debug)]
struct Book {
    instrument: Instrument,
    quote: Option<(Quote, u64)>,
    trades: VecDeque<TradePrint>,
    seconds: Bars,
    minutes: Bars,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct OneBar {
    begin_ns: u64,
    prices: [Price; 4],
    quantity: Quantity,
    trades: u64,
}

#[derive(Debug)]
struct Bars {
    span_ns: u64,
    bars: VecDeque<OneBar>,
}

impl Bars {
    fn add(&mut self, time_ns: u64, price: Price, quantity: Quantity) {
        let begin_ns = time_ns - time_ns % self.span_ns;
        match self.bars.back_mut() {
            Some(bar) if bar.begin_ns >= begin_ns => {
                let [_, high, low, close] = &mut bar.prices;
                (*high, *low, *close) = ((*high).max(price), (*low).min(price), price);
                bar.quantity = Quantity(bar.quantity.0.saturating_add(quantity.0));
                bar.trades += 1;
            }
            _ => {
                if self.bars.len() == BARS {
                    self.bars.pop_front();
                }
                self.bars.push_back(OneBar { begin_ns, prices: [price; 4], quantity, trades: 1 });
            }
        }
    }

    fn last(&self, limit: usize) -> Vec<Bar> {
        let from = self.bars.len().saturating_sub(limit);
        let view = |bar: &OneBar| {
            let [open, high, low, close] = bar.prices.map(|price| price.to_string());
            Bar {
                begin_ns: bar.begin_ns,
                open,
                high,
                low,
                close,
                quantity: bar.quantity.0,
                trades: bar.trades,
            }
        };
        self.bars.iter().skip(from).map(view).collect()
    }
}

impl Market {
    fn book(&self, instrument: InstrumentId) -> Option<&Book> {
        self.books.get(instrument.0 as usize)?.as_deref()
    }

    fn book_mut(&mut self, instrument: InstrumentId) -> Option<&mut Book> {
        self.books.get_mut(instrument.0 as usize)?.as_deref_mut()
    }

    pub(crate) fn list(&mut self, instrument: &Instrument) {
        let (id, symbol) = (instrument.id, instrument.symbol.to_string());
        if id.0 >= MAX_INSTRUMENTS {
            return;
        }
        let place = id.0 as usize;
        if self.books.len() <= place {
            self.books.resize_with(place + 1, || None);
        }
        let bars = |span_ns| Bars { span_ns, bars: VecDeque::new() };
        let book = self.books[place].get_or_insert_with(|| {
            Box::new(Book {
                instrument: *instrument,
                quote: None,
                trades: VecDeque::new(),
                seconds: bars(SECOND_NS),
                minutes: bars(60 * SECOND_NS),
            })
        });
        book.instrument = *instrument;
        self.numbers.insert(symbol, id);
    }

    pub(crate) fn quote(&mut self, quote: &Quote, published_ns: u64) -> Option<Symbol> {
        let book = self.book_mut(quote.instrument)?;
        book.quote = Some((*quote, published_ns));
        Some(book.instrument.symbol)
    }

    /// The best is the first level of a quote that has no others.
    pub(crate) fn best(
        &mut self,
        instrument: InstrumentId,
        best: &Best,
        published_ns: u64,
    ) -> Option<Symbol> {
        let known = self.book(instrument)?.quote.as_ref().map(|(quote, _)| *quote);
        let mut quote = known.unwrap_or_else(|| Quote::empty(instrument));
        let side = |level: Option<Level>| {
            let mut levels = [Level::EMPTY; wire::LEVELS];
            levels[0] = level.unwrap_or(Level::EMPTY);
            levels
        };
        (quote.bids, quote.asks) = (side(best.best_bid()), side(best.best_ask()));
        self.quote(&quote, published_ns)
    }

    pub(crate) fn trade(&mut self, print: &TradePrint, published_ns: u64) -> Option<Symbol> {
        let book = self.book_mut(print.instrument)?;
        if let Some((quote, _)) = &mut book.quote {
            (quote.last_price, quote.last_quantity) = (print.price, print.quantity);
        }
        if book.trades.len() == TRADES {
            book.trades.pop_front();
        }
        book.trades.push_back(*print);
        if print.price.is_some() {
            let time = if print.event_time.0 == 0 { published_ns } else { print.event_time.0 };
            book.seconds.add(time, print.price, print.quantity);
            book.minutes.add(time, print.price, print.quantity);
        }
        Some(book.instrument.symbol)
    }

    pub(crate) fn instruments(&self) -> Vec<InstrumentView> {
        self.books.iter().flatten().map(|book| InstrumentView::of(&book.instrument)).collect()
    }

    /// By its symbol, or by its number.
    pub(crate) fn find(&self, text: &str) -> Option<InstrumentView> {
        let by_number = || text.parse().ok().map(InstrumentId);
        let id = self.numbers.get(text).copied().or_else(by_number)?;
        self.book(id).map(|book| InstrumentView::of(&book.instrument))
    }

    pub(crate) fn latest(&self, instrument: InstrumentId) -> Option<QuoteView> {
        let book = self.book(instrument)?;
        let (quote, published_ns) = book.quote.as_ref()?;
        Some(QuoteView::of(quote, book.instrument.symbol, *published_ns))
    }

    pub(crate) fn trades(&self, instrument: InstrumentId, limit: usize) -> Vec<TradeView> {
        let Some(book) = self.book(instrument) else { return Vec::new() };
        let from = book.trades.len().saturating_sub(limit);
        book.trades.iter().skip(from).map(TradeView::of).collect()
    }

    pub(crate) fn bars(&self, instrument: InstrumentId, span: BarSpan, limit: usize) -> Vec<Bar> {
        let Some(book) = self.book(instrument) else { return Vec::new() };
        match span {
            BarSpan::Second => book.seconds.last(limit),
            BarSpan::Minute => book.minutes.last(limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_the_prices_of_their_span_and_are_bounded() {
        let mut bars = Bars { span_ns: SECOND_NS, bars: VecDeque::new() };
        for (time, price) in [(10, 5), (20, 9), (30, 2), (SECOND_NS, 4)] {
            bars.add(time, Price(price * Price::ONE), Quantity(3));
        }
        let shown = bars.last(10);
        assert_eq!((shown.len(), shown[0].quantity, shown[0].trades), (2, 9, 3));
        let first = [&shown[0].open, &shown[0].high, &shown[0].low, &shown[0].close];
        assert_eq!(first, ["5", "9", "2", "2"]);
        for second in 2..5_000 {
            bars.add(second * SECOND_NS, Price(1), Quantity(1));
        }
        assert_eq!((bars.bars.len(), bars.last(7).len()), (BARS, 7));
    }
}
