//! What is taken is refused.

use super::Bench;
use super::bench::{READER, read, write};
use crate::contents::Seed;

pub(super) fn taken(bench: &Bench<'_>) -> Result<(), String> {
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let mut reader = bench.reader(place.position)?;
    for driver in [bench.producer, bench.consumer] {
        if driver.can(&["write"]) {
            bench.open(driver)?.refused("writer 2", "writer-exists")?;
        }
        if driver.can(&["gate"]) {
            let mut other = bench.open(driver)?;
            other.refused(format!("gate {READER}"), "seat-taken")?;
            other.refused("gate 64", "no-such-seat")?;
            // A refusal took nothing: the next seat is free.
            other.expect("gate 9", &place.position.to_string())?;
        }
        if driver.can(&["loose"]) {
            let mut other = bench.open(driver)?;
            other.refused(format!("loose {READER} head"), "seat-taken")?;
            other.refused("loose - 65", "no-such-position")?;
        }
    }
    writer.refused("write 1 16 0 0", "no-such-topic")?;
    writer.refused("write 1 0 8161 0", "too-large")?;
    writer.refused("nonsense", "usage")?;
    let (frames, said) = write(&mut writer, &mut place, (51, 1), 40, Seed::Number(1), 3)?;
    read(&mut reader, &frames, &said.lines, place.position)
}
