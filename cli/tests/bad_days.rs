//! A recorded day with a row that ends the replay: md errs while the platform runs.

mod home;

use std::fmt::Write as _;
use std::fs;

use home::{Home, number, stderr};

/// A LOBSTER day of adds and cancels whose last row but one takes more from an order than it has.
fn broken_day() -> String {
    let mut day = String::new();
    for row in 0..2_000 {
        let (time, order) = (34_200.0 + f64::from(row) / 1_000.0, 1_000 + row / 2);
        let kind = if row % 2 == 0 { 1 } else { 3 };
        writeln!(day, "{time:.9},{kind},{order},100,{},1", 1_000_000 - 100 * (order % 7)).expect("a row");
    }
    day.push_str("34203.000000000,1,7001,100,1000000,1\n34203.100000000,2,7001,900,1000000,1\n");
    day.push_str("34204.000000000,1,7002,100,1000000,1\n");
    day
}

/// Before md comes back after its pause, nothing happens for longer than a run needs to count as finished.
#[test]
fn an_md_that_errs_is_started_again_and_the_run_ends_with_its_reason() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("message.csv");
    fs::write(&file, broken_day()).expect("written");
    let config = format!("{}/../configs/replay.toml", env!("CARGO_MANIFEST_DIR"));
    let sets = [
        // In a backtest nobody is started again.
        "platform.live=true".to_owned(),
        "md.source=lobster".to_owned(),
        format!("md.files={}", file.display()),
        "md.tolerate=0".to_owned(),
        "md.restart=on-failure".to_owned(),
        "md.restart_max=2".to_owned(),
        "md.restart_backoff=400ms".to_owned(),
    ];
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let arguments: Vec<&str> = ["up", &config, "--format", "json"].into_iter().chain(sets).collect();
    let up = home.colo(&arguments);
    let words = stderr(&up);
    assert_eq!(up.status.code(), Some(1), "{words}\n{}", home.logs());
    let report: serde_json::Value =
        serde_json::from_slice(&up.stdout).unwrap_or_else(|_| panic!("no report: {words}\n{}", home.logs()));
    let nodes = report["nodes"].as_array().expect("nodes");
    let md = nodes.iter().find(|node| node["name"] == "md").expect("md");
    assert_eq!(number(&md["starts"]), 3, "{report}");
    let reason = md["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("message.csv") && reason.contains("2002"), "{report}");
    assert_eq!(home.left(), Vec::<std::path::PathBuf>::new());
}
