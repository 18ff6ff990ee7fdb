//! Ping-pong: the bare word and the journals, block by block.

use std::hint::black_box;

use bench_kit::Spread;
use hdrhistogram::Histogram;
use journal::{Clock, GatedReader, Writer};
use serde::{Deserialize, Serialize};

use super::parts::{Parts, SEAT, word};
use super::rendezvous::{arrive, meet};
use super::watch::Watch;
use super::{IpcError, IpcSettings, PAYLOADS};

/// Round trips at the start of a block that are not counted: the lines come from where the last block left them.
const WARM_UP: usize = 200;
/// Limit of "near": a longer one-way time of the bare word goes through more than the cores' own cache.
const NEAR_NS: f64 = 110.0;
/// Round trips of the bare floor between two readings of the clock, and such stretches after a block of the floor.
const BARE_TRIPS: usize = 100;
const BARE_STRETCHES: usize = 10;
/// The floor's word uses one line per direction: see [`word::bounced`].
pub(super) const FLOOR_LINES: usize = 2;

/// The relative placement of the two cores, according to the bare word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// The blocks of the floor before and after were both fast.
    Near,
    /// Both were slow.
    Far,
    /// They differed: the host moved the cores meanwhile.
    Mixed,
}

/// One payload, in one placement. All times are one-way, half of a round trip.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PingRow {
    /// Payload of each message.
    pub payload_bytes: usize,
    /// Median of the bare word in the blocks next to these, with one reading of the clock a round trip, like the
    /// journal.
    pub floor_p50_ns: f64,
    /// Its 99th percentile.
    pub floor_p99_ns: f64,
    /// Its 99.9th percentile.
    pub floor_p999_ns: f64,
    /// Its largest.
    pub floor_max_ns: f64,
    /// Median of the bare word without a reading of the clock: means of a hundred round trips.
    pub floor_bare_p50_ns: f64,
    /// Median of the journal.
    pub journal_p50_ns: f64,
    /// 99th percentile.
    pub journal_p99_ns: f64,
    /// 99.9th percentile.
    pub journal_p999_ns: f64,
    /// Largest.
    pub journal_max_ns: f64,
    /// Median over the rounds of the ratio of the two medians of one round.
    pub ratio_p50: f64,
    /// The same, with the floor that does not read the clock.
    pub ratio_bare_p50: f64,
    /// Placement of the cores.
    pub placement: Placement,
    /// Round trips.
    pub samples: u64,
    /// Rounds.
    pub rounds: usize,
}

/// Round trips of one block, in nanoseconds.
struct Block {
    times: Vec<u64>,
    /// One-way.
    median: f64,
    /// One-way means of stretches without a reading of the clock; only for the floor.
    bare: Vec<f64>,
}

impl Block {
    fn of(times: Vec<u64>) -> Block {
        let mut sorted = times.clone();
        sorted.sort_unstable();
        let median = sorted.get(sorted.len() / 2).map_or(0.0, |&time| time as f64 / 2.0);
        Block { times, median, bare: Vec::new() }
    }
}

/// Both directions of one side.
struct Lines {
    writer: Writer,
    reader: GatedReader,
}

fn lines(parts: &Parts, to: &str, from: &str, seat: u32) -> Result<Lines, IpcError> {
    Ok(Lines { reader: parts.journal(from)?.gated(seat)?, writer: parts.writer(to, seat)? })
}

/// The measuring side.
pub(super) fn measure(
    settings: &IpcSettings,
    parts: &Parts,
    progress: impl Fn(f64) -> Result<(), IpcError>,
) -> Result<Vec<PingRow>, IpcError> {
    let mut lines = lines(parts, "ping", "pong", SEAT)?;
    let mut watch = Watch::default();
    meet(parts, 1, 1, &mut watch)?;
    let (mut floors, mut journals) = (Vec::new(), Vec::new());
    let mut bounced = 0;
    for round in 0..settings.rounds {
        floors.push(floor(parts, &mut bounced, settings.trips, &mut watch)?);
        for payload in PAYLOADS {
            journals.push(match payload {
                32 => journal::<32>(&mut lines, parts.clock, settings.trips, &mut watch)?,
                64 => journal::<64>(&mut lines, parts.clock, settings.trips, &mut watch)?,
                128 => journal::<128>(&mut lines, parts.clock, settings.trips, &mut watch)?,
                _ => journal::<1024>(&mut lines, parts.clock, settings.trips, &mut watch)?,
            });
            floors.push(floor(parts, &mut bounced, settings.trips, &mut watch)?);
        }
        progress((round + 1) as f64 / settings.rounds as f64)?;
    }
    Ok(rows(&floors, &journals))
}

/// A block of the bare word.
fn floor(parts: &Parts, bounced: &mut u64, trips: usize, watch: &mut Watch) -> Result<Block, IpcError> {
    let mut times = Vec::with_capacity(trips);
    let mut before = parts.clock.now();
    for trip in 0..trips + WARM_UP {
        *bounced += 1;
        let (to_peer, to_us) = word::bounced(*bounced);
        parts.floor.set(to_peer, *bounced);
        while parts.floor.get(to_us) != *bounced {
            watch.idle()?;
        }
        watch.news();
        let now = parts.clock.now();
        if trip >= WARM_UP {
            times.push(now.saturating_sub(before));
        }
        before = now;
    }
    let mut bare = Vec::with_capacity(BARE_STRETCHES);
    for _ in 0..BARE_STRETCHES {
        let begin = parts.clock.now();
        for _ in 0..BARE_TRIPS {
            *bounced += 1;
            let (to_peer, to_us) = word::bounced(*bounced);
            parts.floor.set(to_peer, *bounced);
            while parts.floor.get(to_us) != *bounced {
                watch.idle()?;
            }
            watch.news();
        }
        bare.push((parts.clock.now() - begin) as f64 / BARE_TRIPS as f64 / 2.0);
    }
    Ok(Block { bare, ..Block::of(times) })
}

/// A block of journal round trips. The time of a frame is also the end of the round trip before it.
fn journal<const BYTES: usize>(
    lines: &mut Lines,
    clock: Clock,
    trips: usize,
    watch: &mut Watch,
) -> Result<Block, IpcError> {
    let mut times = Vec::with_capacity(trips);
    let mut payload = [0x5a; BYTES];
    let mut before = 0;
    for trip in 0..trips + WARM_UP {
        payload[..8].copy_from_slice(&(trip as u64).to_le_bytes());
        let written = lines.writer.write(1, 0, black_box::<&[u8; BYTES]>(&payload))?;
        if trip > WARM_UP {
            times.push(written.time - before);
        }
        before = written.time;
        let answer = take::<BYTES>(&mut lines.reader, watch)?;
        if answer != payload {
            let found = answer.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            return Err(IpcError::Mixed { expected: trip as u64, found });
        }
    }
    times.push(clock.now().saturating_sub(before));
    Ok(Block::of(times))
}

/// The next message, copied out completely.
#[inline(always)]
fn take<const BYTES: usize>(reader: &mut GatedReader, watch: &mut Watch) -> Result<[u8; BYTES], IpcError> {
    loop {
        if let Some(frame) = reader.read()? {
            watch.news();
            let payload: &[u8; BYTES] = frame.payload.first_chunk().unwrap_or(&[0; BYTES]);
            return Ok(black_box(*payload));
        }
        watch.idle()?;
    }
}

/// The answering side.
pub(super) fn answer(
    settings: &IpcSettings,
    parts: &Parts,
    seat: u32,
    watch: &mut Watch,
) -> Result<(), IpcError> {
    let mut lines = lines(parts, "pong", "ping", seat)?;
    arrive(parts, 0, 1, watch)?;
    let mut bounced = 0;
    for _ in 0..settings.rounds {
        answer_floor(parts, &mut bounced, settings.trips, watch)?;
        for payload in PAYLOADS {
            match payload {
                32 => answer_journal::<32>(&mut lines, settings.trips, watch)?,
                64 => answer_journal::<64>(&mut lines, settings.trips, watch)?,
                128 => answer_journal::<128>(&mut lines, settings.trips, watch)?,
                _ => answer_journal::<1024>(&mut lines, settings.trips, watch)?,
            }
            answer_floor(parts, &mut bounced, settings.trips, watch)?;
        }
    }
    Ok(())
}

fn answer_floor(parts: &Parts, bounced: &mut u64, trips: usize, watch: &mut Watch) -> Result<(), IpcError> {
    for _ in 0..trips + WARM_UP + BARE_TRIPS * BARE_STRETCHES {
        *bounced += 1;
        let (to_peer, to_us) = word::bounced(*bounced);
        while parts.floor.get(to_peer) != *bounced {
            watch.idle()?;
        }
        watch.news();
        parts.floor.set(to_us, *bounced);
    }
    Ok(())
}

fn answer_journal<const BYTES: usize>(
    lines: &mut Lines,
    trips: usize,
    watch: &mut Watch,
) -> Result<(), IpcError> {
    for _ in 0..trips + WARM_UP {
        let payload = take::<BYTES>(&mut lines.reader, watch)?;
        lines.writer.write(2, 0, &payload)?;
    }
    Ok(())
}

/// `journals` holds one block for each payload of each round; `floors` one more for each round.
fn rows(floors: &[Block], journals: &[Block]) -> Vec<PingRow> {
    let mut rows = Vec::new();
    for (index, payload_bytes) in PAYLOADS.into_iter().enumerate() {
        for placement in [Placement::Near, Placement::Far, Placement::Mixed] {
            let mut gathered = Gathered::default();
            for (floors, journals) in floors.chunks(PAYLOADS.len() + 1).zip(journals.chunks(PAYLOADS.len())) {
                let (before, journal, after) = (&floors[index], &journals[index], &floors[index + 1]);
                if placement_of(before.median, after.median) == placement {
                    gathered.add(before, journal, after);
                }
            }
            rows.extend(gathered.row(payload_bytes, placement));
        }
    }
    rows
}

fn placement_of(before: f64, after: f64) -> Placement {
    match (before <= NEAR_NS, after <= NEAR_NS) {
        (true, true) => Placement::Near,
        (false, false) => Placement::Far,
        _ => Placement::Mixed,
    }
}

/// All rounds of one row.
#[derive(Default)]
struct Gathered {
    floor: Vec<u64>,
    journal: Vec<u64>,
    bare: Vec<f64>,
    ratios: Vec<f64>,
    bare_ratios: Vec<f64>,
}

impl Gathered {
    fn add(&mut self, before: &Block, journal: &Block, after: &Block) {
        self.floor.extend(before.times.iter().chain(&after.times));
        self.journal.extend(&journal.times);
        self.ratios.push(journal.median / ((before.median + after.median) / 2.0));
        let bare = || before.bare.iter().chain(&after.bare).copied();
        self.bare.extend(bare());
        self.bare_ratios.extend(Spread::of(bare()).map(|bare| journal.median / bare.median));
    }

    fn row(self, payload_bytes: usize, placement: Placement) -> Option<PingRow> {
        let ratio = Spread::of(self.ratios.iter().copied())?;
        let (bare, bare_ratio) = (Spread::of(self.bare)?, Spread::of(self.bare_ratios)?);
        let (floor, journal) = (histogram(&self.floor)?, histogram(&self.journal)?);
        // Half of a round trip.
        let one_way = |times: &Histogram<u64>, quantile: f64| times.value_at_quantile(quantile) as f64 / 2.0;
        Some(PingRow {
            payload_bytes,
            floor_p50_ns: one_way(&floor, 0.5),
            floor_p99_ns: one_way(&floor, 0.99),
            floor_p999_ns: one_way(&floor, 0.999),
            floor_max_ns: floor.max() as f64 / 2.0,
            floor_bare_p50_ns: bare.median,
            journal_p50_ns: one_way(&journal, 0.5),
            journal_p99_ns: one_way(&journal, 0.99),
            journal_p999_ns: one_way(&journal, 0.999),
            journal_max_ns: journal.max() as f64 / 2.0,
            ratio_p50: ratio.median,
            ratio_bare_p50: bare_ratio.median,
            placement,
            samples: journal.len(),
            rounds: ratio.runs,
        })
    }
}

fn histogram(times: &[u64]) -> Option<Histogram<u64>> {
    let mut histogram = Histogram::new(3).ok()?;
    for &time in times {
        histogram.record(time).ok()?;
    }
    Some(histogram)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_near_and_far_are_told_apart_and_each_divided_by_its_own_floor() {
        let block = |time: u64| Block { bare: vec![time as f64 * 0.75], ..Block::of(vec![2 * time; 10]) };
        // Two rounds near, one far: the journal always takes 1.5 times its own round's floor.
        let (mut floors, mut journals) = (Vec::new(), Vec::new());
        for floor in [60, 80, 280] {
            floors.extend((0..=PAYLOADS.len()).map(|_| block(floor)));
            journals.extend(PAYLOADS.map(|_| block(floor * 3 / 2)));
        }
        let rows = rows(&floors, &journals);
        assert_eq!(rows.len(), 2 * PAYLOADS.len());
        for row in rows {
            assert!((row.ratio_p50 - 1.5).abs() < 1e-9, "{row:?}");
            assert!((row.ratio_bare_p50 - 2.0).abs() < 1e-9, "{row:?}");
            assert!(row.journal_max_ns >= row.journal_p999_ns && row.floor_max_ns >= row.floor_p999_ns);
            assert_eq!(row.rounds, if row.placement == Placement::Near { 2 } else { 1 });
        }
        assert_eq!(placement_of(60.0, 280.0), Placement::Mixed);
    }
}
