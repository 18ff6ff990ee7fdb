//! Amounts of money: whole numbers of 1e-9 of a currency, 128 bits wide.
//!
//! **Rounding.** Prices times quantities are exact. What must be divided is rounded against the account: margin, fees and
//! reservations up, the value of another currency's money down. The one exception moves nothing: the part of a cost that
//! leaves with part of a position is rounded towards zero, and the rest stays with what is open.

use wire::Price;

/// One whole unit of a currency, and one of a rate.
pub const ONE: i128 = 1_000_000_000;
/// Rate of the platform's currency.
pub(crate) const PLATFORM: u64 = ONE as u64;
/// The largest amount of one booking; far from the edge, so that sums of any stream of bookings fit.
pub const MOST: i128 = 1 << 100;
/// The largest multiplier of a contract.
pub const MOST_MULTIPLIER: u64 = 1_000_000_000;
/// The largest rate of a rule or of a currency, in 1e-9: a thousand times.
pub const MOST_RATE: u64 = 1_000_000_000_000;
/// What a purse may hold before bookings are refused.
pub(crate) const FULL: i128 = 1 << 120;

/// `price × lots × multiplier`; `None` beyond [`MOST`].
pub(crate) fn value(price: Price, lots: i64, multiplier: u64) -> Option<i128> {
    // Almost always the first product fits 64 bits, and the second then fits 128.
    if let (Some(small), Ok(multiplier)) = (price.0.checked_mul(lots), i64::try_from(multiplier)) {
        let amount = i128::from(small) * i128::from(multiplier);
        return (amount.unsigned_abs() <= MOST.unsigned_abs()).then_some(amount);
    }
    let amount = (i128::from(price.0) * i128::from(lots)).checked_mul(i128::from(multiplier))?;
    (amount.abs() <= MOST).then_some(amount)
}

/// `amount × rate`, of a rate in 1e-9, rounded up; both are not negative.
pub(crate) fn part_up(amount: i128, rate: u64) -> i128 {
    if rate == 0 {
        return 0;
    }
    // Almost always both are small, and 64 bits are many times faster to divide.
    if let (Ok(small), true) = (u64::try_from(amount), rate <= 10_000_000_000) {
        const ONE: u64 = 1_000_000_000;
        let rest = (small % ONE * rate).div_ceil(ONE);
        return i128::from(small / ONE) * i128::from(rate) + i128::from(rest);
    }
    let rest = (amount % ONE) * i128::from(rate);
    (amount / ONE).saturating_mul(i128::from(rate)).saturating_add((rest + ONE - 1) / ONE)
}

/// The next multiple of `unit`, which is positive; `amount` is not negative.
pub(crate) fn up_to(amount: i128, unit: u64) -> i128 {
    match (u64::try_from(amount), unit) {
        (_, 0 | 1) => amount,
        (Ok(small), unit) => i128::from(small.div_ceil(unit)) * i128::from(unit),
        (Err(_), unit) => {
            let unit = i128::from(unit);
            amount.saturating_add(unit - 1) / unit * unit
        }
    }
}

/// An amount of a currency that is worth `from` in another that is worth `to`, rounded down.
pub(crate) fn convert(amount: i128, from: u64, to: u64) -> i128 {
    if from == to || amount == 0 {
        return amount;
    }
    let (from, to) = (i128::from(from), i128::from(to.max(1)));
    let (whole, rest) = (amount.div_euclid(to), amount.rem_euclid(to));
    whole.saturating_mul(from).saturating_add((rest * from).div_euclid(to))
}

/// `amount × part / whole`, rounded towards zero, without a product that could overflow where the result does not.
/// All of it where `part` is the whole, nothing where it is none.
pub(crate) fn share(amount: i128, part: i64, whole: i64) -> i128 {
    if part >= whole {
        return amount;
    }
    if part <= 0 || amount == 0 {
        return 0;
    }
    let (part, whole) = (i128::from(part), i128::from(whole));
    match amount.checked_mul(part) {
        Some(product) => product / whole,
        // Quotient and remainder have the sign of the amount, so both roundings go the same way.
        None => (amount / whole) * part + (amount % whole) * part / whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_goes_against_the_account() {
        assert_eq!(part_up(1, 1), 1);
        assert_eq!(part_up(10 * ONE, 100_000_000), ONE);
        assert_eq!(part_up(ONE + 1, 100_000_000), ONE / 10 + 1);
        assert_eq!(up_to(1, 10_000_000), 10_000_000);
        assert_eq!(up_to(20_000_000, 10_000_000), 20_000_000);
        assert_eq!(convert(1, 2, 3), 0);
        assert_eq!(convert(-1, 2, 3), -1);
        assert_eq!(convert(9, 2, 3), 6);
        assert_eq!((share(-7, 1, 2), share(7, 2, 3), share(5, 3, 3), share(5, 0, 0)), (-3, 4, 5, 5));
    }

    #[test]
    fn large_and_small_amounts_round_alike() {
        for amount in [0, 1, 999_999_999, ONE, 12_345 * ONE + 1, i128::from(u64::MAX)] {
            for rate in [1, 7, 1_000_000_000, 10_000_000_000] {
                let exact = (amount * i128::from(rate) + ONE - 1) / ONE;
                assert_eq!(part_up(amount, rate), exact, "{amount} × {rate}");
            }
        }
        let wide = i128::from(u64::MAX) + 1;
        assert_eq!(part_up(wide, 7), (wide * 7 + ONE - 1) / ONE);
        assert_eq!(up_to(wide, 10), (wide + 9) / 10 * 10);
    }

    #[test]
    fn a_value_beyond_the_largest_booking_is_none() {
        assert_eq!(value(Price(i64::MAX), i64::MAX, u64::MAX), None);
        assert_eq!(value(Price(-3), 2, 5), Some(-30));
    }
}
