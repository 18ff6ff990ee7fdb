//! md's output and its counts.

use node::{Counter, Node, NodeHandle, Output, RunError, WriteError};
use wire::{BookEvent, EndOfStream, Instrument, Irregularity, Quote, TradePrint};

use super::recall::Published;
use crate::source::Counts;

/// md's journals.
#[derive(Debug)]
pub(super) struct Publisher {
    instruments: Output,
    quotes: Output,
    /// Recorded days only.
    flow: Option<Output>,
    handle: NodeHandle,
    sent: Sent,
    lateness_max: u64,
    /// Messages that a predecessor has written to `md.quotes` and to `md.flow`, and that the source repeats: not
    /// written again.
    skip_quotes: u64,
    skip_flow: u64,
    /// The end is written to `md.flow`.
    flow_ended: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    quotes: u64,
    trades: u64,
    book_events: u64,
}

impl Publisher {
    pub(super) fn take(node: &mut Node) -> Result<Publisher, RunError> {
        Ok(Publisher {
            instruments: node.take_output("instruments")?,
            quotes: node.take_output("quotes")?,
            flow: node.take_outputs("flow").into_iter().next(),
            lateness_max: node.handle().counter(Counter::LatenessMax),
            handle: node.handle(),
            sent: Sent::default(),
            skip_quotes: 0,
            skip_flow: 0,
            flow_ended: false,
        })
    }

    /// How far a predecessor published simulated instruments; counting continues from there.
    pub(super) fn published(&mut self, node: &Node, instruments: u32) -> Result<Published, RunError> {
        let published = Published::read(node, &self.quotes, instruments)?;
        // If it wrote the end already, that is not written again.
        self.skip_quotes = u64::from(published.is_ended());
        self.skip_flow = self.flow.as_ref().map_or(0, Output::frames);
        self.sent.quotes = published.quotes();
        self.sent.trades = self.quotes.frames().saturating_sub(self.sent.quotes + self.skip_quotes);
        self.handle.set(Counter::Quotes, self.sent.quotes);
        self.handle.set(Counter::Trades, self.sent.trades);
        Ok(published)
    }

    /// Skips as many messages as the journals contain: for a source that repeats the same ones, in the same order in
    /// each journal.
    pub(super) fn skipping(mut self) -> Publisher {
        self.skip_quotes = self.quotes.frames();
        self.skip_flow = self.flow.as_ref().map_or(0, Output::frames);
        self
    }

    /// True while the current messages were written by a predecessor.
    pub(super) fn is_skipping(&self) -> bool {
        self.skip_quotes > 0 || self.skip_flow > 0
    }

    /// A write of market data that cannot succeed.
    pub(super) fn failed(&self, source: WriteError) -> RunError {
        let flow = self.flow.as_ref().map(|flow| format!(" or {}", flow.journal));
        RunError::Write { journal: format!("{}{}", self.quotes.journal, flow.unwrap_or_default()), source }
    }

    pub(super) fn handle(&self) -> &NodeHandle {
        &self.handle
    }

    /// Lists the instruments, and marks the end of the list. A restarted md adds those that its predecessor has not
    /// listed.
    pub(super) fn list(&mut self, instruments: &[Instrument]) -> Result<(), RunError> {
        let listed = usize::try_from(self.instruments.frames()).unwrap_or(usize::MAX);
        let journal = self.instruments.journal.clone();
        let failed = |source| RunError::Write { journal: journal.clone(), source };
        for instrument in instruments.iter().skip(listed) {
            self.instruments.send(0, instrument).map_err(failed)?;
        }
        if listed <= instruments.len() {
            let end = EndOfStream {
                quotes: 0,
                trades: 0,
                book_events: 0,
                source_messages: instruments.len() as u64,
                skipped: 0,
                rejected: 0,
            };
            self.instruments.send(0, &end).map_err(failed)?;
        }
        log::info!("{} instruments", instruments.len());
        Ok(())
    }

    pub(super) fn book_event(&mut self, event: &BookEvent) -> Result<(), WriteError> {
        if let Some(flow) = &mut self.flow {
            if !skip(&mut self.skip_flow) {
                flow.send(event.instrument.0, event)?;
            }
            self.sent.book_events += 1;
            self.handle.set(Counter::BookEvents, self.sent.book_events);
        }
        Ok(())
    }

    pub(super) fn trade(&mut self, trade: &TradePrint) -> Result<(), WriteError> {
        if !skip(&mut self.skip_quotes) {
            self.quotes.send(trade.instrument.0, trade)?;
        }
        self.sent.trades += 1;
        self.handle.set(Counter::Trades, self.sent.trades);
        Ok(())
    }

    pub(super) fn quote(&mut self, quote: &Quote) -> Result<(), WriteError> {
        let written = if skip(&mut self.skip_quotes) {
            None
        } else {
            Some(self.quotes.send(quote.instrument.0, quote)?)
        };
        self.sent.quotes += 1;
        self.handle.set(Counter::Quotes, self.sent.quotes);
        if let Some(written) = written
            && quote.due.0 != 0
        {
            let lateness = written.time.saturating_sub(quote.due.0);
            if lateness > self.lateness_max {
                self.lateness_max = lateness;
                self.handle.set(Counter::LatenessMax, lateness);
            }
        }
        Ok(())
    }

    /// Publishes the counts of the source's rows so far.
    pub(super) fn count_source(&self, counts: &Counts) {
        self.handle.set(Counter::SourceMessages, counts.read);
        self.handle.set(Counter::SourceSkipped, counts.skipped_total());
        self.handle.set(Counter::SourceRejected, counts.rejected);
        for &kind in Irregularity::ALL {
            self.handle.set(Counter::of_irregularity(kind), counts.of(kind));
        }
    }

    /// Writes the end of the stream.
    pub(super) fn end(&mut self, counts: &Counts) -> Result<(), WriteError> {
        let end = EndOfStream {
            quotes: self.sent.quotes,
            trades: self.sent.trades,
            book_events: self.sent.book_events,
            source_messages: counts.read,
            skipped: counts.skipped_total(),
            rejected: counts.rejected,
        };
        if let Some(flow) = &mut self.flow
            && !std::mem::replace(&mut self.flow_ended, true)
            && !skip(&mut self.skip_flow)
            && let Err(error) = flow.send(0, &end)
        {
            self.flow_ended = false;
            return Err(error);
        }
        if !skip(&mut self.skip_quotes) {
            self.quotes.send(0, &end)?;
        }
        log::info!(
            "the source has given all it had: {} quotes, {} trade prints, {} book events; {} rows read, {} left out, {} \
             not understood",
            end.quotes,
            end.trades,
            end.book_events,
            end.source_messages,
            end.skipped,
            end.rejected
        );
        Ok(())
    }
}

/// True when there was one more message to skip.
fn skip(left: &mut u64) -> bool {
    let skips = *left > 0;
    *left -= u64::from(skips);
    skips
}
