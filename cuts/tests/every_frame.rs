//! Each writer is ended behind each of its commits, and its successor leaves the same.
//!
//! ```text
//! cargo test -p cuts                                            # every so many commits of each writer
//! COLO_CUTS=all cargo test -p cuts -- --nocapture               # every commit, and pairs of them
//! ```

use cuts::{Cut, Platform, Script, WRITERS, Writer};

/// Cuts of the short form, of each writer in each script.
const SHORT: usize = 24;
/// Of the long form: the successor is ended too, behind each of its first commits.
const AGAIN: u64 = 3;

fn is_long() -> bool {
    std::env::var("COLO_CUTS").is_ok_and(|value| value == "all")
}

/// Which commits of a process with these are tried: in the short form every so many, and each that goes to another journal than
/// the one before it as long as there are few.
fn chosen(commits: &[String]) -> Vec<u64> {
    let all = 1..=commits.len() as u64;
    if is_long() {
        return all.collect();
    }
    let every = commits.len().div_ceil(SHORT).max(1) as u64;
    all.filter(|commit| commit % every == 0).collect()
}

fn hold(writer: &Writer, script: fn(&str) -> Script) -> Result<(), String> {
    let play = |commits: Vec<u64>| {
        let row = WRITERS.iter().position(|row| row.name == writer.name).expect("a row of the table");
        let name = format!("cuts-{row}-{}", std::process::id());
        let script = script(&name);
        Platform::play(script.topology().clone(), &script, &Cut { node: writer.node, commits })
    };
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
    let writer = WRITERS.iter().find(|writer| writer.name == name).expect("a row of the table");
    let faults: Vec<String> =
        writer.scripts.iter().filter_map(|script| hold(writer, *script).err()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_successor_of_td_leaves_what_td_would_have_left() {
    hold_all("td");
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
