//! What a file of instruments changes in a run: money is multiplied in report, ledger and folder alike, and the folder charges what the
//! accounts do.

mod home;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use home::{Home, stderr, stdout};

const PLATFORM: &str = r#"
[platform]
instance = "contracts"
deterministic = true

[md]
source = "sim"
instruments = 2
interval = "1ms"
count = 300
seed = 11
generator = "timed"
readers = "gated"

[[strategies.group]]
name = "takers"
program = "builtin:taker"
count = 2
instruments = "all"
params = { max_position = 50 }

[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 1
instruments = "all"
"#;

const INSTRUMENTS: &str = r#"
[[contracts]]
symbols = "SIM###"
multiplier = 50
currency = "CNY"

[[fees]]
rate = "0.0001"
liquidity = "taker"
minimum = "1"
unit = "0.01"

[[fees]]
charge = 2
event = "open"
per_lot = "0.3"

[[fees]]
charge = 3
kind = "tax"
side = "sell"
rate = "0.0005"
"#;

/// Cells by column.
fn table(folder: &Path, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(folder.join(name)).expect("a table");
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let row = |line: &str| {
        head.iter().zip(line.split(',')).map(|(name, cell)| ((*name).to_owned(), cell.to_owned())).collect()
    };
    lines.map(row).collect()
}

/// An exact decimal, in 1e-9.
fn exact(cell: &str) -> i128 {
    let (sign, digits) = match cell.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, cell),
    };
    let (whole, part) = digits.split_once('.').expect("a decimal");
    let part: i128 = format!("{part:0<9}").parse().expect("places");
    sign * (whole.parse::<i128>().expect("a number") * 1_000_000_000 + part)
}

fn run(home: &Home, name: &str, file: &str, more: &[&str]) -> (std::path::PathBuf, Value) {
    let folder = home.state_path().join(name);
    let out = folder.display().to_string();
    let up = home.colo(&[&["up", file, "--out", &out, "--format", "json"], more].concat());
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    (folder, serde_json::from_str(&stdout(&up)).expect("a report"))
}

#[test]
fn the_multiplier_and_the_charges_of_a_file_hold_in_every_figure_of_a_run() {
    let home = Home::new();
    let file = home.state_path().join("contracts.toml");
    fs::write(&file, PLATFORM).expect("written");
    let file = file.display().to_string();
    let instruments = home.state_path().join("instruments.toml");
    fs::write(&instruments, INSTRUMENTS).expect("written");
    let named = format!("md.instruments_file={}", instruments.display());
    let (plain, report) = run(&home, "plain", &file, &[]);
    let (charged, multiplied) = run(&home, "charged", &file, &["--set", &named]);
    let (kept, _) = run(&home, "kept", &file, &["--set", &named, "--set", "desk.enabled=true"]);

    let strategies = |folder: &Path| table(folder, "strategies.csv");
    let mut is_charged = false;
    for (one, other) in strategies(&plain).iter().zip(strategies(&charged)) {
        assert_eq!(one["fills"], other["fills"], "the strategies trade alike");
        for column in ["pnl", "turnover"] {
            assert_eq!(exact(&one[column]) * 50, exact(&other[column]), "{column} of {}", one["strategy"]);
        }
        assert_eq!((exact(&one["fees"]), &one["pnl_net"]), (0, &one["pnl"]));
        assert_eq!(exact(&other["pnl_net"]), exact(&other["pnl"]) - exact(&other["fees"]));
        is_charged |= exact(&other["fees"]) > 0;
    }
    assert!(is_charged);
    // The ledger's figures in the report are the folder's.
    for (of_report, of_folder) in [(&report, &plain), (&multiplied, &charged)] {
        for (said, row) in of_report["strategies"].as_array().expect("rows").iter().zip(strategies(of_folder))
        {
            let (said, row) = (said["pnl"].as_f64().expect("a number"), exact(&row["pnl"]) as f64 / 1e9);
            assert!((said - row).abs() < 1e-6, "{said} in the report, {row} in the folder");
        }
    }
    // With accounts kept, the rules come through the drop copy, and cost the same.
    let fees = |folder: &Path| -> Vec<String> {
        table(folder, "fills.csv").iter().map(|row| format!("{} {}", row["order_id"], row["fees"])).collect()
    };
    assert_eq!(fees(&charged), fees(&kept));
    // And the accounts themselves have paid it: what they have gained is net.
    let last = |folder: &Path| -> BTreeMap<String, i128> {
        let rows = table(folder, "accounts.csv");
        rows.iter().map(|row| (row["owner"].clone(), exact(&row["equity"]))).collect()
    };
    let accounts = last(&kept);
    for row in strategies(&kept) {
        let equity = accounts.get(&row["strategy"]).copied().unwrap_or(0);
        assert_eq!(equity, exact(&row["pnl_net"]), "{}: {accounts:?}", row["strategy"]);
    }
}

#[test]
fn a_wrong_file_of_instruments_is_shown_with_its_line_before_anything_starts() {
    let home = Home::new();
    let instruments = home.state_path().join("instruments.toml");
    fs::write(&instruments, "[[contracts]]\nsymbols = \"SIM\"\nmultipler = 50\n").expect("written");
    let named = format!("md.instruments_file={}", instruments.display());
    for verb in ["check", "up", "explain"] {
        let output = home.colo(&[verb, "--set", &named]);
        assert_eq!(output.status.code(), Some(2), "{verb}: {}", stderr(&output));
        for words in ["instruments.toml:3", "did you mean `multiplier`?", "^^^^^^^^^"] {
            assert!(stderr(&output).contains(words), "{verb}: {}", stderr(&output));
        }
    }
}
