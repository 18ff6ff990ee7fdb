//! Prices as numbers of ticks.
//!
//! Inside, a price is a whole number of steps, the greatest common divisor of all tick sizes. A division by a step that is
//! not known at compile time takes longer than the rest of a check, so a multiplication by its inverse modulo 2^64 does
//! it: exact for multiples, and out of range for everything else.

use wire::Price;

use super::ListError;

/// The allowed prices of an instrument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    step: i64,
    /// `step` is `odd << shift`.
    shift: u32,
    /// Inverse of `odd` modulo 2^64.
    inverse: u64,
    /// Largest number of steps whose price fits.
    most: u64,
    /// First step of a band and its tick in steps, ascending. Empty: every step is a tick.
    bands: Vec<(i64, i64)>,
}

fn divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Grid {
    /// The grid of a table of ticks: from this price on, this tick.
    pub(crate) fn new(ticks: &[(Price, Price)]) -> Result<Grid, ListError> {
        if ticks.is_empty() || ticks.iter().any(|(from, tick)| tick.0 <= 0 || !from.is_some()) {
            return Err(ListError::Ticks);
        }
        if ticks.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return Err(ListError::Ticks);
        }
        let step = ticks.iter().fold(0, |step, (_, tick)| divisor(tick.0, step));
        let shift = step.trailing_zeros();
        let odd = (step >> shift) as u64;
        // Newton's iteration doubles the number of right bits: 3, 6, 12, 24, 48, 96.
        let inverse = (0..5)
            .fold(odd, |inverse, _| inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse))));
        let most = (i64::MAX >> shift) as u64 / odd;
        let mut bands: Vec<(i64, i64)> = Vec::new();
        if ticks.len() > 1 {
            for (from, tick) in ticks {
                // The first price of a band must be an allowed one of it, or its prices would have no lowest.
                if from.0 % tick.0 != 0 {
                    return Err(ListError::Ticks);
                }
                bands.push((from.0 / step, tick.0 / step));
            }
        }
        Ok(Grid { step, shift, inverse, most, bands })
    }

    /// The number of steps of an allowed price.
    #[inline(always)]
    pub(crate) fn tick(&self, price: Price) -> Option<i64> {
        if price.0 & ((1 << self.shift) - 1) != 0 {
            return None;
        }
        let tick = (price.0 >> self.shift).wrapping_mul(self.inverse as i64);
        let allowed = tick.unsigned_abs() <= self.most && (self.bands.is_empty() || self.is_allowed(tick));
        allowed.then_some(tick)
    }

    /// As [`Grid::tick`], of a price from `low` to `high`, in steps; `None` for all others.
    #[inline(always)]
    pub(crate) fn tick_within(&self, price: Price, low: i64, high: i64) -> Option<i64> {
        let tick = (price.0 >> self.shift).wrapping_mul(self.inverse as i64);
        // The lowest number, which is no price, is out of range like every number that is no multiple.
        let within = tick >= low.max(-(self.most as i64)) && tick <= high.min(self.most as i64);
        let whole = price.0 & ((1 << self.shift) - 1) == 0;
        (whole && within && (self.bands.is_empty() || self.is_allowed(tick))).then_some(tick)
    }

    /// The price of a number of steps that [`Grid::tick`] or the functions below returned.
    #[inline(always)]
    pub(crate) fn price(&self, tick: i64) -> Price {
        Price(tick.wrapping_mul(self.step))
    }

    /// The tick size, in steps, at this price.
    fn size(&self, tick: i64) -> i64 {
        let above = self.bands.partition_point(|(from, _)| *from <= tick);
        self.bands.get(above.saturating_sub(1)).map_or(1, |(_, size)| *size)
    }

    #[cold]
    #[inline(never)]
    fn is_allowed(&self, tick: i64) -> bool {
        tick % self.size(tick) == 0
    }

    /// The allowed price at or above this number of steps; `None` beyond the largest.
    pub(crate) fn up(&self, tick: i64) -> Option<i64> {
        let size = self.size(tick);
        let above = match tick.rem_euclid(size) {
            0 => tick,
            rest => tick.checked_add(size - rest)?,
        };
        // A step over the edge of a band lands on or behind its first price, which is allowed.
        let edge = self.bands.iter().map(|(from, _)| *from).find(|from| *from > tick);
        let found = edge.map_or(above, |edge| above.min(edge));
        (found.unsigned_abs() <= self.most).then_some(found)
    }

    /// The allowed price at or below this number of steps; `None` below the lowest.
    pub(crate) fn down(&self, tick: i64) -> Option<i64> {
        let size = self.size(tick);
        let found = tick.checked_sub(tick.rem_euclid(size))?;
        (found.unsigned_abs() <= self.most).then_some(found)
    }

    /// The number of steps at or below any price.
    pub(crate) fn floor(&self, price: Price) -> i64 {
        price.0.div_euclid(self.step)
    }

    /// The number of steps at or above any price.
    pub(crate) fn ceil(&self, price: Price) -> i64 {
        let floor = self.floor(price);
        if price.0.rem_euclid(self.step) == 0 { floor } else { floor + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_has_a_tick_exactly_when_it_is_a_multiple() {
        for step in [1, 2, 3, 5, 7, 48, 10_000_000, 250_000_000, i64::MAX, i64::MAX - 1] {
            let grid = Grid::new(&[(Price(0), Price(step))]).unwrap();
            assert_eq!(grid.tick_within(Price(i64::MIN), i64::MIN, i64::MAX), None);
            let mut random = 88_172_645_463_325_252_u64;
            for round in 0..20_000_i64 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let near = (round - 10_000).wrapping_mul(step);
                for price in
                    [random as i64, near, near.wrapping_add(1), i64::MAX, i64::MIN + 1, i64::MAX - round]
                {
                    if price == i64::MIN {
                        continue;
                    }
                    let expected = (price % step == 0).then(|| price / step);
                    assert_eq!(grid.tick(Price(price)), expected, "{price} by {step}");
                    assert_eq!(grid.tick_within(Price(price), i64::MIN, i64::MAX), expected);
                    let narrow = expected.filter(|tick| (-5..=7).contains(tick));
                    assert_eq!(grid.tick_within(Price(price), -5, 7), narrow);
                    if let Some(tick) = expected {
                        assert_eq!(grid.price(tick), Price(price));
                    }
                }
            }
        }
    }

    #[test]
    fn a_table_of_ticks_is_looked_up_by_price() {
        // 0.01 below 10, 0.05 below 20, then 0.10.
        let cents = |cents: i64| Price(cents * 10_000_000);
        let table = [(cents(0), cents(1)), (cents(1_000), cents(5)), (cents(2_000), cents(10))];
        let grid = Grid::new(&table).unwrap();
        for allowed in [-7, 1, 999, 1_000, 1_005, 1_995, 2_000, 2_010] {
            assert_eq!(grid.tick(cents(allowed)), Some(allowed));
        }
        for refused in [1_001, 1_999, 2_005] {
            assert_eq!(grid.tick(cents(refused)), None);
        }
        assert_eq!((grid.up(1_001), grid.down(1_004)), (Some(1_005), Some(1_000)));
        assert_eq!((grid.up(1_996), grid.down(1_999)), (Some(2_000), Some(1_995)));
        assert_eq!((grid.up(999), grid.down(2_009)), (Some(999), Some(2_000)));
        assert_eq!((grid.floor(Price(10_000_001)), grid.ceil(Price(10_000_001))), (1, 2));
    }

    #[test]
    fn tables_that_make_no_sense_are_refused() {
        let p = |price| Price(price);
        for ticks in
            [vec![], vec![(p(0), p(0))], vec![(p(5), p(1)), (p(5), p(2))], vec![(p(0), p(2)), (p(5), p(3))]]
        {
            assert!(Grid::new(&ticks).is_err(), "{ticks:?}");
        }
    }
}
