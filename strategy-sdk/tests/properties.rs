//! Random markets and random bytes: positions are the sum of the fills, working orders those without an end, ids grow.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::collections::BTreeMap;

use node::Counter;
use proptest::prelude::*;
use strategy_sdk::testing::{Role, Setup};
use strategy_sdk::{Level, Money, OrderId, OrderStatus, Price, Quantity, Quote, Reason, Side};
use support::*;

/// What happens next. Numbers pick an order among those that work.
#[derive(Clone, Debug)]
enum Step {
    Quote { ask: i64 },
    Accept(usize),
    Fill(usize, i64),
    End(usize, bool),
    Full(bool),
    Garbage { role: usize, id: u16, bytes: Vec<u8> },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1_i64..1_000).prop_map(|ask| Step::Quote { ask }),
        3 => any::<usize>().prop_map(Step::Accept),
        4 => (any::<usize>(), 1_i64..12).prop_map(|(order, quantity)| Step::Fill(order, quantity)),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(order, rejected)| Step::End(order, rejected)),
        1 => any::<bool>().prop_map(Step::Full),
        2 => (0_usize..4, prop_oneof![0_u16..45, any::<u16>()], prop::collection::vec(any::<u8>(), 0..400))
            .prop_map(|(role, id, bytes)| Step::Garbage { role, id, bytes }),
    ]
}

proptest! {
    #[test]
    fn the_books_agree_with_a_naive_count(steps in prop::collection::vec(step(), 1..200)) {
        let (mut harness, instrument) = started(buy_at_quotes);
        // Each order that has not ended, and how much of it has traded.
        let mut model: BTreeMap<OrderId, (wire::NewOrder, i64)> = BTreeMap::new();
        let (mut held, mut cash, mut refused, mut full) = (0_i64, 0_i128, 0, false);
        let mut newest = None;
        for step in steps {
            let picked = |number: usize| match model.len() {
                0 => None,
                length => model.values().nth(number % length).copied(),
            };
            match step {
                Step::Quote { ask } => {
                    let mut quote = Quote::empty(instrument);
                    quote.asks[0] = Level { price: Price(ask), quantity: Quantity(1) };
                    harness.send(Role::Quotes, instrument.0, &quote);
                    let sent = harness.orders();
                    prop_assert_eq!(sent.len(), usize::from(!full));
                    refused += u64::from(full);
                    for order in sent {
                        prop_assert!(Some(order.order_id) > newest);
                        newest = Some(order.order_id);
                        model.insert(order.order_id, (order, 0));
                    }
                }
                Step::Accept(number) => {
                    if let Some((order, _)) = picked(number) {
                        harness.accept(&order);
                    }
                }
                Step::Fill(number, quantity) => {
                    if let Some((order, traded)) = picked(number) {
                        let quantity = quantity.min(order.quantity.0 - traded);
                        harness.fill(&order, order.price, quantity);
                        held += quantity;
                        cash -= i128::from(order.price.0) * i128::from(quantity);
                        if traded + quantity == order.quantity.0 {
                            model.remove(&order.order_id);
                        } else {
                            model.insert(order.order_id, (order, traded + quantity));
                        }
                    }
                }
                Step::End(number, rejected) => {
                    if let Some((order, _)) = picked(number) {
                        let status = if rejected { OrderStatus::Rejected } else { OrderStatus::Cancelled };
                        harness.update(&order, status, Reason::Requested);
                        model.remove(&order.order_id);
                    }
                }
                Step::Full(now) => {
                    full = now;
                    harness.set_full(now);
                }
                Step::Garbage { role, id, bytes } => {
                    // Right sizes are met too rarely by chance to leave the model out of step.
                    let is_message = wire::schema::message_type(id).is_some_and(|message| message.record.size == bytes.len());
                    if !is_message {
                        let roles = [Role::Instruments, Role::Quotes, Role::Reports, Role::State];
                        harness.send_bytes(roles[role], 1, id, &bytes);
                    }
                }
            }
            let context = harness.context();
            let position = context.position(instrument);
            prop_assert_eq!(position.quantity, Quantity(held));
            prop_assert_eq!(position.cash(), Money::from_wide(cash));
            let working: Vec<(OrderId, i64)> =
                context.working_orders().map(|order| (order.id, order.filled.0)).collect();
            let expected: Vec<(OrderId, i64)> =
                model.iter().map(|(id, (_, traded))| (*id, *traded)).collect();
            prop_assert_eq!(working, expected);
            let open: i64 = model.values().map(|(order, traded)| order.quantity.0 - traded).sum();
            prop_assert_eq!(context.working_quantity(instrument, Side::Buy), Quantity(open));
        }
        prop_assert_eq!(harness.counter(Counter::Full), refused);
    }

    #[test]
    fn whole_messages_of_random_bytes_never_panic(
        deterministic in any::<bool>(),
        ledger in any::<bool>(),
        frames in prop::collection::vec((0_usize..4, 0_usize..15, prop::collection::vec(any::<u8>(), 368)), 1..60),
    ) {
        let mut harness = probe(Setup { deterministic, ledger, ..setup() }, |context, event| {
            match event {
                Event::Quote(quote) => { let _ = context.buy(quote.instrument, Price(1), Quantity(1)); }
                Event::Order(update) => {
                    let _ = context.replace(update.order_id, Price(2), Quantity(i64::MAX));
                    let _ = context.cancel(update.order_id);
                }
                Event::Fill(fill) => { let _ = context.position(fill.instrument).profit(fill.price); }
                _ => {}
            }
        });
        harness.list("A", "0.01", 1);
        harness.start();
        for (role, message, mut bytes) in frames {
            let wire::schema::MessageType { id, record } = wire::schema::TABLE[message % wire::schema::TABLE.len()];
            bytes.truncate(record.size);
            // Near what is known: small ids.
            if let Some(first) = bytes.first_mut() { *first %= 3; }
            for byte in bytes.iter_mut().take(8).skip(1) { *byte = 0; }
            let roles = [Role::Instruments, Role::Quotes, Role::Reports, Role::State];
            harness.send_bytes(roles[role], 8, id, &bytes);
            harness.turn();
        }
        harness.stop();
    }
}
