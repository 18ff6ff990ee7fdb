//! The exchange of the strategies' own orders: requests in, executions and market data out.

use topology::config::{MatchingConfig, PhaseName, PhaseStart, RuleSet};
use wire::{
    AccountId, CancelOrder, Execution, Instrument, InstrumentId, Nanos, NewOrder, OrderType, OrderUpdate,
    Price, Quantity, Reason, ReplaceOrder, TimeInForce,
};

use super::feed::Feed;
use super::reports::report;
use crate::engine::UsedIds;
use crate::exchange::{
    DynamicBand, Equilibrium, Event, Exchange, ExchangeOptions, InstrumentRules, Kind, Lifetime, MarketRules,
    Order, Phase, Replace, SelfTrade, Width,
};

/// Nanoseconds between two looks at what an auction would trade.
const INDICATIVE: u64 = 100_000_000;

/// An instrument as the exchange lists it.
#[derive(Clone, Copy, Debug)]
struct Listed {
    instrument: InstrumentId,
    lot: i64,
    /// What was last said of its auction.
    indicated: Option<Equilibrium>,
    /// When its next snapshot is due.
    snapshot_due: u64,
}

/// The exchange, and what it is told and tells.
#[derive(Debug)]
pub(super) struct Participants {
    exchange: Exchange,
    used: UsedIds,
    rules: MarketRules,
    band: Option<DynamicBand>,
    phases: Vec<PhaseStart>,
    snapshot: u64,
    /// By instrument.
    listed: Vec<Listed>,
    events: Vec<Event>,
    pub(super) feed: Feed,
    indicative_due: u64,
    /// Before this time nothing is due but what requests cause.
    due: u64,
    /// A successor of one that was killed: its readers' books are void.
    pub(super) again: bool,
    /// The end of the day was said.
    ended: bool,
}

impl Participants {
    pub(super) fn new(config: &MatchingConfig) -> Participants {
        let rules = match config.rules {
            RuleSet::Plain => MarketRules::plain(),
            RuleSet::Shanghai => MarketRules::shanghai(),
            RuleSet::Shenzhen => MarketRules::shenzhen(),
            RuleSet::Cme => MarketRules::cme(),
        };
        let points = (config.band * 10_000.0).round() as u32;
        let auction = Nanos(config.band_auction.as_nanos() as u64);
        Participants {
            exchange: Exchange::new(ExchangeOptions {
                huge_pages: config.huge_pages,
                ..ExchangeOptions::default()
            }),
            used: UsedIds::default(),
            rules,
            band: (points > 0).then_some(DynamicBand { width: Width::BasisPoints(points), auction }),
            phases: config.phases.clone(),
            snapshot: config.snapshot.as_nanos() as u64,
            listed: Vec::new(),
            events: Vec::new(),
            feed: Feed::default(),
            indicative_due: 0,
            due: 0,
            again: false,
            ended: false,
        }
    }

    pub(super) fn is_on_huge_pages(&self) -> bool {
        self.exchange.is_on_huge_pages()
    }

    pub(super) fn number_trades_after(&mut self, trade: u64) {
        self.exchange.number_trades_after(trade);
    }

    /// Lists an instrument. One that cannot be is left out, and its orders are rejected.
    pub(super) fn list(&mut self, instrument: &Instrument) {
        let rules = InstrumentRules {
            // An instrument without a tick takes every price.
            ticks: vec![(Price(0), Price(instrument.tick.0.max(1)))],
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
                self.listed.push(Listed { instrument: instrument.id, lot, indicated: None, snapshot_due: 0 })
            }
            Err(error) => log::error!("instrument {} is not listed: {error}", instrument.id),
        }
    }

    /// The list is complete: the day begins, at `start` on the platform's clock. Phases that are over are not gone through.
    pub(super) fn open(&mut self, start: Nanos, now: Nanos, answers: &mut Vec<Execution>) {
        let at = |phase: &PhaseStart| Nanos(start.0.saturating_add(phase.after.as_nanos() as u64));
        let schedule: Vec<(Nanos, Phase)> =
            self.phases.iter().map(|start| (at(start), phase(start.phase))).collect();
        let begun = schedule.iter().rposition(|(time, _)| *time <= now);
        let first = match begun {
            Some(begun) => schedule[begun].1,
            None if schedule.is_empty() => Phase::Continuous,
            None => Phase::Closed,
        };
        self.feed.set_time(now);
        self.exchange.advance(now, &mut self.events);
        for index in 0..self.listed.len() {
            let instrument = self.listed[index].instrument;
            if self.again
                && let Some(book) = self.exchange.book(instrument)
            {
                self.feed.whole(instrument, &book, false);
            }
            self.exchange.set_phase(instrument, first, &mut self.events);
            let rest = schedule[begun.map_or(0, |begun| begun + 1)..].to_vec();
            self.exchange.schedule(instrument, rest);
        }
        self.pass_on(InstrumentId(0), now, answers);
    }

    pub(super) fn new_order(&mut self, request: &NewOrder, now: Nanos, answers: &mut Vec<Execution>) {
        if request.time_in_force == TimeInForce::GoodTillDate {
            self.due = 0;
        }
        let lot = self.lot(request.instrument);
        let order = self.used.claim(request.order_id).then(|| order(request, lot));
        match order {
            Some(Ok(order)) => self.exchange.submit(&order, &mut self.events),
            Some(Err(reason)) => answers.push(Execution::Update(OrderUpdate::rejection(request, reason))),
            None => answers.push(Execution::Update(OrderUpdate::rejection(request, Reason::DuplicateOrder))),
        }
        self.pass_on(request.instrument, now, answers);
    }

    pub(super) fn cancel(&mut self, request: &CancelOrder, now: Nanos, answers: &mut Vec<Execution>) {
        self.exchange.cancel(request.order_id.0, &mut self.events);
        self.pass_on(request.instrument, now, answers);
    }

    pub(super) fn replace(&mut self, request: &ReplaceOrder, now: Nanos, answers: &mut Vec<Execution>) {
        let replace = Replace { id: request.order_id.0, price: request.price, quantity: request.quantity };
        self.exchange.replace(&replace, &mut self.events);
        self.pass_on(request.instrument, now, answers);
    }

    /// Does what is due by now. Returns when to come again.
    pub(super) fn advance(&mut self, now: Nanos, answers: &mut Vec<Execution>) -> Option<u64> {
        self.feed.set_time(now);
        self.exchange.advance(now, &mut self.events);
        self.pass_on(InstrumentId(0), now, answers);
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
        self.snapshots(now.0);
        let is_over = |listed: &Listed| self.exchange.phase(listed.instrument) == Some(Phase::Closed);
        if self.exchange.next_phase().is_none() && !self.phases.is_empty() && self.listed.iter().all(is_over)
        {
            self.ended = true;
            self.feed.end();
        }
        let snapshots = self.listed.iter().map(|listed| listed.snapshot_due).min();
        let collects = self.listed.iter().any(|listed| self.collects(listed.instrument));
        let indicative = collects.then_some(self.indicative_due);
        let due = self.exchange.next_event().map(|time| time.0);
        let due = [snapshots, indicative, due].into_iter().flatten().min();
        self.due = due.unwrap_or(u64::MAX);
        due
    }

    fn collects(&self, instrument: InstrumentId) -> bool {
        self.exchange
            .phase(instrument)
            .is_some_and(|phase| phase.auction().is_some() && phase != Phase::PreOpen)
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
                }
            }
        }
    }

    fn pass_on(&mut self, instrument: InstrumentId, now: Nanos, answers: &mut Vec<Execution>) {
        self.feed.set_time(now);
        for event in self.events.drain(..) {
            if let Event::PhaseChanged { .. } = event {
                // Another auction may have to be indicated, and may end.
                self.due = 0;
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

/// The request as the exchange takes it.
fn order(request: &NewOrder, lot: i64) -> Result<Order, Reason> {
    let lots = |lots: u32| i64::from(lots).checked_mul(lot).map(Quantity).ok_or(Reason::Quantity);
    let newest = request.flags & NewOrder::CANCEL_NEWEST != 0;
    let oldest = request.flags & NewOrder::CANCEL_OLDEST != 0;
    let post_only =
        request.flags & NewOrder::POST_ONLY != 0 || request.time_in_force == TimeInForce::PostOnly;
    Ok(Order {
        id: request.order_id.0,
        instrument: request.instrument,
        side: request.side,
        kind: match request.order_type {
            OrderType::Limit => Kind::Limit(request.price),
            OrderType::Market => Kind::Market,
            OrderType::Stop => Kind::Stop { trigger: request.trigger },
            OrderType::StopLimit => Kind::StopLimit { trigger: request.trigger, price: request.price },
        },
        lifetime: match request.time_in_force {
            TimeInForce::Day | TimeInForce::PostOnly => Lifetime::Day,
            TimeInForce::ImmediateOrCancel => Lifetime::ImmediateOrCancel,
            TimeInForce::FillOrKill => Lifetime::FillOrKill,
            TimeInForce::GoodTillCancel => Lifetime::GoodTillCancel,
            TimeInForce::GoodTillDate => {
                Lifetime::GoodTillDate(Nanos(u64::from(request.ends_s) * 1_000_000_000))
            }
            TimeInForce::AtTheOpen => Lifetime::AtTheOpen,
            TimeInForce::AtTheClose => Lifetime::AtTheClose,
        },
        post_only,
        quantity: request.quantity,
        display: lots(request.display_lots)?,
        minimum: lots(request.minimum_lots)?,
        account: AccountId(request.account.0),
        strategy: request.order_id.strategy(),
        self_trade: match (newest, oldest) {
            (true, true) => Some(SelfTrade::CancelBoth),
            (true, false) => Some(SelfTrade::CancelNewest),
            (false, true) => Some(SelfTrade::CancelOldest),
            (false, false) => None,
        },
    })
}

fn phase(name: PhaseName) -> Phase {
    match name {
        PhaseName::Closed => Phase::Closed,
        PhaseName::PreOpen => Phase::PreOpen,
        PhaseName::OpeningAuction => Phase::OpeningAuction,
        PhaseName::OpeningFreeze => Phase::OpeningFreeze,
        PhaseName::Pause => Phase::Pause,
        PhaseName::Continuous => Phase::Continuous,
        PhaseName::Halt => Phase::Halt,
        PhaseName::ClosingAuction => Phase::ClosingAuction,
        PhaseName::ClosingFreeze => Phase::ClosingFreeze,
    }
}
