//! Wakes seats in place of the writers.
//!
//! It sees a frame, makes a full fence, and looks at the words of those of its seats that want the topic. It stores
//! nothing that a parker looks at; `docs/waiting.md` says why that is enough.
//!
//! Writers do not notify the seats of a relay: they need neither fence nor system call. The relay takes seats over with
//! a bit each in the registry, after it follows their journals; it gives them back by clearing the bit, announcing that
//! to all writers ([`announce`]), and waking each seat once.

use std::sync::Arc;

use crate::error::{OpenError, ReadError};
use crate::files::control::{Bits, Control};
use crate::files::registry::Registry;
use crate::layout::{MAX_SEATS, registry as at};
use crate::ring::journal::Journal;
use crate::ring::reader::LooseReader;
use crate::sync::{Ordering, fence};
use crate::wait::relayed::give_back;
use crate::wait::{wake, wake_after_fence};

/// Words of a set of seats.
const SEAT_WORDS: usize = MAX_SEATS as usize / 64;
/// Frames of one journal that are read before the interested seats are woken.
const BURST: usize = 32;

/// A set of seats.
type Seats = [u64; SEAT_WORDS];

/// Wakes those of its seats that sleep and want a new frame. One thread polls it.
#[derive(Debug)]
pub struct Relay {
    registry: Arc<Registry>,
    own: u32,
    seats: Seats,
    journals: Vec<Followed>,
}

#[derive(Debug)]
struct Followed {
    control: Arc<Control>,
    reader: LooseReader,
}

/// A journal that a relay cannot follow any further; its seats must be given back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("journal `{journal}`: {source}")]
pub struct RelayError {
    /// Its name.
    pub journal: String,
    /// What the relay found there.
    pub source: ReadError,
}

impl Relay {
    /// A relay in seat `own` for `seats`, following nothing yet. `None` when one of the seats does not exist or the
    /// registry is mapped read-only.
    pub fn new(registry: Arc<Registry>, own: u32, seats: &[u32]) -> Option<Relay> {
        if !registry.is_writable() || seats.iter().chain([&own]).any(|&seat| seat >= registry.seats()) {
            return None;
        }
        let mut set = [0; SEAT_WORDS];
        for &seat in seats {
            set[seat as usize / 64] |= 1 << (seat % 64);
        }
        Some(Relay { registry, own, seats: set, journals: Vec::new() })
    }

    /// Follows a journal from its head on. All journals of its seats must be followed before the seats are taken over.
    ///
    /// # Errors
    /// As [`Journal::observe`].
    pub fn follow(&mut self, journal: &Journal) -> Result<(), OpenError> {
        let reader = journal.observe(journal.head())?;
        self.journals.push(Followed { control: Arc::clone(&journal.control), reader });
        Ok(())
    }

    /// Number of journals that it follows.
    pub fn journals(&self) -> usize {
        self.journals.len()
    }

    /// From now on writers leave the seats to this relay, including those that were given back meanwhile. Each is woken
    /// once: a writer may have committed before we followed its journal, and check only now who wakes the seat.
    pub fn take_over(&self) {
        for seat in members(&self.seats) {
            if !self.registry.is_notified_by(seat, at::NOTIFY_RELAY) {
                // The owner first: once the bit is set, a process that finds us dead must know which seats we had.
                self.registry.relay(seat).store(u64::from(self.own), Ordering::SeqCst);
                self.registry.set_notified_by(seat, at::NOTIFY_RELAY, true);
                wake(&self.registry, seat);
            }
        }
    }

    /// Makes writers wake the seats of the relay in seat `own` again: for a relay that ends, and for a process that
    /// finds it dead. Returns the number of seats.
    pub fn give_back(registry: &Registry, own: u32) -> usize {
        let all: Vec<u32> = (0..registry.seats()).collect();
        give_back(registry, &all, own)
    }

    /// Looks at every journal once. Returns the number of seats woken.
    ///
    /// # Errors
    /// [`RelayError`]: a journal is damaged.
    #[inline]
    pub fn poll(&mut self) -> Result<u64, RelayError> {
        let mut woken = 0;
        for followed in &mut self.journals {
            if followed.reader.has_news() {
                let wanted = followed.look(&self.seats)?;
                // SYNC: relay. Between the looks at the journal and at the words.
                fence(Ordering::SeqCst);
                let journal = followed.control.shape().id;
                for seat in members(&wanted) {
                    woken += u64::from(wake_after_fence(&self.registry, seat, Some(journal)));
                }
            }
        }
        Ok(woken)
    }
}

impl Followed {
    /// The seats among `seats` that want a new frame.
    fn look(&mut self, seats: &Seats) -> Result<Seats, RelayError> {
        let mut wanted = [0; SEAT_WORDS];
        for _ in 0..BURST {
            match self.reader.read() {
                Ok(Some(frame)) => self.control.add_interested(frame.topic, seats, &mut wanted),
                Ok(None) => break,
                // The overwritten frames may have had any topic: wake all.
                Err(ReadError::Lapped(_)) => {
                    for topic in 0..self.control.shape().topics {
                        self.control.add_interested(topic, seats, &mut wanted);
                    }
                }
                Err(source) => {
                    return Err(RelayError { journal: self.control.shape().name.clone(), source });
                }
            }
        }
        Ok(wanted)
    }
}

impl Control {
    /// Adds those of `seats` that want `topic` to `wanted`.
    #[inline]
    fn add_interested(&self, topic: u32, seats: &Seats, wanted: &mut Seats) {
        if topic >= self.shape().topics {
            return;
        }
        for (((_, row), own), wanted) in self.interest(topic).zip(seats).zip(wanted) {
            *wanted |= row.load(Ordering::Relaxed) & own;
        }
    }
}

/// The seats of a set, ascending.
fn members(seats: &Seats) -> impl Iterator<Item = u32> + '_ {
    seats.iter().enumerate().flat_map(|(index, &word)| Bits(word).map(move |bit| index as u32 * 64 + bit))
}
