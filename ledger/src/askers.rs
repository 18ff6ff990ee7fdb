//! Strategies that wait for their state, and the order in which they are answered.
//!
//! A strategy asks once it has its position in the journal of states, and confirms its answer. Unconfirmed answers are
//! limited to a quarter of the ring: more could overwrite each other before they are read. An answer that is not confirmed
//! soon does not delay the others; if it is overwritten, the strategy asks again.

use std::collections::BTreeMap;

use node::Asked;
use wire::StrategyId;

/// An unconfirmed answer delays others for this long, in nanoseconds.
const HOLDS: u64 = 20_000_000;

/// The strategies that wait.
#[derive(Debug, Default)]
pub(crate) struct Askers {
    waiting: BTreeMap<StrategyId, Waiting>,
    /// Senders that ask at any time, not only when they start: the gateway. They stay in `waiting`.
    standing: Vec<StrategyId>,
}

/// A strategy that has registered, and has not confirmed its state.
#[derive(Debug, Default)]
struct Waiting {
    question: Option<Question>,
}

#[derive(Clone, Copy, Debug)]
struct Question {
    number: u64,
    /// Executions before this position must be in the answer: they may have been reported to its predecessor.
    until: u64,
    answer: Option<Answer>,
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    time: u64,
    bytes: u64,
}

impl Askers {
    /// A sender that asks at any time has joined; the questions of its predecessor are void.
    pub(crate) fn standing_joined(&mut self, sender: StrategyId) {
        if !self.standing.contains(&sender) {
            self.standing.push(sender);
        }
        self.joined(sender);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// A strategy has registered, perhaps again, and will ask.
    pub(crate) fn joined(&mut self, strategy: StrategyId) {
        self.waiting.insert(strategy, Waiting::default());
    }

    /// A node has left.
    pub(crate) fn left(&mut self, strategy: StrategyId) {
        if self.standing.contains(&strategy) {
            return self.joined(strategy);
        }
        self.waiting.remove(&strategy);
    }

    /// True when a strategy has asked, or confirmed an answer, since the last [`Askers::update`].
    pub(crate) fn has_news(&self, asked: impl Fn(StrategyId) -> Asked) -> bool {
        self.waiting.iter().any(|(strategy, waiting)| match asked(*strategy) {
            Asked::Nothing => false,
            Asked::Settled => waiting.question.is_some() || !self.standing.contains(strategy),
            Asked::Waits(number) => waiting.question.is_none_or(|known| known.number != number),
        })
    }

    /// Reads the questions of all strategies. `head`: end of the executions now.
    pub(crate) fn update(&mut self, asked: impl Fn(StrategyId) -> Asked, head: impl Fn() -> u64) {
        let standing = &self.standing;
        self.waiting.retain(|strategy, waiting| match asked(*strategy) {
            Asked::Nothing => true,
            Asked::Settled if standing.contains(strategy) => {
                waiting.question = None;
                true
            }
            Asked::Settled => false,
            Asked::Waits(number) => {
                if waiting.question.is_none_or(|known| known.number != number) {
                    waiting.question = Some(Question { number, until: head(), answer: None });
                }
                true
            }
        });
    }

    /// The strategy to answer next: executions before `read` are booked, and the ring has room for `room` bytes of
    /// unconfirmed answers.
    pub(crate) fn next(&self, read: u64, now: u64, room: u64) -> Option<StrategyId> {
        if self.unconfirmed(now) >= room {
            return None;
        }
        let is_due = |waiting: &Waiting| {
            waiting.question.is_some_and(|question| question.answer.is_none() && question.until <= read)
        };
        self.waiting.iter().find(|(_, waiting)| is_due(waiting)).map(|(strategy, _)| *strategy)
    }

    /// A strategy was answered, in this many bytes.
    pub(crate) fn answered(&mut self, strategy: StrategyId, now: u64, bytes: u64) {
        if let Some(question) = self.waiting.get_mut(&strategy).and_then(|waiting| waiting.question.as_mut())
        {
            question.answer = Some(Answer { time: now, bytes });
        }
    }

    /// When a delayed answer can be written although none is confirmed; `None`: no answer is delayed.
    pub(crate) fn deadline(&self) -> Option<u64> {
        let questions = || self.waiting.values().filter_map(|waiting| waiting.question);
        let is_open = questions().any(|question| question.answer.is_none());
        let holds = questions().filter_map(|question| question.answer).map(|answer| answer.time + HOLDS);
        if is_open { holds.min() } else { None }
    }

    /// Bytes of unconfirmed answers.
    fn unconfirmed(&self, now: u64) -> u64 {
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
    fn a_strategy_that_has_not_asked_is_not_answered() {
        let mut askers = asking(3);
        assert!(!askers.has_news(|_| Asked::Nothing));
        askers.update(|_| Asked::Nothing, || 0);
        assert_eq!(askers.next(u64::MAX, 0, ROOM), None);
        assert!(!askers.is_empty(), "they may still ask");
    }

    #[test]
    fn a_restarted_ledger_answers_no_confirmed_question() {
        let mut askers = asking(80);
        assert!(askers.has_news(|_| Asked::Settled));
        askers.update(|_| Asked::Settled, || 0);
        assert!(askers.is_empty());
        assert_eq!(askers.next(u64::MAX, 0, ROOM), None);
    }

    #[test]
    fn a_question_is_answered_once_all_executions_before_it_are_booked() {
        let mut askers = asking(1);
        askers.update(|_| Asked::Waits(1), || 640);
        assert_eq!(askers.next(639, 0, ROOM), None);
        assert_eq!(askers.next(640, 0, ROOM), Some(StrategyId(0)));
        askers.answered(StrategyId(0), 5, 100);
        assert_eq!(askers.next(640, 6, ROOM), None, "once");
        assert!(!askers.has_news(|_| Asked::Waits(1)));
        askers.update(|_| Asked::Settled, || 0);
        assert!(askers.is_empty());
    }

    #[test]
    fn a_strategy_whose_answer_was_overwritten_is_answered_again() {
        let mut askers = asking(1);
        askers.update(|_| Asked::Waits(1), || 0);
        askers.answered(StrategyId(0), 5, 100);
        assert!(askers.has_news(|_| Asked::Waits(2)));
        askers.update(|_| Asked::Waits(2), || 0);
        assert_eq!(askers.next(0, 6, ROOM), Some(StrategyId(0)));
    }

    #[test]
    fn eighty_questions_at_once_are_answered_no_faster_than_confirmed() {
        let mut askers = asking(80);
        let mut taken = 0;
        let mut answered = 0;
        for now in 0..40 {
            askers.update(
                |seat| if u64::from(seat.0) < taken { Asked::Settled } else { Asked::Waits(1) },
                || 0,
            );
            let before = answered;
            while let Some(strategy) = askers.next(0, now, ROOM) {
                askers.answered(strategy, now, 400);
                answered += 1;
            }
            assert!(answered - before <= 3, "{} answers at once", answered - before);
            taken = answered;
        }
        assert_eq!(answered, 80);
    }

    #[test]
    fn an_unconfirmed_answer_delays_the_others_for_a_limited_time() {
        let mut askers = asking(2);
        askers.update(|_| Asked::Waits(1), || 0);
        assert_eq!(askers.next(0, 0, ROOM), Some(StrategyId(0)));
        askers.answered(StrategyId(0), 0, ROOM);
        assert_eq!(askers.next(0, 1, ROOM), None);
        assert_eq!(askers.deadline(), Some(HOLDS));
        assert_eq!(askers.next(0, HOLDS, ROOM), Some(StrategyId(1)));
        askers.answered(StrategyId(1), HOLDS, ROOM);
        assert_eq!(askers.deadline(), None, "none is left to answer");
    }

    #[test]
    fn a_standing_sender_is_answered_each_time_and_is_no_news_in_between() {
        let me = StrategyId(7);
        let mut askers = Askers::default();
        askers.standing_joined(me);
        for number in 1..=3 {
            assert!(askers.has_news(|_| Asked::Waits(number)));
            askers.update(|_| Asked::Waits(number), || 640);
            assert_eq!(askers.next(640, 0, ROOM), Some(me));
            askers.answered(me, 0, 100);
            assert!(!askers.has_news(|_| Asked::Waits(number)), "it is answered");
            assert!(askers.has_news(|_| Asked::Settled), "it has its answer");
            askers.update(|_| Asked::Settled, || 640);
            assert!(!askers.has_news(|_| Asked::Settled));
            assert_eq!(askers.next(640, 0, ROOM), None);
        }
        // Its process was killed with an answer on its way; the number of the next question is the same.
        askers.update(|_| Asked::Waits(4), || 640);
        askers.answered(me, 0, 100);
        askers.standing_joined(me);
        assert!(askers.has_news(|_| Asked::Waits(4)));
        askers.update(|_| Asked::Waits(4), || 640);
        assert_eq!(askers.next(640, 0, ROOM), Some(me));
        askers.left(me);
        assert_eq!(askers.waiting.len(), 1, "it stays, and no other comes");
    }

    #[test]
    fn a_strategy_that_left_is_not_answered() {
        let mut askers = asking(1);
        askers.update(|_| Asked::Waits(1), || 0);
        askers.left(StrategyId(0));
        assert!(askers.is_empty());
    }
}
