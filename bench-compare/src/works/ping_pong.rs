//! Two roles bounce messages. The bare word is bounced between the same cores right before and after: on a virtual
//! machine a line's latency changes from second to second, so a ratio needs both from one moment.

use std::hint::black_box;
use std::time::Duration;

use journal::Clock;

use super::{Patience, ends, had};
use crate::board::{Board, word};
use crate::error::CompareError;
use crate::rival::{Link, Receiver, Rival, Room, Sender, number, number_of};
use crate::task::{Answer, Quantiles};

/// Round trips of the bare word.
const FLOOR_TRIPS: u64 = 4_000;
/// Round trips before them.
const FLOOR_WARM_UP: u64 = 500;
/// How long a sleeper keeps a message before it answers, at both ends, so that a reader that polls before it sleeps is
/// asleep by then. shaq spins through 2,048 pauses, 28 µs on one CPU, 100 µs on another; and a virtual machine may poll
/// for 200 µs before it halts an idle core: a reader that spins for part of that time sleeps less deeply than the
/// others.
const PAUSE: Duration = Duration::from_micros(500);
/// Longest sleep; a message ends it.
const SLEEP: Duration = Duration::from_millis(100);

pub(super) fn take_part<R: Rival<N>, const N: usize>(
    hub: &R::Hub,
    room: Room<'_>,
    board: &Board,
    [there, back]: [Link; 2],
    trips: u64,
    warm_up: u64,
) -> Result<Answer, CompareError> {
    let measures = room.role == 0;
    let (ours, theirs) = if measures { (there, back) } else { (back, there) };
    let (receiver, sender) = ends::<R, N>(hub, room, board, Some((theirs, 0)), Some(ours))?;
    let (receiver, sender) = (had(receiver)?, had(sender)?);
    let mut ends = Ends { sender, receiver, asleep: ours.asleep, patience: Patience::default() };
    let clock = Clock::calibrate();
    if !measures {
        board.meet(5)?;
        answer_floor(board)?;
        ends.answer(board, clock, warm_up + trips)?;
        answer_floor(board)?;
        board.meet(6)?;
        return Ok(Answer::Done);
    }
    board.meet(5)?;
    let floor_before = floor(board, clock)?;
    let own = ends.bounce(board, clock, warm_up, trips)?;
    let floor_after = floor(board, clock)?;
    // No role leaves while the other may still need what they share.
    board.meet(6)?;
    Ok(Answer::PingPong { floor_before, own, floor_after })
}

fn floor(board: &Board, clock: Clock) -> Result<Quantiles, CompareError> {
    let mut patience = Patience::default();
    let mut times = Vec::with_capacity(FLOOR_TRIPS as usize);
    let first = board.get(0, word::BOUNCE) + 1;
    let mut before = clock.now();
    for trip in 0..FLOOR_WARM_UP + FLOOR_TRIPS {
        board.set(word::BOUNCE, first + trip);
        while board.get(1, word::BOUNCE) != first + trip {
            patience.idle()?;
        }
        patience.news();
        let now = clock.now();
        if trip >= FLOOR_WARM_UP {
            times.push(now.saturating_sub(before));
        }
        before = now;
    }
    Ok(Quantiles::of(times, 0.5))
}

fn answer_floor(board: &Board) -> Result<(), CompareError> {
    let mut patience = Patience::default();
    let first = board.get(1, word::BOUNCE) + 1;
    for trip in 0..FLOOR_WARM_UP + FLOOR_TRIPS {
        while board.get(0, word::BOUNCE) != first + trip {
            patience.idle()?;
        }
        patience.news();
        board.set(word::BOUNCE, first + trip);
    }
    Ok(())
}

/// Keeps this core awake while the other end falls asleep; returns the time after that.
fn pause(clock: Clock) -> u64 {
    let end = clock.now() + PAUSE.as_nanos() as u64;
    loop {
        let now = clock.now();
        if now >= end {
            return now;
        }
        std::hint::spin_loop();
    }
}

/// Both directions of one role.
struct Ends<S, R> {
    sender: S,
    receiver: R,
    asleep: bool,
    patience: Patience,
}

impl<S, R> Ends<S, R> {
    fn bounce<const N: usize>(
        &mut self,
        board: &Board,
        clock: Clock,
        warm_up: u64,
        trips: u64,
    ) -> Result<Quantiles, CompareError>
    where
        S: Sender<N>,
        R: Receiver<N>,
    {
        let mut times = Vec::with_capacity(trips as usize);
        let mut message = [0x5a; N];
        let mut before = clock.now();
        for trip in 0..warm_up + trips {
            number(&mut message, trip);
            if self.asleep {
                before = pause(clock);
            }
            self.send(black_box(&message))?;
            let answer = self.take()?;
            if answer != message {
                return Err(CompareError::Mixed { expected: trip, found: number_of(&answer) });
            }
            let now = clock.now();
            let held = if self.asleep { board.get(1, word::HELD) } else { 0 };
            if trip >= warm_up {
                times.push(now.saturating_sub(before + held));
            }
            before = now;
        }
        Ok(Quantiles::of(times, 0.5))
    }

    fn answer<const N: usize>(&mut self, board: &Board, clock: Clock, trips: u64) -> Result<(), CompareError>
    where
        S: Sender<N>,
        R: Receiver<N>,
    {
        for _ in 0..trips {
            let message = self.take()?;
            if self.asleep {
                let came = clock.now();
                board.set(word::HELD, pause(clock) - came);
            }
            self.send(&message)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn send<const N: usize>(&mut self, message: &[u8; N]) -> Result<(), CompareError>
    where
        S: Sender<N>,
    {
        while !self.sender.send(message)? {
            self.patience.idle()?;
        }
        Ok(())
    }

    /// The next message, with every byte copied out.
    #[inline(always)]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], CompareError>
    where
        R: Receiver<N>,
    {
        let mut message = [0; N];
        while self.receiver.receive(1, &mut |found| message = black_box(*found))? == 0 {
            if self.asleep {
                self.receiver.wait(SLEEP)?;
            }
            self.patience.idle()?;
        }
        self.patience.news();
        Ok(message)
    }
}
