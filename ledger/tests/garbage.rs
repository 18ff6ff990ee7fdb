//! Messages that cannot be, with numbers at which arithmetic breaks.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use ledger::Book;
use proptest::prelude::*;
use support::*;
use wire::*;

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![Just(i64::MIN), Just(i64::MAX), -2..20_i64, any::<i64>()]
}

fn message() -> impl Strategy<Value = AnyMessage> {
    let side = prop_oneof![Just(Side::Buy), Just(Side::Sell)];
    let status = proptest::sample::select(vec![
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
    ]);
    let fields = (0..3_u16, 0..4_u32, 0..3_u32, side, status);
    (fields, number(), number(), number(), 0..5_u8).prop_map(
        |((strategy, sequence, instrument, side, status), price, quantity, remaining, kind)| {
            let (order_id, instrument) = (id(strategy, sequence), InstrumentId(instrument));
            match kind {
                0 | 1 => {
                    AnyMessage::Fill(Fill { instrument, side, ..fill(order_id, price, quantity, remaining) })
                }
                2 => AnyMessage::OrderUpdate(OrderUpdate {
                    instrument,
                    side,
                    remaining: Quantity(remaining),
                    quantity: Quantity(quantity),
                    ..update(order_id, status, 0, 0)
                }),
                3 => AnyMessage::Quote(quote(instrument.0, price, quantity)),
                _ => AnyMessage::TradePrint(print(instrument.0, price)),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_message_breaks_it(messages in proptest::collection::vec(message(), 1..100)) {
        let mut book = Book::new();
        for (position, message) in (0..).zip(&messages) {
            match message {
                AnyMessage::Fill(fill) => book.on_fill(position, fill),
                AnyMessage::OrderUpdate(update) => book.on_update(position, update),
                AnyMessage::Quote(quote) => book.on_quote(quote),
                AnyMessage::TradePrint(trade) => book.on_trade(trade),
                _ => None,
            };
        }
        if let Ok(mut restored) = Book::restore(&snapshot(&mut book), &[]) {
            restored.totals(SnapshotBegin::EVERYBODY);
            everything(&mut restored);
        }
        book.totals(SnapshotBegin::EVERYBODY);
    }

    #[test]
    fn no_bytes_break_it(
        id in proptest::sample::select(vec![1_u16, 2, 3, 20, 21, 30, 41, 999]),
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        let mut book = Book::new();
        book.on_execution(1, id, &bytes);
        book.on_market(0, id, &bytes);
        everything(&mut book);
    }

    /// A snapshot is read from shared memory: any numbers may stand in it.
    #[test]
    fn no_snapshot_breaks_it(
        numbers in (number(), number(), number(), number(), number(), number(), number()),
        (fills, price, quantity) in (any::<u64>(), number(), number()),
    ) {
        let (position, average, realised, unrealised, mark, bought, sold) = numbers;
        let mut donor = Book::new();
        donor.on_fill(1, &fill(id(7, 1), 10, 1, 0));
        let mut taken = snapshot(&mut donor);
        taken.positions[0] = PositionState {
            strategy: ME,
            reserved: 0,
            instrument: STOCK,
            position: Quantity(position),
            average_price: Price(average),
            realised: Money(realised),
            unrealised: Money(unrealised),
            mark_price: Price(mark),
            bought: Quantity(bought),
            sold: Quantity(sold),
            fills,
            orders: fills,
            cash: WideMoney { low: fills, high: realised },
        };
        let mut book = Book::restore(&taken, &[]).unwrap();
        book.on_fill(u64::MAX, &Fill { side: Side::Sell, ..fill(id(7, 2), price, quantity, 0) });
        book.totals(SnapshotBegin::EVERYBODY);
        everything(&mut book);
    }
}
