//! Makes the strategy of a node: its parameters, its port, its session.

use node::{
    AccountError, AccountFinder, Accounts, Counted, Counter, DepthError, Depths, JoinError, Node, NodeHandle,
    Output, Tally, WriteError,
};
use serde_json::Value;
use topology::config::MarketData;
use wire::{AccountState, InstrumentId, Nanos, Quote, Request, SnapshotBegin, StrategyId};

use crate::error::StrategyError;
use crate::history::Recorded;
use crate::options::Options;
use crate::panic::catch;
use crate::port::Port;
use crate::run::Rest;
use crate::section::Section;
use crate::session::{AnySession, Session, Setup};
use crate::strategy::Strategy;

/// The order journal holds one strategy's requests for td alone.
const ORDERS_TOPIC: u32 = 0;

/// The strategies that a program can make, and the options of its process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factory {
    kinds: Vec<(String, Kind)>,
    /// For every name that `kinds` does not have: the strategy of a program of one.
    any: Option<Kind>,
    options: Options,
    rest: Option<Rest>,
}

/// What can be done with one kind of strategy.
#[derive(Clone, Copy, Debug)]
struct Kind {
    make: Constructor,
    check: fn(Value) -> Result<(), String>,
}

impl Kind {
    fn of<S: Strategy>() -> Kind {
        Kind { make: make::<S>, check: check::<S> }
    }
}

type Constructor = fn(&mut Node, &Options, Option<u32>) -> Result<NewMember, StrategyError>;

/// A strategy in a session of its own.
pub(crate) struct NewMember {
    pub(crate) session: Box<dyn AnySession>,
    pub(crate) seat: StrategyId,
    /// What it hears of the market.
    pub(crate) data: MarketData,
    /// Nanoseconds; zero: none.
    pub(crate) budget: u64,
}

impl Factory {
    /// Makes no strategy.
    pub(crate) fn new(options: Options) -> Factory {
        Factory { kinds: Vec::new(), any: None, options, rest: None }
    }

    /// Makes this strategy, by whatever name.
    pub(crate) fn of<S: Strategy>(options: Options) -> Factory {
        Factory { any: Some(Kind::of::<S>()), ..Factory::new(options) }
    }

    /// Adds a strategy by name.
    pub(crate) fn add<S: Strategy>(&mut self, name: &str) {
        self.kinds.push((name.to_owned(), Kind::of::<S>()));
    }

    /// With something around the process's sleeps.
    pub(crate) fn resting(self, rest: Rest) -> Factory {
        Factory { rest: Some(rest), ..self }
    }

    pub(crate) fn rest(&self) -> Option<Rest> {
        self.rest
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Makes the strategy of this node. `ledger`: seat of the ledger that has its state.
    pub(crate) fn make(&self, node: &mut Node, ledger: Option<u32>) -> Result<NewMember, StrategyError> {
        let section: Section = node.section()?;
        let name = section.builtin().unwrap_or_default();
        match self.kind(name) {
            Some(kind) => (kind.make)(node, &self.options, ledger),
            None => {
                Err(StrategyError::Unknown { node: node.assignment().node.clone(), name: name.to_owned() })
            }
        }
    }
}

impl Factory {
    fn kind(&self, name: &str) -> Option<Kind> {
        let named = self.kinds.iter().find(|(known, _)| known == name).map(|(_, kind)| *kind);
        named.or(self.any)
    }

    /// Whether the strategy of this name takes these parameters; `None`: there is no such strategy.
    pub(crate) fn check(&self, name: &str, parameters: Value) -> Option<Result<(), String>> {
        self.kind(name).map(|kind| (kind.check)(parameters))
    }
}

/// Makes the strategy and drops it.
fn check<S: Strategy>(parameters: Value) -> Result<(), String> {
    let parameters = serde_json::from_value(parameters).map_err(|error| error.to_string())?;
    match catch(|| S::create(parameters)) {
        Ok(made) => made.map(drop).map_err(|error| error.to_string()),
        Err(panic) => Err(format!("`create` panicked: {panic}")),
    }
}

/// What a strategy's seat counts of its requests.
const COUNTED: &[Counted] = &[
    (Counter::Orders, Tally::orders),
    (Counter::Cancels, Tally::cancels),
    (Counter::Replaces, Tally::replaces),
];

fn make<S: Strategy>(
    node: &mut Node,
    options: &Options,
    ledger: Option<u32>,
) -> Result<NewMember, StrategyError> {
    let name = node.assignment().node.clone();
    let section: Section = node.section()?;
    let parameters = section
        .parameters(options)
        .map_err(|source| StrategyError::Parameters { node: name.clone(), source })?;
    let strategy =
        S::create(parameters).map_err(|source| StrategyError::Parameter { node: name.clone(), source })?;
    let interest = section.interest(options, strategy.interest());
    let seat = u16::try_from(node.assignment().seat).map(StrategyId).unwrap_or(SnapshotBegin::EVERYBODY);
    let output = node.take_output("orders")?;
    output.resume(&node.handle(), COUNTED);
    let setup = Setup {
        name,
        strategy: seat,
        generation: node.assignment().generation,
        epoch: output.epoch(),
        interest,
        data: section.data(),
        deterministic: node.assignment().deterministic,
        recorded_clock: node.assignment().recorded_clock,
        ledger: ledger.is_some(),
        accounts: section.accounts(),
        warm_up: section.warm_up(),
    };
    let history = section.history().map(|folder| Recorded::open(folder, section.warm_up(), section.data()));
    let history = history
        .transpose()
        .map_err(|source| StrategyError::History { node: setup.name.clone(), source: Box::new(source) })?;
    let data = section.data();
    let depths = match data {
        MarketData::Best => Depths::of(node.instance()).map_err(JoinError::from)?,
        MarketData::Depth | MarketData::Flow => None,
    };
    let accounts = Accounts::of(node.instance()).map_err(JoinError::from)?;
    let port = NodePort { output, handle: node.handle(), ledger, depths, accounts };
    let mut session = Session::new(strategy, setup, Box::new(port));
    if let Some(history) = history {
        session = session.with_history(Box::new(history));
    }
    Ok(NewMember { session: Box::new(session), seat, data, budget: section.budget() })
}

/// The port of a running strategy: its journal of orders, its counters, the platform's clock.
struct NodePort {
    output: Output,
    handle: NodeHandle,
    /// Seat of the ledger, if there is one.
    ledger: Option<u32>,
    /// Where md keeps the depth, if the strategy hears the best.
    depths: Option<Depths>,
    /// How each account stands, where accounts are kept.
    accounts: Option<Accounts>,
}

impl Port for NodePort {
    #[inline]
    fn now(&self) -> Nanos {
        Nanos(self.handle.now())
    }

    #[inline]
    fn send(&mut self, request: &Request) -> Result<(), WriteError> {
        // Not `request.bytes()`: so the size of each is a constant where it is written.
        match request {
            Request::New(order) => self.output.send(ORDERS_TOPIC, order),
            Request::Cancel(cancel) => self.output.send(ORDERS_TOPIC, cancel),
            Request::Replace(replace) => self.output.send(ORDERS_TOPIC, replace),
            Request::CancelAll(cancel) => self.output.send(ORDERS_TOPIC, cancel),
        }?;
        Ok(())
    }

    fn depth(&self, instrument: InstrumentId) -> Result<Quote, DepthError> {
        self.depths.as_ref().ok_or(DepthError::NotKept)?.get(instrument)
    }

    fn account(&self, finder: &mut AccountFinder) -> Result<AccountState, AccountError> {
        finder.find(self.accounts.as_ref().ok_or(AccountError::NotKept)?)
    }

    fn ask_state(&mut self) {
        if let Some(ledger) = self.ledger {
            self.handle.ask(ledger);
        }
    }

    fn settle_state(&mut self) {
        if let Some(ledger) = self.ledger {
            self.handle.settle(ledger);
        }
    }

    #[inline]
    fn count(&mut self, counter: Counter, amount: u64) {
        self.handle.add(counter, amount);
    }

    fn warms_up(&mut self, does: bool) {
        self.handle.set(Counter::WarmingUp, u64::from(does));
    }
}
