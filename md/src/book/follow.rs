//! Following the book that an exchange publishes, from wherever one begins to read.

use wire::{
    BookAction, BookEvent, EndOfStream, Indicative, Instrument, InstrumentId, MarketPhase, Message, Nanos,
    Quote, Statistics, TradePrint, TradingPhase, WireError,
};

use super::{Book, Books};
use crate::source::SourceEvent;

/// What is known of an instrument's book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Nothing: a snapshot must come.
    No,
    /// A snapshot is being read.
    Taking,
    /// All up to this number.
    UpTo(u64),
}

/// One instrument.
#[derive(Debug)]
struct Line {
    known: Known,
    phase: Option<TradingPhase>,
    indicative: Option<Indicative>,
    statistics: Option<Statistics>,
    /// The event that is being read.
    event: SourceEvent,
    /// The trades of the last whole event.
    trades: Vec<TradePrint>,
}

impl Line {
    /// Part of an event was read, and the rest follows.
    fn is_inside_event(&self) -> bool {
        matches!(self.known, Known::UpTo(_)) && !self.event.book_events.is_empty()
    }
}

/// What a message of the feed brought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Followed<'a> {
    /// Nothing that shows yet.
    Nothing,
    /// A whole event: its trades, and the quote to publish after them if one is due. Or a trade that comes behind its event.
    Event {
        /// The instrument.
        instrument: InstrumentId,
        /// The trades, in order.
        trades: &'a [TradePrint],
        /// The ten best levels, if they changed or something traded.
        quote: Option<&'a Quote>,
    },
    /// A number was missing: the instrument's book is unknown until the next snapshot.
    Lost(InstrumentId),
    /// The day is over.
    End,
}

/// The books of an exchange, made from `matching.market`.
///
/// An instrument's book counts once a snapshot of it, or its beginning, was read. The numbers of events prove that none is
/// missing; if one is, the book is unknown until the next snapshot, which comes by itself.
#[derive(Debug)]
pub struct Follower {
    books: Books,
    lines: Vec<Line>,
}

impl Follower {
    /// A follower of these instruments, whose ids count from 1.
    pub fn new(instruments: &[Instrument]) -> Follower {
        let lines = instruments.iter().map(|instrument| Line {
            known: Known::No,
            phase: None,
            indicative: None,
            statistics: None,
            event: SourceEvent { instrument: instrument.id, ..SourceEvent::default() },
            trades: Vec::new(),
        });
        Follower { books: Books::new(instruments), lines: lines.collect() }
    }

    /// Takes one message of the feed. `due` is what trades and quotes say of when they were due.
    ///
    /// # Errors
    /// [`WireError`]: the payload is no message of the feed.
    pub fn take(&mut self, message_id: u16, payload: &[u8], due: Nanos) -> Result<Followed<'_>, WireError> {
        match message_id {
            BookEvent::ID => Ok(self.book_event(&BookEvent::decode(payload)?, due)),
            TradePrint::ID => {
                let trade = TradePrint::decode(payload)?;
                if let Some(line) = self.line(trade.instrument) {
                    // The market says its statistics now and then: until then they are kept up here.
                    if let Some(statistics) = &mut line.statistics {
                        statistics.add(trade.trade_id, trade.price, trade.quantity);
                        (statistics.event_time, statistics.sequence) = (trade.event_time, trade.sequence);
                    }
                    let trade = TradePrint { due, ..trade };
                    if line.is_inside_event() {
                        line.event.trades.push(trade);
                        return Ok(Followed::Nothing);
                    }
                    // The last one of its event comes behind it; and nothing need be known of the book.
                    line.trades.clear();
                    line.trades.push(trade);
                    let (instrument, trades) = (trade.instrument, line.trades.as_slice());
                    return Ok(Followed::Event { instrument, trades, quote: None });
                }
                Ok(Followed::Nothing)
            }
            MarketPhase::ID => Ok(self.phase_change(&MarketPhase::decode(payload)?, due)),
            Indicative::ID => {
                let indicative = Indicative::decode(payload)?;
                if let Some(line) = self.line(indicative.instrument) {
                    line.indicative = Some(indicative);
                }
                Ok(Followed::Nothing)
            }
            Statistics::ID => {
                let statistics = Statistics::decode(payload)?;
                if let Some(line) = self.line(statistics.instrument) {
                    line.statistics = Some(statistics);
                }
                Ok(Followed::Nothing)
            }
            EndOfStream::ID => Ok(Followed::End),
            id => Err(WireError::UnknownId { id }),
        }
    }

    /// True while nothing was read of an event whose rest is to come.
    pub fn is_between_events(&self) -> bool {
        !self.lines.iter().any(Line::is_inside_event)
    }

    /// The reader was lapped: every book is unknown until its next snapshot.
    pub fn lapped(&mut self) {
        for line in &mut self.lines {
            line.known = Known::No;
            // Trades may be missing; the next snapshot has statistics beside it.
            line.statistics = None;
            line.event.book_events.clear();
            line.event.trades.clear();
        }
    }

    /// An instrument's book, if it is known.
    pub fn book(&self, instrument: InstrumentId) -> Option<&Book> {
        let index = (instrument.0 as usize).checked_sub(1)?;
        let line = self.lines.get(index)?;
        matches!(line.known, Known::UpTo(_)).then(|| self.books.book(instrument)).flatten()
    }

    /// The number of the last event of an instrument's book, if the book is known.
    pub fn sequence(&self, instrument: InstrumentId) -> Option<u64> {
        match self.lines.get((instrument.0 as usize).checked_sub(1)?)?.known {
            Known::UpTo(sequence) => Some(sequence),
            Known::No | Known::Taking => None,
        }
    }

    /// The last quote of an instrument's book, whether it was due or not.
    pub fn quote(&self, instrument: InstrumentId) -> Option<&Quote> {
        self.books.quote(instrument)
    }

    /// The phase of an instrument's market, once one was read.
    pub fn phase(&self, instrument: InstrumentId) -> Option<TradingPhase> {
        self.lines.get((instrument.0 as usize).checked_sub(1)?)?.phase
    }

    /// What an auction would trade, as last read.
    pub fn indicative(&self, instrument: InstrumentId) -> Option<Indicative> {
        self.lines.get((instrument.0 as usize).checked_sub(1)?)?.indicative
    }

    /// What has traded in the instrument, all trades that were read included.
    pub fn statistics(&self, instrument: InstrumentId) -> Option<Statistics> {
        self.lines.get((instrument.0 as usize).checked_sub(1)?)?.statistics
    }

    fn line(&mut self, instrument: InstrumentId) -> Option<&mut Line> {
        (instrument.0 as usize).checked_sub(1).and_then(|index| self.lines.get_mut(index))
    }

    fn phase_change(&mut self, phase: &MarketPhase, due: Nanos) -> Followed<'_> {
        let Some(line) = self.line(phase.instrument) else { return Followed::Nothing };
        let repeats = line.known == Known::UpTo(phase.sequence);
        if line.phase != Some(phase.phase) {
            line.indicative = None;
        }
        line.phase = Some(phase.phase);
        if repeats {
            return Followed::Nothing;
        }
        if let Known::UpTo(known) = line.known {
            line.known = next(known, phase.sequence);
            if line.known == Known::No {
                return self.lost(phase.instrument);
            }
            line.event.call_auction = phase.phase != TradingPhase::Continuous;
            line.event.sequence = phase.sequence;
            line.event.event_time = phase.event_time;
            return self.whole(phase.instrument, due);
        }
        Followed::Nothing
    }

    fn lost(&mut self, instrument: InstrumentId) -> Followed<'_> {
        if let Some(line) = self.line(instrument) {
            line.statistics = None;
            line.event.book_events.clear();
            line.event.trades.clear();
        }
        Followed::Lost(instrument)
    }

    fn book_event(&mut self, event: &BookEvent, due: Nanos) -> Followed<'_> {
        let Some(line) = self.line(event.instrument) else { return Followed::Nothing };
        let is_snapshot = event.flags & BookEvent::SNAPSHOT != 0;
        let is_clear = event.action == BookAction::Clear;
        let is_last = event.flags & BookEvent::LAST != 0;
        line.known = match line.known {
            // The exchange was started again.
            _ if is_clear && !is_snapshot => Known::UpTo(event.sequence),
            Known::No | Known::Taking if is_snapshot && is_clear => {
                line.event.book_events.clear();
                Known::Taking
            }
            // An exchange begins with an empty book.
            Known::No if !is_snapshot && event.sequence == 1 => Known::UpTo(1),
            Known::No => return Followed::Nothing,
            Known::Taking if is_snapshot => Known::Taking,
            Known::UpTo(_) if is_snapshot => return Followed::Nothing,
            Known::Taking => Known::No,
            Known::UpTo(known) => next(known, event.sequence),
        };
        match line.known {
            Known::No => return self.lost(event.instrument),
            Known::Taking if is_last => line.known = Known::UpTo(event.sequence),
            Known::Taking | Known::UpTo(_) => {}
        }
        line.event.call_auction = event.flags & BookEvent::CALL_AUCTION != 0;
        line.event.book_events.push(*event);
        (line.event.event_time, line.event.sequence) = (event.event_time, event.sequence);
        if is_last { self.whole(event.instrument, due) } else { Followed::Nothing }
    }

    /// The book is whole: what is new about it is known.
    fn whole(&mut self, instrument: InstrumentId, due: Nanos) -> Followed<'_> {
        let Some(line) = (instrument.0 as usize).checked_sub(1).and_then(|at| self.lines.get_mut(at)) else {
            return Followed::Nothing;
        };
        let quote = self.books.apply_due(&line.event, due);
        line.event.book_events.clear();
        // The trades stay readable until the next event of the instrument begins.
        line.trades.clear();
        line.trades.append(&mut line.event.trades);
        Followed::Event { instrument, trades: &line.trades, quote }
    }
}

/// What is known after the event with this number.
fn next(known: u64, sequence: u64) -> Known {
    if sequence == known + 1 { Known::UpTo(sequence) } else { Known::No }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Price, Quantity, Side};

    const STOCK: InstrumentId = InstrumentId(1);

    fn event(action: BookAction, number: u64, order: u64, quantity: i64, flags: u16) -> BookEvent {
        BookEvent {
            instrument: STOCK,
            action,
            side: Side::Buy,
            flags,
            order_ref: order,
            price: Price(10),
            quantity: Quantity(quantity),
            event_time: Nanos(number),
            sequence: number,
            reserved: 0,
        }
    }

    fn take(follower: &mut Follower, event: BookEvent) -> Option<u64> {
        follower.take(BookEvent::ID, event.bytes(), Nanos(0)).unwrap();
        follower.sequence(STOCK)
    }

    fn quantity(follower: &Follower) -> Option<i64> {
        follower.book(STOCK).map(|book| book.resting())
    }

    #[test]
    fn trades_are_told_at_once_but_those_inside_an_event_and_need_no_book() {
        let trade = |trade_id| TradePrint {
            instrument: STOCK,
            aggressor: wire::Aggressor::Sell,
            reserved: [0; 3],
            due: Nanos(0),
            event_time: Nanos(0),
            sequence: trade_id,
            price: Price(10),
            quantity: Quantity(1),
            trade_id,
        };
        let mut follower = Follower::new(&crate::sim::instruments(1));
        let mut told = |id: u16, bytes: &[u8]| match follower.take(id, bytes, Nanos(0)).unwrap() {
            Followed::Event { trades, .. } => trades.iter().map(|trade| trade.trade_id).collect(),
            _ => Vec::new(),
        };
        // Behind a start in the middle.
        assert_eq!(told(TradePrint::ID, trade(4).bytes()), [4]);
        let last = BookEvent::LAST;
        assert_eq!(told(BookEvent::ID, event(BookAction::Add, 1, 1, 5, last).bytes()), [0; 0]);
        assert_eq!(told(BookEvent::ID, event(BookAction::Execute, 2, 1, 1, 0).bytes()), [0; 0]);
        assert_eq!(told(TradePrint::ID, trade(5).bytes()), [0; 0]);
        assert_eq!(told(BookEvent::ID, event(BookAction::Execute, 3, 1, 1, last).bytes()), [5]);
        assert_eq!(told(TradePrint::ID, trade(6).bytes()), [6], "nothing else need come");
        assert!(follower.is_between_events());
    }

    #[test]
    fn a_late_reader_takes_up_a_snapshot_and_goes_on_behind_it() {
        let mut follower = Follower::new(&crate::sim::instruments(1));
        let (last, snapshot) = (BookEvent::LAST, BookEvent::SNAPSHOT);
        assert_eq!(
            take(&mut follower, event(BookAction::Add, 7, 1, 5, last)),
            None,
            "what came before is unknown"
        );
        assert_eq!(take(&mut follower, event(BookAction::Clear, 7, 0, 0, snapshot)), None);
        assert_eq!(take(&mut follower, event(BookAction::Add, 7, 1, 5, snapshot)), None);
        assert_eq!(take(&mut follower, event(BookAction::Add, 7, 2, 6, snapshot | last)), Some(7));
        assert_eq!(quantity(&follower), Some(11));
        assert_eq!(take(&mut follower, event(BookAction::Reduce, 8, 2, 4, last)), Some(8));
        assert_eq!(quantity(&follower), Some(7));
        // The next snapshot is none of its business.
        take(&mut follower, event(BookAction::Clear, 8, 0, 0, snapshot));
        take(&mut follower, event(BookAction::Add, 8, 1, 5, snapshot | last));
        assert_eq!((follower.sequence(STOCK), quantity(&follower)), (Some(8), Some(7)));
    }

    #[test]
    fn the_latest_statistics_are_kept_whatever_is_known_of_the_book() {
        let mut follower = Follower::new(&crate::sim::instruments(1));
        assert_eq!(follower.statistics(STOCK), None);
        let mut statistics = Statistics::none(STOCK);
        for (trade, price) in [(1, 10), (2, 12)] {
            statistics.add(trade, Price(price), Quantity(3));
            follower.take(Statistics::ID, statistics.bytes(), Nanos(0)).unwrap();
        }
        let known = follower.statistics(STOCK).unwrap();
        assert_eq!((known.high, known.volume, known.turnover.wide()), (Price(12), Quantity(6), 66));
        // A trade behind them counts at once, and once.
        let trade = TradePrint {
            instrument: STOCK,
            aggressor: wire::Aggressor::Buy,
            reserved: [0; 3],
            due: Nanos(0),
            event_time: Nanos(8),
            sequence: 5,
            price: Price(13),
            quantity: Quantity(1),
            trade_id: 3,
        };
        for _ in 0..2 {
            follower.take(TradePrint::ID, trade.bytes(), Nanos(0)).unwrap();
        }
        let known = follower.statistics(STOCK).unwrap();
        assert_eq!((known.last, known.volume, known.trades, known.sequence), (Price(13), Quantity(7), 3, 5));
        follower.lapped();
        assert_eq!(follower.statistics(STOCK), None, "trades may be missing");
        assert_eq!(follower.statistics(InstrumentId(9)), None);
        assert!(follower.take(Statistics::ID, &[0; 5], Nanos(0)).is_err());
    }

    #[test]
    fn a_missing_number_voids_the_book_until_the_next_snapshot() {
        let mut follower = Follower::new(&crate::sim::instruments(1));
        let (last, snapshot) = (BookEvent::LAST, BookEvent::SNAPSHOT);
        assert_eq!(
            take(&mut follower, event(BookAction::Add, 1, 1, 5, last)),
            Some(1),
            "an exchange begins at 1"
        );
        let gap = event(BookAction::Add, 3, 3, 5, last);
        let followed = follower.take(BookEvent::ID, gap.bytes(), Nanos(0)).unwrap();
        assert_eq!(followed, Followed::Lost(STOCK));
        assert_eq!(quantity(&follower), None);
        assert_eq!(take(&mut follower, event(BookAction::Clear, 3, 0, 0, snapshot | last)), Some(3));
        assert_eq!(quantity(&follower), Some(0));
        follower.lapped();
        assert_eq!(quantity(&follower), None);
        // The exchange was killed and started again.
        assert_eq!(take(&mut follower, event(BookAction::Clear, 1, 0, 0, last)), Some(1));
        assert_eq!(take(&mut follower, event(BookAction::Add, 2, 9, 4, last)), Some(2));
        assert_eq!(quantity(&follower), Some(4));
    }
}
