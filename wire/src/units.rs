//! Fixed-point units. A newtype each, so that a price is never added to a quantity.

use std::fmt;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};
use std::str::FromStr;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A price in units of 1e-9 of the currency: `1.5` is `1_500_000_000`.
///
/// [`Price::NONE`] (the lowest `i64`) stands for "no price", for instance on the empty side of a book.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
)]
#[repr(transparent)]
pub struct Price(pub i64);

/// A number of shares, lots or contracts; signed where it is a position.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
)]
#[repr(transparent)]
pub struct Quantity(pub i64);

/// An amount of money in units of 1e-6 of the currency: an `i64` reaches ±9.2 million million.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
)]
#[repr(transparent)]
pub struct Money(pub i64);

/// A time in nanoseconds since the Unix epoch, or a duration in nanoseconds where the field says so.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
)]
#[repr(transparent)]
pub struct Nanos(pub u64);

impl Price {
    /// One whole unit of the currency.
    pub const ONE: i64 = 1_000_000_000;
    /// "There is no price here."
    pub const NONE: Price = Price(i64::MIN);
    /// No price at all.
    pub const ZERO: Price = Price(0);

    /// True unless this is [`Price::NONE`].
    pub fn is_some(self) -> bool {
        self != Price::NONE
    }

    /// True when the price is a whole number of `tick`s. A tick of zero or less allows every price.
    pub fn is_on_tick(self, tick: Price) -> bool {
        tick.0 <= 0 || self.0 % tick.0 == 0
    }

    /// The price as a float, for people and plots only: never for arithmetic.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / Self::ONE as f64
    }

    /// The nearest price to a decimal float.
    pub fn from_f64(value: f64) -> Price {
        Price((value * Self::ONE as f64).round() as i64)
    }
}

impl Money {
    /// One whole unit of the currency.
    pub const ONE: i64 = 1_000_000;

    /// From price units times quantity (1e-9), rounded towards zero to 1e-6; saturates.
    pub fn from_wide(price_times_quantity: i128) -> Money {
        let micros = price_times_quantity / 1_000;
        Money(micros.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }

    /// The amount as a float, for people and plots only.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / Self::ONE as f64
    }
}

impl Quantity {
    /// Nothing.
    pub const ZERO: Quantity = Quantity(0);

    /// What it is worth at this price, exactly, in 1e-9 of the currency.
    pub fn wide(self, price: Price) -> i128 {
        i128::from(self.0) * i128::from(price.0)
    }
}

/// Text that is no decimal number of the unit's precision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no decimal number with at most nine places after the point")]
pub struct ParsePriceError(String);

impl FromStr for Price {
    type Err = ParsePriceError;

    /// Exact: no float is involved. More than nine decimal places are an error unless they are zeros.
    fn from_str(text: &str) -> Result<Price, ParsePriceError> {
        let error = || ParsePriceError(text.to_owned());
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) {
            return Err(error());
        }
        let (kept, rest) = fraction.split_at(fraction.len().min(9));
        if rest.bytes().any(|byte| byte != b'0') {
            return Err(error());
        }
        let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| error())? };
        let nanos: i64 = if kept.is_empty() {
            0
        } else {
            kept.parse::<i64>().map_err(|_| error())? * 10_i64.pow(9 - kept.len() as u32)
        };
        let value = whole.checked_mul(Self::ONE).and_then(|w| w.checked_add(nanos)).ok_or_else(error)?;
        Ok(Price(if negative { -value } else { value }))
    }
}

pub(crate) fn write_fixed(f: &mut fmt::Formatter<'_>, value: i128, scale: u128) -> fmt::Result {
    let places = scale.ilog10() as usize;
    let magnitude = value.unsigned_abs();
    let text = format!("{}.{:0places$}", magnitude / scale, magnitude % scale);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    f.pad_integral(value >= 0, "", text)
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_some() { write_fixed(f, self.0.into(), Self::ONE as u128) } else { f.pad("none") }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_fixed(f, self.0.into(), Self::ONE as u128)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

macro_rules! additive {
    ($($unit:ident),*) => {$(
        impl Add for $unit {
            type Output = $unit;
            fn add(self, other: $unit) -> $unit {
                $unit(self.0.saturating_add(other.0))
            }
        }
        impl Sub for $unit {
            type Output = $unit;
            fn sub(self, other: $unit) -> $unit {
                $unit(self.0.saturating_sub(other.0))
            }
        }
        impl AddAssign for $unit {
            fn add_assign(&mut self, other: $unit) {
                *self = *self + other;
            }
        }
        impl SubAssign for $unit {
            fn sub_assign(&mut self, other: $unit) {
                *self = *self - other;
            }
        }
    )*};
}
additive!(Price, Quantity, Money, Nanos);

impl Neg for Quantity {
    type Output = Quantity;
    fn neg(self) -> Quantity {
        Quantity(self.0.saturating_neg())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_read_exactly_and_print_without_noise() {
        for (text, raw, printed) in [
            ("1801.01", 1_801_010_000_000, "1801.01"),
            ("-0.000000001", -1, "-0.000000001"),
            (".5", 500_000_000, "0.5"),
            ("7.", 7_000_000_000, "7"),
            ("1.5000000000000", 1_500_000_000, "1.5"),
        ] {
            let price: Price = text.parse().unwrap();
            assert_eq!(price.0, raw, "{text}");
            assert_eq!(price.to_string(), printed);
        }
    }

    #[test]
    fn text_that_is_no_price_is_refused() {
        for text in ["", ".", "-", "1e3", "1.0000000001", "99999999999999", "1,5", "+1", "1.-5"] {
            assert!(text.parse::<Price>().is_err(), "{text} was taken");
        }
    }

    #[test]
    fn money_rounds_towards_zero_and_saturates() {
        let cost = |price, quantity| Money::from_wide(Quantity(quantity).wide(Price(price)));
        assert_eq!(cost(1_999, 1), Money(1));
        assert_eq!(cost(-1_999, 1), Money(-1));
        assert_eq!(cost(i64::MAX, i64::MAX), Money(i64::MAX));
    }
}
