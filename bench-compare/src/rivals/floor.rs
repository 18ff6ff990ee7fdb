//! The bare machine: a word on a cache line of its own that both sides poll, or a bare futex. It transfers a number,
//! not a message: the lower limit for all rivals.

use std::time::Duration;

use journal::tools::Floor;

use super::kernel;
use crate::error::{CompareError, refused};
use crate::rival::{Can, Facts, Link, Receiver, Rival, Room, Sender, number, number_of};

const NAME: &str = "floor";

/// The bare word, and the bare futex when asleep.
pub(crate) struct Bare;

fn path(room: Room<'_>, link: Link) -> std::path::PathBuf {
    room.directory.join(format!("floor-{}", link.number))
}

impl<const N: usize> Rival<N> for Bare {
    type Hub = ();
    type Sender = End;
    type Receiver = End;

    fn facts() -> Facts {
        Facts {
            name: NAME,
            version: kernel(),
            settings: &[
                "polling: one word on a cache line of its own a direction; asleep: a futex on it",
                "moves 8 bytes whatever the size of the message",
            ],
            in_process: false,
            floor: true,
            naps: false,
            can: Can { one_way: false, fan_out: false, sleepers: false, die: false, ..Can::ALL },
        }
    }

    fn create(room: Room<'_>, links: &[Link]) -> Result<(), CompareError> {
        for &link in links {
            Floor::create(&path(room, link)).map_err(refused(NAME, "make the page"))?;
        }
        Ok(())
    }

    fn open(_room: Room<'_>, _links: &[Link]) -> Result<(), CompareError> {
        Ok(())
    }

    fn receiver((): &(), room: Room<'_>, link: Link, _reader: usize) -> Result<End, CompareError> {
        End::open(room, link)
    }

    fn sender((): &(), room: Room<'_>, link: Link) -> Result<End, CompareError> {
        End::open(room, link)
    }
}

/// Either end of a word.
pub(crate) struct End {
    floor: Floor,
    asleep: bool,
    /// The last value seen; numbers are sent plus one, so that 0 means none.
    seen: u64,
}

impl End {
    fn open(room: Room<'_>, link: Link) -> Result<End, CompareError> {
        let floor = Floor::open(&path(room, link)).map_err(refused(NAME, "map the page"))?;
        Ok(End { floor, asleep: link.asleep, seen: 0 })
    }
}

impl<const N: usize> Sender<N> for End {
    #[inline(always)]
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError> {
        self.floor.set(0, number_of(message).wrapping_add(1));
        if self.asleep {
            self.floor.wake(0);
        }
        Ok(true)
    }
}

impl<const N: usize> Receiver<N> for End {
    #[inline(always)]
    fn receive(&mut self, _most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        let value = self.floor.get(0);
        if value == self.seen {
            return Ok(0);
        }
        self.seen = value;
        let mut message = [0x5a; N];
        number(&mut message, value.wrapping_sub(1));
        each(&message);
        Ok(1)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), CompareError> {
        self.floor.sleep(0, self.seen as u32, timeout);
        Ok(())
    }
}
