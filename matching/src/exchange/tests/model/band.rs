//! The dynamic band.

use wire::InstrumentId;

use super::Model;
use crate::exchange::Width;

impl Model {
    /// Lowest and highest price at which continuous trading may trade now; `None`: any.
    pub(super) fn band(&self, instrument: InstrumentId) -> Option<(i128, i128)> {
        let market = self.market(instrument);
        let band = market.rules.dynamic_band?;
        let reference = i128::from(market.reference()?);
        let distance = match band.width {
            Width::Price(price) => i128::from(price.0),
            Width::BasisPoints(parts) => reference.abs() * i128::from(parts) / 10_000,
        };
        Some((reference - distance, reference + distance))
    }
}

pub(super) fn is_beyond(band: Option<(i128, i128)>, price: i64) -> bool {
    band.is_some_and(|(low, high)| !(low..=high).contains(&i128::from(price)))
}
