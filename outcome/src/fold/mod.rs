//! From the frames of a run to the rows of its tables. Pure but for the files: the same frames give the same bytes.
//!
//! ```text
//!  market's clock ──► advance ──► rows of the event before, sorted by order id; samples of the time before
//!  quotes or bests ─► marks ──────────┐
//!  requests ────────► lives of orders │
//!  executions ──────► the ledger's own book ──► fills, equity, positions
//!  refusals by td ──► ends of orders
//! ```
//!
//! In lock-step time is the market's. Which of two journals is read first within one market event makes no difference to any
//! row, so one process and many give the same files.

mod halts;
mod moves;
mod names;
mod order;
mod sheets;
#[cfg(test)]
mod tests;
mod trader;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use accounts::{Follower as Accounts, Tariff};
use ledger::Book;
use observe::{Report, StrategyReport};
use topology::config::MatchingConfig;
use topology::{NodeKind, Stream, Topology};
use wire::{
    AccountOpen, Best, BookEvent, Execution, FeeRule, Fill, Instrument, InstrumentId, LatencySample,
    MarketPhase, MarketTime, Message, Nanos, NewOrder, OrderId, OrderStatus, OrderUpdate, Price, Quote,
    Request, StrategyId, TradePrint,
};

pub use self::halts::Halts;
use self::halts::Phases;
use self::names::Names;
use self::order::Life;
use self::sheets::Sheets;

pub use self::sheets::{Measure, strategy_measures};
use self::trader::{SECOND, Trader, Worth};
use crate::sheet::{Line, Listed};

/// First distance of two samples.
const SAMPLE_NS: u64 = 100_000_000;
/// It doubles each time that so many rows of samples have been written.
const ROWS_A_STEP: u64 = 20_000;
/// Rows of `t2o.csv`; a day of a busy platform would make it the largest file by far.
const MOST_SAMPLES: u64 = 1_000_000;

/// Whose time the rows have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeOf {
    /// The market's own: in lock-step.
    Market,
    /// The platform's clock.
    Platform,
}

/// When the run began and ended, by its own time, and how much it saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) begin: Option<u64>,
    pub(crate) end: Option<u64>,
    pub(crate) sample_ns: u64,
    /// Rows of `t2o.csv` that were left out.
    pub(crate) samples_left_out: u64,
    /// Orders that were rejected, by reason.
    pub(crate) refused: BTreeMap<String, u64>,
    /// What the market's phases did to them.
    pub(crate) halts: Halts,
}

/// An order's life, and how and when it ended.
#[derive(Debug)]
struct Ended {
    life: Life,
    update: OrderUpdate,
    at: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Fold {
    time_of: TimeOf,
    /// What happens in the market is known later: it happened at the time that it bears.
    is_late: bool,
    now: u64,
    begin: Option<u64>,
    book: Book,
    names: Names,
    traders: BTreeMap<u16, Trader>,
    lives: BTreeMap<OrderId, Life>,
    /// Orders that ended at this market event. Requests about them may yet come: who sent them did not know.
    ended: BTreeMap<OrderId, Ended>,
    /// Instruments whose mark or positions have changed at this time.
    moved: Vec<InstrumentId>,
    /// Instruments that somebody has an order in, with the mark that was written last.
    priced: BTreeMap<InstrumentId, Price>,
    accounts: Option<Box<Accounts>>,
    tariff: Tariff,
    accounts_written: BTreeMap<u32, (i128, i128, i128)>,
    interval: u64,
    next_sample: u64,
    next_second: u64,
    rows_at_step: u64,
    samples_left_out: u64,
    /// Orders that were rejected, by reason.
    refused: BTreeMap<String, u64>,
    phases: Phases,
    /// The market's flow is read too, and has its phases.
    has_flow: bool,
    line: Line,
    sheets: Sheets,
}

impl Fold {
    pub(crate) fn new(folder: &Path, topology: &Topology, accounts: Option<accounts::Options>) -> Fold {
        let time_of = if topology.deterministic { TimeOf::Market } else { TimeOf::Platform };
        let mut tariff = Tariff::default();
        // Where accounts are kept, the drop copy has the rules.
        if accounts.is_none() {
            for rule in topology.market.fee_rules() {
                if let Err(refusal) = tariff.rule(&rule) {
                    log::error!("a charge of the platform file is left out: {refusal}");
                }
            }
        }
        let senders = topology.nodes.iter().filter(|node| node.kind.sends());
        Fold {
            time_of,
            is_late: time_of == TimeOf::Market && has_latency(topology),
            now: 0,
            begin: None,
            book: Book::new(),
            names: Names::of(topology),
            traders: senders.map(|node| (node.seat, Trader::default())).collect(),
            lives: BTreeMap::new(),
            ended: BTreeMap::new(),
            moved: Vec::new(),
            priced: BTreeMap::new(),
            sheets: Sheets::create(folder, accounts.is_some()),
            accounts: accounts.map(|options| Box::new(Accounts::new(options))),
            accounts_written: BTreeMap::new(),
            tariff,
            interval: SAMPLE_NS,
            next_sample: 0,
            next_second: 0,
            rows_at_step: 0,
            samples_left_out: 0,
            refused: BTreeMap::new(),
            phases: Phases::default(),
            has_flow: has_flow(topology),
            line: Line::default(),
        }
    }

    fn stamp(&self) -> Option<u64> {
        (self.now > 0).then_some(self.now)
    }

    /// When something happened in the market.
    fn stamp_of(&self, event_time: Nanos) -> Option<u64> {
        if self.is_late && event_time.0 > 0 { Some(event_time.0) } else { self.stamp() }
    }

    /// The time is this one from here on; never an earlier one.
    #[inline]
    fn advance(&mut self, time: u64) {
        if time <= self.now {
            return;
        }
        if !self.ended.is_empty() {
            self.write_ended();
        }
        if self.begin.is_none() {
            self.begin_at(time);
        }
        if !self.moved.is_empty() {
            self.drawdowns();
        }
        if time >= self.next_second {
            self.seconds(time);
        }
        if time >= self.next_sample {
            // Nothing has happened since that point of the grid: as things stand, they stood there.
            self.sample(self.next_sample, false);
            self.next_sample = (time / self.interval + 1) * self.interval;
        }
        self.now = time;
    }

    /// Takes the drawdown at the end of an instant. States within an instant, as a fill before the quote of the same trade, are not
    /// equity.
    fn drawdowns(&mut self) {
        for (&seat, trader) in &mut self.traders {
            if trader.has_any(&self.moved) {
                let worth = trader.worth(StrategyId(seat), &self.book);
                trader.drawdown(worth.equity_net());
            }
        }
        self.moved.clear();
    }

    fn has_moved(&mut self, instrument: InstrumentId) {
        if !self.moved.contains(&instrument) {
            self.moved.push(instrument);
        }
    }

    #[cold]
    fn begin_at(&mut self, time: u64) {
        self.begin = Some(time);
        self.now = time;
        self.next_second = (time / SECOND + 1) * SECOND;
        self.next_sample = (time / self.interval + 1) * self.interval;
        self.sample(time, true);
    }

    /// The clock, where it is another journal than that of the marks. A frame of the platform's clock counts by its own time.
    pub(crate) fn clock(&mut self, id: u16, payload: &[u8], frame_time: u64) {
        if id == MarketPhase::ID {
            self.phase(payload);
        }
        if self.time_of == TimeOf::Platform {
            return self.advance(frame_time);
        }
        let time = match id {
            BookEvent::ID => BookEvent::read(payload, |event| event.event_time).ok(),
            TradePrint::ID => TradePrint::read(payload, |trade| trade.event_time).ok(),
            MarketPhase::ID => MarketPhase::read(payload, |phase| phase.event_time).ok(),
            MarketTime::ID => MarketTime::read(payload, |time| time.event_time).ok(),
            _ => None,
        };
        if let Some(time) = time {
            self.advance(time.0);
        }
    }

    /// Quotes or bests, and trade prints.
    pub(crate) fn market(&mut self, topic: u32, id: u16, payload: &[u8], frame_time: u64) {
        let time = match (self.time_of, id) {
            (TimeOf::Platform, _) => Some(Nanos(frame_time)),
            (_, Quote::ID) => Quote::read(payload, |quote| quote.event_time).ok(),
            (_, TradePrint::ID) => TradePrint::read(payload, |trade| trade.event_time).ok(),
            (_, MarketPhase::ID) => MarketPhase::read(payload, |phase| phase.event_time).ok(),
            (_, MarketTime::ID) => MarketTime::read(payload, |time| time.event_time).ok(),
            _ => None,
        };
        if let Some(time) = time {
            self.advance(time.0);
        }
        if id == MarketPhase::ID && !self.has_flow {
            self.phase(payload);
        }
        if matches!(id, Quote::ID | Best::ID | TradePrint::ID) {
            let instrument = InstrumentId(topic);
            let before = self.book.mark(instrument);
            self.book.on_market(topic, id, payload);
            if self.book.mark(instrument) != before {
                self.has_moved(instrument);
            }
        }
    }

    fn phase(&mut self, payload: &[u8]) {
        if let Ok(phase) = MarketPhase::decode(payload) {
            self.phases.enter(&phase);
        }
    }

    pub(crate) fn instrument(&mut self, id: u16, payload: &[u8]) {
        if id == Instrument::ID
            && let Ok(instrument) = Instrument::decode(payload)
        {
            self.names.instrument(&instrument);
            self.book.list(&instrument);
            self.tariff.list(&instrument);
        }
    }

    pub(crate) fn request(&mut self, id: u16, payload: &[u8], frame_time: u64) {
        if self.time_of == TimeOf::Platform {
            self.advance(frame_time);
        }
        if id == NewOrder::ID {
            if let Ok(order) = NewOrder::decode(payload) {
                self.new_order(&order);
            }
            return;
        }
        let Ok(request) = Request::decode(id, payload) else { return };
        let seat = request.order_id().strategy().0;
        let trader = self.traders.entry(seat).or_default();
        let ended = self.ended.get_mut(&request.order_id()).map(|ended| &mut ended.life);
        let life = self.lives.get_mut(&request.order_id()).or(ended);
        match request {
            Request::Replace(_) => {
                trader.replaces += 1;
                life.into_iter().for_each(|life| life.replaces += 1);
            }
            Request::Cancel(_) => {
                trader.cancels += 1;
                life.into_iter().for_each(|life| life.cancels += 1);
            }
            Request::CancelAll(_) => trader.cancels += 1,
            Request::New(_) => {}
        }
    }

    fn new_order(&mut self, order: &NewOrder) {
        let now = self.stamp();
        let trader = self.traders.entry(order.order_id.strategy().0).or_default();
        trader.orders += 1;
        self.priced.entry(order.instrument).or_insert(Price::NONE);
        let life = self.lives.entry(order.order_id).or_insert_with(|| Life::sent(order, now));
        trader.ordered += life.has(order.quantity.0);
    }

    /// What matching says.
    pub(crate) fn execution(&mut self, position: u64, id: u16, payload: &[u8], frame_time: u64) {
        if self.time_of == TimeOf::Platform {
            self.advance(frame_time);
        }
        let Ok(execution) = Execution::decode(id, payload) else { return };
        match execution {
            Execution::Fill(fill) => self.fill(position, payload, &fill),
            Execution::Update(update) => {
                self.phases.update(&update);
                self.book.on_execution(position, id, payload);
                self.update(&update);
            }
        }
    }

    fn fill(&mut self, position: u64, payload: &[u8], fill: &Fill) {
        let (strategy, now) = (fill.order_id.strategy(), self.stamp_of(fill.event_time));
        let before = self.book.position(strategy, fill.instrument);
        self.book.on_execution(position, Fill::ID, payload);
        let after = self.book.position(strategy, fill.instrument);
        if before == after {
            return;
        }
        self.priced.entry(fill.instrument).or_insert(Price::NONE);
        let since = self.now.saturating_sub(self.begin.unwrap_or(self.now));
        let trader = self.traders.entry(strategy.0).or_default();
        let contract = self.book.contract(fill.instrument);
        let done = trader.fill(fill, &before, &after, (since, contract));
        let found = || Life::found(fill.instrument, fill.side);
        let life = self.lives.entry(fill.order_id).or_insert_with(found);
        let fees = self.tariff.fill(life.account, fill);
        trader.fees = trader.fees.saturating_add(fees);
        trader.ordered += life.has(life.total_of(fill));
        life.fill(fill, (now, contract), fees);
        let line = &mut self.line;
        line.clear();
        line.maybe(now).number(fill.trade_id).order(fill.order_id).text(self.names.seat(strategy.0));
        line.number(life.account.0).number(fill.instrument.0).text(self.names.symbol(fill.instrument));
        line.text(fill.side.as_str()).text(fill.liquidity.as_str()).price(fill.price);
        line.number(fill.quantity.0).number(fill.remaining.0).number(after.quantity());
        line.number(done.closed).decimal(done.realised).decimal(fees);
        self.sheets.fills.write(line);
        self.has_moved(fill.instrument);
    }

    /// Whether an answer to a strategy is td's own refusal: the rest stands in the executions.
    #[inline]
    pub(crate) fn is_refusal(id: u16, payload: &[u8]) -> bool {
        id == OrderUpdate::ID && OrderUpdate::read(payload, |update| update.execution == 0).unwrap_or(false)
    }

    /// An answer to a strategy.
    pub(crate) fn refusal(&mut self, id: u16, payload: &[u8], frame_time: u64) {
        if !Fold::is_refusal(id, payload) {
            return;
        }
        if let Ok(update) = OrderUpdate::decode(payload) {
            if self.time_of == TimeOf::Platform {
                self.advance(frame_time);
            }
            self.update(&update);
        }
    }

    fn update(&mut self, update: &OrderUpdate) {
        let now = self.stamp_of(update.event_time);
        let trader = self.traders.entry(update.order_id.strategy().0).or_default();
        match update.status {
            OrderStatus::Rejected => {
                trader.rejected += 1;
                *self.refused.entry(update.reason.as_str().to_owned()).or_default() += 1;
            }
            OrderStatus::CancelRejected => trader.cancels_rejected += 1,
            OrderStatus::ReplaceRejected => trader.replaces_rejected += 1,
            OrderStatus::MassCancelled => return,
            _ => {}
        }
        if update.status.is_final() {
            self.tariff.ended(update.order_id);
            let found = || Life::found(update.instrument, update.side);
            let mut life = self.lives.remove(&update.order_id).unwrap_or_else(found);
            trader.ordered += life.has(update.quantity.0);
            self.ended.insert(update.order_id, Ended { life, update: *update, at: now });
            return;
        }
        if update.status == OrderStatus::Accepted {
            let found = || Life::found(update.instrument, update.side);
            self.lives.entry(update.order_id).or_insert_with(found);
        }
        let ended = self.ended.get_mut(&update.order_id).map(|ended| &mut ended.life);
        if let Some(life) = self.lives.get_mut(&update.order_id).or(ended) {
            // A refusal may have the quantity that was asked for in vain.
            if !update.status.is_refusal() {
                trader.ordered += life.has(update.quantity.0);
            }
            life.update(update, now);
        }
    }

    /// The times of an order, of which only these rows are of the host's clock.
    pub(crate) fn sample_of_order(&mut self, id: u16, payload: &[u8]) {
        if id != LatencySample::ID {
            return;
        }
        let Ok(sample) = LatencySample::decode(payload) else { return };
        if self.sheets.t2o.rows() >= MOST_SAMPLES {
            self.samples_left_out += 1;
            return;
        }
        let known = |time: Nanos| (time.0 > 0).then_some(time.0);
        let line = &mut self.line;
        line.clear();
        line.order(sample.order_id).text(self.names.seat(sample.order_id.strategy().0));
        line.maybe(known(sample.due)).maybe(known(sample.published)).maybe(known(sample.received));
        line.maybe(known(sample.ordered)).maybe(known(sample.taken));
        self.sheets.t2o.write(line);
    }

    /// The drop copy, where accounts are kept.
    pub(crate) fn drop_copy(&mut self, at: (u64, u32, Nanos), id: u16, payload: &[u8]) {
        match id {
            FeeRule::ID => {
                if let Ok(rule) = FeeRule::decode(payload) {
                    // One that was refused is not in the drop copy.
                    let _ = self.tariff.rule(&rule);
                }
            }
            AccountOpen::ID => {
                if let Ok(open) = AccountOpen::decode(payload) {
                    self.tariff.open(&open);
                }
            }
            _ => {}
        }
        if let Some(accounts) = &mut self.accounts {
            // What does not follow is the audit's matter; losses are said by who reads.
            let _ = accounts.frame(at, id, payload);
        }
    }

    fn write_ended(&mut self) {
        for (id, Ended { life, update, at }) in std::mem::take(&mut self.ended) {
            self.sheets.orders.write(&life.row(id, &self.names, Some((&update, at)), true));
        }
    }

    /// Whole seconds have ended before `time`.
    fn seconds(&mut self, time: u64) {
        for (&seat, trader) in &mut self.traders {
            let worth = trader.worth(StrategyId(seat), &self.book);
            trader.second(worth.equity_net(), self.now, time);
        }
        self.next_second = (time / SECOND + 1) * SECOND;
    }

    /// Writes how things stand, at a time of the grid.
    fn sample(&mut self, time: u64, force: bool) {
        for (&seat, trader) in &mut self.traders {
            let me = StrategyId(seat);
            let worth = trader.worth(me, &self.book);
            let name = self.names.seat(seat);
            if let Some(line) = trader.equity_row(time, name, &worth, force) {
                self.sheets.equity.write(&line);
            }
            for (instrument, position) in trader.moved(me, &self.book) {
                let mark = self.book.mark(instrument);
                let line = &mut self.line;
                line.clear();
                line.number(time).text(name).number(instrument.0).text(self.names.symbol(instrument));
                line.number(position.quantity()).price(position.average_price()).price(mark);
                line.decimal(position.realised()).decimal(position.unrealised(mark));
                self.sheets.positions.write(line);
            }
        }
        for (&instrument, written) in &mut self.priced {
            let mark = self.book.mark(instrument);
            if mark.is_some() && (mark != *written || force) {
                *written = mark;
                let line = &mut self.line;
                line.clear();
                line.number(time).number(instrument.0).text(self.names.symbol(instrument)).price(mark);
                self.sheets.prices.write(line);
            }
        }
        self.sample_accounts(time, force);
        if self.sheets.sampled() - self.rows_at_step >= ROWS_A_STEP {
            self.rows_at_step = self.sheets.sampled();
            self.interval *= 2;
        }
    }

    fn sample_accounts(&mut self, time: u64, force: bool) {
        let (Some(accounts), Some(sheet)) = (&self.accounts, &mut self.sheets.accounts) else { return };
        for account in accounts.desk.accounts() {
            let owner = account.owner.map_or("", |owner| self.names.seat(owner.0));
            // Own accounts of strategies have no number, and numbers end below this.
            let key = account.account.0 | account.owner.map_or(0, |owner| (u32::from(owner.0) + 1) << 21);
            let state = (account.equity, account.available, account.margin);
            if self.accounts_written.insert(key, state) == Some(state) && !force {
                continue;
            }
            let line = &mut self.line;
            line.clear();
            line.number(time).number(account.account.0).text(owner);
            line.shown(account.currency).decimal(account.equity).decimal(account.available);
            line.decimal(account.margin).decimal(account.day_result).number(account.open_orders);
            sheet.write(line);
        }
    }

    pub(crate) fn flush(&mut self) {
        self.sheets.flush();
    }

    /// Orders that are still at work, the last sample, the table of strategies.
    /// `partial`: not all of the run could be read, and this is its report, which counts from the begin.
    pub(crate) fn finish(mut self, partial: Option<Partial<'_>>) -> (Vec<Listed>, Vec<String>, Span) {
        self.write_ended();
        let open: BTreeSet<OrderId> = self.lives.keys().copied().collect();
        for id in open {
            if let Some(life) = self.lives.get(&id) {
                let line = life.row(id, &self.names, None, partial.is_none());
                self.sheets.orders.write(&line);
            }
            if let Some(trader) = self.traders.get_mut(&id.strategy().0) {
                trader.open += 1;
            }
        }
        self.sample(self.now, true);
        for (&seat, trader) in &mut self.traders {
            let worth: Worth = trader.worth(StrategyId(seat), &self.book);
            trader.drawdown(worth.equity_net());
            let name = self.names.seat(seat);
            if self.begin.is_some() {
                trader.end(worth.equity_net());
            }
            let line = match partial {
                None => trader.row(name, &worth),
                Some(Partial(report)) => {
                    let rows = report.map_or(&[][..], |report| &report.strategies);
                    partial_row(name, rows.iter().find(|row| row.name == name))
                }
            };
            self.sheets.strategies.write(&line);
        }
        let span = Span {
            begin: self.begin,
            end: self.stamp(),
            sample_ns: self.interval,
            samples_left_out: self.samples_left_out,
            refused: std::mem::take(&mut self.refused),
            halts: self.phases.halts(),
        };
        let (listed, problems) = self.sheets.finish();
        (listed, problems, span)
    }
}

/// The report of a run of which not all could be read, if there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partial<'a>(pub(crate) Option<&'a Report>);

/// What the report says of a strategy; what only all of its rows would say stays empty.
fn partial_row(name: &str, row: Option<&StrategyReport>) -> Line {
    let mut line = Line::default();
    line.text(name);
    let requests = row.map(|row| &row.requests);
    let counts = |of: fn(&observe::Requests) -> u64| requests.map(of);
    line.maybe(counts(|it| it.orders)).maybe(counts(|it| it.rejected)).maybe(counts(|it| it.cancels));
    line.maybe(counts(|it| it.cancels_rejected)).maybe(counts(|it| it.replaces));
    line.maybe(counts(|it| it.replaces_rejected)).maybe(row.map(|row| row.fills));
    line.empty().empty().maybe(row.map(|row| row.position)).empty();
    match row.and_then(|row| row.pnl_exact) {
        Some(pnl) => line.decimal(pnl.0),
        None => line.empty(),
    };
    while line.cells() < sheets::STRATEGIES.len() {
        line.empty();
    }
    line
}

/// Whether reports are known later than what they report.
fn has_flow(topology: &Topology) -> bool {
    [Stream::Flow, Stream::Market].into_iter().any(|stream| topology.carrying(stream).next().is_some())
}

fn has_latency(topology: &Topology) -> bool {
    let matching = topology.nodes.iter().find(|node| node.kind == NodeKind::Matching);
    let config =
        matching.and_then(|node| serde_json::from_value::<MatchingConfig>(node.section.clone()).ok());
    config.is_some_and(|config| config.has_latency())
}
