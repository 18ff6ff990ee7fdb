//! Market data: what is heard and what is not, listings that come late, losses and garbage.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use node::Counter;
use strategy_sdk::testing::{Harness, Role, Setup};
use strategy_sdk::*;
use support::*;
use wire::Message;

fn interested(interest: Interest, symbols: &[&str]) -> Harness<Probe> {
    let mut harness = listener(Setup { interest, ..setup() });
    for symbol in symbols {
        harness.list(symbol, "0.01", 1);
    }
    harness.start();
    harness
}

fn symbols(list: &[&str]) -> Interest {
    Interest::Symbols(list.iter().map(|symbol| (*symbol).to_owned()).collect())
}

/// Ids of the instruments that it hears, as told by its calls.
fn told(harness: &Harness<Probe>) -> Vec<u32> {
    let id = |event: Event| match event {
        Event::Instrument(id) => Some(id.0),
        _ => None,
    };
    harness.strategy().events().into_iter().filter_map(id).collect()
}

fn quotes_heard(harness: &Harness<Probe>) -> Vec<u32> {
    let id = |event: Event| match event {
        Event::Quote(quote) => Some(quote.instrument.0),
        _ => None,
    };
    harness.strategy().events().into_iter().filter_map(id).collect()
}

#[test]
fn it_hears_what_its_interest_says_and_nothing_else() {
    for (interest, heard) in [
        (Interest::All, vec![1, 2, 3]),
        (symbols(&["C", "A", "Z"]), vec![1, 3]),
        (symbols(&[]), vec![]),
        (Interest::RoundRobin { index: 0 }, vec![1]),
        (Interest::RoundRobin { index: 4 }, vec![2]),
    ] {
        let mut harness = interested(interest.clone(), &["A", "B", "C"]);
        for id in [1, 2, 3, 1, 2, 3] {
            harness.quote(InstrumentId(id), "1", "2", 5);
        }
        assert_eq!(told(&harness), heard, "{interest:?}");
        assert_eq!(quotes_heard(&harness), [heard.clone(), heard.clone()].concat(), "{interest:?}");
        assert_eq!(harness.counter(Counter::Quotes), 2 * heard.len() as u64);
        let topics = if interest == Interest::All { None } else { Some(heard.clone()) };
        assert_eq!(harness.take_topics(), Some(topics), "{interest:?}");
        assert_eq!(harness.take_topics(), None, "asked for once");
        // What it does not hear, it may still trade.
        let listed: Vec<u32> = harness.context().instruments().iter().map(|listed| listed.id.0).collect();
        assert_eq!(listed, [1, 2, 3]);
    }
}

#[test]
fn a_symbol_that_is_listed_late_is_heard_from_then_on() {
    let mut harness = interested(symbols(&["B"]), &["A"]);
    assert_eq!(harness.take_topics(), Some(Some(vec![])));
    assert_eq!(harness.context().instruments().by_symbol("B"), None);
    let id = harness.list("B", "0.01", 100);
    assert_eq!(harness.take_topics(), Some(Some(vec![id.0])));
    assert_eq!(harness.context().instruments().by_symbol("B").map(|found| found.lot), Some(Quantity(100)));
    harness.quote(id, "1", "2", 5);
    assert_eq!((told(&harness), quotes_heard(&harness)), (vec![2], vec![2]));
}

#[test]
fn round_robin_stays_with_its_instrument_when_more_are_listed() {
    let mut harness = interested(Interest::RoundRobin { index: 1 }, &["A", "B"]);
    harness.list("C", "0.01", 1);
    assert_eq!(told(&harness), [2]);
    assert_eq!(harness.take_topics(), Some(Some(vec![2])));
}

#[test]
fn topics_are_not_chosen_before_the_list_is_whole() {
    let mut harness = listener(Setup { interest: Interest::RoundRobin { index: 5 }, ..setup() });
    harness.list("A", "0.01", 1);
    assert_eq!(harness.take_topics(), None);
    assert!(!harness.accepts(Role::Quotes), "quotes wait for the list");
    harness.list("B", "0.01", 1);
    harness.start();
    assert_eq!(harness.take_topics(), Some(Some(vec![2])));
}

#[test]
fn md_says_itself_when_the_list_is_whole() {
    let mut harness = listener(Setup { interest: Interest::RoundRobin { index: 5 }, ..setup() });
    harness.list("A", "0.01", 1);
    harness.list("B", "0.01", 1);
    harness.send_bytes(Role::Instruments, 0, wire::EndOfStream::ID, &[0; 48]);
    assert_eq!(harness.take_topics(), Some(Some(vec![2])));
    harness.turn();
    assert_eq!(told(&harness), [2]);
}

#[test]
fn a_quote_that_overtakes_its_listing_waits_for_it() {
    let mut harness = interested(Interest::All, &["A"]);
    harness.quote(InstrumentId(3), "1", "2", 5);
    assert!(!harness.accepts(Role::Quotes), "those behind it must not overtake it");
    assert_eq!(harness.deadline(), Some(Nanos(0)), "it does not sleep on it");
    harness.turn();
    harness.list("B", "0.01", 1);
    harness.turn();
    assert!(quotes_heard(&harness).is_empty());
    harness.list("C", "0.01", 1);
    assert_eq!(quotes_heard(&harness), [3]);
    assert!(harness.accepts(Role::Quotes));
}

#[test]
fn a_quote_that_is_never_listed_is_given_up_after_a_whole_round() {
    let mut harness = interested(Interest::All, &["A"]);
    harness.quote(InstrumentId(3), "1", "2", 5);
    harness.turn();
    assert_eq!(harness.counter(Counter::Anomalies), 0);
    harness.turn();
    assert_eq!(harness.counter(Counter::Anomalies), 1);
    assert!(harness.accepts(Role::Quotes));
    harness.quote(InstrumentId(1), "1", "2", 5);
    assert_eq!(quotes_heard(&harness), [1]);
}

#[test]
fn trades_are_heard_and_counted_and_the_last_quote_stays() {
    let mut harness = interested(Interest::All, &["A"]);
    harness.quote(InstrumentId(1), "1", "2", 5);
    let trade = trade_print(InstrumentId(1), 0, 0);
    harness.send(Role::Quotes, 1, &trade);
    assert_eq!(harness.strategy().events().last(), Some(&Event::Trade(trade)));
    assert_eq!(harness.counter(Counter::Trades), 1);
    assert_eq!(harness.context().last_quote(InstrumentId(1)).unwrap().asks[0].price, Price(2 * Price::ONE));
    assert_eq!(harness.context().last_quote(InstrumentId(2)), None);
}

#[test]
fn a_gap_is_told_with_its_size() {
    let mut harness = interested(Interest::All, &["A"]);
    let gap = Gap { from: 64, resumed_at: 704 };
    harness.gap(Role::Quotes, gap);
    assert_eq!(harness.strategy().events().last(), Some(&Event::Gap(gap)));
}

#[test]
fn frames_that_are_no_message_are_counted_and_passed_over() {
    let mut harness = interested(Interest::All, &["A"]);
    let mut malformed = 0;
    for role in [Role::Instruments, Role::Quotes, Role::Reports] {
        for (id, length) in [(999, 8), (Quote::ID, 5), (OrderUpdate::ID, 64), (Fill::ID, 0)] {
            harness.send_bytes(role, 1, id, &vec![0; length]);
            malformed += 1;
            assert_eq!(harness.counter(Counter::Malformed), malformed, "{role:?}, message {id}");
        }
    }
    harness.quote(InstrumentId(1), "1", "2", 5);
    assert_eq!(quotes_heard(&harness), [1]);
}

#[test]
fn the_end_of_the_stream_and_an_impossible_listing_disturb_nobody() {
    let mut harness = interested(Interest::All, &["A"]);
    let before = harness.strategy().events();
    harness.send_bytes(Role::Quotes, 0, wire::EndOfStream::ID, &[0; 48]);
    harness.send_bytes(Role::Instruments, 0, wire::EndOfStream::ID, &[0; 48]);
    let mut impossible = *harness.context().instruments().get(InstrumentId(1)).unwrap();
    for id in [0, wire::MAX_INSTRUMENTS, u32::MAX] {
        impossible.id = InstrumentId(id);
        harness.send(Role::Instruments, 0, &impossible);
    }
    assert_eq!(harness.counter(Counter::Anomalies), 3);
    assert_eq!(harness.counter(Counter::Malformed), 0);
    assert_eq!(harness.strategy().events(), before);
}
