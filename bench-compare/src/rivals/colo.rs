//! Colo, through the public interface of the `journal` crate.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use journal::{Clock, GatedReader, Journal, JournalFiles, JournalShape, Registry, Topics, WriteError, Writer};
use journal::wait::{Parker, announce};

use super::supervise;
use crate::error::{CompareError, refused};
use crate::rival::{Can, Facts, Link, Receiver, Rival, Room, Sender};

const NAME: &str = "colo";
/// Bytes of a ring.
const CAPACITY: u64 = 1 << 20;
const SEATS: u32 = 128;
const TOPICS: u32 = 128;

/// Colo's journals.
pub(crate) struct Colo;

/// What one process has opened.
pub(crate) struct Hub {
    registry: Arc<Registry>,
    clock: Clock,
}

pub(super) fn files(room: &Path, link: usize) -> JournalFiles {
    JournalFiles::new(room, room, &format!("link-{link}"))
}

fn journal(room: Room<'_>, link: Link) -> Result<Journal, CompareError> {
    Journal::open(files(room.directory, link.number)).map_err(refused(NAME, "open the journal"))
}

impl<const N: usize> Rival<N> for Colo {
    type Hub = Hub;
    type Sender = End;
    type Receiver = Reading;

    fn facts() -> Facts {
        Facts {
            name: NAME,
            version: "this checkout".to_owned(),
            settings: &[
                "journals of 1 MiB on 4 KiB pages, gated readers: nothing is lost",
                "one-way: Writer::claim_records of 64 messages, GatedReader::read_batch; else frame by frame",
                "asleep: Parker; writers wake those who are parked and want the topic",
                "every frame bears its time of commit; the TSC clock where the kernel trusts it",
                "a killed gated reader is dismissed by who supervises it, on its pidfd, as master does",
            ],
            in_process: false,
            floor: false,
            naps: false,
            can: Can::ALL,
        }
    }

    fn create(room: Room<'_>, links: &[Link]) -> Result<Hub, CompareError> {
        let clock = Clock::calibrate();
        let registry = Registry::create(&room.directory.join("registry"), SEATS, clock)
            .map_err(refused(NAME, "make the registry"))?;
        for &link in links {
            let shape = JournalShape {
                id: link.number as u32,
                name: format!("link-{}", link.number),
                capacity: CAPACITY,
                seats: SEATS,
                topics: TOPICS,
                page: 4096,
            };
            Journal::create(files(room.directory, link.number), shape, clock.now())
                .map_err(refused(NAME, "make the journal"))?;
        }
        Ok(Hub { registry: registry.into(), clock })
    }

    fn open(room: Room<'_>, _links: &[Link]) -> Result<Hub, CompareError> {
        let path = room.directory.join("registry");
        let registry = Registry::open(&path).map_err(refused(NAME, "open the registry"))?;
        let clock = registry.clock(&path).map_err(refused(NAME, "read the clock"))?;
        Ok(Hub { registry: registry.into(), clock })
    }

    fn receiver(hub: &Hub, room: Room<'_>, link: Link, reader: usize) -> Result<Reading, CompareError> {
        let seat = room.role as u32;
        if let Some(place) = hub.registry.occupy(seat) {
            place.set_process(journal::process::ProcessIdentity::current());
        }
        let journal = journal(room, link)?;
        let mut reading = journal.gated(seat).map_err(refused(NAME, "read the journal"))?;
        let topic = [reader as u32];
        if link.routed {
            reading.set_topics(Topics::only(topic));
        }
        if !link.asleep {
            return Ok(Reading { reader: reading, parker: None });
        }
        journal
            .set_interest(seat, link.routed.then_some(&topic[..]))
            .map_err(refused(NAME, "announce interest"))?;
        announce(&hub.registry);
        Ok(Reading { reader: reading, parker: Parker::new(Arc::clone(&hub.registry), seat) })
    }

    fn sender(hub: &Hub, room: Room<'_>, link: Link) -> Result<End, CompareError> {
        let writer = journal(room, link)?.writer(room.role as u32, hub.clock);
        let mut writer = writer.map_err(refused(NAME, "write the journal"))?;
        if link.asleep {
            writer.wake_through(Arc::clone(&hub.registry));
        }
        if room.task.work == crate::task::Work::ReaderDies {
            dismiss_the_dead(hub, room, link)?;
        }
        Ok(End { writer })
    }
}

/// Does what master does for its nodes: a dead reader no longer holds up the writer.
fn dismiss_the_dead(hub: &Hub, room: Room<'_>, link: Link) -> Result<(), CompareError> {
    for seat in 1..=link.readers as u32 {
        let Some(process) = hub.registry.seat(seat).map(|seat| seat.process()) else { continue };
        let journal = journal(room, link)?;
        supervise::on_death(process, move || {
            if let Err(error) = journal.dismiss(seat) {
                // The driver reports it if the other reader stays silent.
                eprintln!("seat {seat} cannot be dismissed: {error}");
            }
        })?;
    }
    Ok(())
}

/// The writing end.
pub(crate) struct End {
    writer: Writer,
}

impl End {
    #[inline(always)]
    fn write(&mut self, topic: u32, message: &[u8]) -> Result<bool, CompareError> {
        match self.writer.write(1, topic, message) {
            Ok(_) => Ok(true),
            Err(WriteError::Full { .. }) => Ok(false),
            Err(error) => Err(refused(NAME, "write")(error)),
        }
    }
}

impl<const N: usize> Sender<N> for End {
    #[inline(always)]
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError> {
        self.write(0, message)
    }

    #[inline(always)]
    fn send_to(&mut self, reader: usize, message: &[u8; N]) -> Result<bool, CompareError> {
        self.write(reader as u32, message)
    }

    #[inline(always)]
    fn send_batch(&mut self, first: u64, count: u64, message: &mut [u8; N]) -> Result<u64, CompareError> {
        let mut records = match self.writer.claim_records(1, 0, N, count as usize) {
            Ok(records) => records,
            Err(WriteError::Full { .. }) => return Ok(0),
            Err(error) => return Err(refused(NAME, "claim records")(error)),
        };
        let mut sent = 0;
        while sent < count {
            crate::rival::number(message, first + sent);
            match records.push(std::hint::black_box::<&[u8; N]>(message)) {
                Ok(_) => sent += 1,
                Err(WriteError::BatchFull { .. }) => break,
                Err(error) => return Err(refused(NAME, "write records")(error)),
            }
        }
        records.commit();
        Ok(sent)
    }
}

/// A reading end.
pub(crate) struct Reading {
    reader: GatedReader,
    parker: Option<Parker>,
}

impl<const N: usize> Receiver<N> for Reading {
    #[inline(always)]
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        if most > 1 {
            let mut read = 0;
            let take = |frame: journal::Frame<'_>| {
                for message in frame.records().filter_map(|(_, record)| record.first_chunk()) {
                    each(message);
                    read += 1;
                }
            };
            self.reader.read_batch(most, take).map_err(refused(NAME, "read a batch"))?;
            return Ok(read);
        }
        let frame = self.reader.read().map_err(refused(NAME, "read"))?;
        let payload = frame.and_then(|frame| frame.payload.first_chunk());
        payload.map(each).map_or(Ok(0), |()| Ok(1))
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), CompareError> {
        if let Some(parker) = &self.parker {
            self.reader.publish();
            parker.park(timeout, || self.reader.has_news());
        }
        Ok(())
    }
}
