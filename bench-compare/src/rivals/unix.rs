//! Unix domain sockets: one connection for each reader.

use std::io::ErrorKind;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use super::kernel;
use super::stream::{Came, Incoming, Outgoing};
use crate::error::{CompareError, system};
use crate::rival::{Can, Facts, Link, Receiver, Rival, Room, Sender};

/// Stream sockets.
pub(crate) struct Unix;

fn path(room: Room<'_>, link: Link, reader: usize) -> PathBuf {
    room.directory.join(format!("socket-{}-{reader}", link.number))
}

impl<const N: usize> Rival<N> for Unix {
    type Hub = ();
    type Sender = Outgoing<UnixStream>;
    type Receiver = Listening;

    fn facts() -> Facts {
        Facts {
            name: "unix-socket",
            version: kernel(),
            settings: &[
                "one stream socket a reader; the writer writes to those that want the message",
                "polling: not blocking; asleep: reads that block",
                "one-way: 64 messages a write, 64 KiB a read; buffers as the system sets them",
            ],
            in_process: false,
            floor: false,
            naps: false,
            can: Can::ALL,
        }
    }

    fn create(_room: Room<'_>, _links: &[Link]) -> Result<(), CompareError> {
        Ok(())
    }

    fn receiver((): &(), room: Room<'_>, link: Link, reader: usize) -> Result<Listening, CompareError> {
        let listener =
            UnixListener::bind(path(room, link, reader)).map_err(system("listen on the socket"))?;
        listener.set_nonblocking(!link.asleep).map_err(system("set up the socket"))?;
        Ok(Listening { listener, asleep: link.asleep, incoming: None })
    }

    fn sender((): &(), room: Room<'_>, link: Link) -> Result<Outgoing<UnixStream>, CompareError> {
        let connect = |reader| {
            let stream = UnixStream::connect(path(room, link, reader))?;
            stream.set_nonblocking(true)?;
            Ok::<_, std::io::Error>(stream)
        };
        let streams = (0..link.readers).map(connect).collect::<Result<_, _>>();
        Ok(Outgoing::new(streams.map_err(system("connect to the socket"))?))
    }
}

impl<const N: usize> Sender<N> for Outgoing<UnixStream> {
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

/// A reader: takes the next writer's connection when the last one has ended.
pub(crate) struct Listening {
    listener: UnixListener,
    asleep: bool,
    incoming: Option<Incoming<UnixStream>>,
}

impl Listening {
    #[cold]
    fn accept(&mut self) -> Result<(), CompareError> {
        match self.listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(!self.asleep).map_err(system("set up the connection"))?;
                self.incoming = Some(Incoming::new(stream));
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(system("accept the connection")(error)),
        }
    }
}

impl<const N: usize> Receiver<N> for Listening {
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        let Some(incoming) = &mut self.incoming else {
            self.accept()?;
            return Ok(0);
        };
        match incoming.receive(most, each)? {
            Came::Messages(count) => Ok(count),
            Came::End => {
                self.incoming = None;
                Ok(0)
            }
        }
    }
}
