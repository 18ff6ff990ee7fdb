//! Performs one role of one block, for any rival.

use crate::board::{Board, word};
use crate::error::CompareError;
use crate::place;
use crate::rival::{Rival, Room};
use crate::task::{Outcome, Task, Work};
use crate::works;

/// Selects the message size. `Rival` is implemented for all sizes.
pub(crate) fn by_size<R>(role: usize, task: &Task) -> Result<Outcome, CompareError>
where
    R: Rival<32> + Rival<64> + Rival<128> + Rival<1024>,
{
    match task.payload {
        32 => of_size::<R, 32>(role, task),
        64 => of_size::<R, 64>(role, task),
        128 => of_size::<R, 128>(role, task),
        1024 => of_size::<R, 1024>(role, task),
        other => Err(CompareError::Usage(format!("messages of {other} bytes are not among the sizes"))),
    }
}

fn of_size<R: Rival<N>, const N: usize>(role: usize, task: &Task) -> Result<Outcome, CompareError> {
    if R::facts().in_process { threads::<R, N>(task) } else { process::<R, N>(role, task) }
}

fn process<R: Rival<N>, const N: usize>(role: usize, task: &Task) -> Result<Outcome, CompareError> {
    let board = Board::open(&task.room, role, task.work.roles())?;
    let room = Room { directory: &task.room, task, role };
    let links = works::links(task.work);
    // Threads that a library starts may run on any of the CPUs; only ours is pinned.
    place::pin_to_any(&task.cpus)?;
    let hub = if role == 0 {
        R::create(room, &links)?
    } else {
        while board.get(0, word::STEP) == 0 {
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        if task.work == Work::WriterDies {
            board.set(word::BEGUN, place::now());
        }
        R::open(room, &links)?
    };
    if role == 0 {
        board.set(word::STEP, 1);
    }
    pinned_part::<R, N>(&hub, room, &board)
}

/// Runs all roles as threads of this process.
fn threads<R: Rival<N>, const N: usize>(task: &Task) -> Result<Outcome, CompareError> {
    let room = Room { directory: &task.room, task, role: 0 };
    let hub = R::create(room, &works::links(task.work))?;
    std::thread::scope(|scope| {
        let part = |role| {
            let board = Board::open(&task.room, role, task.work.roles())?;
            pinned_part::<R, N>(&hub, Room { role, ..room }, &board)
        };
        let others: Vec<_> = (1..task.work.roles()).map(|role| scope.spawn(move || part(role))).collect();
        let mut outcome = part(0)?;
        for other in others {
            let other = other.join().map_err(|_| CompareError::Peer("a thread panicked".to_owned()))??;
            outcome.merge(other);
        }
        Ok(outcome)
    })
}

fn pinned_part<R: Rival<N>, const N: usize>(
    hub: &R::Hub,
    room: Room<'_>,
    board: &Board,
) -> Result<Outcome, CompareError> {
    place::pin(place::cpu_of(room.role, &room.task.cpus))?;
    let before = place::involuntary_switches();
    let answer = works::take_part::<R, N>(hub, room, board)?;
    let involuntary = place::involuntary_switches().saturating_sub(before);
    Ok(Outcome { answer, involuntary, latencies: Vec::new() })
}
