//! kekbit: a file that is written once from beginning to end.
#![allow(unsafe_code)]

use std::path::{Path, PathBuf};

use ::kekbit::api::{EncoderHandler, Reader as _, WriteError, Writer as _};
use ::kekbit::core::{Metadata, ShmReader, ShmWriter, TickUnit, shm_reader, shm_writer, storage_path};

use crate::error::{CompareError, refused, system};
use crate::rival::{Can, Facts, Link, Receiver, Rival, Room, Sender};
use crate::task::Work;

const NAME: &str = "kekbit";
/// Largest size of a channel.
const MOST: u64 = 1 << 29;

/// kekbit.
pub(crate) struct Kekbit;

fn folder(room: Room<'_>) -> PathBuf {
    room.directory.join("kekbit")
}

/// Capacity for everything that will be written: a channel does not wrap.
fn capacity(work: Work, payload: usize) -> u32 {
    let record = (payload + 16) as u64;
    let bytes = match work {
        Work::PingPong { trips, warm_up } | Work::PingPongAsleep { trips, warm_up } => {
            (trips + warm_up) * record + (1 << 20)
        }
        _ => MOST,
    };
    bytes.min(MOST) as u32
}

/// Populates this process's mapping of a channel in advance.
fn populate(path: &Path) -> Result<(), CompareError> {
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(system("read the mappings"))?;
    let line = maps.lines().find(|line| line.ends_with(&*path.to_string_lossy()));
    let range = line.and_then(|line| line.split_ascii_whitespace().next()?.split_once('-'));
    let parsed = range.and_then(|(from, to)| {
        Some((usize::from_str_radix(from, 16).ok()?, usize::from_str_radix(to, 16).ok()?))
    });
    let (from, to) = parsed.ok_or_else(|| refused(NAME, "find the channel's mapping")("it is not there"))?;
    // SAFETY: the range is a live mapping of this process; populating changes no byte of it.
    let done = unsafe {
        libc::madvise(std::ptr::with_exposed_provenance_mut(from), to - from, libc::MADV_POPULATE_WRITE)
    };
    if done == 0 { Ok(()) } else { Err(system("populate the channel")(std::io::Error::last_os_error())) }
}

fn failed<E: std::fmt::Debug>(action: &'static str) -> impl Fn(E) -> CompareError {
    move |error| refused(NAME, action)(format!("{error:?}"))
}

impl<const N: usize> Rival<N> for Kekbit {
    type Hub = ();
    type Sender = Writing;
    type Receiver = Reading;
    const SENDER_FIRST: bool = true;

    fn facts() -> Facts {
        Facts {
            name: NAME,
            version: "kekbit 0.3.5".to_owned(),
            settings: &[
                "a channel in /dev/shm that holds all that is written, 512 MiB at most: it does not wrap",
                "its pages are populated in both processes before anything is measured",
                "one-way ends when the channel is full; no way to sleep of its own",
            ],
            in_process: false,
            floor: false,
            naps: false,
            can: Can { sleep: false, endless: false, ..Can::ALL },
        }
    }

    fn create(_room: Room<'_>, _links: &[Link]) -> Result<(), CompareError> {
        Ok(())
    }

    fn receiver((): &(), room: Room<'_>, link: Link, _reader: usize) -> Result<Reading, CompareError> {
        let mut reading = Reading { folder: folder(room), channel: link.number as u64, reader: None };
        // If the writer does not exist yet, attach later.
        if storage_path(&reading.folder, reading.channel).exists() {
            reading.attach()?;
        }
        Ok(reading)
    }

    fn sender((): &(), room: Room<'_>, link: Link) -> Result<Writing, CompareError> {
        let capacity = capacity(room.task.work, N);
        let metadata =
            Metadata::new(1, link.number as u64, capacity, N as u32, u64::MAX >> 1, TickUnit::Nanos);
        let writer = shm_writer(&folder(room), &metadata, EncoderHandler::default())
            .map_err(failed("make the channel"))?;
        populate(&storage_path(&folder(room), link.number as u64))?;
        Ok(Writing { writer })
    }
}

/// The writing end.
pub(crate) struct Writing {
    writer: ShmWriter<EncoderHandler>,
}

impl<const N: usize> Sender<N> for Writing {
    #[inline]
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError> {
        match self.writer.write(&&message[..]) {
            Ok(_) => Ok(true),
            // It reports a message that does not fit into the rest of a channel as an encoding error.
            Err(WriteError::ChannelFull | WriteError::NoSpaceForRecord | WriteError::EncodingError(_)) => {
                Ok(false)
            }
            Err(error) => Err(failed("write")(error)),
        }
    }
}

/// A reading end.
pub(crate) struct Reading {
    folder: PathBuf,
    channel: u64,
    reader: Option<ShmReader>,
}

impl Reading {
    #[cold]
    fn attach(&mut self) -> Result<(), CompareError> {
        let reader = shm_reader(&self.folder, self.channel).map_err(failed("open the channel"))?;
        populate(&storage_path(&self.folder, self.channel))?;
        self.reader = Some(reader);
        Ok(())
    }
}

impl<const N: usize> Receiver<N> for Reading {
    #[inline]
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        let Some(reader) = &mut self.reader else {
            // The channel may exist and not be complete yet.
            let _ = self.attach();
            return Ok(0);
        };
        let mut handed = 0;
        while handed < most {
            match reader.try_read().map_err(failed("read"))? {
                Some(record) => record.first_chunk().map(&mut *each).unwrap_or(()),
                None => break,
            }
            handed += 1;
        }
        Ok(handed)
    }
}
