//! The exchange of the strategies' own orders: requests in, executions and market data out.

use topology::config::{MatchingConfig, PhaseStart, RuleSet, TickRow, UtcOffset, named, ticks_of};
use wire::{
    CancelAll, CancelOrder, Execution, Instrument, InstrumentId, MarketImage, Message, Nanos, NewOrder,
    OrderId, OrderImage, OrderStatus, OrderUpdate, Price, Quantity, Reason, ReplaceOrder, Request, StateEnd,
    Statistics, Symbol, TimeInForce,
};

use super::changes::Changes;
use super::feed::Feed;
use super::keeper::{Item, Kept, Reached, Send, Written};
use super::order::{filter, order, set_self_trade};
use super::reports::report;
use super::schedule::schedule;
use super::statistics::DayStatistics;
use crate::engine::UsedIds;
use crate::exchange::{
    DynamicBand, Equilibrium, Event, Exchange, ExchangeOptions, InstrumentRules, MarketRules, Phase, Replace,
    Width, auction_of,
};

/// Nanoseconds between two looks at what an auction would trade.
const INDICATIVE: u64 = 100_000_000;

/// An instrument as the exchange lists it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    pub(super) instrument: InstrumentId,
    pub(super) symbol: Symbol,
    lot: i64,
    /// What was last said of its auction.
    indicated: Option<Equilibrium>,
    /// When its next snapshot is due.
    snapshot_due: u64,
}

/// The exchange, and what it is told and tells.
#[derive(Debug)]
pub(super) struct Participants {
    pub(super) exchange: Exchange,
    pub(super) used: UsedIds,
    /// What has changed since it was last written down.
    pub(super) changes: Changes,
    rules: MarketRules,
    band: Option<DynamicBand>,
    ticks: Vec<TickRow>,
    phases: Vec<PhaseStart>,
    utc_offset: UtcOffset,
    snapshot: u64,
    pub(super) statistics: DayStatistics,
    /// By instrument.
    pub(super) listed: Vec<Listed>,
    events: Vec<Event>,
    ids: Vec<u64>,
    images: Vec<OrderImage>,
    pub(super) feed: Feed,
    indicative_due: u64,
    /// Before this time nothing is due but what requests cause.
    due: u64,
    /// A successor of one that was killed: its readers' books are void.
    pub(super) again: bool,
    /// Some instrument has phases.
    has_day: bool,
    /// The end of the day was said.
    pub(super) ended: bool,
}

impl Participants {
    pub(super) fn new(config: &MatchingConfig) -> Participants {
        let mut rules = match config.rules {
            RuleSet::Plain => MarketRules::plain(),
            RuleSet::Shanghai => MarketRules::shanghai(),
            RuleSet::Shenzhen => MarketRules::shenzhen(),
            RuleSet::Cme => MarketRules::cme(),
        };
        set_self_trade(&mut rules, config.self_trade, config.self_trade_owner);
        let points = (config.band * 10_000.0).round() as u32;
        let auction = Nanos(config.band_auction.as_nanos() as u64);
        Participants {
            exchange: Exchange::new(ExchangeOptions {
                huge_pages: config.huge_pages,
                ..ExchangeOptions::default()
            }),
            used: UsedIds::default(),
            changes: Changes::default(),
            rules,
            band: (points > 0).then_some(DynamicBand { width: Width::BasisPoints(points), auction }),
            ticks: config.ticks.clone(),
            phases: config.phases.clone(),
            utc_offset: config.utc_offset,
            snapshot: config.snapshot.as_nanos() as u64,
            statistics: DayStatistics::new(config.statistics),
            listed: Vec::new(),
            events: Vec::new(),
            ids: Vec::new(),
            images: Vec::new(),
            feed: Feed::default(),
            indicative_due: 0,
            due: 0,
            again: false,
            has_day: false,
            ended: false,
        }
    }

    pub(super) fn is_on_huge_pages(&self) -> bool {
        self.exchange.is_on_huge_pages()
    }

    pub(super) fn number_trades_after(&mut self, trade: u64) {
        self.exchange.number_trades_after(trade);
    }

    /// What has traded before this process.
    pub(super) fn take_over(&mut self, statistics: Statistics) {
        self.statistics.take_over(statistics);
    }

    /// Lists an instrument. One that cannot be is left out, and its orders are rejected.
    pub(super) fn list(&mut self, instrument: &Instrument) {
        let mut ticks = ticks_of(&self.ticks, instrument.symbol.as_str());
        if ticks.is_empty() {
            // An instrument without a tick takes every price.
            ticks.push((Price(0), Price(instrument.tick.0.max(1))));
        }
        let rules = InstrumentRules {
            ticks,
            lot: Quantity(instrument.lot.0.max(1)),
            max_quantity: Quantity(instrument.max_quantity.0.max(0)),
            reference_price: instrument.reference_price,
            price_low: instrument.price_low,
            price_high: instrument.price_high,
            dynamic_band: self.band,
            market: self.rules.clone(),
            ..InstrumentRules::new(instrument.id, Price(1))
        };
        let lot = rules.lot.0;
        match self.exchange.list(rules) {
            Ok(()) => {
                let symbol = instrument.symbol;
                let listed =
                    Listed { instrument: instrument.id, symbol, lot, indicated: None, snapshot_due: 0 };
                self.listed.push(listed);
                self.statistics.reach(instrument.id);
            }
            Err(error) => log::error!("instrument {} is not listed: {error}", instrument.id),
        }
    }

    /// The list is complete: the day begins, at `start` on the platform's clock. Phases that are over are not gone through.
    pub(super) fn open(&mut self, start: Nanos, now: Nanos, answers: &mut Vec<Execution>) {
        self.check_names();
        self.feed.set_time(now);
        self.exchange.advance(now, &mut self.events);
        for index in 0..self.listed.len() {
            let Listed { instrument, symbol, .. } = self.listed[index];
            let mut schedule = self.schedule(symbol, start);
            let begun = schedule.iter().rposition(|(time, _)| *time <= now);
            let first = match begun {
                Some(begun) => schedule[begun].1,
                None if schedule.is_empty() => Phase::Continuous,
                None => Phase::Closed,
            };
            if self.again
                && let Some(book) = self.exchange.book(instrument)
            {
                self.feed.whole(instrument, &book, false);
            }
            self.exchange.set_phase(instrument, first, &mut self.events);
            schedule.drain(..begun.map_or(0, |begun| begun + 1));
            self.exchange.schedule(instrument, schedule);
            self.changes.instrument(instrument);
        }
        self.pass_on(InstrumentId(0), now, answers);
    }

    /// The phases of an instrument on a day that began at `start`.
    pub(super) fn schedule(&mut self, symbol: Symbol, start: Nanos) -> Vec<(Nanos, Phase)> {
        let schedule = schedule(&self.phases, symbol.as_str(), start, self.utc_offset);
        self.has_day |= !schedule.is_empty();
        schedule
    }

    /// Reports what the platform file names and md has not listed.
    fn check_names(&self) {
        for symbol in named(&self.ticks).union(&named(&self.phases)) {
            if !self.listed.iter().any(|listed| listed.symbol.as_str() == *symbol) {
                log::error!("[matching] names instrument `{symbol}`, which md has not listed");
            }
        }
    }

    /// Carries out a request that was written at `time`. The exchange's time is that of its requests, and of what was due:
    /// so the same requests have the same answers, whenever they are read.
    pub(super) fn request(&mut self, request: &Request, time: Nanos, answers: &mut Vec<Execution>) {
        let now = time.max(self.exchange.now());
        self.exchange.advance(now, &mut self.events);
        if !self.events.is_empty() {
            self.pass_on(InstrumentId(0), now, answers);
        }
        match request {
            Request::New(request) => self.new_order(request, now, answers),
            Request::Cancel(request) => self.cancel(request, now, answers),
            Request::Replace(request) => self.replace(request, now, answers),
            Request::CancelAll(request) => self.cancel_all(request, now, answers),
        }
    }

    fn new_order(&mut self, request: &NewOrder, now: Nanos, answers: &mut Vec<Execution>) {
        if request.time_in_force == TimeInForce::GoodTillDate {
            self.due = 0;
        }
        let lot = self.lot(request.instrument);
        self.changes.strategy(request.order_id.strategy());
        let order = self.used.claim(request.order_id).then(|| order(request, lot));
        let rejected = |reason| {
            Execution::Update(OrderUpdate { event_time: now, ..OrderUpdate::rejection(request, reason) })
        };
        match order {
            Some(Ok(order)) => self.exchange.submit(&order, &mut self.events),
            Some(Err(reason)) => answers.push(rejected(reason)),
            None => answers.push(rejected(Reason::DuplicateOrder)),
        }
        self.pass_on(request.instrument, now, answers);
    }

    fn cancel(&mut self, request: &CancelOrder, now: Nanos, answers: &mut Vec<Execution>) {
        self.exchange.cancel(request.order_id.0, &mut self.events);
        self.pass_on(request.instrument, now, answers);
    }

    /// Cancels all orders of a strategy that match what the request gives: an answer for each, then one for the request.
    fn cancel_all(&mut self, request: &CancelAll, now: Nanos, answers: &mut Vec<Execution>) {
        let done = self.exchange.mass_cancel(&filter(request), &mut self.events);
        self.pass_on(request.instrument, now, answers);
        let (status, reason) = (OrderStatus::MassCancelled, Reason::Requested);
        answers.push(Execution::Update(OrderUpdate {
            side: request.side,
            quantity: Quantity(i64::try_from(done.cancelled).unwrap_or(i64::MAX)),
            remaining: Quantity(i64::try_from(done.passed_over).unwrap_or(i64::MAX)),
            event_time: now,
            ..OrderUpdate::about(request.order_id, request.instrument, status, reason)
        }));
    }

    fn replace(&mut self, request: &ReplaceOrder, now: Nanos, answers: &mut Vec<Execution>) {
        let replace = Replace { id: request.order_id.0, price: request.price, quantity: request.quantity };
        self.exchange.replace(&replace, &mut self.events);
        self.pass_on(request.instrument, now, answers);
    }

    /// Does in the books what is due by now.
    pub(super) fn pass(&mut self, now: Nanos, answers: &mut Vec<Execution>) {
        self.exchange.advance(now, &mut self.events);
        self.pass_on(InstrumentId(0), now, answers);
    }

    /// Publishes what is due by now. Returns when to come again.
    pub(super) fn timely(&mut self, now: Nanos) -> Option<u64> {
        self.feed.set_time(now);
        // Every turn comes here, and what follows looks at every instrument.
        if now.0 < self.due {
            return Some(self.due);
        }
        if now.0 >= self.indicative_due {
            self.indicative_due = now.0 + INDICATIVE;
            self.indicate();
        }
        if self.ended {
            return None;
        }
        self.statistics.publish(now.0, &mut self.feed);
        self.snapshots(now.0);
        let is_over = |listed: &Listed| self.exchange.phase(listed.instrument) == Some(Phase::Closed);
        if self.has_day && self.exchange.next_phase().is_none() && self.listed.iter().all(is_over) {
            self.ended = true;
            self.statistics.publish_now(&mut self.feed);
            self.feed.end();
        }
        let snapshots = self.listed.iter().map(|listed| listed.snapshot_due).min();
        let collects = self.listed.iter().any(|listed| self.collects(listed.instrument));
        let indicative = collects.then_some(self.indicative_due);
        let due = self.exchange.next_event().map(|time| time.0);
        let due = [snapshots, indicative, due, self.statistics.due()].into_iter().flatten().min();
        self.due = due.unwrap_or(u64::MAX);
        due
    }

    fn collects(&self, instrument: InstrumentId) -> bool {
        self.exchange
            .phase(instrument)
            .is_some_and(|phase| auction_of(phase).is_some() && phase != Phase::PreOpen)
    }

    fn indicate(&mut self) {
        for index in 0..self.listed.len() {
            let instrument = self.listed[index].instrument;
            let equilibrium = match self.collects(instrument) {
                true => self.exchange.equilibrium(instrument),
                false => None,
            };
            if equilibrium != self.listed[index].indicated {
                self.listed[index].indicated = equilibrium;
                if let Some(equilibrium) = equilibrium {
                    self.feed.indicative(instrument, &equilibrium);
                }
            }
        }
    }

    fn snapshots(&mut self, now: u64) {
        for index in 0..self.listed.len() {
            let listed = &mut self.listed[index];
            if now >= listed.snapshot_due {
                // Books take turns, so that one snapshot does not delay all of them.
                let turn = self.snapshot / 64 * (index as u64 % 64);
                listed.snapshot_due = now + self.snapshot + if listed.snapshot_due == 0 { turn } else { 0 };
                let instrument = listed.instrument;
                if let Some(book) = self.exchange.book(instrument) {
                    self.feed.whole(instrument, &book, true);
                    self.statistics.repeat(instrument, &mut self.feed);
                }
            }
        }
    }

    fn pass_on(&mut self, instrument: InstrumentId, now: Nanos, answers: &mut Vec<Execution>) {
        self.feed.set_time(now);
        for event in self.events.drain(..) {
            match &event {
                // Another auction may have to be indicated, and may end.
                Event::PhaseChanged { instrument, .. } => {
                    self.due = 0;
                    self.exchange.reached(*instrument).for_each(|id| self.changes.order(id));
                }
                Event::Traded(trade) => {
                    self.statistics.trade(trade.buy.instrument, trade.id, trade.price, trade.quantity);
                    self.due = self.due.min(self.statistics.due().unwrap_or(u64::MAX));
                }
                _ => {}
            }
            event.changed(|id| self.changes.order(id));
            if let Some(instrument) = event.instrument() {
                self.changes.instrument(instrument);
            }
            report(&event, instrument, now, answers);
            self.feed.event(&event);
        }
        self.feed.close();
    }

    fn lot(&self, instrument: InstrumentId) -> i64 {
        let listed = self.listed.get(instrument.0.wrapping_sub(1) as usize);
        let listed = listed.filter(|listed| listed.instrument == instrument);
        let listed = listed.or_else(|| self.listed.iter().find(|listed| listed.instrument == instrument));
        listed.map_or(1, |listed| listed.lot)
    }
}

impl Kept for Participants {
    type Image = OrderImage;

    fn changed(&self) -> usize {
        self.changes.orders()
    }

    fn take_changed(&mut self, most: usize, images: &mut Vec<OrderImage>) {
        self.changes.take_orders(most, &mut self.ids);
        let image = |id: &u64| self.exchange.image(*id).unwrap_or(OrderImage::gone(OrderId(*id)));
        images.clear();
        images.extend(self.ids.iter().map(image));
    }

    fn not_written(&mut self, image: &OrderImage) {
        self.changes.order(image.order_id.0);
    }

    fn changes(&mut self) -> &mut Changes {
        &mut self.changes
    }

    fn listed(&self) -> usize {
        self.listed.len()
    }

    fn instrument(&self, number: usize) -> InstrumentId {
        self.listed[number].instrument
    }

    fn again(&mut self, item: Item) {
        match item {
            Item::Place(place) => self.key(place).into_iter().for_each(|id| self.changes.order(id)),
            Item::Instrument(instrument) => self.changes.instrument(instrument),
            Item::Strategy(strategy) => self.changes.strategy(strategy),
        }
    }

    fn used(&self) -> &UsedIds {
        &self.used
    }

    fn places(&self) -> usize {
        self.exchange.places()
    }

    fn key(&self, place: u32) -> Option<u64> {
        self.exchange.image_at(place as usize).map(|image| image.order_id.0)
    }

    fn market(&mut self, instrument: InstrumentId, send: Send<'_>) -> Written {
        let Some(state) = self.exchange.market_state(instrument) else { return Ok(true) };
        let image = MarketImage {
            instrument,
            phase: state.phase,
            reserved: [0; 3],
            last_price: state.last,
            auction_ends: state.auction_ends.map_or(u64::MAX, |ends| ends.0),
            sequence: self.feed.sequence(instrument),
        };
        let statistics = self.statistics.of(instrument);
        let is_written = send(MarketImage::ID, image.bytes())?;
        if !is_written || statistics.trades == 0 {
            return Ok(is_written);
        }
        send(Statistics::ID, statistics.bytes())
    }

    fn orders(&self) -> usize {
        self.exchange.working_orders()
    }

    fn end(&self, reached: &Reached, base: u64) -> StateEnd {
        let counts = self.exchange.counts();
        StateEnd {
            request: reached.request,
            time: counts.now.0,
            execution: reached.execution,
            executions: reached.executions,
            market: reached.market,
            base,
            trade: counts.trades,
            orders: self.exchange.working_orders() as u64,
            age_number: counts.sequence,
            instruments: self.listed.len() as u32,
            ended: u64::from(self.ended),
        }
    }

    fn buffer(&mut self) -> &mut Vec<OrderImage> {
        &mut self.images
    }
}
