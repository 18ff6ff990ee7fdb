//! A stand-in for Kungfu's way of waking: a socket message from the writer to a relay, and from there to all readers.
//! It is not Kungfu: it has the same two hops and also wakes all readers, over the sockets of `nng`, and the data
//! travels in the message.

use std::path::Path;
use std::time::Duration;

use nng::options::protocol::pubsub::Subscribe;
use nng::options::{Options as _, RecvTimeout};
use nng::{Protocol, Socket};

use super::helper::Helper;
use crate::error::{CompareError, refused};
use crate::rival::{Can, Facts, Link, Receiver, Rival, Room, Sender};

const NAME: &str = "kungfu-stand-in";
/// Name of the helper.
pub(super) const RELAY: &str = "relay";

/// Writer → relay → all readers.
pub(crate) struct KungfuStandIn;

fn url(room: &Path, what: &str) -> String {
    format!("ipc://{}", room.join(what).display())
}

/// The relay: forwards every message to all.
pub(super) fn relay(room: &Path) -> Result<(), CompareError> {
    crate::place::follow_parent()?;
    let from = Socket::new(Protocol::Pull0).map_err(refused(NAME, "make a socket"))?;
    let to = Socket::new(Protocol::Pub0).map_err(refused(NAME, "make a socket"))?;
    to.listen(&url(room, "nng-readers")).map_err(refused(NAME, "listen"))?;
    from.listen(&url(room, "nng-writer")).map_err(refused(NAME, "listen"))?;
    loop {
        let message = from.recv().map_err(refused(NAME, "receive"))?;
        to.send(message).map_err(|(_, error)| refused(NAME, "pass on")(error))?;
    }
}

/// Waits for the relay.
fn dial(socket: &Socket, url: &str) -> Result<(), CompareError> {
    for _ in 0..500 {
        if socket.dial(url).is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(refused(NAME, "reach the relay")("it does not answer"))
}

impl<const N: usize> Rival<N> for KungfuStandIn {
    type Hub = Option<Helper>;
    type Sender = Writing;
    type Receiver = Reading<N>;

    fn facts() -> Facts {
        Facts {
            name: NAME,
            version: "nng crate 1.0".to_owned(),
            settings: &[
                "a stand-in, not Kungfu: writer → relay process → 80 readers over nng sockets (push/pull, pub/sub, ipc://)",
                "everybody is woken by every message and looks whether it is theirs; pub/sub drops what readers do not take",
            ],
            in_process: false,
            floor: false,
            naps: false,
            can: Can { ping: false, one_way: false, fan_out: false, lossless: false, die: false, ..Can::ALL },
        }
    }

    fn create(room: Room<'_>, _links: &[Link]) -> Result<Option<Helper>, CompareError> {
        Helper::start(RELAY, room.directory).map(Some)
    }

    fn open(_room: Room<'_>, _links: &[Link]) -> Result<Option<Helper>, CompareError> {
        Ok(None)
    }

    fn receiver(
        _hub: &Option<Helper>,
        room: Room<'_>,
        _link: Link,
        _reader: usize,
    ) -> Result<Reading<N>, CompareError> {
        let socket = Socket::new(Protocol::Sub0).map_err(refused(NAME, "make a socket"))?;
        socket.set_opt::<Subscribe>(Vec::new()).map_err(refused(NAME, "subscribe"))?;
        dial(&socket, &url(room.directory, "nng-readers"))?;
        Ok(Reading { socket, slept: None })
    }

    fn sender(_hub: &Option<Helper>, room: Room<'_>, _link: Link) -> Result<Writing, CompareError> {
        let socket = Socket::new(Protocol::Push0).map_err(refused(NAME, "make a socket"))?;
        dial(&socket, &url(room.directory, "nng-writer"))?;
        Ok(Writing { socket })
    }
}

/// The writing end.
pub(crate) struct Writing {
    socket: Socket,
}

impl<const N: usize> Sender<N> for Writing {
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError> {
        let sent = self.socket.send(&message[..]);
        sent.map(|()| true).map_err(|(_, error)| refused(NAME, "send")(error))
    }
}

/// A reading end.
pub(crate) struct Reading<const N: usize> {
    socket: Socket,
    /// The message that ended a sleep.
    slept: Option<nng::Message>,
}

impl<const N: usize> Receiver<N> for Reading<N> {
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        let mut handed = 0;
        while handed < most {
            let Some(message) = self.slept.take().or_else(|| self.socket.try_recv().ok()) else { break };
            message.first_chunk().map(&mut *each).unwrap_or(());
            handed += 1;
        }
        Ok(handed)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), CompareError> {
        self.socket.set_opt::<RecvTimeout>(Some(timeout)).map_err(refused(NAME, "set the time-out"))?;
        // A time-out needs no distinction here.
        self.slept = self.socket.recv().ok();
        Ok(())
    }
}
