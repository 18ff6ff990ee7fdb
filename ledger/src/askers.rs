//! Strategies that wait for their state, and in which order they are told.
//!
//! A strategy asks once it has taken its place in the journal of states, and says when it has its answer. Answers that
//! nobody has taken yet are held to a quarter of the ring: more would overwrite each other before they are read. One that
//! is not taken soon does not hold up the others; should it be overwritten, the strategy asks again.

use std::collections::BTreeMap;

use node::Asked;
use wire::StrategyId;

/// An answer that is not taken for so long, in nanoseconds, holds up nobody.
const HOLDS: u64 = 20_000_000;

/// Who waits.
#[derive(Debug, Default)]
pub(crate) struct Askers {
    waiting: BTreeMap<StrategyId, Waiting>,
}

/// One that has registered, and has not said that it has its state.
#[derive(Debug, Default)]
struct Waiting {
    question: Option<Question>,
}

#[derive(Clone, Copy, Debug)]
struct Question {
    number: u64,
    /// Executions before this position belong into the answer: its predecessor may have heard of them.
    until: u64,
    answer: Option<Answer>,
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    time: u64,
    bytes: u64,
}

impl Askers {
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// It has registered, perhaps once more, and will ask.
    pub(crate) fn joined(&mut self, strategy: StrategyId) {
        self.waiting.insert(strategy, Waiting::default());
    }

    /// It is not there any more.
    pub(crate) fn left(&mut self, strategy: StrategyId) {
        self.waiting.remove(&strategy);
    }

    /// True when somebody has asked, or has taken an answer, since the last [`Askers::hear`].
    pub(crate) fn has_news(&self, asked: impl Fn(StrategyId) -> Asked) -> bool {
        self.waiting.iter().any(|(strategy, waiting)| match asked(*strategy) {
            Asked::Nothing => false,
            Asked::Settled => true,
            Asked::Waits(number) => waiting.question.is_none_or(|known| known.number != number),
        })
    }

    /// Looks at what everybody asks. `head`: end of the executions now.
    pub(crate) fn hear(&mut self, asked: impl Fn(StrategyId) -> Asked, head: impl Fn() -> u64) {
        self.waiting.retain(|strategy, waiting| match asked(*strategy) {
            Asked::Nothing => true,
            Asked::Settled => false,
            Asked::Waits(number) => {
                if waiting.question.is_none_or(|known| known.number != number) {
                    waiting.question = Some(Question { number, until: head(), answer: None });
                }
                true
            }
        });
    }

    /// Whom to tell next: executions before `read` are booked, and the ring takes `room` bytes of answers that are not
    /// taken yet.
    pub(crate) fn next(&self, read: u64, now: u64, room: u64) -> Option<StrategyId> {
        if self.untaken(now) >= room {
            return None;
        }
        let is_due = |waiting: &Waiting| {
            waiting.question.is_some_and(|question| question.answer.is_none() && question.until <= read)
        };
        self.waiting.iter().find(|(_, waiting)| is_due(waiting)).map(|(strategy, _)| *strategy)
    }

    /// It was told in so many bytes.
    pub(crate) fn told(&mut self, strategy: StrategyId, now: u64, bytes: u64) {
        if let Some(question) = self.waiting.get_mut(&strategy).and_then(|waiting| waiting.question.as_mut())
        {
            question.answer = Some(Answer { time: now, bytes });
        }
    }

    /// When those who are held up can be told although nobody takes his answer; `None`: nobody is held up.
    pub(crate) fn deadline(&self) -> Option<u64> {
        let questions = || self.waiting.values().filter_map(|waiting| waiting.question);
        let is_open = questions().any(|question| question.answer.is_none());
        let holds = questions().filter_map(|question| question.answer).map(|answer| answer.time + HOLDS);
        if is_open { holds.min() } else { None }
    }

    /// Bytes of answers that are still to be taken.
    fn untaken(&self, now: u64) -> u64 {
        let questions = self.waiting.values().filter_map(|waiting| waiting.question);
        let answers = questions.filter_map(|question| question.answer);
        answers.filter(|answer| now < answer.time + HOLDS).map(|answer| answer.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: u64 = 1_000;

    fn asking(count: u16) -> Askers {
        let mut askers = Askers::default();
        (0..count).for_each(|seat| askers.joined(StrategyId(seat)));
        askers
    }

    #[test]
    fn nobody_is_told_who_has_not_asked() {
        let mut askers = asking(3);
        assert!(!askers.has_news(|_| Asked::Nothing));
        askers.hear(|_| Asked::Nothing, || 0);
        assert_eq!(askers.next(u64::MAX, 0, ROOM), None);
        assert!(!askers.is_empty(), "they may ask yet");
    }

    #[test]
    fn a_ledger_that_comes_back_tells_nothing_to_those_who_know() {
        let mut askers = asking(80);
        assert!(askers.has_news(|_| Asked::Settled));
        askers.hear(|_| Asked::Settled, || 0);
        assert!(askers.is_empty());
        assert_eq!(askers.next(u64::MAX, 0, ROOM), None);
    }

    #[test]
    fn who_asks_is_told_once_everything_before_the_question_is_booked() {
        let mut askers = asking(1);
        askers.hear(|_| Asked::Waits(1), || 640);
        assert_eq!(askers.next(639, 0, ROOM), None);
        assert_eq!(askers.next(640, 0, ROOM), Some(StrategyId(0)));
        askers.told(StrategyId(0), 5, 100);
        assert_eq!(askers.next(640, 6, ROOM), None, "once");
        assert!(!askers.has_news(|_| Asked::Waits(1)));
        askers.hear(|_| Asked::Settled, || 0);
        assert!(askers.is_empty());
    }

    #[test]
    fn who_was_overtaken_asks_again_and_is_told_again() {
        let mut askers = asking(1);
        askers.hear(|_| Asked::Waits(1), || 0);
        askers.told(StrategyId(0), 5, 100);
        assert!(askers.has_news(|_| Asked::Waits(2)));
        askers.hear(|_| Asked::Waits(2), || 0);
        assert_eq!(askers.next(0, 6, ROOM), Some(StrategyId(0)));
    }

    #[test]
    fn eighty_that_ask_at_once_are_told_no_faster_than_they_listen() {
        let mut askers = asking(80);
        let mut taken = 0;
        let mut told = 0;
        for now in 0..40 {
            askers
                .hear(|seat| if u64::from(seat.0) < taken { Asked::Settled } else { Asked::Waits(1) }, || 0);
            let before = told;
            while let Some(strategy) = askers.next(0, now, ROOM) {
                askers.told(strategy, now, 400);
                told += 1;
            }
            assert!(told - before <= 3, "{} answers at once", told - before);
            taken = told;
        }
        assert_eq!(told, 80);
    }

    #[test]
    fn who_does_not_listen_holds_up_the_others_for_a_moment_only() {
        let mut askers = asking(2);
        askers.hear(|_| Asked::Waits(1), || 0);
        assert_eq!(askers.next(0, 0, ROOM), Some(StrategyId(0)));
        askers.told(StrategyId(0), 0, ROOM);
        assert_eq!(askers.next(0, 1, ROOM), None);
        assert_eq!(askers.deadline(), Some(HOLDS));
        assert_eq!(askers.next(0, HOLDS, ROOM), Some(StrategyId(1)));
        askers.told(StrategyId(1), HOLDS, ROOM);
        assert_eq!(askers.deadline(), None, "nobody is left to be told");
    }

    #[test]
    fn one_that_left_is_not_told() {
        let mut askers = asking(1);
        askers.hear(|_| Asked::Waits(1), || 0);
        askers.left(StrategyId(0));
        assert!(askers.is_empty());
    }
}
