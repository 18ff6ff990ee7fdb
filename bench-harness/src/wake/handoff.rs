//! Two processes that wake each other: over journals, and with a bare futex.

use std::sync::Arc;
use std::time::Duration;

use bench_kit::Spread;
use journal::wait::{Parker, SAFETY_TIMEOUT, Wakeup};
use journal::{Clock, GatedReader, Writer};
use serde::{Deserialize, Serialize};

use super::WakeSettings;
use super::process::Peer;
use super::share::{NEWS, PATIENCE, Share, seat, word};
use crate::ipc::IpcError;

/// Round trips at the start of a block that are not counted.
const WARM_UP: usize = 20;

/// From the wake-up of a sleeper until it has the message: one way, half of a round trip.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Handoff {
    /// A word, a futex, nothing else; median.
    pub futex_floor_p50_ns: f64,
    /// A message over a journal to a parked reader; median.
    pub journal_p50_ns: f64,
    /// Median over the rounds of the ratio of the two medians of one round.
    pub ratio_p50: f64,
}

/// One side.
struct Side<'a> {
    share: &'a Share,
    writer: Writer,
    reader: GatedReader,
    parker: Parker,
    /// Word that the other side sleeps on, and ours.
    words: (usize, usize),
}

impl<'a> Side<'a> {
    fn new(share: &'a Share, is_ping: bool) -> Result<Side<'a>, IpcError> {
        let (own, to, from, words) = match is_ping {
            true => (seat::PING, "ping", "pong", (word::TO_PONG, word::TO_PING)),
            false => (seat::PONG, "pong", "ping", (word::TO_PING, word::TO_PONG)),
        };
        let no_seat = || IpcError::Peer("has no seat".to_owned());
        let incoming = share.journal(from)?;
        let reader = incoming.gated(own)?;
        incoming.set_interest(own, None)?;
        journal::wait::announce(&share.registry);
        let parker = Parker::new(Arc::clone(&share.registry), own).ok_or_else(no_seat)?;
        Ok(Side { share, writer: share.writer(to, own)?, reader, parker, words })
    }

    fn tell_futex(&self, number: u64) {
        self.share.floor.set(self.words.0, number);
        self.share.floor.wake(self.words.0);
    }

    fn await_futex(&self, number: u64) -> Result<(), IpcError> {
        let mut silent = Duration::ZERO;
        loop {
            let found = self.share.floor.get(self.words.1);
            if found >= number {
                return Ok(());
            }
            if self.share.floor.sleep(self.words.1, found as u32, SAFETY_TIMEOUT) {
                silent += SAFETY_TIMEOUT;
                patient(silent)?;
            }
        }
    }

    fn tell(&mut self, number: u64) -> Result<(), IpcError> {
        self.writer.write(NEWS, 0, &number.to_le_bytes())?;
        Ok(())
    }

    fn hear(&mut self, number: u64) -> Result<(), IpcError> {
        let mut silent = Duration::ZERO;
        loop {
            if let Some(frame) = self.reader.read()? {
                let found = frame.payload.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                return if found == number {
                    Ok(())
                } else {
                    Err(IpcError::Mixed { expected: number, found })
                };
            }
            let wakeup = self.parker.park(SAFETY_TIMEOUT, || self.reader.has_news());
            if wakeup == Some(Wakeup::TimedOut) {
                silent += SAFETY_TIMEOUT;
                patient(silent)?;
            }
        }
    }
}

fn patient(silent: Duration) -> Result<(), IpcError> {
    if silent < PATIENCE { Ok(()) } else { Err(IpcError::Peer("said nothing".to_owned())) }
}

/// Median one-way time of a block of round trips, in nanoseconds.
fn block(
    clock: Clock,
    trips: usize,
    mut trip: impl FnMut() -> Result<(), IpcError>,
) -> Result<f64, IpcError> {
    let mut times = Vec::with_capacity(trips);
    for number in 0..trips + WARM_UP {
        let begin = clock.now();
        trip()?;
        if number >= WARM_UP {
            times.push((clock.now() - begin) as f64 / 2.0);
        }
    }
    Ok(Spread::of(times).map_or(0.0, |spread| spread.median))
}

/// The measuring side.
pub(super) fn measure(
    settings: &WakeSettings,
    share: &Share,
    pong: &mut Peer,
    progress: impl Fn(f64) -> Result<(), IpcError>,
) -> Result<Handoff, IpcError> {
    pong.tell(&(settings.handoff_rounds, settings.handoff_trips))?;
    let mut side = Side::new(share, true)?;
    let (mut futex, mut journal, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let (mut bounced, mut written) = (0, 0);
    for round in 0..settings.handoff_rounds {
        let bare = block(share.clock, settings.handoff_trips, || {
            bounced += 1;
            side.tell_futex(bounced);
            side.await_futex(bounced)
        })?;
        let ours = block(share.clock, settings.handoff_trips, || {
            written += 1;
            side.tell(written)?;
            side.hear(written)
        })?;
        futex.push(bare);
        journal.push(ours);
        ratios.push(ours / bare);
        progress((round + 1) as f64 / settings.handoff_rounds as f64)?;
    }
    let median = |figures: Vec<f64>| Spread::of(figures).map_or(0.0, |spread| spread.median);
    Ok(Handoff {
        futex_floor_p50_ns: median(futex),
        journal_p50_ns: median(journal),
        ratio_p50: median(ratios),
    })
}

/// The answering side.
pub(super) fn answer((rounds, trips): (usize, usize), share: &Share) -> Result<(), IpcError> {
    let mut side = Side::new(share, false)?;
    let (mut bounced, mut written) = (0, 0);
    for _ in 0..rounds {
        for _ in 0..trips + WARM_UP {
            bounced += 1;
            side.await_futex(bounced)?;
            side.tell_futex(bounced);
        }
        for _ in 0..trips + WARM_UP {
            written += 1;
            side.hear(written)?;
            side.tell(written)?;
        }
    }
    Ok(())
}
