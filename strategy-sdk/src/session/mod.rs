//! The core: frames in, calls of the strategy, orders out. No process, no journal, no thread.
//!
//! On a platform the process feeds a [`Session`] from the node's inputs; in a test
//! [`testing::Harness`](crate::testing::Harness) does.
//!
//! ```text
//!              ┌ Joining ─────────────────────┐ list whole, and the ledger's   ┌ Open ───────┐ stop  ┌ Left ┐
//!  new ──────► │ instruments, snapshot taken; │ snapshot or 2 s of waiting ──► │ every event │ ────► │      │
//!              │ market data and reports stay │            start               │ handed over │       └──────┘
//!              │ where they are               │                                └─────────────┘
//!              └──────────────────────────────┘
//! ```
//!
//! Where the platform file has the strategy warm up, it hears market data of before its start in a stage between the two
//! ([`warm_up`]).
//!
//! # After a restart
//!
//! The ledger's snapshot contains the executions before its position. Reports of these are skipped: they change nothing
//! and are not handed to the strategy, which receives only what happened after the state that it started with. Refusals by
//! td of a predecessor's requests are skipped too.

mod any;
mod bars;
mod market;
mod reports;
mod warm_up;

use std::time::Duration;

use node::{Counter, Frame, Gap};
use serde_json::Value;
use topology::config::MarketData;
use wire::fold::SnapshotReader;
use wire::{AccountId, Cause, Instrument, Nanos, StrategyId};

use crate::context::{Context, EventClock, Stage};
use crate::history::History;
use crate::instruments::Interest;
use crate::port::Port;
use crate::strategy::Strategy;
pub(crate) use any::AnySession;
use market::Held;
pub(crate) use market::Market;

/// Longest wait for the ledger's snapshot, in nanoseconds. All members of a host wait at the same time.
const SNAPSHOT_TIMEOUT: Nanos = Nanos(2_000_000_000);

/// The role of a journal for a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The list of instruments.
    Instruments,
    /// Quotes and trades.
    Quotes,
    /// Best bids and asks, and trades.
    Best,
    /// The order flow of a recorded day, or an exchange's events.
    Flow,
    /// Reports about its orders.
    Reports,
    /// The ledger's snapshots.
    State,
}

impl Role {
    /// True for market data, of which a strategy hears one kind.
    #[inline]
    pub(crate) fn is_market(self) -> bool {
        matches!(self, Role::Quotes | Role::Best | Role::Flow)
    }

    /// Where a strategy that hears this finds it.
    pub(crate) fn of_data(data: MarketData) -> Role {
        match data {
            MarketData::Depth => Role::Quotes,
            MarketData::Best => Role::Best,
            MarketData::Flow => Role::Flow,
        }
    }

    /// By the name that the topology uses.
    pub(crate) fn of(name: &str) -> Option<Role> {
        match name {
            "instruments" => Some(Role::Instruments),
            "quotes" => Some(Role::Quotes),
            "best" => Some(Role::Best),
            "flow" | "market" => Some(Role::Flow),
            "reports" => Some(Role::Reports),
            "state" => Some(Role::State),
            _ => None,
        }
    }
}

/// Identity and environment of a strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Name of the node.
    pub name: String,
    /// Its seat.
    pub strategy: StrategyId,
    /// Starts in that seat.
    pub generation: u64,
    /// Epoch of its order journal.
    pub epoch: u64,
    /// The instruments that it reads.
    pub interest: Interest,
    /// What it hears of them.
    pub data: MarketData,
    /// True when the market's time is its clock.
    pub deterministic: bool,
    /// True when the times of the frames are its clock: they were recorded, and are given again.
    pub recorded_clock: bool,
    /// True when a ledger has its state.
    pub ledger: bool,
    /// The accounts that it may trade for, its default first; empty: its own.
    pub accounts: Vec<AccountId>,
    /// How much of the market it hears before its start, by the market's time; zero: none.
    pub warm_up: Duration,
}

/// What a session needs from its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    /// When [`Session::turn`] has something to do even without a frame.
    pub(crate) deadline: Option<Nanos>,
    /// It takes market data and reports.
    pub(crate) started: bool,
    /// Market data waits for its instrument to be listed: no more of it is taken meanwhile.
    pub(crate) holds: bool,
    /// [`Session::take_topics`] has something new.
    pub(crate) topics: bool,
    /// The strategy has requested its stop.
    pub(crate) stop: bool,
    /// Requests that it has sent so far.
    pub(crate) requests: u64,
    /// When it has something to do by the market's time, where that is its clock, in nanoseconds; 0: never.
    pub(crate) market_due: u64,
}

/// A strategy, with its context.
#[derive(Debug)]
pub(crate) struct Session<S> {
    strategy: S,
    context: Context,
    /// Reads the ledger's snapshot; `None` once it is complete or given up, and without a ledger.
    snapshots: Option<SnapshotReader>,
    /// When the snapshot is given up; set when the wait begins.
    snapshot_deadline: Option<Nanos>,
    /// Executions before this position are in the snapshot.
    contained_until: u64,
    list_is_whole: bool,
    /// Topics of the quotes have changed since the last [`Session::take_topics`].
    topics_changed: bool,
    held: Option<Held>,
    /// How much of the market it hears before its start.
    warm_up: Nanos,
    /// Where that ends, once its begin is known.
    warm_until: Option<Nanos>,
    /// Where it is taken from, if not from the platform's own market data.
    history: Option<Box<dyn History>>,
}

impl<S: Strategy> Session<S> {
    /// A session before its first frame.
    pub(crate) fn new(strategy: S, setup: Setup, port: Box<dyn Port>) -> Session<S> {
        let Setup { name, strategy: seat, generation, epoch, interest, data, accounts, .. } = setup;
        let Setup { deterministic, recorded_clock: recorded, ledger, warm_up, .. } = setup;
        let event_clock =
            (deterministic || recorded).then(|| EventClock { recorded, ..EventClock::default() });
        Session {
            strategy,
            context: Context::new(name, seat, epoch, accounts, interest, data, event_clock, port),
            snapshots: ledger.then(|| SnapshotReader::of_strategy(seat, generation)),
            snapshot_deadline: None,
            contained_until: 0,
            list_is_whole: false,
            topics_changed: true,
            held: None,
            warm_up: Nanos(u64::try_from(warm_up.as_nanos()).unwrap_or(u64::MAX)),
            warm_until: None,
            history: None,
        }
    }

    /// Takes what it hears before its start from here, instead of the platform's own market data.
    pub(crate) fn with_history(self, history: Box<dyn History>) -> Session<S> {
        Session { history: Some(history), ..self }
    }

    /// The strategy.
    pub(crate) fn strategy(&self) -> &S {
        &self.strategy
    }

    /// The strategy's context.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// True from [`Strategy::start`] on.
    pub(crate) fn is_started(&self) -> bool {
        !matches!(self.context.stage, Stage::Joining | Stage::WarmingUp)
    }

    /// True from when it takes market data and reports on.
    fn has_joined(&self) -> bool {
        self.context.stage != Stage::Joining
    }

    /// False while frames in this role must stay where they are.
    #[inline]
    pub(crate) fn accepts(&self, role: Role) -> bool {
        match role {
            Role::Instruments | Role::State => true,
            // Frames from before the start are handed over after it, in order.
            Role::Quotes | Role::Best | Role::Flow => {
                self.list_is_whole && self.held.is_none() && self.has_joined()
            }
            Role::Reports => self.has_joined(),
        }
    }

    /// When [`Session::turn`] has something to do even without a frame.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        if self.held.is_some() || !self.list_is_whole {
            // What the session waits for is committed already, or never comes.
            return Some(Nanos(0));
        }
        match self.context.stage {
            Stage::Joining => self.snapshot_deadline,
            stage if stage.hears() && self.strategy.holds_back() => Some(Nanos(0)),
            stage if stage.hears() && self.context.event_clock.is_none() => self.context.timers.next_due(),
            _ => None,
        }
    }

    /// What the session needs from its caller now.
    #[inline]
    pub(crate) fn needs(&self) -> Needs {
        Needs {
            deadline: self.deadline(),
            started: self.has_joined(),
            holds: self.held.is_some(),
            topics: self.topics_changed && self.list_is_whole,
            stop: self.context.stop_requested,
            requests: self.context.requests,
            market_due: self.market_due().map_or(0, |due| due.0.max(1)),
        }
    }

    /// When its next timer is due or its next bar ends, by the market's time: md announces that time before it publishes a later
    /// event.
    #[inline]
    pub(crate) fn market_due(&self) -> Option<Nanos> {
        self.context.event_clock.as_ref().filter(|clock| clock.begun && !clock.recorded)?;
        if !self.context.stage.hears() {
            return None;
        }
        let (timer, bar) = (self.context.timers.next_due(), self.context.bars.next_end());
        timer.into_iter().chain(bar).min()
    }

    /// Topics of the quotes to read from now on (`None`: all), if they have changed since the last call.
    pub(crate) fn take_topics(&mut self) -> Option<Option<Vec<u32>>> {
        let settled = self.list_is_whole && std::mem::take(&mut self.topics_changed);
        settled.then(|| self.context.instruments.topics())
    }

    /// All instruments that were listed when the strategy joined are taken.
    pub(crate) fn complete_list(&mut self) {
        if self.list_is_whole {
            return;
        }
        self.list_is_whole = true;
        self.context.instruments.assign();
        for symbol in self.context.instruments.missing() {
            log::warn!("{}: instrument `{symbol}` is not listed; it is read once it is", self.context.name());
        }
    }

    /// Starts the strategy when its state is complete, and fires the timers that are due. Called between two rounds of
    /// frames.
    pub(crate) fn turn(&mut self) {
        if let Some(held) = &mut self.held
            && std::mem::replace(&mut held.in_vain, true)
        {
            let (name, instrument) = (self.context.name(), held.market.instrument());
            log::warn!("{name}: market data of instrument {instrument}, which is not listed; passed over");
            self.context.port.count(Counter::Anomalies, 1);
            self.held = None;
        }
        if self.context.stage.hears() && self.strategy.holds_back() {
            self.strategy.flush(&mut self.context);
            self.context.cause = Cause::NONE;
        }
        match self.context.stage {
            Stage::Joining => self.start_when_ready(),
            stage if stage.hears() && self.context.event_clock.is_none() => self.fire_by_platform_clock(),
            _ => {}
        }
    }

    fn is_ready(&mut self) -> bool {
        if !self.list_is_whole {
            return false;
        }
        if self.snapshots.is_none() {
            return true;
        }
        let now = self.context.port.now();
        let Some(deadline) = self.snapshot_deadline else {
            self.snapshot_deadline = Some(now + SNAPSHOT_TIMEOUT);
            self.context.port.ask_state();
            return false;
        };
        if now < deadline {
            return false;
        }
        let name = self.context.name();
        log::warn!(
            "{name}: no state from the ledger within 2 s; starts without positions and working orders"
        );
        self.snapshots = None;
        self.context.port.settle_state();
        true
    }

    fn start_when_ready(&mut self) {
        if !self.is_ready() {
            return;
        }
        self.look_up_bests();
        if self.warm_up > Nanos(0) {
            self.begin_warm_up();
        } else {
            self.context.stage = Stage::Open;
            self.strategy.start(&mut self.context);
            self.name_instruments();
        }
        self.count_clock_reads();
    }

    /// Names the instruments that are listed already.
    fn name_instruments(&mut self) {
        // Copied, since the strategy may use the context meanwhile.
        let selected: Vec<Instrument> = self.context.instruments.selected().copied().collect();
        for instrument in &selected {
            self.strategy.instrument(&mut self.context, instrument);
        }
    }

    /// Fires the timers that were set before this turn only: a timer that is set again at once must not delay frames.
    fn fire_by_platform_clock(&mut self) {
        if self.context.timers.next_due().is_none() {
            return;
        }
        let (now, limit) = (self.context.port.now(), self.context.timers.limit());
        while let Some(timer) = self.context.timers.pop(now, limit, true) {
            self.strategy.timer(&mut self.context, timer);
        }
    }

    /// Takes one frame of the journal with this number, which the strategy received at `received`.
    #[inline]
    pub(crate) fn frame(&mut self, role: Role, journal: u32, frame: &Frame<'_>, received: Nanos) {
        let cause = Cause {
            position: frame.position,
            due: Nanos(0),
            published: Nanos(frame.time),
            received,
            journal,
            reserved: 0,
        };
        let is_recorded = self.context.event_clock.is_some_and(|clock| clock.recorded);
        if is_recorded {
            self.advance(cause.published, cause);
        }
        let done = match role {
            Role::Quotes | Role::Best | Role::Flow => self.on_market(frame, cause),
            Role::Reports => self.on_report(frame, cause),
            Role::Instruments => self.on_instruments(frame),
            Role::State => self.on_state(frame),
        };
        if let Err(error) = done {
            self.context.port.count(Counter::Malformed, 1);
            let (name, position) = (self.context.name(), frame.position);
            log::warn!("{name}: journal {journal} at position {position}: {error}; passed over");
        }
        if is_recorded {
            self.count_clock_reads();
        }
    }

    fn count_clock_reads(&mut self) {
        let reads = self.context.clock_reads.take();
        if reads > 0 {
            self.context.port.count(Counter::ClockReads, reads);
        }
    }

    /// A loose input was overtaken.
    pub(crate) fn gap(&mut self, role: Role, gap: Gap) {
        match role {
            Role::Quotes | Role::Best | Role::Flow => {
                if self.context.stage.hears() && role == Role::of_data(self.context.data) {
                    self.strategy.gap(&mut self.context, gap);
                }
            }
            Role::State => {
                if let Some(snapshots) = &mut self.snapshots {
                    snapshots.reset();
                    // The lost frames may contain the answer.
                    if self.snapshot_deadline.is_some() {
                        self.context.port.ask_state();
                    }
                }
            }
            Role::Instruments | Role::Reports => {
                let (name, bytes) = (self.context.name(), gap.bytes());
                log::error!("{name}: {bytes} bytes of {role:?} are lost: make that journal larger");
                self.context.port.count(Counter::Anomalies, 1);
            }
        }
    }

    /// Hands the strategy other parameters.
    ///
    /// # Errors
    /// They do not fit, or it does not take them.
    pub(crate) fn set(&mut self, parameters: Value) -> Result<(), String> {
        if self.context.stage != Stage::Open {
            return Err("it has not started yet".to_owned());
        }
        let parameters = serde_json::from_value(parameters).map_err(|error| error.to_string())?;
        self.context.cause = Cause::NONE;
        self.strategy.parameters(&mut self.context, parameters).map_err(|error| error.to_string())
    }

    /// Stops the strategy, then cancels its working orders unless they are to work on.
    pub(crate) fn stop(&mut self, keeps_orders: bool) {
        if self.context.stage == Stage::Open {
            if self.strategy.holds_back() {
                self.strategy.flush(&mut self.context);
            }
            self.strategy.stop(&mut self.context);
            let working: Vec<_> = match keeps_orders {
                true => Vec::new(),
                false => self.context.orders.iter().map(|order| order.id).collect(),
            };
            for id in working {
                // td cancels what is left here, once the strategy has left.
                if let Err(error) = self.context.cancel(id) {
                    log::debug!("{}: left to td: {error}", self.context.name());
                }
            }
        }
        self.context.stage = Stage::Left;
    }
}
