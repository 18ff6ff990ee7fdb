//! From messages to events: what each is on the track of the node that wrote it, and what it says of an order's way.

use std::io::{self, Write};

use journal::Frame;
use topology::Stream;
use wire::{AnyMessage, Fill, LatencySample, NewOrder, NodeEvent, OrderId, OrderStatus, OrderUpdate};

use super::event::{Event, Shape};
use super::orders::{Flow, Place};
use super::{Timeline, TracedJournal};

/// A message and where it stands.
#[derive(Clone, Copy)]
struct Said<'a> {
    journal: &'a TracedJournal,
    position: u64,
    time: u64,
    topic: u32,
    /// Of the node that wrote it.
    track: u64,
}

impl<W: Write> Timeline<W> {
    pub(super) fn message(
        &mut self,
        journal: &TracedJournal,
        position: u64,
        frame: &Frame<'_>,
        message: &AnyMessage,
    ) -> io::Result<()> {
        if let AnyMessage::Instrument(instrument) = message {
            self.instrument(instrument.id.0, instrument.symbol.as_str());
            return Ok(());
        }
        let track = self.tracks.node(&journal.writer, &mut self.sink)?.track;
        let (time, topic) = (frame.time, frame.topic);
        let said = Said { journal, position, time, topic, track };
        match (journal.stream, message) {
            (Some(Stream::Events), AnyMessage::NodeEvent(event)) => self.node_event(said, event)?,
            (Some(Stream::Quotes | Stream::Best | Stream::Flow | Stream::Market), message) => {
                self.market(said, message);
            }
            (Some(Stream::Requests | Stream::Risk), AnyMessage::NewOrder(order)) => {
                self.ordered(said, order)?;
            }
            (Some(Stream::Orders), AnyMessage::NewOrder(order)) => self.routed(said, order)?,
            // They say which client an order is of.
            (Some(Stream::Requests), AnyMessage::ClientOrder(_) | AnyMessage::KeptOrder(_)) => {}
            (Some(Stream::Requests | Stream::Orders), message) => self.request(said, message),
            (Some(Stream::Samples), AnyMessage::LatencySample(sample)) => self.sampled(sample),
            (Some(Stream::Executions), AnyMessage::OrderUpdate(update)) => self.updated(said, update, false),
            (Some(Stream::Executions), AnyMessage::Fill(fill)) => self.filled(said, fill, false),
            (Some(Stream::Reports), AnyMessage::OrderUpdate(update)) => self.updated(said, update, true),
            (Some(Stream::Reports), AnyMessage::Fill(fill)) => self.filled(said, fill, true),
            (Some(Stream::State), AnyMessage::SnapshotBegin(begin)) => {
                self.snapshots.insert((journal.id, begin.snapshot), time);
            }
            (Some(Stream::State), AnyMessage::SnapshotEnd(end)) => {
                if let Some(begin) = self.snapshots.remove(&(journal.id, end.snapshot)) {
                    let event = Event::new(track, Shape::Begin, "snapshot").of("ledger");
                    self.slice(begin, time, event.at(journal, position));
                }
            }
            // Copies of what other journals have, and images of it.
            (Some(Stream::State | Stream::Drops | Stream::Desk | Stream::Books | Stream::Samples), _) => {}
            (_, AnyMessage::Mark(_)) => {}
            (_, message) => {
                let event = Event::new(track, Shape::Instant, message.name()).of("message");
                self.push(time, event.at(journal, position));
            }
        }
        Ok(())
    }

    /// A frame of a service from outside, or of another version.
    pub(super) fn stranger(
        &mut self,
        journal: &TracedJournal,
        position: u64,
        frame: &Frame<'_>,
    ) -> io::Result<()> {
        let track = self.tracks.node(&journal.writer, &mut self.sink)?.track;
        let event = Event::new(track, Shape::Instant, format!("message {}", frame.message_id)).of("message");
        self.push(frame.time, event.at(journal, position));
        Ok(())
    }

    fn symbol(&self, instrument: u32) -> String {
        self.symbols.get(&instrument).cloned().unwrap_or_else(|| format!("instrument {instrument}"))
    }

    fn node_event(&mut self, said: Said<'_>, event: &NodeEvent) -> io::Result<()> {
        let name = self.tracks.name(u32::from(event.seat));
        let track = self.tracks.node(&name, &mut self.sink)?.track;
        let shown = Event::new(track, Shape::Instant, event.change.to_string()).of("node");
        let mut shown = shown.with("pid", u64::from(event.pid)).with("generation", event.generation);
        if event.exit_code >= 0 {
            shown = shown.with("exit_code", i64::from(event.exit_code));
        }
        self.push(said.time, shown.at(said.journal, said.position));
        Ok(())
    }

    fn market(&mut self, said: Said<'_>, message: &AnyMessage) {
        let (instrument, due) = match message {
            AnyMessage::Quote(quote) => (quote.instrument.0, quote.due.0),
            AnyMessage::TradePrint(print) => (print.instrument.0, print.due.0),
            AnyMessage::Best(best) => (said.topic, best.due.0),
            AnyMessage::EndOfStream(_) => (0, 0),
            _ => (said.topic, 0),
        };
        let name = match instrument {
            0 => message.name().to_owned(),
            instrument => format!("{} {}", message.name(), self.symbol(instrument)),
        };
        let mut event = Event::new(said.track, Shape::Instant, name).of("market");
        if due != 0 {
            event = event.with("due_ns", due);
        }
        self.push(said.time, event.at(said.journal, said.position));
    }

    /// The strategy has sent an order: the work on what caused it ends here.
    fn ordered(&mut self, said: Said<'_>, order: &NewOrder) -> io::Result<()> {
        let (id, cause) = (order.order_id, order.cause);
        let symbol = self.symbol(order.instrument.0);
        let shown = |shape| {
            let event = Event::new(said.track, shape, format!("NewOrder {} {symbol}", order.side));
            let event = event.of("order").with("order_id", id.to_string());
            event.with("price", order.price.to_string()).with("quantity", order.quantity.0)
        };
        let caused = cause.is_some() && cause.received.0 != 0;
        let key = match caused && cause.received.0 <= said.time {
            true => {
                let event = shown(Shape::Begin).at(said.journal, said.position);
                self.slice(cause.received.0, said.time, event)
            }
            false => self.push(said.time, shown(Shape::Instant).at(said.journal, said.position)),
        };
        if self.orders.has(id) {
            return Ok(());
        }
        let begin = if cause.is_some() { cause.published.0.min(said.time) } else { said.time };
        let (due, published, received) = (cause.due.0, cause.published.0, cause.received.0);
        self.begin_order(order, begin, due)?;
        if let Some(known) = self.orders.get(id) {
            if cause.is_some() {
                known.at(Place::Published, published);
                known.at(Place::Received, received);
            }
            known.at(Place::Ordered, said.time);
        }
        let quote = cause.is_some().then(|| self.frames.get(&(cause.journal, cause.position)).copied());
        self.hop(id, quote.flatten());
        self.hop(id, key);
        self.stages(id);
        Ok(())
    }

    /// The order's own slice, in a lane that is free.
    fn begin_order(&mut self, order: &NewOrder, begin: u64, due: u64) -> io::Result<()> {
        let id = order.order_id;
        let strategy = self.tracks.name(u32::from(id.strategy().0));
        let mut made = Ok(());
        let (tracks, sink) = (&mut self.tracks, &mut self.sink);
        let lane = || match tracks.row("orders", &format!("orders of {strategy}"), sink) {
            Ok(track) => track,
            Err(error) => {
                made = Err(error);
                0
            }
        };
        let begin = if begin == 0 { self.newest } else { begin };
        let track = self.orders.begin(id, begin, lane).track;
        made?;
        let event = Event::new(track, Shape::Begin, format!("order {id}")).of("orders");
        let event = event.with("order_id", id.to_string()).with("strategy", strategy);
        let event =
            event.with("symbol", self.symbol(order.instrument.0)).with("side", order.side.to_string());
        let event = event.with("price", order.price.to_string()).with("quantity", order.quantity.0);
        let mut event = if due == 0 { event } else { event.with("due_ns", due) };
        let start = self.not_before_settled(begin, begin, &mut event);
        self.held.push(start, 0, event);
        self.totals.orders += 1;
        Ok(())
    }

    /// td has passed an order on.
    fn routed(&mut self, said: Said<'_>, order: &NewOrder) -> io::Result<()> {
        let id = order.order_id;
        if !self.orders.has(id) {
            // What its strategy wrote is gone.
            self.begin_order(order, said.time, 0)?;
        }
        let event = Event::new(said.track, Shape::Instant, "NewOrder").of("td");
        let event = event.with("order_id", id.to_string());
        let key = self.push(said.time, event.at(said.journal, said.position));
        if let Some(known) = self.orders.get(id) {
            known.at(Place::Routed, said.time);
            known.at_td = key;
        }
        self.hop(id, key);
        self.stages(id);
        Ok(())
    }

    /// td says when it had an order in hand: its work on it lies between that and what it wrote then.
    fn sampled(&mut self, sample: &LatencySample) {
        let id = sample.order_id;
        let Some(known) = self.orders.get(id) else { return };
        known.at(Place::Taken, sample.taken.0);
        let event = known.at_td.take().and_then(|key| Some((key, self.held.take(key)?)));
        if let Some((instant, mut event)) = event {
            event.shape = Shape::Begin;
            let (begin, end) = (sample.taken.0.min(instant.0), instant.0);
            let slice = self.slice(begin, end, event);
            // A flow that has begun here goes on from the slice.
            if let (Some(slice), Some(known)) = (slice, self.orders.get(id))
                && known.flow == Flow::One(instant)
            {
                known.flow = Flow::One(slice);
            }
        }
        self.stages(id);
    }

    /// A cancel, a replace, or a cancel of many, on its way to matching.
    fn request(&mut self, said: Said<'_>, message: &AnyMessage) {
        let order = match message {
            AnyMessage::CancelOrder(cancel) => Some(cancel.order_id),
            AnyMessage::ReplaceOrder(replace) => Some(replace.order_id),
            _ => None,
        };
        let event = Event::new(said.track, Shape::Instant, message.name()).of("order");
        let event = match order {
            Some(order) => event.with("order_id", order.to_string()),
            None => event,
        };
        let key = self.push(said.time, event.at(said.journal, said.position));
        if let Some(order) = order {
            self.noted(order, said.time);
            self.hop(order, key);
        }
    }

    fn noted(&mut self, order: OrderId, time: u64) {
        if let Some(known) = self.orders.get(order)
            && !known.is_ended
        {
            known.last = known.last.max(time);
        }
    }

    fn updated(&mut self, said: Said<'_>, update: &OrderUpdate, is_report: bool) {
        let event = Event::new(said.track, Shape::Instant, update.status.to_string());
        let event = event.of(if is_report { "report" } else { "execution" });
        let event = event.with("order_id", update.order_id.to_string()).with("filled", update.filled.0);
        let event = match update.reason {
            wire::Reason::None => event,
            reason => event.with("reason", reason.to_string()),
        };
        let key = self.push(said.time, event.at(said.journal, said.position));
        if update.status == OrderStatus::MassCancelled {
            return;
        }
        self.told(said, update.order_id, update.execution, is_report, key);
        if update.status.is_final() {
            match is_report {
                true => self.end_order(update.order_id, said.time, None),
                false => self.orders.note_final(update.order_id, said.time),
            }
        }
    }

    fn filled(&mut self, said: Said<'_>, fill: &Fill, is_report: bool) {
        let event = Event::new(said.track, Shape::Instant, "Fill");
        let event = event.of(if is_report { "report" } else { "execution" });
        let event = event.with("order_id", fill.order_id.to_string()).with("price", fill.price.to_string());
        let event = event.with("quantity", fill.quantity.0).with("trade_id", fill.trade_id);
        let key = self.push(said.time, event.at(said.journal, said.position));
        self.told(said, fill.order_id, fill.execution, is_report, key);
    }

    /// An execution, or the report of one: the last stages of an order's way are those of its first.
    fn told(
        &mut self,
        said: Said<'_>,
        order: OrderId,
        execution: u64,
        is_report: bool,
        key: Option<super::Key>,
    ) {
        self.noted(order, said.time);
        let Some(known) = self.orders.get(order) else { return };
        if known.is_ended {
            return;
        }
        match is_report {
            false if known.execution.is_none() => {
                known.execution = Some(said.position);
                known.at(Place::Executed, said.time);
            }
            true if execution == 0 || known.execution == Some(execution) => {
                // Of what td refuses matching never hears.
                known.at(Place::Reported, said.time);
                if execution == 0 && known.time(Place::Routed).is_none() {
                    known.at_td = key;
                }
            }
            _ => {}
        }
        self.hop(order, key);
        self.stages(order);
    }
}
