//! What drivers must say, worked out here.

use journal::layout::frame_bytes;

use crate::contents::{Seed, checksum};
use crate::world::CAPACITY;

/// A writer's place, as it must be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) position: u64,
    pub(crate) epoch: u64,
}

/// A frame that must be said. Its time is the writer's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    /// `frame POSITION ID TOPIC FLAGS`.
    before: String,
    /// `EPOCH LENGTH CHECKSUM`.
    behind: String,
    records: Vec<String>,
    pub(crate) position: u64,
}

impl Place {
    fn frame(&mut self, id: u16, topic: u32, record: usize, payload: &[u8]) -> Expected {
        let position = self.position;
        self.position += frame_bytes(payload.len() as u64);
        let records = payload.chunks(record.max(1)).take(if record == 0 { 0 } else { usize::MAX });
        let records = records.enumerate().map(|(index, bytes)| {
            format!("record {} {record} {:016x}", position + 32 + (index * record) as u64, checksum(bytes))
        });
        Expected {
            before: format!("frame {position} {id} {topic} {record}"),
            behind: format!("{} {} {:016x}", self.epoch, payload.len(), checksum(payload)),
            records: records.collect(),
            position,
        }
    }

    /// The frames of `write` and `batch`.
    pub(crate) fn frames(
        &mut self,
        id: u16,
        topic: u32,
        length: usize,
        seed: Seed,
        count: u64,
    ) -> Vec<Expected> {
        (0..count)
            .map(|index| {
                let payload = seed.plus(index).payload(self.position, CAPACITY, length);
                self.frame(id, topic, 0, &payload)
            })
            .collect()
    }

    /// The frame of `records`.
    pub(crate) fn records(
        &mut self,
        id: u16,
        topic: u32,
        size: usize,
        seed: u64,
        count: u64,
    ) -> Vec<Expected> {
        let payload: Vec<u8> =
            (0..count).flat_map(|record| Seed::Number(seed + record).payload(0, 0, size)).collect();
        vec![self.frame(id, topic, size, &payload)]
    }
}

/// Compares what a driver said with what it must say; returns the frames' times.
pub(crate) fn compare(lines: &[String], expected: &[Expected]) -> Result<Vec<u64>, String> {
    let mut times = Vec::new();
    let mut lines = lines.iter();
    for wanted in expected {
        let line = lines.next().ok_or_else(|| format!("nothing instead of `{} …`", wanted.before))?;
        times.push(
            time_of(line, wanted)
                .ok_or_else(|| format!("`{line}` instead of `{} TIME {}`", wanted.before, wanted.behind))?,
        );
        for record in &wanted.records {
            match lines.next() {
                Some(line) if line == record => {}
                other => return Err(format!("{other:?} instead of `{record}`")),
            }
        }
    }
    match lines.next() {
        Some(line) => Err(format!("`{line}` is too much")),
        None if times.is_sorted() => Ok(times),
        None => Err(format!("the times go back: {times:?}")),
    }
}

fn time_of(line: &str, wanted: &Expected) -> Option<u64> {
    let rest = line.strip_prefix(&wanted.before)?.strip_prefix(' ')?;
    rest.strip_suffix(&wanted.behind)?.strip_suffix(' ')?.parse().ok()
}
