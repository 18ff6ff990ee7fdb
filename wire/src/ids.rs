//! Identifiers: small where they index a table, 64-bit where they must never repeat.

use std::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Instruments an instance can hold. An instrument's id is its topic, and a journal has at most this many topics.
pub const MAX_INSTRUMENTS: u32 = 4_096;

/// An instrument: `1..MAX_INSTRUMENTS`, given by md in the order in which it first lists them. Zero is none.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
)]
#[repr(transparent)]
pub struct InstrumentId(pub u32);

/// A strategy, by the number of its seat in the registry.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
)]
#[repr(transparent)]
pub struct StrategyId(pub u16);

/// An account at a market.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
)]
#[repr(transparent)]
pub struct AccountId(pub u32);

impl AccountId {
    /// The strategy's own account.
    pub const OWN: AccountId = AccountId(0);
}

/// An order, unique for the life of an instance: whose it is can be read off the id.
///
/// ```text
/// 63           48 47           32 31                            0
/// ┌──────────────┬───────────────┬──────────────────────────────┐
/// │ seat         │ writer epoch  │ sequence                     │
/// └──────────────┴───────────────┴──────────────────────────────┘
/// ```
///
/// The epoch is that of the strategy's order journal. It grows with every start of the strategy, so that a
/// restarted one cannot give out an id twice.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
)]
#[repr(transparent)]
pub struct OrderId(pub u64);

impl OrderId {
    /// Puts the three parts together. `epoch` wraps at 65,536 starts.
    pub fn new(strategy: StrategyId, epoch: u16, sequence: u32) -> OrderId {
        OrderId(u64::from(strategy.0) << 48 | u64::from(epoch) << 32 | u64::from(sequence))
    }

    /// Whose order this is.
    pub fn strategy(self) -> StrategyId {
        StrategyId((self.0 >> 48) as u16)
    }

    /// Low 16 bits of the epoch of the journal that it was written to.
    pub fn epoch(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// True when this id was given out after `other` by the same strategy. Epochs wrap: of two that differ, the newer is
    /// the one that is reached by counting up less than half of the way round.
    pub fn is_newer_than(self, other: OrderId) -> bool {
        if self.epoch() == other.epoch() {
            self.sequence() > other.sequence()
        } else {
            self.is_of_newer_epoch_than(other.epoch())
        }
    }

    /// True when its epoch is newer than this one; see [`OrderId::is_newer_than`].
    pub fn is_of_newer_epoch_than(self, epoch: u16) -> bool {
        (self.epoch().wrapping_sub(epoch) as i16) > 0
    }

    /// Number of the order within that epoch.
    pub fn sequence(self) -> u32 {
        self.0 as u32
    }
}

impl fmt::Display for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}-{}-{}", self.strategy().0, self.epoch(), self.sequence()))
    }
}

impl fmt::Display for InstrumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Text that is no order id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no order id: write SEAT-EPOCH-SEQUENCE, as in 12-1-42")]
pub struct ParseOrderIdError(String);

impl std::str::FromStr for OrderId {
    type Err = ParseOrderIdError;

    fn from_str(text: &str) -> Result<OrderId, ParseOrderIdError> {
        let error = || ParseOrderIdError(text.to_owned());
        let mut parts = text.split('-');
        let mut next = || parts.next().ok_or_else(error);
        let (seat, epoch, sequence) = (next()?, next()?, next()?);
        if parts.next().is_some() {
            return Err(error());
        }
        Ok(OrderId::new(
            StrategyId(seat.parse().map_err(|_| error())?),
            epoch.parse().map_err(|_| error())?,
            sequence.parse().map_err(|_| error())?,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_within_an_epoch_and_epochs_wrap() {
        let id = |epoch, sequence| OrderId::new(StrategyId(1), epoch, sequence);
        assert!(id(65_535, 9).is_newer_than(id(65_535, 8)) && !id(65_535, 8).is_newer_than(id(65_535, 8)));
        assert!(id(0, 0).is_newer_than(id(65_535, 9)), "the epoch after 65,535 is 0");
        assert!(!id(65_535, 10).is_newer_than(id(0, 0)), "of the predecessor");
        assert!(id(0, u32::MAX).is_newer_than(id(0, 0)));
    }

    #[test]
    fn order_ids_keep_their_parts() {
        let id = OrderId::new(StrategyId(1_023), 65_535, u32::MAX);
        assert_eq!((id.strategy(), id.epoch(), id.sequence()), (StrategyId(1_023), 65_535, u32::MAX));
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!("1-2".parse::<OrderId>().is_err());
        assert!("1-2-3-4".parse::<OrderId>().is_err());
        assert!("1-70000-3".parse::<OrderId>().is_err());
    }
}
