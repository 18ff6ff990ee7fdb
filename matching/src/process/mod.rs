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
//! An exchange's books are written down in `matching.state` as well ([`keeper`]): the successor of one that is killed goes
//! on with them ([`replay`]). Beside a recorded or quoted market the books are in this process only, and are lost when it
//! is killed: its successor starts with empty books, and first writes that every order which worked is cancelled
//! ([`crate::recall`]). The last successor refuses every request ([`crate::closed`]).

#[cfg(any(test, feature = "fuzzing"))]
mod bytes;
mod changes;
mod chosen;
mod day;
mod feed;
mod keeper;
mod order;
mod participants;
mod replay;
mod reports;
mod saved;
mod schedule;
mod shares;
mod statistics;
mod successor;

use node::{
    Component, Context, Counted, Counter, Flag, Frame, InputId, Node, RunError, Service, Tally, WriteError,
};
use topology::NodeKind;
use topology::config::{Fill as FillRule, MatchingConfig};
use wire::{
    BookEvent, CancelAll, CancelOrder, EndOfStream, Execution, Instrument, Message, Nanos, NewOrder, Quote,
    ReplaceOrder, Request, TradePrint, WireError,
};

#[cfg(feature = "fuzzing")]
pub use bytes::exchange_of_bytes;

use crate::closed;
use crate::engine::{Engine, FillModel};
use crate::recall::Recall;
use keeper::{Keeper, Rings};
use participants::Participants;
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
    Recorded(Box<Engine>),
    /// Each other alone.
    Exchange(Box<Participants>),
}

/// What its seat counts of the executions.
const COUNTED: &[Counted] = &[
    (Counter::Fills, Tally::fills),
    (Counter::Rejects, Tally::rejected),
    (Counter::CancelRejects, Tally::cancels_rejected),
    (Counter::ReplaceRejects, Tally::replaces_rejected),
];

/// Master starts matching so when it starts it no more.
const CLOSED: Flag = Flag {
    name: "closed",
    about: "End every order that works, and refuse all that comes: what master does when it starts matching no more",
};

/// The order books.
pub const SERVICE: Service = Service {
    kind: NodeKind::Matching,
    about: "Order books",
    flags: &[CLOSED],
    run: |node, flags| run(node, if flags.contains(&CLOSED.name) { Market::Closed } else { Market::Open }),
};

fn run(mut node: Node, market: Market) -> Result<(), RunError> {
    let config: MatchingConfig = node.section()?;
    let executions = node.take_output("executions")?;
    executions.resume(&node.handle(), COUNTED);
    let huge_pages = config.huge_pages;
    let engine = |fill| Engine::new(chosen::options(&config, fill));
    let mut books = match config.fill {
        FillRule::Book => Books::Recorded(Box::new(engine(FillModel::Book))),
        FillRule::Quotes => Books::Recorded(Box::new(engine(FillModel::Quotes))),
        FillRule::Exchange => Books::Exchange(Box::new(Participants::new(&config))),
    };
    let is_huge = match &books {
        Books::Recorded(engine) => engine.is_on_huge_pages(),
        Books::Exchange(exchange) => exchange.is_on_huge_pages(),
    };
    match (huge_pages, is_huge) {
        (true, true) => log::info!("the books lie on huge pages"),
        (true, false) => log::warn!("huge pages for the books are too few: they lie on ordinary pages"),
        (false, _) => {}
    }
    let market_data = node.take_outputs("market").into_iter().next();
    let (instruments, orders) = (node.input("instruments")?, node.input("orders")?);
    let state = node.take_outputs("state").into_iter().next();
    let journals = match (&state, &market_data) {
        (Some(state), Some(market)) => Some(Journals {
            state: state.journal.clone(),
            orders: node.inputs()[orders.0].name().to_owned(),
            executions: executions.journal.clone(),
            market: market.journal.clone(),
        }),
        _ => None,
    };
    let rings = Rings {
        orders: node.inputs()[orders.0].capacity(),
        executions: executions.capacity,
        market: market_data.as_ref().map_or(u64::MAX, |market| market.capacity),
    };
    let mut keeper = state.map(|output| Keeper::new(output, rings));
    let (mut answers, mut request, mut successor) = (Vec::with_capacity(64), 0, None);
    let generation = node.assignment().generation;
    match journals {
        Some(journals) if generation > 1 && market == Market::Open => {
            successor = Some(Successor::new(&node, config, journals));
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
    let mut matching = Matching {
        books,
        market_data,
        market,
        instruments,
        orders,
        keeper,
        successor,
        generation,
        is_busy: false,
        executions,
        answers,
        request,
        now: Nanos(0),
        listing_done: false,
        anomalies: 0,
        own_trades: OwnTrades::default(),
    };
    node.run(&mut matching)
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
        Books::Recorded(engine) => engine.number_trades_after(lost.trade),
        Books::Exchange(exchange) => {
            exchange.number_trades_after(lost.trade);
            exchange.again = true;
            let traded = lost.statistics(instance, market.map(|output| output.journal.as_str()))?;
            traded.into_iter().for_each(|statistics| exchange.take_over(statistics));
        }
    }
    answers.extend(lost.into_ends().map(Execution::Update));
    log::warn!("restarted: the books are lost, and {} working orders with them", answers.len());
    Ok(())
}

struct Matching {
    books: Books,
    /// An exchange's own book.
    market_data: Option<node::Output>,
    market: Market,
    instruments: InputId,
    orders: InputId,
    /// Writes an exchange's state.
    keeper: Option<Keeper>,
    /// What finds the books of a killed exchange again, until the instruments are listed.
    successor: Option<Successor>,
    /// Which process of this seat it is.
    generation: u64,
    /// A frame came since the last turn.
    is_busy: bool,
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
    own_trades: OwnTrades,
}

impl Matching {
    fn take(&mut self, context: &Context, input: InputId, frame: &Frame<'_>) -> Result<(), WireError> {
        if self.market == Market::Closed && input != self.instruments {
            let refusal = closed::refusal(frame.message_id, frame.payload)?;
            self.answers.extend(refusal.map(Execution::Update));
            return Ok(());
        }
        if let (Books::Exchange(exchange), true) = (&mut self.books, input == self.orders) {
            let request = Request::decode(frame.message_id, frame.payload)?;
            exchange.request(&request, Nanos(frame.time), &mut self.answers);
            let counter = match request {
                Request::New(_) => Counter::Orders,
                Request::Replace(_) => Counter::Replaces,
                Request::Cancel(_) | Request::CancelAll(_) => Counter::Cancels,
            };
            context.add(counter, 1);
            return Ok(());
        }
        match (frame.message_id, &mut self.books) {
            (NewOrder::ID, Books::Recorded(engine)) => {
                engine.new_order(&NewOrder::decode(frame.payload)?, &mut self.answers);
                context.add(Counter::Orders, 1);
            }
            (CancelOrder::ID, Books::Recorded(engine)) => {
                engine.cancel(&CancelOrder::decode(frame.payload)?, &mut self.answers);
                context.add(Counter::Cancels, 1);
            }
            (ReplaceOrder::ID, Books::Recorded(engine)) => {
                engine.replace(&ReplaceOrder::decode(frame.payload)?, &mut self.answers);
                context.add(Counter::Replaces, 1);
            }
            (CancelAll::ID, Books::Recorded(engine)) => {
                engine.cancel_all(&CancelAll::decode(frame.payload)?, &mut self.answers);
                context.add(Counter::Cancels, 1);
            }
            (Instrument::ID, Books::Recorded(engine)) => {
                engine.on_instrument(&Instrument::decode(frame.payload)?);
            }
            (Instrument::ID, Books::Exchange(exchange)) => {
                let instrument = Instrument::decode(frame.payload)?;
                exchange.list(&instrument);
                if let Some(successor) = &mut self.successor {
                    successor.list(instrument);
                }
            }
            // An exchange opens when this frame was taken.
            (EndOfStream::ID, _) if input == self.instruments => self.listing_done = true,
            (EndOfStream::ID, _) => log::info!("the market's source has ended"),
            _ => return self.market(context, frame),
        }
        Ok(())
    }

    /// A message of a recorded or quoted market.
    fn market(&mut self, context: &Context, frame: &Frame<'_>) -> Result<(), WireError> {
        let Books::Recorded(engine) = &mut self.books else {
            return Err(WireError::UnknownId { id: frame.message_id });
        };
        match frame.message_id {
            BookEvent::ID => {
                engine.on_book_event(&BookEvent::decode(frame.payload)?, &mut self.answers);
                context.add(Counter::BookEvents, 1);
            }
            Quote::ID => {
                engine.on_quote(&Quote::decode(frame.payload)?, &mut self.answers);
                context.add(Counter::Quotes, 1);
            }
            TradePrint::ID => {
                engine.on_trade_print(&TradePrint::decode(frame.payload)?, &mut self.answers);
                context.add(Counter::Trades, 1);
            }
            id => return Err(WireError::UnknownId { id }),
        }
        Ok(())
    }

    /// True when nothing waits for room in a journal.
    fn is_written(&self) -> bool {
        self.answers.is_empty() && self.market_data.as_ref().is_none_or(|market| market.backlog() == 0)
    }

    /// Writes the engine's answers to one message, all at once; those that find no room stay.
    fn answer(&mut self, context: &Context) -> Result<(), RunError> {
        let request = self.request;
        self.answers.iter_mut().for_each(|answer| answer.set_answered_up_to(request));
        self.write(context)?;
        self.publish()?;
        let Books::Recorded(engine) = &self.books else { return Ok(()) };
        let anomalies = engine.anomalies().total();
        if anomalies != self.anomalies {
            context.add(Counter::Anomalies, anomalies - self.anomalies);
            self.anomalies = anomalies;
        }
        Ok(())
    }

    fn write(&mut self, context: &Context) -> Result<(), RunError> {
        let (written, outcome) = match &self.answers[..] {
            [] => return Ok(()),
            [one] => match self.executions.send_bytes(one.message_id(), 0, one.bytes()) {
                Ok(_) => (1, Ok(())),
                Err(error) => (0, Err(error)),
            },
            several => self.executions.send_all(
                0,
                several.iter().map(|answer| (answer.message_id(), answer.bytes())),
                |next| !is_one_trade(&several[..next], several.get(next)),
            ),
        };
        for answer in self.answers.drain(..written) {
            let counter = match answer {
                Execution::Fill(fill) => {
                    context.add(Counter::OwnTrades, self.own_trades.completed_by(&fill));
                    Some(Counter::Fills)
                }
                Execution::Update(update) => Counter::of_refusal(update.status),
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

/// True when `next` belongs to the same trade as the last answer: the update to its fill, the taker's fill to the maker's. A
/// kill in between would fill one side of a trade and not the other.
fn is_one_trade(before: &[Execution], next: Option<&Execution>) -> bool {
    let fill = before.iter().rev().take(2).find_map(|answer| match answer {
        Execution::Fill(fill) => Some(fill),
        Execution::Update(_) => None,
    });
    match (before.last(), next) {
        (Some(Execution::Fill(_)), Some(Execution::Update(_))) => true,
        (_, Some(Execution::Fill(next))) => fill.is_some_and(|fill| fill.trade_id == next.trade_id),
        _ => false,
    }
}

impl Component for Matching {
    /// After a restart: the ends of the orders that worked, before anything else.
    fn start(&mut self, context: &mut Context) -> Result<(), RunError> {
        self.now = Nanos(context.now());
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
        let is_idle = !std::mem::take(&mut self.is_busy);
        self.keep(context, is_idle)
    }

    fn is_settled(&self, _input: InputId) -> bool {
        self.is_written()
    }

    fn flush(&mut self, context: &mut Context) -> Result<bool, RunError> {
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
        input == self.instruments || (self.listing_done && self.is_written())
    }

    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        self.is_busy = true;
        if input == self.orders {
            if frame.position <= self.request {
                // Answered by a predecessor that was killed before its cursor could move.
                return Ok(());
            }
            self.request = frame.position;
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
        self.answer(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{
        Fill, InstrumentId, Liquidity, Nanos, OrderId, OrderStatus, OrderUpdate, Price, Quantity, Reason,
        Side, StrategyId,
    };

    fn fill(strategy: u16, trade_id: u64) -> Execution {
        Execution::Fill(Fill {
            order_id: OrderId::new(StrategyId(strategy), 1, 1),
            trade_id,
            instrument: InstrumentId(1),
            side: Side::Buy,
            liquidity: Liquidity::Maker,
            reserved: [0; 2],
            price: Price(10),
            quantity: Quantity(4),
            remaining: Quantity(4),
            event_time: Nanos(0),
            execution: 0,
            answered_up_to: 0,
        })
    }

    fn update(strategy: u16) -> Execution {
        let order_id = OrderId::new(StrategyId(strategy), 1, 1);
        let status = OrderStatus::PartiallyFilled;
        Execution::Update(OrderUpdate::about(order_id, InstrumentId(1), status, Reason::None))
    }

    #[test]
    fn batches_of_answers_end_between_trades_only() {
        // Accepted; a trade with the market; two trades between strategies 5 and 6; the end.
        let answers = [
            update(6),
            fill(6, 1),
            update(6),
            fill(5, 2),
            update(5),
            fill(6, 2),
            update(6),
            fill(5, 3),
            update(5),
            fill(6, 3),
            update(6),
            update(6),
        ];
        let parts: Vec<usize> =
            (1..answers.len()).filter(|&next| !is_one_trade(&answers[..next], answers.get(next))).collect();
        assert_eq!(parts, [1, 3, 7, 11]);
    }
}
