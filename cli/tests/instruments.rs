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
    // What it was made from is named, and compared by its content.
    let manifest = |folder: &Path| -> Value {
        serde_json::from_slice(&fs::read(folder.join("run.json")).expect("run.json")).expect("JSON")
    };
    let (named, without) = (manifest(&charged), manifest(&plain));
    assert_eq!(named["currency"], "CNY");
    assert!(named["instruments"]["path"].as_str().expect("a path").ends_with("instruments.toml"));
    let hash = named["instruments"]["xxh3"].as_str().expect("a hash").to_owned();
    assert_eq!((&without["instruments"], &without["currency"]), (&Value::Null, &Value::Null));
    let (one, other) = (plain.display().to_string(), charged.display().to_string());
    let compared = home.colo(&["runs", "compare", &one, &other]);
    assert!(
        stdout(&compared).contains("instruments file") && stdout(&compared).contains(&hash),
        "{}",
        stdout(&compared)
    );
    let shown = stdout(&home.colo(&["runs", "show", &other]));
    assert!(shown.contains(&hash) && shown.contains("CNY"), "{shown}");
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
fn money_of_several_currencies_and_rows_that_fit_nothing_are_said() {
    let home = Home::new();
    let file = home.state_path().join("contracts.toml");
    fs::write(&file, PLATFORM).expect("written");
    let file = file.display().to_string();
    let instruments = home.state_path().join("instruments.toml");
    let rows = ["SIM001", "SIM002", "SIMM"].into_iter().zip(["EUR", "USD", "JPY"]);
    let text: String = rows
        .map(|(symbols, currency)| {
            format!("[[contracts]]\nsymbols = \"{symbols}\"\ncurrency = \"{currency}\"\n")
        })
        .collect();
    // One charge, with a row for each kind of fill.
    let fees = "[[fees]]\nliquidity = \"maker\"\nper_lot = \"1\"\n[[fees]]\nliquidity = \"taker\"\nper_lot = \"2\"\n";
    fs::write(&instruments, text + fees).expect("written");
    let named = format!("md.instruments_file={}", instruments.display());
    let check = home.colo(&["check", &file, "--set", &named]);
    assert!(stderr(&check).contains("in line 7 (SIMM); there are SIM001, SIM002"), "{}", stderr(&check));
    let (folder, report) = run(&home, "several", &file, &["--set", &named]);
    let caveats = report["caveats"].to_string();
    assert!(caveats.contains("pnl adds up EUR and USD one to one"), "{caveats}");
    assert!(caveats.contains("in line 7 (SIMM); there are SIM001, SIM002"), "{caveats}");
    let fills = table(&folder, "fills.csv");
    assert!(fills.iter().any(|row| row["liquidity"] == "maker"));
    for row in &fills {
        let per_lot = if row["liquidity"] == "maker" { 1 } else { 2 };
        assert_eq!(exact(&row["fees"]), exact(&format!("{}.0", row["quantity"])) * per_lot, "{row:?}");
    }
}

#[test]
fn a_window_in_which_a_day_has_nothing_is_no_result() {
    let Some(data) = std::env::var_os("COLO_DATA") else { return println!("skipped: COLO_DATA is not set") };
    let messages = Path::new(&data).join("lobster-aapl-20120621/message.csv.gz");
    if !messages.exists() {
        return println!("skipped: {} is not there", messages.display());
    }
    let home = Home::new();
    let file = home.state_path().join("window.toml");
    let text = format!(
        "[platform]\ninstance = \"window\"\n[md]\nsource = \"lobster\"\nfiles = {messages:?}\nsymbols = [\"AAPL\"]\n\
         speed = \"max\"\nreaders = \"gated\"\nfrom = \"21:00:00\"\nto = \"22:00:00\"\n\
         [[strategies.group]]\nname = \"takers\"\ncount = 1\n"
    );
    fs::write(&file, text).expect("written");
    let up = home.colo(&["up", &file.display().to_string(), "--no-out"]);
    assert_eq!(up.status.code(), Some(4), "{}{}", stdout(&up), stderr(&up));
    assert!(
        stderr(&up).contains("nothing of the data lies between 21:00:00 and 22:00:00"),
        "{}",
        stderr(&up)
    );
    let forgot = home.colo(&["check", &file.display().to_string(), "--set", "strategies.takers.count=1"]);
    assert_eq!(forgot.status.code(), Some(2));
    assert!(stderr(&forgot).contains("did you mean strategies.group.takers.count?"), "{}", stderr(&forgot));
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
