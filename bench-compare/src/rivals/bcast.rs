//! bcast: one writer that never waits, many readers.

use std::path::PathBuf;

use ::bcast::{Error, HEADER_SIZE, MappedReader, MappedWriter, MmapMutStorage, MmapStorage, StorageExt as _};

use crate::error::{CompareError, refused};
use crate::rival::{Can, Facts, Link, Receiver, Rival, Room, Sender};

const NAME: &str = "bcast";
/// Bytes of a ring.
const CAPACITY: usize = 1 << 20;

/// bcast over mapped files.
pub(crate) struct Bcast;

fn path(room: Room<'_>, link: Link) -> PathBuf {
    room.directory.join(format!("bcast-{}", link.number))
}

impl<const N: usize> Rival<N> for Bcast {
    type Hub = ();
    type Sender = MappedWriter;
    type Receiver = Reading<N>;

    fn facts() -> Facts {
        Facts {
            name: NAME,
            version: "bcast 1.0.0-rc.7".to_owned(),
            settings: &[
                "MmapMutStorage of 1 MiB, populated and locked by the crate; send, read_batch",
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
            let storage = MmapMutStorage::new(path(room, link), HEADER_SIZE + CAPACITY);
            storage.map_err(refused(NAME, "make the ring"))?.into_writer();
        }
        Ok(())
    }

    fn open(_room: Room<'_>, _links: &[Link]) -> Result<(), CompareError> {
        Ok(())
    }

    fn receiver((): &(), room: Room<'_>, link: Link, _reader: usize) -> Result<Reading<N>, CompareError> {
        let storage = MmapStorage::attach(path(room, link)).map_err(refused(NAME, "attach"))?;
        Ok(Reading { reader: storage.into_reader() })
    }

    fn sender((): &(), room: Room<'_>, link: Link) -> Result<MappedWriter, CompareError> {
        let storage = MmapMutStorage::attach(path(room, link)).map_err(refused(NAME, "attach"))?;
        Ok(storage.join_writer())
    }
}

impl<const N: usize> Sender<N> for MappedWriter {
    #[inline]
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError> {
        MappedWriter::send(self, message, true);
        Ok(true)
    }
}

/// A reading end.
pub(crate) struct Reading<const N: usize> {
    reader: MappedReader,
}

impl<const N: usize> Receiver<N> for Reading<N> {
    #[inline]
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        let mut message = [0; N];
        let mut handed = 0;
        let Some(mut batch) = self.reader.read_batch() else { return Ok(0) };
        while handed < most
            && let Some(came) = batch.receive_next(&mut message)
        {
            match came {
                Ok(_) => each(&message),
                Err(Error::Overrun(_)) => {
                    batch.reset();
                    return Ok(handed);
                }
                Err(error) => return Err(refused(NAME, "receive")(error)),
            }
            handed += 1;
        }
        Ok(handed)
    }
}
