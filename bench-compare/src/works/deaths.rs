//! The effect of a killed process on the others. The driver kills; the roles only record what they observe.

use std::hint::black_box;
use std::time::Duration;

use super::{ends, had};
use crate::board::{Board, word};
use crate::error::CompareError;
use crate::place::now;
use crate::rival::{Link, Receiver, Rival, Room, Sender, number, number_of};
use crate::task::Answer;

/// Time between two messages of a writer that will be killed.
const PACE_NANOS: u64 = 20_000;

/// Fills a message with bytes derived from its number and its writer's generation.
fn fill<const N: usize>(message: &mut [u8; N], count: u64, generation: u64) {
    for (index, bytes) in message.chunks_exact_mut(8).enumerate() {
        let value = match index {
            0 => count,
            1 => generation,
            _ => (count ^ generation << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ index as u64,
        };
        bytes.copy_from_slice(&value.to_le_bytes());
    }
}

fn generation_of<const N: usize>(message: &[u8; N]) -> u64 {
    message[8..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Role 0 reads; role 1 writes until it is killed, and is restarted with the next generation.
pub(super) fn writer_dies<R: Rival<N>, const N: usize>(
    hub: &R::Hub,
    room: Room<'_>,
    board: &Board,
    link: Link,
) -> Result<Answer, CompareError> {
    if room.role == 0 {
        let receiver = R::receiver(hub, room, link, 0)?;
        board.set(word::STEP, 2);
        return watch(receiver, board);
    }
    let mut sender = R::sender(hub, room, link)?;
    let mut message = [0; N];
    for count in 0.. {
        fill(&mut message, count, room.task.generation);
        while !sender.send(&message)? {
            std::hint::spin_loop();
        }
        let sent = now();
        if count == 0 {
            board.set(word::FIRST, sent);
        }
        while now() < sent + PACE_NANOS {
            std::hint::spin_loop();
        }
    }
    Ok(Answer::Done)
}

/// Reads until the driver ends the measurement.
fn watch<const N: usize>(mut receiver: impl Receiver<N>, board: &Board) -> Result<Answer, CompareError> {
    let (mut generation, mut next, mut torn, mut gaps, mut seen) = (0, 0, 0, 0, 0_u64);
    while board.driver(word::END) == 0 {
        let mut heard = None;
        let count = receiver.receive(64, &mut |found| {
            let message = black_box(*found);
            let mut whole = [0; N];
            fill(&mut whole, number_of(&message), generation_of(&message));
            torn += u64::from(message != whole);
            if generation_of(&message) != generation {
                generation = generation_of(&message);
                heard = Some(now());
                next = number_of(&message);
            }
            gaps += u64::from(number_of(&message) != next);
            next = number_of(&message) + 1;
        })?;
        if let Some(time) = heard {
            board.set(word::HEARD, time);
            board.set(word::GENERATION, generation);
        }
        seen += count as u64;
        board.set(word::TORN, torn);
        board.set(word::GAPS, gaps);
        board.set(word::COUNT, seen + 1);
        std::hint::spin_loop();
    }
    Ok(Answer::Done)
}

/// Role 0 writes, roles 1 and 2 read; one of them is killed.
pub(super) fn reader_dies<R: Rival<N>, const N: usize>(
    hub: &R::Hub,
    room: Room<'_>,
    board: &Board,
    link: Link,
) -> Result<Answer, CompareError> {
    if room.role > 0 {
        let (receiver, _) = ends::<R, N>(hub, room, board, Some((link, room.role - 1)), None)?;
        return listen(had(receiver)?, board);
    }
    let (_, sender) = ends::<R, N>(hub, room, board, None, Some(link))?;
    let mut sender = had(sender)?;
    let mut message = [0x5a; N];
    let mut count = 0;
    while board.driver(word::END) == 0 {
        number(&mut message, count);
        if sender.send(&message)? {
            count += 1;
        } else {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
    Ok(Answer::Done)
}

/// Reads, and records the longest silence since the other reader was killed.
fn listen<const N: usize>(mut receiver: impl Receiver<N>, board: &Board) -> Result<Answer, CompareError> {
    let mut last = now();
    let (mut silence, mut seen) = (0, 0_u64);
    while board.driver(word::END) == 0 {
        let count = receiver.receive(64, &mut |found| {
            black_box(*found);
        })?;
        if count == 0 {
            std::hint::spin_loop();
            continue;
        }
        let time = now();
        if board.driver(word::KILLED) != 0 {
            silence = silence.max(time - last);
            board.set(word::SILENCE, silence);
        }
        last = time;
        seen += count as u64;
        board.set(word::LAST, time);
        board.set(word::COUNT, seen + 1);
    }
    Ok(Answer::Done)
}
