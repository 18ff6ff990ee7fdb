//! The gate, what is kept, and sleeping.

use std::time::{Duration, Instant};

use journal::layout::{self, registry};

use super::Bench;
use super::bench::{READER, read, write};
use crate::contents::Seed;
use crate::expected::{Expected, Place, compare};
use crate::process::Process;
use crate::world::CAPACITY;

/// Frames of 128 bytes that fit into an empty ring: all but the line behind the last.
const FIT: u64 = CAPACITY / 128 - 1;

/// Writes frames of 128 bytes until the journal is full, which must be after `count`.
fn fill(
    writer: &mut Process,
    place: &mut Place,
    seed: u64,
    count: u64,
) -> Result<(Vec<Expected>, Vec<String>), String> {
    let answer = writer.ask(format!("write 21 0 96 {seed} 2000"))?;
    if answer.code() != Some("full") {
        return Err(format!("`{}` instead of `error full`", answer.end.join(" ")));
    }
    let frames = place.frames(21, 0, 96, Seed::Number(seed), count);
    compare(&answer.lines, &frames).map_err(|error| format!("the producer, into a full ring: {error}"))?;
    Ok((frames, answer.lines))
}

pub(super) fn gate(bench: &Bench<'_>) -> Result<(), String> {
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let mut reader = bench.reader(place.position)?;
    let (mut frames, mut lines) = fill(&mut writer, &mut place, 0, FIT)?;
    let (last, said) = write(&mut writer, &mut place, (22, 0), 32, Seed::Number(9), 1)?;
    frames.extend(last);
    lines.extend(said.lines);
    writer.refused("write 22 0 0 1", "full")?;
    // What the reader has finished is free again, and no more.
    let answer = reader.said("next 100")?;
    compare(&answer.lines, &frames[..100]).map_err(|error| format!("the consumer: {error}"))?;
    let (more, said) = fill(&mut writer, &mut place, 5, 100)?;
    frames.extend(more);
    lines.extend(said);
    read(&mut reader, &frames[100..], &lines[100..], place.position)?;
    // One reader more, of another kind of process: the slowest counts.
    let (frames, said) = fill(&mut writer, &mut place, 6, FIT)?;
    read(&mut reader, &frames, &said, place.position)?;
    reader.quit()?;
    fill(&mut writer, &mut place, 7, FIT)?;
    Ok(())
}

pub(super) fn kept(bench: &Bench<'_>) -> Result<(), String> {
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let start = place.position;
    let mut reader = bench.reader(start)?;
    reader.expect(format!("keep {start}"), "")?;
    let (frames, said) = fill(&mut writer, &mut place, 0, FIT)?;
    read(&mut reader, &frames, &said, place.position)?;
    fill(&mut writer, &mut place, 1, 0)?;
    // It outlives its reader, which goes on behind what it has read.
    reader.kill()?;
    fill(&mut writer, &mut place, 1, 0)?;
    let mut reader = bench.reader(place.position)?;
    fill(&mut writer, &mut place, 1, 0)?;
    let kept = start + 100 * 128;
    reader.expect(format!("keep {kept}"), "")?;
    let (frames, said) = fill(&mut writer, &mut place, 2, 100)?;
    read(&mut reader, &frames, &said, place.position)?;
    // Never less than before.
    reader.expect(format!("keep {start}"), "")?;
    fill(&mut writer, &mut place, 3, 0)?;
    reader.expect(format!("keep {}", place.position), "")?;
    fill(&mut writer, &mut place, 4, FIT)?;
    Ok(())
}

pub(super) fn park(bench: &Bench<'_>) -> Result<(), String> {
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let mut reader = bench.reader(place.position)?;
    reader.expect("interest 5 9", "")?;
    reader.expect("park 20", "timeout")?;
    for round in 0..5 {
        reader.tell("park 60000")?;
        asleep(bench)?;
        // For another topic nobody is woken.
        let (mut frames, other) = write(&mut writer, &mut place, (31, 4), 40, Seed::Number(round), 1)?;
        if !reader.is_silent(Duration::from_millis(30)) || !is_asleep(bench)? {
            return Err("the consumer was woken for a topic that it does not want".to_owned());
        }
        let topic = if round % 2 == 0 { 5 } else { 9 };
        let (news, said) = write(&mut writer, &mut place, (32, topic), 40, Seed::Number(round), 1)?;
        let woken = reader.answer()?.end.join(" ");
        if woken != "ok woken" {
            return Err(format!("the consumer slept through a frame: `{woken}` instead of `ok woken`"));
        }
        // What it has not read yet is news.
        reader.expect("park 60000", "news")?;
        frames.extend(news);
        let lines: Vec<_> = other.lines.into_iter().chain(said.lines).collect();
        read(&mut reader, &frames, &lines, place.position)?;
    }
    reader.expect("interest all", "")?;
    reader.tell("park 60000")?;
    asleep(bench)?;
    let (frames, said) = write(&mut writer, &mut place, (33, 15), 0, Seed::Number(1), 1)?;
    let woken = reader.answer()?.end.join(" ");
    if woken != "ok woken" {
        return Err(format!("`{woken}` instead of `ok woken`, with interest in all topics"));
    }
    read(&mut reader, &frames, &said.lines, place.position)
}

fn is_asleep(bench: &Bench<'_>) -> Result<bool, String> {
    let word = registry::RECORDS + registry::RECORD_WORDS * READER as usize + registry::WAIT;
    Ok(bench.world.peek(&bench.world.registry(), word)? as u32 == 1)
}

/// Waits until the reader's word says that it sleeps.
fn asleep(bench: &Bench<'_>) -> Result<(), String> {
    let start = Instant::now();
    while !is_asleep(bench)? {
        if start.elapsed() > Duration::from_secs(60) {
            return Err("the consumer never says that it sleeps".to_owned());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // Between the word and the call nothing can be seen; the call looks at the word again.
    std::thread::sleep(Duration::from_millis(2));
    Ok(())
}

const _: () = assert!(layout::frame_bytes(96) == 128, "what `FIT` counts in");
