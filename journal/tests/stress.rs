//! Threads at full speed: readers of both kinds and a writer whose payloads look like commit words.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::sync::mpsc;
use std::time::Duration;

use journal::{Frame, Journal, ReadError, Writer};
use support::{SMALL, Watchdog, clock, forged, payload};

const FRAMES: u64 = if cfg!(miri) { 60 } else { 200_000 };

fn length(number: u64) -> usize {
    let most = if cfg!(miri) { 300 } else { 2_000 };
    8 + (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % most
}

fn body(number: u64, position: u64) -> Vec<u8> {
    let mut body = forged(position, SMALL, number % 3, length(number));
    body[..8].copy_from_slice(&number.to_le_bytes());
    body
}

fn check(frame: &Frame<'_>) -> u64 {
    let number = u64::from_le_bytes(frame.payload[..8].try_into().unwrap());
    assert_eq!((frame.message_id, frame.topic), (number as u16, (number % 16) as u32));
    assert!(frame.payload == body(number, frame.position), "frame {number} is torn");
    number
}

/// Writes frame `number` alone or claimed, or it and a few more in a batch; returns how many fitted.
fn write(writer: &mut Writer, number: u64) -> u64 {
    let topic = |number: u64| (number % 16) as u32;
    let mut position = writer.position();
    let first = body(number, position);
    match number % 3 {
        0 => u64::from(writer.write(number as u16, topic(number), &first).is_ok()),
        1 => match writer.claim(number as u16, topic(number), first.len() + 64) {
            Ok(mut claim) => {
                first.chunks(100).for_each(|piece| claim.put(piece).unwrap());
                claim.commit();
                1
            }
            Err(_) => 0,
        },
        _ => {
            let mut batch = writer.batch();
            for number in number..FRAMES.min(number + 6) {
                let body = body(number, position);
                if batch.push(number as u16, topic(number), &body).is_err() {
                    break;
                }
                position += journal::layout::frame_bytes(body.len() as u64);
            }
            let frames = batch.frames();
            batch.commit();
            frames
        }
    }
}

fn run(name: &'static str, journal: &Journal) {
    let watchdog = Watchdog::start(name, Duration::from_secs(300));
    let mut writer = journal.writer(63, clock()).unwrap();
    let gated = [0, 1].map(|seat| journal.gated(seat).unwrap());
    let loose = [2, 3].map(|seat| journal.loose(seat).unwrap());
    std::thread::scope(|scope| {
        let [mut single, mut bulk] = gated;
        scope.spawn(move || {
            let mut expected = 0;
            while expected < FRAMES {
                let read = bulk.read_batch(50, |frame| {
                    assert_eq!(check(&frame), expected);
                    expected += 1;
                });
                if read.unwrap() == 0 {
                    std::thread::yield_now();
                }
            }
        });
        scope.spawn(move || {
            for expected in 0..FRAMES {
                loop {
                    if let Some(frame) = single.read().unwrap() {
                        assert_eq!(check(&frame), expected);
                        break;
                    }
                    std::thread::yield_now();
                }
            }
            single.publish();
        });
        for (pace, mut reader) in [0, 200].into_iter().zip(loose) {
            scope.spawn(move || {
                let (mut next, mut seen, mut gaps, mut after_gap) = (0, 0_u64, 0, false);
                let last = journal.first_position()
                    + (0..FRAMES).map(|n| journal::layout::frame_bytes(length(n) as u64)).sum::<u64>();
                while reader.position() < last {
                    match reader.read() {
                        Ok(Some(frame)) => {
                            let number = check(&frame);
                            assert!(
                                number == next || after_gap && number > next,
                                "{number} instead of {next}"
                            );
                            (next, after_gap) = (number + 1, false);
                            seen += 1;
                        }
                        Ok(None) => std::thread::yield_now(),
                        Err(ReadError::Lapped(_)) => {
                            gaps += 1;
                            after_gap = true;
                        }
                        Err(error) => panic!("{error}"),
                    }
                    if pace > 0 && seen % 50 == 0 {
                        std::thread::sleep(Duration::from_micros(pace));
                    }
                }
                println!("{name}: a loose reader saw {seen} of {FRAMES} frames, {gaps} gaps");
            });
        }
        scope.spawn(move || {
            let mut number = 0;
            while number < FRAMES {
                match write(&mut writer, number) {
                    0 => std::thread::yield_now(),
                    written => number += written,
                }
            }
        });
    });
    assert_eq!(journal.stat().frames, FRAMES);
    assert!(journal.is_drained());
    watchdog.stop();
}

#[test]
fn in_memory() {
    run("memory", &Journal::in_memory(support::shape("t", SMALL)).unwrap());
}

#[test]
#[cfg_attr(miri, ignore = "miri maps no files")]
fn in_files() {
    let (_directory, _files, journal) = support::journal(SMALL);
    run("files", &journal);
}

/// Gated readers join, read, leave and rejoin while the writer runs at full speed: none misses a frame from its first
/// on, and the writer is never blocked by one that left.
#[test]
fn gated_readers_come_and_go_while_the_writer_writes() {
    const FRAMES: u64 = if cfg!(miri) { 100 } else { 300_000 };
    let watchdog = Watchdog::start("gated readers that come and go", Duration::from_secs(240));
    let journal = Journal::in_memory(support::shape("t", SMALL)).unwrap();
    let mut writer = journal.writer(63, clock()).unwrap();
    let (done, is_done) = mpsc::channel::<()>();
    let mut joins = 0;
    std::thread::scope(|scope| {
        let journal = &journal;
        scope.spawn(move || {
            for number in 0..FRAMES {
                let body = payload(number, number as usize % 120);
                while writer.write(number as u16, 0, &[&number.to_le_bytes()[..], &body].concat()).is_err() {
                    std::thread::yield_now();
                }
            }
            drop(done);
        });
        for seat in 0..20_u32 {
            let mut reader = journal.gated(seat).unwrap();
            let mut expected = None;
            // Twice from the same cursor, then it is dismissed.
            for visit in 0..2 {
                let mut left = 500;
                while left > 0 && is_done.try_recv() != Err(mpsc::TryRecvError::Disconnected) {
                    let Some(frame) = reader.read().unwrap() else { continue };
                    let number = u64::from_le_bytes(frame.payload[..8].try_into().unwrap());
                    assert!(expected.is_none_or(|expected| number == expected), "{number}, not {expected:?}");
                    assert_eq!(frame.payload[8..], payload(number, number as usize % 120));
                    expected = Some(number + 1);
                    left -= 1;
                }
                reader.publish();
                if visit == 0 {
                    drop(reader);
                    reader = journal.gated(seat).unwrap();
                }
            }
            joins += 1;
            drop(reader);
            journal.dismiss(seat).unwrap();
        }
    });
    println!("{joins} joins, {} frames", journal.stat().frames);
    assert_eq!(journal.stat().frames, FRAMES);
    watchdog.stop();
}
