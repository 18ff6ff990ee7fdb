//! The exchange at work, step by step, beside what the market published.

use std::collections::HashSet;

use wire::{Nanos, Price, Quantity, Reason, Side, Statistics};

use super::INSTRUMENT;
use super::auction::Auctions;
use super::correct::{Resting, lower};
use super::day::Asked;
use super::depth::{Depth, Level};
use super::flow::{Flow, Incoming, Request, Step, When};
use super::input::{Feed, File, Place, Recording};
use super::report::{Difference, Report, What};
use super::snapshots::Search;
use crate::exchange::{
    Event, Exchange, ExchangeOptions, Filter, InstrumentRules, Kind, Lifetime, ListError, Order, Phase,
    Refusal, Replace, Trade, auction_of,
};

/// Rows of a whole day go on to within so much of its end, in nanoseconds: in Shanghai the length of the closing auction.
const LAST: u64 = 3 * 60 * 1_000_000_000;

/// Runs the whole flow.
pub(super) fn run(
    recording: &Recording<'_>,
    flow: &Flow,
    rules: InstrumentRules,
    options: ExchangeOptions,
) -> Result<Report, ListError> {
    let mut exchange = Exchange::new(options);
    exchange.list(rules)?;
    let mut events = Vec::new();
    if !recording.day.phases().is_empty() {
        exchange.set_phase(INSTRUMENT, Phase::Closed, &mut events);
        exchange.schedule(INSTRUMENT, recording.day.phases().to_vec());
    }
    events.clear();
    let place = flow.steps.first().map_or(Place { file: File::Orders, row: 0 }, |step| step.place);
    let last = recording.rows.last().map_or(place, |row| row.place);
    let mut replay = Replay {
        phase: exchange.phase(INSTRUMENT).unwrap_or(Phase::Closed),
        exchange,
        events,
        depth: Depth::default(),
        search: Search::new(recording.snapshots),
        auctions: Auctions::new(recording, flow, last),
        report: Report { trades_hidden: flow.hidden, ..Report::default() },
        recording,
        flow,
        trades: 0,
        traded: Statistics::none(INSTRUMENT),
        latest: None,
        place,
        order: None,
        found: Vec::new(),
        answer: Answer::None,
        early: HashSet::new(),
        market: Resting::new(),
        levels: Vec::new(),
        own: Vec::new(),
    };
    flow.steps.iter().for_each(|step| replay.step(step));
    Ok(replay.finish())
}

/// What the exchange said to a cancel or a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    None,
    /// What was left, with side and limit.
    Cancelled(Quantity, Side, Price),
    Reduced,
    Refused(Reason),
}

pub(super) struct Replay<'a> {
    pub(super) exchange: Exchange,
    pub(super) events: Vec<Event>,
    pub(super) phase: Phase,
    pub(super) depth: Depth,
    pub(super) search: Search<'a>,
    pub(super) auctions: Auctions,
    pub(super) report: Report,
    pub(super) recording: &'a Recording<'a>,
    pub(super) flow: &'a Flow,
    /// Trades of the exchange so far.
    pub(super) trades: u64,
    /// What they come to.
    pub(super) traded: Statistics,
    /// Place among the market's trades of the last identical one.
    pub(super) latest: Option<u64>,
    /// Row of the present step.
    pub(super) place: Place,
    /// Order of the present step.
    pub(super) order: Option<u64>,
    /// Trades of the present step.
    pub(super) found: Vec<Trade>,
    pub(super) answer: Answer,
    /// Orders that came in before they were published.
    pub(super) early: HashSet<u64>,
    /// What rests by the rows, if differences are corrected.
    pub(super) market: Resting,
    pub(super) levels: Vec<Level>,
    pub(super) own: Vec<Level>,
}

impl Replay<'_> {
    fn step(&mut self, step: &Step) {
        self.place = step.place;
        let asked = match step.request {
            Request::Enter(_) if step.trades.is_empty() => Asked::Order,
            Request::Enter(_) => Asked::Trade,
            Request::Cancel { .. } | Request::Reduce { .. } | Request::Clear => Asked::Cancel,
        };
        self.advance(self.recording.day.entry(step.time, asked));
        self.found.clear();
        self.answer = Answer::None;
        let before = self.report.differences;
        match step.request {
            Request::Enter(incoming) => self.enter(step, &incoming),
            Request::Cancel { id, quantity, resting } => {
                self.order = Some(id);
                self.exchange.cancel(id, &mut self.events);
                self.take_events();
                self.compare_cancel(id, quantity, resting);
                self.market.remove(&id);
            }
            Request::Reduce { id, quantity, resting } => self.reduce(id, quantity, resting),
            Request::Clear => {
                self.exchange.mass_cancel(&Filter::default(), &mut self.events);
                self.take_events();
                self.market.clear();
                self.early.clear();
            }
        }
        self.compare_book();
        if matches!(self.recording.feed, Feed::Resting { .. }) && self.report.differences > before {
            self.correct(step);
        }
    }

    fn advance(&mut self, time: Nanos) {
        if time > self.exchange.now() {
            self.order = None;
            self.exchange.advance(time, &mut self.events);
            self.take_events();
            self.auctions.compare(&mut self.report);
        }
    }

    fn enter(&mut self, step: &Step, incoming: &Incoming) {
        let &Incoming { id, side, price, quantity, published } = incoming;
        self.order = Some(id);
        if published == When::Again {
            self.report.differ(|| Difference {
                what: What::Order,
                place: step.place,
                order: Some(id),
                expected: "a row of this order behind rows of others".to_owned(),
                found: "it came in whole, and its rest stands right behind its trades".to_owned(),
            });
        }
        if published == When::Later {
            let best = self.exchange.book(INSTRUMENT).and_then(|book| book.best(side.opposite()));
            let crosses = best.zip(price).is_some_and(|(best, price)| reaches(side, price, best.price));
            // Where it would trade, its number does not say when it came in.
            if crosses || !self.early.insert(id) {
                return;
            }
        } else if self.early.contains(&id) {
            return;
        }
        self.report.orders += 1;
        self.exchange.submit(&order(incoming), &mut self.events);
        self.take_events();
        let expected = &self.flow.trades[step.trades.clone()];
        if matches!(self.recording.feed, Feed::Resting { .. }) {
            let traded = expected.iter().fold(0_i64, |sum, trade| sum.saturating_add(trade.quantity.0));
            if let Some(price) = price.filter(|_| quantity.0 > traded) {
                self.market.insert(id, (side, price, quantity.0.saturating_sub(traded)));
            }
            for trade in expected {
                let resting = if side == Side::Buy { trade.sell } else { trade.buy };
                resting.into_iter().for_each(|resting| lower(&mut self.market, resting, trade.quantity));
            }
        }
        self.compare_trades(expected);
    }

    fn reduce(&mut self, id: u64, quantity: Quantity, resting: Option<(Side, Price)>) {
        self.order = Some(id);
        match self.exchange.order(id) {
            Some(state) if state.open > quantity => {
                let total = Quantity(state.quantity().0.saturating_sub(quantity.0));
                let request = Replace { id, price: state.price, quantity: total };
                self.exchange.replace(&request, &mut self.events);
                self.take_events();
                self.report.cancels += 1;
                if self.answer == Answer::Reduced && is_of(resting, (state.side, state.price)) {
                    self.report.cancels_identical += 1;
                } else {
                    self.differ_cancel(id, quantity, resting);
                }
            }
            _ => {
                self.exchange.cancel(id, &mut self.events);
                self.take_events();
                self.compare_cancel(id, quantity, resting);
            }
        }
        lower(&mut self.market, id, quantity);
    }

    /// Goes through what the exchange has said.
    pub(super) fn take_events(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        for event in events.drain(..) {
            if let Event::Traded(trade) = event {
                self.search.pass(self.trades + 1, &self.traded, &mut self.report);
                self.trades += 1;
                self.traded.add(self.trades, trade.price, trade.quantity);
                if auction_of(self.phase).is_some() || trade.aggressor == wire::Aggressor::None {
                    self.auctions.trade(trade);
                } else {
                    self.found.push(trade);
                }
            }
            let mut changed = self.depth.apply(&event);
            match event {
                Event::Uncrossed { auction, equilibrium, .. } => self.auctions.uncross(auction, equilibrium),
                Event::PhaseChanged { to, .. } => {
                    self.phase = to;
                    changed = true;
                }
                Event::Cancelled(state, Reason::Requested) => {
                    self.answer = Answer::Cancelled(state.open, state.side, state.price);
                }
                Event::Replaced(_, None) => self.answer = Answer::Reduced,
                Event::Refused { refused: Refusal::Cancel | Refusal::Replace, reason, .. } => {
                    self.answer = Answer::Refused(reason);
                }
                Event::Rejected(order, reason) => {
                    self.report.refused += 1;
                    let place = self.place;
                    self.report.differ(|| Difference {
                        what: What::Order,
                        place,
                        order: Some(order.id),
                        expected: "accepted".to_owned(),
                        found: format!("refused: {reason}"),
                    });
                }
                _ => {}
            }
            if changed && auction_of(self.phase).is_none() {
                self.search.state(self.trades, &self.depth, self.order);
            }
        }
        self.events = events;
    }

    fn finish(mut self) -> Report {
        let latest = self.recording.rows.iter().map(|row| row.time).max().unwrap_or_default();
        self.report.is_cut = self.recording.day.end().is_some_and(|end| latest.0 + LAST < end.0);
        let begun = self.recording.day.auctions().last().is_some_and(|&(_, begin, _)| latest >= begin);
        if let Some(end) = self.recording.day.end().filter(|_| begun) {
            self.place = self.recording.rows.last().map_or(self.place, |row| row.place);
            self.advance(end);
        }
        self.search.pass(u64::MAX, &self.traded, &mut self.report);
        self.compare_clocks();
        self.auctions.finish(&mut self.report);
        self.report
    }
}

/// Whether an order is what a row says of it.
pub(super) fn is_of(resting: Option<(Side, Price)>, order: (Side, Price)) -> bool {
    resting.is_none_or(|(side, price)| side == order.0 && (!price.is_some() || price == order.1))
}

fn reaches(side: Side, price: Price, best: Price) -> bool {
    match side {
        Side::Buy => price >= best,
        Side::Sell => price <= best,
    }
}

fn order(incoming: &Incoming) -> Order {
    let &Incoming { id, side, price, quantity, .. } = incoming;
    match price {
        Some(price) => Order::limit(id, INSTRUMENT, side, price, quantity),
        None => Order {
            kind: Kind::Market,
            lifetime: Lifetime::ImmediateOrCancel,
            ..Order::limit(id, INSTRUMENT, side, Price::NONE, quantity)
        },
    }
}
