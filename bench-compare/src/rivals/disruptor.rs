//! The disruptor between threads: a ring without shared memory.

use std::collections::BTreeMap;
use std::sync::Mutex;

use disruptor::{
    BusySpin, EventPoller, MultiConsumerBarrier, Polling, Producer as _, SingleConsumerBarrier,
    SingleProducer, SingleProducerBarrier, build_single_producer,
};

use crate::error::{CompareError, refused};
use crate::rival::{Can, Facts, Link, Receiver, Rival, Room, Sender, number};

const NAME: &str = "disruptor";
/// Messages of the ring.
const CAPACITY: usize = 8192;

/// The `disruptor` crate, polled.
pub(crate) struct Disruptor;

type Poller<const N: usize> = EventPoller<[u8; N], SingleProducerBarrier>;

/// The writing end; its type depends on the number of readers.
pub(crate) enum Writing<const N: usize> {
    /// One reader.
    Single(SingleProducer<[u8; N], SingleConsumerBarrier>),
    /// Several readers.
    Multi(SingleProducer<[u8; N], MultiConsumerBarrier>),
}

/// The ends that are not taken yet, by link.
pub(crate) struct Hub<const N: usize> {
    senders: Mutex<BTreeMap<usize, Writing<N>>>,
    pollers: Mutex<BTreeMap<(usize, usize), Poller<N>>>,
}

impl<const N: usize> Rival<N> for Disruptor {
    type Hub = Hub<N>;
    type Sender = Writing<N>;
    type Receiver = Poller<N>;

    fn facts() -> Facts {
        Facts {
            name: NAME,
            version: "disruptor 4.4".to_owned(),
            settings: &[
                "threads of one process; a ring of 8,192 messages, single producer, event pollers",
                "one-way: try_batch_publish of 64; its threads that sleep poll, so it is not measured asleep",
            ],
            in_process: true,
            floor: false,
            naps: false,
            can: Can { sleep: false, die: false, ..Can::ALL },
        }
    }

    fn create(_room: Room<'_>, links: &[Link]) -> Result<Hub<N>, CompareError> {
        let (mut senders, mut pollers) = (BTreeMap::new(), BTreeMap::new());
        for link in links {
            let builder = build_single_producer(CAPACITY, || [0_u8; N], BusySpin);
            let (poller, builder) = builder.new_event_poller();
            pollers.insert((link.number, 0), poller);
            let sender = if link.readers == 1 {
                Writing::Single(builder.build())
            } else {
                let (poller, mut builder) = builder.new_event_poller();
                pollers.insert((link.number, 1), poller);
                for reader in 2..link.readers {
                    let (poller, next) = builder.new_event_poller();
                    pollers.insert((link.number, reader), poller);
                    builder = next;
                }
                Writing::Multi(builder.build())
            };
            senders.insert(link.number, sender);
        }
        Ok(Hub { senders: senders.into(), pollers: pollers.into() })
    }

    fn receiver(hub: &Hub<N>, _room: Room<'_>, link: Link, reader: usize) -> Result<Poller<N>, CompareError> {
        let poller = hub.pollers.lock().ok().and_then(|mut pollers| pollers.remove(&(link.number, reader)));
        poller.ok_or_else(|| refused(NAME, "take the poller")("it is gone"))
    }

    fn sender(hub: &Hub<N>, _room: Room<'_>, link: Link) -> Result<Writing<N>, CompareError> {
        let sender = hub.senders.lock().ok().and_then(|mut senders| senders.remove(&link.number));
        sender.ok_or_else(|| refused(NAME, "take the producer")("it is gone"))
    }
}

macro_rules! either {
    ($self:ident, $producer:ident => $call:expr) => {
        match $self {
            Writing::Single($producer) => $call,
            Writing::Multi($producer) => $call,
        }
    };
}

impl<const N: usize> Sender<N> for Writing<N> {
    #[inline]
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError> {
        Ok(either!(self, producer => producer.try_publish(|event| *event = *message)).is_ok())
    }

    #[inline]
    fn send_batch(&mut self, first: u64, count: u64, message: &mut [u8; N]) -> Result<u64, CompareError> {
        let sent = either!(self, producer => producer.try_batch_publish(count as usize, |events| {
            for (event, index) in events.zip(first..) {
                number(message, index);
                *event = *message;
            }
        }));
        Ok(if sent.is_ok() { count } else { 0 })
    }
}

impl<const N: usize> Receiver<N> for Poller<N> {
    #[inline]
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        match self.take(most as u64) {
            Ok(mut events) => {
                let mut handed = 0;
                for event in &mut events {
                    each(event);
                    handed += 1;
                }
                Ok(handed)
            }
            Err(Polling::NoEvents | Polling::Shutdown) => Ok(0),
        }
    }
}
