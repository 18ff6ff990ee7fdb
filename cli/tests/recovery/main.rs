//! kill -9 of a part of the platform, at any moment, loses and doubles nothing.
//!
//! A witness reads every journal from its first frame on while one part is killed again and again. After a clean stop
//! an audit holds all journals against each other. `COLO_KILLS` says how many kills, `COLO_SEED` from which seed their
//! moments are drawn.

mod audit;
mod model;
mod platform;
mod witness;

use audit::Audit;
use platform::{Chance, Load, Platform};

const MD: u32 = 1;
const TD: u32 = 2;
const MATCHING: u32 = 3;
const LEDGER: u32 = 4;
const STRATEGIES: [u32; 4] = [5, 6, 7, 8];

/// Kills in CI; the long form has more.
const KILLS: u64 = 12;

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Runs a platform, lets `kill` loose on it, and audits what is written.
fn audited(name: &str, load: Load, kill: impl FnOnce(&Platform, u64, &mut Chance)) -> Audit {
    let kills = from_environment("COLO_KILLS", KILLS);
    let seed = from_environment("COLO_SEED", 1);
    let (platform, witness) = Platform::up(load);
    std::thread::sleep(std::time::Duration::from_millis(200));
    kill(&platform, kills, &mut Chance::new(seed));
    platform.down();
    let (records, fulls) = witness.finish();
    let audit = Audit { fulls, ..audit::audit(&records) };
    println!("{name}, {load:?}: {kills} kills (seed {seed}): {audit}");
    assert!(
        audit.faults.is_empty(),
        "{} faults:\n{}\n{}",
        audit.faults.len(),
        audit.faults.iter().take(12).cloned().collect::<Vec<_>>().join("\n"),
        platform.logs()
    );
    audit
}

fn killed_again_and_again(name: &str, load: Load, seats: &[u32]) {
    audited(name, load, |platform, kills, chance| platform.kill(seats, kills, chance));
}

fn killed_before_full(journal: &str, writer: u32, reader: u32) {
    let audit = audited(journal, Load::Flood, |platform, kills, chance| {
        platform.kill_before_full(writer, reader, kills, chance);
    });
    let fulls = audit.fulls[journal];
    println!("{journal} was full {fulls} times");
    assert!(fulls > 0, "{journal} was never full: this shows nothing");
}

#[test]
fn nobody_is_killed_and_nothing_is_found() {
    audited("nobody (not one of them)", Load::Steady, |_, _, _| {});
}

#[test]
fn ledger() {
    killed_again_and_again("ledger", Load::Flood, &[LEDGER]);
}

#[test]
fn td() {
    killed_again_and_again("td", Load::Flood, &[TD]);
}

#[test]
fn td_that_could_not_write_orders() {
    killed_before_full("td.orders", TD, MATCHING);
}

#[test]
fn matching() {
    killed_again_and_again("matching", Load::Flood, &[MATCHING]);
}

#[test]
fn matching_that_could_not_write_executions() {
    killed_before_full("matching.executions", MATCHING, LEDGER);
}

#[test]
fn matching_that_is_not_started_again() {
    let audit = audited("matching, closed", Load::Closing, |platform, _, chance| {
        platform.kill(&[MATCHING], 1, chance);
        // Whoever takes up what was closed finds it closed.
        platform.kill(&[TD, LEDGER], 4, chance);
    });
    assert!(audit.lost_with_matching > 0 && audit.closed_out > 0, "{audit}");
}

#[test]
fn md() {
    killed_again_and_again("md", Load::Steady, &[MD]);
}

#[test]
fn strategies() {
    killed_again_and_again("strategies", Load::Steady, &STRATEGIES);
}

#[test]
fn everybody_in_turn() {
    let all: Vec<u32> = [MD, TD, MATCHING, LEDGER].into_iter().chain(STRATEGIES).collect();
    killed_again_and_again("everybody", Load::Steady, &all);
}
