//! From messages to events: what a file and a multicast group have in common.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use wire::{Aggressor, BookAction, BookEvent, Instrument, InstrumentId, Price, Side, Symbol, TradingPhase};

use super::message::{Body, Message};
use crate::source::error::Fault;
use crate::source::listing::Listing;
use crate::source::orders::{OrderTable, Resting, Taken};
use crate::source::recorded::{Place, Window, aggressor_against, is_far};
use crate::source::tolerance::Watch;
use crate::source::{Counts, Options, SourceError, SourceEvent};

/// Books' orders, and the counts of messages.
pub(crate) struct Decoder {
    /// What faults name: the file, or the group.
    pub(crate) path: PathBuf,
    pub(crate) instruments: Vec<Instrument>,
    pub(crate) counts: Counts,
    pub(crate) watch: Watch,
    listing: Listing,
    orders: OrderTable<u64>,
    window: Window,
    midnight: u64,
    /// The time of the message before.
    before: u64,
    /// The message before.
    last: Vec<u8>,
    /// By instrument.
    of: Vec<Stock>,
    /// Which stock has a locate.
    located: HashMap<u16, Symbol>,
    /// A hidden trade was called a sale: the sides of hidden trades say something.
    sides: bool,
    /// The messages begin with the one that says so: no order is from before them.
    is_from_begin: bool,
    ended: bool,
}

/// What is known of a stock.
#[derive(Clone, Copy, Debug, Default)]
struct Stock {
    last_price: Option<Price>,
    locate: Option<u16>,
    /// By the trading action of all markets; `None`: none came, and it trades.
    state: Option<TradingPhase>,
    /// This market itself halts it.
    is_halted: bool,
    displaced: i64,
}

impl Stock {
    fn phase(&self) -> TradingPhase {
        if self.is_halted { TradingPhase::Halt } else { self.state.unwrap_or(TradingPhase::Continuous) }
    }
}

impl Decoder {
    pub(crate) fn new(
        path: PathBuf,
        listing: Listing,
        rows: u64,
        midnight: u64,
        options: &Options,
    ) -> Result<Decoder, SourceError> {
        let instruments = listing.finish()?;
        Ok(Decoder {
            path,
            of: vec![Stock::default(); instruments.len() + 1],
            instruments,
            counts: Counts::default(),
            watch: Watch::new(options, rows),
            listing,
            orders: OrderTable::new(),
            window: Window::new(options)?,
            midnight,
            before: 0,
            last: Vec::new(),
            located: HashMap::new(),
            sides: false,
            is_from_begin: false,
            ended: false,
        })
    }

    /// The market has said that no message follows.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Shares of an instrument's orders that were dropped because their numbers were given out again.
    pub(crate) fn displaced(&self, instrument: InstrumentId) -> i64 {
        self.of.get(instrument.0 as usize).map_or(0, |stock| stock.displaced)
    }

    /// Whether the book of an instrument may be crossed now.
    pub(crate) fn may_cross(&self, instrument: InstrumentId) -> bool {
        self.phase(instrument) != TradingPhase::Continuous
    }

    fn phase(&self, instrument: InstrumentId) -> TradingPhase {
        self.of.get(instrument.0 as usize).map_or(TradingPhase::Continuous, Stock::phase)
    }

    fn note(&mut self, row: u64, fault: impl FnOnce() -> Fault) {
        self.watch.note(&self.path, row, fault);
    }

    fn instrument(&self, stock: &Symbol) -> InstrumentId {
        self.listing.get(stock).unwrap_or_default()
    }

    /// Converts message number `row` into an event; `false` when it has none, and is counted. The caller has counted it as read.
    pub(crate) fn apply(
        &mut self,
        row: u64,
        bytes: &[u8],
        message: Message,
        event: &mut SourceEvent,
    ) -> Result<bool, SourceError> {
        let time = self.midnight + message.time;
        let place = self.window.place(time);
        if place == Place::After {
            self.counts.skipped.after_window += 1;
            return Ok(false);
        }
        let before = std::mem::replace(&mut self.before, time);
        if time < before {
            self.counts.off_time += 1;
            self.note(row, || {
                let found = format!("{} ns before the message before it", before - time);
                Fault::new("timestamp", found, "times that never go back")
            });
        }
        if self.last == bytes {
            self.counts.unmatched += 1;
            self.counts.skipped.unknown_order += 1;
            self.note(row, || {
                Fault::new("the message", "the message before it once more", "each message once")
            });
            self.watch.check(&self.counts)?;
            return Ok(false);
        }
        self.last.clear();
        self.last.extend_from_slice(bytes);
        let given = self.convert(row, time, place, message, event);
        self.watch.check(&self.counts)?;
        Ok(given)
    }

    fn convert(
        &mut self,
        row: u64,
        time: u64,
        place: Place,
        message: Message,
        event: &mut SourceEvent,
    ) -> bool {
        let at = (time, row, place);
        let touched = match message.body {
            Body::NoEffect => return self.no_effect(),
            Body::System { event: code } => {
                self.ended |= code == b'C';
                self.is_from_begin |= code == b'O' && row == 1;
                return self.no_effect();
            }
            Body::Directory { stock } => {
                self.locate(row, message.locate, stock);
                return self.no_effect();
            }
            Body::State { stock, phase } => {
                return self.change(stock, at, event, |of| of.state = Some(phase));
            }
            Body::Operation { stock, halts } => {
                return self.change(stock, at, event, |of| of.is_halted = halts);
            }
            Body::Add { order, side, quantity, stock, price } => {
                self.locate(row, message.locate, stock);
                let instrument = self.instrument(&stock);
                self.begin(event, instrument, at);
                self.make_room(row, order, instrument, event);
                self.orders.add(order, Resting { instrument, side, price, remaining: quantity });
                event.push(BookAction::Add, side, order, price, quantity);
                instrument
            }
            Body::Cancel { order, quantity } => {
                let Some(Taken { order: resting, quantity, last, .. }) =
                    self.take(row, message.locate, order, quantity)
                else {
                    return false;
                };
                self.begin(event, resting.instrument, at);
                let action = if last { BookAction::Delete } else { BookAction::Reduce };
                event.push(action, resting.side, order, resting.price, quantity);
                resting.instrument
            }
            Body::Delete { order } => {
                let Some(Taken { order: resting, quantity, .. }) =
                    self.take(row, message.locate, order, i64::MAX)
                else {
                    return false;
                };
                self.begin(event, resting.instrument, at);
                event.push(BookAction::Delete, resting.side, order, resting.price, quantity);
                resting.instrument
            }
            Body::Replace { order, new, quantity, price } => {
                let Some(Taken { order: old, quantity: left, .. }) =
                    self.take(row, message.locate, order, i64::MAX)
                else {
                    return false;
                };
                self.begin(event, old.instrument, at);
                event.push(BookAction::Delete, old.side, order, old.price, left);
                self.make_room(row, new, old.instrument, event);
                self.orders.add(new, Resting { price, remaining: quantity, ..old });
                event.push(BookAction::Add, old.side, new, price, quantity);
                old.instrument
            }
            Body::Execute { order, quantity, price, prints, match_number } => {
                let Some(Taken { order: resting, quantity, .. }) =
                    self.take(row, message.locate, order, quantity)
                else {
                    return false;
                };
                self.begin(event, resting.instrument, at);
                let paid = price.unwrap_or(resting.price);
                self.compare_price(row, resting.instrument, paid);
                event.push(BookAction::Execute, resting.side, order, paid, quantity);
                if prints {
                    event.print(aggressor_against(resting.side), paid, quantity, match_number);
                } else {
                    // Of a cross: its own message has the quantity.
                    event.mark(BookEvent::UNPRINTED | BookEvent::NO_SIDE);
                }
                resting.instrument
            }
            Body::HiddenTrade { side, quantity, stock, price, match_number } => {
                self.locate(row, message.locate, stock);
                let instrument = self.instrument(&stock);
                self.begin(event, instrument, at);
                self.compare_price(row, instrument, price);
                // Since 2014 each is called a purchase: the first one that is not says that the messages are older.
                self.sides |= side == Side::Sell;
                // In a halt, only the cross has no side.
                let has_side = self.sides || event.call_auction;
                let aggressor = if has_side { aggressor_against(side) } else { Aggressor::None };
                event.unseen_trade(aggressor, price, quantity, match_number);
                event.mark(BookEvent::HIDDEN);
                instrument
            }
            Body::Cross { quantity: 0, .. } => return self.no_effect(),
            Body::Cross { quantity, stock, price, match_number } => {
                self.locate(row, message.locate, stock);
                let instrument = self.instrument(&stock);
                self.begin(event, instrument, at);
                if let Some(of) = self.of.get_mut(instrument.0 as usize) {
                    of.last_price = Some(price);
                }
                event.unseen_trade(Aggressor::None, price, quantity, match_number);
                instrument
            }
        };
        if touched == InstrumentId::default() {
            self.counts.skipped.other_symbol += 1;
            return false;
        }
        self.counts.apply(event);
        event.finish()
    }

    fn begin(
        &self,
        event: &mut SourceEvent,
        instrument: InstrumentId,
        (time, row, place): (u64, u64, Place),
    ) {
        event.begin(instrument, time, row, row, place);
        event.call_auction = self.may_cross(instrument);
    }

    /// A stock's state changes, and perhaps its phase.
    fn change(
        &mut self,
        stock: Symbol,
        (time, row, place): (u64, u64, Place),
        event: &mut SourceEvent,
        change: impl FnOnce(&mut Stock),
    ) -> bool {
        let instrument = self.instrument(&stock);
        let Some(of) = self.of.get_mut(instrument.0 as usize).filter(|_| instrument.0 > 0) else {
            return self.no_effect();
        };
        let before = of.phase();
        change(of);
        let phase = of.phase();
        if phase == before {
            return self.no_effect();
        }
        event.begin(instrument, time, row, row, place);
        event.enter(phase);
        self.counts.apply(event);
        event.finish()
    }

    fn no_effect(&mut self) -> bool {
        self.counts.skipped.no_effect += 1;
        false
    }

    /// A stock keeps its locate for the day, and no other has it.
    fn locate(&mut self, row: u64, locate: u16, stock: Symbol) {
        let known = *self.located.entry(locate).or_insert(stock);
        if known != stock {
            self.counts.unmatched += 1;
            self.note(row, || {
                Fault::new("stock locate", format!("{locate} for {stock}"), format!("the number of {known}"))
            });
        }
        let instrument = self.instrument(&stock);
        if instrument != InstrumentId::default()
            && let Some(of) = self.of.get_mut(instrument.0 as usize)
        {
            of.locate.get_or_insert(locate);
        }
    }

    /// Deletes an order whose number is given out again while it rests.
    fn make_room(&mut self, row: u64, order: u64, instrument: InstrumentId, event: &mut SourceEvent) {
        let Some(old) = self.orders.remove(order) else { return };
        self.counts.displaced += 1;
        self.note(row, || Fault::new("order number", order, "a number that is free"));
        if let Some(of) = self.of.get_mut(old.instrument.0 as usize) {
            of.displaced += old.remaining;
        }
        // One of another stock stays in its book, as an event touches one; it is counted.
        if old.instrument == instrument {
            event.push(BookAction::Delete, old.side, order, old.price, old.remaining);
        }
    }

    fn take(&mut self, row: u64, locate: u16, order: u64, quantity: i64) -> Option<Taken> {
        let Some(taken) = self.orders.take(order, quantity) else {
            // It rested from before the first message, or the message that added it is missing.
            self.counts.skipped.unknown_order += 1;
            if self.is_from_begin {
                self.counts.unmatched += 1;
                self.note(row, || {
                    Fault::new(
                        "order number",
                        order,
                        "one that a message before has added (is a message missing?)",
                    )
                });
            }
            return None;
        };
        let instrument = taken.order.instrument;
        if instrument == InstrumentId::default() {
            return Some(taken);
        }
        if taken.excess && quantity != i64::MAX {
            self.counts.excess += 1;
            let expected = format!("at most {}, what is left of the order", taken.order.remaining);
            self.note(row, || Fault::new("shares", quantity, expected));
        }
        let own = self.of.get(instrument.0 as usize).and_then(|of| of.locate);
        if own.is_some_and(|own| own != locate) {
            self.counts.unmatched += 1;
            self.note(row, || {
                Fault::new("stock locate", locate, format!("{}, that of the order", own.unwrap_or_default()))
            });
        }
        Some(taken)
    }

    fn compare_price(&mut self, row: u64, instrument: InstrumentId, price: Price) {
        let Some(of) = self.of.get_mut(instrument.0 as usize) else { return };
        if instrument == InstrumentId::default() {
            return;
        }
        if is_far(price, of.last_price.replace(price)) {
            self.counts.off_price += 1;
            self.note(row, || Fault::new("price", price, "a price near the trade before"));
        }
    }

    /// # Errors
    /// [`SourceError::Irregular`].
    pub(crate) fn crossed(&mut self, event: &SourceEvent) -> Result<(), SourceError> {
        if self.may_cross(event.instrument) {
            return Ok(());
        }
        let path = self.path.clone();
        self.watch.crossed(&mut self.counts, &path, event.row)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// What a first look at the messages finds out: which stocks there are.
pub(crate) struct Look {
    pub(crate) listing: Listing,
}

impl Look {
    pub(crate) fn new(listing: Listing) -> Look {
        Look { listing }
    }

    /// # Errors
    /// Too many instruments.
    pub(crate) fn take(&mut self, body: Body, path: &Path) -> Result<(), SourceError> {
        match body {
            Body::Add { stock, .. } | Body::HiddenTrade { stock, .. } => {
                self.listing.id(stock, path)?;
            }
            Body::Cross { quantity, stock, .. } if quantity > 0 => {
                self.listing.id(stock, path)?;
            }
            Body::Cross { .. }
            | Body::Replace { .. }
            | Body::Execute { .. }
            | Body::Cancel { .. }
            | Body::Delete { .. }
            | Body::Directory { .. }
            | Body::State { .. }
            | Body::Operation { .. }
            | Body::System { .. }
            | Body::NoEffect => {}
        }
        Ok(())
    }
}
