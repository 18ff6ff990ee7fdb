//! Phases of a trading day.

pub use wire::TradingPhase as Phase;

/// Number of phases.
pub const PHASES: usize = Phase::ALL.len();

/// An auction, which may extend over more than one phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Auction {
    /// At the beginning of the day.
    Opening,
    /// After a volatility halt.
    Volatility,
    /// At the end of the day.
    Closing,
}

/// The auction that a phase is part of.
pub fn auction_of(phase: Phase) -> Option<Auction> {
    match phase {
        Phase::PreOpen | Phase::OpeningAuction | Phase::OpeningFreeze => Some(Auction::Opening),
        Phase::VolatilityAuction => Some(Auction::Volatility),
        Phase::ClosingAuction | Phase::ClosingFreeze => Some(Auction::Closing),
        Phase::Closed | Phase::Pause | Phase::Continuous | Phase::Halt => None,
    }
}

/// What may be done in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Permission {
    /// New orders are taken.
    pub enter: bool,
    /// Orders may be cancelled by their owners.
    pub cancel: bool,
}

impl Permission {
    /// New orders and cancels.
    pub const ALL: Permission = Permission { enter: true, cancel: true };
    /// New orders only.
    pub const ENTER: Permission = Permission { enter: true, cancel: false };
    /// Cancels only.
    pub const CANCEL: Permission = Permission { enter: false, cancel: true };
    /// Neither.
    pub const NONE: Permission = Permission { enter: false, cancel: false };
}
