//! What an author does: a project is made, tested, checked and run; it warms up; a replay in a test is what a platform does.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

mod home;
#[path = "../../strategy-sdk/examples/market_maker.rs"]
#[allow(unreachable_pub, reason = "a program of its own elsewhere")]
mod market_maker;
#[path = "../../strategy-sdk/examples/taker.rs"]
mod taker;

use std::path::{Path, PathBuf};
use std::process::Command;

use home::{Home, number, stderr, stdout};
use market_maker::MarketMaker;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use strategy_sdk::Strategy;
use strategy_testing::{Day, replay};
use taker::Taker;

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Makes a project and tests it as its author would, without the network; its folder and its program.
fn project(home: &Home) -> (PathBuf, PathBuf) {
    let (dir, sdk) = (home.state_path().display().to_string(), checkout().display().to_string());
    let made = home.colo(&["strategy", "new", "hello-day", "--dir", &dir, "--sdk", &sdk]);
    assert!(made.status.success(), "{}", stderr(&made));
    let folder = home.state_path().join("hello-day");
    // Kept from run to run: what it depends on is compiled once.
    let target = Path::new(env!("CARGO_BIN_EXE_colo")).ancestors().nth(2).unwrap().join("authors");
    let tested = Command::new(env!("CARGO"))
        .args(["test", "--quiet", "--offline", "--target-dir"])
        .arg(&target)
        .current_dir(&folder)
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .unwrap();
    assert!(tested.status.success(), "{}\n{}", stdout(&tested), stderr(&tested));
    assert!(stdout(&tested).contains("2 passed"), "{}", stdout(&tested));
    (folder, target.join("debug/hello-day"))
}

fn filled(report: &Value) -> u64 {
    let nodes = report["strategies"].as_array().unwrap_or_else(|| panic!("{report}"));
    nodes.iter().map(|node| number(&node["fills"])).sum()
}

#[test]
fn a_new_project_is_tested_checked_and_trades_and_what_it_hears_first_is_no_time_to_trade() {
    let home = Home::new();
    let (folder, program) = project(&home);
    let file = folder.join("platform.toml").display().to_string();
    let program = format!("strategies.program=\"{}\"", program.display());
    let up = |sets: &[&str]| {
        let mut words = vec!["up", &file, "--set", &program, "--format", "json", "--set", "md.count=500"];
        sets.iter().for_each(|set| words.extend(["--set", *set]));
        let up = home.colo(&words);
        assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
        serde_json::from_str::<Value>(&stdout(&up)).unwrap()
    };
    let checked = home.colo(&["check", &file, "--set", &program]);
    assert!(checked.status.success(), "{}", stderr(&checked));
    let misspelt =
        home.colo(&["check", &file, "--set", &program, "--set", "strategies.params={ quantty = 1 }"]);
    assert!(!misspelt.status.success() && stderr(&misspelt).contains("quantty"), "{}", stderr(&misspelt));

    let traded = filled(&up(&[]));
    assert!(traded > 0, "{}", home.logs());
    // 500 quotes a millisecond apart: half of them are heard before it may trade.
    let warm = filled(&up(&["strategies.warm_up=\"250ms\""]));
    assert!(warm > 0 && warm < traded, "{warm} of {traded}");
    assert!(
        home.logs().contains("the strategy warms up: orders may be sent from `start` on"),
        "{}",
        home.logs()
    );
    // Longer than the data: it never starts.
    let long = "strategies.warm_up=\"1h\"";
    let never = home.colo(&["up", &file, "--set", &program, "--set", "md.count=500", "--set", long]);
    assert_eq!(never.status.code(), Some(5), "{}\n{}", stderr(&never), home.logs());
    let caveat = "hello-day-1 was still warming up at the end and never started";
    assert!(stdout(&never).contains(caveat), "{}", stdout(&never));
    assert!(stderr(&never).contains("colo: no result: hello-day-1 still warmed up"), "{}", stderr(&never));
}

#[test]
fn history_is_the_last_part_of_a_recording() {
    let home = Home::new();
    let (file, folder) = home.recorded_platform("");
    let recorded = home.colo(&["up", &file, "--set", "md.count=1000"]);
    assert!(recorded.status.success(), "{}", stderr(&recorded));
    let history = format!("strategies.history=\"{folder}\"");
    let demo = checkout().join("configs/demo.toml").display().to_string();
    let warm = |lasts: &str| {
        let (lasts, count) = (format!("strategies.warm_up=\"{lasts}\""), "md.count=50");
        home.colo(&["up", &demo, "--set", &history, "--set", &lasts, "--set", count])
    };
    let up = warm("500ms");
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let logs = home.logs();
    let taken = logs.lines().filter_map(|line| line.split_once("warmed up with ")?.1.split_once(" messages"));
    let taken: Vec<u64> = taken.map(|(count, _)| count.parse().unwrap()).collect();
    // A strategy hears one instrument, 500 quotes a second, and trades; the recording goes on after the last of them.
    assert!(!taken.is_empty() && taken.iter().all(|count| (100..1_000).contains(count)), "{taken:?}");

    let without = home.colo(&["check", &demo, "--set", &history]);
    assert!(stderr(&without).contains("warm_up"), "{}", stderr(&without));
    let nowhere = home.colo(&[
        "up",
        &demo,
        "--set",
        "strategies.history=\"/nowhere\"",
        "--set",
        "strategies.warm_up=\"1s\"",
    ]);
    assert_eq!(nowhere.status.code(), Some(2), "{}", stderr(&nowhere));
    assert!(stderr(&nowhere).contains("/nowhere"), "{}", stderr(&nowhere));
}

#[test]
fn a_name_that_is_none_and_a_folder_that_is_there_are_refused() {
    let home = Home::new();
    let (dir, sdk) = (home.state_path().display().to_string(), checkout().display().to_string());
    for name in ["Hello", "1day", "hello_day", "", "-x", "x-", "../x", "match", "test", "serde"] {
        let made = home.colo(&["strategy", "new", &format!("--dir={dir}"), "--sdk", &sdk, "--", name]);
        assert_eq!(made.status.code(), Some(2), "`{name}`: {}", stderr(&made));
    }
    std::fs::create_dir(home.state_path().join("there")).unwrap();
    let made = home.colo(&["strategy", "new", "there", "--dir", &dir, "--sdk", &sdk]);
    assert!(made.status.code() == Some(2) && stderr(&made).contains("there already"), "{}", stderr(&made));
    let git =
        ["strategy", "new", "of-git", "--dir", &dir, "--git", "https://example.org/colo.git", "--rev", "v1"];
    assert!(home.colo(&git).status.success());
    let cargo = std::fs::read_to_string(home.state_path().join("of-git/Cargo.toml")).unwrap();
    assert!(cargo.contains("{ git = \"https://example.org/colo.git\", rev = \"v1\" }"), "{cargo}");
    let made = home.colo(&["strategy", "new", "fresh", "--dir", &dir, "--sdk", &dir]);
    assert!(made.status.code() == Some(2) && stderr(&made).contains("no checkout"), "{}", stderr(&made));
}

/// A book that moves, and trades.
fn day(moves: u32) -> String {
    let mut day = String::from("34200.000,1,1,100,999000,1\n34200.100,1,2,100,1001000,-1\n");
    let mut ask = 2;
    for number in 0..moves {
        let (second, id) = (34_201 + number, 3 * number + 3);
        day += &format!("{second}.0,3,{ask},100,1001000,-1\n{second}.1,1,{id},100,1003000,-1\n");
        day += &format!("{second}.2,1,{},100,1001000,1\n{second}.3,4,{},40,1001000,1\n", id + 1, id + 1);
        day += &format!("{second}.35,3,{},60,1001000,1\n", id + 1);
        ask = id + 2;
        day += &format!("{second}.4,1,{ask},100,1001000,-1\n{second}.5,3,{id},100,1003000,-1\n");
    }
    day
}

/// Orders and fills of a strategy on a platform in lock-step, and in a test.
fn both<S: Strategy>(home: &Home, builtin: &str, parameters: Value) -> [(u64, u64); 2]
where
    S::Parameters: DeserializeOwned,
{
    let message = home.state_path().join("message.csv");
    std::fs::write(&message, day(60)).unwrap();
    let file = home.state_path().join("same.toml");
    let platform = format!(
        "[platform]\ninstance = 'same'\ndeterministic = true\n[md]\nsource = 'lobster'\nfiles = '{}'\n\
         readers = 'gated'\nsymbols = ['AAPL']\n[matching]\nfill = 'book'\n[td]\nprice_band = 0\n[strategies]\n\
         program = '{builtin}'\ncount = 1\n",
        message.display()
    );
    std::fs::write(&file, platform).unwrap();
    let mut words = vec!["up".to_owned(), file.display().to_string(), "--format".into(), "json".into()];
    for (name, value) in parameters.as_object().unwrap() {
        words.extend(["--set".to_owned(), format!("strategies.params.{name}={value}")]);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let report = home.json(&words);
    let node = &report["strategies"][0];

    let parameters = serde_json::from_value(parameters).unwrap();
    let run = replay::<S>(parameters, &Day::lobster(&message).symbols(["AAPL"])).unwrap();
    let counted = (run.orders().count() as u64, run.fills().count() as u64);
    [(number(&node["orders"]), number(&node["fills"])), counted]
}

#[test]
fn a_day_in_a_test_gives_the_orders_and_fills_that_it_gives_on_a_platform() {
    let home = Home::new();
    let [platform, test] = both::<Taker>(&home, "builtin:taker", json!({ "max_position": 50 }));
    assert_eq!(platform, test);
    assert!(test.1 > 10, "{test:?}");
    let maker = json!({ "max_position": 50, "skew_ticks": 1_000_000, "post_only": false });
    let [platform, test] = both::<MarketMaker>(&home, "builtin:market-maker", maker);
    assert_eq!(platform, test);
    assert!(test.1 > 0, "{test:?}");
}
