//! When the exchange trades continuously.
//!
//! Trading Rules of the Shanghai Stock Exchange: opening call auction 09:15–09:25, continuous trading 09:30–11:30 and
//! 13:00–14:57, closing call auction 14:57–15:00. Before 2018-08-20 there was no closing auction, and continuous trading
//! went on until 15:00.

use crate::source::fields::{DAY, SECOND};

const OPENING_TRADES: u64 = (9 * 3_600 + 25 * 60) * SECOND;
const OPEN: u64 = (9 * 3_600 + 30 * 60) * SECOND;
const CLOSING_AUCTION: u64 = (14 * 3_600 + 57 * 60) * SECOND;
const CLOSE: u64 = 15 * 3_600 * SECOND;
/// 2018-08-20, in days since 1970-01-01.
const FIRST_CLOSING_AUCTION: u64 = 17_763;

/// True when at this time nothing trades but at the end of a call auction. The lunch break counts as continuous: no
/// row lies in it. A time of day without a date is taken for one of today's rules.
pub(super) fn is_call_auction(time: u64) -> bool {
    let (day, clock) = (time / DAY, time % DAY);
    let is_old = day > 0 && day < FIRST_CLOSING_AUCTION;
    clock < OPEN || clock >= if is_old { CLOSE } else { CLOSING_AUCTION }
}

/// True before the opening auction has traded: files that begin so early hold every order of the day.
pub(super) fn is_before_opening(time: u64) -> bool {
    time % DAY < OPENING_TRADES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields::{date, time_of_day};

    #[test]
    fn the_day_has_an_auction_at_both_ends() {
        for (day, clock, auction) in [
            ("", "09:15:00.020", true),
            ("", "09:25:00.940", true),
            ("", "09:29:59.999", true),
            ("", "09:30:00.000", false),
            ("", "13:00:00.000", false),
            ("", "14:56:59.999", false),
            ("", "14:57:00.000", true),
            ("", "15:00:22.020", true),
            ("20180817", "14:57:00.000", false),
            ("20180817", "15:00:00.000", true),
            ("20180820", "14:57:00.000", true),
        ] {
            let midnight = date(day.as_bytes()).unwrap_or(0);
            let time = midnight + time_of_day(clock.as_bytes()).unwrap();
            assert_eq!(is_call_auction(time), auction, "{day} {clock}");
        }
    }
}
