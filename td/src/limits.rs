//! The limits that an operator sets.

use wire::Quantity;

/// What holds for the whole gateway.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GatewayOptions {
    /// How far a limit price may lie from the instrument's reference price, as a fraction of it: `0.1` is ten per
    /// cent either way, ends included, and at least ten ticks either way. Zero: no band but the instrument's own.
    pub price_band: f64,
}

/// What one strategy may do. Zero means "no limit" in every field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Largest quantity of one order. The instrument's own limit holds as well.
    pub max_order_quantity: Quantity,
    /// Most orders that may work at once, over all instruments.
    pub max_working_orders: u32,
    /// Largest position in one instrument, long or short, in the worst case (see [`crate::Exposure`]).
    pub max_position: Quantity,
}

/// A limit out of its range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LimitsError {
    /// Not a fraction.
    #[error("td: price_band is {0}: give a fraction from 0 (off) to 1000, as in 0.1 for ten per cent")]
    PriceBand(f64),
    /// Less than zero.
    #[error("td: {key} is {value}: give a positive number, or 0 for no limit")]
    Negative {
        /// The limit's name.
        key: &'static str,
        /// What was given.
        value: Quantity,
    },
}

impl Limits {
    /// No limit at all.
    pub const NONE: Limits =
        Limits { max_order_quantity: Quantity(0), max_working_orders: 0, max_position: Quantity(0) };

    /// # Errors
    /// [`LimitsError::Negative`].
    pub(crate) fn check(&self) -> Result<(), LimitsError> {
        for (key, value) in
            [("max_order_quantity", self.max_order_quantity), ("max_position", self.max_position)]
        {
            if value < Quantity::ZERO {
                return Err(LimitsError::Negative { key, value });
            }
        }
        Ok(())
    }
}

/// A price band in parts per thousand million, so that it is exact and the same on every host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BandWidth(i64);

impl BandWidth {
    const WHOLE: i64 = 1_000_000_000;

    pub(crate) fn new(fraction: f64) -> Result<BandWidth, LimitsError> {
        if !(0.0..=1_000.0).contains(&fraction) {
            return Err(LimitsError::PriceBand(fraction));
        }
        Ok(BandWidth((fraction * Self::WHOLE as f64).round() as i64))
    }

    pub(crate) fn is_on(self) -> bool {
        self.0 > 0
    }

    /// Half the band's width around `reference`, rounded towards zero.
    pub(crate) fn around(self, reference: i64) -> i128 {
        i128::from(reference.unsigned_abs()) * i128::from(self.0) / i128::from(Self::WHOLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_a_fraction_of_the_reference_either_way() {
        let band = BandWidth::new(0.1).unwrap();
        assert!(band.is_on());
        assert_eq!(band.around(1_000), 100);
        assert_eq!(band.around(-1_000), 100);
        assert!(!BandWidth::new(0.0).unwrap().is_on());
        for wrong in [-0.1, f64::NAN, f64::INFINITY, 1_000.1] {
            assert!(BandWidth::new(wrong).is_err(), "{wrong} was taken");
        }
    }

    #[test]
    fn negative_limits_are_refused_by_name() {
        assert_eq!(Limits::NONE.check(), Ok(()));
        let wrong = Limits { max_position: Quantity(-1), ..Limits::NONE };
        assert_eq!(wrong.check(), Err(LimitsError::Negative { key: "max_position", value: Quantity(-1) }));
        let wrong = Limits { max_order_quantity: Quantity(-5), ..Limits::NONE };
        assert!(wrong.check().unwrap_err().to_string().contains("max_order_quantity is -5"));
    }
}
