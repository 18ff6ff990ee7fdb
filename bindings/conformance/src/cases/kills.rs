//! Writers and readers that end, in good order and not, and who comes after them.

use super::Bench;
use super::bench::{read, write};
use crate::contents::Seed;
use crate::discovery::Driver;
use crate::expected::Place;
use crate::process::Process;

/// The writer's state, as the reader sees it.
fn state(reader: &mut Process, place: &Place, state: &str) -> Result<(), String> {
    reader.expect("state", &format!("{} {state} {}", place.epoch, place.position))
}

/// Who writes after the producer: it again, and the consumer where it can.
fn successors<'a>(bench: &Bench<'a>) -> Vec<&'a Driver> {
    let mut successors = vec![bench.producer];
    if bench.consumer.can(&["write"]) && bench.consumer.language != bench.producer.language {
        successors.push(bench.consumer);
    }
    successors
}

pub(super) fn epoch(bench: &Bench<'_>) -> Result<(), String> {
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let mut reader = bench.reader(place.position)?;
    for successor in successors(bench).into_iter().cycle().take(4) {
        state(&mut reader, &place, "attached")?;
        let seed = Seed::Number(place.epoch);
        let (frames, said) = write(&mut writer, &mut place, (41, 1), 70, seed, 3)?;
        read(&mut reader, &frames, &said.lines, place.position)?;
        writer.quit()?;
        state(&mut reader, &place, "closed")?;
        let epoch = place.epoch;
        (writer, place) = bench.writer(successor)?;
        if place.epoch != epoch + 1 {
            return Err(format!("epoch {} behind {epoch}", place.epoch));
        }
    }
    Ok(())
}

/// Kills a writer in the middle of what `half` begins; what it did not commit does not exist.
fn killed(bench: &Bench<'_>, half: &str) -> Result<(), String> {
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let mut reader = bench.reader(place.position)?;
    for successor in successors(bench).into_iter().cycle().take(3) {
        let seed = Seed::Number(place.epoch);
        let (frames, said) = write(&mut writer, &mut place, (42, 1), 70, seed, 2)?;
        // Whoever can begins something that it does not end.
        if successor.can(&["half", "batch"]) && writer.numbers(half)? != [place.position] {
            return Err(format!("`{half}` does not begin at {}", place.position));
        }
        read(&mut reader, &frames, &said.lines, place.position)?;
        writer.kill()?;
        state(&mut reader, &place, "dead")?;
        read(&mut reader, &[], &[], place.position)?;
        let before = place;
        (writer, place) = bench.writer(successor)?;
        if (place.position, place.epoch) != (before.position, before.epoch + 1) {
            return Err(format!("{place:?} behind {before:?}"));
        }
        let (frames, said) = write(&mut writer, &mut place, (43, 2), 300, Seed::Forged, 3)?;
        read(&mut reader, &frames, &said.lines, place.position)?;
    }
    Ok(())
}

pub(super) fn killed_frame(bench: &Bench<'_>) -> Result<(), String> {
    killed(bench, "half frame 44 1 500 7")
}

pub(super) fn killed_batch(bench: &Bench<'_>) -> Result<(), String> {
    killed(bench, "half batch 44 1 100 7 6")
}

pub(super) fn killed_reader(bench: &Bench<'_>) -> Result<(), String> {
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let mut reader = bench.reader(place.position)?;
    let (frames, said) = write(&mut writer, &mut place, (45, 1), 96, Seed::Number(3), 60)?;
    let mut done = 0;
    for _ in 0..5 {
        let answer = reader.said("next 9")?;
        if answer.lines != said.lines[done..done + 9] {
            return Err(format!("frame {done} is missing, or another"));
        }
        done += 9;
        reader.kill()?;
        reader = bench.reader(frames[done].position)?;
    }
    read(&mut reader, &frames[done..], &said.lines[done..], place.position)
}
