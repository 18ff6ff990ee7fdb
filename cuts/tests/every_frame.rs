//! Each writer is ended behind each of its commits, and its successor leaves the same.
//!
//! ```text
//! cargo test -p cuts                                            # every so many commits of each writer
//! COLO_CUTS=all cargo test -p cuts -- --nocapture               # each commit, of long scripts up to 600, and pairs of them
//! ```

use cuts::{Cut, Ended, Platform, Script, WRITERS, Writer};

/// Cuts of the short form, of each writer in each script.
const SHORT: usize = 24;
/// Of the long form at most: a script of thousands of commits repeats itself.
const LONG: usize = 600;
/// Of the long form: the successor is ended too, behind each of its first commits.
const AGAIN: u64 = 3;

fn is_long() -> bool {
    std::env::var("COLO_CUTS").is_ok_and(|value| value == "all")
}

/// Which commits of a process with these are tried: in the short form every so many, and each that goes to another journal than
/// the one before it as long as there are few.
fn chosen(commits: &[String]) -> Vec<u64> {
    let all = 1..=commits.len() as u64;
    let most = if is_long() { LONG } else { SHORT };
    let every = commits.len().div_ceil(most).max(1) as u64;
    all.filter(|commit| commit % every == 0).collect()
}

fn row(name: &str) -> &'static Writer {
    WRITERS.iter().find(|writer| writer.name == name).expect("a row of the table")
}

/// Plays a script to its end, with the writer ended behind these commits. `test` tells instances of one process apart.
fn play(test: &str, writer: &Writer, script: fn(&str) -> Script, commits: Vec<u64>) -> Ended {
    let script = script(&format!("cuts-{test}-{}", std::process::id()));
    Platform::play(script.topology().clone(), &script, &Cut { node: writer.node, commits })
}

fn hold(writer: &Writer, script: fn(&str) -> Script) -> Result<(), String> {
    let number = WRITERS.iter().position(|row| row.name == writer.name).expect("a row of the table");
    let play = |commits: Vec<u64>| play(&number.to_string(), writer, script, commits);
    let whole = play(Vec::new());
    assert!(
        whole.commits.len() >= writer.least,
        "{} made {} commits: too few to try anything",
        writer.node,
        whole.commits.len()
    );
    let mut cuts = Vec::new();
    for commit in chosen(&whole.commits) {
        cuts.push(vec![commit]);
        if is_long() {
            cuts.extend((1..=AGAIN).map(|again| vec![commit, again]));
        }
    }
    let (mut faults, mut unreached) = (Vec::new(), 0);
    for cut in &cuts {
        let ended = play(cut.clone());
        if ended.blown.is_empty() {
            // Statistics and images of books depend on time: a faster run has fewer commits.
            unreached += 1;
            continue;
        }
        if let Some(fault) = writer.fault(&whole.traces, &ended.traces) {
            faults.push(format!("{} ended behind {:?}: {fault}", writer.node, ended.blown));
        }
    }
    println!(
        "{}: {} cuts behind {} commits, {unreached} of them not reached, {} frames compared each, {} faults",
        writer.name,
        cuts.len(),
        whole.commits.len(),
        whole.traces.count(),
        faults.len()
    );
    assert!(unreached * 4 <= cuts.len(), "{unreached} of {} cuts were not reached", cuts.len());
    match faults.first() {
        None => Ok(()),
        Some(first) => {
            faults.iter().for_each(|fault| println!("{fault}\n"));
            Err(format!("{} of {} cuts differ; the first: {first}", faults.len(), cuts.len()))
        }
    }
}

fn hold_all(name: &str) {
    let writer = row(name);
    let faults: Vec<String> =
        writer.scripts.iter().filter_map(|script| hold(writer, *script).err()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_successor_of_td_leaves_what_td_would_have_left() {
    hold_all("td");
}

/// Reports that a successor has made again are in its memory alone, as they were in its predecessor's.
#[test]
fn the_next_successor_of_td_makes_unread_reports_again_too() {
    let td = row("td");
    let play = |commits| play("unread", td, Script::unread, commits);
    let whole = play(Vec::new());
    let last = whole.commits.len() as u64;
    // Behind the last execution before its strategy reads again, and in the middle of the executions.
    let resumes = whole.commits.iter().rposition(|journal| journal == "td.drops").expect("a copy") as u64;
    let held = whole.commits[..resumes as usize - 10].iter().rposition(|journal| journal == "td.drops");
    let held = held.expect("a copy of an execution") as u64 + 1;
    assert!(last - held > 400, "too few reports wait: {held} of {last}");
    for commits in [
        [held, 1, 1],
        [held, 300, 1],
        [held - 400, 30, 30],
        [held - 200, 200, 5],
        [held - 600, 500, 100],
        // There is room, so the successor writes some of them before it has posted all.
        [last - 300, 1, 1],
        [last - 300, 40, 2],
    ] {
        let ended = play(commits.to_vec());
        assert_eq!(ended.blown.len(), 3, "{commits:?}");
        let fault = td.fault(&whole.traces, &ended.traces);
        assert_eq!(fault, None, "{commits:?}");
    }
}

#[test]
fn a_successor_of_the_ledger_leaves_what_the_ledger_would_have_left() {
    hold_all("ledger");
}

#[test]
fn a_successor_of_matching_leaves_what_matching_would_have_left() {
    hold_all("matching");
}

#[test]
fn a_successor_of_a_program_at_a_venue_leaves_what_that_would_have_left() {
    hold_all("a venue's program");
}

#[test]
fn a_successor_of_the_gateway_leaves_what_the_gateway_would_have_left() {
    hold_all("the gateway");
}

#[test]
fn a_successor_of_the_gateway_ends_what_was_to_end_with_its_connections() {
    hold_all("the gateway, with connections");
}

/// A row without a test would try nothing.
#[test]
fn each_writer_of_the_table_has_a_test() {
    let names: Vec<&str> = WRITERS.iter().map(|writer| writer.name).collect();
    let tested =
        ["td", "ledger", "matching", "a venue's program", "the gateway", "the gateway, with connections"];
    assert_eq!(names, tested);
}
