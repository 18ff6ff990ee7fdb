//! The book of one instrument.

use wire::{InstrumentId, Nanos, Side, TradingPhase};

use super::auction::Cross;
use super::index::IdMap;
use super::ladder::Ladder;
use super::phase::Reopening;
use super::quoted::QuotedSide;
use super::slab::Slot;

/// One side: what rests in queues, and what the latest quote shows besides.
#[derive(Debug)]
pub(crate) struct Half {
    pub(crate) ladder: Ladder,
    /// Always empty under [`FillModel::Book`](super::FillModel::Book).
    pub(crate) quoted: QuotedSide,
}

#[derive(Debug)]
pub(crate) struct Book {
    pub(crate) instrument: InstrumentId,
    bids: Half,
    asks: Half,
    /// Market orders by the market's reference, the swept ones too.
    pub(crate) market: IdMap<Slot>,
    /// Number of orders that a `Clear` swept away and that keep their places for the snapshot that usually follows.
    pub(crate) swept: usize,
    /// The market's time of its latest message.
    pub(crate) event_time: Nanos,
    /// The market's phase; continuous, where the source says nothing.
    pub(crate) phase: TradingPhase,
    /// Nothing trades but in an auction: so the phase says, or the market's latest message about the instrument.
    pub(crate) auction: bool,
    /// The latest cross; in an auction, the one that has traded in it.
    pub(crate) cross: Option<Cross>,
    /// The auction ends: continuous trading was announced.
    pub(crate) reopening: Reopening,
}

impl Book {
    pub(crate) fn new(instrument: InstrumentId) -> Book {
        let half = |side| Half { ladder: Ladder::new(side), quoted: QuotedSide::new(side) };
        Book {
            instrument,
            bids: half(Side::Buy),
            asks: half(Side::Sell),
            market: IdMap::default(),
            swept: 0,
            event_time: Nanos(0),
            phase: TradingPhase::Continuous,
            auction: false,
            cross: None,
            reopening: Reopening::None,
        }
    }

    pub(crate) fn half(&self, side: Side) -> &Half {
        match side {
            Side::Buy => &self.bids,
            Side::Sell => &self.asks,
        }
    }

    pub(crate) fn half_mut(&mut self, side: Side) -> &mut Half {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    /// The queues of `side`, and what the quote shows on the other side.
    pub(crate) fn facing(&mut self, side: Side) -> (&mut Ladder, &mut QuotedSide) {
        match side {
            Side::Buy => (&mut self.bids.ladder, &mut self.asks.quoted),
            Side::Sell => (&mut self.asks.ladder, &mut self.bids.quoted),
        }
    }
}
