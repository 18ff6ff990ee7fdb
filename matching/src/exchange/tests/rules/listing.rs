//! Which instruments can be listed.

use wire::{InstrumentId, MAX_INSTRUMENTS, Price, Quantity};

use super::super::desk::*;
use super::super::venue::Venue;
use crate::exchange::{InstrumentRules, Phase};

fn an_instrument_begins_in_continuous_trading<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    assert_eq!(desk.venue.phase(STOCK), Some(Phase::Continuous));
    assert_eq!(desk.enter(buy(1, 100, 1)), ["1 accepted", "1 rests: 1 @ 100"]);
    assert!(!desk.venue.list(stock()), "it is listed already");
    assert_eq!(desk.book(wire::Side::Buy), ["1: 1 of 1 @ 100"]);
}

fn its_number_is_one_that_an_instrument_can_have<V: Venue>() {
    let listed = |id| V::open().list(InstrumentRules::new(InstrumentId(id), Price(1)));
    assert!(listed(1) && listed(MAX_INSTRUMENTS - 1));
    assert!(!listed(0) && !listed(MAX_INSTRUMENTS) && !listed(u32::MAX));
}

fn a_table_of_ticks_makes_sense<V: Venue>() {
    let listed = |ticks: &[(i64, i64)]| {
        let ticks = ticks.iter().map(|(from, tick)| (Price(*from), Price(*tick))).collect();
        V::open().list(InstrumentRules { ticks, ..stock() })
    };
    assert!(listed(&[(0, 1)]) && listed(&[(-10, 5), (0, 1), (100, 50)]));
    assert!(!listed(&[]), "a tick is needed");
    assert!(!listed(&[(0, 0)]) && !listed(&[(0, -1)]), "ticks are positive");
    assert!(!listed(&[(0, 1), (0, 2)]) && !listed(&[(10, 1), (0, 2)]), "prices ascend");
    assert!(!listed(&[(0, 1), (101, 50)]), "a tick holds from a multiple of it on");
}

fn lot_and_limits_make_sense<V: Venue>() {
    let listed = |rules: InstrumentRules| V::open().list(rules);
    assert!(!listed(InstrumentRules { lot: Quantity(0), ..stock() }));
    assert!(!listed(InstrumentRules { lot: Quantity(-1), ..stock() }));
    assert!(!listed(InstrumentRules { max_quantity: Quantity(-1), ..stock() }));
    let limits = |low, high| InstrumentRules { price_low: Price(low), price_high: Price(high), ..stock() };
    assert!(listed(limits(5, 5)) && listed(limits(i64::MIN, 5)) && listed(limits(5, i64::MIN)));
    assert!(!listed(limits(6, 5)));
}

on_both!(
    an_instrument_begins_in_continuous_trading,
    its_number_is_one_that_an_instrument_can_have,
    a_table_of_ticks_makes_sense,
    lot_and_limits_make_sense,
);
