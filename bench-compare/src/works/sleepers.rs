//! One role writes at a steady rate, many sleep; each message is for one of them.

use std::hint::black_box;
use std::time::Duration;

use super::{Patience, ends, had};
use crate::board::{Board, word};
use crate::error::CompareError;
use crate::place::now;
use crate::rival::{Link, Receiver, Rival, Room, Sender, number, number_of};
use crate::task::{Answer, Quantiles};

/// Number of the message that ends the stream.
const END: u64 = u64::MAX;
/// Longest sleep of a reader; a message ends it.
const SLEEP: Duration = Duration::from_millis(100);
/// Lets all readers fall asleep before the first message.
const SETTLE: Duration = Duration::from_millis(30);

pub(super) fn take_part<R: Rival<N>, const N: usize>(
    hub: &R::Hub,
    room: Room<'_>,
    board: &Board,
    link: Link,
    per_second: u64,
    millis: u64,
) -> Result<Answer, CompareError> {
    if room.role > 0 {
        let (receiver, _) = ends::<R, N>(hub, room, board, Some((link, room.role - 1)), None)?;
        let nanos = read(had(receiver)?, board, room.role - 1)?;
        board.meet(5)?;
        return Ok(Answer::Latencies { nanos });
    }
    let (_, sender) = ends::<R, N>(hub, room, board, None, Some(link))?;
    let mut sender = had(sender)?;
    std::thread::sleep(SETTLE);
    let answer = write(&mut sender, board, link.readers, per_second, millis)?;
    board.meet(5)?;
    Ok(answer)
}

/// The reader of message `index`: scattered, the same for every rival.
fn target(index: u64, readers: usize) -> usize {
    ((index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % readers as u64) as usize
}

fn stamp<const N: usize>(message: &mut [u8; N], time: u64, reader: usize) {
    message[8..16].copy_from_slice(&time.to_le_bytes());
    message[16..24].copy_from_slice(&(reader as u64).to_le_bytes());
}

fn field<const N: usize>(message: &[u8; N], from: usize) -> u64 {
    message[from..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn write<const N: usize>(
    sender: &mut impl Sender<N>,
    board: &Board,
    readers: usize,
    per_second: u64,
    millis: u64,
) -> Result<Answer, CompareError> {
    let mut patience = Patience::default();
    let mut message = [0x5a; N];
    let mut costs = Vec::new();
    let begin = now();
    let mut written = 0;
    loop {
        let due = begin + written * 1_000_000_000 / per_second;
        let mut sent_at = now();
        while sent_at < due {
            std::hint::spin_loop();
            sent_at = now();
        }
        // A writer that falls behind continues at once; its actual rate is part of the answer.
        if sent_at > begin + millis * 1_000_000 {
            break;
        }
        let reader = target(written, readers);
        number(&mut message, written);
        stamp(&mut message, sent_at, reader);
        while !sender.send_to(reader, &message)? {
            patience.idle()?;
        }
        patience.news();
        costs.push(now() - sent_at);
        written += 1;
    }
    let nanos = now() - begin;
    board.set(word::COUNT, written + 1);
    number(&mut message, END);
    for reader in 0..readers {
        stamp(&mut message, now(), reader);
        while !sender.send_to(reader, &message)? {
            patience.idle()?;
        }
    }
    Ok(Answer::Writer { cost: Quantiles::of(costs, 1.0), written, nanos })
}

fn read<const N: usize>(
    mut receiver: impl Receiver<N>,
    board: &Board,
    me: usize,
) -> Result<Vec<u64>, CompareError> {
    let mut nanos = Vec::with_capacity(1 << 12);
    let mut ended = false;
    while !ended {
        let count = receiver.receive(64, &mut |found| {
            let message = black_box(*found);
            if field(&message, 16) == me as u64 {
                ended |= number_of(&message) == END;
                if !ended {
                    nanos.push(now().saturating_sub(field(&message, 8)));
                }
            }
        })?;
        if count == 0 {
            // If the last message were lost, this safety net would end the loop.
            let over = board.get(0, word::STEP) >= 5;
            receiver.wait(SLEEP)?;
            ended |= over;
        }
    }
    Ok(nanos)
}
