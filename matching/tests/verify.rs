//! Recorded markets through the exchange: what the comparison notices, and that no rows make it panic.

use matching::exchange::MarketRules;
use matching::verify::{
    Action, Day, Feed, File, Place, Recording, Report, Row, Snapshot, SnapshotLevel, SnapshotTotal, Traded,
    What, verify,
};
use proptest::prelude::*;
use wire::{Aggressor, Nanos, Price, Quantity, Side};

const CENT: Price = Price(10_000_000);

fn rows(actions: &[(u64, Action)]) -> Vec<Row> {
    let place = |row| Place { file: File::Messages, row };
    let numbered = actions.iter().zip(1..);
    numbered
        .map(|(&(time, action), row)| Row {
            place: place(row),
            time: Nanos(time),
            stated: Nanos(time),
            off_money: false,
            action,
        })
        .collect()
}

fn run(feed: Feed, rows: &[Row], snapshots: &[Snapshot]) -> Report {
    let recording = Recording {
        feed,
        market: MarketRules::shanghai(),
        tick: CENT,
        day: Day::continuous(),
        rows,
        snapshots,
    };
    verify(&recording).expect("listed")
}

fn at(cents: i64) -> Price {
    Price(CENT.0 * cents)
}

fn order(id: u64, side: Side, cents: i64, quantity: i64) -> Action {
    Action::Order { id, side, price: at(cents), quantity: Quantity(quantity) }
}

fn bought(buy: u64, sell: u64, cents: i64, quantity: i64) -> Action {
    Action::Trade { buy, sell, price: at(cents), quantity: Quantity(quantity), aggressor: Aggressor::Buy }
}

fn cancel(id: u64, quantity: i64) -> Action {
    Action::Cancel { id, quantity: Quantity(quantity), resting: None }
}

#[test]
fn a_market_that_keeps_the_rules_is_identical() {
    let rows = rows(&[
        (1, order(1, Side::Sell, 1_001, 100)),
        (2, order(2, Side::Sell, 1_000, 50)),
        (3, bought(3, 2, 1_000, 50)),
        (3, bought(3, 1, 1_001, 20)),
        (4, cancel(1, 80)),
    ]);
    let report = run(Feed::Both, &rows, &[]);
    assert!(report.is_identical(), "{report:?}");
    assert_eq!((report.orders, report.trades, report.cancels), (3, 2, 1));
}

#[test]
fn what_a_market_does_against_the_rules_is_named() {
    let sells = [(1, order(1, Side::Sell, 1_000, 100)), (2, order(2, Side::Sell, 1_000, 100))];
    type Case = (&'static str, Vec<(u64, Action)>, What, Option<u64>);
    let cases: [Case; 7] = [
        ("the later order trades", vec![(3, bought(3, 2, 1_000, 50))], What::Trade, Some(3)),
        ("another price", vec![(3, bought(3, 1, 1_001, 50))], What::Trade, Some(3)),
        ("an order rests that should trade", vec![(3, order(3, Side::Buy, 1_000, 50))], What::Trade, Some(3)),
        (
            "an order trades beyond its limit",
            vec![(3, bought(3, 1, 1_000, 50)), (3, order(3, Side::Buy, 999, 50))],
            What::Trade,
            Some(3),
        ),
        ("a cancel of another rest", vec![(3, cancel(1, 99))], What::Cancel, Some(1)),
        (
            "what is left of an order that traded, behind a row of another",
            vec![(2, bought(4, 2, 1_000, 100)), (2, cancel(1, 100)), (3, order(4, Side::Buy, 1_000, 50))],
            What::Trade,
            Some(4),
        ),
        ("an order number twice", vec![(3, order(1, Side::Buy, 900, 1))], What::Order, Some(1)),
    ];
    for (name, then, what, order) in cases {
        let report = run(Feed::Both, &rows(&[&sells[..], &then].concat()), &[]);
        let first = report.first_difference().unwrap_or_else(|| panic!("{name}: no difference"));
        assert_eq!((first.what, first.order, first.place.row), (what, order, 3), "{name}: {first:?}");
        assert_ne!(first.expected, first.found, "{name}");
    }
}

#[test]
fn trades_are_compared_with_their_place_in_time() {
    let day = |first: u64, second: u64| {
        let mut actions = vec![(1, order(1, Side::Sell, 1_000, 10)), (2, order(2, Side::Sell, 1_001, 10))];
        actions.push((3, bought(first, 1, 1_000, 5)));
        actions.push((3, bought(second, 1, 1_000, 5)));
        actions.push((3, bought(first, 2, 1_001, 5)));
        run(Feed::Both, &rows(&actions), &[])
    };
    assert!(day(3, 3).differences > 0, "one order takes the level at once");
    let report = day(3, 4);
    let first = report.first_difference().expect("order 3 trades again behind order 4");
    assert_eq!((first.what, first.order, first.place.row), (What::Order, Some(3), 5), "{report:?}");
}

#[test]
fn a_snapshot_must_be_a_book_at_its_number_of_trades() {
    let rows = rows(&[
        (1, order(1, Side::Sell, 1_000, 100)),
        (2, order(2, Side::Sell, 1_000, 30)),
        (3, bought(3, 1, 1_000, 60)),
    ]);
    let snapshot = |row: u64, trades: u64, quantity: i64, orders: Option<u64>| Snapshot {
        place: Place { file: File::Snapshots, row },
        trades,
        bids: Vec::new(),
        asks: vec![SnapshotLevel { price: at(1_000), quantity: Quantity(quantity), orders }],
        totals: None,
        traded: Traded::default(),
    };
    let good = [snapshot(1, 0, 100, Some(1)), snapshot(2, 0, 130, None), snapshot(3, 1, 70, Some(2))];
    let report = run(Feed::Both, &rows, &good);
    assert!(report.is_identical() && report.snapshots == 3, "{report:?}");
    for (bad, text) in [
        (snapshot(9, 0, 131, None), "ask 1: 131 at 10"),
        (snapshot(9, 1, 130, None), "ask 1: 130 at 10"),
        (snapshot(9, 1, 70, Some(1)), "ask 1: 70 at 10 in 1 order"),
        (snapshot(9, 7, 70, Some(2)), "a book after 7 trades"),
    ] {
        let mut all = [&good[..], &[bad]].concat();
        all.sort_by_key(|snapshot| snapshot.trades);
        let report = run(Feed::Both, &rows, &all);
        assert_eq!((report.snapshots, report.snapshots_identical), (4, 3), "{text}");
        let first = report.first_difference().expect("a difference");
        assert_eq!((first.what, first.place.row), (What::Snapshot, 9));
        assert!(first.expected.starts_with(text), "{first:?}");
    }
    // Each is a book of the day, but in another order of time.
    let report = run(Feed::Both, &rows, &[snapshot(1, 0, 130, None), snapshot(2, 0, 100, None)]);
    assert_eq!((report.snapshots, report.snapshots_identical), (2, 1));
}

#[test]
fn totals_of_a_snapshot_show_orders_beyond_its_levels() {
    let rows = rows(&[(1, order(1, Side::Sell, 1_000, 100)), (2, order(2, Side::Buy, 900, 30))]);
    let snapshot = |volume| Snapshot {
        place: Place { file: File::Snapshots, row: 2 },
        trades: 0,
        bids: vec![SnapshotLevel { price: at(900), quantity: Quantity(30), orders: None }],
        asks: vec![SnapshotLevel { price: at(1_000), quantity: Quantity(100), orders: None }],
        totals: Some([(30, 1), (volume, 1)].map(|(quantity, orders)| SnapshotTotal {
            quantity,
            orders,
            levels: 1,
        })),
        traded: Traded::default(),
    };
    let report = run(Feed::Both, &rows, &[snapshot(100)]);
    assert_eq!((report.totals, report.totals_identical, report.differences), (1, 1, 0));
    let report = run(Feed::Both, &rows, &[snapshot(101)]);
    assert_eq!((report.snapshots_identical, report.totals_identical, report.differences), (1, 0, 1));
    let first = report.first_difference().expect("a difference");
    assert_eq!(first.what, What::Totals);
    assert!(first.expected.contains("asks 101 in 1") && first.found.contains("asks 100 in 1"), "{first:?}");
}

#[test]
fn trades_whose_times_go_back_are_swapped() {
    let mut rows = rows(&[
        (1, order(1, Side::Sell, 1_000, 10)),
        (2, order(2, Side::Buy, 990, 10)),
        (3, bought(3, 1, 1_000, 5)),
        (
            4,
            Action::Trade {
                buy: 2,
                sell: 4,
                price: at(990),
                quantity: Quantity(5),
                aggressor: Aggressor::Sell,
            },
        ),
    ]);
    assert!(run(Feed::Both, &rows, &[]).is_identical());
    // Either order of these trades leads to the same book: only their times tell.
    (rows[2].stated, rows[3].stated) = (Nanos(4), Nanos(3));
    let report = run(Feed::Both, &rows, &[]);
    assert_eq!((report.trades_identical, report.differences), (1, 1), "{report:?}");
    assert_eq!(report.first_difference().map(|first| first.place.row), Some(4));
}

#[test]
fn a_feed_of_resting_orders_is_corrected_after_a_difference_and_goes_on() {
    let feed = Feed::Resting { numbers_grow: true };
    let execution = |id, quantity| Action::Execution {
        id,
        side: Side::Sell,
        price: at(1_000),
        quantity: Quantity(quantity),
    };
    let rows = rows(&[
        (1, order(1, Side::Sell, 1_000, 10)),
        (2, order(2, Side::Sell, 1_000, 10)),
        (3, execution(2, 4)),
        (4, execution(1, 10)),
        (5, execution(2, 6)),
    ]);
    let report = run(feed, &rows, &[]);
    assert_eq!((report.trades, report.trades_identical, report.differences), (3, 2, 1), "{report:?}");
    assert_eq!(report.corrected, 2);
    let first = report.first_difference().expect("a difference");
    assert_eq!((first.order, first.place.row), (None, 3));
    assert!(first.expected.contains("sell 2") && first.found.contains("sell 1"), "{first:?}");
}

fn any_action() -> impl Strategy<Value = Action> {
    let id = || prop_oneof![0..6_u64, Just(u64::MAX)];
    let side = || prop_oneof![Just(Side::Buy), Just(Side::Sell)];
    let price = || {
        prop_oneof![
            (995..1_005_i64).prop_map(at),
            Just(Price(i64::MAX)),
            Just(Price::NONE),
            any::<i64>().prop_map(Price)
        ]
    };
    let quantity =
        || prop_oneof![1..50_i64, Just(i64::MAX), Just(i64::MIN), Just(0), any::<i64>()].prop_map(Quantity);
    let aggressor = prop_oneof![Just(Aggressor::Buy), Just(Aggressor::Sell), Just(Aggressor::None)];
    prop_oneof![
        4 => (id(), side(), price(), quantity()).prop_map(|(id, side, price, quantity)| Action::Order { id, side, price, quantity }),
        2 => (id(), quantity(), side(), price())
            .prop_map(|(id, quantity, side, price)| Action::Cancel { id, quantity, resting: Some((side, price)) }),
        2 => (id(), quantity()).prop_map(|(id, quantity)| Action::Reduce { id, quantity, resting: None }),
        3 => (id(), id(), price(), quantity(), aggressor)
            .prop_map(|(buy, sell, price, quantity, aggressor)| Action::Trade { buy, sell, price, quantity, aggressor }),
        3 => (id(), side(), price(), quantity()).prop_map(|(id, side, price, quantity)| Action::Execution { id, side, price, quantity }),
        1 => Just(Action::Hidden),
        1 => Just(Action::Clear),
    ]
}

proptest! {
    #[test]
    fn no_rows_make_it_panic(
        actions in prop::collection::vec((0..60_000_000_000_000_u64, any_action()), 0..60),
        feed in prop_oneof![
            Just(Feed::Both),
            any::<bool>().prop_map(|numbers_grow| Feed::Resting { numbers_grow }),
        ],
        shanghai in any::<bool>(),
    ) {
        let rows = rows(&actions);
        let day = if shanghai { Day::shanghai(Nanos(0)) } else { Day::continuous() };
        let recording = Recording { feed, market: MarketRules::shanghai(), tick: CENT, day, rows: &rows, snapshots: &[] };
        let report = verify(&recording).expect("listed");
        prop_assert!(report.trades_identical <= report.trades && report.cancels_identical <= report.cancels);
        prop_assert!((report.differences == 0) == report.first_difference().is_none());
        prop_assert_eq!(report.differences, report.listed.len() as u64);
    }
}
