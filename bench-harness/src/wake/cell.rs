//! One policy at one rate.

use std::time::Duration;

use hdrhistogram::Histogram;
use journal::{Clock, Writer};

use super::process::{Peer, Usage};
use super::reader::{Heard, Interest};
use super::share::{END, NEWS, Share, seat, word};
use super::{Policy, WakeSettings};
use crate::ipc::{IpcError, system};

/// A sleeping writer wakes this long before a message is due: a timer's lateness must not count as the message's.
const UP_BEFORE: u64 = 200_000;
/// Pause before the first message, in which readers go to sleep.
const SETTLE: u64 = 30_000_000;

/// Greater times, in nanoseconds, count as this.
const LONGEST: u64 = 600_000_000_000;

/// The result of one cell.
#[derive(Debug)]
pub(super) struct CellResult {
    /// Time of each write in the writer.
    pub(super) write_ns: Histogram<u64>,
    /// From a message's due time until its reader had it.
    pub(super) latency_ns: Histogram<u64>,
    /// From a message's due time until the writer began to write it.
    pub(super) lateness_ns: Histogram<u64>,
    pub(super) messages: u64,
    /// Duration of the schedule.
    pub(super) seconds: f64,
    pub(super) wakes: u64,
    pub(super) switches: u64,
    pub(super) reader_cpu_ns: u64,
    pub(super) timeouts_with_data: u64,
}

pub(super) fn histogram() -> Result<Histogram<u64>, IpcError> {
    Histogram::new_with_bounds(1, LONGEST, 3)
        .map_err(|error| system("count times")(std::io::Error::other(error)))
}

pub(super) fn measure(
    settings: &WakeSettings,
    share: &Share,
    (policy, rate): (Policy, u64),
    readers: &mut [Peer],
    relay: &mut Peer,
) -> Result<CellResult, IpcError> {
    let interest = if policy == Policy::Broadcast { Interest::Everything } else { Interest::Own };
    readers.iter_mut().try_for_each(|reader| reader.tell(&interest))?;
    for reader in readers.iter_mut() {
        let _: bool = reader.hear()?;
    }
    share.floor.set(word::RELAY_STOP, 0);
    if policy == Policy::Relay {
        relay.tell(&true)?;
        let _: bool = relay.hear()?;
    }
    let news = share.journal("news")?;
    let (before, wakes) = (usage(readers), news.stat().wakes);
    let mut writer = share.writer("news", seat::WRITER)?;
    let mut result = write(settings, share, &mut writer, (policy, rate))?;
    let after = usage(readers);
    result.wakes = news.stat().wakes - wakes;
    result.switches = after.switches - before.switches;
    result.reader_cpu_ns = after.cpu_ns - before.cpu_ns;
    if policy == Policy::Relay {
        share.floor.set(word::RELAY_STOP, 1);
        result.wakes += relay.hear::<u64>()?;
    }
    for topic in 0..settings.readers as u32 {
        writer.write(END, topic, b"")?;
    }
    for reader in readers.iter_mut() {
        let heard: Heard = reader.hear()?;
        result.timeouts_with_data += heard.timeouts_with_data;
        for latency in heard.latencies {
            result.latency_ns.saturating_record(latency);
        }
    }
    Ok(result)
}

/// A cell without sleepers.
pub(super) fn hosted(
    settings: &WakeSettings,
    share: &Share,
    rate: u64,
    host: &mut Peer,
) -> Result<CellResult, IpcError> {
    let news = share.journal("news")?;
    for reader in 0..settings.readers as u32 {
        news.set_interest(seat::READERS + reader, Some(&[]))?;
    }
    host.tell(&true)?;
    let _: bool = host.hear()?;
    let (before, wakes) = (host.usage(), news.stat().wakes);
    let mut writer = share.writer("news", seat::WRITER)?;
    let mut result = write(settings, share, &mut writer, (Policy::Hosted, rate))?;
    let after = host.usage();
    result.wakes = news.stat().wakes - wakes;
    result.switches = after.switches - before.switches;
    result.reader_cpu_ns = after.cpu_ns - before.cpu_ns;
    for topic in 0..settings.readers as u32 {
        writer.write(END, topic, b"")?;
    }
    let heard: Heard = host.hear()?;
    heard.latencies.into_iter().for_each(|latency| result.latency_ns.saturating_record(latency));
    Ok(result)
}

fn usage(readers: &[Peer]) -> Usage {
    readers.iter().map(Peer::usage).fold(Usage::default(), |sum, usage| Usage {
        cpu_ns: sum.cpu_ns + usage.cpu_ns,
        switches: sum.switches + usage.switches,
    })
}

/// Writes by the schedule until its time is over.
fn write(
    settings: &WakeSettings,
    share: &Share,
    writer: &mut Writer,
    (policy, rate): (Policy, u64),
) -> Result<CellResult, IpcError> {
    let clock = share.clock;
    let (mut write_ns, mut lateness_ns) = (histogram()?, histogram()?);
    let start = clock.now() + SETTLE;
    let end = start + settings.cell_ms * 1_000_000;
    let mut messages = 0_u64;
    loop {
        let due = start + messages * 1_000_000_000 / rate;
        if due >= end || clock.now() >= end {
            break;
        }
        wait_until(clock, due, policy != Policy::Mixed);
        // Neighbours in time are not neighbours in the table.
        let topic = (messages * 37 % settings.readers as u64) as u32;
        let begin = clock.now();
        writer.write(NEWS, topic, &due.to_le_bytes())?;
        write_ns.saturating_record(clock.now() - begin);
        lateness_ns.saturating_record(begin.saturating_sub(due));
        messages += 1;
    }
    // The last messages are still under way.
    std::thread::sleep(Duration::from_millis(20));
    Ok(CellResult {
        write_ns,
        latency_ns: histogram()?,
        lateness_ns,
        messages,
        seconds: (end - start) as f64 / 1e9,
        wakes: 0,
        switches: 0,
        reader_cpu_ns: 0,
        timeouts_with_data: 0,
    })
}

fn wait_until(clock: Clock, due: u64, sleeps: bool) {
    let left = due.saturating_sub(clock.now());
    if sleeps && left > UP_BEFORE {
        std::thread::sleep(Duration::from_nanos(left - UP_BEFORE));
    }
    while clock.now() < due {
        std::hint::spin_loop();
    }
}
