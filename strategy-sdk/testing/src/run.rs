//! A day through a strategy, and what came of it.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::time::Duration;

use matching::engine::{Engine, EngineOptions, FillModel};
use strategy_sdk::testing::{Harness, Role, Setup};
use strategy_sdk::{
    Best, Fill, Instrument, InstrumentId, MarketData, Money, Nanos, OrderStatus, OrderUpdate, Position,
    Price, Quantity, Reason, Request, Strategy,
};
use wire::{Execution, MarketTime, NewOrder};

use crate::day::{Day, ReplayError};
use crate::market::Published;

/// Requests of one event, before the strategy counts as one that answers itself for ever.
const MOST_ANSWERS: usize = 100_000;

/// How a day is replayed. [`replay`] is the short way.
#[derive(Debug)]
pub struct Replay<S> {
    setup: Setup,
    fills: Option<FillModel>,
    strategy: PhantomData<fn() -> S>,
}

/// Replays a day through a strategy that hears depth.
///
/// # Errors
/// [`ReplayError`].
pub fn replay<S: Strategy>(parameters: S::Parameters, day: &Day) -> Result<Run<S>, ReplayError> {
    Replay::<S>::new().run(parameters, day)
}

impl<S: Strategy> Replay<S> {
    /// A strategy that hears depth, whose orders are matched beside the recorded order flow.
    #[expect(clippy::new_without_default, reason = "nobody makes one by default")]
    pub fn new() -> Replay<S> {
        let setup = Setup { deterministic: true, ..Harness::<S>::setup() };
        Replay { setup, fills: None, strategy: PhantomData }
    }

    /// What it hears: `data` of its group in a platform file.
    pub fn data(self, data: MarketData) -> Replay<S> {
        Replay { setup: Setup { data, ..self.setup }, ..self }
    }

    /// How much of the market it hears before its start: `warm_up` of its group.
    pub fn warm_up(self, lasts: Duration) -> Replay<S> {
        Replay { setup: Setup { warm_up: lasts, ..self.setup }, ..self }
    }

    /// What its orders trade with: `matching.fill`. Without it, the flow of orders, or in a recording that has none the quotes.
    pub fn fills(self, fills: FillModel) -> Replay<S> {
        Replay { fills: Some(fills), ..self }
    }

    /// Any other part of the setup.
    pub fn setup(self, change: impl FnOnce(Setup) -> Setup) -> Replay<S> {
        Replay { setup: change(self.setup), ..self }
    }

    /// Runs the day to its end, then stops the strategy.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub fn run(&self, parameters: S::Parameters, day: &Day) -> Result<Run<S>, ReplayError> {
        let mut market = day.open()?;
        let fill = self.fills.unwrap_or(match market.has_flow() {
            true => FillModel::Book,
            false => FillModel::Quotes,
        });
        let data = self.setup.data;
        if fill == FillModel::Quotes
            && let Some(fault) = data.fault_beside_quotes()
        {
            return Err(ReplayError::Unfit(fault));
        }
        let mut desk = Desk {
            run: Run {
                harness: Harness::with(parameters, self.setup.clone())?,
                instruments: market.instruments().iter().map(|listed| (listed.id, *listed)).collect(),
                requests: Vec::new(),
                executions: Vec::new(),
                bests: BTreeMap::new(),
                events: 0,
            },
            engine: Engine::new(EngineOptions { fill, ..EngineOptions::default() }),
            answers: Vec::new(),
            now: Nanos(0),
            is_settled: true,
            held: Vec::new(),
        };
        for listed in market.instruments() {
            desk.engine.on_instrument(listed);
            desk.run.harness.send(Role::Instruments, listed.id.0, listed);
        }
        desk.run.harness.start();
        desk.answer()?;
        while let Some(published) = market.next()? {
            desk.pass_until(published.time(), data)?;
            desk.take(&published, fill, data)?;
        }
        desk.settle()?;
        desk.run.harness.stop();
        desk.answer()?;
        Ok(desk.run)
    }
}

/// The strategy and its market.
struct Desk<S> {
    run: Run<S>,
    engine: Engine,
    answers: Vec<Execution>,
    /// The market's time, and whether all that the market did then is known.
    now: Nanos,
    is_settled: bool,
    /// Requests of this instant, which reach the market behind the last event of it.
    held: Vec<Request>,
}

impl<S: Strategy> Desk<S> {
    /// Before a message of this time: the rest of the instant before it, then timers and bars that are due in between.
    fn pass_until(&mut self, time: Nanos, data: MarketData) -> Result<(), ReplayError> {
        if time <= self.now {
            return Ok(());
        }
        self.settle()?;
        while let Some(due) = self.run.harness.market_due().filter(|due| *due < time) {
            self.now = self.now.max(due);
            self.run.harness.send(role_of(data), 0, &MarketTime { event_time: self.now });
            self.answer()?;
        }
        (self.now, self.is_settled) = (time, false);
        Ok(())
    }

    /// Nothing more of the instant follows.
    fn settle(&mut self) -> Result<(), ReplayError> {
        self.is_settled = true;
        self.engine.end_instants(Nanos(u64::MAX), &mut self.answers);
        self.report();
        for request in std::mem::take(&mut self.held) {
            self.carry_out(&request);
            self.report();
        }
        self.answer()
    }

    /// One message: the market's books first, then what they fill, then the strategy.
    fn take(&mut self, published: &Published, fill: FillModel, data: MarketData) -> Result<(), ReplayError> {
        self.run.events += 1;
        match (published, fill) {
            (Published::Phase(phase, _), _) => self.engine.on_phase(phase, &mut self.answers),
            (Published::Flow(event), FillModel::Book) => {
                self.engine.on_book_event(event, &mut self.answers);
            }
            (Published::Quote(quote), FillModel::Quotes) => self.engine.on_quote(quote, &mut self.answers),
            (Published::Trade(trade), FillModel::Quotes) => {
                self.engine.on_trade_print(trade, &mut self.answers);
            }
            _ => {}
        }
        self.report();
        self.answer()?;
        let harness = &mut self.run.harness;
        match (published, data) {
            (Published::Phase(phase, is_before), _) if !is_before || data == MarketData::Flow => {
                harness.send(role_of(data), phase.instrument.0, phase);
            }
            (Published::Flow(event), MarketData::Flow) => {
                harness.send(Role::Flow, event.instrument.0, event);
            }
            (Published::Trade(trade), MarketData::Depth) => {
                harness.send(Role::Quotes, trade.instrument.0, trade);
            }
            (Published::Trade(trade), MarketData::Best) => {
                harness.send(Role::Best, trade.instrument.0, trade);
            }
            (Published::Quote(quote), _) => {
                let best = Best::of(quote);
                let before = self.run.bests.insert(quote.instrument, best);
                if data == MarketData::Best && before == Some(best) {
                    harness.keep_depth(quote);
                } else {
                    harness.publish(quote);
                }
            }
            _ => {}
        }
        self.answer()
    }

    /// Carries out what the strategy sent, and hands it the answers, until it sends nothing more.
    fn answer(&mut self) -> Result<(), ReplayError> {
        let mut taken = 0;
        loop {
            let sent = self.run.harness.sent();
            if sent.is_empty() {
                return Ok(());
            }
            taken += sent.len();
            if taken > MOST_ANSWERS {
                return Err(ReplayError::Endless(MOST_ANSWERS));
            }
            for request in sent {
                self.run.requests.push(request);
                if self.is_settled {
                    self.carry_out(&request);
                    self.report();
                } else {
                    self.held.push(request);
                }
            }
        }
    }

    fn carry_out(&mut self, request: &Request) {
        match request {
            Request::New(order) => match self.run.fault(order.instrument, order.price, order.quantity, order)
            {
                Some(reason) => self.answers.push(Execution::Update(refused(order, reason))),
                None => self.engine.new_order(order, &mut self.answers),
            },
            Request::Cancel(cancel) => self.engine.cancel(cancel, &mut self.answers),
            Request::Replace(replace) => self.engine.replace(replace, &mut self.answers),
            Request::CancelAll(cancel) => self.engine.cancel_all(cancel, &mut self.answers),
        }
    }

    /// Hands over what matching said.
    fn report(&mut self) {
        for execution in std::mem::take(&mut self.answers) {
            match &execution {
                Execution::Fill(fill) => self.run.harness.send(Role::Reports, 0, fill),
                Execution::Update(update) => self.run.harness.send(Role::Reports, 0, update),
            };
            self.run.executions.push(execution);
        }
    }
}

/// The journal in which a strategy hears its market data.
fn role_of(data: MarketData) -> Role {
    match data {
        MarketData::Depth => Role::Quotes,
        MarketData::Best => Role::Best,
        MarketData::Flow => Role::Flow,
    }
}

/// As td refuses an order.
fn refused(order: &NewOrder, reason: Reason) -> OrderUpdate {
    OrderUpdate {
        order_id: order.order_id,
        instrument: order.instrument,
        side: order.side,
        status: OrderStatus::Rejected,
        reason,
        reserved: 0,
        price: order.price,
        quantity: order.quantity,
        filled: Quantity::ZERO,
        remaining: Quantity::ZERO,
        event_time: Nanos(0),
        execution: 0,
        answered_up_to: 0,
        refused_request: 0,
        reported_up_to: 0,
    }
}

/// What came of a day.
#[derive(Debug)]
pub struct Run<S> {
    harness: Harness<S>,
    instruments: BTreeMap<InstrumentId, Instrument>,
    requests: Vec<Request>,
    executions: Vec<Execution>,
    bests: BTreeMap<InstrumentId, Best>,
    events: u64,
}

impl<S: Strategy> Run<S> {
    /// Messages of the market that were replayed.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// All that the strategy sent, in order.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Its new orders.
    pub fn orders(&self) -> impl Iterator<Item = &NewOrder> {
        self.requests.iter().filter_map(|request| match request {
            Request::New(order) => Some(order),
            _ => None,
        })
    }

    /// All that was reported to it, in order.
    pub fn executions(&self) -> &[Execution] {
        &self.executions
    }

    /// What of its orders traded.
    pub fn fills(&self) -> impl Iterator<Item = &Fill> {
        self.executions.iter().filter_map(|execution| match execution {
            Execution::Fill(fill) => Some(fill),
            Execution::Update(_) => None,
        })
    }

    /// Its orders that were rejected, with the reason.
    pub fn rejects(&self) -> impl Iterator<Item = &OrderUpdate> {
        self.executions.iter().filter_map(|execution| match execution {
            Execution::Update(update) if update.status == OrderStatus::Rejected => Some(update),
            _ => None,
        })
    }

    /// The instrument with this symbol.
    pub fn instrument(&self, symbol: &str) -> Option<&Instrument> {
        self.instruments.values().find(|listed| listed.symbol.as_str() == symbol)
    }

    /// What it holds of an instrument at the end; nothing of one that is not listed.
    pub fn position(&self, symbol: &str) -> Position {
        let id = self.instrument(symbol).map(|listed| listed.id);
        id.map_or_else(Position::default, |id| self.harness.context().position(id))
    }

    /// Profit and loss of an instrument, what is open at the last mid. Without fees.
    pub fn profit(&self, symbol: &str) -> Money {
        let id = self.instrument(symbol).map(|listed| listed.id);
        let mid = id.and_then(|id| self.bests.get(&id)).and_then(Best::mid);
        self.position(symbol).profit(mid.unwrap_or(Price::NONE))
    }

    /// The strategy.
    pub fn strategy(&self) -> &S {
        self.harness.strategy()
    }

    /// The harness, for whatever else is to be asked.
    pub fn harness(&self) -> &Harness<S> {
        &self.harness
    }

    /// Why td would refuse it.
    fn fault(&self, id: InstrumentId, price: Price, quantity: Quantity, order: &NewOrder) -> Option<Reason> {
        let listed = self.instruments.get(&id)?;
        if order.order_type.has_price() && !price.is_on_tick(listed.tick) {
            return Some(Reason::OffTick);
        }
        quantity.lots(listed.lot).is_err().then_some(Reason::Quantity)
    }
}
