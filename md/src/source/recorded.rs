//! Shared by the readers: the window, the counts of rows, and the construction of events.

use std::path::Path;

use wire::{
    Aggressor, BookAction, BookEvent, InstrumentId, MarketPhase, Nanos, Price, Quantity, Side, TradePrint,
    TradingPhase,
};

use super::error::Fault;
use super::fields::DAY;
use super::{Counts, OnBadRow, Options, SourceError, SourceEvent};

/// Position of a row relative to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Before,
    Inside,
    After,
}

/// `from` and `to` on the date of the first row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    from: Option<u64>,
    to: Option<u64>,
    midnight: Option<u64>,
}

impl Window {
    pub(crate) fn new(options: &Options) -> Result<Window, SourceError> {
        let (from, to) = (options.from.map(|time| time.0), options.to.map(|time| time.0));
        if let (Some(from), Some(to)) = (from, to)
            && from >= to
        {
            return Err(SourceError::Option {
                name: "to",
                found: format!("{} s after midnight", to / super::fields::SECOND),
                expected: "a time of day after `from`".to_owned(),
            });
        }
        Ok(Window { from, to, midnight: None })
    }

    pub(crate) fn place(&mut self, time: u64) -> Place {
        let midnight = *self.midnight.get_or_insert(time - time % DAY);
        let at = time.saturating_sub(midnight);
        if self.to.is_some_and(|to| at >= to) {
            Place::After
        } else if self.from.is_some_and(|from| at < from) {
            Place::Before
        } else {
            Place::Inside
        }
    }
}

impl Counts {
    /// Handles a row that could not be read: an error, or counted, as the options say.
    pub(crate) fn reject(
        &mut self,
        on_bad_row: OnBadRow,
        fault: Fault,
        path: &Path,
        row: u64,
    ) -> Result<(), SourceError> {
        match on_bad_row {
            OnBadRow::Stop => Err(fault.at(path, row).into()),
            OnBadRow::Skip => {
                self.rejected += 1;
                Ok(())
            }
        }
    }

    pub(crate) fn apply(&mut self, event: &SourceEvent) {
        self.applied += 1;
        self.warm_up += u64::from(event.warm_up);
    }
}

impl SourceEvent {
    /// Empties the event and sets its head.
    pub(crate) fn begin(
        &mut self,
        instrument: InstrumentId,
        time: u64,
        sequence: u64,
        row: u64,
        place: Place,
    ) {
        self.instrument = instrument;
        self.event_time = Nanos(time);
        self.sequence = sequence;
        self.row = row;
        self.warm_up = place == Place::Before;
        self.call_auction = false;
        self.phase = None;
        self.book_events.clear();
        self.trades.clear();
    }

    /// The market enters a phase.
    pub(crate) fn enter(&mut self, phase: TradingPhase) {
        self.phase = Some(phase);
        self.call_auction = phase != TradingPhase::Continuous;
    }

    /// What is published of the phase that it enters.
    pub fn market_phase(&self) -> Option<MarketPhase> {
        self.phase.map(|phase| MarketPhase {
            instrument: self.instrument,
            phase,
            reserved: [0; 3],
            event_time: self.event_time,
            sequence: self.sequence,
        })
    }

    pub(crate) fn push(
        &mut self,
        action: BookAction,
        side: Side,
        order_ref: u64,
        price: Price,
        quantity: i64,
    ) {
        self.book_events.push(BookEvent {
            instrument: self.instrument,
            action,
            side,
            flags: if self.call_auction { BookEvent::CALL_AUCTION } else { 0 },
            order_ref,
            price,
            quantity: Quantity(quantity),
            event_time: self.event_time,
            sequence: self.sequence,
            reserved: 0,
        });
    }

    pub(crate) fn print(&mut self, aggressor: Aggressor, price: Price, quantity: i64, trade_id: u64) {
        self.trades.push(TradePrint {
            instrument: self.instrument,
            aggressor,
            reserved: [0; 3],
            due: Nanos(0),
            event_time: self.event_time,
            sequence: self.sequence,
            price,
            quantity: Quantity(quantity),
            trade_id,
        });
    }

    /// A trade that touches no visible order, with its print.
    pub(crate) fn unseen_trade(&mut self, aggressor: Aggressor, price: Price, quantity: i64, trade_id: u64) {
        self.unprinted_trade(aggressor, price, quantity);
        self.print(aggressor, price, quantity, trade_id);
    }

    /// The same without its print.
    pub(crate) fn unprinted_trade(&mut self, aggressor: Aggressor, price: Price, quantity: i64) {
        let resting = if aggressor == Aggressor::Buy { Side::Sell } else { Side::Buy };
        self.push(BookAction::Trade, resting, 0, price, quantity);
        if aggressor == Aggressor::None {
            self.mark(BookEvent::NO_SIDE);
        }
    }

    /// Sets a flag of the part that was just pushed.
    pub(crate) fn mark(&mut self, flag: u16) {
        if let Some(part) = self.book_events.last_mut() {
            part.flags |= flag;
        }
    }

    /// Its trades are of a cross, in which no side comes in.
    pub(crate) fn take_sides_off(&mut self) {
        self.book_events
            .iter_mut()
            .filter(|part| is_trade(part))
            .for_each(|part| part.flags |= BookEvent::NO_SIDE);
        self.trades.iter_mut().for_each(|trade| trade.aggressor = Aggressor::None);
    }

    /// Its trades have this price.
    pub(crate) fn pay(&mut self, price: Price) {
        self.book_events.iter_mut().filter(|part| is_trade(part)).for_each(|part| part.price = price);
        self.trades.iter_mut().for_each(|trade| trade.price = price);
    }

    /// Whether the market trades in it.
    pub(crate) fn trades(&self) -> bool {
        !self.trades.is_empty() || self.book_events.iter().any(is_trade)
    }

    /// Marks the last part. `false` when the event is empty.
    pub(crate) fn finish(&mut self) -> bool {
        if let Some(last) = self.book_events.last_mut() {
            last.flags |= BookEvent::LAST;
        }
        !(self.book_events.is_empty() && self.trades.is_empty() && self.phase.is_none())
    }
}

fn is_trade(part: &BookEvent) -> bool {
    matches!(part.action, BookAction::Execute | BookAction::Trade)
}

/// A trade without a visible order is at more than twice, or less than half, of the previous price.
pub(crate) fn is_far(price: Price, before: Option<Price>) -> bool {
    before.is_some_and(|before| price.0 / 2 > before.0 || before.0 / 2 > price.0)
}

/// The side of the incoming order, when this side rested.
pub(crate) fn aggressor_against(resting: Side) -> Aggressor {
    match resting {
        Side::Buy => Aggressor::Sell,
        Side::Sell => Aggressor::Buy,
    }
}
