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
//! The ring goes round. So besides what has changed, everything else is written in turn, fast enough that the last two
//! rounds over all of it are in the ring: [`StateEnd::base`] says where the first of them begins.

use node::{Output, WriteError};
use wire::{
    DueTime, InstrumentId, MarketRead, Message, Nanos, NewestOrder, StateBegin, StateEnd, StrategyId,
};

use super::changes::Changes;
use crate::engine::UsedIds;

/// Orders that are written in one turn that has nothing else to do.
const IDLE: usize = 16;
/// Orders that are written in turn at a time.
const SWEPT: usize = 64;
/// A round over everything takes at most two of so many parts of the ring.
const PARTS: u64 = 5;
/// Bytes of an image of an order in the ring.
const IMAGE: u64 = 128;
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
    /// The instruments, by number.
    fn listed(&self) -> usize;
    /// Counts the instrument with this number among those that have changed.
    fn list_again(&mut self, number: usize);
    /// Numbers that strategies have used.
    fn used(&self) -> &UsedIds;
    /// Places of orders.
    fn places(&self) -> usize;
    /// The order at a place, if one is there.
    fn image_at(&self, place: usize) -> Option<Self::Image>;
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
    /// Of the last end.
    ended: Reached,
    /// There is no end yet that a successor could begin from.
    is_new: bool,
    /// From here on there is an image of everything.
    base: u64,
    /// Where the round over everything began, and what it writes next.
    round: u64,
    next: usize,
    /// Announcements since the last end.
    announced: u64,
    /// The ring is too small, and it was said so.
    is_small: bool,
}

/// Whether something found room; what did not is to be written later.
pub(super) type Written = Result<bool, WriteError>;

impl Keeper {
    /// One that has written nothing yet.
    pub(super) fn new(output: Output, rings: Rings) -> Keeper {
        let round = output.position();
        Keeper {
            output,
            rings,
            ended: Reached::default(),
            is_new: true,
            base: round,
            round,
            next: 0,
            announced: 0,
            is_small: false,
        }
    }

    /// Says that all that was written is void.
    pub(super) fn begin(&mut self, generation: u64) -> Written {
        (self.base, self.round, self.next) = (self.output.position(), self.output.position(), 0);
        self.is_new = true;
        self.send(&StateBegin { generation })
    }

    /// Goes on behind what a predecessor wrote, with everything from position `base` on.
    pub(super) fn resume(&mut self, base: u64) {
        self.base = base;
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
    }

    /// Whether there is something to write when there is time.
    pub(super) fn has_work<K: Kept>(&self, kept: &K, reached: &Reached) -> bool {
        kept.changed() > 0 || self.has_used(reached, EARLY)
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
        if kept.changed() > 0 {
            if self.orders(kept, IDLE)? {
                self.sweep(kept, SWEPT)?;
            }
            return Ok(false);
        }
        if self.has_used(reached, EARLY) { self.end(kept, reached) } else { Ok(false) }
    }

    /// Writes all that has changed, and the end. Everything that was answered must be written.
    pub(super) fn end<K: Kept>(&mut self, kept: &mut K, reached: &Reached) -> Written {
        if !(self.orders(kept, usize::MAX)? && self.sweep(kept, usize::MAX)?) {
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
        let end = kept.end(reached, self.base);
        if !self.send(&end)? {
            return Ok(false);
        }
        (self.ended, self.is_new, self.announced) = (*reached, false, 0);
        self.check_room(kept);
        Ok(true)
    }

    fn check_room<K: Kept>(&mut self, kept: &K) {
        let position = self.output.position();
        if position - self.base >= self.output.capacity && !std::mem::replace(&mut self.is_small, true) {
            log::warn!(
                "`{}` is too small for {} orders: if this process is killed, those of strategies are cancelled; set \
                 journal.matching.state.capacity to more than {} bytes",
                self.output.journal,
                kept.orders(),
                self.output.capacity
            );
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

    /// Writes on in the round over everything, as far as it should have come by now and up to `most` places.
    fn sweep<K: Kept>(&mut self, kept: &mut K, most: usize) -> Written {
        let (listed, seats) = (kept.listed(), kept.used().seats());
        let all = listed + seats + kept.places();
        let round = self.output.capacity / PARTS * 2;
        let come = u128::from(self.output.position() - self.round) * all as u128 / u128::from(round);
        // Beyond that, what is written in turn would be most of what is written.
        let fits = all as u64 * IMAGE <= round / 4 * 3;
        let come = if fits { come } else { 0 };
        let until = all.min(come.min(all as u128) as usize).min(self.next.saturating_add(most));
        let mut images = std::mem::take(kept.buffer());
        images.clear();
        while self.next < until {
            let next = self.next;
            if next < listed {
                kept.list_again(next);
            } else if next < listed + seats {
                kept.changes().strategy(StrategyId((next - listed) as u16));
            } else {
                images.extend(kept.image_at(next - listed - seats));
            }
            self.next += 1;
        }
        let begun = self.output.position();
        let (written, outcome) = self.send_images(&images);
        images[written..].iter().for_each(|image| kept.not_written(image));
        *kept.buffer() = images;
        if self.next >= all && come >= all as u128 {
            (self.base, self.round, self.next) = (self.round, begun, 0);
        }
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
