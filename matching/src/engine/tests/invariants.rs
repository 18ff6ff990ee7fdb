//! What holds in an engine between any two inputs.

use std::collections::BTreeMap;

use wire::{Quantity, Side, StrategyId};

use crate::engine::Engine;
use crate::engine::slab::Slot;

/// Walks all structures of `engine`.
pub(super) fn check(engine: &Engine) {
    let core = &engine.core;
    let (mut orders, mut levels) = (0, 0);
    let mut own_of: BTreeMap<u16, usize> = BTreeMap::new();
    for book in engine.books.iter().flatten() {
        let mut market = 0;
        for side in [Side::Buy, Side::Sell] {
            let ladder = &book.half(side).ladder;
            let mut own_on_side = 0;
            for index in 0..ladder.len() {
                levels += 1;
                let level_slot = ladder.level_at(index);
                let level = core.arena.levels[level_slot];
                assert!(index == 0 || ladder.rank_at(index - 1) < ladder.rank_at(index), "levels in order");
                assert_eq!(ladder.rank(level.price), ladder.rank_at(index));
                assert!(level.head.is_some(), "no empty level stays");
                let (mut available, mut own, mut last) = (0, 0, Slot::NONE);
                let mut slot = level.head;
                while slot.is_some() {
                    let order = core.arena.orders[slot];
                    assert_eq!((order.side, order.price, order.level), (side, level.price, level_slot));
                    assert_eq!((order.prev, order.instrument()), (last, book.instrument));
                    assert!(order.open > Quantity::ZERO, "an order with nothing left stays: {order:?}");
                    assert!(Quantity::ZERO <= order.taken && order.taken <= order.open, "{order:?}");
                    if order.is_own() {
                        own += 1;
                        assert_eq!(order.taken, Quantity::ZERO);
                        assert!(order.open <= order.quantity);
                        assert_eq!(core.own.find(wire::OrderId(order.id)), Some(slot));
                        *own_of.entry(wire::OrderId(order.id).strategy().0).or_default() += 1;
                    } else {
                        market += 1;
                        assert_eq!(book.market.get(&order.id), Some(&slot));
                    }
                    available += i128::from(order.available().0);
                    orders += 1;
                    (last, slot) = (slot, order.next);
                }
                assert_eq!((level.tail, level.available, level.own), (last, available, own));
                own_on_side += own;
            }
            assert_eq!(ladder.own, own_on_side);
        }
        assert_eq!(book.market.len(), market);
        no_own_order_crosses(engine, book);
    }
    assert_eq!((core.arena.orders.len(), core.arena.levels.len()), (orders, levels), "no record is lost");
    assert_eq!(engine.working_orders(), own_of.values().sum::<usize>());
    for (strategy, own) in own_of {
        let first = core.own.oldest(StrategyId(strategy));
        let next = |slot: Slot| slot.is_some().then_some(slot);
        let chain = std::iter::successors(next(first), |&slot| next(core.arena.orders[slot].peer_next));
        assert_eq!(chain.count(), own);
    }
}

/// Nothing that an own order could have traded with is left on the other side, but in a call auction.
fn no_own_order_crosses(engine: &Engine, book: &crate::engine::book::Book) {
    if book.auction {
        return;
    }
    let view = engine.book(book.instrument).unwrap();
    let bids = view.orders(Side::Buy).filter(|order| order.available > Quantity::ZERO);
    for bid in bids {
        for ask in view.orders(Side::Sell).filter(|order| order.available > Quantity::ZERO) {
            if bid.price < ask.price {
                break;
            }
            let market = |owner| matches!(owner, crate::engine::Owner::Market(_));
            assert!(market(bid.owner) && market(ask.owner), "{bid:?} crosses {ask:?}");
        }
        let offered = view.quoted(Side::Sell).iter().any(|level| level.price <= bid.price);
        assert!(!offered, "{bid:?} crosses the quote");
    }
    for ask in view.orders(Side::Sell) {
        let offered = view.quoted(Side::Buy).iter().any(|level| level.price >= ask.price);
        assert!(!offered, "{ask:?} crosses the quote");
    }
}
