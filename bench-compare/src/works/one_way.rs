//! One role writes as fast as it can, the others read everything.

use std::hint::black_box;

use super::{Patience, ends, had};
use crate::board::{Board, word};
use crate::error::CompareError;
use crate::place::now;
use crate::rival::{Link, Receiver, Rival, Room, Sender, number, number_of};
use crate::task::Answer;

/// Messages of one batch, for rivals that have batches.
const BATCH: u64 = 64;
/// Batches between two looks at the time.
const LOOK: u64 = 64;
/// Number of the message that ends the stream.
const END: u64 = u64::MAX;

pub(super) fn take_part<R: Rival<N>, const N: usize>(
    hub: &R::Hub,
    room: Room<'_>,
    board: &Board,
    link: Link,
    millis: u64,
) -> Result<Answer, CompareError> {
    if room.role > 0 {
        let (receiver, _) = ends::<R, N>(hub, room, board, Some((link, room.role - 1)), None)?;
        read(had(receiver)?, board)?;
        board.meet(5)?;
        return Ok(Answer::Done);
    }
    let (_, sender) = ends::<R, N>(hub, room, board, None, Some(link))?;
    let mut sender = had(sender)?;
    let answer = write(&mut sender, board, link.readers, millis)?;
    board.meet(5)?;
    Ok(answer)
}

fn write<const N: usize>(
    sender: &mut impl Sender<N>,
    board: &Board,
    readers: usize,
    millis: u64,
) -> Result<Answer, CompareError> {
    let mut patience = Patience::default();
    let mut message = [0x5a; N];
    let mut written = 0;
    let begin = now();
    while now() < begin + millis * 1_000_000 {
        for _ in 0..LOOK {
            let sent = sender.send_batch(written, BATCH, black_box(&mut message))?;
            written += sent;
            if sent == 0 {
                // Full: do not touch the readers' lines for a moment.
                for _ in 0..32 {
                    std::hint::spin_loop();
                }
            }
        }
    }
    board.set(word::COUNT, written + 1);
    let (mut last, mut lost) = (begin, 0);
    for reader in 1..=readers {
        while board.get(reader, word::COUNT) == 0 {
            // A reader that may have been overwritten needs a message after the gap.
            number(&mut message, END);
            sender.send(&message)?;
            for _ in 0..2_000 {
                patience.idle()?;
            }
        }
        last = last.max(board.get(reader, word::LAST));
        lost += board.get(reader, word::LOST);
        let seen = board.get(reader, word::COUNT) - 1;
        if seen + board.get(reader, word::LOST) != written {
            return Err(CompareError::Mixed { expected: written, found: seen });
        }
    }
    Ok(Answer::OneWay { written, nanos: last - begin, lost })
}

fn read<const N: usize>(mut receiver: impl Receiver<N>, board: &Board) -> Result<(), CompareError> {
    let mut patience = Patience::default();
    let (mut next, mut lost, mut strange) = (0, 0, None);
    let mut ended = false;
    loop {
        let count = receiver.receive(BATCH as usize, &mut |found| {
            let message = black_box(*found);
            let number = number_of(&message);
            if number == next {
                next += 1;
            } else if number == END {
                ended = true;
            } else if number > next {
                lost += number - next;
                next = number + 1;
            } else {
                strange = Some(number);
            }
        })?;
        if let Some(found) = strange {
            return Err(CompareError::Mixed { expected: next, found });
        }
        if count > 0 && !ended {
            patience.news();
            continue;
        }
        let written = board.get(0, word::COUNT);
        if written == next + 1 || (ended && written > 0) {
            lost += written - 1 - next;
            break;
        }
        patience.idle()?;
    }
    board.set(word::LAST, now());
    board.set(word::LOST, lost);
    // Last: the writer reads the other words when it sees this.
    board.set(word::COUNT, board.get(0, word::COUNT) - lost);
    Ok(())
}
