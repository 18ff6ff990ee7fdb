//! shaq: a queue between two processes, and a broadcast for several readers.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::shaq::broadcast::{self, Broadcast, BroadcastConfig, ProducerId};
use ::shaq::spsc;
use journal::process::ProcessIdentity;

use super::supervise;
use crate::error::{CompareError, refused, system};
use crate::rival::{Can, Facts, Link, Receiver, Rival, Room, Sender, number};
use crate::task::Work;

const NAME: &str = "shaq";
/// Messages of a queue.
const CAPACITY: usize = 8192;

/// shaq.
pub(crate) struct Shaq;

/// A queue for each reader of a routed link; otherwise one for all.
fn path(room: Room<'_>, link: Link, reader: usize) -> PathBuf {
    room.directory.join(format!("shaq-{}-{}", link.number, if link.routed { reader } else { 0 }))
}

/// True when one reader reads what is written.
fn is_single(link: Link) -> bool {
    link.routed || link.readers == 1
}

fn file(path: &Path) -> Result<File, CompareError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).map_err(system("open the queue's file"))
}

fn failed<E: std::fmt::Debug>(action: &'static str) -> impl Fn(E) -> CompareError {
    move |error| refused(NAME, action)(format!("{error:?}"))
}

impl<const N: usize> Rival<N> for Shaq {
    type Hub = ();
    type Sender = Writing<N>;
    type Receiver = Reading<N>;

    fn facts() -> Facts {
        Facts {
            name: NAME,
            version: "shaq 4.3 (later ones need a newer compiler than this one)".to_owned(),
            settings: &[
                "1 → 1: shaq::spsc of 8,192 [u8; N] in /dev/shm; 1 → 3: shaq::broadcast, lossless",
                "one-way: write batches and try_write_slice of 64, read batches; asleep: its own futex, wait_readable_timeout",
                "80 sleepers: one spsc queue for each reader; the writer picks the one that wants the message",
                "a killed broadcast reader is force-released by who supervises it, on its pidfd",
            ],
            in_process: false,
            floor: false,
            naps: false,
            can: Can::ALL,
        }
    }

    fn create(room: Room<'_>, links: &[Link]) -> Result<(), CompareError> {
        for &link in links {
            if !is_single(link) {
                let config = BroadcastConfig { capacity: CAPACITY, producer_slots: 1, consumer_slots: 8 };
                // SAFETY: only this role initialises the file, before any other opens it; all use [u8; N].
                unsafe { Broadcast::<[u8; N]>::create(&file(&path(room, link, 0))?, config) }
                    .map_err(failed("make the broadcast"))?;
                continue;
            }
            let (queues, capacity) = if link.routed { (link.readers, 256) } else { (1, CAPACITY) };
            for reader in 0..queues {
                let bytes = spsc::minimum_file_size::<[u8; N]>(capacity);
                // SAFETY: as above; this handle is dropped before the one producer joins.
                unsafe { spsc::Producer::<[u8; N]>::create(&file(&path(room, link, reader))?, bytes) }
                    .map_err(failed("make the queue"))?;
            }
        }
        Ok(())
    }

    fn open(_room: Room<'_>, _links: &[Link]) -> Result<(), CompareError> {
        Ok(())
    }

    fn receiver((): &(), room: Room<'_>, link: Link, reader: usize) -> Result<Reading<N>, CompareError> {
        let file = file(&path(room, link, reader))?;
        if is_single(link) {
            // SAFETY: each queue has one consumer, and all its users agree on [u8; N].
            let consumer = unsafe { spsc::Consumer::join(&file) };
            return Ok(Reading::Single(consumer.map_err(failed("join the queue"))?));
        }
        // SAFETY: all participants agree on [u8; N], which is valid in every process.
        let consumer = unsafe { broadcast::Consumer::join(&file) }.map_err(failed("join the broadcast"))?;
        // For the supervising role.
        let note = format!("{} {}", std::process::id(), consumer.index());
        std::fs::write(room.directory.join(format!("shaq-reader-{reader}")), note)
            .map_err(system("write down the reader's index"))?;
        Ok(Reading::Multi(consumer))
    }

    fn sender((): &(), room: Room<'_>, link: Link) -> Result<Writing<N>, CompareError> {
        if !is_single(link) {
            // SAFETY: all participants agree on [u8; N], which is valid in every process.
            let joined = unsafe { Broadcast::<[u8; N]>::join(&file(&path(room, link, 0))?) };
            let joined = joined.map_err(failed("join the broadcast"))?;
            let producer = joined.producer(ProducerId::new(1)).map_err(failed("take the lane"))?;
            if room.task.work == Work::ReaderDies {
                release_the_dead(&joined, room, link)?;
            }
            return Ok(Writing::Multi { producer, batch: Vec::new() });
        }
        let queues = if link.routed { link.readers } else { 1 };
        let producers = (0..queues).map(|reader| {
            // SAFETY: this role is the one producer; a killed predecessor is gone.
            unsafe { spsc::Producer::join(&file(&path(room, link, reader))?) }
                .map_err(failed("join the queue"))
        });
        Ok(Writing::Single(producers.collect::<Result<_, _>>()?))
    }
}

/// Returns the places of dead readers to the queue.
fn release_the_dead<const N: usize>(
    joined: &Broadcast<[u8; N]>,
    room: Room<'_>,
    link: Link,
) -> Result<(), CompareError> {
    for reader in 0..link.readers {
        let note = std::fs::read_to_string(room.directory.join(format!("shaq-reader-{reader}")))
            .map_err(system("read the reader's index"))?;
        let (pid, index) = note.split_once(' ').unwrap_or_default();
        let (Ok(pid), Ok(index)) = (pid.parse(), index.parse()) else { continue };
        let Some(process) = ProcessIdentity::of(pid) else { continue };
        let joined = joined.clone();
        supervise::on_death(process, move || {
            // SAFETY: the owner of the index is dead, and no process joins or leaves meanwhile.
            let released = unsafe { joined.force_release(index) };
            // A failure shows in the measurement.
            drop(released);
        })?;
    }
    Ok(())
}

/// The writing end.
pub(crate) enum Writing<const N: usize> {
    /// A queue for each reader, or one.
    Single(Vec<spsc::Producer<[u8; N]>>),
    /// A broadcast.
    Multi {
        /// Its lane.
        producer: broadcast::Producer<[u8; N]>,
        /// Room for a batch.
        batch: Vec<[u8; N]>,
    },
}

impl<const N: usize> Sender<N> for Writing<N> {
    #[inline]
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError> {
        self.send_to(0, message)
    }

    #[inline]
    fn send_to(&mut self, reader: usize, message: &[u8; N]) -> Result<bool, CompareError> {
        Ok(match self {
            Writing::Single(producers) => producers[reader].try_write(*message).is_ok(),
            Writing::Multi { producer, .. } => producer.try_write(*message).is_ok(),
        })
    }

    #[inline]
    fn send_batch(&mut self, first: u64, count: u64, message: &mut [u8; N]) -> Result<u64, CompareError> {
        match self {
            Writing::Single(producers) => {
                let mut batch = producers[0].write_batch();
                for sent in 0..count {
                    number(message, first + sent);
                    if batch.try_write(*message).is_err() {
                        return Ok(sent);
                    }
                }
                Ok(count)
            }
            Writing::Multi { producer, batch } => {
                batch.clear();
                batch.extend((first..first + count).map(|index| {
                    number(message, index);
                    *message
                }));
                Ok(if producer.try_write_slice(batch) { count } else { 0 })
            }
        }
    }
}

/// A reading end.
pub(crate) enum Reading<const N: usize> {
    /// Of a queue.
    Single(spsc::Consumer<[u8; N]>),
    /// Of a broadcast.
    Multi(broadcast::Consumer<[u8; N]>),
}

impl<const N: usize> Receiver<N> for Reading<N> {
    #[inline]
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        let most = NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN);
        let one = most == NonZeroUsize::MIN;
        match self {
            Reading::Single(consumer) if one => Ok(consumer.try_read().map_or(0, |message| {
                each(&message);
                1
            })),
            Reading::Multi(consumer) if one => Ok(consumer.try_read().map_or(0, |message| {
                each(&message);
                1
            })),
            Reading::Single(consumer) => Ok(consumer.try_reserve_read_batch(most).map_or(0, |batch| {
                let (front, back) = batch.as_slices();
                front.iter().chain(back).for_each(&mut *each);
                front.len() + back.len()
            })),
            Reading::Multi(consumer) => Ok(consumer.try_reserve_read_batch(most).map_or(0, |batch| {
                let (front, back) = batch.as_slices();
                front.iter().chain(back).for_each(&mut *each);
                front.len() + back.len()
            })),
        }
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), CompareError> {
        if let Reading::Single(consumer) = self {
            // A time-out needs no distinction here.
            let _ = consumer.wait_readable_timeout(timeout);
        }
        Ok(())
    }
}
