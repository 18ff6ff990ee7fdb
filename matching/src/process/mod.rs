//! The matching process: orders and the market in, executions out.
//!
//! ```text
//!  instruments ─► listed            td.orders ─► new, cancel, replace ─┐
//!  md.flow (recorded days) or md.quotes ─► the market's side ──────────┴─► matching.executions
//! ```
//!
//! No input is taken while answers wait for room in their journal, and the cursor stays before the request. Every
//! answer names the request up to which all are answered ([`wire::OrderUpdate::answered_up_to`]): a successor skips those.
//! An order or event about an instrument that is not listed yet waits until the list has been read.
//!
//! With `fill = "exchange"` the strategies' orders trade with each other ([`participants`]), nothing comes from md but the
//! list, and every change of the books goes to `matching.market` ([`feed`]).
//!
//! The books are written down in `matching.state` as well ([`keeper`]): the successor of a process that is killed goes on
//! with them ([`replay`], [`beside`]). Where that cannot be, it starts with empty books, and first writes that every order
//! which worked is cancelled ([`crate::recall`]). The last successor refuses every request ([`crate::closed`]).

mod beside;
#[cfg(any(test, feature = "fuzzing"))]
mod bytes;
mod changes;
mod chosen;
mod day;
mod feed;
mod images;
mod keeper;
mod latency;
mod order;
mod participants;
mod passing;
mod recorded;
mod replay;
mod reports;
mod saved;
mod schedule;
mod shares;
mod statistics;
mod successor;

use node::{
    Component, Context, Counter, Exit, Flag, Frame, InputId, Node, RunError, Runner, Service, Stepwise,
    ToItsEnd, WriteError,
};
use topology::NodeKind;
use topology::config::{Fill as FillRule, MatchingConfig};
use wire::{EndOfStream, Execution, Instrument, Message, Nanos, Reason, Request, WireError};

#[cfg(feature = "fuzzing")]
pub use bytes::exchange_of_bytes;

use crate::closed;
use crate::engine::FillModel;
use crate::recall::Recall;
use crate::seat;
use keeper::{Keeper, Rings};
use latency::Way;
use participants::Participants;
use recorded::{MarketInput, Recorded};
use replay::Journals;
use shares::OwnTrades;
use successor::Successor;

/// While executions wait for their readers, in nanoseconds between two tries.
const RETRY: u64 = 50_000;

/// The state of the market.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Market {
    /// Orders can trade.
    Open,
    /// Working orders are ended, and every request is refused: `market-closed`.
    Closed,
}

/// What the orders trade with.
#[derive(Debug)]
enum Books {
    /// A recorded or quoted market, and each other.
    Recorded(Box<Recorded>),
    /// Each other alone.
    Exchange(Box<Participants>),
}

/// Master starts matching so when it starts it no more.
const CLOSED: Flag = Flag {
    name: seat::CLOSED,
    about: "End every order that works, and refuse all that comes: what master does when it starts matching no more",
};

/// The order books.
pub const SERVICE: Service = Service {
    kind: NodeKind::Matching,
    about: "Order books",
    flags: &[CLOSED],
    run: |node, flags| {
        run(node, if flags.contains(&CLOSED.name) { Market::Closed } else { Market::Open }, ToItsEnd)
    },
    steps: Some(|node| run(node, Market::Open, Stepwise)),
};

fn run<R: Runner>(mut node: Node, market: Market, runner: R) -> Result<R::Outcome, RunError> {
    let config: MatchingConfig = node.section()?;
    if config.fill == FillRule::External {
        let message = "matching.fill is \"external\": matching.program takes the orders, and not this one";
        return Err(RunError::Component { message: message.to_owned(), exit: Exit::Usage });
    }
    let executions = node.take_output("executions")?;
    executions.resume(&node.handle(), seat::COUNTED);
    let huge_pages = config.huge_pages;
    let has_latency = config.has_latency();
    let way = match config.fill {
        FillRule::Book | FillRule::Quotes if has_latency || node.assignment().deterministic => {
            let way = latency::Way::new(&config);
            let way = way.map_err(|message| RunError::Component { message, exit: Exit::Usage })?;
            Some(Box::new(way))
        }
        FillRule::Book | FillRule::Quotes | FillRule::Exchange | FillRule::External => None,
    };
    let (generation, is_stepped) = (node.assignment().generation, node.is_stepped());
    if has_latency && generation > 1 && market == Market::Open {
        let message =
            "what was under way to the market and back was lost with the process before: run it again";
        return Err(RunError::failed(message.to_owned()));
    }
    let recorded = |fill| Books::Recorded(Box::new(Recorded::new(&config, fill, !has_latency)));
    let mut books = match config.fill {
        FillRule::Book => recorded(FillModel::Book),
        FillRule::Quotes => recorded(FillModel::Quotes),
        FillRule::Exchange | FillRule::External => Books::Exchange(Box::new(Participants::new(&config))),
    };
    let is_huge = match &books {
        Books::Recorded(recorded) => recorded.engine.is_on_huge_pages(),
        Books::Exchange(exchange) => exchange.is_on_huge_pages(),
    };
    match (huge_pages, is_huge) {
        (true, true) => log::info!("the books lie on huge pages"),
        (true, false) => log::warn!("huge pages for the books are too few: they lie on ordinary pages"),
        (false, _) => {}
    }
    let market_data = node.take_outputs("market").into_iter().next();
    let (instruments, orders) = (node.input("instruments")?, node.input("orders")?);
    // Nobody goes on with the books where requests are under way.
    let state = node.take_outputs("state").into_iter().next().filter(|_| !has_latency);
    let heard = match config.fill {
        FillRule::Book => Some(node.input("flow")?),
        FillRule::Quotes => Some(node.input("quotes")?),
        FillRule::Exchange | FillRule::External => None,
    };
    let heard_from = heard.map(|input| &node.inputs()[input.0]);
    let cursor = heard_from.map_or((0, 0), |input| (input.position(), input.head()));
    let taken = node.inputs()[orders.0].position();
    let market_journal = match (&market_data, heard_from) {
        (Some(market), _) => Some((market.journal.clone(), market.capacity)),
        (None, Some(input)) => Some((input.name().to_owned(), input.capacity())),
        (None, None) => None,
    };
    let rings = Rings {
        orders: node.inputs()[orders.0].capacity(),
        executions: executions.capacity,
        market: market_journal.as_ref().map_or(u64::MAX, |(_, capacity)| *capacity),
    };
    let journals = match (&state, market_journal) {
        (Some(state), Some((market, _))) => Some(Journals {
            state: state.journal.clone(),
            orders: node.inputs()[orders.0].name().to_owned(),
            executions: executions.journal.clone(),
            market,
        }),
        _ => None,
    };
    let mut keeper = state.map(|output| Keeper::new(output, rings));
    let (mut answers, mut request, mut successor) = (Vec::with_capacity(64), 0, None);
    match journals {
        Some(journals) if generation > 1 && market == Market::Open => {
            successor = Some(Successor::new(&node, config, journals, cursor, taken));
        }
        _ => {
            if generation > 1 {
                let lost = Recall::read(node.instance(), &executions.journal)?;
                request = lost.request;
                take_over(&mut books, lost, market_data.as_ref(), node.instance(), &mut answers)?;
            }
            if let Some(keeper) = &mut keeper {
                begin(keeper, generation)?;
            }
        }
    }
    if market == Market::Closed {
        log::error!("the market is closed: every order and request is refused");
    }
    let matching = Matching {
        books,
        market_data,
        market,
        instruments,
        orders,
        heard,
        keeper,
        way,
        due: 0,
        unsaid: None,
        noted: 0,
        successor,
        generation,
        is_stepped,
        is_busy: false,
        is_closed_said: false,
        lost: answers.len() as u64,
        executions,
        answers,
        request,
        now: Nanos(0),
        listing_done: false,
        anomalies: 0,
        needs: 0,
        own_trades: OwnTrades::default(),
    };
    runner.run(node, matching)
}

/// What was written is void: the books are empty.
fn begin(keeper: &mut Keeper, generation: u64) -> Result<(), RunError> {
    match keeper.begin(generation) {
        Ok(true) => Ok(()),
        Ok(false) => {
            Err(RunError::failed(format!("`{}` has no room: its readers are behind", keeper.journal())))
        }
        Err(source) => Err(RunError::Write { journal: keeper.journal().to_owned(), source }),
    }
}

/// Without its predecessor's books: numbers go on, and the orders that worked are ended.
fn take_over(
    books: &mut Books,
    lost: Recall,
    market: Option<&node::Output>,
    instance: &node::InstanceDir,
    answers: &mut Vec<Execution>,
) -> Result<(), RunError> {
    match books {
        Books::Recorded(recorded) => recorded.engine.number_trades_after(lost.trade),
        Books::Exchange(exchange) => {
            exchange.number_trades_after(lost.trade);
            exchange.again = true;
            let traded = lost.statistics(instance, market.map(|output| output.journal.as_str()))?;
            traded.into_iter().for_each(|statistics| exchange.take_over(statistics));
        }
    }
    answers.extend(lost.into_ends().map(Execution::Update));
    let orders = match answers.len() {
        0 => "no order worked in them".to_owned(),
        1 => "1 order that worked is cancelled".to_owned(),
        orders => format!("{orders} orders that worked are cancelled"),
    };
    log::warn!("restarted without the books of the process before: {orders}");
    Ok(())
}

struct Matching {
    books: Books,
    /// An exchange's own book.
    market_data: Option<node::Output>,
    market: Market,
    instruments: InputId,
    orders: InputId,
    /// The recorded or quoted market.
    heard: Option<InputId>,
    /// Writes the state of the books.
    keeper: Option<Keeper>,
    /// What is under way between strategies and market, where anything is.
    way: Option<Box<Way>>,
    /// When the next of that arrives, as md was last told.
    due: u64,
    /// A request whose answers may be written only when it is said how far the market was read before it.
    unsaid: Option<(u64, u64)>,
    /// How far the market was read when that was last said.
    noted: u64,
    /// What finds the books of a killed process again, until the instruments are listed.
    successor: Option<Successor>,
    /// Which process of this seat it is.
    generation: u64,
    /// Somebody turns it: there is no time in which it has nothing else to do.
    is_stepped: bool,
    /// A frame came since the last turn.
    is_busy: bool,
    /// It was said that requests come to a closed market.
    is_closed_said: bool,
    /// Orders that were lost with the books of a process before and are not counted yet.
    lost: u64,
    executions: node::Output,
    /// The engine's answers to one message, until they are written.
    answers: Vec<Execution>,
    /// Requests up to this position in `td.orders` are taken.
    request: u64,
    /// The time of this turn: an exchange's clock.
    now: Nanos,
    /// True once the end of the list of instruments was read.
    listing_done: bool,
    anomalies: u64,
    /// What `matching.state` needs, as it is published.
    needs: u64,
    own_trades: OwnTrades,
}

impl Matching {
    fn take(&mut self, context: &Context, input: InputId, frame: &Frame<'_>) -> Result<(), WireError> {
        if self.market == Market::Closed && input != self.instruments {
            let refusal = closed::refusal(frame.message_id, frame.payload)?;
            self.answers.extend(refusal.map(Execution::Update));
            return Ok(());
        }
        if input == self.orders {
            let request = Request::decode(frame.message_id, frame.payload)?;
            match &mut self.books {
                Books::Exchange(exchange) => {
                    exchange.request(&request, Nanos(frame.time), &mut self.answers);
                }
                Books::Recorded(_) if self.way.is_some() => self.send(frame.position, request),
                Books::Recorded(_) => {
                    self.note_read(frame.position);
                    if let Books::Recorded(recorded) = &mut self.books {
                        recorded.request(&request, &mut self.answers);
                    }
                }
            }
            let counter = match request {
                Request::New(_) => Counter::Orders,
                Request::Replace(_) => Counter::Replaces,
                Request::Cancel(_) | Request::CancelAll(_) => Counter::Cancels,
            };
            context.add(counter, 1);
            return Ok(());
        }
        if Some(input) == self.heard {
            return self.market(context, frame);
        }
        match (frame.message_id, &mut self.books) {
            (Instrument::ID, books) => {
                let instrument = Instrument::decode(frame.payload)?;
                match books {
                    Books::Recorded(recorded) => recorded.list(&instrument),
                    Books::Exchange(exchange) => exchange.list(&instrument),
                }
                if let Some(successor) = &mut self.successor {
                    successor.list(instrument);
                }
            }
            // An exchange opens when this frame was taken.
            (EndOfStream::ID, _) => self.listing_done = true,
            (id, _) => return Err(WireError::UnknownId { id }),
        }
        Ok(())
    }

    /// A message of a recorded or quoted market.
    fn market(&mut self, context: &Context, frame: &Frame<'_>) -> Result<(), WireError> {
        let Books::Recorded(recorded) = &mut self.books else {
            return Err(WireError::UnknownId { id: frame.message_id });
        };
        let message = MarketInput::decode(frame.message_id, frame.payload).inspect_err(|_| {
            recorded.read = frame.position;
        })?;
        match &self.way {
            None => {
                recorded.read = frame.position;
                recorded.market(&message, &mut self.answers);
            }
            Some(_) => self.pass(frame.position, &message),
        }
        match message {
            MarketInput::Book(_) => context.add(Counter::BookEvents, 1),
            MarketInput::Quote(_) => context.add(Counter::Quotes, 1),
            MarketInput::Trade(_) => context.add(Counter::Trades, 1),
            MarketInput::Phase(_) | MarketInput::Time(_) => {}
            MarketInput::End => log::info!("the market's source has ended"),
        }
        Ok(())
    }

    fn count_lost(&mut self, context: &Context) {
        context.add(Counter::OrdersLost, std::mem::take(&mut self.lost));
    }

    /// True when nothing waits for room in a journal.
    fn is_written(&self) -> bool {
        self.answers.is_empty() && self.market_data.as_ref().is_none_or(|market| market.backlog() == 0)
    }

    /// True when a successor finds what is taken from now on: there is a whole state before it, or none is kept.
    fn is_recoverable(&self) -> bool {
        self.market == Market::Closed || self.keeper.as_ref().is_none_or(Keeper::has_state)
    }

    /// Writes the engine's answers to one message, all at once; those that find no room stay.
    fn answer(&mut self, context: &Context) -> Result<(), RunError> {
        if self.way.is_none() {
            let request = self.request;
            self.answers.iter_mut().for_each(|answer| answer.set_answered_up_to(request));
        }
        self.write(context)?;
        self.publish()?;
        let Books::Recorded(recorded) = &self.books else { return Ok(()) };
        let anomalies = recorded.engine.anomalies().total();
        if anomalies != self.anomalies {
            context.add(Counter::Anomalies, anomalies - self.anomalies);
            self.anomalies = anomalies;
        }
        Ok(())
    }

    /// Remembers how far the market was read before this request is carried out; of several at one place, at the first.
    fn note_read(&mut self, request: u64) {
        if let Books::Recorded(recorded) = &self.books
            && recorded.read != self.noted
            && self.unsaid.is_none_or(|(_, read)| read != recorded.read)
        {
            self.unsaid = Some((request, recorded.read));
        }
    }

    /// Says how far the market was read before the request that is answered. False: there is no room to say it.
    fn say(&mut self) -> Result<bool, RunError> {
        let (Some((request, market)), Some(keeper)) = (self.unsaid, &mut self.keeper) else {
            return Ok(true);
        };
        let is_said = keeper
            .read(request, market)
            .map_err(|source| RunError::Write { journal: keeper.journal().to_owned(), source })?;
        if is_said {
            (self.unsaid, self.noted) = (None, market);
        }
        Ok(is_said)
    }

    fn write(&mut self, context: &Context) -> Result<(), RunError> {
        if !self.answers.is_empty() && !self.say()? {
            return Ok(());
        }
        if self.answers.is_empty() {
            return Ok(());
        }
        let (written, outcome) = seat::write(&mut self.executions, &self.answers);
        for answer in self.answers.drain(..written) {
            let counter = match answer {
                Execution::Fill(fill) => {
                    context.add(Counter::OwnTrades, self.own_trades.completed_by(&fill));
                    Some(Counter::Fills)
                }
                Execution::Update(update) => {
                    let refused = Counter::of_refusal(update.status);
                    if refused.is_some() && update.reason == Reason::MarketClosed {
                        context.add(Counter::ClosedRejects, 1);
                        if !std::mem::replace(&mut self.is_closed_said, true) {
                            log::warn!(
                                "requests come to a closed market and are refused, order {} of {} first; they are counted as \
                                 closed_rejects, and not said again",
                                update.order_id,
                                update.instrument
                            );
                        }
                    }
                    refused
                }
            };
            if let Some(counter) = counter {
                context.add(counter, 1);
            }
        }
        match outcome {
            Ok(()) | Err(WriteError::Full { .. }) => Ok(()),
            Err(source) => Err(RunError::Write { journal: self.executions.journal.clone(), source }),
        }
    }
}

impl Component for Matching {
    /// After a restart: the ends of the orders that worked, before anything else.
    fn start(&mut self, context: &mut Context) -> Result<(), RunError> {
        self.now = Nanos(context.now());
        self.count_lost(context);
        // A predecessor's.
        context.handle().set(Counter::StateNeeds, 0);
        self.answer(context)
    }

    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        self.now = Nanos(context.now());
        if !self.flush(context)? {
            context.add(Counter::Full, 1);
            context.wake_at(context.now() + RETRY);
            return Ok(());
        }
        self.advance(context)?;
        self.look_for_the_stop(context)?;
        let is_idle = !std::mem::take(&mut self.is_busy);
        self.keep(context, is_idle)?;
        if let Some(needs) = self.keeper.as_ref().map(Keeper::needs).filter(|needs| *needs != self.needs) {
            self.needs = needs;
            context.handle().set(Counter::StateNeeds, needs);
        }
        Ok(())
    }

    fn is_settled(&self, _input: InputId) -> bool {
        self.is_written()
    }

    fn flush(&mut self, context: &mut Context) -> Result<bool, RunError> {
        // It may be asked to end before its next look.
        self.look_for_the_stop(context)?;
        self.write(context)?;
        if let Some(market) = &mut self.market_data {
            match market.flush() {
                Ok(()) | Err(WriteError::Full { .. }) => {}
                Err(source) => return Err(RunError::Write { journal: market.journal.clone(), source }),
            }
        }
        Ok(self.is_written())
    }

    fn accepts(&mut self, input: InputId, _position: u64) -> bool {
        input == self.instruments || (self.listing_done && self.is_written() && self.is_recoverable())
    }

    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        self.is_busy = true;
        if input == self.orders {
            if frame.position <= self.request {
                // Answered by a predecessor that was killed before its cursor could move.
                return Ok(());
            }
            if self.way.is_none() {
                self.request = frame.position;
            }
        }
        if let Books::Recorded(recorded) = &self.books
            && Some(input) == self.heard
            && frame.position <= recorded.read
        {
            // Taken before, by this process as the successor of one that was killed before its cursor could move.
            return Ok(());
        }
        let was_listed = self.listing_done;
        if let Err(error) = self.take(context, input, frame) {
            context.add(Counter::Malformed, 1);
            log::error!("input {} at position {}: {error}; passed over", input.0, frame.position);
            return Ok(());
        }
        if self.listing_done && !was_listed {
            self.open(context, Nanos(frame.time))?;
        }
        self.answer(context)?;
        self.say_when_due(context);
        Ok(())
    }
}
