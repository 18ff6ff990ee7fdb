//! How an engine works: what its orders trade with, and the rules that may be chosen.

/// What happens when an order would trade with one of the same owner: the choices of an exchange's orders.
pub use crate::exchange::SelfTrade;

/// What the strategies' orders trade with, besides each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FillModel {
    /// The orders of a recorded market. Quotes and prints are ignored.
    Book,
    /// The volume that quotes show. Book events are ignored.
    Quotes,
}

/// Whose orders [`SelfTrade`] keeps from trading with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderOwner {
    /// Those of one strategy.
    Strategy,
    /// Those for one account; [`wire::AccountId::OWN`] is one account for each strategy.
    Account,
    /// Those of all strategies: none trades with another.
    Firm,
}

/// What strategies' orders do in a call auction of the recorded market.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallAuctions {
    /// New ones are refused; those that rest take part.
    Refuse,
    /// New ones are collected, and take part as those that rest.
    Uncross,
}

/// Where a strategy's resting order stands among the market's orders at its price, when the market trades there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// As the rules of the fill model say: where it is in the book's queue; beside quotes behind all.
    Position,
    /// Behind all, also those that come later: it trades when the market trades at a worse price, or crosses it.
    Through,
    /// Before all: it trades when the market trades at its price.
    Touch,
}

/// How an engine works, for its whole life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// What orders trade with.
    pub fill: FillModel,
    /// What an owner's orders do when they meet each other.
    pub self_trade: SelfTrade,
    /// Who an owner is.
    pub owner: OrderOwner,
    /// At one price, displayed orders trade before hidden ones.
    pub displayed_first: bool,
    /// What orders do in the market's call auctions.
    pub call_auctions: CallAuctions,
    /// Where orders stand at their price.
    pub queue: Queue,
    /// Room for so many resting orders, the market's included, is set aside at the start. More of them are no
    /// error, but cost an allocation now and then.
    pub expected_orders: usize,
    /// Orders and price levels lie on huge pages, if enough are free; it changes no answer.
    pub huge_pages: bool,
}

impl Default for EngineOptions {
    /// Against a recorded market, no trades of a strategy with itself, room for 65,536 orders.
    fn default() -> EngineOptions {
        EngineOptions {
            fill: FillModel::Book,
            self_trade: SelfTrade::CancelNewest,
            owner: OrderOwner::Strategy,
            displayed_first: false,
            call_auctions: CallAuctions::Refuse,
            queue: Queue::Position,
            expected_orders: 1 << 16,
            huge_pages: false,
        }
    }
}
