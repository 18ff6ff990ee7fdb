//! kill -9 of a part of the platform, or of two at once, at any moment, loses and doubles nothing.
//!
//! A witness reads every journal from its first frame on while one part is killed again and again. After a clean stop
//! an audit holds all journals against each other, and against the report of the stop. `COLO_KILLS` says how many kills,
//! `COLO_SEED` from which seed their moments are drawn, `COLO_PAIRS` which pairs die together (`md+td,td+matching`).

mod audit;
mod kind;
mod load;
mod model;
mod platform;
mod stopping;
mod totals;
mod witness;

use audit::{Announced, Audit};
use kind::{Kind, Pair, pairs, pairs_with};
use load::Load;
use platform::{Chance, Platform};
use stopping::{Counts, DEATHS, Stage};

/// Kills in CI; the long form has more.
const KILLS: u64 = 12;
/// The same of each pair.
const PAIR_KILLS: u64 = 2;
/// Stops during which a process dies.
const STOPS: u64 = 8;
/// The most of one relay: more often it is not started again, which no key of the platform's file changes.
const RELAY_KILLS: u64 = 4;

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// The reports that `down` says td gave up, by their journal.
fn announced(report: &serde_json::Value) -> Announced {
    let entries = report["lost_by"].as_array().into_iter().flatten();
    let count = |entry: &serde_json::Value| {
        let journal = entry["journal"].as_str()?.to_owned();
        Some((journal, usize::try_from(entry["undelivered"].as_u64()?).ok()?)).filter(|(_, count)| *count > 0)
    };
    entries.filter_map(count).collect()
}

/// Runs a platform, lets `kill` loose on it, and audits what is written. What is wrong is an error, with the nodes' logs.
fn outcome(
    name: &str,
    load: Load,
    kills: u64,
    seed: u64,
    kill: impl FnOnce(&Platform, u64, &mut Chance),
) -> Result<Audit, String> {
    let (platform, witness) = Platform::up(load);
    std::thread::sleep(std::time::Duration::from_millis(200));
    kill(&platform, kills, &mut Chance::new(seed));
    let status = platform.status();
    let report = platform.down();
    let (records, fulls) = witness.finish();
    let announced = announced(&report);
    let mut audit = Audit { fulls, ..audit::audit(&records, &announced) };
    audit.totals(&status, &report, &records);
    audit.faults.extend(platform.audited());
    audit.faults.extend(platform.left().into_iter().map(|what| format!("`down` leaves {what}")));
    let faults = audit.faults.len();
    println!("{name}, {load:?}: {kills} kills (seed {seed}): {faults} faults; {audit}");
    match faults {
        0 => Ok(audit),
        _ => Err(format!(
            "{name}, {load:?}: {faults} faults:\n{}\n{}",
            audit.faults.iter().take(12).cloned().collect::<Vec<_>>().join("\n"),
            platform.logs()
        )),
    }
}

fn audited(name: &str, load: Load, default: u64, kill: impl FnOnce(&Platform, u64, &mut Chance)) -> Audit {
    let kills = from_environment("COLO_KILLS", default);
    let seed = from_environment("COLO_SEED", 1);
    outcome(name, load, kills, seed, kill).unwrap_or_else(|faults| panic!("{faults}"))
}

fn killed_again_and_again(name: &str, load: Load, kinds: &[Kind]) {
    audited(name, load, KILLS, |platform, kills, chance| platform.kill(kinds, kills, chance));
}

fn killed_before_full(journal: &str, writer: Kind, reader: Kind) {
    let audit = audited(journal, Load::Flood, KILLS, |platform, kills, chance| {
        platform.kill_before_full(writer, reader, kills, chance);
    });
    let fulls = audit.fulls[journal];
    println!("{journal} was full {fulls} times");
    assert!(fulls > 0, "{journal} was never full: this shows nothing");
}

/// As many kills as were asked for, on one platform after the other where each bears only so many.
fn in_parts(kinds: &[Kind], default: u64, mut run: impl FnMut(u64, u64)) {
    let mut left = from_environment("COLO_KILLS", default);
    let mut seed = from_environment("COLO_SEED", 1);
    while left > 0 {
        let kills = if kinds.contains(&Kind::Relay) { left.min(RELAY_KILLS) } else { left };
        run(kills, seed);
        left -= kills;
        seed += 1;
    }
}

/// Each pair on a platform of its own. A pair that fails does not hide what the others do.
fn killed_together(load: impl Fn(Pair) -> Load, pairs: &[Pair]) {
    let chosen = std::env::var("COLO_PAIRS").ok();
    let mut faults = Vec::new();
    for pair in pairs {
        let name = kind::name(*pair);
        let plain = name.replace(' ', "");
        if chosen.as_ref().is_some_and(|chosen| !chosen.split(',').any(|one| one == plain)) {
            println!("{name}: left out, COLO_PAIRS names others");
            continue;
        }
        let kill = |platform: &Platform, kills, chance: &mut Chance| {
            platform.kill_together(*pair, kills, chance);
        };
        in_parts(pair, PAIR_KILLS, |kills, seed| {
            faults.extend(outcome(&name, load(*pair), kills, seed, kill).err());
        });
    }
    assert!(faults.is_empty(), "{} faulty runs:\n{}", faults.len(), faults.join("\n"));
}

/// One death during a stop: all is finished, or the stop says how much is not.
fn stopped(load: Load, kind: Kind, stage: Stage, seed: u64) -> Result<Counts, String> {
    let mut chance = Chance::new(seed);
    let (platform, witness) = Platform::up(load);
    std::thread::sleep(std::time::Duration::from_millis(100 + chance.below(200)));
    let status = platform.status();
    let (code, report) = platform.down_while_dies(kind, stage, &mut chance);
    let (records, _) = witness.finish();
    let lost: usize = announced(&report).values().sum();
    let (says, holds) = (stopping::reported(&report), stopping::recounted(&records, lost));
    // What the books lack is compared by the audit: nothing but the ledger says it.
    let of_orders = |counts: &Counts| {
        let mut counts = counts.clone();
        counts.remove("book");
        counts
    };
    let mut faults = Vec::new();
    if of_orders(&says) != holds {
        faults.push(format!("the stop says {says:?}, the journals hold {holds:?}"));
    }
    let is_whole = says.is_empty() && report["unrecorded"].as_array().is_some_and(Vec::is_empty);
    if code != Some(i32::from(!is_whole)) {
        faults.push(format!("it ends with {code:?}, and says {says:?}, {}", report["unrecorded"]));
    }
    if says.is_empty() {
        let mut audit = audit::audit(&records, &announced(&report));
        audit.totals(&status, &report, &records);
        faults.extend(audit.faults);
    }
    if load == Load::Desk && lost > 0 {
        faults.push(format!("{lost} reports are lost, and the drop copy has their executions"));
    }
    if is_whole {
        faults.extend(platform.audited());
    }
    faults.extend(platform.left().into_iter().map(|what| format!("`down` leaves {what}")));
    println!(
        "{} dies {stage:?} (seed {seed}): {} faults; exit code {code:?}, {says:?}",
        kind.name(),
        faults.len()
    );
    match faults.len() {
        0 => Ok(says),
        count => Err(format!(
            "{} dies {stage:?} (seed {seed}): {count} faults:\n{}\n{}",
            kind.name(),
            faults.iter().take(12).cloned().collect::<Vec<_>>().join("\n"),
            platform.logs()
        )),
    }
}

#[test]
fn whoever_dies_while_the_platform_stops_leaves_nothing_undone() {
    let (stops, seed) = (from_environment("COLO_KILLS", STOPS), from_environment("COLO_SEED", 1));
    let mut faults = Vec::new();
    for (number, (kind, stage)) in (0..stops).zip(DEATHS.iter().cycle()) {
        match stopped(Load::Desk, *kind, *stage, seed + number) {
            Ok(left) if !left.is_empty() => {
                faults.push(format!("{} {stage:?}: {left:?} is not finished", kind.name()));
            }
            other => faults.extend(other.err()),
        }
    }
    assert!(faults.is_empty(), "{} faulty stops:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn accounts_whose_parts_die_hold_what_an_audit_computes() {
    let kinds = [Kind::Td, Kind::Matching, Kind::Ledger, Kind::Strategy, Kind::Recorder];
    killed_again_and_again("parts of a desk", Load::Desk, &kinds);
}

#[test]
fn a_host_that_dies_while_the_platform_stops_leaves_nothing_undone() {
    for (stage, seed) in [(Stage::Before, 1), (Stage::Draining, 2)] {
        let left = stopped(Load::Hosted, Kind::Host, stage, seed).unwrap_or_else(|faults| panic!("{faults}"));
        assert_eq!(left, Counts::new(), "{stage:?}");
    }
}

#[test]
fn what_nobody_finishes_is_counted_and_the_stop_fails() {
    let left = stopped(Load::Never, Kind::Td, Stage::Before, 1).unwrap_or_else(|faults| panic!("{faults}"));
    assert!(left.contains_key("send"), "{left:?}");
    let left =
        stopped(Load::Never, Kind::Ledger, Stage::Before, 1).unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(left.keys().collect::<Vec<_>>(), ["book"]);
}

#[test]
fn nobody_is_killed_and_nothing_is_found() {
    audited("nobody (not one of them)", Load::Steady, KILLS, |_, _, _| {});
}

#[test]
fn ledger() {
    killed_again_and_again("ledger", Load::Flood, &[Kind::Ledger]);
}

#[test]
fn td() {
    killed_again_and_again("td", Load::Flood, &[Kind::Td]);
}

#[test]
fn td_that_could_not_write_orders() {
    killed_before_full("td.orders", Kind::Td, Kind::Matching);
}

#[test]
fn td_that_could_not_write_reports() {
    killed_before_full("reports.takers-1", Kind::Td, Kind::Strategy);
}

/// A strategy does not read what comes of all the orders that waited for matching: its reports wait in td's memory while
/// the others trade on, and the ring of executions goes round.
#[test]
fn td_whose_memory_held_more_than_the_executions_do() {
    audited("td, with reports in memory", Load::Flood, KILLS, |platform, kills, chance| {
        platform.kill_with_unread([Kind::Td, Kind::Matching, Kind::Strategy], kills, chance);
    });
}

/// The same with accounts: the drop copy has the executions that are overwritten, and no report is lost. How many are overwritten
/// depends on the host; `cuts` has each moment of it.
#[test]
fn td_whose_reports_are_in_the_drop_copy() {
    let audit =
        audited("td, with reports in the drop copy", Load::Desk, KILLS / 2, |platform, kills, chance| {
            platform.kill_with_unread([Kind::Td, Kind::Matching, Kind::Strategy], kills, chance);
        });
    assert_eq!(audit.lost_reports, 0, "{audit}");
}

#[test]
fn matching() {
    let audit = audited("matching", Load::Flood, KILLS, |platform, kills, chance| {
        platform.kill(&[Kind::Matching], kills, chance);
    });
    assert_eq!(audit.lost_with_matching, 0, "its successor finds its books: {audit}");
}

/// Its books hold the market's orders too, and what strategies took of them.
#[test]
fn matching_beside_a_recorded_market() {
    let audit =
        audited("matching, beside a recorded market", Load::Book, KILLS, |platform, kills, chance| {
            platform.kill(&[Kind::Matching], kills, chance);
            let log = platform.whole_log("matching");
            // One that was killed before it had read all is not among them.
            assert!(log.contains("working orders found again beside"), "{log}");
            assert!(!log.contains("restarted without the books"), "{log}");
        });
    assert_eq!(audit.lost_with_matching, 0, "its successor finds its books: {audit}");
    assert!(audit.trades > 50, "they traded with the market: {audit}");
}

#[test]
fn matching_that_could_not_write_executions() {
    killed_before_full("matching.executions", Kind::Matching, Kind::Ledger);
}

/// Nobody trades for longer than the ledger needs for a snapshot, so that no fill lies behind the last one.
#[test]
fn matching_after_a_pause_of_the_market() {
    audited("matching, while md stands still", Load::Steady, 4, |platform, kills, chance| {
        platform.kill_in_a_pause(Kind::Md, Kind::Matching, kills, chance);
    });
}

/// Whether an order works at the moment of the kill is chance, so a run in which none did is followed by another.
#[test]
fn matching_that_is_not_started_again() {
    let shown = (0..5).any(|_| {
        let audit = audited("matching, closed", Load::Closing, KILLS, |platform, _, chance| {
            platform.kill(&[Kind::Matching], 1, chance);
            // A successor of those who knew that the market is closed finds it closed.
            platform.kill(&[Kind::Td, Kind::Ledger], 4, chance);
        });
        audit.lost_with_matching > 0 && audit.closed_out > 0
    });
    assert!(shown, "in no run an order worked when matching was killed: this shows nothing");
}

#[test]
fn md() {
    killed_again_and_again("md", Load::Steady, &[Kind::Md]);
}

#[test]
fn strategies() {
    killed_again_and_again("strategies", Load::Steady, &[Kind::Strategy]);
}

#[test]
fn master() {
    killed_again_and_again("master", Load::Steady, &[Kind::Master]);
}

#[test]
fn a_host() {
    killed_again_and_again("host", Load::Hosted, &[Kind::Host]);
}

#[test]
fn a_relay() {
    let mut faults = Vec::new();
    in_parts(&[Kind::Relay], RELAY_KILLS, |kills, seed| {
        let kill =
            |platform: &Platform, kills, chance: &mut Chance| platform.kill(&[Kind::Relay], kills, chance);
        faults.extend(outcome("relay", Load::Relayed, kills, seed, kill).err());
    });
    assert!(faults.is_empty(), "{} faulty runs:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn strategies_that_md_waits_for() {
    killed_again_and_again("gated strategies and md", Load::Gated, &[Kind::Strategy, Kind::Md]);
}

#[test]
fn everybody_in_turn() {
    killed_again_and_again("everybody", Load::Steady, &Kind::ALL);
}

#[test]
fn two_at_once() {
    killed_together(|_| Load::Steady, &pairs(&Kind::ALL));
}

/// As many orders as the rings take: what is in a killed process's memory alone is most then.
#[test]
fn two_at_once_under_flood() {
    killed_together(|_| Load::Flood, &pairs(&Kind::ALL));
}

#[test]
fn two_at_once_one_of_them_a_host_or_a_relay() {
    let others = [Kind::Md, Kind::Td, Kind::Matching, Kind::Ledger, Kind::Master];
    killed_together(|_| Load::Hosted, &pairs_with(Kind::Host, &others));
    killed_together(|_| Load::Mixed, &pairs_with(Kind::Host, &[Kind::Strategy, Kind::Relay]));
    killed_together(|_| Load::Relayed, &pairs_with(Kind::Relay, &Kind::ALL));
}
