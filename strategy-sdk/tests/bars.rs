//! Bars by time, count and volume, and the order flow told apart.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::time::Duration;

use strategy_sdk::testing::{Harness, Role, Setup};
use strategy_sdk::*;
use support::*;

const S: u64 = 1_000_000_000;
const ONE: InstrumentId = InstrumentId(1);

fn trade(harness: &mut Harness<Probe>, instrument: InstrumentId, time: u64, price: i64, quantity: i64) {
    let (price, quantity) = (Price(price), Quantity(quantity));
    let print = TradePrint { price, quantity, ..trade_print(instrument, 0, time) };
    harness.send(Role::Quotes, instrument.0, &print);
}

/// Begin, end, open, high, low, close, volume, count.
fn heard(harness: &Harness<Probe>) -> Vec<[i64; 8]> {
    let of = |bar: Bar| {
        let prices = [bar.open.0, bar.high.0, bar.low.0, bar.close.0];
        let times = [bar.begin.0 as i64, bar.end.0 as i64];
        [times[0], times[1], prices[0], prices[1], prices[2], prices[3], bar.volume.0, bar.count as i64]
    };
    let bar = |event: Event| match event {
        Event::Bar(bar) => Some(of(bar)),
        _ => None,
    };
    harness.strategy().events().into_iter().filter_map(bar).collect()
}

fn with(setup: Setup, script: Script) -> Harness<Probe> {
    let mut harness = probe(setup, script);
    harness.list("A", "0.01", 1);
    harness.list("B", "0.01", 1);
    harness.start();
    harness
}

fn seconds(context: &mut Context, event: &Event) {
    if let Event::Start = event {
        context.bars(BarRequest::time(ONE, Duration::from_secs(1))).unwrap();
    }
}

#[test]
fn bars_by_time_end_on_whole_intervals_and_come_before_the_event_behind_them() {
    for deterministic in [false, true] {
        let mut harness = with(Setup { deterministic, ..setup() }, seconds);
        trade(&mut harness, ONE, 10 * S + 300, 100, 5);
        trade(&mut harness, ONE, 10 * S + 400, 120, 1);
        trade(&mut harness, ONE, 10 * S + 500, 90, 2);
        assert!(heard(&harness).is_empty());
        // Another instrument's event moves the market's time too.
        trade(&mut harness, InstrumentId(2), 11 * S, 7, 7);
        let first = [10 * S as i64, 11 * S as i64, 100, 120, 90, 90, 8, 3];
        assert_eq!(heard(&harness), [first], "deterministic: {deterministic}");
        let events = harness.strategy().events();
        assert!(matches!(events[events.len() - 2..], [Event::Bar(_), Event::Trade(_)]));
        // 12 s is empty.
        trade(&mut harness, ONE, 11 * S + 1, 95, 1);
        trade(&mut harness, ONE, 13 * S + 1, 96, 1);
        trade(&mut harness, ONE, 14 * S, 97, 1);
        let expected = [first, bar_of_one(11, 95), bar_of_one(13, 96)];
        assert_eq!(heard(&harness), expected);
    }
}

fn bar_of_one(second: u64, price: i64) -> [i64; 8] {
    let begin = (second * S) as i64;
    [begin, begin + S as i64, price, price, price, price, 1, 1]
}

#[test]
fn an_empty_interval_gives_a_flat_bar_where_it_is_asked_for() {
    let mut harness = with(Setup { deterministic: true, ..setup() }, |context, event| {
        if let Event::Start = event {
            context.bars(BarRequest::time(ONE, Duration::from_secs(1)).with_flat()).unwrap();
            context.every(Duration::from_secs(1), 1);
        }
    });
    trade(&mut harness, ONE, 10 * S, 100, 5);
    trade(&mut harness, ONE, 12 * S + 1, 90, 1);
    trade(&mut harness, ONE, 13 * S, 91, 1);
    let second = S as i64;
    let flat = [11 * second, 12 * second, 100, 100, 100, 100, 0, 0];
    let first = [10 * second, 11 * second, 100, 100, 100, 100, 5, 1];
    assert_eq!(heard(&harness), [first, flat, bar_of_one(12, 90)]);
    // Between the timers, each at its own time; of equal times the bar comes first.
    let clocks: Vec<(u64, bool)> = harness
        .strategy()
        .heard
        .iter()
        .filter(|(_, event)| matches!(event, Event::Bar(_) | Event::Timer(_)))
        .map(|(now, event)| (*now / S, matches!(event, Event::Bar(_))))
        .collect();
    assert_eq!(clocks, [(11, true), (11, false), (12, true), (12, false), (13, true), (13, false)]);
}

#[test]
fn bars_by_count_and_volume_come_behind_the_trade_that_fills_them() {
    let mut harness = with(setup(), |context, event| {
        if let Event::Start = event {
            context.bars(BarRequest::count(ONE, 2)).unwrap();
            context.bars(BarRequest::volume(ONE, Quantity(10))).unwrap();
        }
    });
    trade(&mut harness, ONE, 1, 100, 4);
    trade(&mut harness, ONE, 2, 101, 4);
    trade(&mut harness, ONE, 3, 99, 7);
    let by_count = [1, 2, 100, 101, 100, 101, 8, 2];
    let by_volume = [1, 3, 100, 101, 99, 99, 15, 3];
    assert_eq!(heard(&harness), [by_count, by_volume], "no trade is divided");
    let events = harness.strategy().events();
    assert!(matches!(events[events.len() - 2..], [Event::Trade(_), Event::Bar(_)]));
}

#[test]
fn mids_make_bars_and_a_side_that_is_empty_makes_none() {
    let mut harness = with(setup(), |context, event| {
        if let Event::Start = event {
            context.bars(BarRequest::count(ONE, 2).of_mids()).unwrap();
        }
    });
    harness.quote(ONE, "1", "3", 5);
    harness.quote(ONE, "1", "none", 5);
    harness.quote(ONE, "3", "5", 5);
    let now = harness.now().0 as i64;
    let [two, four] = [2 * Price::ONE, 4 * Price::ONE];
    assert_eq!(heard(&harness), [[now, now, two, four, two, four, 0, 2]]);
}

#[test]
fn a_series_that_is_cancelled_gives_no_more_and_the_others_go_on() {
    let mut harness = with(setup(), |context, event| match event {
        Event::Start => {
            context.bars(BarRequest::count(ONE, 1)).unwrap();
            context.bars(BarRequest::count(ONE, 2)).unwrap();
        }
        Event::Bar(bar) if bar.count == 1 => {
            assert!(context.cancel_bars(bar.series));
            assert!(!context.cancel_bars(bar.series));
        }
        _ => {}
    });
    for time in 1..5 {
        trade(&mut harness, ONE, time, 100, 1);
    }
    let counts: Vec<i64> = heard(&harness).iter().map(|bar| bar[7]).collect();
    assert_eq!(counts, [1, 2, 2]);
}

#[test]
fn bars_that_cannot_be_are_refused_with_the_reason() {
    with(setup(), |context, event| {
        if let Event::Start = event {
            let mut refused = |request| context.bars(request).unwrap_err();
            assert_eq!(refused(BarRequest::time(ONE, Duration::ZERO)), BarsError::Length);
            let long = Duration::from_secs(u64::MAX / 2);
            assert_eq!(refused(BarRequest::time(ONE, long)), BarsError::TooLong);
            assert_eq!(refused(BarRequest::count(ONE, 0)), BarsError::Length);
            assert_eq!(refused(BarRequest::volume(ONE, Quantity(5)).of_mids()), BarsError::MidsByVolume);
            assert_eq!(refused(BarRequest::count(InstrumentId(9), 1)), BarsError::UnknownInstrument);
        }
    });
    with(Setup { data: MarketData::Flow, ..setup() }, |context, event| {
        if let Event::Start = event {
            assert_eq!(context.bars(BarRequest::count(ONE, 1).of_mids()), Err(BarsError::NoMids));
        }
    });
}

/// Notes the events of the flow by the call that they come with, and the bars of two trades.
#[derive(Debug)]
struct Flow {
    heard: Vec<(&'static str, u64)>,
    bought: Vec<i64>,
}

impl Strategy for Flow {
    type Parameters = NoParameters;

    fn create(_parameters: NoParameters) -> Result<Flow, ParameterError> {
        Ok(Flow { heard: Vec::new(), bought: Vec::new() })
    }

    fn start(&mut self, context: &mut Context) {
        context.bars(BarRequest::count(ONE, 2)).unwrap();
    }

    fn bar(&mut self, _context: &mut Context, bar: &Bar) {
        self.bought.extend([bar.bought.0, bar.sold.0, bar.volume.0]);
    }

    fn flow_added(&mut self, _context: &mut Context, event: &BookEvent) {
        self.heard.push(("added", event.order_ref));
    }

    fn flow_changed(&mut self, _context: &mut Context, event: &BookEvent) {
        self.heard.push(("changed", event.order_ref));
    }

    fn flow_cancelled(&mut self, _context: &mut Context, event: &BookEvent) {
        self.heard.push(("cancelled", event.order_ref));
    }

    fn flow_traded(&mut self, _context: &mut Context, event: &BookEvent) {
        self.heard.push(("traded", event.order_ref));
    }

    fn flow_cleared(&mut self, _context: &mut Context, event: &BookEvent) {
        self.heard.push(("cleared", event.order_ref));
    }
}

#[test]
fn events_of_the_flow_come_by_what_they_do_and_make_bars() {
    let setup = Setup { data: MarketData::Flow, ..Harness::<Flow>::setup() };
    let mut harness = Harness::<Flow>::with(NoParameters {}, setup).unwrap();
    harness.list("A", "0.01", 1);
    harness.start();
    let mut send = |action, order_ref, side, flags, quantity| {
        let event = BookEvent {
            instrument: ONE,
            action,
            side,
            flags,
            order_ref,
            price: Price(5),
            quantity: Quantity(quantity),
            event_time: Nanos(order_ref),
            sequence: order_ref,
            reserved: 0,
        };
        harness.send(Role::Flow, ONE.0, &event);
    };
    send(BookAction::Add, 1, Side::Sell, 0, 9);
    send(BookAction::Modify, 2, Side::Sell, 0, 9);
    send(BookAction::Reduce, 3, Side::Sell, 0, 9);
    send(BookAction::Delete, 4, Side::Sell, 0, 9);
    send(BookAction::Execute, 5, Side::Sell, 0, 3);
    send(BookAction::Trade, 6, Side::Buy, 0, 4);
    // Of an auction: one trade, two orders.
    send(BookAction::Execute, 7, Side::Buy, BookEvent::CALL_AUCTION, 5);
    send(BookAction::Execute, 8, Side::Sell, BookEvent::CALL_AUCTION, 5);
    send(BookAction::Execute, 9, Side::Sell, 0, 1);
    // Of a cross: an execution that the cross's own trade has, and that trade, of which no side came in.
    send(BookAction::Execute, 10, Side::Sell, BookEvent::NO_SIDE | BookEvent::UNPRINTED, 50);
    send(BookAction::Trade, 11, Side::Buy, BookEvent::NO_SIDE, 7);
    send(BookAction::Execute, 12, Side::Sell, 0, 2);
    send(BookAction::Clear, 13, Side::Buy, 0, 0);
    let names = [
        "added",
        "changed",
        "cancelled",
        "cancelled",
        "traded",
        "traded",
        "traded",
        "traded",
        "traded",
        "traded",
        "traded",
        "traded",
        "cleared",
    ];
    let expected: Vec<_> = names.into_iter().zip(1..).collect();
    assert_eq!(harness.strategy().heard, expected);
    assert_eq!(harness.strategy().bought, [3, 4, 7, 1, 0, 6, 2, 0, 9]);
}
