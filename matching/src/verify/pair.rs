//! A trade of the market beside one of the exchange.

use wire::Aggressor;

use super::flow::Published;
use crate::exchange::Trade;

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
    text(trade.quantity, trade.price, Some(trade.buy.id), Some(trade.sell.id), trade.aggressor)
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
