//! Bars: what trades or mids of an interval come to.

use std::collections::VecDeque;
use std::time::Duration;

use wire::{Aggressor, InstrumentId, MAX_INSTRUMENTS, Nanos, Price, Quantity};

/// A series of bars, for [`Context::cancel_bars`](crate::Context::cancel_bars). Never given out twice by one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BarsId(u32);

/// When a bar is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarRule {
    /// At the next whole multiple of this long since the epoch, by the market's time.
    Time(Duration),
    /// After so many trades or mids.
    Count(u64),
    /// As soon as at least so much has traded. A trade is never divided.
    Volume(Quantity),
}

/// What bars are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarSource {
    /// Trades.
    Trades,
    /// The middle between the best bid and the best ask, at each quote that has both.
    Mids,
}

/// A series of bars, before it is asked for with [`Context::bars`](crate::Context::bars).
///
/// ```
/// use std::time::Duration;
///
/// use strategy_sdk::{BarRequest, BarSource, InstrumentId};
///
/// let request = BarRequest::time(InstrumentId(1), Duration::from_secs(60)).of_mids().with_flat();
/// assert_eq!((request.source, request.flat), (BarSource::Mids, true));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "bars are asked for with Context::bars"]
pub struct BarRequest {
    /// Of which instrument; the strategy must read it.
    pub instrument: InstrumentId,
    /// When a bar is full.
    pub rule: BarRule,
    /// What they are made of.
    pub source: BarSource,
    /// An interval without a trade or mid gives a bar too: all its prices are the close of the one before.
    pub flat: bool,
}

impl BarRequest {
    /// Of trades, by time.
    pub fn time(instrument: InstrumentId, interval: Duration) -> BarRequest {
        BarRequest { instrument, rule: BarRule::Time(interval), source: BarSource::Trades, flat: false }
    }

    /// Of so many trades each.
    pub fn count(instrument: InstrumentId, count: u64) -> BarRequest {
        BarRequest { rule: BarRule::Count(count), ..BarRequest::time(instrument, Duration::ZERO) }
    }

    /// Of at least so much volume each.
    pub fn volume(instrument: InstrumentId, volume: Quantity) -> BarRequest {
        BarRequest { rule: BarRule::Volume(volume), ..BarRequest::time(instrument, Duration::ZERO) }
    }

    /// Of mids instead of trades.
    pub fn of_mids(self) -> BarRequest {
        BarRequest { source: BarSource::Mids, ..self }
    }

    /// With bars for intervals in which nothing came. By time alone.
    pub fn with_flat(self) -> BarRequest {
        BarRequest { flat: true, ..self }
    }
}

/// Why there are no such bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BarsError {
    /// The interval, count or volume.
    #[error("a bar must be at least one microsecond, one trade or a volume of one")]
    Length,
    /// The interval is more than the clock counts.
    #[error("a bar of that length is too long: the clock counts some 584 years")]
    TooLong,
    /// Mids have no volume.
    #[error("mids have no volume: ask for bars of trades, or by time or count")]
    MidsByVolume,
    /// The order flow has no quotes.
    #[error(
        "with data = \"flow\" there are no mids: ask for bars of trades, or say data = \"best\" or \"depth\" in the platform file"
    )]
    NoMids,
    /// It is not listed, or the strategy does not read it.
    #[error("the strategy does not read that instrument")]
    UnknownInstrument,
}

/// What came of one interval of an instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Its series.
    pub series: BarsId,
    /// Its instrument.
    pub instrument: InstrumentId,
    /// Where it begins, in the market's time: by time the interval's own begin, otherwise its first trade.
    pub begin: Nanos,
    /// Where it ends: by time the first moment that is not in it any more, otherwise its last trade.
    pub end: Nanos,
    /// The first price.
    pub open: Price,
    /// The highest.
    pub high: Price,
    /// The lowest.
    pub low: Price,
    /// The last.
    pub close: Price,
    /// All that traded; zero of mids.
    pub volume: Quantity,
    /// What incoming buy orders traded of it.
    pub bought: Quantity,
    /// What incoming sell orders traded of it. The rest has no aggressor: auctions, crosses.
    pub sold: Quantity,
    /// Trades or mids in it; zero: nothing came, and the prices are the close of the one before.
    pub count: u64,
}

/// A trade, or a mid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observation {
    pub(crate) instrument: InstrumentId,
    pub(crate) source: BarSource,
    pub(crate) price: Price,
    pub(crate) quantity: Quantity,
    pub(crate) aggressor: Aggressor,
}

#[derive(Clone, Debug)]
struct Series {
    id: BarsId,
    rule: BarRule,
    source: BarSource,
    flat: bool,
    /// Nanoseconds, by time.
    interval: u64,
    open: Option<Bar>,
}

/// The series of a strategy, and the bars that are full and were not handed over yet.
///
/// A bar by time is full once the market's time has reached its end; whoever feeds them takes those first, with
/// [`Bars::pop_due`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Bars {
    series: Vec<Series>,
    /// By instrument: places in `series`.
    of: Vec<Vec<usize>>,
    /// No later than the earliest end of an open bar by time.
    next_end: Option<Nanos>,
    full: VecDeque<Bar>,
    /// The market's time, which never goes back.
    now: Nanos,
    next: u32,
}

impl Bars {
    /// True when any are asked for: otherwise nothing need be done.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        !self.series.is_empty() || !self.full.is_empty()
    }

    pub(crate) fn add(&mut self, request: &BarRequest) -> Result<BarsId, BarsError> {
        let interval = match request.rule {
            BarRule::Time(interval) if interval >= Duration::from_micros(1) => {
                u64::try_from(interval.as_nanos()).map_err(|_| BarsError::TooLong)?
            }
            BarRule::Count(count) if count > 0 => 0,
            BarRule::Volume(_) if request.source == BarSource::Mids => return Err(BarsError::MidsByVolume),
            BarRule::Volume(volume) if volume > Quantity::ZERO => 0,
            _ => return Err(BarsError::Length),
        };
        let index = request.instrument.0 as usize;
        if request.instrument.0 >= MAX_INSTRUMENTS {
            return Err(BarsError::UnknownInstrument);
        }
        if self.of.len() <= index {
            self.of.resize(index + 1, Vec::new());
        }
        self.next += 1;
        let id = BarsId(self.next);
        self.of[index].push(self.series.len());
        let (rule, source, flat) = (request.rule, request.source, request.flat);
        self.series.push(Series { id, rule, source, flat, interval, open: None });
        Ok(id)
    }

    /// True when there was such a series. Its open bar is dropped.
    pub(crate) fn remove(&mut self, id: BarsId) -> bool {
        let Some(place) = self.series.iter().position(|series| series.id == id) else { return false };
        self.series.remove(place);
        for places in &mut self.of {
            places.retain(|known| *known != place);
            places.iter_mut().filter(|known| **known > place).for_each(|known| *known -= 1);
        }
        self.full.retain(|bar| bar.series != id);
        true
    }

    /// When the next bar by time is full, or earlier.
    #[inline]
    pub(crate) fn next_end(&self) -> Option<Nanos> {
        self.next_end
    }

    /// The first bar by time that is full at `time`; of two, the one that ends first, then that of the older series.
    pub(crate) fn pop_due(&mut self, time: Nanos) -> Option<Bar> {
        if self.next_end.is_none_or(|end| end > time) {
            return None;
        }
        let by_time = self.series.iter_mut().filter(|series| series.interval > 0);
        let first = by_time
            .filter_map(|series| series.open.map(|bar| (bar.end, series)))
            .min_by_key(|(end, series)| (*end, series.id));
        let due = first.filter(|(end, _)| *end <= time).map(|(end, series)| {
            let full = series.open.take();
            if let Some(full) = full.filter(|_| series.flat) {
                series.open = Some(Bar {
                    begin: end,
                    end: end + Nanos(series.interval),
                    count: 0,
                    ..bar_of(series.id, full.instrument, full.close, end)
                });
            }
            full
        });
        self.next_end = self.ends().min();
        due.flatten()
    }

    fn ends(&self) -> impl Iterator<Item = Nanos> {
        self.series.iter().filter(|series| series.interval > 0).filter_map(|series| Some(series.open?.end))
    }

    /// Takes what came at this time. The bars by time that end before are taken out already.
    pub(crate) fn observe(&mut self, time: Nanos, observation: &Observation) {
        self.now = self.now.max(time);
        let Some(places) = self.of.get(observation.instrument.0 as usize) else { return };
        for place in places {
            let Some(series) = self.series.get_mut(*place) else { continue };
            if series.source != observation.source {
                continue;
            }
            let full = series.observe(self.now, observation);
            if let Some(end) = series.open.map(|bar| bar.end).filter(|_| series.interval > 0) {
                self.next_end = Some(self.next_end.map_or(end, |known| known.min(end)));
            }
            self.full.extend(full);
        }
    }

    /// The next bar that is full by count or volume.
    pub(crate) fn pop_full(&mut self) -> Option<Bar> {
        self.full.pop_front()
    }
}

/// A bar in which nothing has come yet but its first price.
fn bar_of(series: BarsId, instrument: InstrumentId, price: Price, time: Nanos) -> Bar {
    Bar {
        series,
        instrument,
        begin: time,
        end: time,
        open: price,
        high: price,
        low: price,
        close: price,
        volume: Quantity::ZERO,
        bought: Quantity::ZERO,
        sold: Quantity::ZERO,
        count: 0,
    }
}

impl Series {
    /// The bar, if it is full with this.
    fn observe(&mut self, now: Nanos, observation: &Observation) -> Option<Bar> {
        let &Observation { instrument, price, quantity, aggressor, .. } = observation;
        let interval = self.interval;
        let bar = self.open.get_or_insert_with(|| {
            let bar = bar_of(self.id, instrument, price, now);
            match interval {
                0 => bar,
                _ => {
                    let begin = now.0 - now.0 % interval;
                    Bar { begin: Nanos(begin), end: Nanos(begin.saturating_add(interval)), ..bar }
                }
            }
        });
        if bar.count == 0 {
            // Of a flat bar: its first price is the first that came, not the close before.
            (bar.open, bar.high, bar.low) = (price, price, price);
        }
        bar.count += 1;
        (bar.high, bar.low, bar.close) = (bar.high.max(price), bar.low.min(price), price);
        bar.volume += quantity;
        match aggressor {
            Aggressor::Buy => bar.bought += quantity,
            Aggressor::Sell => bar.sold += quantity,
            Aggressor::None => {}
        }
        if interval == 0 {
            bar.end = now;
        }
        let is_full = match self.rule {
            BarRule::Time(_) => false,
            BarRule::Count(count) => bar.count >= count,
            BarRule::Volume(volume) => bar.volume >= volume,
        };
        if is_full { self.open.take() } else { None }
    }
}
