//! Phases of a day, by the clock.

use wire::Nanos;

use crate::exchange::{Auction, Phase};

const MINUTE: u64 = 60 * 1_000_000_000;
const DAY: u64 = 24 * 60 * MINUTE;
/// 2018-08-20, in days since 1970-01-01: the first closing auction in Shanghai.
const FIRST_CLOSING_AUCTION: u64 = 17_763;

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

    /// When an order came in that was published at `time`. Where the market takes none (breaks, after the close), it was
    /// there before: at the last moment of the phase before. What is published before the day begins came in with it.
    pub(super) fn entry(&self, time: Nanos) -> Nanos {
        let begun = self.phases.partition_point(|&(begin, _)| begin <= time);
        let Some(&(begin, phase)) = begun.checked_sub(1).and_then(|last| self.phases.get(last)) else {
            return self.phases.first().map_or(time, |&(begin, _)| begin.max(time));
        };
        match phase {
            Phase::Pause | Phase::Closed => Nanos(begin.0 - 1),
            _ => time,
        }
    }

    /// The auction that the trades of `time` belong to: the latest that ended.
    pub(super) fn auction_of(&self, time: Nanos) -> Option<Auction> {
        let ended = self.phases.windows(2).filter(|pair| pair[1].0 <= time);
        let auctions = ended.filter(|pair| pair[1].1.auction().is_none());
        auctions.filter_map(|pair| pair[0].1.auction()).last()
    }

    /// The auctions, each with its beginning and its end.
    pub(super) fn auctions(&self) -> Vec<(Auction, Nanos, Nanos)> {
        let mut found: Vec<(Auction, Nanos, Nanos)> = Vec::new();
        for pair in self.phases.windows(2) {
            let (begin, end) = (pair[0].0, pair[1].0);
            match (pair[0].1.auction(), found.last_mut()) {
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
    fn orders_published_in_a_break_came_in_before_it() {
        let day = Day::shanghai(Nanos(0));
        for (time, entry) in [
            (at(9, 14), at(9, 15)),
            (at(9, 15), at(9, 15)),
            (at(9, 24), at(9, 24)),
            (at(9, 25), Nanos(at(9, 25).0 - 1)),
            (at(9, 29), Nanos(at(9, 25).0 - 1)),
            (at(9, 30), at(9, 30)),
            (at(11, 30), Nanos(at(11, 30).0 - 1)),
            (at(13, 0), at(13, 0)),
            (at(14, 58), at(14, 58)),
            (at(15, 0), Nanos(at(15, 0).0 - 1)),
        ] {
            assert_eq!(day.entry(time), entry, "{}", time.0);
        }
        assert_eq!(Day::continuous().entry(at(3, 0)), at(3, 0));
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
