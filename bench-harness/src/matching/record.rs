//! An event as 64 bytes, for the journal.
//!
//! ```text
//!          0        8        16       24       32       40       48       56
//! order    │ head   │ id     │ owner  │ price  │ filled │ open   │ shown  │ 0      │
//! trade    │ head   │ number │ price  │ volume │ buy id │ open   │ sell id│ open   │
//! head     byte 0: kind; byte 1: side or aggressor; bytes 2 and 3: reason; bytes 4 to 7: instrument
//! ```

use matching::exchange::{Event, OrderState, Trade};
use wire::{InstrumentId, Reason};

/// Bytes of one event.
pub(super) const BYTES: usize = 64;

/// Kind of a trade's event.
const TRADE: u8 = 4;
/// Kind of the event when an order ends unfilled.
const CANCELLED: u8 = 8;

/// Writes an event down.
#[inline(always)]
pub(super) fn encode(event: &Event) -> [u8; BYTES] {
    match event {
        Event::Traded(trade) => of_trade(trade),
        Event::Accepted(state) => of_order(1, 0, state),
        Event::Rested(state) => of_order(3, 0, state),
        Event::Refreshed(state, behind) => of_order(5, u16::from(*behind), state),
        Event::Replaced(state, from) => of_order(6, u16::from(from.is_none()), state),
        Event::Decremented(state) => of_order(7, 0, state),
        Event::Cancelled(state, reason) => of_order(CANCELLED, *reason as u16, state),
        Event::Triggered(state) => of_order(9, 0, state),
        Event::Rejected(order, reason) => {
            bytes([head(2, order.side as u8, *reason as u16, order.instrument), order.id, 0, 0, 0, 0, 0, 0])
        }
        Event::Refused { id, refused, reason } => {
            bytes([head(10, *refused as u8, *reason as u16, InstrumentId(0)), *id, 0, 0, 0, 0, 0, 0])
        }
        Event::Uncrossed { instrument, equilibrium, .. } => {
            let (price, volume) = (equilibrium.price.0 as u64, equilibrium.volume.0 as u64);
            bytes([head(11, 0, 0, *instrument), price, volume, equilibrium.imbalance as u64, 0, 0, 0, 0])
        }
        Event::PhaseChanged { instrument, from, to } => {
            bytes([head(12, *from as u8, *to as u16, *instrument), 0, 0, 0, 0, 0, 0, 0])
        }
    }
}

/// The quantity of a trade; `None` for other events.
#[inline(always)]
pub(super) fn traded(record: &[u8; BYTES]) -> Option<u64> {
    let quantity = record[24..32].first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    quantity.filter(|_| record[0] == TRADE)
}

/// Whether an order was cancelled at its owner's wish.
#[inline(always)]
pub(super) fn is_cancel(record: &[u8; BYTES]) -> bool {
    record[0] == CANCELLED && record[2..4] == (Reason::Requested as u16).to_le_bytes()
}

#[inline(always)]
fn of_order(kind: u8, detail: u16, state: &OrderState) -> [u8; BYTES] {
    let owner = u64::from(state.account.0) << 32 | u64::from(state.strategy.0);
    bytes([
        head(kind, state.side as u8, detail, state.instrument),
        state.id,
        owner,
        state.price.0 as u64,
        state.filled.0 as u64,
        state.open.0 as u64,
        state.shown.0 as u64,
        0,
    ])
}

#[inline(always)]
fn of_trade(trade: &Trade) -> [u8; BYTES] {
    bytes([
        head(TRADE, trade.aggressor as u8, 0, trade.buy.instrument),
        trade.id,
        trade.price.0 as u64,
        trade.quantity.0 as u64,
        trade.buy.id,
        trade.buy.open.0 as u64,
        trade.sell.id,
        trade.sell.open.0 as u64,
    ])
}

#[inline(always)]
fn head(kind: u8, side: u8, detail: u16, instrument: InstrumentId) -> u64 {
    u64::from(kind) | u64::from(side) << 8 | u64::from(detail) << 16 | u64::from(instrument.0) << 32
}

#[inline(always)]
fn bytes(words: [u64; BYTES / 8]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}
