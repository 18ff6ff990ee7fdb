//! Reads what a killed md had published, so that its successor can continue.

use node::{Node, Output, RunError, read_held};
use wire::{EndOfStream, Message, Quote, TradePrint};

/// How far each simulated instrument was published, by index.
#[derive(Clone, Debug, Default)]
pub(super) struct Published {
    sent: Vec<Sent>,
    is_ended: bool,
}

/// Numbers of the last quote and of the last trade; the trade with a number precedes the quote with that number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    pub(super) quote: u64,
    pub(super) trade: u64,
}

impl Published {
    /// Reads what the journal of quotes still holds: it contains the latest quote of each instrument, since all are
    /// quoted equally often. An instrument whose quotes are all overwritten counts as far as the least advanced one.
    pub(super) fn read(node: &Node, quotes: &Output, instruments: u32) -> Result<Published, RunError> {
        let mut sent = vec![Sent::default(); instruments as usize];
        let mut is_ended = false;
        if node.assignment().generation > 1 {
            let mut held = 0;
            read_held(node.instance(), &quotes.journal, None, |frame| {
                held += 1;
                is_ended |= frame.message_id == EndOfStream::ID;
                take(&mut sent, frame.message_id, frame.payload);
            })
            .map_err(|error| RunError::failed(format!("cannot take up where md was: {error}")))?;
            let least = sent.iter().map(|sent| sent.quote).filter(|quote| *quote > 0).min();
            if held < quotes.frames()
                && let Some(least) = least
            {
                let overwritten = sent.iter_mut().filter(|sent| sent.quote == 0);
                overwritten.for_each(|sent| *sent = Sent { quote: least, trade: least });
            }
            log::info!("goes on behind {} quotes", sent.iter().map(|sent| sent.quote).sum::<u64>());
        }
        Ok(Published { sent, is_ended })
    }

    /// The numbers of one instrument.
    pub(super) fn of(&self, index: u64) -> Sent {
        self.sent.get(index as usize).copied().unwrap_or_default()
    }

    /// Whether the end was published too.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
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

fn take(sent: &mut [Sent], message_id: u16, payload: &[u8]) {
    let of = |instrument: wire::InstrumentId| (instrument.0 as usize).checked_sub(1);
    match message_id {
        Quote::ID => {
            if let Ok(quote) = Quote::decode(payload)
                && let Some(sent) = of(quote.instrument).and_then(|index| sent.get_mut(index))
            {
                sent.quote = quote.sequence;
            }
        }
        TradePrint::ID => {
            if let Ok(trade) = TradePrint::decode(payload)
                && let Some(sent) = of(trade.instrument).and_then(|index| sent.get_mut(index))
            {
                sent.trade = trade.sequence;
            }
        }
        _ => {}
    }
}
