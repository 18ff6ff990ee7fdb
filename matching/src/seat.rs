//! What matching's seat owes whoever sits in it: how answers are written, what is counted of them, what a request is refused
//! with. Shared by matching itself and by programs that take orders to a market elsewhere.

use node::{Counted, Counter, Output, Tally, WriteError};
use wire::Execution;

pub use crate::closed::refuse;

/// Master starts the program with `--closed` when it starts it no more.
pub const CLOSED: &str = "closed";

/// What its seat counts of the executions.
pub const COUNTED: &[Counted] = &[
    (Counter::Fills, Tally::fills),
    (Counter::Rejects, Tally::rejected),
    (Counter::CancelRejects, Tally::cancels_rejected),
    (Counter::ReplaceRejects, Tally::replaces_rejected),
];

/// Writes answers, those that belong together in one piece. How many are written, from the first on; those behind an error are
/// to be written later.
pub fn write(executions: &mut Output, answers: &[Execution]) -> (usize, Result<(), WriteError>) {
    match answers {
        [] => (0, Ok(())),
        [one] => match executions.send_bytes(one.message_id(), 0, one.bytes()) {
            Ok(_) => (1, Ok(())),
            Err(error) => (0, Err(error)),
        },
        several => executions.send_all(
            0,
            several.iter().map(|answer| (answer.message_id(), answer.bytes())),
            |next| !is_one_trade(&several[..next], several.get(next)),
        ),
    }
}

/// True when `next` belongs to the same trade as the last answer: the update to its fill, the taker's fill to the maker's. A
/// kill in between would fill one side of a trade and not the other.
fn is_one_trade(before: &[Execution], next: Option<&Execution>) -> bool {
    let fill = before.iter().rev().take(2).find_map(|answer| match answer {
        Execution::Fill(fill) => Some(fill),
        Execution::Update(_) => None,
    });
    match (before.last(), next) {
        (Some(Execution::Fill(_)), Some(Execution::Update(_))) => true,
        (_, Some(Execution::Fill(next))) => fill.is_some_and(|fill| fill.trade_id == next.trade_id),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{
        Fill, InstrumentId, Liquidity, Nanos, OrderId, OrderStatus, OrderUpdate, Price, Quantity, Reason,
        Side, StrategyId,
    };

    fn fill(strategy: u16, trade_id: u64) -> Execution {
        Execution::Fill(Fill {
            order_id: OrderId::new(StrategyId(strategy), 1, 1),
            trade_id,
            instrument: InstrumentId(1),
            side: Side::Buy,
            liquidity: Liquidity::Maker,
            reserved: [0; 2],
            price: Price(10),
            quantity: Quantity(4),
            remaining: Quantity(4),
            event_time: Nanos(0),
            execution: 0,
            answered_up_to: 0,
        })
    }

    fn update(strategy: u16) -> Execution {
        let order_id = OrderId::new(StrategyId(strategy), 1, 1);
        let status = OrderStatus::PartiallyFilled;
        Execution::Update(OrderUpdate::about(order_id, InstrumentId(1), status, Reason::None))
    }

    #[test]
    fn batches_of_answers_end_between_trades_only() {
        // Accepted; a trade with the market; two trades between strategies 5 and 6; the end.
        let answers = [
            update(6),
            fill(6, 1),
            update(6),
            fill(5, 2),
            update(5),
            fill(6, 2),
            update(6),
            fill(5, 3),
            update(5),
            fill(6, 3),
            update(6),
            update(6),
        ];
        let parts: Vec<usize> =
            (1..answers.len()).filter(|&next| !is_one_trade(&answers[..next], answers.get(next))).collect();
        assert_eq!(parts, [1, 3, 7, 11]);
    }
}
