//! What shows itself only to who looks while it happens: who sleeps, and how far behind readers are.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use super::Timeline;
use super::event::{Event, Shape};
use super::packet::Unit;

/// One look at a running platform.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// When it began.
    pub time: u64,
    /// When it was over.
    pub over: u64,
    /// The nodes.
    pub seats: Vec<SeatLook>,
    /// The readers; empty where nobody looked at them this time.
    pub lags: Vec<Lag>,
}

/// A node at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatLook {
    /// Its name.
    pub node: Arc<str>,
    /// Its word says that it sleeps.
    pub is_asleep: bool,
    /// Sleeps that have ended, and frames that were read: the same in two looks if it did nothing in between.
    pub done: [u64; 3],
    /// Sleeps that somebody has ended.
    pub wakes: u64,
}

/// A reader at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lag {
    /// The journal.
    pub journal: String,
    /// The node that reads it.
    pub node: String,
    /// How far it is behind.
    pub bytes: u64,
}

#[derive(Debug, Default)]
pub(super) struct Looks {
    sleeps: HashMap<Arc<str>, Sleep>,
    lags: HashMap<(String, String), u64>,
}

/// A node as it was seen last.
#[derive(Debug)]
struct Sleep {
    done: [u64; 3],
    wakes: u64,
    /// Looks that saw it asleep, and nothing done in between: the first and the last.
    asleep: Option<(u64, u64)>,
    /// Its slice has begun.
    begun: Option<u64>,
}

impl<W: Write> Timeline<W> {
    /// Shows what a look has found. Looks come in order of time.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn look(&mut self, look: &Look) -> io::Result<()> {
        self.newest = self.newest.max(look.time);
        for seat in &look.seats {
            self.look_at(look, seat)?;
        }
        for lag in &look.lags {
            let whose = (lag.journal.clone(), lag.node.clone());
            if self.looks.lags.get(&whose).copied().unwrap_or(0) == lag.bytes {
                continue;
            }
            let name = format!("{} behind in {}", lag.node, lag.journal);
            let track = self.tracks.grouped("lag", &name, Some(Unit::Bytes), &mut self.sink)?;
            let value = i64::try_from(lag.bytes).unwrap_or(i64::MAX);
            self.push(look.time, Event::new(track, Shape::Counter(value), ""));
            self.looks.lags.insert(whose, lag.bytes);
        }
        Ok(())
    }

    fn look_at(&mut self, look: &Look, seat: &SeatLook) -> io::Result<()> {
        let time = look.time;
        let known = self.looks.sleeps.remove(&seat.node);
        let is_same = known.as_ref().is_some_and(|known| known.done == seat.done);
        let wakes = known.as_ref().map_or(0, |known| known.wakes);
        let mut sleep = known.unwrap_or(Sleep { done: seat.done, wakes: 0, asleep: None, begun: None });
        if !(seat.is_asleep && is_same) {
            self.end_sleep(&mut sleep);
        }
        sleep.asleep = match (seat.is_asleep, sleep.asleep) {
            (false, _) => None,
            (true, Some((first, _))) => Some((first, time)),
            // Between the two times of this look it was asleep at some moment: from its end on, for sure.
            (true, None) => Some((look.over, look.over)),
        };
        if let Some((first, last)) = sleep.asleep
            && last > first
            && sleep.begun.is_none()
        {
            let track = self.tracks.beside(&seat.node, "asleep", None, &mut self.sink)?;
            let event = Event::new(track, Shape::Begin, "asleep").of("sleep");
            if self.push(first, event).is_some() {
                sleep.begun = Some(track);
            }
        }
        if seat.wakes != wakes {
            let track = self.tracks.beside(&seat.node, "wake-ups", Some(Unit::Count), &mut self.sink)?;
            let value = i64::try_from(seat.wakes).unwrap_or(i64::MAX);
            self.push(time, Event::new(track, Shape::Counter(value), ""));
        }
        sleep.done = seat.done;
        sleep.wakes = seat.wakes;
        self.looks.sleeps.insert(Arc::clone(&seat.node), sleep);
        Ok(())
    }

    /// It was seen asleep up to the look before.
    fn end_sleep(&mut self, sleep: &mut Sleep) {
        if let (Some(track), Some((_, last))) = (sleep.begun.take(), sleep.asleep) {
            self.held.push(last.max(self.held.settled()), 0, Event::end(track));
        }
        sleep.asleep = None;
    }

    pub(super) fn end_looks(&mut self) {
        let mut sleeps = std::mem::take(&mut self.looks.sleeps);
        sleeps.values_mut().for_each(|sleep| self.end_sleep(sleep));
    }
}
