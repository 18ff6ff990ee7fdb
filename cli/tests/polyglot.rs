//! `configs/polyglot.toml`: a strategy in each language on one platform, all trading, killed and started again; the books add up.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

mod home;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use journal::{Journal, JournalFiles};
use wire::AnyMessage;

use home::{Home, kill, number, stderr, stdout};

/// Compilers that take longer hang.
const WATCHDOG: Duration = Duration::from_secs(580);
/// Orders of a strategy that show that it trades.
const ENOUGH: u64 = 50;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Builds the takers, with the library where this test's own binaries are: the folder, those that were built, and those that this
/// host has no toolchain for.
fn takers() -> (PathBuf, Vec<String>, Vec<String>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("takers");
    let target = Path::new(env!("CARGO_BIN_EXE_colo")).ancestors().nth(2).unwrap();
    let mut command = Command::new(root().join("bindings/build"));
    command.arg(&folder).env("COLO_PROFILE", "dev").env("CARGO_TARGET_DIR", target);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let (pid, (sender, receiver)) = (child.id(), channel());
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(WATCHDOG) else {
        kill(pid, "KILL");
        panic!("bindings/build hangs");
    };
    let output = output.unwrap();
    let out = stdout(&output);
    assert!(output.status.success(), "{out}\n{}", stderr(&output));
    let (mut built, mut skipped) = (Vec::new(), Vec::new());
    for line in out.lines() {
        if let Some((_, language)) = line.strip_prefix("built ").and_then(|path| path.rsplit_once("/taker-"))
        {
            built.push(language.to_owned());
        } else if let Some((language, _)) =
            line.strip_prefix("skipped: ").and_then(|rest| rest.split_once(':'))
        {
            println!("{line}");
            skipped.push(language.to_owned());
        }
    }
    assert!(!built.is_empty() || !skipped.is_empty(), "{out}");
    (folder, built, skipped)
}

fn orders(home: &Home, node: &str) -> u64 {
    number(&home.node("polyglot", node)["counters"]["orders"])
}

/// Fills and positions of each seat, summed from what the exchange wrote and from nothing else.
fn from_executions(home: &Home) -> (u64, BTreeMap<usize, (u64, i64)>) {
    let folder = home.root.path().join("polyglot/journals");
    let journal =
        Journal::open_read_only(JournalFiles::new(&folder, &folder, "matching.executions")).unwrap();
    let mut reader = journal.loose_from_start().unwrap();
    let (mut fills, mut seats) = (0, BTreeMap::<usize, (u64, i64)>::new());
    while let Some(frame) = reader.read().unwrap() {
        if let AnyMessage::Fill(fill) = AnyMessage::decode(frame.message_id, frame.payload).unwrap() {
            let seat = seats.entry(usize::from(fill.order_id.strategy().0)).or_default();
            seat.0 += 1;
            seat.1 += fill.side.sign() * fill.quantity.0;
            fills += 1;
        }
    }
    (fills, seats)
}

#[test]
fn a_strategy_in_each_language_trades_on_one_platform_and_again_after_its_death_and_the_books_add_up() {
    let (folder, built, skipped) = takers();
    let text = std::fs::read_to_string(root().join("configs/polyglot.toml")).unwrap();
    let home = Home::new();
    let file = home.state_path().join("polyglot.toml");
    std::fs::write(&file, text.replace("../target/takers", &folder.display().to_string())).unwrap();
    let file = file.display().to_string();
    // It does not end by itself, slow hosts come along, and the exchange's ring holds all of it.
    let mut sets: Vec<String> =
        ["md.count=0", "md.interval=10ms", "strategies.restart_max=100", "journal.matching.capacity=64MiB"]
            .map(str::to_owned)
            .to_vec();
    sets.extend(skipped.iter().map(|language| format!("strategies.group.{language}.count=0")));
    let mut arguments = vec!["up", &file, "--stay"];
    sets.iter().for_each(|set| arguments.extend(["--set", set]));
    let up = home.colo(&arguments);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());

    let nodes: Vec<String> = std::iter::once("rust")
        .chain(built.iter().map(String::as_str))
        .map(|name| format!("{name}-1"))
        .collect();
    for node in &nodes {
        home.wait_for(&format!("orders of {node}"), || orders(&home, node) > ENOUGH);
    }
    for node in &nodes {
        let first = home.node("polyglot", node);
        kill(u32::try_from(number(&first["pid"])).unwrap(), "KILL");
        home.wait_for(&format!("the successor of {node}"), || {
            let now = home.node("polyglot", node);
            now["state"] == "running" && number(&now["starts"]) == number(&first["starts"]) + 1
        });
        let before = orders(&home, node);
        home.wait_for(&format!("orders of {node} after its death"), || orders(&home, node) > before + ENOUGH);
    }

    // Without quotes there are no orders: what is on its way comes to its end, and all counts stand still.
    kill(u32::try_from(number(&home.node("polyglot", "md")["pid"])).unwrap(), "STOP");
    let totals = || home.json(&["status", "polyglot", "--format", "json"])["totals"].clone();
    home.wait_for("silence", || {
        let before = totals();
        std::thread::sleep(Duration::from_millis(500));
        before == totals()
    });
    let (fills, seats) = from_executions(&home);
    assert_eq!(number(&totals()["fills"]), fills);

    let report = home.json(&["down", "polyglot", "--format", "json"]);
    assert_eq!(number(&report["fills"]), fills, "{report}");
    assert_eq!(number(&report["lost"]), 0, "{report}");
    let (strategies, all) = (report["strategies"].as_array().unwrap(), report["nodes"].as_array().unwrap());
    assert_eq!(
        strategies.len(),
        nodes.len(),
        "a language that was built has no group in configs/polyglot.toml"
    );
    for strategy in strategies {
        let seat = all.iter().position(|node| node["name"] == strategy["name"]).unwrap();
        let (fills, position) = seats.get(&seat).copied().unwrap_or_default();
        assert_eq!(
            (number(&strategy["fills"]), strategy["position"].as_i64()),
            (fills, Some(position)),
            "{strategy}"
        );
        assert!(fills > 0, "{strategy}");
        // A restarted one knows what it had: it stays within its limit, but for an order that was on its way when it died.
        assert!(position.abs() <= 4, "{strategy}");
    }
    println!("{} strategies, {fills} fills", strategies.len());
}

#[test]
fn a_program_that_is_not_built_is_named_with_the_command_that_builds_it() {
    let home = Home::new();
    let file = root().join("configs/polyglot.toml").display().to_string();
    for verb in ["check", "up"] {
        let output = home.colo(&[verb, &file, "--set", "strategies.group.c.program=/nowhere/taker-c"]);
        let said = stderr(&output);
        assert!(!output.status.success(), "{said}");
        assert!(
            said.contains("cannot run /nowhere/taker-c") && said.contains("`bindings/build` builds it"),
            "{said}"
        );
    }
}
