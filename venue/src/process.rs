//! The process: a node in matching's seat, with a venue on the other side.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use node::{
    Component, Context, Counter, Exit, Frame, INSTANCE_VARIABLE, InputId, NODE_VARIABLE, Node, NodeHandle,
    Output, RunError, Runner, Steps, Stepwise, WriteError,
};
use serde::Deserialize;
use wire::{EndOfStream, Execution, Instrument, Message, Nanos, Reason, Request};

use crate::driver::{Driver, Effects, Input, Overdue, prefix};
use crate::market::{News, Venue};
use crate::memory::Memory;
use crate::unbooked::Settlement;

/// While executions wait for their readers, in nanoseconds between two tries.
const RETRY: u64 = 50_000;
/// Between two looks at the line, in nanoseconds, while an answer is expected, or news came a moment ago.
const LOOK: u64 = 100_000;
/// While nothing is expected.
const LOOK_IDLE: u64 = 1_000_000;
/// Such a moment.
const MOMENT: u64 = 10_000_000;
/// What was not answered for one to two of these, in nanoseconds, is asked for.
const PATIENCE: u64 = 2_000_000_000;

/// While something is not booked, in nanoseconds between two looks at what operators decide.
const LOOK_DECISIONS: u64 = 250_000_000;

/// What an author's program gets of the platform file, and of the platform.
#[derive(Clone, Debug)]
pub struct Setup {
    /// `[matching] params`.
    pub params: serde_json::Value,
    /// The instance's name.
    pub instance: String,
}

/// Its part of the platform file.
#[derive(Deserialize)]
struct Section {
    #[serde(default)]
    params: serde_json::Value,
    #[serde(default)]
    on_unbooked: OnUnbooked,
}

/// What happens to new orders while an execution is not booked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OnUnbooked {
    #[default]
    Stop,
    GoOn,
}

/// Runs a program in matching's seat, until it is asked to stop: an author's `fn main` calls it and nothing else.
///
/// `make` is called once, when the process starts. It must not wait for the market.
pub fn main<V: Venue>(make: impl FnOnce(&Setup) -> Result<V, String>) -> ExitCode {
    node::start_log();
    match run(make) {
        Ok(()) => ExitCode::from(Exit::Done.code()),
        Err((exit, message)) => {
            log::error!("{message}");
            ExitCode::from(exit.code())
        }
    }
}

fn run<V: Venue>(make: impl FnOnce(&Setup) -> Result<V, String>) -> Result<(), (Exit, String)> {
    let closed = format!("--{}", matching::seat::CLOSED);
    let is_closed = std::env::args().skip(1).any(|argument| argument == closed);
    let variable = |name: &str| {
        std::env::var(name).map_err(|_| {
            let message = format!("{name} is not set: master starts this program, for [matching] program");
            (Exit::Usage, message)
        })
    };
    let failed = |error: RunError| (error.exit(), error.to_string());
    let mut node = Node::join(&variable(INSTANCE_VARIABLE)?, &variable(NODE_VARIABLE)?)
        .map_err(|error| (error.exit(), error.to_string()))?;
    let Section { params, on_unbooked } =
        node.section().map_err(|error| (error.exit(), error.to_string()))?;
    let setup = Setup { params, instance: node.instance().name().to_owned() };
    let venue = make(&setup).map_err(|message| (Exit::Usage, message))?;
    let mut seat = Seat::take(&mut node, venue, (is_closed, on_unbooked)).map_err(failed)?;
    node.run(&mut seat).map_err(failed)
}

/// A node in matching's seat whose loop the caller turns, with this line to the market: how a process that holds all nodes of a
/// platform runs one that trades elsewhere.
///
/// # Errors
/// [`RunError`] when its predecessor's state cannot be taken over.
pub fn steps<V: Venue + 'static>(mut node: Node, venue: V) -> Result<Box<dyn Steps>, RunError> {
    let Section { on_unbooked, .. } = node.section()?;
    let seat = Seat::take(&mut node, venue, (false, on_unbooked))?;
    Stepwise.run(node, seat)
}

/// The seat.
struct Seat<V> {
    handle: NodeHandle,
    /// The file in which operators decide, how much of it is read, and when it is looked at again.
    decisions: PathBuf,
    decided: usize,
    next_decision: u64,
    on_unbooked: OnUnbooked,
    venue: V,
    driver: Driver,
    memory: Memory,
    instruments: InputId,
    orders: InputId,
    executions: Output,
    /// Until they are written.
    answers: Vec<Execution>,
    effects: Effects,
    news: Vec<News>,
    listing_done: bool,
    is_closed: bool,
    /// What waited at the last look.
    waiting: BTreeSet<Overdue>,
    /// What the log named of it last.
    overdue: Vec<Overdue>,
    next_look: u64,
    last_news: u64,
    /// Requests that came while there was no line were said of.
    is_down_said: bool,
}

impl<V: Venue> Seat<V> {
    /// Finds out where the process before was.
    fn take(
        node: &mut Node,
        venue: V,
        (is_closed, on_unbooked): (bool, OnUnbooked),
    ) -> Result<Seat<V>, RunError> {
        let executions = node.take_output("executions")?;
        executions.resume(&node.handle(), matching::seat::COUNTED);
        let (instruments, orders) = (node.input("instruments")?, node.input("orders")?);
        let written = executions.frames();
        let mut driver: Option<Driver> = None;
        let (mut made, mut effects) = (0_u64, Effects::default());
        let mut answers = Vec::new();
        let path = node.instance().venue();
        let memory = Memory::open(&path, &prefix(Nanos(node.handle().now())), |prefix, input| {
            let driver = driver.get_or_insert_with(|| Driver::new(prefix));
            driver.take(&input, &mut effects);
            // What it wanted to send was sent, or is asked for.
            effects.commands.clear();
            effects.notes.clear();
            effects.alarms.clear();
            for execution in effects.executions.drain(..) {
                if made >= written {
                    answers.push(execution);
                }
                made += 1;
            }
        })
        .map_err(|error| RunError::failed(error.to_string()))?;
        if made < written {
            return Err(RunError::failed(format!(
                "`{}` holds {written} executions, and {} knows of {made}: what works at the market is not known here. Look \
                 there, cancel it, and begin a new instance",
                executions.journal,
                path.display()
            )));
        }
        let driver = driver.unwrap_or_else(|| Driver::new(memory.prefix()));
        if driver.taken() > 0 {
            log::info!(
                "taken up where the process before was: {} orders at work or on their way, {} requests without an answer, {} \
                 executions still to be written",
                driver.orders(),
                driver.unanswered(),
                answers.len()
            );
        }
        log::info!("orders are called {}-… at the market", memory.prefix());
        let handle = node.handle();
        handle.set(Counter::Unbooked, driver.unbooked().len() as u64);
        for what in driver.unbooked() {
            log::error!("not booked since before: {what}; `colo venue list` shows all");
        }
        Ok(Seat {
            handle,
            decisions: node.instance().venue_decisions(),
            decided: 0,
            next_decision: 0,
            on_unbooked,
            venue,
            driver,
            memory,
            instruments,
            orders,
            executions,
            answers,
            effects,
            news: Vec::new(),
            listing_done: false,
            is_closed,
            waiting: BTreeSet::new(),
            overdue: Vec::new(),
            next_look: 0,
            last_news: 0,
            is_down_said: false,
        })
    }

    /// Notes what was heard, and acts upon it.
    fn hear(&mut self, context: &Context, input: &Input) -> Result<(), RunError> {
        self.memory.note(input).map_err(|error| RunError::failed(error.to_string()))?;
        let (strays, unbooked) = (self.driver.strays(), self.driver.unbooked().len());
        self.driver.take(input, &mut self.effects);
        let odd = self.effects.alarms.len() as u64 + self.driver.strays() - strays;
        if odd > 0 {
            context.add(Counter::Anomalies, odd);
        }
        if self.driver.unbooked().len() != unbooked {
            self.handle.set(Counter::Unbooked, self.driver.unbooked().len() as u64);
        }
        for alarm in self.effects.alarms.drain(..) {
            let stopped = match self.on_unbooked {
                OnUnbooked::Stop => "new orders and replaces are refused (market-closed) until it is settled",
                OnUnbooked::GoOn => "orders go on (matching.on_unbooked)",
            };
            log::error!("NOT BOOKED: {alarm}; {stopped}: `colo venue list` shows it");
        }
        for command in self.effects.commands.drain(..) {
            self.venue.send(&command);
        }
        self.effects.notes.drain(..).for_each(|note| log::warn!("{note}"));
        self.answers.append(&mut self.effects.executions);
        self.write(context)
    }

    fn write(&mut self, context: &Context) -> Result<(), RunError> {
        let (written, outcome) = matching::seat::write(&mut self.executions, &self.answers);
        for answer in self.answers.drain(..written) {
            let counter = match answer {
                Execution::Fill(_) => Some(Counter::Fills),
                Execution::Update(update) => {
                    let refused = Counter::of_refusal(update.status);
                    if refused.is_some() && update.reason == Reason::MarketClosed {
                        context.add(Counter::ClosedRejects, 1);
                    }
                    refused
                }
            };
            counter.into_iter().for_each(|counter| context.add(counter, 1));
        }
        match outcome {
            Ok(()) | Err(WriteError::Full { .. }) => Ok(()),
            Err(source) => Err(RunError::Write { journal: self.executions.journal.clone(), source }),
        }
    }

    /// What the line brings.
    fn listen(&mut self, context: &mut Context) -> Result<(), RunError> {
        let now = context.now();
        self.venue.poll(Nanos(now), &mut self.news).map_err(RunError::failed)?;
        let news = std::mem::take(&mut self.news);
        for piece in &news {
            match piece {
                News::Up => {
                    self.is_down_said = false;
                    log::info!("the market can be talked to");
                }
                News::Down if self.driver.is_up() => {
                    log::warn!("the line to the market is down: new orders are refused, market-closed");
                }
                _ => {}
            }
            if *piece != News::Down || self.driver.is_up() {
                self.hear(context, &Input::News(piece.clone()))?;
            }
        }
        if !news.is_empty() {
            self.last_news = now;
            context.worked();
        }
        self.news = news;
        self.news.clear();
        if now >= self.next_look {
            self.next_look = now + PATIENCE;
            let waiting: BTreeSet<Overdue> = self.driver.waiting().into_iter().collect();
            let overdue: Vec<Overdue> = self.waiting.intersection(&waiting).copied().collect();
            if !overdue.is_empty() && self.driver.is_up() {
                if overdue != self.overdue {
                    log::warn!(
                        "no answer from the market for {} s: {} are asked for, {:?} first",
                        PATIENCE / 1_000_000_000,
                        overdue.len(),
                        overdue[0]
                    );
                    self.overdue.clone_from(&overdue);
                }
                overdue.into_iter().try_for_each(|overdue| self.hear(context, &Input::Overdue(overdue)))?;
            }
            self.waiting = waiting;
        }
        Ok(())
    }

    /// What operators have decided of what is not booked.
    fn look_at_decisions(&mut self, context: &Context) -> Result<(), RunError> {
        let now = context.now();
        if self.driver.unbooked().len() == 0 || now < self.next_decision {
            return Ok(());
        }
        self.next_decision = now + LOOK_DECISIONS;
        let text = match std::fs::read_to_string(&self.decisions) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                return Err(RunError::failed(format!("{}: {error}", self.decisions.display())));
            }
        };
        let new = text.get(self.decided..).unwrap_or_default();
        let whole = new.rfind('\n').map_or(0, |end| end + 1);
        self.decided += whole;
        for line in new[..whole].lines() {
            match crate::memory::read(line) {
                Some(input @ Input::Settle(_)) => {
                    let Input::Settle(Settlement { number, .. }) = input else { continue };
                    // Decided before, in the life of a predecessor.
                    if self.driver.unbooked().any(|what| what.number == number) {
                        self.hear(context, &input)?;
                    }
                }
                _ => log::error!("{}: `{line}` is no decision: passed over", self.decisions.display()),
            }
        }
        Ok(())
    }

    fn take_frame(&mut self, context: &Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        let malformed = |error: wire::WireError| {
            context.add(Counter::Malformed, 1);
            log::error!("input {} at position {}: {error}; passed over", input.0, frame.position);
        };
        if input == self.orders {
            if frame.position <= self.driver.taken() {
                // Taken by a predecessor that was killed before its cursor could move.
                return Ok(());
            }
            let request = match Request::decode(frame.message_id, frame.payload) {
                Ok(request) => request,
                Err(error) => {
                    malformed(error);
                    return Ok(());
                }
            };
            if !self.driver.is_up() && !std::mem::replace(&mut self.is_down_said, true) {
                log::warn!(
                    "requests come while there is no line to the market, {} first: new orders and replaces are refused \
                     (market-closed), cancels wait; not said again",
                    request.order_id()
                );
            }
            let counter = match request {
                Request::New(_) => Counter::Orders,
                Request::Replace(_) => Counter::Replaces,
                Request::Cancel(_) | Request::CancelAll(_) => Counter::Cancels,
            };
            context.add(counter, 1);
            return self.hear(context, &Input::Request(frame.position, request));
        }
        match frame.message_id {
            Instrument::ID => match Instrument::decode(frame.payload) {
                Ok(instrument) => {
                    self.venue.list(&instrument);
                    if self.driver.tick(instrument.id) != Some(instrument.tick) {
                        self.hear(context, &Input::Tick(instrument.id, instrument.tick))?;
                    }
                }
                Err(error) => malformed(error),
            },
            EndOfStream::ID => self.listing_done = true,
            id => malformed(wire::WireError::UnknownId { id }),
        }
        Ok(())
    }
}

impl<V: Venue> Component for Seat<V> {
    fn start(&mut self, context: &mut Context) -> Result<(), RunError> {
        // The line of the process before is gone.
        if self.driver.is_up() {
            self.hear(context, &Input::News(News::Down))?;
        }
        let stops = self.on_unbooked == OnUnbooked::Stop;
        if self.driver.stops() != stops {
            self.hear(context, &Input::Stop(stops))?;
        }
        if self.is_closed {
            log::error!("the market is closed: orders are cancelled there, and all but cancels is refused");
            self.hear(context, &Input::Close)?;
        }
        self.write(context)
    }

    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        self.write(context)?;
        if !self.answers.is_empty() {
            context.add(Counter::Full, 1);
            context.wake_at(context.now() + RETRY);
            return Ok(());
        }
        if self.listing_done {
            self.listen(context)?;
            self.look_at_decisions(context)?;
        }
        let now = context.now();
        let is_busy = self.driver.unanswered() > 0 || now < self.last_news + MOMENT;
        context.wake_at(now + if is_busy { LOOK } else { LOOK_IDLE });
        Ok(())
    }

    fn is_settled(&self, _input: InputId) -> bool {
        self.answers.is_empty()
    }

    fn accepts(&mut self, input: InputId, _position: u64) -> bool {
        input == self.instruments || (self.listing_done && self.answers.is_empty())
    }

    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        self.take_frame(context, input, frame)
    }

    /// At a clean stop the cancels of strategies that have stopped are still answered, while there is a line.
    fn flush(&mut self, context: &mut Context) -> Result<bool, RunError> {
        self.write(context)?;
        if self.answers.is_empty() && self.listing_done {
            self.listen(context)?;
        }
        let waits = self.driver.is_up() && self.driver.unanswered() > 0;
        Ok(self.answers.is_empty() && !waits)
    }

    fn stop(&mut self, _context: &mut Context) -> Result<(), RunError> {
        self.venue.stop();
        let orders = self.driver.orders();
        for what in self.driver.unbooked() {
            log::error!("not booked at the end: {what}");
        }
        if orders > 0 {
            log::warn!("{orders} orders may still work at the market: nobody here follows them any more");
        }
        Ok(())
    }
}
