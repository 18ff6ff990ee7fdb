//! A bounded channel between threads: the usual choice without shared memory.

use std::collections::BTreeMap;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, TryRecvError, TrySendError, bounded};

use crate::error::{CompareError, refused};
use crate::rival::{Can, Facts, Link, Receiver, Rival, Room, Sender};

const NAME: &str = "crossbeam";
/// Messages of each channel.
const CAPACITY: usize = 4096;

/// `crossbeam_channel::bounded`.
pub(crate) struct Crossbeam;

type Channel<const N: usize> = (crossbeam_channel::Sender<[u8; N]>, crossbeam_channel::Receiver<[u8; N]>);

/// All channels, by link and reader.
pub(crate) struct Hub<const N: usize>(BTreeMap<(usize, usize), Channel<N>>);

impl<const N: usize> Hub<N> {
    fn channel(&self, link: Link, reader: usize) -> Result<&Channel<N>, CompareError> {
        self.0.get(&(link.number, reader)).ok_or_else(|| refused(NAME, "find the channel")("no such reader"))
    }
}

impl<const N: usize> Rival<N> for Crossbeam {
    type Hub = Hub<N>;
    type Sender = Outgoing<N>;
    type Receiver = Incoming<N>;

    fn facts() -> Facts {
        Facts {
            name: NAME,
            version: "crossbeam-channel 0.5".to_owned(),
            settings: &[
                "threads of one process; one channel of 4,096 messages a reader",
                "polling: try_send, try_recv; asleep: recv_timeout",
            ],
            in_process: true,
            floor: false,
            naps: false,
            can: Can { die: false, ..Can::ALL },
        }
    }

    fn create(_room: Room<'_>, links: &[Link]) -> Result<Hub<N>, CompareError> {
        let channels = links
            .iter()
            .flat_map(|link| (0..link.readers).map(|reader| ((link.number, reader), bounded(CAPACITY))));
        Ok(Hub(channels.collect()))
    }

    fn receiver(
        hub: &Hub<N>,
        _room: Room<'_>,
        link: Link,
        reader: usize,
    ) -> Result<Incoming<N>, CompareError> {
        Ok(Incoming { channel: hub.channel(link, reader)?.1.clone(), slept: None })
    }

    fn sender(hub: &Hub<N>, _room: Room<'_>, link: Link) -> Result<Outgoing<N>, CompareError> {
        let channels = (0..link.readers).map(|reader| Ok(hub.channel(link, reader)?.0.clone()));
        Ok(Outgoing { channels: channels.collect::<Result<_, CompareError>>()? })
    }
}

/// The writing end of all channels of a link.
pub(crate) struct Outgoing<const N: usize> {
    channels: Vec<crossbeam_channel::Sender<[u8; N]>>,
}

impl<const N: usize> Sender<N> for Outgoing<N> {
    #[inline]
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError> {
        for (index, channel) in self.channels.iter().enumerate() {
            // Once the first receiver has it, the others must get it.
            while let Err(error) = channel.try_send(*message) {
                match error {
                    TrySendError::Full(_) if index == 0 => return Ok(false),
                    TrySendError::Full(_) => std::hint::spin_loop(),
                    TrySendError::Disconnected(_) => return Err(refused(NAME, "send")(error)),
                }
            }
        }
        Ok(true)
    }

    #[inline]
    fn send_to(&mut self, reader: usize, message: &[u8; N]) -> Result<bool, CompareError> {
        match self.channels[reader].try_send(*message) {
            Ok(()) => Ok(true),
            Err(TrySendError::Full(_)) => Ok(false),
            Err(error) => Err(refused(NAME, "send")(error)),
        }
    }
}

/// A reading end.
pub(crate) struct Incoming<const N: usize> {
    channel: crossbeam_channel::Receiver<[u8; N]>,
    /// The message that ended a sleep.
    slept: Option<[u8; N]>,
}

impl<const N: usize> Receiver<N> for Incoming<N> {
    #[inline]
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        let mut handed = 0;
        if let Some(message) = self.slept.take() {
            each(&message);
            handed = 1;
        }
        while handed < most {
            match self.channel.try_recv() {
                Ok(message) => each(&message),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
            handed += 1;
        }
        Ok(handed)
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), CompareError> {
        match self.channel.recv_timeout(timeout) {
            Ok(message) => self.slept = Some(message),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        Ok(())
    }
}
