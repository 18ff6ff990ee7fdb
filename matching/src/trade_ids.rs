//! The rule that the numbers of trades keep in `matching.executions`, and in every journal of reports made from it.
//!
//! A trade's number is above that of every trade before it, over every restart of matching. One fill bears it, or two:
//! the two sides of a trade between our own orders, one right behind the other.

use wire::{Fill, OrderId, Side};

/// A fill whose number breaks the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TradeIdError {
    /// Below the number of the fill before it: given out again, or out of order.
    #[error("trade {found} behind trade {before}")]
    Descends {
        /// Number of this fill.
        found: u64,
        /// Number of the fill before it.
        before: u64,
    },
    /// The number of the fill before it, but not the other side of the same trade.
    #[error("trade {trade} again: {side} order {order}, not the other side of the fill before it")]
    NotTheOtherSide {
        /// The number.
        trade: u64,
        /// The fill's order.
        order: OrderId,
        /// The fill's side.
        side: Side,
    },
    /// Both sides of the trade were there already.
    #[error("trade {trade} a third time: order {order}")]
    ThirdSide {
        /// The number.
        trade: u64,
        /// The fill's order.
        order: OrderId,
    },
}

/// Checks the fills of one journal, in their order. Fills may be missing in front of the first one and between two, where
/// a ring went round: that breaks no rule.
#[derive(Clone, Debug, Default)]
pub struct TradeIds {
    last: Option<Fill>,
    /// Both sides of the last trade were there.
    whole: bool,
    trades: u64,
}

impl TradeIds {
    /// Takes the next fill.
    ///
    /// # Errors
    /// [`TradeIdError`]: its number breaks the rule. The next fill is held against this one.
    pub fn check(&mut self, fill: &Fill) -> Result<(), TradeIdError> {
        let (trade, order) = (fill.trade_id, fill.order_id);
        let last = self.last.replace(*fill);
        let before = last.map_or(0, |last| last.trade_id);
        if trade != before {
            self.whole = false;
            self.trades += 1;
            return if trade > before {
                Ok(())
            } else {
                Err(TradeIdError::Descends { found: trade, before })
            };
        }
        if std::mem::replace(&mut self.whole, true) {
            return Err(TradeIdError::ThirdSide { trade, order });
        }
        match last {
            Some(last) if are_two_sides(&last, fill) => Ok(()),
            _ => Err(TradeIdError::NotTheOtherSide { trade, order, side: fill.side }),
        }
    }

    /// How many trades the fills belong to.
    pub fn trades(&self) -> u64 {
        self.trades
    }
}

fn are_two_sides(one: &Fill, other: &Fill) -> bool {
    let terms = |fill: &Fill| (fill.instrument, fill.price, fill.quantity);
    terms(one) == terms(other) && one.side != other.side && one.order_id != other.order_id
}

#[cfg(test)]
mod tests {
    use wire::{InstrumentId, Liquidity, Nanos, Price, Quantity, StrategyId};

    use super::*;

    fn fill(trade_id: u64, order: u32, side: Side) -> Fill {
        Fill {
            order_id: OrderId::new(StrategyId(3), 1, order),
            trade_id,
            instrument: InstrumentId(1),
            side,
            liquidity: Liquidity::Maker,
            reserved: [0; 2],
            price: Price(1_000_000_000),
            quantity: Quantity(5),
            remaining: Quantity(0),
            event_time: Nanos(0),
            execution: 0,
            answered_up_to: 0,
        }
    }

    /// The errors of fills: trade, order, side.
    fn errors(fills: &[(u64, u32, Side)]) -> (Vec<TradeIdError>, u64) {
        let mut ids = TradeIds::default();
        let found =
            fills.iter().filter_map(|&(trade, order, side)| ids.check(&fill(trade, order, side)).err());
        let found = found.collect();
        (found, ids.trades())
    }

    #[test]
    fn ascending_numbers_with_one_or_two_sides_are_right_wherever_they_begin() {
        let (buy, sell) = (Side::Buy, Side::Sell);
        assert_eq!(errors(&[(1, 1, buy), (2, 1, buy), (2, 2, sell), (9, 3, sell), (9, 1, buy)]), (vec![], 3));
        assert_eq!(errors(&[(812, 1, buy), (813, 2, sell)]), (vec![], 2));
    }

    #[test]
    fn each_break_of_the_rule_has_its_error() {
        let (buy, sell) = (Side::Buy, Side::Sell);
        let order = |sequence| OrderId::new(StrategyId(3), 1, sequence);
        assert_eq!(
            errors(&[(7, 1, buy), (1, 2, buy)]).0,
            [TradeIdError::Descends { found: 1, before: 7 }],
            "numbering began again"
        );
        assert_eq!(
            errors(&[(7, 1, buy), (8, 2, buy), (7, 3, sell), (8, 4, buy)]).0,
            [TradeIdError::Descends { found: 7, before: 8 }]
        );
        assert_eq!(
            errors(&[(7, 1, buy), (7, 2, buy)]).0,
            [TradeIdError::NotTheOtherSide { trade: 7, order: order(2), side: buy }]
        );
        assert_eq!(
            errors(&[(7, 1, buy), (7, 1, sell)]).0,
            [TradeIdError::NotTheOtherSide { trade: 7, order: order(1), side: sell }]
        );
        assert_eq!(
            errors(&[(7, 1, buy), (7, 2, sell), (7, 3, sell)]).0,
            [TradeIdError::ThirdSide { trade: 7, order: order(3) }]
        );
        assert_eq!(errors(&[(0, 1, buy)]).0.len(), 1, "numbers begin with 1");
    }
}
