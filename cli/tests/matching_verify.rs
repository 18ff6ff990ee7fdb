//! `colo matching verify`: a small day that keeps all rules, what is noticed of changes to it, and recorded days.

mod home;
mod shanghai;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use home::{Home, stderr, stdout};
use shanghai::{ORDERS, SNAPSHOTS, TRADES, second_layout};

/// A day in files.
struct Written {
    home: Home,
    folder: tempfile::TempDir,
}

impl Written {
    fn new(files: &[(&str, &str)]) -> Written {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        Written { home: Home::new(), folder }
    }

    fn day(orders: &str, trades: &str, snapshots: &str) -> Written {
        Written::new(&[("orders.csv", orders), ("trades.csv", trades), ("snapshots.csv", snapshots)])
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn run(&self, more: &[&str]) -> (Option<i32>, String, String) {
        let (orders, trades) = (self.path("orders.csv"), self.path("trades.csv"));
        let fixed = ["matching", "verify", "--source", "sse", "--orders", &orders, "--trades", &trades];
        let output = self.home.colo(&[&fixed[..], more].concat());
        (output.status.code(), stdout(&output), stderr(&output))
    }

    /// With snapshots.
    fn report(&self) -> (Option<i32>, Value) {
        let snapshots = self.path("snapshots.csv");
        let (code, text, errors) = self.run(&["--snapshots", &snapshots, "--format", "json"]);
        (code, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}{errors}")))
    }
}

/// What is identical of what, in the first security.
fn counts(report: &Value, what: &str) -> (u64, u64) {
    let security = &report["securities"][0];
    let count = |name: &str| security[name].as_u64().unwrap_or_else(|| panic!("no {name} in {report}"));
    (count(&format!("{what}_identical")), count(what))
}

#[test]
fn a_day_that_keeps_the_rules_is_identical() {
    let (code, report) = Written::day(ORDERS, TRADES, SNAPSHOTS).report();
    assert_eq!((code, &report["identical"]), (Some(0), &true.into()), "{report}");
    assert_eq!(counts(&report, "trades"), (12, 12));
    assert_eq!(counts(&report, "cancels"), (2, 2));
    assert_eq!(counts(&report, "auctions"), (2, 2));
    assert_eq!(counts(&report, "snapshots"), (6, 6));
    let security = &report["securities"][0];
    assert_eq!((&security["id"], &security["orders"]), (&"600000.SH".into(), &16.into()));
    assert!(security["first_difference"].is_null());
}

#[test]
fn every_change_is_found_and_named() {
    // The file, what of it, by what; then what differs, in which order, and words of expected and found.
    type Text = &'static str;
    type Case = (Text, Text, Text, Text, Option<u64>, Text, Text);
    const LAST: Text = "600000,10:02:00.000,10,70,,12,13,S,21\n";
    const NINE: Text = "600000,09:30:02.000,A,9,10.05,200,S,13\n";
    const SEVEN: Text = "600000,09:21:00.000,A,7,9.98,500,B,8\n";
    let cases: [Case; 17] = [
        (
            "trades",
            "10.05,50,,8,5,B,12",
            "10.06,50,,8,5,B,12",
            "trade",
            Some(8),
            "50 at 10.06",
            "50 at 10.05",
        ),
        ("trades", "10.05,200,,10,9,B", "10.05,199,,10,9,B", "trade", Some(10), "199 at", "200 at"),
        ("trades", "1,13,S,20", "12,13,S,20", "trade", Some(13), "buy 12 sell 13", "buy 1 sell 13"),
        // Then the buyer came in, which rests already.
        ("trades", "1,11,S,18", "1,11,B,18", "order", Some(1), "accepted", "refused"),
        // A trade is missing: less came in, and more is left.
        ("trades", LAST, "", "snapshot", None, "a book after 10 trades", "no such number of trades"),
        // Orders are missing that come into ten levels.
        ("orders", NINE, "", "snapshot", Some(8), "ask 1: 250 at 10.05", "ask 1: 50 at 10.05"),
        ("orders", SEVEN, "", "snapshot", None, "bid 2: 500 at 9.98", "bid 2: nothing"),
        ("orders", "D,7,9.98,500", "D,7,9.98,400", "cancel", Some(7), "400", "500"),
        ("orders", "D,7,9.98", "D,77,9.98", "cancel", Some(77), "500", "refused"),
        ("orders", "D,7,9.98,500", "D,7,9.97,500", "cancel", Some(7), "a bid at 9.97", "a bid at 9.98"),
        ("orders", "D,7,9.98,500,B", "D,7,9.98,500,S", "cancel", Some(7), "an ask at", "a bid at"),
        ("trades", "10.02,100,,8,4", "10.02,100,1003,8,4", "trade", Some(8), "money", "100 at 10.02"),
        (
            "orders",
            "A,4,10.02",
            "A,4,10",
            "auction",
            Some(2),
            "an auction of 300 at 10.02",
            "an auction of 400 at 10",
        ),
        (
            "trades",
            "10.02,200,,2,3",
            "10.02,100,,2,3",
            "auction",
            Some(2),
            "of 200 at 10.02",
            "of 300 at 10.02",
        ),
        ("trades", "15,14,N,27", "15,16,N,27", "auction", Some(15), "sell 16", "sell 14"),
        (
            "snapshots",
            "10.05,250",
            "10.05,251",
            "snapshot",
            Some(9),
            "ask 1: 251 at 10.05",
            "ask 1: 250 at 10.05",
        ),
        ("snapshots", "1,1,,,,,,,,,2", "1,1,,,,,,,,,3", "snapshot", Some(9), "in 3 orders", "in 2 orders"),
    ];
    let mut noticed = 0;
    for (file, from, to, what, order, expected, found) in cases {
        let text: BTreeMap<&str, &str> =
            [("orders", ORDERS), ("trades", TRADES), ("snapshots", SNAPSHOTS)].into();
        assert!(text[file].contains(from), "`{from}` is not in the {file} file");
        let changed = |name: &str| {
            let text = text[name];
            if name == file { text.replacen(from, to, 1) } else { text.to_owned() }
        };
        let day = Written::day(&changed("orders"), &changed("trades"), &changed("snapshots"));
        let snapshots = day.path("snapshots.csv");
        // Snapshots may show first what shows elsewhere too.
        let with: &[&str] = if what == "snapshot" { &["--snapshots", &snapshots] } else { &[] };
        let (code, text, _) = day.run(&[&["--format", "json"], with].concat());
        let report: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(code, Some(4), "{from} → {to}: {report}");
        let first = &report["securities"][0]["first_difference"];
        let context = format!("{from} → {to}: {first}");
        assert_eq!(first["what"], what, "{context}");
        if order.is_some() {
            assert_eq!(first["order"].as_u64(), order, "{context}");
        }
        let word = |name: &str| first[name].as_str().expect("text").to_owned();
        assert!(word("expected").contains(expected) && word("found").contains(found), "{context}");
        assert!(word("place").contains("row "), "{context}");
        noticed += 1;
    }
    println!("{noticed} changes noticed");
}

#[test]
fn a_missing_order_shows_without_snapshots_when_it_trades() {
    let row = "600000,09:30:02.000,A,9,10.05,200,S,13\n";
    assert!(ORDERS.contains(row));
    let (code, text, _) = Written::day(&ORDERS.replace(row, ""), TRADES, "").run(&["--format", "json"]);
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((code, counts(&report, "trades")), (Some(4), (7, 12)), "{report}");
    let first = &report["securities"][0]["first_difference"];
    assert_eq!((&first["what"], &first["order"]), (&"trade".into(), &10.into()), "{first}");
    assert!(first["expected"].as_str().is_some_and(|text| text.contains("sell 9")), "{first}");
    assert_eq!(first["found"], "no trade");
}

#[test]
fn a_clock_that_is_out_of_order_is_found() {
    let changed = ORDERS.replace("10:01:00.000,A,12", "09:45:00.000,A,12");
    let (code, report) = Written::day(&changed, TRADES, SNAPSHOTS).report();
    assert_eq!((code, &report["securities"][0]["clocks_off"]), (Some(4), &1.into()), "{report}");
    let first = &report["securities"][0]["first_difference"];
    assert_eq!((&first["what"], &first["order"]), (&"clock".into(), &12.into()), "{first}");
}

#[test]
fn snapshots_out_of_their_order_are_not_identical_and_damaged_counts_are_refused() {
    let mut lines: Vec<&str> = SNAPSHOTS.lines().collect();
    let trades = |line: &str| line.split(',').nth(2).and_then(|number| number.parse::<u64>().ok());
    let second = (2..lines.len())
        .rev()
        .find(|&row| {
            trades(lines[row]).is_some_and(|after| trades(lines[row - 1]).is_some_and(|first| after > first))
        })
        .expect("two snapshots of different moments");
    lines.swap(second - 1, second);
    let (code, report) = Written::day(ORDERS, TRADES, &(lines.join("\n") + "\n")).report();
    assert_eq!(code, Some(4), "{report}");
    let (identical, all) = counts(&report, "snapshots");
    assert!(identical < all && all == 6, "{report}");

    let day = Written::day(ORDERS, TRADES, &SNAPSHOTS.replacen("1,1,,,,,,,,,2", "1,1,,,,,,,,,-2", 1));
    let (code, _, errors) = day.run(&["--snapshots", &day.path("snapshots.csv")]);
    assert_ne!(code, Some(0));
    assert!(errors.contains("-2") && errors.contains("snapshots.csv"), "{errors}");
}

#[test]
fn statistics_of_snapshots_are_compared() {
    // Volume, turnover, last, highest and lowest price after so many trades.
    let traded = [
        ("2", "300,3006,10.02,10.02,10.02"),
        ("4", "450,4510.5,10.05,10.05,10.02"),
        ("6", "700,7023,10.05,10.05,10.02"),
        ("8", "800,8025.5,10,10.05,10"),
        ("10", "920,9225.5,10,10.05,10"),
    ];
    let with = |volume_after_two: &str| {
        let mut text = String::new();
        for line in SNAPSHOTS.lines() {
            let trades = line.split(',').nth(2).unwrap_or_default();
            let known = traded.iter().find(|(after, _)| *after == trades);
            text += line;
            text += &match (line.starts_with("SecurityID"), known) {
                (true, _) => ",TradVolume,Turnover,LastPrice,HighPrice,LowPrice\n".to_owned(),
                (_, Some((after, said))) if *after == "2" => {
                    format!(",{}\n", said.replacen("300", volume_after_two, 1))
                }
                (_, Some((_, said))) => format!(",{said}\n"),
                (_, None) => ",0,0,0,0,0\n".to_owned(),
            };
        }
        Written::day(ORDERS, TRADES, &text).report()
    };
    let (code, report) = with("300");
    assert_eq!((code, counts(&report, "statistics")), (Some(0), (6, 6)), "{report}");
    let (code, report) = with("301");
    assert_eq!((code, counts(&report, "statistics")), (Some(4), (5, 6)), "{report}");
    let first = &report["securities"][0]["first_difference"];
    assert_eq!((&first["what"], &first["expected"]), (&"statistics".into(), &"volume 301".into()), "{first}");
}

#[test]
fn a_day_that_ends_before_the_close_is_said_to_be_cut_short() {
    let before = |text: &str| -> String {
        let is_before =
            |line: &&str| line.split(',').nth(1).is_none_or(|time| !("14:57:00.000".."99").contains(&time));
        text.lines().filter(is_before).map(|line| format!("{line}\n")).collect()
    };
    let day = Written::day(&before(ORDERS), &before(TRADES), SNAPSHOTS);
    let (code, report) = day.report();
    assert_eq!((code, &report["identical"]), (Some(5), &true.into()), "{report}");
    assert_eq!(report["securities"][0]["cut_short"], true);
    assert!(day.run(&[]).1.contains("cut short"));
}

#[test]
fn swapped_trades_are_found() {
    // Both rows keep their number in the joint sequence and give each other the rest.
    let one = "09:30:01.000,10.02,100,,8,4,B,11";
    let other = "09:30:01.000,10.05,50,,8,5,B,12";
    let swapped = TRADES
        .replace(one, "09:30:01.000,10.05,50,,8,5,B,11")
        .replace(other, "09:30:01.000,10.02,100,,8,4,B,12");
    let (code, report) = Written::day(ORDERS, &swapped, SNAPSHOTS).report();
    assert_eq!((code, counts(&report, "trades")), (Some(4), (10, 12)), "{report}");
    let first = &report["securities"][0]["first_difference"];
    assert_eq!((&first["order"], &first["place"]), (&8.into(), &"trades, row 4".into()), "{first}");
}

#[test]
fn rows_may_stand_in_any_order_and_several_stocks_in_one_file() {
    let other = |text: &str| -> String {
        let rows = text.lines().skip(1).map(|line| line.replacen("600000", "600001", 1) + "\n");
        rows.collect::<Vec<_>>().into_iter().rev().collect()
    };
    let both = |text: &str| format!("{}{}", text, other(text));
    let day = Written::day(&both(ORDERS), &both(TRADES), SNAPSHOTS);
    let (code, report) = day.report();
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(report["securities"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["securities"][1]["trades_identical"], 12);
    assert_eq!(report["securities"][1]["snapshots"], 0);

    // A change in one is found in that one.
    let changed = both(TRADES).replace("600001,09:30:03.000,10.05,200", "600001,09:30:03.000,10.05,100");
    let (code, report) = Written::day(&both(ORDERS), &changed, SNAPSHOTS).report();
    let differing: Vec<u64> = report["securities"]
        .as_array()
        .expect("securities")
        .iter()
        .filter_map(|security| security["differences"].as_u64())
        .collect();
    assert_eq!(code, Some(4));
    assert!(differing[0] == 0 && differing[1] > 0, "{report}");

    let (code, text, _) = day.run(&["--symbol", "600001", "--format", "json"]);
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((code, &report["securities"][0]["id"]), (Some(0), &"600001.SH".into()));
}

#[test]
fn the_second_layout_and_headers_of_ones_own_are_read() {
    let (orders, trades) = (second_layout(ORDERS), second_layout(TRADES));
    let day = Written::day(&orders, &trades, SNAPSHOTS);
    let (code, report) = day.report();
    assert_eq!((code, counts(&report, "trades")), (Some(0), (12, 12)), "{report}");
    assert_eq!(counts(&report, "snapshots"), (6, 6));
    assert_eq!(day.run(&["--columns", "applseqnum"]).0, Some(0));
    let (code, _, errors) = day.run(&["--columns", "bizindex"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("orders.csv") && errors.contains("bizindex"), "{errors}");
    let (code, _, errors) = day.run(&["--columns", "level2"]);
    assert_eq!(code, Some(2));
    assert!(
        errors.contains("level2") && errors.contains("applseqnum") && errors.contains("TOML"),
        "{errors}"
    );

    let rename = |text: &str| {
        let (header, rows) = text.split_once('\n').expect("a header line");
        let header: Vec<String> = header.split(',').map(|name| format!("x_{name}")).collect();
        format!("{}\n{rows}", header.join(","))
    };
    let map = "[orders]\ntime = \"x_OrderTime\"\nsequence = \"x_BizIndex\"\nstock = \"x_SecurityID\"\nkind = \"x_OrderType\"\n\
               order = \"x_OrderNO\"\nprice = \"x_OrderPrice\"\nquantity = \"x_Balance\"\nside = \"x_OrderBSFlag\"\n\
               [trades]\ntime = \"x_TradTime\"\nsequence = \"x_BizIndex\"\nstock = \"x_SecurityID\"\nbuy = \"x_TradeBuyNo\"\n\
               sell = \"x_TradeSellNo\"\nprice = \"x_TradPrice\"\nquantity = \"x_TradVolume\"\naggressor = \"x_TradeBSFlag\"\n";
    let (orders, trades) = (rename(ORDERS), rename(TRADES));
    let missing = map.replace("aggressor", "agressor");
    let own = Written::new(&[
        ("orders.csv", &orders),
        ("trades.csv", &trades),
        ("map.toml", map),
        ("missing.toml", &missing),
    ]);
    assert_eq!(own.run(&[]).0, Some(2));
    let (code, text, errors) = own.run(&["--columns", &own.path("map.toml"), "--format", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {errors}"));
    assert_eq!((code, counts(&report, "trades")), (Some(0), (12, 12)), "{report}");
    let (code, _, errors) = own.run(&["--columns", &own.path("missing.toml")]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("did you mean `aggressor`?"), "{errors}");
}

#[test]
fn bad_input_is_an_error_that_says_where() {
    let replaced = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "`{from}`");
        text.replacen(from, to, 1)
    };
    let cut: String = TRADES.chars().take(TRADES.len() - 12).collect();
    let doubled = format!("{ORDERS}600000,09:16:00.000,A,3,9.99,200,S,3\n");
    let cases: [(&str, String, String, &str); 8] = [
        ("a price", replaced(ORDERS, "A,9,10.05", "A,9,ten"), TRADES.to_owned(), "row 10, OrderPrice"),
        ("a side", replaced(ORDERS, "200,S,13", "200,X,13"), TRADES.to_owned(), "row 10, OrderBSFlag"),
        ("a quantity", ORDERS.to_owned(), replaced(TRADES, "10.05,200", "10.05,0"), "row 7, TradVolume"),
        ("a row that was cut off", ORDERS.to_owned(), cut, "trades.csv, row"),
        ("a doubled row", doubled, TRADES.to_owned(), "doubled"),
        ("the other file", TRADES.to_owned(), TRADES.to_owned(), "this is the trades file"),
        ("nothing", String::new(), TRADES.to_owned(), "holds no data"),
        ("noise", "\u{0}\u{1}\u{2}\n\u{3}".repeat(400), TRADES.to_owned(), "orders.csv"),
    ];
    for (name, orders, trades, words) in cases {
        let (code, text, errors) = Written::day(&orders, &trades, SNAPSHOTS).run(&["--format", "json"]);
        assert_eq!((code, text.as_str()), (Some(2), ""), "{name}: {errors}");
        assert!(errors.contains(words), "{name}: `{words}` is not in: {errors}");
    }
    let day = Written::day(ORDERS, TRADES, SNAPSHOTS);
    let (code, _, errors) = day.run(&["--snapshots", &day.path("none.csv")]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("none.csv"), "{errors}");
    let foreign = Written::day(ORDERS, TRADES, &SNAPSHOTS.replace("600000", "600009"));
    let (code, _, errors) = foreign.run(&["--snapshots", &foreign.path("snapshots.csv")]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("no snapshot of these stocks"), "{errors}");
    assert_eq!(day.run(&["--messages", "x"]).0, Some(2));
    assert_eq!(day.home.colo(&["matching", "verify", "--source", "pitch"]).status.code(), Some(2));
}

fn data(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let path = std::env::var_os("COLO_DATA").map_or_else(beside, PathBuf::from).join(name);
    if !path.exists() {
        println!("skipped: no recorded data at {} (set COLO_DATA to its folder)", path.display());
        return None;
    }
    Some(path)
}

#[test]
fn a_recorded_day_in_shanghai_is_identical() {
    let Some(folder) = data("sse-600519-20230201") else { return };
    let path = |name: &str| folder.join(name).display().to_string();
    let report = Home::new().json(&[
        "matching",
        "verify",
        "--source",
        "sse",
        "--orders",
        &path("entrust.csv.gz"),
        "--trades",
        &path("trade.csv.gz"),
        "--snapshots",
        &path("snapshot.csv.gz"),
        "--format",
        "json",
    ]);
    assert_eq!(report["identical"], true, "{report}");
    assert_eq!(counts(&report, "trades"), (27_135, 27_135));
    assert_eq!(counts(&report, "cancels"), (15_668, 15_668));
    assert_eq!(counts(&report, "auctions"), (2, 2));
    assert_eq!(counts(&report, "snapshots"), (4_847, 4_847));
    assert_eq!(counts(&report, "totals"), (4_847, 4_847));
    assert_eq!(report["securities"][0]["orders"], 58_117);
}

/// Two bids and two asks at two prices; a trade through one side, whose rest stays; a cancel.
const SESSION: &str = "\
34200.001,1,1,100,1000000,1
34200.002,1,2,100,1000000,1
34200.003,1,3,50,999900,1
34200.004,1,4,200,1000100,-1
34200.005,4,1,100,1000000,1
34200.005,4,2,40,1000000,1
34200.006,3,3,50,999900,1
34200.007,4,4,200,1000100,-1
34200.007,1,5,30,1000100,1
34200.008,4,5,30,1000100,1
";

#[test]
fn a_session_that_names_resting_orders_is_compared_row_by_row() {
    let run = |text: &str| {
        let day = Written::new(&[("messages.csv", text)]);
        let path = day.path("messages.csv");
        let arguments =
            ["matching", "verify", "--source", "lobster", "--messages", &path, "--format", "json"];
        let output = day.home.colo(&arguments);
        let report: Value = serde_json::from_str(&stdout(&output))
            .unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
        (output.status.code(), report)
    };
    let (code, report) = run(SESSION);
    assert_eq!(counts(&report, "trades"), (4, 4), "{report}");
    assert_eq!(counts(&report, "cancels"), (1, 1), "{report}");
    assert_eq!((code, &report["identical"]), (Some(0), &true.into()), "{report}");
    // What differs, in which row, and what the exchange does instead.
    for (from, to, what, row, expected, found) in [
        // The second in the queue trades before the first.
        ("4,1,100,1000000,1\n", "4,2,100,1000000,1\n", "trade", 5, "buy 2 sell", "buy 1 sell"),
        ("3,3,50,999900,1\n", "3,3,40,999900,1\n", "cancel", 7, "40", "50"),
    ] {
        assert!(SESSION.contains(from), "{from}");
        let (code, report) = run(&SESSION.replacen(from, to, 1));
        let first = &report["securities"][0]["first_difference"];
        assert_eq!((code, &first["what"]), (Some(4), &what.into()), "{report}");
        assert_eq!(first["place"], format!("messages, row {row}"), "{first}");
        for (side, words) in [("expected", expected), ("found", found)] {
            assert!(first[side].as_str().is_some_and(|text| text.contains(words)), "{first}");
        }
    }
}

#[test]
fn recorded_sessions_that_name_resting_orders_are_compared_as_far_as_they_tell() {
    let (Some(lobster), Some(pitch)) =
        (data("lobster-aapl-20120621/message.csv.gz"), data("pitch-288/pitch.txt.gz"))
    else {
        return;
    };
    let home = Home::new();
    let run = |source: &str, path: &Path| {
        let path = path.display().to_string();
        let arguments = ["matching", "verify", "--source", source, "--messages", &path, "--format", "json"];
        let output = home.colo(&arguments);
        (output.status.code(), serde_json::from_str::<Value>(&stdout(&output)).expect("JSON"))
    };
    let (code, report) = run("pitch", &pitch);
    assert_eq!(code, Some(0), "{report}");
    let sum = |name: &str| -> u64 {
        let securities = report["securities"].as_array().expect("securities");
        securities.iter().filter_map(|security| security[name].as_u64()).sum()
    };
    assert_eq!((sum("trades_identical"), sum("trades"), sum("trades_hidden")), (100, 100, 135));
    assert_eq!((sum("cancels_identical"), sum("cancels")), (47_960, 47_960));

    // Three orders lose their place by rules that the feed does not tell.
    let (code, report) = run("lobster", &lobster);
    assert_eq!(code, Some(4));
    assert_eq!(counts(&report, "trades"), (2_252, 2_260));
    assert_eq!(counts(&report, "cancels"), (19_909, 19_909));
    let first = &report["securities"][0]["first_difference"];
    assert_eq!(first["place"], "messages, row 2411", "{first}");
    assert!(report["not_compared"].as_array().is_some_and(|list| !list.is_empty()));
}
