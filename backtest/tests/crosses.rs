//! Crosses, reopenings and hidden trades of a recorded day, through all nodes: when strategies' orders trade with them, and at what price. The
//! right answers follow from the few rows of each day.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../../md/tests/support/itch.rs"]
#[allow(dead_code, unreachable_pub, reason = "other tests use the rest")]
mod itch;
mod scripted;

use itch::{Day, add, message};
use scripted::{Way, of_orders, run, run_and_report, ways};
use wire::Irregularity;

const LOBSTER: &str = "prior = \"none\"\nsymbols = [\"XYZ\"]";

/// 100 at 10.00 and 300 at 10.05. In a halt from 10 s a bid of 10.05 comes, if `crosses`, and a cross at 100 s. Trading is announced in that same
/// instant, before the cross or behind it. The stock has no other row until 200 s; another stock has some.
fn reopened(is_announced_first: bool, crosses: bool) -> Vec<u8> {
    let (stock, price) = (*b"AAA     ", 100_500_u32.to_be_bytes());
    let state = |second, state: u8| message(b'H', 1, second, &[&stock, &[state], b"     "]);
    let directory = |locate, name: &[u8; 8]| message(b'R', locate, 0, &[name, &[b'N'; 20]]);
    let part = |order: u64| {
        let rest: [&[u8]; 5] =
            [&order.to_be_bytes(), &100_u32.to_be_bytes(), &7_u64.to_be_bytes(), b"N", &price];
        message(b'C', 1, 100, &rest)
    };
    let cross = message(b'Q', 1, 100, &[&100_u64.to_be_bytes(), &stock, &price, &7_u64.to_be_bytes(), b"H"]);
    let mut messages = vec![message(b'S', 0, 0, &[b"O"]), directory(1, &stock), directory(2, b"BBB     ")];
    messages.extend([
        add(1, 1, 1, b'B', 100, "AAA", 100_000),
        add(1, 1, 2, b'S', 300, "AAA", 100_500),
        add(2, 1, 11, b'B', 100, "BBB", 200_000),
        state(10, b'H'),
        add(1, 20, 3, b'B', 100, "AAA", if crosses { 100_500 } else { 100_400 }),
        state(90, b'Q'),
    ]);
    messages.extend(is_announced_first.then(|| state(100, b'T')));
    messages.extend(crosses.then(|| [cross, part(3), part(2)]).into_iter().flatten());
    messages.extend((!is_announced_first).then(|| state(100, b'T')));
    messages.extend((0..11).map(|row| add(2, 101 + 9 * row, 100 + row, b'B', 10, "BBB", 199_000)));
    messages.extend([add(1, 200, 50, b'B', 10, "AAA", 99_900), message(b'S', 0, 300, &[b"C"])]);
    Day { messages }.bytes(true)
}

#[test]
fn a_reopening_does_not_wait_for_the_next_row_of_the_instrument() {
    let steps = [
        (40_000, "waits buy 10.05 120"),
        (139_000, "later buy 10.05 10 ioc"),
        (150_000, "rests buy 10.01 10"),
        (160_000, "cancel rests"),
    ];
    let later = [
        "later accepted none",
        "later fills 10 at 10.05",
        "later filled none",
        "rests accepted none",
        "rests cancelled requested",
    ];
    for (is_announced_first, crosses) in [(true, true), (true, false), (false, true), (false, false)] {
        let files = [("day.itch", reopened(is_announced_first, crosses))];
        for call_auctions in ["refuse", "uncross"] {
            for way in ways(call_auctions) {
                let (log, report) = run_and_report("itch", "", &files, way, &steps);
                let waits: &[&str] = match call_auctions {
                    "refuse" => &["waits rejected not-tradable"],
                    _ => &["waits accepted none", "waits fills 120 at 10.05", "waits filled none"],
                };
                let expected: Vec<&str> = waits.iter().chain(&later).copied().collect();
                let case = format!("{way:?}, first {is_announced_first}, crosses {crosses}");
                assert_eq!(of_orders(&log), expected, "{case}");
                assert_eq!(report.source.irregular.of(Irregularity::Crossed), 0, "{case}");
            }
        }
    }
}

/// LOBSTER has executions of a cross as rows of type 4, which have a side. `until_cross`: between the end of the halt and the cross.
fn crossed_lobster(until_cross: &str) -> String {
    format!(
        "\
34200.000000000,1,1,500,100000,1
34200.100000000,1,2,500,100200,-1
34210.000000000,7,0,0,-1,-1
34220.000000000,7,0,0,0,-1
34221.000000000,1,3,100,100300,1
34222.000000000,1,4,200,99700,-1
34230.000000000,7,0,0,1,-1
{until_cross}\
34232.000000000,4,3,100,100100,1
34232.000000000,4,4,100,100100,-1
34232.000000000,6,-1,100,100100,-1
34232.000000000,3,4,100,99700,-1
34240.000000000,1,5,50,100700,-1
34241.000000000,4,2,10,100200,-1
"
    )
}

#[test]
fn a_cross_behind_the_announcement_of_trading_has_its_price() {
    // Rows that cross each other, and none that a side could be told from.
    for until_cross in ["", "34231.000000000,1,8,30,100250,1\n34231.500000000,3,8,30,100250,1\n"] {
        let files = [("message.csv", crossed_lobster(until_cross))];
        for way in ways("uncross") {
            let steps = [(15_000, "waits buy 10.04 60"), (31_700, "takes buy 10.04 5 ioc")];
            let log = run("lobster", LOBSTER, &files, way, &steps);
            let expected = [
                "waits accepted none",
                "takes rejected call-auction",
                "waits fills 60 at 10.01",
                "waits filled none",
            ];
            assert_eq!(of_orders(&log), expected, "{way:?}");
        }
    }
}

/// A cross of ITCH at 10.00, in which the order executes that came at 10.00 behind a strategy's; in a halt, or as the opening cross without one.
fn executed_behind(is_halted: bool) -> Vec<u8> {
    let (stock, price) = (*b"AAA     ", 100_000_u32.to_be_bytes());
    let state = |second, state: u8| message(b'H', 1, second, &[&stock, &[state], b"     "]);
    let part: [&[u8]; 5] = [&3_u64.to_be_bytes(), &80_u32.to_be_bytes(), &7_u64.to_be_bytes(), b"N", &price];
    let cross = [&200_u64.to_be_bytes()[..], &stock, &price, &7_u64.to_be_bytes(), b"O"];
    let mut messages = vec![
        message(b'S', 0, 0, &[b"O"]),
        message(b'R', 1, 0, &[&stock, &[b'N'; 20]]),
        add(1, 1, 1, b'B', 100, "AAA", 99_000),
    ];
    messages.extend([add(1, 1, 2, b'S', 300, "AAA", 101_000), add(1, 3, 3, b'B', 100, "AAA", 100_000)]);
    messages.extend(is_halted.then(|| [state(5, b'H'), state(6, b'Q')]).into_iter().flatten());
    messages.extend([message(b'C', 1, 10, &part), message(b'Q', 1, 10, &cross)]);
    messages.extend(is_halted.then(|| state(11, b'T')));
    messages.extend([add(1, 20, 50, b'B', 10, "AAA", 98_000), message(b'S', 0, 30, &[b"C"])]);
    Day { messages }.bytes(true)
}

#[test]
fn a_cross_fills_an_order_at_its_price_that_is_before_an_executed_one() {
    let expected = [
        "ahead accepted none",
        "behind accepted none",
        "ahead fills 80 at 10",
        "ahead partially-filled none",
    ];
    for is_halted in [true, false] {
        let files = [("day.itch", executed_behind(is_halted))];
        for way in ways("refuse").into_iter().chain(ways("uncross")).filter(|way| way.fill == "book") {
            let steps = [(1_500, "ahead buy 10.00 120"), (3_500, "behind buy 10.00 60")];
            let log = run("itch", "", &files, way, &steps);
            assert_eq!(of_orders(&log), expected, "{way:?}, halted {is_halted}");
        }
    }
}

fn on_quotes() -> impl Iterator<Item = Way> {
    ways("refuse").into_iter().filter(|way| way.data != "flow")
}

#[test]
fn displayed_shares_are_not_sold_twice_behind_a_hidden_trade() {
    const ROWS: &str = "\
34200.000000001,1,1,140,1000000,1
34200.000000002,1,2,500,1000300,-1
34200.000000003,1,3,500,999900,1
34201.000000000,1,4,10,999000,1
34202.000000000,5,0,50,1000000,1
34203.000000000,1,5,10,999000,1
34204.000000000,1,6,10,999000,1
";
    for way in on_quotes() {
        let steps = [(1_500, "takes sell 100.00 140 ioc"), (3_500, "again sell 100.00 140 ioc")];
        let log = run("lobster", LOBSTER, &[("message.csv", ROWS)], way, &steps);
        let expected = [
            "takes accepted none",
            "takes fills 140 at 100",
            "takes filled none",
            "again accepted none",
            "again cancelled no-liquidity",
        ];
        assert_eq!(of_orders(&log), expected, "{way:?}");
    }
}

#[test]
fn a_hidden_trade_fills_a_better_order_with_a_side_and_without_one() {
    const ROWS: &str = "\
34200.000000000,1,1,140,999000,1
34200.000000000,1,2,500,1001000,-1
34201.000000000,1,3,10,998000,1
34202.000000000,5,0,50,1000000,1
34203.000000000,1,4,10,998000,1
";
    // Since 2014 each hidden trade of ITCH is called a purchase.
    let price = |price: u32| price.to_be_bytes();
    let hidden = message(
        b'P',
        1,
        2,
        &[&[0; 8], b"B", &50_u32.to_be_bytes(), b"XYZ     ", &price(1_000_000), &9_u64.to_be_bytes()],
    );
    let messages = vec![
        message(b'S', 0, 0, &[b"O"]),
        add(1, 0, 1, b'B', 140, "XYZ", 999_000),
        add(1, 0, 2, b'S', 500, "XYZ", 1_001_000),
        add(1, 1, 3, b'B', 10, "XYZ", 998_000),
        hidden,
        add(1, 3, 4, b'B', 10, "XYZ", 998_000),
        message(b'S', 0, 4, &[b"C"]),
    ];
    let itch = Day { messages }.bytes(true);
    for way in on_quotes() {
        let steps = [(1_500, "better buy 100.01 50"), (1_500, "equal buy 100.00 50")];
        let expected = [
            "better accepted none",
            "equal accepted none",
            "better fills 50 at 100.01",
            "better filled none",
        ];
        let log = run("lobster", LOBSTER, &[("message.csv", ROWS)], way, &steps);
        assert_eq!(of_orders(&log), expected, "{way:?}");
        let log = run("itch", "", &[("day.itch", &itch)], way, &steps);
        assert_eq!(of_orders(&log), expected, "{way:?}");
    }
}
