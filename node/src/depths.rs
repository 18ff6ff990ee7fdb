//! The latest whole quote of each instrument, kept by md where strategies hear the best alone: readable by any process
//! at any time.
//!
//! md stores a quote here before it publishes the best of it. So a process that has read a `Best` finds its quote, or a
//! later one; never an older one, never a mixture of two ([`journal::Latest`]).

use journal::{Forked, Latest, LatestError, OpenError};
use wire::{InstrumentId, Message, Quote, WireError};

use crate::handle::NodeHandle;
use crate::instance::InstanceDir;

/// The quotes of all instruments.
#[derive(Debug)]
pub struct Depths(Latest);

/// Why there is no depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DepthError {
    /// Nothing of the instrument was published yet.
    #[error("nothing of instrument {0} was published yet")]
    Nothing(InstrumentId),
    /// No instrument has this number.
    #[error("there is no instrument {0}")]
    Unknown(InstrumentId),
    /// This platform keeps no depth.
    #[error("no depth is kept on this platform for strategies that hear neither \"best\" nor \"depth\"")]
    NotKept,
    /// It changed faster than it could be copied.
    #[error("the depth of instrument {0} changed during every attempt to copy it: ask again")]
    Busy(InstrumentId),
    /// This process is a fork of the strategy's.
    #[error(transparent)]
    Forked(#[from] Forked),
    /// What stands there is no quote.
    #[error("the depth of instrument {instrument} cannot be read: {source}")]
    Unreadable {
        /// The instrument.
        instrument: InstrumentId,
        /// What is wrong.
        source: WireError,
    },
}

impl Depths {
    /// The quotes of the node's instance, for storing; those of a predecessor are kept. `topics` are those of the
    /// journal in which the best is published: one more than the greatest instrument.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn keep(node: &NodeHandle, topics: u32) -> Result<Depths, OpenError> {
        Latest::open_or_create(&node.instance.depths(), topics, Quote::SIZE).map(Depths)
    }

    /// The quotes of an instance, for reading; `None` if it keeps none.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn of(instance: &InstanceDir) -> Result<Option<Depths>, OpenError> {
        let path = instance.depths();
        if path.exists() { Latest::open_read_only(&path).map(|read| Some(Depths(read))) } else { Ok(None) }
    }

    /// Stores the latest quote of its instrument. False: it has no place here.
    #[inline]
    pub fn set(&self, quote: &Quote) -> bool {
        self.0.set(quote.instrument.0, quote.bytes())
    }

    /// The latest quote of an instrument.
    ///
    /// # Errors
    /// [`DepthError`].
    #[inline]
    pub fn get(&self, instrument: InstrumentId) -> Result<Quote, DepthError> {
        let mut bytes = [0; Quote::SIZE];
        match self.0.get(instrument.0, &mut bytes) {
            Ok(_) => {}
            Err(LatestError::Empty) => return Err(DepthError::Nothing(instrument)),
            Err(LatestError::NoSuchSlot { .. }) => return Err(DepthError::Unknown(instrument)),
            Err(LatestError::Forked(error)) => return Err(DepthError::Forked(error)),
            Err(LatestError::Busy) => return Err(DepthError::Busy(instrument)),
        }
        Quote::decode(&bytes).map_err(|source| DepthError::Unreadable { instrument, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_quote_of_each_instrument_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let depths = Depths(Latest::open_or_create(&folder.path().join("d"), 4, Quote::SIZE).unwrap());
        let quote = |instrument, sequence| Quote { sequence, ..Quote::empty(InstrumentId(instrument)) };
        assert_eq!(depths.get(InstrumentId(2)), Err(DepthError::Nothing(InstrumentId(2))));
        for sequence in 1..=3 {
            assert!(depths.set(&quote(2, sequence)) && depths.set(&quote(3, sequence + 10)));
            assert_eq!(depths.get(InstrumentId(2)), Ok(quote(2, sequence)));
        }
        assert_eq!(depths.get(InstrumentId(4)), Err(DepthError::Unknown(InstrumentId(4))));
        assert!(!depths.set(&quote(4, 1)));
    }
}
