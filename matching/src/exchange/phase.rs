//! Phases of a trading day.

/// What an instrument's market is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// Before or after the day. Orders for the day end when it begins.
    Closed = 0,
    /// Orders are collected for the opening auction; no price is indicated yet.
    PreOpen = 1,
    /// Orders are collected for the opening auction.
    OpeningAuction = 2,
    /// The last part of the opening auction: usually without cancels.
    OpeningFreeze = 3,
    /// Between auction and continuous trading, or a break: nothing trades.
    Pause = 4,
    /// Incoming orders trade with resting ones.
    Continuous = 5,
    /// Trading is interrupted; nothing trades.
    Halt = 6,
    /// Orders are collected for the auction that follows a volatility halt.
    VolatilityAuction = 7,
    /// Orders are collected for the closing auction.
    ClosingAuction = 8,
    /// The last part of the closing auction: usually without cancels.
    ClosingFreeze = 9,
}

/// Number of phases.
pub const PHASES: usize = 10;

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

impl Phase {
    /// All phases, in the order of their numbers.
    pub const ALL: [Phase; PHASES] = [
        Phase::Closed,
        Phase::PreOpen,
        Phase::OpeningAuction,
        Phase::OpeningFreeze,
        Phase::Pause,
        Phase::Continuous,
        Phase::Halt,
        Phase::VolatilityAuction,
        Phase::ClosingAuction,
        Phase::ClosingFreeze,
    ];

    /// The name in platform files and outputs.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Closed => "closed",
            Phase::PreOpen => "pre-open",
            Phase::OpeningAuction => "opening-auction",
            Phase::OpeningFreeze => "opening-freeze",
            Phase::Pause => "pause",
            Phase::Continuous => "continuous",
            Phase::Halt => "halt",
            Phase::VolatilityAuction => "volatility-auction",
            Phase::ClosingAuction => "closing-auction",
            Phase::ClosingFreeze => "closing-freeze",
        }
    }

    /// The auction that it is part of.
    pub fn auction(self) -> Option<Auction> {
        match self {
            Phase::PreOpen | Phase::OpeningAuction | Phase::OpeningFreeze => Some(Auction::Opening),
            Phase::VolatilityAuction => Some(Auction::Volatility),
            Phase::ClosingAuction | Phase::ClosingFreeze => Some(Auction::Closing),
            Phase::Closed | Phase::Pause | Phase::Continuous | Phase::Halt => None,
        }
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
