//! Which of two frames the strategy handled first, where the recording does not say it: a report becomes readable between
//! quotes, more so when it is read from disk, and a strategy that wakes up later takes both in the order of its inputs. Other
//! orders are tried until the strategy sends what it sent.

use std::collections::{BTreeSet, VecDeque};

use crate::check::Difference;
use crate::run::Outcome;
use crate::tape::Moves;

/// Two frames that could be read within this many nanoseconds may have been handled in either order; more, where the strategy is
/// seen to have taken longer to come to a frame.
const EITHER: u64 = 5_000_000;
/// Orders that are tried in a replay.
const MOST_TRIES: u64 = 64;

/// Whether the strategy sends what it sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Same,
    /// It does not, in whatever order it read what it read.
    Differs,
    /// It does not in the orders that were tried, and the recording does not say which is right.
    Inconclusive,
}

impl Verdict {
    /// As it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Same => "same",
            Verdict::Differs => "differs",
            Verdict::Inconclusive => "inconclusive",
        }
    }
}

/// Orders that were tried, and those that are still to be.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// With what led furthest.
    kept: Moves,
    best: Option<Outcome>,
    open: VecDeque<((u32, u64), u64)>,
    /// Frames of which it is not known when they were read, at the difference of the best.
    undecided: usize,
    tried: u64,
}

impl Search {
    /// The replay came to this; `None`: the next order is to be tried, with [`Search::moves`].
    pub(crate) fn ends(&mut self, tried: &Moves, outcome: Outcome) -> Option<Outcome> {
        let is_further =
            self.best.as_ref().is_none_or(|best| outcome.difference.is_none() || outcome.same > best.same);
        if is_further {
            self.kept = tried.clone();
            let Some(difference) = &outcome.difference else { return Some(outcome) };
            let slots = slots(difference);
            self.undecided = slots.iter().map(|(frame, _)| frame).collect::<BTreeSet<_>>().len();
            self.open = slots.into();
            self.best = Some(outcome);
        }
        if !self.open.is_empty() && self.tried < MOST_TRIES {
            return None;
        }
        // One frame in all its places is every order that there is; of several some are left.
        let is_decided = self.undecided == 0 || self.undecided == 1 && self.open.is_empty();
        self.best.take().map(|best| {
            let verdict = if is_decided { best.verdict } else { Verdict::Inconclusive };
            Outcome { verdict, ..best }
        })
    }

    /// The next order to try.
    pub(crate) fn moves(&mut self) -> Moves {
        let mut moves = self.kept.clone();
        if let Some((frame, to)) = self.open.pop_front() {
            moves.insert(frame, to);
            self.tried += 1;
        }
        moves
    }

    /// How many frames were moved.
    pub(crate) fn moved(&self) -> u64 {
        self.kept.len() as u64
    }
}

/// Where else the late frames around a difference may have been read, the nearest first.
fn slots(difference: &Difference) -> Vec<((u32, u64), u64)> {
    let all = || difference.inputs.iter().chain(&difference.upcoming);
    let either = EITHER.max(difference.lag);
    let mut slots = BTreeSet::new();
    for late in difference.earlier.iter().chain(all()).filter(|input| input.is_open && !input.is_known) {
        for other in all().filter(|other| other.journal_id != late.journal_id) {
            let apart = late.order.abs_diff(other.order);
            // What is known to have been handled before the other was on disk was handled before it.
            let is_settled = other.is_known && other.order < late.order;
            if apart > either || is_settled {
                continue;
            }
            // On the other side of it.
            let to = if late.order <= other.order { other.order + 1 } else { other.order.saturating_sub(1) };
            slots.insert((apart, (late.journal_id, late.position), to));
        }
    }
    slots.into_iter().map(|(_, frame, to)| (frame, to)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Input;

    fn input(journal_id: u32, position: u64, order: u64, is_known: bool) -> Input {
        Input {
            journal: String::new(),
            journal_id,
            position,
            time: order,
            message_id: 1,
            topic: 0,
            payload: Vec::new(),
            order,
            is_known,
            is_open: journal_id == 1,
        }
    }

    fn outcome(same: u64, inputs: Vec<Input>, upcoming: Vec<Input>) -> Outcome {
        let difference = Difference {
            number: same + 1,
            live: None,
            replayed: None,
            inputs,
            earlier: Vec::new(),
            upcoming,
            more_inputs: 0,
            lag: 0,
        };
        Outcome {
            frames: Default::default(),
            requests: Vec::new(),
            live: 9,
            same,
            difference: Some(difference),
            verdict: Verdict::Differs,
            moved: 0,
            caveats: Vec::new(),
        }
    }

    #[test]
    fn a_difference_without_a_late_frame_nearby_is_one() {
        let quotes = vec![input(2, 64, 1_000, false), input(2, 128, 2_000, true)];
        let mut search = Search::default();
        let far = vec![input(1, 64, 2_000 + EITHER + 1, false)];
        let ended = search.ends(&Moves::new(), outcome(3, quotes.clone(), far)).unwrap();
        assert_eq!(ended.verdict, Verdict::Differs);
        // It was on disk only after the quote had been handled.
        let after = vec![input(1, 64, 2_001, false)];
        let mut search = Search::default();
        let ended = search.ends(&Moves::new(), outcome(3, vec![quotes[1].clone()], after)).unwrap();
        assert_eq!(ended.verdict, Verdict::Differs);
    }

    #[test]
    fn a_strategy_that_was_seen_to_come_late_may_have_come_late_to_a_report_too() {
        let quote = vec![input(2, 64, 1_000 + 3 * EITHER, false)];
        let mut outcome = outcome(3, quote, vec![input(1, 64, 1_000, false)]);
        assert!(Search::default().ends(&Moves::new(), outcome.clone()).is_some(), "they are far apart");
        outcome.difference.as_mut().unwrap().lag = 4 * EITHER;
        assert!(Search::default().ends(&Moves::new(), outcome).is_none(), "there is another order to try");
    }

    #[test]
    fn a_report_from_before_the_request_that_was_the_same_last_may_have_come_behind_the_next_quote() {
        let mut outcome = outcome(3, vec![input(2, 64, 9_000, true)], Vec::new());
        outcome.difference.as_mut().unwrap().earlier = vec![input(1, 640, 8_000, false)];
        let mut search = Search::default();
        assert!(search.ends(&Moves::new(), outcome).is_none());
        assert_eq!(search.moves(), Moves::from([((1, 640), 9_001)]));
    }

    #[test]
    fn the_places_of_a_late_frame_are_tried_from_the_nearest_and_the_one_that_leads_further_is_kept() {
        let given =
            || vec![input(2, 64, 1_000, false), input(1, 640, 5_000, false), input(2, 128, 5_500, true)];
        let mut search = Search::default();
        assert!(search.ends(&Moves::new(), outcome(3, given(), Vec::new())).is_none());
        let first = search.moves();
        assert_eq!(first, Moves::from([((1, 640), 5_501)]));
        assert!(search.ends(&first, outcome(3, given(), Vec::new())).is_none());
        let second = search.moves();
        assert_eq!(second, Moves::from([((1, 640), 999)]));
        // It leads to a later difference, with another frame.
        let later = || vec![input(2, 192, 9_000, false), input(1, 704, 9_010, false)];
        assert!(search.ends(&second, outcome(7, later(), Vec::new())).is_none());
        let third = search.moves();
        assert_eq!(third, Moves::from([((1, 640), 999), ((1, 704), 8_999)]));
        let ended = search.ends(&third, outcome(7, later(), Vec::new())).unwrap();
        assert_eq!((ended.verdict, ended.same, search.moved()), (Verdict::Differs, 7, 1));
    }

    #[test]
    fn several_late_frames_that_explain_nothing_one_by_one_are_inconclusive() {
        let given =
            || vec![input(2, 64, 1_000, false), input(1, 640, 1_100, false), input(1, 704, 1_200, false)];
        let mut search = Search::default();
        let mut moves = Moves::new();
        let ended = loop {
            match search.ends(&moves, outcome(3, given(), Vec::new())) {
                Some(ended) => break ended,
                None => moves = search.moves(),
            }
        };
        assert_eq!(ended.verdict, Verdict::Inconclusive);
    }
}
