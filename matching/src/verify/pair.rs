//! A trade of the market beside one of the exchange.

use wire::Aggressor;

use super::flow::Published;
use crate::exchange::Trade;

/// What is expected where the clock of trades goes back.
pub(super) const BACK: &str =
    "this trade before the one that precedes it in the joint sequence: its time is earlier";

/// What is expected where the money of a trade is wrong.
pub(super) const MONEY: &str = "this trade with another amount of money: not price times quantity";

/// Numbers from here on are given to incoming orders that the feed does not name. No feed goes so far.
const UNNAMED: u64 = u64::MAX - (1 << 40);

/// Whether they are the same trade.
pub(super) fn is_same(published: &Published, trade: &Trade) -> bool {
    published.buy.is_none_or(|buy| buy == trade.buy.id)
        && published.sell.is_none_or(|sell| sell == trade.sell.id)
        && published.price == trade.price
        && published.quantity == trade.quantity
        && published.aggressor == trade.aggressor
}

pub(super) fn of_market(trade: &Published) -> String {
    text(trade.quantity, trade.price, trade.buy, trade.sell, trade.aggressor)
}

pub(super) fn of_exchange(trade: &Trade) -> String {
    let named = |order: u64| Some(order).filter(|&order| is_named(order));
    text(trade.quantity, trade.price, named(trade.buy.id), named(trade.sell.id), trade.aggressor)
}

/// Whether the market gave this number: incoming orders that the feed does not name have the highest ones.
pub(super) fn is_named(order: u64) -> bool {
    order < UNNAMED
}

fn text(
    quantity: wire::Quantity,
    price: wire::Price,
    buy: Option<u64>,
    sell: Option<u64>,
    aggressor: Aggressor,
) -> String {
    let name = |order: Option<u64>| order.map_or_else(|| "(not named)".to_owned(), |order| order.to_string());
    let came = match aggressor {
        Aggressor::Buy => ", the buyer came in",
        Aggressor::Sell => ", the seller came in",
        Aggressor::None => "",
    };
    format!("{quantity} at {price}, buy {} sell {}{came}", name(buy), name(sell))
}
