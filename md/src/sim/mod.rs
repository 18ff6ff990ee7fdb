//! Simulated instruments: seeded, so that one seed always gives the same quotes.
//!
//! A `SimInstrument` is a pure generator: given the due time of a quote, it returns the quote, and now and then a
//! trade. Its mid price is a random walk of one tick at a time that is drawn back to its start, so that prices stay in
//! range in long runs. The ten levels are one tick apart around it. The random numbers depend only on its seed and the
//! number of calls, never on a clock.

mod schedule;

pub(crate) use schedule::Schedule;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use wire::{
    Aggressor, Instrument, InstrumentId, LEVELS, Level, Nanos, Price, Quantity, Quote, Symbol, TradePrint,
};

/// Tick of every simulated instrument: 0.01.
pub const TICK: Price = Price(10_000_000);
/// Greatest distance of the walk from its start, in ticks.
const LEASH: i64 = 400;
/// One quote in this many comes with a trade.
const TRADE_EVERY: u32 = 8;

/// The result of one step of an instrument: the trade, if there is one, is published first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SimEvent {
    /// A trade at the touch of the previous quote.
    pub trade: Option<TradePrint>,
    /// The new quote.
    pub quote: Quote,
}

/// One simulated instrument.
#[derive(Clone, Debug)]
pub(crate) struct SimInstrument {
    instrument: Instrument,
    random: ChaCha8Rng,
    /// Best bid in ticks; the best ask is `spread` above.
    bid: i64,
    spread: i64,
    home: i64,
    quote: Quote,
}

/// The first `count` simulated instruments: `SIM001`, `SIM002`, … with the ids 1, 2, …
pub fn instruments(count: u32) -> Vec<Instrument> {
    (0..count).map(instrument).collect()
}

fn instrument(index: u32) -> Instrument {
    Instrument {
        id: InstrumentId(index + 1),
        reserved: 0,
        symbol: Symbol::new(&format!("SIM{:03}", index + 1)).unwrap_or_default(),
        tick: TICK,
        lot: Quantity(1),
        price_low: Price::NONE,
        price_high: Price::NONE,
        reference_price: Price(home(index) * TICK.0),
        max_quantity: Quantity::ZERO,
        multiplier: 0,
        currency: wire::Currency::EMPTY,
    }
}

/// Start price of an instrument, in ticks: 100.00 for the first, 1.00 more for each further one, up to 199.00.
fn home(index: u32) -> i64 {
    10_000 + i64::from(index % 100) * 100
}

impl SimInstrument {
    /// Instrument `index` (from 0) of the simulation with this seed. Instruments of one seed differ.
    pub(crate) fn new(index: u32, seed: u64) -> SimInstrument {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(u64::from(index));
        let instrument = instrument(index);
        let home = home(index);
        SimInstrument { quote: Quote::empty(instrument.id), instrument, random, bid: home, spread: 1, home }
    }

    /// Its description.
    pub(crate) fn instrument(&self) -> &Instrument {
        &self.instrument
    }

    /// Advances past `quotes` quotes, as if they had been returned.
    pub(crate) fn skip(&mut self, quotes: u64) {
        for _ in 0..quotes {
            let _ = self.next(Nanos(0));
        }
    }

    /// The next quote. `due` is stored in the messages, also as the time of the event, and has no other effect.
    pub(crate) fn next(&mut self, due: Nanos) -> SimEvent {
        let trade = self.trade(due);
        self.walk();
        let quote = &mut self.quote;
        (quote.due, quote.event_time, quote.sequence) = (due, due, quote.sequence + 1);
        if let Some(trade) = &trade {
            (quote.last_price, quote.last_quantity) = (trade.price, trade.quantity);
        }
        for depth in 0..LEVELS {
            let away = depth as i64;
            quote.bids[depth] = level(&mut self.random, self.bid - away, depth);
            quote.asks[depth] = level(&mut self.random, self.bid + self.spread + away, depth);
        }
        SimEvent { trade, quote: *quote }
    }

    /// A trade against the last quote.
    fn trade(&mut self, due: Nanos) -> Option<TradePrint> {
        if !self.random.random_ratio(1, TRADE_EVERY) {
            return None;
        }
        let buys = self.random.random::<bool>();
        let (touch, aggressor) = if buys {
            (self.quote.best_ask()?, Aggressor::Buy)
        } else {
            (self.quote.best_bid()?, Aggressor::Sell)
        };
        let lots = self.random.random_range(1..=(touch.quantity.0 / 100).max(1));
        Some(TradePrint {
            instrument: self.instrument.id,
            aggressor,
            reserved: [0; 3],
            due,
            event_time: due,
            sequence: self.quote.sequence + 1,
            price: touch.price,
            quantity: Quantity(lots * 100),
            trade_id: self.quote.sequence + 1,
        })
    }

    fn walk(&mut self) {
        let away = self.bid - self.home;
        // The greater the distance from home, the likelier a step back: certain at the greatest distance.
        let up = self.random.random_range(-LEASH..LEASH) >= away;
        match self.random.random_range(0..4_u32) {
            0 => self.bid += if up { 1 } else { -1 },
            1 => self.spread = self.random.random_range(1..=3),
            _ => {}
        }
    }
}

fn level(random: &mut ChaCha8Rng, ticks: i64, depth: usize) -> Level {
    let lots = random.random_range(1..=5 + 2 * depth as i64);
    Level { price: Price(ticks * TICK.0), quantity: Quantity(lots * 100) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(index: u32, seed: u64, count: u64) -> Vec<SimEvent> {
        let mut instrument = SimInstrument::new(index, seed);
        (0..count).map(|number| instrument.next(Nanos(number * 10))).collect()
    }

    #[test]
    fn one_seed_gives_one_run_whatever_the_clock_says() {
        assert_eq!(run(0, 1, 500), run(0, 1, 500));
        assert_ne!(run(0, 1, 500), run(0, 2, 500));
        let prices = |events: Vec<SimEvent>| -> Vec<i64> {
            events.iter().map(|event| event.quote.bids[0].price.0 % (100 * TICK.0)).collect()
        };
        assert_ne!(prices(run(0, 1, 500)), prices(run(1, 1, 500)));
        let mut late = SimInstrument::new(0, 1);
        let shifted: Vec<_> = (0..500).map(|_| late.next(Nanos(7)).quote.bids).collect();
        assert_eq!(shifted, run(0, 1, 500).iter().map(|event| event.quote.bids).collect::<Vec<_>>());
    }

    #[test]
    fn quotes_are_whole_sorted_on_tick_and_near_home() {
        let listed = instruments(3);
        for event in run(2, 9, 20_000) {
            let Quote { bids, asks, .. } = event.quote;
            assert!(bids.windows(2).all(|pair| pair[0].price > pair[1].price));
            assert!(asks.windows(2).all(|pair| pair[0].price < pair[1].price));
            assert!(bids[0].price < asks[0].price);
            assert!(
                bids.iter().chain(&asks).all(|level| level.quantity.0 > 0 && level.price.is_on_tick(TICK))
            );
            let away = (bids[0].price.0 - listed[2].reference_price.0) / TICK.0;
            assert!(away.abs() <= LEASH, "{away}");
        }
    }

    #[test]
    fn trades_happen_at_the_touch_of_the_quote_before() {
        let events = run(0, 3, 4_000);
        let mut trades = 0;
        for pair in events.windows(2) {
            let Some(trade) = pair[1].trade else { continue };
            trades += 1;
            let touch =
                if trade.aggressor == Aggressor::Buy { pair[0].quote.asks[0] } else { pair[0].quote.bids[0] };
            assert_eq!(trade.price, touch.price);
            assert!(trade.quantity.0 > 0 && trade.quantity.0 <= touch.quantity.0);
            assert_eq!(trade.sequence, pair[1].quote.sequence);
        }
        assert!((300..700).contains(&trades), "{trades} trades in 4,000 quotes");
    }

    #[test]
    fn names_count_from_one() {
        let listed = instruments(1_001);
        assert_eq!(listed[0].symbol.as_str(), "SIM001");
        assert_eq!(listed[1_000].symbol.as_str(), "SIM1001");
        assert_eq!(listed[1_000].id, InstrumentId(1_001));
        assert_eq!(listed[0].reference_price, Price(100 * Price::ONE));
    }
}
