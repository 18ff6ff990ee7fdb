//! Reads what a killed md had published, so that its successor can continue.

use node::{Depths, Node, Output, RunError, read_held};
use wire::{Best, EndOfStream, InstrumentId, Message, Quote, TradePrint};

/// How far each simulated instrument was published, by index.
#[derive(Clone, Debug, Default)]
pub(super) struct Published {
    sent: Vec<Sent>,
    /// Whether `md.quotes` and `md.best` have their ends.
    ended: (bool, bool),
}

/// Numbers of the last quote and of the last trade; the trade with a number precedes the quote with that number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) quote: u64,
    pub(super) trade: u64,
    /// `md.quotes` has the next message already, and `md.best` does not.
    pub(super) half: bool,
}

/// What one journal holds.
#[derive(Debug)]
struct Held {
    sent: Vec<Sent>,
    /// By index: the last best, of `md.best`.
    bests: Vec<Option<Best>>,
    is_ended: bool,
    /// Part of the journal is overwritten.
    has_wrapped: bool,
}

impl Published {
    /// Reads what the journals still hold: they contain the latest quote of each instrument, since all are quoted
    /// equally often. An instrument whose quotes are all overwritten counts as far as the least advanced one.
    pub(super) fn read(
        node: &Node,
        quotes: Option<&Output>,
        best: Option<(&Output, &Depths)>,
        instruments: u32,
    ) -> Result<Published, RunError> {
        if node.assignment().generation < 2 {
            return Ok(Published {
                sent: vec![Sent::default(); instruments as usize],
                ended: (false, false),
            });
        }
        let quotes = quotes.map(|output| Held::read(node, output, instruments)).transpose()?;
        let best = match best {
            Some((output, depths)) => {
                let mut held = Held::read(node, output, instruments)?;
                held.number(|instrument| depths.get(instrument).ok());
                Some(held)
            }
            None => None,
        };
        let ended = |held: &Option<Held>| held.as_ref().is_some_and(|held| held.is_ended);
        let ended = (ended(&quotes), ended(&best));
        let sent = match (quotes, best) {
            (Some(quotes), Some(best)) => {
                quotes.sent.iter().zip(&best.sent).map(|(quotes, best)| both(*quotes, *best)).collect()
            }
            (Some(one), None) | (None, Some(one)) => one.sent,
            (None, None) => vec![Sent::default(); instruments as usize],
        };
        log::info!("goes on behind {} quotes", sent.iter().map(|sent| sent.quote).sum::<u64>());
        Ok(Published { sent, ended })
    }

    /// The numbers of one instrument.
    pub(super) fn of(&self, index: u64) -> Sent {
        self.sent.get(index as usize).copied().unwrap_or_default()
    }

    /// The indices of instruments whose next message `md.quotes` has already.
    pub(super) fn halves(&self) -> impl Iterator<Item = usize> + '_ {
        self.sent.iter().enumerate().filter(|(_, sent)| sent.half).map(|(index, _)| index)
    }

    /// Whether the ends of `md.quotes` and of `md.best` were published too.
    pub(super) fn ended(&self) -> (bool, bool) {
        self.ended
    }

    /// Number of quotes of all instruments.
    pub(super) fn quotes(&self) -> u64 {
        self.sent.iter().map(|sent| sent.quote).sum()
    }

    /// Number of quotes of the least advanced instrument.
    pub(super) fn least(&self) -> u64 {
        self.sent.iter().map(|sent| sent.quote).min().unwrap_or(0)
    }
}

/// Every message goes to `md.quotes` first: that is level with `md.best`, or one message ahead.
fn both(quotes: Sent, best: Sent) -> Sent {
    if quotes.quote > best.quote {
        // The trade before that quote is in both.
        return Sent { trade: quotes.trade, half: true, ..best };
    }
    let trade_is_ahead = quotes.trade > quotes.quote && best.trade < quotes.trade;
    if trade_is_ahead { Sent { trade: best.trade, half: true, ..quotes } } else { quotes }
}

impl Held {
    fn read(node: &Node, output: &Output, instruments: u32) -> Result<Held, RunError> {
        let mut held = Held {
            sent: vec![Sent::default(); instruments as usize],
            bests: vec![None; instruments as usize],
            is_ended: false,
            has_wrapped: false,
        };
        let mut frames = 0;
        read_held(node.instance(), &output.journal, None, |frame| {
            frames += 1;
            held.take(frame.topic, frame.message_id, frame.payload);
        })
        .map_err(|error| RunError::failed(format!("cannot take up where md was: {error}")))?;
        held.has_wrapped = frames < output.frames();
        held.level();
        Ok(held)
    }

    /// Instruments of which nothing is left count as far as the least advanced one.
    fn level(&mut self) {
        let least = self.sent.iter().map(|sent| sent.quote).filter(|quote| *quote > 0).min();
        if self.has_wrapped
            && let Some(least) = least
        {
            let overwritten = self.sent.iter_mut().filter(|sent| sent.quote == 0);
            overwritten.for_each(|sent| *sent = Sent { quote: least, trade: least, half: false });
        }
    }

    /// Numbers the bests, which have none: a quote is kept in the depths before its best is published, so the last one
    /// there was published, or was about to be.
    fn number(&mut self, depth: impl Fn(InstrumentId) -> Option<Quote>) {
        for (index, (sent, best)) in self.sent.iter_mut().zip(&self.bests).enumerate() {
            let Some(quote) = depth(InstrumentId(index as u32 + 1)) else { continue };
            let is_overwritten = best.is_none() && self.has_wrapped;
            let is_published = is_overwritten || *best == Some(Best::of(&quote));
            sent.quote = quote.sequence - u64::from(!is_published && quote.sequence > 0);
        }
    }

    fn take(&mut self, topic: u32, message_id: u16, payload: &[u8]) {
        let index = |instrument: u32| (instrument as usize).checked_sub(1);
        match message_id {
            Quote::ID => {
                if let Ok(quote) = Quote::decode(payload)
                    && let Some(sent) = index(quote.instrument.0).and_then(|index| self.sent.get_mut(index))
                {
                    sent.quote = quote.sequence;
                }
            }
            Best::ID => {
                if let Ok(best) = Best::decode(payload)
                    && let Some(last) = index(topic).and_then(|index| self.bests.get_mut(index))
                {
                    *last = Some(best);
                }
            }
            TradePrint::ID => {
                if let Ok(trade) = TradePrint::decode(payload)
                    && let Some(sent) = index(trade.instrument.0).and_then(|index| self.sent.get_mut(index))
                {
                    sent.trade = trade.sequence;
                }
            }
            EndOfStream::ID => self.is_ended = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Level, Nanos, Price, Quantity};

    fn sent(quote: u64, trade: u64, half: bool) -> Sent {
        Sent { quote, trade, half }
    }

    #[test]
    fn a_message_that_only_the_first_journal_has_is_written_to_the_second() {
        // (of md.quotes, of md.best, from where on)
        for (quotes, best, on) in [
            (sent(7, 3, false), sent(7, 3, false), sent(7, 3, false)),
            // Killed between the two quotes; with a trade before them.
            (sent(8, 3, false), sent(7, 3, false), sent(7, 3, true)),
            (sent(8, 8, false), sent(7, 8, false), sent(7, 8, true)),
            // Killed between the two trades.
            (sent(7, 8, false), sent(7, 3, false), sent(7, 3, true)),
            // The old trade is overwritten in md.best.
            (sent(7, 3, false), sent(7, 0, false), sent(7, 3, false)),
        ] {
            assert_eq!(both(quotes, best), on);
        }
    }

    #[test]
    fn the_last_depth_was_published_if_the_journal_holds_its_best() {
        let quote = |sequence: u64| {
            let mut quote = Quote { sequence, due: Nanos(sequence * 10), ..Quote::empty(InstrumentId(1)) };
            quote.bids[0] = Level { price: Price(5), quantity: Quantity(1) };
            quote
        };
        let number = |best: Option<u64>, has_wrapped: bool| {
            let bests = vec![best.map(|number| Best::of(&quote(number)))];
            let mut held = Held { sent: vec![Sent::default()], bests, is_ended: false, has_wrapped };
            held.number(|_| Some(quote(9)));
            held.sent[0].quote
        };
        assert_eq!([number(Some(9), false), number(Some(8), false)], [9, 8]);
        assert_eq!([number(None, false), number(None, true)], [8, 9]);
    }
}
