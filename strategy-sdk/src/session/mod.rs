//! The core: frames in, calls of the strategy, orders out. No process, no journal, no thread.
//!
//! What runs a strategy on a platform feeds a [`Session`] from the node's inputs; a test feeds it by hand, or through
//! [`testing::Harness`](crate::testing::Harness).
//!
//! ```text
//!              ┌ Joining ─────────────────────┐ list whole, and the ledger's   ┌ Open ───────┐ stop  ┌ Left ┐
//!  new ──────► │ instruments, snapshot taken; │ snapshot or 2 s of waiting ──► │ every event │ ────► │      │
//!              │ market data and reports stay │            start               │ handed over │       └──────┘
//!              │ where they are               │                                └─────────────┘
//!              └──────────────────────────────┘
//! ```
//!
//! # After a restart
//!
//! The ledger's snapshot says up to which of matching's executions it reaches. Reports of earlier ones are in its
//! positions and working orders already: they are passed over, change nothing and are not handed to the strategy,
//! which hears only what happened behind the state that it started with. What a predecessor's requests were
//! answered with by td alone is passed over too.

mod market;
mod reports;

use node::{Counter, Frame, Gap};
use wire::{Cause, Instrument, Nanos, StrategyId};

use crate::context::{Context, EventClock, Stage};
use crate::instruments::Interest;
use crate::port::Port;
use crate::snapshot::Intake;
use crate::strategy::Strategy;
use market::Held;

/// Longest wait for the ledger's snapshot, in nanoseconds. All members of a host wait at the same time.
const SNAPSHOT_PATIENCE: Nanos = Nanos(2_000_000_000);

/// What a journal is to a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Where md lists instruments.
    Instruments,
    /// Quotes and trades.
    Quotes,
    /// What becomes of its orders.
    Reports,
    /// The ledger's snapshots.
    State,
}

impl Role {
    /// By the name that the topology uses.
    pub fn of(name: &str) -> Option<Role> {
        match name {
            "instruments" => Some(Role::Instruments),
            "quotes" => Some(Role::Quotes),
            "reports" => Some(Role::Reports),
            "state" => Some(Role::State),
            _ => None,
        }
    }
}

/// Who the strategy is, and what it can count on.
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
    /// What it hears.
    pub interest: Interest,
    /// Whether the market's time is its clock.
    pub deterministic: bool,
    /// Whether a ledger will say what it holds.
    pub ledger: bool,
}

/// What a session needs of whoever drives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// When [`Session::turn`] has something to do even without a frame.
    pub deadline: Option<Nanos>,
    /// [`Session::is_started`].
    pub started: bool,
    /// Market data waits for its instrument to be listed: no more of it is taken meanwhile.
    pub holds: bool,
    /// [`Session::take_topics`] has something new.
    pub topics: bool,
    /// [`Session::is_stop_requested`].
    pub stop: bool,
}

/// A strategy with everything that it knows.
#[derive(Debug)]
pub struct Session<S> {
    strategy: S,
    context: Context,
    /// `None` once it has come, was given up, or when there is no ledger.
    intake: Option<Intake>,
    /// When it is given up; set when the wait begins.
    patience: Option<Nanos>,
    /// Executions before this position are in the snapshot.
    contained_until: u64,
    list_is_whole: bool,
    /// Topics of the quotes have changed and were not asked for since.
    topics_changed: bool,
    held: Option<Held>,
}

impl<S: Strategy> Session<S> {
    /// A strategy that has heard nothing yet.
    pub fn new(strategy: S, setup: Setup, port: Box<dyn Port>) -> Session<S> {
        let Setup { name, strategy: seat, generation, epoch, interest, deterministic, ledger } = setup;
        let event_clock = deterministic.then(EventClock::default);
        Session {
            strategy,
            context: Context::new(name, seat, epoch, interest, event_clock, port),
            intake: ledger.then(|| Intake::new(seat, generation)),
            patience: None,
            contained_until: 0,
            list_is_whole: false,
            topics_changed: true,
            held: None,
        }
    }

    /// The strategy.
    pub fn strategy(&self) -> &S {
        &self.strategy
    }

    /// What the strategy knows.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// True from [`Strategy::start`] on.
    pub fn is_started(&self) -> bool {
        self.context.stage != Stage::Joining
    }

    /// True when the market's time is the strategy's clock.
    pub fn is_deterministic(&self) -> bool {
        self.context.event_clock.is_some()
    }

    /// True when the strategy wants to end.
    pub fn is_stop_requested(&self) -> bool {
        self.context.stop_requested
    }

    /// False while frames in this role must stay where they are.
    #[inline]
    pub fn accepts(&self, role: Role) -> bool {
        match role {
            Role::Instruments | Role::State => true,
            // Whatever comes before the start is handed over behind it, in order.
            Role::Quotes => self.list_is_whole && self.held.is_none() && self.is_started(),
            Role::Reports => self.is_started(),
        }
    }

    /// When [`Session::turn`] has something to do even without a frame.
    #[inline]
    pub fn deadline(&self) -> Option<Nanos> {
        if self.held.is_some() || !self.list_is_whole {
            // What we wait for is committed already, or never comes.
            return Some(Nanos(0));
        }
        match self.context.stage {
            Stage::Joining => self.patience,
            Stage::Open if self.context.event_clock.is_none() => self.context.timers.next_due(),
            _ => None,
        }
    }

    /// What the session needs of whoever drives it, as of now.
    #[inline]
    pub fn needs(&self) -> Needs {
        Needs {
            deadline: self.deadline(),
            started: self.is_started(),
            holds: self.held.is_some(),
            topics: self.topics_changed && self.list_is_whole,
            stop: self.context.stop_requested,
        }
    }

    /// Topics of the quotes to hear from now on (`None`: all), if they have changed since the last call.
    pub fn take_topics(&mut self) -> Option<Option<Vec<u32>>> {
        let settled = self.list_is_whole && std::mem::take(&mut self.topics_changed);
        settled.then(|| self.context.instruments.topics())
    }

    /// All instruments are taken that were listed when the strategy joined.
    pub fn list_is_whole(&mut self) {
        if self.list_is_whole {
            return;
        }
        self.list_is_whole = true;
        self.context.instruments.assign();
        for symbol in self.context.instruments.missing() {
            log::warn!(
                "{}: instrument `{symbol}` is not listed; it is heard once it is",
                self.context.name()
            );
        }
    }

    /// Starts the strategy when all is there, and fires the timers that are due. Between any two rounds of frames.
    pub fn turn(&mut self) {
        if let Some(held) = &mut self.held
            && std::mem::replace(&mut held.in_vain, true)
        {
            let (name, instrument) = (self.context.name(), held.market.instrument());
            log::warn!("{name}: market data of instrument {instrument}, which is not listed; passed over");
            self.context.port.count(Counter::Anomalies, 1);
            self.held = None;
        }
        match self.context.stage {
            Stage::Joining => self.start_when_ready(),
            Stage::Open if self.context.event_clock.is_none() => self.fire_by_platform_clock(),
            _ => {}
        }
    }

    fn is_ready(&mut self) -> bool {
        if !self.list_is_whole {
            return false;
        }
        if self.intake.is_none() {
            return true;
        }
        let now = self.context.port.now();
        let Some(patience) = self.patience else {
            self.patience = Some(now + SNAPSHOT_PATIENCE);
            self.context.port.ask_state();
            return false;
        };
        if now < patience {
            return false;
        }
        let name = self.context.name();
        log::warn!(
            "{name}: no state from the ledger within 2 s; starts without positions and working orders"
        );
        self.intake = None;
        self.context.port.settle_state();
        true
    }

    fn start_when_ready(&mut self) {
        if !self.is_ready() {
            return;
        }
        self.context.stage = Stage::Open;
        self.strategy.start(&mut self.context);
        // Copied, since the strategy may use the context meanwhile.
        let heard: Vec<Instrument> = self.context.instruments.heard().copied().collect();
        for instrument in &heard {
            self.strategy.instrument(&mut self.context, instrument);
        }
    }

    /// Those that were set before: one that sets itself again at once must not keep the frames waiting.
    fn fire_by_platform_clock(&mut self) {
        if self.context.timers.next_due().is_none() {
            return;
        }
        let (now, limit) = (self.context.port.now(), self.context.timers.limit());
        while let Some(timer) = self.context.timers.pop(now, limit) {
            self.strategy.timer(&mut self.context, timer);
        }
    }

    /// One frame of the journal with this number, that the strategy has in hand since `received`.
    #[inline]
    pub fn frame(&mut self, role: Role, journal: u32, frame: &Frame<'_>, received: Nanos) {
        let cause = Cause {
            position: frame.position,
            due: Nanos(0),
            published: Nanos(frame.time),
            received,
            journal,
            reserved: 0,
        };
        let done = match role {
            Role::Quotes => self.on_market(frame, cause),
            Role::Reports => self.on_report(frame, cause),
            Role::Instruments => self.on_instruments(frame),
            Role::State => self.on_state(frame),
        };
        if let Err(error) = done {
            self.context.port.count(Counter::Malformed, 1);
            let (name, position) = (self.context.name(), frame.position);
            log::warn!("{name}: journal {journal} at position {position}: {error}; passed over");
        }
    }

    /// A loose input was overtaken.
    pub fn gap(&mut self, role: Role, gap: Gap) {
        match role {
            Role::Quotes if self.context.stage == Stage::Open => self.strategy.gap(&mut self.context, gap),
            Role::Quotes => {}
            Role::State => {
                if let Some(intake) = &mut self.intake {
                    intake.lost();
                    // The answer may be what was lost. We stand behind it now.
                    if self.patience.is_some() {
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

    /// Lets the strategy say good-bye, then cancels what works.
    pub fn stop(&mut self) {
        if self.context.stage == Stage::Open {
            self.strategy.stop(&mut self.context);
            let working: Vec<_> = self.context.orders.iter().map(|order| order.id).collect();
            for id in working {
                // td cancels the orders of a strategy that has left, so that none is forgotten.
                if let Err(error) = self.context.cancel(id) {
                    log::debug!("{}: left to td: {error}", self.context.name());
                }
            }
        }
        self.context.stage = Stage::Left;
    }
}
