//! The strategies' orders beside a recorded or quoted market, and what is written down of them.

use topology::config::MatchingConfig;
use wire::{
    BookEvent, BookImage, EndOfStream, Execution, Instrument, InstrumentId, MarketPhase, MarketTime, Message,
    Nanos, Quote, RecordImage, Request, StateEnd, TradePrint, WireError,
};

use super::changes::Changes;
use super::chosen;
use super::keeper::{Item, Kept, Reached, Send, Written};
use crate::engine::{Engine, FillModel, UsedIds};

/// A message of the market.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "lives on the stack, or in a list that is read once")]
pub(super) enum MarketInput {
    Book(BookEvent),
    Quote(Quote),
    Trade(TradePrint),
    Phase(MarketPhase),
    /// All up to this time is known.
    Time(Nanos),
    /// Nothing follows.
    End,
}

impl MarketInput {
    /// When it happened.
    pub(super) fn time(&self) -> Option<Nanos> {
        match self {
            MarketInput::Book(event) => Some(event.event_time),
            MarketInput::Quote(quote) => Some(quote.event_time),
            MarketInput::Trade(print) => Some(print.event_time),
            MarketInput::Phase(phase) => Some(phase.event_time),
            MarketInput::Time(time) => Some(*time),
            MarketInput::End => None,
        }
    }

    pub(super) fn decode(message_id: u16, payload: &[u8]) -> Result<MarketInput, WireError> {
        Ok(match message_id {
            BookEvent::ID => MarketInput::Book(BookEvent::decode(payload)?),
            Quote::ID => MarketInput::Quote(Quote::decode(payload)?),
            TradePrint::ID => MarketInput::Trade(TradePrint::decode(payload)?),
            MarketPhase::ID => MarketInput::Phase(MarketPhase::decode(payload)?),
            MarketTime::ID => MarketInput::Time(MarketTime::decode(payload)?.event_time),
            EndOfStream::ID => MarketInput::End,
            id => return Err(WireError::UnknownId { id }),
        })
    }
}

/// The engine, and what has changed in it since it was last written down.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) engine: Engine,
    fill: FillModel,
    changes: Changes,
    pub(super) listed: Vec<InstrumentId>,
    /// Position of the last message of the market that was taken.
    pub(super) read: u64,
    /// Places whose image is to be written although they have not changed.
    pub(super) revised: Vec<u32>,
    places: Vec<u32>,
    images: Vec<RecordImage>,
}

impl Recorded {
    /// `keeps`: what changes is written down for a successor.
    pub(super) fn new(config: &MatchingConfig, fill: FillModel, keeps: bool) -> Recorded {
        let mut engine = Engine::new(chosen::options(config, fill));
        if keeps {
            engine.track();
        }
        Recorded {
            engine,
            fill,
            changes: Changes::default(),
            listed: Vec::new(),
            read: 0,
            revised: Vec::new(),
            places: Vec::new(),
            images: Vec::new(),
        }
    }

    /// What the orders trade with.
    pub(super) fn fill(&self) -> FillModel {
        self.fill
    }

    pub(super) fn list(&mut self, instrument: &Instrument) {
        self.engine.on_instrument(instrument);
        if self.engine.book(instrument.id).is_some() && !self.listed.contains(&instrument.id) {
            self.listed.push(instrument.id);
            self.changes.instrument(instrument.id);
        }
    }

    pub(super) fn request(&mut self, request: &Request, answers: &mut Vec<Execution>) {
        // A request acts behind the last event of its instant.
        self.end_instants(Nanos(u64::MAX), answers);
        match request {
            Request::New(request) => {
                self.changes.strategy(request.order_id.strategy());
                self.changes.instrument(request.instrument);
                self.engine.new_order(request, answers);
            }
            Request::Cancel(request) => self.engine.cancel(request, answers),
            Request::Replace(request) => {
                self.changes.instrument(request.instrument);
                self.engine.replace(request, answers);
            }
            Request::CancelAll(request) => self.engine.cancel_all(request, answers),
        }
    }

    /// As [`Recorded::request`], for one that reaches the market at `time`, after the latest message about its instrument.
    pub(super) fn request_at(&mut self, time: Nanos, request: &Request, answers: &mut Vec<Execution>) {
        self.engine.pass_time(time);
        self.request(request, answers);
    }

    /// What the market's instants before `time` leave to be done: reopenings.
    fn end_instants(&mut self, time: Nanos, answers: &mut Vec<Execution>) {
        if self.engine.is_reopening() {
            let reopened = self.engine.end_instants(time, answers);
            reopened.into_iter().for_each(|instrument| self.changes.instrument(instrument));
        }
    }

    /// The instant at whose end the market's next reopening happens.
    pub(super) fn reopens_at(&self) -> Option<Nanos> {
        self.engine.is_reopening().then(|| self.engine.reopens_at()).flatten()
    }

    pub(super) fn market(&mut self, message: &MarketInput, answers: &mut Vec<Execution>) {
        match message {
            // All of the announced time is known, and nothing follows an end.
            MarketInput::Time(time) => self.end_instants(Nanos(time.0.saturating_add(1)), answers),
            MarketInput::End => self.end_instants(Nanos(u64::MAX), answers),
            message => self.end_instants(message.time().unwrap_or(Nanos(0)), answers),
        }
        let instrument = match message {
            MarketInput::Book(event) => {
                self.engine.on_book_event(event, answers);
                event.instrument
            }
            MarketInput::Quote(quote) => {
                self.engine.on_quote(quote, answers);
                quote.instrument
            }
            MarketInput::Trade(print) => {
                self.engine.on_trade_print(print, answers);
                print.instrument
            }
            MarketInput::Phase(phase) => {
                self.engine.on_phase(phase, answers);
                phase.instrument
            }
            MarketInput::Time(time) => return self.engine.pass_time(*time),
            MarketInput::End => return,
        };
        self.changes.instrument(instrument);
    }

    /// Everything but the orders is to be written down again.
    pub(super) fn all_changed(&mut self) {
        self.listed.iter().for_each(|instrument| self.changes.instrument(*instrument));
        for seat in 0..self.engine.used().seats() {
            self.changes.strategy(wire::StrategyId(seat as u16));
        }
    }
}

impl Kept for Recorded {
    type Image = RecordImage;

    fn changed(&self) -> usize {
        self.engine.changed() + self.revised.len()
    }

    fn take_changed(&mut self, most: usize, images: &mut Vec<RecordImage>) {
        let mut places = std::mem::take(&mut self.places);
        self.engine.take_changed(most, &mut places);
        let from = self.revised.len().saturating_sub(most.saturating_sub(places.len()));
        places.extend(self.revised.drain(from..));
        images.clear();
        images.extend(places.iter().map(|place| self.engine.image_at(*place)));
        self.places = places;
    }

    fn not_written(&mut self, image: &RecordImage) {
        self.revised.push(image.place);
    }

    fn changes(&mut self) -> &mut Changes {
        &mut self.changes
    }

    fn listed(&self) -> usize {
        self.listed.len()
    }

    fn instrument(&self, number: usize) -> InstrumentId {
        self.listed[number]
    }

    fn again(&mut self, item: Item) {
        match item {
            Item::Place(place) => self.revised.extend(self.key(place).map(|_| place)),
            Item::Instrument(instrument) => self.changes.instrument(instrument),
            Item::Strategy(strategy) => self.changes.strategy(strategy),
        }
    }

    fn used(&self) -> &UsedIds {
        self.engine.used()
    }

    fn places(&self) -> usize {
        self.engine.places()
    }

    fn key(&self, place: u32) -> Option<u64> {
        (self.engine.image_at(place).owner_kind != 0).then_some(u64::from(place))
    }

    fn market(&mut self, instrument: InstrumentId, send: Send<'_>) -> Written {
        let Some(state) = self.engine.book_state(instrument) else { return Ok(true) };
        if !send(BookImage::ID, state.image.bytes())? {
            return Ok(false);
        }
        for quote in &state.quotes {
            if !send(Quote::ID, quote.bytes())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn orders(&self) -> usize {
        self.engine.resting_orders()
    }

    fn end(&self, reached: &Reached, base: u64) -> StateEnd {
        StateEnd {
            request: reached.request,
            time: self.engine.now().0,
            execution: reached.execution,
            executions: reached.executions,
            market: reached.market,
            base,
            trade: self.engine.last_trade(),
            orders: self.engine.resting_orders() as u64,
            age_number: self.engine.places() as u32,
            instruments: self.listed.len() as u32,
            ended: 0,
        }
    }

    fn buffer(&mut self) -> &mut Vec<RecordImage> {
        &mut self.images
    }
}
