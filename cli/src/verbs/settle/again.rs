//! A settlement that has taken place, from what the journals still have of it.

use accounts::{Applied, Follower, Settlement};
use node::InstanceDir;
use topology::DeskSection;
use wire::fold::DeskReader;
use wire::{DeskPart, Message, Nanos};

use crate::desk::{self, DROPS, SNAPSHOTS, Source};
use crate::failure::Failure;

/// What the settlement of a day that is settled came to, if the journals still have it.
pub(super) fn again(
    instance: &InstanceDir,
    section: Option<&DeskSection>,
    day: u32,
) -> Result<Option<Settlement>, Failure> {
    let source = Source::Live(instance.clone());
    let mut base = None;
    if let Some(mut stream) = source.stream(SNAPSHOTS, 0)? {
        let mut reader = DeskReader::new();
        while let Some(seen) = stream.next()? {
            let Ok(part) = DeskPart::decode(&seen.payload) else { continue };
            let made = reader.take(&part).and_then(|bytes| Follower::restore(&bytes).ok());
            match made {
                Some(made) if made.desk.settled_day() < day => base = Some(made),
                Some(_) => break,
                None => {}
            }
        }
    }
    let from = base.as_ref().map_or(0, |base| base.contained.drops.saturating_sub(1));
    let Some(mut drops) = source.stream(DROPS, from)? else { return Ok(None) };
    let mut follower = match base {
        // What was overwritten is a fault of the stream below.
        Some(base) => base,
        None if drops.is_at_begin()? => Follower::new(desk::options(section)),
        None => return Ok(None),
    };
    loop {
        let seen = match drops.next() {
            Ok(Some(seen)) => seen,
            Ok(None) | Err(desk::Fault::Overwritten(_)) => return Ok(None),
            Err(fault) => return Err(fault.into()),
        };
        let at = (seen.position, seen.topic, Nanos(seen.time));
        if let Ok(followed) = follower.frame(at, seen.id, &seen.payload)
            && let Some(Applied::Settled(settlement)) = followed.applied
            && follower.desk.settled_day() == day
        {
            return Ok(Some(settlement));
        }
    }
}
