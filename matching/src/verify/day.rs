//! Phases of a day, by the clock.

use wire::Nanos;

use crate::exchange::{Auction, Phase, auction_of};

const MINUTE: u64 = 60 * 1_000_000_000;
const DAY: u64 = 24 * 60 * MINUTE;
/// 2018-08-20, in days since 1970-01-01: the first closing auction in Shanghai.
const FIRST_CLOSING_AUCTION: u64 = 17_763;

/// The clocks of rows and phases differ by no more than this.
const APART: u64 = 1_000_000_000;

/// What the exchange is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// To take an order.
    Order,
    /// To take one that trades at once.
    Trade,
    /// To cancel an order.
    Cancel,
}

impl Asked {
    fn fits(self, phase: Phase) -> bool {
        match self {
            Asked::Order => phase == Phase::Continuous || auction_of(phase).is_some(),
            Asked::Trade => phase == Phase::Continuous,
            Asked::Cancel => matches!(phase, Phase::Continuous | Phase::OpeningAuction),
        }
    }
}

/// When which phase begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Day {
    phases: Vec<(Nanos, Phase)>,
}

impl Day {
    /// Continuous trading all day.
    pub fn continuous() -> Day {
        Day { phases: Vec::new() }
    }

    /// A day in Shanghai: opening auction 09:15 to 09:25, without cancels from 09:20; continuous trading 09:30 to 11:30 and
    /// 13:00 to 14:57; closing auction to 15:00. Until 2018-08-17 there was no closing auction. `midnight` is that of the day;
    /// zero, where the date is not known, stands for a day of the present rules.
    pub fn shanghai(midnight: Nanos) -> Day {
        let day = midnight.0 / DAY;
        let at = |hour: u64, minute: u64, phase| (Nanos(day * DAY + (hour * 60 + minute) * MINUTE), phase);
        let mut phases = vec![
            at(9, 15, Phase::OpeningAuction),
            at(9, 20, Phase::OpeningFreeze),
            at(9, 25, Phase::Pause),
            at(9, 30, Phase::Continuous),
            at(11, 30, Phase::Pause),
            at(13, 0, Phase::Continuous),
            at(14, 57, Phase::ClosingAuction),
            at(15, 0, Phase::Closed),
        ];
        if day > 0 && day < FIRST_CLOSING_AUCTION {
            phases.retain(|&(_, phase)| phase != Phase::ClosingAuction);
        }
        Day { phases }
    }

    pub(super) fn phases(&self) -> &[(Nanos, Phase)] {
        &self.phases
    }

    /// When something was asked for that was published at `time`. It was accepted, so where the phase of that time does not
    /// take it, the clock of the row and that of the phases differ: it came at the end of the phase before, or at the beginning
    /// of the next one.
    pub(super) fn entry(&self, time: Nanos, asked: Asked) -> Nanos {
        let begun = self.phases.partition_point(|&(begin, _)| begin <= time);
        let (before, from) = self.phases.split_at(begun);
        let Some((&(begin, phase), before)) = before.split_last() else {
            return from.first().map_or(time, |&(begin, _)| begin.max(time));
        };
        if asked.fits(phase) {
            return time;
        }
        let next = from.first().filter(|next| asked.fits(next.1) && next.0.0 - time.0 <= APART);
        if let Some(&(next, _)) = next {
            return next;
        }
        let is_near = matches!(phase, Phase::Pause | Phase::Closed) || time.0 - begin.0 <= APART;
        let fitted = before.last().is_some_and(|&(_, phase)| asked.fits(phase));
        if is_near && fitted { Nanos(begin.0 - 1) } else { time }
    }

    /// The auction that the trades of `time` belong to: the latest that ended.
    pub(super) fn auction_of(&self, time: Nanos) -> Option<Auction> {
        let ended = self.phases.windows(2).filter(|pair| pair[1].0 <= time);
        let auctions = ended.filter(|pair| auction_of(pair[1].1).is_none());
        auctions.filter_map(|pair| auction_of(pair[0].1)).next_back()
    }

    /// The auctions, each with its beginning and its end.
    pub(super) fn auctions(&self) -> Vec<(Auction, Nanos, Nanos)> {
        let mut found: Vec<(Auction, Nanos, Nanos)> = Vec::new();
        for pair in self.phases.windows(2) {
            let (begin, end) = (pair[0].0, pair[1].0);
            match (auction_of(pair[0].1), found.last_mut()) {
                (Some(auction), Some(last)) if last.0 == auction => last.2 = end,
                (Some(auction), _) => found.push((auction, begin, end)),
                (None, _) => {}
            }
        }
        found
    }

    /// The end of the day.
    pub(super) fn end(&self) -> Option<Nanos> {
        self.phases.last().map(|&(begin, _)| begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hour: u64, minute: u64) -> Nanos {
        Nanos((hour * 60 + minute) * MINUTE)
    }

    #[test]
    fn what_a_phase_does_not_take_came_at_its_edge() {
        let day = Day::shanghai(Nanos(0));
        let just = |time: Nanos| Nanos(time.0 + 10_000_000);
        let end = |time: Nanos| Nanos(time.0 - 1);
        for (asked, time, entry) in [
            (Asked::Order, at(9, 14), at(9, 15)),
            (Asked::Order, at(9, 15), at(9, 15)),
            (Asked::Order, at(9, 24), at(9, 24)),
            (Asked::Order, at(9, 25), end(at(9, 25))),
            (Asked::Order, at(9, 29), end(at(9, 25))),
            (Asked::Order, Nanos(at(9, 30).0 - 10_000_000), at(9, 30)),
            (Asked::Order, at(9, 30), at(9, 30)),
            (Asked::Order, just(at(11, 30)), end(at(11, 30))),
            (Asked::Order, at(13, 0), at(13, 0)),
            (Asked::Order, just(at(14, 57)), just(at(14, 57))),
            (Asked::Order, at(15, 0), end(at(15, 0))),
            (Asked::Trade, just(at(14, 57)), end(at(14, 57))),
            (Asked::Trade, at(14, 58), at(14, 58)),
            (Asked::Trade, Nanos(at(9, 30).0 - 10_000_000), at(9, 30)),
            (Asked::Cancel, just(at(9, 20)), end(at(9, 20))),
            (Asked::Cancel, at(9, 22), at(9, 22)),
            (Asked::Cancel, just(at(14, 57)), end(at(14, 57))),
        ] {
            assert_eq!(day.entry(time, asked), entry, "{asked:?} {}", time.0);
        }
        assert_eq!(Day::continuous().entry(at(3, 0), Asked::Cancel), at(3, 0));
    }

    #[test]
    fn trades_of_an_auction_are_published_after_its_end() {
        let day = Day::shanghai(Nanos(0));
        assert_eq!(day.auction_of(at(9, 24)), None);
        assert_eq!(day.auction_of(at(9, 25)), Some(Auction::Opening));
        assert_eq!(day.auction_of(at(14, 58)), Some(Auction::Opening));
        assert_eq!(day.auction_of(at(15, 1)), Some(Auction::Closing));
        let auctions = [(Auction::Opening, at(9, 15), at(9, 25)), (Auction::Closing, at(14, 57), at(15, 0))];
        assert_eq!(day.auctions(), auctions);
        let old = Day::shanghai(Nanos(17_760 * DAY));
        assert_eq!(old.auctions().len(), 1);
    }
}
