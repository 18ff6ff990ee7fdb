//! Random new orders.

use proptest::prelude::*;
use wire::{AccountId, InstrumentId, Nanos, Side, StrategyId};

use super::super::model::Model;
use super::super::venue::Venue;
use super::{Scenario, Spot, instrument_id, instruments, spot};
use crate::exchange::{Kind, Lifetime, Order, SelfTrade};

/// An order before it is known what it meets.
#[derive(Clone, Debug)]
pub(in super::super) struct NewOrder {
    /// Used as it is, or the lowest free number instead.
    number: u64,
    takes_free_number: bool,
    instrument: InstrumentId,
    side: Side,
    kind: KindOf,
    price: Spot,
    trigger: Spot,
    lifetime: Lifetime,
    post_only: bool,
    /// In lots.
    quantity: i64,
    display: i64,
    minimum: i64,
    /// Added to quantity, display, minimum.
    off: [i64; 3],
    account: AccountId,
    strategy: StrategyId,
    self_trade: Option<SelfTrade>,
}

#[derive(Clone, Copy, Debug)]
enum KindOf {
    Limit,
    Market,
    Stop,
    StopLimit,
}

pub(super) fn new_order() -> impl Strategy<Value = NewOrder> {
    let number = (0..24_u64, prop::bool::weighted(0.95));
    let kind = prop_oneof![
        12 => Just(KindOf::Limit),
        3 => Just(KindOf::Market),
        2 => Just(KindOf::Stop),
        2 => Just(KindOf::StopLimit),
    ];
    let conditions = (
        prop::bool::weighted(0.12),
        quantity(),
        prop_oneof![7 => Just(0), 3 => 1..6_i64],
        prop_oneof![12 => Just(0), 1 => 1..20_i64],
        off(),
    );
    let owner = (account(), strategy(), prop::option::weighted(0.3, instruments::self_trade()));
    (number, instrument_id(), side(), kind, spot(), spot(), lifetime(), conditions, owner).prop_map(
        |(number, instrument, side, kind, price, trigger, lifetime, conditions, owner)| {
            let (post_only, quantity, display, minimum, off) = conditions;
            // Most of what would be refused only because it makes no sense is left out.
            let stop = matches!(kind, KindOf::Stop | KindOf::StopLimit);
            let at_once = matches!(lifetime, Lifetime::ImmediateOrCancel | Lifetime::FillOrKill);
            let display =
                if matches!(kind, KindOf::Limit | KindOf::StopLimit) || display == 3 { display } else { 0 };
            let lifetime = if stop && at_once && quantity != 3 { Lifetime::GoodTillCancel } else { lifetime };
            NewOrder {
                number: number.0,
                takes_free_number: number.1,
                instrument,
                side,
                kind,
                price,
                trigger,
                lifetime,
                post_only: post_only && (matches!(kind, KindOf::Limit) || quantity == 5),
                quantity,
                display,
                minimum: if stop && minimum != 3 { 0 } else { minimum },
                off,
                account: owner.0,
                strategy: owner.1,
                self_trade: owner.2,
            }
        },
    )
}

pub(super) fn account() -> impl Strategy<Value = AccountId> {
    (0..3_u32).prop_map(AccountId)
}

pub(super) fn strategy() -> impl Strategy<Value = StrategyId> {
    (0..4_u16).prop_map(StrategyId)
}

pub(super) fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Buy), Just(Side::Sell)]
}

fn quantity() -> impl Strategy<Value = i64> {
    prop_oneof![30 => 1..20_i64, 5 => 20..100_i64, 1 => -1..1_i64]
}

/// Mostly nothing is wrong.
fn off() -> impl Strategy<Value = [i64; 3]> {
    prop_oneof![
        60 => Just([0, 0, 0]),
        1 => Just([1, 0, 0]),
        1 => Just([0, 1, 0]),
        1 => Just([0, 0, 1]),
        1 => Just([0, -1_000, 0]),
        1 => Just([0, 0, -1_000]),
        1 => Just([0, i64::MAX / 2, 0]),
    ]
}

fn lifetime() -> impl Strategy<Value = Lifetime> {
    prop_oneof![
        20 => Just(Lifetime::Day),
        6 => Just(Lifetime::GoodTillCancel),
        // From now on; the time is added when it is known.
        4 => (0..25_u64).prop_map(|later| Lifetime::GoodTillDate(Nanos(later))),
        3 => Just(Lifetime::ImmediateOrCancel),
        3 => Just(Lifetime::FillOrKill),
        2 => Just(Lifetime::AtTheOpen),
        2 => Just(Lifetime::AtTheClose),
    ]
}

impl NewOrder {
    pub(super) fn fit(&self, scenario: &Scenario, model: &Model) -> Order {
        let (rules, base) = scenario.about(self.instrument);
        let is_free = |small: &u64| model.order(scenario.numbers.number(*small)).is_none();
        let free = (0..).find(is_free).unwrap_or(self.number);
        let number = if self.takes_free_number { free } else { self.number };
        let price = self.price.fit(rules, base);
        let trigger = self.trigger.fit(rules, base);
        let lots = |times: i64, off: i64| scenario.quantity(rules, times, off);
        // A small part of a huge quantity would be shown for ever.
        let off_display = if scenario.lots == 1 { self.off[1] } else { self.off[1].min(0) };
        Order {
            id: scenario.numbers.number(number),
            instrument: self.instrument,
            side: self.side,
            kind: match self.kind {
                KindOf::Limit => Kind::Limit(price),
                KindOf::Market => Kind::Market,
                KindOf::Stop => Kind::Stop { trigger },
                KindOf::StopLimit => Kind::StopLimit { trigger, price },
            },
            lifetime: match self.lifetime {
                Lifetime::GoodTillDate(later) => {
                    Lifetime::GoodTillDate(Nanos(model.now().0.saturating_add(later.0)))
                }
                lifetime => lifetime,
            },
            post_only: self.post_only,
            quantity: lots(self.quantity, self.off[0]),
            display: lots(self.display.min(self.quantity.max(0)), off_display),
            minimum: lots(self.minimum.min(self.quantity.max(0)), self.off[2]),
            account: self.account,
            strategy: self.strategy,
            self_trade: self.self_trade,
        }
    }
}
