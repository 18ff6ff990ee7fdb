//! What a killed predecessor left in `matching.state`: images up to the end of its last whole state, and what it noted behind
//! that. What each image is of, those who ask for it know.

use node::{InstanceDir, OpenError, read_held};
use wire::{Message, StateBegin, StateEnd, WireError};

/// Why there is no state.
#[derive(Debug, thiserror::Error)]
pub(super) enum SavedError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("`{0}` has no complete state")]
    None(String),
    #[error(
        "`{journal}` holds no image of everything any more: those from position {base} on are needed, and it begins at {oldest}; it \
         is too small for its orders, and matching's log says how large it has to be"
    )]
    Overwritten { journal: String, base: u64, oldest: u64 },
    #[error("`{journal}` holds {found} orders and not {expected}")]
    Orders { journal: String, found: usize, expected: u64 },
}

/// What a frame holds, besides the beginning and the end of a state.
pub(super) enum Image<I, O, N> {
    /// An image of an order.
    Order(I),
    /// Of something else.
    Other(O),
    /// No part of the state: said behind it.
    Note(N),
}

/// A whole state, in the order in which it was written.
pub(super) struct Images<I, O, N> {
    pub(super) end: StateEnd,
    /// With their positions.
    pub(super) orders: Vec<(u64, I)>,
    pub(super) others: Vec<(u64, O)>,
    /// Images of orders behind the state, for one that was not completed.
    pub(super) later: Vec<I>,
    /// Behind the state.
    pub(super) notes: Vec<N>,
}

impl<I, O, N> Images<I, O, N> {
    /// Reads the last whole state.
    pub(super) fn read(
        instance: &InstanceDir,
        journal: &str,
        decode: impl Fn(u16, &[u8]) -> Result<Image<I, O, N>, WireError>,
    ) -> Result<Images<I, O, N>, SavedError> {
        let mut written = Written { orders: Vec::new(), others: Vec::new(), notes: Vec::new(), end: None };
        let mut oldest = None;
        let is_whole = read_held(instance, journal, None, |frame| {
            oldest.get_or_insert(frame.position);
            if let Err(error) = written.take(frame.position, frame.message_id, frame.payload, &decode) {
                log::error!("`{journal}` at position {}: {error}", frame.position);
            }
        })?;
        let none = || SavedError::None(journal.to_owned());
        let (end, orders, others) = written.end.filter(|_| is_whole).ok_or_else(none)?;
        let oldest = oldest.unwrap_or(u64::MAX);
        if end.base < oldest {
            return Err(SavedError::Overwritten { journal: journal.to_owned(), base: end.base, oldest });
        }
        let later = written.orders.split_off(orders).into_iter().map(|(_, image)| image).collect();
        written.others.truncate(others);
        Ok(Images { end, orders: written.orders, others: written.others, later, notes: written.notes })
    }
}

/// Images so far.
struct Written<I, O, N> {
    orders: Vec<(u64, I)>,
    others: Vec<(u64, O)>,
    notes: Vec<N>,
    /// The last end, with how many images of each kind came before it.
    end: Option<(StateEnd, usize, usize)>,
}

impl<I, O, N> Written<I, O, N> {
    fn take(
        &mut self,
        position: u64,
        message_id: u16,
        payload: &[u8],
        decode: impl Fn(u16, &[u8]) -> Result<Image<I, O, N>, WireError>,
    ) -> Result<(), WireError> {
        match message_id {
            StateEnd::ID => {
                self.end = Some((StateEnd::decode(payload)?, self.orders.len(), self.others.len()));
                self.notes.clear();
            }
            StateBegin::ID => {
                *self = Written { orders: Vec::new(), others: Vec::new(), notes: Vec::new(), end: None };
            }
            _ => match decode(message_id, payload)? {
                Image::Order(image) => self.orders.push((position, image)),
                Image::Other(image) => self.others.push((position, image)),
                Image::Note(note) => self.notes.push(note),
            },
        }
        Ok(())
    }
}
