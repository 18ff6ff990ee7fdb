//! What can be asked of an exchange, as data.

use wire::{InstrumentId, Nanos};

use super::venue::Venue;
use crate::exchange::{Event, Filter, MassCancelled, Order, Phase, Replace};

#[allow(clippy::large_enum_variant, reason = "a test holds a few hundred of them")]
#[derive(Clone, Debug)]
pub(super) enum Operation {
    Submit(Order),
    Cancel(u64),
    Replace(Replace),
    MassCancel(Filter),
    SetPhase(InstrumentId, Phase),
    Schedule(InstrumentId, Vec<(Nanos, Phase)>),
    Advance(Nanos),
}

/// What a call gives back beside its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Nothing,
    Listed(bool),
    MassCancelled(MassCancelled),
}

impl Operation {
    pub(super) fn put<V: Venue>(&self, venue: &mut V) -> (Answer, Vec<Event>) {
        match self {
            Operation::Submit(order) => (Answer::Nothing, venue.submit(order)),
            Operation::Cancel(id) => (Answer::Nothing, venue.cancel(*id)),
            Operation::Replace(request) => (Answer::Nothing, venue.replace(request)),
            Operation::MassCancel(filter) => {
                let (cancelled, events) = venue.mass_cancel(filter);
                (Answer::MassCancelled(cancelled), events)
            }
            Operation::SetPhase(instrument, phase) => {
                let (listed, events) = venue.set_phase(*instrument, *phase);
                (Answer::Listed(listed), events)
            }
            Operation::Schedule(instrument, phases) => {
                (Answer::Listed(venue.schedule(*instrument, phases.clone())), Vec::new())
            }
            Operation::Advance(now) => (Answer::Nothing, venue.advance(*now)),
        }
    }
}
