//! What the exchange answers, as the messages that td passes on to the orders' owners.

use wire::{
    Aggressor, Execution, Fill, InstrumentId, Liquidity, Nanos, OrderId, OrderStatus, OrderUpdate, Quantity,
    Reason,
};

use crate::exchange::{Event, Order, OrderState, Refusal, Trade};

/// Appends what the owners of an event's orders are told. `instrument` is that of the request.
pub(super) fn report(event: &Event, instrument: InstrumentId, time: Nanos, answers: &mut Vec<Execution>) {
    let update = |state: &OrderState, status, reason| Execution::Update(update(state, status, reason, time));
    match event {
        Event::Accepted(state) => answers.push(update(state, OrderStatus::Accepted, Reason::None)),
        Event::Rejected(order, reason) => {
            answers.push(Execution::Update(OrderUpdate { event_time: time, ..rejection(order, *reason) }));
        }
        Event::Traded(trade) => traded(trade, time, answers),
        Event::Cancelled(state, reason) => answers.push(update(state, OrderStatus::Cancelled, *reason)),
        Event::Replaced(state, _) => answers.push(update(state, OrderStatus::Replaced, Reason::None)),
        Event::Decremented(state) => answers.push(update(state, OrderStatus::Reduced, Reason::SelfTrade)),
        Event::Triggered(state) => answers.push(update(state, OrderStatus::Triggered, Reason::None)),
        Event::Refused { id, refused, reason } => {
            let status = match refused {
                Refusal::Cancel => OrderStatus::CancelRejected,
                Refusal::Replace => OrderStatus::ReplaceRejected,
            };
            let about = OrderUpdate::about(OrderId(*id), instrument, status, *reason);
            answers.push(Execution::Update(OrderUpdate { event_time: time, ..about }));
        }
        Event::Rested(_) | Event::Refreshed(..) | Event::Uncrossed { .. } | Event::PhaseChanged { .. } => {}
    }
}

/// Both sides of a trade, the resting order's first.
fn traded(trade: &Trade, time: Nanos, answers: &mut Vec<Execution>) {
    let (first, second, second_liquidity) = match trade.aggressor {
        Aggressor::Buy => (&trade.sell, &trade.buy, Liquidity::Taker),
        Aggressor::Sell => (&trade.buy, &trade.sell, Liquidity::Taker),
        Aggressor::None => (&trade.buy, &trade.sell, Liquidity::Maker),
    };
    for (state, liquidity) in [(first, Liquidity::Maker), (second, second_liquidity)] {
        answers.push(Execution::Fill(Fill {
            order_id: OrderId(state.id),
            trade_id: trade.id,
            instrument: state.instrument,
            side: state.side,
            liquidity,
            reserved: [0; 2],
            price: trade.price,
            quantity: trade.quantity,
            remaining: state.open,
            event_time: time,
            execution: 0,
            answered_up_to: 0,
        }));
        let status =
            if state.open == Quantity::ZERO { OrderStatus::Filled } else { OrderStatus::PartiallyFilled };
        answers.push(Execution::Update(update(state, status, Reason::None, time)));
    }
}

fn update(state: &OrderState, status: OrderStatus, reason: Reason, time: Nanos) -> OrderUpdate {
    OrderUpdate {
        side: state.side,
        price: state.price,
        quantity: state.quantity(),
        filled: state.filled,
        remaining: if status.is_final() { Quantity::ZERO } else { state.open },
        event_time: time,
        ..OrderUpdate::about(OrderId(state.id), state.instrument, status, reason)
    }
}

/// The rejection of an order: what was asked for.
fn rejection(order: &Order, reason: Reason) -> OrderUpdate {
    OrderUpdate {
        side: order.side,
        price: order.kind.price().unwrap_or(wire::Price::NONE),
        quantity: order.quantity,
        ..OrderUpdate::about(OrderId(order.id), order.instrument, OrderStatus::Rejected, reason)
    }
}
