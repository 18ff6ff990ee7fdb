//! md's output and its counts.

use node::{Counter, Depths, Node, NodeHandle, Output, RunError, WriteError, read_held};
use topology::Market;
use wire::{
    Best, BookEvent, EndOfStream, Instrument, InstrumentId, Irregularity, MarketPhase, MarketTime, Message,
    Nanos, Quote, TradePrint,
};

use super::recall::Published;
use crate::source::Counts;

/// md's journals: of the last three those that somebody wants.
///
/// A message that goes to two of them goes to `md.quotes` first, so that an engine that fills from quotes is never behind
/// a strategy that hears the best; and a quote is kept among the depths before its best is published.
#[derive(Debug)]
pub(super) struct Publisher {
    instruments: Output,
    quotes: Option<Output>,
    best: Option<Bests>,
    /// The latest whole quote of each instrument: behind the best, and for td's bands.
    depths: Option<Depths>,
    flow: Option<Output>,
    handle: NodeHandle,
    /// In lock-step over processes: td waits for a message that is not in all its journals yet.
    is_awaited: bool,
    sent: Sent,
    lateness_max: u64,
    /// Messages that a predecessor has written to `md.quotes`, `md.best` and `md.flow`, and that the source repeats: not
    /// written again.
    skip_quotes: u64,
    skip_best: u64,
    skip_flow: u64,
    /// By instrument: `md.quotes` has its current message already, and `md.best` was full.
    half: Vec<bool>,
    /// The end is written to `md.quotes`, `md.best` and `md.flow`.
    ended: [bool; 3],
    /// A time or a phase is in `md.flow`, `md.quotes` and `md.best`, and not in all of them.
    announced: [bool; 3],
    /// Times that were announced, by predecessors too.
    times: u64,
    /// What is true of instruments beside what the source says.
    market: Market,
}

/// `md.best`.
#[derive(Debug)]
struct Bests {
    output: Output,
    /// By instrument: the last one.
    last: Vec<Option<Best>>,
    /// Published with every quote, even if it is the same.
    every: bool,
}

impl Bests {
    fn new(output: Output) -> Bests {
        let last = vec![None; output.topics as usize];
        Bests { output, last, every: false }
    }

    /// What is to be published of a quote: its best, if that has changed.
    fn of(&self, quote: &Quote) -> Option<Best> {
        let best = Best::of(quote);
        let last = self.last.get(quote.instrument.0 as usize).copied().flatten();
        (self.every || last.is_none_or(|last| !last.is_same_level(&best))).then_some(best)
    }

    fn published(&mut self, instrument: InstrumentId, best: Best) {
        if let Some(last) = self.last.get_mut(instrument.0 as usize) {
            *last = Some(best);
        }
    }
}

fn keep_depths(node: &Node, output: &Output) -> Result<Depths, RunError> {
    Depths::keep(&node.handle(), output.topics).map_err(|error| {
        RunError::failed(format!("cannot keep the quotes behind `{}`: {error}", output.journal))
    })
}

#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    quotes: u64,
    trades: u64,
    book_events: u64,
}

impl Publisher {
    pub(super) fn take(node: &mut Node) -> Result<Publisher, RunError> {
        let mut optional = |role| node.take_outputs(role).into_iter().next();
        let (quotes, best, flow) = (optional("quotes"), optional("best"), optional("flow"));
        let best = best.map(Bests::new);
        let depths = match &best {
            Some(best) => Some(keep_depths(node, &best.output)?),
            None => None,
        };
        let publisher = Publisher {
            instruments: node.take_output("instruments")?,
            quotes,
            best,
            depths,
            flow,
            lateness_max: node.handle().counter(Counter::LatenessMax),
            handle: node.handle(),
            is_awaited: node.assignment().deterministic && !node.is_stepped(),
            sent: Sent::default(),
            skip_quotes: 0,
            skip_best: 0,
            skip_flow: 0,
            half: vec![false; wire::MAX_INSTRUMENTS as usize],
            ended: [false; 3],
            announced: [false; 3],
            times: node.handle().counter(Counter::MarketTimes),
            market: Market::default(),
        };
        // What a predecessor had begun is written again, and announced again.
        publisher.is_written();
        Ok(publisher)
    }

    /// A message of this time goes to several journals, one after the other.
    fn is_being_written(&self, event_time: Nanos) {
        if self.is_awaited {
            self.handle.set(Counter::MarketDue, event_time.0.max(1));
        }
    }

    /// The message is in all of them.
    fn is_written(&self) {
        if self.is_awaited {
            self.handle.set(Counter::MarketDue, 0);
        }
    }

    /// Completes what it lists.
    pub(super) fn listing_by(mut self, market: Market) -> Publisher {
        self.market = market;
        self
    }

    /// Keeps the latest quotes also where no best is published: for instruments without a reference price, whose bands follow
    /// the market.
    ///
    /// # Errors
    /// [`RunError`]: the memory for them.
    pub(super) fn keeping_quotes(mut self, node: &Node) -> Result<Publisher, RunError> {
        if self.depths.is_none()
            && let Some(quotes) = &self.quotes
        {
            self.depths = Some(keep_depths(node, quotes)?);
        }
        Ok(self)
    }

    /// Publishes a best with every quote, for a source in which each quote has a place in a schedule.
    pub(super) fn every_best(mut self) -> Publisher {
        self.best.iter_mut().for_each(|best| best.every = true);
        self
    }

    /// How far a predecessor published simulated instruments; counting continues from there.
    pub(super) fn published(&mut self, node: &Node, instruments: u32) -> Result<Published, RunError> {
        let best = self.best.as_ref().zip(self.depths.as_ref());
        let best = best.map(|(best, depths)| (&best.output, depths));
        let published = Published::read(node, self.quotes.as_ref(), best, instruments)?;
        // If it wrote the ends already, those are not written again.
        let ended = published.ended();
        (self.skip_quotes, self.skip_best) = (u64::from(ended.0), u64::from(ended.1));
        self.skip_flow = self.flow.as_ref().map_or(0, Output::frames);
        for index in published.halves() {
            self.set_half(InstrumentId(index as u32 + 1), true);
        }
        let (frames, end) = match (&self.quotes, &self.best) {
            (Some(quotes), _) => (quotes.frames(), self.skip_quotes),
            (None, Some(best)) => (best.output.frames(), self.skip_best),
            (None, None) => (0, 0),
        };
        self.sent.quotes = published.quotes();
        self.sent.trades = frames.saturating_sub(self.sent.quotes + end + self.times);
        self.handle.set(Counter::Quotes, self.sent.quotes);
        self.handle.set(Counter::Trades, self.sent.trades);
        Ok(published)
    }

    /// The highest number of a trade that a predecessor has published; zero if there was none.
    pub(super) fn last_trade(&self, node: &Node) -> Result<u64, RunError> {
        let best = self.best.as_ref().map(|best| &best.output);
        let mut last = 0;
        if node.assignment().generation < 2 {
            return Ok(last);
        }
        for output in self.quotes.iter().chain(best) {
            let read = read_held(node.instance(), &output.journal, None, |frame| {
                if frame.message_id == TradePrint::ID
                    && let Ok(trade) = TradePrint::decode(frame.payload)
                {
                    last = last.max(trade.trade_id);
                }
            });
            read.map_err(|error| RunError::failed(format!("cannot take up where md was: {error}")))?;
        }
        Ok(last)
    }

    /// Skips as many messages as the journals contain: for a source that repeats the same ones, in the same order in
    /// each journal.
    pub(super) fn skipping(mut self) -> Publisher {
        // The source does not repeat the times between its messages.
        let repeated = |output: &Output| output.frames().saturating_sub(self.times);
        self.skip_quotes = self.quotes.as_ref().map_or(0, repeated);
        self.skip_best = self.best.as_ref().map_or(0, |best| repeated(&best.output));
        self.skip_flow = self.flow.as_ref().map_or(0, repeated);
        self
    }

    /// True when quotes go anywhere.
    pub(super) fn wants_quotes(&self) -> bool {
        self.quotes.is_some() || self.best.is_some()
    }

    /// True when the order flow goes anywhere.
    pub(super) fn wants_flow(&self) -> bool {
        self.flow.is_some()
    }

    /// True while the current messages were written by a predecessor.
    pub(super) fn is_skipping(&self) -> bool {
        self.skip_quotes > 0 || self.skip_best > 0 || self.skip_flow > 0
    }

    /// A write of market data that cannot succeed.
    pub(super) fn failed(&self, source: WriteError) -> RunError {
        let journals =
            [self.quotes.as_ref(), self.best.as_ref().map(|best| &best.output), self.flow.as_ref()];
        let names: Vec<&str> = journals.into_iter().flatten().map(|output| output.journal.as_str()).collect();
        RunError::Write { journal: names.join(" or "), source }
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
            let mut listed = *instrument;
            if let Some(note) = self.market.complete(&mut listed) {
                log::warn!("{}: {note}", listed.symbol);
            }
            self.instruments.send(0, &listed).map_err(failed)?;
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
        self.is_being_written(trade.event_time);
        let topic = trade.instrument.0;
        let half = self.is_half(trade.instrument);
        if let Some(quotes) = self.quotes.as_mut().filter(|_| !half)
            && !skip(&mut self.skip_quotes)
        {
            quotes.send(topic, trade)?;
        }
        if let Some(best) = &mut self.best
            && !skip(&mut self.skip_best)
            && let Err(error) = best.output.send(topic, trade)
        {
            self.set_half(trade.instrument, true);
            return Err(error);
        }
        self.set_half(trade.instrument, false);
        self.is_written();
        self.sent.trades += 1;
        self.handle.set(Counter::Trades, self.sent.trades);
        Ok(())
    }

    pub(super) fn quote(&mut self, quote: &Quote) -> Result<(), WriteError> {
        self.is_being_written(quote.event_time);
        let topic = quote.instrument.0;
        // A predecessor's depths are as new as what it published, and are not set back.
        let is_repeated = self.is_skipping();
        let half = self.is_half(quote.instrument);
        // What `md.quotes` has already may be a predecessor's, which was due at another time: `md.best` gets the same.
        let kept = self.depths.as_ref().filter(|_| half).and_then(|depths| depths.get(quote.instrument).ok());
        let quote = kept.as_ref().filter(|kept| kept.sequence == quote.sequence).unwrap_or(quote);
        if let Some(depths) = self.depths.as_ref().filter(|_| !is_repeated && !half) {
            depths.set(quote);
        }
        let mut written = None;
        if let Some(quotes) = self.quotes.as_mut().filter(|_| !half)
            && !skip(&mut self.skip_quotes)
        {
            written = Some(quotes.send(topic, quote)?);
        }
        if let Some(bests) = &mut self.best
            && let Some(best) = bests.of(quote)
        {
            if !skip(&mut self.skip_best) {
                match bests.output.send(topic, &best) {
                    Ok(sent) => written = Some(sent),
                    Err(error) => {
                        self.set_half(quote.instrument, true);
                        return Err(error);
                    }
                }
            }
            bests.published(quote.instrument, best);
        }
        self.set_half(quote.instrument, false);
        self.is_written();
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

    fn is_half(&self, instrument: InstrumentId) -> bool {
        self.half.get(instrument.0 as usize).copied().unwrap_or(false)
    }

    fn set_half(&mut self, instrument: InstrumentId, is_half: bool) {
        if let Some(half) = self.half.get_mut(instrument.0 as usize) {
            *half = is_half;
        }
    }

    /// Announces the market's time in every journal of market data.
    pub(super) fn market_time(&mut self, event_time: Nanos) -> Result<(), WriteError> {
        self.is_being_written(event_time);
        let time = MarketTime { event_time };
        let bests = self.best.as_mut().map(|best| &mut best.output);
        let outputs = [self.flow.as_mut(), self.quotes.as_mut(), bests];
        for (output, is_announced) in outputs.into_iter().zip(&mut self.announced) {
            if let Some(output) = output.filter(|_| !*is_announced) {
                output.send(0, &time)?;
                *is_announced = true;
            }
        }
        self.announced = [false; 3];
        self.is_written();
        self.times += 1;
        self.handle.set(Counter::MarketTimes, self.times);
        Ok(())
    }

    /// Publishes a phase in every journal of market data; one from before the window in the flow alone, for who rebuilds the market.
    pub(super) fn phase(&mut self, phase: &MarketPhase, is_before: bool) -> Result<(), WriteError> {
        self.is_being_written(phase.event_time);
        let bests = self.best.as_mut().map(|best| &mut best.output);
        let journals = [
            (self.flow.as_mut(), &mut self.skip_flow),
            (self.quotes.as_mut().filter(|_| !is_before), &mut self.skip_quotes),
            (bests.filter(|_| !is_before), &mut self.skip_best),
        ];
        for ((output, skips), is_announced) in journals.into_iter().zip(&mut self.announced) {
            if let Some(output) = output.filter(|_| !*is_announced) {
                if !skip(skips) {
                    output.send(phase.instrument.0, phase)?;
                }
                *is_announced = true;
            }
        }
        self.announced = [false; 3];
        self.is_written();
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
        let [quotes, best, flow] = &mut self.ended;
        let bests = self.best.as_mut().map(|best| &mut best.output);
        let journals = [
            (self.flow.as_mut(), &mut self.skip_flow, flow),
            (self.quotes.as_mut(), &mut self.skip_quotes, quotes),
            (bests, &mut self.skip_best, best),
        ];
        for (output, skips, is_ended) in journals {
            let Some(output) = output.filter(|_| !*is_ended) else { continue };
            if !skip(skips) {
                output.send(0, &end)?;
            }
            *is_ended = true;
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
