//! Each test is named after what must hold in a hazardous situation.

use wire::NodeChange::{Died, Joined, Left, Paused};

use super::*;
use crate::lives::life::STEADY;
use crate::lives::{Decision, End, Ended, Event, Failure, Found, Lives, Next, Standing, Stopping, Time};

const KILLED: End = End { left: false, ended: Ended::Signal(9) };
const IN_GOOD_ORDER: End = End { left: true, ended: Ended::Exit(0) };

fn ms(count: u64) -> Time {
    Duration::from_millis(count)
}

/// A platform that is up at 1 s.
fn up(policy: RestartPolicy) -> Lives {
    let mut lives = Lives::new(platform(policy), LIMITS);
    for round in 0..2 {
        lives.on(Event::Tick, ms(round));
        for node in 0..6 {
            if lives.is_awaited(node) {
                lives.on(Event::Registered { node, generation: 1 }, ms(round));
                lives.on(Event::Ready { node }, ms(round));
            }
        }
    }
    assert_eq!(lives.on(Event::Tick, ms(1_000)), [Decision::Up]);
    lives
}

fn announced(decisions: &[Decision]) -> Vec<(usize, wire::NodeChange, u64)> {
    let one = |decision: &Decision| match decision {
        Decision::Announce { node, change, generation, .. } => Some((*node, *change, *generation)),
        _ => None,
    };
    decisions.iter().filter_map(one).collect()
}

fn next(decisions: &[Decision], of: usize) -> Next {
    let mark = decisions.iter().find_map(|decision| match decision {
        Decision::Mark { node, next, .. } if *node == of => Some(*next),
        _ => None,
    });
    mark.expect("it ended")
}

#[test]
fn a_start_that_the_system_refuses_is_a_death_of_that_node_once_the_platform_is_up() {
    let mut lives = up(RestartPolicy::OnFailure);
    lives.on(Event::Ended { node: TD, end: KILLED }, ms(2_000));
    let started = lives.on(Event::Tick, ms(2_200));
    assert_eq!(started, [Decision::Start { node: TD, closes: false }]);
    let refused = lives.on(Event::NotStarted { node: TD }, ms(2_200));
    assert!(matches!(next(&refused, TD), Next::Again { restart: 2, .. }), "{refused:?}");
    assert!(!refused.iter().any(|decision| matches!(decision, Decision::Fail(_) | Decision::Stopping)));
    assert_eq!(lives.stopping(), None);
}

#[test]
fn a_start_that_the_system_refuses_fails_a_platform_that_is_not_up() {
    let mut lives = Lives::new(platform(RestartPolicy::OnFailure), LIMITS);
    lives.on(Event::Tick, ms(0));
    let refused = lives.on(Event::NotStarted { node: TD }, ms(0));
    assert!(refused.contains(&Decision::Fail(Failure::NotStarted { node: TD })), "{refused:?}");
    assert!(lives.stopping().is_some());
}

#[test]
fn a_start_comes_to_its_end_however_often_a_node_may_be_started_again() {
    // How long a life lasts, and whether it gets ready.
    for (life, is_ready) in [(1, false), (700, true), (9_000, false), (15_000, false)] {
        for policy in [RestartPolicy::OnFailure, RestartPolicy::Always] {
            let mut rules = platform(policy);
            rules.iter_mut().for_each(|rules| rules.max = u32::MAX);
            let (mut lives, mut now) = (Lives::new(rules, LIMITS), 0);
            let mut failed = None;
            while failed.is_none() && now < 600_000 {
                let decisions = lives.on(Event::Tick, ms(now));
                let starts = decisions.contains(&Decision::Start { node: TD, closes: false });
                if starts {
                    lives.on(Event::Registered { node: TD, generation: now + 1 }, ms(now));
                    if is_ready {
                        lives.on(Event::Ready { node: TD }, ms(now));
                    }
                    now += life;
                    let end = End { left: true, ended: Ended::Exit(1) };
                    let ended = lives.on(Event::Ended { node: TD, end }, ms(now));
                    failed = ended.iter().find_map(|decision| match decision {
                        Decision::Fail(Failure::Ended { node, .. }) => Some(*node),
                        _ => None,
                    });
                }
                // The others get ready.
                for node in
                    [MD, MATCHING].into_iter().filter(|node| lives.is_awaited(*node)).collect::<Vec<_>>()
                {
                    lives.on(Event::Registered { node, generation: 1 }, ms(now));
                    lives.on(Event::Ready { node }, ms(now));
                }
                now += 50;
            }
            assert_eq!(failed, Some(TD), "lives of {life} ms: no end after {now} ms");
            assert!(now < 60_000, "lives of {life} ms: it is tried for {now} ms");
        }
    }
}

#[test]
fn a_node_that_leaves_in_good_order_before_those_who_need_it_start_fails_the_start() {
    let mut lives = Lives::new(platform(RestartPolicy::OnFailure), LIMITS);
    lives.on(Event::Tick, ms(0));
    lives.on(Event::Registered { node: TD, generation: 1 }, ms(1));
    let decisions = lives.on(Event::Ended { node: TD, end: IN_GOOD_ORDER }, ms(2));
    let failure = Failure::Ended { node: TD, end: IN_GOOD_ORDER };
    assert!(decisions.contains(&Decision::Fail(failure)), "{decisions:?}");
}

#[test]
fn closing_the_market_is_tried_until_the_system_starts_it() {
    let mut lives = up(RestartPolicy::Never);
    let ended = lives.on(Event::Ended { node: MATCHING, end: KILLED }, ms(2_000));
    assert_eq!(next(&ended, MATCHING), Next::Closes);
    let mut now = ms(2_000);
    for _ in 0..20 {
        assert_eq!(lives.on(Event::Tick, now), [Decision::Start { node: MATCHING, closes: true }]);
        let refused = lives.on(Event::NotStarted { node: MATCHING }, now);
        let Next::Again { pause, .. } = next(&refused, MATCHING) else { panic!("{refused:?}") };
        assert!(pause >= ms(200));
        now += pause;
    }
}

#[test]
fn an_error_is_a_failure_also_where_only_the_seat_tells_of_it() {
    // Not our child: the code is from the seat.
    let erred = End { left: false, ended: Ended::Exit(1) };
    let mut lives = up(RestartPolicy::OnFailure);
    let ended = lives.on(Event::Ended { node: TD, end: erred }, ms(2_000));
    assert!(matches!(next(&ended, TD), Next::Again { restart: 1, .. }), "{ended:?}");
    let mut lives = up(RestartPolicy::OnFailure);
    let ended = lives.on(Event::Ended { node: TD, end: IN_GOOD_ORDER }, ms(2_000));
    assert_eq!(next(&ended, TD), Next::Stays);
}

#[test]
fn a_death_is_announced_before_the_next_process_takes_the_seat() {
    let mut lives = up(RestartPolicy::OnFailure);
    let ended = lives.on(Event::Ended { node: STRATEGY, end: KILLED }, ms(2_000));
    assert_eq!(announced(&ended), [(STRATEGY, Died, 1)]);
    // A process started by hand, before the next start is due.
    let came = lives.on(Event::Registered { node: STRATEGY, generation: 2 }, ms(2_001));
    assert_eq!(announced(&came), [(STRATEGY, Joined, 2)]);
    assert_eq!(lives.on(Event::Tick, ms(3_000)), [], "the seat is taken");
    // Even if the death was not noticed.
    let came = lives.on(Event::Registered { node: STRATEGY, generation: 3 }, ms(3_001));
    assert_eq!(announced(&came), [(STRATEGY, Died, 2), (STRATEGY, Joined, 3)]);
}

#[test]
fn restarts_are_counted_anew_after_a_steady_life() {
    let mut lives = up(RestartPolicy::OnFailure);
    let mut now = ms(2_000);
    let mut pauses = Vec::new();
    for life in [ms(1), ms(1), STEADY, ms(1), ms(1), ms(1)] {
        let ended = lives.on(Event::Ended { node: TD, end: KILLED }, now);
        match next(&ended, TD) {
            Next::Again { pause, restart } => pauses.push((restart, pause.as_millis())),
            other => panic!("{other:?} after {pauses:?}"),
        }
        now += Duration::from_secs(5);
        lives.on(Event::Tick, now);
        lives.on(Event::Registered { node: TD, generation: 2 }, now);
        now += life;
    }
    assert_eq!(pauses, [(1, 200), (2, 400), (3, 800), (1, 200), (2, 400), (3, 800)]);
    let ended = lives.on(Event::Ended { node: TD, end: KILLED }, now);
    assert_eq!(next(&ended, TD), Next::Stays, "a fourth in a row");
}

#[test]
fn with_a_host_end_all_who_live_in_it() {
    let mut lives = up(RestartPolicy::OnFailure);
    let ended = lives.on(Event::Ended { node: HOST, end: KILLED }, ms(2_000));
    assert_eq!(announced(&ended), [(MEMBER, Died, 1), (HOST, Died, 1)]);
    let again = lives.on(Event::Tick, ms(2_200));
    assert_eq!(again, [Decision::Ask { node: MEMBER }, Decision::Start { node: HOST, closes: false }]);
    lives.on(Event::NotStarted { node: HOST }, ms(2_200));
    assert!(!lives.lives(MEMBER), "nobody is there to start it");
    assert!(lives.next_start().is_some(), "it is tried again");
}

#[test]
fn a_strategy_that_does_not_get_ready_fails_the_start_and_md_with_a_long_day_does_not() {
    let mut lives = Lives::new(platform(RestartPolicy::OnFailure), LIMITS);
    lives.on(Event::Tick, ms(0));
    for node in [TD, MATCHING] {
        lives.on(Event::Registered { node, generation: 1 }, ms(0));
        lives.on(Event::Ready { node }, ms(0));
    }
    lives.on(Event::Registered { node: MD, generation: 1 }, ms(0));
    lives.on(Event::Tick, ms(1));
    for node in [STRATEGY, HOST, MEMBER] {
        lives.on(Event::Registered { node, generation: 1 }, ms(9_000));
    }
    assert_eq!(lives.on(Event::Tick, ms(18_999)), []);
    let late = lives.on(Event::Tick, ms(19_001));
    assert_eq!(late[0], Decision::Fail(Failure::NotReady { node: STRATEGY }));
}

#[test]
fn deaths_that_nobody_announced_are_announced_by_whoever_takes_over() {
    let standing = |generation, said, found| Standing { generation, said, found, held: None, asked: false };
    let standings = [
        standing(1, Some((Joined, 1)), Found::Ready),
        // Killed while there was no master.
        standing(1, Some((Joined, 1)), Found::Ended(KILLED)),
        // Left, and that was announced; master died before it acted on it.
        standing(1, Some((Left, 1)), Found::Ended(IN_GOOD_ORDER)),
        // Master died between assigning the seat and announcing it.
        standing(2, Some((Died, 1)), Found::Joined),
        standing(1, None, Found::Ready),
        // Overwritten in the journal long ago: announced once too often rather than not at all.
        standing(1, None, Found::Ended(KILLED)),
    ];
    let rules = platform(RestartPolicy::OnFailure);
    let (lives, decisions) = Lives::taken_over(rules, LIMITS, &standings, true, ms(0));
    assert_eq!(announced(&decisions), [(STRATEGY, Joined, 2), (TD, Died, 1), (MEMBER, Died, 1)]);
    assert!(matches!(next(&decisions, TD), Next::Again { .. }));
    // It was stopped by hand and stays down: the market is closed after it.
    assert_eq!(next(&decisions, MATCHING), Next::Closes);
    assert!(lives.is_up() && lives.lives(MD) && !lives.lives(TD));
}

#[test]
fn a_strategy_that_died_without_master_and_stays_down_holds_nobody_up() {
    let mut standings =
        [Standing { generation: 1, said: Some((Joined, 1)), found: Found::Ready, held: None, asked: false };
            6];
    standings[STRATEGY].found = Found::Ended(KILLED);
    let (_, decisions) = Lives::taken_over(platform(RestartPolicy::Never), LIMITS, &standings, true, ms(0));
    assert_eq!(announced(&decisions), [(STRATEGY, Died, 1)]);
    assert!(decisions.contains(&Decision::Release { node: STRATEGY, all: true }), "{decisions:?}");
}

/// The one node of this kind, on a platform that is up at 1 s.
fn alone(kind: NodeKind, policy: RestartPolicy) -> Lives {
    let mut lives = Lives::new(vec![rules(kind, policy)], LIMITS);
    lives.on(Event::Tick, ms(0));
    lives.on(Event::Registered { node: 0, generation: 1 }, ms(1));
    lives.on(Event::Ready { node: 0 }, ms(2));
    assert_eq!(lives.on(Event::Tick, ms(1_000)), [Decision::Up]);
    lives
}

/// Kinds that are started by themselves.
const KINDS: [NodeKind; 9] = [
    NodeKind::Md,
    NodeKind::Td,
    NodeKind::Matching,
    NodeKind::Ledger,
    NodeKind::Strategy,
    NodeKind::Gateway,
    NodeKind::Observer,
    NodeKind::Service,
    NodeKind::Recorder,
];

#[test]
fn a_node_of_any_kind_holds_nobody_up_once_no_successor_is_awaited() {
    let all = Decision::Release { node: 0, all: true };
    let kept = Decision::Release { node: 0, all: false };
    for kind in KINDS {
        for policy in [RestartPolicy::Never, RestartPolicy::OnFailure, RestartPolicy::Always] {
            for end in [IN_GOOD_ORDER, KILLED] {
                let mut lives = alone(kind, policy);
                let mut now = ms(2_000);
                let mut generation = 1;
                // Until it stays down, if it ever does.
                loop {
                    let ended = lives.on(Event::Ended { node: 0, end }, now);
                    let stays = next(&ended, 0) == Next::Stays;
                    // A recorder's file says what follows its failure.
                    let is_gate = kind == NodeKind::Recorder && end == KILLED;
                    let releases = if stays && !is_gate { &all } else { &kept };
                    assert!(ended.contains(releases), "{kind} {policy:?} {end:?}: {ended:?}");
                    if stays {
                        break;
                    }
                    let at = lives.next_start().expect("a successor is awaited");
                    assert!(matches!(lives.on(Event::Tick, at)[..], [Decision::Start { node: 0, .. }]));
                    generation += 1;
                    now = at + ms(1);
                    lives.on(Event::Registered { node: 0, generation }, now);
                    lives.on(Event::Ready { node: 0 }, now);
                }
            }
        }
    }
}

#[test]
fn a_strategy_that_is_stopped_while_its_successor_is_awaited_holds_nobody_up() {
    let mut lives = up(RestartPolicy::OnFailure);
    let died = lives.on(Event::Ended { node: STRATEGY, end: KILLED }, ms(2_000));
    assert!(died.contains(&Decision::Release { node: STRATEGY, all: false }), "{died:?}");
    let held = lives.on(Event::Hold { node: STRATEGY, keeps: false }, ms(2_001));
    assert_eq!(held, [Decision::Release { node: STRATEGY, all: true }]);
    assert_eq!(lives.on(Event::Tick, ms(9_000)), [], "it is not started, and not released twice");
}

#[test]
fn a_service_that_stays_down_holds_nobody_up() {
    for kind in [NodeKind::Observer, NodeKind::Service] {
        for (policy, end) in [(RestartPolicy::OnFailure, IN_GOOD_ORDER), (RestartPolicy::Never, KILLED)] {
            let mut lives = Lives::new(vec![rules(kind, policy)], LIMITS);
            lives.on(Event::Tick, ms(0));
            lives.on(Event::Registered { node: 0, generation: 1 }, ms(1));
            lives.on(Event::Ready { node: 0 }, ms(2));
            assert_eq!(lives.on(Event::Tick, ms(3)), [Decision::Up]);
            let ended = lives.on(Event::Ended { node: 0, end }, ms(4));
            assert_eq!(next(&ended, 0), Next::Stays);
            assert!(ended.contains(&Decision::Release { node: 0, all: true }), "{kind} {end:?}: {ended:?}");
        }
    }
}

/// The decisions that start, ask or kill processes.
fn moved(decisions: &[Decision]) -> Vec<Decision> {
    let moves = |decision: &&Decision| {
        matches!(decision, Decision::Start { .. } | Decision::Signal { .. } | Decision::Stopped)
    };
    decisions.iter().filter(moves).cloned().collect()
}

fn signal(nodes: &[usize], kill: bool) -> Decision {
    Decision::Signal { nodes: nodes.to_vec(), kill }
}

#[test]
fn groups_stop_one_after_the_other_and_who_does_not_is_killed() {
    let mut lives = up(RestartPolicy::OnFailure);
    let asked = lives.on(Event::StopAsked, ms(2_000));
    assert_eq!(asked, [Decision::Stopping, signal(&[STRATEGY, HOST], false)]);
    lives.on(Event::Ended { node: STRATEGY, end: IN_GOOD_ORDER }, ms(2_001));
    assert_eq!(lives.on(Event::Tick, ms(6_999)), []);
    assert_eq!(lives.on(Event::Tick, ms(7_000)), [signal(&[HOST], true)]);
    assert_eq!(lives.on(Event::Tick, ms(20_000)), [], "killed once");
    let ended = lives.on(Event::Ended { node: HOST, end: KILLED }, ms(20_001));
    assert_eq!(announced(&ended), [(MEMBER, Died, 1), (HOST, Died, 1)]);
    assert!(matches!(lives.stopping(), Some(Stopping::Settling { .. })));
    assert_eq!(lives.on(Event::Settled, ms(20_002)), [signal(&[MD], false)]);
    lives.on(Event::Ended { node: MD, end: IN_GOOD_ORDER }, ms(20_003));
    assert_eq!(lives.on(Event::Settled, ms(20_004)), [signal(&[MATCHING], false)]);
    lives.on(Event::Ended { node: MATCHING, end: IN_GOOD_ORDER }, ms(20_005));
    assert_eq!(lives.on(Event::Settled, ms(20_006)), [signal(&[TD], false)]);
    let ended = lives.on(Event::Ended { node: TD, end: IN_GOOD_ORDER }, ms(20_007));
    assert_eq!(ended.last(), Some(&Decision::Stopped));
}

/// The senders and md have ended at 2 s, and what they wrote is being handled.
fn settling() -> Lives {
    let mut lives = up(RestartPolicy::OnFailure);
    lives.on(Event::StopAsked, ms(2_000));
    for node in [STRATEGY, HOST] {
        lives.on(Event::Ended { node, end: IN_GOOD_ORDER }, ms(2_000));
    }
    lives.on(Event::Settled, ms(2_000));
    lives.on(Event::Ended { node: MD, end: IN_GOOD_ORDER }, ms(2_000));
    lives
}

#[test]
fn while_messages_are_handled_they_are_waited_for_but_not_for_ever() {
    let mut lives = settling();
    assert_eq!(lives.on(Event::Tick, ms(6_999)), []);
    assert_eq!(lives.on(Event::Tick, ms(7_000)), [signal(&[MATCHING], false)], "nothing moves");
    let mut lives = settling();
    let mut now = ms(2_000);
    while lives.on(Event::Moves, now).is_empty() {
        now += ms(1_000);
        assert!(now < ms(100_000), "something moves for ever");
    }
    assert_eq!(now, ms(62_000));
}

#[test]
fn a_node_that_hangs_is_killed_and_started_again_before_the_way_to_the_market_is_asked() {
    let hangs = || Event::Hang { nodes: vec![TD] };
    let mut lives = settling();
    assert_eq!(lives.on(hangs(), ms(4_000)), [], "others may still handle something");
    assert_eq!(lives.on(hangs(), ms(4_600)), [signal(&[TD], true)]);
    assert_eq!(lives.on(hangs(), ms(4_700)), [], "killed once");
    lives.on(Event::Ended { node: TD, end: KILLED }, ms(4_701));
    assert_eq!(moved(&lives.on(Event::Tick, ms(9_600))), [Decision::Start { node: TD, closes: false }]);
    lives.on(Event::Registered { node: TD, generation: 2 }, ms(9_700));
    assert_eq!(lives.on(Event::Settled, ms(9_701)), [], "it is not ready yet");
    lives.on(Event::Ready { node: TD }, ms(9_702));
    assert_eq!(lives.on(Event::Settled, ms(9_703)), [signal(&[MATCHING], false)]);

    // Without a successor its death would be worse.
    let mut lives = settling();
    lives.rules[TD].policy = RestartPolicy::Never;
    assert_eq!(lives.on(hangs(), ms(4_600)), []);
    assert_eq!(lives.on(Event::Tick, ms(7_000)), [signal(&[MATCHING], false)]);
}

#[test]
fn who_owes_something_when_the_stop_comes_is_started_again_before_anybody_after_the_senders_is_asked() {
    for node in [TD, MATCHING] {
        let mut lives = up(RestartPolicy::OnFailure);
        lives.on(Event::Ended { node, end: KILLED }, ms(2_000));
        lives.on(Event::StopAsked, ms(2_001));
        for ended in [STRATEGY, HOST] {
            lives.on(Event::Ended { node: ended, end: IN_GOOD_ORDER }, ms(2_002));
        }
        assert_eq!(moved(&lives.on(Event::Settled, ms(2_003))), [signal(&[MD], false)]);
        lives.on(Event::Ended { node: MD, end: IN_GOOD_ORDER }, ms(2_004));
        assert_eq!(lives.on(Event::Settled, ms(2_005)), [], "it is not there yet");
        assert_eq!(lives.on(Event::Tick, ms(2_201)), [Decision::Start { node, closes: false }]);
        assert!(lives.may_register(node) && !lives.may_register(STRATEGY));
        lives.on(Event::Registered { node, generation: 2 }, ms(2_202));
        assert_eq!(lives.on(Event::Settled, ms(9_000)), [], "it does not poll yet");
        lives.on(Event::Ready { node }, ms(9_001));
        assert_eq!(moved(&lives.on(Event::Settled, ms(9_002))), [signal(&[MATCHING], false)]);
    }
}

#[test]
fn who_dies_before_it_has_ended_in_good_order_is_started_again_and_asked_again() {
    let mut lives = settling();
    assert_eq!(lives.on(Event::Settled, ms(3_000)), [signal(&[MATCHING], false)]);
    let mut now = ms(3_000);
    for generation in 2..5 {
        let died = lives.on(Event::Ended { node: MATCHING, end: KILLED }, now);
        assert!(matches!(next(&died, MATCHING), Next::Again { pause, .. } if pause <= ms(200)), "{died:?}");
        assert_eq!(lives.on(Event::Settled, now), []);
        now += ms(300);
        assert_eq!(lives.on(Event::Tick, now), [Decision::Start { node: MATCHING, closes: false }]);
        lives.on(Event::Registered { node: MATCHING, generation }, now);
        lives.on(Event::Ready { node: MATCHING }, now);
        assert_eq!(lives.on(Event::Settled, now), [signal(&[MATCHING], false)]);
    }
    let died = lives.on(Event::Ended { node: MATCHING, end: KILLED }, now);
    assert_eq!(next(&died, MATCHING), Next::Stays, "a few times at most");
    assert!(died.contains(&Decision::Release { node: MATCHING, all: true }), "nobody waits for it: {died:?}");
    assert_eq!(lives.on(Event::Settled, now), [signal(&[TD], false)]);
}

#[test]
fn a_successor_that_does_not_get_ready_while_all_wait_for_it_is_killed() {
    let mut lives = settling();
    lives.on(Event::Ended { node: TD, end: KILLED }, ms(3_000));
    lives.on(Event::Tick, ms(3_200));
    assert_eq!(lives.on(Event::Tick, ms(13_200)), []);
    assert_eq!(lives.on(Event::Tick, ms(13_201)), [signal(&[TD], true)]);
}

#[test]
fn a_market_that_is_not_started_again_to_trade_is_closed_also_during_a_stop() {
    let mut lives = up(RestartPolicy::Never);
    lives.on(Event::StopAsked, ms(2_000));
    let died = lives.on(Event::Ended { node: MATCHING, end: KILLED }, ms(2_001));
    assert_eq!(next(&died, MATCHING), Next::Closes);
    assert_eq!(lives.on(Event::Tick, ms(2_002)), [Decision::Start { node: MATCHING, closes: true }]);
}

#[test]
fn a_sender_or_md_that_dies_during_the_stop_or_before_has_no_successor_then() {
    for node in [STRATEGY, HOST, MD] {
        let mut lives = up(RestartPolicy::Always);
        lives.on(Event::Ended { node, end: KILLED }, ms(2_000));
        lives.on(Event::StopAsked, ms(2_001));
        assert_eq!(moved(&lives.on(Event::Tick, ms(3_000))), []);
        assert_eq!(lives.next_start(), None);
    }
}

/// The death is announced at once, and that no process follows when that is so: at once, at the next death, when the platform
/// stops, by the next master.
#[test]
fn a_dead_gateway_is_announced_as_left_once_it_is_not_started_again() {
    let with_gateway = |policy| {
        let mut rules = platform(policy);
        rules[STRATEGY].kind = NodeKind::Gateway;
        let mut lives = up(policy);
        lives.rules = rules;
        lives
    };
    let gateway = STRATEGY;
    let mut lives = with_gateway(RestartPolicy::Never);
    let ended = lives.on(Event::Ended { node: gateway, end: KILLED }, ms(2_000));
    assert_eq!(announced(&ended), [(gateway, Died, 1), (gateway, Left, 1)]);
    assert_eq!(announced(&lives.on(Event::StopAsked, ms(2_001))), [], "once");

    let mut lives = with_gateway(RestartPolicy::OnFailure);
    let ended = lives.on(Event::Ended { node: gateway, end: KILLED }, ms(2_000));
    assert_eq!(announced(&ended), [(gateway, Died, 1)], "it is started again");
    let stopped = lives.on(Event::StopAsked, ms(2_001));
    assert_eq!(announced(&stopped), [(gateway, Left, 1)]);

    let mut lives = with_gateway(RestartPolicy::OnFailure);
    lives.on(Event::Ended { node: gateway, end: KILLED }, ms(2_000));
    lives.on(Event::Tick, ms(2_500));
    assert_eq!(
        announced(&lives.on(Event::Registered { node: gateway, generation: 2 }, ms(2_501))),
        [(gateway, Joined, 2)]
    );
    lives.on(Event::Ready { node: gateway }, ms(2_502));
    let stopped = lives.on(Event::StopAsked, ms(2_503));
    assert_eq!(announced(&stopped), [], "it lives, and cancels by itself");
    let killed = lives.on(Event::Ended { node: gateway, end: KILLED }, ms(2_504));
    assert_eq!(announced(&killed), [(gateway, Died, 2), (gateway, Left, 2)]);

    let mut lives = with_gateway(RestartPolicy::OnFailure);
    let left = lives.on(Event::Ended { node: gateway, end: IN_GOOD_ORDER }, ms(2_000));
    assert_eq!(announced(&left), [(gateway, Left, 1)]);
    assert_eq!(announced(&lives.on(Event::StopAsked, ms(2_001))), []);

    // A strategy's death is enough.
    let mut lives = up(RestartPolicy::Never);
    let ended = lives.on(Event::Ended { node: STRATEGY, end: KILLED }, ms(2_000));
    assert_eq!(announced(&ended), [(STRATEGY, Died, 1)]);

    // Its master died between the two.
    for (said, expected) in [(Died, vec![(gateway, Left, 1)]), (Left, vec![])] {
        let mut rules = platform(RestartPolicy::Never);
        rules[gateway].kind = NodeKind::Gateway;
        let standings: Vec<Standing> = (0..rules.len())
            .map(|node| Standing {
                generation: 1,
                said: Some((if node == gateway { said } else { Joined }, 1)),
                found: if node == gateway { Found::Ended(KILLED) } else { Found::Ready },
                held: None,
                asked: false,
            })
            .collect();
        let (_, decisions) = Lives::taken_over(rules, LIMITS, &standings, true, ms(0));
        assert_eq!(announced(&decisions), expected, "{said:?}");
    }
}

#[test]
fn who_a_person_has_stopped_stays_so_whatever_its_rules_say_until_a_person_says_otherwise() {
    for (keeps, change) in [(false, Died), (true, Paused)] {
        let mut lives = up(RestartPolicy::Always);
        let asked = lives.on(Event::Hold { node: STRATEGY, keeps }, ms(2_000));
        assert_eq!(asked, [Decision::Signal { nodes: vec![STRATEGY], kill: false }]);
        // It does not go by itself, and is killed once.
        let late = ms(2_000) + LIMITS.stop_timeout;
        assert_eq!(lives.on(Event::Tick, late), [Decision::Signal { nodes: vec![STRATEGY], kill: true }]);
        assert_eq!(lives.on(Event::Tick, late + ms(1)), []);
        let ended = lives.on(Event::Ended { node: STRATEGY, end: KILLED }, late + ms(2));
        assert_eq!(announced(&ended), [(STRATEGY, change, 1)]);
        assert_eq!(next(&ended, STRATEGY), Next::Stays);
        assert_eq!(lives.next_start(), None);
        assert_eq!(lives.on(Event::Tick, late + ms(60_000)), []);
        lives.on(Event::LetGo { node: STRATEGY }, late + ms(60_001));
        let started = lives.on(Event::Tick, late + ms(60_002));
        assert_eq!(started, [Decision::Start { node: STRATEGY, closes: false }]);
    }
}

#[test]
fn one_in_a_host_is_asked_to_leave_and_its_host_is_not_killed_for_it() {
    let mut lives = up(RestartPolicy::Always);
    let asked = lives.on(Event::Hold { node: MEMBER, keeps: false }, ms(2_000));
    assert_eq!(asked, [Decision::Dismiss { node: MEMBER }]);
    assert_eq!(lives.on(Event::Tick, ms(3_000) + LIMITS.stop_timeout), []);
    let ended = lives.on(Event::Ended { node: MEMBER, end: IN_GOOD_ORDER }, ms(60_000));
    assert_eq!((announced(&ended), next(&ended, MEMBER)), (vec![(MEMBER, Left, 1)], Next::Stays));
    assert!(lives.lives(HOST));
}

#[test]
fn a_strategy_that_a_person_stops_is_asked_once_whoever_asks_next() {
    let asks = |decisions: &[Decision]| {
        let asks = |decision: &&Decision| matches!(decision, Decision::Signal { nodes, kill: false } if nodes.contains(&STRATEGY));
        decisions.iter().filter(asks).count()
    };
    let mut lives = up(RestartPolicy::OnFailure);
    assert_eq!(asks(&lives.on(Event::Hold { node: STRATEGY, keeps: false }, ms(2_000))), 1);
    assert_eq!(
        asks(&lives.on(Event::Hold { node: STRATEGY, keeps: true }, ms(2_001))),
        0,
        "by the person, again"
    );
    assert_eq!(asks(&lives.on(Event::StopAsked, ms(2_002))), 0, "by the end of the platform");
    let killed = lives.on(Event::Tick, ms(2_002) + LIMITS.stop_timeout);
    let is_killed = |decision: &Decision| matches!(decision, Decision::Signal { nodes, kill: true } if nodes.contains(&STRATEGY));
    assert!(killed.iter().any(is_killed), "the stop waits for it as for the others: {killed:?}");
    // The last master has asked it.
    let mut standings =
        [Standing { generation: 1, said: Some((Joined, 1)), found: Found::Ready, held: None, asked: false };
            6];
    (standings[STRATEGY].held, standings[STRATEGY].asked) = (Some(true), true);
    let (mut lives, _) = Lives::taken_over(platform(RestartPolicy::Never), LIMITS, &standings, true, ms(0));
    assert_eq!(asks(&lives.on(Event::Tick, ms(1))), 0, "by the next master");
    assert_eq!(lives.on(Event::Tick, ms(0) + LIMITS.stop_timeout), [signal(&[STRATEGY], true)]);
}

#[test]
fn what_a_person_wanted_under_the_last_master_holds_under_the_next() {
    let mut standings =
        [Standing { generation: 1, said: Some((Joined, 1)), found: Found::Ready, held: None, asked: false };
            6];
    // One was asked to stop and lives, one has ended meanwhile.
    standings[STRATEGY].held = Some(true);
    (standings[MEMBER].found, standings[MEMBER].held) = (Found::Ended(IN_GOOD_ORDER), Some(false));
    let rules = platform(RestartPolicy::Always);
    let (mut lives, decisions) = Lives::taken_over(rules, LIMITS, &standings, true, ms(0));
    assert_eq!(announced(&decisions), [(MEMBER, Left, 1)]);
    assert_eq!(next(&decisions, MEMBER), Next::Stays);
    assert_eq!(lives.on(Event::Tick, ms(1)), [Decision::Signal { nodes: vec![STRATEGY], kill: false }]);
    let ended = lives.on(Event::Ended { node: STRATEGY, end: IN_GOOD_ORDER }, ms(2));
    assert_eq!(announced(&ended), [(STRATEGY, Paused, 1)]);
    assert_eq!(lives.on(Event::Tick, ms(60_000)), []);
}
