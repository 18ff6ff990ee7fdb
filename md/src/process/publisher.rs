//! What md writes, and the counts of it.

use node::{Counter, Node, NodeHandle, Output, RunError, WriteError};
use wire::{BookEvent, EndOfStream, Instrument, Quote, TradePrint};

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
            handle: node.handle(),
            sent: Sent::default(),
            lateness_max: 0,
        })
    }

    pub(super) fn handle(&self) -> &NodeHandle {
        &self.handle
    }

    /// Lists the instruments, and marks the end of the list. A restarted md finds what its predecessor listed, and adds
    /// what is missing.
    pub(super) fn list(&mut self, instruments: &[Instrument]) -> Result<(), RunError> {
        let listed = usize::try_from(self.instruments.frames()).unwrap_or(usize::MAX);
        let journal = self.instruments.journal().to_owned();
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
            flow.send(event.instrument.0, event)?;
            self.sent.book_events += 1;
            self.handle.set(Counter::BookEvents, self.sent.book_events);
        }
        Ok(())
    }

    pub(super) fn trade(&mut self, trade: &TradePrint) -> Result<(), WriteError> {
        self.quotes.send(trade.instrument.0, trade)?;
        self.sent.trades += 1;
        self.handle.set(Counter::Trades, self.sent.trades);
        Ok(())
    }

    pub(super) fn quote(&mut self, quote: &Quote) -> Result<(), WriteError> {
        let written = self.quotes.send(quote.instrument.0, quote)?;
        self.sent.quotes += 1;
        self.handle.set(Counter::Quotes, self.sent.quotes);
        if quote.due.0 != 0 {
            let lateness = written.time.saturating_sub(quote.due.0);
            if lateness > self.lateness_max {
                self.lateness_max = lateness;
                self.handle.set(Counter::LatenessMax, lateness);
            }
        }
        Ok(())
    }

    /// How the source's rows fared so far.
    pub(super) fn count_source(&self, counts: &Counts) {
        self.handle.set(Counter::SourceMessages, counts.read);
        self.handle.set(Counter::SourceSkipped, counts.skipped_total());
        self.handle.set(Counter::SourceRejected, counts.rejected);
    }

    /// Says that nothing follows.
    pub(super) fn end(&mut self, counts: &Counts) -> Result<(), WriteError> {
        let end = EndOfStream {
            quotes: self.sent.quotes,
            trades: self.sent.trades,
            book_events: self.sent.book_events,
            source_messages: counts.read,
            skipped: counts.skipped_total(),
            rejected: counts.rejected,
        };
        if let Some(flow) = &mut self.flow {
            flow.send(0, &end)?;
        }
        self.quotes.send(0, &end)?;
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
