//! When the market is asked how orders stand. Markets limit the messages of a second, and cut off a session that sends more. Pure.
//!
//! Each order has at most one question without an answer. The next one waits for the answer, or for [`PATIENCE`], and for the order's
//! [`Pace`]. All questions together keep to [`BETWEEN`]. A market whose answers always cause another question is asked seldom.

use std::collections::{BTreeSet, HashMap};

use venue::Target;
use wire::OrderId;

const MILLISECOND: u64 = 1_000_000;
/// Between two questions about any orders, in nanoseconds: 50 a second.
const BETWEEN: u64 = 20 * MILLISECOND;
/// So many may go out at once after a second without any: those of a new line.
const AT_ONCE: u64 = 50;
/// A question without an answer may be repeated after so many nanoseconds.
const PATIENCE: u64 = 2_000 * MILLISECOND;
/// Between the first two questions about one thing, in nanoseconds.
const SHORTEST: u64 = 20 * MILLISECOND;
/// Between two questions about one thing at most, in nanoseconds.
const LONGEST: u64 = 2_000 * MILLISECOND;
/// A thing that was not asked for so many nanoseconds, and for twice its interval, begins with [`SHORTEST`] again.
const REST: u64 = 500 * MILLISECOND;
/// From so many orders on, those at rest are forgotten.
const REMEMBERED: usize = 1_024;

/// The times of questions about one thing: the interval between two doubles, up to [`LONGEST`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    last: u64,
    /// The interval behind the last question; zero: there was none.
    interval: u64,
}

impl Pace {
    /// From then on the next question may be sent.
    fn next(self) -> u64 {
        self.last + self.interval
    }

    fn is_at_rest(self, now: u64) -> bool {
        now.saturating_sub(self.last) >= REST.max(2 * self.interval)
    }

    fn note(&mut self, now: u64) {
        let next = if self.is_at_rest(now) { SHORTEST } else { (2 * self.interval).min(LONGEST) };
        (self.last, self.interval) = (now, next.max(SHORTEST));
    }

    /// Takes the turn, where its time has come.
    pub(crate) fn take(&mut self, now: u64) -> bool {
        let is_due = now >= self.next();
        if is_due {
            self.note(now);
        }
        is_due
    }
}

/// The questions about one order.
#[derive(Debug, Default)]
struct Asked {
    /// The question that waits for its time, and its place in the row.
    waits: Option<(Target, Place)>,
    /// The name that was asked for last, until the answer comes.
    open: Option<String>,
    pace: Pace,
}

impl Asked {
    /// From then on its next question may be sent.
    fn next(&self) -> u64 {
        let answer = if self.open.is_some() { self.pace.last + PATIENCE } else { 0 };
        self.pace.next().max(answer)
    }

    fn is_at_rest(&self, now: u64) -> bool {
        self.waits.is_none() && now >= self.next() && self.pace.is_at_rest(now)
    }
}

/// Whether it can wait; when it may be sent; its number.
type Place = (bool, u64, u64);

/// The questions about orders.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    orders: HashMap<OrderId, Asked>,
    /// In the order of their turns.
    row: BTreeSet<(Place, OrderId)>,
    /// The names of the questions without an answer.
    open: HashMap<String, OrderId>,
    last: u64,
    /// When the budget of all questions is as full as it gets.
    full: u64,
    /// With so many orders it is looked which are at rest.
    look: usize,
}

impl Questions {
    /// The order is asked for once its time has come. A question that waits already is the same one.
    pub(crate) fn add(&mut self, of: &Target, can_wait: bool) {
        self.last += 1;
        let order_id = of.order.order_id;
        let asked = self.orders.entry(order_id).or_default();
        let mut place = (can_wait, asked.next(), self.last);
        if let Some((_, before)) = asked.waits.take() {
            self.row.remove(&(before, order_id));
            place = (can_wait && before.0, before.1, before.2);
        }
        asked.waits = Some((of.clone(), place));
        self.row.insert((place, order_id));
    }

    /// The market has answered a question, by one of these names.
    pub(crate) fn answered<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        let found = names.into_iter().find_map(|name| self.open.remove(name));
        let Some((order_id, asked)) = found.and_then(|id| Some((id, self.orders.get_mut(&id)?))) else {
            return;
        };
        asked.open = None;
        let next = asked.next();
        if let Some((_, place)) = &mut asked.waits {
            self.row.remove(&(*place, order_id));
            place.1 = next;
            self.row.insert((*place, order_id));
        }
    }

    /// The line is another one: the driver asks again there. The paces of orders remain.
    pub(crate) fn forget(&mut self) {
        self.row.clear();
        self.open.clear();
        self.orders.values_mut().for_each(|asked| (asked.waits, asked.open) = (None, None));
    }

    /// The next order to be asked for, where its time has come: first those that something waits for.
    pub(crate) fn next(&mut self, now: u64) -> Option<Target> {
        let ahead = self.full.saturating_sub(now);
        let is_due = |can_wait: bool| {
            // What can wait leaves the budget of a burst to the others.
            let most = if can_wait { 0 } else { (AT_ONCE - 1) * BETWEEN };
            let first = self.row.range(((can_wait, 0, 0), OrderId(0))..).next()?;
            (ahead <= most && first.0.0 == can_wait && first.0.1 <= now).then_some(*first)
        };
        let (place, order_id) = is_due(false).or_else(|| is_due(true))?;
        self.row.remove(&(place, order_id));
        let asked = self.orders.get_mut(&order_id)?;
        let (of, _) = asked.waits.take()?;
        asked.pace.note(now);
        if let Some(before) = asked.open.replace(of.name.clone()) {
            self.open.remove(&before);
        }
        self.open.insert(of.name.clone(), order_id);
        self.full = self.full.max(now) + BETWEEN;
        self.forget_rested(now);
        Some(of)
    }

    fn forget_rested(&mut self, now: u64) {
        if self.orders.len() < self.look.max(REMEMBERED) {
            return;
        }
        let open = &mut self.open;
        self.orders.retain(|_, asked| {
            let is_kept = !asked.is_at_rest(now);
            if let Some(name) = asked.open.as_ref().filter(|_| !is_kept) {
                open.remove(name);
            }
            is_kept
        });
        self.look = 2 * self.orders.len();
    }
}

#[cfg(test)]
mod tests {
    use wire::{InstrumentId, NewOrder, OrderType, Price, Quantity, Side, StrategyId, TimeInForce};

    use super::*;

    const SECOND: u64 = 1_000 * MILLISECOND;

    fn target(sequence: u32) -> Target {
        let (price, quantity) = (Price(1), Quantity(1));
        let (kind, life) = (OrderType::Limit, TimeInForce::Day);
        let id = OrderId::new(StrategyId(5), 1, sequence);
        let order = NewOrder::plain(id, InstrumentId(1), Side::Buy, kind, life, price, quantity);
        Target { name: format!("p-{sequence}"), order, quantity, price }
    }

    /// Looks every millisecond, and gives when which order was asked for. `answer` follows each question.
    fn run(
        questions: &mut Questions,
        (from, until): (u64, u64),
        mut answer: impl FnMut(&mut Questions, &Target),
    ) -> Vec<(u64, String)> {
        let mut asked = Vec::new();
        for now in (from..until).step_by(1_000_000) {
            while let Some(of) = questions.next(now) {
                asked.push(((now - from) / MILLISECOND, of.name.clone()));
                answer(questions, &of);
            }
        }
        asked
    }

    #[test]
    fn what_can_wait_is_asked_for_once_in_its_turn_and_not_faster_than_markets_allow() {
        let mut questions = Questions::default();
        for sequence in [1, 2, 1, 3] {
            questions.add(&target(sequence), true);
        }
        let asked = run(&mut questions, (SECOND, 2 * SECOND), |_, _| {});
        assert_eq!(asked, [(0, "p-1".to_owned()), (20, "p-2".to_owned()), (40, "p-3".to_owned())]);
        questions.add(&target(4), true);
        questions.forget();
        assert!(run(&mut questions, (2 * SECOND, 9 * SECOND), |_, _| {}).is_empty());
        questions.add(&target(4), true);
        assert_eq!(run(&mut questions, (9 * SECOND, 10 * SECOND), |_, _| {}).len(), 1);
    }

    #[test]
    fn an_answer_that_causes_the_next_question_makes_no_storm() {
        let mut questions = Questions::default();
        questions.add(&target(1), false);
        let asked = run(&mut questions, (SECOND, 21 * SECOND), |questions, of| {
            questions.answered([of.name.as_str()]);
            questions.add(of, false);
        });
        let times: Vec<u64> = asked.iter().map(|(at, _)| *at).take(8).collect();
        assert_eq!(times, [0, 20, 60, 140, 300, 620, 1_260, 2_540]);
        assert!((12..=17).contains(&asked.len()), "{asked:?}");
    }

    #[test]
    fn a_question_without_an_answer_is_repeated_once_patience_is_over() {
        let mut questions = Questions::default();
        questions.add(&target(1), false);
        let asked = run(&mut questions, (SECOND, 11 * SECOND), |questions, of| questions.add(of, false));
        let times: Vec<u64> = asked.iter().map(|(at, _)| *at).collect();
        assert_eq!(times, [0, 2_000, 4_000, 6_000, 8_000]);
    }

    #[test]
    fn orders_of_a_new_line_go_first_and_keep_to_the_budget_of_all() {
        let mut questions = Questions::default();
        questions.add(&target(1_000), true);
        (1..=200).for_each(|sequence| questions.add(&target(sequence), false));
        // An order that could wait and is waited for now is among the first.
        questions.add(&target(2_000), true);
        questions.add(&target(2_000), false);
        let asked = run(&mut questions, (SECOND, 9 * SECOND), |_, _| {});
        assert_eq!(asked.len(), 202);
        assert_eq!(asked.iter().filter(|(at, _)| *at == 0).count() as u64, AT_ONCE);
        for second in 1..9 {
            let of = |at: u64| (second * 1_000..(second + 1) * 1_000).contains(&at);
            assert!(asked.iter().filter(|(at, _)| of(*at)).count() <= 50, "{asked:?}");
        }
        assert_eq!(asked.last().unwrap().1, "p-1000");
    }

    #[test]
    fn orders_at_rest_are_forgotten() {
        let mut questions = Questions::default();
        for sequence in 1..20_000 {
            questions.add(&target(sequence), false);
            let now = u64::from(sequence) * BETWEEN;
            assert!(questions.next(now).is_some());
        }
        assert!(questions.orders.len() <= 2 * REMEMBERED, "{}", questions.orders.len());
        assert_eq!(questions.orders.len(), questions.open.len());
    }
}
