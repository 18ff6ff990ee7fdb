//! iceoryx2: publish/subscribe, with an event service to sleep on.

use std::time::Duration;

use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;

use crate::error::{CompareError, refused};
use crate::rival::{Can, Facts, Link, Receiver, Rival, Room, Sender};

const NAME: &str = "iceoryx2";
/// Buffered messages of each subscriber.
const BUFFER: usize = 1024;

/// iceoryx2.
pub(crate) struct Iceoryx2;

fn node(room: Room<'_>) -> Result<Node<ipc::Service>, CompareError> {
    let folder = room.directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut config = Config::default();
    let path = Path::new(room.directory.as_os_str().as_encoded_bytes()).map_err(|_| "the folder's name");
    config.global.set_root_path(&path.map_err(refused(NAME, "set the root path"))?);
    // The remains of a killed process begin with the name of the block's folder, and are removed with it.
    let prefix = FileName::new(format!("{folder}_").as_bytes()).map_err(|_| "the folder's name");
    config.global.prefix = prefix.map_err(refused(NAME, "set the prefix"))?;
    NodeBuilder::new()
        .config(&config)
        .signal_handling_mode(SignalHandlingMode::Disabled)
        .create::<ipc::Service>()
        .map_err(refused(NAME, "make a node"))
}

/// Routed links have a service for each reader.
fn name(link: Link, reader: usize) -> Result<ServiceName, CompareError> {
    let reader = if link.routed { reader } else { 0 };
    format!("compare/{}/{reader}", link.number).as_str().try_into().map_err(refused(NAME, "name a service"))
}

type Data<const N: usize> =
    iceoryx2::service::port_factory::publish_subscribe::PortFactory<ipc::Service, [u8; N], ()>;
type Event = iceoryx2::service::port_factory::event::PortFactory<ipc::Service>;

fn data<const N: usize>(
    node: &Node<ipc::Service>,
    link: Link,
    reader: usize,
) -> Result<Data<N>, CompareError> {
    node.service_builder(&name(link, reader)?)
        .publish_subscribe::<[u8; N]>()
        .enable_safe_overflow(false)
        .history_size(0)
        .subscriber_max_buffer_size(if link.routed { 64 } else { BUFFER })
        .max_publishers(4)
        .max_subscribers(8)
        .max_nodes(128)
        .open_or_create()
        .map_err(refused(NAME, "open the service"))
}

fn event(node: &Node<ipc::Service>, link: Link, reader: usize) -> Result<Event, CompareError> {
    node.service_builder(&name(link, reader)?)
        .event()
        .max_notifiers(4)
        .max_listeners(8)
        .max_nodes(128)
        .open_or_create()
        .map_err(refused(NAME, "open the event"))
}

impl<const N: usize> Rival<N> for Iceoryx2 {
    type Hub = ();
    type Sender = Writing<N>;
    type Receiver = Reading<N>;

    fn facts() -> Facts {
        Facts {
            name: NAME,
            version: "iceoryx2 0.10".to_owned(),
            settings: &[
                "publish/subscribe of [u8; N] without overflow, RetryUntilDelivered, 1,024 messages a subscriber; loan, write, send",
                "asleep: an event service beside it; Notifier::notify after each send, Listener::timed_wait",
                "80 sleepers: a service and an event for each topic, so only the interested one is woken",
                "a reader that hears nothing asks its node to clean up after dead ones once a second",
            ],
            in_process: false,
            floor: false,
            naps: false,
            can: Can::ALL,
        }
    }

    fn create(_room: Room<'_>, _links: &[Link]) -> Result<(), CompareError> {
        set_log_level(LogLevel::Fatal);
        Ok(())
    }

    fn receiver((): &(), room: Room<'_>, link: Link, reader: usize) -> Result<Reading<N>, CompareError> {
        let node = node(room)?;
        let data = data::<N>(&node, link, reader)?;
        let subscriber = data.subscriber_builder().create().map_err(refused(NAME, "subscribe"))?;
        let listener = if link.asleep {
            let event = event(&node, link, reader)?;
            Some(event.listener_builder().create().map_err(refused(NAME, "listen"))?)
        } else {
            None
        };
        Ok(Reading { subscriber, listener, node, idle: 0 })
    }

    fn sender((): &(), room: Room<'_>, link: Link) -> Result<Writing<N>, CompareError> {
        let node = node(room)?;
        let services = if link.routed { link.readers } else { 1 };
        let mut writing = Writing { publishers: Vec::new(), notifiers: Vec::new(), _node: node };
        for reader in 0..services {
            let data = data::<N>(&writing._node, link, reader)?;
            let publisher = data
                .publisher_builder()
                .max_loaned_samples(2)
                .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
                .create();
            writing.publishers.push(publisher.map_err(refused(NAME, "publish"))?);
            if link.asleep {
                let event = event(&writing._node, link, reader)?;
                let notifier = event.notifier_builder().create();
                writing.notifiers.push(notifier.map_err(refused(NAME, "notify"))?);
            }
        }
        Ok(writing)
    }
}

/// The writing end: one publisher, or one for each reader.
pub(crate) struct Writing<const N: usize> {
    publishers: Vec<Publisher<ipc::Service, [u8; N], ()>>,
    notifiers: Vec<Notifier<ipc::Service>>,
    _node: Node<ipc::Service>,
}

impl<const N: usize> Sender<N> for Writing<N> {
    #[inline]
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError> {
        self.send_to(0, message)
    }

    #[inline]
    fn send_to(&mut self, reader: usize, message: &[u8; N]) -> Result<bool, CompareError> {
        let sample = self.publishers[reader].loan_uninit().map_err(refused(NAME, "loan"))?;
        sample.write_payload(*message).send().map_err(refused(NAME, "send"))?;
        if let Some(notifier) = self.notifiers.get(reader) {
            notifier.notify().map_err(refused(NAME, "notify"))?;
        }
        Ok(true)
    }
}

/// A reading end.
pub(crate) struct Reading<const N: usize> {
    subscriber: Subscriber<ipc::Service, [u8; N], ()>,
    listener: Option<Listener<ipc::Service>>,
    node: Node<ipc::Service>,
    /// Turns without a message.
    idle: u64,
}

impl<const N: usize> Receiver<N> for Reading<N> {
    #[inline]
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        let mut handed = 0;
        while handed < most {
            match self.subscriber.receive().map_err(refused(NAME, "receive"))? {
                Some(sample) => each(sample.payload()),
                None => break,
            }
            handed += 1;
        }
        self.idle = if handed > 0 { 0 } else { self.idle + 1 };
        if self.idle == 1 << 24 {
            self.idle = 0;
            self.node.try_cleanup_dead_nodes();
        }
        Ok(handed)
    }

    /// Maps the publisher's end: messages sent before that are lost once the buffer is full.
    fn settle(&mut self) -> Result<(), CompareError> {
        self.subscriber.has_samples().map(drop).map_err(refused(NAME, "connect"))
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), CompareError> {
        if let Some(listener) = &self.listener {
            listener.timed_wait(|_| {}, timeout).map_err(refused(NAME, "wait"))?;
        }
        Ok(())
    }
}
