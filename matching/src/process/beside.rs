//! Brings the books beside a recorded or quoted market from the state that a predecessor left to where that one was killed.
//!
//! The market's messages and the requests behind the state are taken again, in the order in which the predecessor took
//! them: a [`MarketRead`] says how far the market was read at a request. What is answered must be what the predecessor had
//! written in `matching.executions`; what it had not written any more is handed over to be written. Of what changed nothing
//! but the books, so much is taken as the predecessor's cursor had passed; the rest is read as usual.

use std::collections::BTreeMap;

use node::{InstanceDir, read_held};
use wire::{
    BookImage, Execution, InstrumentId, MarketRead, Message, Nanos, NewestOrder, Quote, RecordImage, Request,
    StateEnd, TakenImage, WireError,
};

use super::images::{Image, Images, SavedError};
use super::keeper::Places;
use super::recorded::{MarketInput, Recorded};
use super::replay::{Journals, RestoreError, held_executions, requests};
use crate::engine::BookState;

/// Where the process is now, and what is to be written.
#[derive(Debug)]
pub(super) struct Resumed {
    pub(super) request: u64,
    pub(super) answers: Vec<Execution>,
    /// Requests that the predecessor had read and not carried out, as the market's instant was not over.
    pub(super) waiting: Vec<(u64, Request)>,
    /// What the state has images of, and where.
    pub(super) places: Places,
    /// Requests and messages of the market that were taken again.
    pub(super) requests: usize,
    pub(super) messages: usize,
}

#[allow(clippy::large_enum_variant, reason = "a few an instrument")]
enum Other {
    Book(BookImage),
    /// Written by versions before the swept orders kept their places; nothing is made of it.
    Taken,
    Quote(Quote),
    Newest(NewestOrder),
}

fn decode(id: u16, payload: &[u8]) -> Result<Image<RecordImage, Other, MarketRead>, WireError> {
    Ok(match id {
        RecordImage::ID => Image::Order(RecordImage::decode(payload)?),
        BookImage::ID => Image::Other(Other::Book(BookImage::decode(payload)?)),
        TakenImage::ID => Image::Other(Other::Taken),
        Quote::ID => Image::Other(Other::Quote(Quote::decode(payload)?)),
        NewestOrder::ID => Image::Other(Other::Newest(NewestOrder::decode(payload)?)),
        MarketRead::ID => Image::Note(MarketRead::decode(payload)?),
        id => return Err(WireError::UnknownId { id }),
    })
}

/// A whole state.
struct Saved {
    end: StateEnd,
    /// By place.
    records: BTreeMap<u32, RecordImage>,
    books: BTreeMap<InstrumentId, BookState>,
    newest: BTreeMap<u16, NewestOrder>,
    /// Behind the state.
    reads: Vec<MarketRead>,
    /// Where the last image of each of these is.
    places: Places,
    /// Places that were written behind the state, for one that was not completed.
    revised: Vec<u32>,
}

impl Saved {
    fn read(instance: &InstanceDir, journal: &str) -> Result<Saved, SavedError> {
        let images = Images::read(instance, journal, decode)?;
        let end = images.end;
        let mut saved = Saved {
            end,
            records: BTreeMap::new(),
            books: BTreeMap::new(),
            newest: BTreeMap::new(),
            reads: images.notes,
            places: Places::default(),
            revised: images.later.into_iter().map(|image| image.place).collect(),
        };
        for (at, image) in images.orders {
            saved.places.orders.insert(u64::from(image.place), at);
            saved.records.insert(image.place, image);
        }
        saved.records.retain(|_, image| image.owner_kind != 0);
        images.others.into_iter().for_each(|(at, other)| saved.take(at, other));
        let found = saved.records.len();
        if found as u64 != end.orders {
            return Err(SavedError::Orders { journal: journal.to_owned(), found, expected: end.orders });
        }
        Ok(saved)
    }

    fn take(&mut self, at: u64, other: Other) {
        match other {
            // What else there is of a book follows.
            Other::Book(image) => {
                self.places.instruments.insert(image.instrument, at);
                self.books.insert(image.instrument, BookState { image, quotes: Vec::new() });
            }
            Other::Taken => {}
            Other::Quote(quote) => {
                if let Some(book) = self.books.get_mut(&quote.instrument) {
                    book.quotes.push(quote);
                }
            }
            Other::Newest(image) => {
                let strategy = image.order_id.strategy();
                self.places.strategies.insert(strategy, at);
                self.newest.insert(strategy.0, image);
            }
        }
    }
}

/// The market's messages behind a position, with their own.
fn market(
    instance: &InstanceDir,
    journal: &str,
    after: u64,
) -> Result<Vec<(u64, MarketInput)>, RestoreError> {
    let mut messages = Vec::new();
    let from = Some(after).filter(|after| *after > 0);
    let is_whole = read_held(instance, journal, from, |frame| {
        if frame.position > after {
            let message = MarketInput::decode(frame.message_id, frame.payload);
            messages.push((frame.position, message.unwrap_or(MarketInput::End)));
        }
    })?;
    let lost = || RestoreError::Market { journal: journal.to_owned(), after };
    is_whole.then_some(messages).ok_or_else(lost)
}

/// Puts an engine that has its instruments, and nothing else, where its predecessor was. `executions` is how many frames
/// that journal has; the market's messages before `cursor` and the requests before `taken` are not read again, and the market's
/// journal ends at `head`.
pub(super) fn restore(
    recorded: &mut Recorded,
    instance: &InstanceDir,
    journals: &Journals,
    executions: u64,
    ((cursor, head), taken_up_to): ((u64, u64), u64),
) -> Result<Resumed, RestoreError> {
    let mut saved = Saved::read(instance, &journals.state)?;
    let end = saved.end;
    if end.executions > executions {
        let journal = journals.executions.clone();
        return Err(RestoreError::Frames { journal, found: executions, expected: end.executions });
    }
    if end.market > head {
        // The market's journal is a new one.
        return Err(RestoreError::Market { journal: journals.market.clone(), after: end.market });
    }
    let (reads, places) = (std::mem::take(&mut saved.reads), std::mem::take(&mut saved.places));
    put(recorded, saved)?;
    let mut answers = held_executions(instance, journals, &end, executions)?;
    let requests = requests(instance, journals, end.request)?;
    let messages = market(instance, &journals.market, end.market)?;

    let (mut at, mut count, mut taken) = (end.request, 0, 0);
    let answered = answers.last().map_or(end.request, Execution::answered_up_to);
    let (mut reads, mut messages) = (reads.into_iter().peekable(), messages.into_iter().peekable());
    let mut new = Vec::new();
    let mut take = |new: &mut Vec<Execution>, at: u64| {
        new.iter_mut().for_each(|answer| answer.set_answered_up_to(at));
        new.drain(..).try_for_each(|answer| answers.take(answer))?;
        Ok::<bool, RestoreError>(answers.is_done())
    };
    let mut is_done = take(&mut new, at)?;
    let mut until = 0;
    let mut waiting = Vec::new();
    for (position, _, request) in requests {
        if position > answered {
            waiting
                .extend(request.ok().filter(|_| position < taken_up_to).map(|request| (position, request)));
            continue;
        }
        while let Some(read) = reads.next_if(|read| read.request <= position) {
            until = read.market;
        }
        while let Some((_, message)) = messages.next_if(|(position, _)| *position <= until) {
            recorded.market(&message, &mut new);
            is_done = take(&mut new, at)?;
            taken += 1;
        }
        recorded.read = recorded.read.max(until);
        (at, count) = (position, count + 1);
        if let Ok(request) = request {
            recorded.request(&request, &mut new);
            is_done = take(&mut new, at)?;
        }
    }
    while let Some((position, message)) = messages.next_if(|(position, _)| !is_done || *position < cursor) {
        recorded.market(&message, &mut new);
        is_done = take(&mut new, at)?;
        recorded.read = position;
        taken += 1;
    }
    let answers = answers.end()?;
    Ok(Resumed { request: at, answers, waiting, places, requests: count, messages: taken })
}

/// The state, without what followed.
fn put(recorded: &mut Recorded, saved: Saved) -> Result<(), RestoreError> {
    let (found, expected) = (recorded.listed.len(), saved.end.instruments);
    if found != expected as usize {
        return Err(RestoreError::Instruments { found, expected });
    }
    for instrument in &recorded.listed {
        let state = saved.books.get(instrument).ok_or(RestoreError::Book(*instrument))?;
        if !recorded.engine.restore_book(state) {
            return Err(RestoreError::Book(*instrument));
        }
    }
    recorded.engine.number_trades_after(saved.end.trade);
    recorded.engine.pass_time(Nanos(saved.end.time));
    for newest in saved.newest.into_values() {
        recorded.engine.claim(newest.order_id);
    }
    let records: Vec<RecordImage> = saved.records.into_values().collect();
    recorded.engine.restore_orders(saved.end.age_number, &records)?;
    recorded.read = saved.end.market;
    recorded.revised = saved.revised;
    recorded.all_changed();
    Ok(())
}
