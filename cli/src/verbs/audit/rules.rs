//! Rules of the platform that the checks hold, each in one place.

use wire::{AccountScope, Price, Reason};

/// So long, in nanoseconds, a node that runs may take for what it owes.
pub(super) const LATE: u64 = 10_000_000_000;
/// td passes over a mark that is older than this, in nanoseconds, and that another one has replaced.
pub(super) const STALE: u64 = 900_000_000;
/// td decides so long before it writes the drop copy, at most.
pub(super) const WRITTEN_WITHIN: u64 = 1_000_000_000;
/// By so many 1e-9 roundings on the way may have moved an amount.
pub(super) const ROUNDING: i128 = 1_000;

/// Whether something counts for a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    Yes,
    /// It depends on what is not written down: which check refused it, or at what time it counts.
    Maybe,
    No,
}

/// Whether a new order that td refused counts for the limit of refusals of a level.
pub(super) fn refusal_counts(reason: Reason, level: AccountScope) -> Counts {
    let at = |levels: &[AccountScope]| if levels.contains(&level) { Counts::Yes } else { Counts::No };
    match reason {
        // Whether td asked who counts is not written down.
        Reason::NotYours | Reason::DuplicateOrder => Counts::Maybe,
        Reason::Killed | Reason::StrategyGone | Reason::Overload | Reason::NotDurable => Counts::No,
        // For the level that refused it, which the refusal does not name.
        Reason::OrderRate | Reason::MessageRate => Counts::Maybe,
        Reason::AccountFrozen | Reason::AccountClosed | Reason::ForcedLiquidation => {
            at(&[AccountScope::Account])
        }
        Reason::MarketClosed | Reason::CallAuction | Reason::NotTradable => {
            at(&[AccountScope::Account, AccountScope::Strategy])
        }
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
        | Reason::NoWorstPrice => Counts::Yes,
    }
}

/// Whether a new order counts for the limits of runaway orders: those that passed the switches and the state of the account
/// do. `None`: it went out.
pub(super) fn order_counts(refused: Option<Reason>) -> Counts {
    match refused {
        None
        | Some(
            Reason::InsufficientFunds
            | Reason::NotionalLimit
            | Reason::OrderNotional
            | Reason::ShortSale
            | Reason::NotTradable
            | Reason::NotClosable
            | Reason::NoWorstPrice
            | Reason::SelfTrade,
        ) => Counts::Yes,
        // td's own checks, or those of the account behind them.
        Some(
            Reason::UnknownInstrument
            | Reason::OffTick
            | Reason::PriceBand
            | Reason::Quantity
            | Reason::WorkingOrders
            | Reason::PositionLimit
            | Reason::Malformed
            | Reason::OrderRate
            | Reason::MessageRate
            | Reason::UnknownAccount,
        ) => Counts::Maybe,
        Some(
            Reason::NotYours
            | Reason::StrategyGone
            | Reason::DuplicateOrder
            | Reason::NotDurable
            | Reason::Killed
            | Reason::AccountFrozen
            | Reason::AccountClosed
            | Reason::None
            | Reason::Requested
            | Reason::NoLiquidity
            | Reason::NotFillable
            | Reason::WouldTrade
            | Reason::UnknownOrder
            | Reason::MarketClosed
            | Reason::Overload
            | Reason::CallAuction
            | Reason::Expired
            | Reason::Unsupported
            | Reason::ForcedLiquidation,
        ) => Counts::No,
    }
}

/// The prices that a mark may have while a market shows these: between best bid and best ask where both are there. Else the last
/// trade, without one the mark before or the listed reference (`known`), no lower than the bid and no higher than the ask.
pub(super) fn mark_span(
    (bid, ask): (Option<Price>, Option<Price>),
    trade: Option<Price>,
    known: Option<(i64, i64)>,
) -> Option<(i64, i64)> {
    if let (Some(bid), Some(ask)) = (bid, ask) {
        return Some((bid.0.min(ask.0), bid.0.max(ask.0)));
    }
    let (low, high) = trade.map(|trade| (trade.0, trade.0)).or(known)?;
    let within = |price: i64| {
        let price = bid.map_or(price, |bid| price.max(bid.0));
        ask.map_or(price, |ask| price.min(ask.0))
    };
    Some((within(low), within(high)))
}

/// Why a switch falls by itself, by the words of the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    Loss,
    RejectRate,
    RunawayRate,
}

impl Cause {
    /// The cause that an entry of td or of the ledger names.
    pub(super) fn of(why: &str) -> Option<Cause> {
        match why {
            "the loss of the day passed its limit" => Some(Cause::Loss),
            "too many refused orders a second" => Some(Cause::RejectRate),
            "too many orders a second" => Some(Cause::RunawayRate),
            _ => None,
        }
    }
}

/// Who names a cause: nodes, not people.
pub(super) const BY_ITSELF: [&str; 2] = ["td", "ledger"];
