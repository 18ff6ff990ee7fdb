//! Slips that cannot be taken back: a settlement of a day or at prices that no person can have meant.
//!
//! Who decides asks this before [`Desk::apply`](crate::Desk::apply); who follows the drop copy does not, as its entries took
//! effect. An entry that is marked as forced passes.

use wire::{InstrumentId, Nanos, Price, Settle};

use crate::desk::Desk;
use crate::entry::Entry;
use crate::refusal::Refusal;

/// A settlement may be of a day so long after the platform's. Evening sessions before a week of holidays belong to the day
/// behind it.
pub const DAYS_AHEAD: i64 = 14;

const DAY_NS: u64 = 24 * 60 * 60 * 1_000_000_000;

impl Desk {
    /// Whether an entry may be what its author means; `now` is the platform's time.
    ///
    /// # Errors
    /// [`Refusal::ImplausibleDay`], [`Refusal::ImplausiblePrice`], or [`Refusal::Number`] for a day of no calendar.
    pub fn plausible(&self, entry: &Entry, now: Nanos) -> Result<(), Refusal> {
        match entry {
            Entry::Settle(settle) => self.plausible_settlement(settle, now),
            Entry::Open(_)
            | Entry::Change(_)
            | Entry::Limit(_)
            | Entry::Fee(_)
            | Entry::Margin(_)
            | Entry::Terms(_)
            | Entry::Rate(_)
            | Entry::Price(_) => Ok(()),
        }
    }

    fn plausible_settlement(&self, settle: &Settle, now: Nanos) -> Result<(), Refusal> {
        // A day that is settled changes nothing.
        if settle.day == self.prices.settled {
            return Ok(());
        }
        let day = number_of(settle.day).ok_or(Refusal::Number)?;
        if settle.flags & Settle::FORCED != 0 {
            return Ok(());
        }
        let today = (now.0 / DAY_NS) as i64;
        if day > today + DAYS_AHEAD {
            return Err(Refusal::ImplausibleDay(day_of(today)));
        }
        let prices = (0_u32..).zip(&self.prices.prices).filter_map(|(id, price)| Some((id, (*price)?)));
        for (instrument, price) in prices.map(|(id, price)| (InstrumentId(id), price)) {
            let mark = self.contracts.get(instrument).map_or(Price::NONE, |contract| contract.mark);
            if !is_near(price, mark) {
                return Err(Refusal::ImplausiblePrice(instrument));
            }
        }
        Ok(())
    }
}

/// Whether a price is positive and not more than half away from the mark, where there is one.
pub fn is_near(price: Price, mark: Price) -> bool {
    let away = (i128::from(price.0) - i128::from(mark.0)).abs();
    price.0 > 0 && (!mark.is_some() || away <= i128::from(mark.0).abs() / 2)
}

/// Days since 1970 of a date as 20260131; `None` where the calendar has none such.
fn number_of(day: u32) -> Option<i64> {
    let (year, month, of_month) = (i64::from(day / 10_000), day / 100 % 100, day % 100);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if !(1_900..=9_999).contains(&year) || !(1..=last).contains(&of_month) {
        return None;
    }
    // March is the first month, so that the leap day is the last of a year.
    let (month, of_month) = (i64::from(month), i64::from(of_month));
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_year = (153 * month + 2) / 5 + of_month - 1;
    Some(year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468)
}

/// The date of a number of days since 1970, as 20260131.
fn day_of(days: i64) -> u32 {
    let days = days + 719_468;
    let of_cycle = days.rem_euclid(146_097);
    let year_of = (of_cycle - of_cycle / 1_460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * year_of + year_of / 4 - year_of / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = (days.div_euclid(146_097) * 400 + year_of, month);
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    (year * 10_000 + month * 100 + of_month) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar_and_come_back() {
        assert_eq!((number_of(19_700_101), number_of(20_000_301)), (Some(0), Some(11_017)));
        for day in [0, 131, 20_261_301, 20_260_132, 20_260_100, 20_260_431, 20_260_229, 21_000_229] {
            assert_eq!(number_of(day), None, "{day}");
        }
        let mut before = number_of(19_000_101).unwrap() - 1;
        for day in 19_000_101..=20_401_231 {
            if let Some(number) = number_of(day) {
                assert_eq!((number, day_of(number)), (before + 1, day));
                before = number;
            }
        }
    }
}
