//! Snapshots, written by the ledger for late joiners and at the end of the day.
//!
//! A snapshot is a [`SnapshotBegin`], then [`PositionState`], [`OrderUpdate`](crate::OrderUpdate) (one per working
//! order) and [`Quote`](crate::Quote) (latest of each instrument) in any number, then a [`SnapshotEnd`]. Its
//! frames carry the topic [`SnapshotBegin::topic_of`]; topic 0 is a snapshot of everything.

use wire_derive::Described;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::{InstrumentId, Money, Price, Quantity, StrategyId};

/// The begin of a snapshot of one strategy, or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct SnapshotBegin {
    /// Number of this snapshot; the end carries the same.
    pub snapshot: u64,
    /// Position in `matching.executions` before which executions are contained in it: those from it on are new.
    #[field(position)]
    pub execution: u64,
    /// For whom; `u16::MAX`: for everybody.
    #[field(none = SnapshotBegin::EVERYBODY.0 as i64)]
    pub strategy: StrategyId,
    /// Zero.
    pub reserved: [u16; 3],
    /// Generation of the seat that it is for: a restarted strategy ignores its predecessor's.
    pub generation: u64,
    /// Number of the last trade in the executions that it contains: a restarted matching continues after it.
    #[field(column = "last_trade")]
    pub trade: u64,
}

impl SnapshotBegin {
    /// Stands in `strategy` when the snapshot is of everything.
    pub const EVERYBODY: StrategyId = StrategyId(u16::MAX);

    /// The topic of a snapshot for `strategy`.
    pub fn topic_of(strategy: StrategyId) -> u32 {
        if strategy == Self::EVERYBODY { 0 } else { u32::from(strategy.0) + 1 }
    }
}

/// The end of the snapshot of the same number: it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct SnapshotEnd {
    /// As in [`SnapshotBegin`].
    pub snapshot: u64,
    /// Frames between begin and end.
    pub frames: u64,
    /// For whom.
    #[field(none = SnapshotBegin::EVERYBODY.0 as i64)]
    pub strategy: StrategyId,
    /// Zero.
    pub reserved: [u16; 3],
    /// As in [`SnapshotBegin`].
    pub generation: u64,
}

/// One strategy's position in one instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct PositionState {
    /// Whose.
    pub strategy: StrategyId,
    /// Zero.
    pub reserved: u16,
    /// In what.
    pub instrument: InstrumentId,
    /// Signed: short is negative.
    #[field(column = "net_position")]
    pub position: Quantity,
    /// Average price of what is open; zero when flat.
    pub average_price: Price,
    /// Profit and loss of what was closed, rounded towards zero.
    pub realised: Money,
    /// Profit and loss of what is open, at `mark_price`, rounded towards zero.
    pub unrealised: Money,
    /// Latest mid, or last trade; [`Price::NONE`] before the first.
    pub mark_price: Price,
    /// All that was bought.
    pub bought: Quantity,
    /// All that was sold.
    pub sold: Quantity,
    /// Number of fills.
    pub fills: u64,
    /// Number of orders that matching accepted.
    pub orders: u64,
    /// What sales brought less what purchases cost, exactly.
    pub cash: WideMoney,
}

impl PositionState {
    /// Profit and loss, realised and unrealised together, in 1e-9 of the currency: cash, and what is open at the mark.
    /// Exact, but for what is open and has no mark: that counts what it cost, to 1e-6. `contract`: the instrument's
    /// ([`Instrument::contract`](crate::Instrument::contract)).
    pub fn profit(&self, contract: u64) -> i128 {
        match self.mark_price.is_some() {
            true => {
                let open = self.position.wide(self.mark_price).saturating_mul(i128::from(contract.max(1)));
                self.cash.wide().saturating_add(open)
            }
            false if self.position == Quantity::ZERO => self.cash.wide(),
            false => i128::from(self.realised.0) * 1_000,
        }
    }
}

/// An exact amount: one whole number of 128 bits, in two's complement, of 1e-9 of the currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct WideMoney {
    /// Its lower half.
    pub low: u64,
    /// Its upper half, with the sign.
    pub high: i64,
}

impl WideMoney {
    /// From price units times quantity (1e-9).
    pub fn from_wide(price_times_quantity: i128) -> WideMoney {
        WideMoney { low: price_times_quantity as u64, high: (price_times_quantity >> 64) as i64 }
    }

    /// In 1e-9.
    pub fn wide(self) -> i128 {
        i128::from(self.high) << 64 | i128::from(self.low)
    }
}

impl std::fmt::Display for WideMoney {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        crate::units::write_fixed(f, self.wide(), Price::ONE as u128)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_amount_comes_back_whole() {
        for amount in [0, 1, -1, i128::from(u64::MAX), -i128::from(u64::MAX) - 1, i128::MAX, i128::MIN] {
            assert_eq!(WideMoney::from_wide(amount).wide(), amount);
        }
        assert_eq!(WideMoney::from_wide(-1_500_000_001).to_string(), "-1.500000001");
    }
}
