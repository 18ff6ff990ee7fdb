//! Messages that cannot be, with numbers at which arithmetic breaks.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use proptest::prelude::*;
use support::{instrument, is_accounted};
use td::{Gateway, Limits};
use wire::*;

/// Numbers at which arithmetic breaks, and small ones that meet real orders.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![Just(i64::MIN), Just(i64::MAX), -2..20_i64, any::<i64>()]
}

fn id() -> impl Strategy<Value = OrderId> {
    (0..5_u16, 0..3_u16, 0..6_u32)
        .prop_map(|(seat, epoch, sequence)| OrderId::new(StrategyId(seat), epoch, sequence))
}

#[derive(Clone, Debug)]
enum Garbage {
    Request(u16, Request),
    Fill(Fill),
    Update(OrderUpdate),
    Bytes(u16, u16, Vec<u8>),
    Gone(u16),
    Back(u16),
}

/// Matching cancels every order that may work.
fn end_all(gateway: &mut Gateway) {
    let mut frame = 1_000;
    for (seat, epoch, sequence) in (0..5).flat_map(|seat| (0..18).map(move |id| (seat, id / 6, id % 6))) {
        let order_id = OrderId::new(StrategyId(seat), epoch, u32::from(sequence));
        for (instrument, side) in (0..4).flat_map(|id| [Side::Buy, Side::Sell].map(|side| (id, side))) {
            let order =
                NewOrder { order_id, instrument: InstrumentId(instrument), ..support::order(0, side, 0) };
            let _ = gateway.on_update(frame, &support::update(&order, OrderStatus::Cancelled, 0));
            frame += 1;
        }
    }
}

fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Buy), Just(Side::Sell)]
}

fn garbage() -> impl Strategy<Value = Garbage> {
    let statuses = proptest::sample::select(vec![
        OrderStatus::Accepted,
        OrderStatus::PartiallyFilled,
        OrderStatus::Filled,
        OrderStatus::Cancelled,
        OrderStatus::Rejected,
        OrderStatus::Replaced,
        OrderStatus::Reduced,
        OrderStatus::Triggered,
        OrderStatus::MassCancelled,
        OrderStatus::CancelRejected,
        OrderStatus::ReplaceRejected,
    ]);
    let new = (0..5_u16, id(), 0..4_u32, side(), number(), number()).prop_map(
        |(from, order_id, instrument, side, price, quantity)| {
            let (instrument, price) = (InstrumentId(instrument), Price(price));
            Garbage::Request(
                from,
                Request::New(NewOrder { order_id, instrument, price, ..support::order(0, side, quantity) }),
            )
        },
    );
    let replace = (0..5_u16, id(), 0..4_u32, number(), number()).prop_map(
        |(from, order_id, instrument, price, quantity)| {
            let (instrument, price, quantity) = (InstrumentId(instrument), Price(price), Quantity(quantity));
            Garbage::Request(
                from,
                Request::Replace(ReplaceOrder { order_id, instrument, source: 0, price, quantity }),
            )
        },
    );
    let cancel = (0..5_u16, id(), 0..4_u32).prop_map(|(from, id, instrument)| {
        Garbage::Request(from, Request::Cancel(CancelOrder::new(id, InstrumentId(instrument))))
    });
    let fill = (id(), 0..4_u32, side(), number(), number(), number()).prop_map(
        |(order_id, instrument, side, price, quantity, remaining)| {
            let order = NewOrder {
                order_id,
                instrument: InstrumentId(instrument),
                price: Price(price),
                ..support::order(0, side, 0)
            };
            Garbage::Fill(support::fill(&order, quantity, remaining))
        },
    );
    let update = (id(), 0..4_u32, side(), statuses, number(), number(), number()).prop_map(
        |(order_id, instrument, side, status, quantity, filled, remaining)| {
            let order =
                NewOrder { order_id, instrument: InstrumentId(instrument), ..support::order(0, side, 0) };
            Garbage::Update(OrderUpdate {
                quantity: Quantity(quantity),
                filled: Quantity(filled),
                remaining: Quantity(remaining),
                ..support::update(&order, status, 0)
            })
        },
    );
    let ids = proptest::sample::select(vec![1_u16, 10, 11, 12, 20, 21, 999]);
    let bytes = (0..5_u16, ids, proptest::collection::vec(any::<u8>(), 0..80))
        .prop_map(|(from, id, bytes)| Garbage::Bytes(from, id, bytes));
    prop_oneof![
        6 => new, 3 => replace, 2 => cancel, 6 => fill, 6 => update, 2 => bytes,
        1 => (0..5_u16).prop_map(Garbage::Gone),
        1 => (0..5_u16).prop_map(Garbage::Back),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Nothing panics, each execution is delivered or named, and the books of orders still balance.
    #[test]
    fn no_garbage_breaks_it(garbage in proptest::collection::vec(garbage(), 1..120)) {
        let mut gateway = Gateway::new(td::GatewayOptions { price_band: 1_000.0 }).unwrap();
        for id in 1..3 {
            gateway.on_instrument(&Instrument { lot: Quantity(1), ..instrument(id) }).unwrap();
        }
        for seat in 0..3 {
            gateway.strategy_started(StrategyId(seat), Limits::NONE).unwrap();
        }
        for (frame, garbage) in (0_u64..).zip(garbage) {
            let outcome = match garbage {
                Garbage::Request(from, request) => {
                    let _ = gateway.take(StrategyId(from), request.message_id(), request.bytes());
                    continue;
                }
                Garbage::Gone(seat) => {
                    gateway.strategy_stopped(StrategyId(seat));
                    continue;
                }
                Garbage::Back(seat) => {
                    gateway.strategy_started(StrategyId(seat), Limits::NONE).unwrap();
                    continue;
                }
                Garbage::Bytes(from, id, bytes) => {
                    let _ = gateway.take(StrategyId(from), id, &bytes);
                    gateway.execution(frame, id, &bytes)
                }
                Garbage::Fill(fill) => gateway.execution(frame, Fill::ID, fill.bytes()),
                Garbage::Update(update) => gateway.execution(frame, OrderUpdate::ID, update.bytes()),
            };
            prop_assert!(outcome.deliver.is_some() || outcome.anomaly.is_some());
        }
        for strategy in gateway.strategies() {
            let working = gateway.working_orders(strategy);
            prop_assert!(is_accounted(gateway.counters(strategy).unwrap(), working));
        }
        end_all(&mut gateway);
        for strategy in gateway.strategies() {
            for instrument in 1..3 {
                let exposure = gateway.exposure(strategy, InstrumentId(instrument));
                prop_assert_eq!((exposure.working_buys, exposure.working_sells), (0, 0));
            }
        }
    }
}
