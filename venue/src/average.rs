//! Average prices, which have more decimals than prices.

use std::fmt;
use std::str::FromStr;

use crate::unbooked::LOT;

/// One in the unit of [`Average::price`].
const ONE: i128 = 1_000_000_000_000_000_000;
/// Decimals that are read. What lies below is rounded.
const DECIMALS: usize = 18;
/// Digits before the point at most.
const DIGITS: usize = 15;

/// The price of several trades on average, as the market gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Average {
    /// In 1e-18.
    pub price: i128,
    /// The decimals that it has, zeros at its end included: within one unit of the last it is rounded or cut off.
    pub decimals: u32,
}

/// Text that is no decimal number with at most 15 digits before the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no decimal number with at most 15 digits before the point")]
pub struct ParseAverageError;

impl Average {
    /// The value of so many lots of 1e-9: price × lots, to the nearest 1e-9.
    pub fn value(self, lots: i128) -> i128 {
        // In two parts: 128 bits do not hold the product.
        let (whole, part) = (self.price.div_euclid(LOT), self.price.rem_euclid(LOT));
        divide(lots.saturating_mul(whole).saturating_add(divide(lots.saturating_mul(part), LOT)), LOT)
    }
}

impl FromStr for Average {
    type Err = ParseAverageError;

    fn from_str(text: &str) -> Result<Average, ParseAverageError> {
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let is_number = [whole, part].iter().all(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let whole = whole.trim_start_matches('0');
        if !is_number || !digits.bytes().any(|byte| byte.is_ascii_digit()) || whole.len() > DIGITS {
            return Err(ParseAverageError);
        }
        let decimals = part.len().min(DECIMALS);
        let number = |digits: &str| format!("0{digits}").parse::<i128>().map_err(|_| ParseAverageError);
        let up = i128::from(part.as_bytes().get(DECIMALS).is_some_and(|digit| *digit >= b'5'));
        let part = number(&format!("{:0<DECIMALS$}", &part[..decimals]))? + up;
        Ok(Average { price: sign * (number(whole)? * ONE + part), decimals: decimals as u32 })
    }
}

impl fmt::Display for Average {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, price) = (if self.price < 0 { "-" } else { "" }, self.price.unsigned_abs());
        let (whole, part) = (price / ONE.unsigned_abs(), price % ONE.unsigned_abs());
        let part = format!("{part:018}");
        match self.decimals as usize {
            0 => write!(f, "{sign}{whole}"),
            decimals => write!(f, "{sign}{whole}.{}", &part[..decimals.min(DECIMALS)]),
        }
    }
}

/// The nearest whole number; of two the one further from zero. `by` is above zero.
pub(crate) fn divide(number: i128, by: i128) -> i128 {
    let (whole, rest) = (number / by, number % by);
    if rest.abs() >= by - rest.abs() { whole + rest.signum() } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_is_read_with_eighteen_decimals_and_printed_as_it_was() {
        for (text, price) in [
            ("102.9992307692", 102_999_230_769_200_000_000),
            ("102.99923076923077", 102_999_230_769_230_770_000),
            ("999999999999999.000000000000000001", 999_999_999_999_999 * ONE + 1),
            ("-0.50", -ONE / 2),
            ("7", 7 * ONE),
        ] {
            let average: Average = text.parse().unwrap();
            assert_eq!((average.price, average.to_string().as_str()), (price, text));
        }
        assert_eq!("0.0000000000000000015".parse(), Ok(Average { price: 2, decimals: 18 }));
        assert_eq!(".5".parse(), Ok(Average { price: ONE / 2, decimals: 1 }));
        assert_eq!("5.".parse(), Ok(Average { price: 5 * ONE, decimals: 0 }));
        for text in ["", ".", "-", "1e3", "+4", " 4", "1.2.3", "NaN", "1000000000000000"] {
            assert_eq!(text.parse::<Average>(), Err(ParseAverageError), "{text}");
        }
    }

    #[test]
    fn a_value_is_the_nearest() {
        let value = |text: &str, lots| text.parse::<Average>().unwrap().value(lots);
        assert_eq!(value("102.99923076923077", 13 * LOT), 1_338_990_000_000);
        assert_eq!(value("-102.9992307692", 13 * LOT), -1_338_990_000_000);
        assert_eq!(value("0.333333333333333333", 3 * LOT), LOT);
        assert_eq!(value("9000000000.5", 9_000_000_000 * LOT), 81_000_000_004_500_000_000 * LOT);
        assert_eq!([divide(5, 2), divide(-5, 2), divide(4, 3), divide(-4, 3)], [3, -3, 1, -1]);
    }
}
