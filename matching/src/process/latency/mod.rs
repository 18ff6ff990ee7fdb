//! The way between strategies and a recorded or quoted market, in market time: requests that have not arrived yet, and
//! answers that are not known yet.
//!
//! ```text
//!  td.orders ─► requests under way ─► the books ─► answers under way ─► matching.executions
//!               until order_latency                until report_latency
//! ```
//!
//! In lock-step a request is sent at the market's time of the call that sends it: that of the latest market event, or of the timer or
//! bar that md has announced before the next one ([`wire::MarketTime`]). It reaches the books behind the last event of its
//! arrival's time, and before the first later one: md announces that time too, as matching is due then ([`Way::due`]). So it does
//! with an answer. All requests go through one connection and so do all answers: none overtakes another, and what would is kept
//! back until the one before it has arrived.
//!
//! Without a delay a request arrives at the time at which it is sent: at once, if nothing more of that time can come; otherwise
//! behind the rest of it. Answers are then known at once.
//!
//! A clock that goes back counts as standing still. When the market's data ends, requests that have not arrived are refused
//! ([`wire::Reason::MarketClosed`]), and all answers are known.

mod draw;
mod samples;

use std::collections::VecDeque;

use topology::config::MatchingConfig;
use wire::{Execution, Nanos, Request};

use draw::Delays;

/// What is under way.
#[derive(Debug)]
pub(super) struct Way {
    order_delays: Delays,
    report_delays: Delays,
    /// The market's time.
    now: Nanos,
    /// All that the market did at this time or before is known.
    is_settled: bool,
    /// With their arrival and their position in `td.orders`; the first to arrive in front.
    requests: VecDeque<(Nanos, u64, Request)>,
    /// With their arrival, and whether that is the time at which they left.
    answers: VecDeque<(Nanos, bool, Execution)>,
    /// The books' answers to one message.
    pub(super) fresh: Vec<Execution>,
    /// The market's data has ended: nothing is delayed any more.
    is_over: bool,
}

impl Way {
    /// As the platform file says.
    pub(super) fn new(config: &MatchingConfig) -> Result<Way, String> {
        let delays = |latency, key: &str, stream| {
            Delays::new(latency, config.latency_seed, stream).map_err(|why| format!("matching.{key}: {why}"))
        };
        Ok(Way {
            order_delays: delays(&config.order_latency, "order_latency", 1)?,
            report_delays: delays(&config.report_latency, "report_latency", 2)?,
            now: Nanos(0),
            // Nothing has happened.
            is_settled: true,
            requests: VecDeque::new(),
            answers: VecDeque::new(),
            fresh: Vec::new(),
            is_over: false,
        })
    }

    /// Goes on at this time of the market, with requests that were under way then.
    pub(super) fn resume(&mut self, now: Nanos, is_settled: bool, requests: Vec<(u64, Request)>) {
        (self.now, self.is_settled) = (now, is_settled);
        self.requests.extend(requests.into_iter().map(|(position, request)| (now, position, request)));
    }

    /// The market's time.
    pub(super) fn now(&self) -> Nanos {
        self.now
    }

    /// A request is sent. It comes back if it arrives at once; else it is under way.
    pub(super) fn send(&mut self, position: u64, request: Request) -> Option<Request> {
        if self.is_over {
            return Some(request);
        }
        let arrival = self.order_delays.arrival(self.now);
        match self.requests.back() {
            None if arrival <= self.now && self.is_settled => return Some(request),
            last => {
                let arrival = last.map_or(arrival, |(last, ..)| arrival.max(*last));
                self.requests.push_back((arrival, position, request));
            }
        }
        None
    }

    /// The next request that reaches the books before a market event of this time.
    pub(super) fn arrived_before(&mut self, event: Nanos) -> Option<(Nanos, u64, Request)> {
        let (arrival, ..) = self.requests.front()?;
        (*arrival < event).then(|| self.requests.pop_front()).flatten()
    }

    /// The next request that has reached the books by this time, behind all events of it.
    pub(super) fn arrived_by(&mut self, time: Nanos) -> Option<(Nanos, u64, Request)> {
        let (arrival, ..) = self.requests.front()?;
        (*arrival <= time).then(|| self.requests.pop_front()).flatten()
    }

    /// A market event of this time comes, and perhaps more of the same time.
    pub(super) fn pass(&mut self, event: Nanos) {
        self.now = self.now.max(event);
        self.is_settled = false;
    }

    /// The market has come to this time, and nothing more of it follows.
    pub(super) fn settle(&mut self, time: Nanos) {
        self.now = self.now.max(time);
        self.is_settled = true;
    }

    /// When the next request or answer arrives, or the books act by themselves at `other`, in nanoseconds of the market's time; 0: nothing
    /// is under way.
    pub(super) fn due(&self, other: Option<Nanos>) -> u64 {
        if self.is_over {
            return 0;
        }
        let request = self.requests.front().map(|(arrival, ..)| *arrival);
        let answer = self.answers.front().map(|(arrival, ..)| *arrival);
        request.into_iter().chain(answer).chain(other).min().map_or(0, |due| due.max(self.now).0.max(1))
    }

    /// The fresh answers leave the market at `time`, all at once. `answered_up_to` is the last request that is answered.
    pub(super) fn leave(&mut self, time: Nanos, answered_up_to: u64) {
        if self.fresh.is_empty() {
            return;
        }
        let arrival = if self.is_over { time } else { self.report_delays.arrival(time) };
        let arrival = self.answers.back().map_or(arrival, |(last, ..)| arrival.max(*last));
        // Without a delay the time at which it is known is that at which it happened.
        let is_delayed = time > self.now || arrival > time;
        for mut answer in self.fresh.drain(..) {
            answer.set_answered_up_to(answered_up_to);
            if is_delayed
                && let Execution::Update(update) = &mut answer
                && update.event_time == Nanos(0)
            {
                update.event_time = time;
            }
            self.answers.push_back((arrival, arrival == time, answer));
        }
    }

    /// Moves the answers that are known by now to `known`. One that was delayed is known behind the last event of its arrival's time:
    /// md has announced that time then, so the clock of the strategy that gets it has come so far.
    pub(super) fn arrive(&mut self, known: &mut Vec<Execution>) {
        let is_known = |arrival: Nanos, is_at_once: bool| {
            self.is_over || arrival < self.now || arrival == self.now && (is_at_once || self.is_settled)
        };
        while self.answers.front().is_some_and(|(arrival, is_at_once, _)| is_known(*arrival, *is_at_once)) {
            known.extend(self.answers.pop_front().map(|(.., answer)| answer));
        }
    }

    /// The market's data has ended. The requests that have not arrived come back.
    pub(super) fn end(&mut self) -> VecDeque<(Nanos, u64, Request)> {
        self.is_over = true;
        std::mem::take(&mut self.requests)
    }

    /// Whether the market's data has ended.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether anything is under way.
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.answers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use topology::config::Latency;
    use wire::{CancelOrder, InstrumentId, OrderId, OrderStatus, OrderUpdate, Reason, StrategyId};

    use super::*;

    fn way(order_ns: u64, report_ns: u64) -> Way {
        let constant = |ns| Latency::Constant(Duration::from_nanos(ns));
        let config = MatchingConfig {
            order_latency: constant(order_ns),
            report_latency: constant(report_ns),
            ..MatchingConfig::default()
        };
        Way::new(&config).unwrap()
    }

    fn request(number: u32) -> Request {
        Request::Cancel(CancelOrder::new(OrderId::new(StrategyId(5), 1, number), InstrumentId(1)))
    }

    fn answer() -> Execution {
        let id = OrderId::new(StrategyId(5), 1, 1);
        Execution::Update(OrderUpdate::about(id, InstrumentId(1), OrderStatus::Accepted, Reason::None))
    }

    #[test]
    fn a_request_arrives_before_the_first_event_that_is_later() {
        let mut way = way(100, 0);
        way.pass(Nanos(1_000));
        assert_eq!(way.send(64, request(1)), None);
        assert_eq!(way.arrived_before(Nanos(1_100)), None, "an event of just that time comes first");
        assert_eq!(way.arrived_before(Nanos(1_101)), Some((Nanos(1_100), 64, request(1))));
        assert_eq!(way.arrived_before(Nanos(9_999)), None);
    }

    #[test]
    fn without_a_delay_a_request_arrives_at_once() {
        let mut way = way(0, 100);
        assert_eq!(way.send(64, request(1)), Some(request(1)), "before the market's first event");
        way.settle(Nanos(1_000));
        assert_eq!(way.send(128, request(2)), Some(request(2)));
        assert_eq!(way.due(None), 0);
    }

    #[test]
    fn a_request_of_an_instant_arrives_behind_the_last_event_of_it() {
        let mut way = way(0, 0);
        way.pass(Nanos(1_000));
        assert_eq!(way.send(64, request(1)), None);
        assert_eq!(way.due(None), 1_000);
        way.pass(Nanos(1_000));
        assert_eq!(way.send(128, request(2)), None);
        assert_eq!(way.arrived_before(Nanos(1_000)), None);
        way.settle(Nanos(1_000));
        assert_eq!(way.arrived_by(way.now()), Some((Nanos(1_000), 64, request(1))));
        assert_eq!(way.arrived_by(way.now()), Some((Nanos(1_000), 128, request(2))));
        assert_eq!(way.send(192, request(3)), Some(request(3)), "nothing more of that time can come");
    }

    #[test]
    fn requests_and_answers_are_due_when_they_arrive() {
        let mut way = way(100, 30);
        way.pass(Nanos(1_000));
        way.send(64, request(1));
        assert_eq!(way.due(None), 1_100);
        way.settle(Nanos(1_100));
        assert!(way.arrived_by(Nanos(1_100)).is_some());
        way.fresh.push(answer());
        way.leave(Nanos(1_100), 64);
        assert_eq!(way.due(None), 1_130);
        way.end();
        assert_eq!(way.due(None), 0, "nothing is delayed any more");
    }

    #[test]
    fn no_request_overtakes_another() {
        let mut way = way(0, 1);
        way.requests.push_back((Nanos(5_000), 64, request(1)));
        way.settle(Nanos(1_000));
        assert_eq!(way.send(128, request(2)), None);
        assert_eq!(way.arrived_before(Nanos(5_000)), None);
        assert_eq!(way.arrived_before(Nanos(5_001)), Some((Nanos(5_000), 64, request(1))));
        assert_eq!(way.arrived_before(Nanos(5_001)), Some((Nanos(5_000), 128, request(2))));
    }

    #[test]
    fn a_delayed_answer_is_known_behind_the_last_event_of_its_time() {
        let mut way = way(0, 100);
        way.pass(Nanos(1_000));
        way.fresh.push(answer());
        way.leave(Nanos(1_000), 640);
        let mut known = Vec::new();
        way.pass(Nanos(1_099));
        way.arrive(&mut known);
        assert!(known.is_empty());
        way.pass(Nanos(1_100));
        way.arrive(&mut known);
        assert!(known.is_empty());
        assert_eq!(way.due(None), 1_100, "md announces the time");
        way.settle(Nanos(1_100));
        way.arrive(&mut known);
        let mut expected = answer();
        expected.set_answered_up_to(640);
        // One without a time has that at which it left.
        let Execution::Update(update) = &mut expected else { unreachable!() };
        update.event_time = Nanos(1_000);
        assert_eq!(known, [expected]);
    }

    #[test]
    fn at_the_end_requests_come_back_and_all_answers_are_known() {
        let mut way = way(100, 100);
        way.pass(Nanos(1_000));
        way.fresh.push(answer());
        way.leave(Nanos(1_000), 0);
        way.send(64, request(1));
        assert_eq!(way.end(), [(Nanos(1_100), 64, request(1))]);
        let mut known = Vec::new();
        way.arrive(&mut known);
        assert!(known.len() == 1 && way.is_empty());
        assert_eq!(way.send(128, request(2)), Some(request(2)), "nothing is delayed any more");
    }

    #[test]
    fn a_clock_that_goes_back_stands_still() {
        let mut way = way(100, 100);
        way.pass(Nanos(1_000));
        way.send(64, request(1));
        assert_eq!(way.arrived_before(Nanos(5)), None);
        way.pass(Nanos(5));
        assert_eq!(way.now(), Nanos(1_000));
    }
}
