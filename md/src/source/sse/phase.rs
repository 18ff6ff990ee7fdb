//! The exchange's day.
//!
//! Trading Rules of the Shanghai Stock Exchange: opening call auction 09:15–09:25, continuous trading 09:30–11:30 and
//! 13:00–14:57, closing call auction 14:57–15:00. Before 2018-08-20 there was no closing auction, and continuous
//! trading lasted until 15:00.
//!
//! The same rules (2023, chapter 3, section 3): orders are taken from 09:15 to 09:25, 09:30 to 11:30 and 13:00 to 15:00; cancels are not
//! taken from 09:20 to 09:25 and in the closing auction.

use wire::TradingPhase;

use crate::source::fields::{DAY, SECOND};

const OPEN: u64 = (9 * 3_600 + 30 * 60) * SECOND;
const CLOSING_AUCTION: u64 = (14 * 3_600 + 57 * 60) * SECOND;
const CLOSE: u64 = 15 * 3_600 * SECOND;
/// Two files that were recorded together begin within this time, in nanoseconds.
const APART: u64 = 60 * SECOND;
/// 2018-08-20, in days since 1970-01-01.
const FIRST_CLOSING_AUCTION: u64 = 17_763;

/// True when at this time trades happen only at the end of a call auction. The lunch break counts as continuous: no row
/// lies in it. A time of day without a date is treated by today's rules.
pub(super) fn is_call_auction(time: u64) -> bool {
    let (day, clock) = (time / DAY, time % DAY);
    clock < OPEN || clock >= if has_no_closing_auction(day) { CLOSE } else { CLOSING_AUCTION }
}

fn has_no_closing_auction(day: u64) -> bool {
    day > 0 && day < FIRST_CLOSING_AUCTION
}

const fn at(hour: u64, minute: u64) -> u64 {
    (hour * 60 + minute) * 60 * SECOND
}

/// When each phase of a day begins, in nanoseconds after midnight; for the last one see [`close`].
const DAY_OF_PHASES: [(u64, TradingPhase); 7] = [
    (at(9, 15), TradingPhase::OpeningAuction),
    (at(9, 20), TradingPhase::OpeningFreeze),
    (at(9, 25), TradingPhase::Pause),
    (OPEN, TradingPhase::Continuous),
    (at(11, 30), TradingPhase::Pause),
    (at(13, 0), TradingPhase::Continuous),
    (CLOSING_AUCTION, TradingPhase::ClosingFreeze),
];

/// The phase of a time; `None`: before the first.
pub(super) fn of(time: u64) -> Option<TradingPhase> {
    let midnight = time - time % DAY;
    phases(midnight).take_while(|(begin, _)| *begin <= time).last().map(|(_, phase)| phase)
}

/// When the market closes; `None`: the latest row is of before 15:00. The closing auction trades a few seconds behind it: a minute later
/// nothing follows.
pub(super) fn close(latest: u64) -> Option<u64> {
    let midnight = latest - latest % DAY;
    (latest >= midnight + CLOSE).then(|| latest.max(midnight + at(15, 1)))
}

fn phases(midnight: u64) -> impl Iterator<Item = (u64, TradingPhase)> {
    let is_old = has_no_closing_auction(midnight / DAY);
    let begins = DAY_OF_PHASES.iter().map(move |(clock, phase)| (midnight + clock, *phase));
    begins.filter(move |(_, phase)| !(is_old && *phase == TradingPhase::ClosingFreeze))
}

/// The first phase that begins behind `after` and by `until`, and when.
pub(super) fn next(after: u64, until: u64) -> Option<(u64, TradingPhase)> {
    phases(until - until % DAY).find(|(begin, _)| *begin > after && *begin <= until)
}

/// True when the orders file should contain every order that trades, judged by the times at which the two files begin:
/// one of them begins before continuous trading; or the trades begin long before the orders, whose first rows are then
/// missing.
pub(super) fn holds_all_orders(orders: u64, trades: u64) -> bool {
    let first = orders.min(trades);
    first % DAY < OPEN || trades.saturating_add(APART) < orders
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields::{date, time_of_day};

    #[test]
    fn files_that_begin_late_hold_all_orders_only_when_the_trades_begin_first() {
        let at = |clock: &str| time_of_day(clock.as_bytes()).unwrap();
        for (orders, trades, all) in [
            ("09:15:00", "09:25:00", true),
            ("14:50:00", "09:25:00", true),
            ("10:15:00", "10:15:03", false),
            ("10:15:03", "10:15:00", false),
            ("11:15:00", "10:15:00", true),
        ] {
            assert_eq!(holds_all_orders(at(orders), at(trades)), all, "{orders} {trades}");
        }
        assert!(!holds_all_orders(at("10:15:00"), u64::MAX), "no trade at all");
    }

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
