//! Situations from public bug reports of other projects about market data, backtests and matching: a recorded market, a scripted strategy's
//! steps, and what has to come of them by the format's document or by arithmetic. They are looked for in the folder `market` of the one that
//! COLO_CASES names, otherwise of `../shared/cases`.

mod home;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use home::{Home, stderr, stdout};

/// What has to come of a case. Fills are `order side quantity@price second`, orders `order status reason filled/quantity`, in the order of
/// their files; results `strategy position pnl pnl_net`.
struct Case {
    name: &'static str,
    /// For each of the files that take the place of `FILE` in the platform file; the file names its own where there is none.
    file: Option<&'static str>,
    fills: &'static [&'static str],
    orders: &'static [&'static str],
    results: &'static [&'static str],
    /// What the report or the strategies' log says.
    says: &'static [&'static str],
    /// What neither says.
    never: &'static [&'static str],
}

const NOTHING: Case =
    Case { name: "", file: None, fills: &[], orders: &[], results: &[], says: &[], never: &[] };

const CASES: &[Case] = &[
    Case {
        name: "01-queue-after-strangers-delete",
        fills: &["5-1-1 buy 30@10.0 34207", "5-1-1 buy 20@10.0 34208"],
        orders: &["5-1-1 cancelled requested 50/100"],
        results: &["s-1 50 0.0 0.0"],
        ..NOTHING
    },
    Case {
        name: "02-replace-after-partial-fill",
        fills: &[
            "5-1-1 buy 40@10.0 34203",
            "5-1-1 buy 60@9.99 34207",
            "5-1-2 buy 30@9.98 34211",
            "5-1-2 buy 25@9.98 34213",
            "5-1-2 buy 15@9.98 34215",
        ],
        orders: &["5-1-1 filled  100/100", "5-1-2 filled  70/70"],
        results: &["s-1 170 2.0 2.0"],
        says: &["UPDATE replace-rejected quantity"],
        ..NOTHING
    },
    Case {
        name: "03-position-flip-multiplier",
        fills: &["5-1-1 buy 1@101.0 36001", "5-1-2 sell 2@102.0 36003", "5-1-3 buy 1@104.0 36005"],
        orders: &["5-1-1 filled  1/1", "5-1-2 filled  2/2", "5-1-3 filled  1/1"],
        results: &["s-1 0 -168.0 -174.0"],
        ..NOTHING
    },
    Case {
        name: "04-negative-and-zero-prices",
        fills: &[
            "5-1-1 buy 3@-0.25 36001",
            "5-1-2 sell 1@0.0 36003",
            "5-1-3 sell 1@-0.5 36005",
            "5-1-4 sell 1@-0.5 36005",
        ],
        orders: &["5-1-1 filled  3/3", "5-1-2 filled  1/1", "5-1-3 filled  1/1", "5-1-4 filled  1/1"],
        results: &["s-1 0 -12.5 -13.375"],
        ..NOTHING
    },
    // Two contracts stand behind one name: what was bought in the first keeps its mark.
    Case {
        name: "05-continuous-roll",
        fills: &["5-1-1 buy 1@4000.25 36001"],
        orders: &["5-1-1 filled  1/1"],
        results: &["s-1 1 -6.25 -6.25"],
        ..NOTHING
    },
    Case {
        name: "06-order-in-a-halt-itch",
        fills: &["5-1-3 buy 100@10.02 34301"],
        orders: &[
            "5-1-1 rejected not-tradable 0/",
            "5-1-2 rejected not-tradable 0/",
            "5-1-3 filled  100/100",
        ],
        results: &["s-1 100 -1.0 -1.0"],
        ..NOTHING
    },
    Case {
        name: "06b-order-in-a-halt-lobster",
        fills: &["5-1-3 buy 100@10.02 34301"],
        orders: &[
            "5-1-1 rejected not-tradable 0/",
            "5-1-2 rejected not-tradable 0/",
            "5-1-3 filled  100/100",
        ],
        results: &["s-1 100 -1.0 -1.0"],
        ..NOTHING
    },
    // A cross has one price for all.
    Case {
        name: "07-opening-cross-price",
        fills: &[
            "5-1-1 sell 100@100.0 34200",
            "5-1-2 buy 100@99.0 34200.1",
            "5-1-3 sell 100@100.0 34200.2",
            "5-1-4 buy 100@99.0 34200.3",
        ],
        orders: &[
            "5-1-1 filled  100/100",
            "5-1-2 filled  100/100",
            "5-1-3 filled  100/100",
            "5-1-4 filled  100/100",
        ],
        results: &["s-1 0 100.0 100.0"],
        ..NOTHING
    },
    Case {
        name: "08-equal-rows-in-one-millisecond",
        results: &["s-1 0 0.0 0.0"],
        says: &["9 messages read, 0 left out on purpose, 0 not understood or missing; 9 order-flow events"],
        ..NOTHING
    },
    Case {
        name: "09-gzip-members",
        results: &["s-1 0 0.0 0.0"],
        says: &["4 messages read, 0 left out on purpose, 0 not understood", "QUOTE 1 10 x 500 / 10.02 x 300"],
        ..NOTHING
    },
    Case {
        name: "10-second-instrument-and-latency",
        file: Some("one"),
        fills: &["5-1-1 buy 100@10.1 34201.001"],
        orders: &["5-1-1 filled  100/100"],
        results: &["s-1 100 5.0 5.0"],
        ..NOTHING
    },
    Case {
        name: "10-second-instrument-and-latency",
        file: Some("two"),
        fills: &["5-1-1 buy 100@10.1 34201.001"],
        orders: &["5-1-1 filled  100/100"],
        results: &["s-1 100 5.0 5.0"],
        ..NOTHING
    },
    Case {
        name: "11-fill-while-a-cancel-is-under-way",
        fills: &["5-1-1 buy 40@10.0 34203.002", "5-1-1 buy 10@10.0 34203.005"],
        orders: &["5-1-1 cancelled requested 50/100"],
        results: &["s-1 50 0.5 0.5"],
        ..NOTHING
    },
    Case {
        name: "12-bars-at-edges",
        results: &["s-1 0 0.0 0.0", "t-1 0 0.0 0.0"],
        says: &[
            "s-1 at 1970-01-01T09:31:00.000000000Z: BAR 1 34200000000000..34260000000000 10 10 10 10 volume 150 bought 150 sold 0 trades 2",
            "s-1 at 1970-01-01T09:32:00.000000000Z: BAR 1 34260000000000..34320000000000 10.1 10.1 9.9 9.9 volume 50 bought 30 sold 20 trades 2",
            "s-1 at 1970-01-01T09:34:00.000000000Z: BAR 1 34380000000000..34440000000000 9.95 9.95 9.95 9.95 volume 510 bought 0 sold 10 trades 2",
            "s-1 at 1970-01-01T09:40:00.000000000Z: BAR 1 34740000000000..34800000000000 10 10 10 10 volume 7 bought 7 sold 0 trades 1",
            "t-1 at 1970-01-01T09:33:00.000000000Z: BAR 1 34320000000000..34380000000000 9.9 9.9 9.9 9.9 volume 0",
            "t-1 at 1970-01-01T09:39:00.000000000Z: BAR 1 34680000000000..34740000000000 9.95 9.95 9.95 9.95 volume 0",
        ],
        never: &["s-1 at 1970-01-01T09:33:00"],
        ..NOTHING
    },
    // A fill-or-kill that fails leaves the book as it was, its owner's orders too.
    Case {
        name: "13-fill-or-kill-and-own-order",
        fills: &["5-1-1 sell 50@10.01 34205"],
        orders: &["5-1-2 cancelled not-fillable 0/100", "5-1-1 filled  50/50"],
        results: &["s-1 -50 -0.75 -0.75"],
        ..NOTHING
    },
    Case {
        name: "14-best-crosses-a-resting-order",
        fills: &["5-1-1 buy 30@10.0 34202", "5-1-1 buy 70@10.0 34204"],
        orders: &["5-1-1 filled  100/100"],
        results: &["s-1 100 -2.0 -2.0"],
        ..NOTHING
    },
    Case {
        name: "15-price-above-200000",
        fills: &["5-1-1 buy 1@415000.0 34201"],
        orders: &["5-1-1 filled  1/1"],
        results: &["s-1 1 0.0 0.0"],
        ..NOTHING
    },
    Case {
        name: "16-maybe-bad-book",
        fills: &["5-1-1 buy 1@4000.25 36001"],
        orders: &["5-1-1 filled  1/1"],
        results: &["s-1 1 -6.25 -6.25"],
        says: &["3 records of a book that may be bad"],
        ..NOTHING
    },
    Case {
        name: "17-instrument-id-given-to-another",
        fills: &["5-1-1 buy 1@101.0 36001"],
        orders: &["5-1-1 filled  1/1"],
        results: &["s-1 1 -0.5 -0.5"],
        ..NOTHING
    },
    // An order that has grown has lost its place; a trade at a worse price reaches all at a better one.
    Case {
        name: "18-fills-of-market-by-order",
        fills: &["5-1-1 sell 2@4000.25 36005", "5-1-1 sell 1@4000.25 36006"],
        orders: &["5-1-1 cancelled requested 3/4"],
        results: &["s-1 -3 18.75 18.75"],
        ..NOTHING
    },
    Case {
        name: "19-self-trade-beside-a-recorded-market",
        fills: &["5-1-2 buy 100@10.05 34203"],
        orders: &["5-1-1 cancelled self-trade 0/50", "5-1-2 filled  100/100"],
        results: &["s-1 100 -2.5 -2.5"],
        never: &["warning"],
        ..NOTHING
    },
    // The files are the same up to 34300.
    Case {
        name: "20-an-order-knows-the-future",
        file: Some("calm"),
        fills: &["5-1-1 buy 100@10.01 34201"],
        orders: &["5-1-1 filled  100/100"],
        results: &["s-1 100 -1.0 -1.0"],
        ..NOTHING
    },
    Case {
        name: "20-an-order-knows-the-future",
        file: Some("jump"),
        fills: &["5-1-1 buy 100@10.01 34201"],
        orders: &["5-1-1 filled  100/100"],
        results: &["s-1 100 199.0 199.0"],
        ..NOTHING
    },
    Case {
        name: "21-tick-of-a-quiet-contract",
        orders: &["5-1-1 rejected off-tick 0/"],
        results: &["s-1 0 0.0 0.0"],
        says: &["INSTRUMENT 1 ESH4 tick 0.25"],
        never: &["multiples"],
        ..NOTHING
    },
    Case {
        name: "22-unwanted-stock-above-200000",
        fills: &["5-1-1 buy 100@10.01 34201"],
        orders: &["5-1-1 filled  100/100"],
        results: &["s-1 100 -1.0 -1.0"],
        ..NOTHING
    },
    // A day order ends with its session.
    Case {
        name: "23-day-order-in-the-next-session",
        orders: &["5-1-1 cancelled expired 0/50"],
        results: &["s-1 0 0.0 0.0"],
        ..NOTHING
    },
    Case {
        name: "24-replace-below-what-has-traded-meanwhile",
        fills: &["5-1-1 buy 80@10.0 34203.002"],
        orders: &["5-1-1 cancelled requested 80/100"],
        results: &["s-1 80 0.8 0.8"],
        ..NOTHING
    },
    Case {
        name: "25-queue-over-a-snapshot",
        fills: &["5-1-1 sell 1@4000.25 36013"],
        orders: &["5-1-1 cancelled requested 1/4"],
        results: &["s-1 -1 6.25 6.25"],
        ..NOTHING
    },
    Case {
        name: "26-ids-that-shift-by-day",
        fills: &["5-1-1 buy 1@170.02 36001.1", "5-1-2 buy 1@410.05 36001.1"],
        orders: &["5-1-1 filled  1/1", "5-1-2 filled  1/1"],
        results: &["s-1 2 -0.035 -0.035"],
        ..NOTHING
    },
];

fn folder() -> Option<PathBuf> {
    let given = std::env::var_os("COLO_CASES").map(PathBuf::from);
    let root = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases"));
    Some(root.join("market")).filter(|folder| folder.is_dir())
}

/// The library of the scripted strategy, which this test program depends on.
fn library() -> PathBuf {
    let colo = Path::new(env!("CARGO_BIN_EXE_colo"));
    let names = ["libscripted.so", "deps/libscripted.so"];
    let found = names.iter().map(|name| colo.with_file_name(name)).filter(|path| path.is_file());
    let newest = found.max_by_key(|path| std::fs::metadata(path).and_then(|file| file.modified()).ok());
    let _linked = scripted::Parameters::default();
    newest.expect("libscripted.so")
}

/// A row: its value in a column.
type Row<'a> = &'a dyn Fn(&str) -> String;

/// A table of a run's folder, as rows of its columns by name.
fn table(folder: &Path, name: &str) -> Vec<impl Fn(&str) -> String + use<>> {
    let text = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().unwrap_or_default();
    let row = |row: Vec<String>| {
        let header = header.clone();
        move |column: &str| {
            let index = header.iter().position(|name| name == column);
            index.and_then(|index| row.get(index)).unwrap_or_else(|| panic!("no column `{column}`")).clone()
        }
    };
    lines.map(row).collect()
}

/// The second of its day at which something happened.
fn second(time_ns: &str) -> String {
    let time: u64 = time_ns.parse().unwrap_or_else(|_| panic!("a time: {time_ns}"));
    format!("{}", (time % 86_400_000_000_000) as f64 / 1e9)
}

/// The run's own count of refused orders by reason is that of its rows.
fn check_refusals(out: &Path, name: &str) {
    let mut counted: BTreeMap<String, u64> = BTreeMap::new();
    for row in table(out, "orders.csv").iter().filter(|row| row("status") == "rejected") {
        *counted.entry(row("reason")).or_default() += 1;
    }
    let run = std::fs::read_to_string(out.join("run.json")).expect("run.json");
    let run: serde_json::Value = serde_json::from_str(&run).expect("JSON");
    let refused = run.get("refused").cloned().unwrap_or_else(|| serde_json::json!({}));
    assert_eq!(refused, serde_json::json!(counted), "{name}");
}

struct Outcome {
    fills: Vec<String>,
    orders: Vec<String>,
    results: Vec<String>,
    text: String,
}

fn run(case: &Path, file: Option<&str>) -> Outcome {
    let home = Home::new();
    let work = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(case).expect("the case").flatten() {
        std::fs::copy(entry.path(), work.path().join(entry.file_name())).expect("a copy");
    }
    let platform = work.path().join("own.toml");
    let text = std::fs::read_to_string(case.join("platform.toml")).expect("its platform");
    let text = text.replace("SCRIPT", &library().display().to_string());
    std::fs::write(&platform, text.replace("FILE", &format!("{}.itch", file.unwrap_or("FILE"))))
        .expect("a file");
    let out = work.path().join("out");
    let (path, shown) = (platform.display().to_string(), out.display().to_string());
    let output = home.colo(&["up", &path, "--out", &shown]);
    assert!(output.status.success(), "{}: {}\n{}", case.display(), stderr(&output), home.logs());
    let fill = |row: Row<'_>| {
        let (order, side, quantity) = (row("order_id"), row("side"), row("quantity"));
        format!("{order} {side} {quantity}@{} {}", row("price"), second(&row("time_ns")))
    };
    let order = |row: Row<'_>| {
        let (status, reason) = (row("status"), row("reason"));
        format!("{} {status} {reason} {}/{}", row("order_id"), row("filled"), row("last_quantity"))
    };
    let result =
        |row: Row<'_>| format!("{} {} {} {}", row("strategy"), row("position"), row("pnl"), row("pnl_net"));
    let rows = |name: &str, shown: &dyn Fn(Row<'_>) -> String| {
        table(&out, name).iter().map(|row| shown(row)).collect()
    };
    check_refusals(&out, &case.display().to_string());
    let logs = std::fs::read_to_string(out.join("logs/backtest.log")).unwrap_or_default();
    Outcome {
        fills: rows("fills.csv", &fill),
        orders: rows("orders.csv", &order),
        results: rows("strategies.csv", &result),
        text: format!("{}{}{logs}", stdout(&output), stderr(&output)),
    }
}

#[test]
fn cases_of_other_projects_hold_here() {
    let Some(folder) = folder() else {
        println!("skipped: no cases (COLO_CASES names their folder)");
        return;
    };
    let mut faults = Vec::new();
    for case in CASES {
        let outcome = run(&folder.join(case.name), case.file);
        let mut check = |what: &str, found: &[String], expected: &[&str]| {
            if found != expected {
                faults.push(format!("{}: {what}: found {found:#?}, expected {expected:#?}", case.name));
            }
        };
        check("fills", &outcome.fills, case.fills);
        check("orders", &outcome.orders, case.orders);
        check("results", &outcome.results, case.results);
        let missing = case.says.iter().filter(|text| !outcome.text.contains(**text));
        faults.extend(missing.map(|text| format!("{}: nothing says `{text}`\n{}", case.name, outcome.text)));
        let wrong = case.never.iter().filter(|text| outcome.text.contains(**text));
        faults.extend(wrong.map(|text| format!("{}: `{text}` is said\n{}", case.name, outcome.text)));
    }
    println!("{} cases", CASES.len());
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    // A case without a row here has been tried by no test.
    let mut cases: Vec<String> = std::fs::read_dir(&folder)
        .expect("the cases")
        .flatten()
        .filter(|entry| entry.path().join("platform.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    cases.retain(|name| !CASES.iter().any(|case| case.name == name));
    assert!(cases.is_empty(), "no expectations for {cases:?}");
}
