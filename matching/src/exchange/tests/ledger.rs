//! What must hold whatever the rules are, told from the events alone: kept beside the engine, and not by the model.

use std::collections::{BTreeMap, BTreeSet};

use wire::{Aggressor, InstrumentId, Price, Quantity, Side};

use super::venue::Venue;
use crate::exchange::{Equilibrium, Event, OrderState, Phase, Trade};

/// What has become of one order's quantity.
#[derive(Clone, Copy, Debug)]
struct Account {
    state: OrderState,
    /// As entered, or as replaced.
    total: i128,
    traded: i128,
    decremented: i128,
}

/// Watches one exchange.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    working: BTreeMap<u64, Account>,
    /// Numbers in priority: market orders, then level by level.
    sides: BTreeMap<(InstrumentId, Side), Vec<u64>>,
    trades: u64,
    bought: i128,
    sold: i128,
    /// What is left to trade in the auction whose trades come.
    uncrossing: Option<(Equilibrium, i128)>,
}

impl Ledger {
    /// Follows the events of one call.
    pub(super) fn follow(&mut self, events: &[Event]) {
        for event in events {
            if !matches!(event, Event::Traded(_) | Event::Refreshed(..)) {
                self.end_of_auction();
            }
            self.one(event);
        }
        self.end_of_auction();
        assert_eq!(self.bought, self.sold, "what buyers bought, sellers sold");
    }

    fn end_of_auction(&mut self) {
        if let Some((equilibrium, left)) = self.uncrossing.take() {
            // A volume that does not fit is held at the largest number, and trades all the same.
            let held = equilibrium.volume.0 == i64::MAX;
            assert!(left == 0 || held && left < 0, "an auction trades its volume: {equilibrium:?}");
        }
    }

    fn one(&mut self, event: &Event) {
        match event {
            Event::Accepted(state) => self.begin(state),
            Event::Rejected(..) | Event::Refused { .. } | Event::PhaseChanged { .. } => {}
            Event::Rested(state) => {
                self.unchanged(state);
                self.join(state);
            }
            Event::Traded(trade) => self.trade(trade),
            Event::Refreshed(state, behind) => {
                self.unchanged(state);
                assert!(state.shown.0 > 0 && state.shown <= state.open, "{state:?}");
                if *behind {
                    self.leave(state);
                    self.join(state);
                }
            }
            Event::Replaced(state, from) => {
                let account = self.working.get_mut(&state.id).expect("a replaced order works");
                account.total = wide(state.filled) + wide(state.open) + account.decremented;
                assert!(state.open.0 > 0 && wide(state.filled) == account.traded, "{state:?}");
                account.state = *state;
                if from.is_some() {
                    self.leave(state);
                }
            }
            Event::Decremented(state) => self.decrement(state),
            Event::Triggered(state) => self.unchanged(state),
            Event::Cancelled(state, _) => {
                self.unchanged(state);
                self.leave(state);
                self.end(state.id);
            }
            Event::Uncrossed { equilibrium, .. } => {
                assert_eq!(equilibrium.price.is_some(), equilibrium.volume.0 > 0, "{equilibrium:?}");
                self.uncrossing = Some((*equilibrium, wide(equilibrium.volume)));
            }
        }
    }

    fn begin(&mut self, state: &OrderState) {
        assert_eq!((state.filled, state.shown), (Quantity::ZERO, Quantity::ZERO), "{state:?}");
        let account = Account { state: *state, total: wide(state.open), traded: 0, decremented: 0 };
        assert!(
            self.working.insert(state.id, account).is_none(),
            "two working orders of one number: {state:?}"
        );
    }

    fn account(&mut self, state: &OrderState) -> &mut Account {
        self.working.get_mut(&state.id).unwrap_or_else(|| panic!("something after its end: {state:?}"))
    }

    /// All of its quantity is somewhere.
    fn unchanged(&mut self, state: &OrderState) {
        let account = self.account(state);
        let before =
            (account.state.instrument, account.state.side, account.state.account, account.state.strategy);
        assert_eq!((state.instrument, state.side, state.account, state.strategy), before);
        assert_eq!(wide(state.filled), account.traded, "{state:?}");
        assert_eq!(wide(state.open), account.total - account.traded - account.decremented, "{state:?}");
        account.state = *state;
    }

    fn end(&mut self, id: u64) {
        assert!(self.working.remove(&id).is_some(), "{id} ends twice");
    }

    fn decrement(&mut self, state: &OrderState) {
        let account = self.account(state);
        let less = account.state.open.0 - state.open.0;
        assert!(less > 0 && state.open.0 > 0, "{state:?}");
        account.decremented += i128::from(less);
        self.unchanged(state);
    }

    fn trade(&mut self, trade: &Trade) {
        self.trades += 1;
        assert_eq!(trade.id, self.trades, "trades are numbered without a gap");
        assert!(trade.quantity.0 > 0 && trade.buy.id != trade.sell.id, "{trade:?}");
        assert_eq!((trade.buy.side, trade.sell.side), (Side::Buy, Side::Sell));
        assert_eq!(trade.buy.instrument, trade.sell.instrument);
        assert!(!trade.buy.price.is_some() || trade.price <= trade.buy.price, "{trade:?}");
        assert!(!trade.sell.price.is_some() || trade.price >= trade.sell.price, "{trade:?}");
        self.bought += wide(trade.quantity);
        self.sold += wide(trade.quantity);
        let resting: &[&OrderState] = match trade.aggressor {
            Aggressor::Buy => &[&trade.sell],
            Aggressor::Sell => &[&trade.buy],
            Aggressor::None => &[&trade.buy, &trade.sell],
        };
        for state in resting {
            let first = self.sides[&(state.instrument, state.side)][0];
            assert_eq!(state.id, first, "priority: {trade:?}");
        }
        match (&mut self.uncrossing, trade.aggressor) {
            (Some((equilibrium, left)), Aggressor::None) => {
                assert_eq!(trade.price, equilibrium.price, "one price in an auction");
                *left -= wide(trade.quantity);
            }
            (None, Aggressor::Buy) => assert_eq!(trade.price, trade.sell.price),
            (None, Aggressor::Sell) => assert_eq!(trade.price, trade.buy.price),
            _ => panic!("an auction's trades follow its uncross: {trade:?}"),
        }
        for state in [trade.buy, trade.sell] {
            self.account(&state).traded += wide(trade.quantity);
            self.unchanged(&state);
            if state.open.0 == 0 {
                self.leave(&state);
                self.end(state.id);
            }
        }
    }

    fn join(&mut self, state: &OrderState) {
        let side = self.sides.entry((state.instrument, state.side)).or_default();
        assert!(!side.contains(&state.id), "it is in the book already: {state:?}");
        let better = |price: Price| match (price.is_some(), state.price.is_some(), state.side) {
            (false, ..) => true,
            (true, false, _) => false,
            (true, true, Side::Buy) => price >= state.price,
            (true, true, Side::Sell) => price <= state.price,
        };
        let place = side.iter().position(|id| !better(self.working[id].state.price)).unwrap_or(side.len());
        side.insert(place, state.id);
    }

    fn leave(&mut self, state: &OrderState) {
        if let Some(side) = self.sides.get_mut(&(state.instrument, state.side)) {
            side.retain(|id| *id != state.id);
        }
    }

    /// What stands in the books is what the events say, and in continuous trading no book is crossed.
    pub(super) fn check<V: Venue>(&self, venue: &V, instrument: InstrumentId) {
        let mut best = Vec::new();
        for side in [Side::Buy, Side::Sell] {
            let orders = venue.orders(instrument, side).unwrap();
            let numbers: Vec<u64> = orders.iter().map(|order| order.id).collect();
            assert_eq!(numbers, self.sides.get(&(instrument, side)).cloned().unwrap_or_default(), "{side:?}");
            for order in &orders {
                assert_eq!(venue.order(order.id).as_ref(), Some(order));
                assert!(order.shown.0 > 0 && order.shown <= order.open, "{order:?}");
            }
            best.extend(orders.first().map(|order| order.price));
        }
        if venue.phase(instrument) == Some(Phase::Continuous) {
            assert!(best.iter().all(|price| price.is_some()), "no market order rests in continuous trading");
            assert!(best.len() < 2 || best[0] < best[1], "the book is crossed: {best:?}");
        }
    }

    /// The working orders are those that have not ended.
    pub(super) fn check_working<V: Venue>(&self, venue: &V) {
        assert_eq!(venue.working_orders(), self.working.len());
        for (id, account) in &self.working {
            let state = venue.order(*id).unwrap_or_else(|| panic!("{account:?} works"));
            assert_eq!(
                (state.open, state.filled, state.price),
                (account.state.open, account.state.filled, account.state.price)
            );
        }
        let rests: BTreeSet<u64> = self.sides.values().flatten().copied().collect();
        assert!(rests.iter().all(|id| self.working.contains_key(id)));
    }
}

fn wide(quantity: Quantity) -> i128 {
    i128::from(quantity.0)
}
