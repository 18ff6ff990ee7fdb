//! Rows by frames: a market of one instrument and one strategy, in lock-step.

use wire::{Level, Liquidity, Quantity, Reason, ReplaceOrder, Side};

use super::*;

const PLATFORM: &str = "[platform]\ndeterministic = true\n[md]\nsource = \"sim\"\nreaders = \"gated\"\ngenerator = \"timed\"\n[strategies]\ncount = 1\n";
/// The run begins here, 100 ms before a whole second.
const BEGIN: u64 = 1_000_900_000_000;
const MS: u64 = 1_000_000;
const ONE: i64 = 1_000_000_000;
const THIS: InstrumentId = InstrumentId(1);

struct Run {
    folder: tempfile::TempDir,
    fold: Fold,
    me: StrategyId,
    position: u64,
    orders: u32,
}

impl Run {
    fn new() -> Run {
        let topology = topology::parse("test.toml", PLATFORM, &[]).unwrap().topology;
        let seat = topology.nodes.iter().find(|node| node.kind == NodeKind::Strategy).unwrap().seat;
        let folder = tempfile::tempdir().unwrap();
        let fold = Fold::new(folder.path(), &topology, None);
        Run { folder, fold, me: StrategyId(seat), position: 0, orders: 0 }
    }

    /// The market stands at this mid so many milliseconds after the begin.
    fn quote(&mut self, ms: u64, mid: i64) {
        let mut quote = Quote { event_time: Nanos(BEGIN + ms * MS), ..Quote::empty(THIS) };
        quote.bids[0] = Level { price: Price((mid - 1) * ONE), quantity: Quantity(5) };
        quote.asks[0] = Level { price: Price((mid + 1) * ONE), quantity: Quantity(5) };
        self.fold.market(THIS.0, Quote::ID, quote.bytes(), 0);
    }

    fn order(&mut self, quantity: i64) -> OrderId {
        self.orders += 1;
        let id = OrderId::new(self.me, 1, self.orders);
        let (order_type, time_in_force) = (wire::OrderType::Limit, wire::TimeInForce::Day);
        let (price, quantity) = (Price(100 * ONE), Quantity(quantity));
        let order = NewOrder::plain(id, THIS, Side::Buy, order_type, time_in_force, price, quantity);
        self.fold.request(NewOrder::ID, order.bytes(), 0);
        self.update(id, OrderStatus::Accepted, quantity.0);
        id
    }

    fn update(&mut self, id: OrderId, status: OrderStatus, quantity: i64) {
        self.position += 1;
        let about = OrderUpdate::about(id, THIS, status, Reason::None);
        let update = OrderUpdate { quantity: Quantity(quantity), execution: self.position, ..about };
        self.fold.execution(self.position, OrderUpdate::ID, update.bytes(), 0);
    }

    /// A fill at 100, behind which this remains.
    fn fill(&mut self, id: OrderId, quantity: i64, remaining: i64) {
        self.position += 1;
        let fill = Fill {
            order_id: id,
            trade_id: self.position,
            instrument: THIS,
            side: Side::Buy,
            liquidity: Liquidity::Taker,
            reserved: [0; 2],
            price: Price(100 * ONE),
            quantity: Quantity(quantity),
            remaining: Quantity(remaining),
            event_time: Nanos(0),
            execution: 0,
            answered_up_to: 0,
        };
        self.fold.execution(self.position, Fill::ID, fill.bytes(), 0);
    }

    fn buy_one(&mut self) {
        let id = self.order(1);
        self.fill(id, 1, 0);
        self.update(id, OrderStatus::Filled, 1);
    }

    /// Its tables: rows by column.
    fn end(self) -> impl Fn(&str) -> Vec<BTreeMap<String, String>> {
        let Run { folder, fold, .. } = self;
        let (_, problems, _) = fold.finish(None);
        assert_eq!(problems, Vec::<String>::new());
        move |name| {
            let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
            let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
            let head = lines.next().unwrap();
            lines.map(|cells| head.iter().cloned().zip(cells).collect()).collect()
        }
    }
}

/// A position of one from 100, marks of 110 and 121 at the ends of two seconds, and this mark in the third.
fn ended_at(last: i64) -> BTreeMap<String, String> {
    let mut run = Run::new();
    run.quote(0, 100);
    run.buy_one();
    run.quote(50, 110);
    run.quote(1_000, 121);
    run.quote(1_200, last);
    run.end()("strategies.csv").remove(0)
}

#[test]
fn the_ratio_is_over_all_that_was_gained_the_unfinished_interval_too() {
    for (last, changes) in [(121, [10.0, 11.0, 0.0]), (21, [10.0, 11.0, -100.0])] {
        let row = ended_at(last);
        assert_eq!((row["sharpe_n"].as_str(), row["sharpe_interval_s"].as_str()), ("3", "1"));
        assert_eq!(row["sharpe_sum"], row["pnl_net"], "changes add up to what was gained");
        let mean = changes.iter().sum::<f64>() / 3.0;
        let deviation = (changes.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
        let sharpe: f64 = row["sharpe"].parse().unwrap();
        assert!((sharpe - mean / deviation).abs() < 1e-12, "{sharpe} and {}", mean / deviation);
        for (column, power) in [("sharpe_sum2", 2), ("sharpe_sum3", 3), ("sharpe_sum4", 4)] {
            let sum: f64 = changes.iter().map(|x: &f64| x.powi(power)).sum();
            assert!((row[column].parse::<f64>().unwrap() - sum).abs() < 1e-9 * sum.abs(), "{column}");
        }
    }
}

#[test]
fn a_change_stands_at_the_first_point_of_the_grid_behind_it_however_late_the_next_event_is() {
    let hours = 5_400_000;
    // Events at these milliseconds, each with another mark; the grid has 100 ms, and the begin is one of its points.
    let events = [0, 30, 130, 199, 300, 450, 450 + hours, 451 + hours];
    let mut run = Run::new();
    for (number, ms) in events.into_iter().enumerate() {
        run.quote(ms, 100 + number as i64);
        run.buy_one();
    }
    let tables = run.end();
    // The state at a point is that behind the last event before it; the begin and the end stand as they are.
    let points = [0, 100, 200, 400, 500, 451 + hours];
    let times: Vec<String> = points.iter().map(|ms| (BEGIN + ms * MS).to_string()).collect();
    let positions = [0, 2, 4, 5, 6, 8];
    let equity = tables("equity.csv");
    let found: Vec<(&str, i64)> =
        equity.iter().map(|row| (row["time_ns"].as_str(), row["position"].parse().unwrap())).collect();
    let wanted: Vec<(&str, i64)> = times.iter().map(String::as_str).zip(positions).collect();
    assert_eq!(found, wanted);
    for name in ["positions.csv", "prices.csv"] {
        let rows = tables(name);
        let found: Vec<&str> = rows.iter().map(|row| row["time_ns"].as_str()).collect();
        // Nothing is held and nothing has a mark at the begin.
        assert_eq!(found, times[1..], "{name}");
    }
}

/// An order of so many that a replace makes one of so many.
/// The largest drawdown where one lot is bought at 100 and the market stands at these mids then. The fill comes before the quote of
/// its own instant.
fn largest_drawdown(bought_ms: u64, mids: &[(u64, i64)]) -> f64 {
    let mut run = Run::new();
    run.quote(0, 150);
    // The time comes before what happens at it.
    let time = MarketTime { event_time: Nanos(BEGIN + bought_ms * MS) };
    run.fold.clock(MarketTime::ID, time.bytes(), 0);
    run.buy_one();
    mids.iter().for_each(|(ms, mid)| run.quote(*ms, *mid));
    run.end()("strategies.csv").remove(0).remove("max_drawdown").unwrap().parse().unwrap()
}

#[test]
fn a_drawdown_is_from_what_there_was_at_the_end_of_an_instant_and_no_instant_is_left_out() {
    // The fill takes the market from 150 to 100: at no time was there a gain of 50.
    assert_eq!(largest_drawdown(40, &[(40, 100)]), 0.0);
    assert_eq!(largest_drawdown(40, &[(40, 100), (50, 95)]), 5.0);
    // A fall of 40 that lasts 3 ms, between two points of the grid.
    assert_eq!(largest_drawdown(40, &[(40, 100), (41, 110), (42, 70), (45, 110)]), 40.0);
}

fn replaced(run: &mut Run, from: i64, to: i64) -> OrderId {
    let id = run.order(from);
    let (price, quantity) = (Price(100 * ONE), Quantity(to));
    let replace = ReplaceOrder { order_id: id, instrument: THIS, source: 0, price, quantity };
    run.fold.request(ReplaceOrder::ID, replace.bytes(), 0);
    run.update(id, OrderStatus::Replaced, to);
    id
}

#[test]
fn an_order_counts_as_the_largest_that_it_has_been_and_never_fills_by_more_than_that() {
    let ratio = |make: fn(&mut Run)| {
        let mut run = Run::new();
        run.quote(0, 100);
        make(&mut run);
        run.end()("strategies.csv").remove(0)["fill_ratio"].parse::<f64>().unwrap()
    };
    let more = ratio(|run| {
        let id = replaced(run, 10, 100);
        run.fill(id, 40, 60);
        run.fill(id, 60, 0);
        run.update(id, OrderStatus::Filled, 100);
    });
    assert_eq!(more, 1.0);
    let less = ratio(|run| {
        let id = replaced(run, 100, 10);
        run.fill(id, 10, 0);
        run.update(id, OrderStatus::Filled, 10);
    });
    assert_eq!(less, 0.1, "90 of the 100 that were ordered have not traded");
    let refused = ratio(|run| {
        let id = run.order(10);
        run.update(id, OrderStatus::ReplaceRejected, 1_000);
        run.fill(id, 5, 5);
    });
    assert_eq!(refused, 0.5);
    let unseen = ratio(|run| {
        let id = OrderId::new(run.me, 1, 77);
        run.fill(id, 30, 10);
        run.fill(id, 10, 0);
    });
    assert_eq!(unseen, 1.0, "an order whose request was not seen is as large as its fills say");
}

#[test]
fn money_of_a_run_that_was_read_in_part_is_that_of_the_report_to_the_last_billionth() {
    // Beyond the 53 bits of a float.
    let exact = 9_007_199_254_740_993_123_456_789;
    let row = StrategyReport {
        name: "maker".to_owned(),
        requests: observe::Requests::default(),
        fills: 7,
        position: 0,
        pnl: exact as f64 / 1e9,
        pnl_exact: Some(topology::config::Decimal(exact)),
        positions: Vec::new(),
    };
    let cells = |line: Line| -> BTreeMap<String, String> {
        let names = sheets::STRATEGIES.iter().map(|column| column.name.to_owned());
        names.zip(line.shown_cells()).collect()
    };
    let known = cells(partial_row("maker", Some(&row)));
    assert_eq!((known["pnl"].as_str(), known["fills"].as_str()), ("9007199254740993.123456789", "7"));
    assert_eq!((known["sharpe"].as_str(), known["sharpe_sum4"].as_str()), ("", ""));
    assert_eq!(cells(partial_row("maker", None))["pnl"], "");
}

#[test]
fn halts_and_what_they_did_to_orders_are_counted() {
    use wire::TradingPhase::{Closed, Continuous, Halt, VolatilityAuction};
    let mut run = Run::new();
    let phase = |run: &mut Run, ms: u64, phase| {
        let event_time = Nanos(BEGIN + ms * MS);
        let message = MarketPhase { instrument: THIS, phase, reserved: [0; 3], event_time, sequence: 0 };
        run.fold.market(THIS.0, MarketPhase::ID, message.bytes(), 0);
    };
    let update = |run: &mut Run, ms: u64, number: u32, status, reason| {
        run.position += 1;
        let about = OrderUpdate::about(OrderId::new(run.me, 1, number), THIS, status, reason);
        let update = OrderUpdate { event_time: Nanos(BEGIN + ms * MS), execution: run.position, ..about };
        run.fold.execution(run.position, OrderUpdate::ID, update.bytes(), 0);
    };
    update(&mut run, 5, 1, OrderStatus::Accepted, Reason::None);
    phase(&mut run, 10, Halt);
    update(&mut run, 10, 2, OrderStatus::Rejected, Reason::NotTradable);
    update(&mut run, 11, 3, OrderStatus::Accepted, Reason::None);
    phase(&mut run, 20, VolatilityAuction);
    update(&mut run, 21, 4, OrderStatus::Rejected, Reason::CallAuction);
    update(&mut run, 22, 5, OrderStatus::Rejected, Reason::Unsupported);
    phase(&mut run, 30, Continuous);
    // It was taken in the halt, and that is known now; and one behind it.
    update(&mut run, 29, 6, OrderStatus::Accepted, Reason::None);
    update(&mut run, 31, 7, OrderStatus::Accepted, Reason::None);
    phase(&mut run, 40, Closed);
    phase(&mut run, 40, Closed);
    update(&mut run, 40, 1, OrderStatus::Cancelled, Reason::Expired);
    update(&mut run, 40, 3, OrderStatus::Cancelled, Reason::Requested);
    let (_, _, span) = run.fold.finish(None);
    let expected = Halts { halts: 1, closes: 1, refused: 2, collected: 2, expired: 1 };
    assert_eq!(span.halts, expected);
    let words = "halts of instruments: 1, ends of their sessions: 1; orders while nothing traded: refused 2, collected 2; \
                 ended with their session: 1";
    assert_eq!(span.halts.words().as_deref(), Some(words));
    assert_eq!(Halts::default().words(), None);
}
