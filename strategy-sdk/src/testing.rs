//! Runs a strategy without a platform: a test makes its events, and reads its orders.
//!
//! ```
//! use strategy_sdk::testing::Harness;
//! use strategy_sdk::{Context, NoParameters, Request, ParameterError, Quote, Strategy};
//!
//! struct Buyer;
//!
//! impl Strategy for Buyer {
//!     type Parameters = NoParameters;
//!
//!     fn create(_parameters: NoParameters) -> Result<Buyer, ParameterError> {
//!         Ok(Buyer)
//!     }
//!
//!     fn quote(&mut self, context: &mut Context, quote: &Quote) {
//!         let Some(ask) = quote.best_ask() else { return };
//!         context.buy(quote.instrument, ask.price, ask.quantity).ok();
//!     }
//! }
//!
//! let mut harness = Harness::<Buyer>::new(NoParameters {})?;
//! let instrument = harness.list("SIM001", "0.01", 100);
//! harness.start();
//! harness.quote(instrument, "9.99", "10.01", 300);
//!
//! let sent = harness.sent();
//! let [Request::New(order)] = sent[..] else { panic!("{sent:?}") };
//! assert_eq!((order.price.to_string().as_str(), order.quantity.0), ("10.01", 300));
//!
//! harness.accept(&order);
//! harness.fill(&order, order.price, 300);
//! assert_eq!(harness.context().position(instrument).quantity.0, 300);
//! # Ok::<(), strategy_sdk::ParameterError>(())
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use node::{AccountError, AccountFinder, Counter, DepthError, Frame, Gap, WriteError};
use topology::config::MarketData;
use wire::{
    AccountId, AccountState, Best, Fill, Instrument, InstrumentId, Level, Liquidity, Message, Nanos,
    NewOrder, OrderStatus, OrderUpdate, Price, Quantity, Quote, Reason, Request, StrategyId, Symbol,
};

use crate::context::Context;
use crate::instruments::Interest;
use crate::port::Port;
use crate::session::Session;
pub use crate::session::{Role, Setup};
use crate::strategy::{ParameterError, Strategy};

/// What the harness' journals are called in [`Cause::journal`](wire::Cause::journal), by role.
pub const INSTRUMENTS_JOURNAL: u32 = 1;
/// Likewise: quotes and trades.
pub const QUOTES_JOURNAL: u32 = 2;
/// Likewise: reports.
pub const REPORTS_JOURNAL: u32 = 3;
/// Likewise: the ledger's state.
pub const STATE_JOURNAL: u32 = 4;
/// Likewise: best bids and asks.
pub const BEST_JOURNAL: u32 = 5;
/// Likewise: the order flow.
pub const FLOW_JOURNAL: u32 = 6;

/// State that the session's port and the harness share.
#[derive(Debug, Default)]
struct Desk {
    now: u64,
    sent: Vec<Request>,
    full: bool,
    counters: Vec<(Counter, u64)>,
    /// How often the ledger was asked for the strategy's state.
    asked: u32,
    is_settled: bool,
    /// What md would keep: the latest quote of each instrument.
    depths: BTreeMap<InstrumentId, Quote>,
    /// What the ledger would keep; its own account has its seat.
    accounts: BTreeMap<AccountId, AccountState>,
}

struct DeskPort(Rc<RefCell<Desk>>);

impl Port for DeskPort {
    fn now(&self) -> Nanos {
        Nanos(self.0.borrow().now)
    }

    fn send(&mut self, message: &Request) -> Result<(), WriteError> {
        let mut desk = self.0.borrow_mut();
        if desk.full {
            return Err(WriteError::Full { needed: 128, free: 0 });
        }
        desk.sent.push(*message);
        Ok(())
    }

    fn depth(&self, instrument: InstrumentId) -> Result<Quote, DepthError> {
        self.0.borrow().depths.get(&instrument).copied().ok_or(DepthError::Nothing(instrument))
    }

    fn account(&self, finder: &mut AccountFinder) -> Result<AccountState, AccountError> {
        let desk = self.0.borrow();
        if desk.accounts.is_empty() {
            return Err(AccountError::NotKept);
        }
        desk.accounts.get(&finder.account()).copied().ok_or(AccountError::Unknown(finder.account()))
    }

    fn ask_state(&mut self) {
        self.0.borrow_mut().asked += 1;
    }

    fn settle_state(&mut self) {
        self.0.borrow_mut().is_settled = true;
    }

    fn count(&mut self, counter: Counter, amount: u64) {
        let mut desk = self.0.borrow_mut();
        match desk.counters.iter_mut().find(|(known, _)| *known == counter) {
            Some((_, value)) => *value += amount,
            None => desk.counters.push((counter, amount)),
        }
    }

    fn warms_up(&mut self, _does: bool) {}
}

/// A strategy in a session of its own, with a clock that stands still unless it is moved.
#[derive(Debug)]
pub struct Harness<S> {
    session: Session<S>,
    desk: Rc<RefCell<Desk>>,
    /// Of the next frame, in whatever journal.
    position: u64,
    sequence: u64,
}

impl<S: Strategy> Harness<S> {
    /// In seat 7, first start, reads all instruments, without a ledger, on a platform's clock that starts at 1 s.
    ///
    /// # Errors
    /// As [`Strategy::create`].
    pub fn new(parameters: S::Parameters) -> Result<Harness<S>, ParameterError> {
        Harness::with(parameters, Harness::<S>::setup())
    }

    /// What [`Harness::new`] starts with, to be changed for [`Harness::with`].
    pub fn setup() -> Setup {
        Setup {
            name: "test-1".to_owned(),
            strategy: StrategyId(7),
            generation: 1,
            epoch: 1,
            interest: Interest::All,
            data: MarketData::Depth,
            deterministic: false,
            recorded_clock: false,
            ledger: false,
            accounts: Vec::new(),
            warm_up: Duration::ZERO,
        }
    }

    /// With another setup. [`Strategy::interest`] goes before the one in it.
    ///
    /// # Errors
    /// As [`Strategy::create`].
    pub fn with(parameters: S::Parameters, setup: Setup) -> Result<Harness<S>, ParameterError> {
        let strategy = S::create(parameters)?;
        let desk = Rc::new(RefCell::new(Desk { now: 1_000_000_000, ..Desk::default() }));
        let interest = strategy.interest().unwrap_or(setup.interest);
        let port = Box::new(DeskPort(Rc::clone(&desk)));
        let session = Session::new(strategy, Setup { interest, ..setup }, port);
        Ok(Harness { session, desk, position: 64, sequence: 0 })
    }

    /// Lists an instrument; ids count from 1. `tick` is a decimal, any price if it is none; 24 bytes of `symbol`
    /// count.
    pub fn list(&mut self, symbol: &str, tick: &str, lot: i64) -> InstrumentId {
        let id = InstrumentId(self.context().instruments().len() as u32 + 1);
        self.send(
            Role::Instruments,
            id.0,
            &Instrument {
                id,
                reserved: 0,
                symbol: Symbol::new(symbol).unwrap_or_default(),
                tick: tick.parse().unwrap_or_default(),
                lot: Quantity(lot),
                price_low: Price::NONE,
                price_high: Price::NONE,
                reference_price: Price::NONE,
                max_quantity: Quantity::ZERO,
                multiplier: 0,
                currency: wire::Currency::EMPTY,
            },
        );
        id
    }

    /// The list of instruments is whole: starts the strategy, unless it waits for a ledger.
    pub fn start(&mut self) {
        self.session.complete_list();
        self.session.turn();
    }

    /// A quote of one level a side, both of `quantity`; a side whose price is no decimal is empty. Its event time is
    /// that of the clock.
    pub fn quote(&mut self, instrument: InstrumentId, bid: &str, ask: &str, quantity: i64) {
        let level = |price: &str| match price.parse() {
            Ok(price) => Level { price, quantity: Quantity(quantity) },
            Err(_) => Level::EMPTY,
        };
        self.sequence += 1;
        let mut quote = Quote::empty(instrument);
        quote.event_time = Nanos(self.desk.borrow().now);
        quote.sequence = self.sequence;
        quote.bids[0] = level(bid);
        quote.asks[0] = level(ask);
        self.publish(&quote);
    }

    /// Any quote, as md publishes it: kept as the depth, and sent as what the strategy hears, itself or the best of it.
    /// True when the session took it; with `data = "flow"` it hears neither.
    pub fn publish(&mut self, quote: &Quote) -> bool {
        let topic = quote.instrument.0;
        self.desk.borrow_mut().depths.insert(quote.instrument, *quote);
        match self.context().data() {
            MarketData::Depth => self.send(Role::Quotes, topic, quote),
            MarketData::Best => self.send(Role::Best, topic, &Best::of(quote)),
            MarketData::Flow => false,
        }
    }

    /// Keeps a quote as the depth that [`Context::depth`] answers with, and sends nothing: for a quote whose best did not change.
    pub fn keep_depth(&mut self, quote: &Quote) {
        self.desk.borrow_mut().depths.insert(quote.instrument, *quote);
    }

    /// Any message, as a frame of the journal in that role. True when the session took it; false when it must wait.
    pub fn send<M: Message>(&mut self, role: Role, topic: u32, message: &M) -> bool {
        self.send_bytes(role, topic, M::ID, message.bytes())
    }

    /// Any bytes, likewise.
    pub fn send_bytes(&mut self, role: Role, topic: u32, message_id: u16, payload: &[u8]) -> bool {
        if !self.session.accepts(role) {
            return false;
        }
        let journal = match role {
            Role::Instruments => INSTRUMENTS_JOURNAL,
            Role::Quotes => QUOTES_JOURNAL,
            Role::Best => BEST_JOURNAL,
            Role::Flow => FLOW_JOURNAL,
            Role::Reports => REPORTS_JOURNAL,
            Role::State => STATE_JOURNAL,
        };
        let position = self.position;
        self.position += 64;
        // Committed a little before it is received.
        let time = self.desk.borrow().now.saturating_sub(100);
        let frame = Frame { position, time, message_id, flags: 0, topic, epoch: 1, payload };
        let received = Nanos(self.desk.borrow().now);
        self.session.frame(role, journal, &frame, received);
        true
    }

    /// An account stands so from now on; before the first, the platform keeps none. Number 0 is the strategy's own.
    pub fn set_account(&mut self, state: &AccountState) {
        self.desk.borrow_mut().accounts.insert(state.account, *state);
    }

    /// The market has accepted an order.
    pub fn accept(&mut self, order: &NewOrder) {
        self.update(order, OrderStatus::Accepted, Reason::None);
    }

    /// An update that leaves price and total quantity as they were asked for.
    pub fn update(&mut self, order: &NewOrder, status: OrderStatus, reason: Reason) {
        let filled =
            self.context().working_order(order.order_id).map_or(Quantity::ZERO, |known| known.filled);
        let remaining = if status.is_final() { Quantity::ZERO } else { order.quantity - filled };
        let update = OrderUpdate {
            order_id: order.order_id,
            instrument: order.instrument,
            side: order.side,
            status,
            reason,
            reserved: 0,
            price: order.price,
            quantity: order.quantity,
            filled,
            remaining,
            event_time: Nanos(0),
            execution: self.position,
            answered_up_to: 0,
            refused_request: 0,
            reported_up_to: 0,
        };
        self.send(Role::Reports, 0, &update);
    }

    /// Part of an order has traded; the update that says where it stands follows.
    pub fn fill(&mut self, order: &NewOrder, price: Price, quantity: i64) {
        let known = self.context().working_order(order.order_id);
        let remaining = known.map_or(order.quantity, |known| known.remaining()) - Quantity(quantity);
        let fill = Fill {
            order_id: order.order_id,
            trade_id: self.position,
            instrument: order.instrument,
            side: order.side,
            liquidity: Liquidity::Taker,
            reserved: [0; 2],
            price,
            quantity: Quantity(quantity),
            remaining,
            event_time: Nanos(0),
            execution: self.position,
            answered_up_to: 0,
        };
        self.send(Role::Reports, 0, &fill);
        let done = remaining <= Quantity::ZERO;
        let status = if done { OrderStatus::Filled } else { OrderStatus::PartiallyFilled };
        self.update(order, status, Reason::None);
    }

    /// Frames in this role were lost.
    pub fn gap(&mut self, role: Role, gap: Gap) {
        self.session.gap(role, gap);
    }

    /// Moves the platform's clock, and gives timers their turn.
    pub fn advance(&mut self, time: Duration) {
        self.desk.borrow_mut().now += time.as_nanos() as u64;
        self.session.turn();
    }

    /// The platform's clock, in nanoseconds.
    pub fn now(&self) -> Nanos {
        Nanos(self.desk.borrow().now)
    }

    /// From now on every message finds the order journal full, or not.
    pub fn set_full(&mut self, full: bool) {
        self.desk.borrow_mut().full = full;
    }

    /// What was sent since the last call.
    pub fn sent(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.desk.borrow_mut().sent)
    }

    /// New orders among what was sent since the last call; the rest is dropped.
    pub fn orders(&mut self) -> Vec<NewOrder> {
        let order = |message| match message {
            Request::New(order) => Some(order),
            _ => None,
        };
        self.sent().into_iter().filter_map(order).collect()
    }

    /// Value of one of the node's counters.
    pub fn counter(&self, counter: Counter) -> u64 {
        let desk = self.desk.borrow();
        desk.counters.iter().find(|(known, _)| *known == counter).map_or(0, |(_, value)| *value)
    }

    /// Gives it other parameters while it runs, all of them, as `colo strategy set` does.
    ///
    /// # Errors
    /// What the person is told.
    pub fn set(&mut self, parameters: serde_json::Value) -> Result<(), String> {
        self.session.set(parameters)
    }

    /// Stops the strategy.
    pub fn stop(&mut self) {
        self.session.stop(false);
    }

    /// The strategy.
    pub fn strategy(&self) -> &S {
        self.session.strategy()
    }

    /// How often it has asked the ledger for its state, and whether it has stopped waiting for it.
    pub fn asked(&self) -> (u32, bool) {
        let desk = self.desk.borrow();
        (desk.asked, desk.is_settled)
    }

    /// What the strategy knows.
    pub fn context(&self) -> &Context {
        self.session.context()
    }

    /// False while frames in this role must wait.
    pub fn accepts(&self, role: Role) -> bool {
        self.session.accepts(role)
    }

    /// True from [`Strategy::start`] on.
    pub fn is_started(&self) -> bool {
        self.session.is_started()
    }

    /// When [`Harness::turn`] has something to do without a frame.
    pub fn deadline(&self) -> Option<Nanos> {
        self.session.deadline()
    }

    /// When a timer is due or a bar ends by the market's time, where that is the strategy's clock.
    pub fn market_due(&self) -> Option<Nanos> {
        self.session.market_due()
    }

    /// Topics of the quotes to read from now on (`None`: all), if they have changed since the last call.
    pub fn take_topics(&mut self) -> Option<Option<Vec<u32>>> {
        self.session.take_topics()
    }

    /// A round without frames: starts the strategy when its state is complete, and fires timers that are due.
    pub fn turn(&mut self) {
        self.session.turn();
    }
}
