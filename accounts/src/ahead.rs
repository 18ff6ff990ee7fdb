//! What a desk will need soon: read ahead, so that the memory of many accounts comes at once and not one after the other.
//!
//! Each step reads what the one before has led to: the order, its account, the account's slot.

use std::hint::black_box;

use wire::{AccountId, InstrumentId, OrderId, StrategyId};

use crate::desk::Desk;

impl Desk {
    /// Steps of [`Desk::ahead_of_order`] and [`Desk::ahead_of_execution`].
    pub const STEPS: u32 = 3;
    /// Up to this many accounts stay near the processor by themselves.
    const FEW: usize = 256;

    /// Whether it is worth while.
    pub fn looks_ahead(&self) -> bool {
        self.accounts.len() > Desk::FEW
    }

    /// A new order will come.
    pub fn ahead_of_order(
        &self,
        strategy: StrategyId,
        account: AccountId,
        instrument: InstrumentId,
        step: u32,
    ) {
        if let Some(place) = self.place_of(account, strategy) {
            self.account_ahead(place, instrument, step);
        }
    }

    /// An execution of an order will come.
    pub fn ahead_of_execution(&self, order: OrderId, step: u32) {
        let Some(order) = self.orders.find(order).and_then(|place| self.orders.get(place)) else { return };
        match step {
            0 => drop(black_box((order.account, order.total, order.next))),
            step => self.account_ahead(order.account as usize, order.instrument(), step - 1),
        }
    }

    fn account_ahead(&self, place: usize, instrument: InstrumentId, step: u32) {
        let Some(account) = self.accounts.get(place) else { return };
        match step {
            0 => account.touch_own(),
            1 => drop(account.touch_slot(instrument)),
            _ => {}
        }
    }
}
