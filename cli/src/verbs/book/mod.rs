//! `colo book`: an instrument's book as a ladder.

pub(crate) mod args;
mod ladder;

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use journal::{Journal, LooseReader, ReadError};
use md::book::Follower;
use node::{Depths, Exit, InstanceDir, StopFlag};
use wire::{Instrument, Level, Message, Nanos, Quote, Side};

use args::Book;
use ladder::{IndicativeRow, Ladder, Row, StatisticsRow};

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::screen::{Key, Screen};
use crate::verbs::{instance, instruments};

/// The exchange's own book.
const MARKET: &str = "matching.market";
/// md's quotes.
const QUOTES: &str = "md.quotes";
/// Between two looks for news.
const TICK: Duration = Duration::from_millis(10);
/// Between two pictures.
const FRAME: Duration = Duration::from_millis(100);
/// How long a snapshot of the book, or a quote, is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn book(arguments: &Book) -> Result<u8, Failure> {
    let view = instance::view(arguments.instance.as_deref())?;
    let instruments = instruments::listed(view.instance())?;
    let instrument = instruments::find(&instruments, &arguments.instrument)?;
    let names = view.instance().journal_names().unwrap_or_default();
    let mut source = if names.iter().any(|name| name == MARKET) {
        Source::Market(open(view.instance(), MARKET)?, Box::new(Follower::new(&instruments)), None)
    } else if names.iter().any(|name| name == QUOTES) {
        Source::Quotes(open(view.instance(), QUOTES)?, None)
    } else {
        // Nobody wants the depth message by message: md keeps the latest.
        match Depths::of(view.instance())? {
            Some(depths) => Source::Kept(depths),
            None => Source::Quotes(open(view.instance(), QUOTES)?, None),
        }
    };
    let stop = StopFlag::install()?;
    let depth = arguments.depth as usize;
    let first = first(&mut source, &instrument, depth, &stop)?;
    let Some(first) = first else {
        if stop.is_set() {
            return Ok(Exit::Done.code());
        }
        return Err(Failure::new(
            Exit::Failed,
            format!("nothing of {} was published within {PATIENCE:?}", instrument.symbol),
        ));
    };
    if !arguments.follow {
        match arguments.format {
            Format::Json => output::print_json(&first)?,
            Format::Text => output::print(&first.text())?,
        }
        return Ok(Exit::Done.code());
    }
    follow(&mut source, &instrument, arguments, first, &stop)?;
    Ok(Exit::Done.code())
}

/// Waits for the first picture; `None` when none came in time, or the user has seen enough.
fn first(
    source: &mut Source,
    instrument: &Instrument,
    depth: usize,
    stop: &StopFlag,
) -> Result<Option<Ladder>, Failure> {
    let end = Instant::now() + PATIENCE;
    loop {
        source.read()?;
        let ladder = source.ladder(instrument, depth);
        if ladder.is_some() || stop.is_set() || Instant::now() >= end {
            return Ok(ladder);
        }
        std::thread::sleep(TICK);
    }
}

fn follow(
    source: &mut Source,
    instrument: &Instrument,
    arguments: &Book,
    mut shown: Ladder,
    stop: &StopFlag,
) -> Result<(), Failure> {
    let draws = arguments.format == Format::Text && std::io::stdout().is_terminal();
    let screen = if draws { Some(Screen::enter()?) } else { None };
    let show = |ladder: &Ladder| -> Result<(), Failure> {
        match (&screen, arguments.format) {
            (Some(screen), _) => Ok(screen.draw(&ladder.text())?),
            (None, Format::Json) => {
                let line = serde_json::to_string(ladder).map_err(std::io::Error::from)?;
                output::print(&(line + "\n"))
            }
            (None, Format::Text) => output::print(&(ladder.text() + "\n")),
        }
    };
    show(&shown)?;
    while !stop.is_set() {
        let until = Instant::now() + FRAME;
        while Instant::now() < until && !stop.is_set() {
            source.read()?;
            match &screen {
                Some(screen) if screen.key(TICK)? == Some(Key::Quit) => return Ok(()),
                Some(_) => {}
                None => std::thread::sleep(TICK),
            }
        }
        if let Some(ladder) = source.ladder(instrument, arguments.depth as usize)
            && ladder != shown
        {
            show(&ladder)?;
            shown = ladder;
        }
        if source.is_over() {
            break;
        }
    }
    Ok(())
}

/// Where the book comes from.
enum Source {
    /// The exchange's events; the time of the end of the day, once it was read.
    Market(LooseReader, Box<Follower>, Option<u64>),
    /// md's quotes, by instrument.
    Quotes(LooseReader, Option<std::collections::BTreeMap<u32, Quote>>),
    /// The latest quotes that md keeps, where strategies hear the best alone.
    Kept(Depths),
}

impl Source {
    /// Reads what has come.
    fn read(&mut self) -> Result<(), Failure> {
        loop {
            let (reader, name) = match self {
                Source::Market(reader, ..) => (reader, MARKET),
                Source::Quotes(reader, _) => (reader, QUOTES),
                Source::Kept(_) => return Ok(()),
            };
            match reader.read() {
                Ok(Some(frame)) => {
                    let (id, payload, time) = (frame.message_id, frame.payload.to_vec(), frame.time);
                    self.take(id, &payload, time)?;
                }
                Ok(None) => return Ok(()),
                Err(ReadError::Lapped(_)) => {
                    if let Source::Market(_, follower, _) = self {
                        follower.lapped();
                    }
                }
                Err(error) => {
                    let hint = format!("journal `{name}`: {error}; `colo journal verify {name}` says more");
                    return Err(Failure::new(Exit::Failed, hint));
                }
            }
        }
    }

    fn take(&mut self, id: u16, payload: &[u8], time: u64) -> Result<(), Failure> {
        let failed = |error: wire::WireError| Failure::new(Exit::Failed, error.to_string());
        match self {
            Source::Market(_, follower, end) => {
                let followed = follower.take(id, payload, Nanos(time)).map_err(failed)?;
                if followed == md::book::Followed::End {
                    *end = Some(time);
                }
            }
            Source::Quotes(_, quotes) if id == Quote::ID => {
                let quote = Quote::decode(payload).map_err(failed)?;
                quotes.get_or_insert_default().insert(quote.instrument.0, quote);
            }
            Source::Quotes(..) | Source::Kept(_) => {}
        }
        Ok(())
    }

    /// True when nothing more will come.
    fn is_over(&self) -> bool {
        matches!(self, Source::Market(_, _, Some(_)))
    }

    fn ladder(&self, instrument: &Instrument, depth: usize) -> Option<Ladder> {
        let symbol = instrument.symbol.to_string();
        match self {
            Source::Market(_, follower, _) => {
                let book = follower.book(instrument.id)?;
                let rows = |side| {
                    let levels = book.levels(side).take(depth);
                    let row = |level: md::book::PriceLevel| Row {
                        price: level.price.to_string(),
                        quantity: level.quantity.0,
                        orders: Some(level.orders),
                    };
                    levels.map(row).collect()
                };
                let indicative = follower.indicative(instrument.id).map(|indicative| IndicativeRow {
                    price: ladder::price(indicative.price),
                    quantity: indicative.quantity.0,
                    imbalance: indicative.imbalance.0,
                });
                Some(Ladder {
                    instrument: instrument.id.0,
                    symbol,
                    phase: follower.phase(instrument.id).map(wire::TradingPhase::as_str),
                    sequence: follower.sequence(instrument.id)?,
                    event_time_ns: follower.quote(instrument.id).map_or(0, |quote| quote.event_time.0),
                    last_price: follower
                        .quote(instrument.id)
                        .and_then(|quote| ladder::price(quote.last_price)),
                    indicative,
                    statistics: follower.statistics(instrument.id).map(|known| StatisticsRow::of(&known)),
                    bids: rows(Side::Buy),
                    asks: rows(Side::Sell),
                })
            }
            Source::Quotes(_, quotes) => {
                Some(of_quote(symbol, quotes.as_ref()?.get(&instrument.id.0)?, depth))
            }
            Source::Kept(depths) => Some(of_quote(symbol, &depths.get(instrument.id).ok()?, depth)),
        }
    }
}

/// The ladder of a quote's levels.
fn of_quote(symbol: String, quote: &Quote, depth: usize) -> Ladder {
    let rows = |levels: &[Level]| {
        let levels = levels.iter().filter(|level| level.is_some()).take(depth);
        let row =
            |level: &Level| Row { price: level.price.to_string(), quantity: level.quantity.0, orders: None };
        levels.map(row).collect()
    };
    Ladder {
        instrument: quote.instrument.0,
        symbol,
        phase: None,
        sequence: quote.sequence,
        event_time_ns: quote.event_time.0,
        last_price: ladder::price(quote.last_price),
        indicative: None,
        statistics: None,
        bids: rows(&quote.bids),
        asks: rows(&quote.asks),
    }
}

/// A reader from the oldest frame on.
fn open(instance: &InstanceDir, journal: &str) -> Result<LooseReader, Failure> {
    let files = super::journal::files(instance, journal)?;
    let journal = Journal::open_read_only(files)?;
    let oldest = journal.oldest_frame()?;
    Ok(journal.observe(oldest)?)
}
