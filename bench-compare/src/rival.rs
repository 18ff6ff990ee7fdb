//! The interface of a rival.

use std::path::Path;
use std::time::Duration;

use crate::error::CompareError;
use crate::task::Task;

/// The facts about a rival in the output.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// Short name, as in the tables.
    pub(crate) name: &'static str,
    /// Version of the linked library.
    pub(crate) version: String,
    /// Its settings, one line each.
    pub(crate) settings: &'static [&'static str],
    /// Runs as threads of one process instead of processes: a point of reference.
    pub(crate) in_process: bool,
    /// The bare machine, for comparison; not ranked.
    pub(crate) floor: bool,
    /// Nothing wakes its readers: instead of sleeping they nap by a timer and look.
    pub(crate) naps: bool,
    /// Its capabilities.
    pub(crate) can: Can,
}

/// The capabilities of a rival. Missing ones are shown as such, and not measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Can {
    /// Ping-pong.
    pub(crate) ping: bool,
    /// Its readers can sleep until a message arrives.
    pub(crate) sleep: bool,
    /// One-way, from one to one.
    pub(crate) one_way: bool,
    /// One-way, one writer to several readers, each of which gets all messages.
    pub(crate) fan_out: bool,
    /// One writer, many sleeping readers.
    pub(crate) sleepers: bool,
    /// The writer waits for slow readers; otherwise it overwrites what they have not read.
    pub(crate) lossless: bool,
    /// It runs without limit: read messages make room for new ones.
    pub(crate) endless: bool,
    /// Its processes can be killed and restarted.
    pub(crate) die: bool,
}

impl Can {
    /// All of them.
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

/// The environment of a block, as seen by one role.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room<'a> {
    /// Folder of this block, in memory.
    pub(crate) directory: &'a Path,
    /// The task.
    pub(crate) task: &'a Task,
    /// The role of this process.
    pub(crate) role: usize,
}

/// One direction: one sender, several receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// Distinguishes the links of one block, from 0.
    pub(crate) number: usize,
    /// Receivers.
    pub(crate) readers: usize,
    /// Receivers sleep, so the sender must wake them.
    pub(crate) asleep: bool,
    /// Each message is for one of the receivers, and no other reads it.
    pub(crate) routed: bool,
}

/// A rival, for messages of `N` bytes.
pub(crate) trait Rival<const N: usize> {
    /// What one process holds for the whole block; shared by the threads of a rival that runs in one process.
    type Hub: Sync;
    /// The writing end of a link.
    type Sender: Sender<N>;
    /// A reading end.
    type Receiver: Receiver<N>;

    /// The sender must exist before its receivers attach.
    const SENDER_FIRST: bool = false;

    /// Facts about it.
    fn facts() -> Facts;

    /// Called by role 0, before all others: creates what the links need.
    fn create(room: Room<'_>, links: &[Link]) -> Result<Self::Hub, CompareError>;

    /// Called by every other role; never for rivals in one process.
    fn open(room: Room<'_>, links: &[Link]) -> Result<Self::Hub, CompareError> {
        Self::create(room, links)
    }

    /// One of the link's receivers, from 0. All receivers of a link are created before its sender, unless
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

    /// Sends one message to `reader` only.
    fn send_to(&mut self, _reader: usize, message: &[u8; N]) -> Result<bool, CompareError> {
        self.send(message)
    }

    /// Sends up to `count` messages with the numbers from `first` on; returns how many fitted.
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
    /// Passes up to `most` available messages to `each`; returns how many. A rival whose receivers sleep inside the
    /// receiving call may wait here for the first.
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError>;

    /// Completes connections, before anything is sent.
    fn settle(&mut self) -> Result<(), CompareError> {
        Ok(())
    }

    /// Sleeps until there may be a message, or for `timeout`.
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
