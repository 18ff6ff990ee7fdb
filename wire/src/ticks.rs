//! Prices in ticks and quantities in lots: integers only, and nothing overflows unseen.
//!
//! Each calculation answers with a number that is exact, or with an [`ArithmeticError`]; `+` and `-` of the units saturate
//! instead. [`Price::NONE`] is no number: to calculate with it is an error, never a price.
//!
//! ```
//! use wire::{ArithmeticError, Price, Quantity, Side};
//!
//! let tick: Price = "0.05".parse()?;
//! let price: Price = "10.02".parse()?;
//! assert_eq!(price.round_down(tick)?.to_string(), "10");
//! assert_eq!(price.round_up(tick)?.to_string(), "10.05");
//! assert_eq!(price.round_nearest(tick)?.to_string(), "10");
//! assert_eq!(price.round_for(Side::Sell, tick)?.to_string(), "10.05", "never better for the other side");
//!
//! let bid = price.round_down(tick)?;
//! let ask = bid.plus_ticks(3, tick)?;
//! assert_eq!(ask.ticks_above(bid, tick)?, 3);
//! assert_eq!(Price::mid(bid, ask)?.to_string(), "10.075");
//!
//! let lot = Quantity(100);
//! assert_eq!(Quantity::of_lots(5, lot)?, Quantity(500));
//! assert_eq!(Quantity(570).lots(lot), Err(ArithmeticError::OffLot));
//! assert_eq!(Quantity(570).whole_lots(lot), 5);
//! assert_eq!(Price(i64::MAX).plus_ticks(1, tick), Err(ArithmeticError::Overflow));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{Instrument, Price, Quantity, Side};

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArithmeticError {
    /// [`Price::NONE`]: the side of a book was empty, for instance.
    #[error("there is no price to calculate with")]
    NoPrice,
    /// The tick is zero or less, which allows every price: ticks of it cannot be counted.
    #[error("the instrument has no tick, so that ticks of it cannot be counted")]
    NoTick,
    /// The prices are not whole ticks apart.
    #[error("the prices are not whole ticks apart: round them first")]
    OffTick,
    /// The quantity is no whole number of lots.
    #[error("the quantity is no whole number of lots: round it first, with `round_down_to_lot`")]
    OffLot,
    /// The result does not fit into 64 bits.
    #[error("the result is beyond what a price or quantity can hold")]
    Overflow,
}

use ArithmeticError::{NoPrice, NoTick, OffLot, OffTick, Overflow};

/// The wide number as a price; the lowest number of all is no price.
fn price(wide: i128) -> Result<Price, ArithmeticError> {
    i64::try_from(wide).ok().map(Price).filter(|price| price.is_some()).ok_or(Overflow)
}

fn quantity(wide: i128) -> Result<Quantity, ArithmeticError> {
    i64::try_from(wide).map(Quantity).map_err(|_| Overflow)
}

impl Price {
    fn wide(self) -> Result<i128, ArithmeticError> {
        if self.is_some() { Ok(i128::from(self.0)) } else { Err(NoPrice) }
    }

    /// This price and another one together.
    ///
    /// # Errors
    /// [`ArithmeticError::NoPrice`], [`ArithmeticError::Overflow`].
    pub fn checked_add(self, other: Price) -> Result<Price, ArithmeticError> {
        price(self.wide()? + other.wide()?)
    }

    /// This price less another one.
    ///
    /// # Errors
    /// As [`Price::checked_add`].
    pub fn checked_sub(self, other: Price) -> Result<Price, ArithmeticError> {
        price(self.wide()? - other.wide()?)
    }

    /// The price so many ticks above; below, if `ticks` is negative. It need not be on a tick.
    ///
    /// # Errors
    /// [`ArithmeticError::NoPrice`], [`ArithmeticError::NoTick`], [`ArithmeticError::Overflow`].
    pub fn plus_ticks(self, ticks: i64, tick: Price) -> Result<Price, ArithmeticError> {
        price(self.wide()? + i128::from(ticks) * step(tick)?)
    }

    /// How many ticks it lies above `other`; negative below.
    ///
    /// # Errors
    /// [`ArithmeticError::OffTick`] when that is no whole number; [`ArithmeticError::NoPrice`], [`ArithmeticError::NoTick`],
    /// [`ArithmeticError::Overflow`].
    pub fn ticks_above(self, other: Price, tick: Price) -> Result<i64, ArithmeticError> {
        let (apart, tick) = (self.wide()? - other.wide()?, step(tick)?);
        if apart % tick != 0 {
            return Err(OffTick);
        }
        i64::try_from(apart / tick).map_err(|_| Overflow)
    }

    /// The highest price on a tick that is not above it. Without a tick every price is on one.
    ///
    /// # Errors
    /// [`ArithmeticError::NoPrice`], [`ArithmeticError::Overflow`].
    pub fn round_down(self, tick: Price) -> Result<Price, ArithmeticError> {
        let (wide, tick) = (self.wide()?, i128::from(tick.0.max(1)));
        price(wide.div_euclid(tick) * tick)
    }

    /// The lowest price on a tick that is not below it. Without a tick every price is on one.
    ///
    /// # Errors
    /// [`ArithmeticError::NoPrice`], [`ArithmeticError::Overflow`].
    pub fn round_up(self, tick: Price) -> Result<Price, ArithmeticError> {
        let (wide, tick) = (self.wide()?, i128::from(tick.0.max(1)));
        price((wide + tick - 1).div_euclid(tick) * tick)
    }

    /// The nearest price on a tick; of two that are equally near, the higher one. Without a tick every price is on one.
    ///
    /// # Errors
    /// [`ArithmeticError::NoPrice`], [`ArithmeticError::Overflow`].
    pub fn round_nearest(self, tick: Price) -> Result<Price, ArithmeticError> {
        let (wide, tick) = (self.wide()?, i128::from(tick.0.max(1)));
        price((wide * 2 + tick).div_euclid(tick * 2) * tick)
    }

    /// Rounded so that an order of this side never pays more, or gets less: a buyer's price down, a seller's up.
    ///
    /// # Errors
    /// [`ArithmeticError::NoPrice`], [`ArithmeticError::Overflow`].
    pub fn round_for(self, side: Side, tick: Price) -> Result<Price, ArithmeticError> {
        match side {
            Side::Buy => self.round_down(tick),
            Side::Sell => self.round_up(tick),
        }
    }

    /// Half-way between two prices, rounded down to 1e-9. It need not be on a tick.
    ///
    /// # Errors
    /// [`ArithmeticError::NoPrice`].
    pub fn mid(bid: Price, ask: Price) -> Result<Price, ArithmeticError> {
        price((bid.wide()? + ask.wide()?).div_euclid(2))
    }
}

fn step(tick: Price) -> Result<i128, ArithmeticError> {
    if tick.0 > 0 { Ok(i128::from(tick.0)) } else { Err(NoTick) }
}

/// A lot of zero or less is one of one.
fn lot_of(lot: Quantity) -> i128 {
    i128::from(lot.0.max(1))
}

impl Quantity {
    /// So many lots. A lot of zero or less is one of one.
    ///
    /// # Errors
    /// [`ArithmeticError::Overflow`].
    pub fn of_lots(lots: i64, lot: Quantity) -> Result<Quantity, ArithmeticError> {
        quantity(i128::from(lots) * lot_of(lot))
    }

    /// How many lots it is.
    ///
    /// # Errors
    /// [`ArithmeticError::OffLot`] when that is no whole number.
    pub fn lots(self, lot: Quantity) -> Result<i64, ArithmeticError> {
        if i128::from(self.0) % lot_of(lot) == 0 { Ok(self.whole_lots(lot)) } else { Err(OffLot) }
    }

    /// How many whole lots are in it, rounded towards zero: of a short position too.
    pub fn whole_lots(self, lot: Quantity) -> i64 {
        self.0 / lot.0.max(1)
    }

    /// As much of it as is whole lots, rounded towards zero.
    pub fn round_down_to_lot(self, lot: Quantity) -> Quantity {
        Quantity(self.0 - self.0 % lot.0.max(1))
    }

    /// This quantity and another one together.
    ///
    /// # Errors
    /// [`ArithmeticError::Overflow`].
    pub fn checked_add(self, other: Quantity) -> Result<Quantity, ArithmeticError> {
        self.0.checked_add(other.0).map(Quantity).ok_or(Overflow)
    }

    /// This quantity less another one.
    ///
    /// # Errors
    /// [`ArithmeticError::Overflow`].
    pub fn checked_sub(self, other: Quantity) -> Result<Quantity, ArithmeticError> {
        self.0.checked_sub(other.0).map(Quantity).ok_or(Overflow)
    }
}

/// By its own tick and lot. Where an exchange has ticks by price, the instrument's is that of its reference price.
impl Instrument {
    /// See [`Price::plus_ticks`].
    ///
    /// # Errors
    /// As there.
    pub fn plus_ticks(&self, price: Price, ticks: i64) -> Result<Price, ArithmeticError> {
        price.plus_ticks(ticks, self.tick)
    }

    /// See [`Price::ticks_above`].
    ///
    /// # Errors
    /// As there.
    pub fn ticks_above(&self, price: Price, other: Price) -> Result<i64, ArithmeticError> {
        price.ticks_above(other, self.tick)
    }

    /// See [`Price::round_for`].
    ///
    /// # Errors
    /// As there.
    pub fn round_for(&self, side: Side, price: Price) -> Result<Price, ArithmeticError> {
        price.round_for(side, self.tick)
    }

    /// See [`Quantity::of_lots`].
    ///
    /// # Errors
    /// As there.
    pub fn of_lots(&self, lots: i64) -> Result<Quantity, ArithmeticError> {
        Quantity::of_lots(lots, self.lot)
    }

    /// See [`Quantity::whole_lots`].
    pub fn whole_lots(&self, quantity: Quantity) -> i64 {
        quantity.whole_lots(self.lot)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rounding_below_zero_goes_by_value_and_not_towards_zero() {
        let tick = Price(5);
        let rounded = |raw| {
            let price = Price(raw);
            [price.round_down(tick), price.round_up(tick), price.round_nearest(tick)].map(|it| it.unwrap().0)
        };
        assert_eq!(rounded(-7), [-10, -5, -5]);
        assert_eq!(rounded(-8), [-10, -5, -10]);
        assert_eq!(rounded(7), [5, 10, 5]);
        assert_eq!(rounded(10), [10, 10, 10]);
        assert_eq!(Price(5).round_nearest(Price(10)), Ok(Price(10)), "half way goes up");
        assert_eq!(Price(-5).round_nearest(Price(10)), Ok(Price(0)));
    }

    #[test]
    fn no_price_and_no_tick_are_errors_and_not_numbers() {
        assert_eq!(Price::NONE.plus_ticks(1, Price(5)), Err(NoPrice));
        assert_eq!(Price::mid(Price(1), Price::NONE), Err(NoPrice));
        assert_eq!(Price(1).plus_ticks(1, Price::ZERO), Err(NoTick));
        assert_eq!(Price(7).round_up(Price::ZERO), Ok(Price(7)));
        assert_eq!(Price(7).ticks_above(Price(1), Price(5)), Err(OffTick));
        assert_eq!(Price(i64::MIN + 1).checked_sub(Price(1)), Err(Overflow), "the lowest number is no price");
    }

    #[test]
    fn lots_of_a_short_position_round_towards_zero() {
        assert_eq!(Quantity(-250).whole_lots(Quantity(100)), -2);
        assert_eq!(Quantity(-250).round_down_to_lot(Quantity(100)), Quantity(-200));
        assert_eq!(Quantity(7).lots(Quantity::ZERO), Ok(7));
        assert_eq!(Quantity(i64::MIN).lots(Quantity(1)), Ok(i64::MIN));
    }

    proptest! {
        #[test]
        fn any_numbers_give_a_result_or_an_error(raw: i64, other: i64, tick: i64, ticks: i64) {
            let (price, other, tick) = (Price(raw), Price(other), Price(tick));
            if let Ok(down) = price.round_down(tick) {
                prop_assert!(down <= price && down.is_on_tick(tick));
                prop_assert!(i128::from(price.0) - i128::from(down.0) < i128::from(tick.0.max(1)));
            }
            if let Ok(up) = price.round_up(tick) {
                prop_assert!(up >= price && up.is_on_tick(tick));
            }
            if let Ok(nearest) = price.round_nearest(tick) {
                prop_assert!(nearest.is_on_tick(tick));
                let off = (i128::from(price.0) - i128::from(nearest.0)).abs();
                prop_assert!(off * 2 <= i128::from(tick.0.max(1)));
            }
            if let Ok(moved) = price.plus_ticks(ticks, tick) {
                prop_assert_eq!(moved.ticks_above(price, tick), Ok(ticks));
            }
            if let Ok(mid) = Price::mid(price, other) {
                prop_assert!(price.min(other) <= mid && mid <= price.max(other));
            }
            let (quantity, lot) = (Quantity(raw), Quantity(ticks));
            let whole = quantity.round_down_to_lot(lot);
            prop_assert_eq!(Quantity::of_lots(quantity.whole_lots(lot), lot), Ok(whole));
            prop_assert_eq!(whole.lots(lot), Ok(quantity.whole_lots(lot)));
        }
    }
}
