//! Publishing a recorded day.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};

use node::{Component, Context, Exit, Frame, InputId, Node, NodeState, Phase, RunError, WriteError};
use topology::config::{self, BadRow, MarketSource, MdConfig, MulticastConfig};
use wire::{BookEvent, MarketPhase, Nanos, Quote, TradePrint};

use super::lock_step::LockStep;
use super::market_time::MarketClock;
use super::publisher::Publisher;
use crate::book::Books;
use crate::pace::{Pace, Speed};
use crate::source::multicast::{self, Hearing, MulticastSource, Place};
use crate::source::{
    Files, OnBadRow, Options, PriorOrders, Source, SourceError, SourceEvent, SourceKind, Tolerance, open,
};

/// Events published in one turn, before the node checks whether to stop.
const BURST: usize = 256;
/// Pause before a full journal is tried again, in nanoseconds.
const RETRY: u64 = 20_000;
/// Pause before a live source that has nothing new is looked at again, in nanoseconds.
const LOOK: u64 = 20_000;

/// A recorded day being published.
pub(super) struct Replay {
    source: Box<dyn Source>,
    books: Books,
    speed: Speed,
    pace: Option<Pace>,
    publisher: Publisher,
    event: SourceEvent,
    /// Messages of the current event that are not written yet.
    outgoing: VecDeque<Outgoing>,
    /// When they are due.
    due: u64,
    lock_step: LockStep,
    clock: MarketClock,
    stage: Stage,
    published: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Events,
    End,
    Done,
}

enum Outgoing {
    Phase(MarketPhase),
    Book(BookEvent),
    Trade(TradePrint),
    Quote(Box<Quote>),
}

impl Outgoing {
    /// The market's own time.
    fn time(&self) -> Nanos {
        match self {
            Outgoing::Phase(phase) => phase.event_time,
            Outgoing::Book(event) => event.event_time,
            Outgoing::Trade(trade) => trade.event_time,
            Outgoing::Quote(quote) => quote.event_time,
        }
    }
}

impl Replay {
    pub(super) fn open(config: &MdConfig, publisher: Publisher, node: &Node) -> Result<Replay, RunError> {
        let options = Options {
            from: config.from.map(|time| Nanos(time.0)),
            to: config.to.map(|time| Nanos(time.0)),
            symbols: config.symbols.clone(),
            on_bad_row: match config.on_bad_row {
                BadRow::Stop => OnBadRow::Stop,
                BadRow::Skip => OnBadRow::Skip,
            },
            tolerate: Tolerance::share(config.tolerate),
            prior: match config.prior {
                config::PriorOrders::LaterRows => PriorOrders::LaterRows,
                config::PriorOrders::None => PriorOrders::None,
            },
            date: None,
        };
        let unusable =
            |error: SourceError| RunError::Component { message: error.to_string(), exit: Exit::Usage };
        if config.source == MarketSource::Multicast {
            let source = MulticastSource::open(hearing(&config.multicast)?, &options).map_err(unusable)?;
            return Replay::of(Box::new(source), Speed::Max, publisher, node);
        }
        let kind = match config.source {
            MarketSource::Sse => SourceKind::Sse,
            MarketSource::Lobster => SourceKind::Lobster,
            MarketSource::Pitch => SourceKind::Pitch,
            MarketSource::Itch => SourceKind::Itch,
            MarketSource::Dbn
            | MarketSource::Sim
            | MarketSource::Recording
            | MarketSource::Exchange
            | MarketSource::Multicast => SourceKind::Dbn,
        };
        let source = open(kind, &files(config)?, &options).map_err(unusable)?;
        let speed = match config.speed {
            config::Speed::Word(_) => Speed::Max,
            config::Speed::Times(factor) => Speed::times(factor)
                .map_err(|error| RunError::Component { message: error.to_string(), exit: Exit::Usage })?,
        };
        Replay::of(source, speed, publisher, node)
    }

    fn of(
        source: Box<dyn Source>,
        speed: Speed,
        publisher: Publisher,
        node: &Node,
    ) -> Result<Replay, RunError> {
        let lock_step = LockStep::of(node)?;
        Ok(Replay {
            books: Books::new(source.instruments()),
            source,
            speed,
            pace: None,
            publisher,
            event: SourceEvent::default(),
            outgoing: VecDeque::new(),
            due: 0,
            clock: MarketClock::of(node, &lock_step)?,
            lock_step,
            stage: Stage::Events,
            published: 0,
        })
    }

    /// Converts the next event of the source into messages. False at the end.
    fn fetch(&mut self) -> Result<bool, RunError> {
        match self.source.next(&mut self.event) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) => {
                // Publish the final counts for the report.
                self.count();
                return Err(RunError::failed(error.to_string()));
            }
        }
        let due = match &mut self.pace {
            // The clock of a recorded day starts with the first event that a successor publishes.
            Some(pace) if !self.event.warm_up && !self.publisher.is_skipping() => {
                pace.due(self.event.event_time)
            }
            _ => None,
        };
        self.due = due.map_or(0, |due| due.0);
        self.outgoing.extend(self.event.market_phase().map(Outgoing::Phase));
        self.outgoing.extend(self.event.book_events.iter().copied().map(Outgoing::Book));
        let rebuilt = self.books.apply(&self.event);
        let (quote, crossed) = (rebuilt.quote.copied(), rebuilt.crossed);
        if crossed && let Err(error) = self.source.crossed(&self.event) {
            self.count();
            return Err(RunError::failed(error.to_string()));
        }
        if !self.event.warm_up {
            let trades = self.event.trades.iter().map(|trade| TradePrint { due: Nanos(self.due), ..*trade });
            self.outgoing.extend(trades.map(Outgoing::Trade));
        }
        if let Some(mut quote) = quote {
            self.source.quoted();
            quote.due = Nanos(self.due);
            self.outgoing.push_back(Outgoing::Quote(Box::new(quote)));
        }
        Ok(true)
    }

    /// Writes the fetched messages: all of them, or in lock-step one, because for a reader of a trade it must not
    /// depend on chance whether the quote after it is there yet.
    fn flush(&mut self) -> Result<(), WriteError> {
        let most = if self.lock_step.is_on() { 1 } else { usize::MAX };
        for _ in 0..most {
            let Some(message) = self.outgoing.front() else { break };
            match message {
                Outgoing::Phase(phase) => self.publisher.phase(phase, self.event.warm_up)?,
                Outgoing::Book(event) => self.publisher.book_event(event)?,
                Outgoing::Trade(trade) => self.publisher.trade(trade)?,
                Outgoing::Quote(quote) => self.publisher.quote(quote)?,
            }
            self.clock.published(message.time());
            self.outgoing.pop_front();
            self.lock_step.wrote();
        }
        Ok(())
    }

    /// Publishes one event, or returns the reason to wait.
    fn step(&mut self, context: &mut Context) -> Result<Step, RunError> {
        if !self.lock_step.is_quiet() {
            if self.lock_step.goes_on() {
                context.worked();
            }
            return Ok(Step::WaitUntil(context.now() + RETRY));
        }
        if self.outgoing.is_empty() {
            match self.stage {
                Stage::Events => {
                    if !self.fetch()? {
                        if self.source.is_waiting() {
                            self.count();
                            return Ok(Step::WaitUntil(context.now() + LOOK));
                        }
                        self.stage = Stage::End;
                    }
                }
                Stage::End => {
                    return match self.announce(None, context)? {
                        Some(step) => Ok(step),
                        None => self.end(context),
                    };
                }
                Stage::Done => return Ok(Step::Idle),
            }
        }
        if self.due > context.now() {
            return Ok(Step::WaitUntil(self.due));
        }
        if let Some(time) = self.outgoing.front().map(Outgoing::time)
            && let Some(step) = self.announce(Some(time), context)?
        {
            return Ok(step);
        }
        match self.flush() {
            Ok(()) => {
                self.published += 1;
                if self.published.is_multiple_of(1_024) {
                    self.count();
                }
                Ok(Step::Go)
            }
            Err(error) => full_or_fatal(error, &self.publisher, context),
        }
    }

    /// Announces a time that is due before the next message; `None`: none is.
    fn announce(&mut self, next: Option<Nanos>, context: &Context) -> Result<Option<Step>, RunError> {
        let Some(time) = self.clock.due_before(next).filter(|_| !self.publisher.is_skipping()) else {
            return Ok(None);
        };
        match self.publisher.market_time(time) {
            Ok(()) => {
                self.clock.announced(time);
                self.lock_step.wrote();
                Ok(Some(Step::Go))
            }
            Err(error) => full_or_fatal(error, &self.publisher, context).map(Some),
        }
    }

    fn count(&self) {
        self.publisher.count_source(self.source.counts());
    }

    fn end(&mut self, context: &mut Context) -> Result<Step, RunError> {
        self.count();
        match self.publisher.end(self.source.counts()) {
            Ok(()) => {
                let anomalies = self.books.anomalies().total();
                if anomalies > 0 {
                    log::warn!("{anomalies} book events did not fit the book");
                }
                context.handle().set(node::Counter::Anomalies, anomalies);
                context.handle().set_state(NodeState::Finished);
                self.stage = Stage::Done;
                Ok(Step::Idle)
            }
            Err(error) => full_or_fatal(error, &self.publisher, context),
        }
    }
}

enum Step {
    Go,
    WaitUntil(u64),
    Idle,
}

fn full_or_fatal(error: WriteError, publisher: &Publisher, context: &Context) -> Result<Step, RunError> {
    match error {
        WriteError::Full { .. } => {
            context.add(node::Counter::Full, 1);
            Ok(Step::WaitUntil(context.now() + RETRY))
        }
        source => Err(publisher.failed(source)),
    }
}

impl Component for Replay {
    fn start(&mut self, _context: &mut Context) -> Result<(), RunError> {
        self.publisher.list(self.source.instruments())
    }

    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        if context.handle().phase() == Phase::Starting {
            context.wake_at(context.now() + 1_000_000);
            return Ok(());
        }
        if self.pace.is_none() {
            self.pace = Some(Pace::new(self.speed, Nanos(context.now())));
        }
        self.lock_step.begin_turn();
        for _ in 0..BURST {
            // Nothing more is published after a stop.
            if context.handle().is_stopping() {
                return Ok(());
            }
            match self.step(context)? {
                Step::Go => {}
                Step::WaitUntil(time) => {
                    context.wake_at(time);
                    return Ok(());
                }
                Step::Idle => return Ok(()),
            }
        }
        // More is ready: only check the stop flag, without a sleep.
        context.wake_at(context.now());
        Ok(())
    }

    fn frame(&mut self, _context: &mut Context, _input: InputId, _frame: &Frame<'_>) -> Result<(), RunError> {
        Ok(())
    }
}

/// How `[md.multicast]` is heard.
fn hearing(config: &MulticastConfig) -> Result<Hearing, RunError> {
    let wrong = |key: &str, found: &str, expected: &str| RunError::Component {
        message: format!("md.multicast.{key} = \"{found}\": expected {expected}"),
        exit: Exit::Usage,
    };
    let group: Ipv4Addr =
        config.group.parse().ok().filter(Ipv4Addr::is_multicast).ok_or_else(|| {
            wrong("group", &config.group, "a multicast address, 224.0.0.0 to 239.255.255.255")
        })?;
    let interface = config
        .interface
        .parse()
        .map_err(|_| wrong("interface", &config.interface, "the interface's own address, as in 127.0.0.1"))?;
    let server = match &config.server {
        Some(text) => Some(
            text.parse::<SocketAddrV4>()
                .map_err(|_| wrong("server", text, "an address and a port, as in 127.0.0.1:26401"))?,
        ),
        None => None,
    };
    let session = match &config.session {
        Some(name) => Some(
            multicast::session(name).ok_or_else(|| wrong("session", name, "one to ten plain characters"))?,
        ),
        None => None,
    };
    Ok(Hearing {
        place: Place { group: SocketAddrV4::new(group, config.port), interface, server },
        session,
        fill_within: config.fill_within,
        silence: config.silence,
    })
}

fn files(config: &MdConfig) -> Result<Files, RunError> {
    match &config.files {
        Some(config::Files::Path(path)) => Ok(Files::Path(path.clone())),
        Some(config::Files::Named(named)) => {
            let roles = [("orders", &named.orders), ("trades", &named.trades), ("messages", &named.messages)];
            let named: BTreeMap<_, _> =
                roles.into_iter().filter_map(|(role, path)| Some((role.to_owned(), path.clone()?))).collect();
            Ok(Files::Named(named))
        }
        None => Err(RunError::Component {
            message: "md.files is not set: name the recorded day's folder or files".to_owned(),
            exit: Exit::Usage,
        }),
    }
}
