//! Which marks go to td, and when.

use std::collections::BTreeSet;

use wire::{InstrumentId, MAX_INSTRUMENTS, Mark, Price};

/// Keeps marks apart: none without a change, none of an instrument that no account has traded, and those of one instrument
/// no closer than asked.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    /// Nanoseconds between two marks of an instrument; zero: each at once, whatever the time.
    every: u64,
    instruments: Vec<Paced>,
    /// When each changed mark may go.
    waiting: BTreeSet<(u64, InstrumentId)>,
    /// Prices are of the past as long as the market is not read up to here: none goes.
    market_at_start: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Paced {
    price: Price,
    /// What td was told last.
    told: Price,
    /// The next one goes no earlier.
    not_before: u64,
    /// An account has traded it, or tried to.
    is_in_play: bool,
}

const UNKNOWN: Paced = Paced { price: Price::NONE, told: Price::NONE, not_before: 0, is_in_play: false };

impl Pacer {
    /// `every`: nanoseconds; zero: each change at once.
    pub(crate) fn new(every: u64) -> Pacer {
        Pacer { every, instruments: Vec::new(), waiting: BTreeSet::new(), market_at_start: None }
    }

    /// No mark goes before the market is read up to this position: a successor reads it from the oldest price on that the ring holds.
    pub(crate) fn hold_until(&mut self, position: u64) {
        self.market_at_start = Some(position);
    }

    /// The market is read up to this position.
    pub(crate) fn market_read(&mut self, position: u64) {
        self.market_at_start = self.market_at_start.filter(|start| position < *start);
    }

    /// The latest price of an instrument.
    pub(crate) fn price(&mut self, instrument: InstrumentId, price: Price) {
        if let Some(paced) = self.paced(instrument) {
            paced.price = price;
            self.line_up(instrument);
        }
    }

    /// An account has traded it: from now on it has marks.
    pub(crate) fn in_play(&mut self, instrument: InstrumentId) {
        if let Some(paced) = self.paced(instrument) {
            paced.is_in_play = true;
            self.line_up(instrument);
        }
    }

    /// The mark that goes next, if one may go now.
    pub(crate) fn next(&mut self, now: u64) -> Option<Mark> {
        if self.market_at_start.is_some() {
            return None;
        }
        while let Some(&(due, instrument)) = self.waiting.first() {
            if due > now {
                return None;
            }
            let Paced { price, told, .. } = *self.paced(instrument)?;
            if price != told {
                return Some(Mark { instrument, reserved: 0, price });
            }
            // It has moved and come back.
            self.waiting.remove(&(due, instrument));
        }
        None
    }

    /// The mark has gone.
    pub(crate) fn sent(&mut self, mark: &Mark, now: u64) {
        let every = self.every;
        if let Some(paced) = self.paced(mark.instrument) {
            let key = (paced.not_before, mark.instrument);
            paced.told = mark.price;
            paced.not_before = if every == 0 { 0 } else { now.saturating_add(every) };
            self.waiting.remove(&key);
        }
    }

    /// A predecessor has sent this mark.
    pub(crate) fn was_sent(&mut self, mark: &Mark) {
        if let Some(paced) = self.paced(mark.instrument) {
            paced.told = mark.price;
        }
    }

    /// There was no room: the mark is left out, and the one of then is tried after this many nanoseconds.
    pub(crate) fn skip(&mut self, mark: &Mark, now: u64, pause: u64) {
        let pause = pause.max(self.every);
        if let Some(paced) = self.paced(mark.instrument) {
            let key = (paced.not_before, mark.instrument);
            paced.not_before = now.saturating_add(pause);
            let next = (paced.not_before, mark.instrument);
            self.waiting.remove(&key);
            self.waiting.insert(next);
        }
    }

    /// When the next mark may go.
    pub(crate) fn deadline(&self) -> Option<u64> {
        let first = self.waiting.first().filter(|_| self.market_at_start.is_none());
        first.map(|(due, _)| *due)
    }

    fn line_up(&mut self, instrument: InstrumentId) {
        let Some(paced) = self.paced(instrument) else { return };
        if paced.is_in_play && paced.price.is_some() && paced.price != paced.told {
            let key = (paced.not_before, instrument);
            self.waiting.insert(key);
        }
    }

    fn paced(&mut self, instrument: InstrumentId) -> Option<&mut Paced> {
        let index = instrument.0 as usize;
        if instrument.0 == 0 || instrument.0 >= MAX_INSTRUMENTS {
            return None;
        }
        if self.instruments.len() <= index {
            self.instruments.resize(index + 1, UNKNOWN);
        }
        self.instruments.get_mut(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: InstrumentId = InstrumentId(1);
    const TWO: InstrumentId = InstrumentId(2);

    fn mark(instrument: InstrumentId, price: i64) -> Mark {
        Mark { instrument, reserved: 0, price: Price(price) }
    }

    /// All that may go now.
    fn drain(pacer: &mut Pacer, now: u64) -> Vec<(u32, i64)> {
        let mut gone = Vec::new();
        while let Some(mark) = pacer.next(now) {
            pacer.sent(&mark, now);
            gone.push((mark.instrument.0, mark.price.0));
        }
        gone
    }

    #[test]
    fn marks_of_an_instrument_keep_their_distance_and_the_latest_goes() {
        let mut pacer = Pacer::new(100);
        pacer.in_play(ONE);
        pacer.in_play(TWO);
        pacer.price(ONE, Price(10));
        assert_eq!(drain(&mut pacer, 1_000), [(1, 10)], "the first at once");
        for (now, price) in [(1_001, 11), (1_050, 12), (1_099, 13)] {
            pacer.price(ONE, Price(price));
            assert_eq!(drain(&mut pacer, now), []);
        }
        assert_eq!(pacer.deadline(), Some(1_100));
        pacer.price(TWO, Price(7));
        assert_eq!(drain(&mut pacer, 1_099), [(2, 7)], "others do not wait for it");
        assert_eq!(drain(&mut pacer, 1_100), [(1, 13)]);
        assert_eq!((drain(&mut pacer, 9_000), pacer.deadline()), (vec![], None), "no change, no mark");
    }

    #[test]
    fn what_has_moved_and_come_back_is_no_change() {
        let mut pacer = Pacer::new(100);
        pacer.in_play(ONE);
        pacer.price(ONE, Price(10));
        assert_eq!(drain(&mut pacer, 0), [(1, 10)]);
        pacer.price(ONE, Price(11));
        pacer.price(ONE, Price(10));
        assert_eq!((drain(&mut pacer, 500), pacer.deadline()), (vec![], None));
    }

    #[test]
    fn a_mark_that_a_predecessor_has_sent_does_not_go_again() {
        let mut pacer = Pacer::new(0);
        pacer.in_play(ONE);
        pacer.was_sent(&mark(ONE, 10));
        pacer.price(ONE, Price(10));
        assert_eq!(drain(&mut pacer, 0), []);
        pacer.price(ONE, Price(11));
        assert_eq!(drain(&mut pacer, 0), [(1, 11)]);
    }

    #[test]
    fn only_what_accounts_trade_has_marks_and_has_the_latest_from_then_on() {
        let mut pacer = Pacer::new(0);
        pacer.price(ONE, Price(10));
        pacer.price(ONE, Price(11));
        assert_eq!(drain(&mut pacer, 0), []);
        pacer.in_play(ONE);
        pacer.in_play(ONE);
        assert_eq!(drain(&mut pacer, 0), [(1, 11)]);
        pacer.in_play(TWO);
        assert_eq!(drain(&mut pacer, 0), [], "no price, no mark");
        pacer.in_play(InstrumentId(0));
        pacer.price(InstrumentId(MAX_INSTRUMENTS), Price(1));
        assert_eq!(drain(&mut pacer, 0), [], "no instruments");
    }

    #[test]
    fn in_lock_step_each_change_goes_at_once_whatever_the_time() {
        let mut pacer = Pacer::new(0);
        pacer.in_play(ONE);
        for price in 1..5 {
            pacer.price(ONE, Price(price));
            assert_eq!(drain(&mut pacer, 0), [(1, price)]);
        }
    }

    #[test]
    fn a_mark_without_room_is_left_out_for_the_one_of_then() {
        let mut pacer = Pacer::new(100);
        pacer.in_play(ONE);
        pacer.price(ONE, Price(10));
        assert_eq!(pacer.next(50), Some(mark(ONE, 10)));
        pacer.skip(&mark(ONE, 10), 50, 7);
        assert_eq!((pacer.next(149), pacer.deadline()), (None, Some(150)));
        pacer.price(ONE, Price(12));
        assert_eq!(drain(&mut pacer, 150), [(1, 12)]);
        // Without a distance, the pause alone counts.
        let mut pacer = Pacer::new(0);
        pacer.in_play(ONE);
        pacer.price(ONE, Price(10));
        pacer.skip(&mark(ONE, 10), 50, 7);
        assert_eq!(pacer.deadline(), Some(57));
        assert_eq!(drain(&mut pacer, 57), [(1, 10)]);
    }

    #[test]
    fn a_successor_sends_no_price_that_its_predecessor_had_seen_pass() {
        let instrument = InstrumentId(3);
        let mut pacer = Pacer::new(100);
        pacer.was_sent(&mark(instrument, 105));
        pacer.in_play(instrument);
        pacer.hold_until(1_000);
        for (position, price) in [(400, 94), (700, 95), (999, 96)] {
            pacer.price(instrument, Price(price));
            pacer.market_read(position);
            assert_eq!((pacer.next(5), pacer.deadline()), (None, None), "{position}");
        }
        pacer.price(instrument, Price(106));
        pacer.market_read(1_000);
        assert_eq!(pacer.next(5), Some(mark(instrument, 106)));
    }
}
