//! Reads the state that a killed predecessor left in `matching.state`.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use node::InstanceDir;
use wire::{
    DueTime, InstrumentId, MarketImage, Message, NewestOrder, OrderImage, Quantity, StateEnd, Statistics,
    WireError,
};

use super::images::{Image, Images, SavedError};
use super::keeper::Places;
use crate::engine::IdMap;

/// A whole state.
#[derive(Debug)]
pub(super) struct Saved {
    pub(super) end: StateEnd,
    pub(super) orders: Vec<OrderImage>,
    /// Where the last image of each of them is, and of everything else.
    pub(super) places: Places,
    pub(super) markets: BTreeMap<InstrumentId, MarketImage>,
    pub(super) statistics: BTreeMap<InstrumentId, Statistics>,
    pub(super) newest: BTreeMap<u16, NewestOrder>,
    /// What was done behind it because it was due.
    pub(super) due: Vec<DueTime>,
}

enum Other {
    Market(MarketImage),
    Statistics(Statistics),
    Newest(NewestOrder),
}

fn decode(id: u16, payload: &[u8]) -> Result<Image<OrderImage, Other, DueTime>, WireError> {
    Ok(match id {
        OrderImage::ID => Image::Order(OrderImage::decode(payload)?),
        MarketImage::ID => Image::Other(Other::Market(MarketImage::decode(payload)?)),
        Statistics::ID => Image::Other(Other::Statistics(Statistics::decode(payload)?)),
        NewestOrder::ID => Image::Other(Other::Newest(NewestOrder::decode(payload)?)),
        DueTime::ID => Image::Note(DueTime::decode(payload)?),
        id => return Err(WireError::UnknownId { id }),
    })
}

impl Saved {
    /// Reads the last whole state.
    pub(super) fn read(instance: &InstanceDir, journal: &str) -> Result<Saved, SavedError> {
        let images = Images::read(instance, journal, decode)?;
        let end = images.end;
        let orders = last_of_each(images.orders, end.orders);
        let mut saved = Saved {
            end,
            places: Places {
                orders: orders.iter().map(|(at, image)| (image.order_id.0, *at)).collect(),
                ..Places::default()
            },
            orders: orders.into_iter().map(|(_, image)| image).collect(),
            markets: BTreeMap::new(),
            statistics: BTreeMap::new(),
            newest: BTreeMap::new(),
            due: images.notes,
        };
        for (at, other) in images.others {
            match other {
                Other::Market(image) => {
                    saved.places.instruments.insert(image.instrument, at);
                    saved.markets.insert(image.instrument, image);
                }
                // They follow the image of their instrument.
                Other::Statistics(image) => drop(saved.statistics.insert(image.instrument, image)),
                Other::Newest(image) => {
                    let strategy = image.order_id.strategy();
                    saved.places.strategies.insert(strategy, at);
                    saved.newest.insert(strategy.0, image);
                }
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
fn last_of_each(images: Vec<(u64, OrderImage)>, expected: u64) -> Vec<(u64, OrderImage)> {
    let mut known: IdMap<()> = IdMap::default();
    known.reserve(images.len());
    let mut last = Vec::with_capacity(images.len().min(expected as usize));
    for (at, image) in images.iter().rev() {
        if let Entry::Vacant(entry) = known.entry(image.order_id.0) {
            entry.insert(());
            if image.open > Quantity::ZERO {
                last.push((*at, *image));
            }
        }
    }
    last
}
