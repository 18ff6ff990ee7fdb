//! An order as the drop copy tells its life.

use wire::{FeeRule, NewOrder, Price, Side, StrategyId};

use super::books::Key;
use super::charges::Traded;

#[derive(Debug)]
pub(super) struct Order {
    pub(super) request: NewOrder,
    pub(super) account: Key,
    pub(super) rules: Vec<FeeRule>,
    pub(super) traded: Traded,
    pub(super) trades: [u64; 4],
    /// The lowest and the highest price of its own that it has or may get.
    pub(super) prices: (i64, i64),
    pub(super) price: Price,
    pub(super) total: i64,
    /// The largest total that it has or may get by a replace on its way.
    pub(super) ceiling: i64,
    pub(super) filled: i64,
    pub(super) replaces: u32,
    pub(super) has_ended: bool,
}

impl Order {
    /// How much of it may yet trade.
    pub(super) fn open(&self) -> i64 {
        if self.has_ended { 0 } else { self.ceiling.saturating_sub(self.filled).max(0) }
    }

    /// How much more a replace with this total lets trade.
    pub(super) fn added_by(&self, total: i64) -> i64 {
        self.ceiling.max(total).saturating_sub(self.filled).max(0) - self.open()
    }

    pub(super) fn strategy(&self) -> StrategyId {
        self.request.order_id.strategy()
    }

    pub(super) fn side(&self) -> usize {
        usize::from(self.request.side == Side::Sell)
    }

    /// A replace was answered. Once none is on its way, what was confirmed is all that it has.
    pub(super) fn replace_answered(&mut self) {
        self.replaces = self.replaces.saturating_sub(1);
        if self.replaces == 0 {
            self.ceiling = self.total;
            if self.request.order_type.has_price() {
                self.prices = (self.price.0, self.price.0);
            }
        }
    }

    pub(super) fn may_get(&mut self, price: Price) {
        self.prices = (self.prices.0.min(price.0), self.prices.1.max(price.0));
    }
}
