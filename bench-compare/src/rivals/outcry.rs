//! outcry: one writer that never waits, many readers.

use std::path::PathBuf;

use ::outcry::{Consumer, Error, Producer, Queue};

use crate::error::{CompareError, refused};
use crate::rival::{Can, Facts, Link, Receiver, Rival, Room, Sender};

const NAME: &str = "outcry";
/// Bytes of a ring.
const CAPACITY: u64 = 1 << 20;

/// outcry.
pub(crate) struct Outcry;

fn path(room: Room<'_>, link: Link) -> PathBuf {
    room.directory.join(format!("outcry-{}", link.number))
}

impl<const N: usize> Rival<N> for Outcry {
    type Hub = ();
    type Sender = Writing;
    type Receiver = Reading;

    fn facts() -> Facts {
        Facts {
            name: NAME,
            version: "outcry 0.2".to_owned(),
            settings: &[
                "a queue of 1 MiB in /dev/shm; write, try_read; a writer that comes again opens the same queue",
                "lossy by design: a writer at full speed laps its readers; what they lost is counted",
                "no way to sleep of its own",
            ],
            in_process: false,
            floor: false,
            naps: false,
            can: Can { sleep: false, lossless: false, ..Can::ALL },
        }
    }

    fn create(room: Room<'_>, links: &[Link]) -> Result<(), CompareError> {
        for &link in links {
            Queue::create(path(room, link), CAPACITY).map_err(refused(NAME, "make the queue"))?;
        }
        Ok(())
    }

    fn open(_room: Room<'_>, _links: &[Link]) -> Result<(), CompareError> {
        Ok(())
    }

    fn receiver((): &(), room: Room<'_>, link: Link, _reader: usize) -> Result<Reading, CompareError> {
        let queue = Queue::open(path(room, link)).map_err(refused(NAME, "open the queue"))?;
        Ok(Reading { consumer: queue.consumer() })
    }

    fn sender((): &(), room: Room<'_>, link: Link) -> Result<Writing, CompareError> {
        let queue = Queue::open(path(room, link)).map_err(refused(NAME, "open the queue"))?;
        let producer = queue.producer().map_err(refused(NAME, "produce"))?;
        Ok(Writing { producer, _queue: queue })
    }
}

/// The writing end.
pub(crate) struct Writing {
    producer: Producer,
    _queue: Queue,
}

impl<const N: usize> Sender<N> for Writing {
    #[inline]
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError> {
        self.producer.write(message).map_err(refused(NAME, "write"))?;
        Ok(true)
    }
}

/// A reading end.
pub(crate) struct Reading {
    consumer: Consumer,
}

impl<const N: usize> Receiver<N> for Reading {
    #[inline]
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        let mut message = [0; N];
        let mut handed = 0;
        while handed < most {
            match self.consumer.try_read(&mut message) {
                Ok(Some(_)) => each(&message),
                Ok(None) => break,
                Err(Error::Overrun { .. }) => {
                    self.consumer.resync();
                    break;
                }
                Err(error) => return Err(refused(NAME, "read")(error)),
            }
            handed += 1;
        }
        Ok(handed)
    }
}
