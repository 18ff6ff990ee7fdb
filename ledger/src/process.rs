//! The ledger process: executions and quotes in, snapshots out.
//!
//! ```text
//!  matching.executions ─► positions, working orders ─┐     a strategy joined ─► snapshot for it
//!  md.quotes ─► marks ───────────────────────────────┴──►  something changed ─► snapshot of everything, now and then
//!  master.events ─► who joined, who died                   stop ──────────────► the last snapshot of everything
//! ```
//!
//! One that is killed loses nothing: its successor starts from the last whole snapshot in `ledger.state`, reads the
//! executions since then once more, and goes on at its cursor. Each execution counts once, by its position.

use node::{Component, Context, Counter, Frame, InputId, Node, NodeHandle, Output, RunError};
use topology::config::LedgerConfig;
use wire::TradePrint;
use wire::{EndOfStream, Fill, Instrument, Message, NodeEvent, Quote, SnapshotBegin, StrategyId};

use crate::book::Book;
use crate::snapshot::SnapshotMessage;

/// Quotes in a snapshot; with more instruments than this they are left out, so that a snapshot always fits the ring
/// many times over. Whoever joins hears the next quote soon.
const MOST_QUOTES: usize = 256;

/// Runs the ledger as this node until it is asked to stop.
///
/// # Errors
/// What it cannot start with, or cannot go on with.
pub fn run(mut node: Node) -> Result<(), RunError> {
    let config: LedgerConfig = node.section()?;
    let executions = node.input("executions")?;
    let mut book = Book::new();
    if node.generation() > 1 {
        book = recall(&node, executions)?;
    }
    let mut ledger = Ledger {
        instruments: node.input("instruments")?,
        events: node.input("events")?,
        quotes: node.input("quotes")?,
        executions,
        state: node.take_output("state")?,
        handle: node.handle(),
        interval: config.snapshot.as_nanos() as u64,
        book,
        changed: false,
        next_snapshot: 0,
    };
    node.run(&mut ledger)
}

/// The book as the process before this one had it.
fn recall(node: &Node, executions: InputId) -> Result<Book, RunError> {
    let failed = |error: &dyn std::fmt::Display| {
        RunError::failed(format!("cannot take up where the ledger was: {error}"))
    };
    let snapshot = node::last_snapshot(node.instance()).map_err(|error| failed(&error))?;
    let mut book = if snapshot.is_empty() {
        Book::new()
    } else {
        Book::restore(snapshot).map_err(|error| failed(&error))?
    };
    if let Some(input) = node.inputs().get(executions.0) {
        let end = input.position();
        let from = (book.next_execution() != 0).then(|| book.next_execution());
        let mut again = 0_u64;
        let whole = node::read_held(node.instance(), input.name(), from, |frame| {
            if frame.position < end {
                again += 1;
                book.on_execution(frame.position, frame.message_id, frame.payload);
            }
        })
        .map_err(|error| failed(&error))?;
        log::info!("taken up where the ledger before was: {again} executions read again");
        if !whole {
            log::error!("executions since its last snapshot are overwritten: positions may be wrong");
        }
    }
    Ok(book)
}

struct Ledger {
    book: Book,
    instruments: InputId,
    events: InputId,
    quotes: InputId,
    executions: InputId,
    state: Output,
    handle: NodeHandle,
    /// Nanoseconds between two snapshots of everything; zero: none but the last.
    interval: u64,
    changed: bool,
    next_snapshot: u64,
}

impl Ledger {
    fn write_snapshot(&mut self, strategy: StrategyId) -> Result<(), RunError> {
        let topic = SnapshotBegin::topic_of(strategy);
        let messages: Vec<SnapshotMessage> = self.book.snapshot(strategy).collect();
        let quotes = messages.iter().filter(|message| matches!(message, SnapshotMessage::Quote(_))).count();
        let with_quotes = quotes <= MOST_QUOTES;
        for message in messages {
            let message = match message {
                SnapshotMessage::Quote(_) if !with_quotes => continue,
                SnapshotMessage::End(mut end) if !with_quotes => {
                    end.frames -= quotes as u64;
                    SnapshotMessage::End(end)
                }
                message => message,
            };
            self.state
                .send_bytes(message.message_id(), topic, message.bytes())
                .map_err(|source| RunError::Write { journal: self.state.journal().to_owned(), source })?;
        }
        Ok(())
    }

    fn everybody(&mut self) -> Result<(), RunError> {
        self.changed = false;
        self.write_snapshot(SnapshotBegin::EVERYBODY)
    }

    fn event(&mut self, event: &NodeEvent) -> Result<(), RunError> {
        match self.book.on_node_event(event) {
            Some(strategy) => self.write_snapshot(strategy),
            None => Ok(()),
        }
    }
}

impl Component for Ledger {
    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        if self.interval == 0 || !self.changed {
            return Ok(());
        }
        let now = context.now();
        if now >= self.next_snapshot {
            self.next_snapshot = now + self.interval;
            self.everybody()?;
        } else {
            context.wake_at(self.next_snapshot);
        }
        Ok(())
    }

    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        let anomaly = if input == self.executions {
            context.add(Counter::Fills, u64::from(frame.message_id == Fill::ID));
            self.changed = true;
            self.book.on_execution(frame.position, frame.message_id, frame.payload)
        } else if input == self.quotes {
            match frame.message_id {
                Quote::ID => context.add(Counter::Quotes, 1),
                TradePrint::ID => context.add(Counter::Trades, 1),
                EndOfStream::ID => return Ok(()),
                _ => {}
            }
            self.changed = true;
            self.book.on_market(frame.message_id, frame.payload)
        } else if input == self.events {
            return match NodeEvent::decode(frame.payload) {
                Ok(event) => self.event(&event),
                Err(error) => {
                    context.add(Counter::Malformed, 1);
                    log::error!("events at position {}: {error}; passed over", frame.position);
                    Ok(())
                }
            };
        } else {
            debug_assert_eq!(input, self.instruments);
            let known = matches!(frame.message_id, Instrument::ID | EndOfStream::ID);
            context.add(Counter::Malformed, u64::from(!known));
            None
        };
        if let Some(anomaly) = anomaly {
            context.add(Counter::Anomalies, 1);
            log::debug!("at position {} of input {}: {anomaly:?}", frame.position, input.0);
        }
        Ok(())
    }

    fn stop(&mut self, _context: &mut Context) -> Result<(), RunError> {
        self.everybody()?;
        let anomalies = self.handle.counter(Counter::Anomalies);
        if anomalies > 0 {
            log::warn!("{anomalies} messages contradicted what was known");
        }
        Ok(())
    }
}
