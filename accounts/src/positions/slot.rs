//! An account and an instrument.

use wire::{AccountKind, InstrumentId, Price, Side};

use crate::contracts::{Contract, NO_EDGE};
use crate::limits::Most;
use crate::margin::Rates;
use crate::positions::{Holding, LONG, SHORT};
use crate::state::state;

/// "No order."
pub(crate) const NOTHING: u32 = u32::MAX;

/// All that is kept about one account in one instrument. Checks read the first line of memory, and the first of each holding.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Slot {
    pub(crate) instrument: InstrumentId,
    /// Charges of new orders.
    pub(crate) schedule: u32,
    /// Number of its margin's rates.
    pub(crate) rates: u32,
    /// Newest order at work of each side: the begin of a list.
    pub(crate) first: [u32; 2],
    /// Its account is among the traders of its contract.
    pub(crate) is_listed: bool,
    /// What orders at work may yet buy and sell.
    pub(crate) working: [i64; 2],
    /// No buy at work is higher, no sell lower.
    pub(crate) edge: [i64; 2],
    /// Largest net position; none: the account's own limit for each instrument.
    pub(crate) most: Most<i64>,
    /// Long, short.
    pub(crate) holdings: [Holding; 2],
    pub(crate) realised: i128,
    pub(crate) charges: i128,
}
const _: () = assert!(std::mem::offset_of!(Slot, holdings) == 64 && size_of::<Slot>() == 384);
state!(Slot {
    instrument,
    schedule,
    rates,
    most,
    holdings,
    working,
    first,
    edge,
    is_listed,
    realised,
    charges
});

/// Index of a side: buys 0, sells 1.
pub(crate) fn index(side: Side) -> usize {
    match side {
        Side::Buy => 0,
        Side::Sell => 1,
    }
}

impl Slot {
    pub(crate) fn new(instrument: InstrumentId, schedule: u32, rates: u32) -> Slot {
        Slot {
            instrument,
            schedule,
            rates,
            most: Most::new(None),
            holdings: [Holding::default(), Holding::default()],
            working: [0; 2],
            first: [NOTHING; 2],
            is_listed: false,
            edge: NO_EDGE,
            realised: 0,
            charges: 0,
        }
    }

    pub(crate) fn net(&self) -> i64 {
        self.holdings[LONG].total().saturating_sub(self.holdings[SHORT].total())
    }

    pub(crate) fn is_flat(&self) -> bool {
        self.holdings.iter().all(|holding| holding.total() == 0)
    }

    /// What positions are worth, at what they were last traded or settled for.
    pub(crate) fn gross(&self) -> i128 {
        self.holdings.iter().map(|holding| holding.basis().abs()).sum()
    }

    /// Margin of both sides anew; returns by how much it has changed.
    pub(crate) fn remargin(&mut self, kind: AccountKind, rates: &Rates) -> i128 {
        if kind == AccountKind::Cash {
            return 0;
        }
        self.holdings[LONG].remargin(rates, LONG) + self.holdings[SHORT].remargin(rates, SHORT)
    }

    /// Gain of what is open since it was last paid, at the latest mark.
    pub(crate) fn unrealised(&self, contract: &Contract) -> i128 {
        self.unrealised_at(contract.mark, contract.multiplier)
    }

    pub(crate) fn unrealised_at(&self, mark: Price, multiplier: u64) -> i128 {
        if !mark.is_some() {
            return 0;
        }
        let moved = |holding: &Holding| match holding.total() {
            0 => 0,
            _ => holding.value(mark, multiplier).map_or(0, |value| value - holding.basis()),
        };
        moved(&self.holdings[LONG]) - moved(&self.holdings[SHORT])
    }

    /// Open value of both sides, short negative, at its cost.
    pub(crate) fn cost(&self) -> i128 {
        self.holdings[LONG].cost() - self.holdings[SHORT].cost()
    }

    pub(crate) fn settled(&self) -> i128 {
        self.holdings[LONG].settled() - self.holdings[SHORT].settled()
    }
}
