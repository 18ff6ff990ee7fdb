//! The route of a strategy's reports: to its own journal, or to that of the host that it runs in.

use node::Output;
use topology::StrategyLimits;
use wire::StrategyId;

/// By seat: index of the journal of reports, and the topic there.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes(Vec<Option<(usize, u32)>>);

impl Routes {
    pub(super) fn new(strategies: &[StrategyLimits], reports: &[Output]) -> Routes {
        let mut by_seat = Vec::new();
        for strategy in strategies {
            let seat = usize::from(strategy.seat);
            if by_seat.len() <= seat {
                by_seat.resize(seat + 1, None);
            }
            let index = reports.iter().position(|output| output.journal == strategy.reports);
            by_seat[seat] = index.map(|index| (index, strategy.reports_topic));
        }
        Routes(by_seat)
    }

    /// Index of its journal, and its topic there.
    #[inline]
    pub(super) fn of(&self, strategy: StrategyId) -> Option<(usize, u32)> {
        self.0.get(usize::from(strategy.0)).copied().flatten()
    }

    /// The strategies whose reports go to this journal, by seat.
    pub(super) fn strategies(&self, journal: usize) -> impl Iterator<Item = StrategyId> + '_ {
        let seats = (0_u16..).zip(&self.0);
        seats
            .filter(move |(_, place)| place.is_some_and(|(index, _)| index == journal))
            .map(|(seat, _)| StrategyId(seat))
    }

    /// The strategy whose reports have this topic in that journal.
    pub(super) fn owner(&self, journal: usize, topic: u32) -> Option<StrategyId> {
        self.strategies(journal).find(|strategy| self.of(*strategy) == Some((journal, topic)))
    }
}
