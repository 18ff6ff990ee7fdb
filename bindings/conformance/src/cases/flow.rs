//! Frames, batches, records, gaps and laps.

use std::collections::BTreeMap;

use journal::layout::frame::APPENDED;
use journal::{Clock, FrameHeader, Journal};

use super::Bench;
use super::bench::{WRITER, ends, read, write, wrote};
use crate::contents::{Seed, checksum};
use crate::expected::compare;
use crate::world::CAPACITY;

/// Lengths around lines and units, and the largest that the ring takes.
const LENGTHS: &[usize] = &[0, 1, 8, 15, 16, 31, 32, 33, 64, 95, 96, 97, 200, 333, 1_000, 4_000, 8_160];

pub(super) fn wrap(bench: &Bench<'_>) -> Result<(), String> {
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let mut reader = bench.reader(place.position)?;
    let end = place.position + 5 * CAPACITY;
    let mut round = 0;
    while place.position < end {
        let length = LENGTHS[round % LENGTHS.len()];
        let seed = if round % 3 == 2 { Seed::Forged } else { Seed::Number(round as u64) };
        // Never so much that a loose reader is overtaken.
        let count = (CAPACITY / 4 / (length as u64 + 96)).clamp(1, 40);
        let kind = (100 + round as u16 % 50, round as u32 % 16);
        let (frames, answer) = write(&mut writer, &mut place, kind, length, seed, count)?;
        read(&mut reader, &frames, &answer.lines, place.position)?;
        round += 1;
    }
    reader.quit()?;
    writer.quit()
}

pub(super) fn stream(bench: &Bench<'_>) -> Result<(), String> {
    const FRAMES: u64 = 6_000;
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let mut reader = bench.reader(place.position)?;
    reader.tell(format!("next {FRAMES} 60000"))?;
    writer.tell(format!("write 9 2 200 5 {FRAMES} 60000"))?;
    let written = writer.answer()?;
    let written = writer.fine(written)?;
    let frames = place.frames(9, 2, 200, Seed::Number(5), FRAMES);
    wrote(&written, &place, &frames, FRAMES)?;
    let answer = reader.answer()?;
    let answer = reader.fine(answer)?;
    compare(&answer.lines, &frames).map_err(|error| format!("the consumer: {error}"))?;
    if answer.lines != written.lines {
        return Err("producer and consumer say different times".to_owned());
    }
    ends(&answer, FRAMES, place.position)
}

pub(super) fn batch(bench: &Bench<'_>) -> Result<(), String> {
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let mut reader = bench.reader(place.position)?;
    for round in 0..60_u64 {
        let (length, count) = ([0, 24, 32, 40, 200, 700][round as usize % 6], 1 + round % 9);
        let seed = if round % 4 == 3 { Seed::Forged } else { Seed::Number(round) };
        let answer = writer.said(format!("batch 11 {} {length} {seed} {count}", round % 16))?;
        let frames = place.frames(11, (round % 16) as u32, length, seed, count);
        wrote(&answer, &place, &frames, count)?;
        let times = compare(&answer.lines, &frames)?;
        if times.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(format!("the frames of one batch have several times: {times:?}"));
        }
        read(&mut reader, &frames, &answer.lines, place.position)?;
        if round % 5 == 0 {
            let (frames, answer) = write(&mut writer, &mut place, (12, 1), 50, Seed::Number(round), 2)?;
            read(&mut reader, &frames, &answer.lines, place.position)?;
        }
    }
    // An eighth of the ring fits, more does not, and what does not fit leaves nothing.
    writer.refused("batch 11 1 4000 7 3", "batch-full")?;
    read(&mut reader, &[], &[], place.position)?;
    let (frames, answer) = write(&mut writer, &mut place, (12, 1), 50, Seed::Number(1), 1)?;
    read(&mut reader, &frames, &answer.lines, place.position)
}

pub(super) fn records(bench: &Bench<'_>) -> Result<(), String> {
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let mut reader = bench.reader(place.position)?;
    for round in 0..80_u64 {
        let size = [1, 8, 24, 40, 100, 640][round as usize % 6];
        let count = [1, 2, 7, 12][round as usize % 4];
        let answer = writer.said(format!("records 13 {} {size} {round} {count}", round % 16))?;
        let frames = place.records(13, (round % 16) as u32, size, round, count);
        wrote(&answer, &place, &frames, 1)?;
        read(&mut reader, &frames, &answer.lines, place.position)?;
        if round % 7 == 0 {
            let (frames, answer) = write(&mut writer, &mut place, (14, 1), 30, Seed::Number(round), 1)?;
            read(&mut reader, &frames, &answer.lines, place.position)?;
        }
    }
    Ok(())
}

pub(super) fn skip(bench: &Bench<'_>) -> Result<(), String> {
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let mut reader = bench.reader(place.position)?;
    for (round, bytes) in [64, 128, 640, 8_192, 19_968, 64, 19_968, 19_968].into_iter().enumerate() {
        let (before, said) = write(&mut writer, &mut place, (15, 3), 40, Seed::Number(round as u64), 2)?;
        place.position += bytes;
        writer.expect(format!("skip {bytes}"), &place.position.to_string())?;
        let (behind, said_then) = write(&mut writer, &mut place, (16, 4), 90, Seed::Number(round as u64), 2)?;
        let frames: Vec<_> = before.into_iter().chain(behind).collect();
        let lines: Vec<_> = said.lines.into_iter().chain(said_then.lines).collect();
        read(&mut reader, &frames, &lines, place.position)?;
    }
    Ok(())
}

/// What was copied from another journal keeps its time, which may lie before that of the frame in front of it.
pub(super) fn appended(bench: &Bench<'_>) -> Result<(), String> {
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let mut reader = bench.reader(place.position)?;
    for round in 0..3_u64 {
        let (frames, said) = write(&mut writer, &mut place, (61, 3), 40, Seed::Number(round), 2)?;
        read(&mut reader, &frames, &said.lines, place.position)?;
        writer.quit()?;
        // No driver appends: the runner does, in the producer's place.
        let failed = |error: &dyn std::fmt::Display| format!("the runner cannot append: {error}");
        let journal = Journal::open(bench.world.files()).map_err(|error| failed(&error))?;
        let mut copying = journal.writer(WRITER, Clock::monotonic()).map_err(|error| failed(&error))?;
        let mut lines = Vec::new();
        for (record, length) in [(0_u16, 90), (24, 72)] {
            let payload = Seed::Number(round).payload(0, 0, length);
            let header = FrameHeader { time: 5, topic: 4, message_id: 62, flags: record };
            let at = copying.append(header, &payload).map_err(|error| failed(&error))?.position;
            let (flags, epoch, sum) = (APPENDED | record, copying.epoch(), checksum(&payload));
            lines.push(format!("frame {at} 62 4 {flags} 5 {epoch} {length} {sum:016x}"));
            for (index, bytes) in payload.chunks(24).enumerate().filter(|_| record > 0) {
                lines.push(format!("record {} 24 {:016x}", at + 32 + index as u64 * 24, checksum(bytes)));
            }
        }
        let end = copying.position();
        drop(copying);
        let answer = reader.said("next 10")?;
        if answer.lines != lines {
            return Err(format!("the consumer says {:?} instead of {lines:?}", answer.lines));
        }
        ends(&answer, 2, end)?;
        (writer, place) = bench.writer(bench.producer)?;
    }
    Ok(())
}

pub(super) fn lap(bench: &Bench<'_>) -> Result<(), String> {
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let start = place.position;
    let mut reader = bench.reader(start)?;
    for round in 0..3_u64 {
        let from = place.position;
        write(&mut writer, &mut place, (17, 3), 200, Seed::Number(round), 3 * CAPACITY / 256)?;
        let answer = reader.said("next 1000")?;
        let wanted = format!("gap {from} {}", place.position);
        if answer.lines != [wanted.as_str()] {
            return Err(format!("the consumer says {:?} instead of `{wanted}`", answer.lines));
        }
        ends(&answer, 0, place.position)?;
        let (frames, answer) = write(&mut writer, &mut place, (18, 3), 100, Seed::Number(round), 5)?;
        read(&mut reader, &frames, &answer.lines, place.position)?;
    }
    // Both at once: whatever is overtaken, what is read is whole, and the gaps are what is missing.
    const FRAMES: u64 = 20_000;
    let mut position = place.position;
    reader.tell(format!("next {FRAMES} 500"))?;
    writer.tell(format!("write 19 4 120 9 {FRAMES}"))?;
    let written = writer.answer()?;
    let written = writer.fine(written)?;
    let frames = place.frames(19, 4, 120, Seed::Number(9), FRAMES);
    wrote(&written, &place, &frames, FRAMES)?;
    let by_position: BTreeMap<u64, &String> =
        frames.iter().map(|frame| frame.position).zip(&written.lines).collect();
    let answer = reader.answer()?;
    let answer = reader.fine(answer)?;
    let mut count = 0;
    for line in &answer.lines {
        if let Some(gap) = line.strip_prefix("gap ") {
            let resumed = gap.strip_prefix(&format!("{position} ")).and_then(|end| end.parse().ok());
            position = resumed.ok_or_else(|| format!("`{line}`, and the reader stood at {position}"))?;
        } else if by_position.get(&position) == Some(&line) {
            position += 192;
            count += 1;
        } else {
            return Err(format!("`{line}`, and at {position} was {:?}", by_position.get(&position)));
        }
    }
    ends(&answer, count, position)
}
