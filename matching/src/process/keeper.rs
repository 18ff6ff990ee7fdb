//! Writes the state of the books into `matching.state`, for the successor of a process that is killed.
//!
//! An exchange is a function of its requests, their times, and of when it did what time alone causes. So its state is that
//! of some request, and the requests behind it: the state is written in images of what has changed, when there is nothing
//! else to do, and completed by a [`StateEnd`]; the requests behind it are kept in `td.orders`. What time causes is
//! announced in a [`DueTime`] before it is done.
//!
//! Beside a recorded or quoted market the books are a function of the market's messages, the requests, and of how these
//! follow each other. So the market's messages behind the state are kept too, and how far the market was read is written
//! in a [`MarketRead`] before a request is carried out.
//!
//! The ring goes round. So besides what has changed, everything is written again whose last image lies half a ring behind, the
//! oldest first: [`StateEnd::base`] says where the oldest is. A successor knows from what it read where each image is, and goes
//! on with the same order: however short its life, what it has renewed counts.

use std::collections::{HashMap, VecDeque};

use node::{Output, WriteError};
use wire::{
    DueTime, InstrumentId, MarketRead, Message, Nanos, NewestOrder, StateBegin, StateEnd, StrategyId,
};

use super::changes::Changes;
use crate::engine::UsedIds;

/// Orders that are written in one turn that has nothing else to do.
const IDLE: usize = 16;
/// What has an image so many parts of the ring behind is written again: one of two.
const RENEWED: u64 = 2;
/// Of that, what is written again may be so many parts of ten: the rest is room for what changes.
const MOST_RENEWED: u64 = 9;
/// An end comes after each part of so many while that is done: what the end before needs stays in the ring.
const PIECES: u64 = 64;
/// Bytes of an image of an order in the ring.
const IMAGE: u64 = node::frame_bytes(128);
/// The next end comes when the base of the last one is so many quarters of the ring behind.
const BEHIND: u64 = 3;
/// The next end comes at the latest when this part of a ring was used since the last one.
const LATEST: u64 = 4;
/// When there is time, it comes when this part of a ring was used.
const EARLY: u64 = 16;

/// The next end comes at the latest after so many announcements, or when they take up a sixteenth of the ring.
const ANNOUNCED: u64 = 4_096;
const FEW: u64 = 16 * 64;

/// Where the process is in the journals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    /// Position in `td.orders` of the last request.
    pub(super) request: u64,
    /// Position in `matching.executions` of what is written next, and frames before it.
    pub(super) execution: u64,
    pub(super) executions: u64,
    /// Position in `matching.market` of what is written next, or in the market's journal of what was read last.
    pub(super) market: u64,
}

/// Something of which there is an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Item {
    /// The order at a place, if one is there.
    Place(u32),
    Instrument(InstrumentId),
    Strategy(StrategyId),
}

/// Where the last image of each thing is: of an order by its [`Kept::key`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) orders: HashMap<u64, u64>,
    pub(super) instruments: HashMap<InstrumentId, u64>,
    pub(super) strategies: HashMap<StrategyId, u64>,
}

/// Whose state is written.
pub(super) trait Kept {
    /// An order as it stands.
    type Image: Message;
    /// Number of orders that have changed, those that are counted several times included.
    fn changed(&self) -> usize;
    /// Moves up to `most` of the orders that have changed into `images`.
    fn take_changed(&mut self, most: usize, images: &mut Vec<Self::Image>);
    /// The image found no room.
    fn not_written(&mut self, image: &Self::Image);
    /// What else has changed.
    fn changes(&mut self) -> &mut Changes;
    /// The instruments: how many, and by number.
    fn listed(&self) -> usize;
    fn instrument(&self, number: usize) -> InstrumentId;
    /// Counts this among what has changed.
    fn again(&mut self, item: Item);
    /// Numbers that strategies have used.
    fn used(&self) -> &UsedIds;
    /// Places of orders.
    fn places(&self) -> usize;
    /// By what the order at a place is known in [`Places`], if one is there.
    fn key(&self, place: u32) -> Option<u64>;
    /// Writes what there is of an instrument besides its orders.
    fn market(&mut self, instrument: InstrumentId, send: Send<'_>) -> Written;
    /// Orders of which there are images.
    fn orders(&self) -> usize;
    /// The end of a state.
    fn end(&self, reached: &Reached, base: u64) -> StateEnd;
    /// Where images are gathered.
    fn buffer(&mut self) -> &mut Vec<Self::Image>;
}

/// Writes a message: its id and its bytes.
pub(super) type Send<'a> = &'a mut dyn FnMut(u16, &[u8]) -> Written;

/// Bytes of the rings of requests, executions and market data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rings {
    pub(super) orders: u64,
    pub(super) executions: u64,
    pub(super) market: u64,
}

/// Writes the state.
#[derive(Debug)]
pub(super) struct Keeper {
    output: Output,
    rings: Rings,
    /// Of the last end; where this journal ended then, and the base that it names.
    ended: Reached,
    ended_at: u64,
    ended_base: u64,
    /// There is no end yet that a successor could begin from.
    is_new: bool,
    /// Everything, with a position from which on there is an image of it: the oldest first.
    aged: VecDeque<(u64, Item)>,
    /// How many instruments, seats and places are in it.
    known: (usize, usize, usize),
    /// Announcements since the last end.
    announced: u64,
    /// Bytes that the ring needs, where it is too small.
    needs: u64,
}

/// Whether something found room; what did not is to be written later.
pub(super) type Written = Result<bool, WriteError>;

impl Keeper {
    /// One that has written nothing yet.
    pub(super) fn new(output: Output, rings: Rings) -> Keeper {
        let begun = output.position();
        Keeper {
            output,
            rings,
            ended: Reached::default(),
            ended_at: begun,
            ended_base: begun,
            is_new: true,
            aged: VecDeque::new(),
            known: (0, 0, 0),
            announced: 0,
            needs: 0,
        }
    }

    /// Says that all that was written is void.
    pub(super) fn begin(&mut self, generation: u64) -> Written {
        (self.ended_at, self.ended_base) = (self.output.position(), self.output.position());
        (self.is_new, self.known) = (true, (0, 0, 0));
        self.aged.clear();
        self.send(&StateBegin { generation })
    }

    /// Goes on behind what predecessors wrote, which is at these places.
    pub(super) fn resume<K: Kept>(&mut self, kept: &K, places: &Places) {
        self.know(kept);
        for (at, item) in &mut self.aged {
            let found = match item {
                Item::Place(place) => kept.key(*place).and_then(|key| places.orders.get(&key)),
                Item::Instrument(instrument) => places.instruments.get(instrument),
                Item::Strategy(strategy) => places.strategies.get(strategy),
            };
            *at = found.copied().unwrap_or(*at);
        }
        self.aged.make_contiguous().sort_by_key(|(at, _)| *at);
        self.ended_base = self.base();
    }

    /// From here on there is an image of everything.
    fn base(&self) -> u64 {
        self.aged.front().map_or(self.output.position(), |(at, _)| *at)
    }

    /// Takes in what was not there before: it has changed, so its first image comes behind this position.
    fn know<K: Kept>(&mut self, kept: &K) {
        let (listed, seats, places) = (kept.listed(), kept.used().seats(), kept.places());
        let instruments = (self.known.0..listed).map(|number| Item::Instrument(kept.instrument(number)));
        let strategies = (self.known.1..seats).map(|seat| Item::Strategy(StrategyId(seat as u16)));
        let orders = (self.known.2..places).map(|place| Item::Place(place as u32));
        let at = self.output.position();
        self.aged.extend(instruments.chain(strategies).chain(orders).map(|item| (at, item)));
        self.known = (listed, seats, places);
    }

    /// Whether it has written a whole state. Nothing is taken before: a successor would find requests and answers, and no books.
    pub(super) fn has_state(&self) -> bool {
        !self.is_new
    }

    /// Name of its journal.
    pub(super) fn journal(&self) -> &str {
        &self.output.journal
    }

    /// Announces what time causes now. It may be done only when this was written.
    pub(super) fn announce(&mut self, request: u64, time: Nanos) -> Written {
        self.announced += 1;
        self.send(&DueTime { request, time: time.0 })
    }

    /// Says how far the market is read when a request is carried out. It may be carried out only when this was written.
    pub(super) fn read(&mut self, request: u64, market: u64) -> Written {
        self.announced += 1;
        self.send(&MarketRead { request, market })
    }

    /// Whether an end must be written now.
    pub(super) fn is_due(&self, reached: &Reached) -> bool {
        self.is_new
            || self.announced >= (self.output.capacity / FEW).min(ANNOUNCED)
            || self.has_used(reached, LATEST)
            || self.is_behind()
    }

    /// Whether a successor that knew the base of the last end alone would soon find that overwritten. One more end that could
    /// name no later one is enough for a while.
    fn is_behind(&self) -> bool {
        let (position, ring) = (self.output.position(), self.output.capacity);
        position - self.ended_base >= ring / 4 * BEHIND && position - self.ended_at >= ring / EARLY
    }

    /// Whether there is something to write when there is time.
    pub(super) fn has_work<K: Kept>(&self, kept: &K, reached: &Reached) -> bool {
        kept.changed() > 0 || self.is_old() || self.has_used(reached, EARLY)
    }

    /// Whether so large a part of a ring was used since the last end.
    fn has_used(&self, reached: &Reached, part: u64) -> bool {
        let Rings { orders, executions, market } = self.rings;
        let used = |now: u64, then: u64, ring: u64| now.saturating_sub(then) >= ring / part;
        used(reached.request, self.ended.request, orders)
            || used(reached.execution, self.ended.execution, executions)
            || used(reached.market, self.ended.market, market)
    }

    /// Writes some of what has changed; once nothing is left and enough was done, an end. True after an end: the requests
    /// before it are needed no more.
    pub(super) fn idle<K: Kept>(&mut self, kept: &mut K, reached: &Reached) -> Written {
        if kept.changed() > 0 || self.is_old() {
            self.renew(kept, IDLE);
            self.orders(kept, IDLE)?;
            return Ok(false);
        }
        if self.has_used(reached, EARLY) { self.end(kept, reached) } else { Ok(false) }
    }

    /// Writes all that has changed, and the end. Everything that was answered must be written.
    pub(super) fn end<K: Kept>(&mut self, kept: &mut K, reached: &Reached) -> Written {
        let piece = (self.output.capacity / PIECES / IMAGE).max(1) as usize;
        // Each thing once at most: where images are larger than reckoned, the oldest would be old again before the last is written,
        // and requests wait meanwhile.
        for _ in 0..=self.aged.len() / piece {
            self.renew(kept, piece);
            if !self.end_piece(kept, reached)? {
                return Ok(false);
            }
            if !self.is_old() {
                break;
            }
        }
        self.check_room(kept);
        Ok(true)
    }

    fn end_piece<K: Kept>(&mut self, kept: &mut K, reached: &Reached) -> Written {
        if !self.orders(kept, usize::MAX)? {
            return Ok(false);
        }
        while let Some(strategy) = kept.changes().take_strategy() {
            if !self.strategy(kept, strategy)? {
                kept.changes().strategy(strategy);
                return Ok(false);
            }
        }
        while let Some(instrument) = kept.changes().take_instrument() {
            if !self.market(kept, instrument)? {
                kept.changes().instrument(instrument);
                return Ok(false);
            }
        }
        let base = self.base();
        if !self.send(&kept.end(reached, base))? {
            return Ok(false);
        }
        (self.ended, self.is_new, self.announced) = (*reached, false, 0);
        (self.ended_at, self.ended_base) = (self.output.position(), base);
        Ok(true)
    }

    /// Bytes that the ring needs; zero while it is large enough.
    pub(super) fn needs(&self) -> u64 {
        self.needs
    }

    /// Whether the images leave room for changes: a ring that is too small would hold repeated images alone.
    fn fits(&self) -> bool {
        self.aged.len() as u64 * IMAGE <= self.output.capacity / RENEWED / 10 * MOST_RENEWED
    }

    /// Whether the oldest image is to be written again.
    fn is_old(&self) -> bool {
        let is_old = |(at, _): &(u64, Item)| self.output.position() - at >= self.output.capacity / RENEWED;
        self.aged.front().is_some_and(is_old) && self.fits()
    }

    /// Counts up to `most` things whose images are too old among those that have changed.
    fn renew<K: Kept>(&mut self, kept: &mut K, most: usize) {
        self.know(kept);
        for _ in 0..most {
            if !self.is_old() {
                break;
            }
            if let Some((_, item)) = self.aged.pop_front() {
                kept.again(item);
                self.aged.push_back((self.output.position(), item));
            }
        }
    }

    fn check_room<K: Kept>(&mut self, kept: &K) {
        let (position, ring) = (self.output.position(), self.output.capacity);
        if position - self.base() >= ring && self.needs == 0 {
            let all = self.aged.len() as u64;
            let need = (all * IMAGE * RENEWED * 10 / MOST_RENEWED).max(ring + 1).next_power_of_two();
            log::warn!(
                "`{}` is too small for images of {} orders, {all} things in all: if this process is killed, the orders of \
                 strategies are cancelled; set journal.matching.state.capacity to {need} bytes or more",
                self.output.journal,
                kept.orders(),
            );
            self.needs = need;
        }
    }

    /// Writes up to `most` of the orders that have changed.
    fn orders<K: Kept>(&mut self, kept: &mut K, most: usize) -> Written {
        let mut images = std::mem::take(kept.buffer());
        kept.take_changed(most, &mut images);
        let (written, outcome) = self.send_images(&images);
        // What found no room has still changed.
        images[written..].iter().for_each(|image| kept.not_written(image));
        *kept.buffer() = images;
        outcome
    }

    fn send_images<I: Message>(&mut self, images: &[I]) -> (usize, Written) {
        if images.is_empty() {
            return (0, Ok(true));
        }
        let images = images.iter().map(|image| (I::ID, image.bytes()));
        let (written, outcome) = self.output.send_all(0, images, |_| true);
        (written, is_written(outcome))
    }

    fn strategy<K: Kept>(&mut self, kept: &K, strategy: StrategyId) -> Written {
        match kept.used().newest(strategy) {
            Some(order_id) => self.send(&NewestOrder { order_id }),
            None => Ok(true),
        }
    }

    fn market<K: Kept>(&mut self, kept: &mut K, instrument: InstrumentId) -> Written {
        let output = &mut self.output;
        kept.market(instrument, &mut |id, bytes| is_written(output.send_bytes(id, 0, bytes).map(drop)))
    }

    fn send<M: Message>(&mut self, message: &M) -> Written {
        is_written(self.output.send(0, message).map(drop))
    }
}

fn is_written(outcome: Result<(), WriteError>) -> Written {
    match outcome {
        Ok(()) => Ok(true),
        Err(WriteError::Full { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
