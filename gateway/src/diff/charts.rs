//! Bars as DIFF's clients want them: of any length, without holes, each with a number that it keeps for ever. Pure.
//!
//! A bar's number is its begin in units of its length, so that it is the same after a restart and for all clients. Spans
//! without a trade between two with trades are flat at the close before.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use wire::Price;

use super::asked::WIDEST;
use super::json::Object;
use crate::time::AHEAD_NS;
use crate::view::{Bar, BarSpan};

const SECOND_NS: u64 = 1_000_000_000;
const MINUTE_NS: u64 = 60 * SECOND_NS;
const DAY_NS: u64 = 86_400 * SECOND_NS;

/// Days begin at midnight in Beijing.
fn ahead(duration: u64) -> u64 {
    if duration.is_multiple_of(DAY_NS) { AHEAD_NS } else { 0 }
}

/// The number of the bar that this moment belongs to.
fn number(time_ns: u64, duration: u64) -> u64 {
    (time_ns + ahead(duration)) / duration.max(1)
}

/// Which of the gateway's bars those of this length are made of, and how many of them one holds.
pub(crate) fn source(duration: u64) -> Result<(BarSpan, u64), String> {
    if duration == 0 {
        return Err("ticks are not kept: ask for bars of a second or longer".to_owned());
    }
    match (duration % MINUTE_NS, duration % SECOND_NS) {
        (0, _) => Ok((BarSpan::Minute, duration / MINUTE_NS)),
        (_, 0) => Ok((BarSpan::Second, duration / SECOND_NS)),
        _ => Err(format!("bars of {duration} ns are not whole seconds")),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct OneBar {
    open: Price,
    high: Price,
    low: Price,
    close: Price,
    volume: i64,
}

#[derive(Debug)]
struct Shown {
    bar: OneBar,
    version: u64,
    /// `"number":{…}`
    text: Rc<str>,
}

/// The bars of one length of one instrument.
#[derive(Debug)]
pub(crate) struct Series {
    duration: u64,
    bars: BTreeMap<u64, Shown>,
    /// Something has traded since they were taken.
    pub(crate) is_stale: bool,
    pub(crate) taken: Option<Instant>,
}

impl Series {
    pub(crate) fn new(duration: u64) -> Series {
        Series { duration, bars: BTreeMap::new(), is_stale: true, taken: None }
    }

    /// How many of the gateway's bars tell what is new at this moment.
    pub(crate) fn wanted(&self, now: Instant) -> usize {
        let Some((taken, (span, held))) = self.taken.zip(source(self.duration).ok()) else {
            return usize::MAX;
        };
        let span_s = if span == BarSpan::Minute { 60 } else { 1 };
        usize::try_from(held + now.duration_since(taken).as_secs() / span_s + 3).unwrap_or(usize::MAX)
    }

    /// Takes the gateway's latest bars, the oldest first. `is_cut`: there are older ones, so that of the first of ours only a part
    /// may be among them; if it is known, it stays.
    pub(crate) fn take(&mut self, bars: &[Bar], is_cut: bool, versions: &mut u64) -> bool {
        let mut made: BTreeMap<u64, OneBar> = BTreeMap::new();
        let parse = |text: &str| text.parse::<Price>().unwrap_or(Price::NONE);
        let cut =
            bars.first().filter(|_| is_cut).map(|bar| (number(bar.begin_ns, self.duration), bar.begin_ns));
        for bar in bars {
            let key = number(bar.begin_ns, self.duration);
            let (open, high, low, close) =
                (parse(&bar.open), parse(&bar.high), parse(&bar.low), parse(&bar.close));
            let new = OneBar { open, high, low, close, volume: bar.quantity };
            let is_joined = made.contains_key(&key);
            let same = made.entry(key).or_insert(new);
            if is_joined {
                *same = OneBar {
                    open: same.open,
                    high: same.high.max(high),
                    low: same.low.min(low),
                    close,
                    volume: same.volume.saturating_add(bar.quantity),
                };
            }
        }
        if let Some((key, begin_ns)) = cut
            && begin_ns + ahead(self.duration) > key * self.duration
            && self.bars.contains_key(&key)
        {
            made.remove(&key);
        }
        let mut is_changed = false;
        for (key, bar) in made {
            let last = self.bars.last_key_value().map(|(last, shown)| (*last, shown.bar.close));
            if let Some((last, close)) = last
                && key > last + 1
            {
                let flat = OneBar { open: close, high: close, low: close, close, volume: 0 };
                for between in (last + 1).max(key.saturating_sub(WIDEST))..key {
                    self.set(between, flat, versions);
                }
            }
            is_changed |= self.set(key, bar, versions);
        }
        while self.bars.len() > WIDEST as usize {
            self.bars.pop_first();
        }
        is_changed
    }

    fn set(&mut self, key: u64, bar: OneBar, versions: &mut u64) -> bool {
        if self.bars.get(&key).is_some_and(|shown| shown.bar == bar) {
            return false;
        }
        *versions += 1;
        let row = Object::new()
            .raw("datetime", key * self.duration - ahead(self.duration).min(key * self.duration))
            .price("open", bar.open)
            .price("high", bar.high)
            .price("low", bar.low)
            .price("close", bar.close)
            .raw("volume", bar.volume)
            .raw("open_oi", 0)
            .raw("close_oi", 0)
            .end();
        self.bars.insert(key, Shown { bar, version: *versions, text: format!("\"{key}\":{row}").into() });
        true
    }

    pub(crate) fn last(&self) -> Option<u64> {
        self.bars.last_key_value().map(|(last, _)| *last)
    }

    pub(crate) fn first(&self) -> Option<u64> {
        self.bars.first_key_value().map(|(first, _)| *first)
    }

    pub(crate) fn has(&self, key: u64) -> bool {
        self.bars.contains_key(&key)
    }

    /// Those from this number on that have changed behind this version.
    pub(crate) fn since(&self, from: u64, seen: u64) -> impl Iterator<Item = &str> {
        self.bars.range(from..).filter(move |(_, shown)| shown.version > seen).map(|(_, shown)| &*shown.text)
    }

    pub(crate) fn is_new(&self, seen: u64) -> bool {
        // Only the last ones ever change.
        self.bars.iter().next_back().is_some_and(|(_, shown)| shown.version > seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(begin_s: u64, price: i64, quantity: i64) -> Bar {
        let text = price.to_string();
        Bar {
            begin_ns: begin_s * SECOND_NS,
            open: text.clone(),
            high: text.clone(),
            low: text.clone(),
            close: text,
            quantity,
            trades: 1,
        }
    }

    fn shown(series: &Series) -> Vec<(u64, i64, i64)> {
        let one = |(key, shown): (&u64, &Shown)| (*key, shown.bar.close.0 / Price::ONE, shown.bar.volume);
        series.bars.iter().map(one).collect()
    }

    #[test]
    fn bars_are_joined_and_holes_are_flat() {
        let (mut series, mut version) = (Series::new(5 * SECOND_NS), 0);
        assert!(series.take(&[bar(50, 1, 2), bar(53, 4, 2), bar(66, 3, 1)], true, &mut version));
        assert_eq!(shown(&series), [(10, 4, 4), (11, 4, 0), (12, 4, 0), (13, 3, 1)]);
        let seen = version;
        assert!(series.take(&[bar(66, 3, 1), bar(67, 5, 1), bar(71, 6, 1)], false, &mut version));
        assert_eq!(shown(&series)[3..], [(13, 5, 2), (14, 6, 1)]);
        assert_eq!(series.since(10, seen).count(), 2);
        assert!(!series.take(&[bar(71, 6, 1)], true, &mut version), "nothing has changed");
        assert!(!series.is_new(version) && series.is_new(version - 1));
    }

    #[test]
    fn a_bar_of_which_only_the_end_is_told_keeps_its_begin() {
        let (mut series, mut version) = (Series::new(MINUTE_NS * 5), 0);
        series.take(&[bar(300, 1, 1), bar(360, 9, 1), bar(540, 2, 1)], false, &mut version);
        series.take(&[bar(540, 2, 1), bar(600, 7, 1)], true, &mut version);
        assert_eq!(shown(&series), [(1, 2, 3), (2, 7, 1)]);
        assert_eq!(series.bars[&1].bar.high, Price(9 * Price::ONE));
    }

    #[test]
    fn days_are_beijing_s() {
        assert_eq!((number(15 * 3_600 * SECOND_NS, DAY_NS), number(17 * 3_600 * SECOND_NS, DAY_NS)), (0, 1));
        assert!(source(0).is_err() && source(SECOND_NS / 2).is_err());
        assert_eq!(source(90 * SECOND_NS), Ok((BarSpan::Second, 90)));
    }
}
