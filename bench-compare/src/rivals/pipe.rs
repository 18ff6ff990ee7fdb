//! Pipes of the kernel: one for each reader.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::stat::Mode;

use super::kernel;
use super::stream::{Came, Incoming, Outgoing};
use crate::error::{CompareError, system};
use crate::rival::{Can, Facts, Link, Receiver, Rival, Room, Sender};

/// Bytes of each pipe.
const CAPACITY: i32 = 1 << 20;

/// Named pipes.
pub(crate) struct Pipe;

fn path(room: Room<'_>, link: Link, reader: usize) -> PathBuf {
    room.directory.join(format!("pipe-{}-{reader}", link.number))
}

impl<const N: usize> Rival<N> for Pipe {
    type Hub = ();
    type Sender = Outgoing<File>;
    type Receiver = Incoming<File>;

    fn facts() -> Facts {
        Facts {
            name: "pipe",
            version: kernel(),
            settings: &[
                "one pipe of 1 MiB a reader; the writer writes to those that want the message",
                "polling: O_NONBLOCK; asleep: reads that block",
                "one-way: 64 messages a write, 64 KiB a read",
            ],
            in_process: false,
            floor: false,
            naps: false,
            can: Can::ALL,
        }
    }

    fn create(room: Room<'_>, links: &[Link]) -> Result<(), CompareError> {
        for &link in links {
            for reader in 0..link.readers {
                nix::unistd::mkfifo(&path(room, link, reader), Mode::from_bits_truncate(0o600))
                    .map_err(system("make the pipe"))?;
            }
        }
        Ok(())
    }

    fn open(_room: Room<'_>, _links: &[Link]) -> Result<(), CompareError> {
        Ok(())
    }

    fn receiver((): &(), room: Room<'_>, link: Link, reader: usize) -> Result<Incoming<File>, CompareError> {
        // Opened for writing too, so that the pipe stays open when its writer dies.
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(if link.asleep { 0 } else { libc::O_NONBLOCK })
            .open(path(room, link, reader))
            .map_err(system("open the pipe"))?;
        fcntl(&file, FcntlArg::F_SETPIPE_SZ(CAPACITY)).map_err(system("set the size of the pipe"))?;
        Ok(Incoming::new(file))
    }

    fn sender((): &(), room: Room<'_>, link: Link) -> Result<Outgoing<File>, CompareError> {
        let open = |reader| {
            OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path(room, link, reader))
        };
        let files = (0..link.readers).map(open).collect::<Result<_, _>>();
        Ok(Outgoing::new(files.map_err(system("open the pipe"))?))
    }
}

impl<const N: usize> Sender<N> for Outgoing<File> {
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError> {
        Outgoing::send(self, message)
    }

    fn send_to(&mut self, reader: usize, message: &[u8; N]) -> Result<bool, CompareError> {
        Outgoing::send_to(self, reader, message)
    }

    fn send_batch(&mut self, first: u64, count: u64, message: &mut [u8; N]) -> Result<u64, CompareError> {
        Outgoing::send_batch(self, first, count, message)
    }
}

impl<const N: usize> Receiver<N> for Incoming<File> {
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        match Incoming::receive(self, most, each)? {
            Came::Messages(count) => Ok(count),
            Came::End => Ok(0),
        }
    }
}
