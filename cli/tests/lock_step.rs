//! Lock-step: where it ends, by itself and when it is stopped in the middle.

mod home;

use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use journal::{Journal, JournalFiles, ReadError};
use serde_json::Value;
use wire::{AnyMessage, Fill, MarketTime, Message};

use home::{Home, kill, number, stderr, stdout};

/// Makers that trade with each other at each quote.
const ANSWERS: &str = r#"
[platform]
instance = "answers"
deterministic = true
lock_step_limit = LIMIT

[md]
source = "lobster"
files = "FILE"
readers = "gated"

[td]
price_band = 0

[journal]
capacity = "16MiB"

[[strategies.group]]
name = "quick"
program = "builtin:market-maker"
count = 3
instruments = "all"
params = { post_only = false, max_position = 1000000, skew_ticks = SKEW }

[[strategies.group]]
name = "slow"
program = "builtin:market-maker"
count = 1
instruments = "all"
params = { post_only = false, max_position = 1000000, skew_ticks = SKEW, requote_ticks = 15 }
"#;

/// A few orders whose mid moves.
const DAY: &str = "\
34200.000,1,1,100,999000,1
34200.100,1,2,100,1001000,-1
34201.000,3,2,100,1001000,-1
34201.100,1,3,100,1003000,-1
34202.000,1,4,100,1001000,1
34203.000,3,3,100,1003000,-1
";

/// The same up and down again and again.
fn long_day(moves: u32) -> String {
    let mut day = String::from("34200.000,1,1,100,999000,1\n34200.100,1,2,100,1001000,-1\n");
    let mut ask = 2;
    for number in 0..moves {
        let (second, id) = (34_201 + number, 3 * number + 3);
        day += &format!("{second}.0,3,{ask},100,1001000,-1\n{second}.1,1,{id},100,1003000,-1\n");
        day += &format!("{second}.2,1,{},100,1001000,1\n{second}.3,3,{},100,1001000,1\n", id + 1, id + 1);
        ask = id + 2;
        day += &format!("{second}.4,1,{ask},100,1001000,-1\n{second}.5,3,{id},100,1003000,-1\n");
    }
    day
}

fn written(home: &Home, name: &str, text: &str) -> String {
    let path = home.state_path().join(name);
    std::fs::write(&path, text).expect("a file");
    path.display().to_string()
}

fn answers(home: &Home, limit: u64, skew: u64, day: &str) -> String {
    let day = written(home, "message.csv", day);
    let limited = ANSWERS.replace("LIMIT", &limit.to_string()).replace("SKEW", &skew.to_string());
    written(home, "answers.toml", &limited.replace("FILE", &day))
}

#[test]
fn too_many_requests_at_one_market_event_end_the_run_and_name_who_asked() {
    let home = Home::new();
    // Whole, it asks no more than this at any event.
    let whole = home.colo(&["up", &answers(&home, 1_000, 100_000_000, DAY)]);
    assert!(whole.status.success(), "{}\n{}", stderr(&whole), home.logs());

    let reason = || {
        let ended = home.colo(&["up", &answers(&home, 20, 100_000_000, DAY)]);
        assert_eq!(ended.status.code(), Some(1), "{}\n{}", stderr(&ended), home.logs());
        let text = stdout(&ended);
        let line = text.lines().find(|line| line.starts_with("node td failed"));
        let line = line.unwrap_or_else(|| panic!("nothing of td in\n{text}\n{}", home.logs())).to_owned();
        assert!(!text.contains("give the same fills"), "{text}");
        assert_eq!(home.left(), Vec::<PathBuf>::new());
        line.split_once("lock-step:").expect("its reason").1.to_owned()
    };
    let first = reason();
    assert!(first.contains("more than 20 requests") && first.contains("lock_step_limit"), "{first}");
    let counts: u64 =
        ["quick-1", "quick-2", "quick-3", "slow-1"].iter().map(|name| asked(&first, name)).sum();
    assert_eq!(counts, 21, "{first}");
    assert_eq!(first, reason(), "lock-step counts alike every time");
}

/// What the error says that this strategy asked.
fn asked(reason: &str, name: &str) -> u64 {
    let Some((_, rest)) = reason.split_once(&format!("{name} ")) else { return 0 };
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a count")
}

#[test]
fn a_platform_that_nobody_watches_ends_its_run_too_and_td_is_not_started_again() {
    let home = Home::new();
    let up = home.colo(&["up", "--stay", &answers(&home, 20, 100_000_000, DAY)]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let nodes = || home.json(&["status", "answers", "--format", "json"])["nodes"].clone();
    home.wait_for("the end of all nodes", || {
        let nodes = nodes();
        let others = nodes.as_array().expect("nodes").iter().filter(|node| node["node"] != "master");
        others.into_iter().all(|node| node["state"] == "stopped" || node["state"] == "failed")
    });
    let td = home.node("answers", "td");
    assert_eq!((number(&td["starts"]), td["state"].as_str()), (1, Some("failed")), "{td}");
    let down = home.colo(&["down", "answers"]);
    // The requests that it did not take are counted.
    assert_eq!(down.status.code(), Some(1), "{}", stderr(&down));
    assert!(stdout(&down).contains("were neither sent on nor refused"), "{}", stdout(&down));
    assert!(stdout(&down).contains("more than 20 requests"), "{}\n{}", stdout(&down), home.logs());
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

/// So eager that they pass each other the same shares for ever.
#[test]
fn makers_that_trade_with_each_other_without_end_are_ended() {
    let home = Home::new();
    let ended = home.colo(&["up", &answers(&home, 5_000, 100_000_000, &long_day(10))]);
    assert_eq!(ended.status.code(), Some(1), "{}\n{}", stdout(&ended), home.logs());
    assert!(stdout(&ended).contains("more than 5000 requests at one market event"), "{}", stdout(&ended));
}

/// Fills in the order in which matching made them, read from the journal behind the last node's end.
fn fills(home: &Home, config: &str, stop_after: Option<Duration>, without_master: bool) -> (Vec<Fill>, bool) {
    let up = home.colo(&["up", "--stay", config]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let folder = home.root.path().join("answers/journals");
    let files = JournalFiles::new(&folder, &folder, "matching.executions");
    let journal = Journal::open_read_only(files).expect("executions");
    // Maps the ring, which then outlives its name.
    let mut reader = journal.observe(journal.first_position()).expect("a reader");
    match stop_after {
        Some(time) => std::thread::sleep(time),
        None => home.wait_for("the source's end", || home.node("answers", "md")["state"] == "finished"),
    }
    if without_master {
        kill(number(&home.node("answers", "master")["pid"]) as u32, "KILL");
    }
    let down = home.colo(&["down", "answers"]);
    assert!(without_master || down.status.success(), "{}\n{}", stderr(&down), home.logs());
    let interrupted = stdout(&down).contains("stopped before the end of its source");
    let mut fills = Vec::new();
    loop {
        match reader.read() {
            Ok(Some(frame)) => {
                if let Ok(AnyMessage::Fill(fill)) = AnyMessage::decode(frame.message_id, frame.payload) {
                    fills.push(fill);
                }
            }
            Ok(None) => return (fills, interrupted),
            Err(error @ ReadError::Lapped(_)) => panic!("the ring is too small: {error}"),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_run_that_is_stopped_has_the_first_fills_of_the_whole_run() {
    const RUNS: u64 = 6;
    let home = Home::new();
    let whole_config = answers(&home, 100_000, 1_000_000, &long_day(400));
    let began = Instant::now();
    let (whole, interrupted) = fills(&home, &whole_config, None, false);
    let took = began.elapsed();
    assert!(!interrupted && whole.len() > 100, "{} fills\n{}", whole.len(), home.logs());
    let mut cut_short = 0;
    for run in 0..RUNS {
        let after = took.mul_f64((run as f64 + 0.37) / (RUNS as f64 * 1.5));
        // Also when the nodes are taken down without their master.
        let (part, interrupted) = fills(&home, &whole_config, Some(after), run % 3 == 2);
        cut_short += u32::from(part.len() < whole.len());
        let same = part.iter().zip(&whole).take_while(|(part, whole)| part == whole).count();
        assert_eq!(
            same,
            part.len(),
            "run {run}, stopped after {after:?}: of {} fills (whole: {}) the next is {:?} instead of {:?}",
            part.len(),
            whole.len(),
            part.get(same),
            whole.get(same)
        );
        assert!(interrupted || part.len() == whole.len(), "run {run} claims to repeat");
    }
    assert!(cut_short > 0, "every run came to its end before it was stopped");
}

/// Times of the frames in a journal of the running platform, those of the market's announced times apart.
fn times(home: &Home, journal: &str) -> (Vec<u64>, Vec<u64>) {
    let folder = home.root.path().join("answers/journals");
    let journal = Journal::open_read_only(JournalFiles::new(&folder, &folder, journal)).expect("a journal");
    let mut reader = journal.observe(journal.first_position()).expect("a reader");
    let (mut announced, mut others) = (Vec::new(), Vec::new());
    while let Some(frame) = reader.read().expect("all frames are there") {
        let times = if frame.message_id == MarketTime::ID { &mut announced } else { &mut others };
        times.push(frame.time);
    }
    (announced, others)
}

/// md writes a message to one journal after the other, and may be held up between them for as long as the host likes.
#[test]
fn nothing_follows_from_a_message_before_it_is_in_all_journals() {
    let home = Home::new();
    let up = home.colo(&["up", "--stay", &answers(&home, 100_000, 1_000_000, &long_day(400))]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    home.wait_for("the source's end", || home.node("answers", "md")["state"] == "finished");
    let (first, second) = (times(&home, "md.flow").0, times(&home, "md.quotes").0);
    assert!(first.len() > 100 && first.len() == second.len(), "{} and {} times", first.len(), second.len());
    for journal in ["td.orders", "reports.quick-1", "reports.quick-2", "reports.quick-3", "reports.slow-1"] {
        let (_, followed) = times(&home, journal);
        assert!(!followed.is_empty(), "{journal} is empty");
        for (&begin, &end) in first.iter().zip(&second) {
            let next = followed.partition_point(|time| *time < begin);
            let early = followed.get(next).filter(|time| **time < end);
            assert_eq!(early, None, "{journal}: between {begin} and {end}");
        }
    }
    let down = home.colo(&["down", "answers"]);
    assert!(down.status.success(), "{}\n{}", stderr(&down), home.logs());
}

/// Makers whose orders work when the source ends, and takers.
const SIMULATED: &str = r#"
[platform]
instance = "repeats"
deterministic = true

[md]
source = "sim"
instruments = 4
interval = "1ms"
count = 100
seed = 7
generator = "timed"
readers = "gated"

[[strategies.group]]
name = "takers"
program = "builtin:taker"
count = 3
params = { max_position = 50 }

[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 4
instruments = "all"
"#;

/// A report without what time and the host make of it: only counts of the stages stay.
fn repeatable(mut report: serde_json::Value) -> String {
    let report = report.as_object_mut().expect("a report");
    for name in ["host", "seconds", "memory", "caveats", "wait_timeouts_with_data"] {
        assert!(report.remove(name).is_some(), "no `{name}` in the report");
    }
    for stage in report["stages"].as_object_mut().expect("stages").values_mut() {
        *stage = stage["n"].clone();
    }
    serde_json::to_string_pretty(report).expect("text")
}

/// At the end each strategy cancels what works, and td what those leave that are gone: each order is cancelled by the one or
/// the other, and not by chance.
#[test]
fn runs_of_the_same_source_and_strategies_give_the_same_report_byte_for_byte() {
    const RUNS: usize = 8;
    let home = Home::new();
    let config = written(&home, "repeats.toml", SIMULATED);
    let report = || repeatable(home.json(&["up", &config, "--format", "json"]));
    let first = report();
    assert!(!first.contains("\"cancels\": 0,\n  \"cancels_rejected\""), "nothing worked at the end: {first}");
    for run in 1..RUNS {
        let again = report();
        let differing: Vec<_> =
            first.lines().zip(again.lines()).filter(|(one, other)| one != other).collect();
        assert!(again == first, "run {run} reports otherwise: {differing:#?}");
    }
}

/// Makers that answer each other for ever, at one market event, in one process: the run is asked to end, and does.
#[test]
fn a_backtest_without_end_is_ended_by_a_signal() {
    let home = Home::new();
    for signal in ["INT", "TERM"] {
        let file = answers(&home, 0, 100_000_000, &long_day(10));
        let mut backtest = Running(home.command(&["up", &file]).spawn().expect("colo starts"));
        home.wait_for("orders", || {
            let status = home.colo(&["status", "answers", "--format", "json"]);
            status.status.success()
                && serde_json::from_str(&stdout(&status)).is_ok_and(|status| has_orders(&status))
        });
        kill(backtest.0.id(), signal);
        let code = backtest.0.wait().expect("it ends").code();
        assert_eq!(code, Some(130), "{signal}: what there is, is a part");
        assert_eq!(home.left(), Vec::<PathBuf>::new());
    }
}

/// A taker that thinks for a minute, in one process: who asks for the end hears why it does not come, and once more ends it.
#[test]
fn a_backtest_that_hangs_in_a_call_says_so_and_a_second_signal_ends_it() {
    let home = Home::new();
    let path = home.state_path().join("hangs.toml");
    std::fs::write(&path, HANGS).expect("the platform file");
    let mut command = home.command(&["up", &path.display().to_string(), "--no-out"]);
    let said = home.state_path().join("said");
    command.stderr(std::fs::File::create(&said).expect("a file"));
    let mut backtest = Running(command.spawn().expect("colo starts"));
    home.wait_for("a quote", || {
        let status = home.colo(&["status", "hangs", "--format", "json"]);
        let status = serde_json::from_str::<Value>(&stdout(&status)).unwrap_or_default();
        let journals = status["journals"].as_array().cloned().unwrap_or_default();
        journals.iter().any(|journal| journal["journal"] == "md.quotes" && number(&journal["frames"]) > 0)
    });
    kill(backtest.0.id(), "INT");
    let words = "a strategy that does not come back from a call";
    home.wait_for(words, || std::fs::read_to_string(&said).is_ok_and(|said| said.contains(words)));
    assert!(backtest.0.try_wait().expect("its state").is_none(), "one signal waits");
    kill(backtest.0.id(), "INT");
    backtest.0.wait().expect("it ends");
}

const HANGS: &str = r#"
[platform]
instance = "hangs"
deterministic = true
[md]
source = "sim"
count = 1000
generator = "timed"
readers = "gated"
[[strategies.group]]
name = "taker"
program = "builtin:taker"
count = 1
instruments = "all"
params = { think_ns = 60000000000 }
"#;

/// Whether td has written more than the first market event asks for when it ends.
fn has_orders(status: &Value) -> bool {
    let journals = status["journals"].as_array().cloned().unwrap_or_default();
    journals.iter().any(|journal| journal["journal"] == "td.orders" && number(&journal["frames"]) > 100_000)
}

/// Ends with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
