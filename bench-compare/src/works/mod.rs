//! The kinds of work, the same code for every rival.

mod deaths;
mod one_way;
mod ping_pong;
mod sleepers;

use std::time::{Duration, Instant};

use crate::board::Board;
use crate::error::CompareError;
use crate::rival::{Link, Receiver, Rival, Room};
use crate::task::{Answer, Work};

/// Longest silence of the other side during a measurement.
const PATIENCE: Duration = Duration::from_secs(20);

/// The links of a work.
pub(crate) fn links(work: Work) -> Vec<Link> {
    let link = Link { number: 0, readers: 1, asleep: work.asleep(), routed: false };
    match work {
        Work::PingPong { .. } | Work::PingPongAsleep { .. } => vec![link, Link { number: 1, ..link }],
        Work::OneWay { readers, .. } => vec![Link { readers, ..link }],
        Work::Sleepers { readers, .. } => vec![Link { readers, routed: true, ..link }],
        Work::WriterDies => vec![link],
        Work::ReaderDies => vec![Link { readers: 2, ..link }],
    }
}

/// Performs one role, with what [`Rival::create`] or [`Rival::open`] returned.
pub(crate) fn take_part<R: Rival<N>, const N: usize>(
    hub: &R::Hub,
    room: Room<'_>,
    board: &Board,
) -> Result<Answer, CompareError> {
    let links = links(room.task.work);
    match room.task.work {
        Work::PingPong { trips, warm_up } | Work::PingPongAsleep { trips, warm_up } => {
            ping_pong::take_part::<R, N>(hub, room, board, [links[0], links[1]], trips, warm_up)
        }
        Work::OneWay { millis, .. } => one_way::take_part::<R, N>(hub, room, board, links[0], millis),
        Work::Sleepers { per_second, millis, .. } => {
            sleepers::take_part::<R, N>(hub, room, board, links[0], per_second, millis)
        }
        Work::WriterDies => deaths::writer_dies::<R, N>(hub, room, board, links[0]),
        Work::ReaderDies => deaths::reader_dies::<R, N>(hub, room, board, links[0]),
    }
}

/// The ends of a role, created in the order that the rival needs; the other roles do the same meanwhile.
#[expect(clippy::type_complexity, reason = "two ends, either of which a role may not have")]
fn ends<R: Rival<N>, const N: usize>(
    hub: &R::Hub,
    room: Room<'_>,
    board: &Board,
    receives: Option<(Link, usize)>,
    sends: Option<Link>,
) -> Result<(Option<R::Receiver>, Option<R::Sender>), CompareError> {
    let receiver = || receives.map(|(link, reader)| R::receiver(hub, room, link, reader)).transpose();
    let sender = || sends.map(|link| R::sender(hub, room, link)).transpose();
    if R::SENDER_FIRST {
        let sender = sender()?;
        board.meet(2)?;
        let receiver = receiver()?;
        board.meet(3)?;
        return settled(board, receiver, sender);
    }
    let receiver = receiver()?;
    board.meet(2)?;
    let sender = sender()?;
    board.meet(3)?;
    settled(board, receiver, sender)
}

/// Waits for all roles: nothing is sent before every receiver knows its sender.
fn settled<R: Receiver<N>, S, const N: usize>(
    board: &Board,
    mut receiver: Option<R>,
    sender: Option<S>,
) -> Result<(Option<R>, Option<S>), CompareError> {
    if let Some(receiver) = &mut receiver {
        receiver.settle()?;
    }
    board.meet(4)?;
    Ok((receiver, sender))
}

/// Unwraps an end that must exist.
fn had<T>(end: Option<T>) -> Result<T, CompareError> {
    end.ok_or_else(|| CompareError::Peer("an end that was asked for is not there".to_owned()))
}

/// Counts turns without news, up to a time limit.
#[derive(Debug, Default)]
struct Patience {
    turns: u32,
    since: Option<Instant>,
}

impl Patience {
    /// Turns between two looks at the time: about a millisecond.
    const TURNS: u32 = 1 << 16;

    /// Something arrived.
    #[inline(always)]
    fn news(&mut self) {
        self.turns = 0;
    }

    /// One turn without news.
    #[inline(always)]
    fn idle(&mut self) -> Result<(), CompareError> {
        std::hint::spin_loop();
        self.turns += 1;
        if self.turns >= Patience::TURNS { self.look() } else { Ok(()) }
    }

    #[cold]
    fn look(&mut self) -> Result<(), CompareError> {
        if self.turns == Patience::TURNS {
            self.since = Some(Instant::now());
        }
        // Stays above the mark, so that every further turn checks: precision no longer matters.
        self.turns = Patience::TURNS + 1;
        if self.since.is_some_and(|since| since.elapsed() > PATIENCE) {
            return Err(CompareError::Silent { seconds: PATIENCE.as_secs() });
        }
        Ok(())
    }
}
