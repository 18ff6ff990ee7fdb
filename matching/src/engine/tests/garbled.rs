//! Input that makes no sense: no panic, and books that still add up.

use proptest::prelude::*;
use wire::*;

use super::fixture::*;
use crate::engine::{CallAuctions, Engine, EngineOptions, FillModel, SelfTrade};

/// Any number, but often one at which arithmetic breaks, or one that was used before.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        2 => any::<i64>(),
        2 => prop::sample::select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX]),
        6 => 90..110_i64,
    ]
}

fn reference() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0..12_u64, 1 => any::<u64>()]
}

fn listed() -> impl Strategy<Value = InstrumentId> {
    prop_oneof![8 => Just(STOCK), 2 => Just(OTHER), 1 => any::<u32>().prop_map(InstrumentId)]
}

fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Buy), Just(Side::Sell)]
}

fn order_id() -> impl Strategy<Value = OrderId> {
    prop_oneof![6 => (0..64_u16, 0..30_u32).prop_map(|(s, n)| id(s, n)), 1 => any::<u64>().prop_map(OrderId)]
}

pub(super) fn book_event() -> impl Strategy<Value = Input> {
    let action = prop::sample::select(vec![
        BookAction::Add,
        BookAction::Add,
        BookAction::Add,
        BookAction::Reduce,
        BookAction::Delete,
        BookAction::Execute,
        BookAction::Modify,
        BookAction::Trade,
        BookAction::Clear,
    ]);
    (action, listed(), reference(), side(), number(), number(), any::<u16>(), any::<u64>()).prop_map(
        |(action, instrument, order_ref, side, price, quantity, flags, time)| {
            let event = event(action, order_ref, side, price, quantity);
            Input::Event(BookEvent { instrument, flags, event_time: Nanos(time), ..event })
        },
    )
}

pub(super) fn request() -> impl Strategy<Value = Input> {
    let order_type = prop_oneof![4 => Just(OrderType::Limit), 1 => Just(OrderType::Market)];
    let time_in_force = prop::sample::select(vec![
        TimeInForce::Day,
        TimeInForce::Day,
        TimeInForce::ImmediateOrCancel,
        TimeInForce::FillOrKill,
        TimeInForce::PostOnly,
    ]);
    let new = (order_id(), listed(), side(), order_type, time_in_force, number(), number()).prop_map(
        |(order_id, instrument, side, order_type, time_in_force, price, quantity)| {
            let order = limit(order_id, side, price, quantity);
            Input::New(NewOrder { instrument, order_type, time_in_force, ..order })
        },
    );
    let change =
        (order_id(), listed(), number(), number()).prop_map(|(order_id, instrument, price, quantity)| {
            Input::Replace(ReplaceOrder { instrument, ..replace(order_id, price, quantity) })
        });
    prop_oneof![
        6 => new,
        2 => change,
        1 => (order_id(), listed()).prop_map(|(id, instrument)| Input::Cancel(CancelOrder::new(id, instrument))),
        1 => (order_id(), listed(), side(), any::<u8>()).prop_map(|(id, instrument, side, flags)| {
            Input::CancelAll(CancelAll { instrument, side, flags, ..CancelAll::new(id) })
        }),
    ]
}

pub(super) fn market_data() -> impl Strategy<Value = Input> {
    let levels = || prop::collection::vec((number(), number()), 0..=LEVELS);
    let quotes = (levels(), levels(), listed())
        .prop_map(|(bids, asks, instrument)| Input::Quote(Quote { instrument, ..quote(&bids, &asks) }));
    let aggressor = prop::sample::select(vec![Aggressor::Buy, Aggressor::Sell, Aggressor::None]);
    let prints =
        (aggressor, number(), number(), listed()).prop_map(|(aggressor, price, quantity, instrument)| {
            Input::Print(TradePrint { instrument, ..print(aggressor, price, quantity) })
        });
    let phases = (prop::sample::select(TradingPhase::ALL.to_vec()), listed())
        .prop_map(|(phase, instrument)| phase_of(instrument, phase));
    prop_oneof![4 => quotes, 2 => prints, 1 => phases, 1 => Just(Input::EndOfInstant)]
}

fn check_answers(answers: &[Execution]) {
    for answer in answers {
        match answer {
            Execution::Fill(fill) => {
                assert!(fill.quantity > Quantity::ZERO && fill.remaining >= Quantity::ZERO, "{fill:?}");
                assert!(fill.price.is_some(), "{fill:?}");
            }
            Execution::Update(update) => {
                assert!(update.filled >= Quantity::ZERO && update.remaining >= Quantity::ZERO, "{update:?}");
                if update.status != OrderStatus::Rejected {
                    assert!(update.filled <= update.quantity, "{update:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn anything_may_come_and_the_books_still_add_up(
        fill in prop::sample::select(vec![FillModel::Book, FillModel::Quotes]),
        self_trade in prop::sample::select(vec![SelfTrade::CancelNewest, SelfTrade::Decrement, SelfTrade::Allow]),
        call_auctions in prop::sample::select(vec![CallAuctions::Refuse, CallAuctions::Uncross]),
        inputs in prop::collection::vec(prop_oneof![3 => book_event(), 3 => request(), 2 => market_data()], 1..200),
    ) {
        let mut engine = Engine::new(EngineOptions { call_auctions, displayed_first: true, ..options(fill, self_trade) });
        engine.on_instrument(&instrument(STOCK));
        engine.on_instrument(&instrument(OTHER));
        for input in &inputs {
            // `feed` walks all structures after each input.
            check_answers(&feed(&mut engine, input));
        }
        for view in [STOCK, OTHER].into_iter().filter_map(|id| engine.book(id)) {
            for side in [Side::Buy, Side::Sell] {
                let totals = view.totals(side);
                prop_assert!(totals.available >= Quantity::ZERO && totals.market >= Quantity::ZERO);
                // A level may hold nothing but orders that a clear swept away.
                prop_assert!(view.levels(side, usize::MAX).count() as u64 <= totals.levels);
            }
        }
    }

    /// Strategies never get more out of the market's sell orders than these ever offered.
    #[test]
    fn no_share_of_the_market_is_sold_twice(
        steps in prop::collection::vec((0..6_u8, 1..20_u64, 95..105_i64, 1..50_i64), 1..200)
    ) {
        let mut engine = engine(FillModel::Book);
        let (mut offered, mut bought) = (0, 0);
        for (number, &(kind, order_ref, price, quantity)) in steps.iter().enumerate() {
            let input = match kind {
                0 | 1 => Input::Event(add(order_ref, Side::Sell, price, quantity)),
                2 => Input::Event(event(BookAction::Execute, order_ref, Side::Sell, price, quantity)),
                3 => Input::Event(event(BookAction::Reduce, order_ref, Side::Sell, price, quantity)),
                4 => Input::Event(event(BookAction::Delete, order_ref, Side::Sell, price, quantity)),
                _ => Input::New(with(
                    limit(id(1, number as u32), Side::Buy, price, quantity),
                    TimeInForce::ImmediateOrCancel,
                )),
            };
            let before = engine.book(STOCK).map_or(0, |book| book.totals(Side::Sell).market.0);
            for answer in feed(&mut engine, &input) {
                if let Execution::Fill(fill) = answer {
                    bought += fill.quantity.0;
                }
            }
            let after = engine.book(STOCK).map_or(0, |book| book.totals(Side::Sell).market.0);
            offered += (after - before).max(0);
            prop_assert!(bought <= offered);
        }
    }
}
