//! Random instruments and markets.

use proptest::prelude::*;
use wire::{InstrumentId, Nanos, Price, Quantity};

use super::super::model::ticks::{is_on_tick, round_down, round_up};
use crate::exchange::{
    DynamicBand, IcebergRefresh, InstrumentRules, MarketRemainder, MarketRules, Owner, Permission, Phase,
    SelfTrade, TieBreak, Width,
};

/// The price so many multiples of the tick above.
pub(super) fn above(rules: &InstrumentRules, base: Price, ticks: u8) -> Price {
    let mut price = round_up(&rules.ticks, i128::from(base.0));
    for _ in 0..ticks {
        price = round_up(&rules.ticks, price + 1);
    }
    match i64::try_from(price) {
        Ok(price) => Price(price),
        Err(_) => at_most(rules, Price(i64::MAX)),
    }
}

/// The highest price on the tick that is not above.
pub(super) fn at_most(rules: &InstrumentRules, price: Price) -> Price {
    match i64::try_from(round_down(&rules.ticks, i128::from(price.0))) {
        Ok(price) if price != i64::MIN => Price(price),
        _ => Price(i64::try_from(round_up(&rules.ticks, i128::from(i64::MIN + 1))).unwrap()),
    }
}

/// An instrument, and the lowest of its usual prices.
pub(super) fn instrument(id: InstrumentId) -> impl Strategy<Value = (InstrumentRules, Price)> {
    let base = prop_oneof![
        6 => Just(100),
        1 => Just(-6),
        1 => Just(-1_000_000),
        1 => Just(1_000_000_000_000),
        1 => Just(i64::MAX - 30),
        1 => Just(i64::MIN + 3),
    ];
    let lot = prop_oneof![4 => Just(1), 1 => Just(10)];
    let most = prop_oneof![5 => Just(0), 1 => Just(150), 1 => Just(20)];
    let spots = (0..12_u8, 0..10_i64, 0..3_u8, 9..12_u8, prop::bool::weighted(0.2));
    (base, ticks(), lot, most, spots, band(), market()).prop_map(
        move |(base, ticks, lot, most, (reference, off, low, high, has_limits), band, market)| {
            let base = Price(base);
            let mut rules =
                InstrumentRules { ticks: ticks(base), market, ..InstrumentRules::new(id, Price(1)) };
            rules.lot = Quantity(lot);
            rules.max_quantity = Quantity(most * lot);
            rules.dynamic_band = band;
            // Mostly a multiple of the tick; anything will do.
            if off < 7 {
                rules.reference_price =
                    Price(above(&rules, base, reference).0.saturating_add((off - 4).max(0)));
            }
            if has_limits {
                (rules.price_low, rules.price_high) = (above(&rules, base, low), above(&rules, base, high));
            }
            (rules, base)
        },
    )
}

type Ticks = fn(Price) -> Vec<(Price, Price)>;

/// Tables of ticks, some of which change among the usual prices.
fn ticks() -> impl Strategy<Value = Ticks> {
    let finer_and_coarser: Ticks =
        |base| table(&[(base.0, 5), (base.0.saturating_add(15), 1), (base.0.saturating_add(19), 4)]);
    let from_far: Ticks = |base| table(&[(i64::MIN + 2, 3), (base.0.saturating_add(10), 2)]);
    prop_oneof![
        4 => Just((|_| vec![(Price(0), Price(1))]) as Ticks),
        2 => Just((|_| vec![(Price(0), Price(5))]) as Ticks),
        1 => Just((|_| vec![(Price(1_000), Price(1_000))]) as Ticks),
        2 => Just(finer_and_coarser),
        1 => Just(from_far),
    ]
}

/// A table whose rows begin at multiples of their ticks, not above the prices given; rows that then coincide are left out.
fn table(rows: &[(i64, i64)]) -> Vec<(Price, Price)> {
    let mut table: Vec<(Price, Price)> = Vec::new();
    for (from, tick) in rows {
        let from = from.checked_sub(from.rem_euclid(*tick)).unwrap_or(0);
        if table.last().is_none_or(|(before, _)| before.0 < from) {
            table.push((Price(from), Price(*tick)));
        }
    }
    assert!(table.iter().all(|(from, _)| is_on_tick(&table, from.0)));
    table
}

fn band() -> impl Strategy<Value = Option<DynamicBand>> {
    let width = prop_oneof![
        3 => (0..12_i64).prop_map(|price| Width::Price(Price(price))),
        2 => (0..800_u32).prop_map(Width::BasisPoints),
        1 => Just(Width::BasisPoints(u32::MAX)),
        1 => Just(Width::Price(Price(i64::MAX))),
    ];
    let auction = prop_oneof![1 => Just(0), 8 => 1..20_u64, 1 => Just(u64::MAX)];
    let band = (width, auction).prop_map(|(width, auction)| DynamicBand { width, auction: Nanos(auction) });
    prop::option::weighted(0.5, band)
}

/// One of the ready sets, or one that is like none of them.
fn market() -> impl Strategy<Value = MarketRules> {
    let ready = prop_oneof![
        Just(MarketRules::plain()),
        Just(MarketRules::shanghai()),
        Just(MarketRules::shenzhen()),
        Just(MarketRules::cme()),
    ];
    let mutations = (
        prop::option::weighted(0.3, prop::collection::vec(tie_break(), 0..4)),
        prop::option::weighted(0.3, prop_oneof![Just(IcebergRefresh::Behind), Just(IcebergRefresh::Keep)]),
        prop::option::weighted(0.5, self_trade()),
        prop::option::weighted(0.3, prop_oneof![Just(Owner::Strategy), Just(Owner::Account)]),
        prop::option::weighted(
            0.3,
            prop_oneof![Just(MarketRemainder::Cancel), Just(MarketRemainder::RestAtLastPrice)],
        ),
        prop::option::weighted(0.3, any::<bool>()),
        prop::option::weighted(0.3, any::<bool>()),
        prop::collection::vec((0..Phase::ALL.len(), permission()), 0..4),
    );
    (ready, mutations).prop_map(
        |(
            mut rules,
            (tie_breaks, iceberg, self_trade, owner, remainder, in_auctions, keeps, permissions),
        )| {
            rules.tie_breaks = tie_breaks.unwrap_or(rules.tie_breaks);
            rules.iceberg = iceberg.unwrap_or(rules.iceberg);
            rules.self_trade = self_trade.unwrap_or(rules.self_trade);
            rules.owner = owner.unwrap_or(rules.owner);
            rules.market_remainder = remainder.unwrap_or(rules.market_remainder);
            rules.market_in_auctions = in_auctions.unwrap_or(rules.market_in_auctions);
            rules.replace_keeps_place = keeps.unwrap_or(rules.replace_keeps_place);
            for (phase, permission) in permissions {
                rules.permissions[phase] = permission;
            }
            rules
        },
    )
}

fn tie_break() -> impl Strategy<Value = TieBreak> {
    prop_oneof![
        Just(TieBreak::LeastImbalance),
        Just(TieBreak::Pressure),
        Just(TieBreak::NearestReference),
        Just(TieBreak::Middle),
    ]
}

pub(super) fn self_trade() -> impl Strategy<Value = SelfTrade> {
    prop_oneof![
        Just(SelfTrade::Allow),
        Just(SelfTrade::CancelNewest),
        Just(SelfTrade::CancelOldest),
        Just(SelfTrade::CancelBoth),
        Just(SelfTrade::Decrement),
    ]
}

fn permission() -> impl Strategy<Value = Permission> {
    prop_oneof![
        3 => Just(Permission::ALL),
        1 => Just(Permission::ENTER),
        1 => Just(Permission::CANCEL),
        1 => Just(Permission::NONE),
    ]
}
