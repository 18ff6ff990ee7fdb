//! What a rival must be able to do to take part.

use std::path::Path;
use std::time::Duration;

use crate::error::CompareError;
use crate::task::Task;

/// What stands about a rival in the output.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// Short name, as in the tables.
    pub(crate) name: &'static str,
    /// Version of what was linked.
    pub(crate) version: String,
    /// How it is set up: one line a setting.
    pub(crate) settings: &'static [&'static str],
    /// Threads of one process, not processes: a point of reference.
    pub(crate) in_process: bool,
    /// The bare machine, to compare against; not in the ranking.
    pub(crate) floor: bool,
    /// Nothing wakes its readers: where others sleep, they nap by a timer and look.
    pub(crate) naps: bool,
    /// What it can do.
    pub(crate) can: Can,
}

/// What a rival can do at all. What it cannot is shown as such, and not measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Can {
    /// Ping-pong.
    pub(crate) ping: bool,
    /// Its readers can sleep until something comes.
    pub(crate) sleep: bool,
    /// One-way, from one to one.
    pub(crate) one_way: bool,
    /// One-way, one writer to several readers, each gets all.
    pub(crate) fan_out: bool,
    /// One writer, many readers that sleep.
    pub(crate) sleepers: bool,
    /// The writer waits for slow readers; otherwise it overwrites what they have not read.
    pub(crate) lossless: bool,
    /// It goes on for ever: what has been read makes room.
    pub(crate) endless: bool,
    /// A process of it can be killed and started again.
    pub(crate) die: bool,
}

impl Can {
    /// Everything.
    pub(crate) const ALL: Can = Can {
        ping: true,
        sleep: true,
        one_way: true,
        fan_out: true,
        sleepers: true,
        lossless: true,
        endless: true,
        die: true,
    };
}

/// Where the roles of one block meet, as one of them sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room<'a> {
    /// Folder of this block alone, in memory.
    pub(crate) directory: &'a Path,
    /// What is measured.
    pub(crate) task: &'a Task,
    /// The role of this process.
    pub(crate) role: usize,
}

/// One direction: one sender, some receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// Distinguishes the links of one block, from 0.
    pub(crate) number: usize,
    /// Receivers.
    pub(crate) readers: usize,
    /// Receivers sleep, so the sender must wake them.
    pub(crate) asleep: bool,
    /// Each message is for one of the receivers, which wants no other.
    pub(crate) routed: bool,
}

/// A rival, for messages of `N` bytes.
pub(crate) trait Rival<const N: usize> {
    /// What one process holds for the whole block; shared by the threads of a rival that is in one process.
    type Hub: Sync;
    /// The writing end of a link.
    type Sender: Sender<N>;
    /// A reading end.
    type Receiver: Receiver<N>;

    /// Its sender makes what its receivers attach to.
    const SENDER_FIRST: bool = false;

    /// About it.
    fn facts() -> Facts;

    /// Role 0, before all others: makes what the links need.
    fn create(room: Room<'_>, links: &[Link]) -> Result<Self::Hub, CompareError>;

    /// Every other role; never called for rivals in one process.
    fn open(room: Room<'_>, links: &[Link]) -> Result<Self::Hub, CompareError> {
        Self::create(room, links)
    }

    /// One of the link's receivers, from 0. All receivers of a link are there before its sender is asked for, unless
    /// [`Rival::SENDER_FIRST`] says the opposite.
    fn receiver(
        hub: &Self::Hub,
        room: Room<'_>,
        link: Link,
        reader: usize,
    ) -> Result<Self::Receiver, CompareError>;

    /// The link's sender.
    fn sender(hub: &Self::Hub, room: Room<'_>, link: Link) -> Result<Self::Sender, CompareError>;
}

/// The writing end.
pub(crate) trait Sender<const N: usize> {
    /// Sends one message to all receivers; false when there is no room now.
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError>;

    /// Sends one message that only `reader` wants.
    fn send_to(&mut self, _reader: usize, message: &[u8; N]) -> Result<bool, CompareError> {
        self.send(message)
    }

    /// Sends up to `count` messages that bear the numbers from `first` on; how many there was room for.
    fn send_batch(&mut self, first: u64, count: u64, message: &mut [u8; N]) -> Result<u64, CompareError> {
        for sent in 0..count {
            number(message, first + sent);
            if !self.send(message)? {
                return Ok(sent);
            }
        }
        Ok(count)
    }
}

/// A reading end.
pub(crate) trait Receiver<const N: usize> {
    /// Hands up to `most` messages that are there to `each`; how many. A rival whose receivers sleep in the very call
    /// that receives may wait in here for the first.
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError>;

    /// Makes the last connections, before anything is sent.
    fn settle(&mut self) -> Result<(), CompareError> {
        Ok(())
    }

    /// Sleeps until there may be something, or for `timeout`.
    fn wait(&mut self, _timeout: Duration) -> Result<(), CompareError> {
        Ok(())
    }
}

/// Writes a message's number into its first bytes.
#[inline(always)]
pub(crate) fn number<const N: usize>(message: &mut [u8; N], number: u64) {
    message[..8].copy_from_slice(&number.to_le_bytes());
}

/// A message's number.
#[inline(always)]
pub(crate) fn number_of<const N: usize>(message: &[u8; N]) -> u64 {
    message.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
