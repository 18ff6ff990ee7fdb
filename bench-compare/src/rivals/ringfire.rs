//! ringfire: one producer, many consumers, slots of one size.

use std::path::PathBuf;
use std::time::Duration;

use ::ringfire::{FlowControl, FutexWait, RingConsumer, RingProducer, RingProducerBuilder, RingfireError};

use crate::error::{CompareError, refused};
use crate::rival::{Can, Facts, Link, Receiver, Rival, Room, Sender, number};

const NAME: &str = "ringfire";
/// Messages of a ring.
const CAPACITY: u64 = 8192;
/// Messages of a batch.
const BATCH: usize = 64;

/// ringfire.
pub(crate) struct Ringfire;

fn path(room: Room<'_>, link: Link) -> PathBuf {
    room.directory.join(format!("ringfire-{}", link.number))
}

impl<const N: usize> Rival<N> for Ringfire {
    type Hub = ();
    type Sender = Writing<N>;
    type Receiver = Reading<N>;
    const SENDER_FIRST: bool = true;

    fn facts() -> Facts {
        Facts {
            name: NAME,
            version: "ringfire 0.5".to_owned(),
            settings: &[
                "RingProducer of 8,192 slots of [u8; N], LosslessBackpressure with 128 reader slots",
                "one-way: push_batch of 64, recv_batch of 64; asleep: FutexWait as it is by default",
                "80 sleepers: one ring; a push wakes all that sleep",
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

    fn receiver((): &(), room: Room<'_>, link: Link, _reader: usize) -> Result<Reading<N>, CompareError> {
        let mut reading =
            Reading { path: path(room, link), consumer: None, slept: None, buffer: vec![[0; N]; BATCH] };
        // If the writer does not exist yet, attach later.
        if reading.path.exists() {
            reading.attach()?;
        }
        Ok(reading)
    }

    fn sender((): &(), room: Room<'_>, link: Link) -> Result<Writing<N>, CompareError> {
        let producer = RingProducerBuilder::new(CAPACITY)
            .flow_control(FlowControl::LosslessBackpressure)
            .max_readers(128)
            .build(path(room, link))
            .map_err(refused(NAME, "make the ring"))?;
        Ok(Writing { producer, batch: vec![[0; N]; BATCH] })
    }
}

/// The writing end.
pub(crate) struct Writing<const N: usize> {
    producer: RingProducer<[u8; N]>,
    batch: Vec<[u8; N]>,
}

impl<const N: usize> Sender<N> for Writing<N> {
    #[inline]
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError> {
        match self.producer.try_push(message) {
            Ok(()) => Ok(true),
            Err(RingfireError::BackpressureBufferFull) => Ok(false),
            Err(error) => Err(refused(NAME, "push")(error)),
        }
    }

    #[inline]
    fn send_batch(&mut self, first: u64, count: u64, message: &mut [u8; N]) -> Result<u64, CompareError> {
        let count = count.min(BATCH as u64);
        let batch = &mut self.batch[..count as usize];
        for (place, index) in batch.iter_mut().zip(first..) {
            number(message, index);
            *place = *message;
        }
        self.producer.push_batch(batch);
        Ok(count)
    }
}

/// A reading end.
pub(crate) struct Reading<const N: usize> {
    path: PathBuf,
    consumer: Option<RingConsumer<[u8; N]>>,
    /// The message that ended a sleep.
    slept: Option<[u8; N]>,
    buffer: Vec<[u8; N]>,
}

impl<const N: usize> Reading<N> {
    #[cold]
    fn attach(&mut self) -> Result<(), CompareError> {
        let consumer = RingConsumer::builder().start_from_oldest().attach(&self.path);
        self.consumer = Some(consumer.map_err(refused(NAME, "attach"))?);
        Ok(())
    }
}

impl<const N: usize> Receiver<N> for Reading<N> {
    #[inline]
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        let Some(consumer) = &mut self.consumer else {
            // The ring may exist and not be complete yet.
            let _ = self.attach();
            return Ok(0);
        };
        if let Some(message) = self.slept.take() {
            each(&message);
            return Ok(1);
        }
        if most == 1 {
            return Ok(consumer.try_recv().map_or(0, |message| {
                each(&message);
                1
            }));
        }
        let handed = consumer.recv_batch(&mut self.buffer[..most.min(BATCH)]);
        self.buffer[..handed].iter().for_each(each);
        Ok(handed)
    }

    fn wait(&mut self, _timeout: Duration) -> Result<(), CompareError> {
        if let Some(consumer) = &mut self.consumer {
            self.slept = Some(consumer.recv_blocking(&mut FutexWait::default()));
        }
        Ok(())
    }
}
