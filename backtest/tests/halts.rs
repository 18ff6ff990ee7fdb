//! Halts, auctions and ends of sessions of a recorded day, through all nodes: what becomes of a strategy's orders in them. The right answers follow
//! from the few rows of each day.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod scripted;

use scripted::{of_orders, run, ways};

/// 500 at 10.00 and 10.02. From 10 s to 100 s a halt, in which an ask of 9.98 comes and goes; trading without a cross.
const HALTED: &str = "\
34200.000000000,1,1,500,100000,1
34200.100000000,1,2,500,100200,-1
34210.000000000,7,0,0,-1,-1
34212.000000000,1,3,100,99800,-1
34213.000000000,3,3,100,99800,-1
34290.000000000,7,0,0,0,-1
34300.000000000,7,0,0,1,-1
34301.000000000,1,5,50,100700,-1
34310.000000000,1,6,50,100800,-1
";
const LOBSTER: &str = "prior = \"none\"\nsymbols = [\"AAA\"]";

#[test]
fn in_a_halt_nothing_of_a_strategy_trades_as_taker_or_as_maker() {
    let steps = [
        // It rests before the halt; the ask of 9.98 would trade with it.
        (5_000, "rests buy 9.99 10"),
        (11_000, "takes buy 10.02 100 ioc"),
        (11_000, "waits buy 10.02 100"),
        (20_000, "cancel rests"),
        (101_000, "later buy 10.02 40 ioc"),
    ];
    let phases = ["phase halt", "phase volatility-auction", "phase continuous"];
    for way in ways("refuse") {
        let log = run("lobster", LOBSTER, &[("message.csv", HALTED)], way, &steps);
        let expected = [
            "rests accepted none",
            "takes rejected not-tradable",
            "waits rejected not-tradable",
            "rests cancelled requested",
            "later accepted none",
            "later fills 40 at 10.02",
            "later filled none",
        ];
        assert_eq!(of_orders(&log), expected, "{way:?}");
        let heard: Vec<&String> = log.iter().filter(|line| line.starts_with("phase")).collect();
        assert_eq!(heard, phases, "{way:?}");
    }
    for way in ways("uncross") {
        let log = run("lobster", LOBSTER, &[("message.csv", HALTED)], way, &steps);
        let expected = [
            "rests accepted none",
            "takes rejected not-tradable",
            "waits accepted none",
            "rests cancelled requested",
            // The halt has ended: the order that was collected meets what is there.
            "waits fills 100 at 10.02",
            "waits filled none",
            "later accepted none",
            "later fills 40 at 10.02",
            "later filled none",
        ];
        assert_eq!(of_orders(&log), expected, "{way:?}");
    }
}

#[test]
fn at_a_cross_an_order_that_was_collected_gets_its_price() {
    // 10.03 × 100 and 9.97 × 100 cross at 10.01.
    let crossed = "\
34200.000000000,1,1,500,100000,1
34200.100000000,1,2,500,100200,-1
34210.000000000,7,0,0,-1,-1
34220.000000000,7,0,0,0,-1
34221.000000000,1,3,100,100300,1
34222.000000000,1,4,200,99700,-1
34230.000000000,4,3,100,100100,1
34230.000000000,4,4,100,100100,-1
34230.000000000,6,-1,100,100100,-1
34230.000000000,3,4,100,99700,-1
34230.000000000,7,0,0,1,-1
34231.000000000,1,5,50,100700,-1
";
    let more = format!("{LOBSTER}\ntolerate = 1.0");
    for way in ways("uncross") {
        let log = run("lobster", &more, &[("message.csv", crossed)], way, &[(15_000, "waits buy 10.04 60")]);
        let expected = ["waits accepted none", "waits fills 60 at 10.01", "waits filled none"];
        assert_eq!(of_orders(&log), expected, "{way:?}");
    }
}

/// An execution behind the row of the halt, hidden trades in it and while orders are quoted, and a second halt behind the cross.
#[test]
fn a_trade_within_a_halt_does_not_end_it() {
    let rows = "\
34200.000000000,1,1,500,100000,1
34200.100000000,1,2,500,100200,-1
34210.000000000,7,0,0,-1,-1
34210.000000000,4,2,10,100200,-1
34211.000000000,5,0,50,100100,1
34220.000000000,7,0,0,0,-1
34221.000000000,1,3,100,100300,1
34222.000000000,1,4,200,99700,-1
34223.000000000,5,0,50,100100,-1
34230.000000000,6,-1,100,100100,-1
34230.000000000,4,3,100,100100,1
34230.000000000,4,4,100,100100,-1
34230.000000000,3,4,100,99700,-1
34231.000000000,7,0,0,-1,-1
34240.000000000,7,0,0,1,-1
34241.000000000,1,5,50,100700,-1
";
    let steps = [
        (10_500, "first buy 10.04 60"),
        (12_000, "second buy 10.05 10"),
        (24_000, "third buy 10.03 10"),
        (35_000, "fourth buy 10.02 490"),
    ];
    for way in ways("uncross") {
        let log = run("lobster", LOBSTER, &[("message.csv", rows)], way, &steps);
        let expected = [
            "first accepted none",
            "second accepted none",
            "third accepted none",
            "second fills 10 at 10.01",
            "second filled none",
            "first fills 60 at 10.01",
            "first filled none",
            "third fills 10 at 10.01",
            "third filled none",
            "fourth accepted none",
            "fourth fills 490 at 10.02",
            "fourth filled none",
        ];
        assert_eq!(of_orders(&log), expected, "{way:?}");
    }
}

#[test]
fn day_orders_end_with_their_session_and_others_go_on() {
    let sessions = "\
34200000A000000000001B000500XYZ   0000100000Y
34200100A000000000002S000500XYZ   0000101000Y
57599000A000000000004S000010XYZ   0000103000Y
34200000A000000000001B000100XYZ   0000098000Y
34200100A000000000002S000500XYZ   0000100000Y
34210000A000000000005S000050XYZ   0000099000Y
34212000A000000000007S000010XYZ   0000102000Y
";
    let steps = [(1_000, "day buy 9.90 50"), (1_000, "kept buy 9.90 20 gtc")];
    for call_auctions in ["refuse", "uncross"] {
        for way in ways(call_auctions) {
            let log = run("pitch", "", &[("pitch.txt", sessions)], way, &steps);
            let expected = [
                "day accepted none",
                "kept accepted none",
                "day cancelled expired",
                "kept fills 20 at 9.9",
                "kept filled none",
            ];
            assert_eq!(of_orders(&log), expected, "{way:?}");
        }
    }
}

#[test]
fn shanghai_takes_no_cancels_from_09_20_to_09_25_nor_in_the_closing_auction() {
    let head = "DataStatus,OrderIndex,OrderChannel,SecurityID,OrderTime,OrderType,OrderNO,OrderPrice,Balance,OrderBSFlag,BizIndex,LocalTime,SeqNo\n";
    let trades = "DataStatus,TradeIndex,TradeChan,SecurityID,TradTime,TradPrice,TradVolume,TradeMoney,TradeBuyNo,TradeSellNo,TradeBSFlag,BizIndex,LocalTime,SeqNo\n";
    let rows: String = [
        (1, "09:15:00.000", 'B', "10.00"),
        (2, "09:16:00.000", 'S', "10.10"),
        (3, "09:24:00.000", 'S', "10.20"),
        (4, "09:31:00.000", 'S', "10.20"),
        (5, "14:56:30.000", 'S', "10.20"),
        (6, "14:59:30.000", 'S', "10.20"),
        (7, "15:00:01.000", 'S', "10.20"),
    ]
    .iter()
    .map(|(number, clock, side, price)| {
        format!("0,1,6,600519,{clock},A,{number},{price},100,{side},{number},{clock},1\n")
    })
    .collect();
    let at = |hour: u64, minute: u64| ((hour * 60 + minute) - (9 * 60 + 15)) * 60_000;
    let steps = [
        (at(9, 17), "a buy 9.90 100"),
        (at(9, 18), "b buy 9.90 100"),
        (at(9, 19), "cancel a"),
        // Between two rows, behind the time at which the phase begins.
        (at(9, 20) + 30_000, "cancel b"),
        (at(9, 22), "replace b 9.91 100"),
        (at(9, 27), "cancel b"),
        (at(9, 30) + 10_000, "cancel b"),
        (at(12, 0), "c buy 10.10 100"),
        (at(14, 55), "d buy 9.90 100"),
        (at(14, 57) + 10_000, "cancel d"),
    ];
    let files = [("entrust.csv", [head, &rows].concat()), ("trade.csv", trades.to_owned())];
    let files = [(files[0].0, files[0].1.as_str()), (files[1].0, files[1].1.as_str())];
    for way in ways("uncross") {
        let log = run("sse", "", &files, way, &steps);
        let expected = [
            "a accepted none",
            "b accepted none",
            "a cancelled requested",
            "b cancel-rejected call-auction",
            "b replace-rejected call-auction",
            "b cancel-rejected not-tradable",
            "b cancelled requested",
            // At noon.
            "c rejected not-tradable",
            "d accepted none",
            "d cancel-rejected call-auction",
            // The day ends.
            "d cancelled expired",
        ];
        assert_eq!(of_orders(&log), expected, "{way:?}: {log:#?}");
    }
}
