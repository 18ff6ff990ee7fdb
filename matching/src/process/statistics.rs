//! What has traded in each instrument: kept from the trades, published when it has changed, at most so often.

use std::time::Duration;

use wire::{InstrumentId, Price, Quantity, Statistics};

use super::feed::Feed;

#[derive(Clone, Copy, Debug)]
struct Line {
    statistics: Statistics,
    /// Trades at the time of the last message.
    said: u64,
}

/// The statistics of all instruments.
#[derive(Debug)]
pub(super) struct DayStatistics {
    /// By instrument id.
    lines: Vec<Line>,
    interval: u64,
    /// No message before this time.
    due: u64,
    /// Something has traded since the last messages.
    has_changed: bool,
}

impl DayStatistics {
    pub(super) fn new(interval: Duration) -> DayStatistics {
        let interval = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        DayStatistics { lines: Vec::new(), interval, due: 0, has_changed: false }
    }

    fn line(&mut self, instrument: InstrumentId) -> &mut Line {
        let index = instrument.0 as usize;
        let first = self.lines.len() as u32;
        for id in first..=instrument.0 {
            self.lines.push(Line { statistics: Statistics::none(InstrumentId(id)), said: 0 });
        }
        &mut self.lines[index]
    }

    /// Makes room for an instrument, so that its first trade needs none.
    pub(super) fn reach(&mut self, instrument: InstrumentId) {
        self.line(instrument);
    }

    /// Statistics that a predecessor published, or made from its trades.
    pub(super) fn take_over(&mut self, statistics: Statistics) {
        self.line(statistics.instrument).statistics = statistics;
        self.has_changed = true;
    }

    /// Those of an instrument.
    pub(super) fn of(&mut self, instrument: InstrumentId) -> Statistics {
        self.line(instrument).statistics
    }

    /// Two orders have traded.
    pub(super) fn trade(
        &mut self,
        instrument: InstrumentId,
        trade_id: u64,
        price: Price,
        quantity: Quantity,
    ) {
        self.line(instrument).statistics.add(trade_id, price, quantity);
        self.has_changed = true;
    }

    /// When the next message is due, if one is.
    pub(super) fn due(&self) -> Option<u64> {
        self.has_changed.then_some(self.due)
    }

    /// Publishes what has changed, if it is time.
    pub(super) fn publish(&mut self, now: u64, feed: &mut Feed) {
        if self.has_changed && now >= self.due {
            self.publish_now(feed);
            self.due = now.saturating_add(self.interval);
        }
    }

    /// Publishes what has changed.
    pub(super) fn publish_now(&mut self, feed: &mut Feed) {
        self.has_changed = false;
        for line in self.lines.iter_mut().filter(|line| line.said != line.statistics.trades) {
            line.said = line.statistics.trades;
            feed.statistics(&line.statistics);
        }
    }

    /// Publishes those of an instrument, changed or not: beside a snapshot.
    pub(super) fn repeat(&mut self, instrument: InstrumentId, feed: &mut Feed) {
        let line = self.line(instrument);
        line.said = line.statistics.trades;
        feed.statistics(&line.statistics);
    }
}
