//! Ends of a lock-step run: requested, and abandoned.

use super::*;
use crate::lives::{Decision, End, Ended, Event, Lives, Stopping, Time};

const IN_GOOD_ORDER: End = End { left: true, ended: Ended::Exit(0) };
const GAVE_UP: End = End { left: false, ended: Ended::GaveUp(1) };

fn ms(count: u64) -> Time {
    Duration::from_millis(count)
}

fn up(in_lock_step: bool) -> Lives {
    let mut lives = Lives::new(platform(RestartPolicy::Always), Limits { in_lock_step, ..LIMITS });
    for round in 0..2 {
        lives.on(Event::Tick, ms(round));
        for node in 0..6 {
            if lives.is_awaited(node) {
                lives.on(Event::Registered { node, generation: 1 }, ms(round));
                lives.on(Event::Ready { node }, ms(round));
            }
        }
    }
    lives.on(Event::Tick, ms(1_000));
    lives
}

/// The nodes that are asked to end.
fn asked(decisions: &[Decision]) -> Vec<usize> {
    let nodes = decisions.iter().filter_map(|decision| match decision {
        Decision::Signal { nodes, kill: false } => Some(nodes.clone()),
        _ => None,
    });
    nodes.flatten().collect()
}

#[test]
fn in_lock_step_md_stops_first_and_its_last_event_is_dealt_with_before_anybody_else_is_asked() {
    let mut lives = up(true);
    assert_eq!(asked(&lives.on(Event::StopAsked, ms(2_000))), [MD]);
    lives.on(Event::Ended { node: MD, end: IN_GOOD_ORDER }, ms(2_010));
    // Longer than others are waited for.
    for now in [2_011, 2_600, 4_000, 7_000] {
        let decisions = lives.on(Event::Tick, ms(now));
        assert_eq!(decisions, [], "at {now} ms");
    }
    assert_eq!(asked(&lives.on(Event::Settled, ms(7_001))), [STRATEGY, HOST]);

    let mut lives = up(false);
    assert_eq!(asked(&lives.on(Event::StopAsked, ms(2_000))), [STRATEGY, HOST]);
}

#[test]
fn an_event_that_never_ends_is_cut_and_that_is_said() {
    let mut lives = up(true);
    lives.on(Event::StopAsked, ms(2_000));
    lives.on(Event::Ended { node: MD, end: IN_GOOD_ORDER }, ms(2_010));
    let decisions = lives.on(Event::Tick, ms(2_010) + LIMITS.stop_timeout);
    assert_eq!(decisions.first(), Some(&Decision::Cut));
    assert_eq!(asked(&decisions), [STRATEGY, HOST]);
}

#[test]
fn a_node_that_gives_up_is_not_started_again_and_the_run_ends() {
    for in_lock_step in [false, true] {
        let mut lives = up(in_lock_step);
        let decisions = lives.on(Event::Ended { node: TD, end: GAVE_UP }, ms(2_000));
        assert!(decisions.contains(&Decision::Release { node: TD, all: true }), "{decisions:?}");
        assert!(decisions.contains(&Decision::Stopping), "{decisions:?}");
        let mut asked_all = asked(&decisions);
        for round in 0..20 {
            let now = ms(2_100 + round * 100);
            for node in std::mem::take(&mut asked_all) {
                asked_all.extend(asked(&lives.on(Event::Ended { node, end: IN_GOOD_ORDER }, now)));
            }
            let decisions = lives.on(Event::Settled, now);
            assert!(!decisions.iter().any(|decision| matches!(decision, Decision::Start { .. })));
            asked_all.extend(asked(&decisions));
        }
        assert_eq!(lives.stopping(), Some(Stopping::Done));
    }
}
