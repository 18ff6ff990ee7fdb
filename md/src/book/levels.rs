//! One side of a book: price levels in a sorted list, with the best at its end, where most changes are.

use wire::{LEVELS, Level, Price, Quantity};

/// The total at one price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceLevel {
    /// The price.
    pub price: Price,
    /// Sum of the quantities.
    pub quantity: Quantity,
    /// Number of orders.
    pub orders: u32,
}

/// One side. `key` reverses prices for asks, so that "greater is better" on both.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    sorted: Vec<PriceLevel>,
    asks: bool,
    /// Best key at which something has changed since the last quote.
    changed: Option<i64>,
}

impl Levels {
    pub(crate) fn new(asks: bool) -> Levels {
        Levels { sorted: Vec::new(), asks, changed: None }
    }

    fn key(&self, price: Price) -> i64 {
        // `!` reverses the order and, unlike a minus sign, cannot overflow.
        if self.asks { !price.0 } else { price.0 }
    }

    fn find(&self, price: Price) -> Result<usize, usize> {
        let key = self.key(price);
        self.sorted.binary_search_by_key(&key, |level| self.key(level.price))
    }

    fn touch(&mut self, price: Price) {
        let key = self.key(price);
        self.changed = Some(self.changed.map_or(key, |best| best.max(key)));
    }

    /// Adds to a level. `false`, without any change, when the sum would overflow.
    pub(crate) fn add(&mut self, price: Price, quantity: i64, orders: u32) -> bool {
        match self.find(price) {
            Ok(index) => {
                let level = &mut self.sorted[index];
                let Some(sum) = level.quantity.0.checked_add(quantity) else { return false };
                level.quantity = Quantity(sum);
                level.orders += orders;
            }
            Err(index) => {
                self.sorted.insert(index, PriceLevel { price, quantity: Quantity(quantity), orders })
            }
        }
        self.touch(price);
        true
    }

    pub(crate) fn take(&mut self, price: Price, quantity: i64, orders: u32) {
        if let Ok(index) = self.find(price) {
            let level = &mut self.sorted[index];
            level.quantity.0 -= quantity;
            level.orders -= orders.min(level.orders);
            if level.orders == 0 {
                self.sorted.remove(index);
            }
            self.touch(price);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.sorted.clear();
        self.changed = Some(i64::MAX);
    }

    pub(crate) fn best(&self) -> Option<&PriceLevel> {
        self.sorted.last()
    }

    pub(crate) fn best_first(&self) -> std::iter::Rev<std::iter::Copied<std::slice::Iter<'_, PriceLevel>>> {
        self.sorted.iter().copied().rev()
    }

    /// Whether the changes since the last call may be visible in `shown`, the levels at that time.
    pub(crate) fn take_changed(&mut self, shown: &[Level; LEVELS]) -> bool {
        let Some(changed) = self.changed.take() else { return false };
        let last = shown[LEVELS - 1];
        !last.is_some() || changed >= self.key(last.price)
    }
}
