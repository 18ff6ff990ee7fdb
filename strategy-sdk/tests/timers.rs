//! Timers and clocks: the platform's, and the market's in deterministic mode.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::time::Duration;

use strategy_sdk::testing::{Harness, Role, Setup};
use strategy_sdk::*;
use support::*;

const MS: u64 = 1_000_000;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

#[test]
fn timers_fire_by_time_and_then_in_the_order_they_were_set() {
    let (mut harness, _) = started(|context, event| {
        if let Event::Start = event {
            let base = context.now();
            context.set_timer(ms(30), 1);
            context.set_timer(ms(10), 2);
            context.set_timer(base + Nanos(10 * MS), 3);
            context.set_timer(ms(20), 4);
            let gone = context.set_timer(ms(15), 5);
            assert!(context.cancel_timer(gone));
            assert!(!context.cancel_timer(gone));
            context.set_timer(Nanos(5), 6);
        }
    });
    let began = harness.now();
    assert_eq!(harness.deadline(), Some(Nanos(5)), "a time that has passed: at once");
    harness.advance(ms(0));
    assert_eq!(harness.strategy().keys(), [6]);
    assert_eq!(harness.deadline(), Some(began + Nanos(10 * MS)));
    harness.advance(ms(9));
    assert_eq!(harness.strategy().keys(), [6]);
    harness.advance(ms(12));
    assert_eq!(harness.strategy().keys(), [6, 2, 3, 4]);
    harness.advance(ms(100));
    assert_eq!(harness.strategy().keys(), [6, 2, 3, 4, 1]);
    assert_eq!(harness.deadline(), None);
}

#[test]
fn a_timer_that_sets_itself_again_at_once_leaves_the_frames_their_turn() {
    let (mut harness, instrument) = started(|context, event| match event {
        Event::Start => {
            context.set_timer(ms(0), 0);
        }
        Event::Timer(timer) => {
            context.set_timer(ms(0), timer.key + 1);
        }
        _ => {}
    });
    harness.advance(ms(1));
    assert_eq!(harness.strategy().keys(), [0]);
    harness.quote(instrument, "1", "2", 5);
    harness.advance(ms(1));
    assert_eq!(harness.strategy().keys(), [0, 1]);
}

#[test]
fn a_timer_may_cancel_another_that_is_due() {
    let (mut harness, _) = started(|context, event| match event {
        Event::Start => {
            // Ids count up, so that the second one's can be told: the timers' own keys say which is which.
            context.set_timer(ms(1), 1);
            let second = context.set_timer(ms(2), 2);
            context.cancel_timer(second);
            context.set_timer(ms(3), 3);
        }
        Event::Timer(timer) if timer.key == 1 => {
            context.set_timer(ms(0), 4);
        }
        _ => {}
    });
    harness.advance(ms(10));
    assert_eq!(harness.strategy().keys(), [1, 3], "4 was set in this turn: it fires in the next");
    harness.advance(ms(0));
    assert_eq!(harness.strategy().keys(), [1, 3, 4]);
}

fn deterministic(script: Script) -> (Harness<Probe>, InstrumentId) {
    let mut harness = probe(Setup { deterministic: true, ..setup() }, script);
    let instrument = harness.list("A", "0.01", 1);
    harness.start();
    (harness, instrument)
}

fn event_at(harness: &mut Harness<Probe>, instrument: InstrumentId, time: u64) {
    let mut quote = Quote::empty(instrument);
    quote.event_time = Nanos(time);
    harness.send(Role::Quotes, instrument.0, &quote);
}

#[test]
fn in_deterministic_mode_the_clock_is_the_markets() {
    let (mut harness, instrument) = deterministic(|_, _| {});
    assert_eq!(harness.context().now(), Nanos(0), "before the first event");
    harness.advance(ms(50));
    assert_eq!(harness.context().now(), Nanos(0));
    event_at(&mut harness, instrument, 5_000);
    assert_eq!(harness.context().now(), Nanos(5_000));
    harness.send(Role::Quotes, instrument.0, &trade_print(instrument, 0, 6_000));
    assert_eq!(harness.context().now(), Nanos(6_000));
    event_at(&mut harness, instrument, 4_000);
    assert_eq!(harness.context().now(), Nanos(6_000), "it never goes back");
    assert_eq!(harness.deadline(), None);
}

#[test]
fn the_cause_is_timed_by_the_platforms_clock_also_then() {
    let (mut harness, instrument) = deterministic(|context, event| {
        if let Event::Quote(_) = event {
            context.buy(InstrumentId(1), Price(1), Quantity(1)).unwrap();
        }
    });
    event_at(&mut harness, instrument, 5_000);
    let (order, now) = (harness.orders()[0], harness.now());
    assert_eq!(order.cause.received, now);
    assert_eq!(harness.context().working_order(order.order_id).unwrap().sent, Nanos(5_000));
}

#[test]
fn event_timers_fire_each_at_its_own_time_before_the_event_that_passes_them() {
    let (mut harness, instrument) = deterministic(|context, event| match event {
        Event::Start => {
            context.set_timer(Duration::from_nanos(100), 1);
        }
        Event::Timer(timer) => {
            context.set_timer(Duration::from_nanos(100), timer.key + 1);
        }
        _ => {}
    });
    let start = 1_700_000_000_000_000_000;
    // What was set before the first event counts from it: no burst of all the years since 1970.
    event_at(&mut harness, instrument, start);
    assert!(harness.strategy().keys().is_empty());
    harness.advance(ms(1_000));
    assert!(harness.strategy().keys().is_empty(), "the platform's clock does not count");
    event_at(&mut harness, instrument, start + 350);
    event_at(&mut harness, instrument, start + 400);
    let heard: Vec<(u64, bool)> = harness
        .strategy()
        .heard
        .iter()
        .skip(2)
        .map(|(now, event)| (now - start, matches!(event, Event::Timer(_))))
        .collect();
    let expected =
        [(0, false), (100, true), (200, true), (300, true), (350, false), (400, true), (400, false)];
    assert_eq!(heard, expected);
}

#[test]
fn an_event_timer_without_delay_does_not_hold_the_event_back_for_ever() {
    let (mut harness, instrument) = deterministic(|context, event| match event {
        Event::Quote(_) => {
            context.set_timer(Duration::ZERO, 0);
        }
        Event::Timer(timer) if timer.key < 5 => {
            context.set_timer(Nanos(0), timer.key + 1);
        }
        _ => {}
    });
    event_at(&mut harness, instrument, 1_000);
    event_at(&mut harness, instrument, 1_003);
    assert_eq!(harness.strategy().keys(), [0, 1, 2], "one a nanosecond");
}

#[test]
fn the_same_events_give_the_same_orders_whatever_the_platforms_clock_does() {
    let run = |pace: u64| {
        let (mut harness, instrument) = deterministic(|context, event| match event {
            Event::Start => {
                context.set_timer(Duration::from_nanos(70), 0);
            }
            Event::Timer(_) => {
                let price = Price(context.now().0 as i64);
                context.buy(InstrumentId(1), price, Quantity(1)).unwrap();
                context.set_timer(Duration::from_nanos(70), 0);
            }
            _ => {}
        });
        for step in 0..50 {
            event_at(&mut harness, instrument, 1_000 + step * 31);
            harness.advance(ms(pace * step));
        }
        harness.orders().iter().map(|order| (order.order_id, order.price)).collect::<Vec<_>>()
    };
    let first = run(0);
    assert!(first.len() > 20);
    assert_eq!(first, run(7));
}

#[test]
fn with_a_recorded_clock_the_time_is_that_of_the_frame_and_timers_fire_before_the_frame_that_passes_them() {
    let script: Script = |context, event| {
        if let Event::Start = event {
            context.set_timer(ms(7), 1);
        }
    };
    let mut harness = probe(Setup { deterministic: true, recorded_clock: true, ..setup() }, script);
    let instrument = harness.list("A", "0.01", 1);
    harness.start();
    // A frame is received a little later than it is published.
    let published = |harness: &Harness<Probe>| Nanos(harness.now().0 - 100);
    assert_eq!(harness.context().now(), published(&harness), "the time of the last frame");
    harness.advance(ms(6));
    event_at(&mut harness, instrument, 5_000);
    assert_eq!(harness.context().now(), published(&harness), "not the market's own time");
    assert!(harness.strategy().keys().is_empty());
    harness.advance(ms(6));
    assert!(harness.strategy().keys().is_empty(), "no frame, no time");
    event_at(&mut harness, instrument, 6_000);
    assert_eq!(harness.strategy().keys(), [1]);
    assert_eq!(harness.deadline(), None);
}

fn dues(harness: &Harness<Probe>) -> Vec<(u64, u64)> {
    let events = harness.strategy().events();
    let timer = |event: Event| match event {
        Event::Timer(timer) => Some((timer.due.0, timer.missed)),
        _ => None,
    };
    events.into_iter().filter_map(timer).collect()
}

#[test]
fn a_recurring_timer_keeps_to_its_times_and_passes_over_those_that_are_long_past() {
    let (mut harness, _) = started(|context, event| {
        if let Event::Start = event {
            context.every(ms(10), 1);
        }
    });
    let began = harness.now().0;
    let at = |milliseconds: u64| began + milliseconds * MS;
    harness.advance(ms(13));
    assert_eq!(dues(&harness), [(at(10), 0)]);
    assert_eq!(harness.deadline(), Some(Nanos(at(20))), "not 10 ms after it fired");
    harness.advance(ms(42));
    assert_eq!(dues(&harness), [(at(10), 0), (at(50), 3)], "at 55 ms");
    assert_eq!(harness.deadline(), Some(Nanos(at(60))));
}

#[test]
fn a_recurring_timer_may_be_cancelled_in_its_own_call() {
    let (mut harness, _) = started(|context, event| match event {
        Event::Start => {
            context.every(ms(1), 1);
        }
        Event::Timer(timer) if timer.due >= Nanos(1_003 * MS) => {
            assert!(context.cancel_timer(timer.id));
            assert!(!context.cancel_timer(timer.id));
        }
        _ => {}
    });
    for _ in 0..10 {
        harness.advance(ms(1));
    }
    assert_eq!(harness.strategy().keys(), [1, 1, 1]);
    assert_eq!(harness.deadline(), None);
}

#[test]
fn by_the_markets_time_a_recurring_timer_comes_each_time_also_in_a_pause() {
    let (mut harness, instrument) = deterministic(|context, event| {
        if let Event::Start = event {
            context.every(Duration::from_nanos(100), 1);
            context.every_from(Nanos(0), Duration::from_nanos(1_000), 2);
        }
    });
    event_at(&mut harness, instrument, 5_250);
    event_at(&mut harness, instrument, 8_600);
    let heard: Vec<(u64, u64)> = harness
        .strategy()
        .heard
        .iter()
        .filter_map(|(now, event)| match event {
            Event::Timer(timer) => Some((*now, timer.key)),
            _ => None,
        })
        .collect();
    // An interval of less than a microsecond is one of a microsecond.
    let expected = [(6_000, 2), (6_250, 1), (7_000, 2), (7_250, 1), (8_000, 2), (8_250, 1)];
    assert_eq!(heard, expected);
}
