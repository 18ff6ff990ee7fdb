//! kill -9 of a part of the platform, at any moment, loses and doubles nothing.
//!
//! A witness reads every journal from its first frame on while one part is killed again and again. After a clean stop
//! an audit holds all journals against each other. `COLO_KILLS` says how many kills, `COLO_SEED` from which seed their
//! moments are drawn.

mod audit;
mod model;
mod platform;
mod witness;

use platform::{Chance, Platform};
use witness::Witness;

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

fn killed_again_and_again(name: &str, seats: &[u32]) {
    let kills = from_environment("COLO_KILLS", KILLS);
    let seed = from_environment("COLO_SEED", 1);
    let platform = Platform::up();
    let witness = Witness::join(&platform);
    std::thread::sleep(std::time::Duration::from_millis(200));
    platform.kill(seats, kills, &mut Chance::new(seed));
    platform.down();
    let audit = audit::audit(&witness.finish());
    println!("{name}: {kills} kills (seed {seed}): {audit}");
    assert!(
        audit.faults.is_empty(),
        "{} faults:\n{}\n{}",
        audit.faults.len(),
        audit.faults.iter().take(12).cloned().collect::<Vec<_>>().join("\n"),
        platform.logs()
    );
}

#[test]
fn nobody() {
    killed_again_and_again("nobody", &[]);
}

#[test]
fn ledger() {
    killed_again_and_again("ledger", &[LEDGER]);
}

#[test]
fn td() {
    killed_again_and_again("td", &[TD]);
}

#[test]
fn matching() {
    killed_again_and_again("matching", &[MATCHING]);
}

#[test]
fn md() {
    killed_again_and_again("md", &[MD]);
}

#[test]
fn strategies() {
    killed_again_and_again("strategies", &STRATEGIES);
}

#[test]
fn everybody_in_turn() {
    let all: Vec<u32> = [MD, TD, MATCHING, LEDGER].into_iter().chain(STRATEGIES).collect();
    killed_again_and_again("everybody", &all);
}
