//! Reads the state that a killed predecessor left in `matching.state`.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use node::{InstanceDir, OpenError, read_held};
use wire::{
    DueTime, InstrumentId, MarketImage, Message, NewestOrder, OrderImage, Quantity, StateBegin, StateEnd,
    Statistics, WireError,
};

use crate::engine::IdMap;

/// A whole state.
#[derive(Debug)]
pub(super) struct Saved {
    pub(super) end: StateEnd,
    pub(super) orders: Vec<OrderImage>,
    pub(super) markets: BTreeMap<InstrumentId, MarketImage>,
    pub(super) statistics: BTreeMap<InstrumentId, Statistics>,
    pub(super) newest: BTreeMap<u16, NewestOrder>,
    /// What was done behind it because it was due.
    pub(super) due: Vec<DueTime>,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(super) enum SavedError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("`{0}` has no complete state")]
    None(String),
    #[error("`{journal}` is too small: images from position {base} on are needed, and it begins at {oldest}")]
    Overwritten { journal: String, base: u64, oldest: u64 },
    #[error("`{journal}` holds {found} orders and not {expected}")]
    Orders { journal: String, found: usize, expected: u64 },
}

/// Images in the order in which they were written.
#[derive(Default)]
struct Images {
    orders: Vec<OrderImage>,
    others: Vec<Other>,
    /// The last end, with how many images of each kind came before it.
    end: Option<(StateEnd, usize, usize)>,
    due: Vec<DueTime>,
}

enum Other {
    Market(MarketImage),
    Statistics(Statistics),
    Newest(NewestOrder),
}

impl Images {
    fn take(&mut self, message_id: u16, payload: &[u8]) -> Result<(), WireError> {
        match message_id {
            OrderImage::ID => self.orders.push(OrderImage::decode(payload)?),
            MarketImage::ID => self.others.push(Other::Market(MarketImage::decode(payload)?)),
            Statistics::ID => self.others.push(Other::Statistics(Statistics::decode(payload)?)),
            NewestOrder::ID => self.others.push(Other::Newest(NewestOrder::decode(payload)?)),
            StateEnd::ID => {
                self.end = Some((StateEnd::decode(payload)?, self.orders.len(), self.others.len()));
                self.due.clear();
            }
            DueTime::ID => self.due.push(DueTime::decode(payload)?),
            StateBegin::ID => *self = Images::default(),
            id => return Err(WireError::UnknownId { id }),
        }
        Ok(())
    }
}

impl Saved {
    /// Reads the last whole state.
    pub(super) fn read(instance: &InstanceDir, journal: &str) -> Result<Saved, SavedError> {
        let mut images = Images::default();
        let mut oldest = None;
        let is_whole = read_held(instance, journal, None, |frame| {
            oldest.get_or_insert(frame.position);
            if let Err(error) = images.take(frame.message_id, frame.payload) {
                log::error!("`{journal}` at position {}: {error}", frame.position);
            }
        })?;
        let none = || SavedError::None(journal.to_owned());
        let (end, orders, others) = images.end.take().filter(|_| is_whole).ok_or_else(none)?;
        let oldest = oldest.unwrap_or(u64::MAX);
        if end.base < oldest {
            return Err(SavedError::Overwritten { journal: journal.to_owned(), base: end.base, oldest });
        }
        images.orders.truncate(orders);
        images.others.truncate(others);
        let mut saved = Saved {
            end,
            orders: last_of_each(images.orders, end.orders),
            markets: BTreeMap::new(),
            statistics: BTreeMap::new(),
            newest: BTreeMap::new(),
            due: images.due,
        };
        for other in images.others {
            match other {
                Other::Market(image) => drop(saved.markets.insert(image.instrument, image)),
                Other::Statistics(image) => drop(saved.statistics.insert(image.instrument, image)),
                Other::Newest(image) => drop(saved.newest.insert(image.order_id.strategy().0, image)),
            }
        }
        let found = saved.orders.len();
        if found as u64 != end.orders {
            return Err(SavedError::Orders { journal: journal.to_owned(), found, expected: end.orders });
        }
        Ok(saved)
    }
}

/// The last image of each order that works.
fn last_of_each(images: Vec<OrderImage>, expected: u64) -> Vec<OrderImage> {
    let mut known: IdMap<()> = IdMap::default();
    known.reserve(images.len());
    let mut last = Vec::with_capacity(images.len().min(expected as usize));
    for image in images.iter().rev() {
        if let Entry::Vacant(entry) = known.entry(image.order_id.0) {
            entry.insert(());
            if image.open > Quantity::ZERO {
                last.push(*image);
            }
        }
    }
    last
}
