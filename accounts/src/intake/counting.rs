//! For whose limit of refusals a refused order counts.

use wire::Reason;

/// Account, group, strategy, platform: the places of the levels wherever all four are named in a row.
pub(crate) const LEVELS: usize = 4;

/// At which levels a refused order counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    /// At all four.
    Everywhere,
    /// Of its account and its strategy: who sends can see that the market takes no orders now.
    Sender,
    /// Of its account.
    Account,
    /// At the level that refused it, and at no other.
    Itself,
    /// At none.
    Nowhere,
}

impl Counting {
    /// What a switch or a rate refuses never counts above it: one who is stopped already must not stop others.
    pub(crate) fn of(reason: Reason) -> Counting {
        match reason {
            // The order itself was wrong, or asked for more than it may have.
            Reason::None
            | Reason::Requested
            | Reason::UnknownInstrument
            | Reason::OffTick
            | Reason::PriceBand
            | Reason::Quantity
            | Reason::WorkingOrders
            | Reason::PositionLimit
            | Reason::NoLiquidity
            | Reason::NotFillable
            | Reason::WouldTrade
            | Reason::UnknownOrder
            | Reason::NotYours
            | Reason::DuplicateOrder
            | Reason::Malformed
            | Reason::UnknownAccount
            | Reason::SelfTrade
            | Reason::Expired
            | Reason::Unsupported
            | Reason::InsufficientFunds
            | Reason::NotionalLimit
            | Reason::OrderNotional
            | Reason::ShortSale
            | Reason::NotClosable
            | Reason::NoWorstPrice => Counting::Everywhere,
            // A switch of the market.
            Reason::MarketClosed | Reason::CallAuction | Reason::NotTradable => Counting::Sender,
            // A switch of the account.
            Reason::AccountFrozen | Reason::AccountClosed | Reason::ForcedLiquidation => Counting::Account,
            Reason::OrderRate | Reason::MessageRate => Counting::Itself,
            // The level that refused it has fallen already, or the platform is at fault.
            Reason::Killed | Reason::StrategyGone | Reason::Overload | Reason::NotDurable => {
                Counting::Nowhere
            }
        }
    }

    /// By level, with the one that refused it.
    pub(crate) fn levels(self, by: Option<usize>) -> [bool; LEVELS] {
        match self {
            Counting::Everywhere => [true; LEVELS],
            Counting::Sender => [true, false, true, false],
            Counting::Account => [true, false, false, false],
            Counting::Itself => std::array::from_fn(|level| by == Some(level)),
            Counting::Nowhere => [false; LEVELS],
        }
    }
}
